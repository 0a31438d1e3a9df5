"""When to ask the server next.

Pure: the caller says what time it is, by two clocks. The monotonic one decides; the wall clock, which people and time servers
set, only betrays that the machine has slept: it went on meanwhile, the monotonic one of Linux and macOS did not. Where that one
goes on too (Windows), the next poll is due after a sleep anyway.
"""

from __future__ import annotations

#: Seconds between two tries at most, however long the server is away: the longest that a person waits for it unawares.
LONGEST_S = 600.0
#: Seconds that the wall clock must have run ahead between two looks. Below it lie the corrections of a time server.
SLEPT_S = 15.0
#: Who waits longer than so many seconds without a look notices a wake late: a waiting thread does not count the sleep.
LOOK_S = 10.0
#: Doublings of the interval after which every interval of at least one second has met the bound.
_MOST_DOUBLINGS = 10
#: The share of a wait by which machines that lost the same server may differ when they come back.
_SPREAD = 0.25


class Schedule:
    """The first poll is due at once. Missed ones are not caught up: after any pause there is one.

    ``interval_s`` is the time from one poll's end to the next while all is well; no failure makes it shorter. ``spread``, from 0
    to 1 and always the same for one vault, shortens the longer waits after failures so that not all machines ask at once.
    """

    def __init__(self, interval_s: float, *, longest_s: float = LONGEST_S, spread: float = 0.0) -> None:
        self.interval_s = interval_s
        self.failures = 0
        self._longest_s = max(longest_s, interval_s)
        self._spread = spread
        #: By the monotonic clock; None: at once.
        self._next: float | None = None
        self._seen: tuple[float, float] | None = None

    def look(self, monotonic: float, wall: float) -> bool:
        """Whether to poll now. To be called often: it is here that a wake from sleep is noticed.

        After a sleep failures are forgotten, since the machine may be in another network, and that one may need a moment.
        """
        if self._seen and (wall - self._seen[1]) - (monotonic - self._seen[0]) >= SLEPT_S:
            self._next, self.failures = None, 0
        self._seen = monotonic, wall
        return self.wait_s(monotonic) == 0.0

    def wait_s(self, monotonic: float) -> float:
        """Seconds until the next poll, 0 when it is due."""
        return 0.0 if self._next is None else max(0.0, self._next - monotonic)

    def succeeded(self, monotonic: float) -> None:
        """A poll ended well at this time."""
        self.failures = 0
        self._next = monotonic + self.interval_s

    def failed(self, monotonic: float) -> None:
        """A poll failed at this time: the interval again, then twice as long each time, up to the bound."""
        backoff = min(self._longest_s, self.interval_s * 2.0 ** min(self.failures, _MOST_DOUBLINGS))
        self.failures += 1
        self._next = monotonic + max(self.interval_s, backoff * (1 - _SPREAD * self._spread))
