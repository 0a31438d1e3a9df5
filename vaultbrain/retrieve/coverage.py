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
    """Something that could not be searched: ``no_vectors``, ``no_model`` or ``no_store``, and the reason in English."""

    code: str
    reason: str = ""

    def __str__(self) -> str:
        return _SENTENCES[self.code] + (f" ({self.reason})" if self.reason else "")


_SENTENCES = {
    "no_vectors": "there are no vectors yet: only words were searched",
    "no_model": "the embedding model is not available: only words were searched",
    "no_store": "the vector index could not be used: every chunk was compared instead",
}


@dataclass(slots=True)
class Coverage:
    """Counts are memos unless named otherwise. ``nearest_misses`` are memo ids, only when nothing was found."""

    memos: int
    memos_searched: int
    chunks: int
    chunks_with_vector: int
    model: str
    checked_at: str
    variants: list[VariantCoverage] = field(default_factory=list)
    found: int = 0
    strong_memos: int = 0
    keyword_memos: int = 0
    semantic_memos: int = 0
    both_memos: int = 0
    left_out: int = 0
    degraded: list[Shortcoming] = field(default_factory=list)
    nearest_misses: list[str] = field(default_factory=list)

    @property
    def unmet(self) -> list[str]:
        """Query words that stand in no memo, but for the plurals and singulars that we made."""
        return [variant.text for variant in self.variants if not variant.memos and variant.family != "form"]

    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"words_without_memo": self.unmet}
