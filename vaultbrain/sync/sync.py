"""A sync from beginning to end: listing, plan, mirror, index, in an order that a kill at any point cannot hurt.

Holds the writer's lock throughout. Notes and keyword search are complete before the first vector is computed.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from vaultbrain.errors import EmbeddingUnavailable, Interrupted, ListingNotWhole, StateBusy, VectorStoreFailed
from vaultbrain.gist.stored import fill_gists
from vaultbrain.sources.listing import Origin
from vaultbrain.sync.edits import notes_to_look_at
from vaultbrain.sync.plan import confirmable, plan_memos, plan_notes
from vaultbrain.sync.report import SyncReport, no_progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from vaultbrain.index.catalog import Catalog, IndexProfile, NoteRow
    from vaultbrain.sources.listing import Listing, Source
    from vaultbrain.sync.indexing import Indexer
    from vaultbrain.sync.mirror import Mirror
    from vaultbrain.sync.plan import MemoPlan, NotePlan
    from vaultbrain.sync.report import Progress
    from vaultbrain.vault.vault import FileMark

_ORIGIN = "origin"
_STORE = "store"
_WITHHELD = "withheld"


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """``full`` computes every vector and the vector store anew; ``restore`` writes notes again that the person deleted."""

    full: bool = False
    dry_run: bool = False
    confirm_deletions: bool = False
    restore: bool = False


@dataclass(frozen=True, slots=True)
class SyncParts:
    """What a sync works with. ``now`` is aware. The caller holds the writer's lock, unless nothing is to be written."""

    source: Source
    catalog: Catalog
    mirror: Mirror
    indexer: Indexer
    profile: IndexProfile
    report: SyncReport
    now: Callable[[], datetime]
    progress: Progress = no_progress
    should_stop: Callable[[], bool] = lambda: False


def remembered_origin(catalog: Catalog) -> Origin | None:
    """Who answered the last time."""
    value = catalog.read_meta(_ORIGIN)
    return Origin(**json.loads(value)) if value else None


def run_sync(parts: SyncParts, options: SyncOptions, vault: str) -> SyncReport:
    """One sync. Raises the errors of the source and of ``plan``; then nothing was changed.

    A model or vector store that fails does not undo the mirror: it is in the report, and the next sync goes on.
    """
    parts.progress("listing", 0, 0)
    listing = parts.source.list_memos()
    known = parts.catalog.memo_marks()
    plan = plan_memos(
        listing,
        known,
        remembered_origin(parts.catalog),
        confirm_deletions=options.confirm_deletions,
        withheld_before=json.loads(parts.catalog.read_meta(_WITHHELD) or "[]"),
    )
    notes = parts.catalog.note_rows()
    hashes = {memo_id: mark.memo_hash for memo_id, mark in known.items()}
    note_plan, moved, files = _plan_notes(parts, plan, hashes, notes, restore=options.restore, vault=vault)
    _describe(parts.report, plan, len(listing.memos), options)
    if options.dry_run:
        parts.report.notes_written, parts.report.notes_removed = len(note_plan.write), len(note_plan.removed)
        parts.report.chunks_waiting = parts.catalog.count_texts_without_vector(parts.profile.model)
        return parts.report
    _confirm_deletions(parts.source, plan, listing)
    parts.mirror.remove_leftovers(notes)
    _mirror(parts, plan, note_plan, moved, listing)
    parts.mirror.take_in_edits([*notes_to_look_at(parts.catalog, files), *note_plan.write, *note_plan.removed])
    _index(parts, options)
    parts.report.chunks_waiting = parts.catalog.count_texts_without_vector(parts.profile.model)
    if parts.should_stop():
        raise Interrupted(left=parts.report.chunks_waiting, notices=parts.report.notices)
    return parts.report


def take_in_notes(parts: SyncParts, memo_ids: Iterable[str]) -> None:
    """What the person wrote into these memos' notes is searched from now on. The source is not asked."""
    parts.mirror.take_in_edits(memo_ids)
    if parts.report.edits_taken_in:
        _index(parts, SyncOptions())


def _plan_notes(
    parts: SyncParts, plan: MemoPlan, hashes: dict[str, str], notes: Mapping[str, NoteRow], *, restore: bool, vault: str
) -> tuple[NotePlan, dict[str, str], Mapping[str, FileMark]]:
    """The plan, where moved notes are now, and the file of each note that is there.

    Notes of memos that go are neither missing nor removed by the person; where they moved to is told for ``delete``.
    """
    files = parts.mirror.files(notes)
    moved = parts.mirror.find_moved(notes, files, restore=restore)
    followed = {memo_id: replace(note, path=moved.get(memo_id, note.path)) for memo_id, note in notes.items()} if moved else notes
    if moved:
        files = parts.mirror.files(followed)
    hashes = hashes | {memo.id: memo.memo_hash for memo in (*plan.created, *plan.updated)}
    for memo_id in plan.deleted:
        del hashes[memo_id]
    staying = {memo_id: note for memo_id, note in followed.items() if memo_id in hashes}
    moved = {memo_id: path for memo_id, path in moved.items() if memo_id in hashes or memo_id in plan.deleted}
    return plan_notes(hashes, staying, files, parts.mirror.look, vault=vault, restore=restore), moved, files


def _describe(report: SyncReport, plan: MemoPlan, total: int, options: SyncOptions) -> None:
    report.created, report.updated, report.deleted = len(plan.created), len(plan.updated), len(plan.deleted)
    report.withheld, report.memos_total, report.dry_run = len(plan.withheld), total, options.dry_run
    if plan.withheld:
        report.notices.append(
            f"{len(plan.withheld)} memos are no longer on the server, which is so many that nothing was deleted;"
            " if that is right, run: vaultbrain sync --confirm-deletions"
        )


def _confirm_deletions(source: Source, plan: MemoPlan, listing: Listing) -> None:
    """Asks the server about each memo that is to be deleted. Raises ``ListingNotWhole`` when one is still there."""
    listed = {memo.id for memo in listing.memos}
    for memo_id in confirmable(plan.deleted, listing):
        is_there = source.fetch_memo(memo_id) is not None
        if is_there != (memo_id in listed):
            detail = f"memo {memo_id} is {'not in it, but on the server' if is_there else 'in it, but cannot be fetched'}"
            raise ListingNotWhole(address=listing.origin.address, detail=detail)


def _mirror(parts: SyncParts, plan: MemoPlan, note_plan: NotePlan, moved: Mapping[str, str], listing: Listing) -> None:
    if (withheld := json.dumps(sorted(plan.withheld))) != (parts.catalog.read_meta(_WITHHELD) or "[]"):
        parts.catalog.write_meta(_WITHHELD, withheld)
    parts.mirror.record(plan, parts.progress)
    if note_plan.write:  # notes tell them: each is made once, not for the note and then again for the catalog
        fill_gists(parts.catalog, parts.progress, parts.should_stop)
    parts.mirror.delete(plan.deleted, moved, _stamp(parts))
    staying = {memo_id: path for memo_id, path in moved.items() if memo_id not in plan.deleted}
    parts.mirror.write(note_plan, staying, parts.progress, parts.should_stop)
    if remembered_origin(parts.catalog) != listing.origin:
        parts.catalog.write_meta(_ORIGIN, json.dumps(asdict(listing.origin)))


def _index(parts: SyncParts, options: SyncOptions) -> None:
    if options.full:
        with parts.catalog.transaction():
            parts.catalog.forget_vectors(parts.profile.model)
    fill_gists(parts.catalog, parts.progress, parts.should_stop)
    parts.indexer.cut_memos(parts.progress)
    try:
        parts.indexer.embed(lambda: _stamp(parts), parts.progress, parts.should_stop)
    except EmbeddingUnavailable as error:
        parts.report.failed.append({"stage": "vectors", "reason": error.fact("reason")})
    # A store that was filled from another catalog may hold chunks that this one has never heard of.
    is_new = not parts.catalog.read_meta(_STORE) and bool(parts.catalog.dimension(parts.profile.model))
    try:
        if options.full or is_new:
            parts.indexer.rebuild_store()
        else:
            parts.indexer.tell_store()
        if is_new:
            parts.catalog.write_meta(_STORE, "filled")
    except (VectorStoreFailed, StateBusy) as error:
        parts.report.failed.append({"stage": "vector store", "reason": error.fact("reason") or "another process keeps it"})
        return
    if not parts.should_stop() and parts.catalog.count_stale_vectors():
        parts.catalog.prune_vectors()


def _stamp(parts: SyncParts) -> str:
    return parts.now().isoformat(timespec="seconds")
