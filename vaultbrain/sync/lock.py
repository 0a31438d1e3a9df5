"""One writer at a time: the lock that a sync holds from reading the listing to its last write; and one for answers.

The lock is on the real path of the state folder, and freed by the system when its holder dies. Who holds it stands beside it for
as long as it is held, so that whoever has to wait can be told.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from vaultbrain.errors import StateBusy, WriteFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_LOCK = "lock"
#: Held for milliseconds by whoever changes an answer's note and its row; a sync that embeds for minutes does not hold it.
ANSWERS_LOCK = "answers-lock"
#: Seconds that a holder may need from getting the lock to having written its name.
_ANNOUNCE_S = 0.2
#: Seconds in which whoever merely looks at a lock on Windows, where looking means taking it, is out of the way again.
_GLANCE_S = 0.2


@contextmanager
def writing(
    state: Path, *, timeout_s: float, command: str, on_wait: Callable[[], None] = lambda: None, name: str = _LOCK
) -> Iterator[WriterLock]:
    """Holds the writer's lock, or the one called ``name``. ``on_wait`` is called once when another process has it.

    Raises ``StateBusy``.
    """
    from filelock import FileLock, Timeout

    folder = state.resolve()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / name, mode=0o600)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            on_wait()
            lock.acquire(timeout=timeout_s, poll_interval=0.05)
    except Timeout as error:
        raise StateBusy(**_read_owner(owner_path(folder, name)), waited_s=timeout_s) from error
    except OSError as error:
        raise WriteFailed(path=folder / name, reason=error.strerror or str(error)) from error
    owner = WriterLock(owner_path(folder, name), command)
    try:
        owner.announce()  # at once: the listing of a slow server may take long, and a killed holder may have left its own name
        yield owner
    finally:
        owner.withdraw()
        lock.release()


def find_holder(state: Path, name: str = _LOCK) -> dict[str, object] | None:
    """What the lock's holder announced (``pid``, ``since``, ``command``), or None when nobody holds it. Nothing is written.

    The lock itself decides: what a killed holder left behind counts for nothing. While this looks, for microseconds, another
    process cannot get the lock; so one that would give up at once should try a little longer.
    """
    folder = state.resolve()
    return _read_owner(owner_path(folder, name)) if _is_held(folder / name) else None


def _is_held(path: Path) -> bool:
    """By asking for a share of the lock, which two that look can have at once but nobody beside a holder."""
    if not path.is_file():
        return False
    if sys.platform == "win32":
        return not _can_be_taken(path)
    import fcntl

    try:
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # gone meanwhile, or a file system without locks
        return False
    return False


def _can_be_taken(path: Path) -> bool:
    from filelock import FileLock, Timeout

    try:
        with FileLock(path).acquire(timeout=_GLANCE_S, poll_interval=0.02):
            return True
    except Timeout:
        return False


def owner_path(folder: Path, name: str = _LOCK) -> Path:
    """Where the holder's name stands; a killed one leaves it there."""
    return folder / f"{name}-owner.json"


class WriterLock:
    """The held lock; ``announce`` tells others who holds it."""

    def __init__(self, path: Path, command: str) -> None:
        self._path = path
        self._command = command

    def announce(self) -> None:
        owner = {"pid": os.getpid(), "since": time.strftime("%Y-%m-%d %H:%M:%S"), "command": self._command}
        with suppress(OSError):  # only words for others: a full disk must not stop whoever has nothing to write
            self._path.write_text(json.dumps(owner), encoding="utf-8")

    def withdraw(self) -> None:
        with suppress(OSError):  # what is left there says nothing any more once the lock is free
            self._path.unlink(missing_ok=True)


def _read_owner(path: Path) -> dict[str, object]:
    """What the holder announced; empty when it is gone while we look."""
    owner = _read_announcement(path)
    if owner is None:
        time.sleep(_ANNOUNCE_S)
        owner = _read_announcement(path)
    return {name: owner.get(name) for name in ("pid", "since", "command")} if isinstance(owner, dict) else {}


def _read_announcement(path: Path) -> object:
    """None when it is not there, or not yet whole."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
