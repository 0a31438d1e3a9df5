"""The catalog's shelf of answers: what was asked, what was written, and which version of which memo it rests on.

Refuses to decide whether an answer is stale or what has changed: see ``answer.changes``.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from vaultbrain.errors import WriteFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

FRESH, STALE, REMOVED = "fresh", "stale", "removed"

#: The entry of the catalog's meta that counts every write of an answer.
VERSION = "answers_version"

#: The entry that holds links to answers which daily notes wait for, since somebody was typing in them.
WAITING_LINKS = "answer_links_waiting"

SCHEMA = """
CREATE TABLE answers (
    answer_id TEXT PRIMARY KEY, key TEXT NOT NULL, number INTEGER NOT NULL, record TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX answers_by_key ON answers (key, number);
"""


@dataclass(frozen=True, slots=True)
class CitedMemo:
    """A source of an answer. ``version`` is the memo's content hash then; ``note`` and ``anchor`` are what was linked to."""

    memo_id: str
    version: str
    label: str
    title: str
    note: str
    anchor: str


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """One answer note as last written.

    ``key`` is the same for the same question; of several notes for it the one with the highest ``number`` is refreshed.
    ``region`` and ``properties`` are what we wrote last (the base of a merge); ``intended`` is a region whose writing was begun:
    after a kill the file holds either. ``cited`` are the memos that the note rests on, its sources with a label; ``named`` those
    that it may link to besides. ``come`` are ids of memos that would be cited now; ``seen`` are the ids of memos that were near
    enough then, best first. ``asked`` is local time without offset. ``status``: ``fresh``, ``stale`` (for ``reason``) or
    ``removed`` by the person. ``strong`` counts strong sources. ``changes`` are the lines of the last "what changed" and
    ``changed_on`` their day. ``canvas`` is the text of its canvas as last drawn.
    """

    answer_id: str
    key: str
    number: int
    path: str
    question: str
    mode: str
    language: str
    asked: str
    passage: str = ""
    variants: tuple[str, ...] = ()
    status: str = FRESH
    reason: str = ""
    region: str = ""
    intended: str = ""
    properties: dict[str, list[str]] = field(default_factory=dict)
    cited: tuple[CitedMemo, ...] = ()
    named: tuple[CitedMemo, ...] = ()
    come: tuple[str, ...] = ()
    seen: tuple[str, ...] = ()
    strong: int = 0
    changes: tuple[str, ...] = ()
    changed_on: str = ""
    canvas: str = ""


def count_up(database: sqlite3.Connection, name: str) -> None:
    """Makes the entry of the catalog's meta another one: whoever remembers the old one knows that something was written."""
    query = "INSERT INTO meta VALUES (?, '1') ON CONFLICT (name) DO UPDATE SET value = CAST(value AS INTEGER) + 1"
    database.execute(query, (name,))


class AnswerShelf:
    """The answers in the catalog that ``database`` is connected to; writes join its open transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database

    def write(self, row: AnswerRow) -> None:
        """Raises ``WriteFailed``: a full disk."""
        record = json.dumps(asdict(row), ensure_ascii=False, separators=(",", ":"))
        try:
            self._write(row, record)
        except sqlite3.OperationalError as error:
            raise WriteFailed(path="the catalog", reason=str(error)) from error

    def _write(self, row: AnswerRow, record: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?)", (row.answer_id, row.key, row.number, record))
        count_up(self._db, VERSION)

    def load(self, answer_id: str) -> AnswerRow | None:
        return self._first("SELECT record FROM answers WHERE answer_id = ?", answer_id)

    def latest(self, key: str) -> AnswerRow | None:
        """The answer that was last made for this question."""
        return self._first("SELECT record FROM answers WHERE key = ? ORDER BY number DESC LIMIT 1", key)

    def has_any(self) -> bool:
        return self._db.execute("SELECT 1 FROM answers LIMIT 1").fetchone() is not None

    def rows(self) -> list[AnswerRow]:
        """Every answer, the ones that the person removed too, in the order of ids."""
        found = self._db.execute("SELECT record FROM answers ORDER BY answer_id").fetchall()
        return [_row_from(json.loads(record)) for (record,) in found]

    def paths(self) -> list[str]:
        """Where every answer was last met, those that the person removed left out, in the order of ids."""
        rows = self._db.execute(
            "SELECT json_extract(record, '$.path') FROM answers WHERE json_extract(record, '$.status') != ? ORDER BY answer_id",
            (REMOVED,),
        )
        return [path for (path,) in rows]

    def count_by_status(self) -> dict[str, int]:
        """status → answers, those that the person removed left out."""
        found = dict.fromkeys((FRESH, STALE), 0)
        rows = self._db.execute("SELECT json_extract(record, '$.status'), count(*) FROM answers GROUP BY 1")
        return found | {status: count for status, count in rows if status in found}

    def _first(self, query: str, value: str) -> AnswerRow | None:
        found = self._db.execute(query, (value,)).fetchone()
        return _row_from(json.loads(found[0])) if found else None


def _row_from(record: Mapping[str, object]) -> AnswerRow:
    values = dict(record)
    for name in ("variants", "come", "seen", "changes"):
        values[name] = tuple(values[name])  # type: ignore[arg-type]
    for name in ("cited", "named"):
        values[name] = tuple(CitedMemo(**cited) for cited in values.get(name, ()))  # type: ignore[attr-defined]
    return AnswerRow(**values)  # type: ignore[arg-type]
