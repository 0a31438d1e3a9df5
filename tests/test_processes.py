"""Several vaultbrain processes on one vault at the same time: who writes, who waits, what a reader sees.

Every process is a real one, with the small bundled model ``use``, which a subprocess can have, too.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import TOKEN, CFlowServer, meanwhile, wire_memo
from obsidian import hash_tree
from test_kills import LIST, PATIENCE_S, assert_agreement, assert_nothing_to_do, finish, start, wait_for, working

from vaultbrain.index.catalog import Catalog
from vaultbrain.settings import load_settings
from vaultbrain.sync.lock import writing
from vaultbrain.wiring import Brain

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from conftest import Home

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the tests stop and continue processes with signals")

MEMOS = 160
OWNER = "lock-owner.json"
BUSY = re.compile(
    r"^Process \d+ \(\w+\) is writing to this vault's index since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d; waited \d+ s\.$", re.MULTILINE
)


def text_of(number: int, turn: int = 0) -> str:
    return f"berth {number} of harbour {number % 7}, turn {turn}"


@pytest.fixture
def home(server: CFlowServer, make_home: Callable[[str], Home]) -> Home:
    """A vault whose memos are on the server and nowhere else yet. Whoever has to wait has patience."""
    made = make_home(server.url)
    with (made.vault / "vaultbrain.toml").open("a", encoding="utf-8") as file:
        file.write('embedding = "use"\n')
    settings = made.vault / "vaultbrain.toml"
    settings.write_text(
        settings.read_text("utf-8").replace("lock_timeout = 5", f"lock_timeout = {PATIENCE_S:.0f}"), encoding="utf-8"
    )
    server.memos += [wire_memo(number, text_of(number)) for number in range(1, MEMOS + 1)]
    return made


def brain_of(home: Home, **flags: Any) -> Brain:
    """As a program would have it, with the model that the settings name."""
    settings, _ = load_settings(home.vault, environment={}, flags=flags)
    return Brain(settings, environment={"CFLOW_API_TOKEN": TOKEN})


@pytest.fixture
def synced(home: Home) -> Home:
    code, _, err = finish(start(home, "sync"))
    assert code == 0, err
    return home


def count_indexed(home: Home) -> int:
    return len(brain_of(home).manifest())


# all at once


@pytest.mark.slow
@pytest.mark.model
def test_syncs_searches_and_questions_at_the_same_time(server: CFlowServer, home: Home) -> None:
    """Whatever runs beside it, every command ends well or says who is writing; nothing is lost, and the counts never shrink."""
    indexed = 0
    for turn in range(3):
        patience: dict[str, Any] = {"VAULTBRAIN_LOCK_TIMEOUT": "0"} if turn % 2 else {}
        syncs = [start(home, "sync"), start(home, "sync", **patience)]
        readers = [] if turn == 0 else [
            start(home, "search", f"berth {turn}", "--json", "--debug"),
            start(home, "search", "harbour", "--json", "--debug", VAULTBRAIN_EXACT_SEARCH_LIMIT="0"),
            start(home, "ask", f"berth {turn + 3}", "--json", "--debug"),
        ]  # fmt: skip
        ended = [finish(process) for process in syncs]
        for code, out, err in ended:
            assert code == 0 or (code, out) == (1, ""), err
            assert code == 0 or BUSY.search(err), err
        assert 0 in [code for code, _, _ in ended]
        for process in readers:
            code, out, err = finish(process)
            assert code == 0, err
            assert json.loads(out)
        assert count_indexed(home) >= indexed
        indexed = count_indexed(home)
        for number in range(1 + 10 * turn, 6 + 10 * turn):
            server.edit(number, text_of(number, turn + 1))
            server.add(text_of(1_000 + 10 * turn + number, turn + 1))
    code, _, err = finish(start(home, "sync"))
    assert code == 0, err
    assert len(server.memos) == count_indexed(home) == MEMOS + 15
    assert_agreement(home, server.memos, brain_of(home))
    assert_nothing_to_do(home, brain_of(home))


# one writer at a time


@pytest.fixture
def stopped(server: CFlowServer, home: Home) -> Iterator[subprocess.Popen[str]]:
    """A sync that holds the lock and stands still in the middle of its work, until it is told to go on."""
    process = start(home, "sync")
    assert wait_for((home.state / OWNER).exists, "the lock", or_end_of=process)
    assert wait_for(lambda: any(home.memos.glob("*.md")), "its first note", or_end_of=process)
    process.send_signal(signal.SIGSTOP)
    assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
    yield process
    if process.poll() is None:
        process.kill()
        process.communicate()


def test_a_second_sync_waits_and_says_so(stopped: subprocess.Popen[str], server: CFlowServer, home: Home) -> None:
    """The second one speaks at once, writes nothing while it waits, and then finds that the first did the work."""
    waiting = start(home, "sync")
    assert waiting.stderr is not None
    assert waiting.stderr.readline() == "Another vaultbrain is writing; waiting for it.\n"
    assert waiting.poll() is None
    stopped.send_signal(signal.SIGCONT)
    assert finish(stopped)[0] == 0
    code, out, _ = finish(waiting)
    assert (code, out) == (0, f"Nothing to do: {MEMOS} memos, all up to date.\n")
    assert_agreement(home, server.memos, brain_of(home))
    assert not (home.state / OWNER).exists()


def test_a_sync_without_patience_names_who_is_writing(stopped: subprocess.Popen[str], home: Home) -> None:
    """Exit code 1, process, time and command, what was left alone and what to do; vault and state are as before."""
    before = hash_tree(home.vault.parent)
    code, out, err = finish(start(home, "sync", VAULTBRAIN_LOCK_TIMEOUT="0"))
    assert (code, out) == (1, "")
    found = BUSY.search(err)
    assert found
    assert found[0].startswith(f"Process {stopped.pid} (sync) ")
    assert err.endswith("Vault and index are unchanged.\nLet it finish, then run the command again.\n")
    assert hash_tree(home.vault.parent) == before


def test_who_asks_the_server_is_named_too(server: CFlowServer, home: Home) -> None:
    """The lock is held, and its holder known, from before the listing."""
    may_go_on = threading.Event()
    server.behaviours[LIST] = meanwhile(partial(may_go_on.wait, PATIENCE_S))
    holder = start(home, "sync", VAULTBRAIN_TIMEOUT=f"{PATIENCE_S:.0f}")
    assert wait_for(lambda: LIST in server.paths(), "the listing", or_end_of=holder)
    code, _, err = finish(start(home, "sync", VAULTBRAIN_LOCK_TIMEOUT="0"))
    assert code == 1
    assert f"Process {holder.pid} (sync) is writing" in err
    may_go_on.set()
    assert finish(holder)[0] == 0


def test_a_killed_holder_is_not_named(home: Home, server: CFlowServer) -> None:
    """Its lock is free at once; who takes it puts its own name there."""
    home.state.mkdir()
    killed = {"pid": 999_999, "since": "2020-01-01 00:00:00", "command": "sync"}
    (home.state / OWNER).write_text(json.dumps(killed), encoding="utf-8")
    with writing(home.state, timeout_s=0, command="test"):
        _, _, err = finish(start(home, "sync", VAULTBRAIN_LOCK_TIMEOUT="0"))
    assert f"Process {os.getpid()} (test) is writing" in err
    assert not (home.state / OWNER).exists()


def test_reading_needs_no_lock(stopped: subprocess.Popen[str], server: CFlowServer, home: Home) -> None:
    """While a sync stands still with the lock, searching, asking and looking answer, also about a memo that changed since."""
    server.edit(7, "berth 7 has been dredged")
    code, out, err = finish(start(home, "search", "berth 7", "--json", "--channel", "keyword"))
    assert code == 0, err
    assert json.loads(out)["hits"][0]["memo_id"] == "7"
    code, out, err = finish(start(home, "ask", "berth 7", "--json", VAULTBRAIN_EMBEDDING="use"))
    assert code == 0, err
    assert (home.vault / json.loads(out)["path"]).is_file()
    code, out, err = finish(start(home, "status", "--json"))
    assert (code, json.loads(out)["memos"]) == (0, MEMOS)


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_DATA_HOME is the way to move the data folder on Linux only")
def test_a_symlink_to_the_vault_is_the_same_vault(server: CFlowServer, home: Home, tmp_path: Path) -> None:
    """By whatever path the vault is reached, it has one state folder, derived from the real path, and one lock."""
    settings = home.vault / "vaultbrain.toml"
    settings.write_text(settings.read_text("utf-8").replace('state_dir = "../state"\n', ""), encoding="utf-8")
    alias = tmp_path / "alias"
    alias.symlink_to(home.vault, target_is_directory=True)
    data = tmp_path / "data"
    run: Callable[..., subprocess.Popen[str]] = partial(start, home, XDG_DATA_HOME=str(data))
    first, second = run("sync"), run("sync", vault=alias)
    assert [finish(first)[0], finish(second)[0]] == [0, 0]
    assert finish(run("sync", vault=alias))[1] == f"Nothing to do: {MEMOS} memos, all up to date.\n"
    (state,) = (data / "vaultbrain").iterdir()
    assert len(list(home.memos.glob("*.md"))) == MEMOS
    with writing(state, timeout_s=0, command="test"):
        code, _, err = finish(run("sync", vault=alias, VAULTBRAIN_LOCK_TIMEOUT="0"))
    assert code == 1
    assert f"Process {os.getpid()} (test) is writing" in err
    with writing(data / "vaultbrain" / ".." / "vaultbrain" / state.name, timeout_s=0, command="test"):
        assert finish(run("sync", VAULTBRAIN_LOCK_TIMEOUT="0"))[0] == 1


# what a long-lived reader sees


@pytest.mark.slow
@pytest.mark.model
def test_a_long_lived_reader_sees_what_others_wrote(server: CFlowServer, synced: Home) -> None:
    """New, changed and deleted memos, and a whole new index, each made by another process, without being opened anew.

    Both by comparing every chunk and with Chroma, which stays open, proposing candidates.
    """
    with working(brain_of(synced)) as exact, working(brain_of(synced, exact_search_limit=0)) as by_chroma:
        by_chroma._embedder = exact._open_embedder()

        def found(text: str) -> list[str]:
            """Ids of the nearest memos, nearest first, on which both agree."""
            one, other = (brain.search(text, channel="semantic") for brain in (exact, by_chroma))
            assert (one.coverage.degraded, other.coverage.degraded) == ([], [])
            ids = [[hit.memo_id for hit in (*result.hits, *result.nearest)] for result in (one, other)]
            assert ids[0][:3] == ids[1][:3]
            return ids[0]

        found("a recipe for lentil soup")
        server.add("A recipe for lentil soup with cumin", id=2_001)
        server.edit(3, "The museum of clocks is closed on Mondays")
        assert finish(start(synced, "sync"))[0] == 0
        assert found("a recipe for lentil soup")[0] == "2001"
        assert found("when is the museum of clocks closed")[0] == "3"
        server.delete(2_001)
        assert finish(start(synced, "sync"))[0] == 0
        assert "2001" not in found("a recipe for lentil soup")
        server.add("Lentil soup, another recipe, with lemon", id=2_002)
        assert finish(start(synced, "sync", "--full"))[0] == 0
        assert found("a recipe for lentil soup")[0] == "2002"
        assert (exact._store is None, by_chroma._store is None) == (True, False)


# what must not depend on the moment


def test_a_catalog_may_be_opened_by_many_when_it_is_new(tmp_path: Path) -> None:
    """A search that starts while the first sync makes the catalog waits for it; nobody fails, and the schema is whole."""
    together = threading.Barrier(4)
    failures: list[Exception] = []

    def open_it() -> None:
        together.wait()
        try:
            with Catalog(tmp_path / "state" / "catalog.sqlite3") as catalog:
                catalog.memo_marks()
        except Exception as error:  # noqa: BLE001  (the test shows it)
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert failures == []


#: What a search or an answer asks the catalog for.
READS = (
    "counts",
    "folded_tags",
    "match_keywords",
    "memos_containing",
    "document_frequencies",
    "load_vectors",
    "sample_vectors",
    "load_memos",
    "chunk_texts",
    "load_note",
)


class Interruption:
    """Something that happens just before the catalog is read for the ``when``-th time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
        self.when: int | None = None
        self._happens = happens
        for name in READS:
            monkeypatch.setattr(Catalog, name, self._interrupted(getattr(Catalog, name)))

    def _interrupted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def read(*arguments: Any, **named: Any) -> Any:
            if self.when == 0:
                self.when = None
                self._happens()
            elif self.when is not None:
                self.when -= 1
            return real(*arguments, **named)

        return read


@pytest.mark.parametrize("command", ["search", "ask"])
def test_a_sync_between_any_two_reads(
    command: str, server: CFlowServer, make_home: Callable[[str], Home], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process takes a memo away, changes one and brings others while someone searches or asks.

    What is found is what stood there before or what stands there after, never something of both.
    """
    home = make_home(server.url)
    server.memos += [wire_memo(number, f"berth {number}") for number in range(1, 9)]
    home.brain().sync()

    def sync_meanwhile() -> None:
        for number in sorted(memo["id"] for memo in server.memos)[:2]:
            server.delete(number)
        server.edit(max(memo["id"] for memo in server.memos), "berth under repair")
        for _ in range(3):
            server.add(f"berth {len(server.requests)}")
        home.brain().sync()

    def found(brain: Brain) -> tuple[int, list[tuple[str, float, str]]]:
        result = brain.search("berth", top_k=3)
        return result.coverage.memos, [(hit.memo_id, hit.score, hit.excerpt) for hit in result.hits]

    interruption = Interruption(monkeypatch, sync_meanwhile)
    number, was_interrupted = 0, True
    while was_interrupted:
        before, reader = found(home.brain()), home.brain()
        interruption.when = number
        if command == "search":
            among = found(reader)
        else:
            assert (home.vault / reader.ask("berth").path).is_file()
        was_interrupted, interruption.when = interruption.when is None, None
        if command == "search":
            assert among in (before, found(home.brain())), number
        number += 1
    assert number > 5
