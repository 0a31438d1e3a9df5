"""The recall note: what stands in it, that memo text stays harmless in it, and how ticks are read back."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from tests.obsidian import Vault
from vaultbrain.gist.gist import gist_of
from vaultbrain.memo import Memo
from vaultbrain.recall.judge import Candidate, Situation, asked_kinds, judge
from vaultbrain.recall.note import (
    DISMISSED,
    USEFUL,
    Mention,
    inline,
    markdown_link,
    mention_of,
    read_ticks,
    recall_properties,
    recall_region,
    ticked_like,
    usefulness,
    with_ticks,
)
from vaultbrain.vault.markdown import anchor_id
from vaultbrain.vault.note import Date, new_note, read_properties, read_region, update_note

if TYPE_CHECKING:
    from pathlib import Path

MENTION = Mention(
    memo_id="789",
    title="AEO 流量蓝图",
    summary="从传统 SEO 转向 AEO，让 AI 搜索更容易引用你的品牌。",
    relevance="你正在考虑 AI SEO 怎么定，这条里有实际试过的结果。",
    link="http://cflow.example/m/789",
    link_name="CFlow",
    note="CFlow/Memos/AEO 流量蓝图 (789).md",
    anchor="m789-2",
)
OTHER = replace(MENTION, memo_id="12", title="另一条", note="CFlow/Memos/另一条 (12).md", anchor="m12-1")

REGION = """\
> [!tip]+ 你之前记过一条相关的
> **[[CFlow/Memos/AEO 流量蓝图 (789)#^m789-2|AEO 流量蓝图]]**：从传统 SEO 转向 AEO，让 AI 搜索更容易引用你的品牌。
> 为什么相关：你正在考虑 AI SEO 怎么定，这条里有实际试过的结果。
> 原文：[CFlow](http://cflow.example/m/789)
> - [ ] 有用
> - [ ] 不要再提这条"""


def test_a_mention_as_it_stands_in_the_note() -> None:
    """One callout: title linked to the block, summary, why, source, two boxes."""
    assert recall_region([MENTION], "zh-Hans") == REGION


def test_two_mentions_are_two_callouts() -> None:
    """Each mention has a callout and boxes of its own, in every language."""
    region = recall_region([MENTION, replace(OTHER, ticked=USEFUL)], "en")
    assert region.count("> [!tip]+") == 2
    assert region.count("\n\n") == 1
    assert region.endswith("> - [x] Useful\n> - [ ] Do not bring this up again")
    assert recall_region([], "en") == ""


def test_a_mention_says_where_it_comes_from() -> None:
    """The link is named after its host when it leads away, and after CFlow when it is the memo's own."""
    content = "腌萝卜的步骤：先切块，再加盐，最后压住三天。"
    own = mention(content)
    away = mention(f"{content} 见 https://www.example.org/pickles")
    assert (own.link, own.link_name) == ("http://memos.test/m/7", "CFlow")
    assert (away.link, away.link_name) == ("https://www.example.org/pickles", "example.org")
    assert own.relevance == "你正在找腌萝卜的做法，这条里有步骤和几个要点。"
    assert (own.title, own.summary) == ("腌萝卜的步骤", "先切块，再加盐，最后压住三天。")


def mention(content: str, text: str = "腌萝卜怎么做", language: str = "zh-Hans") -> Mention:
    memo = Memo(id="7", content=content, created=0, updated=0, visibility="PRIVATE", url="http://memos.test/m/7")
    found = judge(
        [Candidate(memo, gist_of(memo), "强", 0.6, 0.5, "Memos/7.md", "m7-1")], Situation(text, corpus_size=50, query=("腌萝卜",))
    )
    return mention_of(found[0], asked_kinds(text), language)


@pytest.mark.parametrize(
    ("text", "language", "sentence"),
    [
        ("比較兩種醃蘿蔔", "zh-Hant", "你正在寫和腌萝卜有關的內容，這條裡有步驟和幾個要點。"),
        ("比較兩種醃蘿蔔的做法", "zh-Hant", "你正在找腌萝卜的做法，這條裡有步驟和幾個要點。"),
        ("Examples of pickles?", "en", "You are looking for examples of 腌萝卜; this memo has concrete numbers and the steps."),
        ("今天写腌萝卜", "zh-Hans", "你正在写和腌萝卜有关的内容，这条里有步骤和几个要点。"),
    ],
)
def test_why_it_is_relevant_is_concrete(text: str, language: str, sentence: str) -> None:
    """The sentence names what the person does, the subject, and first what helps most with it."""
    assert mention("腌萝卜的步骤：先切块，再加盐，最后压住 3 天。", text, language).relevance == sentence


def test_two_things_are_compared() -> None:
    """Of a comparison speaks only who can name what is compared."""
    memo = Memo(
        id="7", content="电磁炉和燃气灶：烧一升水，前者 4 分钟，后者 6 分钟。", created=0, updated=0, visibility="PRIVATE", url=""
    )
    text = "电磁炉和燃气灶哪个好"
    found = judge([Candidate(memo, gist_of(memo), "强", 0.6, 0.5)], Situation(text, corpus_size=50, query=("电磁炉", "燃气灶")))
    assert mention_of(found[0], asked_kinds(text), "zh-Hans").relevance.startswith("你正在比较电磁炉和燃气灶，")


# the whole note


def written(mentions: list[Mention], language: str = "zh-Hans") -> str:
    properties = recall_properties("日记/2026-11-30.md", "2026-11-30T15:20:11", ["AI", "SEO", "决策"])
    return new_note(properties, recall_region(mentions, language))


def test_properties() -> None:
    """The properties are those of a recall note; vb_useful is there only once something is ticked."""
    properties = recall_properties("日记/2026-11-30.md", "2026-11-30T15:20:11", ["AI", "SEO", "决策"])
    assert properties == {
        "vb_kind": "recall",
        "vb_for": "[[日记/2026-11-30]]",
        "vb_created": Date("2026-11-30T15:20:11"),
        "vb_query": "AI SEO 决策",
        "tags": ["vaultbrain/recall"],
    }
    assert recall_properties("a.md", "2026-11-30T15:20:11", [], useful=False)["vb_useful"] is False
    assert recall_properties("C# notes.md", "2026-11-30T15:20:11", [])["vb_for"] == "C# notes.md"
    assert read_properties(written([MENTION]))["vb_for"] == "[[日记/2026-11-30]]"


def vault_with(tmp_path: Path, note: str) -> Vault:
    """A vault that holds the two memos, the note being written and the recall note."""
    memo = new_note({"vb_kind": "memo"}, "一\n\n二 ^{}")
    files = {
        MENTION.note: memo.format(MENTION.anchor),
        OTHER.note: memo.format(OTHER.anchor),
        "日记/2026-11-30.md": "今天\n",
        "CFlow/Recall/2026-11-30.md": note,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return Vault.load(tmp_path)


def test_obsidian_reads_the_note(tmp_path: Path) -> None:
    """Links lead to blocks that are there, and nothing in the note is out of order."""
    vault = vault_with(tmp_path, written([MENTION, OTHER]))
    assert vault.problems("CFlow/Recall") == []
    links = [str(link) for link in vault.notes["CFlow/Recall/2026-11-30.md"].links if link.line is not None]
    assert links == [f"[[{m.note.removesuffix('.md')}#^{m.anchor}]]" for m in (MENTION, OTHER)]


HOSTILE = [
    "]] [[家]] ![[图]]",
    "a|b\\|c",
    "%% vaultbrain:end %%",
    "%%隐藏",
    "<script>alert(1)</script> <%* tp %> &lt;%",
    "`= dv` $=x$ $$y$$ {{x}}",
    "key:: value [k:: v] (k:: v)",
    "末尾 ^m1-1",
    "**粗 __体__ ==亮== ~~删~~ *",
    "#标签 [x](javascript:alert) <b",
    "一行\n> - [x] 有用\n\n---\n# 二行",
    "\u202e反\u2028行\x00",
    "- [x] 有用",
    "[!tip] ```js",
    "\\",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_memo_text_stays_in_its_line(tmp_path: Path, text: str) -> None:
    """Whatever a memo says, the note has the same links, the same callout and the same boxes as without it."""
    hostile = replace(MENTION, title=text, summary=text, relevance=text, link_name=text)
    check_harmless(tmp_path, hostile)
    check_harmless(tmp_path, replace(hostile, anchor=""))


def check_harmless(tmp_path: Path, hostile: Mention) -> None:
    note = written([hostile, OTHER])
    vault = vault_with(tmp_path, note)
    assert vault.problems("CFlow/Recall") == []
    targets = [link.path for link in vault.notes["CFlow/Recall/2026-11-30.md"].links if link.line is not None]
    assert targets == [m.note.removesuffix(".md") for m in (hostile, OTHER)]
    assert structure(read_region(note) or "") == structure(recall_region([MENTION, OTHER], "zh-Hans"))
    assert read_ticks(note) == {"789": "", "12": ""}


def structure(region: str) -> list[str]:
    """The blocks that Markdown sees."""
    return [token.type for token in MarkdownIt("commonmark", {"html": True}).parse(region) if token.block]


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="ab有[]()|#^*_`$%<>=~:!-\\&;\n \u200b", max_size=30))
def test_any_text_is_one_harmless_line(text: str) -> None:
    """No text makes another block, a link, code, HTML or emphasis of its line."""
    line = inline(text)
    assert "\n" not in line
    tokens = MarkdownIt("commonmark", {"html": True}).enable("strikethrough").parseInline(f"x {line}")[0].children or []
    assert {token.type for token in tokens} <= {"text", "text_special"}
    assert not re.search(r"\[\[|%%|::|<%|==|\$", re.sub(r"\\.", "_", line))


@pytest.mark.parametrize(
    ("address", "link"),
    [
        ("https://example.org/a b(c)|d", "[x](https://example.org/a%20b%28c%29%7Cd)"),
        ("https://example.org/%E4%B8%AD?q=50%", "[x](https://example.org/%E4%B8%AD?q=50%25)"),
        ("https://example.org/a::b#^m1-1", "[x](https://example.org/a:%3Ab#%5Em1-1)"),
        ("https://example.org/%%x%%", "[x](https://example.org/%25%25x%25%25)"),
        ("javascript:alert(1)", ""),
        ("", ""),
    ],
)
def test_addresses_cannot_end_their_link(address: str, link: str) -> None:
    """Only addresses of the web are linked, with everything encoded that Markdown or Obsidian would read."""
    assert markdown_link("x", address) == link


# ticks


def tick(region: str, label: str, place: int = 0) -> str:
    """The region with the box before the label ticked, in the callout of that place."""
    parts = region.split("\n\n")
    parts[place] = parts[place].replace(f"[ ] {label}", f"[x] {label}")
    return "\n\n".join(parts)


@pytest.mark.parametrize(
    ("language", "useful", "dismissed"),
    [
        ("zh-Hans", "有用", "不要再提这条"),
        ("zh-Hant", "有用", "不要再提這條"),
        ("en", "Useful", "Do not bring this up again"),
    ],
)
def test_ticks_are_read_in_every_language(language: str, useful: str, dismissed: str) -> None:
    """Each box belongs to the memo of its callout; both ticked means dismissed."""
    region = recall_region([MENTION, OTHER], language)
    assert read_ticks(region) == {"789": "", "12": ""}
    assert read_ticks(tick(region, useful)) == {"789": USEFUL, "12": ""}
    assert read_ticks(tick(region, dismissed, 1)) == {"789": "", "12": DISMISSED}
    assert read_ticks(tick(tick(region, useful), dismissed)) == {"789": DISMISSED, "12": ""}


def edits(region: str) -> dict[str, str]:
    """What editors and people do to a note in which the second callout's 有用 is ticked."""
    first, second = region.split("\n\n")
    lines = second.split("\n")
    return {
        "CRLF": region.replace("\n", "\r\n"),
        "capital X": region.replace("[x]", "[X]"),
        "no space after the quote mark": region.replace("> -", ">-"),
        "indented": region.replace("> - ", ">   - "),
        "quote marks lost": region.replace("> ", ""),
        "nested": "\n".join(f"> {line}" for line in region.split("\n")),
        "star for dash": region.replace("- [", "* ["),
        "turned round": f"{second}\n\n{first}",
        "run together": f"{first}\n{second}",
        "run together without headers": "\n".join(line for line in region.split("\n") if "[!tip]" not in line and line),
        "boxes above the headline": f"{first}\n\n" + "\n".join([lines[0], *lines[-2:], *lines[1:-2]]),
        "a line between": region.replace("> - [x]", "> 我的话\n\n> - [x]"),
        "another link in the callout": second.replace("> 为什么", "> 参见 [[CFlow/Memos/z#^m99-1|z]]\n> 为什么") + "\n\n" + first,
        "done date": region.replace("[x] 有用", "[x] 有用 ✅ 2026-12-01"),
        "a block id": region.replace("[x] 有用", "[x] 有用 ^abc123"),
        "own tasks": f"{region}\n\n- [x] 有用的书都还了\n- [x] 买菜",
        "whole note": new_note({"vb_kind": "recall"}, region),
        "not bold": region.replace("**", ""),
    }


@pytest.mark.parametrize("edit", list(edits(recall_region([MENTION, OTHER], "zh-Hans"))))
def test_ticks_survive_editing(edit: str) -> None:
    """However the note was changed around it, the tick is that of its memo and of no other."""
    region = recall_region([MENTION, replace(OTHER, ticked=USEFUL)], "zh-Hans")
    assert read_ticks(edits(region)[edit]) == {"789": "", "12": USEFUL}


def test_a_deleted_callout_says_nothing() -> None:
    """Of a mention that the person deleted nothing is known; the other keeps its tick."""
    region = recall_region([MENTION, replace(OTHER, ticked=DISMISSED)], "en")
    assert read_ticks(region.split("\n\n")[1]) == {"12": DISMISSED}
    assert read_ticks("") == {}
    assert read_ticks("- [x] 有用") == {}
    assert list(read_ticks("> **[[x#^m-fffffff--1|x]]**\n> - [x] 有用").values()) == [USEFUL]


@pytest.mark.parametrize("memo_id", ["789", "aB-9", "memos/x_1", "-"])
@pytest.mark.parametrize("has_note", [True, False])
def test_boxes_find_any_memo(memo_id: str, *, has_note: bool) -> None:
    """Ids of any server are found again, and so are memos without a note or a block."""
    note = "Memos/x.md" if has_note else ""
    one = replace(MENTION, memo_id=memo_id, note=note, anchor=anchor_id(memo_id, 3) if has_note else "", ticked=USEFUL)
    assert read_ticks(recall_region([one], "en")) == {memo_id: USEFUL}
    assert read_ticks(recall_region([replace(one, anchor="")], "en")) == {memo_id: USEFUL}


def test_a_tick_is_kept_when_the_note_is_written_again() -> None:
    """Writing anew, also in another language, leaves the person's tick where it is, without a clash."""
    base = recall_region([MENTION], "zh-Hans")
    note = written([MENTION]).replace("[ ] 有用", "[x] 有用")
    ticks = read_ticks(note)
    again = recall_region(with_ticks([MENTION, OTHER], ticks), "zh-Hans")
    base = ticked_like(base, read_region(note) or "")
    updated = update_note(note, base_region=base, region=again, properties={}, base_properties={})
    assert updated is not None
    assert updated.clashes == 0
    assert read_ticks(updated.text) == {"789": USEFUL, "12": ""}
    assert read_ticks(recall_region(with_ticks([MENTION], ticks), "en")) == {"789": USEFUL}


def test_the_base_of_a_merge_has_the_persons_ticks() -> None:
    """Boxes of our text are set as they stand in the note, ticked or not, and nothing else changes."""
    ours = recall_region([MENTION, replace(OTHER, ticked=USEFUL)], "zh-Hans")
    standing = tick(recall_region([MENTION, OTHER], "zh-Hans"), "不要再提这条")
    assert ticked_like(ours, standing) == standing
    assert ticked_like(ours, "") == ours
    assert ticked_like("", standing) == ""


def test_usefulness_of_a_note() -> None:
    """One useful mention makes a note useful; only dismissals make it useless; without ticks nothing is said."""
    assert usefulness({"1": "", "2": ""}) is None
    assert usefulness({"1": DISMISSED, "2": USEFUL}) is True
    assert usefulness({"1": DISMISSED, "2": ""}) is False
