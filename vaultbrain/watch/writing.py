"""What is new in a note that somebody is writing: the lines that were not there before.

Pure. Lines, because people write lists and paragraphs alike, and an edit in the middle of a paragraph makes it worth a new look.
A line that is nothing but a link says nothing: so nothing is made of the links that we put into daily notes.
"""

from __future__ import annotations

import re
from array import array
from hashlib import blake2b
from typing import TYPE_CHECKING

from vaultbrain.vault.note import read_words

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Characters of new text that are looked at, the last ones: few bursts of typing are longer.
MOST_CHARS = 600
#: More new text than this in one burst came from a clipboard, an import or another machine.
TYPED_CHARS = 3_000

_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)
_ONLY_A_LINK = re.compile(r"\s*(?:[-*+]|\d+[.)])?\s*(?:!?\[\[[^\]\n]*\]\]|!?\[[^\]\n]*\]\([^)\n]*\))\s*")


def known_lines(note: str) -> array[int]:
    """What to remember of a note: numbers that stand for its lines, eight bytes each."""
    return array("Q", sorted({_number(line) for line in _lines(note)}))


def new_text(note: str, known: Iterable[int]) -> str:
    """The lines that were not ``known``, in order, the last ``MOST_CHARS`` characters of them; empty when there are none.

    Also empty when there is so much that nobody can have typed it.
    """
    before = frozenset(known)
    new = "\n".join(line for line in _lines(note) if _number(line) not in before)
    if len(new) > TYPED_CHARS:
        return ""
    if len(new) <= MOST_CHARS:
        return new.strip()
    return new[-MOST_CHARS:].partition("\n")[2].strip() or new[-MOST_CHARS:].strip()


def _lines(note: str) -> list[str]:
    lines = _COMMENT.sub("", read_words(note)).split("\n")
    return [line for line in lines if line.strip() and not _ONLY_A_LINK.fullmatch(line)]


def _number(line: str) -> int:
    return int.from_bytes(blake2b(line.strip().encode("utf-8", "surrogatepass"), digest_size=7).digest())
