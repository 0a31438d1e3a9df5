"""What a memo is about in its own words: headline, summary and source."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vaultbrain.gist.summary import (
    MAX_CJK_CHARS,
    MAX_LATIN_CHARS,
    external_link,
    headline_of,
    host_of,
    is_from,
    original_link,
    summary_of,
)
from vaultbrain.memo import Memo

TEXTS = st.text(alphabet="备份先再试。，：！? .:,#*`>[]()|-1a 中\n「」https://x.org/", max_size=300)


def memo(content: str, url: str = "http://memos.test/m/7") -> Memo:
    return Memo(id="7", content=content, created=0, updated=0, visibility="PRIVATE", url=url)


@pytest.mark.parametrize(
    ("content", "headline", "summary"),
    [
        ("# 迁移计划\n先停写，再拷贝，最后核对校验值。", "迁移计划", "先停写，再拷贝，最后核对校验值。"),
        ("泡茶的水温：绿茶八十度，乌龙九十五度，别用滚水。", "泡茶的水温", "绿茶八十度，乌龙九十五度，别用滚水。"),
        ("買菜的順序：根莖、葉菜、豆腐。冷凍的最後拿。", "買菜的順序", "根莖、葉菜、豆腐。冷凍的最後拿。"),
        (
            "Sharpen at fifteen degrees. Count the strokes and stop early.",
            "Sharpen at fifteen degrees",
            "Count the strokes and stop early.",
        ),
        ("#工具 **备忘**\n- 扳手\n- 卷尺\n- 水平仪一把", "备忘", "扳手；卷尺；水平仪一把"),
        ("装修报价\n大家好！\n关键是先量尺寸再谈价格。", "装修报价", "关键是先量尺寸再谈价格。"),
        ("换电池\n见 https://example.org/battery\n先断电，再拆螺丝。", "换电池", "先断电，再拆螺丝。"),
        ("| 型号 | 价格 |\n|---|---|\n| 甲 | 三百 |\n| 乙 | 五百 |", "型号 · 价格", "甲 · 三百；乙 · 五百"),
    ],
)
def test_headline_and_summary(content: str, headline: str, summary: str) -> None:
    """The headline names the memo; the summary goes on from it, without marks, tags, greetings and addresses."""
    assert (headline_of(content), summary_of(content)) == (headline, summary)


@pytest.mark.parametrize("content", ["", "#标签 #另一个", "https://example.org/a", "薄荷", "```\ncode\n```", "只有一句话"])
def test_without_a_second_thing_to_say_there_is_no_summary(content: str) -> None:
    """A memo that says nothing beyond its headline has no summary."""
    assert summary_of(content) == ""


def test_the_title_is_not_said_again() -> None:
    """A title given from elsewhere is left out of the summary like the memo's own."""
    content = "周末去爬山。\n路线从北门进，南门出，全程四小时。"
    assert summary_of(content, "周末去爬山。") == "路线从北门进，南门出，全程四小时。"
    assert summary_of(content, "路线从北门进，南门出，全程四小时") != "路线从北门进，南门出，全程四小时。"


def test_a_long_memo_is_summed_up_by_the_sentence_that_was_sought() -> None:
    """Words of the query choose the sentence of a memo that is about several things."""
    content = (
        "三月流水\n\n"
        + "\n\n".join(f"第{n}天没有什么特别的事情发生。" for n in "一二三四五六七八九")
        + "\n\n阳台漏水要先找到裂缝再补。"
    )
    assert summary_of(content, about=("漏水",)) == "阳台漏水要先找到裂缝再补。"
    assert "漏水" not in summary_of(content)


def test_a_long_sentence_ends_at_a_clause() -> None:
    """What is longer than the room ends at a clause with an ellipsis, in either script."""
    chinese = summary_of("题目\n" + "前面的步骤都做完以后再检查，" * 20)
    english = summary_of("Title\n" + "and then the next part follows, " * 20)
    assert chinese.endswith("检查…")
    assert len(chinese) <= MAX_CJK_CHARS
    assert english.endswith("follows…")
    assert len(english) <= MAX_LATIN_CHARS


@pytest.mark.parametrize(
    ("content", "summary"),
    [
        (
            "片单\n片单来源 https://www.example.org/a?b=1 和 https://example.net/c，后一个按年份排",
            "片单来源 example.org 和 example.net，后一个按年份排",
        ),
        ("面包\n完整的步骤和照片（https://example.org/b）都在那里。", "完整的步骤和照片（example.org）都在那里。"),
        (
            "Bread\nThe recipe from https://me:secret@example.org:80/x, halved in summer.",
            "The recipe from example.org, halved in summer.",
        ),
        ("Bread\nAll of the recipes are on [this page](https://example.org/x).", "All of the recipes are on this page."),
    ],
)
def test_of_an_address_the_host_is_left(content: str, summary: str) -> None:
    """A sentence has no hole where an address stood, and says neither path nor password."""
    assert summary_of(content) == summary


def test_the_passage_of_a_summary() -> None:
    """A summary is known again in the passage that it was taken from, marks and addresses or not, and in no other."""
    passage = "- **先断电**，见 https://example.org/x，再拆螺丝\n- 装回去之前擦干净触点"
    summary = summary_of(f"换电池\n\n{passage}\n\n旧电池要送去回收点。")
    assert is_from(summary, passage)
    assert not is_from(summary, "旧电池要送去回收点。")


def test_quotation_marks_stay_together() -> None:
    """A headline does not end within a quotation, and a sentence does not either."""
    assert headline_of("他说「先等等，别急着动手」然后就走了，再也没有回来过这里。") == "他说「先等等，别急着动手」然后就走了"


@settings(deadline=None)
@given(TEXTS)
def test_a_summary_is_verbatim_bounded_and_stable(content: str) -> None:
    """Every letter of a summary stands in the memo in that order; it has one line, no address, and repeats."""
    summary = summary_of(content)
    rest = iter(content)
    assert all(letter in rest for letter in summary if letter.isalnum())
    assert len(summary) <= MAX_LATIN_CHARS
    assert "\n" not in summary
    assert "https://" not in summary
    assert summary == summary_of(content)


@pytest.mark.parametrize(
    ("content", "link"),
    [
        ("方子在 https://example.com/bread，夏天减半。", "https://example.com/bread"),
        ("[读书](https://example.org/a_(b)) 和 https://example.net/", "https://example.org/a_(b)"),
        ("(see https://example.org/x).", "https://example.org/x"),
        ("![图](https://example.org/p.png)", ""),
        ("代理到 `http://example.org:3000` 即可", ""),
        ("本机 http://127.0.0.1:3000/a 和 http://nas.local/ 和 http://10.0.0.2/", ""),
        ("另一条 http://memos.test/m/12", ""),
        ("坏的 http://[::1/ 地址", ""),
    ],
)
def test_external_link(content: str, link: str) -> None:
    """The source is the first address that leads away from the server and the house; pictures and code are none."""
    assert external_link(memo(content)) == link
    assert original_link(memo(content)) == (link or "http://memos.test/m/7")


def test_hosts() -> None:
    """A host is named as people know it, and only that of a web address."""
    assert host_of("https://www.Example.org:8443/x") == "example.org"
    assert host_of("https://someone:secret@example.org/") == "example.org"
    assert host_of("javascript:alert(1)") == ""
    assert host_of("http://[broken") == ""
