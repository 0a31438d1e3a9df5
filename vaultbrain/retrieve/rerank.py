"""The light rerank of the first hits: what a second look at the text of a memo adds to its score, and which memos say the same.

Pure. Decides the features and their worth, each in points of score so that ``--explain`` can show them. They are small: they
settle what the fusion leaves nearly equal. Time and pins decide only between equal scores.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from vaultbrain.index.tokens import cut, searchable

if TYPE_CHECKING:
    from collections.abc import Sequence, Set

    from vaultbrain.retrieve.expand import Variant

#: Hits that are looked at again.
DEPTH = 50

#: What each feature is worth at most, in points of score.
PHRASE, COVERAGE, PROXIMITY, TITLE, TAG, AGREEMENT, RESOURCE = 0.04, 0.02, 0.02, 0.02, 0.04, 0.02, 0.03
#: A memo that holds nothing but tags or a heading names the subject and says nothing of it: the share of its score that it loses.
NAMES_ONLY = 0.2
#: Groups of variants that speak for one memo until they count in full.
FULL_AGREEMENT = 3
#: Folded characters within which all words of a query stand close together, for each word.
CLOSE = 12

#: Two memos say the same when so large a share of their character trigrams is common to both.
SAME = 0.8
_SHINGLE = 3
#: Points of score within which texts that say the same lie.
_SAME_SCORE = 0.05

_ADDRESS = re.compile(r"https?://|\[\[")


@dataclass(frozen=True, slots=True)
class Looked:
    """What is looked at of one hit: folded ``text`` (``tokens.searchable``), ``title``, ``tags``; variants that stand in it.

    ``has_body``: there is more than the title.
    """

    text: str
    title: str
    tags: tuple[str, ...]
    matched: tuple[Variant, ...] = ()
    has_body: bool = True


def features(topic: str, looked: Looked, *, wants_resources: bool = False) -> dict[str, float]:
    """Feature → points of score, those that apply only. ``topic`` is folded."""
    words = topic.lstrip("#").split()
    found = {
        "phrase": PHRASE if _stands_as_phrase(topic, looked.text) else 0.0,
        "coverage": COVERAGE * _coverage(topic, looked.text),
        "proximity": PROXIMITY if len(words) > 1 and _stand_close(words, looked.text) else 0.0,
        "title": TITLE if looked.has_body and any(word in looked.title for word in words if len(word) > 1) else 0.0,
        "tag": TAG if any(_has_tag(word, looked.tags) for word in words) else 0.0,
        "agreement": AGREEMENT * _agreement(looked.matched),
        "resource": RESOURCE if wants_resources and _ADDRESS.search(looked.text) else 0.0,
    }
    return {name: worth for name, worth in found.items() if worth}


def _stands_as_phrase(topic: str, text: str) -> bool:
    return len(_tokens(topic)) > 1 and _phrase(topic) in text


#: Of one topic all first hits are asked.
_tokens, _phrase = lru_cache(maxsize=8)(cut), lru_cache(maxsize=8)(searchable)


def _coverage(topic: str, text: str) -> float:
    tokens = set(_tokens(topic))
    return sum(token in text for token in tokens) / len(tokens) if tokens else 0.0


def _stand_close(words: Sequence[str], text: str) -> bool:
    places = [text.find(word) for word in words]
    return min(places) >= 0 and max(places) - min(places) <= CLOSE * len(words)


def _has_tag(word: str, tags: Sequence[str]) -> bool:
    return any(tag == word or tag.startswith(f"{word}/") or tag.endswith(f"/{word}") for tag in tags)


def _agreement(matched: Sequence[Variant]) -> float:
    """How many different words of the question, or kinds of variant, speak for the memo."""
    groups = {(variant.family, variant.group) for variant in matched}
    return min(len(groups) - 1, FULL_AGREEMENT) / FULL_AGREEMENT if len(groups) > 1 else 0.0


def fold_copies(hits: Sequence[tuple[str, str, float]]) -> dict[str, list[str]]:
    """Memo id → ids of later ones that say the same, for every memo that stands for itself. ``hits``: (id, folded text, score).

    Best first. Equal texts are found among all; nearly equal ones among the first ``DEPTH``, where they would be seen side by
    side, and only with nearly the same score, which such texts have.
    """
    copies: dict[str, list[str]] = {}
    by_text: dict[str, str] = {}
    kept: list[tuple[str, str, float]] = []
    shingles = cache(_shingles)
    for place, (memo_id, text, score) in enumerate(hits):
        bare = "".join(text.split())
        original = by_text.get(bare)
        if original is None and place < DEPTH:
            near = (
                other
                for other, theirs, other_score in kept
                if abs(other_score - score) <= _SAME_SCORE and _alike(shingles(bare), shingles(theirs))
            )
            original = next(near, None)
            if original is None:
                kept.append((memo_id, bare, score))
        by_text[bare] = original or memo_id
        if original is None:
            copies[memo_id] = []
        else:
            copies[original].append(memo_id)
    return copies


def _shingles(bare: str) -> Set[tuple[str, ...]]:
    return frozenset(zip(*(bare[n:] for n in range(_SHINGLE)), strict=False)) or frozenset([tuple(bare)])


def _alike(one: Set[object], other: Set[object]) -> bool:
    """By Jaccard's coefficient."""
    smaller, larger = (len(one), len(other)) if len(one) <= len(other) else (len(other), len(one))
    if smaller < SAME * larger:
        return False
    common = len(one & other)
    return common >= SAME * (smaller + larger - common)
