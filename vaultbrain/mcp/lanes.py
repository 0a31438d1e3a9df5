"""Where the work of the tools is done: each lane is one thread with one brain, so that a long sync keeps no search waiting.

Decides how a call is run and given up. A call that nobody waits for any more is told to stop, and stops at its next safe point;
one that has not begun never begins. A brain is opened by the first call and again when the vault's settings change; after some
minutes without a call it gives back the memory of the model. Refuses to know what the calls do.
"""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from vaultbrain.settings import SETTINGS_FILE
from vaultbrain.sync.report import no_progress

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbrain.sync.report import Progress
    from vaultbrain.wiring import Brain

#: Seconds without a call after which a lane's brain gives back what only work needs.
REST_AFTER_S = 300.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Work:
    """What a running call may ask and tell. ``progress`` takes a stage, how much is done, and of how much."""

    should_stop: Callable[[], bool]
    progress: Progress


class Lane:
    """One thread, one brain. Calls wait for each other in the order in which they came."""

    def __init__(self, name: str, open_brain: Callable[[], Brain]) -> None:
        self._open_brain = open_brain
        self._brain: Brain | None = None
        self._settings_mark: tuple[int, int] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"vaultbrain-{name}")
        self._running: set[threading.Event] = set()
        self._last_call = time.monotonic()

    async def run(self, call: Callable[[Brain, Work], _T], progress: Progress = no_progress) -> _T:
        """What the call returns or raises; cancelled, the call is told to stop and not waited for."""
        given_up = threading.Event()
        work = Work(given_up.is_set, progress)
        self._running.add(given_up)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._do, call, work)
        except asyncio.CancelledError:
            given_up.set()
            raise
        finally:
            self._running.discard(given_up)

    def _do(self, call: Callable[[Brain, Work], Any], work: Work) -> Any:
        self._last_call = time.monotonic()
        try:
            return call(self._ready_brain(), work)
        finally:
            self._last_call = time.monotonic()

    def _ready_brain(self) -> Brain:
        if self._brain is None or self._settings_mark is None or _mark_of(self._brain) != self._settings_mark:
            brain = self._open_brain()
            if self._brain:
                self._brain.close()
            self._brain, self._settings_mark = brain, _mark_of(brain)
        return self._brain

    def warm_up(self) -> None:
        """Loads what the first call needs, in the lane's own thread; whatever stands in the way is the first call's to tell."""
        self._thread.submit(lambda: self._ready_brain().warm_up())

    def rest_if_idle(self) -> None:
        """Gives back memory when no call came for a while. Called now and then."""
        if self._brain and not self._running and time.monotonic() - self._last_call > REST_AFTER_S:
            self._thread.submit(self._brain.rest)
            self._last_call = time.monotonic()

    def give_up(self) -> None:
        """Tells running calls to stop."""
        for given_up in list(self._running):
            given_up.set()

    def close(self) -> None:
        """Tells running calls to stop, and waits for them."""
        self.give_up()
        self._thread.shutdown(wait=True, cancel_futures=True)
        if self._brain:
            self._brain.close()


def _mark_of(brain: Brain) -> tuple[int, int] | None:
    """Changes when the vault's settings do; None while they are not there."""
    try:
        found = (brain.settings.vault / SETTINGS_FILE).stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
