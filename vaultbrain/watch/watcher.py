"""The watcher: one process, one queue, one worker. It waits for hints and times, and gives each duty its turn.

The queue holds nothing but wake-ups; what there is to do is asked of the duties, in a fixed order: what changed in the vault, the
server, question notes, recall. A duty that fails is said in the log and has its turn again later.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from functools import partial
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from vaultbrain.errors import StateBusy, VaultAway, VaultbrainError, explain
from vaultbrain.vault.vault import Vault
from vaultbrain.watch.mentions import Mentions
from vaultbrain.watch.mirroring import BUSY_S, Mirroring
from vaultbrain.watch.noticing import Noticing
from vaultbrain.watch.paths import SETTINGS_FILE, Kind, Layout, kind_of
from vaultbrain.watch.questions import Questions
from vaultbrain.watch.schedule import LOOK_S
from vaultbrain.watch.station import Station

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vaultbrain.settings import Settings
    from vaultbrain.watch.log import WatchLog
    from vaultbrain.watch.noticing import Noted
    from vaultbrain.watch.pulse import Pulse
    from vaultbrain.wiring import Brain

#: Why ``run`` came back.
STOPPED, SETTINGS_CHANGED, STATE_GONE = "stopped", "settings changed", "state gone"
#: Seconds until a duty that failed unexpectedly has its turn again, doubled each time up to the second figure.
FAULT_S, MOST_FAULT_S = 10.0, 600.0
#: Seconds without work, polls of the server apart, after which the memory that only work needs is given back.
REST_S = 10.0


@dataclass(slots=True)
class _Turn:
    """One duty: how long it can wait, and what it does then. ``not_before`` after a fault."""

    name: str
    wait_s: Callable[[float], float | None]
    work: Callable[[float], None]
    not_before: float = 0.0
    faults: int = 0

    def waiting_s(self, now: float) -> float | None:
        wait_s = self.wait_s(now)
        return None if wait_s is None else max(wait_s, self.not_before - now)


class Watcher:
    """Watches one vault with one brain, which was opened for the background.

    ``takes_settings`` is asked when the settings file has changed: whether the new ones can be used. ``raises`` lets an
    unexpected fault out.
    """

    def __init__(
        self,
        brain: Brain,
        log: WatchLog,
        pulse: Pulse,
        *,
        should_stop: Callable[[], bool],
        takes_settings: Callable[[], bool] = lambda: True,
        raises: bool = False,
    ) -> None:
        settings = brain.settings
        self._queue: SimpleQueue[None] = SimpleQueue()
        self._settings_changed = False
        self._takes_settings = takes_settings
        self._rests_at: float | None = None
        self._raises = raises
        self._station = Station(
            brain, layout_of(settings), log, pulse, should_stop, time.monotonic, time.time, spread=_spread(settings)
        )
        vault = Vault(settings.vault)
        self._settings_mark = vault.mark(SETTINGS_FILE)
        self._noticing = Noticing(settings.vault, self._station.layout, mark=vault.mark, own_mark=brain.own_mark, wake=self.wake)
        self._mirroring = Mirroring(self._station, settings.poll_interval_s)
        self._questions = Questions(self._station)
        self._mentions = Mentions(self._station, settings.vault, is_on=settings.recall_enabled)
        self._turns = [
            _Turn("sync", self._mirroring.wait_s, self._mirroring.work),
            _Turn("question", self._questions.wait_s, self._questions.work),
            _Turn("recall", self._mentions.wait_s, self._mentions.work),
            _Turn("refresh", self._mirroring.refresh_wait_s, self._mirroring.refresh),
        ]

    def wake(self) -> None:
        """There may be something to do. May be called from any thread and from a signal."""
        self._queue.put(None)

    def run(self) -> str:
        """Watches until it should stop, the settings change, or the state folder is gone; which of them. Raises ``VaultAway``."""
        self._noticing.start(time.monotonic())
        try:
            self._start()
            while not self._station.should_stop():
                self._turn()
                if self._settings_changed:
                    return SETTINGS_CHANGED
                if not self._station.pulse.still_counts():
                    return STATE_GONE
            return STOPPED
        finally:
            self._noticing.stop()

    def run_once(self) -> None:
        """Everything that is due now, without waiting for anything: a sync, questions, ticks. Raises what goes wrong.

        A server that is away keeps nobody from answering; it is raised at the end.
        """
        self._mentions.start(())
        self._questions.start(time.monotonic(), pause_s=0.0)
        for turn in self._turns:
            while turn.wait_s(time.monotonic()) == 0.0 and not self._station.should_stop():
                turn.work(time.monotonic())
        if self._station.trouble:
            raise self._station.trouble

    def _start(self) -> None:
        station, events = self._station, self._noticing.events
        station.log.said("start", f"Watching {station.brain.settings.vault}.", vault=str(station.brain.settings.vault))
        if events.problem:
            station.log.failed("events", events.problem)
        station.pulse.tell(mode="polling" if events.is_polling else "native", queue=0, errors=0)
        if self._noticing.seen.get(SETTINGS_FILE) != self._settings_mark:  # since they were read
            self._settings_changed = self._takes_settings()
        self._guarded("question", station.brain.make_inbox)
        self._guarded("recall", partial(self._mentions.start, tuple(self._noticing.seen)))
        self._guarded("question", partial(self._questions.start, time.monotonic()))

    def _turn(self) -> None:
        """One turn of the loop: notice, work, wait."""
        now, was_away = time.monotonic(), self._noticing.is_away
        self._noticing.look(now)
        self._tell_of_vault(was_away=was_away)
        noted = self._noticing.take(now)
        if not noted.is_empty:
            self._add(noted, now)
        if not self._noticing.is_away:
            self._work()
        self._rest()
        self._station.pulse.beat()
        self._station.pulse.tell(queue=self._mirroring.queue + self._questions.queue + self._mentions.queue)
        self._wait()

    def _tell_of_vault(self, *, was_away: bool) -> None:
        is_away, log = self._noticing.is_away, self._station.log
        if is_away and not was_away:
            self._station.failed("vault", f"{explain(VaultAway(path=self._station.brain.settings.vault)).what} Waiting for it.")
        elif was_away and not is_away:
            log.said("vault", "The vault is back.")

    def _add(self, noted: Noted, now: float) -> None:
        layout = self._station.layout
        if any(kind_of(path, layout) is Kind.SETTINGS for path in noted.changed):
            self._settings_changed = self._takes_settings()
        for add in (self._mirroring.add, self._questions.add, self._mentions.add):
            self._guarded("notice", partial(add, noted, now))

    def _work(self) -> None:
        for turn in self._turns:
            now = time.monotonic()
            wait_s = self._waiting_s(turn, now)
            if wait_s is None or wait_s > 0 or self._station.should_stop():
                continue
            if turn.name != "sync" or self._mirroring.queue or self._rests_at is None:
                self._rests_at = now + REST_S
            pause_s = self._guarded(turn.name, partial(turn.work, now), turn.faults)
            turn.faults = turn.faults + 1 if pause_s > BUSY_S else 0
            turn.not_before = time.monotonic() + pause_s

    def _rest(self) -> None:
        now = time.monotonic()
        if self._rests_at is not None and now >= self._rests_at:
            self._rests_at = None
            self._station.brain.rest()

    def _waiting_s(self, turn: _Turn, now: float) -> float | None:
        """The server is not asked in the midst of a burst: half of it may be a note that is only being moved."""
        is_held = turn.name == "sync" and self._noticing.is_busy and not self._mirroring.queue
        return None if is_held else turn.waiting_s(now)

    def _guarded(self, name: str, work: Callable[[], None], faults: int = 0) -> float:
        """Seconds to leave it alone afterwards, more after each of the ``faults`` before it.

        A watcher that died of one odd note would watch nothing, so here every fault ends.
        """
        try:
            work()
        except StateBusy:
            return BUSY_S
        except VaultbrainError as error:
            self._station.failed(name, explain(error).what)
        except Exception as error:
            if self._raises:
                raise
            self._station.failed(
                name, f"A fault of vaultbrain's own ({type(error).__name__}); to see it, start the watcher with --debug"
            )
        else:
            return 0.0
        return min(MOST_FAULT_S, FAULT_S * 2.0 ** min(faults, 10))

    def _wait(self) -> None:
        now = time.monotonic()
        waits = [self._noticing.wait_s(now)]
        if not self._noticing.is_away:
            waits += [wait_s for turn in self._turns if (wait_s := self._waiting_s(turn, now)) is not None]
        if self._settings_changed or self._station.should_stop():
            return
        try:
            self._queue.get(timeout=max(0.01, min(LOOK_S, *waits)))
            while True:
                self._queue.get_nowait()
        except Empty:
            return


def layout_of(settings: Settings) -> Layout:
    """Where things are, as paths relative to the vault."""
    vault = settings.vault.resolve()
    lexicon = settings.own_lexicon
    return Layout(settings.folder, _inside(settings.state_folder, vault), _inside(lexicon, vault) if lexicon else "")


def _inside(path: Path, vault: Path) -> str:
    path = path.resolve()
    return path.relative_to(vault).as_posix() if path.is_relative_to(vault) else ""


def _spread(settings: Settings) -> float:
    """From 0 to 1, the same for one vault, and different for most two."""
    return hashlib.blake2b(str(settings.vault).encode(), digest_size=1).digest()[0] / 255
