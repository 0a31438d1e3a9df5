"""The vault on disk: the one door through which notes are found, read and written.

Decides how a file gets there (a hidden temporary file in the same folder, then a rename) and what a file of ours looks like from
outside (the ``vb_id`` property). A file that we did not make is never opened for writing. Paths are relative to the vault,
with ``/`` on every system.
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import secrets
import stat
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vaultbrain.errors import NoteBeingEdited, NoteUnreadable, WriteFailed
from vaultbrain.vault.names import same_name
from vaultbrain.vault.note import BEGIN

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Hidden for Obsidian and its Sync, and never ending in ``.md``.
_TEMPORARY_PREFIX = ".vaultbrain-"
_TRASH = ".trash"

#: Front matter of a note that we made stands well within this many bytes; a longer one is read on.
_HEAD_BYTES = 2_048
_MEMO_ID = re.compile(rb'^vb_id:[ \t]*"?([^"\r\n]+?)"?[ \t]*\r?$', re.MULTILINE)
_MEMO_KIND = re.compile(rb'^vb_kind:[ \t]*"?memo"?[ \t]*\r?$', re.MULTILINE)
_ANSWER_KIND = re.compile(rb'^vb_kind:[ \t]*"?answer"?[ \t]*\r?$', re.MULTILINE)
_ANSWER_ID = re.compile(rb'^vb_answer:[ \t]*"?([0-9a-z-]+)"?[ \t]*\r?$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class FileMark:
    """What tells cheaply that a file is as we left it: size in bytes, time of last change in nanoseconds."""

    size: int
    mtime_ns: int


class Vault:
    """A vault's folder. Raises ``WriteFailed`` for every refusal of the file system while writing.

    With ``spare_s``, a note that somebody else changed less than so many seconds ago is not written, nor moved: a person may be
    typing in it. Then ``NoteBeingEdited`` is raised.
    """

    def __init__(self, root: Path, *, spare_s: float = 0.0) -> None:
        self.root = root
        self._spare_s = spare_s
        self._ours: dict[str, FileMark] = {}  # what this process wrote is nobody's typing

    def marks_in(self, folder: str) -> dict[str, FileMark]:
        """Every Markdown file directly in ``folder``; empty when there is no such folder."""
        marks = {}
        try:
            with os.scandir(self.root / folder) as entries:
                for entry in entries:
                    if entry.name.endswith(".md") and (mark := _mark_of(entry)):
                        marks[f"{folder}/{entry.name}"] = mark
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise WriteFailed(path=self.root / folder, reason=error.strerror or str(error)) from error
        return marks

    def mark(self, path: str) -> FileMark | None:
        """The file's mark; None when nothing is there or it is no file."""
        full = self.root / path
        try:
            found = full.stat()
        except OSError:
            return None
        return FileMark(found.st_size, found.st_mtime_ns) if full.is_file() else None

    def names_in(self, folder: str) -> set[str]:
        """The paths of everything in ``folder``, files or not, in the form of ``same_name``."""
        try:
            return {same_name(f"{folder}/{path.name}") for path in (self.root / folder).iterdir()}
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise WriteFailed(path=self.root / folder, reason=error.strerror or str(error)) from error

    def read(self, path: str) -> str | None:
        """The note's text with its line ends; None when there is no such file. Raises ``NoteUnreadable``."""
        try:
            return (self.root / path).read_bytes().decode("utf-8")
        except (FileNotFoundError, NotADirectoryError):
            return None
        except UnicodeDecodeError as error:
            raise NoteUnreadable(path=path, reason="it is not UTF-8 text") from error
        except OSError as error:
            raise NoteUnreadable(path=path, reason=error.strerror or str(error)) from error

    def create(self, path: str, text: str) -> FileMark:
        """Writes a new note. Raises ``FileExistsError`` when something stands there already, which stays as it is."""
        return self._write(path, text, replaces=False)

    def replace(self, path: str, text: str, *, known: FileMark | None = None) -> FileMark:
        """Writes over a note of ours, on disk before this returns: the person's words stand in it too.

        ``known`` is the file as some process of ours wrote it last: then nobody is typing in it.
        """
        if known is None or known != self.mark(path):
            self._spare(path)
        return self._write(path, text, replaces=True)

    def own_mark(self, path: str) -> FileMark | None:
        """The file as this process wrote it last; None when it did not."""
        return self._ours.get(path)

    def wait_s(self, path: str) -> float:
        """For how many seconds the note is still to be left alone; 0 when it may be written."""
        if not self._spare_s:
            return 0.0
        mark = self.mark(path)
        if mark is None or mark == self._ours.get(path):
            return 0.0
        age = time.time() - mark.mtime_ns / 1e9  # of a clock that runs far ahead of ours nothing can be told
        return self._spare_s - age if -self._spare_s < age < self._spare_s else 0.0

    def _spare(self, path: str) -> None:
        if self.wait_s(path):
            raise NoteBeingEdited(path=path, reason=f"it was changed less than {self._spare_s:.0f} seconds ago")

    def _write(self, path: str, text: str, *, replaces: bool) -> FileMark:
        full = (self.root / path).resolve() if replaces else self.root / path  # a linked note stays a link
        self._make_folder(full.parent)
        with _as_write_failed(full):
            mode = _mode_to_keep(full) if replaces else None
            temporary = full.parent / f"{_TEMPORARY_PREFIX}{secrets.token_hex(6)}.tmp"
            try:
                with temporary.open("xb") as file:
                    file.write(text.encode("utf-8"))
                    if replaces:
                        file.flush()
                        os.fsync(file.fileno())
                if mode is not None:
                    temporary.chmod(mode)
                if not replaces and os.path.lexists(full):
                    raise FileExistsError(full)
                temporary.replace(full)
            finally:
                temporary.unlink(missing_ok=True)
            found = full.stat()
        self._ours[path] = FileMark(found.st_size, found.st_mtime_ns)
        return self._ours[path]

    def make_folder(self, folder: str) -> None:
        self._make_folder(self.root / folder)

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:  # also FileExistsError: a file stands where the folder should be
            raise WriteFailed(path=folder, reason=error.strerror or str(error)) from error

    def move_to_trash(self, path: str) -> str:
        """Moves the note into the vault's ``.trash``, where Obsidian keeps deleted notes; returns its new path."""
        full = self.root / path
        self._spare(path)
        self._make_folder(self.root / _TRASH)
        with _as_write_failed(full):
            target, number = f"{_TRASH}/{full.name}", 1
            while os.path.lexists(self.root / target):
                number += 1
                target = f"{_TRASH}/{full.stem} {number}{full.suffix}"
            full.rename(self.root / target)
        return target

    def is_note_of(self, path: str, memo_id: str) -> bool:
        """Whether the file is this memo's note: it carries its id, or no memo's and our region. An unreadable file is."""
        found = _memo_id_of(self.root / path)
        try:
            return found == memo_id if found else BEGIN.encode() in (self.root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True

    def find_memo_notes(self) -> dict[str, list[str]]:
        """memo id → paths of the notes that carry it, anywhere in the vault but in folders whose name begins with a dot."""
        return self._find_notes(_MEMO_ID, _MEMO_KIND)

    def find_answer_notes(self) -> dict[str, list[str]]:
        """As ``find_memo_notes``, by answer id."""
        return self._find_notes(_ANSWER_ID, _ANSWER_KIND)

    def _find_notes(self, marker: re.Pattern[bytes], kind: re.Pattern[bytes]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for folder, subfolders, names in os.walk(self.root):
            subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
            for name in sorted(names):
                if name.endswith(".md") and not name.startswith("."):
                    full = Path(folder, name)
                    if marked := _marked(full, marker, kind):
                        found.setdefault(marked, []).append(full.relative_to(self.root).as_posix())
        return found

    def remove_leftovers(self, folder: str) -> None:
        """Deletes temporary files of ours that a killed run left in ``folder``. Only while no other process writes."""
        for path in (self.root / folder).glob(f"{_TEMPORARY_PREFIX}*"):
            path.unlink(missing_ok=True)


def _mark_of(entry: os.DirEntry[str]) -> FileMark | None:
    try:
        found = entry.stat()
        return FileMark(found.st_size, found.st_mtime_ns) if entry.is_file() else None
    except OSError:  # a link that leads nowhere, or round in circles
        return None


def _mode_to_keep(full: Path) -> int | None:
    """The permissions of the file that is to be replaced; None without one. Raises ``PermissionError`` when it is read-only."""
    try:
        mode = stat.S_IMODE(full.stat().st_mode)
    except FileNotFoundError:
        return None
    if not mode & stat.S_IWUSR:
        raise PermissionError(errno.EACCES, "it is read-only", str(full))
    return mode


def _memo_id_of(path: Path) -> str:
    """The ``vb_id`` in the front matter of a memo note; empty for any other file."""
    return _marked(path, _MEMO_ID, _MEMO_KIND)


def _marked(path: Path, marker: re.Pattern[bytes], kind: re.Pattern[bytes]) -> str:
    """What ``marker`` finds in the front matter of a note of this kind; empty for any other file."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES).removeprefix(codecs.BOM_UTF8)
            if not head.startswith(b"---"):
                return ""
            while b"\n---" not in head[3:]:
                more = file.read(_HEAD_BYTES)
                if not more:
                    return ""
                head += more
    except OSError:
        return ""
    properties = head[: head.index(b"\n---", 3) + 1]
    match = marker.search(properties)
    return match.group(1).decode("utf-8", "replace") if match and kind.search(properties) else ""


@contextmanager
def _as_write_failed(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError:
        raise
    except OSError as error:
        raise WriteFailed(path=path, reason=error.strerror or str(error)) from error
