"""The evidence for a memo, made into one score and a label; and whether anything was found at all.

Pure. Decides fusion, labels and abstention. Ranks are not used: rank fusion throws away that a rare exact word is better evidence
than the best of many vague likenesses (docs/retrieval.md has the figures).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence, Set

#: A token that no memo has tells memos apart from nothing: full weight would let it outvote the words that are there.
UNSEEN = 0.6
#: BM25 as FTS5 computes it (k1 is fixed there).
BM25_K1 = 1.2

STRONG, RELATED, WEAK, EXCLUDED = "强", "相关", "弱", "排除"
#: The labels in English.
LABEL_NAMES = {STRONG: "strong", RELATED: "related", WEAK: "weak"}

#: The best score is compared with the one so many places further down: what stands out was meant, what does not is noise.
PLACES_BELOW = 10


@dataclass(frozen=True, slots=True)
class FusionProfile:
    """How evidence is weighed.

    ``score = w * (boost * literal ** sharpness + near_weight * near * consent
    + translated_weight * translated ** translated_sharpness) + (1 - w) * meaning``, at most 1, where w is ``keyword_weight``.
    What the caller gives stands in for the literal words where it is more: ``given ** sharpness``, times consent as far as there
    is doubt.
    ``boost`` grows from 1 for a query of two tokens to ``long_boost`` for one of ``long_query``: no memo says all words of a
    long question, but one that says many of them says a lot. Without a vector w is ``words_alone``, less than both together and
    more than half, with ``sharpness_alone``; and near, translated or given words may stand for literal ones, their square root
    counting ``other_words_alone``.

    ``everything`` is the centred cosine that counts as meaning 1; from ``consent`` on near words count in full, at 0 not at all.

    ``strong``, ``related`` and ``weak`` are scores; a memo whose literal words match as surely as ``strong_words`` is strong
    whatever the model says. Nothing was found when the best memo's ``standing`` (its score and ``gap_weight`` times its lead
    over the one ``PLACES_BELOW`` places down) is below ``least_standing``; ``least_translated_standing`` if that memo is in the
    other language, where literal words cannot help, and the dictionary confirms it; ``missing_name`` more if a Chinese question
    names something in letters that no memo has.
    """

    keyword_weight: float
    long_boost: float
    long_query: int
    words_alone: float
    sharpness_alone: float
    other_words_alone: float
    sharpness: float
    near_weight: float
    translated_weight: float
    translated_sharpness: float
    everything: float
    consent: float
    strong: float
    related: float
    weak: float
    strong_words: float
    gap_weight: float
    least_standing: float
    least_translated_standing: float
    missing_name: float


#: Chosen on the judged sets of docs/retrieval.md; all figures there change little between neighbouring values.
E5_PROFILE = FusionProfile(
    keyword_weight=0.6,
    long_boost=2.5,
    long_query=10,
    words_alone=0.8,
    sharpness_alone=1.2,
    other_words_alone=0.6,
    sharpness=1.5,
    near_weight=0.15,
    translated_weight=0.25,
    translated_sharpness=1.25,
    everything=0.6,
    consent=0.5,
    strong=0.42,
    related=0.31,
    weak=0.15,
    strong_words=0.7,
    gap_weight=0.9,
    least_standing=0.27,
    least_translated_standing=0.2,
    missing_name=0.06,
)


class Evidence(NamedTuple):
    """What speaks for one memo. Words 0..1 as in ``channels.KeywordHits``; ``cosine`` None when it has no vector.

    ``doubt`` 0..1: how far ``given`` needs the consent of the meaning.
    """

    literal: float = 0.0
    near: float = 0.0
    translated: float = 0.0
    cosine: float | None = None
    given: float = 0.0
    doubt: float = 0.0

    @property
    def sure_words(self) -> float:
        """The words that need nobody's consent."""
        return max(self.literal, (1 - self.doubt) * self.given)

    @property
    def says_a_word(self) -> bool:
        """Of the question, or of what the caller gives."""
        return self.literal > 0 or self.given > 0


class Fused(NamedTuple):
    """The parts of a score, which add up to it (unless that would be more than 1)."""

    score: float
    literal: float
    near: float
    translated: float
    meaning: float


def inverse_document_frequency(documents: int, with_term: int) -> float:
    """FTS5's idf: ``ln((N - n + 0.5) / (n + 0.5))``, at least 1e-6. Source: SQLite, fts5_aux.c."""
    return max(math.log((documents - with_term + 0.5) / (with_term + 0.5)), 1e-6) if documents else 1e-6


def specificity(documents: int, with_term: int) -> float:
    """How much a term tells memos apart, 0..1: its idf as a share of that of a term that one memo has, or none."""
    return inverse_document_frequency(documents, max(with_term, 1)) / inverse_document_frequency(documents, 1)


def highest_bm25(tokens: Sequence[str], frequencies: Mapping[str, int], documents: int) -> float:
    """The most that BM25 can give for these tokens; those that no memo has count ``UNSEEN`` of the highest idf.

    BM25 divided by it is how sure the words are: 1 when every word stands there, again and again; low when the rare ones miss.
    """
    worth = (UNSEEN if t not in frequencies else 1.0 for t in tokens)
    idfs = (inverse_document_frequency(documents, frequencies.get(t, 0)) for t in tokens)
    return sum(share * idf for share, idf in zip(worth, idfs, strict=True)) * (BM25_K1 + 1)


def meaning(cosine: float, profile: FusionProfile) -> float:
    """A centred cosine as 0..1."""
    return min(max(cosine / profile.everything, 0.0), 1.0)


def boost(tokens: int, profile: FusionProfile) -> float:
    """What the literal words of a query of so many distinct tokens are multiplied with."""
    steps = min(max((tokens - 2) / (profile.long_query - 2), 0.0), 1.0)
    return 1 + steps * (profile.long_boost - 1)


def fuse(evidence: Evidence, boosted: float, profile: FusionProfile) -> Fused:
    """``boosted``: what the literal words of this query are multiplied with (``boost``)."""
    if evidence.cosine is None:
        return _fuse_words(evidence, boosted, profile)
    weight = profile.keyword_weight
    consent = min(max(evidence.cosine / profile.consent, 0.0), 1.0)
    literal = weight * min(1.0, boosted * math.pow(evidence.literal, profile.sharpness))
    agreed = 1 - evidence.doubt * (1 - consent)
    literal = max(literal, weight * agreed * math.pow(evidence.given, profile.sharpness))
    near = weight * profile.near_weight * evidence.near * consent
    translated = weight * profile.translated_weight * math.pow(evidence.translated, profile.translated_sharpness)
    likeness = (1 - weight) * meaning(evidence.cosine, profile)
    return Fused(min(1.0, literal + near + translated + likeness), literal, near, translated, likeness)


def _fuse_words(evidence: Evidence, boosted: float, profile: FusionProfile) -> Fused:
    """The surest kind of word counts, and no other."""
    worth = profile.words_alone
    literal = worth * min(1.0, boosted * math.pow(evidence.literal, profile.sharpness_alone))
    near, translated, given = (
        worth * math.pow(profile.other_words_alone * math.sqrt(other), profile.sharpness_alone)
        for other in (evidence.near, evidence.translated, evidence.given)
    )
    literal = max(literal, given, worth * math.pow(evidence.sure_words, profile.sharpness_alone))
    if literal >= max(near, translated):
        return Fused(literal, literal, 0.0, 0.0, 0.0)
    return Fused(near, 0.0, near, 0.0, 0.0) if near >= translated else Fused(translated, 0.0, 0.0, translated, 0.0)


def hold_exact(scores: Mapping[str, float], plain: Mapping[str, float], exact: Set[str]) -> dict[str, float]:
    """``scores`` with the promise kept that expansion never pushes an exact match down.

    ``plain`` are the scores without expansion. An ``exact`` memo keeps at least its plain score, and none that stood below it
    without expansion comes to stand above it.
    """
    held = {memo_id: max(score, plain[memo_id]) if memo_id in exact else score for memo_id, score in scores.items()}
    firm = sorted((plain[memo_id], held[memo_id]) for memo_id in exact)
    before = [item[0] for item in firm]
    lowest = list(accumulate((item[1] for item in reversed(firm)), min))[::-1]  # of the exact ones from here on
    for memo_id in held.keys() - exact:
        place = bisect_left(before, plain[memo_id])
        if place < len(lowest):
            held[memo_id] = max(min(held[memo_id], math.nextafter(lowest[place], 0.0)), plain[memo_id])
    return held


def standing(scores: Sequence[float], memos: int, profile: FusionProfile) -> float:
    """How far the best of ``scores`` (best first, those of other ``memos`` are 0) stands out; of few memos the middle counts."""
    if not scores:
        return 0.0
    place = min(PLACES_BELOW, max(memos - 1, 0) // 2)
    below = scores[place] if place < len(scores) else 0.0
    return scores[0] + profile.gap_weight * (scores[0] - below)


def label(score: float, literal: float, profile: FusionProfile) -> str:
    """One of ``STRONG``, ``RELATED``, ``WEAK``, ``EXCLUDED``."""
    if score >= profile.strong or literal >= profile.strong_words:
        return STRONG
    if score >= profile.related:
        return RELATED
    return WEAK if score >= profile.weak else EXCLUDED
