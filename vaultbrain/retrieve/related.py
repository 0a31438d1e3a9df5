"""The person's own vocabulary: words that keep company with what a first search found.

Pure. The memos nearest to a question, by the index's own vectors and words, share words that the question does not have: 观影
finds memos that keep saying 影厅. Such words are tried as variants of little weight. Decides which may be taken and how many.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from vaultbrain.index.tokens import cut, is_cjk

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

#: Memos that are looked at, and in how many of them a word has to stand.
LOOKED_AT, IN_COMMON = 10, 3
#: Words that are taken.
MAX_RELATED = 4
#: A word in more than this share of all memos tells nothing.
TOO_COMMON = 0.05
#: Characters of the longest word that is looked for.
_LONGEST = 6
_SHORTEST_LATIN = 3


def related_words(
    texts: Sequence[str], known: Collection[str], vocabulary: Collection[str], count: Callable[[str], int], memos: int
) -> list[str]:
    """The words that the folded ``texts`` have in common, the most telling first.

    ``known`` words, and parts of them, are left out; a Chinese word must stand in ``vocabulary``. ``count`` gives the number of
    memos with a word, of ``memos`` in all.
    """
    found = Counter(word for text in texts[:LOOKED_AT] for word in _words(text, vocabulary))
    common = [(word, times) for word, times in found.items() if times >= IN_COMMON and not any(word in other for other in known)]
    telling = []
    for word, times in common:
        frequency = count(word)
        if 0 < frequency <= max(TOO_COMMON * memos, IN_COMMON):
            telling.append((times * math.log(memos / frequency), word))
    return [word for _, word in sorted(telling, key=lambda item: (-item[0], item[1]))[:MAX_RELATED]]


def _words(text: str, vocabulary: Collection[str]) -> set[str]:
    latin = {token for token in cut(text) if token.isascii() and token.isalpha() and len(token) >= _SHORTEST_LATIN}
    chinese = {
        text[start:end]
        for start in range(len(text))
        if is_cjk(text[start])
        for end in range(start + 2, min(start + _LONGEST, len(text)) + 1)
        if text[start:end] in vocabulary
    }
    return latin | chinese
