"""How a sentence reads, learned from judged ones: like a need, or like a note that wants nothing.

Decides by a table of weights over what stands in the sentence: characters, pairs of characters, English words and pairs of
words, what a clause begins and ends with, question marks, and length. A collected area counts as one word, whichever it is. The
table (``gate_words.txt`` beside this file) is made by ``benchmarks/gate_words.py`` from sentences that people can read and
correct. Refuses to decide alone: its weight is one among those of ``gate``.

Pure but for the table, which is part of the program. All text is folded.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Stands for a collected area, so that those of a person's own tags read as the usual ones do.
AREA_MARK = "@"
#: Characters from the end that are read, as the table was made.
READ_CHARS = 240
#: The table's line that holds what a text without any known feature has.
BIAS = "*"
#: The table holds whole numbers: this many make a weight of one.
SCALE = 100
#: Words shown for a reading.
_SHOWN = 3
#: Half words and words in a step of length, and the highest step.
_LENGTH_STEP, _LONGEST = 4, 6

_PIECE = re.compile(r"[\u3400-\u9fff]+|[a-z0-9]+(?:['-][a-z0-9]+)*|[?!,:。;…@]")
_STOPS = "?!,:。;…"
_SENTENCE_STOPS = "?!。;:,"


def score(text: str) -> float:
    """Log odds of a need in the end of ``text``."""
    known = _known(text)
    # Longer texts have more features, and are no surer for it.
    return _table()[BIAS] + sum(known.values()) / sqrt(max(1, len(known)))


def strongest(text: str, *, needed: bool) -> tuple[str, ...]:
    """The words that weigh most for a need, or most against one, the heaviest first."""
    known = _known(text)
    side = 1 if needed else -1
    heaviest = sorted((each for each in known if side * known[each] > 0), key=lambda each: (-side * known[each], each))
    return tuple(dict.fromkeys(filter(None, map(_shown, heaviest))))[:_SHOWN]


def _known(text: str) -> dict[str, float]:
    table = _table()
    return {feature: table[feature] for feature in features_of(text) if feature in table}


def features_of(text: str) -> tuple[str, ...]:
    """What of ``text`` the table knows by name, each once, in order."""
    text = text[-READ_CHARS:].rstrip("。. \n")
    pieces = ["", *_PIECE.findall(text), ""]
    found: dict[str, None] = {}
    for before, piece, after in zip(pieces, pieces[1:-1], pieces[2:], strict=False):
        if _is_chinese(piece):
            found.update(dict.fromkeys(_of_chinese(before, piece, after)))
        elif piece[0].isalnum():
            found.update(dict.fromkeys(_of_word(before, piece, after)))
        else:
            found["p:" + piece] = None
    found.update(dict.fromkeys(_of_form(text, pieces[1:-1])))
    return tuple(found)


def _of_chinese(before: str, piece: str, after: str) -> Iterator[str]:
    yield from piece
    yield from map("".join, pairwise(piece))
    if not before or before in _STOPS:
        yield from ("^" + piece[:1], "^" + piece[:2])
    if not after or after in _STOPS:
        yield from (piece[-1:] + (after or "$"), piece[-2:] + ("?" if after == "?" else "$"))


def _of_word(before: str, piece: str, after: str) -> Iterator[str]:
    word = "w:" + ("0" if piece.isdigit() else piece)
    yield word
    if after[:1].isalnum() and not _is_chinese(after):
        yield f"{word} {after}"
    if not before or before in _SENTENCE_STOPS:
        yield "^" + word


def _of_form(text: str, pieces: list[str]) -> Iterator[str]:
    words = sum(len(piece) / 2 if _is_chinese(piece) else 1 for piece in pieces if piece[0].isalnum())
    yield f"length:{min(_LONGEST, int(words / _LENGTH_STEP))}"
    yield f"questions:{min(2, text.count('?'))}"
    if text.endswith("?"):
        yield "ends:?"


def _is_chinese(piece: str) -> bool:
    return "\u3400" <= piece[:1] <= "\u9fff"


def _shown(feature: str) -> str:
    """The words of a feature as they stand in the text; "" for those that have none."""
    if ":" in feature and not feature.removeprefix("^").startswith("w:"):
        return ""
    words = feature.removeprefix("^").removeprefix("w:").rstrip("$,。;:").replace(AREA_MARK, "")
    return words if len(words) > 1 else ""


@cache
def _table() -> Mapping[str, float]:
    lines = Path(__file__).with_name("gate_words.txt").read_text(encoding="utf-8").splitlines()
    return {feature: int(weight) / SCALE for feature, _, weight in (line.rpartition("\t") for line in lines)}
