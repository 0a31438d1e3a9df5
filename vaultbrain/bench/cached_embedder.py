"""An embedder that remembers: vectors of texts that were embedded before are read from a file, the model is opened for the rest.

Measuring the same sets again after a change of the search must not take minutes of embedding. The file is a cache: everything in
it can be computed again, so one that cannot be read is replaced, and one that cannot be written is done without; either is said.
Vectors are kept by embedding fingerprint, role and text, a batch at a time, so that a run that ends early loses one batch.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from vaultbrain.index.chunking import text_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from vaultbrain.index.embedding import Embedder, Role

    Vectors: TypeAlias = NDArray[np.float32]

CACHE_FILE = "bench-embeddings.sqlite3"
_VERSION = 1
_TABLE = (
    "CREATE TABLE IF NOT EXISTS vectors (fingerprint TEXT NOT NULL, role TEXT NOT NULL, text_hash TEXT NOT NULL,"
    " vector BLOB NOT NULL, PRIMARY KEY (fingerprint, role, text_hash)) WITHOUT ROWID"
)
#: Texts embedded between two commits: a second or two of work of the bundled model.
COMMIT_TEXTS = 32
#: Text hashes in one look into the file, far below SQLite's limit of bound values.
_LOOKUP = 500
#: Seconds to wait for another run that is writing into the same file.
_LOCK_TIMEOUT_S = 30


def default_cache_dir() -> Path:
    """The user's folder for what may be deleted at any time. Not created here."""
    from platformdirs import user_cache_path

    return user_cache_path("vaultbrain", appauthor=False)


class CachedEmbedder:
    """An ``Embedder`` in front of another one. To be closed; what was embedded until then is kept.

    ``spent_s`` is the time spent here, whatever for; ``model_s`` the part of it in which the model embedded, loading it apart.
    """

    batch_size = COMMIT_TEXTS

    def __init__(
        self, folder: Path, fingerprint: str, open_embedder: Callable[[], Embedder], notice: Callable[[str], None]
    ) -> None:
        """``notice`` is told in a sentence when the file in ``folder`` cannot be used."""
        self.fingerprint = fingerprint
        self.spent_s = 0.0
        self.model_s = 0.0
        self._open_embedder = open_embedder
        self._model: Embedder | None = None
        self._file = _VectorFile(folder / CACHE_FILE, notice)

    @property
    def dimension(self) -> int:
        """Asks the model, which is opened for it."""
        return self._opened().dimension

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, "passage")

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts, "query")

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> CachedEmbedder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _embed(self, texts: Sequence[str], role: Role) -> Vectors:
        import numpy as np

        started = time.perf_counter()
        try:
            hashes = [text_hash(text) for text in texts]
            blobs = self._file.read(self.fingerprint, role, hashes)
            missing = {digest: text for digest, text in zip(hashes, texts, strict=True) if digest not in blobs}
            blobs |= self._compute(missing, role)
            rows = [np.frombuffer(blobs[digest], dtype=np.float32) for digest in hashes]
            return np.stack(rows) if rows else np.zeros((0, 0), dtype=np.float32)
        finally:
            self.spent_s += time.perf_counter() - started

    def _compute(self, missing: Mapping[str, str], role: Role) -> dict[str, bytes]:
        computed: dict[str, bytes] = {}
        hashes = list(missing)
        for start in range(0, len(hashes), COMMIT_TEXTS):
            batch = hashes[start : start + COMMIT_TEXTS]
            vectors = self._ask_model([missing[digest] for digest in batch], role)
            rows = {digest: vector.tobytes() for digest, vector in zip(batch, vectors, strict=True)}
            self._file.write(self.fingerprint, role, rows)
            computed |= rows
        return computed

    def _ask_model(self, texts: list[str], role: Role) -> Vectors:
        model = self._opened()
        started = time.perf_counter()
        vectors = model.embed_queries(texts) if role == "query" else model.embed_passages(texts)
        self.model_s += time.perf_counter() - started
        return vectors

    def _opened(self) -> Embedder:
        if self._model is None:
            self._model = self._open_embedder()
        return self._model


class _VectorFile:
    """The file. No method fails: what cannot be read is not there, what cannot be written is not kept."""

    def __init__(self, path: Path, notice: Callable[[str], None]) -> None:
        self._path = path
        self._notice = notice
        self._db: sqlite3.Connection | None = None
        self._was_opened = False

    def read(self, fingerprint: str, role: Role, hashes: Sequence[str]) -> dict[str, bytes]:
        """The vectors there are, by text hash."""
        found: dict[str, bytes] = {}
        self._open_once()
        with self._forgiving():
            for start in range(0, len(hashes) if self._db else 0, _LOOKUP):
                part = hashes[start : start + _LOOKUP]
                marks = ",".join("?" * len(part))
                query = f"SELECT text_hash, vector FROM vectors WHERE fingerprint = ? AND role = ? AND text_hash IN ({marks})"  # noqa: S608  (only marks)
                found |= dict(self._db.execute(query, (fingerprint, role, *part)) if self._db else ())
        return found

    def write(self, fingerprint: str, role: Role, rows: Mapping[str, bytes]) -> None:
        with self._forgiving():
            if self._db:
                with self._db:
                    self._db.executemany(
                        "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                        [(fingerprint, role, digest, vector) for digest, vector in rows.items()],
                    )

    def _open_once(self) -> None:
        """With the first vectors that are asked for: a search by words leaves no file behind."""
        if not self._was_opened:
            self._was_opened = True
            with self._forgiving():
                self._db = self._connect()

    def close(self) -> None:
        if self._db:
            self._db.close()
        self._db = None

    @contextmanager
    def _forgiving(self) -> Iterator[None]:
        """A broken file is replaced by an empty one; where the system refuses, the run goes on without a file."""
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            self.close()
            self._notice(f"vectors are not kept for the next run: {self._path} cannot be used ({error})")
        except sqlite3.DatabaseError as error:
            self._replace(str(error))

    def _replace(self, reason: str) -> None:
        self.close()
        self._notice(f"{self._path} was broken ({reason}) and is replaced; its vectors are computed again")
        try:
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            self._db = self._connect()
        except (sqlite3.DatabaseError, OSError) as error:
            self._notice(f"vectors are not kept for the next run: {self._path} cannot be used ({error})")

    def _connect(self) -> sqlite3.Connection:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(self._path, timeout=_LOCK_TIMEOUT_S)
        try:
            _prepare(db)
        except BaseException:
            db.close()
            raise
        return db


def _prepare(db: sqlite3.Connection) -> None:
    """Raises ``sqlite3.DatabaseError`` for a file that is not such a cache."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version not in (0, _VERSION):
        raise sqlite3.DatabaseError(f"it has format {version}, this release reads {_VERSION}")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")  # a commit for every query must not wait for the disk
    db.execute(_TABLE)
    if not version:
        db.execute(f"PRAGMA user_version = {_VERSION}")
    if [row[1] for row in db.execute("PRAGMA table_info(vectors)")] != ["fingerprint", "role", "text_hash", "vector"]:
        raise sqlite3.DatabaseError("its table is another one")
