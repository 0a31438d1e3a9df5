"""What is new in a note that somebody is writing: the lines that were not there before.

Pure. Lines, because people write lists and paragraphs alike, and an edit in the middle of a paragraph makes it worth a new look.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

from vaultbrain.vault.note import read_words

if TYPE_CHECKING:
    from collections.abc import Collection

#: Characters of new text that are looked at, the last ones: few bursts of typing are longer.
MOST_CHARS = 600
#: More new text than this in one burst came from a clipboard, an import or another machine.
TYPED_CHARS = 3_000

_COMMENT = re.compile(r"%%.*?%%", re.DOTALL)


def known_lines(note: str) -> frozenset[int]:
    """What to remember of a note: numbers that stand for its lines."""
    return frozenset(_number(line) for line in _lines(note))


def new_text(note: str, known: Collection[int]) -> str:
    """The lines that were not ``known``, in order, the last ``MOST_CHARS`` characters of them; empty when there are none.

    Also empty when there is so much that nobody can have typed it.
    """
    new = "\n".join(line for line in _lines(note) if _number(line) not in known)
    if len(new) > TYPED_CHARS:
        return ""
    if len(new) <= MOST_CHARS:
        return new.strip()
    return new[-MOST_CHARS:].partition("\n")[2].strip() or new[-MOST_CHARS:].strip()


def _lines(note: str) -> list[str]:
    return [line for line in _COMMENT.sub("", read_words(note)).split("\n") if line.strip()]


def _number(line: str) -> int:
    return int.from_bytes(blake2b(line.strip().encode("utf-8", "surrogatepass"), digest_size=7).digest())
