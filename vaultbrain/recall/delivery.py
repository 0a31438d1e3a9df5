"""The recall note on disk and in the catalog: written, kept to two mentions, and read back when the person has ticked something.

One recall note for each note that is being written. Its row is written before and after the file, so that a kill in between
leaves a note that the next mention still knows as ours; what the person changed in it stays. It is found where they moved or
renamed it in its folder; one that they deleted takes its mentions along.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from vaultbrain.errors import NoteBeingEdited, NoteUnreadable, WriteFailed
from vaultbrain.index.recalls import LoggedCandidate, RecallRow
from vaultbrain.index.ticks import DISMISSED
from vaultbrain.recall.note import Mention, read_ticks, recall_properties, recall_region, ticked_like, usefulness, with_ticks
from vaultbrain.vault.names import free_path, recall_name, same_name
from vaultbrain.vault.note import SHARED_LISTS, new_note, read_properties, read_region, update_note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from vaultbrain.index.recalls import RecallShelf
    from vaultbrain.vault.note import Value
    from vaultbrain.vault.vault import FileMark, Vault

#: Mentions that one recall note shows; an older one makes room.
MAX_SHOWN = 2
_USEFUL = re.compile(r"^vb_useful:[ \t]*(true|false)\b", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class DeliveryParts:
    """``transaction`` is the catalog's; ``lock`` is held while a note and its row change; ``folder`` is that of recall notes."""

    shelf: RecallShelf
    vault: Vault
    folder: str
    transaction: Callable[[], AbstractContextManager[None]]
    lock: Callable[[], AbstractContextManager[object]]


def deliver(parts: DeliveryParts, row: RecallRow, mention: Mention, language: str, log: Sequence[LoggedCandidate]) -> RecallRow:
    """Writes ``mention`` into the recall note of ``row.for_note``, above an earlier one, and the log with it.

    ``row`` brings the query and the time (local, without offset). Raises ``NoteBeingEdited``, ``NoteUnreadable`` and
    ``WriteFailed``; then nothing counts as mentioned.
    """
    with parts.lock():
        known = _known_row(parts, row.for_note)
        if known:
            read_back(parts, known)
        mentions = _kept(parts, known, mention)
        new = replace(known or row, query=row.query, created=row.created, mentions=tuple(asdict(m) for m in mentions))
        new = replace(new, path=_path(parts, new), language=language)
        written = _write_announced(parts, known or row, new)
        with parts.transaction():
            parts.shelf.write_note(written)
            parts.shelf.write_mentions(row.for_note, [mention.memo_id], row.created[:10])
            parts.shelf.log(log)
    return written


def _known_row(parts: DeliveryParts, for_note: str) -> RecallRow | None:
    """The row of the note's recall note, told where that is now; without mentions when the person deleted it."""
    row = parts.shelf.note_for(for_note)
    if row is None:
        return _unrecorded(parts, for_note)
    if not row.path or parts.vault.mark(row.path):
        return row
    path = _found_in_folder(parts, for_note)
    return replace(row, path=path) if path else replace(row, mentions=(), region="", intended="", properties={})


def _kept(parts: DeliveryParts, known: RecallRow | None, mention: Mention) -> list[Mention]:
    """The new one, and earlier ones that are still wanted, with their ticks."""
    earlier = [Mention(**fields) for fields in known.mentions] if known else []
    ticked = with_ticks(earlier, parts.shelf.ticks_for(known.for_note)) if known else ()
    wanted = [m for m in ticked if m.ticked != DISMISSED and m.memo_id != mention.memo_id]
    return [mention, *wanted][:MAX_SHOWN]


def _write_announced(parts: DeliveryParts, before: RecallRow, new: RecallRow) -> RecallRow:
    """Writes the note of ``new``; the row that is to be recorded. Until then ``before`` stands there, with what was begun."""
    mentions = with_ticks([Mention(**fields) for fields in new.mentions], parts.shelf.ticks_for(new.for_note))
    region = recall_region(mentions, new.language)
    with parts.transaction():
        parts.shelf.write_note(replace(before, path=new.path, intended=region))
    return _write(parts, new, region, _properties(parts, new))


def mend_links(parts: DeliveryParts, place: Callable[[str, str], tuple[str, str]]) -> list[str]:
    """Brings links in recall notes to where the memos' notes are now; paths of those that have to wait for another time.

    ``place`` takes a memo id and an anchor, and gives the path of the memo's note and the anchor there, either empty when there
    is nothing to link to.
    """
    left = []
    for row in parts.shelf.notes():
        mentions = tuple(_moved(fields, place) for fields in row.mentions)
        if mentions != row.mentions:
            try:
                _mend(parts, row, mentions)
            except (NoteUnreadable, WriteFailed):
                left.append(row.path)
    return left


def _moved(fields: dict[str, str], place: Callable[[str, str], tuple[str, str]]) -> dict[str, str]:
    note, anchor = place(fields["memo_id"], fields["anchor"])
    return fields | {"note": note, "anchor": anchor}


def _mend(parts: DeliveryParts, row: RecallRow, mentions: tuple[dict[str, str], ...]) -> None:
    """A note that the person deleted, or took our markers out of, is let be."""
    standing = parts.vault.read(row.path)
    if standing is None or read_region(standing) is None:
        return
    read_back(parts, row)
    written = _write_announced(parts, row, replace(row, mentions=mentions))
    with parts.transaction():
        parts.shelf.write_note(written)


def _properties(parts: DeliveryParts, row: RecallRow) -> dict[str, Value]:
    useful = usefulness(parts.shelf.ticks_for(row.for_note))
    return recall_properties(row.for_note, row.created, row.query.split(), useful=useful)


def _path(parts: DeliveryParts, row: RecallRow) -> str:
    """Where the note is, or where a new one goes; a file that is not ours is never written over."""
    if row.path and (parts.vault.mark(row.path) is None or _is_recall_note(parts, row)):
        return row.path
    others = (other.path for other in parts.shelf.notes() if other.for_note != row.for_note)
    taken = parts.vault.names_in(parts.folder) | {same_name(path) for path in others}
    return free_path(parts.folder, recall_name(PurePosixPath(row.for_note).stem), taken)


def _is_recall_note(parts: DeliveryParts, row: RecallRow) -> bool:
    """Whether a recall note that is no other note's stands at the recorded place. Obsidian may have rewritten the link in it."""
    found = for_note_of(parts.vault, row.path)
    return bool(found) and (found == row.for_note or parts.shelf.note_for(found) is None)


def for_note_of(vault: Vault, path: str) -> str:
    """The path of the note that a recall note is for, by its properties; empty when it is no recall note of ours."""
    try:
        text = vault.read(path)
    except NoteUnreadable:
        return ""
    properties = read_properties(text) if text and "vb_for" in text else {}
    if properties.get("vb_kind") != "recall":
        return ""
    target = str(properties.get("vb_for", "")).strip()
    if target.startswith("[["):
        return f"{target.removeprefix('[[').removesuffix(']]').partition('|')[0]}.md"
    return target  # a path that cannot stand in a link


def _found_in_folder(parts: DeliveryParts, for_note: str) -> str:
    """Where a recall note for this one stands that is not where any row says; empty without one."""
    recorded = {row.path for row in parts.shelf.notes()}
    unknown = (path for path in sorted(parts.vault.marks_in(parts.folder)) if path not in recorded)
    return next((path for path in unknown if for_note_of(parts.vault, path) == for_note), "")


def _unrecorded(parts: DeliveryParts, for_note: str) -> RecallRow | None:
    """A recall note that no row knows: the catalog was lost. What stands in it is taken for what we wrote."""
    path = _found_in_folder(parts, for_note)
    return RecallRow(for_note, path, region=_region_at(parts.vault, path)) if path else None


def _region_at(vault: Vault, path: str) -> str:
    return read_region(vault.read(path) or "") or ""


def _write(parts: DeliveryParts, row: RecallRow, region: str, properties: dict[str, Value]) -> RecallRow:
    mark = parts.vault.mark(row.path)
    standing = parts.vault.read(row.path)
    ours = {key: list(value) if key in SHARED_LISTS and isinstance(value, list) else [] for key, value in properties.items()}
    if standing is None:
        _create(parts, row.path, new_note(properties, region))
        return replace(row, region=region, intended="", properties=ours)
    base = row.intended if row.intended and row.intended == read_region(standing) else row.region
    # A tick is known by now, and no change of theirs that has to be kept beside ours.
    base = ticked_like(base, read_region(standing) or "")
    updated = update_note(standing, base_region=base, region=region, properties=properties, base_properties=row.properties)
    if updated is None:  # the markers are gone: the note is the person's, and a new one is not forced on them
        raise NoteUnreadable(path=row.path, reason="its vaultbrain markers are gone")
    if updated.text != standing:
        _replace(parts, row.path, updated.text, mark)
    return replace(row, region=region, intended="", properties=ours | updated.entries)


def _create(parts: DeliveryParts, path: str, text: str) -> None:
    try:
        parts.vault.create(path, text)
    except FileExistsError as error:
        raise NoteUnreadable(path=path, reason="something else stands there") from error


def _replace(parts: DeliveryParts, path: str, text: str, read_at: FileMark | None) -> None:
    """Writes over the note as it was when it was read."""
    if parts.vault.mark(path) != read_at:
        raise NoteBeingEdited(path=path, reason="it is being changed just now")
    parts.vault.replace(path, text)


def read_back(parts: DeliveryParts, row: RecallRow) -> bool:
    """Takes over what is ticked in the recall note; whether that was news. A note that is gone or unreadable says nothing."""
    try:
        text = parts.vault.read(row.path)
    except NoteUnreadable:
        return False
    region = read_region(text) if text else None
    if region is None:
        return False
    with parts.transaction():
        return parts.shelf.write_ticks(row.for_note, read_ticks(region))


def read_back_at(parts: DeliveryParts, path: str) -> RecallRow | None:
    """The row of the recall note at ``path`` when something in it was ticked or unticked since; else None."""
    row = parts.shelf.note_at(path)
    if row is None and (for_note := for_note_of(parts.vault, path)):
        row = RecallRow(for_note, path, region=_region_at(parts.vault, path))
    return row if row and read_back(parts, row) else None


def follow(parts: DeliveryParts, moved: Sequence[tuple[str, str]]) -> None:
    """The person moved notes, or recall notes: (old, new) path. What was mentioned goes along."""
    recall_notes = {row.path: row for row in parts.shelf.notes()}
    with parts.transaction():
        for old, new in moved:
            if row := recall_notes.get(old):
                parts.shelf.write_note(replace(row, path=new))
        for old, new in moved:
            parts.shelf.follow(old, new)


def unshown(parts: DeliveryParts) -> list[RecallRow]:
    """Recall notes whose property does not tell yet what was ticked in them, since nobody could write it then."""
    return [row for row in parts.shelf.notes() if parts.shelf.ticks_for(row.for_note) and not _is_shown(parts, row)]


def _is_shown(parts: DeliveryParts, row: RecallRow) -> bool:
    try:
        found = _USEFUL.search(parts.vault.read(row.path) or "")
    except NoteUnreadable:
        return True  # nothing can be shown there
    return found is not None and (found[1] == "true") == usefulness(parts.shelf.ticks_for(row.for_note))


def show_ticks(parts: DeliveryParts, for_note: str) -> bool:
    """Brings the property that tells whether a recall note was of use in line with its ticks; whether the note was written.

    Raises ``NoteBeingEdited`` while the person may still be in it.
    """
    with parts.lock():
        row = parts.shelf.note_for(for_note)
        mark = parts.vault.mark(row.path) if row else None
        standing = parts.vault.read(row.path) if row else None
        region = read_region(standing) if standing else None
        if row is None or standing is None or region is None:
            return False
        properties, base = _properties(parts, row), row.properties | {"vb_useful": []}
        updated = update_note(standing, base_region=region, region=region, properties=properties, base_properties=base)
        if updated is None or updated.text == standing:
            return False
        _replace(parts, row.path, updated.text, mark)
        return True
