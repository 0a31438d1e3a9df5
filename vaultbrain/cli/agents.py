"""``vaultbrain mcp``: the door for agents."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from vaultbrain.cli.console import VaultOption  # noqa: TC001  (Typer reads it)
from vaultbrain.errors import UsageProblem
from vaultbrain.index.installed import installed_version
from vaultbrain.wiring import open_brain, open_watching_brain

if TYPE_CHECKING:
    import typer


def register(app: typer.Typer) -> None:
    app.command("mcp", epilog="Example: vaultbrain mcp --vault ~/vault")(mcp)


def mcp(vault: VaultOption = None) -> None:
    """Serve agents over the Model Context Protocol, on stdin and stdout.

    An agent's client starts it; see docs/agents.md for Claude Code, Codex, Claude Desktop and Cursor. It looks into the mirror;
    only ask_cflow_note writes a note, and auto_sync_if_needed brings the mirror up to date. Works beside the watcher and other
    commands.
    """
    if not installed_version("mcp"):
        raise UsageProblem(what="The MCP SDK is not installed.", next="Install it with: pip install 'vaultbrain[mcp]'")
    from vaultbrain.mcp.server import (
        Desk,
        serve_stdio,
    )  # the room takes a tenth of a second to load, which --help need not wait for

    serve_stdio(Desk(lambda: open_brain(vault), lambda: open_watching_brain(vault)))
    sys.stdout.flush()
    os._exit(0)
