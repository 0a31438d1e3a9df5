"""How much of a result one answer carries, and where the next one goes on.

Pure. A result is cut between items, so that it stays within the bytes that the caller allows. A cursor says how many items came
before and for which call: with other arguments it is refused, since its place would mean nothing there. Nothing is kept between
two calls, so a cursor outlives the process that gave it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import UsageProblem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Bytes of a result, when the caller says nothing; the least and the most that may be asked for.
DEFAULT_BYTES, LEAST_BYTES, MOST_BYTES = 8_192, 1_024, 65_536

_CURSOR = re.compile(r"(\d{1,6})(?:\.(\d{1,9}))?-([0-9a-f]{8})")


@dataclass(frozen=True, slots=True)
class Place:
    """Items that came before, and characters of the next one that did."""

    items: int = 0
    chars: int = 0


def compact_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def size_of(value: Any) -> int:
    """Bytes of the value as it is sent."""
    return len(compact_json(value).encode("utf-8", "replace"))


def digest_of(tool: str, values: Mapping[str, Any]) -> str:
    """Names a call by what decides its items: everything but how many, how much and from where."""
    asked = {name: value for name, value in values.items() if name not in ("cursor", "max_bytes", "limit")}
    return blake2b(compact_json([tool, asked]).encode("utf-8", "replace"), digest_size=4).hexdigest()


def write_cursor(place: Place, digest: str) -> str:
    return f"{place.items}{f'.{place.chars}' if place.chars else ''}-{digest}"


def read_cursor(cursor: str, digest: str) -> Place:
    """Raises ``UsageProblem`` when it is not ours or belongs to another call."""
    if not cursor:
        return Place()
    found = _CURSOR.fullmatch(cursor)
    if found is None or found[3] != digest:
        what = "The cursor is not one of this call." if found else "The cursor is not one that a result gave."
        raise UsageProblem(
            what=what, next="Repeat the call with the same arguments and the cursor as it came, or without cursor."
        )
    return Place(int(found[1]), int(found[2] or 0))


def fitting_items(items: Sequence[Any], room: int) -> int:
    """How many of the items, from the first on, have room in so many bytes; each costs a comma more."""
    for number, item in enumerate(items):
        room -= size_of(item) + 1
        if room < 0:
            return number
    return len(items)
