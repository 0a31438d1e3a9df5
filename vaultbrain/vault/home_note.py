"""The Home note: how much there is, how it is spread over months and tags, which answers are stale and which found little.

Pure but for the template it is given. Decides what stands in the note and how charts are drawn. The same state gives the same
bytes: nothing in it is counted from today. Refuses to let a tag, a question or a reason be anything but words, in Markdown and in
Mermaid.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from vaultbrain.vault.generated import words_in
from vaultbrain.vault.markdown import escape_display, fitting, neutralise, wikilink

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.vault.note import Value
    from vaultbrain.vault.templates import Templates

TEMPLATE = "home.md.j2"
PROPERTIES: Final[Mapping[str, Value]] = {"vb_kind": "home"}

#: Months of the chart, the last one being that of the newest memo.
MONTHS_SHOWN = 24
#: Slices of the chart of tags, besides that for all others.
TAGS_SHOWN = 8
#: Answers of one list: a longer one is for the base.
ANSWERS_SHOWN = 20
#: Columns of a tag's name in the chart's legend.
_TAG_WIDTH = 24
#: Columns of a question in a list.
_QUESTION_WIDTH = 120

_TAG = re.compile(r"(?<![^\s_])#(?=\S)")

_WORDS: Final[dict[str, tuple[str, str, str]]] = {
    "overview": ("概况", "概況", "Overview"),
    "months": ("每月的 memo", "每月的 memo", "Memos per month"),
    "tags": ("标签", "標籤", "Tags"),
    "stale": ("过时的回答", "過時的回答", "Stale answers"),
    "open": ("还没有答案的问题", "還沒有答案的問題", "Open questions"),
    "colon": ("：", "：", ": "),
    "memos": (
        "{memos} 条 memo，其中 {tagged} 条带标签",
        "{memos} 條 memo，其中 {tagged} 條帶標籤",
        "Memos: {memos}, with tags: {tagged}",
    ),
    "no_memos": ("还没有 memo", "還沒有 memo", "No memos yet"),
    "last": ("最近一条记于 {day}", "最近一條記於 {day}", "The newest is from {day}"),
    "answers": (
        "{answers} 个回答：{fresh} 个最新，{stale} 个过时",
        "{answers} 個回答：{fresh} 個最新，{stale} 個過時",
        "Answers: {answers}, up to date: {fresh}, stale: {stale}",
    ),
    "no_answers": ("还没有回答", "還沒有回答", "No answers yet"),
    "axis": ("条", "條", "memos"),
    "other": ("其他标签", "其他標籤", "other tags"),
    "changed": ("引用的 memo 有变动", "引用的 memo 有變動", "memos that it cites have changed"),
    "nothing": ("什么都没有找到", "什麼都沒有找到", "nothing was found"),
    "nothing_strong": (
        "没有直接相关的，只有 {count} 条沾边",
        "沒有直接相關的，只有 {count} 條沾邊",
        "nothing direct, loosely related: {count}",
    ),
    "more": ("另有 {count} 个", "另有 {count} 個", "and {count} more"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class HomeAnswer:
    """An answer note at ``path`` (with ``.md``). ``asked`` is local time without offset.

    ``reason`` says in plain words why it is stale. ``strong`` counts its strong sources and ``others`` all others.
    """

    path: str
    question: str
    asked: str
    is_stale: bool = False
    reason: str = ""
    strong: int = 0
    others: int = 0


@dataclass(frozen=True, slots=True)
class HomeState:
    """All that the note depends on. ``language`` is zh-Hans, zh-Hant or en; ``last_day`` the newest memo's date (``2026-11-30``).

    ``months`` are (``2026-11``, memos), months without any may be missing; ``tags`` are (tag, memos).
    """

    language: str
    memos: int
    tagged: int
    last_day: str
    months: tuple[tuple[str, int], ...]
    tags: tuple[tuple[str, int], ...]
    answers: tuple[HomeAnswer, ...]


def render_home(state: HomeState, templates: Templates) -> str:
    """The region of the Home note."""
    words = words_in(state.language, _WORDS)
    stale = [answer for answer in _newest_first(state.answers) if answer.is_stale]
    unanswered = [answer for answer in _newest_first(state.answers) if not answer.strong]
    values = {
        "words": words,
        "counts": _counts(state, words, len(stale)),
        "months": months_chart(state.months, words["axis"]),
        "tags": tags_chart(state.tags, words["other"]),
        "stale": [_listed(answer, answer.reason or words["changed"]) for answer in stale[:ANSWERS_SHOWN]],
        "open": [_listed(answer, _why_open(answer, words)) for answer in unanswered[:ANSWERS_SHOWN]],
        "stale_more": _more(stale, words),
        "open_more": _more(unanswered, words),
    }
    return templates.render(TEMPLATE, values)


def _newest_first(answers: Sequence[HomeAnswer]) -> list[HomeAnswer]:
    return sorted(sorted(answers, key=lambda answer: answer.path), key=lambda answer: answer.asked, reverse=True)


def _counts(state: HomeState, words: Mapping[str, str], stale: int) -> list[str]:
    memos = words["memos"].format(memos=state.memos, tagged=state.tagged) if state.memos else words["no_memos"]
    answers = len(state.answers)
    asked = words["answers"].format(answers=answers, fresh=answers - stale, stale=stale) if answers else words["no_answers"]
    return [memos, *([words["last"].format(day=state.last_day)] if state.last_day else []), asked]


def _listed(answer: HomeAnswer, reason: str) -> dict[str, str]:
    return {"link": wikilink(answer.path.removesuffix(".md"), None, _shortened(answer.question)), "reason": _plain(reason)}


def _shortened(question: str) -> str:
    """On one line, and of a whole passage as much as it is known by."""
    line = " ".join(question.split())
    end = fitting(line, _QUESTION_WIDTH)
    return line if end >= len(line) else f"{line[:end].rstrip()}…"


def _plain(text: str) -> str:
    """Words within a line: nothing in them is live, and no mark of theirs begins a block."""
    before = "x "
    line = neutralise(before + " ".join(text.split())).removeprefix(before)
    return _TAG.sub(r"\\#", line)


def _why_open(answer: HomeAnswer, words: Mapping[str, str]) -> str:
    return words["nothing_strong"].format(count=answer.others) if answer.others else words["nothing"]


def _more(answers: Sequence[HomeAnswer], words: Mapping[str, str]) -> str:
    left = len(answers) - ANSWERS_SHOWN
    return words["more"].format(count=left) if left > 0 else ""


def months_chart(months: Sequence[tuple[str, int]], axis: str) -> str:
    """A Mermaid bar chart of the last ``MONTHS_SHOWN`` months with every month between; empty when there are no memos.

    Lying bars leave room for the names of two years of months.
    """
    counts = {month: count for month, count in months if count > 0}
    if not counts:
        return ""
    last = max(counts)
    shown = [month for month in _months_up_to(last) if month >= min(counts)]
    top = max(counts.get(month, 0) for month in shown)
    labels = ", ".join(f'"{month}"' for month in shown)
    bars = ", ".join(str(counts.get(month, 0)) for month in shown)
    lines = ["xychart-beta horizontal", f"    x-axis [{labels}]", f'    y-axis "{axis}" 0 --> {top}', f"    bar [{bars}]"]
    return "\n".join(lines)


def _months_up_to(last: str) -> list[str]:
    year, month = (int(part) for part in last.split("-"))
    numbers = range(year * 12 + month - MONTHS_SHOWN, year * 12 + month)
    return [f"{number // 12:04}-{number % 12 + 1:02}" for number in numbers]


def tags_chart(tags: Sequence[tuple[str, int]], other: str) -> str:
    """A Mermaid pie of the most used tags and all others together; empty when there are none."""
    counts: dict[str, int] = {}
    for tag, count in sorted(tags, key=lambda item: (-item[1], item[0])):
        if count > 0:
            name = mermaid_label(tag)  # two tags that look alike would be one slice that counts only the first
            counts[name] = counts.get(name, 0) + count
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    slices = dict(ranked[:TAGS_SHOWN])
    rest = sum(count for _, count in ranked[TAGS_SHOWN:])
    if rest:
        slices[other] = slices.get(other, 0) + rest
    lines = [f'    "{name}" : {count}' for name, count in slices.items()]
    return "\n".join(["pie showData", *lines]) if lines else ""


def mermaid_label(text: str) -> str:
    """``text`` as it can stand between quotes in a Mermaid chart within a fence; full-width look-alikes stand for ASCII marks."""
    line = "".join(c for c in escape_display(text) if unicodedata.category(c)[0] not in "CZ" or c == " ").strip()
    line = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" and not (c.isalnum() or c in "-_/.") else c for c in line)
    end = fitting(line, _TAG_WIDTH)
    return (f"{line[:end].rstrip()}…" if end < len(line) else line) or "?"
