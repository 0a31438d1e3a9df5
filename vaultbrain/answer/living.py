"""Answers that live: told when memos move on, and written anew when the person, or the watcher for them, asks.

Decides nothing about the text: see ``changes`` for when an answer is stale and ``ask`` for what a new one says. A note that the
person deleted is not written again; one whose markers they took out is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vaultbrain.answer.ask import Asked, AskOptions, ask, question_key, sources_now
from vaultbrain.answer.changes import Place, in_words, mended_citations, mended_text, staleness
from vaultbrain.answer.citing import link
from vaultbrain.answer.delivery import base_region, digest_of, find_note, forget, number_of, region_as_written
from vaultbrain.errors import AnswerNotFound, NoteBeingEdited, NoteUnreadable, WriteFailed
from vaultbrain.index.answers import FRESH, REMOVED, STALE, AnswerRow
from vaultbrain.vault.note import read_properties, read_region, update_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vaultbrain.answer.ask import AskParts
    from vaultbrain.vault.note import Value
    from vaultbrain.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class LivingParts:
    """``versions`` gives content hashes by memo id, ``places`` where notes stand and with which anchors.

    ``looks_for_new``: whether a memo came or changed, so that each question has to be searched again.
    """

    asking: AskParts
    versions: Callable[[Sequence[str]], Mapping[str, str]]
    places: Callable[[Sequence[str]], Mapping[str, Place]]
    looks_for_new: bool = True


@dataclass(slots=True)
class Aged:
    """What a look at all answers found: paths of notes that became ``stale``, and path → reason of those that ``failed``.

    ``deferred`` are left alone while somebody may be typing in them.
    """

    stale: list[str] = field(default_factory=list)
    deferred: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)


def age_answers(parts: LivingParts, progress: Callable[[int, int], None] = lambda _done, _total: None) -> Aged:
    """Marks every answer that memos have left behind, and leads its links where blocks and notes are now.

    A note that cannot be read or written is named and does not stop the others.
    """
    aged = Aged()
    vault = parts.asking.delivery.vault
    rows = [row for row in parts.asking.delivery.answers.rows() if row.status != REMOVED or vault.mark(row.path)]
    for number, row in enumerate(rows):
        progress(number, len(rows))
        try:
            _age(parts, row, aged)
        except NoteBeingEdited:
            aged.deferred.append(row.path)
        except (NoteUnreadable, WriteFailed) as error:
            aged.failed[row.path] = error.fact("reason")
    return aged


def _age(parts: LivingParts, row: AnswerRow, aged: Aged) -> None:
    delivery = parts.asking.delivery
    path, text = find_note(delivery.vault, row)
    if text is None:
        forget(delivery, row)
        return
    region = read_region(text)
    if region is None:
        return
    places = parts.places([memo.memo_id for memo in (*row.cited, *row.named)])
    now = replace(_as_of_now(parts, row, places), path=path, region=mended_text(row.region, row, places))
    if now == row and mended_text(region, row, places) == region:
        return
    with delivery.lock():
        newest = delivery.answers.load(row.answer_id)
        if newest == row:
            _mark(parts, row, now, places)
    if newest != row:  # brought up to date while we looked
        if newest is not None:
            _age(parts, newest, aged)
        return
    if row.status != STALE and now.status == STALE:
        aged.stale.append(now.path)


def _mark(parts: LivingParts, row: AnswerRow, now: AnswerRow, places: Mapping[str, Place]) -> None:
    """The note and the row. Links are mended wherever they stand, in lines of the person's too: so nothing can clash."""
    delivery = parts.asking.delivery
    current = delivery.vault.read(now.path)
    region = read_region(current) if current is not None else None
    if current is None or region is None:
        return
    now = replace(now, region=mended_text(base_region(row, current), row, places), intended="")
    updated = update_note(
        current,
        base_region=region,
        region=mended_text(region, row, places),
        properties=_status_properties(now),
        base_properties={"vb_stale": [], "vb_memos": [], "vb_text": []},
    )
    if updated and updated.text != current:
        delivery.vault.replace(now.path, updated.text)
    delivery.answers.write(now)


def _as_of_now(parts: LivingParts, row: AnswerRow, places: Mapping[str, Place]) -> AnswerRow:
    """The row with its status, and its citations where they lead now."""
    memo_ids = [memo.memo_id for memo in row.cited]
    versions = parts.versions([*memo_ids, *row.come])
    come = sources_now(parts.asking.gathering, row) if parts.looks_for_new else [m for m in row.come if m in versions]
    stale = staleness(row, versions, come)
    return replace(
        row,
        status=STALE if stale else FRESH,
        reason=in_words(stale, row.language),
        come=stale.come,
        cited=mended_citations(row.cited, places),
        named=mended_citations(row.named, places),
    )


def _status_properties(row: AnswerRow) -> dict[str, Value]:
    links = [link(memo.memo_id, memo.note) for memo in row.cited if memo.note and memo.label]
    properties: dict[str, Value] = {"vb_status": row.status, "vb_memos": links, "vb_text": digest_of(row.region)}
    return properties | ({"vb_stale": row.reason} if row.status == STALE else {})


# refresh


def rows_to_refresh(
    parts: LivingParts, notes: Sequence[str], *, everything: bool = False, auto_only: bool = False
) -> list[AnswerRow]:
    """The answers that ``refresh`` is about: the named ones; else the stale ones, or all of them.

    ``auto_only``: those whose note says ``vb_refresh: auto``. Raises ``AnswerNotFound`` before anything is done.
    """
    answers, vault = parts.asking.delivery.answers, parts.asking.delivery.vault
    if notes:
        named = [_row_of(parts, note) for note in notes]
        return list({(row.answer_id, row.path): row for row in named}.values())
    rows = [row for row in answers.rows() if row.status == STALE or (everything and row.status != REMOVED)]
    return [row for row in rows if _is_to_refresh(vault, row, auto_only=auto_only)]


def _is_to_refresh(vault: Vault, row: AnswerRow, *, auto_only: bool) -> bool:
    """Not one that was deleted since the last sync, nor one that is the person's now."""
    try:
        _, text = find_note(vault, row)
    except NoteUnreadable:
        return not auto_only  # named when it is its turn
    return text is not None and read_region(text) is not None and (not auto_only or _wants_auto(text))


def _wants_auto(text: str) -> bool:
    return str(read_properties(text).get("vb_refresh", "")).strip().casefold() == "auto"


def _row_of(parts: LivingParts, note: str) -> AnswerRow:
    """The answer in the note at this path of the vault; one that no row knows is read from the note itself."""
    vault, answers = parts.asking.delivery.vault, parts.asking.delivery.answers
    if note.startswith("/") or ".." in note.split("/"):
        raise AnswerNotFound(path=note, reason="it is not in the vault")
    path = next((path for path in (note, f"{note}.md") if vault.mark(path)), note)
    text = vault.read(path)
    if text is None:
        raise AnswerNotFound(path=note, reason="there is no such note")
    properties = read_properties(text)
    if properties.get("vb_kind") != "answer" or read_region(text) is None:
        raise AnswerNotFound(path=path, reason="it is no answer note of vaultbrain's")
    row = answers.load(str(properties.get("vb_answer", "")))
    if row is not None:
        return replace(row, path=path)
    question, mode = str(properties.get("vb_question", "")), str(properties.get("vb_mode", ""))
    if not question or question.endswith("…") or mode not in ("inventory", "explore"):
        raise AnswerNotFound(path=path, reason="what it compares with is not known any more: ask again, with --from")
    key = question_key(question, mode, "")
    own_id = str(properties.get("vb_answer", "")) or key
    return AnswerRow(own_id, key, number_of(own_id, key) or 1, path, question, mode, "", "", region=region_as_written(text))


def refresh(parts: LivingParts, row: AnswerRow, *, writes: bool = True) -> Asked:
    """The answer to the row's question as it is now, in the same note."""
    options = AskOptions(mode=row.mode, variants=row.variants, passage=row.passage, writes=writes)
    return ask(parts.asking, row.question, options, before=row)
