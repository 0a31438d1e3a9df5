"""What the vault shows of us besides memos and answers, through a brain: Home, base, canvas and the daily note's link."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest
from cflow_server import wire_memo
from films import MEMOS, QUESTION
from obsidian import Vault, hash_tree
from shell import ROOT

from vaultbrain.errors import WriteFailed
from vaultbrain.vault.note import read_properties, read_region

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from cflow_server import CFlowServer
    from conftest import Home

    from vaultbrain.wiring import Brain

HOME, BASE = "CFlow/Home.md", "CFlow/CFlow.base"
#: What another has time for when nothing makes it wait.
MAY_ACT_S = 1.0


def links_that_lead_nowhere(films: Home) -> list[str]:
    stale = ("does not say", "the quote has no link")
    return [problem for problem in Vault.load(films.vault).problems() if not any(words in problem for words in stale)]


def nodes(canvas: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(canvas.read_text("utf-8"))["nodes"]
    return found


# the Home note and the base


def test_the_first_sync_makes_both(films: Home) -> None:
    """With counts of what there is, links that lead somewhere, and a base for our folder."""
    text = (films.vault / HOME).read_text("utf-8")
    assert read_properties(text)["vb_kind"] == "home"
    assert "4" in (read_region(text) or "")
    assert 'file.inFolder(\\"CFlow\\")' in (films.vault / BASE).read_text("utf-8")
    assert links_that_lead_nowhere(films) == []


def test_the_home_note_shows_an_answer_that_grows_old_and_young_again(server: CFlowServer, films: Home) -> None:
    """Counted while it is fresh, linked with its reason while it is stale, then counted again."""
    films.brain().ask(QUESTION)
    fresh = (films.vault / HOME).read_bytes()
    assert "1 个回答：1 个最新，0 个过时" in fresh.decode()
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    films.brain().sync()
    stale = (films.vault / HOME).read_text("utf-8")
    assert f"|{QUESTION}]]" in stale
    assert "引用的 memo 改过" in stale
    films.brain().refresh()
    assert (films.vault / HOME).read_bytes() == fresh


def test_an_answer_that_the_person_deleted_is_shown_no_more(server: CFlowServer, films: Home) -> None:
    """It was linked as stale. After the next sync, which finds nothing else to do, no link leads nowhere."""
    asked = films.brain().ask(QUESTION)
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    films.brain().sync()
    (films.vault / asked.path).unlink()
    films.brain().sync()
    assert links_that_lead_nowhere(films) == []


@pytest.mark.parametrize("path", [HOME, BASE])
def test_what_the_person_deleted_or_moved_is_not_made_again(server: CFlowServer, films: Home, path: str) -> None:
    """However often there is something new to show; and what they moved stays as it was."""
    moved = films.vault / f"mine{path[-5:].replace('/', '')}"
    (films.vault / path).rename(moved)
    before = moved.read_bytes()
    server.add("新的 #观影")
    films.brain().sync()
    films.brain().ask(QUESTION)
    assert not (films.vault / path).exists()
    assert moved.read_bytes() == before


@pytest.mark.parametrize("path", [HOME, BASE])
@pytest.mark.parametrize("content", [b"mine\n", b"", b"\xff\xfe\x00", b'---\nvb_kind: "memo"\n---\nmine\n'])
def test_a_file_of_the_persons_own_is_never_changed(server: CFlowServer, home: Home, path: str, content: bytes) -> None:
    """Text, nothing, no text at all: it is named in a notice, and the sync does everything else."""
    server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
    (home.vault / "CFlow").mkdir()
    (home.vault / path).write_bytes(content)
    report = home.brain().sync()
    assert report.created == len(MEMOS)
    assert [notice for notice in report.notices if path in notice] != []
    server.edit(99, "买菜：土豆")
    home.brain().sync()
    home.brain().ask(QUESTION)
    assert (home.vault / path).read_bytes() == content


@pytest.mark.parametrize("path", [HOME, BASE])
def test_a_file_of_the_persons_own_in_the_place_of_ours_is_never_changed(server: CFlowServer, films: Home, path: str) -> None:
    """They threw ours away and use the name for something else."""
    mine = b"- mine, and nothing else\n" if path == HOME else b"views:\n  - type: table\n    name: mine\n"
    (films.vault / path).write_bytes(mine)
    server.add("新的 #观影")
    films.brain().sync()
    films.brain().ask(QUESTION)
    assert (films.vault / path).read_bytes() == mine


def test_what_the_person_wrote_into_the_home_note_stays(server: CFlowServer, films: Home) -> None:
    """Above, within and below our region, and properties of their own."""
    path = films.vault / HOME
    lines = path.read_text("utf-8").replace("---\n", "---\nmood: good\n", 1).split("\n")
    begin = next(n for n, line in enumerate(lines) if line.startswith("%% vaultbrain:begin"))
    lines[begin:begin] = ["mine above", ""]
    lines[begin + 4 : begin + 4] = ["mine within", ""]
    path.write_text("\n".join([*lines, "mine below"]), encoding="utf-8")
    for number in range(3):
        server.add(f"又一条 {number} #观影")
        films.brain().sync()
        films.brain().ask(QUESTION)
    text = path.read_text("utf-8")
    assert [text.count(words) for words in ("mood: good", "mine above", "mine within", "mine below")] == [1, 1, 1, 1]
    assert text.endswith("mine below")


def test_a_folder_below_another_has_its_views_there(server: CFlowServer, home: Home) -> None:
    """``Notes/CFlow``: everything of ours stands in it, every link leads somewhere, and a second sync does nothing."""
    server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
    home.brain(folder="Notes/CFlow").sync()
    asked = home.brain(folder="Notes/CFlow").ask(QUESTION, canvas=True)
    assert asked.path.startswith("Notes/CFlow/Answers/")
    assert asked.notices == ()
    assert sorted(p.name for p in (home.vault / "Notes/CFlow").iterdir()) == ["Answers", "CFlow.base", "Home.md", "Memos"]
    assert links_that_lead_nowhere(home) == []
    home.brain(folder="Notes/CFlow").sync()
    before = hash_tree(home.vault, with_mtime=True)
    home.brain(folder="Notes/CFlow").sync()
    assert hash_tree(home.vault, with_mtime=True) == before


def test_after_a_change_of_the_folder_nothing_of_the_old_one_is_touched(films: Home) -> None:
    """What stands in the old folder stays as it is, and the new one is a place of its own."""
    before = (films.vault / HOME).read_bytes()
    films.brain(folder="Brain").sync()
    films.brain(folder="Brain").ask(QUESTION)
    assert (films.vault / HOME).read_bytes() == before
    assert links_that_lead_nowhere(films) == []


def test_a_broken_template_of_home_is_said_once_and_does_no_harm(server: CFlowServer, films: Home) -> None:
    """File and line; the built-in one serves; the next sync is silent until the file changes."""
    override = films.vault / "CFlow/Templates/home.md.j2"
    override.parent.mkdir()
    override.write_text("# x\n{{ broken\n", encoding="utf-8")
    before = (films.vault / HOME).read_bytes()
    notices = films.brain().sync().notices
    assert [("home.md.j2" in n, "line 2" in n or "line 3" in n) for n in notices] == [(True, True)]
    assert (films.vault / HOME).read_bytes() == before
    assert films.brain().sync().notices == []


def test_a_broken_template_of_answers_is_named_with_the_answer(films: Home) -> None:
    """The answer is written all the same."""
    override = films.vault / "CFlow/Templates/answer.md.j2"
    override.parent.mkdir()
    override.write_text("{% if %}", encoding="utf-8")
    asked = films.brain().ask(QUESTION)
    assert [("answer.md.j2" in n, "line 1" in n) for n in asked.notices] == [(True, True)]
    assert "## 结论" in (films.vault / asked.path).read_text("utf-8")


def test_two_at_once_leave_no_false_clash_on_the_home_note(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one puts the Home note in place, another does so with newer counts, or has to wait until it may."""
    slow = films.brain()
    replace = slow._vault.replace

    other = threading.Thread(target=lambda: films.brain().ask("跑步"))

    def overtaken(path: str, text: str) -> object:
        done = replace(path, text)
        if path == HOME:
            monkeypatch.setattr(slow._vault, "replace", replace)
            other.start()
            other.join(MAY_ACT_S)
        return done

    monkeypatch.setattr(slow._vault, "replace", overtaken)
    slow.ask(QUESTION)
    other.join()
    server.add("又一条 #观影")
    films.brain().sync()
    text = (films.vault / HOME).read_text("utf-8")
    assert "both sides changed" not in text
    assert "2 个回答" in text


# a canvas beside an answer


def test_a_canvas_stands_beside_its_answer(films: Home) -> None:
    """Every file card leads to a note that is there; asked again, not a byte changes."""
    asked = films.brain().ask(QUESTION, canvas=True)
    path = films.vault / asked.path.replace(".md", ".canvas")
    files = [str(node["file"]) for node in nodes(path) if node["type"] == "file"]
    assert len(files) >= 2
    assert all((films.vault / file).is_file() for file in files)
    before = hash_tree(films.vault)
    films.brain().ask(QUESTION, canvas=True)
    films.brain().refresh([asked.path])
    assert hash_tree(films.vault) == before


def test_a_canvas_is_brought_up_to_date_with_its_answer(server: CFlowServer, films: Home) -> None:
    """Also when it was not asked for again; what the person moved stays where they put it."""
    asked = films.brain().ask(QUESTION, canvas=True)
    path = films.vault / asked.path.replace(".md", ".canvas")
    text = path.read_text("utf-8")
    moved = nodes(path)[0]
    path.write_text(text.replace(f'"x":{moved["x"]},"y":{moved["y"]}', '"x":-999,"y":-888', 1), encoding="utf-8")
    server.add("又一个观影资源站 https://example.com/more #观影")
    films.brain().sync()
    films.brain().refresh()
    assert len(nodes(path)) > text.count('"id":"vb-') - text.count('"fromNode"')
    assert (nodes(path)[0]["x"], nodes(path)[0]["y"]) == (-999, -888)


def test_a_canvas_that_the_person_deleted_is_not_made_again_unasked(server: CFlowServer, films: Home) -> None:
    """A refresh, or the question asked again without a canvas, leaves it gone; asked for, it comes back."""
    asked = films.brain().ask(QUESTION, canvas=True)
    path = films.vault / asked.path.replace(".md", ".canvas")
    path.unlink()
    server.add("又一个观影资源站 https://example.com/more #观影")
    films.brain().sync()
    films.brain().refresh()
    assert not path.exists()
    films.brain().ask(QUESTION)
    assert not path.exists()
    films.brain().ask(QUESTION, canvas=True)
    assert path.exists()


@pytest.mark.parametrize("content", [b"", b"{}", b'{"nodes":[],"edges":[]}', b"\xff", b"no json"])
def test_a_canvas_of_the_persons_own_is_never_changed(films: Home, content: bytes) -> None:
    """One that stood there before ours: it is said, and the answer is there all the same."""
    asked = films.brain().ask(QUESTION)
    path = films.vault / asked.path.replace(".md", ".canvas")
    path.write_bytes(content)
    again = films.brain().ask(QUESTION, canvas=True)
    assert path.read_bytes() == content
    assert any(".canvas" in notice or "canvas" in notice for notice in again.notices)


def test_a_canvas_of_the_persons_own_where_the_answer_was_moved_to_is_never_changed(server: CFlowServer, films: Home) -> None:
    """The answer has a canvas of ours, in its old place; in the new one there is one that we never saw."""
    asked = films.brain().ask(QUESTION, canvas=True)
    (films.vault / "项目").mkdir()
    (films.vault / asked.path).rename(films.vault / "项目/看什么.md")
    mine = films.vault / "项目/看什么.canvas"
    mine.write_text('{"nodes":[{"id":"1","type":"text","text":"mine","x":0,"y":0,"width":9,"height":9}],"edges":[]}', "utf-8")
    before = mine.read_bytes()
    server.add("又一个观影资源站 https://example.com/more #观影")
    films.brain().sync()
    films.brain().refresh()
    assert mine.read_bytes() == before


# the daily note


def test_the_daily_note_links_to_a_new_answer_once(films: Home) -> None:
    """Made when there is none; asked again, nothing is added; what stood in it stays."""
    daily = films.vault / "2026-11-30.md"
    daily.write_text("今天\n", encoding="utf-8")
    asked = films.brain(daily_link=True).ask(QUESTION)
    text = daily.read_text("utf-8")
    assert text.startswith("今天\n- [[CFlow/Answers/")
    assert asked.notices == ()
    films.brain(daily_link=True).ask(QUESTION)
    assert daily.read_text("utf-8") == text
    assert links_that_lead_nowhere(films) == []


def test_a_daily_note_that_somebody_is_typing_in_is_linked_from_later(films: Home) -> None:
    """By the watcher, once it has been left alone; nothing is said, for nothing is lost."""
    daily = films.vault / "2026-11-30.md"
    daily.write_text("今天\n", encoding="utf-8")
    asked = films.brain(in_background=True, daily_link=True).ask(QUESTION)
    assert asked.notices == ()
    films.brain(in_background=True).sync()
    assert daily.read_text("utf-8") == "今天\n"
    os.utime(daily, (time.time() - 31, time.time() - 31))
    films.brain(in_background=True).sync()
    assert daily.read_text("utf-8").startswith("今天\n- [[CFlow/Answers/")
    before = daily.read_text("utf-8")
    daily.write_text("今天\n", encoding="utf-8")
    films.brain(in_background=True).sync()
    assert (before.count("[["), daily.read_text("utf-8")) == (1, "今天\n")


def test_a_view_that_somebody_is_typing_in_waits(server: CFlowServer, films: Home) -> None:
    """It is brought up to date by a later sync of the watcher, without a word."""
    home = films.vault / HOME
    home.write_text(home.read_text("utf-8") + "mine\n", encoding="utf-8")
    server.add("新的 #观影")
    assert films.brain(in_background=True).sync().notices == []
    assert read_region(home.read_text("utf-8")) is not None
    before = home.read_text("utf-8")
    os.utime(home, (time.time() - 31, time.time() - 31))
    films.brain(in_background=True).sync()
    assert home.read_text("utf-8") != before
    assert home.read_text("utf-8").endswith("mine\n")


def test_a_daily_note_that_cannot_be_linked_from_is_said(films: Home) -> None:
    """Daily notes are switched off in this vault: the answer is there, and why the link is not."""
    (films.vault / ".obsidian/core-plugins.json").write_text('{"daily-notes": false}', encoding="utf-8")
    asked = films.brain(daily_link=True).ask(QUESTION)
    assert [("daily note" in n, "switched off" in n) for n in asked.notices] == [(True, True)]
    assert (films.vault / asked.path).exists()


# accidents


def refusing(monkeypatch: pytest.MonkeyPatch, brain: Brain, ending: str) -> None:
    """Every write of a file with this ending meets a full disk."""
    for name in ("create", "replace"):
        monkeypatch.setattr(brain._vault, name, _refusal(getattr(brain._vault, name), ending))


def _refusal(real: Callable[..., object], ending: str) -> Callable[[str, str], object]:
    def write(path: str, text: str, **how: object) -> object:
        if path.endswith(ending):
            raise WriteFailed(path=path, reason="No space left on device")
        return real(path, text, **how)

    return write


@pytest.mark.parametrize("ending", ["Home.md", ".canvas", "2026-11-30.md"])
def test_a_full_disk_under_a_view_is_said_and_costs_nothing_else(
    films: Home, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    """The answer is whole and recorded; the next time the view is there, too."""
    brain = films.brain(daily_link=True)
    refusing(monkeypatch, brain, ending)
    asked = brain.ask(QUESTION, canvas=True)
    assert len([notice for notice in asked.notices if "No space left on device" in notice]) == 1
    assert (films.vault / asked.path).exists()
    again = films.brain(daily_link=True).ask(QUESTION, canvas=True)
    assert again.is_update
    assert again.notices == ()
    assert links_that_lead_nowhere(films) == []
    assert "1 个回答" in (films.vault / HOME).read_text("utf-8")
    assert (films.vault / asked.path.replace(".md", ".canvas")).exists()


@pytest.mark.parametrize("path", [HOME, BASE])
def test_a_full_disk_under_a_view_does_not_stop_a_sync(
    server: CFlowServer, home: Home, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Said in the report; the next sync, which has nothing else to do, makes up for it."""
    server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
    brain = home.brain()
    refusing(monkeypatch, brain, path)
    report = brain.sync()
    assert report.created == len(MEMOS)
    assert len([notice for notice in report.notices if "No space left on device" in notice]) == 1
    assert home.brain().sync().notices == []
    assert (home.vault / path).exists()


_ROOMS = """
import sys
from vaultbrain.wiring import open_brain
report = open_brain(sys.argv[1]).sync()
assert report.is_empty, report
heavy = ("vaultbrain.answer", "vaultbrain.retrieve", "vaultbrain.views", "vaultbrain.vault.bases", "vaultbrain.vault.canvas",
         "vaultbrain.wiring_answers", "jinja2", "chromadb", "numpy")
print(sorted(name for name in sys.modules if name in heavy))
"""


def test_a_sync_that_finds_nothing_enters_no_room_of_answers(films: Home) -> None:
    """In a process of its own, with answers and views there: neither is imported."""
    films.brain().ask(QUESTION, canvas=True)
    films.brain().sync()
    environment = {"PYTHONPATH": str(ROOT), "CFLOW_API_TOKEN": "test-token", "PATH": "", "HOME": str(films.vault.parent)}
    (films.vault / "vaultbrain.toml").write_text(
        (films.vault / "vaultbrain.toml").read_text("utf-8") + 'embedding = "use"\n', encoding="utf-8"
    )
    command = [sys.executable, "-c", _ROOMS, str(films.vault)]
    subprocess.run(command, env=environment, capture_output=True, check=False, timeout=90)  # other vectors
    before = hash_tree(films.vault, with_mtime=True)
    done = subprocess.run(command, env=environment, capture_output=True, check=False, encoding="utf-8", timeout=90)
    assert (done.stdout.strip(), done.returncode) == ("[]", 0), done.stderr
    assert hash_tree(films.vault, with_mtime=True) == before
