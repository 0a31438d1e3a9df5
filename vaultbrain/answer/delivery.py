"""An answer into its note and its row: a new note, or the one that is there brought up to date.

Decides which note is an answer's: by its id, wherever the person moved it. A note whose markers the person took out is theirs
from then on, and one that they deleted stays deleted until the question is asked again.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultbrain.errors import NoteUnreadable
from vaultbrain.index.answers import FRESH, REMOVED
from vaultbrain.vault.names import answer_name, free_path
from vaultbrain.vault.note import SHARED_LISTS, new_note, read_properties, read_region, update_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from vaultbrain.index.answers import AnswerRow, AnswerShelf
    from vaultbrain.vault.note import UpdatedNote, Value
    from vaultbrain.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class DeliveryParts:
    """``lock`` is held while a note and its row change."""

    answers: AnswerShelf
    vault: Vault
    folder: str
    lock: Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is for a question: the row as last written and the note's path and text; all empty for a new answer."""

    row: AnswerRow | None = None
    path: str = ""
    text: str | None = None
    next_number: int = 1


class Overtaken(Exception):
    """Another process wrote this answer since ``find_standing``: what is to be written was made for another state."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """``path`` is empty when nothing was to be written; ``row`` is as recorded, or as it would be.

    ``clashes`` counts places where the person and the new answer changed the same lines.
    """

    path: str
    text: str
    row: AnswerRow
    clashes: int = 0


def find_standing(parts: DeliveryParts, row: AnswerRow, before: AnswerRow | None, *, is_new: bool) -> Standing:
    """The answer that ``row`` takes the place of: ``before``, else the last one to the same question."""
    known = before or parts.answers.latest(row.key)
    if known is None:
        return _found_unrecorded(parts, row, is_new=is_new)
    next_number = 1 + max([known.number, *_unrecorded(parts, row.key)])
    if is_new:
        return Standing(next_number=next_number)
    path, text = find_note(parts.vault, known)
    if text is not None and read_region(text) is None:  # the markers are gone: the note is the person's now
        return Standing(next_number=next_number)
    return Standing(known, path, text, known.number)


def _found_unrecorded(parts: DeliveryParts, row: AnswerRow, *, is_new: bool) -> Standing:
    """The last note of this question among the answers though no row knows it: the catalog was lost, or a kill came between."""
    found = _unrecorded(parts, row.key)
    if not found:
        return Standing()
    last = max(found)
    text = parts.vault.read(found[last])
    if is_new or text is None or read_region(text) is None:
        return Standing(next_number=last + 1)
    lost = replace(row, answer_id=answer_id(row.key, last), number=last, cited=(), region=region_as_written(text), changes=())
    return Standing(lost, found[last], text, last)


def _unrecorded(parts: DeliveryParts, key: str) -> dict[int, str]:
    """number → path of the question's notes among the answers."""
    found: dict[int, str] = {}
    for path in sorted(parts.vault.marks_in(parts.folder)):
        if number := number_of(_answer_in(parts.vault, path), key):
            found.setdefault(number, path)
    return found


def answer_id(key: str, number: int) -> str:
    return key if number == 1 else f"{key}-{number}"


def number_of(found: str, key: str) -> int:
    """The number in an answer's id; 0 when it is one of another question."""
    rest = found.removeprefix(f"{key}-")
    return 1 if found == key else int(rest) if rest != found and rest.isdecimal() else 0


def _answer_in(vault: Vault, path: str) -> str:
    try:
        text = vault.read(path)
    except NoteUnreadable:
        return ""
    return str(read_properties(text).get("vb_answer", "")) if text and "vb_answer" in text else ""


def digest_of(region: str) -> str:
    return hashlib.blake2b(region.encode(), digest_size=6).hexdigest()


def region_as_written(text: str) -> str:
    """Our region when it is still as we wrote it; empty when that is not known: then whatever stands there counts as typed."""
    region = read_region(text) or ""
    return region if read_properties(text).get("vb_text") == digest_of(region) else ""


def find_note(vault: Vault, row: AnswerRow) -> tuple[str, str | None]:
    """(path, text) of the row's note, wherever it is now; the text is None when the person deleted it.

    Raises ``NoteUnreadable``.
    """
    if _answer_in(vault, row.path) == row.answer_id:
        return row.path, vault.read(row.path)
    found = vault.find_answer_notes().get(row.answer_id, [])
    if not found:
        vault.read(row.path)  # raises when it is there and only cannot be read: that is not deleted
    return (found[0], vault.read(found[0])) if found else (row.path, None)


def deliver(
    parts: DeliveryParts, row: AnswerRow, standing: Standing, properties: Mapping[str, Value], *, writes: bool
) -> Delivered:
    """Writes the note and the row, or only says what the note would be. Raises ``Overtaken`` before anything is written."""
    number = standing.next_number
    own_id = standing.row.answer_id if standing.row else answer_id(row.key, number)
    canvas = standing.row.canvas if standing.row and standing.text is not None else ""
    row = replace(row, answer_id=own_id, number=number, path=standing.path, canvas=canvas)
    ours = own_properties(properties, row)
    fresh = new_note(ours, row.region)
    if not writes:
        updated = _updated(row, standing, ours)
        return Delivered("", updated.text if updated else fresh, row)
    with parts.lock():
        if _is_overtaken(parts, own_id, standing):
            raise Overtaken
        if standing.text is None:
            return _create(parts, row, ours, fresh)
        return _replace(parts, row, standing, ours)


def _is_overtaken(parts: DeliveryParts, own_id: str, standing: Standing) -> bool:
    known = parts.answers.load(own_id)
    if known is None or standing.row is None:
        return known is not None
    return known != replace(standing.row, path=known.path)  # the path may be that of a copy, or where the note was moved to


def own_properties(properties: Mapping[str, Value], row: AnswerRow) -> dict[str, Value]:
    """With what makes the note findable and tells its age: its id, and the version of each memo it rests on."""
    versions = [f"{memo.memo_id} {memo.version[:12]}" for memo in row.cited]
    own: dict[str, Value] = {"vb_answer": row.answer_id, "vb_versions": versions, "vb_text": digest_of(row.region)}
    placed: dict[str, Value] = {}
    for name, value in properties.items():
        placed |= {name: value} if name not in SHARED_LISTS else {**own, name: value}
    return placed


def _create(parts: DeliveryParts, row: AnswerRow, properties: Mapping[str, Value], text: str) -> Delivered:
    """A new note under a name that nothing has."""
    while True:
        path = free_path(parts.folder, answer_name(row.question, row.asked[:10]), parts.vault.names_in(parts.folder))
        try:
            parts.vault.create(path, text)
        except FileExistsError:
            continue
        row = replace(row, path=path, status=FRESH, properties=lists_of(properties))
        parts.answers.write(row)
        return Delivered(path, text, row)


def _replace(parts: DeliveryParts, row: AnswerRow, standing: Standing, properties: Mapping[str, Value]) -> Delivered:
    """The standing note brought up to date. Its row says first what is to come: after a kill the file holds either."""
    assert standing.row is not None
    parts.answers.write(replace(standing.row, path=standing.path, intended=row.region))
    current = parts.vault.read(standing.path)
    standing = replace(standing, text=current if current is not None else standing.text)
    updated = _updated(row, standing, properties)
    if updated is None:
        return _create(parts, row, properties, new_note(properties, row.region))
    if updated.text != current:
        parts.vault.replace(standing.path, updated.text)
    row = replace(row, status=FRESH, properties=lists_of(properties) | updated.entries)
    parts.answers.write(row)
    return Delivered(standing.path, updated.text, row, updated.clashes)


def _updated(row: AnswerRow, standing: Standing, properties: Mapping[str, Value]) -> UpdatedNote | None:
    """The standing note brought up to date; None without one, or when its markers are gone."""
    if standing.row is None or standing.text is None:
        return None
    return update_note(
        standing.text,
        base_region=base_region(standing.row, standing.text),
        region=row.region,
        properties=properties,
        base_properties=standing.row.properties | {"vb_stale": []},
    )


def base_region(row: AnswerRow, text: str) -> str:
    """What we wrote last: after a kill between the row and the file, the region that was intended."""
    return row.intended if row.intended and read_region(text) == row.intended else row.region


def lists_of(properties: Mapping[str, Value]) -> dict[str, list[str]]:
    """The names of our properties, with the entries of shared lists: the base of the next merge."""
    return {name: list(value) if name in SHARED_LISTS and isinstance(value, list) else [] for name, value in properties.items()}


def forget(parts: DeliveryParts, row: AnswerRow) -> None:
    """The person deleted the note."""
    parts.answers.write(replace(row, status=REMOVED, reason=""))
