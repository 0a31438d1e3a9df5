"""Part of ``watch.py``: a watcher that is killed again and again while a person and a server go on, and what holds in the end.

The person edits memo notes, asks in notes, writes what calls for recall, ticks boxes and moves notes; the server edits, adds and
deletes memos. Nobody waits for anybody. Each time the watcher gets SIGKILL at a moment drawn by lot. Then one more is started,
left alone until it is quiet, and everything has to agree.
"""

from __future__ import annotations

import random
import re
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cflow_server import CFlowServer, wire_memo
from conftest import Home
from obsidian import Vault
from test_kills import assert_agreement, assert_nothing_to_do, is_dirty, state_at_death, working
from watching import RunningWatcher, wait_until, watching

from vaultbrain.index.embedding import open_embedder
from vaultbrain.recall.note import read_ticks
from vaultbrain.settings import load_settings
from vaultbrain.vault.note import read_properties, read_region, read_words
from vaultbrain.watch.pulse import read_pulse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from vaultbrain.wiring import Brain

MEMOS = 120
#: Seconds after a start or an action within which the kill comes.
LATEST_S = 3.0
#: Seconds that an action sleeps in the watcher before it is worked on: the pause in writing, and that after a question.
RECALL_LEAD_S, QUESTION_LEAD_S = 3.5, 5.5
#: Of the kills, the share that comes soon after the start, while things are done that nobody may be watching yet; and the share
#: that comes after something was said to be done, within so many seconds. All others come when it is at work on what was done.
AT_START, WHEN_DONE, DONE_S = 0.3, 0.3, 12.0
#: Seconds without a line after which the last watcher counts as quiet, beyond the half minute in which notes are spared; and how
#: long it may take to become so.
QUIET_S, SPARED_S, LONGEST_S = 15.0, 35.0, 300.0
#: Seconds after which a word that was typed must still stand: a program that saves over it does so within milliseconds.
LOOK_AGAIN_S = 0.05
BEING_EDITED = "The watcher saved over a word within a few milliseconds of its being typed"
#: Of the checker's problems: what a stale answer may hold.
NO_FAULT = ("does not say", "the quote has no link")

SUBJECTS = (
    *("晨间写作", "读书笔记", "每周复盘", "面试准备", "租房合同", "跑步训练", "番茄炖牛腩", "旅行打包", "會議紀要", "發布清單"),
    *("the weekly review", "a release checklist", "the reading log", "a home network", "cold brew coffee"),
    *("an interview plan", "the garden in spring", "a moving house list", "team onboarding", "a budget for travel"),
)
CHINESE = 10
#: What happens, each as often as it stands here.
ACTIONS = (
    *("edit", "edit", "edit_many", "add", "delete", "type", "type", "type_many", "move"),
    *("ask", "ask", "reword", "burst", "burst", "burst", "chatter", "tick"),
)


def memo_text(number: int, turn: int) -> str:
    """What a note shows as it is, and recall finds worth a mention."""
    subject = SUBJECTS[number % len(SUBJECTS)]
    address = f"https://example.com/{number} #t{number % 5}"
    if number % len(SUBJECTS) < CHINESE:
        steps = f"第 {turn} 版：先列出{subject}要做的三件事，再定好时间，最后记下{subject}的结果。"
        return f"{subject}的步骤 {number}\n\n{steps}\n\n做法：1 分钟准备，20 分钟动手，5 分钟检查。 {address}"
    steps = f"Turn {turn}: first list what {subject} needs, then set a time, then write down how {subject} went."
    return f"Steps for {subject} {number}\n\n{steps}\n\nHow: one minute to prepare, twenty to do it, five to check. {address}"


@dataclass
class Life:
    """The person and the server. What they did is remembered: ``diary`` what their own notes hold, ``typed`` their words in memo
    notes, ``questions`` what their question notes ask now, ``ticks`` the boxes (recall note's note, memo id).
    """

    home: Home
    server: CFlowServer
    dice: random.Random
    turn: int = 0
    diary: dict[Path, str] = field(default_factory=dict)
    typed: list[str] = field(default_factory=list)
    questions: dict[Path, str] = field(default_factory=dict)
    asked: set[str] = field(default_factory=set)
    ticks: set[tuple[str, str]] = field(default_factory=set)
    done: Counter[str] = field(default_factory=Counter)

    def act(self) -> float:
        """Does one thing; seconds until the watcher works on it."""
        self.turn += 1
        name = self.dice.choice(ACTIONS)
        self.done[name] += 1
        actions: dict[str, Callable[[], object]] = {
            "edit": lambda: self.edit(1),
            "edit_many": lambda: self.edit(20),
            "add": self.add,
            "delete": self.delete,
            "type": lambda: self.type_in(1),
            "type_many": lambda: self.type_in(20),
            "move": self.move,
            "ask": self.ask,
            "reword": self.reword,
            "burst": self.burst,
            "chatter": self.chatter,
            "tick": self.tick,
        }
        actions[name]()
        return {"ask": QUESTION_LEAD_S, "reword": QUESTION_LEAD_S, "burst": RECALL_LEAD_S}.get(name, 0.0)

    # on the server

    def edit(self, count: int) -> None:
        for memo in self.dice.sample(self.server.memos, count):
            self.server.edit(memo["id"], memo_text(memo["id"], self.turn))

    def add(self) -> None:
        number = 1 + max(memo["id"] for memo in self.server.memos)
        self.server.memos.append(wire_memo(number, memo_text(number, self.turn)))

    def delete(self) -> None:
        if len(self.server.memos) > MEMOS - 10:
            self.server.delete(self.dice.choice(self.server.memos)["id"])

    # in notes

    def type_in(self, count: int) -> None:
        """A word below the region of memo notes."""
        notes = self.memo_notes()
        for number, note in enumerate(self.dice.sample(notes, min(count, len(notes)))):
            word = f"mine{self.turn}x{number}"
            if self.append(note, f"\n我补充的一句 {word}.\n", word):
                self.typed.append(word)

    def append(self, note: Path, text: str, word: str) -> bool:
        """Whether there was a note. Again, if somebody saved over it at that very moment; that is counted."""
        with suppress(FileNotFoundError):
            while True:
                with note.open("r+", encoding="utf-8") as file:
                    file.seek(0, 2)
                    file.write(text)
                time.sleep(LOOK_AGAIN_S)
                if not note.exists() or word in note.read_text("utf-8"):  # it may have gone to the trash, word and all
                    return True
                self.done[BEING_EDITED] += 1
        return False

    def memo_notes(self) -> list[Path]:
        return sorted([*self.home.memos.glob("*.md"), *(self.home.vault / "Archive").glob("*.md")])

    def move(self) -> None:
        if notes := sorted(self.home.memos.glob("*.md")):
            note, archive = self.dice.choice(notes), self.home.vault / "Archive"
            archive.mkdir(exist_ok=True)
            with suppress(FileNotFoundError):
                note.rename(archive / note.name)

    def ask(self) -> None:
        note = self.home.vault / "CFlow" / "Ask" / f"question {self.turn}.md"
        note.parent.mkdir(parents=True, exist_ok=True)
        self.questions[note] = self.question()
        note.write_text(f"{self.questions[note]}\n", encoding="utf-8")
        self.asked.add(self.questions[note])

    def question(self) -> str:
        number = self.dice.randrange(len(SUBJECTS))
        subject = SUBJECTS[number]
        if number < CHINESE:
            return f"{subject}有哪些步骤？第 {self.turn} 问"
        return f"What are the steps for {subject}? Asked as number {self.turn}"

    def reword(self) -> None:
        if self.questions:
            note = self.dice.choice(sorted(self.questions))
            old, new = self.questions[note], self.question()
            while new not in note.read_text("utf-8"):
                note.write_text(note.read_text("utf-8").replace(old, new), encoding="utf-8")
                time.sleep(LOOK_AGAIN_S)
            self.questions[note] = new
            self.asked.add(new)

    def burst(self) -> None:
        number = self.dice.randrange(len(SUBJECTS))
        subject = SUBJECTS[number]
        chinese = f"{subject}该怎么做成固定流程？想要一份步骤清单。第 {self.turn} 次想这件事。"
        english = f"How do I turn {subject} into a workflow? I want a checklist of steps, thought {self.turn}."
        self.save(self.diary_note(), (chinese if number < CHINESE else english) + "\n")

    def chatter(self) -> None:
        self.save(self.diary_note(), f"{self.turn % 24}:{self.turn % 60:02} 喝水，站起来走走。\n")

    def diary_note(self) -> Path:
        return self.home.vault / "Diary" / f"day {self.dice.randrange(40)}.md"

    def save(self, note: Path, text: str) -> None:
        note.parent.mkdir(exist_ok=True)
        self.diary[note] = self.diary.get(note, "") + text
        note.write_text(self.diary[note], encoding="utf-8")

    def tick(self) -> None:
        notes = sorted((self.home.vault / "CFlow" / "Recall").glob("*.md"))
        if not notes:
            return
        note = self.dice.choice(notes)
        before = note.read_text("utf-8")
        lines = before.split("\n")
        boxes = [number for number, line in enumerate(lines) if "[ ]" in line]
        if not boxes:
            return
        number = self.dice.choice(boxes)
        lines[number] = lines[number].replace("[ ]", "[x]")
        note.write_text("\n".join(lines), encoding="utf-8")
        time.sleep(LOOK_AGAIN_S)
        if lines[number] not in note.read_text("utf-8").split("\n"):
            self.done[BEING_EDITED] += 1
            return
        old, new = (read_ticks(read_region(text) or "") for text in (before, "\n".join(lines)))
        self.ticks |= {(properties(note)["vb_for"], memo_id) for memo_id in new if new[memo_id] != old.get(memo_id)}


@dataclass(frozen=True, slots=True)
class Killed:
    """What came of it. ``broken`` are sentences, none of them when everything agrees."""

    seed: int
    kills: int
    seconds: float
    deaths: Counter[str]
    done: Counter[str]
    said: Counter[str]
    failed: Counter[str]
    broken: tuple[str, ...]


def kill_often(folder: Path, kills: int, seed: int) -> Killed:
    began = time.monotonic()
    dice = random.Random(seed)
    with CFlowServer([wire_memo(number, memo_text(number, 0)) for number in range(1, MEMOS + 1)]) as server:
        home = make_home(folder, server.url)
        with working(brain_of(home)) as brain:
            brain.sync()
        life = Life(home, server, dice)
        deaths, lines = Counter[str](), []
        for _ in range(kills):
            with watching(home.vault, is_ready=False) as watcher:
                live_and_die(life, watcher)
            lines += watcher.lines
            deaths[death(home, server)] += 1
        with watching(home.vault) as watcher:
            is_quiet = wait_until_quiet(home, watcher)
            watcher.stop(60)
        lines += watcher.lines
        broken = [] if is_quiet else [f"the last watcher was not quiet within {LONGEST_S:.0f} s"]
        broken += what_is_broken(life)
    said = Counter(line["event"] for line in lines)
    failed = Counter(f"{line['event']}: {kind_of_failure(line['text'])}" for line in lines if line.get("failed"))
    return Killed(seed, kills, time.monotonic() - began, deaths, life.done, said, failed, tuple(broken))


def kind_of_failure(text: str) -> str:
    """The sentence without the paths and numbers that make each one its own."""
    return re.sub(r"\d+", "N", re.sub(r"CFlow/.*?\.md", "a note", text).rpartition("Not done: ")[2])


def make_home(folder: Path, url: str) -> Home:
    vault = folder / "vault"
    vault.mkdir(parents=True)
    settings = f'source = "{url}"\nstate_dir = "../state"\ntimezone = "UTC"\nembedding = "use"\npoll_interval = "5s"\n'
    (vault / "vaultbrain.toml").write_text(f"{settings}[recall]\nper_day = 200\n", encoding="utf-8")
    return Home(vault, url)


def brain_of(home: Home) -> Brain:
    """With the model that the watcher has, too."""
    return home.brain(open_embedder(load_settings(home.vault)[0].embedding))


def live_and_die(life: Life, watcher: RunningWatcher) -> None:
    dice = life.dice
    way = dice.random()
    if way < AT_START:
        for _ in range(dice.randrange(4)):
            life.act()
    else:
        with suppress(AssertionError):
            watcher.wait_for("start")
        leads, said = [life.act() for _ in range(dice.randrange(1, 4))], len(watcher.lines)
        if way < AT_START + WHEN_DONE:
            with suppress(AssertionError):
                wait_until(lambda: len(watcher.lines) > said, "something done", DONE_S)
        else:
            time.sleep(max(leads))
    time.sleep(dice.uniform(0, LATEST_S))
    watcher.kill()


def death(home: Home, server: CFlowServer) -> str:
    """What the killed watcher left undone."""
    if any(home.vault.rglob(".vaultbrain-*")):
        return "with a temporary file"
    if is_dirty(home):
        return "in Chroma"
    with home.catalog() as catalog:
        if any(row.intended for row in catalog.recalls.notes()):
            return "in a recall note"
        if any(not row.told for row in catalog.inbox.rows()):
            return "with a question note to be told"
    return state_at_death(home, server)


def wait_until_quiet(home: Home, watcher: RunningWatcher) -> bool:
    began = changed = time.monotonic()
    lines = 0
    while time.monotonic() < began + LONGEST_S:
        time.sleep(0.2)
        pulse = read_pulse(home.state)
        if len(watcher.lines) != lines or pulse is None or pulse.queue or not pulse.last_poll:
            changed, lines = time.monotonic(), len(watcher.lines)
        if time.monotonic() > max(changed + QUIET_S, began + SPARED_S):
            return True
    return False


# what must hold


def what_is_broken(life: Life) -> list[str]:
    checks = (check_agreement, check_nothing_to_do, check_words, check_diary, check_answers, check_questions)
    checks += (check_recall_notes, check_ticks, check_vault)
    broken = []
    for check in checks:
        try:
            broken += [f"{check.__name__}: {problem}" for problem in check(life)]
        except AssertionError as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            broken.append(f"{check.__name__}: {place.name}, line {place.lineno}: {place.line} {error}")
    return broken


def check_agreement(life: Life) -> list[str]:
    with working(brain_of(life.home)) as brain:
        assert_agreement(life.home, life.server.memos, brain)
    return []


def check_nothing_to_do(life: Life) -> list[str]:
    with working(brain_of(life.home)) as brain:
        assert_nothing_to_do(life.home, brain)
    return []


def check_words(life: Life) -> list[str]:
    """Each stands in one memo note, or in the trash where a note went with its memo."""
    notes = [*life.memo_notes(), *(life.home.vault / ".trash").glob("*.md")]
    texts = [note.read_text("utf-8") for note in notes]
    counts = {word: sum(text.count(f" {word}.") for text in texts) for word in life.typed}
    return [f"{word} stands {count} times" for word, count in counts.items() if count != 1]


def check_diary(life: Life) -> list[str]:
    """Nobody but the person wrote there."""
    return [str(note) for note, text in life.diary.items() if note.read_text("utf-8") != text]


def properties(note: Path) -> dict[str, str]:
    return {name: str(value) for name, value in read_properties(note.read_text("utf-8")).items()}


def check_answers(life: Life) -> list[str]:
    """At most one note for each question, and none for what nobody asked."""
    answers = (life.home.vault / "CFlow" / "Answers").glob("*.md")
    found = Counter(properties(note).get("vb_question", note.name) for note in answers)
    doubled = [f"{count} notes answer {question!r}" for question, count in found.items() if count > 1]
    return doubled + [f"{question!r} was never asked" for question in found if question not in life.asked]


def check_questions(life: Life) -> list[str]:
    """Each was answered as it stands, and told so; its text is as it was."""
    problems = []
    for note, question in life.questions.items():
        told, answer = properties(note), life.home.vault / f"{properties(note).get('vb_link', '')[2:-2]}.md"
        if read_words(note.read_text("utf-8")).strip() != question:
            problems.append(f"{note.name} asks something else: {note.read_text('utf-8')!r}")
        if told.get("vb_status") != "answered" or not answer.is_file():
            problems.append(f"{note.name} is not told: {told}")
        elif properties(answer).get("vb_question") != question:
            problems.append(f"{note.name} asks {question!r}, its answer answers {properties(answer).get('vb_question')!r}")
    return problems


def check_recall_notes(life: Life) -> list[str]:
    """One for each note, no more than two mentions in it, and each is known."""
    notes = sorted((life.home.vault / "CFlow" / "Recall").glob("*.md"))
    found = Counter(properties(note).get("vb_for", note.name) for note in notes)
    problems = [f"{count} recall notes are for {name}" for name, count in found.items() if count > 1]
    many = [note.name for note in notes if len(read_ticks(read_region(note.read_text("utf-8")) or "")) > 2]
    with life.home.catalog() as catalog:
        known = {row.path for row in catalog.recalls.notes()}
        half = [row.path for row in catalog.recalls.notes() if row.intended]
    paths = {note.relative_to(life.home.vault).as_posix() for note in notes}
    problems += [f"{name} has more than two mentions" for name in many]
    problems += [f"the recall note {path} is known or there, not both" for path in sorted(known ^ paths)]
    return problems + [f"the writing of {path} was never ended" for path in half]


def check_ticks(life: Life) -> list[str]:
    with life.home.catalog() as catalog:
        ticked = {(note, m) for note, _ in life.ticks for m in catalog.recalls.ticks_for(f"{note[2:-2]}.md")}
    return [f"the tick of memo {memo_id} for {note} is forgotten" for note, memo_id in sorted(life.ticks - ticked)]


def check_vault(life: Life) -> list[str]:
    problems = Vault.load(life.home.vault).problems()
    leftovers = [str(path) for path in life.home.vault.parent.rglob("*") if path.suffix == ".tmp"]
    return [problem for problem in problems if not any(words in problem for words in NO_FAULT)] + leftovers
