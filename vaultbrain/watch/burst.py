"""When a run of changes counts as over: quiet time, and an upper bound for whoever never pauses.

Pure: the caller says what time it is, in seconds of a clock that never goes back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Seconds. Who writes a file in parts pauses for some 0.3 s between them; the events of a rename or a checkout of 500 files
#: follow each other within milliseconds.
QUIET_S = 0.5
#: Seconds. What is saved should be found within 3 s, of which reading and embedding need about one.
LONGEST_S = 2.0


class Burst:
    """Collects paths until none was added for ``quiet_s``, or the first has waited for ``longest_s``.

    A burst is due as a whole: who takes it, takes all of it, and the next path begins another.
    """

    def __init__(self, quiet_s: float = QUIET_S, longest_s: float = LONGEST_S) -> None:
        self.quiet_s = quiet_s
        self.longest_s = longest_s
        self._paths: set[str] = set()
        self._first = 0.0
        self._last = 0.0

    def add(self, now: float, paths: Iterable[str]) -> None:
        """Puts off the end by ``quiet_s`` at most to the bound. No paths: nothing happens."""
        more = set(paths)
        if not more:
            return
        if not self._paths:
            self._first = now
        self._last = now
        self._paths |= more

    def is_due(self, now: float) -> bool:
        """Whether to take it now; an empty one never is."""
        return self.wait_s(now) == 0.0

    def wait_s(self, now: float) -> float | None:
        """Seconds until it is due if nothing more comes; 0 when it is; None when there is nothing to wait for."""
        if not self._paths:
            return None
        return max(0.0, min(self._last + self.quiet_s, self._first + self.longest_s) - now)

    def take(self) -> frozenset[str]:
        """Everything since the last take, due or not."""
        taken, self._paths = frozenset(self._paths), set()
        return taken
