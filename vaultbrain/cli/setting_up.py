"""``vaultbrain init`` and ``config show``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from vaultbrain.cli.console import JsonOption, VaultOption, answer, answer_json, on_terminal, say
from vaultbrain.errors import SourceError, UsageProblem
from vaultbrain.settings import DOCS, SETTINGS_FILE, find_vault, load_settings
from vaultbrain.setup import SettingsChoice, inspect_source, inspect_vault, write_settings

_DEFAULT_ADDRESS = "http://127.0.0.1:5230"


def register(app: typer.Typer) -> None:
    app.command("init", epilog="Example: vaultbrain init ~/vault --source http://127.0.0.1:5230 --yes")(init)
    config = typer.Typer(help="Settings and where they come from.", rich_markup_mode=None)
    config.command("show", epilog="Example: vaultbrain config show")(config_show)
    app.add_typer(config, name="config")


def init(
    vault: Annotated[Path, typer.Argument(help="Your Obsidian vault's folder.")] = Path(),
    source: Annotated[
        str | None, typer.Option("--source", metavar="URL|FILE", help="A CFlow or Memos server, or an export file.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; take the defaults.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the settings file; write nothing.")] = False,
) -> None:
    """Write vaultbrain.toml into a vault."""
    found = inspect_vault(vault.expanduser())
    address = source or _asked_address(may_ask=not yes)
    try:
        answers = inspect_source(address, found.path)
        say(answers)
    except SourceError as error:
        if not yes and not on_terminal(sys.stdin):
            raise
        say(f"note: {address} does not answer yet ({error.fact('reason') or error.fact('detail') or error.fact('status')}).")
    text = write_settings(found, SettingsChoice(source=address), dry_run=dry_run)
    if dry_run:
        answer(text)
        return
    answer(f"Wrote {found.path / SETTINGS_FILE}")
    answer(f"Next: vaultbrain sync --vault {found.path}")


def _asked_address(*, may_ask: bool) -> str:
    if not may_ask or not on_terminal(sys.stdin):
        raise UsageProblem(what="No source was given.", next=f"Run: vaultbrain init VAULT --source {_DEFAULT_ADDRESS} --yes")
    return str(typer.prompt("Address of your CFlow or Memos server, or path of an export file", default=_DEFAULT_ADDRESS))


def config_show(vault: VaultOption = None, as_json: JsonOption = False) -> None:
    """Show each setting, its value and where it comes from."""
    _, shown = load_settings(find_vault(Path(vault or ".")))
    if as_json:
        answer_json({setting.name: {"value": setting.value, "origin": setting.origin} for setting in shown})
        return
    width = max(len(setting.name) for setting in shown)
    for setting in shown:
        value = f'"{setting.value}"' if isinstance(setting.value, str) else setting.value
        answer(f"{setting.name:<{width}}  {value}  [{setting.origin}]\n{'':<{width}}  {DOCS[setting.name]}")
