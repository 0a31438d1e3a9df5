"""The vector index on real Chroma, in real processes: what is found, what survives a kill, and what is never opened."""

from __future__ import annotations

import json
import multiprocessing
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest
from filelock import FileLock

from vaultbrain.errors import StateBusy, VectorStoreFailed, explain
from vaultbrain.index.vectors import ChromaClient, ChromaCollection, IndexNotUsable, ServerVectorIndex, VectorIndex, VectorStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

DIMENSION = 16
FINGERPRINT = "test-model/1"
PATIENCE_S = 60.0

#: A process that used Chroma hangs after a fork.
spawned = multiprocessing.get_context("spawn")

Batch = tuple[list[str], "np.ndarray[Any, np.dtype[np.float32]]", list[str]]


def corpus(count: int, *, first: int = 0, dimension: int = DIMENSION, seed: int = 0) -> Batch:
    """``count`` chunks, three to a memo, with unit vectors that depend on number and seed alone."""
    numbers = range(first, first + count)
    rows = [np.random.default_rng((seed, number)).standard_normal(dimension) for number in numbers]
    vectors = np.array(rows, np.float32).reshape(count, dimension)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return [f"{n // 3}:chunk:{n % 3}" for n in numbers], vectors, [str(n // 3) for n in numbers]


def nearest(batch: Batch, vector: np.ndarray[Any, Any], k: int) -> list[tuple[str, float]]:
    """What an exact search finds."""
    ids, vectors, _ = batch
    similarities = vectors @ vector
    return [(ids[row], float(similarities[row])) for row in np.argsort(-similarities)[:k]]


def assert_holds(index: VectorStore, batch: Batch, *, probes: int = 20) -> None:
    """The index has exactly these ids, and finds what an exact search finds."""
    assert index.ids() == set(batch[0])
    assert index.count() == len(batch[0])
    for vector in batch[1][:: max(1, len(batch[0]) // probes)]:
        found, expected = index.query(vector, 5), nearest(batch, vector, 5)
        assert [chunk_id for chunk_id, _ in found] == [chunk_id for chunk_id, _ in expected]
        assert [s for _, s in found] == pytest.approx([s for _, s in expected], abs=1e-5)


def wait_for(met: Callable[[], bool], what: str) -> None:
    """Until the condition is met; looks every millisecond."""
    end = time.monotonic() + PATIENCE_S
    while not met():
        assert time.monotonic() < end, f"waited {PATIENCE_S} s for {what}"
        time.sleep(0.001)


def local(folder: Path, **changes: Any) -> VectorIndex:
    return VectorIndex(folder, **{"fingerprint": FINGERPRINT, "dimension": DIMENSION, **changes})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "chroma"


@pytest.fixture
def index(folder: Path) -> Iterator[VectorIndex]:
    with closing(local(folder)) as opened:
        yield opened


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Chroma server of our own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [Path(sys.executable).with_name("chroma"), "run", "--host", "127.0.0.1", "--port", str(port)]
    folder = tmp_path_factory.mktemp("server")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--path", folder / "data"], stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(lambda: answers(address), "the Chroma server")
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def answers(address: str) -> bool:
    try:
        return httpx.get(f"{address}/api/v2/heartbeat").is_success
    except httpx.TransportError:
        return False


@pytest.fixture(params=["folder", "server"])
def store(request: pytest.FixtureRequest, folder: Path) -> Iterator[VectorStore]:
    """An empty place for an index: each contract test runs on both kinds."""
    if request.param == "folder":
        made: VectorStore = local(folder)
    else:
        made = on_server(request.getfixturevalue("server"), vault_id=str(folder))
    with closing(made):
        yield made


def on_server(address: str, *, vault_id: str = "vault", **changes: Any) -> ServerVectorIndex:
    return ServerVectorIndex(address, **{"vault_id": vault_id, "fingerprint": FINGERPRINT, "dimension": DIMENSION, **changes})


class TestContract:
    def test_nothing_is_there_before_the_first_rebuild(self, store: VectorStore) -> None:
        """An index that was never built is absent, and says so instead of answering."""
        assert (store.state(), store.generation()) == ("absent", None)
        for use in (lambda: store.query(corpus(1)[1][0], 3), store.ids, store.count, lambda: store.write(*corpus(1))):
            with pytest.raises(IndexNotUsable) as caught:
                use()
            assert caught.value.facts["state"] == "absent"
        assert store.state() == "absent"

    def test_a_rebuild_holds_exactly_what_it_was_given(self, store: VectorStore) -> None:
        """After a rebuild from several batches each chunk is found with its true similarity, and nothing else is."""
        store.rebuild([corpus(200), corpus(100, first=200)])
        assert (store.state(), store.generation()) == ("clean", 1)
        assert_holds(store, corpus(300))
        store.rebuild([corpus(150, first=100)])
        assert (store.state(), store.generation()) == ("clean", 2)
        assert_holds(store, corpus(150, first=100))

    def test_an_empty_index_answers(self, store: VectorStore) -> None:
        """An index without vectors is an index: it finds nothing, and can be written to."""
        store.rebuild([])
        assert (store.query(corpus(1)[1][0], 5), store.ids(), store.count()) == ([], set(), 0)
        store.write(*corpus(3))
        assert_holds(store, corpus(3))

    def test_writes_add_change_and_remove(self, store: VectorStore) -> None:
        """A write adds new chunks, gives old ones their new vectors, and removes; unknown ids to remove do no harm."""
        store.rebuild([corpus(60)])
        ids, vectors, memo_ids = corpus(30, first=30, seed=1)
        store.write(ids, vectors, memo_ids, deletes=[*corpus(15)[0], "no:such:chunk"])
        kept = corpus(15, first=15)
        assert_holds(store, ([*kept[0], *ids], np.vstack([kept[1], vectors]), [*kept[2], *memo_ids]))

    def test_an_id_given_twice_keeps_its_last_vector(self, store: VectorStore) -> None:
        """The same id twice in a write, or both written and removed, is not an error: the last vector stays."""
        store.rebuild([])
        (first, second), vectors, memo_ids = corpus(2)
        store.write(
            [first, second, first], np.vstack([vectors, -vectors[:1]]), [*memo_ids, memo_ids[0]], deletes=[second, second]
        )
        assert store.ids() == {first, second}
        assert store.query(-vectors[0], 1) == [(first, pytest.approx(1.0))]

    def test_equal_vectors_are_all_kept(self, store: VectorStore) -> None:
        """Chunks with one and the same text have one and the same vector, and each is found under its own id."""
        ids, vectors, memo_ids = corpus(12)
        store.rebuild([(ids, np.repeat(vectors[:1], 12, axis=0), memo_ids)])
        found = store.query(vectors[0], 50)
        assert {chunk_id for chunk_id, _ in found} == set(ids)
        assert all(0.999 < similarity <= 1.0 for _, similarity in found)

    def test_fewer_vectors_than_asked_for(self, store: VectorStore) -> None:
        """A search for more than there are gives all there are, nearest first; a search for none gives none."""
        store.rebuild([corpus(7)])
        vector = corpus(7)[1][3]
        assert [c for c, _ in store.query(vector, 500)] == [c for c, _ in nearest(corpus(7), vector, 7)]
        assert store.query(vector, 0) == []

    def test_only_deletes(self, store: VectorStore) -> None:
        """A write may be without vectors, of whatever shape the empty array is."""
        store.rebuild([corpus(9)])
        store.write([], np.zeros((0, 0), np.float32), [], deletes=corpus(6)[0])
        assert_holds(store, corpus(3, first=6))
        store.write([], np.zeros((0, 0), np.float32), [])
        assert store.count() == 3

    @pytest.mark.parametrize("fault", ["dimension", "count", "memo ids", "not a number"])
    def test_a_callers_mistake_is_found_before_anything_is_touched(self, store: VectorStore, fault: str) -> None:
        """Vectors of a wrong shape, or with NaN in them, are refused and leave a clean index as it was."""
        store.rebuild([corpus(9)])
        ids, vectors, memo_ids = corpus(4, first=20)
        wrong: dict[str, Batch] = {
            "dimension": (ids, vectors[:, :5], memo_ids),
            "count": (ids, vectors[:3], memo_ids),
            "memo ids": (ids, vectors, memo_ids[:1]),
            "not a number": (ids, vectors * np.float32("nan"), memo_ids),
        }
        with pytest.raises(ValueError, match=r"shape|NaN"):
            store.write(*wrong[fault])
        with pytest.raises(ValueError, match="shape"):
            store.query(vectors[:, 0], 3)
        assert store.state() == "clean"
        assert_holds(store, corpus(9))

    def test_a_rebuild_that_is_given_up_leaves_the_old_index(self, store: VectorStore) -> None:
        """An error out of the batches passes through, the old index still answers, and the next rebuild works."""

        def broken() -> Iterator[Batch]:
            yield corpus(20, first=50)
            raise KeyboardInterrupt

        store.rebuild([corpus(30)])
        with pytest.raises(KeyboardInterrupt):
            store.rebuild(broken())
        assert (store.state(), store.generation()) == ("clean", 1)
        assert_holds(store, corpus(30))
        store.rebuild([corpus(20)])
        assert_holds(store, corpus(20))

    def test_another_long_lived_object_sees_everything(
        self, store: VectorStore, request: pytest.FixtureRequest, folder: Path
    ) -> None:
        """Two objects on one index in one process: each sees at once what the other wrote or rebuilt, in turn."""
        twin: VectorStore = (
            local(folder)
            if isinstance(store, VectorIndex)
            else on_server(request.getfixturevalue("server"), vault_id=str(folder))
        )
        with closing(twin):
            store.rebuild([corpus(10)])
            assert_holds(twin, corpus(10))
            for round_, (writer, reader) in enumerate([(store, twin), (twin, store), (store, twin)], start=1):
                writer.write(*corpus(10, first=10 * round_))
                assert_holds(reader, corpus(10 * round_ + 10))
            twin.rebuild([corpus(25, seed=3)])
            assert_holds(store, corpus(25, seed=3))

    def test_closed_and_used_again(self, store: VectorStore) -> None:
        """Closing twice does no harm, and a closed index opens itself again."""
        store.rebuild([corpus(5)])
        store.close()
        store.close()
        assert_holds(store, corpus(5))


class TestDirtyAndForeign:
    def test_a_dirty_folder_is_never_opened(self, index: VectorIndex, folder: Path) -> None:
        """A generation marked DIRTY, full of what would crash Chroma, is not touched; a rebuild makes it clean."""
        index.rebuild([corpus(30)])
        index.close()
        garbage = {path: os.urandom(4096) for path in files_below(folder / "g0001")}
        for path, content in garbage.items():
            path.write_bytes(content)
        (folder / "DIRTY").write_text("")
        assert index.state() == "dirty"
        for use in (lambda: index.query(corpus(1)[1][0], 3), index.ids, lambda: index.write(*corpus(1))):
            with pytest.raises(IndexNotUsable) as caught:
                use()
            assert caught.value.facts["state"] == "dirty"
        assert {path: path.read_bytes() for path in files_below(folder / "g0001")} == garbage
        index.rebuild([corpus(40)])
        assert (index.state(), index.generation()) == ("clean", 2)
        assert_holds(index, corpus(40))
        assert not (folder / "g0001").exists()

    @pytest.mark.parametrize(
        "changed", [{"chromadb": "1.0.21"}, {"chromadb": "99.0.0"}, {"schema": 2}, {"fingerprint": "x"}, {"dimension": 8}]
    )
    def test_a_generation_of_another_make_is_foreign(self, index: VectorIndex, folder: Path, changed: dict[str, Any]) -> None:
        """A generation that another Chroma, another model or a later release made is not opened, but replaced by a rebuild."""
        index.rebuild([corpus(6)])
        described = folder / "g0001" / "generation.json"
        described.write_text(json.dumps(json.loads(described.read_text()) | changed))
        assert index.state() == "foreign"
        with pytest.raises(IndexNotUsable, match="foreign"):
            index.count()
        index.rebuild([corpus(8)])
        assert_holds(index, corpus(8))

    @pytest.mark.parametrize("changed", [{"fingerprint": "other"}, {"dimension": DIMENSION + 1}])
    def test_other_settings_make_it_foreign(self, index: VectorIndex, folder: Path, changed: dict[str, Any]) -> None:
        """An index of another model or dimension is foreign to this one, and stays clean for its own."""
        index.rebuild([corpus(6)])
        assert local(folder, **changed).state() == "foreign"
        assert index.state() == "clean"

    @pytest.mark.parametrize("broken", ["no folder", "no description", "no JSON", "bytes", "CURRENT", "CURRENT bytes", "outside"])
    def test_what_cannot_be_read_is_foreign(self, index: VectorIndex, folder: Path, broken: str) -> None:
        """Missing or unreadable records never stop a rebuild, and CURRENT cannot lead out of the folder."""
        index.rebuild([corpus(6)])
        index.close()
        match broken:
            case "no folder":
                shutil.rmtree(folder / "g0001")
            case "no description":
                (folder / "g0001" / "generation.json").unlink()
            case "no JSON":
                (folder / "g0001" / "generation.json").write_text('{"schema": 1')
            case "bytes":
                (folder / "g0001" / "generation.json").write_bytes(b"\xff\xfe\x00")
            case "CURRENT":
                (folder / "CURRENT").write_text("")
            case "CURRENT bytes":
                (folder / "CURRENT").write_bytes(b"\xff\xff")
            case "outside":
                shutil.copytree(folder / "g0001", folder.parent / "g0001")
                (folder / "CURRENT").write_text("../g0001")
        assert index.state() == "foreign"
        index.rebuild([corpus(8)])
        assert_holds(index, corpus(8))

    def test_state_needs_no_chroma_and_makes_nothing(self, folder: Path) -> None:
        """Asking for the state imports no heavy package and creates no file."""
        script = (
            "import sys, pathlib; from vaultbrain.index.vectors import VectorIndex\n"
            "index = VectorIndex(pathlib.Path(sys.argv[1]), fingerprint='x', dimension=8)\n"
            "print(index.state(), index.generation(), sorted({'chromadb', 'numpy'} & set(sys.modules)))"
        )
        done = subprocess.run([sys.executable, "-c", script, folder], capture_output=True, text=True, check=True)
        assert done.stdout == "absent None []\n"
        assert not folder.exists()

    def test_remains_of_a_killed_rebuild_go_with_the_next_one(self, index: VectorIndex, folder: Path) -> None:
        """Generations that no one finished are removed, and their numbers are not used again."""
        index.rebuild([corpus(3)])
        shutil.copytree(folder / "g0001", folder / "g0007")
        assert index.generation() == 1
        index.rebuild([corpus(4)])
        assert [path.name for path in folder.iterdir() if path.is_dir()] == [f"g{index.generation():04d}"]
        assert_holds(index, corpus(4))


class TestDamage:
    def test_a_graph_that_crashes_the_process_is_opened_once(self, index: VectorIndex, folder: Path) -> None:
        """Damage that nobody marked kills one reader at most: the next one finds its trace and a rebuild heals it."""
        index.rebuild([corpus(1_500)])
        index.close()
        (graph,) = folder.glob("g0001/*/data_level0.bin")
        graph.write_bytes(np.random.default_rng(0).bytes(graph.stat().st_size))
        reader = spawned.Process(target=run_query, args=(folder,))
        reader.start()
        reader.join(PATIENCE_S)
        assert reader.exitcode != 0
        assert index.state() == "dirty"
        with pytest.raises(IndexNotUsable):
            index.query(corpus(1)[1][0], 3)
        index.rebuild([corpus(50)])
        assert_holds(index, corpus(50))

    def test_a_reader_killed_while_reading_leaves_a_trace(self, index: VectorIndex, folder: Path) -> None:
        """A reader that dies with the store open makes the index dirty, for whoever asks or writes next."""
        index.rebuild([corpus(9)])
        (folder / "IN_USE").touch()
        assert index.state() == "dirty"
        with pytest.raises(IndexNotUsable):
            index.write(*corpus(1))
        assert (folder / "DIRTY").exists()
        index.rebuild([corpus(9)])
        assert_holds(index, corpus(9))

    def test_a_reader_at_work_is_no_damage(self, index: VectorIndex, folder: Path) -> None:
        """While another process reads, the state stays clean."""
        index.rebuild([corpus(9)])
        with FileLock(folder / "lock"):
            (folder / "IN_USE").touch()
            with closing(local(folder)) as other:
                seen: list[str] = []
                thread = threading.Thread(target=lambda: seen.append(other.state()))
                thread.start()
                thread.join(PATIENCE_S)
            (folder / "IN_USE").unlink()
        assert seen == ["clean"]

    def test_a_panic_in_rust_is_our_error(self, index: VectorIndex, folder: Path) -> None:
        """A panic, which Python does not count as an Exception, becomes VectorStoreFailed, and the index dirty."""
        index.rebuild([corpus(9)])
        index.close()
        with closing(sqlite3.connect(folder / "g0001" / "chroma.sqlite3")) as db, db:
            db.execute("UPDATE collections SET dimension = 'abc'")
        with pytest.raises(VectorStoreFailed) as caught:
            index.query(corpus(1)[1][0], 3)
        assert type(caught.value.__cause__).__name__ == "PanicException"
        assert not isinstance(caught.value.__cause__, Exception)
        assert caught.value.fact("path")
        assert "mismatched types" in caught.value.fact("reason")
        assert index.state() == "dirty"
        index.rebuild([corpus(9)])
        assert_holds(index, corpus(9))

    @pytest.mark.parametrize("lost", ["chroma.sqlite3", "graph"])
    def test_lost_files_do_not_answer_with_less(self, index: VectorIndex, folder: Path, lost: str) -> None:
        """When Chroma's files are gone from a clean index, a search fails instead of finding little, and a rebuild heals it."""
        index.rebuild([corpus(900), corpus(600, first=900)])
        index.close()
        if lost == "graph":
            (graph,) = folder.glob("g0001/*/data_level0.bin")
            shutil.rmtree(graph.parent)
        else:
            (folder / "g0001" / lost).unlink()
        with pytest.raises(VectorStoreFailed):
            index.query(corpus(1)[1][0], 20)
        assert index.state() == "dirty"
        index.rebuild([corpus(50)])
        assert_holds(index, corpus(50))

    def test_a_failed_write_leaves_it_dirty(self, folder: Path) -> None:
        """When the store breaks in the middle of a write, the index stays dirty until it is rebuilt."""
        with closing(SmallStore(folder, fingerprint=FINGERPRINT, dimension=DIMENSION)) as index:
            index.rebuild([corpus(9)])
            index.calls_left = 2
            with pytest.raises(VectorStoreFailed, match="no space"):
                index.write(*corpus(100))
            assert index.state() == "dirty"
            assert "vaultbrain sync" in explain(VectorStoreFailed(path="p", reason="r")).next
            index.calls_left = None
            index.rebuild([corpus(9)])
            assert_holds(index, corpus(9))

    def test_reading_never_rewrites_the_graph(self, index: VectorIndex, folder: Path) -> None:
        """Opening, searching and closing leave the graph files alone, so that a killed reader cannot break them."""
        index.rebuild([corpus(900), corpus(600, first=900)])
        index.write(*corpus(700, first=1500))
        index.close()
        before = graph_stamps(folder)
        for _ in range(3):
            index.query(corpus(1)[1][0], 50)
            index.ids()
            index.close()
        assert before
        assert graph_stamps(folder) == before

    @pytest.mark.slow
    def test_killed_while_the_graph_is_written(self, folder: Path) -> None:
        """kill -9 at five moments in which Chroma rewrites its graph: each time a rebuild brings everything back."""
        everything = corpus(2_000)
        with closing(local(folder)) as index:
            index.rebuild([everything])
            for moment in range(5):
                writer = spawned.Process(target=write_without_end, args=(folder,))
                writer.start()
                kill_while_persisting(writer, folder, changes=1 + moment)
                assert index.state() == "dirty"
                with pytest.raises(IndexNotUsable):
                    index.query(everything[1][0], 3)
                index.rebuild([everything])
                assert index.ids() == set(everything[0])
                for row in range(moment, 2_000, 97):
                    assert index.query(everything[1][row], 1) == [(everything[0][row], pytest.approx(1.0, abs=1e-5))]


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def graph_stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Size and time of each graph file that is there."""
    stamps = {}
    for path in folder.glob("g*/*/*"):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue
        stamps[path.name] = (status.st_size, status.st_mtime_ns)
    return stamps


def kill_while_persisting(writer: Any, folder: Path, *, changes: int) -> None:
    """Kills the process when the graph files have changed so many times since it began to write."""
    wait_for((folder / "DIRTY").exists, "the writer's first write")
    seen = 0
    before = graph_stamps(folder)

    def enough() -> bool:
        nonlocal before, seen
        now = graph_stamps(folder)
        seen += now != before
        before = now
        return seen >= changes

    wait_for(enough, "the graph to be written")
    os.kill(writer.pid, signal.SIGKILL)
    writer.join(PATIENCE_S)
    assert writer.exitcode == -signal.SIGKILL


def write_without_end(folder: Path) -> None:
    """A process that writes ever more batches in one write, as a long sync does."""
    with closing(local(folder)) as index:
        index.write(*corpus(40_000, first=10_000))


def run_query(folder: Path) -> None:
    with closing(local(folder)) as index:
        for vector in corpus(50)[1]:
            index.query(vector, 10)


class TestManyProcesses:
    def test_two_processes_write_in_turn(self, index: VectorIndex, folder: Path) -> None:
        """Two long-lived writers, each with the store open all the time, lose none of each other's vectors."""
        index.rebuild([])
        with Peer(folder) as other:
            for turn in range(6):
                writer = index if turn % 2 else other
                writer.write(*corpus(150, first=150 * turn))
                assert other.ids() == index.ids() == set(corpus(150 * turn + 150)[0])
            for vector in corpus(900)[1][::90]:
                expected = [chunk_id for chunk_id, _ in nearest(corpus(900), vector, 5)]
                assert [c for c, _ in index.query(vector, 5)] == [c for c, _ in other.query(vector, 5)] == expected
        index.close()
        assert_holds(index, corpus(900))

    def test_two_processes_write_at_once(self, index: VectorIndex, folder: Path) -> None:
        """Writers that do not wait for each other's answer are put in order by the lock; every vector is there at the end."""
        index.rebuild([])
        with Peer(folder) as one, Peer(folder) as two:
            for turn in range(4):
                one.begin("write", *corpus(100, first=200 * turn))
                two.begin("write", *corpus(100, first=200 * turn + 100))
                one.end()
                two.end()
        assert_holds(index, corpus(800))

    def test_a_long_lived_reader_sees_writes_and_generations(self, index: VectorIndex, folder: Path) -> None:
        """A reader in another process finds what was written after it opened the store, and follows a rebuild."""
        index.rebuild([corpus(50)])
        with Peer(folder) as reader:
            assert reader.query(corpus(50)[1][7], 1)[0][0] == corpus(50)[0][7]
            index.write(*corpus(50, first=50), deletes=corpus(10)[0])
            assert reader.query(corpus(100)[1][77], 1) == [(corpus(100)[0][77], pytest.approx(1.0, abs=1e-5))]
            assert reader.query(corpus(100)[1][3], 1)[0][0] not in corpus(10)[0]
            index.rebuild([corpus(60, seed=5)])
            assert not (folder / "g0001").exists()
            assert reader.query(corpus(60, seed=5)[1][9], 1) == [(corpus(60)[0][9], pytest.approx(1.0, abs=1e-5))]
            assert reader.ids() == set(corpus(60)[0])

    def test_a_folder_removed_and_built_again_is_not_confused_with_the_old_one(self, index: VectorIndex, folder: Path) -> None:
        """A reader that has generation 1 open notices that another generation 1 stands in its place."""
        index.rebuild([corpus(20)])
        with Peer(folder) as reader:
            assert reader.count() == 20
            index.close()
            shutil.rmtree(folder)
            index.rebuild([corpus(30, seed=2)])
            assert index.generation() == 1
            assert reader.ids() == set(corpus(30)[0])
            assert reader.query(corpus(30, seed=2)[1][4], 1) == [(corpus(30)[0][4], pytest.approx(1.0, abs=1e-5))]

    def test_a_busy_lock_is_an_error_after_the_timeout(self, index: VectorIndex, folder: Path) -> None:
        """Who waits too long for another process is told which one it is, and nothing was changed."""
        index.rebuild([corpus(5)])
        with Peer(folder) as other, closing(local(folder, lock_timeout_s=0.2)) as impatient:
            other.hold_lock()
            for use in (lambda: impatient.query(corpus(1)[1][0], 3), lambda: impatient.write(*corpus(9)), impatient.count):
                with pytest.raises(StateBusy) as caught:
                    use()
                assert caught.value.fact("pid") == str(other.pid)
                assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", caught.value.fact("since"))
                assert 0.2 <= float(caught.value.fact("waited_s")) < 5
            with pytest.raises(StateBusy):
                impatient.rebuild([corpus(9)])
            other.end()
            assert_holds(impatient, corpus(5))

    def test_a_symlink_is_no_way_around_the_lock(self, index: VectorIndex, folder: Path, tmp_path: Path) -> None:
        """The same folder by another name has the same lock, and the same vectors."""
        index.rebuild([corpus(5)])
        (tmp_path / "alias").symlink_to(folder.parent, target_is_directory=True)
        alias = tmp_path / "alias" / "chroma"
        with Peer(folder) as other, closing(local(alias, lock_timeout_s=0.1)) as through_alias:
            other.hold_lock()
            with pytest.raises(StateBusy):
                through_alias.write(*corpus(5, first=5))
            other.end()
            through_alias.write(*corpus(5, first=5))
            assert other.ids() == set(corpus(10)[0])

    def test_threads_share_one_object(self, index: VectorIndex) -> None:
        """Four threads on one index write and search at once without an error, and nothing is lost."""
        index.rebuild([corpus(40)])

        def work(number: int) -> None:
            for turn in range(3):
                index.write(*corpus(10, first=100 + 30 * number + 10 * turn))
                assert index.query(corpus(40)[1][number], 1)[0][0] == corpus(40)[0][number]

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(work, number) for number in range(4)]:
                done.result(PATIENCE_S)
        assert index.ids() == {*corpus(40)[0], *corpus(120, first=100)[0]}


class Peer:
    """Another process with the index open. Has the index's methods, and can hold its lock."""

    def __init__(self, folder: Path) -> None:
        self._pipe, theirs = spawned.Pipe()
        self._process = spawned.Process(target=serve_index, args=(folder, theirs))
        self._process.start()
        self.pid = self._process.pid

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self._pipe.send(None)
        self._process.join(PATIENCE_S)
        assert self._process.exitcode == 0

    def begin(self, method: str, *arguments: Any) -> None:
        self._pipe.send((method, arguments))

    def end(self) -> Any:
        if self._holding:
            self._holding = False
            self._pipe.send(None)
        assert self._pipe.poll(PATIENCE_S)
        return self._pipe.recv()

    _holding = False

    def hold_lock(self) -> None:
        """Returns when the other process is in the middle of a rebuild, which ``end`` lets it finish."""
        self.begin("hold_lock")
        assert self._pipe.poll(PATIENCE_S)
        assert self._pipe.recv() == "held"
        self._holding = True

    def write(self, *batch: Any) -> None:
        self.begin("write", *batch)
        self.end()

    def query(self, *arguments: Any) -> list[tuple[str, float]]:
        self.begin("query", *arguments)
        return self.end()  # type: ignore[no-any-return]

    def ids(self) -> set[str]:
        self.begin("ids")
        return self.end()  # type: ignore[no-any-return]

    def count(self) -> int:
        self.begin("count")
        return self.end()  # type: ignore[no-any-return]


def serve_index(folder: Path, pipe: Connection) -> None:
    with closing(local(folder)) as index:
        while (call := pipe.recv()) is not None:
            method, arguments = call
            pipe.send(hold_lock(index, pipe) if method == "hold_lock" else getattr(index, method)(*arguments))


def hold_lock(index: VectorIndex, pipe: Connection) -> None:
    """A rebuild that stops before its end and is then given up."""

    def waiting() -> Iterator[Batch]:
        pipe.send("held")
        pipe.recv()
        raise InterruptedError
        yield

    with pytest.raises(InterruptedError):
        index.rebuild(waiting())


class StrictCollection(ChromaCollection):
    """Refuses more records than its store says it takes, as Chroma does, and fails when told to."""

    def __init__(self, place: str, collection: Any, index: SmallStore) -> None:
        super().__init__(place, collection)
        self._index = index

    def upsert(self, ids: Sequence[str], vectors: Any, memo_ids: Sequence[str]) -> None:
        assert len(ids) <= self._index.most
        self._index.count_call(len(ids))
        super().upsert(ids, vectors, memo_ids)

    def delete(self, ids: Sequence[str]) -> None:
        assert len(ids) <= self._index.most
        self._index.count_call(len(ids))
        super().delete(ids)


class SmallStore(VectorIndex):
    """An index on a Chroma that takes only a few records at once."""

    most = 7
    calls_left: int | None = None

    def _start(self, folder: Path) -> ChromaClient:
        index = self
        self.calls: list[int] = []

        class SmallClient(ChromaClient):
            def max_batch(self) -> int:
                return index.most

            def _collection(self, model: Any) -> ChromaCollection:
                return StrictCollection(self.place, super()._collection(model)._collection, index)

        return SmallClient(str(folder), is_persistent=True, persist_directory=str(folder))

    def count_call(self, records: int) -> None:
        self.calls.append(records)
        if self.calls_left is not None and len(self.calls) > self.calls_left:
            raise VectorStoreFailed(path="store", reason="no space left")


class TestSizes:
    def test_twelve_thousand_in_one_write(self, folder: Path) -> None:
        """More records than Chroma takes at once go in with one write and out with another."""
        ids, vectors, memo_ids = corpus(12_000, dimension=8)
        with closing(local(folder, dimension=8)) as index:
            index.rebuild([])
            index.write(ids, vectors, memo_ids)
            assert index.ids() == set(ids)
            assert index.query(vectors[11_111], 1) == [(ids[11_111], pytest.approx(1.0, abs=1e-5))]
            index.write([], vectors[:0], [], deletes=ids[:11_000])
            assert index.ids() == set(ids[11_000:])

    def test_the_store_is_asked_how_many_it_takes(self, folder: Path) -> None:
        """A store that takes seven records at once gets seven at once, in a rebuild, a write and a removal."""
        with closing(SmallStore(folder, fingerprint=FINGERPRINT, dimension=DIMENSION)) as index:
            index.rebuild([corpus(20)])
            assert index.calls == [7, 7, 6]
            index.write(*corpus(15, first=20), deletes=corpus(8)[0])
            assert index.calls == [7, 7, 1, 7, 1]
            assert_holds(index, corpus(27, first=8))


class TestIsolation:
    def test_no_connection_and_no_environment(self, folder: Path, tmp_path: Path) -> None:
        """A local index opens no socket, whatever the environment and a .env in the working folder tell Chroma."""
        (tmp_path / ".env").write_text(
            "CHROMA_API_IMPL=chromadb.api.fastapi.FastAPI\nCHROMA_SERVER_HOST=203.0.113.9\nIS_PERSISTENT=false\n"
            "CHROMA_OTEL_COLLECTION_ENDPOINT=http://203.0.113.9:4317\nCHROMA_OTEL_GRANULARITY=all\nANONYMIZED_TELEMETRY=true\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", OFFLINE, folder], cwd=tmp_path, env=own_environment(), capture_output=True, text=True
        )
        assert (done.returncode, done.stdout) == (0, "7 vectors, events: [], sockets: []\n"), done.stderr

    def test_a_closed_index_holds_no_file(self, index: VectorIndex, folder: Path) -> None:
        """After close, and after each reopening, no handle on the store is left in the process."""
        if not Path("/proc/self/fd").exists():
            pytest.skip("needs /proc")
        index.rebuild([corpus(30)])
        for _ in range(3):
            index.query(corpus(1)[1][0], 3)
            assert open_files(folder)
            index.close()
            wait_for(lambda: not open_files(folder), "the files to be closed")

    def test_small_means_small(self, index: VectorIndex, folder: Path) -> None:
        """Only ids, vectors and memo ids are stored: the index stays near the size of its vectors."""
        index.rebuild([corpus(900)])
        index.close()
        with closing(sqlite3.connect(folder / "g0001" / "chroma.sqlite3")) as db:
            keys = {key for (key,) in db.execute("SELECT DISTINCT key FROM embedding_metadata")}
        assert keys == {"memo_id"}


OFFLINE = """
import os, pathlib, sys
import numpy as np
from vaultbrain.index.vectors import VectorIndex
events = []
watched = {"socket.connect", "socket.getaddrinfo", "socket.bind", "socket.sendto"}
sys.addaudithook(lambda event, arguments: events.append(event) if event in watched else None)
index = VectorIndex(pathlib.Path(sys.argv[1]), fingerprint="f", dimension=4)
vectors = np.eye(7, 4, dtype=np.float32) + 0.1
index.rebuild([([str(n) for n in range(6)], vectors[:6], ["m"] * 6)])
index.write(["6"], vectors[6:], ["m"])
assert len(index.query(vectors[0], 3)) == 3
net = [pathlib.Path("/proc/self/net", kind) for kind in ("tcp", "tcp6", "udp", "udp6")]
known = {line.split()[9] for path in net if path.exists() for line in path.read_text().splitlines()[1:]}
handles = [path for path in pathlib.Path("/proc/self/fd").glob("*") if path.is_symlink()]
links = [os.readlink(path) for path in handles if path.is_symlink()]
print(f"{index.count()} vectors, events: {events}, sockets: {[link for link in links if link[8:-1] in known]}")
index.close()
"""


def own_environment() -> dict[str, str]:
    """The environment in which our package can be imported from any working folder."""
    import vaultbrain

    return {**os.environ, "PYTHONPATH": str(Path(vaultbrain.__file__).parent.parent)}


def open_files(folder: Path) -> list[str]:
    found = []
    for handle in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(handle.readlink()))
        except FileNotFoundError:
            continue
    return [name for name in found if name.startswith(str(folder.resolve() / "g"))]


class TestServer:
    def test_an_unreachable_server_is_our_error(self) -> None:
        """No answer is VectorStoreFailed with the address, without the name and password in it."""
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            with closing(on_server(f"http://name:word@127.0.0.1:{port}/")) as index, pytest.raises(VectorStoreFailed) as caught:
                index.state()
        assert caught.value.fact("path") == f"http://127.0.0.1:{port}"

    def test_a_server_that_does_not_answer(self) -> None:
        """A server that takes the connection and stays silent is given up after the timeout."""
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with closing(on_server(address, timeout_s=0.3)) as index, pytest.raises(VectorStoreFailed):
                index.query(corpus(1)[1][0], 3)

    def test_vaults_and_models_do_not_meet(self, server: str) -> None:
        """Each vault and each fingerprint has its own collection, whatever characters their names have."""
        with (
            closing(on_server(server, vault_id="笔记 / 1")) as one,
            closing(on_server(server, vault_id="笔记 / 2")) as two,
            closing(on_server(server, vault_id="笔记 / 1", fingerprint="other")) as three,
        ):
            one.rebuild([corpus(5)])
            assert (one.state(), two.state(), three.state()) == ("clean", "absent", "absent")
            two.rebuild([corpus(6)])
            three.rebuild([corpus(7)])
            assert (one.count(), two.count(), three.count()) == (5, 6, 7)

    def test_a_collection_of_another_make_is_foreign(self, server: str) -> None:
        """A collection of another dimension under our name is not used; a rebuild replaces it."""
        with (
            closing(on_server(server, vault_id="foreign", dimension=5)) as other,
            closing(on_server(server, vault_id="foreign")) as ours,
        ):
            other.rebuild([corpus(5, dimension=5)])
            assert ours.state() == "foreign"
            with pytest.raises(IndexNotUsable, match="foreign"):
                ours.query(corpus(1)[1][0], 3)
            ours.rebuild([corpus(8)])
            assert ours.generation() == 2
            assert_holds(ours, corpus(8))

    def test_of_two_rebuilds_at_once_one_wins(self, server: str) -> None:
        """A rebuild that another one overtakes fails as a whole; what stands at the end is one of the two, complete."""
        with closing(on_server(server, vault_id="race")) as slow, closing(on_server(server, vault_id="race")) as quick:

            def overtaken() -> Iterator[Batch]:
                yield corpus(10)
                quick.rebuild([corpus(20)])
                yield corpus(10, first=10)

            with pytest.raises(VectorStoreFailed):
                slow.rebuild(overtaken())
            assert_holds(slow, corpus(20))

    def test_more_than_a_request_holds(self, server: str) -> None:
        """Wide vectors go in requests small enough for the server, which refuses more than 40 MB at once."""
        ids, vectors, memo_ids = corpus(1_000, dimension=8192)
        with closing(on_server(server, vault_id="wide", dimension=8192)) as index:
            index.rebuild([])
            index.write(ids, vectors, memo_ids)
            assert index.ids() == set(ids)
            assert index.query(vectors[333], 1) == [(ids[333], pytest.approx(1.0, abs=1e-5))]
