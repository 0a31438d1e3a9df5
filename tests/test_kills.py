"""What kill -9 leaves behind, and that one sync mends it: real processes, the real model, real Chroma.

Three ways to die: by a real kill -9 at moments drawn by lot; by one aimed at Chroma's own writing; and before every single write
of a sync, one after the other, by an error that nothing of ours catches. Each time the next sync has to bring notes, catalog,
manifest and Chroma together again, and a further one must have nothing to do.

``VAULTBRAIN_TEST_SEED`` repeats the choices of a run; the moment of a kill depends on the machine, too.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import TOKEN, CFlowServer, wire_memo
from conftest import Home
from obsidian import Vault, hash_tree
from shell import ROOT, RUN

from vaultbrain.index.catalog import Catalog
from vaultbrain.index.centring import centred_fingerprint
from vaultbrain.index.chunking import text_hash
from vaultbrain.index.embedding import open_embedder
from vaultbrain.index.matrix import centred_matrix
from vaultbrain.index.vectors import ChromaCollection, VectorIndex
from vaultbrain.sync.indexing import EMBED_COMMIT
from vaultbrain.sync.mirror import Mirror
from vaultbrain.vault.note import read_region
from vaultbrain.vault.vault import Vault as VaultOnDisk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from cflow_server import Wire
    from numpy.typing import NDArray

    from vaultbrain.index.embedding import Embedder
    from vaultbrain.sync.report import SyncReport
    from vaultbrain.wiring import Brain

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has neither these signals nor a wheel of the real model")

#: Seconds to wait for anything that has to happen, on a machine that is busy with other things.
PATIENCE_S = 90.0
#: Seconds between two looks.
LOOK_S = 0.001

LIST = "/api/v1/memo"

#: The fields of ``status`` that say that something is left to do or went wrong.
NOTHING_LEFT = ("memos_to_index", "outbox", "conflicts", "removed_notes")

_OUR_ANCHOR = re.compile(r" \^m\d+-\d+$", re.MULTILINE)
_TAG = re.compile(r"#(\w+)")


# processes


def start(home: Home, *words: str, vault: Path | None = None, command: str = RUN, **environment: str) -> subprocess.Popen[str]:
    """A real ``vaultbrain`` process with ``words``, its output in pipes."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("VAULTBRAIN_")}
    return subprocess.Popen(
        [sys.executable, "-c", command, *words, "--vault", str(vault or home.vault)],
        env=inherited
        | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "CFLOW_API_TOKEN": TOKEN, "VAULTBRAIN_TIMEOUT": "20"}
        | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, stdout and stderr, once it ended by itself; no command may show a traceback."""
    out, err = process.communicate(timeout=PATIENCE_S)
    assert "Traceback" not in err, err
    assert "fault of its own" not in err, (process.args, err)
    return process.returncode, out, err


def kill(process: subprocess.Popen[str]) -> bool:
    """kill -9; whether it was still alive."""
    process.kill()
    process.communicate(timeout=PATIENCE_S)
    return process.returncode == -signal.SIGKILL


def wait_for(
    met: Callable[[], bool], what: str, *, or_end_of: subprocess.Popen[str] | None = None, pause_s: float = LOOK_S
) -> bool:
    """Whether the condition was met before the process ended. Fails the test when neither comes."""
    end = time.monotonic() + PATIENCE_S
    while not met():
        if or_end_of and or_end_of.poll() is not None:
            return met()
        assert time.monotonic() < end, f"waited {PATIENCE_S} s for {what}"
        time.sleep(pause_s)
    return True


# what is on disk


def rows(home: Home, query: str) -> list[tuple[Any, ...]]:
    """Rows of the catalog, read as they are: a killed writer's log is left for the next sync to deal with."""
    path = home.state / "catalog.sqlite3"
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        return db.execute(query).fetchall()


def count_vectors(home: Home) -> int:
    try:
        return int(rows(home, "SELECT count(*) FROM vectors")[0][0])
    except sqlite3.OperationalError:  # no catalog, or not whole yet
        return 0


def region_of(text: str) -> str:
    """The memo's text in its note, without our anchors."""
    return _OUR_ANCHOR.sub("", read_region(text) or "")


def stale_notes(home: Home, memos: Sequence[Wire]) -> list[int]:
    """Ids of memos whose newest text no note in our folder shows."""
    shown = {region_of(path.read_text("utf-8")) for path in home.memos.glob("*.md")}
    return [memo["id"] for memo in memos if memo["content"] not in shown]


def note_stamps(home: Home) -> dict[str, int]:
    """Time of change of every note in our folder."""
    try:
        with os.scandir(home.memos) as entries:
            return {entry.name: entry.stat().st_mtime_ns for entry in entries if entry.name.endswith(".md")}
    except FileNotFoundError:
        return {}


def changed_notes(home: Home, before: dict[str, int]) -> int:
    return sum(before.get(name) != stamp for name, stamp in note_stamps(home).items())


def is_dirty(home: Home) -> bool:
    return (home.state / "chroma" / "DIRTY").exists()


# what must hold


@contextmanager
def working(brain: Brain) -> Iterator[Brain]:
    """The brain, and at the end nothing of it open any more, as if its process had ended."""
    try:
        yield brain
    finally:
        if brain._store:
            brain._store.close()


def assert_agreement(home: Home, memos: Sequence[Wire], brain: Brain) -> None:
    """The server's memos, notes, catalog, manifest and Chroma speak of the same memos, chunks and texts; nothing is left over."""
    expected = {str(memo["id"]): memo["content"] for memo in memos}
    assert_notes_show(home, expected)
    status = brain.status()
    assert {name: status[name] for name in NOTHING_LEFT} == dict.fromkeys(NOTHING_LEFT, 0)
    assert (status["vector_store"], status["chunks"]) == ("clean", status["chunks_with_vector"])
    manifest = brain.manifest()
    assert Counter(entry["memo_id"] for entry in manifest) == Counter(list(expected))
    for table in ("memos", "chunked", "notes", "keywords", "gists"):
        assert rows(home, f"SELECT count(*) FROM {table}") == [(len(expected),)], table
    assert {memo_id for (memo_id,) in rows(home, "SELECT memo_id FROM notes")} == set(expected)
    assert rows(home, "SELECT text_hash FROM vectors EXCEPT SELECT text_hash FROM chunks") == []
    assert rows(home, "SELECT memo_id FROM tombstones INTERSECT SELECT id FROM memos") == []
    assert_store_holds(home, brain, {chunk_id for entry in manifest for chunk_id in entry["chunk_ids"]})


def assert_notes_show(home: Home, expected: dict[str, str]) -> None:
    """One note for each memo, with its newest text and nothing else, and properties that fit it; no temporary file is left."""
    vault = Vault.load(home.vault)
    notes = [note for note in vault.notes.values() if note.properties.get("vb_kind") == "memo"]
    assert Counter(note.properties["vb_id"] for note in notes) == Counter(list(expected))
    for note in notes:
        content = expected[note.properties["vb_id"]]
        assert region_of(note.text) == content
        assert note.properties["aliases"] == [content.split("\n")[0]]
        assert note.properties.get("tags", []) == _TAG.findall(content)
    assert vault.problems("CFlow/Memos") == []
    assert not list(home.vault.rglob(".vaultbrain-*"))


def assert_store_holds(home: Home, brain: Brain, chunk_ids: set[str], *, probes: int = 8) -> None:
    """Chroma has exactly these chunks, and for some of them, looked up, the vector that the catalog has."""
    with home.catalog() as catalog:
        stored = catalog.load_vectors(brain.fingerprint)
        known = {chunk_id for (chunk_id,) in rows(home, "SELECT chunk_id FROM chunks")}
    assert {row[0] for row in stored} == known == chunk_ids
    places = {row[0]: number for number, row in enumerate(stored)}
    matrix = centred_matrix(stored, brain.fingerprint)
    folder = home.state / "chroma"
    fingerprint = centred_fingerprint(brain.fingerprint)
    with closing(VectorIndex(folder, fingerprint=fingerprint, dimension=matrix.shape[1])) as index:
        assert index.ids() == chunk_ids
        for number in range(0, len(stored), max(1, len(stored) // probes)):
            (found, similarity), *_ = index.query(matrix[number], 1)
            # Texts that differ may have one vector, as windows of the same words do; then either may come first.
            assert matrix[places[found]] @ matrix[number] == pytest.approx(1.0, abs=1e-4)
            assert similarity == pytest.approx(1.0, abs=1e-4)


def assert_nothing_to_do(home: Home, brain: Brain) -> None:
    """A further sync finds nothing to do, loads no model and changes no byte in the vault or the state."""
    before, times = hash_tree(home.vault.parent), hash_tree(home.vault, with_mtime=True)
    report = brain.sync()
    assert report.is_empty, report
    assert not report.model_loaded
    assert hash_tree(home.vault.parent) == before
    assert hash_tree(home.vault, with_mtime=True) == times


def heal(home: Home, server: CFlowServer, make_brain: Callable[[], Brain]) -> SyncReport:
    """The one clean sync after a death, and the proof that it was enough."""
    with working(make_brain()) as brain:
        report = brain.sync()
    assert not report.is_partial, report
    assert_agreement(home, server.memos, make_brain())
    assert_nothing_to_do(home, make_brain())
    return report


class VectorLedger:
    """Every vector there has been. ``check`` says whether one was computed a second time.

    Computing one again replaces its row, and a replaced row gets a new rowid (all but the very last row of the table).
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self.known: dict[str, tuple[int, bytes]] = {}

    def check(self) -> None:
        """To be called after every run: a vector may come or, with its text, go; it may not change."""
        found = rows(self._home, "SELECT text_hash, rowid, vector FROM vectors") if count_vectors(self._home) else []
        now = {digest: (number, vector) for digest, number, vector in found}
        assert [digest for digest, row in self.known.items() if now.get(digest, row) != row] == []
        self.known = now


@dataclass
class Recorder:
    """The real model, with a record of what it was given."""

    model: Embedder
    texts: list[str] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        return self.model.fingerprint

    @property
    def dimension(self) -> int:
        return self.model.dimension

    @property
    def batch_size(self) -> int:
        return self.model.batch_size

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return self.model.embed_passages(texts)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.model.embed_queries(texts)


@pytest.fixture(scope="module")
def e5() -> Embedder:
    return open_embedder("e5")


@pytest.fixture
def dice() -> random.Random:
    seed = int(os.environ.get("VAULTBRAIN_TEST_SEED") or random.SystemRandom().randrange(10**6))
    print(f"VAULTBRAIN_TEST_SEED={seed}")
    return random.Random(seed)


# killed at any moment


@dataclass
class Author:
    """Someone who writes on the server between two runs. Every text is short, its own and, unless taken back, new."""

    server: CFlowServer
    dice: random.Random
    turn: int = 0
    former: dict[int, str] = field(default_factory=dict)

    def begin(self, count: int) -> None:
        self.server.memos += [wire_memo(number, self._text(number)) for number in range(1, count + 1)]

    def _text(self, number: int) -> str:
        return f"berth {number} turn {self.turn} #t{self.dice.randrange(5)}"

    def write(self, *, edits: int) -> int:
        """Edits, a text taken back, a flag, two new memos and up to two deletions; how many notes that concerns."""
        self.turn += 1
        memos = self.server.memos
        chosen = self.dice.sample(memos, edits + 2)
        for memo in chosen[:edits]:
            self.former[memo["id"]] = memo["content"]
            self.server.edit(memo["id"], self._text(memo["id"]))
        flagged, unloved = chosen[edits:]
        self.server.edit(flagged["id"], pinned=not flagged["pinned"])
        untouched = [number for number in self.former if number not in {memo["id"] for memo in chosen}]
        taken_back = [number for number in untouched[:1] if any(memo["id"] == number for memo in memos)]
        for number in taken_back:
            self.server.edit(number, self.former.pop(number))
        if self.dice.random() < 0.7:
            self.server.delete(unloved["id"])
        for _ in range(2):
            number = 1 + max(memo["id"] for memo in memos)
            memos.append(wire_memo(number, self._text(number)))
        return edits + len(taken_back) + 1 + 2

    def change_their_mind(self) -> None:
        """Takes one text back and writes another one anew: what a killed run has half done is outdated by then."""
        still = [number for number in self.former if any(memo["id"] == number for memo in self.server.memos)]
        for number in self.dice.sample(still, min(1, len(still))):
            self.server.edit(number, self.former.pop(number))
        memo = self.dice.choice(self.server.memos)
        self.server.edit(memo["id"], f"{memo['content'].split(' turn')[0]} turn {self.turn}b #other")


#: When to strike: what has to be seen first, and then a random part of the time that the stage takes; the first times at once, so
#: that each stage is met whatever else the machine is doing.
STAGES = ("listing", "first note", "notes", "first vectors", "Chroma")
AT_ONCE = 3
#: Thirty kills, most of them where a sync of a few memos spends its time.
KILLS = {"listing": 8, "first note": 6, "notes": 6, "first vectors": 3, "Chroma": 7}
#: Edited memos of a round: in those that are to be killed between two batches of vectors, more than one batch.
FEW, MANY = 5, EMBED_COMMIT + 6


@dataclass
class Observed:
    """A running sync as seen from outside."""

    home: Home
    server: CFlowServer
    due: int
    process: subprocess.Popen[str] = field(init=False)

    def __post_init__(self) -> None:
        self._asked = len(self.server.requests)
        self._notes = note_stamps(self.home)
        self._vectors = count_vectors(self.home)
        self.process = start(self.home, "sync")

    def has_reached(self, stage: str) -> bool:
        if stage == "listing":
            return len(self.server.requests) > self._asked
        if stage == "first note":
            return changed_notes(self.home, self._notes) > 0
        if stage == "notes":
            return changed_notes(self.home, self._notes) >= self.due
        return is_dirty(self.home) if stage == "Chroma" else count_vectors(self.home) > self._vectors

    def wait(self, stage: str) -> bool:
        return wait_for(partial(self.has_reached, stage), stage, or_end_of=self.process)


def stage_lengths(observed: Observed) -> dict[str, float]:
    """Seconds that each stage takes on this machine, from a sync that nobody kills."""
    moments = []
    for stage in STAGES:
        assert observed.wait(stage), stage
        moments.append(time.monotonic())
    wait_for(lambda: not is_dirty(observed.home), "the end of Chroma's write")
    moments.append(time.monotonic())
    code, _, err = finish(observed.process)
    assert code == 0, err
    return {stage: after - before for stage, before, after in zip(STAGES, moments, moments[1:], strict=False)}


def state_at_death(home: Home, server: CFlowServer) -> str:
    """How far the killed run had come, by what it left."""
    if is_dirty(home):
        return "in Chroma"
    if stale_notes(home, server.memos):
        return "before the notes were complete"
    uncut = rows(home, "SELECT id, content_hash FROM memos EXCEPT SELECT memo_id, content_hash FROM chunked")
    without = rows(home, "SELECT text_hash FROM chunks EXCEPT SELECT text_hash FROM vectors")
    if uncut or without:
        return "while vectors were incomplete"
    return "between vectors and Chroma" if rows(home, "SELECT * FROM outbox") else "at the end"


@pytest.mark.slow
@pytest.mark.model
def test_killed_at_thirty_moments(server: CFlowServer, home: Home, e5: Embedder, dice: random.Random) -> None:
    """kill -9 anywhere between the listing and the end: one sync heals all, and no vector is ever computed twice."""
    author, ledger, deaths = Author(server, dice), VectorLedger(home), Counter[str]()
    author.begin(70)
    heal(home, server, partial(home.brain, e5))
    lengths = stage_lengths(Observed(home, server, author.write(edits=FEW)))
    ledger.check()
    stages = [stage for stage, count in KILLS.items() for _ in range(count)]
    dice.shuffle(stages)
    for number, stage in enumerate(stages):
        observed = Observed(home, server, author.write(edits=MANY if stage == "first vectors" else FEW))
        if observed.wait(stage):
            time.sleep(dice.uniform(0, lengths[stage]) if stages[:number].count(stage) >= AT_ONCE else 0)
        was_alive = kill(observed.process)
        ledger.check()
        deaths[state_at_death(home, server) if was_alive else "not at all"] += 1
        if number % 3 == 0:
            author.change_their_mind()
        computed = set(ledger.known)
        recorder = Recorder(e5)
        heal(home, server, partial(home.brain, recorder))
        assert computed.isdisjoint(map(text_hash, recorder.texts))
        ledger.check()
    print(lengths, deaths)
    for where in ("before the notes were complete", "while vectors were incomplete", "in Chroma"):
        assert deaths[where] >= AT_ONCE, where


# killed while Chroma writes

#: Chroma writes its graph files every 1,000 records. So many chunks need few texts: equal ones share a vector.
CHUNKS, TEXTS = 1_050, 24
EVERYTHING, GRAPHS = "g*/**/*", "g*/*/*"


def long_memo(number: int, dice: random.Random) -> Wire:
    paragraphs = [f"rope number {dice.randrange(TEXTS)}" for _ in range(CHUNKS)]
    return wire_memo(number, "\n\n".join([f"ropes of turn {number}", *paragraphs]))


def chroma_stamps(home: Home, pattern: str) -> dict[str, tuple[int, int]]:
    """Size and time of change of Chroma's own files."""
    stamps = {}
    for path in (home.state / "chroma").glob(pattern):
        with suppress(FileNotFoundError):
            stat = path.stat()
            stamps[str(path)] = (stat.st_size, stat.st_mtime_ns)
    return stamps


def kill_in_chroma(home: Home, pattern: str, *, changes: int) -> None:
    """Kills a sync when so many changes of these files were seen since it began to write, or to build anew, Chroma's files."""
    generations = set((home.state / "chroma").glob("g*"))
    is_rebuild = is_dirty(home)
    process = start(home, "sync")

    def has_begun() -> bool:
        return bool(set((home.state / "chroma").glob("g*")) - generations) if is_rebuild else is_dirty(home)

    assert wait_for(has_begun, "Chroma's first write", or_end_of=process)
    before, seen = chroma_stamps(home, pattern), 0

    def has_changed() -> bool:
        nonlocal before, seen
        now = chroma_stamps(home, pattern)
        seen += now != before
        before = now
        return seen >= changes

    assert wait_for(has_changed, "Chroma's files to change", or_end_of=process)
    assert kill(process), "it ended before it could be killed"


@pytest.mark.slow
@pytest.mark.model
def test_killed_while_chroma_writes(server: CFlowServer, home: Home, e5: Embedder, dice: random.Random) -> None:
    """Ten deaths in Chroma's own writing, two of them in the rebuild after a death: nothing is trusted that may be torn."""
    server.memos += [wire_memo(number, f"berth {number}") for number in range(1, 11)]
    server.memos.append(long_memo(100, dice))
    ledger = VectorLedger(home)
    heal(home, server, partial(home.brain, e5))
    ledger.check()
    for turn in range(8):
        server.memos[-1] = long_memo(101 + turn, dice)
        if turn % 2:
            kill_in_chroma(home, GRAPHS, changes=1 + turn // 2 % 2)
        else:
            kill_in_chroma(home, EVERYTHING, changes=1 + turn)
        assert is_dirty(home)
        if turn % 4 == 3:
            kill_in_chroma(home, GRAPHS, changes=1 + turn // 4)
            assert is_dirty(home)
        ledger.check()
        report = heal(home, server, partial(home.brain, e5))
        assert report.vectors_rebuilt
        assert report.chunks_embedded == 0  # the new text had its vector before Chroma heard of it
        ledger.check()
    assert len(list((home.state / "chroma").glob("g*"))) == 1


# killed at every write (C29)


class Killed(BaseException):
    """The end of the process, as far as our code can tell: nothing of ours catches it."""


#: Everything that changes a file or the catalog for good. What is written within one transaction is one write.
WRITES: dict[type, tuple[str, ...]] = {
    Catalog: ("transaction", "write_note", "write_vectors", "delete_memo", "clear_outbox", "prune_vectors", "write_meta"),
    Mirror: ("write", "_commit"),
    VaultOnDisk: ("create", "replace", "move_to_trash"),
    VectorIndex: ("write", "rebuild", "_stamped", "_write_file", "_remove_markers", "_remove_generations"),
    ChromaCollection: ("upsert", "delete"),
}

#: The break points of the case, and one for every layer of ours: a change of names must not make the test look away.
MUST_BE_MET_FIRST = {
    "Mirror.write",  # memos recorded, no note written
    "VaultOnDisk.create",
    "Mirror._commit",  # notes written, their rows not
    "Catalog.write_vectors",  # before the first vector; between two chunks of one memo
    "VectorIndex.rebuild",  # all vectors in the catalog, none in Chroma
    "ChromaCollection.upsert",  # in the middle of a write to Chroma
    "Catalog.clear_outbox",  # told, but not ticked off
}
MUST_BE_MET_LATER = (MUST_BE_MET_FIRST - {"VectorIndex.rebuild"}) | {
    "VaultOnDisk.move_to_trash",
    "Catalog.delete_memo",  # the note in the trash, its memo still on record
    "VaultOnDisk.replace",
    "VectorIndex.write",
    "ChromaCollection.delete",
    "Catalog.prune_vectors",  # new vectors up, old ones not yet down
}


class Steps:
    """Counts every write of a sync, and ends the sync before the one with the number ``kill_at``, or the first of that name."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.passed: list[str] = []
        self.kill_at: int | str | None = None
        for kind, names in WRITES.items():
            for name in names:
                monkeypatch.setattr(kind, name, self._counting(kind, name))

    def _counting(self, kind: type, name: str) -> Callable[..., Any]:
        real = getattr(kind, name)
        label = f"{'VaultOnDisk' if kind is VaultOnDisk else kind.__name__}.{name}"

        def step(*arguments: Any, **named: Any) -> Any:
            if name == "write_note" and arguments[0]._db.in_transaction:
                return real(*arguments, **named)
            self.passed.append(label)
            if self.kill_at in (len(self.passed) - 1, label):
                raise Killed(label)
            return real(*arguments, **named)

        return step

    def run(self, brain: Brain, *, kill_at: int | str) -> bool:
        """Whether the sync was killed."""
        self.passed, self.kill_at = [], kill_at
        try:
            with working(brain):
                brain.sync()
        except Killed:
            return True
        finally:
            self.kill_at = None
        return False


def before_the_kill() -> list[Wire]:
    """The case's memos before, and one that will change and change back."""
    texts = {621: "para one\n\npara two\n\npara three", 622: "to be deleted", 623: "to be changed: old", 625: "there #and"}
    return [wire_memo(number, text) for number, text in texts.items()]


def during_the_kill() -> list[Wire]:
    """One grown, one deleted, one changed, one new."""
    texts = {
        621: "para one\n\npara two\n\npara three\n\npara four",
        623: "to be changed: new",
        624: "brand new",
        625: "and back #again",
    }
    return [wire_memo(number, text, updatedTs=1_800_000_000) for number, text in texts.items()]


def after_another_change() -> list[Wire]:
    """What the server may hold by the time of the next sync: a text that came back, a memo that came back, newer texts."""
    texts = {
        621: "fresh title\n\npara two\n\npara four",
        622: "to be deleted",
        623: "to be changed: newest #tag",
        624: "brand newer",
    }
    as_before = wire_memo(625, "there #and")  # to the last field
    return [*(wire_memo(number, text, updatedTs=1_900_000_000) for number, text in texts.items()), as_before]


@dataclass
class Trial:
    """A home in the state before the kill, as often as one likes."""

    origin: Home
    begun: int = 0

    def begin(self) -> Home:
        self.begun += 1
        folder = self.origin.vault.parent
        copied = shutil.copytree(folder, folder.with_name(f"{folder.name}-{self.begun}"))
        return Home(copied / self.origin.vault.name, self.origin.source)

    @property
    def is_synced(self) -> bool:
        return self.origin.state.exists()


@pytest.fixture
def trial(request: pytest.FixtureRequest, server: CFlowServer, make_home: Callable[[str, str], Home]) -> Trial:
    """Before the first sync, or after one."""
    origin = make_home(server.url, "origin/vault")
    server.memos[:] = before_the_kill()
    if request.param == "after a sync":
        with working(origin.brain()) as brain:
            brain.sync()
    return Trial(origin)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("trial", "then"),
    [("after a sync", during_the_kill), ("after a sync", after_another_change), ("from nothing", after_another_change)],
    indirect=["trial"],
)
def test_killed_before_each_write(
    trial: Trial, then: Callable[[], list[Wire]], server: CFlowServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever write is the first that does not happen, the next sync brings everything to what the server has by then."""
    monkeypatch.setattr("vaultbrain.sync.indexing.EMBED_COMMIT", 1)
    steps = Steps(monkeypatch)
    met = set[str]()
    kill_at, was_killed = 0, True
    while was_killed:
        home = trial.begin()
        server.memos[:] = during_the_kill()
        was_killed = steps.run(home.brain(), kill_at=kill_at)
        last = steps.passed[-1]
        met.add(last)
        try:
            server.memos[:] = then()
            heal(home, server, home.brain)
            assert_finds_only_what_is_there(home, server.memos)
        except BaseException as error:
            error.add_note(f"killed before write {kill_at}, {last}" if was_killed else "not killed")
            raise
        kill_at += 1
    assert met >= (MUST_BE_MET_LATER if trial.is_synced else MUST_BE_MET_FIRST)
    print(f"killed before each of {kill_at - 1} writes")


@pytest.mark.parametrize("trial", ["after a sync"], indirect=True)
def test_killed_twice_while_a_memo_changes_twice(trial: Trial, server: CFlowServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A note written but not recorded, then one recorded but not written: no text of ours passes for the person's."""
    steps = Steps(monkeypatch)
    home = trial.begin()
    server.memos[:] = during_the_kill()
    assert steps.run(home.brain(), kill_at="Mirror._commit")
    server.memos[:] = after_another_change()
    assert steps.run(home.brain(), kill_at="VaultOnDisk.replace")
    for memo in server.memos:
        server.edit(memo["id"], f"{memo['content']}, in the end")
    heal(home, server, home.brain)


@pytest.mark.slow
@pytest.mark.parametrize("trial", ["after a sync"], indirect=True)
def test_killed_while_taking_on_the_notes_of_a_lost_catalog(
    trial: Trial, server: CFlowServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether all of the notes were taken on, or none: each is found, none is written a second time, and nothing clashes."""
    shutil.rmtree(trial.origin.state)
    (trial.origin.vault / "mine").mkdir()
    for path in list(trial.origin.memos.glob("*.md"))[1:]:
        path.rename(trial.origin.vault / "mine" / path.name)
    steps, kill_at = Steps(monkeypatch), 0
    while "Mirror._commit" not in steps.passed:
        home = trial.begin()
        assert steps.run(home.brain(), kill_at=kill_at)
        seen = list(steps.passed)
        heal(home, server, home.brain)
        steps.passed, kill_at = seen, kill_at + 1
    assert kill_at > 3


def assert_finds_only_what_is_there(home: Home, memos: Sequence[Wire]) -> None:
    """Each paragraph is found, and nothing that is shown is a text that its memo no longer has."""
    contents = {str(memo["id"]): memo["content"] for memo in memos}
    brain = home.brain()
    for memo_id, content in contents.items():
        for paragraph in content.split("\n\n"):
            found = brain.search(paragraph)
            assert memo_id in [hit.memo_id for hit in found.hits], paragraph
            for hit in (*found.hits, *found.nearest):
                assert all(line in contents[hit.memo_id] for line in hit.excerpt.split("\n")), hit


# a note cut in half, and asked to stop

#: Dies by its own hand in the middle of writing the fourth note: the temporary file is written, the rename not made.
_DIE_HALFWAY = """
import os, pathlib, signal
real, notes = pathlib.Path.replace, []
def replace(path, target):
    notes.extend([target] * path.name.startswith(".vaultbrain-"))
    if len(notes) == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(path, target)
pathlib.Path.replace = replace
"""


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["in our folder", "in a folder of the person's"])
def test_a_note_half_written_leaves_nothing_behind(server: CFlowServer, home: Home, *, is_elsewhere: bool) -> None:
    """The temporary file of a killed run is gone after the next sync, also beside notes that the person moved."""
    server.memos += [wire_memo(number, f"memo {number}") for number in range(1, 9)]
    home.brain().sync()
    if is_elsewhere:
        (home.vault / "mine").mkdir()
        for path in home.memos.glob("*.md"):
            path.rename(home.vault / "mine" / path.name)
        home.brain().sync()
    for memo in server.memos:
        server.edit(memo["id"], f"{memo['content']}, edited")
    process = start(home, "sync", command=_DIE_HALFWAY + RUN)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == -signal.SIGKILL
    assert len(list(home.vault.rglob(".vaultbrain-*"))) == 1
    heal(home, server, home.brain)


@pytest.mark.slow
@pytest.mark.model
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop_while_computing_vectors(server: CFlowServer, home: Home, e5: Embedder, number: signal.Signals) -> None:
    """It ends within ten seconds, says what is left and how to go on, keeps what it has, and the next sync computes the rest."""
    count = 3 * EMBED_COMMIT
    server.memos += [wire_memo(n, f"berth {n}") for n in range(1, count + 1)]
    ledger = VectorLedger(home)
    process = start(home, "sync")
    assert wait_for(lambda: count_vectors(home) > 0, "the first vectors", or_end_of=process)
    asked = time.monotonic()
    process.send_signal(number)
    code, out, err = finish(process)
    assert time.monotonic() - asked < 10
    ledger.check()
    left = count - len(ledger.known)
    assert 0 < left < count
    assert (code, out) == (130, "")
    assert err.splitlines() == [
        f"Stopped; {left} chunks still wait for a vector.",
        "Everything finished so far is kept.",
        "Go on with: vaultbrain sync",
    ]
    assert stale_notes(home, server.memos) == []
    code, out, err = finish(start(home, "sync", "--json"))
    assert code == 0, err
    assert json.loads(out)["chunks_embedded"] == left
    ledger.check()
    assert_agreement(home, server.memos, home.brain(e5))
    assert_nothing_to_do(home, home.brain(e5))
