"""The watcher's duties one by one: a real vault, catalog and server in this process, and clocks that the test moves."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import CFlowServer, answer_status

from vaultbrain.errors import SourceError, WriteFailed
from vaultbrain.index.recalls import RecallRow
from vaultbrain.recall.delivery import DeliveryParts, deliver
from vaultbrain.recall.note import Mention
from vaultbrain.settings import load_settings
from vaultbrain.vault.vault import Vault
from vaultbrain.watch.log import WatchLog
from vaultbrain.watch.mentions import Mentions
from vaultbrain.watch.mirroring import Mirroring
from vaultbrain.watch.noticing import Noted
from vaultbrain.watch.pulse import only_watcher
from vaultbrain.watch.questions import ASKED_S, LONGEST_S, Questions
from vaultbrain.watch.station import Station
from vaultbrain.watch.watcher import Watcher, layout_of
from vaultbrain.watch.writing import known_lines, new_text
from vaultbrain.wiring import Brain
from vaultbrain.wiring_recall import RecallOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from conftest import Home

    from vaultbrain.watch.pulse import Pulse


@dataclass
class Clocks:
    """Both in seconds: the one that never goes back, and the wall's."""

    now: float = 1_000.0
    wall: float = field(default_factory=time.time)

    def passes(self, seconds: float) -> float:
        self.now, self.wall = self.now + seconds, self.wall + seconds
        return self.now


@dataclass
class Watch:
    station: Station
    clocks: Clocks
    brain: Brain
    vault: Path
    pulse: Pulse
    log: WatchLog

    def write(self, path: str, text: str, age_s: float = 60.0) -> str:
        """A note of the person's, last changed ``age_s`` ago."""
        full = self.vault / path
        full.parent.mkdir(parents=True, exist_ok=True)
        full.write_text(text, encoding="utf-8")
        os.utime(full, (time.time() - age_s, time.time() - age_s))
        return path

    def read(self, path: str) -> str:
        return (self.vault / path).read_text("utf-8")

    def answers(self) -> list[str]:
        return sorted(path.stem[11:] for path in (self.vault / "CFlow" / "Answers").glob("*.md"))


@pytest.fixture
def watch(films: Home) -> Iterator[Watch]:
    settings, _ = load_settings(films.vault, environment={}, flags={"recall_enabled": True})
    brain = Brain(settings, environment={"CFLOW_API_TOKEN": "test-token"}, embedder=films.brain()._embedder, in_background=True)
    clocks = Clocks()
    with only_watcher(films.state) as pulse:
        log = WatchLog(films.state, json_lines=False, is_shown=False, secrets=[])
        station = Station(brain, layout_of(settings), log, pulse, lambda: False, lambda: clocks.now, lambda: clocks.wall)
        yield Watch(station, clocks, brain, films.vault, pulse, log)
        log.close()


def asked(*paths: str) -> Noted:
    return Noted(changed=paths)


def drain(questions: Questions, watch: Watch) -> None:
    while questions.wait_s(watch.clocks.now) == 0.0:
        questions.work(watch.clocks.now)


# questions


def test_a_note_that_is_typed_in_holds_up_no_other(watch: Watch) -> None:
    """Each question has its own pause; the one that goes on is answered at the upper bound."""
    questions = Questions(watch.station)
    questions.add(asked(watch.write("CFlow/Ask/films.md", "")), watch.clocks.now)
    endless = watch.write("CFlow/Ask/noir.md", "")
    began = watch.clocks.now
    while watch.clocks.now < began + LONGEST_S:
        questions.add(asked(endless), watch.clocks.now)
        watch.clocks.passes(5.0)
        drain(questions, watch)
        if began + ASKED_S <= watch.clocks.now < began + LONGEST_S:
            assert watch.answers() == ["films"]
    assert watch.answers() == ["films", "noir"]


def test_a_question_that_is_being_changed_is_not_answered_half_way(watch: Watch) -> None:
    """Though it was to be told just then: the turn to tell its note is no turn to answer what stands there meanwhile."""
    questions = Questions(watch.station)
    path = watch.write("CFlow/Ask/note.md", "films", age_s=0.0)
    questions.add(asked(path), watch.clocks.now)
    watch.clocks.passes(ASKED_S)
    drain(questions, watch)
    watch.clocks.passes(30.0)
    watch.write(path, "films about no", age_s=0.0)
    questions.add(asked(path), watch.clocks.now)
    watch.clocks.passes(1.0)
    drain(questions, watch)
    assert watch.answers() == ["films"]
    watch.write(path, "films about noir", age_s=60.0)
    questions.add(asked(path), watch.clocks.now)
    watch.clocks.passes(ASKED_S)
    drain(questions, watch)
    assert watch.answers() == ["films", "films about noir"]


def test_many_questions_take_a_turn_each(watch: Watch) -> None:
    """In order of their paths; whoever is to stop stops between two."""
    for name in "cab":
        watch.write(f"CFlow/Ask/{name}.md", f"films {name}")
    questions = Questions(watch.station)
    questions.start(watch.clocks.now)
    assert questions.queue == 3
    for count, names in enumerate((["films a"], ["films a", "films b"], ["films a", "films b", "films c"]), 1):
        questions.work(watch.clocks.now)
        assert (watch.answers(), questions.queue) == (names, 3 - count)


def test_what_is_in_folders_below_is_asked_and_conflict_copies_are_not(watch: Watch) -> None:
    """Also when the watcher only starts; hidden and unreadable files are passed by, for good."""
    watch.write("CFlow/Ask/old/films.md", "")
    watch.write("CFlow/Ask/films.sync-conflict-20261130-101010-ABCDEFG.md", "noir")
    watch.write("CFlow/Ask/.trash/hidden.md", "")
    (watch.vault / "CFlow/Ask/latin.md").write_bytes(b"caf\xe9")
    questions = Questions(watch.station)
    questions.start(watch.clocks.now)
    drain(questions, watch)
    assert watch.answers() == ["films"]
    questions.add(asked("CFlow/Ask/latin.md"), watch.clocks.now)
    watch.clocks.passes(ASKED_S)
    drain(questions, watch)
    assert (questions.queue, watch.station.errors) == (0, 0)


# the server


def test_a_wake_from_sleep_is_seen_while_nothing_is_due(watch: Watch) -> None:
    """The monotonic clock of Linux and macOS stood still meanwhile; the server is asked at once, not an interval later."""
    mirroring = Mirroring(watch.station, 3_600.0)
    assert mirroring.wait_s(watch.clocks.now) == 0.0
    mirroring.work(watch.clocks.now)
    watch.clocks.passes(10.0)
    assert mirroring.wait_s(watch.clocks.now) > 3_000
    watch.clocks.wall += 7_200
    assert mirroring.wait_s(watch.clocks.now) == 0.0


def test_one_round_says_that_the_server_is_away_and_answers_all_the_same(server: CFlowServer, watch: Watch) -> None:
    """A line for cron has to fail when the mirror is not fresh."""
    watch.write("CFlow/Ask/films.md", "", age_s=0.0)
    for path in ("/api/v1/memo", "/api/v1/status"):
        server.behaviours[path] = [answer_status(503)] * 9
    with pytest.raises(SourceError):
        Watcher(watch.brain, watch.log, watch.pulse, should_stop=lambda: False).run_once()
    assert watch.answers() == ["films"]


def test_one_round_before_the_first_sync_loses_no_question(server: CFlowServer, make_home: Any) -> None:
    """With the server away there is nothing to answer from; the question waits, and its note is told nothing."""
    home = make_home(server.url)
    note = home.vault / "CFlow" / "Ask" / "films.md"
    note.parent.mkdir(parents=True)
    note.write_text("", encoding="utf-8")
    for path in ("/api/v1/memo", "/api/v1/status"):
        server.behaviours[path] = [answer_status(503)] * 9
    with only_watcher(home.state) as pulse:
        log = WatchLog(home.state, json_lines=False, is_shown=False, secrets=[])
        with pytest.raises(SourceError):
            Watcher(home.brain(), log, pulse, should_stop=lambda: False).run_once()
    with home.brain().inbox() as inbox:
        assert inbox.waiting() == ["CFlow/Ask/films.md"]
    assert note.read_text("utf-8") == ""


# recall


def mention(memo_id: str) -> Mention:
    return Mention(memo_id, f"memo {memo_id}", "s", "w", note=f"CFlow/Memos/memo ({memo_id}).md", anchor=f"m{memo_id}-1")


def recall_note(watch: Watch, for_note: str, memo_id: str = "456") -> str:
    """One of the product's own making, left alone for a minute."""
    with watch.brain._catalog() as catalog:
        vault = Vault(watch.vault)
        parts = DeliveryParts(catalog.recalls, vault, "CFlow/Recall", catalog.transaction, watch.brain._answers_lock)
        path = deliver(parts, RecallRow(for_note, "", created="2026-11-30T15:20:11"), mention(memo_id), "en", []).path
    return watch.write(path, watch.read(path))


class Looked(Mentions):
    """Notes what it would look up, and looks up nothing."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(watch.station, watch.vault, is_on=True)
        self.texts: list[tuple[str, str]] = []

    def _mention(self, path: str, text: str) -> bool:
        self.texts.append((path, text))
        return False

    def sees(self, watch: Watch, *noted: Noted) -> list[tuple[str, str]]:
        for one in noted:
            self.add(one, watch.clocks.now)
        watch.clocks.passes(31.0)
        while self.wait_s(watch.clocks.now) == 0.0:
            self.work(watch.clocks.now)
        found, self.texts = self.texts, []
        return found


def test_our_own_words_are_nobodys_writing(watch: Watch) -> None:
    """Neither the link that a daily note gets, nor an answer or recall note among the person's own, whoever changes it."""
    daily = watch.write("2026-11-30.md", "morning\n")
    mentions = Looked(watch)
    mentions.start([daily])
    watch.write(daily, "morning\nhow do I build a workflow?\n- [[CFlow/Answers/2026-11-30 films|how to collect films?]]\n")
    assert mentions.sees(watch, asked(daily)) == [(daily, "how do I build a workflow?")]
    answer = watch.brain.ask("films").path
    watch.write("My films.md", watch.read(answer))
    (watch.vault / answer).unlink()
    assert mentions.sees(watch, asked("My films.md")) == []


def test_a_recall_note_may_be_moved_anywhere(watch: Watch) -> None:
    """What is ticked there counts and shows, no second one is made, and nothing is recalled for it."""
    day = watch.write("Diary/day.md", "x\n")
    path = recall_note(watch, day)
    mentions = Looked(watch)
    mentions.start([day])
    moved = watch.write("Diary/kept.md", watch.read(path))
    (watch.vault / path).unlink()
    assert mentions.sees(watch, Noted(moved=((path, moved),))) == []
    watch.write(moved, watch.read(moved).replace("[ ] Useful", "[x] Useful"))
    assert mentions.sees(watch, asked(moved)) == []
    assert "vb_useful: true" in watch.read(moved)
    assert recall_note(watch, day, "123") == moved
    assert not list((watch.vault / "CFlow/Recall").iterdir())


def test_a_tick_that_could_not_be_shown_is_shown_after_a_restart(watch: Watch) -> None:
    """The watcher was stopped within the half minute in which the note is left alone."""
    day = watch.write("day.md", "x\n")
    path = recall_note(watch, day)
    first = Looked(watch)
    first.start([])
    watch.write(path, watch.read(path).replace("[ ] Useful", "[x] Useful"), age_s=0.0)
    first.add(asked(path), watch.clocks.now)
    first.work(watch.clocks.now)
    assert "vb_useful" not in watch.read(path)
    watch.write(path, watch.read(path))
    second = Looked(watch)
    second.start([])
    second.sees(watch)
    assert "vb_useful: true" in watch.read(path)
    assert Looked(watch).queue == 0


class FullDisk(Brain):
    """Nothing can be written for one note."""

    def recall_note(self, path: str, text: str) -> RecallOutcome:
        if path == "full.md":
            raise WriteFailed(path=path, reason="No space left on device")
        return RecallOutcome(("456",), "CFlow/Recall/x.md")


def test_a_note_that_cannot_be_mentioned_for_holds_up_no_other(watch: Watch) -> None:
    """It is said, and the next note has its turn at once."""
    watch.station.brain = FullDisk(watch.brain.settings, embedder=watch.brain._embedder, in_background=True)
    mentions = Mentions(watch.station, watch.vault, is_on=True)
    mentions.add(asked(watch.write("full.md", "a\n"), watch.write("other.md", "b\n")), watch.clocks.now)
    watch.clocks.passes(5.0)
    mentions.work(watch.clocks.now)
    log = (watch.brain.settings.state_folder / "watch.log").read_text("utf-8")
    assert "Nothing was mentioned for full.md" in log
    assert "Mentioned memo 456 for other.md" in log


def test_lines_that_only_link_say_nothing() -> None:
    """In every form of link; a line that says something beside its link does."""
    for line in ("- [[a|how to?]]", "![[pic.png]]", "1. [how to?](a.md)", "* [[a]]"):
        assert new_text(f"x\n{line}\n", known_lines("x")) == ""
    assert new_text("- see [[a]]", known_lines("x")) == "- see [[a]]"


def test_a_brain_that_rested_works_on(films: Home) -> None:
    """Model, table and converters are given back and loaded again when they are needed; one that was handed in is kept."""
    settings, _ = load_settings(films.vault, environment={}, flags={"embedding": "use"})
    brain = Brain(settings, environment={"CFLOW_API_TOKEN": "test-token"}, in_background=True)
    brain.sync()
    before = [hit.memo_id for hit in brain.search("觀影").hits]
    assert brain._embedder is not None
    brain.rest()
    assert (brain._embedder, brain._tables) == (None, None)
    assert [hit.memo_id for hit in brain.search("觀影").hits] == before
    given = films.brain()
    given.search("观影")
    given.rest()
    assert given._embedder is not None
