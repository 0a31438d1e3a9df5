"""The catalog's shelf of gists: each memo's headline, one sentence, where it comes from and what it is worth, as once found.

A row tells the text and the rules that it was made from, so that what is missing or stale is found without reading a memo. It
goes with its memo and is forgotten whenever the memo's row is written. Refuses to find a gist: see ``gist.gist``.
"""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import WriteFailed
from vaultbrain.index.gist import Gist

if TYPE_CHECKING:
    from collections.abc import Iterable

SCHEMA = """
CREATE TABLE gists (
    memo_id TEXT PRIMARY KEY, content_hash TEXT NOT NULL, rules INTEGER NOT NULL, headline TEXT NOT NULL, summary TEXT NOT NULL,
    source TEXT NOT NULL, value REAL NOT NULL, actionable REAL NOT NULL, specific REAL NOT NULL, sourced REAL NOT NULL,
    gives TEXT NOT NULL, low TEXT NOT NULL) WITHOUT ROWID;
"""


class GistShelf:
    """The gists in the catalog that ``database`` is connected to; writes join its open transaction. Raises ``WriteFailed``."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._db = database

    def missing(self, rules: int) -> list[str]:
        """Ids of memos without a gist of their text as it is now by these rules; newest first."""
        rows = self._db.execute(
            "SELECT m.id FROM memos m LEFT JOIN gists g ON g.memo_id = m.id AND g.content_hash = m.content_hash AND g.rules = ?"
            " WHERE g.memo_id IS NULL ORDER BY m.created DESC, m.id DESC",
            (rules,),
        )
        return [memo_id for (memo_id,) in rows]

    def load(self, memo_ids: Iterable[str], rules: int) -> dict[str, Gist]:
        """memo id → its gist, of those that were made by these rules."""
        rows = self._db.execute(
            "SELECT memo_id, content_hash, headline, summary, source, value, actionable, specific, sourced, gives, low"
            " FROM gists WHERE rules = ? AND memo_id IN (SELECT value FROM json_each(?))",
            (rules, json.dumps(list(memo_ids))),
        )
        return {row[0]: _gist_from(row) for row in rows}

    def write(self, gists: Iterable[Gist], rules: int) -> None:
        """New or replaced."""
        rows = [asdict(gist) | {"rules": rules, "gives": json.dumps(gist.gives)} for gist in gists]
        try:
            self._db.executemany(
                "INSERT OR REPLACE INTO gists VALUES (:memo_id, :content_hash, :rules, :headline, :summary, :source,"
                " :value, :actionable, :specific, :sourced, :gives, :low)",
                rows,
            )
        except sqlite3.OperationalError as error:
            raise WriteFailed(path="the catalog", reason=str(error)) from error


def _gist_from(row: tuple[Any, ...]) -> Gist:
    memo_id, content_hash, headline, summary, source, value, actionable, specific, sourced, gives, low = row
    known = tuple(json.loads(gives))
    return Gist(memo_id, content_hash, headline, summary, source, value, actionable, specific, sourced, known, low)
