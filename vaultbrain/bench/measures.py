"""The measures of a ranking against judgements, and how sure their means are.

Pure. nDCG@10 (Järvelin and Kekäläinen 2002, with the gain 2^grade - 1 of Burges et al. 2005, which is 1 for a yes-or-no
judgement, and the discount log2(rank + 1)), MRR@10, R@10 and R@50 (every document with a grade counts as relevant). A document
that a ranking names twice counts once, where it comes first.
"""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: The measures by their public names, in the order of every row of scores.
MEASURES = ("ndcg@10", "mrr@10", "r@10", "r@50")
Row: TypeAlias = tuple[float, float, float, float]

#: So many places of a ranking are looked at by the early measures, and at most.
EARLY = 10
DEPTH = 50

#: Resamplings behind an interval, and the seed that makes it repeat.
DRAWS = 2_000
SEED = 7
#: An interval leaves out so many percent of the resampled means at each end: 95 % lie inside.
TAIL_PERCENT = 2.5


def score_ranking(ranking: Sequence[str], grades: Mapping[str, int]) -> Row:
    """``MEASURES`` of one ranking (ids, best first), each 0..1. ``grades``: id → grade above 0, at least one."""
    places = list(dict.fromkeys(ranking))[:DEPTH]
    relevant = [document_id in grades for document_id in places]
    gained = _discounted([_gain(grades.get(document_id, 0)) for document_id in places[:EARLY]])
    ideal = _discounted(sorted(map(_gain, grades.values()), reverse=True)[:EARLY])
    first = relevant[:EARLY].index(True) + 1 if any(relevant[:EARLY]) else 0
    return (
        gained / ideal,
        1 / first if first else 0.0,
        sum(relevant[:EARLY]) / len(grades),
        sum(relevant) / len(grades),
    )


def _gain(grade: int) -> int:
    return int(2**grade) - 1


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / log2(place + 1) for place, gain in enumerate(gains, 1))


def mean(rows: Sequence[Row]) -> Row:
    """The mean of each measure over the queries."""
    ndcg, mrr, r10, r50 = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    return ndcg, mrr, r10, r50


def interval(rows: Sequence[Row]) -> tuple[Row, Row]:
    """Bootstrap 95 % interval of each mean: its low ends and its high ends. The same rows give the same interval."""
    import numpy as np

    table = np.array(rows)
    rng = np.random.default_rng(SEED)
    means = np.array([table[rng.integers(0, len(table), len(table))].mean(axis=0) for _ in range(DRAWS)])
    low, high = (tuple(np.percentile(means, percent, axis=0).tolist()) for percent in (TAIL_PERCENT, 100 - TAIL_PERCENT))
    return low, high


def percentile(values: Sequence[float], percent: float) -> float:
    """The value that ``percent`` of all lie below, interpolated."""
    import numpy as np

    return float(np.percentile(values, percent))
