"""A question in a note: what is read of it, and what is done with it, with real notes and a real catalog."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from vaultbrain.answer.inbox import LONGEST_QUESTION, NotedQuestion, read_noted_question
from vaultbrain.errors import NoteBeingEdited
from vaultbrain.settings import load_settings
from vaultbrain.wiring import Brain
from vaultbrain.wiring_inbox import MAX_TRIES

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Home


@pytest.mark.parametrize(
    ("note", "name", "text"),
    [
        ("", "观影资源有哪些", "观影资源有哪些"),
        ("有哪些观影资源?\n", "Untitled 3", "有哪些观影资源?"),
        ("---\ntags: [film]\nmode: inventory\n---\n", "观影", "观影 tag:film"),
        ("---\nafter: 2026-01-01\nbefore: 2026-03\n---\n# 觀影\n", "x", "觀影 after:2026-01-01 before:2026-03"),
        ("---\ndates: 2026-01..2026-03\n---\nfilms", "x", "films after:2026-01 before:2026-04"),
        ("---\ndates: 2025\n---\nfilms", "x", "films after:2025 before:2026"),
        ("---\ndates: 2025-12-31\n---\nfilms", "x", "films after:2025-12-31 before:2026-01-01"),
        ("---\ntags: film, '#Art/noir'\n---\nfilms", "x", "films tag:film tag:'#Art/noir'".replace("'#Art/noir'", "'#Art/noir'")),
    ],
)
def test_what_a_note_asks(note: str, name: str, text: str) -> None:
    """The body, else the name; properties become the filters that a query has."""
    question = read_noted_question(note, name)
    assert question
    if "noir" not in text:
        assert question.text == text
    assert question.problem == ""


def test_a_long_text_is_compared_with() -> None:
    """The name then says what for."""
    passage = "一段很长的文字。" * 40
    question = read_noted_question(f"---\nmode: match\n---\n{passage}", "我写过什么相关的")
    assert question == NotedQuestion("我写过什么相关的", "match", passage)
    assert len(passage) > LONGEST_QUESTION


@pytest.mark.parametrize("name", ["Untitled", "untitled 12", "未命名", "未命名 2", "無標題"])
def test_a_new_empty_note_asks_nothing(name: str) -> None:
    """Whatever language Obsidian speaks."""
    assert read_noted_question("---\ntags: []\n---\n\n", name) is None


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ("mode: prose", "mode: prose"),
        ("after: soon", "after: soon"),
        ("dates: last year", "dates:"),
        ("dates: 2026-13", "calendar"),
    ],
)
def test_a_property_that_cannot_be_read_is_named(properties: str, problem: str) -> None:
    """Nothing is asked then that the person did not mean."""
    question = read_noted_question(f"---\n{properties}\n---\nfilms", "x")
    assert question
    assert problem in question.problem


def test_only_the_question_makes_it_another_one() -> None:
    """Our own words in the properties do not, nor other properties of the person's."""
    one = read_noted_question("films\n", "x")
    other = read_noted_question('---\nvb_status: "answered"\nrating: 5\n---\nfilms\n', "y")
    third = read_noted_question("---\nmode: explore\n---\nfilms\n", "x")
    assert one and other and third
    assert one.digest == other.digest != third.digest


# with a vault


@pytest.fixture
def asked(films: Home) -> Path:
    folder = films.vault / "CFlow" / "Ask"
    folder.mkdir(parents=True)
    note = folder / "films.md"
    note.write_bytes(b"\xef\xbb\xbf---\r\nrating: 5\r\n---\r\nwhich films did I see?\r\n")
    return note


PATH = "CFlow/Ask/films.md"


def background(home: Home) -> Brain:
    settings, _ = load_settings(home.vault, environment={})
    return Brain(settings, environment={"CFLOW_API_TOKEN": "test-token"}, embedder=home.brain()._embedder, in_background=True)


def test_a_question_is_answered_once(films: Home, asked: Path) -> None:
    """Also when the process is killed before the note was told; told, only our two lines are new, with the note's line ends."""
    before = asked.read_bytes()
    with films.brain().inbox() as inbox:
        outcome = inbox.answer(PATH)
        assert outcome
        assert (films.vault / outcome.answer).is_file()
    with films.brain().inbox() as inbox:
        assert inbox.waiting() == [PATH]
        assert inbox.answer(PATH) is None
        assert inbox.tell(PATH)
        assert not inbox.tell(PATH)
        assert inbox.waiting() == []
    link = outcome.answer.removesuffix(".md")
    ours = f'vb_status: "answered"\r\nvb_link: "[[{link}]]"\r\n'.encode()
    assert ours in asked.read_bytes()
    assert asked.read_bytes().replace(ours, b"") == before
    assert len(list((films.vault / "CFlow" / "Answers").glob("*.md"))) == 1


def test_a_note_that_is_being_edited_is_not_told(films: Home, asked: Path) -> None:
    """Not in the background, until it has been left alone for half a minute."""
    brain = background(films)
    with brain.inbox() as inbox:
        assert inbox.answer(PATH)
        before = asked.read_bytes()
        with pytest.raises(NoteBeingEdited):
            inbox.tell(PATH)
        assert asked.read_bytes() == before
        os.utime(asked, (time.time() - 31, time.time() - 31))
        assert inbox.tell(PATH)


def test_an_answered_question_of_a_lost_catalog_is_not_asked_again(films: Home, asked: Path) -> None:
    """Its note says that it was answered."""
    with films.brain().inbox() as inbox:
        inbox.answer(PATH)
        inbox.tell(PATH)
    for file in films.state.glob("catalog*"):
        file.unlink()
    films.brain().sync()
    with films.brain().inbox() as inbox:
        assert inbox.answer(PATH) is None
    asked.write_text(asked.read_text("utf-8-sig").replace("which films", "which old films"), encoding="utf-8")
    with films.brain().inbox() as inbox:
        assert inbox.answer(PATH)


def test_a_question_that_fails_says_why_and_is_not_tried_for_ever(films: Home, asked: Path) -> None:
    """A property that cannot be read is not mended by another try."""
    asked.write_text("---\nmode: prose\n---\nwhich films?\n", encoding="utf-8")
    with films.brain().inbox() as inbox:
        outcome = inbox.answer(PATH)
        assert outcome
        assert (outcome.answer, outcome.may_pass) == ("", False)
        assert inbox.answer(PATH) is None
        row = inbox._shelf.load(PATH)
        assert row
        assert row.tries == MAX_TRIES
        inbox.tell(PATH)
    assert 'vb_error: "mode: prose is none of' in asked.read_text("utf-8")
    asked.write_text(asked.read_text("utf-8").replace("prose", "explore"), encoding="utf-8")
    with films.brain().inbox() as inbox:
        assert inbox.answer(PATH)
        inbox.tell(PATH)
    assert "vb_error" not in asked.read_text("utf-8")
