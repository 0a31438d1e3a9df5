"""Answers and accidents: two processes at one answer, a disk that is full, and kill -9 at moments drawn by lot.

Where two meet, the second acts in the middle of the first, at the moment that hurts most; kills are of real processes. Always the
same has to come out: one note per question, nothing that the person typed lost, no false clash, and one sync that mends all.

``VAULTBRAIN_TEST_SEED`` repeats the choices of a run; the moment of a kill depends on the machine, too.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import TOKEN, CFlowServer, wire_memo
from films import MEMOS, QUESTION
from obsidian import Vault, hash_tree
from shell import ROOT, RUN

from vaultbrain import views
from vaultbrain.answer import delivery, living
from vaultbrain.errors import StateBusy, VaultbrainError, WriteFailed
from vaultbrain.index.answers import AnswerShelf
from vaultbrain.vault.note import read_properties

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Home

    from vaultbrain.wiring import Brain

MINE = "这一句是我写的。"
#: What another has time for when nothing makes it wait.
MAY_ACT_S = 1.5


def answers(films: Home) -> list[Path]:
    return sorted((films.vault / "CFlow/Answers").glob("*.md"))


def assert_sound(films: Home) -> None:
    """One note for each answer, no false clash, every link leads somewhere, nothing of ours half-written."""
    assert list(films.vault.rglob(".vaultbrain-*")) == []
    ids = [read_properties(path.read_text("utf-8"))["vb_answer"] for path in answers(films)]
    assert len(set(ids)) == len(ids)
    assert all("both sides changed" not in path.read_text("utf-8") for path in answers(films))
    stale = ("does not say", "the quote has no link")
    assert [p for p in Vault.load(films.vault).problems() if not any(words in p for words in stale)] == []


def assert_rows_agree(films: Home) -> None:
    """What the catalog says of each answer is what stands in its note."""
    with films.catalog() as catalog:
        rows = catalog.answers.rows()
    for row in rows:
        properties = read_properties((films.vault / row.path).read_text("utf-8"))
        assert properties["vb_status"] == row.status
        known = [f"{memo.memo_id} {memo.version[:12]}" for memo in row.cited if memo.version]
        assert set(known) <= set(properties["vb_versions"])  # type: ignore[call-overload]


# two at once


def in_the_middle(patch: pytest.MonkeyPatch, module: Any, name: str, act: Callable[[], object]) -> None:
    """Before the next call of the function, and only that one, something else happens."""
    real = getattr(module, name)

    def call(*args: Any, **named: Any) -> Any:
        patch.setattr(module, name, real)
        act()
        return real(*args, **named)

    patch.setattr(module, name, call)


def test_the_same_question_asked_twice_at_once_makes_one_note(films: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both looked for a note before either wrote one."""
    in_the_middle(monkeypatch, delivery, "own_properties", lambda: films.brain().ask(QUESTION))
    films.brain().ask(QUESTION)
    assert len(answers(films)) == 1
    assert_sound(films)


def test_new_asked_twice_at_once_makes_two_notes_of_their_own(films: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with an id that no other has."""
    films.brain().ask(QUESTION)
    in_the_middle(monkeypatch, delivery, "own_properties", lambda: films.brain().ask(QUESTION, new=True))
    films.brain().ask(QUESTION, new=True)
    assert len(answers(films)) == 3
    assert_sound(films)


def test_two_refreshes_at_once_make_no_clash(server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second writes what the first would have, and more: a memo came in between."""
    films.brain().ask(QUESTION)
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    films.brain().sync()

    def other() -> None:
        server.edit(123, "豆瓣片单备份\n\n「2027 年想看的两部」 #观影")
        films.brain().sync()
        films.brain().refresh()

    in_the_middle(monkeypatch, delivery, "own_properties", other)
    films.brain().refresh()
    films.brain().sync()
    films.brain().refresh()
    assert_sound(films)
    assert_rows_agree(films)
    assert "「2027 年想看的两部」" in answers(films)[0].read_text("utf-8")


def test_a_refresh_while_a_sync_looks_at_the_answer_is_not_undone(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sync read the answer before the refresh and writes after it: the new answer stays, in the note and in the catalog."""
    films.brain().ask(QUESTION)
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    in_the_middle(monkeypatch, living, "mended_citations", lambda: films.brain().refresh(everything=True))
    films.brain().sync()
    assert_rows_agree(films)
    assert "「2026 年想看的三部」" in answers(films)[0].read_text("utf-8")
    server.edit(123, "豆瓣片单备份\n\n「2027 年想看的两部」 #观影")
    films.brain().sync()
    films.brain().refresh()
    assert_sound(films)
    assert_rows_agree(films)


def test_a_canvas_drawn_while_another_refreshes_does_not_bring_back_the_old_answer(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the note and its canvas, another process brings the answer up to date, or has to wait until it may."""
    films.brain().ask(QUESTION)

    def refresh() -> None:
        server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
        films.brain().sync()
        films.brain().refresh()

    other = threading.Thread(target=refresh)

    def act() -> None:
        other.start()
        other.join(MAY_ACT_S)

    in_the_middle(monkeypatch, views, "draw_canvas", act)
    films.brain().ask(QUESTION, canvas=True)
    other.join()
    assert_rows_agree(films)
    films.brain().sync()
    films.brain().refresh(everything=True)
    assert_sound(films)


def test_the_person_types_while_an_answer_is_written(films: Home, server: CFlowServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look for the note and the writing, a line appears in the region and one below it: both are kept."""
    asked = films.brain().ask(QUESTION)
    path = films.vault / asked.path
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    films.brain().sync()

    def type_in() -> None:
        text = path.read_text("utf-8").replace("## 按主题整理\n", f"## 按主题整理\n\n{MINE}\n")
        path.write_text(f"{text}\n{MINE}\n", encoding="utf-8")

    in_the_middle(monkeypatch, delivery, "own_properties", type_in)
    films.brain().refresh()
    assert path.read_text("utf-8").count(MINE) == 2


def test_the_person_deletes_the_note_while_a_sync_looks_at_it(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not written again."""
    asked = films.brain().ask(QUESTION)
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    in_the_middle(monkeypatch, living, "mended_citations", (films.vault / asked.path).unlink)
    films.brain().sync()
    assert answers(films) == []


# a full disk


def refuse(patch: pytest.MonkeyPatch, brain: Brain, door: str) -> None:
    def full(path: str, _: str, **how: object) -> None:
        raise WriteFailed(path=path, reason="No space left on device")

    patch.setattr(brain._vault, door, full)


def test_a_full_disk_under_a_new_answer_leaves_nothing_and_says_what_to_do(films: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """No note, no row; asked again, there is one note."""
    brain = films.brain()
    refuse(monkeypatch, brain, "create")
    before = hash_tree(films.vault)
    with pytest.raises(WriteFailed):
        brain.ask(QUESTION)
    assert hash_tree(films.vault) == before
    with films.catalog() as catalog:
        assert catalog.answers.rows() == []
    films.brain().ask(QUESTION)
    assert_sound(films)


class FullDisk:
    """In front of the catalog's connection: refuses one write of an answer, as SQLite does it."""

    def __init__(self, refused: int) -> None:
        self._left: int = refused
        self._database: Any = None

    def before(self, database: Any) -> Any:
        self._database = database
        return self

    def execute(self, query: str, *values: Any) -> Any:
        self._left -= query.startswith("INSERT OR REPLACE INTO answers")
        if not self._left:
            self._left = -1
            raise sqlite3.OperationalError("database or disk is full")
        return self._database.execute(query, *values)


@pytest.mark.parametrize("write", [1, 2])
def test_a_full_disk_under_a_row_is_a_situation_and_is_made_up_for(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch, write: int
) -> None:
    """Before or after the note was written: an error with words, not a fault of ours; the next refresh brings all in order."""
    films.brain().ask(QUESTION)
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    films.brain().sync()
    with monkeypatch.context() as patch:
        real, disk = AnswerShelf.__init__, FullDisk(write)
        patch.setattr(AnswerShelf, "__init__", lambda shelf, database: real(shelf, disk.before(database)))
        with pytest.raises(VaultbrainError):
            films.brain().refresh()
    films.brain().sync()
    films.brain().refresh(everything=True)
    assert_sound(films)
    assert_rows_agree(films)


def test_one_answer_that_cannot_be_written_does_not_stop_a_refresh_of_the_others(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others are written, and the one is named."""
    films.brain().ask(QUESTION)
    films.brain().ask("豆瓣片单")
    films.brain().ask("影视网站")
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    server.edit(456, "影视网站 豆瓣片单 #观影")
    films.brain().sync()
    with films.catalog() as catalog:
        first = next(row.path for row in catalog.answers.rows() if row.status == "stale")
    brain = films.brain()
    real = brain._vault.replace

    def full(path: str, text: str, **how: object) -> object:
        if path == first:
            raise WriteFailed(path=path, reason="No space left on device")
        return real(path, text, **how)

    monkeypatch.setattr(brain._vault, "replace", full)
    with suppress(WriteFailed):
        brain.refresh()
    status = {path.name: str(read_properties(path.read_text("utf-8"))["vb_status"]) for path in answers(films)}
    assert sorted(status.values()) == ["fresh", "fresh", "stale"]


def test_a_kill_while_a_sync_mends_links_makes_no_clash_later(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The note was written, its row was not; then more memos go."""
    films.brain().ask(QUESTION)
    server.delete(123)
    with monkeypatch.context() as patch:
        patch.setattr(AnswerShelf, "write", _killed)
        with pytest.raises(KeyboardInterrupt):
            films.brain().sync()
    server.delete(456)
    films.brain().sync()
    assert_sound(films)
    assert_rows_agree(films)


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_words_typed_after_a_kill_between_note_and_row_are_kept(films: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row is missing, so nobody knows what we wrote: nothing that stands in the region may be thrown away."""
    with monkeypatch.context() as patch:
        patch.setattr(delivery, "lists_of", _killed)
        with pytest.raises(KeyboardInterrupt):
            films.brain().ask(QUESTION)
    (path,) = answers(films)
    path.write_text(path.read_text("utf-8").replace("## 按主题整理\n", f"## 按主题整理\n\n{MINE}\n"), encoding="utf-8")
    films.brain().ask(QUESTION)
    assert MINE in path.read_text("utf-8")


def test_the_catalog_busy_for_a_moment_is_waited_for_and_for_long_is_said(films: Home) -> None:
    """Another process holds the answers' lock."""
    from vaultbrain.sync.lock import ANSWERS_LOCK, writing

    brain = films.brain()
    brain.settings = replace(brain.settings, lock_timeout=1)
    before = hash_tree(films.vault)
    with writing(films.state, timeout_s=1, command="ask", name=ANSWERS_LOCK), pytest.raises(StateBusy):
        brain.ask(QUESTION)
    assert hash_tree(films.vault) == before


# real processes


def start(films: Home, *words: str) -> subprocess.Popen[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("VAULTBRAIN_")}
    return subprocess.Popen(
        [sys.executable, "-c", RUN, *words, "--vault", str(films.vault)],
        env=inherited | {"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1", "CFLOW_API_TOKEN": TOKEN, "VAULTBRAIN_EMBEDDING": "use"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=90)
    assert "Traceback" not in err, err
    assert "fault of its own" not in err, (process.args, err)
    assert process.returncode == 0, err
    return out


needs_signals = pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")


@needs_signals
def test_two_processes_that_ask_the_same_make_one_note(server: CFlowServer, home: Home) -> None:
    """Real ones, started together; whichever is first, both print the same path."""
    server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
    finish(start(home, "sync"))
    for number in range(2):
        question = f"观影 {number}"
        running = [start(home, "ask", question) for _ in range(2)]
        assert len({finish(process) for process in running}) == 1
    assert len(answers(home)) == 2
    assert_sound(home)


@needs_signals
@pytest.mark.parametrize("command", [("ask", QUESTION), ("refresh", "--all"), ("sync",)], ids=lambda words: words[0])
def test_killed_at_any_moment(server: CFlowServer, home: Home, command: tuple[str, ...]) -> None:
    """Whatever was being done, one sync and one more ``ask`` leave one sound note with the person's words in it."""
    dice = random.Random(os.environ.get("VAULTBRAIN_TEST_SEED", "answers"))
    server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
    finish(start(home, "sync"))
    began = time.monotonic()
    finish(start(home, "ask", QUESTION))
    whole_s = time.monotonic() - began
    (path,) = answers(home)
    path.write_text(path.read_text("utf-8") + f"\n{MINE}\n", encoding="utf-8")
    for year in (2027, 2028):
        server.edit(123, f"豆瓣片单备份\n\n「{year} 年想看的三部」 #观影")
        if command[0] == "refresh":
            finish(start(home, "sync"))
        process = start(home, *command)
        time.sleep(whole_s * dice.uniform(0.5, 1.0))
        process.kill()
        process.communicate(timeout=90)
        assert process.returncode in (0, -signal.SIGKILL)
        assert path.read_text("utf-8").endswith(f"{MINE}\n")
    finish(start(home, "sync"))
    finish(start(home, "ask", QUESTION))
    assert json.loads(finish(start(home, "refresh", "--json"))) == {"refreshed": [], "failed": {}}
    assert path.read_text("utf-8").endswith(f"{MINE}\n")
    assert "「2028 年想看的三部」" in path.read_text("utf-8")
    assert len(answers(home)) == 1
    assert_sound(home)
    assert_rows_agree(home)
