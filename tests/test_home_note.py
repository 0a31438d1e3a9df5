"""The Home note: counts, charts and lists that say the same for the same state, whatever words are in them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from obsidian import Note, anchor_problems, live_text_problems, region_problems

from vaultbrain.vault.home_note import (
    ANSWERS_SHOWN,
    MONTHS_SHOWN,
    TAGS_SHOWN,
    HomeAnswer,
    HomeState,
    mermaid_label,
    months_chart,
    render_home,
    tags_chart,
)
from vaultbrain.vault.note import new_note
from vaultbrain.vault.templates import Templates

NONE = Path("/nonexistent")
EMPTY = HomeState("en", 0, 0, "", (), (), ())
FULL = HomeState(
    language="zh-Hans",
    memos=2812,
    tagged=1900,
    last_day="2026-11-30",
    months=(("2026-09", 3), ("2026-11", 12)),
    tags=(("跑步", 7), ("观影", 40)),
    answers=(
        HomeAnswer("CFlow/Answers/a.md", "观影有什么？", "2026-11-28T10:00:00", strong=2, others=1),
        HomeAnswer("CFlow/Answers/b.md", "怎么备份", "2026-11-29T10:00:00", is_stale=True, reason="memo 456 改过", strong=1),
        HomeAnswer("CFlow/Answers/c.md", "睡眠", "2026-11-30T10:00:00", others=3),
        HomeAnswer("CFlow/Answers/d.md", "潜水", "2026-11-30T10:00:00"),
    ),
)

#: The part of Mermaid's grammar for bar charts and pies that is used here; its parsers accept all of this.
XYCHART = re.compile(
    r'xychart-beta horizontal\n    x-axis \["\d{4}-\d\d"(?:, "\d{4}-\d\d")*\]\n'
    r'    y-axis "[^"\n]+" 0 --> [1-9]\d*\n    bar \[\d+(?:, \d+)*\]'
)
PIE = re.compile(r'pie showData(?:\n    "[^"\n;#%&<>{}\\`:]+" : [1-9]\d*)+')


def render(state: HomeState) -> str:
    return render_home(state, Templates(NONE))


def test_the_note_as_a_whole() -> None:
    """As its owner reads it."""
    assert (
        render(FULL)
        == """## 概况

- 2812 条 memo，其中 1900 条带标签
- 最近一条记于 2026-11-30
- 4 个回答：3 个最新，1 个过时

## 每月的 memo

```mermaid
xychart-beta horizontal
    x-axis ["2026-09", "2026-10", "2026-11"]
    y-axis "条" 0 --> 12
    bar [3, 0, 12]
```

## 标签

```mermaid
pie showData
    "观影" : 40
    "跑步" : 7
```

## 过时的回答

- [[CFlow/Answers/b|怎么备份]]：memo 456 改过

## 还没有答案的问题

- [[CFlow/Answers/c|睡眠]]：没有直接相关的，只有 3 条沾边
- [[CFlow/Answers/d|潜水]]：什么都没有找到"""
    )


def test_each_language_has_all_words() -> None:
    """Nothing of another language is left in, and no placeholder."""
    hans, hant, en = (render(replace(FULL, language=language)) for language in ("zh-Hans", "zh-Hant", "en"))
    assert "過時的回答" in hant
    assert "过时" not in hant
    assert "Open questions" in en
    assert [line for line in en.split("\n") if re.search(r"[\u4e00-\u9fff]", line)] == [
        '    "观影" : 40',
        '    "跑步" : 7',
        "- [[CFlow/Answers/b|怎么备份]]: memo 456 改过",
        "- [[CFlow/Answers/c|睡眠]]: nothing direct, loosely related: 3",
        "- [[CFlow/Answers/d|潜水]]: nothing was found",
    ]
    assert "{" not in hans + hant + en


@pytest.mark.parametrize("language", ["zh-Hans", "zh-Hant", "en"])
def test_an_empty_vault_has_a_note_without_charts(language: str) -> None:
    """Not even headings of what is not there."""
    text = render(replace(EMPTY, language=language))
    assert re.fullmatch(r"## .+\n\n- .+\n- .+", text)


def test_the_order_of_what_comes_in_does_not_matter() -> None:
    """The same state, the same bytes."""
    turned = replace(FULL, months=FULL.months[::-1], tags=FULL.tags[::-1], answers=FULL.answers[::-1])
    assert render(turned) == render(FULL)


def test_the_months_end_with_that_of_the_newest_memo() -> None:
    """Every month between is there, over the turn of the year; those before the first memo and the oldest are not."""
    chart = months_chart([("2026-02", 1), ("2025-11", 5)], "x")
    assert XYCHART.fullmatch(chart)
    assert '["2025-11", "2025-12", "2026-01", "2026-02"]' in chart
    assert "bar [5, 0, 0, 1]" in chart
    long = months_chart([(f"{year}-{month:02}", year) for year in range(2020, 2027) for month in range(1, 13)], "x")
    labels = re.findall(r'"(\d{4}-\d\d)"', long)
    assert (labels[0], labels[-1], len(labels)) == ("2025-01", "2026-12", MONTHS_SHOWN)
    assert months_chart([("2026-01", 0)], "x") == ""


def test_the_tags_are_the_most_used_and_all_others_together() -> None:
    """Counts add up; tags that look alike are one slice, since a second one of that name would be lost."""
    tags = [(f"t{n:02}", n) for n in range(1, 13)] + [("a:b", 100), ("a：b", 10), ("none", 0)]
    chart = tags_chart(tags, "other")
    assert PIE.fullmatch(chart)
    lines = chart.split("\n")[1:]
    assert len(lines) == TAGS_SHOWN + 1
    assert lines[0] == '    "a：b" : 110'
    assert sum(int(line.rpartition(" ")[2]) for line in lines) == sum(count for _, count in tags)
    assert lines[-1].startswith('    "other" : ')
    assert tags_chart([("x", 0)], "other") == ""
    assert tags_chart([("other", 9), *((str(n), 1) for n in range(100, 110))], "other").count('"other"') == 1


def test_long_lists_say_how_many_are_left() -> None:
    """Newest first."""
    answers = tuple(
        HomeAnswer(f"A/{n:03}.md", f"q{n}", f"2026-01-01T00:00:{n:02}", is_stale=True) for n in range(ANSWERS_SHOWN + 5)
    )
    text = render(replace(EMPTY, answers=answers))
    lines = text.split("## Stale answers\n\n")[1].split("\n\n")[0].split("\n")
    assert len(lines) == ANSWERS_SHOWN + 1
    assert lines[0] == "- [[A/024|q24]]: memos that it cites have changed"
    assert lines[-1] == "- and 5 more"


NASTY = st.text(
    alphabet=st.sampled_from("ab \"'`#;%{}<>&\\\n\t[]()|$~^*=@!:-_/.观影，\u200b\u202e\u3000\u2028\ue000😀"), max_size=30
)


@settings(deadline=None)
@given(st.lists(st.tuples(NASTY, st.integers(0, 99)), max_size=14))
def test_any_tag_makes_a_chart_that_parses(tags: list[tuple[str, int]]) -> None:
    """Quotes, comments, entities, directives, line ends: all are letters of the label."""
    chart = tags_chart(tags, "other")
    assert not chart or PIE.fullmatch(chart)
    names = re.findall(r'"(.*)"', chart)
    assert len(names) == len(set(names))


@settings(deadline=None)
@given(st.text(max_size=60))
def test_a_label_is_short_and_never_empty(text: str) -> None:
    """Of any characters at all."""
    label = mermaid_label(text)
    assert 0 < len(label) <= 25
    assert not re.search(r'["\n\r;#%&<>{}\\`:\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]', label)


@settings(deadline=None, max_examples=100)
@given(NASTY, NASTY)
def test_questions_and_reasons_are_words(question: str, reason: str) -> None:
    """One line each, with one link; nothing of theirs runs, hides, tags, links, quotes or ends our region."""
    answer = HomeAnswer("A/x.md", question, "2026-11-30T10:00:00", is_stale=True, reason=reason, strong=1)
    region = render(replace(EMPTY, answers=(answer,)))
    note = Note("Home.md", new_note({"vb_kind": "recall"}, region).encode())  # the kind that the checker reads most strictly
    assert [*region_problems(note), *anchor_problems(note), *live_text_problems(note, allow_links=True)] == []
    assert [link.path for link in note.links] == ["A/x"]
    lines = region.split("\n")
    stale = lines[lines.index("## Stale answers") + 1 :]
    assert len(stale) == 2
    assert not re.search(r"(?<![^\s_])#\S", stale[1].partition("]]")[2])


def test_a_passage_is_shortened_in_a_list() -> None:
    """One line of the question that was one; the link leads to the note all the same."""
    answer = HomeAnswer("CFlow/Answers/a.md", "家里的照片还没有备份。\n\n" * 30, "2026-11-28T10:00:00")
    (line,) = [line for line in render(replace(EMPTY, answers=(answer,))).split("\n") if "[[CFlow/Answers/a|" in line]
    assert "…]]" in line
    assert len(line) < 200
