"""The MCP server: the tools and the newest answers, spoken over the official SDK. With ``mcp.http`` the only door to it.

Decides how results, errors and resources look on the wire: a result is JSON, the same as structured content and as text; an error
is a result, too, in three lines (what happened, what was left untouched, what to do next), so that a model can act on it. stdout
belongs to the protocol alone. Refuses to hold anything between two calls: whoever reconnects finds all as it was.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import re
import signal
import sys
import time
from contextlib import asynccontextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, cast

from vaultbrain.errors import OwnFault, UsageProblem, VaultbrainError, explain
from vaultbrain.index.installed import installed_version
from vaultbrain.mcp.arguments import schema_of as arguments_schema
from vaultbrain.mcp.fence import Fence
from vaultbrain.mcp.lanes import Lane
from vaultbrain.mcp.paging import compact_json
from vaultbrain.mcp.results import as_json
from vaultbrain.mcp.results import schema_of as result_schema
from vaultbrain.mcp.tools import FETCHING, INSTRUCTIONS, READING, TOOLS, WRITING
from vaultbrain.sync.report import no_progress

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import mcp.types as protocol
    from mcp.server.lowlevel import Server

    from vaultbrain.mcp.lanes import Work
    from vaultbrain.mcp.tools import Tool
    from vaultbrain.sync.report import Progress
    from vaultbrain.wiring import Brain

NAME = "vaultbrain"
#: Answers that are listed as resources, and what their addresses begin with.
NEWEST_ANSWERS = 10
ANSWERS_AT = "cflow://answers/"
#: Seconds between two looks whether a lane is idle.
_LOOK_S = 30.0
#: Seconds between two reports of how far a call is.
_TELL_S = 0.3

_log = logging.getLogger("vaultbrain.mcp")


class Desk:
    """Runs the tools' calls, each in its lane. ``open_reading`` and ``open_background`` open a brain of the same vault.

    What only looks uses the first; what asks or writes the second, which spares notes that are being edited and waits for a
    server in trouble once.
    """

    def __init__(self, open_reading: Callable[[], Brain], open_background: Callable[[], Brain]) -> None:
        self._lanes = {
            READING: Lane(READING, open_reading),
            FETCHING: Lane(FETCHING, open_background),
            WRITING: Lane(WRITING, open_background),
        }

    async def call(self, tool: Tool, given: dict[str, Any], progress: Progress) -> Any:
        """The tool's result as JSON. Raises ``VaultbrainError``."""
        values = tool.read(given)
        return as_json(await self._lanes[tool.lane].run(lambda brain, work: tool.call(brain, values, work), progress))

    async def look(self, call: Callable[[Brain, Work], Any]) -> Any:
        return await self._lanes[READING].run(call)

    def warm_up(self) -> None:
        """Makes searches ready, all but the model, while the client is still thinking of its first call."""
        self._lanes[READING].warm_up()

    async def rest_when_idle(self) -> None:
        """Runs until it is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_S)
            for lane in self._lanes.values():
                lane.rest_if_idle()

    def close(self) -> None:
        """Running calls are told to stop, all at once, and waited for."""
        for lane in self._lanes.values():
            lane.give_up()
        for lane in self._lanes.values():
            lane.close()


def load_sdk() -> None:
    """Imports the SDK, a second of making classes: without looking for garbage among them, and without what each may never need.

    Pydantic builds the validators of a class when it is first used if ``defer_build`` is set where the class is made.
    """
    from pydantic import BaseModel, ConfigDict

    usual = BaseModel.model_config
    gc.disable()
    BaseModel.model_config = ConfigDict(defer_build=True)
    try:
        import mcp.server.lowlevel
        import mcp.server.stdio  # noqa: F401
    finally:
        BaseModel.model_config = usual
        gc.freeze()
        gc.enable()


def build_server(desk: Desk) -> Server[Any]:
    """The server, ready for any transport. Whoever runs it also closes the desk."""
    load_sdk()
    from mcp.server.lowlevel import Server

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        desk.warm_up()
        resting = asyncio.create_task(desk.rest_when_idle())
        try:
            yield {}
        finally:
            resting.cancel()

    handlers = _Handlers(desk)
    return Server(
        NAME,
        version=installed_version(NAME) or "0",
        title="vaultbrain",
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_read_resource=handlers.read_resource,
    )


class _Handlers:
    """What the protocol asks for. The SDK's types are imported where they are made: it takes a second to load."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._tools = {tool.name: tool for tool in TOOLS}

    async def list_tools(self, context: Any, params: Any) -> protocol.ListToolsResult:  # noqa: ARG002
        import mcp.types as protocol

        return protocol.ListToolsResult(tools=[_tool_as_listed(tool) for tool in TOOLS])

    async def call_tool(self, context: Any, params: protocol.CallToolRequestParams) -> protocol.CallToolResult:
        import mcp.types as protocol

        tool = self._tools.get(params.name)
        if tool is None:
            return _failed(UsageProblem(what="There is no tool of that name.", next=f"Use one of: {', '.join(self._tools)}."))
        try:
            result = await self._desk.call(tool, params.arguments or {}, _progress_teller(context))
        except VaultbrainError as error:
            return _failed(error)
        except Exception:  # noqa: BLE001  (a fault of ours must reach the model as a result, and the log with its traceback)
            _log.exception("%s failed", tool.name)
            return _failed(OwnFault(next=_AFTER_OWN_FAULT))
        text = protocol.TextContent(type="text", text=compact_json(result))
        return protocol.CallToolResult(content=[text], structured_content=result)

    async def list_resources(self, context: Any, params: Any) -> protocol.ListResourcesResult:  # noqa: ARG002
        import mcp.types as protocol

        rows = await _for_protocol(self._desk.look(lambda brain, _: brain.newest_answers(NEWEST_ANSWERS)))
        return protocol.ListResourcesResult(
            resources=[
                protocol.Resource(
                    uri=f"{ANSWERS_AT}{row.answer_id}",
                    name=row.path.rpartition("/")[2].removesuffix(".md"),
                    title=row.question[:_TITLE_CHARS],
                    description=f"Answer note of {row.asked.replace('T', ' ')}, {row.status}",
                    mime_type="text/markdown",
                )
                for row in rows
            ]
        )

    async def read_resource(self, context: Any, params: protocol.ReadResourceRequestParams) -> protocol.ReadResourceResult:  # noqa: ARG002
        import mcp.types as protocol
        from mcp.shared.exceptions import MCPError

        answer_id = str(params.uri).removeprefix(ANSWERS_AT)
        found = await _for_protocol(self._desk.look(lambda brain, _: brain.read_answer(answer_id)))
        if found is None:
            raise MCPError(protocol.INVALID_PARAMS, "There is no such answer note. List the resources to see those there are.")
        row, note = found
        fence = Fence([note])
        text = f"{fence.rule} It is the answer note {row.path}.\n\n{fence(note)}\n"
        contents = protocol.TextResourceContents(uri=params.uri, mime_type="text/markdown", text=text)
        return protocol.ReadResourceResult(contents=[contents])


#: Characters of a question that a list of resources shows.
_TITLE_CHARS = 120
_AFTER_OWN_FAULT = "Try another tool, or the command line; the server's log (stderr) says where. Please report it."


def _failed(error: VaultbrainError) -> protocol.CallToolResult:
    import mcp.types as protocol

    return protocol.CallToolResult(content=[protocol.TextContent(type="text", text=_in_words(error))], is_error=True)


def _in_words(error: VaultbrainError) -> str:
    """Three lines, also where one of them is a list."""
    words = explain(error)
    return "\n".join(" ".join(part.split()) for part in (words.what, words.untouched, words.next))


async def _for_protocol(awaited: Any) -> Any:
    """Resources have no results that are errors: ours become the protocol's, in the same words."""
    import mcp.types as protocol
    from mcp.shared.exceptions import MCPError

    try:
        return await awaited
    except VaultbrainError as error:
        raise MCPError(protocol.INTERNAL_ERROR, _in_words(error)) from error


def _progress_teller(context: Any) -> Progress:
    """Tells the caller how far a call is, from the lane's thread, now and then; one that did not ask hears nothing."""
    if (context.meta or {}).get("progress_token") is None:
        return no_progress
    loop = asyncio.get_running_loop()
    last = ("", 0.0)

    def tell(stage: str, done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if stage == last[0] and now - last[1] < _TELL_S:
            return
        last = (stage, now)
        asyncio.run_coroutine_threadsafe(context.session.report_progress(done, total or None, stage), loop)

    return tell


def _tool_as_listed(tool: Tool) -> protocol.Tool:
    import mcp.types as protocol

    hints = protocol.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.reads_only,
        destructive_hint=False,
        idempotent_hint=tool.is_idempotent,
        open_world_hint=tool.opens_world,
    )
    return protocol.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.about,
        input_schema=arguments_schema(tool.arguments),
        output_schema=result_schema(tool.result),
        annotations=hints,
    )


def serve_stdio(desk: Desk) -> None:
    """Speaks the protocol over stdin and stdout until the client goes or a signal comes; running calls end at a safe point."""
    asyncio.run(_serve_stdio(desk))


async def _serve_stdio(desk: Desk) -> None:
    load_sdk()
    from mcp.server.stdio import stdio_server

    server = build_server(desk)
    leaving: list[asyncio.Task[None]] = []

    def leave() -> None:
        if not leaving:
            leaving.append(asyncio.create_task(_end_process(desk)))

    if sys.platform != "win32":
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, leave)
    try:
        async with stdio_server(stdin=cast("Any", _lines_of_stdin())) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await asyncio.to_thread(desk.close)


async def _lines_of_stdin() -> AsyncIterator[str]:
    stdin = TextIOWrapper(sys.stdin.buffer, encoding="utf-8", errors="replace")
    while line := await asyncio.to_thread(stdin.readline):
        yield mend_halves(line)


#: A pair of surrogates as JSON spells it, half of one, any other escape.
_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..\\u[dD][c-fC-F]..|(?P<half>u[dD][89a-fA-F]..)|.)")


def mend_halves(line: str) -> str:
    """JSON with U+FFFD for each half of an emoji: clients cut texts in the middle of one, and the SDK passes over such a line
    without an answer, so that the client would wait for it."""
    return _ESCAPE.sub(lambda found: r"\ufffd" if found["half"] else found[0], line) if r"\ud" in line.casefold() else line


async def _end_process(desk: Desk) -> None:
    """The SDK waits for the next line of stdin in a thread that nothing wakes, so the process does not end by itself."""
    _log.info("told to stop")
    await asyncio.to_thread(desk.close)
    os._exit(0)
