"""What the system says has changed in the vault: the only door to watchdog.

Events are hints; the scan is the truth. Whatever may have been missed (events lost by the system, folders that came, went or
moved, the vault itself replaced) is told as ``rescan``. Decides which events count, and when the system's events are given up for
looking every few seconds. In the observer's thread a path is put into a set and the worker woken, nothing else.

Files and folders that the watcher ignores wake nobody, nor does reading: those events are not even asked for.
"""

from __future__ import annotations

import errno
import logging
import os
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vaultbrain.errors import VaultAway
from vaultbrain.vault.names import same_name
from vaultbrain.watch.paths import Kind, is_ignored_folder, kind_of, may_be_folder
from vaultbrain.watch.scan import difference, survey

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from watchdog.events import FileSystemEvent, FileSystemEventHandler
    from watchdog.observers.api import BaseObserver

    from vaultbrain.watch.paths import Layout

#: Seconds between two looks when there are no events, at least. A look at 2,800 files takes some 20 ms, so 0.4 % of a core.
POLL_S = 5.0
#: The share of the time that looks may take: a vault of 10,000 files, of which one takes 80 ms, is looked at every 8 s.
_POLL_SHARE = 0.01

#: watchdog's loggers: of all systems, and of macOS. A warning there means lost events or a watch that broke.
_LOGGERS = ("watchdog", "fsevents")
#: How watchdog complains, with ten kilobytes for every folder, when one that it knows already is moved in.
_HARMLESS_WARNING = "Callback with id "
_COMING_AND_GOING = ("created", "deleted", "moved")
#: The limits of inotify(7): of watched folders, and of watchers.
_LIMITS = {errno.ENOSPC: ("max_user_watches", 524_288), errno.EMFILE: ("max_user_instances", 1_024)}
_LIMITS_FOLDER = Path("/proc/sys/fs/inotify")


@dataclass(frozen=True, slots=True)
class Noticed:
    """Paths relative to the vault that may have changed, come or gone; ``rescan`` when these may not be all."""

    paths: frozenset[str] = frozenset()
    rescan: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.paths and not self.rescan


class VaultEvents:
    """Notices changes in the vault at ``root``, which may be a link.

    ``wake`` is called from another thread when there is something to take, and not again before it was taken. ``problem`` is one
    sentence when the system's events could not be had, else empty. May be started again after it was stopped.
    """

    def __init__(
        self,
        root: Path,
        layout: Layout,
        wake: Callable[[], None],
        *,
        make_observer: Callable[[], BaseObserver] | None = None,
        poll_s: float = POLL_S,
    ) -> None:
        self.problem = ""
        self._root = Path(os.path.abspath(root))  # noqa: PTH100  (``resolve`` would follow the link)
        self._layout = layout
        self._wake = wake
        self._make_observer = make_observer or _native_observer
        self._poll_s = poll_s
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._rescan = False
        self._is_lost = False
        self._observer: BaseObserver | None = None
        self._links: dict[str, str] = {}
        self._poller: _Poller | None = None
        self._losses = _Losses(self._tell_lost)
        self._identity: _Identity | None = None

    @property
    def is_polling(self) -> bool:
        return self._poller is not None

    @property
    def is_alive(self) -> bool:
        """Whether changes are noticed. Not any more once the vault was moved, replaced, unmounted or mounted; nor once events
        were lost, for watchdog then sets up its watches anew and misses what happens meanwhile.

        To be asked with every scan, since nothing tells of a mount; when it is False and the scan found the vault, ``restart``.
        """
        if self._poller is not None:
            return self._poller.is_alive()
        observer = self._observer
        if observer is None or self._is_lost or _identity(self._root) != self._identity:
            return False
        return observer.is_alive() and all(emitter.is_alive() for emitter in observer.emitters)

    def start(self) -> None:
        """Notices everything that changes from the time this returns. Raises ``VaultAway``, and then notices nothing."""
        self.stop()
        self._is_lost, self.problem = False, ""
        self._identity = _identity(self._root)
        for name in _LOGGERS:
            logging.getLogger(name).addHandler(self._losses)
        try:
            self._watch()
        except VaultAway:
            self.stop()
            raise
        except OSError as error:
            self._poll_instead(error)

    def restart(self) -> None:
        """Starts anew, with the system's events if they can be had by now. What changed meanwhile is for a scan to find."""
        self.start()
        self._tell_rescan()

    def stop(self) -> None:
        """After this nobody is woken. What was noticed may still be taken."""
        self._stop_observer()
        if self._poller is not None:
            self._poller.stop()
            self._poller = None
        for name in _LOGGERS:
            logging.getLogger(name).removeHandler(self._losses)

    def take(self) -> Noticed:
        """Everything noticed since the last take. With ``rescan``, folders linked since are watched before this returns."""
        with self._lock:
            noticed = Noticed(frozenset(self._paths), self._rescan)
            self._paths, self._rescan = set(), False
        if noticed.rescan and self._observer is not None:
            self._watch_new_links(self._observer)
        return noticed

    def _watch(self) -> None:
        """Raises ``OSError`` when the system refuses."""
        _silence_harmless_warnings()
        self._observer = observer = self._make_observer()
        observer.start()
        real = os.path.realpath(self._root)
        self._schedule(observer, real, lambda event: self._notice(event, real, ""))
        self._links = {}
        self._follow(observer, survey(self._root, self._layout).links)
        if sys.platform == "linux":  # the others tell of a watched folder itself
            self._watch_from_above(observer, real)

    def _watch_from_above(self, observer: BaseObserver, real: str) -> None:
        """Notices that the vault's folder, or the link to it, is moved, deleted or replaced.

        Last of all, so that it is refused when the limit of watches was reached on the way: within the vault watchdog hides that.
        """
        for place in sorted({str(self._root), real}):
            above = os.path.dirname(place)  # noqa: PTH120  (as ``place`` is written)
            if above != place:
                self._schedule(observer, above, self._notice_from_above, is_recursive=False)

    def _schedule(
        self, observer: BaseObserver, folder: str, notice: Callable[[FileSystemEvent], None], *, is_recursive: bool = True
    ) -> None:
        """Reading and closing unchanged are not asked for; nor are changes of folders, which tell nothing about files."""
        from watchdog import events

        wanted: list[type[FileSystemEvent]] = [
            *(events.FileCreatedEvent, events.FileDeletedEvent, events.FileMovedEvent),
            *(events.DirCreatedEvent, events.DirDeletedEvent, events.DirMovedEvent),
        ]
        if is_recursive:
            wanted += [events.FileModifiedEvent, events.FileClosedEvent, events.FileAttribEvent]
        observer.schedule(_handler(notice), folder, recursive=is_recursive, event_filter=wanted)

    def _follow(self, observer: BaseObserver, links: Mapping[str, str]) -> None:
        """Watches the real folders behind links: watchdog would walk in circles through links that lead upwards."""
        for path, real in links.items():
            if self._links.get(path) != real:
                with suppress(FileNotFoundError):  # it went just now
                    self._schedule(observer, real, _under(self._notice, real, path))
                    self._links[path] = real

    def _watch_new_links(self, observer: BaseObserver) -> None:
        with suppress(VaultAway):  # the scan that follows meets it, too
            try:
                self._follow(observer, survey(self._root, self._layout).links)
            except OSError as error:
                self._poll_instead(error)

    def _notice(self, event: FileSystemEvent, real: str, under: str) -> None:
        """Runs in the observer's thread: ``event`` is below the folder ``real``, which the vault knows as ``under``."""
        places = [_relative(name, real, under) for name in (event.src_path, event.dest_path) if name]
        paths = [path for path in places if path is not None]
        if event.is_directory:
            if not under and "" in paths:
                self._tell_lost()
            elif any(path == under or not is_ignored_folder(path, self._layout) for path in paths):
                self._tell_rescan()
            return
        watched = [path for path in paths if kind_of(path, self._layout) is not Kind.IGNORED]
        if watched:
            self._tell(watched)
        elif event.event_type in _COMING_AND_GOING and any(map(self._may_be_folder, paths)):
            self._tell_rescan()

    def _may_be_folder(self, path: str) -> bool:
        return may_be_folder(path) and not is_ignored_folder(path, self._layout)

    def _notice_from_above(self, event: FileSystemEvent) -> None:
        """Runs in the observer's thread, for everything that stands beside the vault."""
        ours = {str(self._root), self._identity.real if self._identity else ""}
        if ours & {os.fsdecode(event.src_path), os.fsdecode(event.dest_path)}:
            self._tell_lost()

    def _tell(self, paths: list[str]) -> None:
        with self._lock:
            is_first = not self._paths and not self._rescan
            self._paths.update(paths)
        if is_first:
            self._wake()

    def _tell_rescan(self) -> None:
        with self._lock:
            is_first = not self._paths and not self._rescan
            self._rescan = True
        if is_first:
            self._wake()

    def _tell_lost(self) -> None:
        self._is_lost = True
        self._tell_rescan()

    def _poll_instead(self, error: OSError) -> None:
        """Raises ``VaultAway``, and then nothing is noticed until the next start."""
        self._stop_observer()
        poller = _Poller(self._root, self._layout, self._tell, self._tell_rescan, self._poll_s)
        try:
            poller.start()
        except VaultAway:
            self.stop()
            raise
        self._poller, self.problem = poller, _why_polling(error, self._poll_s)

    def _stop_observer(self) -> None:
        observer, self._observer = self._observer, None
        if observer is not None:
            was_started = observer.is_alive()
            observer.stop()
            if was_started:
                observer.join()


class _Poller:
    """Looks at the vault every ``poll_s`` seconds or more in a thread of its own, and tells what differs.

    watchdog's own polling takes 2.7 % of a core for 10,000 files every 5 s, this 1.7 %.
    """

    def __init__(
        self, root: Path, layout: Layout, tell: Callable[[list[str]], None], rescan: Callable[[], None], poll_s: float
    ) -> None:
        self._root, self._layout = root, layout
        self._tell, self._tell_rescan = tell, rescan
        self._poll_s = poll_s
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="vault-poller", daemon=True)
        self._is_away = False

    def start(self) -> None:
        """Takes the first look before it returns. Raises ``VaultAway``."""
        self._seen = survey(self._root, self._layout).marks
        self._thread.start()

    def stop(self) -> None:
        self._is_over.set()
        if self._thread.is_alive():
            self._thread.join()

    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def _run(self) -> None:
        pause = self._poll_s
        while not self._is_over.wait(pause):
            began = time.monotonic()
            self._look()
            pause = max(self._poll_s, (time.monotonic() - began) / _POLL_SHARE)

    def _look(self) -> None:
        """A vault that went away or came back is told once, for a scan to judge."""
        was_away = self._is_away
        try:
            found = survey(self._root, self._layout)
        except VaultAway:
            self._is_away = True
            if not was_away:
                self._tell_rescan()
            return
        self._is_away = False
        changes = difference(self._seen, found.marks, found.unreadable)
        self._seen = found.marks
        if was_away:
            self._tell_rescan()
        elif not changes.is_empty:
            self._tell([*changes.changed, *changes.gone])


class _Losses(logging.Handler):
    """Takes a warning of watchdog as a sign that events were lost; prints nothing, nor does Python's handler of last resort."""

    def __init__(self, notice: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._notice = notice

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        self._notice()


@dataclass(frozen=True, slots=True)
class _Identity:
    """Which folder it is, whatever stands at its path later."""

    real: str
    device: int
    inode: int


def _identity(root: Path) -> _Identity | None:
    try:
        found = root.stat()
    except OSError:
        return None
    return _Identity(os.path.realpath(root), found.st_dev, found.st_ino)


def _relative(name: bytes | str, real: str, under: str) -> str | None:
    """The path within the vault of ``name``, which lies in ``real``; None when it does not.

    macOS finds a folder by its name in any case and Unicode form, and answers in the form on disk.
    """
    full = os.fsdecode(name)
    top = f"{real.rstrip(os.sep)}{os.sep}"
    if f"{full}{os.sep}".startswith(top):
        inner = full[len(top) :].replace(os.sep, "/")
    else:
        parts, depth = Path(full).parts, len(Path(real).parts)
        if same_name(str(Path(*parts[:depth]))) != same_name(real):
            return None
        inner = "/".join(parts[depth:])
    return f"{under}/{inner}".strip("/")


def _under(notice: Callable[[FileSystemEvent, str, str], None], real: str, under: str) -> Callable[[FileSystemEvent], None]:
    return lambda event: notice(event, real, under)


def _handler(notice: Callable[[FileSystemEvent], None]) -> FileSystemEventHandler:
    from watchdog.events import FileSystemEventHandler

    class Handler(FileSystemEventHandler):
        def dispatch(self, event: FileSystemEvent) -> None:
            notice(event)

    return Handler()


def _native_observer() -> BaseObserver:
    """The system's own kind. Raises ``OSError`` where there is none: our polling costs less than watchdog's."""
    from watchdog.observers import Observer
    from watchdog.observers.polling import PollingObserver

    if Observer is PollingObserver:
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))
    return Observer()


def _silence_harmless_warnings() -> None:
    """They come up in watchdog's own threads, out of reach of ``catch_warnings``; all others are left as they are."""
    warnings.filterwarnings("ignore", message=_HARMLESS_WARNING, category=RuntimeWarning, module=r"watchdog\.")


def _why_polling(error: OSError, poll_s: float) -> str:
    """One sentence on what was refused, how that can be changed, and what happens until then."""
    until_then = f"until then changes in the vault are looked for every {poll_s:g} s"
    if sys.platform == "linux" and error.errno in _LIMITS:
        name, enough = _LIMITS[error.errno]
        what = "watched folders" if error.errno == errno.ENOSPC else "watchers, or of open files (ulimit -n),"
        return (
            f"The system's limit of {what} is reached (fs.inotify.{name} is {_limit(name)}); raise it with"
            f" `sudo sysctl fs.inotify.{name}={enough}` and start the watcher again; {until_then}."
        )
    return f"The system does not tell of changes in the vault ({error.strerror or error}); {until_then}."


def _limit(name: str) -> str:
    try:
        return (_LIMITS_FOLDER / name).read_text(encoding="ascii").strip()
    except OSError:
        return "unknown"
