"""Reads for agents and ``get``: memos as their source has them now, with the mirror behind it, and the newest answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultbrain.errors import SourceError
from vaultbrain.index.answers import REMOVED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vaultbrain.index.answers import AnswerRow
    from vaultbrain.index.catalog import Catalog
    from vaultbrain.memo import Memo
    from vaultbrain.sources.listing import Source
    from vaultbrain.vault.vault import Vault


@dataclass(frozen=True, slots=True)
class FetchedMemo:
    """``came_from`` is ``server``, ``export`` or ``mirror``; ``reason`` says why the mirror had to serve.

    ``note`` is the path of the memo's note in the vault, or empty.
    """

    memo: Memo
    came_from: str
    reason: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Fetched:
    """``missing`` are ids of memos that nobody has, or that only an unreachable server could have: then ``failure`` says why."""

    memos: tuple[FetchedMemo, ...]
    missing: tuple[str, ...] = ()
    failure: SourceError | None = None


def fetch_memos(catalog: Catalog, open_source: Callable[[], Source], memo_ids: Sequence[str]) -> Fetched:
    """The memos in the order of ``memo_ids``. A server that fails once is not asked again."""
    mirrored = catalog.load_originals(memo_ids)
    fetched, failure = _ask_source(open_source, memo_ids)
    found = [
        fetched.get(memo_id) or FetchedMemo(mirrored[memo_id], "mirror", _why_mirrored(failure))
        for memo_id in memo_ids
        if memo_id in fetched or memo_id in mirrored
    ]
    missing = [memo_id for memo_id in memo_ids if memo_id not in fetched and memo_id not in mirrored]
    return Fetched(tuple(replace(item, note=catalog.note_path(item.memo.id)) for item in found), tuple(missing), failure)


def _ask_source(open_source: Callable[[], Source], memo_ids: Sequence[str]) -> tuple[dict[str, FetchedMemo], SourceError | None]:
    found: dict[str, FetchedMemo] = {}
    try:
        source = open_source()
        try:
            for memo_id in memo_ids:
                if memo := source.fetch_memo(memo_id):
                    found[memo_id] = FetchedMemo(memo, "export" if source.is_export else "server")
        finally:
            source.close()
    except SourceError as error:
        return found, error
    return found, None


def _why_mirrored(failure: SourceError | None) -> str:
    if failure is None:
        return "the server no longer has it"
    return failure.fact("reason") or failure.fact("detail") or failure.fact("status")


def newest_answers(catalog: Catalog, limit: int) -> list[AnswerRow]:
    """Answers whose notes stand, the newest first."""
    rows = [row for row in catalog.answers.rows() if row.status != REMOVED]
    return sorted(rows, key=lambda row: (row.asked, row.answer_id), reverse=True)[:limit]


def read_answer(catalog: Catalog, vault: Vault, answer_id: str) -> tuple[AnswerRow, str] | None:
    """The answer with its note as it stands; None when there is none any more. Raises ``NoteUnreadable``."""
    row = catalog.answers.load(answer_id)
    text = vault.read(row.path) if row and row.status != REMOVED else None
    return (row, text) if row and text is not None else None
