"""The light rerank: each feature by hand, memos that say nothing, and which memos say the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultbrain.gist.value import says_nothing
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import searchable
from vaultbrain.retrieve.expand import Variant
from vaultbrain.retrieve.rerank import (
    AGREEMENT,
    CLOSE,
    COVERAGE,
    DEPTH,
    FULL_AGREEMENT,
    PHRASE,
    PROXIMITY,
    RESOURCE,
    TAG,
    TITLE,
    Looked,
    features,
    fold_copies,
)


def looked(text: str, title: str = "", tags: tuple[str, ...] = (), matched: tuple[Variant, ...] = ()) -> Looked:
    return Looked(searchable(text), fold(title), tags, matched)


def variant(family: str, group: str = "") -> Variant:
    return Variant("x", family, 0.6, "a reason", group)


def worth(name: str, topic: str, memo: Looked, *, wants_resources: bool = False) -> float:
    """Of one feature; 0 when it does not apply."""
    return features(topic, memo, wants_resources=wants_resources).get(name, 0.0)


# features


def test_what_does_not_apply_is_not_named() -> None:
    """A memo without a word of the question gets nothing for its text."""
    assert features("观影", looked("膝盖没疼", "膝盖没疼")) == {}


def test_a_phrase_stands_there_as_it_was_asked() -> None:
    """Letter for letter, across a line break; a single token is no phrase."""
    assert worth("phrase", "三部老片", looked("夜场：三部老片")) == PHRASE
    assert worth("phrase", "final cut", looked("the Final\n Cut of it")) == PHRASE
    assert worth("phrase", "final cut", looked("a final, better cut")) == 0
    assert worth("phrase", "老片", looked("三部老片")) == 0


def test_coverage_is_the_share_of_tokens() -> None:
    """Of the bigrams of Chinese and the words of English, wherever they stand."""
    assert worth("coverage", "三部老片", looked("老片三部")) == pytest.approx(COVERAGE * 2 / 3)
    assert worth("coverage", "final cut", looked("cut")) == pytest.approx(COVERAGE / 2)
    assert worth("coverage", "final cut", looked("cut, final")) == pytest.approx(COVERAGE)


def test_words_stand_close_within_so_many_characters_each() -> None:
    """From the first to the last of all; one word alone is always close and gets nothing for it."""
    gap = 2 * CLOSE
    assert worth("proximity", "final cut", looked("final" + " " + "x" * (gap - 7) + " cut")) == PROXIMITY
    assert worth("proximity", "final cut", looked("final" + " " + "x" * (gap - 5) + " cut")) == 0
    assert worth("proximity", "final cut", looked("final")) == 0
    assert worth("proximity", "final", looked("final")) == 0


def test_a_word_in_the_title_counts_unless_it_is_one_character() -> None:
    """One of them is enough."""
    assert worth("title", "观影 清单", looked("正文", "观影")) == TITLE
    assert worth("title", "影", looked("正文", "观影")) == 0


@pytest.mark.parametrize(
    ("tag", "counts"), [("film", True), ("film/2024", True), ("arts/film", True), ("filmed", False), ("", False)]
)
def test_a_word_that_is_a_tag_or_a_part_of_its_path_counts(tag: str, counts: bool) -> None:
    """With or without the sign in the query."""
    for topic in ("film", "#film", "old film"):
        assert worth("tag", topic, looked("x", tags=(tag,))) == (TAG if counts else 0)


def test_agreement_grows_with_the_kinds_of_variant_that_speak_for_a_memo() -> None:
    """The first says nothing new; the same word of the question in the same way counts once."""
    kinds = [variant("literal"), variant("synonym", "a"), variant("synonym", "b"), variant("translation", "a")]
    assert worth("agreement", "q", looked("x", matched=tuple(kinds[:1]))) == 0
    assert worth("agreement", "q", looked("x", matched=(kinds[1], kinds[1]))) == 0
    found = [worth("agreement", "q", looked("x", matched=tuple(kinds[: n + 1]))) for n in range(1, 4)]
    assert found == pytest.approx([AGREEMENT * n / FULL_AGREEMENT for n in (1, 2, 3)])
    assert worth("agreement", "q", looked("x", matched=(*kinds, variant("tag", "c")))) == pytest.approx(AGREEMENT)


def test_an_address_counts_when_resources_are_wanted() -> None:
    """A wikilink too; not without being asked for."""
    for text in ("https://lists.example.com", "see [[other note]]"):
        assert worth("resource", "q", looked(text), wants_resources=True) == RESOURCE
        assert worth("resource", "q", looked(text)) == 0
    assert worth("resource", "q", looked("no link"), wants_resources=True) == 0


@given(st.text(max_size=20), st.text(max_size=60), st.text(max_size=20), st.booleans())
def test_features_are_small_whatever_is_asked(topic: str, text: str, title: str, wants: bool) -> None:
    """They settle what is nearly equal: never negative, and together a small part of a score."""
    found = features(fold(topic), looked(text, title, tuple(text.split())), wants_resources=wants)
    assert all(points > 0 for points in found.values())
    assert sum(found.values()) <= PHRASE + COVERAGE + PROXIMITY + TITLE + TAG + AGREEMENT + RESOURCE + 1e-9 < 0.3


@pytest.mark.parametrize(
    ("text", "nothing"),
    [
        ("#观影", True),
        ("#观影 #资源/片单", True),
        ("# \n---\n", True),
        ("", True),
        ("…… ！", True),
        ("#观影 好", False),
        ("c#", False),  # the sign inside a word makes no tag
        ("a#b", False),
        ("## 观影", False),  # a heading has words
        ("🍵", True),
        ("1", False),
    ],
)
def test_a_memo_of_tags_and_marks_says_nothing(text: str, nothing: bool) -> None:
    """A letter or digit outside of tags says something."""
    assert says_nothing(searchable(text)) is nothing


# copies


SENTENCE = "reminder: pump inspection is every spring, before the first rain"


def test_equal_texts_are_copies_of_the_first() -> None:
    """White space does not matter, nor how far their scores are apart."""
    hits = [("1", SENTENCE, 0.9), ("2", "something else", 0.8), ("3", SENTENCE.replace(" ", "  "), 0.1), ("4", SENTENCE, 0.9)]
    assert fold_copies(hits) == {"1": ["3", "4"], "2": []}


def test_nearly_equal_texts_are_copies_when_their_scores_are_nearly_equal() -> None:
    """A full stop makes no other memo; a different score says that one of them has more to it."""
    hits = [("1", SENTENCE, 0.90), ("2", f"{SENTENCE}.", 0.89), ("3", f"{SENTENCE}!", 0.50)]
    assert fold_copies(hits) == {"1": ["2"], "3": []}


def test_what_follows_a_copy_is_compared_with_the_original() -> None:
    """A copy of a copy stands with the memo that is shown."""
    hits = [("1", SENTENCE, 0.9), ("2", f"{SENTENCE}.", 0.9), ("3", f"{SENTENCE}.", 0.9)]
    assert fold_copies(hits) == {"1": ["2", "3"]}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("观影", "电影"),
        ("买茶", "卖茶"),
        ("a", "b"),
        ("", "a"),
        (SENTENCE, f"{SENTENCE} and after every storm, and whenever it rattles"),
        ("invoice 2024-01 paid", "invoice 2025-09 open"),
    ],
)
def test_different_texts_are_no_copies(one: str, other: str) -> None:
    """Also very short ones, and one that says more than the other."""
    assert fold_copies([("1", one, 0.5), ("2", other, 0.5)]) == {"1": [], "2": []}


def test_nearly_equal_texts_are_looked_for_among_the_first_only() -> None:
    """Equal ones among all: comparing every pair would take long, and nobody sees them side by side."""
    others = [(f"o{n}", f"{n * n * 7919} {n * 104729}", 0.9) for n in range(DEPTH)]
    hits = [("1", SENTENCE, 0.9), *others, ("2", f"{SENTENCE}.", 0.9), ("3", SENTENCE, 0.9)]
    copies = fold_copies(hits)
    assert copies["1"] == ["3"]
    assert copies["2"] == []


@given(
    st.lists(st.tuples(st.sampled_from(["", "a", "ab", SENTENCE, f"{SENTENCE}.", "买茶", "买 茶"]), st.floats(0, 1)), max_size=70)
)
def test_every_memo_stands_for_itself_or_for_one_other(rows: list[tuple[str, float]]) -> None:
    """None is lost and none is named twice; who is shown comes before its copies; equal texts are never shown twice."""
    rows.sort(key=lambda row: -row[1])
    hits = [(str(n), text, score) for n, (text, score) in enumerate(rows)]
    copies = fold_copies(hits)
    named = [memo_id for shown, others in copies.items() for memo_id in (shown, *others)]
    assert sorted(named) == sorted(memo_id for memo_id, _, _ in hits)
    assert all(int(shown) < int(other) for shown, others in copies.items() for other in others)
    shown_texts = ["".join(rows[int(shown)][0].split()) for shown in copies]
    assert len(shown_texts) == len(set(shown_texts))
    assert list(copies) == sorted(copies, key=int)
