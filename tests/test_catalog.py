"""The catalog: parts of words and filters are found in SQL, and a catalog of an older format is brought up to date whole."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shell import ROOT

from vaultbrain.errors import StateUnreadable
from vaultbrain.index.catalog import SCHEMA_VERSION, Catalog
from vaultbrain.index.scope import Scope
from vaultbrain.index.tokens import keyword_entry, match_any, searchable, text_entry
from vaultbrain.memo import Memo, tags_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: The schema of format 1 as it was released.
FORMAT_1 = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE memos (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, created INTEGER NOT NULL,
    memo_hash TEXT NOT NULL, content_hash TEXT NOT NULL, record TEXT NOT NULL);
CREATE TABLE memo_tags (memo_id TEXT NOT NULL, tag TEXT NOT NULL, PRIMARY KEY (memo_id, tag)) WITHOUT ROWID;
CREATE TABLE chunks (
    chunk_id TEXT PRIMARY KEY, memo_id TEXT NOT NULL, position INTEGER NOT NULL,
    text_hash TEXT NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX chunks_by_memo ON chunks (memo_id);
CREATE INDEX chunks_by_text ON chunks (text_hash);
CREATE TABLE vectors (
    fingerprint TEXT NOT NULL, text_hash TEXT NOT NULL, cjk_share REAL NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (fingerprint, text_hash));
CREATE TABLE chunked (memo_id TEXT PRIMARY KEY, content_hash TEXT NOT NULL, chunker TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE indexed (
    memo_id TEXT PRIMARY KEY, content_hash TEXT NOT NULL, model TEXT NOT NULL, chunker_version TEXT NOT NULL,
    chunk_size INTEGER NOT NULL, chunk_overlap INTEGER NOT NULL, indexed_at TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE outbox (chunk_id TEXT PRIMARY KEY, deletes INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (
    memo_id TEXT PRIMARY KEY, path TEXT NOT NULL, memo_hash TEXT NOT NULL, look TEXT NOT NULL, region TEXT NOT NULL,
    intended TEXT NOT NULL, properties TEXT NOT NULL, anchors TEXT NOT NULL, next_anchor INTEGER NOT NULL,
    size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, status TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tombstones (
    memo_id TEXT PRIMARY KEY, title TEXT NOT NULL, deleted_at TEXT NOT NULL, trash_path TEXT NOT NULL) WITHOUT ROWID;
CREATE VIRTUAL TABLE keywords USING fts5 (title, tags, body, tokenize = "unicode61 remove_diacritics 2");
CREATE VIRTUAL TABLE keyword_terms USING fts5vocab (keywords, row);
PRAGMA user_version = 1;
"""

CONTENTS = {
    1: "觀影資源 #电影/2024",
    2: "Art of the\nfinal cut, 100% done #film",
    3: "start_here [[Index]] #电影",
    4: "see https://example.com/a_b #filming",
    5: "![](picture.png) and [text](note.md)",
    6: "![](picture.png) 影 片，影。片",
    7: "data:image/png;base64,QUJDREVG after",
}


def memo_of(number: int, content: str, *, visibility: str = "PRIVATE", pinned: bool = False) -> Memo:
    when = 1_000 * number
    return Memo(str(number), content, when, when, visibility, pinned=pinned, tags=tags_of(content))


MEMOS = [
    memo_of(n, text, visibility=("PRIVATE", "PUBLIC", "PROTECTED")[n % 3], pinned=n % 2 == 0) for n, text in CONTENTS.items()
]


@pytest.fixture
def catalog() -> Iterator[Catalog]:
    with Catalog(None) as catalog:
        for memo in MEMOS:
            catalog.write_memo(memo, keyword_entry(memo))
        yield catalog


# parts of words


@pytest.mark.parametrize(
    ("part", "ids"),
    [
        ("影", "631"),
        ("观影", "1"),
        ("art", "32"),
        ("final cut", "2"),
        ("the final", "2"),  # over the end of a line
        ("100%", "2"),
        ("%", "2"),
        ("t_h", "3"),
        ("_", "43"),
        ("\\", ""),
        ("影 片", "6"),
        ("qujd", ""),  # a picture pasted as data
        ("after", "7"),
        ("x" * 60_000, ""),
        ("影\0片", ""),
    ],
)
def test_any_part_of_a_text_is_found(catalog: Catalog, part: str, ids: str) -> None:
    """Of any length, with any sign in it, newest memos first; signs of patterns stand for themselves."""
    assert catalog.memos_containing(part, 10) == list(ids)


def test_the_newest_are_kept(catalog: Catalog) -> None:
    """A limit leaves out the oldest."""
    assert catalog.memos_containing("影", 2) == ["6", "3"]


def test_texts_follow_their_memos(catalog: Catalog) -> None:
    """An edit, a new visibility and a deletion are seen at once."""
    edited = replace(MEMOS[0], content="下棋 http://example.com", tags=(), visibility="PUBLIC", pinned=True)
    catalog.write_memo(edited, keyword_entry(edited))
    assert "1" not in catalog.memos_containing("影", 10)
    assert catalog.memos_containing("棋", 10) == ["1"]
    assert "1" in catalog.memos_in_scope(Scope(visibilities=("public",), pinned=(True,), has_link=(True,)))
    catalog.delete_memo("1", title="", deleted_at="", trash_path="")
    assert catalog.memos_containing("棋", 10) == []
    assert "1" not in catalog.memos_in_scope(Scope())
    assert catalog._db.execute("SELECT count(*) FROM texts").fetchone() == (len(MEMOS) - 1,)


# filters


@pytest.mark.parametrize(
    ("scope", "ids"),
    [
        (Scope(), "1234567"),
        (Scope(tags=("电影",)), "13"),
        (Scope(tags=("电影/2024",)), "1"),
        (Scope(tags=("film",)), "2"),
        (Scope(tags=("电影", "film")), ""),
        (Scope(excluded_tags=("电影",)), "24567"),
        (Scope(created_from=3_000, created_before=5_000), "34"),
        (Scope(visibilities=("private",)), "36"),
        (Scope(visibilities=("private", "public")), "13467"),
        (Scope(excluded_visibilities=("private",)), "12457"),
        (Scope(pinned=(True,)), "246"),
        (Scope(pinned=(False,)), "1357"),
        (Scope(pinned=(True, False)), ""),
        (Scope(has_link=(True,)), "345"),
        (Scope(has_link=(False,)), "1267"),
        (Scope(parts=("影", "片")), "6"),
        (Scope(excluded_parts=("影",)), "2457"),
        (Scope(excluded_parts=("art",)), "14567"),
        (Scope(excluded_words=("art",)), "134567"),
        (Scope(excluded_words=("影片",)), "1234567"),
        (Scope(excluded_words=("art-of",)), "1234567"),  # the same words, written otherwise
        (Scope(excluded_words=("影",)), "2457"),
        (Scope(excluded_words=("观影",)), "234567"),
        (Scope(excluded_words=("100%",)), "134567"),
        (Scope(excluded_words=("%",)), "134567"),
        (Scope(tags=("电影",), excluded_words=("观影",), has_link=(True,)), "3"),
        (Scope(excluded_words=tuple(f"none{n}" for n in range(1_500)), excluded_parts=("影",)), "2457"),
        (Scope(tags=tuple("电影" for _ in range(1_500))), "13"),
        (Scope(excluded_words=("观" * 60_000, "a" * 60_000)), "1234567"),
    ],
)
def test_conditions_narrow_a_search(catalog: Catalog, scope: Scope, ids: str) -> None:
    """Each by itself, all together, and more than SQLite takes at once; newest first where order matters."""
    assert catalog.memos_in_scope(scope) == set(ids)
    assert catalog.newest_in_scope(scope, 10) == sorted(ids, reverse=True)
    assert catalog.newest_in_scope(scope, 1) == sorted(ids, reverse=True)[:1]


@given(st.text(), st.text())
@settings(max_examples=200)
def test_no_text_is_a_syntax_error(text: str, other: str) -> None:
    """Whatever is asked for, the catalog answers; and a memo's own text is found in it."""
    with Catalog(None) as catalog:
        memo = memo_of(1, text.replace("\0", "\ufffd"))
        catalog.write_memo(memo, keyword_entry(replace(memo, content=memo.content.encode(errors="replace").decode())))
        for part in filter(None, map(searchable, (text, other))):
            catalog.memos_containing(part, 1)
            catalog.memos_in_scope(Scope(tags=(part,), parts=(part,)))
            catalog.memos_in_scope(Scope(excluded_words=(part,), excluded_parts=(part,)))
        if searchable(text):
            assert catalog.memos_containing(searchable(text), 1) == ["1"]


@pytest.mark.parametrize(
    ("content", "has_link"),
    [
        ("HTTPS://EXAMPLE.COM", True),
        ("http://", False),
        ("[[note]]", True),
        ("[[]]", False),
        ("[text](other.md)", True),
        ("[text]()", False),
        ("![alt](picture.png)", False),
        ("![alt](https://example.com/picture.png)", True),
        ("[x] done (later)", False),
        ("[picture](data:image/png;base64,QUJD)", False),
    ],
)
def test_what_counts_as_a_link(content: str, has_link: bool) -> None:
    """An address, a wikilink or a Markdown link; no picture that lies beside the memo, and no pasted data."""
    assert keyword_entry(memo_of(1, content)).has_link is has_link


def test_equal_scores_are_ranked_newest_first(catalog: Catalog) -> None:
    """The newest of memos that say the same stays when there is room for one."""
    for number in (21, 23, 22):
        memo = memo_of(number, "harbour lights")
        catalog.write_memo(memo, keyword_entry(memo))
    found = catalog.match_keywords(match_any(["harbour"]), (1.0, 1.0, 1.0), 2)
    assert [memo_id for memo_id, _ in found] == ["23", "22"]


# a catalog of an older format


@pytest.fixture
def old_file(tmp_path: Path) -> Path:
    """As format 1 left it, in WAL mode, with memos and their words."""
    path = tmp_path / "catalog.sqlite3"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(FORMAT_1)
        db.execute("INSERT INTO meta VALUES ('kept', 'as it is')")
        for number, memo in enumerate(MEMOS, 5):
            entry = keyword_entry(memo)
            record = json.dumps(asdict(memo), ensure_ascii=False, separators=(",", ":"))
            row = (number, memo.id, memo.created, memo.memo_hash, memo.content_hash, record)
            db.execute("INSERT INTO memos VALUES (?, ?, ?, ?, ?, ?)", row)
            db.execute("INSERT INTO keywords (rowid, title, tags, body) VALUES (?, ?, ?, ?)",
                       (number, entry.title, entry.tags, entry.body))  # fmt: skip
            db.executemany("INSERT INTO memo_tags VALUES (?, ?)", [(memo.id, tag) for tag in entry.whole_tags])
    return path


def format_of(path: Path) -> tuple[int, list[str]]:
    """The format, and the tables that came with format 2."""
    with closing(sqlite3.connect(path)) as db:
        (version,) = db.execute("PRAGMA user_version").fetchone()
        names = db.execute("SELECT name FROM sqlite_master WHERE name IN ('texts', 'memo_facts') ORDER BY name")
        return version, [name for (name,) in names]


def new_rows(catalog: Catalog) -> list[tuple[object, ...]]:
    return catalog._db.execute(
        "SELECT m.id, t.folded, f.id, f.created, f.visibility, f.pinned, f.has_link FROM memos m"
        " LEFT JOIN texts t USING (number) LEFT JOIN memo_facts f USING (number) ORDER BY m.id"
    ).fetchall()


def test_format_1_is_brought_up_to_date(old_file: Path, catalog: Catalog) -> None:
    """Opening it is enough: everything is as if written by this release, and what was there stays."""
    with Catalog(old_file) as upgraded:
        assert new_rows(upgraded) == new_rows(catalog)
        assert upgraded.read_meta("kept") == "as it is"
        assert upgraded.memo_marks() == catalog.memo_marks()
        assert upgraded.match_keywords('"art"', (1.0, 1.0, 1.0), 5) == catalog.match_keywords('"art"', (1.0, 1.0, 1.0), 5)
        assert upgraded.memos_containing("影", 10) == ["6", "3", "1"]
        assert sorted(upgraded.gists.missing(1)) == sorted(upgraded.memo_marks())
    assert format_of(old_file) == (SCHEMA_VERSION, ["memo_facts", "texts"])


def test_both_ways_of_reading_a_memo_agree() -> None:
    """What an upgrade stores is what a sync stores."""
    for memo in MEMOS:
        entry = keyword_entry(memo)
        assert text_entry(memo) == (entry.folded, entry.has_link)


def test_many_may_open_format_1_at_once(old_file: Path, catalog: Catalog) -> None:
    """One brings it up to date, the others wait; nobody fails and nothing is stored twice."""
    together = threading.Barrier(4)
    seen: list[object] = []

    def open_it() -> None:
        together.wait()
        try:
            with Catalog(old_file) as opened:
                seen.append(new_rows(opened))
        except Exception as error:  # noqa: BLE001  (the test shows it)
            seen.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == [new_rows(catalog)] * 4


DIES = """
import os, signal, sys
from pathlib import Path
from vaultbrain.index.catalog import Catalog

class Dying(Catalog):
    left = int(sys.argv[2])

    def _write_text(self, *fields):
        super()._write_text(*fields)
        Dying.left -= 1
        if not Dying.left:
            os.kill(os.getpid(), signal.SIGKILL)

Dying(Path(sys.argv[1]))
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
@pytest.mark.parametrize("after", [1, len(MEMOS)])
def test_a_kill_in_the_middle_leaves_format_1(old_file: Path, catalog: Catalog, after: int) -> None:
    """Killed after the first or the last memo, the file is what it was; the next to open it finishes the work."""
    killed = subprocess.run([sys.executable, "-c", DIES, str(old_file), str(after)], cwd=ROOT, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert format_of(old_file) == (1, [])
    with Catalog(old_file) as upgraded:
        assert new_rows(upgraded) == new_rows(catalog)


def test_a_damaged_record_stops_the_upgrade(old_file: Path) -> None:
    """The catalog cannot be used, and is left in format 1."""
    with closing(sqlite3.connect(old_file, isolation_level=None)) as db:
        db.execute("UPDATE memos SET record = '{' WHERE id = '3'")
    with pytest.raises(StateUnreadable):
        Catalog(old_file)
    assert format_of(old_file) == (1, [])


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    """A release does not touch what a later one wrote."""
    path = tmp_path / "catalog.sqlite3"
    Catalog(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    with pytest.raises(StateUnreadable):
        Catalog(path)
    assert format_of(path)[0] == SCHEMA_VERSION + 1
