"""How sure the words are and how near the meaning is, made into one score and a label.

Pure. Decides fusion and thresholds. Ranks are not used: rank fusion throws away that a rare exact word is better evidence than
the best of many vague likenesses (docs/search.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: BM25 as FTS5 computes it (k1 is fixed there).
BM25_K1 = 1.2

STRONG, RELATED, WEAK, EXCLUDED = "强", "相关", "弱", "排除"


@dataclass(frozen=True, slots=True)
class FusionProfile:
    """``score = keyword_weight * words ** sharpness + (1 - keyword_weight) * meaning``, both between 0 and 1.

    Without a vector it is ``words_alone * words ** sharpness``: less than both together, more than half.

    ``nothing`` and ``everything`` are the centred cosines that count as meaning 0 and 1; from ``consent`` on a variant counts in
    full, at 0 only ``least_consent`` of it. The limits are scores, apart from ``strong_words``: a memo whose words match so
    surely is strong whatever the model says. When even the best stays below ``least_best``, nothing was found.
    """

    keyword_weight: float
    words_alone: float
    sharpness: float
    nothing: float
    everything: float
    consent: float
    least_consent: float
    strong: float
    related: float
    weak: float
    least_best: float
    strong_words: float


#: Set on the 64 answerable and 6 unanswerable queries of a judged memo set; the figures are in docs/search.md.
E5_PROFILE = FusionProfile(
    keyword_weight=0.5,
    words_alone=0.8,
    sharpness=1.5,
    nothing=0.0,
    everything=0.6,
    consent=0.5,
    least_consent=0.0,
    strong=0.45,
    related=0.34,
    weak=0.25,
    least_best=0.27,
    strong_words=0.7,
)


def inverse_document_frequency(documents: int, with_term: int) -> float:
    """FTS5's idf: ``ln((N - n + 0.5) / (n + 0.5))``, at least 1e-6. Source: SQLite, fts5_aux.c."""
    return max(math.log((documents - with_term + 0.5) / (with_term + 0.5)), 1e-6) if documents else 1e-6


def highest_bm25(tokens: Sequence[str], frequencies: Mapping[str, int], documents: int) -> float:
    """The most that BM25 can give for these tokens; those that no memo has count with the highest idf.

    BM25 divided by it is how sure the words are: 1 when every word stands there, again and again; low when the rare ones miss.
    """
    return sum(inverse_document_frequency(documents, frequencies.get(t, 0)) * (BM25_K1 + 1) for t in tokens)


def meaning(cosine: float, profile: FusionProfile) -> float:
    """A centred cosine as 0..1."""
    return min(max((cosine - profile.nothing) / (profile.everything - profile.nothing), 0.0), 1.0)


def sureness(literal: float, other: float, cosine: float | None, profile: FusionProfile) -> float:
    """How sure the words are in all, 0..1: a variant counts as far as the meaning agrees with it.

    The person's own words need no such consent. Without a vector (``cosine`` None) variants count in full.
    """
    if cosine is None:
        return max(literal, other)
    consent = min(max(cosine / profile.consent, 0.0), 1.0)
    return max(literal, other * (profile.least_consent + (1 - profile.least_consent) * consent))


#: What one standard deviation above the ordinary counts as, on the scale of centred e5 cosines (0.6 is about six of them).
DEVIATION = 0.1
#: A model whose cosines vary less than this over a collection tells nothing apart there.
LEAST_DEVIATION = 0.02


def on_e5_scale(cosine: float, ordinary: float, deviation: float) -> float:
    """A cosine of a model without language means, made comparable: how far it stands out of the ``ordinary`` one of a collection.

    Models differ in what they call near (e5: 0.7-0.9 for anything, USE: 0-0.6), so that no fixed limit fits them all.
    """
    return DEVIATION * (cosine - ordinary) / max(deviation, LEAST_DEVIATION)


def fuse(words: float, cosine: float | None, profile: FusionProfile) -> float:
    """``words`` is ``sureness``; ``cosine`` None when the memo has no vector, then only the words speak."""
    if cosine is None:
        return profile.words_alone * math.pow(words, profile.sharpness)
    likeness = meaning(cosine, profile)
    return profile.keyword_weight * math.pow(words, profile.sharpness) + (1 - profile.keyword_weight) * likeness


def label(score: float, words: float, profile: FusionProfile) -> str:
    """One of ``STRONG``, ``RELATED``, ``WEAK``, ``EXCLUDED``."""
    if score >= profile.strong or words >= profile.strong_words:
        return STRONG
    if score >= profile.related:
        return RELATED
    return WEAK if score >= profile.weak else EXCLUDED
