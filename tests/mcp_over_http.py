"""A small MCP server behind the real HTTP door, in a process of its own; and what tests need to talk to it.

``python tests/mcp_over_http.py STATE PORT [FAREWELL_S IDLE_S SESSIONS]`` serves until Ctrl-C or SIGTERM, as the command does.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.lowlevel import Server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool
from shell import ROOT

from vaultbrain.cli.console import say, stopping
from vaultbrain.mcp.http import Limits, serve_http
from vaultbrain.mcp.http_token import find_http_token

if TYPE_CHECKING:
    from collections.abc import Iterator


async def list_tools(ctx: Any, params: Any) -> ListToolsResult:
    return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in ("echo", "wait")])


async def call_tool(ctx: Any, params: Any) -> CallToolResult:
    if params.name == "wait":
        say("waiting")
        await anyio.sleep(600)
    return CallToolResult(content=[TextContent(text=params.arguments["text"])])


def main(state: str, port: str, farewell_s: str = "3", idle_s: str = "1800", sessions: str = "32") -> int:
    server: Server[Any] = Server("small", on_list_tools=list_tools, on_call_tool=call_tool)
    limits = Limits(farewell_s=int(farewell_s), idle_s=float(idle_s), sessions=int(sessions))
    token = find_http_token(Path(state))
    with stopping() as should_stop:

        def on_ready(address: str) -> None:
            say(f"Listening at {address}\nThe token is in {token.origin}")

        serve_http(server, int(port), token.text, on_ready=on_ready, should_stop=should_stop, limits=limits)
    return 0


@dataclass
class Serving:
    """A server that listens. What it said so far is in ``errors``; the rest comes with ``end``."""

    process: subprocess.Popen[str]
    address: str
    token: str
    errors: str

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].split("/")[0])

    def read_until(self, words: str) -> None:
        assert self.process.stderr
        while words not in self.errors:
            line = self.process.stderr.readline()
            assert line, self.errors
            self.errors += line

    def end(self, with_signal: int, *, within_s: float) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of all its life."""
        begun = time.monotonic()
        self.process.send_signal(with_signal)
        out, errors = self.process.communicate(timeout=60)
        assert time.monotonic() - begun < within_s
        return self.process.returncode, out, self.errors + errors


@contextmanager
def serving(state: Path, *words: str) -> Iterator[Serving]:
    """The small server, at a free port unless ``words`` say otherwise, and gone at the end."""
    with _serving([__file__, str(state), *(words or ("0",))], state) as running:
        yield running


@contextmanager
def serving_vault(vault: Path, state: Path) -> Iterator[Serving]:
    """The command itself, for a vault whose settings name ``state``."""
    with _serving(["-m", "vaultbrain", "mcp", "--vault", str(vault), "--http", "--port", "0"], state) as running:
        yield running


@contextmanager
def _serving(command: list[str], state: Path) -> Iterator[Serving]:
    process = subprocess.Popen(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(ROOT), "VAULTBRAIN_MCP_TOKEN": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        running = Serving(process, "", "", "")
        running.read_until("The token is in")
        running.address = running.errors.split()[2]
        running.token = (state / "mcp-token").read_text().strip()
        yield running
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
