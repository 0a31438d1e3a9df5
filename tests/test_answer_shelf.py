"""The catalog's shelf of answers."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from vaultbrain.index.answers import AnswerRow, CitedMemo
from vaultbrain.index.catalog import SCHEMA_VERSION, Catalog

if TYPE_CHECKING:
    from pathlib import Path

ROW = AnswerRow(
    answer_id="k-2",
    key="k",
    number=2,
    path="CFlow/Answers/问.md",
    question="问「一」",
    mode="match",
    language="zh-Hans",
    asked="2026-11-30T07:04:05",
    passage="一段\n两行",
    variants=("甲", "乙"),
    status="stale",
    reason="改过",
    region="a\n\nb",
    intended="c",
    properties={"tags": ["vaultbrain/answer"], "vb_kind": []},
    cited=(CitedMemo("456", "ab", "强", "标题", "CFlow/Memos/x (456).md", "m456-2"), CitedMemo("7", "cd", "", "", "", "")),
    come=("9",),
    seen=("456", "7", "8"),
    strong=1,
    changes=("新引用：#9",),
    changed_on="2026-12-01",
)


def test_a_row_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """Every field, also after the file was closed; the last one written counts."""
    path = tmp_path / "catalog.sqlite3"
    with Catalog(path) as catalog:
        catalog.answers.write(AnswerRow("k-2", "k", 2, "", "", "", "", ""))
        catalog.answers.write(ROW)
    with Catalog(path) as catalog:
        assert catalog.answers.load("k-2") == ROW
        assert catalog.answers.rows() == [ROW]
        assert catalog.answers.load("k") is None


def test_the_latest_answer_to_a_question_is_the_one_with_the_highest_number() -> None:
    """Ten comes after nine, and other questions do not count."""
    with Catalog(None) as catalog:
        for number in (9, 10, 2):
            catalog.answers.write(AnswerRow(f"k-{number}", "k", number, "", "", "", "", ""))
        catalog.answers.write(AnswerRow("j-11", "j", 11, "", "", "", "", ""))
        latest = catalog.answers.latest("k")
        assert latest is not None
        assert latest.number == 10
        assert catalog.answers.latest("i") is None


#: The tables that came with each format.
CAME_WITH = {
    3: ("answers",),
    4: ("kept", "looked", "inbox", "recall_notes", "recall_mentions", "recall_ticks", "recall_log"),
    5: ("gists",),
}


@pytest.mark.parametrize("version", [2, 3, 4])
def test_an_older_format_gets_the_shelves_and_keeps_the_rest(tmp_path: Path, version: int) -> None:
    """A catalog of a release before: opened, it has all shelves, and its meta is as it was."""
    path = tmp_path / "catalog.sqlite3"
    with Catalog(path) as catalog:
        catalog.write_meta("kept", "as it is")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for table in (table for came, tables in CAME_WITH.items() if came > version for table in tables):
            db.execute(f"DROP TABLE {table}")
        db.execute(f"PRAGMA user_version = {version}")
    with Catalog(path) as catalog:
        assert not catalog.answers.has_any()
        catalog.answers.write(ROW)
        assert catalog.answers.has_any()
        assert (catalog.inbox.rows(), catalog.recalls.notes(), catalog.looked_marks()) == ([], [], {})
        assert catalog.read_meta("kept") == "as it is"
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
