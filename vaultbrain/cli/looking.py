"""``vaultbrain status``, ``get`` and ``manifest``: looking without changing anything."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from vaultbrain.cli.console import JsonOption, VaultOption, answer, answer_json, say
from vaultbrain.watch.pulse import read_pulse
from vaultbrain.wiring import open_brain
from vaultbrain.words import counted, spoken_time

if TYPE_CHECKING:
    from vaultbrain.watch.pulse import WatchState


def register(app: typer.Typer) -> None:
    app.command("status", epilog="Example: vaultbrain status --json")(status)
    app.command("get", epilog="Example: vaultbrain get 456")(get)
    app.command("manifest", epilog="Example: vaultbrain manifest > manifest.json")(manifest)


def status(vault: VaultOption = None, as_json: JsonOption = False) -> None:
    """Say what is mirrored and indexed, and how old that is."""
    brain = open_brain(vault)
    found, watcher = brain.status(), read_pulse(brain.settings.state_folder)
    if as_json:
        answer_json(found | {"watcher": asdict(watcher) | {"log": str(watcher.log)} if watcher else None})
        return
    age = "never" if found["age_s"] is None else f"{found['checked_at']} ({spoken_time(found['age_s'])} ago)"
    waiting = f"; {counted(found['memos_to_index'], 'memo')} without all vectors" if found["memos_to_index"] else ""
    special = [f"{counted(found[name], noun)} {words}" for name, noun, words in _SPECIAL if found[name]]
    stale = f", {found['answers_stale']} stale (vaultbrain refresh)" if found["answers_stale"] else ""
    lines = [
        f"vault      {found['vault']}",
        f"source     {found['source']} {_generation(found['generation'])}".rstrip(),
        f"synced     {age}",
        f"memos      {found['memos']} ({counted(found['notes'], 'note')})",
        f"chunks     {found['chunks_with_vector']} of {found['chunks']} with a vector{waiting}",
        f"answers    {found['answers']}{stale}",
        f"model      {found['model']}",
        f"index      {found['vector_store']}" + (f", {counted(found['outbox'], 'change')} to tell it" if found["outbox"] else ""),
        f"state      {found['state_dir']}",
        *_watcher_lines(watcher),
        *([f"note       {', '.join(special)}"] if special else []),
    ]
    answer("\n".join(lines))


def _generation(name: str) -> str:
    return "(export file)" if name == "export" else f"(generation {name})" if name else ""


def _watcher_lines(watcher: WatchState | None) -> list[str]:
    if watcher is None:
        return ["watcher    never started (vaultbrain watch, or vaultbrain service install)"]
    if not watcher.is_running:
        return ["watcher    not running" + ("; the last one did not stop by itself" if watcher.has_crashed else "")]
    beat = f", last sign of life {spoken_time(watcher.beat_age_s)} ago" if watcher.beat_age_s is not None else ""
    lines = [f"watcher    process {watcher.pid} since {watcher.since}{beat}"]
    asked = "never yet" if watcher.last_poll is None else f"{spoken_time(max(0.0, time.time() - watcher.last_poll))} ago"
    next_poll = "" if watcher.next_poll is None else f", next in {spoken_time(max(0.0, watcher.next_poll - time.time()))}"
    lines.append(f"           asked the server {asked}{next_poll}; {counted(watcher.queue, 'thing')} waiting")
    if watcher.mode == "polling":
        lines.append("           looks through the vault every few seconds: the system gives it no events (see its log)")
    if watcher.errors:
        lines.append(f"           {counted(watcher.errors, 'error')} since then, the last: {watcher.last_error}")
    return [*lines, f"           log {watcher.log}"]


_SPECIAL = (
    ("removed_notes", "note", "removed by you (sync --restore writes it again)"),
    ("conflicts", "note", "without markers, not updated"),
    ("tombstones", "memo", "deleted on the server, the note in .trash"),
)


def get(
    memo_id: Annotated[str, typer.Argument(metavar="ID", help="The memo's id, with or without #.")],
    vault: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print one memo as the server has it now, or the mirrored copy."""
    found = open_brain(vault).get(memo_id.lstrip("#"))
    if as_json:
        answer_json({"came_from": found.came_from, "reason": found.reason, "memo": asdict(found.memo)})
        return
    say(f"from the {found.came_from}" + (f" ({found.reason})" if found.reason else ""))
    answer(found.memo.content)


def manifest(vault: VaultOption = None) -> None:
    """Print what is indexed, as JSON.

    For each memo: the hash of its content, its chunks, the model and the chunker they were made with, and when.
    """
    answer_json({"version": 2, "memos": open_brain(vault).manifest()})
