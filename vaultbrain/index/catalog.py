"""The catalog: one SQLite file that is the truth about what was mirrored and indexed. Chroma can be rebuilt from it.

Each layer carries its own mark of completeness, so that a kill between any two steps is seen and mended by the next sync:
a memo's row holds its hash; a note's row the hash it shows; an ``indexed`` row the hash, model and chunker it was indexed
with. Vectors are keyed by embedding fingerprint and text hash and outlive their memo's edits. What Chroma has still to be told
stands in ``outbox``, written in the same transaction as the vectors.

Refuses: to decide anything about a memo, a note or a ranking; to delete a vector of a text that is still there.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import StateUnreadable, WriteFailed
from vaultbrain.index.answers import SCHEMA as _SCHEMA_3
from vaultbrain.index.answers import AnswerShelf, count_up
from vaultbrain.index.gists import SCHEMA as _SCHEMA_5
from vaultbrain.index.gists import GistShelf
from vaultbrain.index.inbox import SCHEMA as _INBOX_SCHEMA
from vaultbrain.index.inbox import InboxShelf
from vaultbrain.index.recalls import SCHEMA as _RECALL_SCHEMA
from vaultbrain.index.recalls import RecallShelf
from vaultbrain.index.tokens import cut, is_cjk, match_phrase, text_entry
from vaultbrain.memo import Attachment, Memo, Relation

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from vaultbrain.index.chunking import Chunk
    from vaultbrain.index.scope import Scope
    from vaultbrain.index.tokens import KeywordEntry

SCHEMA_VERSION = 5
_SCHEMA = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE memos (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created INTEGER NOT NULL,
    memo_hash TEXT NOT NULL, content_hash TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE memo_tags (memo_id TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (memo_id, tag)) WITHOUT ROWID;
CREATE TABLE chunks (
    chunk_id TEXT PRIMARY KEY, memo_id TEXT NOT NULL, position INTEGER NOT NULL,
    text_hash TEXT NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX chunks_by_memo ON chunks (memo_id);
CREATE INDEX chunks_by_text ON chunks (text_hash);
CREATE TABLE vectors (
    fingerprint TEXT NOT NULL, text_hash TEXT NOT NULL, cjk_share REAL NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (fingerprint, text_hash));
CREATE TABLE chunked (memo_id TEXT PRIMARY KEY, content_hash TEXT NOT NULL, chunker TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE indexed (
    memo_id TEXT PRIMARY KEY, content_hash TEXT NOT NULL, model TEXT NOT NULL, chunker_version TEXT NOT NULL,
    chunk_size INTEGER NOT NULL, chunk_overlap INTEGER NOT NULL, indexed_at TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE outbox (chunk_id TEXT PRIMARY KEY, deletes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    memo_id TEXT PRIMARY KEY, path TEXT NOT NULL, memo_hash TEXT NOT NULL, look TEXT NOT NULL, region TEXT NOT NULL,
    intended TEXT NOT NULL, properties TEXT NOT NULL, anchors TEXT NOT NULL, next_anchor INTEGER NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, status TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tombstones (
    memo_id TEXT PRIMARY KEY, title TEXT NOT NULL, deleted_at TEXT NOT NULL, trash_path TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE keywords USING fts5 (title, tags, body, tokenize = "unicode61 remove_diacritics 2");
CREATE VIRTUAL TABLE keyword_terms USING fts5vocab (keywords, row);
"""
#: What came with format 2. Rows of ``memo_facts`` are small because searches go through all of them: those of ``memos`` carry
#: the whole record along, which makes a search of 100,000 memos half as slow again.
_SCHEMA_2 = """
CREATE TABLE texts (number INTEGER PRIMARY KEY, folded TEXT NOT NULL);
CREATE TABLE memo_facts (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, created INTEGER NOT NULL,
    visibility TEXT NOT NULL, pinned INTEGER NOT NULL, has_link INTEGER NOT NULL);
CREATE TABLE relations (
    memo_id TEXT NOT NULL, related_id TEXT NOT NULL, kind TEXT NOT NULL, PRIMARY KEY (memo_id, related_id, kind)) WITHOUT ROWID;
CREATE INDEX relations_by_related ON relations (related_id);
"""
#: What came with format 4. A memo whose note the person wrote into stands in ``memos`` as they keep it, and in ``kept`` as the
#: source has it. ``looked`` remembers each note's file when it was last compared with what we wrote.
_SCHEMA_4 = f"""
CREATE TABLE kept (
    memo_id TEXT PRIMARY KEY, original TEXT NOT NULL, anchors TEXT NOT NULL, unlinked TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE looked (memo_id TEXT PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL) WITHOUT ROWID;
{_INBOX_SCHEMA}{_RECALL_SCHEMA}"""


@dataclass(frozen=True, slots=True)
class MemoMark:
    """What a plan needs to know of a memo that was seen before."""

    memo_hash: str
    created: int


@dataclass(frozen=True, slots=True)
class NoteRow:
    """A mirrored note as last written.

    ``region`` and ``properties`` are what we wrote last (the base of a merge); ``anchors`` are (number, block text) in order.
    ``intended`` is a region whose writing was begun: after a kill the file holds either. ``status``: ``written``, ``pending``,
    ``removed`` (by the person) or ``conflict``. ``look`` names the template and rules it was rendered with; ``memo_hash`` and
    ``look`` are empty until the note is written. ``size`` (bytes) and ``mtime_ns`` are the file's when we last saw it.
    """

    memo_id: str
    path: str
    memo_hash: str
    look: str
    region: str
    intended: str
    properties: dict[str, list[str]]
    anchors: tuple[tuple[int, str], ...]
    next_anchor: int
    size: int
    mtime_ns: int
    status: str

    @property
    def is_there(self) -> bool:
        """Whether the note stands in the vault, as far as we know, so that it can be linked to."""
        return self.status in ("written", "conflict")


@dataclass(frozen=True, slots=True)
class IndexProfile:
    """What a memo's index entry depends on besides its text."""

    model: str
    chunker_version: str
    chunk_size: int
    chunk_overlap: int

    @property
    def chunker(self) -> str:
        return f"{self.chunker_version}/{self.chunk_size}/{self.chunk_overlap}"


class Catalog:
    """One connection to the catalog of one vault. Not to be shared between threads; open one for each."""

    def __init__(self, path: Path | None) -> None:
        """Opens the file, creating it when absent; ``None`` keeps an empty catalog in memory (for a dry first run).

        Raises ``StateUnreadable`` when the file is damaged or was written by a newer release, ``WriteFailed`` when the system
        refuses it.
        """
        self.path = path
        try:
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=30)
            self._open_schema()
        except (sqlite3.OperationalError, OSError) as error:  # permissions, a full disk: nothing is wrong with the file
            raise WriteFailed(path=path, reason=str(error)) from error
        except sqlite3.DatabaseError as error:
            raise StateUnreadable(path=path, reason=str(error)) from error

    def _open_schema(self) -> None:
        if self._version() == 0:
            self._db.execute("PRAGMA journal_mode = WAL")
        if self._version() < SCHEMA_VERSION:
            with self.transaction():
                self._upgrade()
        if self._version() != SCHEMA_VERSION:
            reason = f"it has format {self._version()}, this release reads {SCHEMA_VERSION}"
            raise StateUnreadable(path=self.path, reason=reason)

    def _upgrade(self) -> None:
        """From whatever older format the file has now: another process may have been faster."""
        version = self._version()
        if version == 0:
            self._run_statements(_SCHEMA)
        if version < 2:
            self._run_statements(_SCHEMA_2)
            self._fill_texts()
        if version < 3:
            self._run_statements(_SCHEMA_3)
        if version < 4:
            self._run_statements(_SCHEMA_4)
        if version < 5:
            self._run_statements(_SCHEMA_5)
        if version < SCHEMA_VERSION:
            self._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _run_statements(self, text: str) -> None:
        """One by one, for ``executescript`` would commit."""
        for statement in filter(str.strip, text.split(";\n")):
            self._db.execute(statement)

    def _fill_texts(self) -> None:
        for number, record in self._db.execute("SELECT number, record FROM memos"):
            try:
                memo = _memo_from(record)
            except (ValueError, KeyError, TypeError) as error:
                raise StateUnreadable(path=self.path, reason=f"record {number} is damaged") from error
            self._write_text(number, memo, *text_entry(memo))

    def _version(self) -> int:
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def close(self) -> None:
        self._db.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing; nests by joining the outer one."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Everything read inside is of one moment, whatever other processes write meanwhile. Joins an open transaction."""
        if self._db.in_transaction:
            yield
            return
        self._db.execute("BEGIN")
        try:
            yield
        finally:
            self._db.execute("COMMIT")

    # meta

    def read_meta(self, name: str) -> str:
        """The value, or an empty string."""
        row = self._db.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return str(row[0]) if row else ""

    def write_meta(self, name: str, value: str) -> None:
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def chunks_version(self) -> str:
        """Another one whenever a chunk or vector may have come, gone or changed; until then what all of them give can be kept."""
        identity = self.path.stat().st_ino if self.path else 0
        return f"{identity}/{self.read_meta(_CHUNKS_VERSION)}"

    def memos_version(self) -> str:
        """Another one whenever a memo came, went or changed."""
        return self.read_meta(_MEMOS_VERSION)

    def _count_up(self, name: str) -> None:
        count_up(self._db, name)

    @property
    def answers(self) -> AnswerShelf:
        return AnswerShelf(self._db)

    @property
    def inbox(self) -> InboxShelf:
        return InboxShelf(self._db)

    @property
    def recalls(self) -> RecallShelf:
        return RecallShelf(self._db)

    @property
    def gists(self) -> GistShelf:
        return GistShelf(self._db)

    # memos

    def memo_marks(self) -> dict[str, MemoMark]:
        rows = self._db.execute("SELECT id, memo_hash, created FROM memos")
        return {memo_id: MemoMark(memo_hash, created) for memo_id, memo_hash, created in rows}

    def has_memos(self) -> bool:
        return self._db.execute("SELECT 1 FROM memos LIMIT 1").fetchone() is not None

    def load_memos(self, memo_ids: Sequence[str]) -> dict[str, Memo]:
        """The memos with these ids, as last seen or as the person keeps them in their notes; unknown ids are left out."""
        return self._records("SELECT record FROM memos WHERE id IN ({})", memo_ids)

    def load_originals(self, memo_ids: Sequence[str]) -> dict[str, Memo]:
        """As ``load_memos``, always as the source had them."""
        return self.load_memos(memo_ids) | self._records("SELECT original FROM kept WHERE memo_id IN ({})", memo_ids)

    def _records(self, query: str, memo_ids: Sequence[str]) -> dict[str, Memo]:
        found: dict[str, Memo] = {}
        for part in _parts(memo_ids):
            for (record,) in self._db.execute(query.format(",".join("?" * len(part))), part):
                memo = _memo_from(record)
                found[memo.id] = memo
        return found

    def content_hashes(self, memo_ids: Sequence[str]) -> dict[str, str]:
        """memo id → content hash as last seen; unknown ids are left out."""
        found: dict[str, str] = {}
        for part in _parts(memo_ids):
            found.update(self._db.execute(f"SELECT id, content_hash FROM memos WHERE id IN ({','.join('?' * len(part))})", part))
        return found

    def write_memo(self, memo: Memo, keywords: KeywordEntry) -> None:
        """The memo's row and its keyword entry, new or replaced; its note is to be looked at again."""
        for table in ("kept", "looked"):
            self._db.execute(f"DELETE FROM {table} WHERE memo_id = ?", (memo.id,))
        self._write_row(memo, keywords, memo.memo_hash)

    def write_kept(
        self,
        original: Memo,
        memo: Memo,
        keywords: KeywordEntry,
        anchors: Sequence[tuple[int, str]] = (),
        unlinked: Sequence[str] = (),
    ) -> None:
        """``memo`` is what the person's note makes of ``original``, the same when they wrote nothing into it.

        ``anchors`` are (number, block text) of what can be linked to in the note, ``unlinked`` its other blocks.
        """
        self._db.execute("DELETE FROM kept WHERE memo_id = ?", (memo.id,))
        if memo != original:
            row = (memo.id, _record_of(original), json.dumps(list(anchors)), json.dumps(list(unlinked)))
            self._db.execute("INSERT INTO kept VALUES (?, ?, ?, ?)", row)
        self._write_row(memo, keywords, original.memo_hash)

    def is_kept(self, memo_id: str) -> bool:
        """Whether the person wrote something into the memo's note."""
        return self._db.execute("SELECT 1 FROM kept WHERE memo_id = ?", (memo_id,)).fetchone() is not None

    def standing_blocks(self, memo_id: str) -> tuple[list[tuple[int, str]], list[str]] | None:
        """(number, block text) and the other blocks of a note that the person wrote into; None for any other."""
        found = self._db.execute("SELECT anchors, unlinked FROM kept WHERE memo_id = ?", (memo_id,)).fetchone()
        return ([(number, text) for number, text in json.loads(found[0])], json.loads(found[1])) if found else None

    def looked_marks(self) -> dict[str, tuple[int, int]]:
        """memo id → (size in bytes, time of change in nanoseconds) of its note when it was last compared."""
        return {memo_id: (size, mtime_ns) for memo_id, size, mtime_ns in self._db.execute("SELECT * FROM looked")}

    def write_looked(self, memo_id: str, size: int, mtime_ns: int) -> None:
        self._db.execute("INSERT OR REPLACE INTO looked VALUES (?, ?, ?)", (memo_id, size, mtime_ns))

    def _write_row(self, memo: Memo, keywords: KeywordEntry, memo_hash: str) -> None:
        self._db.execute(
            "INSERT INTO memos (id, created, memo_hash, content_hash, record) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET created = excluded.created, memo_hash = excluded.memo_hash,"
            " content_hash = excluded.content_hash, record = excluded.record",
            (memo.id, memo.created, memo_hash, memo.content_hash, _record_of(memo)),
        )
        self._count_up(_MEMOS_VERSION)
        self._db.execute("DELETE FROM gists WHERE memo_id = ?", (memo.id,))
        (number,) = self._db.execute("SELECT number FROM memos WHERE id = ?", (memo.id,)).fetchone()
        self._db.execute("DELETE FROM keywords WHERE rowid = ?", (number,))
        self._db.execute(
            "INSERT INTO keywords (rowid, title, tags, body) VALUES (?, ?, ?, ?)",
            (number, keywords.title, keywords.tags, keywords.body),
        )
        self._write_text(number, memo, keywords.folded, keywords.has_link)
        self._db.execute("DELETE FROM memo_tags WHERE memo_id = ?", (memo.id,))
        self._db.executemany("INSERT OR IGNORE INTO memo_tags VALUES (?, ?)", [(memo.id, tag) for tag in keywords.whole_tags])
        self._db.execute("DELETE FROM tombstones WHERE memo_id = ?", (memo.id,))

    def _write_text(self, number: int, memo: Memo, folded: str, has_link: bool) -> None:
        facts = (number, memo.id, memo.created, memo.visibility.casefold(), memo.pinned, has_link)
        self._db.execute("INSERT OR REPLACE INTO texts VALUES (?, ?)", (number, folded))
        self._db.execute("INSERT OR REPLACE INTO memo_facts VALUES (?, ?, ?, ?, ?, ?)", facts)
        self._db.execute("DELETE FROM relations WHERE memo_id = ?", (memo.id,))
        pairs = [(memo.id, relation.related_id, relation.kind) for relation in memo.relations if relation.memo_id == memo.id]
        self._db.executemany("INSERT OR IGNORE INTO relations VALUES (?, ?, ?)", pairs)

    def delete_memo(self, memo_id: str, *, title: str, deleted_at: str, trash_path: str) -> None:
        """Forgets the memo, its chunks and its note's row; leaves a tombstone. Its vectors fall with ``prune_vectors``."""
        self._count_up(_MEMOS_VERSION)
        for table, key in (("keywords", "rowid"), ("texts", "number"), ("memo_facts", "number")):
            self._db.execute(f"DELETE FROM {table} WHERE {key} = (SELECT number FROM memos WHERE id = ?)", (memo_id,))
        self.replace_chunks(memo_id, "", [], chunker="")
        for table in ("chunked", "indexed", "notes", "memo_tags", "relations", "kept", "looked", "gists"):
            self._db.execute(f"DELETE FROM {table} WHERE memo_id = ?", (memo_id,))
        self._db.execute("DELETE FROM memos WHERE id = ?", (memo_id,))
        self._db.execute("INSERT OR REPLACE INTO tombstones VALUES (?, ?, ?, ?)", (memo_id, title, deleted_at, trash_path))

    # chunks and vectors

    def memos_to_chunk(self, profile: IndexProfile) -> list[str]:
        """Ids of memos that were not cut, or not as they are now with this chunker; newest first."""
        rows = self._db.execute(
            "SELECT m.id FROM memos m"
            " LEFT JOIN chunked c ON c.memo_id = m.id AND c.content_hash = m.content_hash AND c.chunker = ?"
            " WHERE c.memo_id IS NULL ORDER BY m.created DESC, m.id DESC",
            (profile.chunker,),
        )
        return [memo_id for (memo_id,) in rows]

    def replace_chunks(self, memo_id: str, content_hash: str, chunks: Sequence[tuple[Chunk, str]], *, chunker: str) -> None:
        """The memo's chunks, each with its text hash. Chunks that go or change leave Chroma; their vectors stay for now."""
        old = dict(self._db.execute("SELECT chunk_id, text_hash FROM chunks WHERE memo_id = ?", (memo_id,)))
        new = {chunk.id: digest for chunk, digest in chunks}
        self._db.executemany(
            "INSERT OR REPLACE INTO outbox VALUES (?, 1)", [(c,) for c, digest in old.items() if new.get(c) != digest]
        )
        if old != new:
            # What was said of the old chunks: should the text change back before the new ones are indexed, it would be believed.
            self._db.execute("DELETE FROM indexed WHERE memo_id = ?", (memo_id,))
            self._count_up(_CHUNKS_VERSION)
        self._db.execute("DELETE FROM chunks WHERE memo_id = ?", (memo_id,))
        self._db.executemany(
            "INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", [(c.id, memo_id, c.index, digest, c.text) for c, digest in chunks]
        )
        self._db.execute("INSERT OR REPLACE INTO chunked VALUES (?, ?, ?)", (memo_id, content_hash, chunker))

    def texts_without_vector(self, fingerprint: str, limit: int) -> list[tuple[str, str]]:
        """Up to ``limit`` (text hash, chunk text), one for each distinct text, those of the newest memos first."""
        rows = self._db.execute(
            "SELECT c.text_hash, c.text FROM chunks c JOIN memos m ON m.id = c.memo_id"
            " LEFT JOIN vectors v ON v.fingerprint = ? AND v.text_hash = c.text_hash"
            " WHERE v.text_hash IS NULL GROUP BY c.text_hash ORDER BY max(m.created) DESC, min(c.chunk_id) LIMIT ?",
            (fingerprint, limit),
        )
        return [(digest, text) for digest, text in rows]

    def count_texts_without_vector(self, fingerprint: str) -> int:
        (count,) = self._db.execute(
            "SELECT count(DISTINCT c.text_hash) FROM chunks c LEFT JOIN vectors v"
            " ON v.fingerprint = ? AND v.text_hash = c.text_hash WHERE v.text_hash IS NULL",
            (fingerprint,),
        ).fetchone()
        return int(count)

    def write_vectors(self, fingerprint: str, rows: Iterable[tuple[str, float, bytes]]) -> None:
        """Vectors as (text hash, CJK share, float32 bytes); every chunk of these texts is queued for Chroma."""
        self._count_up(_CHUNKS_VERSION)
        for digest, share, vector in rows:
            self._db.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", (fingerprint, digest, share, vector))
            self._db.execute("INSERT OR REPLACE INTO outbox SELECT chunk_id, 0 FROM chunks WHERE text_hash = ?", (digest,))

    def mark_indexed(self, profile: IndexProfile, indexed_at: str, digests: Sequence[str] | None = None) -> int:
        """Writes the ``indexed`` row of every memo whose chunks all have vectors and that has no such row yet; how many.

        ``digests`` narrows the search to memos with a chunk of these texts, which is what one embedded batch can complete.
        """
        query = f"{_PENDING_MEMOS} AND {_ALL_HAVE_VECTORS}"
        values: tuple[str | int, ...] = (*_pending_values(profile), profile.model)
        if digests is not None:
            query += f" AND m.id IN (SELECT memo_id FROM chunks WHERE text_hash IN ({','.join('?' * len(digests))}))"
            values = (*values, *digests)
        complete = self._db.execute(query, values).fetchall()
        how = (profile.model, profile.chunker_version, profile.chunk_size, profile.chunk_overlap, indexed_at)
        self._db.executemany("INSERT OR REPLACE INTO indexed VALUES (?, ?, ?, ?, ?, ?, ?)", [(*row, *how) for row in complete])
        # A new chunk with a text that was there before brings its vector along: Chroma has to hear of it all the same.
        self._db.executemany(
            "INSERT OR REPLACE INTO outbox SELECT chunk_id, 0 FROM chunks WHERE memo_id = ?",
            [(memo_id,) for memo_id, _ in complete],
        )
        return len(complete)

    def count_memos_to_index(self, profile: IndexProfile) -> int:
        (count,) = self._db.execute(f"SELECT count(*) FROM ({_PENDING_MEMOS})", _pending_values(profile)).fetchone()
        return int(count)

    def count_stale_vectors(self) -> int:
        (count,) = self._db.execute(f"SELECT count(*) FROM vectors WHERE {_NO_CHUNK}").fetchone()
        return int(count)

    def prune_vectors(self) -> int:
        """Deletes vectors of texts that no chunk has any more; how many."""
        return self._db.execute(f"DELETE FROM vectors WHERE {_NO_CHUNK}").rowcount

    def forget_vectors(self, fingerprint: str) -> None:
        """Deletes all vectors of this model and what was recorded of the index: the start of a full rebuild."""
        self._count_up(_CHUNKS_VERSION)
        self._db.execute("DELETE FROM vectors WHERE fingerprint = ?", (fingerprint,))
        self._db.execute("DELETE FROM indexed")
        self._db.execute("DELETE FROM chunked")

    def dimension(self, fingerprint: str) -> int:
        """How many numbers a vector of this model has; 0 while there is none."""
        row = self._db.execute("SELECT length(vector) / 4 FROM vectors WHERE fingerprint = ? LIMIT 1", (fingerprint,)).fetchone()
        return int(row[0]) if row else 0

    def load_vectors(self, fingerprint: str, chunk_ids: Sequence[str] | None = None) -> list[tuple[str, str, float, bytes]]:
        """(chunk id, memo id, CJK share, float32 bytes) of the given chunks, or of all that have a vector."""
        base = (
            # CROSS keeps the order of the loops: without statistics SQLite would go through every vector for each id.
            "SELECT c.chunk_id, c.memo_id, v.cjk_share, v.vector FROM chunks c"
            " CROSS JOIN vectors v ON v.fingerprint = ? AND v.text_hash = c.text_hash"
        )
        if chunk_ids is None:
            return self._db.execute(base, (fingerprint,)).fetchall()
        rows: list[tuple[str, str, float, bytes]] = []
        for part in _parts(chunk_ids):
            rows += self._db.execute(f"{base} WHERE c.chunk_id IN ({','.join('?' * len(part))})", (fingerprint, *part))
        return rows

    def sample_vectors(self, fingerprint: str, limit: int) -> list[tuple[str, str, float, bytes]]:
        """As ``load_vectors``, for the same arbitrary texts each time: text hashes have no order of their own."""
        return self._db.execute(
            "SELECT text_hash, '', cjk_share, vector FROM vectors WHERE fingerprint = ? ORDER BY text_hash LIMIT ?",
            (fingerprint, limit),
        ).fetchall()

    # what Chroma has still to be told

    def read_outbox(self, limit: int) -> tuple[list[str], list[str]]:
        """Up to ``limit`` chunk ids: (to write, to delete)."""
        rows = self._db.execute("SELECT chunk_id, deletes FROM outbox LIMIT ?", (limit,)).fetchall()
        return [c for c, deletes in rows if not deletes], [c for c, deletes in rows if deletes]

    def clear_outbox(self, chunk_ids: Iterable[str] | None = None) -> None:
        if chunk_ids is None:
            self._db.execute("DELETE FROM outbox")
            return
        with self.transaction():
            self._db.executemany("DELETE FROM outbox WHERE chunk_id = ?", [(c,) for c in chunk_ids])

    def count_outbox(self) -> int:
        (count,) = self._db.execute("SELECT count(*) FROM outbox").fetchone()
        return int(count)

    # notes

    def note_rows(self) -> dict[str, NoteRow]:
        """Every note without its region, properties and anchors: what a plan needs."""
        rows = self._db.execute("SELECT memo_id, path, memo_hash, look, size, mtime_ns, status FROM notes")
        return {r[0]: NoteRow(r[0], r[1], r[2], r[3], "", "", {}, (), 0, r[4], r[5], r[6]) for r in rows}

    def load_note(self, memo_id: str) -> NoteRow | None:
        row = self._db.execute("SELECT * FROM notes WHERE memo_id = ?", (memo_id,)).fetchone()
        if not row:
            return None
        anchors = tuple((number, text) for number, text in json.loads(row[7]))
        memo_id, path, memo_hash, look, region, intended, properties, _, next_anchor, size, mtime_ns, status = row
        return NoteRow(
            memo_id, path, memo_hash, look, region, intended, json.loads(properties), anchors, next_anchor, size, mtime_ns, status
        )

    def note_path(self, memo_id: str) -> str:
        """Where the memo's note is; empty when it has none that may be linked to."""
        note = self.load_note(memo_id)
        return note.path if note and note.is_there else ""

    def write_note(self, note: NoteRow) -> None:
        values = asdict(note) | {"properties": json.dumps(note.properties), "anchors": json.dumps(note.anchors)}
        self._db.execute(f"INSERT OR REPLACE INTO notes VALUES ({','.join('?' * len(values))})", tuple(values.values()))
        self._count_up(_NOTES_VERSION)

    def notes_version(self) -> str:
        """Another one whenever a memo's note was written, moved, or met in another state."""
        return self.read_meta(_NOTES_VERSION)

    def memos_at(self, paths: Iterable[str]) -> dict[str, str]:
        """path → memo id, of those paths at which a memo's note was last met."""
        found: dict[str, str] = {}
        for part in _parts(list(paths)):
            marks = ",".join("?" * len(part))
            found.update(self._db.execute(f"SELECT path, memo_id FROM notes WHERE path IN ({marks})", part))
        return found

    def taken_paths(self) -> set[str]:
        """Paths of all notes that were ever written and not deleted with their memo."""
        return {path for (path,) in self._db.execute("SELECT path FROM notes")}

    # reading for search, status and manifest

    def match_keywords(self, expression: str, weights: Sequence[float], limit: int) -> list[tuple[str, float]]:
        """(memo id, BM25 score, higher is better) for an FTS5 expression; weights are for title, tags, body."""
        rows = self._db.execute(
            f"SELECT m.id, -bm25(keywords, {','.join(map(repr, weights))}) AS score"
            " FROM keywords CROSS JOIN memo_facts m ON m.number = keywords.rowid WHERE keywords MATCH ?"
            " ORDER BY score DESC, m.created DESC, m.id DESC LIMIT ?",
            (expression, limit),
        )
        return [(memo_id, float(score)) for memo_id, score in rows]

    def memos_meeting(self, expression: str) -> list[str]:
        """Ids of all memos that an FTS5 expression meets, in any order and without scores, which take longest."""
        rows = self._db.execute(
            "SELECT m.id FROM keywords CROSS JOIN memo_facts m ON m.number = keywords.rowid WHERE keywords MATCH ?", (expression,)
        )
        return [memo_id for (memo_id,) in rows]

    def meets_any(self, expression: str) -> bool:
        """Whether an FTS5 expression meets a memo at all."""
        return self._db.execute("SELECT 1 FROM keywords WHERE keywords MATCH ? LIMIT 1", (expression,)).fetchone() is not None

    def memos_containing(self, folded_part: str, limit: int) -> list[str]:
        """Ids of memos with these characters anywhere in their text (``tokens.searchable``), newest first.

        Goes through all texts: FTS5 knows words, and no part of one.
        """
        return self._meeting([_has_part(folded_part)], limit)

    def memos_in_scope(self, scope: Scope) -> set[str]:
        """Ids of all memos that meet every condition; of every memo when there is none."""
        conditions = _conditions_of(scope)
        found = set(self._meeting(conditions[:_MAX_CONDITIONS]))
        for start in range(_MAX_CONDITIONS, len(conditions), _MAX_CONDITIONS):
            found.intersection_update(self._meeting(conditions[start : start + _MAX_CONDITIONS]))
        return found

    def newest_in_scope(self, scope: Scope, limit: int) -> list[str]:
        """As ``memos_in_scope``, the newest ``limit``, newest first."""
        conditions = _conditions_of(scope)
        if len(conditions) <= _MAX_CONDITIONS:
            return self._meeting(conditions, limit)
        inside = self.memos_in_scope(scope)
        return [memo_id for memo_id in self._meeting([], -1) if memo_id in inside][:limit]

    def _meeting(self, conditions: Sequence[_Condition], limit: int | None = None) -> list[str]:
        """Newest first when there is a limit (-1: as many as there are), in any order without one."""
        sql = "SELECT f.id FROM memo_facts f"
        values = [value for _, bound in conditions for value in bound]
        if conditions:
            sql += f" WHERE {' AND '.join(condition for condition, _ in conditions)}"
        if limit is not None:
            sql += " ORDER BY f.created DESC, f.id DESC LIMIT ?"
            values.append(limit)
        return [memo_id for (memo_id,) in self._db.execute(sql, values)]

    def document_frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """In how many memos each token stands; tokens that no memo has are left out."""
        found = {}
        for term in terms:
            row = self._db.execute("SELECT doc FROM keyword_terms WHERE term = ?", (term,)).fetchone()
            if row:
                found[term] = int(row[0])
        return found

    def folded_texts(self, memo_ids: Sequence[str]) -> dict[str, str]:
        """memo id → its folded text (``tokens.searchable``)."""
        found: dict[str, str] = {}
        for part in _parts(memo_ids):
            rows = self._db.execute(
                "SELECT f.id, t.folded FROM memo_facts f JOIN texts t ON t.number = f.number"
                f" WHERE f.id IN ({','.join('?' * len(part))})",
                part,
            )
            found.update(rows.fetchall())
        return found

    def relations_of(self, memo_ids: Sequence[str]) -> list[tuple[str, str, str]]:
        """(memo id, related memo id, kind) of every relation that one of the memos is at either end of; both memos exist."""
        found: dict[tuple[str, str, str], None] = {}
        for part in _parts(memo_ids):
            marks = ",".join("?" * len(part))
            for column in ("memo_id", "related_id"):
                rows = self._db.execute(
                    f"SELECT r.memo_id, r.related_id, r.kind FROM relations r JOIN memos a ON a.id = r.memo_id"
                    f" JOIN memos b ON b.id = r.related_id WHERE r.{column} IN ({marks})",
                    part,
                )
                found.update(dict.fromkeys(rows))
        return sorted(found)

    def chunk_ids(self, memo_ids: Sequence[str]) -> list[str]:
        """The ids of all chunks of these memos."""
        found: list[str] = []
        for part in _parts(memo_ids):
            rows = self._db.execute(f"SELECT chunk_id FROM chunks WHERE memo_id IN ({','.join('?' * len(part))})", part)
            found += [chunk_id for (chunk_id,) in rows]
        return found

    def chunk_texts(self, memo_ids: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
        """memo id → (chunk id, text) in order."""
        found: dict[str, list[tuple[str, str]]] = {}
        for part in _parts(memo_ids):
            marks = ",".join("?" * len(part))
            rows = self._db.execute(
                f"SELECT memo_id, chunk_id, text FROM chunks WHERE memo_id IN ({marks}) ORDER BY memo_id, position",
                part,
            )
            for memo_id, chunk_id, text in rows:
                found.setdefault(memo_id, []).append((chunk_id, text))
        return found

    def tag_counts(self) -> list[tuple[str, int]]:
        """(tag as written, memos with it), the commonest first; spellings that differ only in case count as the commonest one."""
        rows = self._db.execute(
            "SELECT t.value, count(DISTINCT m.id) AS n FROM memos m, json_each(m.record, '$.tags') t"
            " GROUP BY t.value ORDER BY n DESC, t.value"
        )
        shown: dict[str, str] = {}
        counts: dict[str, int] = {}
        for tag, count in rows:
            key = tag.casefold()
            shown.setdefault(key, tag)
            counts[key] = counts.get(key, 0) + count
        return sorted(((shown[key], count) for key, count in counts.items()), key=lambda pair: (-pair[1], pair[0]))

    def count_tagged(self) -> int:
        (count,) = self._db.execute("SELECT count(*) FROM memos WHERE json_array_length(record, '$.tags') > 0").fetchone()
        return int(count)

    def created_times(self) -> list[int]:
        """When each memo was made, in Unix seconds, the newest first."""
        return [created for (created,) in self._db.execute("SELECT created FROM memo_facts ORDER BY created DESC, id DESC")]

    def newest_memos(self, limit: int) -> list[Memo]:
        rows = self._db.execute("SELECT record FROM memos ORDER BY created DESC, id DESC LIMIT ?", (limit,))
        return [_memo_from(record) for (record,) in rows]

    def folded_tags(self) -> set[str]:
        """Every tag in use, folded, without ``#``."""
        rows = self._db.execute("SELECT DISTINCT tag FROM memo_tags")
        return {tag for (tag,) in rows}

    def counts(self, fingerprint: str) -> dict[str, int]:
        """memos, chunks, chunks_with_vector, notes, removed_notes, conflicts, tombstones, outbox."""
        queries = {
            "memos": "SELECT count(*) FROM memos",
            "chunks": "SELECT count(*) FROM chunks",
            "notes": "SELECT count(*) FROM notes WHERE status IN ('written', 'conflict')",
            "removed_notes": "SELECT count(*) FROM notes WHERE status = 'removed'",
            "conflicts": "SELECT count(*) FROM notes WHERE status = 'conflict'",
            "tombstones": "SELECT count(*) FROM tombstones",
            "outbox": "SELECT count(*) FROM outbox",
        }
        found = {name: int(self._db.execute(query).fetchone()[0]) for name, query in queries.items()}
        with_vector = self._db.execute(
            "SELECT count(*) FROM chunks c JOIN vectors v ON v.fingerprint = ? AND v.text_hash = c.text_hash", (fingerprint,)
        ).fetchone()
        return found | {"chunks_with_vector": int(with_vector[0])}

    def count_memos(self) -> int:
        (count,) = self._db.execute("SELECT count(*) FROM memo_facts").fetchone()
        return int(count)

    def manifest(self) -> Iterator[dict[str, Any]]:
        """Manifest v2: one entry a memo that is indexed, in the order of ids."""
        names = ("memo_id", "content_hash", "model", "chunker_version", "chunk_size", "chunk_overlap", "indexed_at")
        for row in self._db.execute("SELECT * FROM indexed ORDER BY memo_id").fetchall():
            entry = dict(zip(names, row, strict=True))
            ids = self._db.execute("SELECT chunk_id FROM chunks WHERE memo_id = ? ORDER BY position", (row[0],))
            yield entry | {"chunk_ids": [chunk_id for (chunk_id,) in ids]}


#: A condition on ``memo_facts f``: (SQL, its values).
_Condition = tuple[str, tuple[str | int, ...]]

_CHUNKS_VERSION, _MEMOS_VERSION, _NOTES_VERSION = "chunks_version", "memos_version", "notes_version"
_NO_CHUNK = "text_hash NOT IN (SELECT text_hash FROM chunks)"
_PENDING_MEMOS = (
    "SELECT m.id, m.content_hash FROM memos m LEFT JOIN indexed i ON i.memo_id = m.id AND i.content_hash = m.content_hash"
    " AND i.model = ? AND i.chunker_version = ? AND i.chunk_size = ? AND i.chunk_overlap = ? WHERE i.memo_id IS NULL"
)

_ALL_HAVE_VECTORS = (
    "NOT EXISTS (SELECT 1 FROM chunks c WHERE c.memo_id = m.id AND NOT EXISTS"
    " (SELECT 1 FROM vectors v WHERE v.fingerprint = ? AND v.text_hash = c.text_hash))"
)

#: SQLite refuses an expression deeper than 1,000; each condition adds one.
_MAX_CONDITIONS = 200
#: Bytes of a pattern that SQLite still compares by LIKE, less than its limit of 50,000.
_MAX_LIKE_BYTES = 40_000
#: NUL would end the pattern; memos hold U+FFFD in its place (``memo.clean_text``).
_LIKE_ESCAPES = str.maketrans({"%": r"\%", "_": r"\_", "\\": r"\\", "\0": "\ufffd"})

_TAG_OR_CHILD = "f.id {} (SELECT memo_id FROM memo_tags WHERE tag = ? OR substr(tag, 1, ?) = ?)"


def _conditions_of(scope: Scope) -> list[_Condition]:
    """What is quick to look at comes first."""
    found: list[_Condition] = []
    if scope.created_from is not None:
        found.append(("f.created >= ?", (scope.created_from,)))
    if scope.created_before is not None:
        found.append(("f.created < ?", (scope.created_before,)))
    if scope.visibilities:
        found.append((f"f.visibility IN ({','.join('?' * len(scope.visibilities))})", scope.visibilities))
    found += [("f.visibility != ?", (visibility,)) for visibility in scope.excluded_visibilities]
    found += [("f.pinned = ?", (is_pinned,)) for is_pinned in scope.pinned]
    found += [("f.has_link = ?", (has_link,)) for has_link in scope.has_link]
    for tags, how in ((scope.tags, "IN"), (scope.excluded_tags, "NOT IN")):
        found += [(_TAG_OR_CHILD.format(how), (tag, len(tag) + 1, f"{tag}/")) for tag in tags]
    found += [_has_no(_has_word(word)) for word in scope.excluded_words]
    found += [_has_part(part) for part in scope.parts]
    found += [_has_no(_has_part(part)) for part in scope.excluded_parts]
    return found


def _has_no(condition: _Condition) -> _Condition:
    return f"NOT {condition[0]}", condition[1]


def _has_word(word: str) -> _Condition:
    """A single Chinese character, or a word without a letter or digit, is looked for as a part of the text."""
    tokens = cut(word)
    if not tokens or (len(word) == 1 and is_cjk(word)):
        return _has_part(word)
    standing, value = _stands_in_text(word)
    found = f"SELECT t.number FROM keywords k CROSS JOIN texts t ON t.number = k.rowid WHERE keywords MATCH ? AND {standing}"
    return f"(f.number IN ({found}))", (match_phrase(tokens), value)


def _has_part(folded_part: str) -> _Condition:
    standing, value = _stands_in_text(folded_part)
    return f"(f.number IN (SELECT t.number FROM texts t WHERE {standing}))", (value,)


def _stands_in_text(folded_part: str) -> tuple[str, str]:
    """(SQL, its value). LIKE finds a part up to twice as quickly as ``instr``; folded text has no letter case to ignore."""
    pattern = f"%{folded_part.translate(_LIKE_ESCAPES)}%"
    if len(pattern.encode()) > _MAX_LIKE_BYTES:
        return "instr(t.folded, ?)", folded_part
    return "t.folded LIKE ? ESCAPE '\\'", pattern


#: SQLite's default limit of bound values is 32,766; far below it, statements stay small.
_MAX_BOUND = 900


def _pending_values(profile: IndexProfile) -> tuple[str, str, int, int]:
    return profile.model, profile.chunker_version, profile.chunk_size, profile.chunk_overlap


def _parts(items: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(items), _MAX_BOUND):
        yield items[start : start + _MAX_BOUND]


def _record_of(memo: Memo) -> str:
    return json.dumps(asdict(memo), ensure_ascii=False, separators=(",", ":"))


def _memo_from(record: str) -> Memo:
    fields = json.loads(record)
    fields["tags"] = tuple(fields["tags"])
    fields["attachments"] = tuple(Attachment(**a) for a in fields["attachments"])
    fields["relations"] = tuple(Relation(**r) for r in fields["relations"])
    return Memo(**fields)
