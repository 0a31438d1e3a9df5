"""Answers that live: stale when memos move on, refreshed in place, links that never break, the person's words untouched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from films import MEMOS, QUESTION
from obsidian import Vault, hash_tree
from tiny_embedder import TinyEmbedder

from vaultbrain.answer import delivery
from vaultbrain.errors import AnswerNotFound, EmbeddingUnavailable, WriteFailed
from vaultbrain.index.answers import REMOVED
from vaultbrain.vault.note import read_properties, read_region

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from cflow_server import CFlowServer
    from conftest import Home
    from numpy.typing import NDArray

    from vaultbrain.answer.ask import Asked


def note(films: Home, asked: Asked) -> Path:
    return films.vault / asked.path


def properties(path: Path) -> dict[str, object]:
    return read_properties(path.read_text("utf-8"))


def dangling(films: Home) -> list[str]:
    """What the checker finds; but a stale answer may quote what a memo said then, and what a memo said that is gone."""
    stale = ("does not say", "the quote has no link")
    return [problem for problem in Vault.load(films.vault).problems() if not any(words in problem for words in stale)]


def test_a_note_records_the_version_of_each_memo_it_used(films: Home) -> None:
    """Id and content hash of every source, and what the answer is found by."""
    asked = films.brain().ask(QUESTION)
    found = properties(note(films, asked))
    with films.catalog() as catalog:
        hashes = catalog.content_hashes(["456", "123"])
    assert {f"{memo_id} {digest[:12]}" for memo_id, digest in hashes.items()} <= set(found["vb_versions"])  # type: ignore[call-overload]
    assert found["vb_answer"] == asked.row.answer_id
    assert found["vb_status"] == "fresh"


def test_an_edited_memo_makes_its_answers_stale_and_no_others(server: CFlowServer, films: Home) -> None:
    """The reason stands in words in the note; the answer's text stays; an answer on something else stays fresh."""
    films_answer, run = films.brain().ask(QUESTION), films.brain().ask("跑步")
    region = read_region(note(films, films_answer).read_text("utf-8"))
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    report = films.brain().sync()
    found = properties(note(films, films_answer))
    assert (found["vb_status"], found["vb_stale"]) == ("stale", "引用的 memo 改过：#123")
    assert report.answers_stale == 1
    assert read_region(note(films, films_answer).read_text("utf-8")) == region
    assert properties(note(films, run))["vb_status"] == "fresh"


def test_a_memo_that_changes_back_makes_the_answer_fresh_again(server: CFlowServer, films: Home) -> None:
    """Staleness is worked out from what was recorded, not counted up."""
    asked = films.brain().ask(QUESTION)
    before = note(films, asked).read_bytes()
    server.edit(123, "豆瓣片单备份\n\n别的 #观影")
    films.brain().sync()
    assert note(films, asked).read_bytes() != before
    server.edit(123, MEMOS[123])
    films.brain().sync()
    assert note(films, asked).read_bytes() == before


def test_a_new_memo_that_would_be_cited_makes_it_stale_and_another_does_not(server: CFlowServer, films: Home) -> None:
    """Only what would now be among the sources counts."""
    asked = films.brain().ask(QUESTION)
    server.add("晚饭：面条加蛋")
    films.brain().sync()
    assert properties(note(films, asked))["vb_status"] == "fresh"
    new = server.add("又一个观影资源站 https://example.com/more #观影")["id"]
    films.brain().sync()
    assert properties(note(films, asked))["vb_stale"] == f"有新的 memo 可以引用：#{new}"


def test_a_deleted_memo_makes_it_stale_and_no_link_is_left_behind(server: CFlowServer, films: Home) -> None:
    """Its links become plain text that says so; every other link holds."""
    asked = films.brain().ask(QUESTION)
    server.delete(123)
    films.brain().sync()
    text = note(films, asked).read_text("utf-8")
    assert properties(note(films, asked))["vb_stale"] == "引用的 memo 已删除：#123"
    assert "(123)" not in text
    assert "\\#123（已删除）" in text
    assert dangling(films) == []


def test_a_link_to_a_block_that_is_gone_leads_to_the_memo_and_is_marked(server: CFlowServer, films: Home) -> None:
    """The block with the addresses is taken out of the memo."""
    asked = films.brain().ask(QUESTION)
    assert "(456)#^m456-2|#456]]" in asked.text
    server.edit(456, "最近在看的影视网站合集：\n\n#观影 #资源")
    films.brain().sync()
    text = note(films, asked).read_text("utf-8")
    assert "(456)#^m456-2" not in text
    assert "(456)|#456（原段落已不在）]]" in text
    assert dangling(films) == []


def test_a_link_survives_an_edit_of_its_block(server: CFlowServer, films: Home) -> None:
    """The anchor stays with the block that was edited, so the link stays as it is."""
    asked = films.brain().ask(QUESTION)
    server.edit(456, "开头加一段。\n\n" + MEMOS[456].replace("films", "films2"))
    films.brain().sync()
    assert "(456)#^m456-2|#456]]" in note(films, asked).read_text("utf-8")
    assert dangling(films) == []


def test_a_moved_memo_note_is_followed(server: CFlowServer, films: Home) -> None:
    """Moved outside Obsidian, which would have rewritten the links itself."""
    asked = films.brain().ask(QUESTION)
    old = films.note_of(123)
    (films.vault / "归档").mkdir()
    old.rename(films.vault / "归档" / old.name)
    server.edit(99, "买菜：土豆")
    films.brain().sync()
    assert "[[归档/" in note(films, asked).read_text("utf-8")
    assert Vault.load(films.vault).problems() == []


# refresh


def test_refresh_writes_the_new_answer_and_says_what_changed(server: CFlowServer, films: Home) -> None:
    """New text, new source, the callout with links, fresh again; the person's text below and above stays byte for byte."""
    asked = films.brain().ask(QUESTION)
    path = note(films, asked)
    text = path.read_text("utf-8").replace('vb_kind: "answer"', 'mood: good\nvb_kind: "answer"')
    path.write_text(text + "\n我自己的话，别动。\n", encoding="utf-8")
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    new = server.add("又一个观影资源站 https://example.com/more #观影")["id"]
    films.brain().sync()
    (done,) = films.brain().refresh()
    text = path.read_text("utf-8")
    assert done.path == asked.path
    assert properties(path)["vb_status"] == "fresh"
    assert "vb_stale" not in text
    assert "「2026 年想看的三部」" in text
    assert f"新引用：[[CFlow/Memos/又一个观影资源站 ({new})#^m{new}-1|#{new}]]" in text
    assert "内容改过：[[CFlow/Memos/豆瓣片单备份 (123)#^m123-2|#123]]" in text
    assert text.endswith("\n我自己的话，别动。\n")
    assert "mood: good\n" in text
    assert Vault.load(films.vault).problems() == []


def test_words_inside_the_region_survive_a_refresh(server: CFlowServer, films: Home) -> None:
    """A line that the person put among ours is still there, wherever the merge put it."""
    asked = films.brain().ask(QUESTION)
    path = note(films, asked)
    path.write_text(path.read_text("utf-8").replace("## 按主题整理\n", "## 按主题整理\n\n这一句是我写的。\n"), encoding="utf-8")
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    films.brain().sync()
    films.brain().refresh()
    assert path.read_text("utf-8").count("这一句是我写的。") == 1
    assert "「2026 年想看的三部」" in path.read_text("utf-8")


def test_a_line_beside_ours_stays_in_its_place_however_often_the_answer_changes(server: CFlowServer, films: Home) -> None:
    """No callout, no copy of our own lines: it was only added."""
    asked = films.brain().ask(QUESTION)
    path = note(films, asked)
    path.write_text(path.read_text("utf-8").replace("## 按主题整理\n", "我的补充。\n\n## 按主题整理\n"), encoding="utf-8")
    for year in (2026, 2027, 2028):
        server.edit(123, f"豆瓣片单备份\n\n「{year} 年想看的三部」 #观影")
        films.brain().sync()
        (done,) = films.brain().refresh()
        assert (done.missing, done.is_partial) == ((), False)
    text = path.read_text("utf-8")
    assert text.index("「2028 年") < text.index("我的补充。\n\n## 按主题整理") < text.index("## 引用来源")
    assert "both sides" not in text


def test_a_line_of_ours_that_both_changed_is_kept_once_and_said(server: CFlowServer, films: Home) -> None:
    """The person rewrote a line of the answer: theirs stands in one callout, after any number of refreshes."""
    asked = films.brain().ask(QUESTION)
    path = note(films, asked)
    line = next(line for line in path.read_text("utf-8").split("\n") if line.startswith("CFlow 中"))
    path.write_text(path.read_text("utf-8").replace(line, "我改写的结论。"), encoding="utf-8")
    partly = []
    for year in (2026, 2027, 2028):
        server.edit(123, f"豆瓣片单备份\n\n「{year} 年想看的三部」 #观影")
        films.brain().sync()
        (done,) = films.brain().refresh()
        partly.append(done.is_partial)
    assert partly[0]
    text = path.read_text("utf-8")
    assert text.count("我改写的结论。") == 1
    assert text.count("both sides") == 1
    assert "> > " not in text


def test_a_second_refresh_changes_nothing(server: CFlowServer, films: Home) -> None:
    """The callout stays until something changes again."""
    asked = films.brain().ask(QUESTION)
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    films.brain().sync()
    assert len(films.brain().refresh()) == 1
    before = hash_tree(films.vault)
    assert films.brain().refresh() == []
    (again,) = films.brain().refresh([asked.path])
    assert again.changes == ()
    assert hash_tree(films.vault) == before


def test_the_same_question_refreshes_its_note(server: CFlowServer, films: Home) -> None:
    """Also in the other script, with other punctuation: no twin; over the same state not a byte changes."""
    first = films.brain().ask(QUESTION)
    before = hash_tree(films.vault)
    second = films.brain().ask(QUESTION)
    assert (second.path, second.is_update) == (first.path, True)
    assert hash_tree(films.vault) == before
    server.add("又一个观影资源站 https://example.com/more #观影")
    films.brain().sync()
    third = films.brain().ask("帮我找，和观影有关的资源！")
    assert third.path == first.path
    assert len(list((films.vault / "CFlow/Answers").iterdir())) == 1
    assert len(third.changes) == 1


def test_new_makes_another_note_and_the_last_one_is_refreshed_from_then_on(films: Home) -> None:
    """Two notes with ids of their own; the question asked again goes to the newer."""
    first, second = films.brain().ask(QUESTION), films.brain().ask(QUESTION, new=True)
    assert first.path != second.path
    assert properties(note(films, first))["vb_answer"] != properties(note(films, second))["vb_answer"]
    assert films.brain().ask(QUESTION).path == second.path
    assert films.brain().refresh([first.path])[0].path == first.path


def test_a_note_is_found_wherever_the_person_moved_it(server: CFlowServer, films: Home) -> None:
    """Renamed and moved: marked and refreshed there, and asking again makes no twin."""
    asked = films.brain().ask(QUESTION)
    (films.vault / "项目").mkdir()
    moved = note(films, asked).rename(films.vault / "项目" / "看什么.md")
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    films.brain().sync()
    assert properties(moved)["vb_status"] == "stale"
    assert films.brain().ask(QUESTION).path == "项目/看什么.md"
    assert properties(moved)["vb_status"] == "fresh"


def test_a_deleted_note_is_not_written_again_until_asked(server: CFlowServer, films: Home) -> None:
    """A sync and a refresh leave it gone; the question asked anew makes a note anew."""
    asked = films.brain().ask(QUESTION)
    note(films, asked).unlink()
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    films.brain().sync()
    assert films.brain().refresh() == []
    assert not note(films, asked).exists()
    with films.catalog() as catalog:
        assert [row.status for row in catalog.answers.rows()] == [REMOVED]
    again = films.brain().ask(QUESTION)
    assert (again.path, again.is_update) == (asked.path, False)


def test_a_note_without_markers_is_the_persons(server: CFlowServer, films: Home) -> None:
    """Nothing is written into it any more, and asking again makes another note."""
    asked = films.brain().ask(QUESTION)
    path = note(films, asked)
    lines = [line for line in path.read_text("utf-8").split("\n") if not line.startswith("%% vaultbrain")]
    path.write_text("\n".join(lines), encoding="utf-8")
    before = path.read_bytes()
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    films.brain().sync()
    assert films.brain().ask(QUESTION).path != asked.path
    assert path.read_bytes() == before


def test_auto_takes_only_notes_that_ask_for_it(server: CFlowServer, films: Home) -> None:
    """``vb_refresh: auto`` is the person's property; it survives, and only its note is refreshed."""
    asked, other = films.brain().ask(QUESTION), films.brain().ask("豆瓣片单")
    path = note(films, asked)
    path.write_text(path.read_text("utf-8").replace("tags:\n", "vb_refresh: auto\ntags:\n", 1), encoding="utf-8")
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    films.brain().sync()
    assert [done.path for done in films.brain().refresh(auto_only=True)] == [asked.path]
    assert "vb_refresh: auto\n" in path.read_text("utf-8")
    assert properties(note(films, other))["vb_status"] == "stale"


def test_a_note_that_no_catalog_knows_is_refreshed_from_its_own_properties(films: Home) -> None:
    """The catalog was lost: the question stands in the note."""
    asked = films.brain().ask(QUESTION)
    for path in films.state.glob("catalog*"):
        path.unlink()
    films.brain().sync()
    (done,) = films.brain().refresh([asked.path])
    assert (done.path, done.is_update) == (asked.path, True)
    assert films.brain().ask(QUESTION).path == asked.path


@pytest.mark.parametrize(("name", "reason"), [("CFlow/Answers/none.md", "no such note"), ("mine.md", "no answer note")])
def test_what_is_no_answer_is_refused_before_anything_is_done(films: Home, name: str, reason: str) -> None:
    """The path and why; nothing was written."""
    (films.vault / "mine.md").write_text("mine\n", encoding="utf-8")
    asked = films.brain().ask(QUESTION)
    before = hash_tree(films.vault)
    with pytest.raises(AnswerNotFound, match=reason):
        films.brain().refresh([asked.path, name])
    assert hash_tree(films.vault) == before


def test_a_dry_run_of_refresh_writes_nothing(server: CFlowServer, films: Home) -> None:
    """The changes are said, the note stays stale."""
    films.brain().ask(QUESTION)
    server.add("又一个观影资源站 https://example.com/more #观影")
    films.brain().sync()
    before = hash_tree(films.vault)
    (done,) = films.brain().refresh(writes=False)
    assert len(done.changes) == 1
    assert hash_tree(films.vault) == before


def test_a_passage_is_remembered_for_the_refresh(films: Home) -> None:
    """A note made with ``--from`` compares with the same text again."""
    asked = films.brain().ask("和这段有关的", passage="豆瓣片单备份：2025 年想看的十二部里，还有七部没看")
    (done,) = films.brain().refresh([asked.path])
    assert done.as_json["mode"] == "match"
    assert [s["memo_id"] for s in done.as_json["sources"]] == [s["memo_id"] for s in asked.as_json["sources"]]


def test_a_new_memo_on_one_part_of_a_passage_makes_its_answer_stale(server: CFlowServer, films: Home) -> None:
    """What the passage as a whole does not find, its parts do."""
    passage = "\n\n".join(
        f"{words}，这一段说的全是这一件事，没有别的，写长一点好让它自己成一部分。"
        for words in ("豆瓣片单", "蝴蝶兰浇水", "跑步膝盖")
    )
    asked = films.brain().ask("和这段有关的", passage=passage)
    assert properties(note(films, asked))["vb_status"] == "fresh"
    new = server.add("蝴蝶兰浇水：一周一次，浇透")["id"]
    films.brain().sync()
    assert str(new) in str(properties(note(films, asked)).get("vb_stale"))


# accidents


def test_a_kill_between_the_note_and_its_row_is_healed(films: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    """The note was written, its row was not: the question asked again finds the note and makes no twin."""
    with monkeypatch.context() as patch:
        patch.setattr(delivery, "lists_of", _die)  # what is worked out between the file and the row
        with pytest.raises(KeyboardInterrupt):
            films.brain().ask(QUESTION)
    asked = films.brain().ask(QUESTION)
    assert asked.is_update
    assert len(list((films.vault / "CFlow/Answers").iterdir())) == 1
    assert "warning" not in note(films, asked).read_text("utf-8")


def test_a_kill_while_a_note_is_brought_up_to_date_loses_and_doubles_nothing(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file holds the new text, the row the old: the next refresh sees what was intended and makes no false clash."""
    asked = films.brain().ask(QUESTION)
    server.edit(123, "豆瓣片单备份\n\n「2026 年想看的三部」 #观影")
    films.brain().sync()
    with monkeypatch.context() as patch:
        patch.setattr(delivery, "lists_of", _die)
        with pytest.raises(KeyboardInterrupt):
            films.brain().refresh()
    server.edit(123, "豆瓣片单备份\n\n「2027 年想看的两部」 #观影")
    films.brain().sync()
    films.brain().refresh()
    text = note(films, asked).read_text("utf-8")
    assert "「2027 年想看的两部」" in text
    assert "「2026 年想看的三部」" not in text
    assert "both sides changed" not in text


def _die(*_: object) -> dict[str, list[str]]:
    raise KeyboardInterrupt


def test_an_answer_that_cannot_be_written_does_not_stop_the_others(
    server: CFlowServer, films: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk under one note: named in the report, the other is marked, and the next sync makes up for it."""
    asked, other = films.brain().ask(QUESTION), films.brain().ask("豆瓣片单")
    server.edit(123, "豆瓣片单备份\n\n改了 #观影")
    brain = films.brain()
    replace = brain._vault.replace

    def refuse(path: str, text: str, **how: object) -> object:
        if path == asked.path:
            raise WriteFailed(path=path, reason="No space left on device")
        return replace(path, text, **how)

    monkeypatch.setattr(brain._vault, "replace", refuse)
    report = brain.sync()
    assert report.failed == [{"answer": asked.path, "reason": "No space left on device"}]
    assert properties(note(films, other))["vb_status"] == "stale"
    films.brain().sync()
    assert properties(note(films, asked))["vb_status"] == "stale"


class AwayEmbedder(TinyEmbedder):
    """Knows its old vectors' name and computes none."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        raise EmbeddingUnavailable(embedding="tiny", reason="it is away")


def test_a_model_that_is_away_does_not_make_answers_be_looked_at_again_and_again(server: CFlowServer, films: Home) -> None:
    """The vectors failed, the answers did not: that they were compared with these memos is remembered."""
    films.brain().ask(QUESTION)
    server.add("晚饭：面条加蛋")
    assert [list(failure) for failure in films.brain(AwayEmbedder()).sync().failed] == [["stage", "reason"]]
    with films.catalog() as catalog:
        assert catalog.read_meta("answers_aged").startswith(f"{catalog.memos_version()}/")


def test_a_sync_without_changes_touches_no_answer_and_asks_no_model(films: Home) -> None:
    """Not a byte, not a time of change."""
    films.brain().ask(QUESTION)
    films.brain().sync()
    before = hash_tree(films.vault, with_mtime=True)
    assert not films.brain().sync().model_loaded
    assert hash_tree(films.vault, with_mtime=True) == before
