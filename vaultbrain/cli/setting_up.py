"""``vaultbrain init`` and ``config show``."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vaultbrain.cli.console import (
    JsonOption,
    VaultOption,
    answer,
    answer_json,
    ask_person,
    describe_failure,
    on_terminal,
    say,
)
from vaultbrain.errors import ExportUnreadable, SourceError, UsageProblem, explain
from vaultbrain.settings import DOCS, SETTINGS_FILE, TOKEN_VARIABLE, complaint_about, find_vault, load_settings
from vaultbrain.setup import SettingsChoice, inspect_source, inspect_vault, write_settings

if TYPE_CHECKING:
    from vaultbrain.setup import FoundVault

_DEFAULT_ADDRESS = "http://127.0.0.1:5230"


def register(app: typer.Typer) -> None:
    app.command("init", epilog="Example: vaultbrain init ~/vault --source http://127.0.0.1:5230 --yes")(init)
    config = typer.Typer(help="Settings and where they come from.", rich_markup_mode=None)
    config.command("show", epilog="Example: vaultbrain config show")(config_show)
    app.add_typer(config, name="config")


def init(
    vault: Annotated[Path, typer.Argument(metavar="VAULT", help="Your Obsidian vault's folder.")] = Path(),
    source: Annotated[
        str | None, typer.Option("--source", metavar="URL|FILE", help="A CFlow or Memos server, or an export file.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; write even if the server is away.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the settings file; write nothing.")] = False,
) -> None:
    """Write vaultbrain.toml into a vault."""
    found = inspect_vault(vault.expanduser())
    may_ask = not yes and on_terminal(sys.stdin)
    if not source and not may_ask:
        raise UsageProblem(what="No source was given.", next=f"Run: vaultbrain init VAULT --source {_DEFAULT_ADDRESS}")
    address = _checked(source, found, may_insist=yes, may_ask=may_ask) if source else _asked(found)
    text = write_settings(found, SettingsChoice(source=address), dry_run=dry_run)
    if dry_run:
        answer(text)
        return
    answer(f"Wrote {found.path / SETTINGS_FILE}")
    if "://" in address and not os.environ.get(TOKEN_VARIABLE):
        say(f"The server's access token is not set yet: put it into {TOKEN_VARIABLE}, or name a file in token_file.")
    answer(f"Next: vaultbrain sync --vault {_quoted(found.path)}")


def _quoted(path: Path) -> str:
    return f'"{path}"' if os.name == "nt" else shlex.quote(str(path))


def _asked(found: FoundVault) -> str:
    """Asks until something usable is given."""
    while True:
        given = ask_person(f"Server address, or export file [{_DEFAULT_ADDRESS}]:") or _DEFAULT_ADDRESS
        try:
            return _checked(given, found, may_insist=False, may_ask=True)
        except UsageProblem as problem:
            say(describe_failure(problem))


def _checked(given: str, found: FoundVault, *, may_insist: bool, may_ask: bool) -> str:
    """``given`` as it is to be written, after saying what is there. A server may be away for now; a file has to be there."""
    if complaint := complaint_about("source", given):
        raise UsageProblem(what=f"This source cannot be used: it {complaint}.", next="Give it without; nothing else is needed.")
    given = _seen_from(found.path, given)
    try:
        say(inspect_source(given, found.path))
    except ExportUnreadable as error:
        raise UsageProblem(
            what=f"{given} is no address (http://...), and no export file: {error.fact('detail')}.",
            next="Give a server as http://..., or the path of an export, from the vault or from the root.",
        ) from error
    except SourceError as error:
        if not may_insist and not may_ask:
            raise
        say(f"note: {explain(error).what}")
        if may_ask and not ask_person("Take this address nevertheless? [y/N]").lower().startswith("y"):
            raise
    return given


def _seen_from(vault: Path, given: str) -> str:
    """A file named from the working folder, as a shell completes it, is written so that it is found from the vault."""
    path = Path(given).expanduser()
    if (vault / path).is_file() or not path.is_file():
        return given
    path = path.resolve()
    return path.relative_to(vault).as_posix() if path.is_relative_to(vault) else str(path)


def config_show(vault: VaultOption = None, as_json: JsonOption = False) -> None:
    """Show each setting, its value and where it comes from."""
    _, shown = load_settings(find_vault(Path(vault or ".")))
    if as_json:
        answer_json({setting.name: {"value": setting.value, "origin": setting.origin} for setting in shown})
        return
    width = max(len(setting.name) for setting in shown)
    for setting in shown:
        answer(f"{setting.name:<{width}}  {_as_toml(setting.value)}  [{setting.origin}]\n{'':<{width}}  {DOCS[setting.name]}")


def _as_toml(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_as_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()
