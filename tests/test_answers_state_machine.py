"""Answers between a person, a server and a sync that all do as they please: cases told one by one, then a search by Hypothesis.

The machine knows what the person typed and where; after each sync every link of every answer leads somewhere, nothing typed is
lost, bytes outside our region are as they were, and a second sync has nothing to do. ``STATE_MACHINE_EXAMPLES=500`` searches at
random and for longer than the usual run, which is the same every time.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from cflow_server import CFlowServer, wire_memo
from conftest import Home
from films import MEMOS, QUESTION
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test
from obsidian import Vault, hash_tree

from vaultbrain.answer.changes import staleness
from vaultbrain.errors import AnswerNotFound, NoteUnreadable
from vaultbrain.index.answers import AnswerRow, AnswerShelf
from vaultbrain.vault.note import BEGIN, END, read_properties, read_region

CHANGED = "豆瓣片单备份\n\n「2026 年想看的三部」 #观影"
MINE = "这一句是我写的。"
#: Of the checker's problems: what a stale answer may hold, and names and line ends that are the person's business.
NO_FAULT_OF_OURS = (
    "does not say",
    "the quote has no link",
    "has a character that breaks links",
    "does not end with a newline",
)


def answers(home: Home) -> list[Path]:
    return sorted((home.vault / "CFlow/Answers").glob("*.md"))


def dangling(home: Home) -> list[str]:
    return [p for p in Vault.load(home.vault).problems() if not any(words in p for words in NO_FAULT_OF_OURS)]


def properties(path: Path) -> dict[str, object]:
    return read_properties(path.read_text("utf-8"))


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def without_markers(path: Path) -> bytes:
    lines = [line for line in path.read_text("utf-8").split("\n") if not line.startswith("%% vaultbrain")]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path.read_bytes()


def lose_catalog(home: Home) -> None:
    for path in home.state.glob("catalog*"):
        path.unlink()
    home.brain().sync()


# notes that are the person's to keep, move and throw away


def test_a_stale_note_that_was_just_deleted_is_not_written_again(server: CFlowServer, films: Home) -> None:
    """No sync has seen yet that it is gone; a refresh leaves it gone all the same."""
    asked = films.brain().ask(QUESTION)
    server.edit(123, CHANGED)
    films.brain().sync()
    (films.vault / asked.path).unlink()
    assert films.brain().refresh() == []
    assert films.brain().refresh(everything=True) == []
    assert answers(films) == []


def test_a_refresh_leaves_a_note_without_markers_alone_and_makes_no_other(server: CFlowServer, films: Home) -> None:
    """Once stale and then taken over by the person: not a byte, not a twin, however often."""
    asked = films.brain().ask(QUESTION)
    server.edit(123, CHANGED)
    films.brain().sync()
    before = without_markers(films.vault / asked.path)
    for _ in range(2):
        films.brain().refresh()
        films.brain().refresh(everything=True)
        films.brain().sync()
    assert answers(films) == [films.vault / asked.path]
    assert (films.vault / asked.path).read_bytes() == before


def test_a_note_that_comes_back_from_the_bin_lives_again(server: CFlowServer, films: Home) -> None:
    """Deleted, seen as deleted, restored: what happens to its memos from then on shows in it."""
    asked = films.brain().ask(QUESTION)
    path, bin_ = films.vault / asked.path, films.vault / ".trash"
    bin_.mkdir()
    path.rename(bin_ / "a.md")
    server.edit(99, "买菜：土豆")
    films.brain().sync()
    (bin_ / "a.md").rename(path)
    server.edit(123, CHANGED)
    films.brain().sync()
    assert properties(path)["vb_status"] == "stale"
    assert [done.path for done in films.brain().refresh()] == [asked.path]


def test_a_note_that_cannot_be_read_is_there(server: CFlowServer, films: Home) -> None:
    """A link that leads round in circles, as a broken sync leaves it: named, and once it is mended the note is looked after."""
    asked = films.brain().ask(QUESTION)
    path = films.vault / asked.path
    text = path.read_bytes()
    path.unlink()
    path.symlink_to(path)
    server.edit(123, CHANGED)
    report = films.brain().sync()
    assert [failed.get("answer") for failed in report.failed] == [asked.path]
    path.unlink()
    path.write_bytes(text)
    films.brain().sync()
    assert properties(path)["vb_status"] == "stale"


def test_a_memo_note_that_is_no_text_any_more_stops_no_answer(server: CFlowServer, films: Home) -> None:
    """Another program wrote bytes into one source's note: the answer is still told what became of the others."""
    asked = films.brain().ask(QUESTION)
    films.note_of(456).write_bytes(films.note_of(456).read_bytes() + b"\xff\xfe")
    server.edit(123, CHANGED)
    films.brain().sync()
    assert properties(films.vault / asked.path)["vb_status"] == "stale"
    assert not films.brain().sync().model_loaded


def test_a_memo_note_that_moved_is_followed_with_the_next_sync(films: Home) -> None:
    """Moved outside Obsidian while nothing changed on the server."""
    asked = films.brain().ask(QUESTION)
    old = films.note_of(123)
    (films.vault / "归档 #1 [旧]").mkdir()
    old.rename(films.vault / "归档 #1 [旧]" / old.name)
    films.brain().sync()
    assert "%231" in (films.vault / asked.path).read_text("utf-8")
    assert dangling(films) == []


def test_a_block_that_the_person_took_out_of_a_memo_note_leaves_no_link_behind(films: Home) -> None:
    """With the next sync, though nothing changed on the server."""
    asked = films.brain().ask(QUESTION)
    note = films.note_of(456)
    lines = note.read_text("utf-8").split("\n")
    gone = [n for n, line in enumerate(lines) if "example.com" in line or "^m456-2" in line]
    note.write_text("\n".join(line for n, line in enumerate(lines) if n not in gone), encoding="utf-8")
    films.brain().sync()
    assert "^m456-2" not in (films.vault / asked.path).read_text("utf-8")
    assert dangling(films) == []


def test_a_memo_that_is_deleted_and_restored_leaves_no_wrong_words_in_a_fresh_answer(server: CFlowServer, films: Home) -> None:
    """Fresh means that what it says is so: no "deleted" behind a memo that is there."""
    asked = films.brain().ask(QUESTION)
    before = (films.vault / asked.path).read_bytes()
    memo = server.memo(123)
    server.delete(123)
    films.brain().sync()
    server.memos.append(memo)
    films.brain().sync()
    path = films.vault / asked.path
    assert properties(path)["vb_status"] == "stale" or "已删除" not in path.read_text("utf-8")
    films.brain().refresh(everything=True)
    assert path.read_bytes() == before


def test_a_line_of_the_persons_with_a_link_of_ours_makes_no_clash_when_the_memo_goes(server: CFlowServer, films: Home) -> None:
    """Their words stay where they are, and the link in their line becomes words like all others."""
    asked = films.brain().ask(QUESTION)
    path = films.vault / asked.path
    line = next(line for line in path.read_text("utf-8").split("\n") if line.startswith("- ") and "|#123]]" in line)
    edit(path, line, f"{line} {MINE}")
    server.delete(123)
    films.brain().sync()
    text = path.read_text("utf-8")
    assert text.count(MINE) == 1
    assert "both sides changed" not in text
    assert dangling(films) == []


# a catalog that was lost


def test_words_in_the_region_survive_the_loss_of_the_catalog(films: Home) -> None:
    """Nobody knows any more which words were ours: none may be thrown away."""
    asked = films.brain().ask(QUESTION)
    path = films.vault / asked.path
    edit(path, "## 按主题整理\n", f"## 按主题整理\n\n{MINE}\n")
    lose_catalog(films)
    films.brain().ask(QUESTION)
    assert MINE in path.read_text("utf-8")


def test_words_in_the_region_survive_a_refresh_after_the_loss_of_the_catalog(films: Home) -> None:
    """The same, by the note's name."""
    asked = films.brain().ask(QUESTION)
    path = films.vault / asked.path
    edit(path, "## 按主题整理\n", f"## 按主题整理\n\n{MINE}\n")
    lose_catalog(films)
    films.brain().refresh([asked.path])
    assert MINE in path.read_text("utf-8")


def test_the_second_note_of_a_question_is_refreshed_itself_after_the_loss_of_the_catalog(films: Home) -> None:
    """Not the first one, and no third is made."""
    films.brain().ask(QUESTION)
    second = films.brain().ask(QUESTION, new=True)
    lose_catalog(films)
    (done,) = films.brain().refresh([second.path])
    assert done.path == second.path
    assert len(answers(films)) == 2


def test_a_new_note_after_the_loss_of_the_catalog_has_an_id_of_its_own(films: Home) -> None:
    """Three notes, three ids."""
    films.brain().ask(QUESTION)
    films.brain().ask(QUESTION, new=True)
    lose_catalog(films)
    films.brain().ask(QUESTION, new=True)
    assert len({properties(path)["vb_answer"] for path in answers(films)}) == 3


# what is the same question


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("帮我找 C++ 的资源", "帮我找 C# 的资源"),
        ("观影 -豆瓣", "观影 豆瓣"),
        ("tag:观影", "tag 观影"),
        ("-tag:观影", "tag:观影"),
        ("after:2026-01", "before:2026-01"),
        ("观影 2.5", "观影 25"),
        ('"观影 资源"', "观影 资源"),
        ("\U0001f3ac", "\U0001f3c3"),
        ("？", "！"),
    ],
)
def test_different_questions_have_notes_of_their_own(films: Home, one: str, other: str) -> None:
    """A sign or a filter may be all the difference: no answer is overwritten by that to another question."""
    first, second = films.brain().ask(one), films.brain().ask(other)
    assert first.path != second.path
    assert properties(films.vault / first.path)["vb_question"] == one
    assert properties(films.vault / second.path)["vb_question"] == other


@pytest.mark.parametrize("other", ["幫我找和觀影有關的資源", "帮我找，和观影有关的资源！", " 帮我找和观影有关的资源？ "])
def test_the_same_question_in_other_clothes_has_one_note(films: Home, other: str) -> None:
    """Script, punctuation and spaces are no difference."""
    assert films.brain().ask(QUESTION).path == films.brain().ask(other).path


@pytest.mark.parametrize(
    "question",
    [
        "观影 " * 750,
        "\U0001f3ac\U0001f468\u200d\U0001f469\u200d\U0001f467\U0001f1e8\U0001f1f3",
        "第一行\n第二行\r\n\n第三行\t观影",
        'a [[b|c]] ![[d]] "e" \\f \\\\ #g ^h %% i %% <% j %> `k` $l$ : - {m} 观影',
        "---\nvb_kind: memo\n---\n观影",
        "> [!note] 观影\n- [ ] task\n%% vaultbrain:end %%",
        "CON",
        ".. / \\ ..",
        "tag:观影 after:2026-01",
        "tag:没有这个",
        "-观影",
        "观影\u2028\u2029\x85\x00\u202e资源",
    ],
    ids=lambda text: repr(text[:12]),
)
def test_any_question_has_a_sound_note(films: Home, question: str) -> None:
    """The name is safe, the properties are YAML and hold the question on one line, links lead somewhere; asked again, no twin."""
    films.brain().ask(question, canvas=True)
    again = films.brain(daily_link=True).ask(question)
    assert again.is_update
    assert again.notices == ()
    assert len(answers(films)) == 1
    shown = str(properties(answers(films)[0])["vb_question"])
    assert " ".join(question.split()).startswith(shown.removesuffix("…"))
    assert len(shown) > min(len(question), 30) - 10
    assert dangling(films) == []
    assert films.brain().refresh([again.path])[0].path == again.path
    films.brain().sync()
    before = hash_tree(films.vault, with_mtime=True)
    films.brain().sync()
    assert hash_tree(films.vault, with_mtime=True) == before


# what is refreshed


def test_the_same_note_named_twice_is_refreshed_once(films: Home) -> None:
    """With and without its ending."""
    asked = films.brain().ask(QUESTION)
    assert len(films.brain().refresh([asked.path, asked.path, asked.path.removesuffix(".md")])) == 1


def test_a_note_outside_the_vault_is_refused(films: Home, tmp_path: Path) -> None:
    """Also one that is an answer of another vault; it is not touched."""
    asked = films.brain().ask(QUESTION)
    outside = tmp_path / "outside.md"
    outside.write_bytes((films.vault / asked.path).read_bytes())
    before = outside.read_bytes()
    for name in ("../outside.md", str(outside)):
        with pytest.raises(AnswerNotFound):
            films.brain().refresh([name])
    assert outside.read_bytes() == before


def test_a_note_that_cannot_be_read_does_not_stop_a_refresh_of_the_others(server: CFlowServer, films: Home) -> None:
    """Bytes of another program stand in one of two stale notes."""
    asked, other = films.brain().ask(QUESTION), films.brain().ask("豆瓣片单")
    server.edit(123, CHANGED)
    films.brain().sync()
    path = films.vault / asked.path
    path.write_bytes(path.read_bytes() + b"\xff")
    with suppress(NoteUnreadable):
        films.brain().refresh()
    assert properties(films.vault / other.path)["vb_status"] == "fresh"
    assert read_region((films.vault / other.path).read_text("utf-8"))


# everything at once

#: A disk in memory where there is one: fsync costs milliseconds elsewhere.
FAST_DISK = Path("/dev/shm")
QUESTIONS = (QUESTION, "跑步", "recipe for noodles")
TEXTS = (
    "观影：一个新的资源站 https://example.com/{} #观影 #资源",
    "影视资源清单 {}\n\n- 片源 https://example.com/a\n- 片单 https://example.com/b\n\n还有一段关于观影的话，没有别的",
    "跑步 {} 公里，膝盖不疼 #运动",
    "a recipe for noodles, number {}, with eggs #food",
    "買菜：番茄、雞蛋 {}",
)
FOLDERS = ("归档", "项目 #1", "a [b] c", "CFlow/Answers", "CFlow/Memos")
PICK = st.integers(0, 10_000)


class AnswerMachine(RuleBasedStateMachine):
    """``typed``: what the person typed into which note, each time other words. ``outside``: the bytes beside our region."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=FAST_DISK if FAST_DISK.is_dir() else None)
        self.server = CFlowServer([]).start()
        vault = Path(self.folder.name) / "vault"
        (vault / ".obsidian").mkdir(parents=True)
        (vault / "vaultbrain.toml").write_text(
            f'source = "{self.server.url}"\nstate_dir = "../state"\ntimezone = "UTC"\ntimeout = 2\nlock_timeout = 5\n', "utf-8"
        )
        self.home = Home(vault, self.server.url)
        self.typed: dict[str, Path] = {}
        self.outside: dict[Path, tuple[bytes, bytes]] = {}
        self.gone: list[dict[str, Any]] = []
        self.extra = dict.fromkeys(QUESTIONS, 0)
        self.count = 0

    def teardown(self) -> None:
        self.server.stop()
        self.folder.cleanup()

    @initialize()
    def begin(self) -> None:
        self.server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
        self.home.brain().sync()

    # the server

    @rule(pick=PICK)
    def memo_comes(self, pick: int) -> None:
        self.server.add(self._text(pick))

    @rule(pick=PICK, text=PICK)
    def memo_changes(self, pick: int, text: int) -> None:
        if self.server.memos:
            memo = self.server.memos[pick % len(self.server.memos)]
            was = memo["content"]
            self.server.edit(memo["id"], (self._text(text), f"{was}\n\n又一段 {self._next()}", was.split("\n\n")[0])[pick % 3])

    @rule(pick=PICK)
    def memo_goes(self, pick: int) -> None:
        if len(self.server.memos) > 2:
            self.gone.append(self.server.memos.pop(pick % len(self.server.memos)))

    @precondition(lambda self: self.gone)
    @rule()
    def memo_comes_back(self) -> None:
        self.server.memos.append(self.gone.pop())

    # the person

    @rule(pick=PICK, folder=st.sampled_from(FOLDERS))
    def moves_a_memo_note(self, pick: int, folder: str) -> None:
        self._move(self._ours("memo"), pick, folder)

    @rule(pick=PICK, folder=st.sampled_from(FOLDERS))
    def moves_an_answer(self, pick: int, folder: str) -> None:
        self._move(self._ours("answer"), pick, folder)

    @rule(pick=PICK, where=st.sampled_from(["own line", "our line", "above", "below"]))
    def types_into_an_answer(self, pick: int, where: str) -> None:
        paths = self._ours("answer")
        if not paths:
            return
        path = paths[pick % len(paths)]
        lines, words = path.read_text("utf-8").split("\n"), f"我写的第 {self._next()} 句。"
        begin, end = (next(n for n, line in enumerate(lines) if line == marker) for marker in (BEGIN, END))
        if where in ("above", "below"):
            lines.insert(begin if where == "above" else len(lines), words)
        elif where == "own line":
            headings = [n for n in range(begin, end) if lines[n].startswith("## ")]
            at = headings[pick % len(headings)] if headings else begin + 1
            lines[at + 1 : at + 1] = ["", words]
        else:
            bullets = [n for n in range(begin, end) if lines[n].startswith("- ")]
            if not bullets:
                return
            lines[bullets[pick % len(bullets)]] += f" {words}"
        path.write_text("\n".join(lines), encoding="utf-8")
        self.typed[words] = path
        self.outside[path] = _outside(path)

    @rule(pick=PICK)
    def deletes_an_answer(self, pick: int) -> None:
        paths = self._ours("answer")
        if paths:
            path = paths[pick % len(paths)]
            path.unlink()
            self.typed = {words: where for words, where in self.typed.items() if where != path}
            self.outside.pop(path, None)

    # the product

    @rule(question=st.sampled_from(QUESTIONS), new=st.integers(0, 4))
    def asks(self, question: str, new: int) -> None:
        self.extra[question] += new == 0
        self.home.brain().ask(question, new=new == 0)
        self._check_words()

    @rule()
    def refreshes(self) -> None:
        before = set(self._ours("answer"))
        self.home.brain().refresh()
        assert set(self._ours("answer")) == before
        self._check_words()

    @rule(question=st.sampled_from(QUESTIONS), act=st.sampled_from(["ask", "refresh", "sync"]), moment=st.integers(1, 3))
    def is_killed(self, question: str, act: str, moment: int) -> None:
        """Before or after a row is written."""
        left = [moment]
        real = AnswerShelf.write

        def write(shelf: AnswerShelf, row: AnswerRow) -> None:
            left[0] -= 1
            if left[0] <= 0:
                raise KeyboardInterrupt
            real(shelf, row)

        with pytest.MonkeyPatch.context() as patch, suppress(KeyboardInterrupt):
            patch.setattr(AnswerShelf, "write", write)
            brain = self.home.brain()
            brain.ask(question) if act == "ask" else brain.refresh() if act == "refresh" else brain.sync()
        self._check_words()

    @rule(really=st.integers(0, 3))
    def loses_the_catalog(self, really: int) -> None:
        """Answers are found again only where answers are."""
        if really == 0 and all(path.parent.name == "Answers" for path in self._ours("answer")):
            lose_catalog(self.home)

    @rule()
    def syncs(self) -> None:
        report = self.home.brain().sync()
        if report.withheld:
            return
        assert report.failed == []
        self._check_words()
        assert dangling(self.home) == []
        self._check_status()
        before = hash_tree(self.home.vault, with_mtime=True)
        self.home.brain().sync()
        assert hash_tree(self.home.vault, with_mtime=True) == before

    # what must hold

    def _check_words(self) -> None:
        for words, path in self.typed.items():
            assert path.read_text("utf-8").count(words) >= 1, words
        for path, outside in self.outside.items():
            assert _outside(path) == outside, path
        notes = [properties(path) for path in self._ours("answer")]
        assert len({note["vb_answer"] for note in notes}) == len(notes)
        for question, extra in self.extra.items():
            assert sum(note["vb_question"] == question for note in notes) <= 1 + extra, question

    def _check_status(self) -> None:
        """As the pure function says, without the search for memos that came."""
        notes = {properties(path)["vb_answer"]: path for path in self._ours("answer")}
        with self.home.catalog() as catalog:
            for row in catalog.answers.rows():
                if row.answer_id in notes:
                    told = properties(notes[row.answer_id])
                    stale = staleness(row, catalog.content_hashes([m.memo_id for m in row.cited]), row.come)
                    assert (told["vb_status"], row.status) == (("stale", "stale") if stale else ("fresh", "fresh"))
                    assert row.path == notes[row.answer_id].relative_to(self.home.vault).as_posix()

    def _ours(self, kind: str) -> list[Path]:
        marker = f'vb_kind: "{kind}"'.encode()
        found = [path for path in self.home.vault.rglob("*.md") if ".trash" not in path.parts]
        return sorted(path for path in found if marker in path.read_bytes())

    def _move(self, paths: list[Path], pick: int, folder: str) -> None:
        if paths:
            path, target = paths[pick % len(paths)], self.home.vault / folder
            target.mkdir(parents=True, exist_ok=True)
            moved = target / path.name
            if not moved.exists():
                path.rename(moved)
                self.typed = {words: moved if where == path else where for words, where in self.typed.items()}
                if path in self.outside:
                    self.outside[moved] = self.outside.pop(path)

    def _text(self, pick: int) -> str:
        return TEXTS[pick % len(TEXTS)].format(self._next())

    def _next(self) -> int:
        self.count += 1
        return self.count


def _outside(path: Path) -> tuple[bytes, bytes]:
    """What stands between the properties and our region, and behind it."""
    head, _, rest = path.read_bytes().partition(BEGIN.encode())
    return head.partition(b"\n---\n")[2], rest.partition(END.encode())[2]


@pytest.mark.timeout(1_200)
def test_answers_stay_sound_whatever_happens() -> None:
    """No order of edits, moves, deletions, questions, refreshes and kills loses a word or leaves a link that leads nowhere."""
    examples = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))
    run_state_machine_as_test(
        AnswerMachine,
        settings=settings(
            max_examples=examples or 12,
            stateful_step_count=20,
            derandomize=not examples,
            database=None,
            deadline=None,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.explicit, Phase.generate],  # each step takes long: a shorter failure would take minutes to find
        ),
    )
