"""The catalog's shelf of recall: what was mentioned for which note and why, what was held back, and what the person thought.

Refuses to decide what is worth a mention: see ``recall.judge``. The log is for reading and is kept to its last entries; what
decides later (mentions, the person's ticks) is kept for good.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING

from vaultbrain.errors import WriteFailed
from vaultbrain.index.ticks import DISMISSED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCHEMA = """
CREATE TABLE recall_notes (for_note TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE recall_mentions (
    for_note TEXT NOT NULL, memo_id TEXT NOT NULL, day TEXT NOT NULL, PRIMARY KEY (for_note, memo_id)) WITHOUT ROWID;
CREATE TABLE recall_ticks (
    for_note TEXT NOT NULL, memo_id TEXT NOT NULL, verdict TEXT NOT NULL, PRIMARY KEY (for_note, memo_id)) WITHOUT ROWID;
CREATE TABLE recall_log (number INTEGER PRIMARY KEY AUTOINCREMENT, record TEXT NOT NULL);
"""
#: Entries of the log that are kept: some weeks of writing, and less than a megabyte.
LOG_LENGTH = 2_000


@dataclass(frozen=True, slots=True)
class RecallRow:
    """One recall note as last written.

    ``for_note`` is the path of the note that was being written, ``path`` that of the recall note. ``region`` and ``properties``
    are what we wrote last (the base of a merge); ``intended`` is a region whose writing was begun: after a kill the file holds
    either. ``mentions`` are those that it shows, the newest first, field by field.
    """

    for_note: str
    path: str
    mentions: tuple[dict[str, str], ...] = ()
    query: str = ""
    created: str = ""
    language: str = ""
    region: str = ""
    intended: str = ""
    properties: dict[str, list[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LoggedCandidate:
    """What became of one candidate. ``at`` is local time; ``memo_id`` is empty when the text itself was not worth a look-up."""

    at: str
    note: str
    query: str
    memo_id: str
    title: str
    shown: bool
    reasons: tuple[str, ...]


class RecallShelf:
    """Recall in the catalog that ``database`` is connected to; writes join its open transaction. Raises ``WriteFailed``."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database

    def _write(self, statement: str, *rows: tuple[object, ...]) -> None:
        try:
            self._db.executemany(statement, rows)
        except sqlite3.OperationalError as error:
            raise WriteFailed(path="the catalog", reason=str(error)) from error

    # notes and mentions

    def note_for(self, for_note: str) -> RecallRow | None:
        found = self._db.execute("SELECT record FROM recall_notes WHERE for_note = ?", (for_note,)).fetchone()
        return _row_from(found[0]) if found else None

    def notes(self) -> list[RecallRow]:
        """All recall notes, in the order of the notes that they are for."""
        return [_row_from(record) for (record,) in self._db.execute("SELECT record FROM recall_notes ORDER BY for_note")]

    def note_at(self, path: str) -> RecallRow | None:
        """The recall note that was last met at ``path``."""
        return next((row for row in self.notes() if row.path == path), None)

    def write_note(self, row: RecallRow) -> None:
        record = json.dumps(asdict(row), ensure_ascii=False, separators=(",", ":"))
        self._write("INSERT OR REPLACE INTO recall_notes VALUES (?, ?)", (row.for_note, record))

    def write_mentions(self, for_note: str, memo_ids: Sequence[str], day: str) -> None:
        """Remembers that these were mentioned for the note on ``day`` (YYYY-MM-DD); the first day counts."""
        rows = [(for_note, memo_id, day) for memo_id in memo_ids]
        self._write("INSERT OR IGNORE INTO recall_mentions VALUES (?, ?, ?)", *rows)

    def mentioned_for(self, for_note: str) -> frozenset[str]:
        return frozenset(m for (m,) in self._db.execute("SELECT memo_id FROM recall_mentions WHERE for_note = ?", (for_note,)))

    def count_mentions_on(self, day: str) -> int:
        (count,) = self._db.execute("SELECT count(*) FROM recall_mentions WHERE day = ?", (day,)).fetchone()
        return int(count)

    def follow(self, old: str, new: str) -> None:
        """The note ``old`` has been moved to ``new``: what was mentioned for it goes along."""
        self._write("UPDATE OR REPLACE recall_mentions SET for_note = ? WHERE for_note = ?", (new, old))
        self._write("UPDATE OR REPLACE recall_ticks SET for_note = ? WHERE for_note = ?", (new, old))
        if row := self.note_for(old):
            self._write("DELETE FROM recall_notes WHERE for_note = ?", (old,))
            self.write_note(replace(row, for_note=new))

    # what the person thought

    def write_ticks(self, for_note: str, ticks: Mapping[str, str]) -> bool:
        """What is ticked in a recall note, memo id → ``useful``, ``dismissed`` or nothing; whether it was not known before.

        Memos that the note names no more keep what was said of them.
        """
        known = dict(self._db.execute("SELECT memo_id, verdict FROM recall_ticks WHERE for_note = ?", (for_note,)))
        news = {memo_id: verdict for memo_id, verdict in ticks.items() if known.get(memo_id, "") != verdict}
        self._write("DELETE FROM recall_ticks WHERE for_note = ? AND memo_id = ?", *((for_note, memo_id) for memo_id in news))
        rows = [(for_note, memo_id, verdict) for memo_id, verdict in news.items() if verdict]
        self._write("INSERT INTO recall_ticks VALUES (?, ?, ?)", *rows)
        return bool(news)

    def ticks_for(self, for_note: str) -> dict[str, str]:
        return dict(
            self._db.execute("SELECT memo_id, verdict FROM recall_ticks WHERE for_note = ? ORDER BY memo_id", (for_note,))
        )

    def ticks(self) -> list[tuple[str, str]]:
        """(memo id, verdict) of every tick in any recall note."""
        return self._db.execute("SELECT memo_id, verdict FROM recall_ticks ORDER BY for_note, memo_id").fetchall()

    def dismissed(self) -> frozenset[str]:
        """Memos that the person does not want to see mentioned again, anywhere."""
        rows = self._db.execute("SELECT DISTINCT memo_id FROM recall_ticks WHERE verdict = ?", (DISMISSED,))
        return frozenset(memo_id for (memo_id,) in rows)

    # the log

    def log(self, entries: Sequence[LoggedCandidate]) -> None:
        records = [(json.dumps(asdict(entry), ensure_ascii=False, separators=(",", ":")),) for entry in entries]
        self._write("INSERT INTO recall_log (record) VALUES (?)", *records)
        self._write("DELETE FROM recall_log WHERE number <= (SELECT max(number) FROM recall_log) - ?", (LOG_LENGTH,))

    def read_log(self, limit: int) -> list[LoggedCandidate]:
        """The last ``limit`` entries, the newest last."""
        rows = self._db.execute("SELECT record FROM recall_log ORDER BY number DESC LIMIT ?", (limit,)).fetchall()
        found = [json.loads(record) for (record,) in reversed(rows)]
        return [LoggedCandidate(**{**entry, "reasons": tuple(entry["reasons"])}) for entry in found]


def _row_from(record: str) -> RecallRow:
    values = json.loads(record)
    return RecallRow(**{**values, "mentions": tuple(values["mentions"])})
