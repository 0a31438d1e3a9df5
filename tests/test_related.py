"""The person's own vocabulary: which words a first pass may add."""

from __future__ import annotations

from vaultbrain.retrieve.related import IN_COMMON, MAX_RELATED, related_words

VOCABULARY = {"影厅", "票根", "观影", "今天"}


def related(texts: list[str], counts: dict[str, int], known: set[str] | None = None) -> list[str]:
    return related_words(texts, known or set(), VOCABULARY, lambda word: counts.get(word, 0), 1_000)


def test_words_in_common_come_the_most_telling_first() -> None:
    """More often among the first, and rarer among all, comes first; what stands in two only, or is no word, does not come."""
    texts = ["影厅 票根 imax", "影厅 票根 imax", "影厅 票根", "影厅 厅票", "imax 厅票 厅票"]
    assert related(texts, {"影厅": 40, "票根": 5, "imax": 40, "厅票": 3}) == ["票根", "影厅", "imax"]


def test_common_known_and_unknown_words_are_left_out() -> None:
    """今天 is everywhere; 观影 is the question's own, and part of a variant; a word that the index does not hold has no use."""
    texts = ["今天 观影 影厅 票根"] * IN_COMMON
    assert related(texts, {"今天": 600, "观影": 30, "影厅": 0, "票根": 9}, known={"观影清单"}) == ["票根"]


def test_only_the_first_memos_are_read_and_few_words_taken() -> None:
    """Ten memos, four words."""
    words = ["alpha", "bravo", "charlie", "delta", "echo"]
    assert len(related([" ".join(words)] * IN_COMMON, dict.fromkeys(words, 3))) == MAX_RELATED
    assert related([""] * 10 + ["票根"] * IN_COMMON, {"票根": 3}) == []
