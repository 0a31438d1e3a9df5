"""Asks the memo server in time, takes in what the person wrote into memo notes, and refreshes answers that want it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.errors import Interrupted, StateBusy, VaultbrainError, explain
from vaultbrain.sync.wording import in_words
from vaultbrain.watch.paths import Kind, kind_of
from vaultbrain.watch.schedule import Schedule
from vaultbrain.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vaultbrain.sync.report import SyncReport
    from vaultbrain.watch.noticing import Noted
    from vaultbrain.watch.station import Station

#: Seconds after which a note that was left alone, since somebody was typing in it, is tried again; and after which to come back
#: when another process is writing, or when notes went or moved (several often do, one after another).
AGAIN_S, BUSY_S, GONE_S = 31.0, 3.0, 2.0
#: Seconds after which answers that could not be brought up to date are tried again.
REFRESH_AGAIN_S = 60.0
#: Seconds between the ends of two polls that were hastened.
LEAST_PAUSE_S = 5.0


class Mirroring:
    """Keeps the mirror and the index fresh."""

    def __init__(self, station: Station, interval_s: float) -> None:
        self._station = station
        self._schedule = Schedule(interval_s, spread=station.spread)
        self._again_at: float | None = None
        self._ended = float("-inf")
        self._edited: set[str] = set()
        self._is_first = True
        self._refresh_at: float | None = None

    @property
    def queue(self) -> int:
        return len(self._edited)

    def add(self, noted: Noted, now: float) -> None:
        station = self._station
        changed = [path for path in noted.changed if kind_of(path, station.layout) in (Kind.MEMO, Kind.NOTE)]
        self._edited |= set(station.brain.memo_notes(changed)) if changed else set()
        left = [*noted.gone, *(path for pair in noted.moved for path in pair)]
        if any(kind_of(path, station.layout) in (Kind.MEMO, Kind.ANSWER) for path in left):
            self.hasten(now + GONE_S)

    def hasten(self, at: float) -> None:
        """The next poll at ``at`` already."""
        at = max(at, self._ended + LEAST_PAUSE_S)
        self._again_at = at if self._again_at is None else min(at, self._again_at)

    def wait_s(self, now: float) -> float:
        return 0.0 if self._edited else self._poll_wait_s(now)

    def _poll_wait_s(self, now: float) -> float:
        self._schedule.look(now, self._station.wall())  # with every turn of the loop: else a wake from sleep is not seen
        wait_s = self._schedule.wait_s(now)
        return wait_s if self._again_at is None else min(wait_s, max(0.0, self._again_at - now))

    def work(self, now: float) -> None:
        if self._edited:
            self._take_in()
        if not self._poll_wait_s(now):
            self._again_at = None
            self._poll()

    def _take_in(self) -> None:
        paths, station = sorted(self._edited), self._station
        try:
            report = station.brain.take_in(paths, should_stop=station.should_stop)
        except StateBusy:  # the sync that another process is doing takes them in as well
            self.hasten(station.now() + BUSY_S)
            self._edited.clear()
            return
        self._edited.clear()
        if report.edits_taken_in:
            sentence = f"Took in what you wrote into {counted(report.edits_taken_in, 'memo note')}."
            station.log.said("take-in", sentence, notes=paths, embedded=report.chunks_embedded)
        if report.failed:
            self._say_failed(report)

    def _poll(self) -> None:
        station = self._station
        try:
            report = station.brain.sync(should_stop=station.should_stop)
        except Interrupted:
            return
        except StateBusy:
            self.hasten(station.now() + BUSY_S)
            return
        except VaultbrainError as error:
            self._schedule.failed(station.now())
            station.failed("sync", explain(error).what)
            station.trouble = error
            return
        finally:
            self._ended = station.now()
            self._tell()
        self._schedule.succeeded(station.now())
        station.last_poll = station.wall()
        self._tell()
        self._say(report)
        if report.notes_deferred:
            self.hasten(station.now() + AGAIN_S)
        if self._is_first or not report.is_empty or report.answers_stale:
            self._is_first, self._refresh_at = False, station.now()

    def _tell(self) -> None:
        station = self._station
        next_poll = station.wall() + self._schedule.wait_s(station.now())
        station.pulse.tell(last_poll=station.last_poll, next_poll=next_poll)

    def _say(self, report: SyncReport) -> None:
        log = self._station.log
        if report.failed:
            self._say_failed(report)
        elif report.is_empty:
            log.recovered("sync", "The memo server answers again; nothing had changed.")
        else:
            log.said("sync", in_words(report), created=report.created, updated=report.updated, deleted=report.deleted)
        for notice in dict.fromkeys(report.notices):
            log.failed("notice", notice, about=notice)

    def _say_failed(self, report: SyncReport) -> None:
        failures = "; ".join(", ".join(map(str, failure.values())) for failure in report.failed[:3])
        self._station.failed("sync", f"{in_words(report)} Not done: {failures}")

    # answers that refresh by themselves: a duty of its own, so that a fault in it leaves the server's turn alone

    def refresh_wait_s(self, now: float) -> float | None:
        return None if self._refresh_at is None else max(0.0, self._refresh_at - now)

    def refresh(self, now: float) -> None:  # noqa: ARG002  (every duty is told the time)
        """What cannot be written now is tried again; so is everything if this is interrupted."""
        station = self._station
        failed: list[tuple[str, str]] = []
        done = station.brain.refresh(
            auto_only=True, should_stop=station.should_stop, on_failure=lambda path, reason: failed.append((path, reason))
        )
        for asked in done:
            station.log.said("refresh", f"Brought {asked.path} up to date.", about=asked.path, note=asked.path)
        for path, reason in failed:
            station.failed("refresh", f"{path} waits to be brought up to date: {reason}.", about=path)
        self._refresh_at = station.now() + REFRESH_AGAIN_S if failed else None


def paths_of(noted: Noted, kind: Kind, station: Station) -> Sequence[str]:
    """Paths of this kind that changed, or were moved to where they are."""
    there = (*noted.changed, *(new for _, new in noted.moved))
    return [path for path in there if kind_of(path, station.layout) is kind]
