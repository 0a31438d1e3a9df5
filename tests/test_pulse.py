"""That a watcher runs, since when and how it is, seen from another process; and that there is never more than one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import pytest
from obsidian import hash_tree
from shell import ROOT

from vaultbrain.errors import StateBusy, WatcherRunning, explain
from vaultbrain.sync.lock import find_holder, writing
from vaultbrain.watch.pulse import BEAT_S, WATCH_LOCK, only_watcher, read_pulse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

OWNER = f"{WATCH_LOCK}-owner.json"
#: A process that is the watcher until a line comes on stdin.
WATCH = """
import sys
from pathlib import Path
from vaultbrain.watch.pulse import only_watcher
with only_watcher(Path(sys.argv[1])) as pulse:
    pulse.tell(queue=3)
    print("ready", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def another_watcher(state: Path) -> Iterator[subprocess.Popen[str]]:
    """One in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-c", WATCH, str(state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    try:
        yield process
    finally:
        process.communicate("\n")


class Clock:
    """Stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


def marks(state: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in sorted(state.iterdir())}


# one at a time


def test_a_second_watcher_is_refused_by_name(state: Path) -> None:
    """The refusal says which process has been watching and since when, in words too."""
    with another_watcher(state) as running:
        with pytest.raises(WatcherRunning) as refused, only_watcher(state):
            pass
        assert refused.value.facts["pid"] == running.pid
        found = read_pulse(state)
        assert found
        assert refused.value.facts["since"] == found.since != ""
        assert f"process {running.pid}, started {found.since}." in explain(refused.value).what


def test_a_symlinked_state_folder_is_the_same(state: Path, tmp_path: Path) -> None:
    """By whatever path the folder is reached, there is one watcher, and it is seen."""
    state.mkdir()
    (tmp_path / "alias").symlink_to(state, target_is_directory=True)
    with only_watcher(tmp_path / "alias"):
        with pytest.raises(WatcherRunning), only_watcher(state):
            pass
        for path in (state, tmp_path / "alias"):
            found = read_pulse(path)
            assert found
            assert found.is_running


def test_each_state_folder_has_its_own_watcher(tmp_path: Path) -> None:
    """Two vaults are watched at the same time."""
    with only_watcher(tmp_path / "one"), only_watcher(tmp_path / "two"):
        assert read_pulse(tmp_path / "three") is None


def test_a_watcher_does_not_keep_others_from_writing(state: Path) -> None:
    """A sync has a lock of its own; a refusal of that one, met while watching, stays what it is."""
    with only_watcher(state), writing(state, timeout_s=0, command="sync"):
        pass
    with ExitStack() as held:
        held.enter_context(only_watcher(state))
        held.enter_context(writing(state, timeout_s=0, command="sync"))
        with pytest.raises(StateBusy):
            held.enter_context(writing(state, timeout_s=0, command="sync"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_the_lock_of_a_killed_watcher_heals(state: Path) -> None:
    """It is seen as crashed, and the next one starts at once, under its own name."""
    with another_watcher(state) as running:
        running.kill()
        running.wait()
    found = read_pulse(state)
    assert found
    assert (found.is_running, found.pid, found.has_crashed, found.queue) == (False, None, True, 0)
    with only_watcher(state):
        found = read_pulse(state)
        assert found
        assert (found.is_running, found.pid, found.has_crashed) == (True, os.getpid(), False)
    found = read_pulse(state)
    assert found
    assert (found.is_running, found.has_crashed) == (False, False)


def test_a_leftover_name_misleads_nobody(state: Path) -> None:
    """Its process number may by now be that of another program that runs: this very one."""
    state.mkdir()
    (state / WATCH_LOCK).touch()
    (state / OWNER).write_text(json.dumps({"pid": os.getpid(), "since": "2020-01-01 00:00:00", "command": "watch"}), "utf-8")
    found = read_pulse(state)
    assert found is None or not found.is_running
    assert find_holder(state, WATCH_LOCK) is None
    with only_watcher(state):
        found = read_pulse(state)
        assert found
        assert not found.since.startswith("2020")


def test_a_name_that_cannot_be_removed_hinders_nobody(state: Path) -> None:
    """The watcher ends well, its lock is free, and the next one starts."""
    with only_watcher(state):
        (state / OWNER).unlink()
        (state / OWNER).mkdir()
    assert find_holder(state, WATCH_LOCK) is None
    with only_watcher(state):
        assert find_holder(state, WATCH_LOCK) == {}


@pytest.mark.skipif(os.name == "nt", reason="the test looks as one looks elsewhere")
def test_looking_never_keeps_a_watcher_from_starting(state: Path) -> None:
    """While someone is in the middle of looking, others take them for no watcher, and one that starts gets the lock after all."""
    import fcntl  # Windows has none

    with only_watcher(state):
        pass
    looking = (state / WATCH_LOCK).open("rb")
    fcntl.flock(looking, fcntl.LOCK_SH)
    assert find_holder(state, WATCH_LOCK) is None
    end = threading.Timer(0.05, looking.close)
    end.start()
    with only_watcher(state):
        assert find_holder(state, WATCH_LOCK) is not None
    end.join()


@pytest.mark.skipif(os.name == "nt", reason="the test stops and continues a process with signals")
def test_a_watcher_that_stands_still_still_is_the_watcher(state: Path) -> None:
    """A stopped process holds its lock, and its age shows."""
    with another_watcher(state) as running:
        running.send_signal(signal.SIGSTOP)
        with pytest.raises(WatcherRunning), only_watcher(state):
            pass
        beaten = (state / "watch-beat").stat().st_mtime
        found = read_pulse(state, now=lambda: beaten + 100)
        assert found
        assert (found.is_running, found.beat_age_s, found.queue) == (True, 100, 3)
        running.send_signal(signal.SIGCONT)


def test_a_state_folder_taken_away_is_noticed(state: Path, tmp_path: Path) -> None:
    """Its lock protects nobody any more: others would make a new one."""
    with only_watcher(state) as pulse:
        assert pulse.still_counts()
        state.rename(tmp_path / "moved")
        assert not pulse.still_counts()
        pulse.tell(queue=1)
        pulse.beat()
        with only_watcher(state) as other:
            assert other.still_counts()
            assert not pulse.still_counts()


# what is told


def test_nothing_is_known_of_a_vault_without_watcher(state: Path) -> None:
    """And looking makes nothing, not even the folder."""
    assert read_pulse(state) is None
    assert not state.exists()
    state.mkdir()
    assert read_pulse(state) is None
    assert list(state.iterdir()) == []


def test_everything_told_is_read(state: Path) -> None:
    """Each fact as it was told last."""
    with only_watcher(state) as pulse:
        pulse.tell(queue=4, errors=2, last_error="不能到達 http://127.0.0.1", mode="polling", last_poll=1_700_000_000.5)
        pulse.tell(queue=1, next_poll=1_700_000_060.25)
        found = read_pulse(state)
        assert found
        assert (found.queue, found.errors, found.last_error, found.mode) == (1, 2, "不能到達 http://127.0.0.1", "polling")
        assert (found.last_poll, found.next_poll) == (1_700_000_000.5, 1_700_000_060.25)
        assert found.log == state / "watch.log"
        pulse.tell(next_poll=None)
        found = read_pulse(state)
        assert found
        assert found.next_poll is None


def test_the_facts_of_the_watcher_before_are_not_those_of_this_one(state: Path) -> None:
    """What is to come and what waits ends with a watcher; its troubles are known until the next one starts."""
    with only_watcher(state) as pulse:
        pulse.tell(queue=4, errors=2, last_error="away", last_poll=1_700_000_000, next_poll=1_700_000_060)
    found = read_pulse(state)
    assert found
    assert (found.queue, found.next_poll, found.errors, found.last_error) == (0, None, 2, "away")
    with only_watcher(state):
        found = read_pulse(state)
        assert found
        assert (found.queue, found.last_poll, found.next_poll, found.errors, found.last_error) == (0, None, None, 0, "")


def test_an_idle_watcher_writes_no_byte(state: Path) -> None:
    """It lives, asks the server each minute and finds nothing: only times of change move."""
    clock = Clock()
    with only_watcher(state, clock=clock) as pulse:
        pulse.tell(queue=0, errors=0, mode="native", last_poll=1_700_000_000, next_poll=1_700_000_060)
        before, inodes = hash_tree(state), {path.name: path.stat().st_ino for path in state.iterdir()}
        for minute in range(1, 30):
            clock.now += 60
            pulse.beat()
            pulse.tell(queue=0, errors=0, last_poll=1_700_000_000 + 60 * minute, next_poll=1_700_000_060 + 60 * minute)
        assert hash_tree(state) == before
        assert {path.name: path.stat().st_ino for path in state.iterdir()} == inodes
        found = read_pulse(state)
        assert found
        assert found.last_poll == 1_700_000_000 + 60 * 29


def test_a_beat_moves_one_file_at_most_every_15_seconds(state: Path) -> None:
    """Calls in between touch nothing."""
    clock = Clock()
    with only_watcher(state, clock=clock) as pulse:
        os.utime(state / "watch-beat", (0, 0))
        before = marks(state)
        clock.now += BEAT_S - 0.1
        pulse.beat()
        assert marks(state) == before
        clock.now += 0.1
        pulse.beat()
        after = marks(state)
        assert after.pop("watch-beat") > before.pop("watch-beat")
        assert after == before


@pytest.mark.parametrize("breaks", [lambda path: path.mkdir(), lambda path: path.symlink_to("nowhere/at/all")])
def test_what_cannot_be_told_is_told_later(state: Path, breaks: Callable[[Path], None]) -> None:
    """A place that refuses to be written stops nothing; as soon as it can be written, the next beat tells."""
    clock = Clock()
    with only_watcher(state, clock=clock) as pulse:
        (state / "watch-last-poll").symlink_to("nowhere/at/all")
        (state / "watch.json").mkdir()
        (state / "watch-beat").unlink()
        breaks(state / "watch-beat")
        pulse.tell(queue=7, last_poll=1_700_000_000)
        clock.now += BEAT_S
        pulse.beat()
        found = read_pulse(state)
        assert found
        assert (found.is_running, found.queue) == (True, 0)
        (state / "watch.json").rmdir()
        clock.now += BEAT_S
        pulse.beat()
        found = read_pulse(state)
        assert found
        assert found.queue == 7
    assert not list(state.glob("*.tmp")) + list(state.glob(".*"))


@pytest.mark.parametrize(
    "text", ["", "{", "[1]", '{"queue": "many", "errors": null, "last_error": 3, "pid": "x"}', "\udcff", "[" * 5000]
)
def test_broken_facts_are_no_facts(state: Path, text: str) -> None:
    """Whatever stands in the file, whether a watcher runs is still known."""
    with only_watcher(state):
        (state / "watch.json").write_bytes(text.encode("utf-8", "surrogateescape"))
        found = read_pulse(state)
        assert found
        assert (found.is_running, found.pid, found.queue, found.last_error) == (True, os.getpid(), 0, "")


def test_a_clock_set_back_gives_no_age_below_zero(state: Path) -> None:
    """The sign of life may come from the future."""
    with only_watcher(state):
        found = read_pulse(state, now=lambda: 0.0)
        assert found
        assert found.beat_age_s == 0


def test_looking_writes_nothing(state: Path) -> None:
    """Also in a folder that may not be written, and with a watcher that runs."""
    with only_watcher(state):
        before = marks(state)
        assert read_pulse(state)
        assert marks(state) == before
    state.chmod(0o500)
    try:
        assert read_pulse(state)
    finally:
        state.chmod(0o700)
