"""What differs between the server, the catalog and the vault, as a plain list of things to do.

Pure. Decides the deletion rule: a memo counts as deleted only when a listing that was proven whole does not hold it, and never
when that would take away too much at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.errors import OriginChanged, VaultGone

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from vaultbrain.index.catalog import MemoMark, NoteRow
    from vaultbrain.memo import Memo
    from vaultbrain.sources.listing import Listing, Origin
    from vaultbrain.vault.vault import FileMark

#: A removal is withheld when it takes more than so many *and* more than this share of all...
MASS_COUNT = 20
MASS_SHARE = 0.10
#: ...or, in a small collection, more than this many and more than half of all.
SMALL_COUNT = 2
SMALL_SHARE = 0.5


def is_mass_removal(gone: int, known: int) -> bool:
    """Whether losing ``gone`` of ``known`` looks like an accident rather than tidying up."""
    share = gone / known if known else 0.0
    return (gone > MASS_COUNT and share > MASS_SHARE) or (gone > SMALL_COUNT and share > SMALL_SHARE)


@dataclass(frozen=True, slots=True)
class MemoPlan:
    """Memos to record and to forget. ``withheld`` would be ``deleted``, were there not so many or the origin another one."""

    created: tuple[Memo, ...]
    updated: tuple[Memo, ...]
    deleted: tuple[str, ...]
    withheld: tuple[str, ...]


def plan_memos(
    listing: Listing,
    known: Mapping[str, MemoMark],
    remembered: Origin | None,
    *,
    confirm_deletions: bool = False,
    withheld_before: Collection[str] = (),
) -> MemoPlan:
    """Compares a whole listing with what was recorded.

    What was withheld stays so until it is confirmed: new memos make its share smaller, and no less of an accident.
    Raises ``OriginChanged`` when many known ids now have another creation time: another database answers, and its ids mean
    other memos.
    """
    seen = {memo.id: memo for memo in listing.memos}
    reborn = sum(1 for memo_id, mark in known.items() if memo_id in seen and seen[memo_id].created != mark.created)
    if is_mass_removal(reborn, len(known)):
        raise OriginChanged(
            address=listing.origin.address, before="a server with other memos", now=f"one where {reborn} ids are other memos"
        )
    gone = tuple(memo_id for memo_id in known if memo_id not in seen)
    is_same_origin = remembered is None or _who(remembered) == _who(listing.origin)
    may_delete = confirm_deletions or (is_same_origin and not is_mass_removal(len(gone), len(known)))
    withheld = () if confirm_deletions else tuple(m for m in gone if not may_delete or m in withheld_before)
    return MemoPlan(
        created=tuple(memo for memo in listing.memos if memo.id not in known),
        updated=tuple(memo for memo in listing.memos if memo.id in known and memo.memo_hash != known[memo.id].memo_hash),
        deleted=tuple(memo_id for memo_id in gone if memo_id not in withheld),
        withheld=withheld,
    )


def _who(origin: Origin) -> tuple[str, str, str]:
    return origin.address, origin.generation, origin.user


@dataclass(frozen=True, slots=True)
class NotePlan:
    """``write``: memo ids whose note is missing or out of date, in the memos' order. ``removed``: the person deleted the note.

    ``returned``: a note that counted as removed stands there again.
    """

    write: tuple[str, ...]
    removed: tuple[str, ...]
    returned: tuple[str, ...]


def missing_notes(notes: Mapping[str, NoteRow], files: Mapping[str, FileMark]) -> tuple[str, ...]:
    """Memo ids of notes that are not where we last saw them."""
    return tuple(memo_id for memo_id, note in notes.items() if note.is_there and memo_id not in files)


def plan_notes(
    memo_hashes: Mapping[str, str],
    notes: Mapping[str, NoteRow],
    files: Mapping[str, FileMark],
    look: str,
    *,
    vault: str,
    restore: bool = False,
) -> NotePlan:
    """Compares the recorded memos with the notes, both without those that go. ``files``: memo id → its note, wherever it is.

    Raises ``VaultGone`` when so many notes are missing that the vault itself is in doubt.
    """
    lost = missing_notes(notes, files)
    written = sum(1 for note in notes.values() if note.is_there)
    if is_mass_removal(len(lost), written) and not restore:
        raise VaultGone(path=vault, missing=len(lost), known=written)
    gone = set(lost)
    returned = {memo_id for memo_id, note in notes.items() if note.status == "removed" and memo_id in files}
    write = [
        memo_id
        for memo_id, memo_hash in memo_hashes.items()
        if _needs_writing(notes.get(memo_id), memo_hash, look, files.get(memo_id), is_gone=memo_id in gone, restore=restore)
    ]
    return NotePlan(tuple(write), () if restore else lost, tuple(returned))


def _needs_writing(
    note: NoteRow | None, memo_hash: str, look: str, mark: FileMark | None, *, is_gone: bool, restore: bool
) -> bool:
    if note is None or note.status == "pending":
        return True
    if is_gone or (note.status == "removed" and mark is None):
        return restore
    if note.status == "conflict" and (mark is None or (mark.size, mark.mtime_ns) != (note.size, note.mtime_ns)):
        return True  # the markers may stand there again
    return (note.memo_hash, note.look) != (memo_hash, look) or is_torn(note, mark)


def is_torn(note: NoteRow, mark: FileMark | None) -> bool:
    """An empty file where we wrote a note: what a power failure leaves. Nothing of the person's can be in it."""
    return mark is not None and mark.size == 0 and note.size > 0


def confirmable(deleted: Collection[str], listing: Listing) -> tuple[str, ...]:
    """The ids to ask the server about before a deletion: those gone, and one that is there, to see that asking works."""
    return (*deleted, *(memo.id for memo in listing.memos[:1])) if deleted else ()
