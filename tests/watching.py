"""A real watcher in a process of its own, beside a real server and real files; what it did is read from its lines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from cflow_server import TOKEN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Seconds that a test waits for something that takes one on a quiet machine.
PATIENCE_S = 60.0


def wait_until(condition: Callable[[], Any], what: str, patience_s: float = PATIENCE_S) -> Any:
    """The first true value of ``condition``."""
    ends = time.monotonic() + patience_s
    while time.monotonic() < ends:
        if found := condition():
            return found
        time.sleep(0.05)
    raise AssertionError(f"not within {patience_s:.0f} s: {what}")


@dataclass
class RunningWatcher:
    """``lines`` are the JSON lines so far."""

    process: subprocess.Popen[str]
    lines: list[dict[str, Any]] = field(default_factory=list)

    def said(self, event: str, part: str = "") -> list[dict[str, Any]]:
        return [line for line in list(self.lines) if line["event"] == event and part in line["text"]]

    def wait_for(self, event: str, part: str = "", count: int = 1) -> dict[str, Any]:
        """The ``count``-th line of this event whose text holds ``part``."""
        found = wait_until(
            lambda: len(self.said(event, part)) >= count and self.said(event, part), f"{event}: {part}\n{self.lines}"
        )
        return found[count - 1]

    def stop(self, patience_s: float = 10.0) -> int:
        """SIGTERM; the exit code. Fails when it takes longer than promised."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(patience_s)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def cpu_s(self) -> float:
        """Seconds of processor time that the process has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def command(vault: Path, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "vaultbrain", *arguments, "--vault", str(vault)]


def environment() -> dict[str, str]:
    return os.environ | {"CFLOW_API_TOKEN": TOKEN, "PYTHONUNBUFFERED": "1"}


@contextmanager
def watching(vault: Path, *options: str, is_ready: bool = True) -> Iterator[RunningWatcher]:
    """``vaultbrain watch`` on the vault, ended with the block; with ``is_ready`` not before it watches."""
    process = subprocess.Popen(
        [*command(vault, "watch", "--json"), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    running = RunningWatcher(process)

    def read() -> None:
        assert process.stdout
        for line in process.stdout:
            running.lines.append(json.loads(line))

    reader = Thread(target=read, daemon=True)
    reader.start()
    try:
        if is_ready:
            running.wait_for("start")
        yield running
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        reader.join(5)
        for stream in (process.stdout, process.stderr):
            if stream:
                stream.close()
