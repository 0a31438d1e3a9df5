"""``vaultbrain watch``: everything in the background, or one round of it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from vaultbrain.cli.console import QuietOption, VaultOption, answer, say, stopping
from vaultbrain.errors import EXIT_FAILED, SettingsInvalid, UsageProblem, VaultbrainError, explain
from vaultbrain.settings import TOKEN_VARIABLE, complaint_about, read_token
from vaultbrain.sync.sync import SyncOptions
from vaultbrain.sync.wording import in_words
from vaultbrain.watch.log import WatchLog
from vaultbrain.watch.pulse import only_watcher
from vaultbrain.watch.watcher import SETTINGS_CHANGED, STATE_GONE, Watcher
from vaultbrain.wiring import open_watching_brain
from vaultbrain.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbrain.watch.pulse import Pulse
    from vaultbrain.wiring import Brain


#: Seconds after which a watcher that is told to stop no longer waits for another server to answer: it promises to end within 10.
PATIENCE_S = 7.0


def register(app: typer.Typer) -> None:
    app.command("watch", epilog="Example: vaultbrain watch --interval 5m")(watch)


def watch(
    vault: VaultOption = None,
    once: Annotated[
        bool, typer.Option("--once", help="One round: sync, answer waiting questions, read ticks; then end.")
    ] = False,
    interval: Annotated[
        str | None, typer.Option("--interval", metavar="TIME", help="How often to ask the memo server: 90, 90s, 5m, 1h.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what one round would do; write nothing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One line of JSON for each action, on stdout.")] = False,
    quiet: QuietOption = False,
) -> int:
    """Keep the vault fresh, answer questions from notes, and mention old memos while you write.

    Runs until Ctrl-C or SIGTERM. What it does stands in a log; vaultbrain status says whether it lives. Only one watcher serves a
    vault; all other commands work beside it. It never writes into a note that was changed within the last 30 seconds.
    """

    if interval is not None and (complaint := complaint_about("poll_interval", interval)):
        raise UsageProblem(what=f"--interval {complaint}.", next="Such as: vaultbrain watch --interval 5m")

    def open_brain() -> Brain:
        return open_watching_brain(vault, poll_interval=interval)

    brain = open_brain()
    if dry_run and as_json:
        raise UsageProblem(what="--dry-run says what is due in words only.", next="Run: vaultbrain watch --dry-run")
    if dry_run:
        _say_what_is_due(brain)
        return 0
    watchers: list[Watcher] = []

    def wake() -> None:
        for watcher in watchers[-1:]:
            watcher.wake()

    with stopping(wake, within_s=PATIENCE_S) as should_stop, only_watcher(brain.settings.state_folder) as pulse:
        log = WatchLog(
            brain.settings.state_folder,
            json_lines=as_json,
            is_shown=not quiet,
            secrets=[read_token(brain.settings), os.environ.get(TOKEN_VARIABLE, "")],
        )
        try:
            if once:
                _watcher(brain, log, pulse, should_stop).run_once()
                return 0
            return _run(brain, open_brain, log, pulse, should_stop, watchers)
        except KeyboardInterrupt:
            log.said("stop", "Stopped in the midst of waiting; the next start makes up for what was begun.")
            return 0
        finally:
            log.close()


def _watcher(
    brain: Brain,
    log: WatchLog,
    pulse: Pulse,
    should_stop: Callable[[], bool],
    takes_settings: Callable[[], bool] = lambda: True,
) -> Watcher:
    is_debug = "--debug" in sys.argv
    return Watcher(
        brain,
        log,
        pulse,
        should_stop=lambda: should_stop() or log.reader_is_gone,
        takes_settings=takes_settings,
        raises=is_debug,
    )


def _run(
    brain: Brain,
    open_brain: Callable[[], Brain],
    log: WatchLog,
    pulse: Pulse,
    should_stop: Callable[[], bool],
    watchers: list[Watcher],
) -> int:
    """Until it is to stop; with the new settings whenever they change, unless they cannot be used."""
    new: Brain | None = None

    def takes_settings() -> bool:
        nonlocal new
        new = _with_new_settings(brain, open_brain, log)
        return new is not None

    while True:
        watchers[:] = [_watcher(brain, log, pulse, should_stop, takes_settings)]
        outcome = watchers[0].run()
        if outcome == STATE_GONE:
            log.failed("state", f"The state folder {brain.settings.state_folder} is gone; stopping, to begin anew.")
            return EXIT_FAILED
        if outcome != SETTINGS_CHANGED:
            log.said("stop", "Stopped. Everything finished so far is kept.")
            return 0
        brain.close()
        brain = new or brain


def _with_new_settings(brain: Brain, open_brain: Callable[[], Brain], log: WatchLog) -> Brain | None:
    """None while the new ones cannot be used: the old ones stay."""
    try:
        new = open_brain()
    except SettingsInvalid as error:
        log.failed(
            "settings", f"vaultbrain.toml cannot be used: {'; '.join(error.facts['problems'])}. The old settings stay in use."
        )
        return None
    except VaultbrainError as error:
        log.failed("settings", f"{explain(error).what} The old settings stay in use.")
        return None
    if new.settings.state_folder != brain.settings.state_folder:
        log.failed("settings", "`state_dir` has another value now: start the watcher again. The old settings stay in use.")
        return None
    log.said("settings", "The settings have changed; the new ones are in use.")
    return new


def _say_what_is_due(brain: Brain) -> None:
    answer(in_words(brain.sync(SyncOptions(dry_run=True))))
    if not brain.has_synced():
        return
    with brain.inbox() as inbox:
        waiting = inbox.waiting()
    answer(f"{counted(len(waiting), 'question')} would be looked at." + "".join(f"\n  {path}" for path in waiting))
    stale = brain.refresh(auto_only=True, writes=False, on_failure=lambda path, reason: say(f"{path}: {reason}"))
    answer(f"{counted(len(stale), 'answer')} would be brought up to date." + "".join(f"\n  {asked.path}" for asked in stale))
