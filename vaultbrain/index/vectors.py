"""The vector index: which chunks lie near a vector. Chroma stands behind this door and nowhere else.

Decides how Chroma's files are kept from harm, when they may be trusted, and how a search and a write go through. The index
holds only what the catalog can give again (ids, vectors, each chunk's memo id; no text), so trust is never repaired here: a
folder that may be damaged is not opened but built anew by ``rebuild``.

Chroma rewrites its graph files in place. A process killed in that window leaves files that crash a later reader, and a second
process neither sees the first one's vectors nor notices that it destroys them. Therefore, in a local folder:

    lock              held around every touch, by readers too; on the real path, so that a symlink is no way around it
    lock.holder       process id and time of the last holder, for the message to the one who waits
    CURRENT           name of the generation in use
    DIRTY             a write began and has not ended: no one opens the generation again
    IN_USE            a reader has the store open; found by the next one, it means that the reader died there
    g0001/            a generation: Chroma's files, ``generation.json`` (who may read it), ``stamp`` (changed by each write)

Refuses to choose what is written, to repair, to keep text, and to filter by metadata.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias
from urllib.parse import urlsplit, urlunsplit

from vaultbrain.errors import StateBusy, VaultbrainError, VectorStoreFailed, WriteFailed
from vaultbrain.index.installed import installed_version

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import filelock
    import numpy as np
    from numpy.typing import NDArray

IndexState = Literal["absent", "clean", "dirty", "foreign"]

#: What the files of a generation, or the metadata of a server's collection, look like. A change makes all others foreign.
SCHEMA = 1

#: Neighbours per vector, and candidates while building and searching. Real sentence vectors, 20,000: recall@50 of 0.99 instead
#: of 0.83 with Chroma's own settings, for 4 ms per search and twice the time to build.
HNSW = {"space": "cosine", "max_neighbors": 32, "ef_construction": 200, "ef_search": 300}

#: Share of the vectors asked for that a whole graph finds at the least. 0.87 were found of 1,000 equal vectors, the worst
#: case met; a graph whose files were lost finds almost nothing, and no error says so.
LEAST_SHARE_FOUND = 0.5

#: Records per call. Chroma says how many it takes (5,461 with the usual SQLite); more than this gains no speed.
MAX_RECORDS_PER_CALL = 5_000

#: Records per request to a server: 1,000 are as fast as more, and a smaller request lets others in between.
MAX_RECORDS_PER_REQUEST = 1_000
#: Numbers per request to a server: at up to 20 characters each 8 MB, where a Chroma server takes 40 MB.
MAX_NUMBERS_PER_REQUEST = 400_000
#: Records per request to a server that does not say how many it takes: the smallest quota known (Chroma Cloud).
CAUTIOUS_RECORDS_PER_REQUEST = 300

#: Seconds to wait for another process: more than one batch of a writer (about 5 s), less than a person's patience.
LOCK_TIMEOUT_S = 30.0
#: Seconds between two tries to get the lock; a search takes about 2 ms.
LOCK_POLL_S = 0.02
#: Seconds without an answer of a server. Chroma's own client would wait for ever.
SERVER_TIMEOUT_S = 60.0

#: Characters of a foreign error that are kept: a proxy may answer with a whole page.
MAX_REASON_CHARS = 300

_COLLECTION = "vectors"
_GENERATION = re.compile(r"g(\d{4,9})")


#: Chunk ids (n), vectors ``(n, dimension)`` float32 and finite, memo ids (n). Empty ones may have vectors of any shape.
VectorBatch: TypeAlias = "tuple[Sequence[str], NDArray[np.float32], Sequence[str]]"


class _Records(NamedTuple):
    """A batch that was checked: each id once."""

    ids: Sequence[str]
    vectors: NDArray[np.float32]
    memo_ids: Sequence[str]


class IndexNotUsable(VectorStoreFailed):
    """There is no index that may be opened: answer without it, or ``rebuild`` it. Facts: ``path``, ``reason``, ``state``."""


_WHY_NOT_USABLE: dict[IndexState, str] = {
    "absent": "it is not built yet",
    "dirty": "a write was cut short",
    "foreign": "it was made with other settings or by another release",
}


class VectorStore(Protocol):
    """A place that finds chunks by their vectors.

    Every method but ``close`` and the local ``state`` and ``generation`` raises ``VectorStoreFailed`` when the store breaks
    and ``StateBusy`` when another process keeps it too long. All but these and ``rebuild`` raise ``IndexNotUsable`` unless
    the state is ``clean``.
    """

    def state(self) -> IndexState:
        """Whether there is an index for this fingerprint and dimension, and whether it may be opened."""
        ...

    def generation(self) -> int | None:
        """Grows with every rebuild; None when there is no index."""
        ...

    def write(
        self, ids: Sequence[str], vectors: NDArray[np.float32], memo_ids: Sequence[str], *, deletes: Sequence[str] = ()
    ) -> None:
        """Writes a ``VectorBatch`` of any size and removes ``deletes``, of which some may be unknown.

        An id given twice keeps its last vector; an id in both is kept. On failure some of it may be written.
        """
        ...

    def rebuild(self, batches: Iterable[VectorBatch]) -> None:
        """Puts a new index with exactly these chunks in place of the old one; until then, and on failure, the old one stays.

        Batches of 1,000 to 5,000 are fastest. An error out of ``batches`` passes through unchanged.
        """
        ...

    def query(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        """At most ``k`` pairs (chunk id, cosine similarity in -1..1), nearest first; approximate. ``vector``: ``(dim,)``."""
        ...

    def ids(self) -> set[str]: ...

    def count(self) -> int: ...

    def close(self) -> None:
        """Lets go of files, memory and connections. The object can be used again. Not while another thread uses it."""
        ...


class ChromaClient:
    """A Chroma of our own, in a folder or at an address. Whatever it raises leaves as ``VectorStoreFailed``."""

    def __init__(self, place: str, **settings: object) -> None:
        """Starts it. ``settings`` are Chroma's; ``place`` names it in errors.

        Two of Chroma's habits are avoided. Its usual clients share one system per path within the process, which stays stale
        for all while one of them holds it. And its settings read the environment and a ``.env`` in the working folder, which
        could point a local index at a server, or turn on telemetry.
        """
        self.place = place
        with _as_our_errors(place):
            from chromadb.api import ServerAPI
            from chromadb.config import Settings, System

            self._system: Any = System(Settings.model_construct(anonymized_telemetry=False, **settings))
            self._api: Any = self._system.instance(ServerAPI)
            self._system.start()

    def create(self, name: str, metadata: Mapping[str, object] | None = None) -> ChromaCollection:
        with _as_our_errors(self.place):
            model = self._api.create_collection(name, configuration={"hnsw": dict(HNSW)}, metadata=metadata)
        return self._collection(model)

    def open(self, name: str) -> ChromaCollection | None:
        """The collection; None when there is none of that name."""
        with _as_our_errors(self.place):
            from chromadb.errors import NotFoundError

            try:
                model = self._api.get_collection(name)
            except NotFoundError:
                return None
        return self._collection(model)

    def drop(self, name: str) -> None:
        """Removes the collection, if there is one."""
        with _as_our_errors(self.place):
            from chromadb.errors import NotFoundError

            with suppress(NotFoundError):
                self._api.delete_collection(name)

    def max_batch(self) -> int:
        """Records the store takes in one call; 0 or less when it does not say."""
        with _as_our_errors(self.place):
            return int(self._api.get_max_batch_size())

    def set_timeout(self, seconds: float) -> None:
        """For a client of a server. There is no setting for it."""
        self._api._session.timeout = seconds

    def close(self) -> None:
        """Ends it and releases its files. It must not be used afterwards."""
        with _as_our_errors(self.place):
            self._system.stop()
            if session := getattr(self._api, "_session", None):
                session.close()

    def _collection(self, model: Any) -> ChromaCollection:
        from chromadb.api.models.Collection import Collection

        # No embedding function: Chroma would fetch an English model from the network rather than report missing vectors.
        return ChromaCollection(self.place, Collection(client=self._api, model=model, embedding_function=None))


class ChromaCollection:
    """One open collection; splits nothing, checks nothing. Whatever Chroma raises leaves as ``VectorStoreFailed``."""

    def __init__(self, place: str, collection: Any) -> None:
        self._place = place
        self._collection = collection

    @property
    def metadata(self) -> dict[str, object]:
        return dict(self._collection.metadata or {})

    def upsert(self, ids: Sequence[str], vectors: NDArray[np.float32], memo_ids: Sequence[str]) -> None:
        with _as_our_errors(self._place):
            metadatas = [{"memo_id": memo_id} for memo_id in memo_ids]
            self._collection.upsert(ids=list(ids), embeddings=vectors, metadatas=metadatas)

    def delete(self, ids: Sequence[str]) -> None:
        with _as_our_errors(self._place):
            self._collection.delete(ids=list(ids))

    def query(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        with _as_our_errors(self._place):
            found = self._collection.query(query_embeddings=vector[None, :], n_results=k, include=["distances"])
            pairs = zip(found["ids"][0], found["distances"][0], strict=True)
            # Rounding puts equal vectors a little below distance 0.
            return [(chunk_id, min(1.0, max(-1.0, 1.0 - distance))) for chunk_id, distance in pairs]

    def ids(self) -> set[str]:
        """All ids, by pages: SQLite takes no more than 32,766 rows in one of Chroma's statements."""
        found: set[str] = set()
        with _as_our_errors(self._place):
            for offset in range(0, self._collection.count(), MAX_RECORDS_PER_CALL):
                found.update(self._collection.get(include=[], limit=MAX_RECORDS_PER_CALL, offset=offset)["ids"])
        return found

    def count(self) -> int:
        with _as_our_errors(self._place):
            return int(self._collection.count())

    def rename(self, name: str) -> None:
        with _as_our_errors(self._place):
            self._collection.modify(name=name)


@dataclass(frozen=True, slots=True)
class _Opened:
    """The generation that this process has open, and the stamp of the last write it knows of."""

    name: str
    stamp: str
    client: ChromaClient
    collection: ChromaCollection


class VectorIndex:
    """The index in a folder of this machine, used by any number of processes and threads."""

    def __init__(self, folder: Path, *, fingerprint: str, dimension: int, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        """Touches nothing yet. ``fingerprint`` says what made the vectors: vectors of two fingerprints never mix."""
        self._folder = folder.resolve()
        self._fingerprint = fingerprint
        self._dimension = dimension
        self._lock_timeout_s = lock_timeout_s
        self._opened: _Opened | None = None

    def state(self) -> IndexState:
        """Reads three small files and waits for nobody: ``dirty`` may also mean that another process is writing right now."""
        name = self._current()
        if name is None:
            return "absent"
        if (self._folder / "DIRTY").exists():
            return "dirty"
        written = _read_json(self._folder / name / "generation.json") if name else None
        if written == self._description(name):
            return "dirty" if self._reader_died() else "clean"
        # Another process may have put a new generation in place between the two files.
        return "foreign" if self._current() == name else self.state()

    def generation(self) -> int | None:
        name = self._current()
        return _number(name) if name else None

    def write(
        self, ids: Sequence[str], vectors: NDArray[np.float32], memo_ids: Sequence[str], *, deletes: Sequence[str] = ()
    ) -> None:
        """See ``VectorStore``. On failure, and when killed, the index stays ``dirty``. Costs about 0.1 s however small."""
        records = _checked((ids, vectors, memo_ids), self._dimension)
        gone = _only_deletes(deletes, records)
        if not records.ids and not gone:
            return
        _import_chroma(str(self._folder))
        with self._locked():
            self._refuse_unless_clean()
            self._write_file(self._folder / "DIRTY", "writing")
            opened = self._open_current()
            _write_in_calls(opened.collection, records, gone, _records_per_call(opened.client))
            self._opened = self._stamped(opened)
            self._remove_markers()

    def rebuild(self, batches: Iterable[VectorBatch]) -> None:
        """See ``VectorStore``. About 1,000 vectors per second; other processes wait, or answer without the index."""
        _import_chroma(str(self._folder))
        with self._locked():
            self._release()
            self._remove_generations(keep=self._current())
            name = self._next_name()
            try:
                self._build(name, batches)
            except BaseException:
                shutil.rmtree(self._folder / name, ignore_errors=True)
                raise
            self._write_file(self._folder / "CURRENT", name)
            self._remove_markers()
            self._remove_generations(keep=name)

    def query(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        wanted = _checked_vector(vector, self._dimension)
        with self._reading() as collection:
            found = collection.query(wanted, k) if k > 0 else []
            if len(found) < k and len(found) < LEAST_SHARE_FOUND * min(k, collection.count()):
                raise VectorStoreFailed(path=str(self._folder), reason="its graph has lost most of its vectors")
            return found

    def ids(self) -> set[str]:
        with self._reading() as collection:
            return collection.ids()

    def count(self) -> int:
        with self._reading() as collection:
            return collection.count()

    def close(self) -> None:
        self._release()

    def _current(self) -> str | None:
        """The name in ``CURRENT``; None when there is no such file, empty when what it says cannot be a generation."""
        try:
            text = (self._folder / "CURRENT").read_text("utf-8").strip()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, UnicodeDecodeError):
            return ""
        return text if _GENERATION.fullmatch(text) else ""

    def _description(self, name: str) -> dict[str, object]:
        """What ``generation.json`` of a generation says that this release may open. A newer Chroma's files cannot be read."""
        return {
            "schema": SCHEMA,
            "chromadb": installed_version("chromadb"),
            "fingerprint": self._fingerprint,
            "dimension": self._dimension,
            "generation": _number(name),
        }

    @cached_property
    def _lock(self) -> filelock.BaseFileLock:
        import filelock

        return filelock.FileLock(self._folder / "lock", timeout=self._lock_timeout_s, poll_interval=LOCK_POLL_S)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        import filelock

        began = time.monotonic()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except filelock.Timeout as error:
            raise StateBusy(**_read_holder(self._folder), waited_s=round(time.monotonic() - began, 1)) from error
        except OSError as error:
            raise WriteFailed(path=str(self._folder / "lock"), reason=_reason(error)) from error
        try:
            _write_holder(self._folder)
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _reading(self) -> Iterator[ChromaCollection]:
        """The open collection, under the lock. A failure makes the index ``dirty``: it would fail the next time, too."""
        if self._current() is None:
            raise self._not_usable("absent")
        _import_chroma(str(self._folder))
        with self._locked():
            self._refuse_unless_clean()
            in_use = self._folder / "IN_USE"
            try:
                # Unlike DIRTY it guards against the death of a process only, so it need not reach the disk.
                in_use.touch()
                yield self._open_current().collection
            except VectorStoreFailed:
                self._write_file(self._folder / "DIRTY", "reading failed")
                raise
            except OSError as error:
                raise WriteFailed(path=str(in_use), reason=_reason(error)) from error
            finally:
                in_use.unlink(missing_ok=True)

    def _reader_died(self) -> bool:
        """Whether ``IN_USE`` is there though nobody holds the lock."""
        if not (self._folder / "IN_USE").exists():
            return False
        import filelock

        with suppress(filelock.Timeout), self._lock.acquire(timeout=0):
            return (self._folder / "IN_USE").exists()
        return False

    def _refuse_unless_clean(self) -> None:
        """Under the lock. Raises ``IndexNotUsable`` and lets go of what was open, which may be the damaged one."""
        if (self._folder / "IN_USE").exists():
            self._write_file(self._folder / "DIRTY", "a reader died")
            (self._folder / "IN_USE").unlink()
        state = self.state()
        if state != "clean":
            self._release()
            raise self._not_usable(state)

    def _not_usable(self, state: IndexState) -> IndexNotUsable:
        return IndexNotUsable(path=str(self._folder), reason=_WHY_NOT_USABLE[state], state=state)

    def _open_current(self) -> _Opened:
        """The current generation as its last writer left it: Chroma shows nothing that others wrote since it was opened."""
        name = self._current() or ""
        stamp = _read_text(self._folder / name / "stamp")
        if self._opened is None or (self._opened.name, self._opened.stamp) != (name, stamp):
            self._release()
            client = self._start(self._folder / name)
            self._opened = _Opened(name, stamp, client, _collection_or_close(client))
        return self._opened

    def _start(self, folder: Path) -> ChromaClient:
        return ChromaClient(str(folder), is_persistent=True, persist_directory=str(folder))

    def _release(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.client.close()

    def _stamped(self, opened: _Opened) -> _Opened:
        """Brings the graph files to the disk and tells other processes that they changed. Chroma does neither."""
        folder = self._folder / opened.name
        with self._writing(folder):
            _sync_graphs(folder)
        stamp = os.urandom(8).hex()
        self._write_file(folder / "stamp", stamp)
        return _Opened(opened.name, stamp, opened.client, opened.collection)

    def _build(self, name: str, batches: Iterable[VectorBatch]) -> None:
        folder = self._folder / name
        with self._writing(folder):
            folder.mkdir()
        client = self._start(folder)
        try:
            collection = client.create(_COLLECTION)
            for batch in batches:
                _write_in_calls(collection, _checked(batch, self._dimension), (), _records_per_call(client))
            self._stamped(_Opened(name, "", client, collection))
        finally:
            client.close()
        self._write_file(folder / "generation.json", json.dumps(self._description(name)))

    def _generations(self) -> list[str]:
        return [path.name for path in self._folder.iterdir() if _GENERATION.fullmatch(path.name)]

    def _next_name(self) -> str:
        known = [*self._generations(), self._current() or ""]
        return f"g{max(_number(name) for name in known) + 1:04d}"

    def _remove_generations(self, keep: str | None) -> None:
        """Best effort: where another process's open files cannot be removed (Windows), the next rebuild does it."""
        for name in self._generations():
            if name != keep:
                shutil.rmtree(self._folder / name, ignore_errors=True)

    def _remove_markers(self) -> None:
        with self._writing(self._folder):
            (self._folder / "IN_USE").unlink(missing_ok=True)
            (self._folder / "DIRTY").unlink(missing_ok=True)
            _sync_folder(self._folder)

    def _write_file(self, path: Path, text: str) -> None:
        with self._writing(path):
            _replace_text(path, text)

    @contextmanager
    def _writing(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise WriteFailed(path=str(path), reason=_reason(error)) from error


class ServerVectorIndex:
    """The index in a Chroma server, which guards its own files and shows every client the newest state.

    One collection per vault and fingerprint, so that two machines with different models do not fight over one. A collection
    of a fingerprint that is no longer used stays until someone removes it on the server. A rebuild fills a second collection
    and gives it the first one's name at the end; between the two steps, for milliseconds, the state is ``absent``.
    """

    def __init__(
        self,
        url: str,
        *,
        vault_id: str,
        fingerprint: str,
        dimension: int,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = SERVER_TIMEOUT_S,
    ) -> None:
        """Connects to nothing yet. ``headers`` go with every request, for a proxy that wants a token."""
        self._url = _server_address(url)
        self._fingerprint = fingerprint
        self._dimension = dimension
        self._headers = dict(headers or {})
        self._timeout_s = timeout_s
        self._name = "vb-" + hashlib.blake2b(f"{vault_id}\0{fingerprint}".encode(), digest_size=16).hexdigest()
        self._started: ChromaClient | None = None

    def state(self) -> IndexState:
        """Asks the server; raises ``VectorStoreFailed`` when it does not answer. Never ``dirty``: it keeps itself whole."""
        return self._state_of(self._client().open(self._name))

    def generation(self) -> int | None:
        collection = self._client().open(self._name)
        return _generation_of(collection) if collection else None

    def write(
        self, ids: Sequence[str], vectors: NDArray[np.float32], memo_ids: Sequence[str], *, deletes: Sequence[str] = ()
    ) -> None:
        records = _checked((ids, vectors, memo_ids), self._dimension)
        gone = _only_deletes(deletes, records)
        if records.ids or gone:
            _write_in_calls(self._collection(), records, gone, self._records_per_request())

    def rebuild(self, batches: Iterable[VectorBatch]) -> None:
        """See ``VectorStore``. Of two at once, the later start wins and the other one fails."""
        client = self._client()
        building = f"{self._name}-building"
        generation = (self.generation() or 0) + 1
        client.drop(building)
        collection = client.create(building, {**self._description(), "generation": generation})
        for batch in batches:
            _write_in_calls(collection, _checked(batch, self._dimension), (), self._records_per_request())
        client.drop(self._name)
        collection.rename(self._name)

    def query(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:
        wanted = _checked_vector(vector, self._dimension)
        return self._collection().query(wanted, k) if k > 0 else []

    def ids(self) -> set[str]:
        """A write of someone else between two pages may hide or repeat an id."""
        return self._collection().ids()

    def count(self) -> int:
        return self._collection().count()

    def close(self) -> None:
        started, self._started = self._started, None
        if started is not None:
            started.close()

    def _description(self) -> dict[str, object]:
        return {"schema": SCHEMA, "fingerprint": self._fingerprint, "dimension": self._dimension}

    def _client(self) -> ChromaClient:
        if self._started is None:
            self._started = ChromaClient(
                self._url,
                chroma_api_impl="chromadb.api.fastapi.FastAPI",
                chroma_server_host=self._url,
                # Must be set, but the port in the address counts.
                chroma_server_http_port=urlsplit(self._url).port or 80,
                chroma_server_headers=dict(self._headers),
            )
            self._started.set_timeout(self._timeout_s)
        return self._started

    def _collection(self) -> ChromaCollection:
        """Looked up each time (2 ms), because a rebuild by someone else puts another collection under the name."""
        collection = self._client().open(self._name)
        state = self._state_of(collection)
        if collection is None or state != "clean":
            raise IndexNotUsable(path=self._url, reason=_WHY_NOT_USABLE[state], state=state)
        return collection

    def _state_of(self, collection: ChromaCollection | None) -> IndexState:
        if collection is None:
            return "absent"
        described = {name: value for name, value in collection.metadata.items() if name != "generation"}
        return "clean" if described == self._description() else "foreign"

    def _records_per_request(self) -> int:
        most = max(1, min(MAX_RECORDS_PER_REQUEST, MAX_NUMBERS_PER_REQUEST // self._dimension))
        asked = self._client().max_batch()
        return min(most, asked if asked > 0 else CAUTIOUS_RECORDS_PER_REQUEST)


@contextmanager
def _as_our_errors(place: str) -> Iterator[None]:
    """Chroma's errors as ``VectorStoreFailed``. A panic of its Rust part is no ``Exception``, and must not end the process."""
    try:
        yield
    except VaultbrainError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise VectorStoreFailed(path=place, reason=_reason(error)) from error


def _import_chroma(place: str) -> None:
    """Half a second, so not under the lock; and that it cannot be imported says nothing about the folder."""
    with _as_our_errors(place):
        import chromadb  # noqa: F401


def _reason(error: BaseException) -> str:
    """The first words of a foreign error on one line."""
    return " ".join(str(error).split())[:MAX_REASON_CHARS] or type(error).__name__


def _checked(batch: VectorBatch, dimension: int) -> _Records:
    """The batch with each id once, its last vector counting. Raises ``ValueError`` for a caller's mistake."""
    import numpy as np

    ids, given, memo_ids = batch
    vectors = np.asarray(given, np.float32) if ids else np.empty((0, dimension), np.float32)
    if vectors.shape != (len(ids), dimension) or len(memo_ids) != len(ids):
        raise ValueError(f"{len(ids)} ids, {len(memo_ids)} memo ids, vectors of shape {vectors.shape}, not (n, {dimension})")
    if not np.isfinite(vectors).all():
        raise ValueError("a vector holds NaN or infinity, which would spoil the graph around it")
    last = {chunk_id: row for row, chunk_id in enumerate(ids)}
    if len(last) == len(ids):
        return _Records(ids, vectors, memo_ids)
    rows = list(last.values())
    return _Records(list(last), vectors[rows], [memo_ids[row] for row in rows])


def _checked_vector(vector: NDArray[np.float32], dimension: int) -> NDArray[np.float32]:
    import numpy as np

    wanted = np.asarray(vector, np.float32)
    if wanted.shape != (dimension,) or not np.isfinite(wanted).all():
        raise ValueError(f"a vector of shape {wanted.shape}, or not finite, cannot be looked up among {dimension} dimensions")
    return wanted


def _only_deletes(deletes: Sequence[str], records: _Records) -> list[str]:
    """``deletes``, each once, without what is written."""
    kept = set(records.ids)
    return [chunk_id for chunk_id in dict.fromkeys(deletes) if chunk_id not in kept]


def _write_in_calls(collection: ChromaCollection, records: _Records, gone: Sequence[str], most: int) -> None:
    """Upserts the records and deletes what is gone, at most ``most`` at a time."""
    for start in range(0, len(records.ids), most):
        part = slice(start, start + most)
        collection.upsert(records.ids[part], records.vectors[part], records.memo_ids[part])
    for start in range(0, len(gone), most):
        collection.delete(gone[start : start + most])


def _records_per_call(client: ChromaClient) -> int:
    asked = client.max_batch()
    return min(MAX_RECORDS_PER_CALL, asked) if asked > 0 else MAX_RECORDS_PER_CALL


def _collection_or_close(client: ChromaClient) -> ChromaCollection:
    """The collection of a local folder; closes the client when there is none to be had."""
    collection = None
    try:
        collection = client.open(_COLLECTION)
    finally:
        if collection is None:
            client.close()
    if collection is None:
        raise VectorStoreFailed(path=client.place, reason="the collection is missing")
    return collection


@cache
def _number(name: str) -> int:
    match = _GENERATION.fullmatch(name)
    return int(match[1]) if match else 0


def _generation_of(collection: ChromaCollection) -> int:
    number = collection.metadata.get("generation")
    return number if isinstance(number, int) else 0


def _server_address(url: str) -> str:
    """The address without a name and password: it appears in messages."""
    parts = urlsplit(url if "://" in url else f"http://{url}")
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))


def _read_text(path: Path) -> str:
    """Empty when it cannot be read."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _read_json(path: Path) -> object:
    """None when it cannot be read or is no JSON."""
    try:
        return json.loads(_read_text(path))
    except ValueError:
        return None


def _write_holder(folder: Path) -> None:
    """Only for the words of ``StateBusy``: a failure, for want of space, must not stop a search."""
    with suppress(OSError):
        (folder / "lock.holder").write_text(f"{os.getpid()} {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", "utf-8")


def _read_holder(folder: Path) -> dict[str, object]:
    """Facts ``pid`` and ``since`` of the process that holds the lock, as far as they are known."""
    words = _read_text(folder / "lock.holder").split()
    return {"pid": words[0], "since": words[1]} if len(words) == 2 else {}


def _replace_text(path: Path, text: str) -> None:
    """Writes the file in one step that survives a loss of power. Raises ``OSError``."""
    temporary = path.with_name(f"{path.name}.new")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _sync_folder(path.parent)


def _sync_graphs(generation: Path) -> None:
    """Brings Chroma's graph files to the disk. Its SQLite file syncs itself, and closing a second handle would drop its locks."""
    for folder in [path for path in generation.iterdir() if path.is_dir()]:
        for path in folder.iterdir():
            with path.open("r+b") as file:
                os.fsync(file.fileno())
        _sync_folder(folder)
    _sync_folder(generation)


def _sync_folder(folder: Path) -> None:
    """Brings new and removed names to the disk; Windows does so by itself and cannot open a folder."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
