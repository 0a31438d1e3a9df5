"""``vaultbrain service``: the watcher as a background service, installed, removed and looked at."""

from __future__ import annotations

import os
import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vaultbrain.cli.console import JsonOption, VaultOption, answer, answer_json, say
from vaultbrain.errors import EXIT_PARTLY, VaultNotFound
from vaultbrain.settings import Settings, find_vault, load_settings
from vaultbrain.watch.pulse import read_pulse
from vaultbrain.watch.service import notes_on, service_of
from vaultbrain.watch.session import Surroundings

if TYPE_CHECKING:
    from vaultbrain.watch.service import Manager, ServiceStatus

PrintOption = Annotated[bool, typer.Option("--print", help="Print the service's file; write nothing.")]
DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Say what would be done; do nothing.")]

_NOTHING = "Nothing to do: no service is installed for this vault."


def register(app: typer.Typer) -> None:
    service = typer.Typer(help="The watcher as a background service.", rich_markup_mode=None)
    service.command("install", epilog="Example: vaultbrain service install")(install)
    service.command("uninstall", epilog="Example: vaultbrain service uninstall")(uninstall)
    service.command("status", epilog="Example: vaultbrain service status --json")(status)
    app.add_typer(service, name="service")


def install(
    vault: VaultOption = None, print_only: PrintOption = False, dry_run: DryRunOption = False, as_json: JsonOption = False
) -> None:
    """Let vaultbrain watch run in the background from now on, and after each login.

    Writes and enables a systemd user unit on Linux, a launchd agent on macOS. Doing it again brings it up to date.
    """
    settings, surroundings = _settings(vault), Surroundings(os.environ)
    service = service_of(settings, surroundings)
    manager, notes = service.manager, notes_on(settings, surroundings)
    found = _named(manager) | {"notes": list(notes)}
    if print_only:
        answer_json(found | {"text": manager.text}) if as_json else answer(manager.text.rstrip("\n"))
        return
    was_installed = service.is_installed()
    if dry_run:
        _say_steps(found, [f"write {manager.path}"], manager.install_steps(), as_json=as_json)
        return
    running = None if was_installed else read_pulse(settings.state_folder)
    is_changed = service.install()
    if as_json:
        answer_json(found | {"changed": is_changed})
        return
    answer(f"Wrote {manager.path}" if is_changed else f"{manager.path} was up to date.")
    for note in notes:
        say(f"note: {note}")
    if running and running.is_running:
        say(f"note: Another watcher runs now, process {running.pid}; the service takes over within a minute after its end.")
    answer("The service is on. See how it is: vaultbrain service status")


def uninstall(vault: VaultOption = None, dry_run: DryRunOption = False, as_json: JsonOption = False) -> None:
    """Stop the background service and remove it. Vault and index stay as they are.

    With --vault also for a vault that is no longer there.
    """
    service = service_of(_settings_of_what_was(vault), Surroundings(os.environ))
    manager = service.manager
    found = _named(manager)
    if dry_run:
        is_there = service.is_installed()
        steps = manager.uninstall_steps() if is_there else ()
        _say_steps(found, [f"remove {manager.path}"] if is_there else [], steps, as_json=as_json)
        return
    removed = service.uninstall()
    if as_json:
        answer_json(found | {"removed": removed.was_there, "problem": removed.problem})
    else:
        answer(f"Removed {manager.path}" if removed.was_there else _NOTHING)
    if removed.problem:
        say(f"note: {manager.kind} could not be told to stop it ({removed.problem}); it ends with your session at the latest.")
        raise typer.Exit(EXIT_PARTLY)


def status(vault: VaultOption = None, as_json: JsonOption = False) -> None:
    """Say whether the background service is installed, enabled and running.

    What the watcher itself is doing says vaultbrain status.
    """
    found = service_of(_settings(vault), Surroundings(os.environ)).status()
    if as_json:
        answer_json({name.removeprefix("is_"): value for name, value in asdict(found).items()} | {"path": str(found.path)})
        return
    answer("\n".join(_status_lines(found)))


def _status_lines(found: ServiceStatus) -> list[str]:
    outdated = "" if found.is_current else "; its file is not what this version would write (vaultbrain service install)"
    return [
        f"service    {found.name} ({found.manager})",
        f"installed  {f'yes, {found.path}{outdated}' if found.is_installed else 'no (vaultbrain service install)'}",
        f"enabled    {_spoken(found.is_enabled)}",
        f"running    {_spoken(found.is_running)}" + (f", {found.detail}" if found.detail else ""),
        *([f"note       {found.manager} does not answer: {found.problem}"] if found.problem else []),
    ]


def _spoken(is_so: bool | None) -> str:
    return "not known" if is_so is None else "yes" if is_so else "no"


def _named(manager: Manager) -> dict[str, object]:
    return {"manager": manager.kind, "name": manager.name, "path": str(manager.path)}


def _say_steps(found: dict[str, object], first: list[str], steps: tuple[tuple[str, ...], ...], *, as_json: bool) -> None:
    lines = [*first, *(f"run {shlex.join(step)}" for step in steps)]
    if as_json:
        answer_json(found | {"steps": lines})
    else:
        answer("\n".join(f"would {line}" for line in lines) or _NOTHING)


def _settings(vault: str | None) -> Settings:
    settings, _ = load_settings(find_vault(Path(vault or ".")))
    return settings


def _settings_of_what_was(vault: str | None) -> Settings:
    """A service can be removed when its vault is gone, too: the vault's path is all that it takes."""
    try:
        return Settings(vault=find_vault(Path(vault or ".")))
    except VaultNotFound:
        if vault is None:
            raise
        return Settings(vault=Path(vault).expanduser().resolve())
