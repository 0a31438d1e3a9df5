"""The sample vault as a whole: from the export to notes and answers, with the real model, byte for byte.

``VAULTBRAIN_WRITE_GOLDEN=1`` writes the tree anew (``make golden``); look at the difference before committing it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from conftest import NOW
from obsidian import Vault, hash_tree

from vaultbrain.settings import load_settings
from vaultbrain.wiring import Brain

SAMPLE = Path(__file__).parent.parent / "sample_vault"
QUESTIONS = (
    "帮我找和观影有关的资源",
    "NotebookLM 有哪些使用场景？",
    "備份策略",
    "how do I undo a git commit",
    "潜水证在哪里考？",
)
#: A question on a text of the person's own, and where that stands.
COMPARED = ("這三件事以前記過什麼？", "项目/年底三件事.md")
#: What the person was writing when an old memo came up, and the note that it stands in.
WRITTEN = ("日记/2026-11-30.md", "之前记过一套做法")
#: A question that they dropped into a note of its own.
DROPPED = "SQLite 怎么搜中文？"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample vault with what vaultbrain makes of it, at a frozen moment."""
    vault = tmp_path_factory.mktemp("golden") / "sample_vault"
    shutil.copytree(SAMPLE, vault, ignore=shutil.ignore_patterns("CFlow"))
    settings, _ = load_settings(vault, environment={}, flags={"state_dir": "../state"})
    brain = Brain(settings, environment={}, clock=lambda: NOW)
    brain.sync()
    for question in QUESTIONS:
        brain.ask(question, canvas=question == QUESTIONS[0])
    question, passage = COMPARED
    brain.ask(question, passage=(vault / passage).read_text("utf-8"))
    note, part = WRITTEN
    brain.recall_note(note, next(text for text in (vault / note).read_text("utf-8").split("\n\n") if part in text))
    (vault / "CFlow" / "Ask").mkdir()
    (vault / "CFlow" / "Ask" / f"{DROPPED}.md").write_text("", encoding="utf-8")
    with brain.inbox() as inbox:
        for waiting in inbox.waiting():
            inbox.answer(waiting)
            inbox.tell(waiting)
    if os.environ.get("VAULTBRAIN_WRITE_GOLDEN"):
        shutil.rmtree(SAMPLE / "CFlow", ignore_errors=True)
        shutil.copytree(vault / "CFlow", SAMPLE / "CFlow")
    return vault


@pytest.mark.model
@pytest.mark.slow
def test_the_sample_vault_comes_out_as_committed(made: Path) -> None:
    """Every note and answer, by name and bytes; nothing more, nothing less."""
    assert hash_tree(made) == hash_tree(SAMPLE)


@pytest.mark.model
@pytest.mark.slow
def test_every_link_and_excerpt_of_the_sample_vault_holds(made: Path) -> None:
    """By the independent checker: all links resolve to an existing block, all excerpts stand there word for word."""
    vault = Vault.load(made)
    assert vault.problems() == []
    excerpts = [excerpt for note in vault.notes.values() if note.kind == "answer" for excerpt in vault.excerpts(note)]
    assert len(excerpts) > 20


@pytest.mark.model
@pytest.mark.slow
def test_the_committed_answers_say_what_a_person_would_want(made: Path) -> None:
    """The film sites and lists for 观影, the four git memos for the English question, nothing for what is not there."""
    vault = Vault.load(made)

    def cited(question: str) -> list[str]:
        (note,) = [n for path, n in vault.notes.items() if path.endswith(f"2026-11-30 {question}.md")]
        return [link.split("|#")[1].rstrip("]") for link in note.properties["vb_memos"]]

    modes = {note.properties["vb_mode"] for note in vault.notes.values() if note.kind == "answer"}
    assert modes == {"inventory", "match", "explore"}
    assert {"210", "268", "114"} <= set(cited(COMPARED[0])[:6])
    assert {"133", "232", "104", "287", "113"} <= set(cited(QUESTIONS[0])[:8])
    assert "314" in cited(QUESTIONS[0])
    assert {"201", "129", "159", "222", "281", "325"} <= set(cited(QUESTIONS[1]))
    assert cited(QUESTIONS[2])[0] == "210"
    assert set(cited(QUESTIONS[3])[:4]) == {"145", "189", "349", "308"}
    recalled = vault.notes["CFlow/Recall/2026-11-30 (recall).md"]
    assert recalled.properties["vb_for"] == "[[日记/2026-11-30]]"
    assert "#^m210-" in recalled.text
    asked = vault.notes[f"CFlow/Ask/{DROPPED}.md"]
    assert (asked.properties["vb_status"], asked.properties["vb_link"]) == ("answered", f"[[CFlow/Answers/2026-11-30 {DROPPED}]]")
    assert vault.notes["CFlow/Answers/2026-11-30 潜水证在哪里考？.md"].properties.get("vb_memos", []) == []
