"""That one watcher serves a vault, that it lives, and what it last knew: told through files in the state folder.

The lock decides who is the watcher and whether there is one; everything else is only words about it. Telling never stops the
watcher: what cannot be written now is written later. An idle watcher writes no byte, so what changes without an event (that it
lives, when it asked the server, when it will ask again) is the time of change of empty files.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import StateBusy, WatcherRunning
from vaultbrain.sync.lock import find_holder, owner_path, writing
from vaultbrain.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

WATCH_LOCK = "watch-lock"
LOG_FILE = "watch.log"
_FACTS = "watch.json"
_BEAT = "watch-beat"
#: Facts that are points in time, in seconds since 1970, and the empty file whose time of change holds each.
_MOMENTS = {"last_poll": "watch-last-poll", "next_poll": "watch-next-poll"}

#: Seconds between two signs of life.
BEAT_S = 15.0
#: Seconds that a starting watcher goes on trying: someone may just be looking whether there is one.
_PATIENCE_S = 1.0


@contextmanager
def only_watcher(state: Path, *, clock: Callable[[], float] = time.monotonic) -> Iterator[Pulse]:
    """Holds the lock of the vault's watcher. The lock of a watcher that was killed is free.

    Raises:
        WatcherRunning: another watcher has it.
        WriteFailed: the state folder cannot be written.
    """
    with ExitStack() as held:
        try:
            held.enter_context(writing(state, timeout_s=_PATIENCE_S, command="watch", name=WATCH_LOCK))
        except StateBusy as busy:
            raise WatcherRunning(pid=busy.facts.get("pid"), since=busy.facts.get("since")) from busy
        yield Pulse(state.resolve(), clock=clock)


class Pulse:
    """The running watcher's signs of life. No method ever raises ``OSError``."""

    def __init__(self, state: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` counts seconds and never runs back. The facts of a watcher before are gone at once."""
        self._state = state
        self._clock = clock
        self._facts: dict[str, Any] = {}
        self._moments: dict[str, float | None] = {}
        self._is_told = True
        self._beaten: float | None = None
        self._lock = _identity(state / WATCH_LOCK)
        with suppress(OSError):  # on a full disk, too, where they could not be written over
            (state / _FACTS).unlink(missing_ok=True)
        self.tell(**dict.fromkeys(_MOMENTS))
        self.beat()

    def beat(self) -> None:
        """Shows that the watcher lives, at most every 15 seconds; cheap enough for every turn of a loop."""
        now = self._clock()
        if self._beaten is not None and now - self._beaten < BEAT_S:
            return
        self._beaten = now
        with suppress(OSError):
            _set_moment(self._state / _BEAT, None)
        if not self._is_told:
            self._write()

    def tell(self, **facts: Any) -> None:
        """What ``status`` is to know from now on. ``last_poll`` and ``next_poll`` are seconds since 1970, or None."""
        for name in [name for name in _MOMENTS if name in facts]:
            self._tell_moment(name, facts.pop(name))
        told = self._facts | facts
        if self._is_told and told == self._facts:
            return
        self._facts = told
        self._write()

    def still_counts(self) -> bool:
        """Whether the lock is still the one that others would find: not when the state folder was deleted or moved away."""
        return _identity(self._state / WATCH_LOCK) == self._lock

    def _tell_moment(self, name: str, at: float | None) -> None:
        if name in self._moments and self._moments[name] == at:
            return
        path = self._state / _MOMENTS[name]
        with suppress(OSError):
            if at is None:
                path.unlink(missing_ok=True)
            else:
                _set_moment(path, at)
            self._moments[name] = at

    def _write(self) -> None:
        self._is_told = False
        with suppress(OSError):
            write_whole(self._state / _FACTS, json.dumps(self._facts, ensure_ascii=False, sort_keys=True, default=str))
            self._is_told = True


def _set_moment(path: Path, at: float | None) -> None:
    """Moves the time of change to ``at``, or to now; the file stays empty."""
    path.touch(exist_ok=True)
    if at is not None:
        os.utime(path, (at, at))


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@dataclass(frozen=True, slots=True)
class WatchState:
    """What is known of a vault's watcher from outside. While none runs, the facts are those of the last one.

    ``since`` is local time, ``last_poll`` and ``next_poll`` are seconds since 1970; ``has_crashed`` when the last one
    did not stop by itself.
    """

    is_running: bool
    pid: int | None
    since: str
    has_crashed: bool
    beat_age_s: float | None
    last_poll: float | None
    next_poll: float | None
    queue: int
    errors: int
    last_error: str
    mode: str
    log: Path


def read_pulse(state: Path, *, now: Callable[[], float] = time.time) -> WatchState | None:
    """None when no watcher ever served this state folder. Writes nothing, and disturbs neither a running nor a starting one."""
    folder = state.resolve()
    holder = find_holder(folder, WATCH_LOCK)
    facts = _read_facts(folder / _FACTS)
    beat = _moment(folder / _BEAT)
    if holder is None and not facts and beat is None:
        return None
    is_running = holder is not None
    return WatchState(
        is_running=is_running,
        pid=_number(holder, "pid") if holder else None,
        since=_text(holder, "since") if holder else "",
        has_crashed=not is_running and owner_path(folder, WATCH_LOCK).is_file(),
        beat_age_s=None if beat is None else max(0.0, now() - beat),
        last_poll=_moment(folder / _MOMENTS["last_poll"]),
        next_poll=_moment(folder / _MOMENTS["next_poll"]) if is_running else None,
        queue=(_number(facts, "queue") or 0) if is_running else 0,
        errors=_number(facts, "errors") or 0,
        last_error=_text(facts, "last_error"),
        mode=_text(facts, "mode"),
        log=folder / LOG_FILE,
    )


def _read_facts(path: Path) -> dict[str, Any]:
    """Empty when there are none, or none that can be read: they are only words."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _moment(path: Path) -> float | None:
    try:
        return path.stat().st_mtime
    except OSError:
        return None


def _number(facts: Mapping[str, object], name: str) -> int | None:
    value = facts.get(name)
    return value if isinstance(value, int) else None


def _text(facts: Mapping[str, object], name: str) -> str:
    value = facts.get(name)
    return value if isinstance(value, str) else ""
