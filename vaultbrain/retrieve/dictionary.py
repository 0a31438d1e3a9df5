"""The bilingual dictionary as searches read it: a compiled file in the user's cache folder.

Decides where the file lies, whether it is a whole one, and which translations of a word come first. Refuses to make the file
(``retrieve.compiling``, three seconds, which no search has) and to judge translations (``retrieve.glosses``) or to pick from them
(``retrieve.concepts``).
"""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing, suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from vaultbrain.retrieve.stems import stem_phrase

if TYPE_CHECKING:
    from pathlib import Path

#: Goes into the file's name. Another cleaning, ranking or stemming is another format.
FORMAT = 1
#: "vbdi": tells our file from any other that has its name.
APPLICATION_ID = 0x76626469
MAX_HEADWORDS = 10
#: The gloss stands there as asked for, not in another form: meeting, not meet. Fitted with the scores of ``retrieve.glosses``.
SAME_FORM = 0.45
#: Short forms that memos and questions use where the dictionary has the long one, or both for different headwords.
_LONG_FORMS = {
    "ad": "advertisement", "app": "application", "auto": "car", "bike": "bicycle", "exam": "examination", "flu": "influenza",
    "fridge": "refrigerator", "grandma": "grandmother", "grandpa": "grandfather", "gym": "gymnasium", "info": "information",
    "kid": "child", "lab": "laboratory", "laptop": "notebook computer", "math": "mathematics", "mom": "mother", "dad": "father",
    "phone": "telephone", "photo": "photograph", "plane": "airplane", "pro": "professional", "tv": "television",
    "veggie": "vegetable",
}  # fmt: skip


def default_dictionary_folder() -> Path:
    """The user's folder for what may be deleted at any time. Not created here."""
    from platformdirs import user_cache_path

    return user_cache_path("vaultbrain", appauthor=False)


def dictionary_path(folder: Path | None = None) -> Path:
    """Where the compiled file lies, if there is one; ``folder`` is the user's cache folder unless given."""
    return (folder or default_dictionary_folder()) / f"dictionary-{FORMAT}.sqlite3"


def open_dictionary(folder: Path | None = None) -> Dictionary | None:
    """None when there is no whole file: a search goes on without. Takes 5 ms at most."""
    path = dictionary_path(folder)
    db = _open(path)
    return Dictionary(db, path) if db else None


def compiled_edition(folder: Path | None = None) -> int | None:
    """The mark of the data that the file was compiled from; None when there is no whole file."""
    if db := _open(dictionary_path(folder)):
        with closing(db):
            return int(db.execute("PRAGMA user_version").fetchone()[0])
    return None


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
        if mark == APPLICATION_ID and pages * page_bytes == path.stat().st_size:
            return db
    except (sqlite3.DatabaseError, OSError):
        pass
    db.close()
    return None


class Dictionary:
    """Safe to use from several threads. ``is_damaged``: the file is not what it seemed, and answers nothing more."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self.is_damaged = False
        self._db = db
        self._path = path
        self._lock = threading.Lock()
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
        """The only column of the only row; empty if there is none. A damaged file is taken out of the way of the next one."""
        with self._lock:
            if self.is_damaged:
                return ""
            try:
                row = self._db.execute(query, (key,)).fetchone()
            except sqlite3.DatabaseError:
                self.is_damaged = True
                self._db.close()
                with suppress(OSError):
                    self._path.unlink(missing_ok=True)
                return ""
        return str(row[0]) if row else ""
