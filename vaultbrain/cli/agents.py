"""``vaultbrain mcp``: the door for agents.

The room ``mcp`` takes a tenth of a second to load, which no other command needs to wait for: it is entered by the command itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vaultbrain.cli.console import VaultOption, say, stopping
from vaultbrain.errors import UsageProblem
from vaultbrain.index.installed import installed_version
from vaultbrain.wiring import open_brain, open_watching_brain

if TYPE_CHECKING:
    from vaultbrain.mcp.server import Desk

#: As ``mcp.http.DEFAULT_PORT``, whose room is not imported for every ``--help``; a test holds them equal.
USUAL_PORT = 28_428


def register(app: typer.Typer) -> None:
    app.command("mcp", epilog="Example: vaultbrain mcp --vault ~/vault")(mcp)


def mcp(
    vault: VaultOption = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP on this machine, behind a token, instead of stdin and stdout.")
    ] = False,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, metavar="N", help="With --http: the port; 0 takes any free one.")
    ] = USUAL_PORT,
    token_file: Annotated[
        Path | None,
        typer.Option("--token-file", metavar="PATH", help="With --http: a file with the token; VAULTBRAIN_MCP_TOKEN wins."),
    ] = None,
) -> None:
    """Serve agents over the Model Context Protocol, on stdin and stdout.

    An agent's client starts it; docs/agents.md has the settings for Claude Code, Codex, Claude Desktop and Cursor. It looks into
    the mirror; only ask_cflow_note writes a note, and auto_sync_if_needed brings the mirror up to date. Works beside the watcher
    and all other commands.
    """
    if not installed_version("mcp"):
        raise UsageProblem(what="The MCP SDK is not installed.", next="Install it with: pip install 'vaultbrain[mcp]'")
    if not http and (port != USUAL_PORT or token_file):
        raise UsageProblem(what="--port and --token-file belong to --http.", next="Add --http, or leave them out.")
    from vaultbrain.mcp.server import Desk, serve_stdio

    desk = Desk(lambda: open_brain(vault), lambda: open_watching_brain(vault))
    if http:
        _serve_http(desk, open_brain(vault).settings.state_folder, port, token_file)
        return
    serve_stdio(desk)
    sys.stdout.flush()
    os._exit(0)  # a thread of the SDK may wait for a line on stdin for ever


def _serve_http(desk: Desk, state_folder: Path, port: int, token_file: Path | None) -> None:
    from vaultbrain.mcp.http import serve_http
    from vaultbrain.mcp.http_token import find_http_token
    from vaultbrain.mcp.server import build_server

    token = find_http_token(state_folder, token_file)

    def say_where(address: str) -> None:
        say(f"Listening at {address}\nThe token is in {token.origin}")

    with stopping() as should_stop:
        try:
            serve_http(build_server(desk), port, token.text, on_ready=say_where, should_stop=should_stop)
        finally:
            desk.close()
