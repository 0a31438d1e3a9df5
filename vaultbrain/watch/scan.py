"""What stands in the vault, by one look through its folders: the truth that events only hint at.

Decides which folders are entered (linked ones too, each real folder once) and when the vault counts as away. A folder that cannot
be read is named, and what was known of it is not gone. Nothing is opened: a file is known by its size and time of last change.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultbrain.errors import VaultAway
from vaultbrain.vault.vault import FileMark
from vaultbrain.watch.paths import (
    SETTINGS_FILE,
    WATCHED_ENDINGS,
    Kind,
    is_conflict_copy,
    is_ignored_folder,
    is_note_name,
    kind_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from vaultbrain.watch.paths import Layout


@dataclass(frozen=True, slots=True)
class Survey:
    """All paths in order, relative to the vault.

    ``links``: linked folders that lead out of the vault, with the real folder of each. ``unreadable``: folders and files that
    were passed by, and links that lead nowhere.
    """

    marks: dict[str, FileMark]
    links: dict[str, str]
    unreadable: tuple[str, ...]
    conflict_copies: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """``changed`` are new or have another mark; both in order. A renamed file is one of each."""

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.changed and not self.gone


def scan(root: Path, layout: Layout) -> dict[str, FileMark]:
    """The mark of every watched file, in order of paths. Raises ``VaultAway``."""
    return survey(root, layout).marks


def survey(root: Path, layout: Layout) -> Survey:
    """As ``scan``, with what was met on the way.

    A folder that can be reached in several ways is entered once, by its own place rather than by a link, and of several links by
    the first. A link to a single file is followed. Names stand as they are on disk, whatever their Unicode form.

    Raises ``VaultAway`` when the vault's folder or the settings file in it is not there, before or after the look: a vault that
    is unmounted meanwhile must not look like one whose notes were deleted.
    """
    _require(root)
    walk = _Walk(layout)
    walk.enter(str(root), "")
    walk.follow_links()
    _require(root)
    return Survey(
        marks=dict(sorted(walk.marks.items())),
        links=dict(sorted(walk.links.items())),
        unreadable=tuple(sorted(walk.unreadable)),
        conflict_copies=tuple(sorted(walk.conflict_copies)),
    )


def difference(before: Mapping[str, FileMark], after: Mapping[str, FileMark], unreadable: Collection[str] = ()) -> Changes:
    """What happened between two scans. Of what is ``unreadable`` now, or lies below, nothing is known: it is not gone."""
    hidden = tuple(f"{path}/" for path in unreadable)
    return Changes(
        changed=tuple(sorted(path for path, mark in after.items() if before.get(path) != mark)),
        gone=tuple(sorted(path for path in before.keys() - after.keys() if not f"{path}/".startswith(hidden))),
    )


def _require(root: Path) -> None:
    try:
        mode = (root / SETTINGS_FILE).stat().st_mode
    except OSError as error:
        raise VaultAway(path=root) from error
    if not stat.S_ISREG(mode):
        raise VaultAway(path=root)


@dataclass(slots=True)
class _Walk:
    layout: Layout
    marks: dict[str, FileMark] = field(default_factory=dict)
    links: dict[str, str] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)
    conflict_copies: list[str] = field(default_factory=list)
    _entered: set[tuple[int, int]] = field(default_factory=set)
    #: Vault path → full path of linked folders that are still to be followed.
    _waiting: dict[str, str] = field(default_factory=dict)

    def enter(self, full: str, path: str) -> None:
        """Reads the folder and all below it; links wait. Not by recursion: folders may be nested deeper than Python's stack."""
        folders = [(full, path)]
        while folders:
            full, path = folders.pop()
            try:
                if self._is_first_visit(full):
                    folders += self._read(full, path)
            except (FileNotFoundError, NotADirectoryError):
                continue  # deleted or replaced since its parent was read
            except OSError as error:
                if not path:
                    raise VaultAway(path=full) from error
                self.unreadable.append(path)

    def follow_links(self) -> None:
        """In order of paths, after all real folders, so that the same vault always gives the same paths."""
        while self._waiting:
            path = min(self._waiting)
            full = self._waiting.pop(path)
            try:
                is_new = _identity(full) not in self._entered
            except OSError:
                continue
            if is_new:
                self.links[path] = os.path.realpath(full)
                self.enter(full, path)

    def _is_first_visit(self, full: str) -> bool:
        identity = _identity(full)
        if identity in self._entered:
            return False
        self._entered.add(identity)
        return True

    def _read(self, full: str, path: str) -> list[tuple[str, str]]:
        """Takes up the folder's files and links; returns its folders."""
        folders = []
        prefix = f"{path}/" if path else ""
        with os.scandir(full) as entries:
            for entry in entries:
                below = prefix + entry.name
                if entry.is_dir(follow_symlinks=False):
                    if not is_ignored_folder(below, self.layout):
                        folders.append((entry.path, below))
                elif entry.is_symlink():
                    self._take_up_link(entry, below)
                elif entry.name.endswith(WATCHED_ENDINGS):
                    self._take_up(entry, below)
        return folders

    def _take_up_link(self, link: os.DirEntry[str], path: str) -> None:
        """A link that leads nowhere counts as unreadable: the drive that it leads to may be away."""
        try:
            is_folder = stat.S_ISDIR(link.stat().st_mode)
        except OSError:
            if not is_ignored_folder(path, self.layout):
                self.unreadable.append(path)
            return
        if not is_folder:
            self._take_up(link, path)
        elif not is_ignored_folder(path, self.layout):
            self._waiting[path] = link.path

    def _take_up(self, entry: os.DirEntry[str], path: str) -> None:
        if is_note_name(entry.name) or kind_of(path, self.layout) is not Kind.IGNORED:
            try:
                found = entry.stat()
            except FileNotFoundError:
                return  # deleted since its folder was read
            except OSError:
                self.unreadable.append(path)
                return
            if stat.S_ISREG(found.st_mode):
                self.marks[path] = FileMark(found.st_size, found.st_mtime_ns)
        elif is_conflict_copy(entry.name):
            self.conflict_copies.append(path)


def _identity(full: str) -> tuple[int, int]:
    found = os.stat(full)  # noqa: PTH116  (a Path for each of thousands of folders costs more than the look itself)
    return found.st_dev, found.st_ino
