"""What a path of the vault means to the watcher, by its place and name alone.

Pure. Decides which files are watched at all: Markdown that Obsidian shows, and the few files of ours that are read besides
(settings, word list, templates). Refuses hidden files and folders, what editors and sync programs leave for a moment, and
conflict copies: those carry the ids and tags of the note they were copied from. Paths are relative to the vault, with ``/`` on
every system.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from vaultbrain.vault.names import same_name

#: As in ``vaultbrain.settings``, which reads the environment and so cannot be known here.
SETTINGS_FILE = "vaultbrain.toml"
LEXICON_FILE = "lexicon.toml"

NOTE_ENDING = ".md"
_TEMPLATE_ENDING = ".md.j2"
#: Every file that is watched ends in one of these.
WATCHED_ENDINGS = (NOTE_ENDING, ".toml", _TEMPLATE_ENDING)
_TEMPLATES = "templates"

#: Hidden; and what Office, and Syncthing on Windows, write next to a file for a moment.
_HIDDEN_OR_TEMPORARY = (".", "~$", "~syncthing~")
#: File names that are no valid UTF-8 arrive with lone surrogates. No database and no link can carry them; Obsidian shows none.
_NOT_TEXT = re.compile(r"[\ud800-\udfff]")

#: Only what no person would write. ``Name (1).md`` of Google Drive and ``Name 2.md`` of iCloud are also good names of notes, ours
#: among them. In order: Syncthing; ownCloud and older Nextcloud; Obsidian Sync, Dropbox, Nextcloud; Seafile.
_CONFLICT_COPY = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}"
    r"|_conflict-\d{8}-\d{6}\.md$"
    r"|\([^()]*(?:conflicted copy|冲突的?副本|衝突的?(?:複本|副本)|競合コピー"
    r"|copie en conflit|copia en conflicto|konfliktkopie|in konflikt stehende kopie)[^()]*\)(?: \d+)?\.md$"
    r"|\(SFConflict [^()]*\)\.md$",
    re.IGNORECASE,
)


class Kind(StrEnum):
    """What stands at a path. ``NOTE`` is a person's; ``OURS`` is the rest of our folder: Home, word list, templates."""

    MEMO = "memo"
    ANSWER = "answer"
    RECALL = "recall"
    INBOX = "inbox"
    OURS = "ours"
    SETTINGS = "settings"
    NOTE = "note"
    IGNORED = "ignored"


#: Folders below ours, in the form of ``same_name``.
_PLACES = {"memos": Kind.MEMO, "answers": Kind.ANSWER, "recall": Kind.RECALL, "ask": Kind.INBOX}


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things are in this vault.

    ``state`` is the state folder relative to the vault when it lies inside, else empty. ``lexicon`` is the word list when it is a
    file in the vault other than the usual ``lexicon.toml`` in ``folder``, else empty.
    """

    folder: str = "CFlow"
    state: str = ""
    lexicon: str = ""


def kind_of(path: str, layout: Layout) -> Kind:
    """What the file at ``path`` is, judged by place and name; whether it exists plays no part.

    Our folder is met in any case and Unicode form, since most file systems of Windows and macOS do not tell them apart.
    """
    folder, slash, name = path.rpartition("/")
    if (slash and is_ignored_folder(folder, layout)) or not _is_plain(name) or is_conflict_copy(name):
        return Kind.IGNORED
    if path == SETTINGS_FILE:
        return Kind.SETTINGS
    if layout.lexicon and same_name(path) == same_name(layout.lexicon):
        return Kind.OURS
    below = _below(path, layout.folder)
    if name.endswith(NOTE_ENDING):
        return _kind_below(below) if below else Kind.NOTE
    return Kind.OURS if _is_read_besides(below) else Kind.IGNORED


def is_ignored_folder(path: str, layout: Layout) -> bool:
    """Whether nothing below the folder is watched: a hidden one on the way, or the state folder."""
    return not all(map(_is_plain, path.split("/"))) or bool(layout.state and _is_at_or_below(path, layout.state))


@lru_cache(maxsize=65_536)  # every scan asks for the same names: a sixth of its time
def is_note_name(name: str) -> bool:
    """Whether a file of this name is watched in every folder that is."""
    return name.endswith(NOTE_ENDING) and _is_plain(name) and not is_conflict_copy(name)


def is_conflict_copy(path: str) -> bool:
    """Whether a sync program made the note because two machines had changed another: to be told, never to be read as a note."""
    if "onfl" not in path and "本" not in path and "競" not in path:
        return False  # so for nearly all of the thousands of names in every scan
    return path.endswith(NOTE_ENDING) and bool(_CONFLICT_COPY.search(_name(path)))


def may_be_folder(path: str) -> bool:
    """Whether the name has no ending: a new link to a folder is told as a file, and by Windows any folder that went."""
    return "." not in _name(path)


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _is_plain(name: str) -> bool:
    """Not empty, hidden, ``..`` or temporary."""
    return bool(name) and not name.startswith(_HIDDEN_OR_TEMPORARY) and (name.isascii() or not _NOT_TEXT.search(name))


def _is_at_or_below(path: str, folder: str) -> bool:
    return f"{same_name(path)}/".startswith(f"{same_name(folder)}/")


def _below(path: str, folder: str) -> str:
    """The rest of ``path`` below ``folder`` in the form of ``same_name``; empty when it is not below."""
    whole, top = same_name(path), f"{same_name(folder)}/"
    return whole.removeprefix(top) if whole.startswith(top) else ""


def _kind_below(below: str) -> Kind:
    first, slash, _ = below.partition("/")
    return _PLACES.get(first, Kind.OURS) if slash else Kind.OURS


def _is_read_besides(below: str) -> bool:
    return below == LEXICON_FILE or (below.startswith(f"{_TEMPLATES}/") and below.endswith(_TEMPLATE_ENDING))
