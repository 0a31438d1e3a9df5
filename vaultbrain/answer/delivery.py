"""An answer into its note and its row: a new note, or the one that is there brought up to date.

Decides which note is an answer's: by its id, wherever the person moved it. A note whose markers the person took out is theirs
from then on, and one that they deleted stays deleted until the question is asked again.
"""

from __future__ import annotations

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
    from vaultbrain.vault.note import Value
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


@dataclass(frozen=True, slots=True)
class Delivered:
    """``path`` is empty when nothing was to be written; ``row`` is as recorded, or as it would be."""

    path: str
    text: str
    row: AnswerRow


def find_standing(parts: DeliveryParts, row: AnswerRow, before: AnswerRow | None, *, is_new: bool) -> Standing:
    """The answer that ``row`` takes the place of: ``before``, else the last one to the same question."""
    known = before or parts.answers.latest(row.key)
    if known is None:
        return _found_unrecorded(parts, row, is_new=is_new)
    next_number = known.number + 1
    if is_new:
        return Standing(next_number=next_number)
    path, text = find_note(parts.vault, known)
    if text is not None and read_region(text) is None:  # the markers are gone: the note is the person's now
        return Standing(next_number=next_number)
    return Standing(known, path, text, known.number)


def _found_unrecorded(parts: DeliveryParts, row: AnswerRow, *, is_new: bool) -> Standing:
    """A note of this answer among the answers though no row knows it: the catalog was lost, or a kill came between the two."""
    taken = sorted(path for path in parts.vault.marks_in(parts.folder) if is_note_of(parts.vault, path, row.answer_id))
    if not taken:
        return Standing()
    text = parts.vault.read(taken[0])
    if is_new or text is None or read_region(text) is None:
        return Standing(next_number=2)
    return Standing(replace(row, cited=(), region=read_region(text) or "", changes=()), taken[0], text, 1)


def is_note_of(vault: Vault, path: str, answer_id: str) -> bool:
    try:
        text = vault.read(path)
    except NoteUnreadable:
        return False
    return text is not None and f'vb_answer: "{answer_id}"' in text and read_properties(text).get("vb_answer") == answer_id


def find_note(vault: Vault, row: AnswerRow) -> tuple[str, str | None]:
    """(path, text) of the row's note, wherever it is now; the text is None when the person deleted it.

    Raises ``NoteUnreadable``.
    """
    if is_note_of(vault, row.path, row.answer_id):
        return row.path, vault.read(row.path)
    found = vault.find_answer_notes().get(row.answer_id, [])
    return (found[0], vault.read(found[0])) if found else (row.path, None)


def deliver(
    parts: DeliveryParts, row: AnswerRow, standing: Standing, properties: Mapping[str, Value], *, writes: bool
) -> Delivered:
    """Writes the note and the row, or only says what the note would be."""
    number = standing.next_number
    answer_id = standing.row.answer_id if standing.row else row.key if number == 1 else f"{row.key}-{number}"
    canvas = standing.row.canvas if standing.row and standing.text is not None else ""
    row = replace(row, answer_id=answer_id, number=number, path=standing.path, canvas=canvas)
    ours = own_properties(properties, row)
    fresh = new_note(ours, row.region)
    if not writes:
        updated = _updated(row, standing, ours)
        return Delivered("", updated[0] if updated else fresh, row)
    with parts.lock():
        if standing.text is None:
            return _create(parts, row, ours, fresh)
        return _replace(parts, row, standing, ours)


def own_properties(properties: Mapping[str, Value], row: AnswerRow) -> dict[str, Value]:
    """With what makes the note findable and tells its age: its id, and the version of each memo it rests on."""
    versions = [f"{memo.memo_id} {memo.version[:12]}" for memo in row.cited]
    own: dict[str, Value] = {"vb_answer": row.answer_id, "vb_versions": versions}
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
    text, entries = updated
    if text != current:
        parts.vault.replace(standing.path, text)
    row = replace(row, status=FRESH, properties=lists_of(properties) | entries)
    parts.answers.write(row)
    return Delivered(standing.path, text, row)


def _updated(row: AnswerRow, standing: Standing, properties: Mapping[str, Value]) -> tuple[str, dict[str, list[str]]] | None:
    """The standing note's new text and our entries in shared lists; None without one, or when its markers are gone."""
    if standing.row is None or standing.text is None:
        return None
    updated = update_note(
        standing.text,
        base_region=base_region(standing.row, standing.text),
        region=row.region,
        properties=properties,
        base_properties=standing.row.properties | {"vb_stale": []},
    )
    return (updated.text, updated.entries) if updated else None


def base_region(row: AnswerRow, text: str) -> str:
    """What we wrote last: after a kill between the row and the file, the region that was intended."""
    return row.intended if row.intended and read_region(text) == row.intended else row.region


def lists_of(properties: Mapping[str, Value]) -> dict[str, list[str]]:
    """The names of our properties, with the entries of shared lists: the base of the next merge."""
    return {name: list(value) if name in SHARED_LISTS and isinstance(value, list) else [] for name, value in properties.items()}


def forget(parts: DeliveryParts, row: AnswerRow) -> None:
    """The person deleted the note."""
    parts.answers.write(replace(row, status=REMOVED, reason=""))
