"""Where the tools' work is done: a lane gets its brain ready in advance, gives memory back when idle, and survives any fault."""

from __future__ import annotations

import asyncio
from contextlib import closing
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NoReturn

import mcp.types as protocol
import pytest
from cflow_server import wire_memo

from vaultbrain.errors import VaultNotFound
from vaultbrain.mcp import lanes
from vaultbrain.mcp.lanes import Lane
from vaultbrain.mcp.server import Desk, _Handlers

if TYPE_CHECKING:
    from cflow_server import CFlowServer
    from conftest import Home

    from vaultbrain.wiring import Brain


@pytest.fixture
def synced(server: CFlowServer, home: Home) -> Home:
    server.memos += [wire_memo(1, "观影片单"), wire_memo(2, "backup strategy")]
    home.brain().sync()
    return home


def tables_of(lane: Lane) -> Any:
    """What the lane's brain keeps from one search to the next, after all that the lane was told before."""
    return asyncio.run(lane.run(lambda brain, _: brain._tables))


def test_a_lane_gets_ready_before_the_first_call(synced: Home) -> None:
    """One brain is opened and searched with, which loads all but the model; the first call has this very brain."""
    opened: list[Brain] = []

    def open_brain() -> Brain:
        opened.append(synced.brain())
        return opened[-1]

    with closing(Lane("test", open_brain)) as lane:
        lane.warm_up()
        assert tables_of(lane) is not None
        assert len(opened) == 1


def test_getting_ready_does_nothing_before_a_sync(home: Home) -> None:
    """Nothing is made in a vault that was never mirrored."""
    home.brain().warm_up()
    assert not home.state.exists()


def test_what_stands_in_the_way_is_told_by_the_first_call() -> None:
    """A brain that cannot be opened in advance harms nothing; the call says why."""

    def fail() -> NoReturn:
        raise VaultNotFound(path="/nowhere")

    with closing(Lane("test", fail)) as lane:
        lane.warm_up()
        with pytest.raises(VaultNotFound):
            tables_of(lane)


def test_an_idle_lane_gives_memory_back(synced: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """When no call came for a while, not before; and the next call is answered as ever."""
    with closing(Lane("test", synced.brain)) as lane:
        asyncio.run(lane.run(lambda brain, _: brain.search("观影")))
        lane.rest_if_idle()
        assert tables_of(lane) is not None
        monkeypatch.setattr(lanes, "REST_AFTER_S", -1.0)
        lane.rest_if_idle()
        assert tables_of(lane) is None
        found = asyncio.run(lane.run(lambda brain, _: brain.search("观影")))
        assert [hit.memo_id for hit in found.hits] == ["1"]


def test_a_fault_of_ours_is_a_result_in_three_lines(caplog: pytest.LogCaptureFixture) -> None:
    """It does not claim that nothing was written, shows nothing of the fault, and leaves that to the log."""

    def fail() -> NoReturn:
        raise ZeroDivisionError("with a secret in it")

    desk = Desk(fail, fail)
    with closing(desk):
        params = protocol.CallToolRequestParams(name="cflow_brain_status", arguments={})
        result = asyncio.run(_Handlers(desk).call_tool(SimpleNamespace(meta=None), params))
    assert result.is_error
    [content] = result.content
    assert isinstance(content, protocol.TextContent)
    what, untouched, following = content.text.split("\n")
    assert (what, untouched) == ("vaultbrain met a fault of its own.", "What was finished before it is kept.")
    assert "log" in following
    assert "secret" not in content.text
    assert "ZeroDivisionError" in caplog.text
