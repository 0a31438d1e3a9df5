"""A question that a person dropped into a note: what it asks, under which conditions, and what the note is told afterwards.

Pure. The body is the question, or the note's name when there is no body; a long body is what is to be compared, and the name says
what for. Properties may set ``mode``, ``tags``, ``after`` and ``before`` (or ``dates``); nothing else in them counts.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from vaultbrain.answer.context import EXPLORE, INVENTORY, MATCH
from vaultbrain.memo import clean_text
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS
from vaultbrain.vault.note import read_properties, read_words

if TYPE_CHECKING:
    from collections.abc import Mapping

MODES = (INVENTORY, MATCH, EXPLORE)
UNREADABLE = "its properties cannot be read: they are not valid YAML, or hold a date that does not exist"
#: What Obsidian calls a new note, in its languages that we speak, with the number that it adds.
_UNNAMED = re.compile(r"(?:untitled|未命名|無標題|无标题|未命名筆記)(?: \d+)?", re.IGNORECASE)
_HEADING = re.compile(r"^#{1,6}[ \t]+", re.MULTILINE)
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")
_SPAN = re.compile(rf"\s*({_DATE.pattern})\s*(?:(?:\.\.|~|—|–|to|至|到)\s*({_DATE.pattern}))?\s*")


@dataclass(frozen=True, slots=True)
class NotedQuestion:
    """``text`` is the question with its conditions as filters; ``mode`` is ``auto`` unless the note sets one.

    ``passage`` is what to compare with, empty for most. ``problem`` names a property that cannot be read.
    """

    text: str
    mode: str = "auto"
    passage: str = ""
    problem: str = ""

    @property
    def digest(self) -> str:
        """Another one whenever the question is."""
        parts = "\0".join((self.text, self.mode, self.passage, self.problem))
        return hashlib.blake2b(parts.encode(), digest_size=8).hexdigest()


def read_noted_question(note: str, name: str) -> NotedQuestion | None:
    """The question in a note called ``name`` (without ``.md``); None while there is none."""
    text = clean_text(note)
    properties = read_properties(text)
    body = _HEADING.sub("", read_words(text)).strip()
    title = "" if _UNNAMED.fullmatch(name.strip()) else name.strip()
    passage = body if len(body) > LONGEST_WITH_FILTERS else ""
    question = " ".join((title if passage else body or title).split())
    if not question and not passage:
        return None
    if not properties and _has_entries(text):
        return NotedQuestion(question, problem=UNREADABLE)
    mode = str(properties.get("mode") or "auto").strip().casefold()
    try:
        filters = _filters(properties)
    except ValueError as error:
        return NotedQuestion(question, problem=str(error))
    if mode not in (*MODES, "auto"):
        return NotedQuestion(question, problem=f"mode: {mode} is none of {', '.join(MODES)}")
    return NotedQuestion(" ".join([question, *filters]).strip(), mode, passage)


def _has_entries(text: str) -> bool:
    """Whether something stands among the note's properties, readable or not."""
    fence, *lines = text.removeprefix("\ufeff").split("\n")
    fences = [number for number, line in enumerate(lines) if line.rstrip() == "---"]
    if fence.rstrip() != "---" or not fences:
        return False
    return any(line.strip() and not line.startswith("#") for line in lines[: fences[0]])


def _filters(properties: Mapping[str, object]) -> list[str]:
    """In the language of queries (docs/search.md). Raises ``ValueError`` with a sentence."""
    tags = properties.get("tags") or ()
    named = tags if isinstance(tags, (list, tuple)) else str(tags).replace(",", " ").split()
    found = [f"tag:{_tag(str(given))}" for given in named if given is not None and str(given).strip()]
    after, before = properties.get("after"), properties.get("before")
    if (dates := properties.get("dates")) is not None:
        after, before = _span(str(dates))
    for name, value in (("after", after), ("before", before)):
        if value is not None:
            if not _DATE.fullmatch(day := str(value).partition("T")[0].partition(" ")[0]):
                raise ValueError(f"{name}: {value} is not a date; write 2026, 2026-03 or 2026-03-01")
            _day_after(day, name)  # to see that it is in the calendar
            found.append(f"{name}:{day}")
    return found


def _tag(given: str) -> str:
    tag = given.strip().lstrip("#")
    if not tag or " " in tag:
        raise ValueError(f"tags: {given} is no tag")
    return tag


def _span(text: str) -> tuple[str, str]:
    """``2026-01..2026-03`` as the first day and the one after the last; a single day, month or year is all of it."""
    match = _SPAN.fullmatch(text)
    if not match:
        raise ValueError(f"dates: {text} is not a time; write 2026, 2026-03 or 2026-01..2026-03")
    first, last = match[1], match[5] or match[1]
    _day_after(first)
    return first, _day_after(last)


def _day_after(text: str, name: str = "dates") -> str:
    """Raises ``ValueError`` with a sentence about the property ``name`` when it is in no calendar."""
    year, month, day = (int(part) if part else 0 for part in _DATE.fullmatch(text).groups())  # type: ignore[union-attr]
    try:
        if day:
            return (date(year, month, day) + timedelta(days=1)).isoformat()
        date(year, month or 1, 1)
        return f"{year + month // 12:04}-{month % 12 + 1:02}" if month else f"{year + 1:04}"
    except (ValueError, OverflowError):
        raise ValueError(f"{name}: {text} is not in the calendar") from None
