"""When a run of changes is over, and that none of it is lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from vaultbrain.watch.burst import LONGEST_S, QUIET_S, Burst


def test_a_burst_ends_after_quiet_time() -> None:
    """One save is due half a second later, and not before."""
    burst = Burst()
    burst.add(10.0, ["a.md"])
    assert burst.wait_s(10.0) == QUIET_S
    assert not burst.is_due(10.25)
    assert burst.is_due(10.5)
    assert burst.take() == {"a.md"}


def test_what_keeps_changing_holds_the_burst_open_up_to_the_bound() -> None:
    """Saved every 0.25 s, it is due 2 s after the first save, with all paths of that time."""
    burst = Burst()
    for step in range(8):
        burst.add(100.0 + step / 4, ["a.md", f"{step}.md"])
        assert not burst.is_due(100.0 + step / 4)
    assert burst.is_due(100.0 + LONGEST_S)
    assert burst.take() == {"a.md", *(f"{step}.md" for step in range(8))}


def test_an_empty_burst_waits_for_nothing() -> None:
    """Neither at first, nor after no paths were added, nor after it was taken."""
    burst = Burst()
    assert burst.wait_s(0.0) is None
    burst.add(1.0, [])
    assert burst.wait_s(1.0) is None
    assert not burst.is_due(99.0)
    burst.add(2.0, iter(["a.md"]))
    assert burst.take() == {"a.md"}
    assert burst.wait_s(2.0) is None
    assert burst.take() == frozenset()


def test_the_next_burst_has_its_own_bound() -> None:
    """The time of the first path of the burst before counts no more."""
    burst = Burst(quiet_s=3.0, longest_s=20.0)
    burst.add(0.0, ["a.md"])
    burst.take()
    burst.add(100.0, ["b.md"])
    assert burst.wait_s(100.0) == 3.0


class Bursts(RuleBasedStateMachine):
    """Time goes on, paths come, and whoever is due is taken or not."""

    def __init__(self) -> None:
        super().__init__()
        self.burst = Burst(quiet_s=0.5, longest_s=2.0)
        self.now = 0.0
        self.expected: set[str] = set()
        self.first = self.last = 0.0

    @rule(seconds=st.floats(0, 3, allow_nan=False), paths=st.lists(st.sampled_from("abcde"), max_size=3))
    def add(self, seconds: float, paths: list[str]) -> None:
        self.now += seconds
        self.burst.add(self.now, paths)
        if paths:
            self.first = self.first if self.expected else self.now
            self.last = self.now
            self.expected |= set(paths)

    @rule()
    def take(self) -> None:
        assert self.burst.take() == self.expected
        self.expected = set()

    @invariant()
    def waits_within_its_bounds(self) -> None:
        wait = self.burst.wait_s(self.now)
        assert (wait is None) == (not self.expected)
        assert self.burst.is_due(self.now) == (wait == 0.0)
        if wait is not None:
            assert 0.0 <= wait <= 0.5 + 1e-9
            assert self.burst.is_due(max(self.now, self.first + 2.0))
            assert self.burst.is_due(max(self.now, self.last + 0.5))
            assert wait == 0.0 or self.now + wait <= min(self.last + 0.5, self.first + 2.0) + 1e-9


TestBursts = Bursts.TestCase
TestBursts.settings = settings(deadline=None, max_examples=60)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 2, allow_nan=False), st.sampled_from("abcdef")), max_size=40))
def test_everything_added_is_taken_once_it_is_due(steps: list[tuple[float, str]]) -> None:
    """A worker that takes only what is due has taken all of it in the end, and nothing waited longer than the bound."""
    burst, now, taken, waiting = Burst(), 0.0, set(), {}
    for pause, path in steps:
        due = burst.wait_s(now)
        if due is not None and due <= pause:
            taken_at = now + due
            assert all(taken_at - since <= LONGEST_S + 1e-9 for since in waiting.values())
            taken |= burst.take()
            waiting.clear()
        now += pause
        burst.add(now, [path])
        waiting.setdefault(path, now)
    assert taken | burst.take() == {path for _, path in steps}
