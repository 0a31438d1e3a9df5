"""What the watcher did, one line per action: in words in a file that stays below three times 1 MB, and to whoever looks on.

A line holds paths, ids and counts, never a memo's text; whoever calls keeps to that, and known secrets are taken out here. A log
that cannot be written never stops the watcher. A failure that goes on is said once, and again when it changes or ends.
"""

from __future__ import annotations

import json
import logging
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from logging.handlers import RotatingFileHandler
from typing import TYPE_CHECKING, Any, TextIO

from vaultbrain.watch.pulse import LOG_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

#: Checked before each line, in characters; so a file may be a line longer.
_MAX_BYTES = 1_000_000
#: Besides the one that is written to.
_OLD_FILES = 2
#: A sentence of ours with a long path in it is shorter; a server's whole error page is not.
_MAX_CHARS = 600
_HIDDEN = "***"
#: Whatever could start a new line or turn the direction of one.
_NOT_IN_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")


def _local_now() -> datetime:
    return datetime.now().astimezone()


@dataclass(slots=True)
class _Standing:
    """A failure that goes on."""

    sentence: str
    tries: int = 1


class WatchLog:
    """The watcher's log. Nothing is opened or made before the first line, and no method raises ``OSError``."""

    def __init__(
        self,
        state: Path,
        *,
        json_lines: bool = False,
        is_shown: bool = False,
        secrets: Sequence[str] = (),
        now: Callable[[], datetime] = _local_now,
        out: TextIO | None = None,
        err: TextIO | None = None,
    ) -> None:
        """``json_lines`` on stdout, or else with ``is_shown`` the sentences on stderr; ``secrets`` appear in none of them."""
        self._file = _LogFile(state.resolve() / LOG_FILE)
        self._json_lines = json_lines
        self._is_shown = is_shown and not json_lines
        self._secrets = tuple(sorted((secret for secret in secrets if secret), key=lambda secret: (-len(secret), secret)))
        self._now = now
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        self._standing: dict[tuple[str, str], _Standing] = {}
        self._is_unwritable = False
        #: Whoever read the JSON lines went away; time to stop.
        self.reader_is_gone = False

    def said(self, event: str, sentence: str, *, about: str = "", **facts: Any) -> None:
        """One action that was done. A failure of the same ``event`` and ``about`` has ended with it."""
        ended = self._standing.pop((event, about), None)
        self._line(event, sentence + (f" (after {_tries(ended.tries)})" if ended else ""), about, facts)

    def failed(self, event: str, sentence: str, *, about: str = "", **facts: Any) -> None:
        """One action that failed, unless the same was said before. ``about`` tells failures of one event apart: a path, an id."""
        standing = self._standing.get((event, about))
        if standing and standing.sentence == sentence:
            standing.tries += 1
            return
        self._standing[event, about] = _Standing(sentence)
        before = f" (before that: {_tries(standing.tries)} of another kind)" if standing else ""
        self._line(event, sentence + before, about, facts | {"failed": True})

    def recovered(self, event: str, sentence: str, *, about: str = "", **facts: Any) -> None:
        """As ``said``, but without a word when nothing had failed: for what is no news as long as it works."""
        if (event, about) in self._standing:
            self.said(event, sentence, about=about, **facts)

    def is_failing(self, event: str, about: str = "") -> bool:
        return (event, about) in self._standing

    def close(self) -> None:
        """Says what still fails, where it did so more than once. The log can be written to again afterwards."""
        for (event, about), standing in self._standing.items():
            if standing.tries > 1:
                still = f"{standing.sentence} (still so when the watcher stopped: {_tries(standing.tries)})"
                self._line(event, still, about, {"failed": True, "tries": standing.tries})
        self._standing.clear()

    def _line(self, event: str, sentence: str, about: str, facts: dict[str, Any]) -> None:
        text = self._shown(sentence)
        at = self._now()
        line = f"{at:%Y-%m-%d %H:%M:%S} {text}"
        reason = self._file.try_write(line)
        if reason and not self._is_unwritable:
            self._talk(f"{self._file.path} cannot be written ({reason}); its lines go to stderr meanwhile.")
        self._is_unwritable = bool(reason)
        if self._json_lines:
            known = {"about": about} if about else {}
            self._print({"at": at.isoformat(timespec="seconds"), "event": event} | known | facts | {"text": text})
        elif reason or self._is_shown:
            self._talk(line)

    def _shown(self, text: str) -> str:
        """On one line, not endless, without secrets."""
        for secret in self._secrets:
            text = text.replace(secret, _HIDDEN)
        text = _NOT_IN_A_LINE.sub(" ", text).strip()
        return text if len(text) <= _MAX_CHARS else text[: _MAX_CHARS - 1] + "…"

    def _talk(self, line: str) -> None:
        with suppress(OSError, ValueError):  # stderr may be closed, or a full disk as well
            print(line, file=self._err, flush=True)

    def _print(self, found: dict[str, Any]) -> None:
        """ASCII only, since paths may hold what no encoding has; each line is whole JSON at once."""
        line = json.dumps(self._without_secrets(found), default=str)
        try:
            print(line, file=self._out, flush=True)
        except BrokenPipeError:
            self.reader_is_gone = True
        except (OSError, ValueError) as error:
            self._talk(f"stdout cannot be written ({error})")

    def _without_secrets(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._shown(value)
        if isinstance(value, dict):
            return {self._shown(str(name)): self._without_secrets(inner) for name, inner in value.items()}
        return [self._without_secrets(inner) for inner in value] if isinstance(value, list | tuple) else value


def _tries(count: int) -> str:
    return "1 failed try" if count == 1 else f"{count} failed tries"


class _LogFile(RotatingFileHandler):
    """Opened for each line and closed again: it may be moved, deleted or on a disk that goes away, and lines are rare."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path, maxBytes=_MAX_BYTES, backupCount=_OLD_FILES, encoding="utf-8", delay=True, errors="backslashreplace"
        )
        self.path = path
        self._reason = ""

    def try_write(self, line: str) -> str:
        """Empty when the line stands in the file, else why not."""
        self._reason = ""
        self.handle(logging.makeLogRecord({"msg": line}))
        try:
            self.close()
        except OSError as error:
            self._reason = self._reason or _reason_of(error)
        return self._reason

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: ARG002, N802  (the name that logging calls)
        """Instead of a traceback on stderr."""
        self._reason = _reason_of(sys.exception())


def _reason_of(error: BaseException | None) -> str:
    return getattr(error, "strerror", None) or str(error)
