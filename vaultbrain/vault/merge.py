"""Three-way merge of lines: what we wrote last, what stands in the note now, what we would write now.

Pure. Decides the conflict rule: a part that only one side changed is taken from that side; a part that both changed to the
same is taken once; lines that a side only added beside what the other changed stay; a true clash keeps our new text and, behind
it, the person's in a callout. Nothing typed is lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CLASH_TITLE = "> [!warning]- vaultbrain: both sides changed this part; yours was"

_BLOCK_ID = re.compile(r"(?:^|[ \t]+)\^[A-Za-z0-9-]+[ \t]*$")


@dataclass(frozen=True, slots=True)
class Merged:
    text: str
    clashes: int


@dataclass(frozen=True, slots=True)
class _Change:
    """Base lines ``start:end`` became these."""

    start: int
    end: int
    lines: tuple[str, ...]


def merge_texts(base: str, theirs: str, ours: str) -> Merged:
    """``theirs`` is what the person left in the note, ``ours`` what we would write; both descend from ``base``."""
    if theirs in (base, ours):
        return Merged(ours, 0)
    if ours == base:
        return Merged(theirs, 0)
    lines = base.split("\n")
    merged: list[str] = []
    clashes, position = 0, 0
    for start, end, person, server in _regions(_changes(lines, theirs.split("\n")), _changes(lines, ours.split("\n"))):
        merged += lines[position:start]
        yours, new = _applied(lines, start, end, person), _applied(lines, start, end, server)
        if not person or yours == new:
            merged += new
        elif not server:
            merged += yours
        elif base and (around := _added_around(start, end, person)) is not None:
            merged += [*around[0], *new, *around[1]]
        else:
            merged += [*new, *_kept([line for change in person for line in change.lines])]
            clashes += 1
        position = end
    return Merged("\n".join(merged + lines[position:]), clashes)


def _changes(base: Sequence[str], other: Sequence[str]) -> list[_Change]:
    codes = SequenceMatcher(None, base, other, autojunk=False).get_opcodes()
    return [_Change(i1, i2, tuple(other[j1:j2])) for tag, i1, i2, j1, j2 in codes if tag != "equal"]


def _regions(person: Sequence[_Change], server: Sequence[_Change]) -> Iterator[tuple[int, int, list[_Change], list[_Change]]]:
    """Stretches of the base, in order, with the changes that touch them; changes that overlap share a stretch."""
    pending = sorted([(c, 0) for c in person] + [(c, 1) for c in server], key=lambda item: (item[0].start, item[0].end))
    while pending:
        first, side = pending.pop(0)
        start, end = first.start, first.end
        sides: tuple[list[_Change], list[_Change]] = ([], [])
        sides[side].append(first)
        while pending and _touches(pending[0][0], start, end):
            change, side = pending.pop(0)
            sides[side].append(change)
            end = max(end, change.end)
        yield start, end, *sides


def _touches(change: _Change, start: int, end: int) -> bool:
    """Whether the change overlaps the stretch, or inserts at its end or beside an insertion, where the order would be a guess."""
    return change.start < end or (change.start == end and (change.end == change.start or start == end))


def _added_around(start: int, end: int, changes: Sequence[_Change]) -> tuple[list[str], list[str]] | None:
    """What a side only added before and behind the stretch; None when it changed, removed or parted lines of the base."""
    before = [line for change in changes if change.end == start < end for line in change.lines]
    behind = [line for change in changes if change.start == end for line in change.lines]
    is_around = all(change.start == change.end and change.start in (start, end) for change in changes)
    return (before, behind) if is_around else None


def _applied(base: Sequence[str], start: int, end: int, changes: Sequence[_Change]) -> list[str]:
    lines: list[str] = []
    position = start
    for change in changes:
        lines += [*base[position : change.start], *change.lines]
        position = change.end
    return lines + list(base[position:end])


def _kept(lines: Sequence[str]) -> list[str]:
    """The person's lines as a quotation, without block ids: the same id may not stand in a note twice.

    What an earlier clash has quoted already stays as it stands, or it would be quoted deeper with every merge.
    """
    if CLASH_TITLE in lines:
        return list(lines)
    if not any(map(str.strip, lines)):
        return []
    return ["", CLASH_TITLE, *(f"> {_BLOCK_ID.sub('', line)}".rstrip() for line in lines), ""]
