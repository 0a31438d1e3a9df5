"""The checker of vaults, checked: a sound vault has no problem, and each rule broken once is named where it is broken."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from obsidian import Excerpt, Vault, hash_tree, is_tag

if TYPE_CHECKING:
    from pathlib import Path

MEMO = "CFlow/Memos/小岛的茶馆 (456).md"
TIDES = "CFlow/Memos/Tide table (234).md"
ANSWER = "CFlow/Answers/哪里可以喝茶.md"
RECALL = "CFlow/Recall/2026-11-30 1520.md"
DIARY = "日记/2026-11-30.md"

SOUND = {
    MEMO: """\
---
vb_kind: "memo"
vb_id: "456"
vb_created: 2025-03-01T21:04:33
vb_updated: 2025-03-02T08:00:00
vb_url: "https://example.com/m/456"
aliases:
  - "小岛的茶馆"
tags:
  - "喝茶"
  - "2026计划/春"
---
%% vaultbrain:begin %%
小岛上走得到的茶馆，先记两家： ^m456-1

- 码头边 https://example.com/a::b?x=%25
- 灯塔下，见 `[[菜单]]` 与 \\[[价目]] \\#不是标签
  - 周一休息 ^m456-9

^m456-2

| 茶 | 价 |
|---|---|
| 白茶 | 12 |

^m456-3

```text
x ^2
[[no link]] %% <b> key:: value
```

^m456-4

> 有人说：
> 水要现烧

^m456-5

## 备注 ^m456-6

$$
E = mc^2
$$

^m456-7
%% vaultbrain:end %%

我自己的话：见 [[Tide table (234)#^M234-1|潮汐]]。
""",
    TIDES: """\
---
vb_kind: "memo"
vb_id: "234"
vb_created: 2024-11-08T09:00:00
tags: []
---
%% vaultbrain:begin %%

low water at nine,
high water at three \\#tides ^m234-1

%% vaultbrain:end %%
""",
    ANSWER: """\
---
vb_kind: "answer"
vb_question: "哪里可以喝茶 [[?]]"
vb_asked: 2026-11-30T15:04:05
vb_memos:
  - "[[CFlow/Memos/小岛的茶馆 (456)|#456]]"
  - "[[CFlow/Memos/Tide table (234)|#234]]"
tags:
  - "vaultbrain/answer"
---
%% vaultbrain:begin %%

## 结论

两家茶馆 [[CFlow/Memos/小岛的茶馆 (456)#^m456-2|#456]]，见 [[#引用来源]]。

| memo | 图 |
|---|---|
| [[小岛的茶馆 (456).md#备注\\|#456]] | ![[Attachments/dock.png\\|300]] |

## 引用来源

> [!quote]+ [[CFlow/Memos/小岛的茶馆 (456)#^m456-2|#456]] · 强相关 · [CFlow](https://example.com/m/456)
> 码头边 https://example.com/a::b?x=%25
> 周一休息
> 命中：茶馆 · 关键词

> [!QUOTE]- [[CFlow/Memos/Tide table (234)#^m234-1|#234]] · 相关
> …low water at nine,
> high water at three #tides
> Matched: water

> [!quote] [[Memos/小岛的茶馆 (456)#^m456-5]]
> > 水要现烧
> 命中：水

> [!info]- 查了 2 条
> - 语义通道：1 条

%% vaultbrain:end %%
""",
    RECALL: """\
---
vb_kind: "recall"
vb_for: "[[日记/2026-11-30]]"
vb_created: 2026-11-30T15:20:11
tags:
  - "vaultbrain/recall"
---
%% vaultbrain:begin %%
> [!tip]+ 你之前记过一条相关的
> **[[CFlow/Memos/小岛的茶馆 (456)#^m456-1|茶馆]]**：两家。
%% vaultbrain:end %%
""",
    DIARY: """\
---
done: yes # mine
tags:
---
今天去码头。 [[小岛的茶馆 (456)]] ![[dock.png|300]] %% [[Tide table (234)]] %%
""",
    "CFlow/Attachments/dock.png": "not really a picture",
    ".obsidian/broken.md": "[[nowhere]]",
    "CFlow/.tmp/broken.md": "[[nowhere]]",
}


def write_vault(root: Path, files: dict[str, str | bytes]) -> Vault:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return Vault.load(root)


def memo(region: str) -> str:
    """A memo note whose region holds ``region``."""
    return f'---\nvb_kind: "memo"\n---\n%% vaultbrain:begin %%\n{region}\n%% vaultbrain:end %%\n'


def broken(note: str, old: str, new: str) -> dict[str, str | bytes]:
    """The sound vault with one thing replaced, once."""
    text = SOUND[note]
    assert old in text, f"the sound vault no longer has {old!r}"
    return {**SOUND, note: text.replace(old, new, 1)}


def test_sound_vault_has_no_problem(tmp_path: Path) -> None:
    """Every form Obsidian accepts passes, and folders with a leading dot do not exist."""
    vault = write_vault(tmp_path, {**SOUND})
    assert vault.problems() == []
    assert sorted(vault.notes) == sorted([MEMO, TIDES, ANSWER, RECALL, DIARY])


FAULTS = [
    # front matter
    (MEMO, "---\n", "\n---\n", "no front matter on the first line"),
    (DIARY, "---\n", "\n---\n", "no front matter on the first line"),
    (TIDES, "tags: []\n---\n", "tags: []\n", "never closes"),
    (TIDES, 'vb_id: "234"', 'vb_id: "23', "not YAML"),
    (TIDES, 'vb_id: "234"', "vb_id: @234", "not YAML"),
    (DIARY, "done: yes # mine\ntags:\n", "- a\n- b\n", "not a mapping"),
    (MEMO, "aliases:", "Tags:\n  - x\naliases:", "the property tags is there twice"),
    (RECALL, '"[[日记/2026-11-30]]"', "[[日记/2026-11-30]]", "list inside a list"),
    (DIARY, "tags:", "see: [[Tide table (234)]]\ntags:", "list inside a list"),
    (MEMO, '- "喝茶"', "- 喝茶 #岛", "begins a comment"),
    (MEMO, '- "喝茶"', "- &tea 茶", "anchor or a tag"),
    (MEMO, 'vb_id: "456"', "vb_id: 0456", "YAML 1.2"),
    (MEMO, 'vb_id: "456"', "vb_id: off", "as bool by YAML 1.1 and as str"),
    (MEMO, 'vb_id: "456"', "vb_id: 1_000", "as int by YAML 1.1 and as str"),
    (MEMO, 'vb_id: "456"', "vb_id: 1e5", "as str by YAML 1.1 and as float"),
    (MEMO, 'vb_url: "https', 'vb_url: "\\ud83d https', "surrogate"),
    (MEMO, "2025-03-01T21:04:33", "2025-03-01 21:04:33", "YYYY-MM-DDTHH:MM:SS"),
    (MEMO, "2025-03-01T21:04:33", "2025-03-01T21:04:33+08:00", "YYYY-MM-DDTHH:MM:SS"),
    (MEMO, "2025-03-01T21:04:33", '"2025-03-01"', "YYYY-MM-DDTHH:MM:SS"),
    (MEMO, 'vb_id: "456"', 'vb_seen: "2025-03-01T21:04Z"', "YYYY-MM-DDTHH:MM:SS"),
    (MEMO, "2025-03-01T21:04:33", "2025-13-01T21:04:33", "not YAML"),
    (TIDES, "tags: []", 'tags: "a, b"', "tags is not a list of strings"),
    (MEMO, '- "喝茶"', "- 2026", "tags is not a list of strings"),
    (MEMO, '- "小岛的茶馆"', "- 12", "aliases is not a list of strings"),
    (MEMO, '- "喝茶"', '- "2026"', "is not a tag"),
    (MEMO, '- "喝茶"', '- "喝 茶"', "is not a tag"),
    # region
    (MEMO, "%% vaultbrain:begin %%\n", "", "the region markers are"),
    (MEMO, "%% vaultbrain:end %%", "%% vaultbrain:end %%\n%% vaultbrain:end %%", "the region markers are"),
    (TIDES, "%% vaultbrain:end %%", "%% vaultbrain:begin %%", "the region markers are"),
    (MEMO, "先记两家：", "先记两家 %% vaultbrain:end %%", "not alone on its line"),
    (MEMO, "```text\n", "```text\n%% vaultbrain:end %%\n", "the end marker is inside code"),
    (MEMO, "%% <b> key:: value\n```", "%% <b> key:: value", "the end marker is inside code"),
    # links
    (DIARY, "[[小岛的茶馆 (456)]]", "[[小岛的茶馆]]", "[[小岛的茶馆]] leads nowhere"),
    (DIARY, "![[dock.png|300]]", "![[dock]]", "[[dock]] leads nowhere"),
    (DIARY, "%% [[Tide table (234)]]", "%% [[able (234)]]", "[[able (234)]] leads nowhere"),
    (RECALL, "[[日记/2026-11-30]]", "[[日记/2026-11-31]]", "leads nowhere"),
    (ANSWER, "[[#引用来源]]", "[[../../secret]]", "[[../../secret]] leads nowhere"),
    (ANSWER, "[[#引用来源]]", "[[#来源]]", "has no such heading"),
    (ANSWER, "#备注\\|", "#备注#结论\\|", "has no such heading"),
    (ANSWER, "#^m456-2|#456]]，", "#^m456-99|#456]]，", "has no such block"),
    (ANSWER, "dock.png\\|300", "dock.png|300", "the bar must be escaped"),
    (ANSWER, "#^m456-2|#456]]，", "#^m456-2\\|#456]]，", "the bar must be escaped"),
    # block ids
    (MEMO, "^m456-6", "^M456-1", "the block id ^m456-1 is there 2 times"),
    (MEMO, "^m456-6", "^m_456-6", "no block id may have"),
    (MEMO, "^m456-6", "^备注-6", "no block id may have"),
    (MEMO, "休息 ^m456-9\n\n", "休息 ^m456-9\n", "^m456-2 stands where"),
    (MEMO, "| 12 |\n\n", "| 12 |\n", "^m456-3 stands where"),
    (MEMO, "```\n\n^m456-4\n\n", "```\n^m456-4\n\n", "^m456-4 stands where"),
    (MEMO, "^m456-5\n\n", "^m456-5\n", "^m456-5 stands where"),
    (MEMO, "现烧\n\n^m456-5", "现烧 ^m456-5", "^m456-5 stands where"),
    (MEMO, "$$\n\n^m456-7", "$$ ^m456-7", "^m456-7 stands where"),
    (TIDES, "three \\#tides ^m234-1", "three\n\n^m234-1", "^m234-1 stands where"),
    (TIDES, "at nine,", "at nine ^m234-2", "^m234-2 stands where"),
    (TIDES, "low water", "<div> ^m234-2\n\nlow water", "^m234-2 stands where"),
    (MEMO, "x ^2\n", "x ^m456-10\n", "a block id is inside code"),
    (TIDES, "at nine,", "at %% nine,", "an open %% hides what follows"),
    (TIDES, "at nine,", "$$ at nine,", "an open $$ hides what follows"),
    (TIDES, "low water", "- ```sh\n\nlow water", "the code fence is never closed"),
    # live text
    (TIDES, "at nine", "at <% nine %>", "a Templater command"),
    (TIDES, "tags: []", 'tags: []\naliases:\n  - "<% nine %>"', "a Templater command"),
    (MEMO, "x ^2", "<%* x %>", "a Templater command"),
    (TIDES, "at nine", "at <b>nine</b>", "raw HTML: <b>"),
    (TIDES, "at nine", "**at <img src=x> nine**", "raw HTML: <img"),
    (TIDES, "low water", "<!-- low -->\n\nlow water", "raw HTML: <!--"),
    (ANSWER, "- 语义通道：1 条", "- <details>", "raw HTML: <details>"),
    (TIDES, "at nine", "at [[CFlow/Memos/Tide table (234)]]", "a live [["),
    (TIDES, "at nine", "![[dock.png]]", "a live [["),
    (MEMO, "```text", "```dataviewjs", "a live fence: dataviewjs"),
    (MEMO, "```text", "~~~ Query x\n~~~\n```text", "a live fence: Query x"),
    (TIDES, "at nine", "at `= this.file`", "a Dataview inline query"),
    (TIDES, "at nine", "at `$= dv.now`", "a Dataview inline query"),
    (MEMO, "x ^2", "$= x", "a Dataview inline query"),
    (TIDES, "low water", "low water:: x", "a Dataview field"),
    (TIDES, "low water", "- **潮 位**::x", "a Dataview field"),
    (TIDES, "at nine", "at, (low:: nine)", "a Dataview field"),
    # quotes
    (ANSWER, "[[CFlow/Memos/Tide table (234)#^m234-1|#234]]", "#234", "no link to a block or a note"),
    (ANSWER, "[[Memos/小岛的茶馆 (456)#^m456-5]]", "[[Memos/小岛的茶馆 (456)#备注]]", "no link to a block or a note"),
    (ANSWER, "> > 水要现烧", "> > 水要现煮", "does not say: 水要现煮"),
    (ANSWER, "> 周一休息", "> 小岛上走得到的茶馆", "does not say: 小岛上走得到的茶馆"),
    (ANSWER, "> high water", "> highwater", "does not say: highwater"),
]


@pytest.mark.parametrize(("note", "old", "new", "words"), FAULTS)
def test_fault_is_named_in_its_note(tmp_path: Path, note: str, old: str, new: str, words: str) -> None:
    """Each rule broken once is reported with the path of the note that breaks it."""
    problems = write_vault(tmp_path, broken(note, old, new)).problems()
    assert [text for text in problems if text.startswith(f"{note}:") and words in text], problems


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"a \xff b\n", "not UTF-8 at byte 2"),
        (b"\xef\xbb\xbftext\n", "byte-order mark"),
        (b"nul \x00 here\n", "NUL byte"),
        (b"one\r\ntwo\n", "carriage return"),
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"no newline", "does not end with a newline"),
    ],
)
def test_encoding_fault_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    """Bytes that Obsidian, git or an editor would stumble on are reported, and nothing else is."""
    problems = write_vault(tmp_path, {"n.md": data}).problems()
    assert [words in text for text in problems] == [True], problems


@pytest.mark.parametrize(
    ("name", "words"),
    [
        *((f"a{char}b.md", "some platform refuses") for char in '*"\\<>:?'),
        *((f"a{char}b.md", "breaks links") for char in ("#", "^", "[", "]", "|", "%%")),
        ("end .md", "space"),
        (" start.md", "space"),
        ("end..md", "dot"),
        ("folder./a.md", "dot"),
        ("con.md", "reserved"),
        ("LPT1.old.md", "reserved"),
        ("a#b.png", "breaks links"),
        ("茶" * 60 + ".md", "longer than 180 bytes"),
    ],
)
def test_bad_name_is_named(tmp_path: Path, name: str, words: str) -> None:
    """A name that one platform refuses, or that a link cannot carry, is reported for notes, folders and attachments."""
    problems = write_vault(tmp_path, {name: "text\n"}).problems()
    assert problems
    assert words in " ".join(problems)


@pytest.mark.parametrize("name", ["茶" * 59 + ".md", "console.md", "v1.2 (3).md", "50% off.md"])
def test_good_name_passes(tmp_path: Path, name: str) -> None:
    """Names near a forbidden one are not reported."""
    assert write_vault(tmp_path, {name: "text\n"}).problems() == []


@pytest.mark.parametrize(("one", "other"), [("Log.md", "LOG.md"), ("Caf\u00e9.md", "Cafe\u0301.md"), ("Log/a.md", "log/b.md")])
def test_twins_are_named(tmp_path: Path, one: str, other: str) -> None:
    """Two files or folders that differ only in case or Unicode form are reported under both names."""
    problems = write_vault(tmp_path, {one: "text\n", other: "text\n"}).problems()
    assert len(problems) == 2
    assert all("several spellings" in text for text in problems)


def test_problems_can_be_limited_to_a_folder(tmp_path: Path) -> None:
    """A person's own broken links are not ours: below a folder, only that folder counts."""
    vault = write_vault(tmp_path, {**SOUND, "CFlow2/mine.md": "[[nowhere]]\n"})
    assert vault.problems("CFlow") == vault.problems("CFlow/") == []
    assert vault.problems("CFlow2") == vault.problems() == ["CFlow2/mine.md:1: [[nowhere]] leads nowhere"]


def test_memo_links_can_be_allowed(tmp_path: Path) -> None:
    """A memo region may hold links when the caller says so, everywhere or on lines that begin with given words."""
    vault = write_vault(tmp_path, {"a.md": memo("附件： [[b]] ^m1-1"), "b.md": "text\n"})
    assert vault.problems() == ["a.md:5: a live [["]
    assert vault.problems(allow_links=True) == vault.problems(allow_links=("附件：",)) == []
    assert vault.problems(allow_links=("关联：",)) != []


@pytest.mark.parametrize(
    "region",
    [
        "std\\::vector and key:\\: value",
        "the drive http://example.com/a::b",
        "## ::before",
        "see: std::vector",
        "fe\\80 ^\\_^",
        "half off: 50 % <\\% and %\\% open",
        "`<b>` and ``a ` [[b]]`` and \\<i>",
        "<https://example.com>",
        "    [[indented code]]",
        "[\\[a]] !\\[\\[b]]",
        "a \\^id at the end",
        "\\$\\$ twice",
        "````text\n```\nopen inside\n````",
    ],
)
def test_neutral_text_passes(tmp_path: Path, region: str) -> None:
    """Text whose tokens are broken up, or code, is not taken for live text."""
    assert write_vault(tmp_path, {"a.md": memo(region)}).problems() == []


def test_link_takes_exact_path_then_own_folder_then_shortest_path(tmp_path: Path) -> None:
    """An ambiguous link leads where Obsidian leads it, whatever the case or Unicode form of its words."""
    names = ["x/deep/Caf\u00e9.md", "long folder/caf\u00e9.md", "y/n.md", "x/n.md", "n.md", "x/deep/from.md"]
    vault = write_vault(tmp_path, dict.fromkeys(names, "text\n"))
    from_deep, from_y = vault.notes["x/deep/from.md"], vault.notes["y/n.md"]
    assert vault.resolve(from_deep, "n") == "n.md"
    assert vault.resolve(from_deep, "Y/N.MD") == "y/n.md"
    assert vault.resolve(from_deep, "cafe\u0301") == "x/deep/Caf\u00e9.md"
    assert vault.resolve(from_y, "CAF\u00c9") == "x/deep/Caf\u00e9.md"
    assert vault.resolve(from_y, "deep/caf\u00e9.md") == "x/deep/Caf\u00e9.md"
    assert vault.resolve(from_deep, "../n") == "x/n.md"
    assert vault.resolve(from_deep, "") == "x/deep/from.md"
    assert vault.resolve(from_deep, "eep/caf\u00e9") is None


def test_block_text_is_the_words_of_the_block(tmp_path: Path) -> None:
    """A block is found by its id without case, and its text has no ids and no quote prefixes."""
    vault = write_vault(tmp_path, {**SOUND})
    assert vault.block_text(TIDES, "M234-1") == "low water at nine,\nhigh water at three \\#tides"
    assert vault.block_text(MEMO, "m456-9") == "- 周一休息"
    assert vault.block_text(MEMO, "m456-2") == SOUND[MEMO][SOUND[MEMO].index("- 码头") : SOUND[MEMO].index(" ^m456-9")]
    assert vault.block_text(MEMO, "m456-3") == "| 茶 | 价 |\n|---|---|\n| 白茶 | 12 |"
    assert vault.block_text(MEMO, "m456-4") == "```text\nx ^2\n[[no link]] %% <b> key:: value\n```"
    assert vault.block_text(MEMO, "m456-5") == "有人说：\n水要现烧"
    assert vault.block_text(MEMO, "m456-6") == "## 备注"
    assert vault.block_text(MEMO, "m456-7") == "$$\nE = mc^2\n$$"
    assert vault.block_text(MEMO, "m456-8") is None
    assert vault.block_text("nowhere.md", "m456-1") is None


def test_excerpts_are_what_the_quotes_claim(tmp_path: Path) -> None:
    """Each quote gives its note, its block and its lines before the matched words, in order."""
    vault = write_vault(tmp_path, {**SOUND})
    assert vault.excerpts(vault.notes[ANSWER]) == [
        Excerpt(MEMO, "m456-2", "码头边 https://example.com/a::b?x=%25\n周一休息"),
        Excerpt(TIDES, "m234-1", "…low water at nine,\nhigh water at three #tides"),
        Excerpt(MEMO, "m456-5", "水要现烧"),
    ]


def test_whole_note_quote_covers_the_region_only(tmp_path: Path) -> None:
    """A quote that links a whole note may quote any block of the region, and nothing a person wrote below it."""
    link = "[[CFlow/Memos/Tide table (234)#^m234-1|#234]]"
    files = broken(ANSWER, link, "[[CFlow/Memos/Tide table (234)]]")
    assert write_vault(tmp_path, files).problems() == []
    files[TIDES] = f"{SOUND[TIDES]}\nmy own words\n"
    files[ANSWER] = str(files[ANSWER]).replace("> …low water at nine,", "> my own words")
    assert "does not say: my own words" in " ".join(write_vault(tmp_path, files).problems())


@pytest.mark.parametrize("tag", ["标签", "a/b", "2026计划", "#x-1_y", "🍵", "a，b"])
def test_tag_is_accepted(tag: str) -> None:
    """Letters of every script, emoji, full-width punctuation, ``-``, ``_`` and ``/`` may be in a tag."""
    assert is_tag(tag)


@pytest.mark.parametrize("tag", ["", "#", "2026", "1/2", "a/", "a b", "a\u3000b", "a.b", "a#b", "a:b", "a—b", "~", "👩\u200d👧"])
def test_tag_is_refused(tag: str) -> None:
    """Numbers alone, spaces, ASCII and general punctuation make no tag."""
    assert not is_tag(tag)


def test_hash_tree_shows_every_change(tmp_path: Path) -> None:
    """Content, names, empty folders and dot folders count; times only when asked for."""
    write_vault(tmp_path, {"a/b.md": "one\n", ".trash/c.md": "two\n"})
    before, before_times = hash_tree(tmp_path), hash_tree(tmp_path, with_mtime=True)
    assert sorted(before) == [".trash/", ".trash/c.md", "a/", "a/b.md"]
    os.utime(tmp_path / "a/b.md", ns=(1, 1))
    assert hash_tree(tmp_path) == before
    assert hash_tree(tmp_path, with_mtime=True) != before_times
    (tmp_path / "empty").mkdir()
    (tmp_path / "a/b.md").write_text("three\n")
    after = hash_tree(tmp_path)
    assert {name for name in after if after[name] != before.get(name)} == {"empty/", "a/b.md"}
