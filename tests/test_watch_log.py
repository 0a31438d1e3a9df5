"""What the watcher says: in a file that does not grow without end, in JSON lines, on a terminal; and where it keeps quiet."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shell import ROOT

from vaultbrain.watch.log import WatchLog

if TYPE_CHECKING:
    from pathlib import Path

AT = datetime(2026, 12, 1, 9, 15, 2, tzinfo=timezone(timedelta(hours=8)))
STAMP = "2026-12-01 09:15:02 "


class Broken(io.StringIO):
    """A stream whose reader went away, or whose disk is full."""

    def __init__(self, error: OSError) -> None:
        super().__init__()
        self._error = error

    def write(self, text: str) -> int:
        raise self._error


class Told:
    """A log with everything it says."""

    def __init__(self, state: Path, **options: Any) -> None:
        self.path = state / "watch.log"
        self.out, self.err = io.StringIO(), io.StringIO()
        self.log = WatchLog(state, **{"now": lambda: AT, "out": self.out, "err": self.err} | options)

    @property
    def lines(self) -> list[str]:
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.is_file() else []

    @property
    def sentences(self) -> list[str]:
        return [line.removeprefix(STAMP) for line in self.lines]

    @property
    def json(self) -> list[Any]:
        return [json.loads(line) for line in self.out.getvalue().splitlines()]


# where it says what


def test_one_line_for_each_action(tmp_path: Path) -> None:
    """With date and time of day, in words; nothing on stdout or stderr unless it is asked for."""
    told = Told(tmp_path)
    told.log.said("answered", "answered the question in CFlow/Ask/觀影.md: CFlow/Answers/觀影.md", about="CFlow/Ask/觀影.md")
    told.log.failed("sync", "cannot reach http://127.0.0.1:5230")
    assert told.lines == [
        f"{STAMP}answered the question in CFlow/Ask/觀影.md: CFlow/Answers/觀影.md",
        f"{STAMP}cannot reach http://127.0.0.1:5230",
    ]
    assert told.out.getvalue() + told.err.getvalue() == ""


def test_nothing_is_made_before_the_first_line(tmp_path: Path) -> None:
    """A watcher with nothing to say leaves no file, also when it ends."""
    told = Told(tmp_path)
    told.log.recovered("sync", "in touch again")
    told.log.close()
    assert list(tmp_path.iterdir()) == []


def test_json_lines_for_machines(tmp_path: Path) -> None:
    """One object a line on stdout with time, event, facts and the sentence; the file has the sentence as ever."""
    told = Told(tmp_path, json_lines=True, is_shown=True)
    told.log.said("synced", "2 new memos", created=2, updated=0)
    told.log.failed("answer", "沒有答案", about="CFlow/Ask/甲.md")
    assert told.json == [
        {"at": "2026-12-01T09:15:02+08:00", "event": "synced", "created": 2, "updated": 0, "text": "2 new memos"},
        {"at": "2026-12-01T09:15:02+08:00", "event": "answer", "about": "CFlow/Ask/甲.md", "failed": True, "text": "沒有答案"},
    ]
    assert list(told.json[0]) == ["at", "event", "created", "updated", "text"]
    assert told.sentences == ["2 new memos", "沒有答案"]
    assert told.err.getvalue() == ""


def test_whoever_looks_on_sees_the_same_lines(tmp_path: Path) -> None:
    """On stderr, so that stdout stays empty."""
    told = Told(tmp_path, is_shown=True)
    told.log.said("synced", "2 new memos")
    assert told.err.getvalue().splitlines() == told.lines == [f"{STAMP}2 new memos"]
    assert told.out.getvalue() == ""


def test_the_reader_of_json_lines_may_go_away(tmp_path: Path) -> None:
    """That stops nothing in the middle; the watcher can ask, and end at a safe point."""
    told = Told(tmp_path, json_lines=True, out=Broken(BrokenPipeError()))
    assert not told.log.reader_is_gone
    told.log.said("synced", "2 new memos")
    assert told.log.reader_is_gone
    assert told.sentences == ["2 new memos"]


# what a line may hold


@given(text=st.text(max_size=80), fact=st.text(max_size=20))
@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_an_action_is_always_one_line(tmp_path: Path, text: str, fact: str) -> None:
    """Whatever is in a path or a server's message: no line ends, no turned direction, nothing that cannot be encoded."""
    told = Told(tmp_path, json_lines=True)
    told.path.unlink(missing_ok=True)
    told.log.said("x", f"<{text}>", fact=fact)
    raw = told.path.read_bytes().decode("utf-8")
    assert raw.startswith(f"{STAMP}<")
    assert raw.endswith(">\n")
    assert len(raw.splitlines()) == 1
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", raw)
    assert len(told.json) == 1
    assert told.json[0]["text"].startswith("<")


def test_a_name_that_is_no_text_can_be_logged(tmp_path: Path) -> None:
    """A file name of bytes that are not UTF-8 comes out escaped."""
    told = Told(tmp_path, json_lines=True)
    told.log.said("x", "wrote \udcff.md", about="\udcff.md")
    assert told.sentences == ["wrote \\udcff.md"]
    assert told.json[0]["about"] == "\udcff.md"


def test_secrets_never_appear(tmp_path: Path) -> None:
    """Also when a server's message repeats the token, in the sentence or in a fact; the longest one goes first."""
    told = Told(tmp_path, json_lines=True, secrets=("", "abc", "abc-def"))
    told.log.failed("sync", "refused: abc-def is no token", reason="bad abc-def", tries=3, said=["abc", {"abc": ("abc",)}])
    assert told.sentences == ["refused: *** is no token"]
    assert told.json[0]["reason"] == "bad ***"
    assert "abc" not in told.out.getvalue()


def test_an_endless_message_is_cut(tmp_path: Path) -> None:
    """A whole error page of a server is no line."""
    told = Told(tmp_path)
    told.log.said("x", "頁" * 5_000)
    assert len(told.sentences[0]) == 600
    assert told.sentences[0].endswith("頁…")


# not without end


def test_the_file_does_not_grow_without_end(tmp_path: Path) -> None:
    """Three files of 1 MB, give or take a line; the newest lines in the first."""
    told = Told(tmp_path)
    count = 5_600
    for number in range(count):
        told.log.said("x", f"{number} " + "行" * 190)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir()}
    assert sorted(sizes) == ["watch.log", "watch.log.1", "watch.log.2"]
    assert max(sizes.values()) <= 1_002_000
    assert told.sentences[-1].startswith(f"{count - 1} ")


def test_the_same_failure_is_said_once(tmp_path: Path) -> None:
    """A server that is away for hours costs one line, and one when it is back, with the count."""
    told = Told(tmp_path)
    for _ in range(12):
        told.log.failed("sync", "cannot reach the server")
    assert told.log.is_failing("sync")
    told.log.recovered("sync", "the server answers again")
    told.log.recovered("sync", "the server answers again")
    told.log.failed("sync", "cannot reach the server")
    told.log.said("sync", "2 new memos")
    assert not told.log.is_failing("sync")
    assert told.sentences == [
        "cannot reach the server",
        "the server answers again (after 12 failed tries)",
        "cannot reach the server",
        "2 new memos (after 1 failed try)",
    ]


def test_a_failure_that_changes_is_said_anew(tmp_path: Path) -> None:
    """With the count of those before it."""
    told = Told(tmp_path)
    for sentence in ("no answer", "no answer", "token refused", "token refused", "no answer"):
        told.log.failed("sync", sentence)
    assert told.sentences == [
        "no answer",
        "token refused (before that: 2 failed tries of another kind)",
        "no answer (before that: 2 failed tries of another kind)",
    ]


def test_failures_of_different_things_are_kept_apart(tmp_path: Path) -> None:
    """Two notes, two events: each has its own count."""
    told = Told(tmp_path)
    for _ in range(2):
        told.log.failed("answer", "cannot answer", about="a.md")
        told.log.failed("answer", "cannot answer", about="b.md")
        told.log.failed("sync", "cannot answer")
    told.log.said("answer", "answered a.md", about="a.md")
    assert told.sentences == ["cannot answer"] * 3 + ["answered a.md (after 2 failed tries)"]
    assert told.log.is_failing("answer", "b.md")


def test_what_still_fails_is_said_at_the_end(tmp_path: Path) -> None:
    """Where more than the line already said happened."""
    told = Told(tmp_path, json_lines=True)
    for _ in range(3):
        told.log.failed("sync", "no answer")
    told.log.failed("answer", "no model", about="a.md")
    told.log.close()
    told.log.close()
    assert told.sentences == ["no answer", "no model", "no answer (still so when the watcher stopped: 3 failed tries)"]
    assert told.json[-1]["tries"] == 3


# when it cannot be written


def test_a_log_that_cannot_be_written_goes_to_stderr(tmp_path: Path) -> None:
    """The reason is said once; no line is lost; when it can be written again it is, without a word."""
    told = Told(tmp_path / "gone")
    told.log.said("x", "one")
    told.log.said("x", "two")
    (tmp_path / "gone").mkdir()
    told.log.said("x", "three")
    assert told.lines == [f"{STAMP}three"]
    told.path.unlink()
    told.path.mkdir()
    told.log.said("x", "four")
    first, *rest = told.err.getvalue().splitlines()
    assert first == f"{told.path} cannot be written (No such file or directory); its lines go to stderr meanwhile."
    assert rest[:2] == [f"{STAMP}one", f"{STAMP}two"]
    assert rest[2].startswith(f"{told.path} cannot be written (")
    assert rest[3:] == [f"{STAMP}four"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="only Linux has a disk that is always full")  # noqa: PTH110
def test_a_full_disk_stops_nothing(tmp_path: Path) -> None:
    """Neither that of the log nor that of stdout; what cannot be said anywhere is not said."""
    (tmp_path / "watch.log").symlink_to("/dev/full")
    told = Told(tmp_path)
    told.log.said("x", "one")
    assert told.err.getvalue().splitlines()[1] == f"{STAMP}one"
    everywhere = Told(
        tmp_path, json_lines=True, out=Broken(OSError(28, "No space left")), err=Broken(OSError(28, "No space left"))
    )
    everywhere.log.failed("x", "one")
    everywhere.log.close()


def test_a_line_survives_the_file_being_taken_away(tmp_path: Path) -> None:
    """Nothing is held open: a deleted or renamed log begins anew with the next line."""
    told = Told(tmp_path)
    told.log.said("x", "one")
    told.path.rename(tmp_path / "kept")
    told.log.said("x", "two")
    assert told.sentences == ["two"]


def test_a_closed_stderr_stops_nothing(tmp_path: Path) -> None:
    """As a service may be started, with neither a terminal nor a log that can be written."""
    script = (
        "import sys; from pathlib import Path; from vaultbrain.watch.log import WatchLog\n"
        "log = WatchLog(Path(sys.argv[1]), is_shown=True); sys.stderr.close(); log.said('x', 'one'); print('alive')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "gone")],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (0, "alive\n")
