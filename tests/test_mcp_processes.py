"""MCP servers as processes: what they print and load, how they are cancelled, killed and told to go, and who else is there."""

from __future__ import annotations

import json
import os
import re
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import meanwhile, never_answer, wire_memo
from films import MEMOS as FILMS
from mcp_client import World, connected, inside_fence, maps_of, wired, world
from obsidian import hash_tree
from watching import wait_until, watching

from vaultbrain.index.catalog import Catalog
from vaultbrain.wiring import CATALOG

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.model,
    pytest.mark.skipif(os.name == "nt", reason="the tests end processes with signals"),
]

LIST = "/api/v1/memo"
#: A part of the name of every file that is mapped once the model is loaded.
WEIGHTS = "e5-small"
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="what a process has loaded is read from /proc")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The memos on films, mirrored. The server fails to answer for no longer than two seconds, the time that is waited for it."""
    with world(tmp_path_factory.mktemp("mcp"), [wire_memo(number, text) for number, text in FILMS.items()]) as made:
        done = made.run("sync")
        assert done.returncode == 0, done.stderr
        yield made


@pytest.fixture(autouse=True)
def as_usual(place: World) -> Iterator[None]:
    """No test leaves the server in trouble."""
    yield
    place.cflow.behaviours.clear()


def films_of(page: Any) -> set[str]:
    return {hit["memo_id"] for hit in page["hits"]}


def assert_all_agree(place: World, status: Any) -> None:
    """A further sync has nothing to do, and the catalog, the notes, the vectors and the server hold the same memos."""
    done = place.run("sync", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert [report[name] for name in ("created", "updated", "deleted", "conflicts", "chunks_embedded")] == [0] * 5
    assert status["memos"] == status["notes"] == len(place.cflow.memos)
    assert (status["chunks"], status["memos_to_index"]) == (status["chunks_with_vector"], 0)
    with closing(Catalog(place.state / CATALOG)) as catalog:
        found = catalog.load_memos([str(memo["id"]) for memo in place.cflow.memos])
    contents = {str(memo["id"]): memo["content"] for memo in place.cflow.memos}
    assert {memo_id: memo.content for memo_id, memo in found.items()} == contents


# what it prints and loads


@linux_only
def test_stdout_is_for_the_protocol_and_the_model_comes_late(place: World) -> None:
    """Every line on stdout is JSON-RPC, whatever is called, also when a call fails inside; and the model is in memory after the
    first search by meaning, not before."""
    with wired(place.vault) as wire:
        wire.answer_to(wire.send("tools/list"))
        assert films_of(wire.call("search_cflow_notes", queries=["观影"])) == {"456", "123"}
        wire.call("cflow_brain_status")
        wire.call("recall_gate", text="照片备份的步骤是什么？")
        wire.call("recall_for_conversation", text="照片备份的步骤是什么？", semantic=False)
        wire.call("get_cflow_note", memo_ids=["456"])
        wire.call("auto_sync_if_needed", max_age_s=0)
        assert WEIGHTS not in maps_of(wire.process.pid)
        wire.call("brain_search_cflow", queries=["观影"])
        assert WEIGHTS in maps_of(wire.process.pid)
        catalog, aside = place.state / CATALOG, place.state / "aside"
        catalog.rename(aside)
        catalog.mkdir()
        try:
            failed = wire.answer_to(wire.begin("cflow_brain_status"))
        finally:
            catalog.rmdir()
            aside.rename(catalog)
        assert failed["isError"]
        assert wire.call("cflow_brain_status")["memos"] == len(FILMS)
        for memo_id in ("456", "no-such"):
            wire.answer_to(wire.begin("get_cflow_note", memo_ids=[memo_id]))
        assert "error" in wire.answer_to(wire.send("no/such/method"))
        assert wire.hang_up(5) == 0


def test_lines_that_are_no_json_rpc_are_survived(place: World) -> None:
    """Broken JSON, other JSON, endless lines, wrong versions, unknown methods, odd ids: the server answers the next call."""
    deep = b"[" * 100_000
    lines = [
        b"",
        b" ",
        b"hello",
        b"{",
        b'{"jsonrpc": "2.0"',
        b"null",
        b"true",
        b"[]",
        b"42",
        b'"text"',
        b"{}",
        b'{"jsonrpc": "1.0", "id": 900, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 901}',
        b'{"jsonrpc": "2.0", "id": 902, "method": 7}',
        b'{"jsonrpc": "2.0", "id": {"a": 1}, "method": "ping"}',
        b'{"jsonrpc": "2.0", "id": 904, "method": "tools/call"}',
        b'{"jsonrpc": "2.0", "id": 905, "method": "tools/call", "params": []}',
        b'{"jsonrpc": "2.0", "id": 906, "method": "tools/call", "params": {"name": 7, "arguments": "x"}}',
        b'{"jsonrpc": "2.0", "id": 907, "method": "tools/call", "params": {"name": "recall_gate", "arguments": [1]}}',
        b'{"jsonrpc": "2.0", "id": 908, "method": "' + b"x" * 1_000_000 + b'"}',
        b'{"jsonrpc": "2.0", "id": 909, "method": "resources/read", "params": {"uri": 7}}',
        b'{"jsonrpc": "2.0", "id": 910, "method": "initialize", "params": {}}',
        b'{"jsonrpc": "2.0", "id": 911, "method": "tools/list", "params": {"cursor": "\\ud800"}}',
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 424242}}',
        b'{"jsonrpc": "2.0", "method": "notifications/none"}',
        b'{"jsonrpc": "2.0", "id": 912, "result": {}}',
        b'{"jsonrpc": "2.0", "id": 913, "error": {"code": 1, "message": "x"}}',
        b"\xff\xfe\x00broken \xc3 bytes",
        b'{"jsonrpc": "2.0", "id": 914, "method": "tools/call", "params": {"name": "recall_gate", "arguments": "\\u0000"}}',
        b'{"jsonrpc": "2.0", "id": 915, "method": "tools/call", "params": {"name": "recall_gate", "arguments": {"text": '
        + deep
        + b"}}}",
        b'[{"jsonrpc": "2.0", "id": 916, "method": "ping"}, {"jsonrpc": "2.0", "id": 917, "method": "ping"}]',
        b"x" * 5_000_000,
        b'{"jsonrpc": "2.0", "id": 918, "method": "ping", "method": "ping"}\r',
    ]
    with wired(place.vault) as wire:
        before = hash_tree(place.vault)
        for line in lines:
            wire.write(line)
            assert wire.call("cflow_brain_status")["memos"] == len(FILMS), line[:80]
        assert hash_tree(place.vault) == before


# given up


def test_a_cancelled_call_keeps_nobody_waiting(place: World) -> None:
    """The memo server is silent: searches go on beside a sync and a look-up that hang; both are cancelled, the lanes are free
    again as soon as the silence is over, and nothing was written."""
    with wired(place.vault) as wire:
        wire.call("search_cflow_notes", queries=["观影"])
        before = hash_tree(place.vault)
        place.cflow.behaviours |= dict.fromkeys((LIST, f"{LIST}/stats", f"{LIST}/456", "/api/v1/status"), never_answer())
        asked = len(place.cflow.requests)
        sync, fetch = wire.begin("auto_sync_if_needed", max_age_s=0), wire.begin("get_cflow_note", memo_ids=["456"])
        waiting = wire.begin("get_cflow_note", memo_ids=["123"])
        wait_until(lambda: len(place.cflow.requests) >= asked + 2, "both ask the server")
        assert films_of(wire.call("search_cflow_notes", queries=["观影"])) == {"456", "123"}
        for request in (waiting, sync, fetch):
            wire.cancel(request)
        begun = time.monotonic()
        wire.call("cflow_brain_status")
        assert time.monotonic() - begun < 2
        place.cflow.behaviours.clear()
        assert wire.call("get_cflow_note", memo_ids=["99"])["memos"][0]["came_from"] == "server"
        assert wire.call("auto_sync_if_needed", max_age_s=0)["finished"]
        assert not [request for request in (waiting, sync, fetch) if "result" in str(_answer(wire, request))]
        assert "/api/v1/memo/123" not in place.cflow.paths()[asked:], "a call that had not begun was made all the same"
        assert hash_tree(place.vault) == before


def _answer(wire: Any, request: int) -> Any:
    return next((line for line in wire.lines if line.get("id") == request), None)


def test_a_sync_that_is_given_up_stops_before_it_writes(place: World) -> None:
    """The SDK's client cancels while the server is being asked; the answer that comes after all is not written. The next sync
    does what was given up."""
    released = threading.Event()
    place.cflow.add("a memo that comes late: semaphore", id=700)
    with connected(place.vault) as agent:
        agent.call("cflow_brain_status")
        place.cflow.behaviours[LIST] = [meanwhile(lambda: released.wait(30))]
        asked = len(place.cflow.requests)
        sync = agent.begin("auto_sync_if_needed", max_age_s=0)
        wait_until(lambda: LIST in place.cflow.paths()[asked:], "the sync asks for the memos")
        sync.cancel()
        for _ in range(2):  # what comes after the cancellation is answered after it
            agent.call("cflow_brain_status")
        released.set()
        assert agent.call("auto_sync_if_needed", max_age_s=0)["created"] == 1
        assert films_of(agent.call("search_cflow_notes", queries=["semaphore"])) == {"700"}


# killed, and told to go


def test_kill_and_reconnect(place: World) -> None:
    """kill -9 in the midst of a sync and of an answer: the next server finishes what was begun, and nothing is lost or half."""
    for number in range(800, 815):
        place.cflow.add(f"berth {number}: lanterns, number {number}, on the old pier", id=number)
    with wired(place.vault) as wire:
        wire.begin("auto_sync_if_needed", max_age_s=0)
        notes = place.vault / "CFlow" / "Memos"
        wait_until(lambda: any(notes.rglob("*(80?).md")), "the first notes are written")
        wire.kill()
    with wired(place.vault) as wire:
        wire.begin("ask_cflow_note", question="哪些是观影资源")
        wait_until(lambda: any(_answers(place)), "the note is written")
        wire.kill()
    with connected(place.vault) as agent:
        outcome = agent.call("auto_sync_if_needed", max_age_s=0)
        assert outcome["finished"]
        assert films_of(agent.call("search_cflow_notes", queries=["lanterns"], limit=50, max_bytes=60_000))
        assert len(_answers(place)) == 1
        spared = agent.try_call("ask_cflow_note", question="哪些是观影资源")
        assert "somebody may be writing in it" in spared.lines[0]
        assert re.fullmatch(r"Call ask_cflow_note again in \d+ seconds\.", spared.lines[2])
        os.utime(_answers(place)[0], (1_700_000_000, 1_700_000_000))
        made = agent.call("ask_cflow_note", question="哪些是观影资源")
        assert made["updated"]
        assert [path.name for path in _answers(place)] == [made["path"].rpartition("/")[2]]


def _answers(place: World) -> list[Path]:
    return [path for path in (place.vault / "CFlow" / "Answers").rglob("*.md") if path.is_file()]


@pytest.mark.parametrize("way", ["SIGTERM", "closed stdin"])
def test_a_server_that_is_told_to_goes(place: World, way: str) -> None:
    """Within some seconds though a sync hangs, with exit code 0, no traceback and nothing half-done."""
    with wired(place.vault) as wire:
        wire.call("cflow_brain_status")
        before = hash_tree(place.vault)
        place.cflow.behaviours |= dict.fromkeys((LIST, f"{LIST}/456"), never_answer())
        asked = len(place.cflow.requests)
        wire.begin("auto_sync_if_needed", max_age_s=0)
        wire.begin("get_cflow_note", memo_ids=["456"])
        wait_until(lambda: {LIST, f"{LIST}/456"} <= set(place.cflow.paths()[asked:]), "both ask the server")
        code = wire.terminate(10) if way == "SIGTERM" else wire.hang_up(10)
        assert code == 0
        assert "Traceback" not in wire.said()
        assert hash_tree(place.vault) == before


# all at once


@pytest.mark.slow
@linux_only
def test_two_servers_a_watcher_and_a_sync(place: World) -> None:
    """Two agents search, look up and sync, a watcher runs, the command line syncs, memos change: every answer is right, no error
    is met, and at the end all agree. Each server needs the memory of one model at most."""
    given = {"queries": ["观影", "movie"]}
    with watching(place.vault) as watcher, connected(place.vault) as one, wired(place.vault) as two:
        for turn in range(2):
            place.cflow.edit(77, f"跑步 {turn} 公里 marathon{turn}")
            place.cflow.add(f"turn {turn}: a memo on lighthouses", id=850 + turn)
            running = one.begin("auto_sync_if_needed", max_age_s=0)
            sync = two.begin("auto_sync_if_needed", max_age_s=0)
            assert {"456", "123"} <= films_of(one.call("brain_search_cflow", **given))
            assert {"456", "123"} <= films_of(two.call("brain_search_cflow", **given))
            done = place.run("sync", "--json")
            assert done.returncode == 0, done.stderr
            [memo] = two.call("get_cflow_note", memo_ids=["77"])["memos"]
            assert f"marathon{turn}" in inside_fence(memo["text"])
            answer = running.result(60)
            assert not answer.is_error, answer.text
            assert "structuredContent" in two.answer_to(sync)
            for agent in (one, two):
                assert films_of(agent.call("search_cflow_notes", queries=["lighthouses"])) == {
                    str(850 + n) for n in range(turn + 1)
                }
        assert one.call("cflow_brain_status")["watcher"] == "running"
        status = Path(f"/proc/{two.process.pid}/status").read_text("utf-8")
        assert int(re.search(r"VmRSS:\s+(\d+) kB", status)[1]) < 450_000  # type: ignore[index]
        assert watcher.process.poll() is None
        assert not watcher.said("error"), watcher.lines
        assert watcher.stop() == 0
        assert_all_agree(place, one.call("cflow_brain_status"))
