"""What the person wrote into memo notes, taken into the index: searches go by what stands in the vault.

Decides which notes have to be read: those whose file is not as it was when it was last compared. Refuses to write into a note.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.errors import NoteUnreadable
from vaultbrain.index.tokens import keyword_entry
from vaultbrain.vault.kept import KeptMemo, kept_memo

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from vaultbrain.index.catalog import Catalog, NoteRow
    from vaultbrain.memo import Memo
    from vaultbrain.vault.vault import FileMark, Vault

#: Bytes of a note beyond which it holds something else than a memo, such as a log: searches go by the memo then.
MOST_BYTES = 1_000_000


def notes_to_look_at(catalog: Catalog, files: Mapping[str, FileMark]) -> list[str]:
    """Ids of memos whose note's file is not as it was when it was last compared. ``files``: memo id → mark of its note."""
    looked = catalog.looked_marks()
    return [memo_id for memo_id, mark in files.items() if looked.get(memo_id) != (mark.size, mark.mtime_ns)]


def take_in_edits(catalog: Catalog, vault: Vault, memo_ids: Iterable[str]) -> int:
    """Brings the memos' rows and keyword entries in line with their notes; how many changed. May be repeated at any time."""
    return sum(_take_in(catalog, vault, memo_id) for memo_id in dict.fromkeys(memo_ids))


def _take_in(catalog: Catalog, vault: Vault, memo_id: str) -> bool:
    note = catalog.load_note(memo_id)
    original = catalog.load_originals([memo_id]).get(memo_id)
    if note is None or original is None:
        return False
    if not note.is_there:
        return catalog.is_kept(memo_id) and _write(catalog, original, None)
    before = vault.mark(note.path)
    try:
        text = vault.read(note.path)
    except NoteUnreadable:
        return False
    if text is None or before is None or vault.mark(note.path) != before:
        return False  # being written just now: the next look sees it whole
    if text and not vault.is_note_of(note.path, memo_id):
        return False  # a file of another's in its place; what that means for the note is for the next sync to find
    with catalog.transaction():
        changed = _write(catalog, original, _kept(original, text, note))
        catalog.write_looked(memo_id, before.size, before.mtime_ns)
    return changed


def _kept(original: Memo, text: str, note: NoteRow) -> KeptMemo | None:
    is_read = 0 < len(text.encode()) <= MOST_BYTES
    return kept_memo(original, text, note.region, note.anchors, note.properties) if is_read else None


def _write(catalog: Catalog, original: Memo, kept: KeptMemo | None) -> bool:
    """Whether anything had to be written."""
    memo = kept.memo if kept else original
    standing = (list(kept.anchors), list(kept.unlinked)) if kept else None
    if catalog.load_memos([memo.id]).get(memo.id) == memo and catalog.standing_blocks(memo.id) == standing:
        return False
    anchors, unlinked = standing or ((), ())
    catalog.write_kept(original, memo, keyword_entry(memo), anchors, unlinked)
    return True
