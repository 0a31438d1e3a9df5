"""The mirror's hands: memos into the catalog and into notes, deletions into the trash.

Decides the order of writes for notes: what is going to be written is recorded first, then the file is written, then the record
is closed. After a kill at any point the file holds either the old or the intended text, and both are known.
"""

from __future__ import annotations

import errno
import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from vaultbrain.errors import NoteBeingEdited, NoteUnreadable, WriteFailed
from vaultbrain.gist.gist import RULES_VERSION as GIST_RULES
from vaultbrain.gist.stored import load_gists
from vaultbrain.gist.value import OPINION
from vaultbrain.index.catalog import NoteRow
from vaultbrain.index.tokens import keyword_entry
from vaultbrain.sync.edits import take_in_edits
from vaultbrain.sync.plan import is_torn
from vaultbrain.vault.memo_note import MemoGist, look_of, render_memo, standing_anchors
from vaultbrain.vault.names import free_path, memo_name, same_name
from vaultbrain.vault.note import SHARED_LISTS, Value, new_note, read_region, update_note
from vaultbrain.vault.vault import FileMark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import tzinfo

    from vaultbrain.index.catalog import Catalog
    from vaultbrain.index.gist import Gist
    from vaultbrain.memo import Memo
    from vaultbrain.sync.plan import MemoPlan, NotePlan
    from vaultbrain.sync.report import Progress, SyncReport
    from vaultbrain.vault.memo_note import RenderedMemo
    from vaultbrain.vault.note import UpdatedNote
    from vaultbrain.vault.templates import Templates
    from vaultbrain.vault.vault import Vault

#: Memos recorded, and notes written, between two commits. A kill costs at most one batch of rendering.
MEMO_BATCH = 500
NOTE_BATCH = 200

#: Refusals of the file system that will meet every further file as well.
_HOPELESS = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class Mirror:
    """Writes one vault's memos. All methods may be repeated after a kill."""

    def __init__(  # noqa: PLR0917
        self, catalog: Catalog, vault: Vault, templates: Templates, folder: str, zone: tzinfo | None, report: SyncReport
    ) -> None:
        self._catalog = catalog
        self._vault = vault
        self._templates = templates
        self._folder = folder
        self._zone = zone
        self._report = report
        self._look = look_of(templates, GIST_RULES)
        self._fresh: set[str] = set()  # memos whose note holds nothing but what we have just written

    @property
    def look(self) -> str:
        return self._look

    def files(self, notes: Mapping[str, NoteRow]) -> dict[str, FileMark]:
        """memo id → mark of its note at its recorded path. Another memo's note, or a foreign file, that stands there is none."""
        there = self._vault.marks_in(self._folder)
        recorded = Counter((note.size, note.mtime_ns) for note in notes.values())
        files = {}
        for memo_id, note in notes.items():
            mark = there.get(note.path) or self._vault.mark(note.path)
            if mark and (self._is_as_recorded(note, mark, recorded) or self._vault.is_note_of(note.path, memo_id)):
                files[memo_id] = mark
        return files

    @staticmethod
    def _is_as_recorded(note: NoteRow, mark: FileMark, recorded: Mapping[tuple[int, int], int]) -> bool:
        """Whether the file need not be opened to know whose it is. Notes written in one tick of the clock may share a mark."""
        known = (note.size, note.mtime_ns)
        return is_torn(note, mark) or (known == (mark.size, mark.mtime_ns) and recorded[known] == 1)

    def remove_leftovers(self, notes: Mapping[str, NoteRow]) -> None:
        """Deletes what a killed run left beside notes in the person's folders. Only while no other process writes."""
        for folder in {note.path.rpartition("/")[0] for note in notes.values()} - {self._folder}:
            self._vault.remove_leftovers(folder)

    def record(self, plan: MemoPlan, progress: Progress) -> None:
        """Writes rows and keyword entries of created and updated memos."""
        memos = (*plan.created, *plan.updated)
        for start in range(0, len(memos), MEMO_BATCH):
            with self._catalog.transaction():
                for memo in memos[start : start + MEMO_BATCH]:
                    self._catalog.write_memo(memo, keyword_entry(memo))
            progress("memos", min(start + MEMO_BATCH, len(memos)), len(memos))

    def delete(self, memo_ids: Sequence[str], moved: Mapping[str, str], deleted_at: str) -> None:
        """Moves the notes of deleted memos into the vault's trash, wherever they are, then forgets the memos.

        A note that cannot be moved is reported; its memo is there for the next sync.
        """
        for memo_id in memo_ids:
            try:
                self._delete_one(memo_id, moved, deleted_at)
            except NoteBeingEdited:
                self._report.deleted -= 1
                self._report.notes_deferred += 1
            except WriteFailed as error:
                self._report.deleted -= 1
                self._report.failed.append({"memo_id": memo_id, "reason": f"{error.fact('path')}: {error.fact('reason')}"})

    def _delete_one(self, memo_id: str, moved: Mapping[str, str], deleted_at: str) -> None:
        note = self._catalog.load_note(memo_id)
        memo = self._catalog.load_memos([memo_id]).get(memo_id)
        path = moved.get(memo_id, note.path if note else "")
        trash_path = ""
        if note and self._vault.mark(path) and self._vault.is_note_of(path, memo_id):
            # Should we die before the record is gone, the missing note is not the person's doing.
            self._catalog.write_note(replace(note, path=path, status="pending"))
            trash_path = self._vault.move_to_trash(path)
        with self._catalog.transaction():
            self._catalog.delete_memo(memo_id, title=memo.title if memo else "", deleted_at=deleted_at, trash_path=trash_path)

    def find_moved(self, notes: Mapping[str, NoteRow], files: Mapping[str, FileMark], *, restore: bool = False) -> dict[str, str]:
        """memo id → path of notes found by their ``vb_id`` where the person moved or renamed them.

        With an empty catalog the notes of another machine, or of a lost catalog, are found and taken on. The vault is searched
        only then, or when a note is missing; for notes that the person removed, only with ``restore``.
        """
        lost = [memo_id for memo_id, note in notes.items() if memo_id not in files and (restore or note.status != "removed")]
        if not lost and notes:
            return {}
        found = self._vault.find_memo_notes()
        return {memo_id: found[memo_id][0] for memo_id in (lost if notes else found) if memo_id in found}

    def write(self, plan: NotePlan, moved: Mapping[str, str], progress: Progress, should_stop: Callable[[], bool]) -> None:
        """Writes the planned notes and records what the person did to others."""
        self._record_whereabouts(plan, moved)
        if not plan.write:
            return
        names = self._vault.names_in(self._folder) | {same_name(path) for path in self._catalog.taken_paths()}
        for start in range(0, len(plan.write), NOTE_BATCH):
            if should_stop():
                return
            memos = self._catalog.load_originals(plan.write[start : start + NOTE_BATCH])
            self._write_batch([memos[memo_id] for memo_id in plan.write[start : start + NOTE_BATCH]], names)
            progress("notes", min(start + NOTE_BATCH, len(plan.write)), len(plan.write))

    def take_in_edits(self, memo_ids: Iterable[str]) -> None:
        """What the person wrote into these memos' notes becomes what is searched."""
        self._report.edits_taken_in += take_in_edits(self._catalog, self._vault, memo_ids)

    def _record_whereabouts(self, plan: NotePlan, moved: Mapping[str, str]) -> None:
        """New paths of moved notes, and notes that the person removed or brought back."""
        status = dict.fromkeys(plan.removed, "removed") | dict.fromkeys(plan.returned, "written")
        # All at once: with some of them on record, a search for the notes of an empty catalog would not be made again.
        with self._catalog.transaction():
            for memo_id in {**moved, **status}:
                row = self._catalog.load_note(memo_id) or _unknown_note(memo_id)
                self._catalog.write_note(replace(row, path=moved.get(memo_id, row.path), status=status.get(memo_id, row.status)))
        self._report.notes_removed = len(plan.removed)

    def _write_batch(self, memos: Sequence[Memo], names: set[str]) -> None:
        gists = load_gists(self._catalog, memos)
        prepared = [self._prepare(memo, gists[memo.id], names) for memo in memos]
        with self._catalog.transaction():
            for _, row, rendered in prepared:
                intended = json.dumps([rendered.region, _lists(rendered)], ensure_ascii=False)
                # The numbers with it: once the file is written, a link may be made to any of them.
                numbered = replace(row, anchors=rendered.anchors, next_anchor=rendered.next_anchor)
                # Without its hash: should we die in between and the memo change back, the note must not pass for up to date.
                self._catalog.write_note(replace(numbered, memo_hash="", intended=intended))
        done = []
        for memo, row, rendered in prepared:
            try:
                done.append(self._write_note(memo, row, rendered, names))
            except NoteBeingEdited:
                self._report.notes_deferred += 1
            except (WriteFailed, NoteUnreadable) as error:
                if getattr(error.__cause__, "errno", None) in _HOPELESS:
                    self._commit(done)
                    raise
                self._report.failed.append({"memo_id": memo.id, "reason": f"{row.path}: {error.fact('reason')}"})
        self._commit(done)

    def _commit(self, rows: Sequence[NoteRow]) -> None:
        with self._catalog.transaction():
            for row in rows:
                self._catalog.write_note(row)
                if row.memo_id in self._fresh:
                    self._catalog.write_looked(row.memo_id, row.size, row.mtime_ns)

    def _prepare(self, memo: Memo, gist: Gist, names: set[str]) -> tuple[Memo, NoteRow, RenderedMemo]:
        row = self._catalog.load_note(memo.id) or self._new_row(memo, names)
        mark = self._vault.mark(row.path)
        if mark and not is_torn(row, mark) and not self._vault.is_note_of(row.path, memo.id):
            row = replace(row, path=self._new_row(memo, names).path)
        if row.intended or row.status == "pending":
            row = self._with_standing(memo, row)
        rendered = render_memo(memo, shown_gist(gist), self._templates, self._zone, row.anchors, row.next_anchor)
        return memo, row, rendered

    def _with_standing(self, memo: Memo, row: NoteRow) -> NoteRow:
        """The row told what stands in the note, where a run ended between writing and recording it, or another catalog knew it.

        The base of the merge is what we wrote last, recorded or not. A note taken on keeps its anchors: answers may link to them.
        """
        try:
            standing = read_region(self._vault.read(row.path) or "")
        except NoteUnreadable:  # said when it is to be written
            return row
        if standing is None:
            return row
        if row.intended:
            region, properties = json.loads(row.intended)
            if _is_made_from(region, row.region, standing):
                row = replace(row, region=region, properties=properties)
            elif not _is_made_from(row.region, region, standing):
                row = replace(row, region="")  # unknown: a wrong base would take the person's edit for one that removed lines
        elif not row.anchors:
            anchors = standing_anchors(memo.id, standing)
            row = replace(row, anchors=anchors, next_anchor=max((n for n, _ in anchors), default=0) + 1)
        return row

    def _new_row(self, memo: Memo, names: set[str]) -> NoteRow:
        name = memo_name(memo.title, memo.id)
        path = f"{self._folder}/{name}.md"
        if same_name(path) in names and self._vault.mark(path) and self._vault.is_note_of(path, memo.id):
            return replace(_unknown_note(memo.id), path=path)  # another machine that shares the vault was faster
        path = free_path(self._folder, name, names)
        if path != f"{self._folder}/{name}.md":
            self._report.notices.append(f"{self._folder}/{name}.md is not ours and stays as it is; memo {memo.id} goes to {path}")
        names.add(same_name(path))
        return replace(_unknown_note(memo.id), path=path)

    def _write_note(self, memo: Memo, row: NoteRow, rendered: RenderedMemo, names: set[str]) -> NoteRow:
        before = self._vault.mark(row.path)
        standing = self._vault.read(row.path)
        if standing is None:
            return self._create(memo, row, rendered, names)
        if not standing:  # what a power failure leaves of a note: nothing of anybody's
            return self._written(
                memo, row, rendered, self._vault.replace(row.path, new_note(rendered.properties, rendered.region))
            )
        updated = self._updated(memo, row, rendered, standing)
        if updated is None:
            return self._unchanged(memo, row, rendered, before)
        if updated.text == standing:
            return self._written(memo, row, rendered, before, updated.entries)
        if self._vault.mark(row.path) != before:
            raise NoteBeingEdited(path=row.path, reason="it is being changed just now")
        mark = self._vault.replace(row.path, updated.text, known=_mark_of(row))
        return self._written(memo, row, rendered, mark, updated.entries)

    def _create(self, memo: Memo, row: NoteRow, rendered: RenderedMemo, names: set[str]) -> NoteRow:
        text = new_note(rendered.properties, rendered.region)
        try:
            mark = self._vault.create(row.path, text)
        except FileExistsError:  # somebody else's, since we looked
            names.add(same_name(row.path))
            row = self._new_row(memo, names)
            mark = self._vault.create(row.path, text)
        self._fresh.add(memo.id)
        return self._written(memo, row, rendered, mark)

    def _updated(self, memo: Memo, row: NoteRow, rendered: RenderedMemo, standing: str) -> UpdatedNote | None:
        """The note as it shall be; None when our markers are gone. Says what the person should look at."""
        updated = update_note(
            standing,
            base_region=row.region or None,
            region=rendered.region,
            properties=rendered.properties,
            base_properties=row.properties,
        )
        if updated is None:
            self._report.conflicts += 1
            self._report.notices.append(
                f"{row.path}: its vaultbrain markers do not stand there exactly once, so memo {memo.id} was not updated there;"
                " put them back, or delete the note and run: vaultbrain sync --restore"
            )
            return None
        if updated.clashes:
            self._report.conflicts += 1
            self._report.notices.append(f"{row.path}: you and the server changed the same lines; both texts are in the note")
        return updated

    def _unchanged(self, memo: Memo, row: NoteRow, rendered: RenderedMemo, mark: FileMark | None) -> NoteRow:
        """The row of a note without markers: seen, but what we wrote last is still what stands in it, should they come back."""
        return replace(
            row,
            memo_hash=memo.memo_hash,
            look=self._look,
            intended="",
            anchors=rendered.anchors,
            next_anchor=rendered.next_anchor,
            size=mark.size if mark else 0,
            mtime_ns=mark.mtime_ns if mark else 0,
            status="conflict",
        )

    def _written(
        self,
        memo: Memo,
        row: NoteRow,
        rendered: RenderedMemo,
        mark: FileMark | None,
        entries: Mapping[str, list[str]] | None = None,
    ) -> NoteRow:
        """The row of a note as it now is. ``entries``: those of shared lists that are ours, when not all are."""
        self._report.notes_written += 1
        return replace(
            row,
            memo_hash=memo.memo_hash,
            look=self._look,
            region=rendered.region,
            intended="",
            properties=_lists(rendered) | dict(entries or {}),
            anchors=rendered.anchors,
            next_anchor=rendered.next_anchor,
            size=mark.size if mark else 0,
            mtime_ns=mark.mtime_ns if mark else 0,
            status="written",
        )


def shown_gist(gist: Gist) -> MemoGist:
    """What a memo's note tells of its gist. Of what is ruled out, or is an opinion alone, no worth is told."""
    is_worth_something = not gist.low and gist.gives != (OPINION,)
    worth, gives = (round(100 * gist.value), gist.gives) if is_worth_something else (0, ())
    return MemoGist(gist.summary, gist.source, worth, gives)


def _lists(rendered: RenderedMemo) -> dict[str, list[str]]:
    """The names of our properties, with the entries of shared lists."""
    return {key: _list_items(key, value) for key, value in rendered.properties.items()}


def _is_made_from(base: str, other: str, standing: str) -> bool:
    """Whether ``standing`` comes from ``base`` rather than from ``other``: all that tells the two apart is as in ``base``."""
    if standing == base:
        return True
    lines, others, now = (Counter(filter(str.strip, text.split("\n"))) for text in (base, other, standing))
    return lines != others and lines - others <= now and all(now[line] <= lines[line] for line in others - lines)


def _mark_of(row: NoteRow) -> FileMark:
    return FileMark(row.size, row.mtime_ns)


def _list_items(key: str, value: Value) -> list[str]:
    return list(value) if key in SHARED_LISTS and isinstance(value, list) else []


def _unknown_note(memo_id: str) -> NoteRow:
    """A note of which nothing was recorded yet."""
    return NoteRow(memo_id, "", "", "", "", "", {}, (), 1, 0, 0, "pending")
