"""Recall by words alone, for when there are no vectors: the scale that conversation recall began with.

Pure. A term counts 8 in the title, 6 in the tags, 4 in the category and 3 in the summary; a memo's category is the first level of
its tags. Synonyms and other languages are beyond it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.gist.summary import summary_of
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vaultbrain.memo import Memo

TITLE, TAGS, CATEGORY, SUMMARY = 8, 6, 4, 3
_ALL = TITLE + TAGS + CATEGORY + SUMMARY
#: What a memo must reach for its label: a term in the title and a second hit; a term in the title, or two lesser hits.
_STRONG_FROM, _RELATED_FROM = TITLE + SUMMARY, TITLE


@dataclass(frozen=True, slots=True)
class KeywordScore:
    """``points`` is the sum over the terms; ``score`` its share of what all could reach, 0..1; ``matched`` the terms met."""

    memo: Memo
    points: int
    score: float
    label: str
    matched: tuple[str, ...]


def score_by_keywords(memos: Iterable[Memo], terms: Sequence[str]) -> list[KeywordScore]:
    """The memos that a term meets, best first; of equal ones the newest."""
    folded = list(dict.fromkeys(filter(None, map(fold, terms))))
    scored = [found for memo in memos if (found := _scored(memo, folded))]
    return sorted(scored, key=lambda item: (-item.points, -item.memo.created, item.memo.id))


def _scored(memo: Memo, terms: Sequence[str]) -> KeywordScore | None:
    tags = [fold(tag) for tag in memo.tags]
    fields = (
        (TITLE, fold(memo.title)),
        (TAGS, "\n".join(tags)),
        (CATEGORY, "\n".join(tag.split("/")[0] for tag in tags)),
        (SUMMARY, fold(summary_of(memo.content, memo.title))),
    )
    points = {term: sum(worth for worth, text in fields if term in text) for term in terms}
    matched = tuple(term for term, worth in points.items() if worth)
    if not matched:
        return None
    total = sum(points.values())
    label = STRONG if total >= _STRONG_FROM else RELATED if total >= _RELATED_FROM else WEAK
    return KeywordScore(memo, total, round(total / (_ALL * len(terms)), 4), label, matched)
