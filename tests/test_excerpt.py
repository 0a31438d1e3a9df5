"""What is shown of a memo: verbatim, short, whole sentences and items, and those that answer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from obsidian import as_read

from vaultbrain.retrieve.excerpt import MAX_CHARS, MAX_LINES, Wanted, best_excerpt, cut_excerpt
from vaultbrain.vault.markdown import neutralise, split_blocks

PIECES = (
    "片单", "观影", "备份。", "今天下雨，", "「雾港灯塔」", "（没有写完）", "「他说：“走吧。”」", "a word ", "It ends here. ",
    "Really? ", "e.g. this; ", "https://example.com/films?q=1,2&r=(x) ", "[a film](https://example.com/a_(b))", "[[灯塔]]",
    "`git log --oneline; ls`", "**很重要。真的**", "\n", "\n", "\n\n", "- ", "1. ", "> ", "  - ", "# ", "#观影 ",
    "| a | b |\n|---|---|\n| 片单 | z |\n", "```sh\nls -l\ngit revert\n```\n", "$$\nx\n$$\n", "👩‍👩‍👧", "👍🏽", "🇨🇳🇯🇵", "e\u0301",
    "❤️", "\\*", "“", "」", "(", "`", "*", "…", "——", "：", "第一段没有说到那个词，" * 9, "長" * 60, "x" * 90,
)  # fmt: skip
#: Beyond the limit an excerpt may go by what may not be cut.
LONGEST_PIECE = 100
TEXTS = st.lists(st.sampled_from(PIECES), min_size=1, max_size=40).map("".join)
WANTED = st.builds(
    Wanted,
    terms=st.lists(st.sampled_from(["片单", "观影", "word", "备份", "revert", "z"]), max_size=3),
    nearest=st.sampled_from(["", "今天下雨，没有写完", "It ends here."]),
    addresses=st.booleans(),
    weights=st.just({"片单": 0.9, "word": 0.2}),
)


def shown_of(text: str, wanted: Wanted) -> list[tuple[str, str, list[str]]]:
    """Kind and text of each block as the note has it, with the lines that are shown of it."""
    return [(b.kind, b.text, cut_excerpt(b.text, wanted).split("\n")) for b in split_blocks(neutralise(text))]


# what always holds


@settings(deadline=None, max_examples=300)
@given(TEXTS, WANTED)
def test_every_line_stands_in_the_block_word_for_word(text: str, wanted: Wanted) -> None:
    """As it reads, but for the ellipsis where a sentence was cut; whatever the memo holds."""
    for _, block, lines in shown_of(text, wanted):
        for line in lines:
            assert as_read(line).removesuffix("…").strip() in as_read(block)


@settings(deadline=None, max_examples=200)
@given(TEXTS, WANTED)
def test_an_excerpt_is_short(text: str, wanted: Wanted) -> None:
    """A few lines and 220 characters, escapes apart; only an address, a link or a code span may reach beyond."""
    for kind, _, lines in shown_of(text, wanted):
        if kind not in ("fence", "table", "math"):
            assert len(lines) <= MAX_LINES
            assert len(as_read("".join(lines))) <= MAX_CHARS + LONGEST_PIECE
        elif kind != "math":
            assert len(lines) <= MAX_LINES + 2


@settings(deadline=None, max_examples=200)
@given(TEXTS, WANTED)
def test_an_excerpt_is_sound_markdown(text: str, wanted: Wanted) -> None:
    """Nothing in it is left open or live: to make it harmless changes nothing."""
    for _, _, lines in shown_of(text, wanted):
        assert neutralise("\n".join(lines)) == "\n".join(lines)


WHOLE = ("👩‍👩‍👧‍👦", "👍🏽", "🇨🇳", "❤️", "e\u0301\u0302", "https://example.com/a,b;c?d=e!f&g=(h)", "[a film, no](https://example.com/x_(y))",
         "`git log --oneline; ls`", "「别剪，就这样。」", "（一、二、三）", "**真的。很重要**", "immediately")  # fmt: skip


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, len(WHOLE) - 1),
    st.integers(MAX_CHARS - 45, MAX_CHARS + 5),
    st.sampled_from(["中", "，", "a ", "中。", "中，"]),
)
def test_what_belongs_together_is_never_cut(number: int, before: int, filler: str) -> None:
    """An emoji, an accent, a word, an address, a link, code, bold print or a short quotation is there whole or not at all."""
    whole = WHOLE[number]
    block = ((filler * before)[:before] + whole) * 3
    for line in cut_excerpt(block, Wanted(["中"])).split("\n"):
        rest = line.removesuffix("…").replace(whole, "")
        assert set(rest) <= set(filler)


# which lines


@pytest.mark.parametrize(
    ("block", "terms", "excerpt"),
    [
        ("- 租房\n- 买菜\n- 片单 https://example.com\n- 别的", ["片单"], "- 片单 https://example.com"),
        ("- 租房\n- 片单\n- 别的", ["片单"], "- 租房\n- 片单\n- 别的"),
        ("- 家里\n  - 片单放在抽屉里，不要再到处找了\n- 别的", ["片单"], "- 家里\n  - 片单放在抽屉里，不要再到处找了"),
        ("```sh\nls\ngit revert HEAD\n```", ["revert"], "```sh\nls\ngit revert HEAD\n```"),
        ("| a | b |\n|---|---|\n| x | y |\n| 片单 | z |", ["片单"], "| a | b |\n|---|---|\n| 片单 | z |"),
        ("| a | b |\n|---|---|\n| x | y |\n| 片单 | z |\n#资源", ["电影"], "| a | b |\n|---|---|\n| x | y |\n| 片单 | z |"),
        ("一句话 #观影\n#观影 #资源", ["观影"], "一句话 #观影"),
        ("#观影 #资源", ["观影"], "#观影 #资源"),
    ],
)
def test_the_lines_that_answer_are_shown(block: str, terms: list[str], excerpt: str) -> None:
    """Items with the words (few of them with those around), code in its fence, rows with the head, tags only when alone."""
    assert cut_excerpt(block, Wanted(terms)) == excerpt


def test_the_sentence_with_the_words_is_shown_whole_and_not_the_head() -> None:
    """From the sentence with the word on, as many as have room, each whole; no ellipsis, since none was cut."""
    block = "".join(f"第{n}句什么也没说。" for n in range(60)) + "这里才说到片单。" + "后面的话。" * 60
    excerpt = cut_excerpt(block, Wanted(["片单"]))
    assert excerpt.startswith("这里才说到片单。后面的话。")
    assert excerpt.endswith("。")
    assert MAX_CHARS - 10 < len(excerpt) <= MAX_CHARS
    assert excerpt in block


def test_a_rare_word_weighs_more_than_common_ones() -> None:
    """Two common words far from the rare one do not win the place."""
    block = "今天的时间安排。" + "别的事情说了很久很久。" * 30 + "透镜要擦三遍。" + "还有一些话没有说完。" * 30
    wanted = Wanted(["今天", "时间", "透镜"], weights={"今天": 0.2, "时间": 0.3})
    assert cut_excerpt(block, wanted).startswith("透镜要擦三遍。")
    assert cut_excerpt(block, Wanted(["今天", "时间", "透镜"])).startswith("今天的时间安排。")


def test_where_no_word_was_met_the_nearest_chunk_decides() -> None:
    """Meaning found the memo, so the excerpt is what it found."""
    block = "开头的闲话说了一些。" * 30 + "夜里冰箱像一只打呼的猫。" + "结尾的闲话又说了一些。" * 30
    assert "打呼的猫" in cut_excerpt(block, Wanted(["噪音"], nearest="夜里冰箱像一只打呼的猫。"))
    assert "打呼的猫" not in cut_excerpt(block, Wanted(["噪音"]))


def test_a_sentence_that_is_too_long_is_shown_by_its_clauses() -> None:
    """It begins with the clause that has the word and ends at the end of one, with an ellipsis."""
    block = "没有说到那个词，" * 60 + "片单在这里，" + "后面还有别的话，" * 60 + "完。"
    excerpt = cut_excerpt(block, Wanted(["片单"]))
    assert excerpt.startswith("片单在这里，后面还有别的话，")
    assert excerpt.endswith("后面还有别的话…")


def test_only_the_best_line_is_cut_within_a_sentence() -> None:
    """A second line is shown by whole sentences, or not at all: half of one more thought helps nobody."""
    best = "片单和观影都在这里。" + "别的话又说了一些。" * 15
    wanted = Wanted(["片单", "观影"])
    assert cut_excerpt(f"{best}\n片单，" + "没有说完的话，" * 30, wanted) == best
    assert cut_excerpt(f"{best}\n片单在后面。" + "没有说完的话，" * 30, wanted) == f"{best}\n片单在后面。"


def test_where_addresses_are_wanted_a_list_gives_its_links() -> None:
    """The one with the word and the others, up to the limit; what is no link stays out."""
    block = (
        "- 先看这个再说吧，别忘了\n"
        + "\n".join(f"- 网站{n} https://example.com/{n}" for n in range(6))
        + "\n- 片单 https://example.com/list"
    )
    lines = cut_excerpt(block, Wanted(["片单"], addresses=True)).split("\n")
    assert len(lines) == MAX_LINES
    assert lines[-1] == "- 片单 https://example.com/list"
    assert all("https://" in line for line in lines)


def test_an_address_comes_with_the_line_that_says_what_it_is() -> None:
    """A bare address alone says nothing."""
    block = "随手记\n豆瓣的片单在这里\nhttps://example.com/douban\n另一个\nhttps://example.com/other\n没有别的了"
    lines = cut_excerpt(block, Wanted(["douban"], addresses=True)).split("\n")
    assert lines[:2] == ["豆瓣的片单在这里", "https://example.com/douban"]


# which block


def shown(content: str, *terms: str, nearest: str = "") -> str:
    anchors = [(n, block.text) for n, block in enumerate(split_blocks(neutralise(content)), 1)]
    linked = best_excerpt("7", anchors, content, Wanted(terms, nearest))
    assert linked.text == best_excerpt("7", (), content, Wanted(terms, nearest)).text
    return linked.text


@pytest.mark.parametrize(
    "content",
    [
        "#AI/提示词 会议纪要的提示词\n> 你是会议秘书。只写决定。",
        "提示词：\n\n> 你是会议秘书。只写决定。",
        "# 提示词\n\n> 你是会议秘书。只写决定。",
        "常用的提示词\n- 你是会议秘书。只写决定。",
        "提示词的格式：\n```\n你是会议秘书。只写决定。\n```",
    ],
)
def test_an_introduction_leaves_its_words_to_what_it_introduces(content: str) -> None:
    """A heading or a short line before a list, a quotation or code names the subject; the content is shown."""
    assert "你是会议秘书。只写决定。" in shown(f"另一件事在 https://example.com/a 上。\n\n{content}", "提示词")


def test_a_list_that_was_introduced_is_shown_from_its_items() -> None:
    """All of the list answers, not only the item that repeats the word."""
    assert shown("周末片单：\n- 末班缆车\n- 盐的女儿\n- 又一份片单", "片单") == "- 末班缆车\n- 盐的女儿\n- 又一份片单"


def test_a_title_is_no_answer() -> None:
    """Of a long memo the paragraph that the meaning found is shown, though the title has the word."""
    content = "一个月的自动化复盘\n\n先说跑得好的，晨报没有要我管。\n\n跑得不好的是回邮件。"
    assert shown(content, "自动化", nearest="先说跑得好的，晨报没有要我管。") == "先说跑得好的，晨报没有要我管。"


def test_a_tag_at_the_end_is_not_the_last_blocks_word() -> None:
    """It belongs to the whole memo."""
    assert shown("防水袋在 https://example.com/a 买。\n\n现金要带一千。\n#旅行/海岛", "海岛").startswith("防水袋")


@pytest.mark.parametrize("content", ["", "   ", "---"])
def test_a_memo_without_words_has_no_excerpt(content: str) -> None:
    """And is no error."""
    assert best_excerpt("7", (), content, Wanted(["观影"])).text == ""
