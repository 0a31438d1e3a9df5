"""Answer notes: right links, verbatim excerpts, honest coverage, in the language of the question."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from cflow_server import answer_status, make_memos, wire_memo
from obsidian import Vault, hash_tree
from tiny_embedder import TinyEmbedder

from vaultbrain.answer.wording import _TABLE, LANGUAGES
from vaultbrain.errors import StateBusy
from vaultbrain.sync.lock import writing

if TYPE_CHECKING:
    from cflow_server import CFlowServer
    from conftest import Home

FILMS = {
    456: (
        "最近在看的影视网站合集，先放这里：\n\n"
        "- 片源 https://example.com/films\n- 片单 https://example.com/list?tag=noir\n\n"
        "#观影 #资源"
    ),
    123: "豆瓣片单备份\n\n「2025 年想看的十二部」，已看五部 #观影",
    234: "周五晚上的电影票抢到了",
    99: "买菜：番茄、鸡蛋",
    77: "Watchlist: ten slow films https://example.com/slow",
}


@pytest.fixture
def films(server: CFlowServer, home: Home) -> Home:
    server.memos += [wire_memo(n, text) for n, text in FILMS.items()]
    home.brain().sync()
    return home


def test_the_note_has_its_four_parts_and_every_link_holds(films: Home) -> None:
    """Conclusion, themes, sources, coverage; the checker resolves every link and finds every excerpt in its block."""
    asked = films.brain().ask("帮我找和观影有关的资源")
    text = (films.vault / asked.path).read_text("utf-8")
    assert text == asked.text
    positions = [text.index(f"## {heading}\n") for heading in ("结论", "按主题整理", "引用来源", "检索覆盖")]
    assert positions == sorted(positions)
    vault = Vault.load(films.vault)
    assert vault.problems() == []
    assert {e.target.rpartition("(")[2] for e in vault.excerpts(vault.notes[asked.path])} >= {"456).md", "123).md"}
    assert "https://example.com/films" in text
    assert "买菜" not in text


@pytest.mark.parametrize(
    ("question", "headings"),
    [
        ("帮我找和观影有关的资源", ("结论", "引用来源")),
        ("幫我找和觀影有關的資源", ("結論", "引用來源")),
        ("find my notes about slow films", ("Conclusion", "Sources")),
    ],
)
def test_the_note_speaks_the_language_and_script_of_the_question(films: Home, question: str, headings: tuple[str, str]) -> None:
    """Headings, labels and sentences; the memos' own words stay as they are."""
    text = films.brain().ask(question).text
    assert all(f"## {heading}\n" in text for heading in headings)
    assert "影视网站" in text or "ten slow films" in text


@pytest.mark.parametrize(
    ("question", "heading"), [("NAS", "结论"), ("🎬", "结论"), ("tag:movie", "结论"), ("films", "Conclusion")]
)
def test_a_question_without_words_is_answered_in_the_language_of_the_memos(films: Home, question: str, heading: str) -> None:
    """A name in capitals, an emoji, a filter; one English word is English."""
    assert f"## {heading}\n" in films.brain().ask(question, writes=False).text


def test_the_setting_overrides_the_questions_language(films: Home) -> None:
    """``language = "en"`` gives English notes for Chinese questions."""
    assert "## Conclusion" in films.brain(language="en").ask("观影").text


def test_the_same_question_gives_the_same_bytes_in_a_second_note(films: Home) -> None:
    """Same corpus, question and clock: same bytes; the first note is not replaced."""
    first, second = films.brain().ask("观影"), films.brain().ask("观影", new=True)
    assert first.path != second.path
    texts = [(films.vault / asked.path).read_text("utf-8").replace(asked.row.answer_id, "") for asked in (first, second)]
    assert texts[0] == texts[1]


def test_a_note_of_the_persons_at_the_answers_path_is_never_touched(films: Home) -> None:
    """The computed name is taken: the answer goes beside it."""
    answers = films.vault / "CFlow" / "Answers"
    answers.mkdir(parents=True)
    (answers / "2026-11-30 观影.md").write_text("mine\n", encoding="utf-8")
    assert films.brain().ask("观影").path == "CFlow/Answers/2026-11-30 观影 2.md"
    assert (answers / "2026-11-30 观影.md").read_text("utf-8") == "mine\n"


def test_nothing_found_is_said_in_words(films: Home) -> None:
    """No invented sources: the topic, the nearest misses, what to try, and what was searched."""
    asked = films.brain().ask("潜水证 zzyzx")
    assert asked.as_json["sources"] == []
    assert "没有找到和「潜水证 zzyzx」有关的内容" in asked.text
    assert "## 引用来源" not in asked.text
    assert "## 检索覆盖" in asked.text
    assert Vault.load(films.vault).problems() == []


def test_a_dry_run_writes_nothing(films: Home) -> None:
    """``--dry-run`` gives the text only."""
    before = hash_tree(films.vault.parent)
    asked = films.brain().ask("观影", writes=False)
    assert (asked.path, "## 结论" in asked.text) == ("", True)
    assert hash_tree(films.vault.parent) == before


def test_what_is_said_twice_is_cited_once_and_the_other_named_with_a_link(server: CFlowServer, home: Home) -> None:
    """The same address with much the same words; another remark on that address is a source of its own."""
    server.memos += [
        wire_memo(1, "半糖片库 https://example.com/half ，能按年代筛片，没有广告 #观影"),
        wire_memo(2, "半糖片库 https://example.com/half 可以按年代筛，没广告 #观影"),
        wire_memo(3, "观影小组投票决定不续费 https://example.com/half"),
    ]
    home.brain().sync()
    asked = home.brain().ask("观影")
    cited = [source["memo_id"] for source in asked.as_json["sources"]]
    assert len({"1", "2"} & set(cited)) == 1
    assert "3" in cited
    (copy,) = {"1", "2"} - set(cited)
    assert f"({copy})|#{copy}]]" in asked.text
    assert Vault.load(home.vault).problems() == []
    server.delete(int(copy))
    home.brain().sync()
    assert "（已删除）" in (home.vault / asked.path).read_text("utf-8")


def test_a_memo_of_nothing_but_tags_is_no_source(server: CFlowServer, home: Home) -> None:
    """However well they match, unless there is nothing else."""
    server.memos += [wire_memo(1, "#观影 #资源"), wire_memo(2, "这周观影：一部老片")]
    home.brain().sync()
    assert [source["memo_id"] for source in home.brain().ask("观影").as_json["sources"]] == ["2"]
    server.delete(2)
    home.brain().sync()
    assert [source["memo_id"] for source in home.brain().ask("观影").as_json["sources"]] == ["1"]


# full text at answer time


def test_an_edit_since_the_last_sync_is_answered_from(server: CFlowServer, films: Home) -> None:
    """The server has newer text: the note is brought up to date first, so the quotation stands in the linked block."""
    server.edit(123, "豆瓣片单备份，2026 年想看的三部 #观影")
    asked = films.brain().ask("豆瓣片单")
    assert "2026 年想看的三部" in asked.text
    assert "2025 年想看的十二部" not in asked.text
    assert "在服务器上刚改过，已用新的内容" in asked.text
    assert "2026 年想看的三部" in films.text_of(123)
    assert Vault.load(films.vault).problems() == []
    assert films.brain().sync().conflicts == 0


def test_an_edit_while_another_process_writes_is_named(server: CFlowServer, films: Home) -> None:
    """The mirror is cited and the note says that the server has newer text; nothing waits for the lock."""
    server.edit(123, "豆瓣片单备份，2026 年想看的三部 #观影")
    with writing(films.state, timeout_s=0, command="test"):
        text = films.brain().ask("豆瓣片单").text
    assert "2026 年想看的三部" not in text
    assert "在服务器上刚改过，这里引用的还是镜像" in text
    assert Vault.load(films.vault).problems() == []


def test_a_server_that_is_away_leaves_the_mirror(server: CFlowServer, films: Home) -> None:
    """The answer is the same and says where its text came from and why."""
    server.stop()
    text = films.brain().ask("观影").text
    assert "没能从服务器取得全文" in text
    assert "全文取自镜像" in text


def test_a_failing_server_and_a_deleted_memo_are_told_apart(server: CFlowServer, films: Home) -> None:
    """500 means the mirror serves; 404 in the server's own words means that the memo is gone."""
    server.behaviours["/api/v1/memo/123"] = answer_status(500)
    assert "没能从服务器取得全文" in films.brain().ask("观影").text
    server.behaviours.clear()
    server.delete(123)
    text = films.brain().ask("观影").text
    assert "|#123]] 已不在服务器上" in text


def test_links_follow_what_the_person_did_since_the_last_sync(films: Home) -> None:
    """A note moved away loses its link, a block that is gone its anchor; nothing dangles."""
    films.note_of(234).unlink()
    note = films.note_of(123)
    note.write_text(note.read_text("utf-8").replace(" ^m123-2", ""), encoding="utf-8")
    asked = films.brain().ask("观影 电影票 片单")
    assert "(234)" not in asked.text
    assert "(123)|#123]]" in asked.text
    assert [p for p in Vault.load(films.vault).problems() if "the quote has no link" not in p] == []


def test_the_busy_lock_says_who_holds_it(films: Home) -> None:
    """Process, time and command of the holder, when it announced itself."""
    with writing(films.state, timeout_s=0, command="sync") as lock:
        lock.announce()
        with pytest.raises(StateBusy) as caught, writing(films.state, timeout_s=0, command="other"):
            pass
    assert caught.value.facts["command"] == "sync"
    assert int(caught.value.fact("pid")) > 0


def test_a_passage_finds_the_memos_that_are_close_to_it(films: Home) -> None:
    """``--from``: the text is the query, the question names the note."""
    asked = films.brain().ask("和这段有关的", passage="豆瓣片单备份：2025 年想看的十二部里，还有七部没看")
    assert asked.as_json["mode"] == "match"
    assert "123" in [source["memo_id"] for source in asked.as_json["sources"][:3]]


@pytest.mark.slow
def test_many_answers_over_many_memos_are_sound(server: CFlowServer, home: Home) -> None:
    """Thirty questions in three languages over 300 memos of every kind: not one bad link or false quotation."""
    server.memos += make_memos(300)
    home.brain().sync()
    words = [str(m["content"]) for m in server.memos]
    questions = [text.strip().split("\n")[0][:24] for text in words if len(text.strip()) > 6][::10][:30]
    for question in questions:
        home.brain().ask(question)
    vault = Vault.load(home.vault)
    assert vault.problems("CFlow/Answers") == []
    assert sum(len(vault.excerpts(n)) for n in vault.notes.values() if n.kind == "answer") > 60


# the pure parts


def test_every_wording_has_every_language_with_the_same_blanks() -> None:
    """A column that lacks a value would fail only in that language."""
    import string

    for name, column in _TABLE.items():
        assert len(column) == len(LANGUAGES)
        blanks = [{f for _, f, _, _ in string.Formatter().parse(text) if f} for text in column]
        assert blanks[0] == blanks[1] == blanks[2], name


@pytest.mark.model
def test_the_real_model_answers_across_languages(server: CFlowServer, home: Home) -> None:
    """With the bundled e5: an English question finds a Chinese memo that shares no word with it, and not the others."""
    from vaultbrain.index.embedding import open_embedder

    server.memos += [wire_memo(n, text) for n, text in FILMS.items()]
    server.memos += [
        wire_memo(n, text)
        for n, text in ((7, "睡前不看手机，十一点关灯，早上精神好多了"), (8, "服务器每天凌晨三点自动备份到移动硬盘"))
    ]
    e5 = open_embedder("e5")
    home.brain(e5).sync()
    asked = home.brain(e5).ask("what helps me fall asleep at night")
    assert asked.as_json["sources"][0]["memo_id"] == "7"
    assert "8" not in [s["memo_id"] for s in asked.as_json["sources"] if s["label"] == "强"]


def test_a_recording_model_is_asked_for_the_question_only(films: Home) -> None:
    """Asking embeds the question, never a memo again."""
    embedder = TinyEmbedder(dimension=64)
    films.brain(embedder).ask("观影")
    assert embedder.calls <= 1
    assert embedder.texts == []
