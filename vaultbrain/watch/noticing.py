"""Which files of the vault really changed: hints from the system, held until a burst is over, against what was seen before.

What this process wrote itself is no change. Every minute, and whenever hints may be missing, a look through the whole vault tells
the truth; the vault itself may go away and come back.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.errors import VaultAway
from vaultbrain.watch.burst import Burst
from vaultbrain.watch.events import VaultEvents
from vaultbrain.watch.paths import SETTINGS_FILE
from vaultbrain.watch.scan import difference, survey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from vaultbrain.vault.vault import FileMark
    from vaultbrain.watch.paths import Layout

#: Seconds between two looks through the whole vault: 10,000 files take some 50 ms, a thousandth of a core.
SCAN_S = 60.0
#: Seconds between two looks whether a vault that went away is back.
AWAY_S = 5.0
#: Seconds: the coarsest clock of a file system (FAT) ticks every two.
FRESH_S = 2.0


@dataclass(frozen=True, slots=True)
class Noted:
    """What happened since the last one, paths in order. ``moved``: (old, new) path of files that only changed their place.

    A moved file is neither ``changed`` nor ``gone``.
    """

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()

    @property
    def is_empty(self) -> bool:
        return not (self.changed or self.gone or self.moved)


class Noticing:
    """Watches one vault. ``own_mark``: the mark of a file as this process wrote it last; ``wake`` is called from any thread."""

    def __init__(
        self,
        root: Path,
        layout: Layout,
        *,
        mark: Callable[[str], FileMark | None],
        own_mark: Callable[[str], FileMark | None],
        wake: Callable[[], None],
    ) -> None:
        self._root, self._layout, self._mark, self._own_mark = root, layout, mark, own_mark
        self.events = VaultEvents(root, layout, wake)
        self._burst = Burst()
        self._seen: dict[str, FileMark] = {}
        self._next_scan = 0.0
        self.is_away = False

    @property
    def seen(self) -> Mapping[str, FileMark]:
        """Every watched file as last seen."""
        return self._seen

    def start(self, now: float) -> None:
        """Notices what changes from now on. Raises ``VaultAway``."""
        self.events.start()
        self._seen = dict(survey(self._root, self._layout).marks)
        self._next_scan = now + SCAN_S

    def stop(self) -> None:
        self.events.stop()

    def look(self, now: float) -> None:
        """Takes the system's hints, and looks through the vault when that is due. ``is_away`` tells whether it is there."""
        if self.is_away and now < self._next_scan:
            return
        noticed = self.events.take()
        self._burst.add(now, noticed.paths)
        if noticed.rescan or now >= self._next_scan:
            self._scan(now)

    def _scan(self, now: float) -> None:
        try:
            found = survey(self._root, self._layout)
            if self.is_away or not self.events.is_alive:  # after the look: a restart that fails would not notice the return
                self.events.restart()
                found = survey(self._root, self._layout)
        except VaultAway:
            self.is_away, self._next_scan = True, now + AWAY_S
            return
        self.is_away, self._next_scan = False, now + SCAN_S
        changes = difference(self._seen, found.marks, found.unreadable)
        self._burst.add(now, (*changes.changed, *changes.gone))

    def wait_s(self, now: float) -> float:
        """Seconds until there is something to do without any hint."""
        waiting = self._burst.wait_s(now)
        until_scan = max(0.0, self._next_scan - now)
        return until_scan if waiting is None or self.is_away else min(waiting, until_scan)

    @property
    def is_busy(self) -> bool:
        """Whether a burst is going on."""
        return self._burst.wait_s(0.0) is not None

    def take(self, now: float) -> Noted:
        """What a burst that is over has really changed; empty while none is."""
        if self.is_away or not self._burst.is_due(now):
            return Noted()
        paths = sorted(self._burst.take())
        marks = {path: self._mark(path) for path in paths}
        if self._has_gone():  # the vault went while we looked: nothing of it was deleted
            self._burst.add(now, paths)
            return Noted()
        new = {path: mark for path, mark in marks.items() if mark and (self._seen.get(path) != mark or _is_fresh(mark))}
        gone = {path: self._seen.pop(path) for path, mark in marks.items() if mark is None and path in self._seen}
        moved = _moves(gone, {path: mark for path, mark in new.items() if path not in self._seen})
        self._seen.update(new)
        came = set(moved.values())
        changed = tuple(path for path, mark in new.items() if path not in came and self._own_mark(path) != mark)
        return Noted(changed, tuple(path for path in gone if path not in moved), tuple(moved.items()))

    def _has_gone(self) -> bool:
        """Whether the vault is away; then it counts so until a look through it succeeds."""
        try:
            if (self._root / SETTINGS_FILE).is_file():
                return False
        except OSError:  # a mount that died
            pass
        self.is_away, self._next_scan = True, 0.0
        return True


def _is_fresh(mark: FileMark) -> bool:
    """Whether the file may have been written once more, within one tick of its clock, after the same mark was seen."""
    return abs(time.time() - mark.mtime_ns / 1e9) < FRESH_S


def _moves(gone: Mapping[str, FileMark], new: Mapping[str, FileMark]) -> dict[str, str]:
    """old → new path: a move keeps size and time. Where several files look alike, none counts as moved."""
    old_by_mark: dict[FileMark, list[str]] = {}
    new_by_mark: dict[FileMark, list[str]] = {}
    for path, mark in gone.items():
        old_by_mark.setdefault(mark, []).append(path)
    for path, mark in new.items():
        new_by_mark.setdefault(mark, []).append(path)
    pairs = ((old_by_mark[mark], places) for mark, places in new_by_mark.items() if mark in old_by_mark)
    return {before[0]: after[0] for before, after in pairs if len(before) == len(after) == 1}
