"""A question in a note: what is read of it, and what is done with it, with real notes and a real catalog."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from vaultbrain.answer.inbox import NotedQuestion, read_noted_question
from vaultbrain.errors import NoteBeingEdited, VaultbrainError, WriteFailed
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS
from vaultbrain.settings import load_settings
from vaultbrain.vault.vault import Vault
from vaultbrain.wiring import Brain
from vaultbrain.wiring_inbox import InboxWiring

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
    assert len(passage) > LONGEST_WITH_FILTERS


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
    assert one
    assert other
    assert third
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
        assert row.tries == 0
        inbox.tell(PATH)
    assert 'vb_error: "mode: prose is none of' in asked.read_text("utf-8")
    asked.write_text(asked.read_text("utf-8").replace("prose", "explore"), encoding="utf-8")
    with films.brain().inbox() as inbox:
        assert inbox.answer(PATH)
        inbox.tell(PATH)
    assert "vb_error" not in asked.read_text("utf-8")


def again(films: Home, path: str = PATH) -> str:
    """What a new process answers for the note at ``path``, and tells it; empty when it does nothing."""
    with films.brain().inbox() as inbox:
        outcome = inbox.answer(path)
        inbox.tell(path)
        return outcome.answer or outcome.error if outcome else ""


def test_a_new_note_under_an_old_name_is_answered(films: Home, asked: Path) -> None:
    """So is one from which the person took what we told; a note that is as we left it is not."""
    before = asked.read_bytes()
    assert again(films)
    assert again(films) == ""
    asked.unlink()
    assert again(films) == ""
    asked.write_bytes(before)
    assert again(films)
    assert b"vb_status" in asked.read_bytes()


def test_a_renamed_or_copied_note_asks_what_it_says_now(films: Home, asked: Path) -> None:
    """Its properties speak of the question before; one that was only moved is settled."""
    asked.write_text("", encoding="utf-8")
    first = again(films)
    renamed = asked.rename(asked.with_name("noir.md"))
    assert "noir" in again(films, "CFlow/Ask/noir.md")
    below = renamed.parent / "done"
    below.mkdir()
    renamed.rename(below / "noir.md")
    assert again(films, "CFlow/Ask/done/noir.md") == ""
    copied = asked.with_name("ceramics.md")
    copied.write_text((below / "noir.md").read_text("utf-8"), encoding="utf-8")
    assert again(films, "CFlow/Ask/ceramics.md") not in ("", first)


class Ask:
    """Fails as it is told, then answers."""

    def __init__(self, *errors: VaultbrainError) -> None:
        self.errors = list(errors)

    def __call__(self, question: str, mode: str, passage: str) -> str:
        if self.errors:
            raise self.errors.pop(0)
        return "CFlow/Answers/x.md"


def test_what_may_pass_is_tried_until_it_does(films: Home, asked: Path) -> None:
    """Less and less often, with the reason in the note; what passes within seconds is not even told."""
    full = [WriteFailed(path="x", reason="No space left on device") for _ in range(9)]
    edited = NoteBeingEdited(path="CFlow/Answers/x.md", reason="it was changed less than 30 seconds ago")
    with films.catalog() as catalog:
        inbox = InboxWiring(catalog.inbox, Vault(films.vault), "CFlow/Ask", Ask(edited, *full))
        delayed = inbox.answer(PATH)
        assert delayed
        assert (delayed.may_pass, inbox.tell(PATH), b"vb_" in asked.read_bytes()) == (True, False, False)
        waits = []
        for _ in full:
            outcome = inbox.answer(PATH)
            assert outcome
            waits.append(outcome.retry_s)
        assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
        inbox.tell(PATH)
        assert b"vb_error" in asked.read_bytes()
        assert inbox.waiting() == [PATH]
        outcome = inbox.answer(PATH)
        assert outcome
        assert outcome.answer == "CFlow/Answers/x.md"
        inbox.tell(PATH)
        assert b"vb_error" not in asked.read_bytes()


class SlowVault(Vault):
    """A sync program replaces the note, with an old time of change, just after it was read."""

    def read(self, path: str) -> str | None:
        text = super().read(path)
        (self.root / path).write_text(f"{text}typed elsewhere\n", encoding="utf-8")
        os.utime(self.root / path, (1_000_000, 1_000_000))
        return text


def test_words_that_come_between_reading_and_telling_stay(films: Home, asked: Path) -> None:
    """Whatever the file's time says."""
    with films.catalog() as catalog:
        InboxWiring(catalog.inbox, Vault(films.vault), "CFlow/Ask", Ask()).answer(PATH)
        slow = InboxWiring(catalog.inbox, SlowVault(films.vault, spare_s=30), "CFlow/Ask", Ask())
        with pytest.raises(NoteBeingEdited):
            slow.tell(PATH)
    assert "typed elsewhere" in asked.read_text("utf-8")
    with films.catalog() as catalog:
        changed = InboxWiring(catalog.inbox, Vault(films.vault), "CFlow/Ask", Ask())
        assert not changed.tell(PATH)
    assert "vb_status" not in asked.read_text("utf-8")


@pytest.mark.parametrize("properties", ["after: 2026-02-30\nmode: match", "bad: [", "- a\n- b", "tags: [old film]"])
def test_conditions_that_cannot_be_read_are_not_left_out(properties: str) -> None:
    """An answer over everything is not what was asked for."""
    question = read_noted_question(f"---\n{properties}\n---\nfilms\n", "x")
    assert question
    assert question.problem


@pytest.mark.parametrize(
    "note", ["---\n---\nfilms", "---\n# a comment\n\n---\nfilms", "films\n\n---\n\nb: [\n\n---\n", "---\nfilms"]
)
def test_no_conditions_are_no_problem(note: str) -> None:
    """Rules in the text are none either."""
    question = read_noted_question(note, "x")
    assert question
    assert question.problem == ""
