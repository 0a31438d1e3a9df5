"""Which memos an answer reads in full."""

from __future__ import annotations

import pytest

from vaultbrain.answer.reading import EXACT, MAX_REFERRED, MAX_STEPS, MEANING, REFERRED_TO, SEVERAL_GROUPS, choose_reading
from vaultbrain.retrieve.expand import Variant
from vaultbrain.retrieve.search import Hit


def make_hit(memo_id: str, label: str = "相关", cosine: float | None = None, families: tuple[str, ...] = ("near",)) -> Hit:
    met = tuple(Variant(f"w{n}", family, 1.0, "", "", 0.5) for n, family in enumerate(families))
    return Hit(memo_id, label, 0.5, "", "", "", "", "", (), ("keyword",), 0, cosine, met=met)


@pytest.mark.parametrize(
    ("hit", "why"),
    [
        (make_hit("1", families=("literal",)), EXACT),
        (make_hit("1", "弱", families=("literal",)), EXACT),
        (make_hit("1", cosine=0.31), MEANING),
        (make_hit("1", "弱", cosine=0.31), ""),
        (make_hit("1", cosine=0.2, families=("near", "tag")), SEVERAL_GROUPS),
        (make_hit("1", cosine=0.2), ""),
        (make_hit("1", "弱", families=("near", "tag")), ""),
    ],
)
def test_what_is_read_follows_the_evidence(hit: Hit, why: str) -> None:
    """Exact, near in meaning, several kinds of words; never what one marginal word met."""
    assert choose_reading([hit], lambda _: {}) == ({"1": why} if why else {})


def test_relations_are_followed_upwards_without_loops_and_with_a_bound() -> None:
    """A chain longer than the bound, and a memo that refers back to where it came from."""
    chain = {str(n): [str(n + 1), "0"] for n in range(20)}
    read = choose_reading([make_hit("0", families=("literal",))], lambda ids: {i: chain[i] for i in ids})
    assert read == {"0": EXACT} | {str(n): REFERRED_TO for n in range(1, MAX_STEPS + 1)}


def test_one_memo_that_refers_to_hundreds_brings_few_of_them() -> None:
    """The first ones, in their order."""
    read = choose_reading([make_hit("0", families=("literal",))], lambda ids: {"0": [f"r{n}" for n in range(300)]})
    assert list(read)[1:] == [f"r{n}" for n in range(MAX_REFERRED)]


def test_what_an_unread_hit_refers_to_is_not_read_either() -> None:
    """Only memos that are read bring others along."""
    assert choose_reading([make_hit("0", "弱")], lambda ids: {i: ["9"] for i in ids}) == {}
