"""Makes the table by which the recall gate tells how a sentence reads (``vaultbrain/recall/gate_words.txt``).

    python benchmarks/gate_words.py            # writes the table
    python benchmarks/gate_words.py --rounds   # what a table made without a round of sentences says of that round

A logistic regression on the features of ``vaultbrain.recall.reading``, fitted to the sentences of ``tests/data/gate-more.json``,
``tests/data/gate-other-hand.json`` and the even bursts of ``day_bursts.json``. ``tests/data/memobench-gate.json`` and the odd
bursts are left out: they measure. Nothing in it is drawn by chance. Needs numpy and scipy, which the product does not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from vaultbrain.recall.areas import Areas  # noqa: E402
from vaultbrain.recall.gate import own_words  # noqa: E402
from vaultbrain.recall.reading import BIAS, SCALE, features_of  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

TABLE = ROOT / "vaultbrain" / "recall" / "gate_words.txt"
NEED_KINDS = frozenset({"method", "unknown", "sorting", "decision", "again", "cases", "work"})
#: Strength of the pull towards zero, found on rounds that were left out; .02 to .1 do alike.
RIDGE = 0.03
#: A feature met once says nothing. Weights below this many hundredths are left out of the table.
LEAST_SENTENCES, LEAST_WEIGHT = 2, 15

Row = dict[str, Any]

#: Sentences of ``gate-more.json`` that the table never sees: they measure the rules for plain questions.
MEASURING_ROUND = 15


def rows() -> list[Row]:
    """All sentences to learn from; ``round`` 0 are those of other hands."""
    data = ROOT / "tests" / "data"
    more = json.loads((data / "gate-more.json").read_text(encoding="utf-8"))
    other = json.loads((data / "gate-other-hand.json").read_text(encoding="utf-8"))
    bursts = json.loads((ROOT / "benchmarks" / "day_bursts.json").read_text(encoding="utf-8"))["bursts"][::2]
    told = [{"text": each["text"], "recall": each["kind"] in NEED_KINDS} for each in bursts]
    learned = (row for row in more if row["round"] != MEASURING_ROUND)
    return [{"round": 0, **row} for row in (*learned, *other, *told)]


def fitted(learned: Sequence[Row]) -> dict[str, float]:
    """Feature to weight, and ``BIAS``."""
    found = [features_of(own_words(row["text"], Areas())) for row in learned]
    counts = Counter(feature for features in found for feature in features)
    place = {feature: index for index, feature in enumerate(sorted(each for each, n in counts.items() if n >= LEAST_SENTENCES))}
    known = [[place[feature] for feature in features if feature in place] for features in found]
    starts = np.cumsum([0, *map(len, known)])
    values = np.concatenate([np.full(len(each), max(1, len(each)) ** -0.5) for each in known])
    matrix = csr_matrix((values, np.concatenate(known).astype(int), starts), shape=(len(known), len(place)))
    wanted = np.array([float(row["recall"]) for row in learned])

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        odds = matrix @ weights[:-1] + weights[-1]
        wrong = 1 / (1 + np.exp(-odds)) - wanted
        pull = RIDGE * weights[:-1]
        total = float((np.logaddexp(0, odds) - wanted * odds).sum() + pull @ weights[:-1] / 2)
        return total, np.append(matrix.T @ wrong + pull, wrong.sum())

    best = minimize(loss, np.zeros(len(place) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    return {BIAS: float(best[-1]), **{feature: float(best[index]) for feature, index in place.items()}}


def as_lines(weights: dict[str, float]) -> str:
    whole = {feature: round(weight * SCALE) for feature, weight in weights.items()}
    kept = sorted(feature for feature, weight in whole.items() if feature == BIAS or abs(weight) >= LEAST_WEIGHT)
    return "".join(f"{feature}\t{whole[feature]}\n" for feature in kept)


def said_of_left_out() -> None:
    everything = rows()
    for left_out in sorted({row["round"] for row in everything}):
        table = fitted([row for row in everything if row["round"] != left_out])
        scored = [(_score(table, row["text"]), row["recall"]) for row in everything if row["round"] == left_out]
        right = sum((score > 0) == recall for score, recall in scored)
        print(f"round {left_out}: {right} of {len(scored)} right")


def _score(table: dict[str, float], text: str) -> float:
    known = [table[feature] for feature in features_of(own_words(text, Areas())) if feature in table]
    return table[BIAS] + sum(known) / max(1, len(known)) ** 0.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", action="store_true", help="measure on rounds left out; write nothing")
    if parser.parse_args().rounds:
        said_of_left_out()
    else:
        TABLE.write_text(as_lines(fitted(rows())), encoding="utf-8")


if __name__ == "__main__":
    main()
