"""What of a memo is shown to somebody who has to judge it: all of a short one, else a window around what was found.

Pure. The window begins and ends between sentences or clauses where one ends nearby, else between words; never within a word, an
address, a link, a code span or an emoji. What is shown stands word for word in the memo; ``…`` stands for what is left out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold_keeping_offsets
from vaultbrain.retrieve.excerpt import uncuttable

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Characters of a preview: at least, where the memo has so many, and at most but for a long address.
LEAST_CHARS, MOST_CHARS = 300, 400
#: Of the window, how much stands before what was found: what follows it says more.
_BEFORE = 0.3
#: Characters by which the window may grow for an address, a link or a word; longer ones are cut like any text.
_UNCUT_CHARS = 600
#: Characters of an excerpt's line by which its place is found.
_RECOGNISED = 12
_GOOD_END = re.compile(r"[。！？；…]+[”’」』）)]*|[.!?;](?=\s)|\n+|[，、：,:](?=\s|[^\x00-\x7f])")
_LEFT_OUT = "…"


@dataclass(frozen=True, slots=True)
class Preview:
    """``is_whole``: nothing of the memo is missing."""

    text: str
    is_whole: bool


def preview_of(content: str, excerpt: str, matched: Sequence[str] = ()) -> Preview:
    """``excerpt`` is what the search shows of the memo, ``matched`` the words that it met: the window is laid around the first of
    them that is found."""
    text = content.strip()
    if len(text) <= MOST_CHARS:
        return Preview(text, is_whole=True)
    found = _place_of(text, excerpt, matched)
    fixed = uncuttable(text)
    start = max(0, min(found - int(_BEFORE * MOST_CHARS), len(text) - MOST_CHARS))
    start = _good_start(text, start, found, fixed)
    end = _good_end(text, start, found, fixed)
    shown = text[start:end].strip()
    return Preview(f"{_LEFT_OUT if start else ''}{shown}{_LEFT_OUT if end < len(text) else ''}", is_whole=False)


def cut_between_words(text: str, latest: int) -> int:
    """The last place up to ``latest`` where the text may be cut; ``latest`` itself when there is none."""
    if latest >= len(text):
        return len(text)
    fixed = uncuttable(text)
    return next((place for place in range(latest, 0, -1) if _is_between_words(text, place, fixed)), latest)


def _place_of(text: str, excerpt: str, matched: Sequence[str]) -> int:
    """Where the excerpt begins, or the first word that was met; the start when neither is found."""
    lines = [line.strip().strip(_LEFT_OUT) for line in excerpt.split("\n")]
    for part in (line[:_RECOGNISED] for line in lines if len(line) >= _RECOGNISED):
        if (place := text.find(part)) >= 0:
            return place
    folded = fold_keeping_offsets(text)
    places = [place for word in matched if (place := folded.find(word)) >= 0]
    return min(places, default=0)


def _good_start(text: str, wanted: int, found: int, fixed: bytearray) -> int:
    """The end of a sentence or clause between ``wanted`` and what was found, else the next place between two words there; the
    last one before, where what was found is part of something that is not cut."""
    if wanted == 0:
        return 0
    room = wanted + MOST_CHARS - LEAST_CHARS
    ends = [match.end() for match in _GOOD_END.finditer(text, wanted, min(found, room)) if not fixed[match.end()]]
    if ends:
        return ends[0]
    after = (place for place in range(wanted, min(found, len(text) - LEAST_CHARS) + 1) if _is_between_words(text, place, fixed))
    if (start := next(after, None)) is not None:
        return start
    earliest = max(0, wanted - _UNCUT_CHARS)
    before = (place for place in range(wanted, earliest, -1) if _is_between_words(text, place, fixed))
    return next(before, wanted if earliest else 0)


def _good_end(text: str, start: int, found: int, fixed: bytearray) -> int:
    """The first end of a sentence or clause that leaves ``LEAST_CHARS``, else the last place between two words with room.

    What was found is shown, however early the start had to be.
    """
    latest = max(start, found - int(_BEFORE * MOST_CHARS)) + MOST_CHARS
    if latest >= len(text):
        return len(text)
    earliest = max(start + LEAST_CHARS, found + 1)
    ends = [match.end() for match in _GOOD_END.finditer(text, earliest, latest) if not fixed[match.end()]]
    if ends:
        return ends[0]
    inner = (place for place in range(latest, earliest, -1) if _is_between_words(text, place, fixed))
    end = min(len(text), latest + _UNCUT_CHARS)
    beyond = (place for place in range(latest, end) if _is_between_words(text, place, fixed))
    return next(inner, next(beyond, latest if end < len(text) else end))


def _is_between_words(text: str, place: int, fixed: bytearray) -> bool:
    """Letters of an alphabet make words; Chinese may be cut between any two characters."""
    return not fixed[place] and not (_is_letter(text[place - 1]) and _is_letter(text[place]))


def _is_letter(character: str) -> bool:
    return character.isalnum() and character < "\u2e80"
