"""What every command shares: where output goes, progress on a terminal, failures in words.

stdout is the answer, stderr the talk. Progress is shown only when stderr is a terminal.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vaultbrain.errors import UsageProblem, explain
from vaultbrain.sync.report import no_progress
from vaultbrain.words import spoken_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vaultbrain.errors import VaultbrainError
    from vaultbrain.sync.report import Progress

VaultOption = Annotated[
    str | None,
    typer.Option("--vault", metavar="PATH", help="The vault; default: the nearest folder upwards with a vaultbrain.toml."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
VariantOption = Annotated[
    list[str] | None, typer.Option("--variant", metavar="Q", help="Another way to say it; may be given several times.")
]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No talk on stderr, only errors.")]

_STAGES = {
    "listing": "Asking the server",
    "memos": "Reading memos",
    "gists": "Summing up memos",
    "notes": "Writing notes",
    "chunks": "Cutting chunks",
    "vectors": "Computing vectors",
    "dictionary": "Compiling the dictionary",
    "answers": "Looking after answers",
}


def say(text: str, *, quiet: bool = False) -> None:
    """Talk: on stderr."""
    if not quiet:
        print(text, file=sys.stderr)  # noqa: T201


def answer(text: str) -> None:
    """The answer: on stdout."""
    print(text)  # noqa: T201


def answer_json(value: Any) -> None:
    """JSON is UTF-8 (RFC 8259), whatever the terminal speaks; half of a broken character comes out as its JSON escape."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    answer(json.dumps(value, ensure_ascii=False, indent=2))


def ask_person(question: str) -> str:
    """The line typed in answer. The question is talk: on stderr, which Typer's own prompt does not keep to."""
    print(question, end=" ", file=sys.stderr, flush=True)  # noqa: T201
    return input().strip()


def refuse_blank(text: str, name: str) -> None:
    if not text.strip():
        raise UsageProblem(what=f"The {name} is empty.", next=f"Give the {name} in quotes.")


def on_terminal(stream: Any) -> bool:
    return bool(stream.isatty()) and os.environ.get("TERM") != "dumb"


def escape_what_cannot_be_shown() -> None:
    """A character that the terminal's encoding lacks, or half of a broken one, comes out as an escape instead of a failure."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def describe_failure(error: VaultbrainError) -> str:
    """What happened, what was left untouched, what to do next."""
    words = explain(error)
    return f"{words.what}\n{words.untouched}\n{words.next}"


def describe_usage_problem(error: typer.TyperException, program: str) -> str:
    """The same three parts for a command line that cannot be understood."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context else program
    return f"{error.format_message()}\nNothing was read or written.\nSee: {command} --help"


@contextmanager
def stopping(on_stop: Callable[[], None] = lambda: None, *, within_s: float = 0.0) -> Iterator[Callable[[], bool]]:
    """Turns Ctrl-C and SIGTERM into a question that work asks between two batches; a second Ctrl-C stops at once.

    ``on_stop`` is called by the signal itself, so it may do next to nothing. With ``within_s``, whoever has not asked so many
    seconds later, since it waits for somebody else's server, is stopped where it is, as by a second Ctrl-C.
    """
    asked: list[int] = []

    def note(number: int, frame: object) -> None:  # noqa: ARG001
        if asked and number == signal.SIGINT:
            raise KeyboardInterrupt
        if not asked and within_s and hasattr(signal, "SIGALRM"):
            signal.setitimer(signal.ITIMER_REAL, within_s)
        asked.append(number)
        on_stop()
        if on_terminal(sys.stderr):
            say("\nStopping...")

    def interrupt(number: int, frame: object) -> None:  # noqa: ARG001
        raise KeyboardInterrupt

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM)}
    if within_s and hasattr(signal, "SIGALRM"):
        before[signal.SIGALRM] = signal.signal(signal.SIGALRM, interrupt)
    try:
        yield lambda: bool(asked)
    finally:
        if within_s and hasattr(signal, "SIGALRM"):
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


class TerminalProgress:
    """A bar with an honest remaining time: from the rate of the last half minute, not from the start."""

    _WINDOW_S = 30.0

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}"))
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("", total=None, left="", visible=False)
        self._stage = ""
        self._seen: list[tuple[float, int]] = []

    def __enter__(self) -> TerminalProgress:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != self._stage:
            self._stage, self._seen = stage, []
        self._seen = [(at, count) for at, count in self._seen if now - at <= self._WINDOW_S] + [(now, done)]
        self._bar.update(
            self._task,
            description=_STAGES[stage],
            completed=done,
            total=total or None,
            left=self._left(done, total),
            visible=True,
        )

    def _left(self, done: int, total: int) -> str:
        first_at, first = self._seen[0]
        now, _ = self._seen[-1]
        if done <= first or now - first_at < 1:
            return ""
        return f"about {spoken_time((total - done) * (now - first_at) / (done - first))} left"


@contextmanager
def showing_progress(*, quiet: bool) -> Iterator[Progress]:
    """A bar on a terminal; otherwise silence."""
    if quiet or not on_terminal(sys.stderr):
        yield no_progress
        return
    with TerminalProgress() as progress:
        yield progress
