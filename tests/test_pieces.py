"""Memos in pieces: sentences and list items, verbatim in their block."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from obsidian import Note

from vaultbrain.answer.citing import cut_at_clause, inline, shown_line
from vaultbrain.answer.pieces import columns, pieces_of, sentences
from vaultbrain.vault.markdown import neutralise, split_blocks


def texts(block: str) -> list[str]:
    return [piece.text for piece in pieces_of("1", [("m1-1", block)], 0)]


@pytest.mark.parametrize(
    ("block", "pieces"),
    [
        ("周末把旧照片重新整理了一遍。下个月要换一块新硬盘！", ["周末把旧照片重新整理了一遍。", "下个月要换一块新硬盘！"]),
        ("《雾港灯塔》二刷。守塔人每晚把透镜擦三遍。", ["《雾港灯塔》二刷。守塔人每晚把透镜擦三遍。"]),
        ("提前还房贷还是应该拿去投资呢？算下来先还一部分。", ["提前还房贷还是应该拿去投资呢？算下来先还一部分。"]),
        ("It runs every night at three. See e.g. the second page of it.", None),
        (
            "- 片源 https://example.com/films?year=2025! 很全。字幕也准。",
            ["片源 https://example.com/films?year=2025! 很全。字幕也准。"],
        ),
        ("- [ ] 买胶片\n- [x] 还书", ["买胶片", "还书"]),
        ("> 引用的第一句话写在这里。\n> 引用的第二句话也写在这里。", ["引用的第一句话写在这里。", "引用的第二句话也写在这里。"]),
        ("#观影 #资源", []),
        ("#观影 今天看了两场电影 #周末", ["今天看了两场电影"]),
        ("最近在看的网站：", []),
        ("# 标题一行", []),
        ("```sh\ngit log\n```", []),
        ("| a | b |\n|---|---|\n| 一 | 二 |", []),
        ("- 先看\n  ```\n  git log\n  ```\n- 再改", ["先看", "再改"]),
    ],
)
def test_a_piece_is_a_sentence_or_an_item_that_says_something(block: str, pieces: list[str] | None) -> None:
    """A word or two go with what follows, a question with its answer; addresses are never cut; names alone are no pieces."""
    expected = pieces if pieces is not None else ["It runs every night at three.", "See e.g. the second page of it."]
    assert texts(block) == expected


@pytest.mark.parametrize(
    ("line", "pieces"),
    [
        ("每周五导出成一个文档再传回去。这个来回比任何一边单独用都好。", 1),
        ("软链接断了就是红色的，要小心。备份脚本里两者别混，写清楚。", 1),
        ("The old list is out of date by now. It still helps me to remember.", 1),
        ("先把窗户都关好再出门去。回来的路上买一盏新的台灯。", 2),
        ("导出" * 60 + "。这个来回比任何一边单独用都好，真的。", 2),
    ],
)
def test_a_sentence_that_leans_takes_the_one_before_it_along(line: str, pieces: int) -> None:
    """ "This" and "it" say nothing without what they mean; only when the two are too long together they part."""
    assert len(texts(line)) == pieces


@pytest.mark.parametrize(
    ("memo", "leads"),
    [
        ("不好用的：\n- 表格多的财报，数字会对错行，每次都要自己再核对一遍", ["不好用的："]),
        ("三岁最近反复要听的那几本故事书如下\n- 雨靴", ["", "三岁最近反复要听的那几本故事书如下"]),
        ("跑步记录\n5 km，膝盖外侧有点紧，鞋也旧了", ["跑步记录"]),
        ("今天整理了很久，收获不少。\n- 每条都写成一句完整的话，放到合适的位置去", ["", ""]),
        ("周末片单：\n\n```sh\nls\n```\n\n- 雨靴", [""]),
        ("跑步记录", [""]),
    ],
)
def test_a_list_item_or_a_line_below_a_name_knows_its_lead(memo: str, leads: list[str]) -> None:
    """The line above, with its own block; none where code stands between, or where the item says enough by itself."""
    blocks = [(f"m1-{number}", block.text) for number, block in enumerate(split_blocks(memo), 1)]
    found = pieces_of("1", blocks, 0)
    assert [piece.lead for piece in found] == leads
    assert all(piece.lead in dict(blocks)[piece.lead_anchor] for piece in found if piece.lead)


def test_a_piece_knows_its_block_its_date_and_its_box() -> None:
    """Memo, anchor and time come along, and whether a task is open."""
    first, second = pieces_of("7", [("m7-2", "- [ ] 买胶片\n- [x] 还书")], 99)
    assert (first.memo_id, first.anchor, first.created, first.task) == ("7", "m7-2", 99, " ")
    assert second.task == "x"


_BITS = [*"看电影。！？，；：a b.!?;:\n-#>[]()`*|$^%1「」", "https://a.cn/?b=1 ", "- [ ] ", "```\n", "[[x]]", "`c` "]
_MEMO = st.lists(st.sampled_from(_BITS), max_size=60).map("".join)


@given(_MEMO)
@settings(deadline=None, max_examples=300)
def test_every_piece_stands_word_for_word_in_its_block(memo: str) -> None:
    """Whatever a memo holds."""
    blocks = [(f"m1-{n}", block.text) for n, block in enumerate(split_blocks(neutralise(memo)))]
    by_anchor = dict(blocks)
    for piece in pieces_of("1", blocks, 0):
        assert piece.text
        assert "\n" not in piece.text
        assert piece.text in by_anchor[piece.anchor]


@given(_MEMO)
@settings(deadline=None, max_examples=200)
def test_sentences_lose_nothing_but_space(line: str) -> None:
    """Put together again they are the line."""
    line = " ".join(line.split())
    assert "".join("".join(sentences(line)).split()) == "".join(line.split())


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("短的不动。", 20, "短的不动。"),
        ("第一句到这里，第二句要长得多，放不下了", 30, "第一句到这里，第二句要长得多…"),
        ("one clause here, another clause that is much longer", 30, "one clause here…"),
        ("no clause in these many words at all", 20, "no clause in these…"),
        (
            "https://example.com/a/very/long/address/that/goes/on 很好",
            20,
            "https://example.com/a/very/long/address/that/goes/on…",
        ),
        ("先看这里的说明 https://example.com/a/long/address 再说", 40, "先看这里的说明…"),
    ],
)
def test_a_cut_falls_between_clauses_or_words(text: str, width: int, cut: str) -> None:
    """Never within a word or an address."""
    assert cut_at_clause(text, width) == cut


def test_columns_count_chinese_twice() -> None:
    """As a screen shows them."""
    assert columns("ab电影") == 6


@pytest.mark.parametrize(
    ("memo", "shown"),
    [
        ("# 标题 #观影 好看", r"标题 \#观影 好看"),
        ("1. `#a` https://a.cn/#b [c](https://a.cn/c)", "`#a` https://a.cn/#b [c](https://a.cn/c)"),
        ("- 一个 ` 两个 $ 三个 [", r"一个 \` 两个 \$ 三个 \["),
        ("第一行\n第二行", "第一行 第二行"),
    ],
)
def test_a_line_of_a_memo_is_inert(memo: str, shown: str) -> None:
    """No heading, list or tag of its own, and no mark that could pair up behind it; code, links and addresses stay."""
    assert inline(memo) == shown == shown_line(memo)


@given(_MEMO, _MEMO)
@settings(deadline=None, max_examples=300)
def test_two_lines_beside_each_other_leave_the_link_between_them_alone(one: str, other: str) -> None:
    """Whatever memos hold: the link between their words is still one for every reader of a note."""
    text = f"x {inline(one)} [[N#^m1-1|#1]] {inline(other)} x"
    assert links_in_note(text) == ["N"]


def links_in_note(text: str) -> list[str]:
    note = Note("a.md", text.encode())
    return [link.path for link in note.links if link.path]
