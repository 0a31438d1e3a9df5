"""The catalog's shelf of question notes: which question of which note was answered where, and what its note has still to be told.

Refuses to decide what a question is: see ``answer.inbox``.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import WriteFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

if TYPE_CHECKING:
    from collections.abc import Sequence

ANSWERED, FAILED = "answered", "failed"

SCHEMA = """
CREATE TABLE inbox (
    path TEXT PRIMARY KEY, digest TEXT NOT NULL, status TEXT NOT NULL, answer TEXT NOT NULL, error TEXT NOT NULL,
    tries INTEGER NOT NULL, told INTEGER NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class InboxRow:
    """``digest`` is that of the question; ``answer`` the path of its answer note; ``error`` why there is none.

    ``tries`` counts failures in a row; ``told`` is whether the note's properties say all this already.
    """

    path: str
    digest: str
    status: str
    answer: str = ""
    error: str = ""
    tries: int = 0
    told: bool = False


class InboxShelf:
    """The question notes in the catalog that ``database`` is connected to. Raises ``WriteFailed`` when it is full."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database

    def load(self, path: str) -> InboxRow | None:
        found = self._db.execute("SELECT * FROM inbox WHERE path = ?", (path,)).fetchone()
        return _row_from(found) if found else None

    def rows(self) -> list[InboxRow]:
        """All of them, in the order of paths."""
        return [_row_from(found) for found in self._db.execute("SELECT * FROM inbox ORDER BY path")]

    def write(self, row: InboxRow) -> None:
        values = (row.path, row.digest, row.status, row.answer, row.error, row.tries, row.told)
        try:
            self._db.execute("INSERT OR REPLACE INTO inbox VALUES (?, ?, ?, ?, ?, ?, ?)", values)
        except sqlite3.OperationalError as error:
            raise WriteFailed(path="the catalog", reason=str(error)) from error


def _row_from(found: Sequence[Any]) -> InboxRow:
    path, digest, status, answer, error, tries, told = found
    return InboxRow(path, digest, status, answer, error, tries, bool(told))
