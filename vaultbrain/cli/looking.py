"""``vaultbrain status``, ``get`` and ``manifest``: looking without changing anything."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from vaultbrain.cli.console import JsonOption, VaultOption, answer, answer_json, say
from vaultbrain.wiring import open_brain
from vaultbrain.words import counted, spoken_time


def register(app: typer.Typer) -> None:
    app.command("status", epilog="Example: vaultbrain status --json")(status)
    app.command("get", epilog="Example: vaultbrain get 456")(get)
    app.command("manifest", epilog="Example: vaultbrain manifest > manifest.json")(manifest)


def status(vault: VaultOption = None, as_json: JsonOption = False) -> None:
    """Say what is mirrored and indexed, and how old that is."""
    found = open_brain(vault).status()
    if as_json:
        answer_json(found)
        return
    age = "never" if found["age_s"] is None else f"{found['checked_at']} ({spoken_time(found['age_s'])} ago)"
    waiting = f"; {counted(found['memos_to_index'], 'memo')} without all vectors" if found["memos_to_index"] else ""
    special = [f"{counted(found[name], noun)} {words}" for name, noun, words in _SPECIAL if found[name]]
    stale = f", {found['answers_stale']} stale (vaultbrain refresh)" if found["answers_stale"] else ""
    lines = [
        f"vault      {found['vault']}",
        f"source     {found['source']} {found['generation']}".rstrip(),
        f"synced     {age}",
        f"memos      {found['memos']} ({counted(found['notes'], 'note')})",
        f"chunks     {found['chunks_with_vector']} of {found['chunks']} with a vector{waiting}",
        f"answers    {found['answers']}{stale}",
        f"model      {found['model']}",
        f"index      {found['vector_store']}" + (f", {counted(found['outbox'], 'change')} to tell it" if found["outbox"] else ""),
        f"state      {found['state_dir']}",
        *([f"note       {', '.join(special)}"] if special else []),
    ]
    answer("\n".join(lines))


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
