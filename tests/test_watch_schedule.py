"""When the server is asked next, whatever clocks, sleeps and failures do."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from vaultbrain.watch.schedule import LONGEST_S, SLEPT_S, Schedule

WALL = 1_796_000_000.0


def test_the_first_poll_is_due_at_once() -> None:
    """Whatever the clocks show."""
    assert Schedule(60).look(12_345.0, WALL)


def test_after_a_success_the_interval_passes() -> None:
    """Counted from the poll's end."""
    schedule = Schedule(60)
    schedule.succeeded(100.0)
    assert schedule.wait_s(100.0) == 60
    assert not schedule.look(159.0, WALL)
    assert schedule.look(160.0, WALL + 1)


def test_failures_double_the_wait_up_to_ten_minutes() -> None:
    """And one success brings back the interval."""
    schedule = Schedule(60)
    waits = []
    for _ in range(7):
        schedule.failed(0.0)
        waits.append(schedule.wait_s(0.0))
    assert waits == [60, 120, 240, 480, 600, 600, 600]
    schedule.succeeded(0.0)
    assert schedule.wait_s(0.0) == 60
    schedule.failed(0.0)
    assert schedule.wait_s(0.0) == 60


def test_a_long_outage_keeps_to_the_bound() -> None:
    """Thousands of failures overflow nothing."""
    schedule = Schedule(1)
    for _ in range(5_000):
        schedule.failed(0.0)
    assert schedule.wait_s(0.0) == LONGEST_S


def test_a_seldom_poll_is_not_made_more_frequent_by_failures() -> None:
    """An interval beyond the bound stays."""
    schedule = Schedule(3_600)
    schedule.failed(0.0)
    schedule.failed(0.0)
    assert schedule.wait_s(0.0) == 3_600


def test_machines_that_lost_the_same_server_come_back_apart() -> None:
    """By up to a quarter of the wait, each always the same."""
    waits = []
    for spread in (0.0, 0.5, 1.0):
        schedule = Schedule(60, spread=spread)
        for _ in range(8):
            schedule.failed(0.0)
        waits.append(schedule.wait_s(0.0))
    assert waits == [600, 525, 450]


@pytest.mark.parametrize("fails", [0, 9])
def test_after_a_sleep_it_is_due_at_once(fails: int) -> None:
    """Also in the middle of a backoff, and a failure after it waits no longer than the interval."""
    schedule = Schedule(60)
    schedule.look(1_000.0, WALL)
    schedule.succeeded(1_000.0)
    for _ in range(fails):
        schedule.failed(1_000.0)
    assert not schedule.look(1_010.0, WALL + 10)
    assert schedule.look(1_020.0, WALL + 20 + 8 * 3_600)
    schedule.failed(1_021.0)
    assert schedule.wait_s(1_021.0) == 60


def test_one_sleep_makes_one_poll() -> None:
    """The next look compares with this one."""
    schedule = Schedule(60)
    schedule.look(0.0, WALL)
    assert schedule.look(1.0, WALL + 3_600)
    schedule.succeeded(2.0)
    assert not schedule.look(3.0, WALL + 3_602)


def test_a_corrected_clock_is_no_sleep() -> None:
    """Less than 15 s forward, or any time back."""
    schedule = Schedule(60)
    schedule.look(0.0, WALL)
    schedule.succeeded(0.0)
    assert not schedule.look(1.0, WALL + SLEPT_S)
    assert not schedule.look(2.0, WALL - 86_400)
    assert not schedule.look(3.0, WALL - 86_399)


def test_a_clock_set_back_does_not_stop_polling() -> None:
    """The interval is counted by the monotonic clock."""
    schedule = Schedule(60)
    schedule.look(0.0, WALL)
    schedule.succeeded(0.0)
    assert not schedule.look(30.0, WALL - 10**8)
    assert schedule.look(60.0, WALL - 10**8 + 30)


class Polling(RuleBasedStateMachine):
    """A worker that looks, polls when it is due, and meets failures, sleeps and clocks that jump."""

    def __init__(self) -> None:
        super().__init__()
        self.schedule = Schedule(60, spread=0.3)
        self.now, self.wall = 0.0, WALL
        self.failures = 0
        self.at_once = True
        self.ended = 0.0
        self.schedule.look(self.now, self.wall)

    @rule(seconds=st.floats(0, 900))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.wall += seconds

    @rule(seconds=st.floats(SLEPT_S + 1, 10**6))
    def sleep(self, seconds: float) -> None:
        self.look()
        self.wall += seconds
        assert self.schedule.look(self.now, self.wall)
        self.at_once, self.failures = True, 0

    @rule(seconds=st.floats(0, 10**8))
    def set_back(self, seconds: float) -> None:
        self.look()
        self.wall -= seconds
        self.look()

    @rule(works=st.booleans())
    def poll(self, works: bool) -> None:
        if self.look():
            (self.schedule.succeeded if works else self.schedule.failed)(self.now)
            self.failures = 0 if works else self.failures + 1
            self.at_once, self.ended = False, self.now
            assert not self.look()

    def look(self) -> bool:
        return self.schedule.look(self.now, self.wall)

    @invariant()
    def keeps_its_bounds(self) -> None:
        wait = self.schedule.wait_s(self.now)
        assert self.schedule.failures == self.failures
        assert 0.0 <= wait <= (LONGEST_S if self.failures else 60.0) + 1e-6
        if self.at_once or self.now - self.ended >= LONGEST_S + 1:
            assert wait == 0.0
        elif self.now - self.ended < 59.9:
            assert wait > 0.0


TestPolling = Polling.TestCase
TestPolling.settings = settings(deadline=None, max_examples=60)


@settings(deadline=None)
@given(st.floats(1, 10_000), st.integers(0, 50), st.floats(0, 1))
def test_no_wait_is_shorter_than_the_interval_or_longer_than_the_bound(interval: float, fails: int, spread: float) -> None:
    """For every interval that a person may set."""
    schedule = Schedule(interval, spread=spread)
    for _ in range(fails):
        schedule.failed(0.0)
    if not fails:
        schedule.succeeded(0.0)
    assert interval <= schedule.wait_s(0.0) <= max(interval, LONGEST_S)
