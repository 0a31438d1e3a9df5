"""What was searched, and what was not: the part of every result that makes it honest."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class VariantCoverage:
    """A query word with how many memos it met."""

    text: str
    family: str
    weight: float
    reason: str
    memos: int


@dataclass(frozen=True, slots=True)
class Shortcoming:
    """Something that could not be searched as it should have been: a key of ``_SENTENCES``, and the reason in English."""

    code: str
    reason: str = ""

    def __str__(self) -> str:
        return _SENTENCES[self.code] + (f" ({self.reason})" if self.reason else "")


_SENTENCES = {
    "no_vectors": "there are no vectors yet: only words were searched",
    "no_model": "the embedding model is not available: only words were searched",
    "no_store": "the vector index could not be used: every chunk was compared instead",
    "no_dictionary": "no dictionary yet: words of the other language were not looked up; a sync with something to do makes it",
    "no_suggestions": "the language model proposed nothing: the question's own variants were used",
    "no_reranker": "the cross-encoder is not available: the order is that of the fusion",
    "own_lexicon": "your own lexicon has mistakes, which were passed over",
}


_OWN_WORDS = ("part", "given", "as typed")


@dataclass(slots=True)
class Coverage:
    """Counts are memos unless named otherwise. ``variants`` were looked up as words: none by meaning alone.

    ``nearest_misses`` are memo ids, only when nothing was found.
    ``memos_searched`` met the ``filters`` (each in English words); ``filters_ignored`` looked like filters and could not be
    read. ``left_out``: met by a word, yet too far off for a label. ``copies``: named with the hit that says the same.
    """

    memos: int
    memos_searched: int
    chunks: int
    chunks_with_vector: int
    model: str
    checked_at: str
    variants: list[VariantCoverage] = field(default_factory=list)
    found: int = 0
    strong_memos: int = 0
    related_memos: int = 0
    keyword_memos: int = 0
    semantic_memos: int = 0
    both_memos: int = 0
    left_out: int = 0
    degraded: list[Shortcoming] = field(default_factory=list)
    nearest_misses: list[str] = field(default_factory=list)
    filters: list[str] = field(default_factory=list)
    filters_ignored: list[str] = field(default_factory=list)
    copies: int = 0

    @property
    def unmet(self) -> list[str]:
        """Words of the question, or given with it, that stand in no memo."""
        parts = [variant for variant in self.variants if variant.family in _OWN_WORDS]
        whole = [variant for variant in self.variants if variant.family == "literal"]
        words = whole if len(parts) == 1 and not parts[0].memos else parts or whole
        typed = [variant.text for variant in self.variants if variant.family == "as typed" and variant.memos]
        return [variant.text for variant in words if not variant.memos and not any(variant.text in text for text in typed)]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"words_without_memo": self.unmet}
