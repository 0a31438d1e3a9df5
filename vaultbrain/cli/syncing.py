"""``vaultbrain sync``."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vaultbrain.cli.console import (
    JsonOption,
    QuietOption,
    VaultOption,
    answer,
    answer_json,
    say,
    showing_progress,
    stopping,
)
from vaultbrain.errors import EXIT_PARTLY, Interrupted
from vaultbrain.sync.sync import SyncOptions
from vaultbrain.sync.wording import in_words
from vaultbrain.wiring import open_brain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vaultbrain.sync.report import SyncReport


MOST_NOTICES = 10


def register(app: typer.Typer) -> None:
    app.command("sync", epilog="Example: vaultbrain sync --dry-run")(sync)


def sync(
    vault: VaultOption = None,
    full: Annotated[bool, typer.Option("--full", help="Compute every vector and the vector index anew.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done; write nothing.")] = False,
    confirm_deletions: Annotated[
        bool, typer.Option("--confirm-deletions", help="Carry out deletions that were withheld because they are so many.")
    ] = False,
    restore: Annotated[bool, typer.Option("--restore", help="Write notes again that were deleted in the vault.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Bring new and changed memos into the vault and the index.

    Notes of memos deleted on the server move to the vault's .trash; never when more than 20 and more than 10 % would go, nor
    more than half of a small collection, unless you confirm. What you wrote outside the marked region is never touched.
    """
    brain = open_brain(vault)
    quiet = quiet or as_json
    with stopping() as should_stop, showing_progress(quiet=quiet) as progress:
        try:
            report = brain.sync(
                SyncOptions(full=full, dry_run=dry_run, confirm_deletions=confirm_deletions, restore=restore),
                progress=progress,
                should_stop=should_stop,
                on_wait=lambda: say("Another vaultbrain is writing; waiting for it.", quiet=quiet),
            )
        except Interrupted as interrupted:
            say_notices(interrupted.facts["notices"], quiet=quiet)
            raise
    if as_json:
        answer_json(public_form(report))
    else:
        say_notices(report.notices, quiet=quiet)
        for failure in report.failed:
            say("failed: " + ", ".join(f"{name} {value}" for name, value in failure.items()))
        answer(in_words(report))
    sys.stdout.flush()
    return EXIT_PARTLY if report.is_partial else 0


def say_notices(notices: Sequence[str], *, quiet: bool) -> None:
    """Each once; of very many the first, since the list stands in ``--json``."""
    for notice in notices[:MOST_NOTICES]:
        say(f"note: {notice}", quiet=quiet)
    if len(notices) > MOST_NOTICES:
        say(f"note: and {len(notices) - MOST_NOTICES} more like these; see sync --json", quiet=quiet)


def public_form(report: SyncReport) -> dict[str, Any]:
    """Counts throughout; the failures one by one stand in ``failures``."""
    return asdict(report) | {"failed": len(report.failed), "failures": report.failed}
