"""Memo text in a note: what is broken in it and what is not, where its blocks and anchors are, and how numbers live on.

The oracles are CommonMark parsers that know nothing of our code: HTML on, backslashes kept visible; one of them gives formulas
precedence over code, as Obsidian does, and one ends inline code at the line end, as a line-based editor does.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from vaultbrain.memo import clean_text
from vaultbrain.vault.markdown import (
    ORDINARY_LANGUAGES,
    align_numbers,
    anchor_id,
    anchor_text,
    anchorable,
    escape_display,
    neutralise,
    normalise,
    plain_text,
    read_anchors,
    split_blocks,
    strip_anchors,
    wikilink,
)

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline

Z = "\u200b"
FEW_SECONDS = pytest.mark.timeout(60)


# -- what readers of a note see ------------------------------------------------------------------------------------------


def keep_escape(state: StateInline, silent: bool) -> bool:
    """Takes an escaped character as text, but leaves its backslash in sight."""
    pair = state.src[state.pos : state.pos + 2]
    if not re.fullmatch(r"\\[!-/:-@\[-`{-~]", pair):
        return False
    if not silent:
        state.pending += pair
    state.pos += 2
    return True


def formula(state: StateInline, silent: bool) -> bool:
    """``$$…$$`` and ``$…$`` as Obsidian reads them: whichever of formula and code begins first wins."""
    found = re.compile(r"\$\$.*?\$\$|\$(?=[^\s$])(?:\\.|[^$\\])*?(?<!\s)\$(?!\d)", re.DOTALL).match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        state.push("formula", "", 0).content = found[0]
    state.pos = found.end()
    return True


@cache
def reader(formulas: bool = False) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.inline.ruler.at("escape", keep_escape)
    if formulas:
        parser.inline.ruler.after("text", "formula", formula)
        parser.inline.add_terminator_char("$")
    return parser


def inline_tokens(text: str, formulas: bool = False) -> list[Token]:
    """What stands in paragraphs, headings and cells, each ended by a line break."""
    leaves = [token.children or [] for token in reader(formulas).parse(text) if token.type == "inline"]
    return [token for leaf in leaves for token in [*leaf, Token("softbreak", "br", 0)]]


def line_tokens(text: str) -> list[Token]:
    """As an editor sees it that ends every mark at the line end."""
    lines = [line for token in reader().parse(text) if token.type == "inline" for line in token.content.split("\n")]
    leaves = [token.children or [] for line in lines for token in reader().parseInline(line)]
    return [token for leaf in leaves for token in [*leaf, Token("softbreak", "br", 0)]]


def prose(tokens: list[Token]) -> str:
    """What counts as text to a reader, code and formulas left out."""
    shown = {"softbreak": "\n", "hardbreak": "\n"}
    return "".join(shown.get(token.type, token.content if token.type == "text" else "\0") for token in tokens)


def without_urls(text: str) -> str:
    return re.sub(r"[A-Za-z][A-Za-z0-9+.-]+://[^\s<>]*", "", text)


def closed_lines(text: str) -> set[int]:
    """The lines that a reader takes for code or HTML."""
    spans = [token.map for token in reader().parse(text) if token.type in ("fence", "code_block", "html_block")]
    return {line for span in spans if span for line in range(*span)}


def assert_harmless(text: str) -> None:
    tokens = reader().parse(text)
    assert not [token for token in tokens if token.type == "html_block"]
    assert not [token for token in inline_tokens(text) if token.type == "html_inline"]
    assert not re.search(r"<\\?%|&lt;\\?%", text)
    for token in tokens:
        if token.type == "fence" and token.info.split():
            assert token.info.split()[0].casefold() in ORDINARY_LANGUAGES
        if token.type in ("fence", "code_block"):
            assert not re.match(r"\s*\$?=", token.content)
    for seen in (inline_tokens(text), inline_tokens(text, formulas=True), line_tokens(text)):
        words = prose(seen)
        assert "[[" not in words
        assert "%%" not in words
        assert not [token for token in seen if token.type == "code_inline" and re.match(r"\s*\$?=", token.content)]
    open_lines = [line for n, line in enumerate(text.split("\n")) if n not in closed_lines(text)]
    assert not [line for line in open_lines if re.search(r"(^|[\s>])\^[A-Za-z0-9-]+\s*$", line)]
    assert "::" not in without_urls(prose(inline_tokens(text)))
    runs = re.findall(r"(?<!\\)\$\$+", re.sub(r"\\\\", "\0", prose(inline_tokens(text))))
    assert runs == ["$$", "$$"] * (len(runs) // 2)


# -- random Markdown -----------------------------------------------------------------------------------------------------

FRAGMENTS = [
    *"abc", "中文", " ", "  ", "    ", "\t", "\n", "\n", "\n\n", "\u3000", "\u2028", "1", "-", "=", "---", "===", "***", "- ",
    "* ", "+ ", "1. ", "2) ", "> ", ">", "# ", "## x ##\n", "#", "- [ ] ", "| a | b |\n|---|---|\n", "|", "|-", ":", "::",
    "k:: v", "[k:: v]", "`", "``", "```", "~~~", "`c`", "`= x`", "`$=x`", "```dataview\n", "```js\n", "```\n", "\n```\n",
    "~~~ tasks\n", "    = x\n", "$", "$$", "$$$", "\n$$\n", "$a<b$", "$[[1]]$", "x ^2\n", "\\", "\\\\", "\\[", "\\<", "\\$",
    "\\`", "[", "]", "[[", "]]", "![[x]]", "[[a]: /u\n", "[a]: /u\n", "[a]: <b c>\n", "[a]: <b`c>\n", "[a]:", "[^1]: note\n\n",
    "[t](", "[t](u)", "[t](u 'v')", "][", "](", "(", ")", "<", ">", "<b>", "</b>", "<!--", "-->", "<?", "<![CDATA[", "<script>\n",
    "<https://x.y/z>", "<a@b.c>", "<ab:`", "https://x.y/a::b", "%", "%%", "%% vaultbrain:end %%", "<%", "<%+ x %>", "&lt;%",
    "\\%", " ^id", "^id\n", " ^m7-1\n", "^m7-2", "#tag", "![a](data:image/png;base64,AA)",
]  # fmt: skip

MARKDOWN = st.lists(st.sampled_from(FRAGMENTS), max_size=24).map("".join)
ANYTHING = st.one_of(MARKDOWN, MARKDOWN, st.text(max_size=40))
MANY = settings(max_examples=400, deadline=None)


@MANY
@given(ANYTHING)
@example("[a]: <b`c>\n`[[x]]`")
@example("$a`$ b `[[x]]` c`")
@example("`a\n<div>\n`")
@example("](\\<a")
@example("[t](a`<https://x.y/z>) [[x]] `c`")
@example("[t][a`b] [[x]] `c`\n\n[a`b]: /u")
def test_neutral_text_is_harmless_to_every_reader(text: str) -> None:
    """Whatever the memo: no HTML, link, comment, block id, field, query or template is left, and once is enough."""
    neutral = neutralise(text)
    assert_harmless(neutral)
    assert neutralise(neutral) == neutral


def is_subsequence(part: str, whole: str) -> bool:
    rest = iter(whole)
    return all(character in rest for character in part)


@MANY
@given(ANYTHING)
def test_neutral_text_keeps_every_line(text: str) -> None:
    """Lines keep number and order, characters are only added, and at most one closing line is appended."""
    before, after = clean_text(text).split("\n"), neutralise(text).split("\n")
    assert len(after) - len(before) in (0, 1)
    for old, new in zip(before, after, strict=False):
        assert is_subsequence(old, new)
    for extra in after[len(before) :]:
        assert re.fullmatch(r"`{3,}|~{3,}", extra)


def bare_html(text: str, memo_id: str) -> str:
    """The page of a text without its anchors and without white space at the end of an element."""
    page = reader().render(text)
    own = re.escape(anchor_id(memo_id, 0).removesuffix("0"))
    page = re.sub(rf" \^{own}\d+", "", re.sub(rf"<p>\^{own}\d+</p>\n", "", page))
    return re.sub(r"\s+(?=</)", "", page)


def anchored(text: str, memo_id: str = "7") -> str:
    return anchor_text(text, memo_id, range(1, len(anchorable(split_blocks(text))) + 1))


@MANY
@given(ANYTHING)
@example("- a\n[a]:")
@example("text\n1.")
@example("# x #")
@example("a\n$$\n- b\n$$\n# c")
def test_anchors_change_nothing_but_themselves(text: str) -> None:
    """Each block keeps its look, each anchor stands outside code, and what follows the memo is a block of its own."""
    neutral = neutralise(text)
    marked = anchored(neutral)
    count = len(anchorable(split_blocks(neutral)))
    standing = {n for n, line in enumerate(marked.split("\n")) if re.search(r"(^| )\^m7-\d+$", line)}
    outside = standing - closed_lines(marked)
    assert len(outside) == count
    assert bare_html(marked, "7") == bare_html(neutral, "7")
    assert reader().parse(marked + "\n\nfooter")[-2].content == "footer"
    assert reader().parse(marked + "\n\nfooter")[-2].level == 1


@MANY
@given(ANYTHING)
def test_anchors_can_be_taken_off_and_read_again(text: str) -> None:
    """Stripping gives back the normalised text; reading gives each id with its block."""
    neutral = neutralise(text)
    marked, normal = anchored(neutral), normalise(neutral)
    assert strip_anchors(marked, "7") == normal
    assert normalise(normal) == normal
    assert anchored(normal) == marked
    blocks = anchorable(split_blocks(normal))
    assert read_anchors(marked) == [(f"m7-{n}", block.text) for n, block in enumerate(blocks, 1)]


@MANY
@given(ANYTHING)
def test_blocks_lie_in_order_and_hold_every_visible_line(text: str) -> None:
    """Blocks do not overlap, and between them stand only blank lines and link reference definitions."""
    neutral = neutralise(text)
    lines, blocks = neutral.split("\n"), split_blocks(neutral)
    assert all(first.end <= second.start for first, second in pairwise(blocks))
    assert all(block.text == "\n".join(lines[block.start : block.end]).rstrip(" \t") for block in blocks)
    covered = {line for block in blocks for line in range(block.start, block.end)}
    rest = "\n".join("" if n in covered else line for n, line in enumerate(lines))
    assert reader().render(rest) == ""


# -- neutralise, case by case --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "neutral"),
    [
        ("<% x %>", f"<{Z}% x %>"),
        ("`<%+ x %>`", f"`<{Z}%+ x %>`"),
        ("&lt;%+ x %&gt; <\\%", f"&lt;{Z}%+ x %&gt; <{Z}\\%"),
        ("a %% b", "a %\\% b"),
        ("%%%", "%\\%\\%"),
        ("\\%%", "\\%\\%"),
        ("[[x]] ![[y]]", "[\\[x]] ![\\[y]]"),
        ("\\[[x]]", "\\[\\[x]]"),
        ("[[[x]]]", "[\\[\\[x]]]"),
        ("[[x]: http://example.com", "\\[\\[x]: http://example.com"),
        ("words ^id", "words \\^id"),
        ("words ^id  \nmore", "words \\^id  \nmore"),
        ("^id", "\\^id"),
        ("> ^id", "> \\^id"),
        ("- item ^id", "- item \\^id"),
        ("<b>x</b> <!-- y --> <?z", "\\<b>x\\</b> \\<!-- y --> \\<?z"),
        ("\\<b> \\\\<b>", "\\<b> \\\\\\<b>"),
        ("key:: value", "key:\\: value"),
        ("[k:: v] (k:: v)", "[k:\\: v] (k:\\: v)"),
        ("::::", ":\\:\\:\\:"),
        ("`= this` ` $=dv`", f"`{Z}= this` ` {Z}$=dv`"),
        ("```\n\n  = this\n```", f"```\n\n  {Z}= this\n```"),
        ("```dataview\nLIST\n```", "```text dataview\nLIST\n```"),
        ("~~~  query x\n~~~", "~~~  text query x\n~~~"),
        ("> ```mermaid\n> x\n> ```", "> ```text mermaid\n> x\n> ```"),
        ("```js:x\n```", "```text js:x\n```"),
        ("| `a | [[x]] | b` |\n|--|--|--|", "| `a | [\\[x]] | b` |\n|--|--|--|"),
        ("```\nopen", "```\nopen\n```"),
        ("~~~~py\nopen\n", "~~~~py\nopen\n~~~~"),
        ("one $$ alone", "one \\$\\$ alone"),
        ("a $$$ place", "a \\$\\$\\$ place"),
        ("```\n%% vaultbrain:end %%\n```", f"```\n%{Z}% vaultbrain:end %%\n```"),
        ("half \ud83d nul \0", "half \ufffd nul \ufffd"),
    ],
)
def test_live_marks_are_broken(typed: str, neutral: str) -> None:
    """Every mark that runs, links, hides or stays open is broken in the one way that the table of marks names."""
    assert neutralise(typed) == neutral


@pytest.mark.parametrize(
    "typed",
    [
        "---\nbuy: oil\n---\nkey",
        "title: no title\n---\ntext",
        "# Head\n\n- [ ] task\n- [x] done #tag\n\n1. one",
        "> [!warning]- title\n> text",
        "| a | b |\n|:-:|--|\n| 1 | `x` |",
        "![alt](https://example.com/p.png) [t](https://example.com/a::b 'title') <https://example.com> <a@example.com>",
        "[t](<https://example.com/a b>) and https://example.com/a::b?c=%20 and http://[::1]:80/",
        "[t](https://example.com 'title') `a::b` ![i](a_(b).png) `[[x]]` [t][u] `<b>`",
        "**b** *i* ~~s~~ ==h== `code [[x]] %% <b> a::b` ``a`b``",
        "```cpp\nstd::vector<int> a; // [[x]] %% ^id\n```",
        "```Python title=x\n```",
        "text\n\n    indented [[x]] <b>\n",
        "$x_1 < y$ and $$\\frac{a}{b}$$ for $5 and $6",
        "$$\na\n\nb\n$$",
        "3 < 4, a <3 b, x->y, ^_^, 5% 100%, 2:1, [^1] ^[note]",
        "half past nine ^a_b",
        "👩\u200d👩\u200d👧 🍵",
        "",
        "\n\n",
    ],
)
def test_ordinary_markdown_stays_as_typed(typed: str) -> None:
    """What neither runs nor breaks anything is not touched."""
    assert neutralise(typed) == typed


def test_formulas_are_broken_without_a_change_to_what_tex_shows() -> None:
    """In a formula a space or an empty group breaks a mark; a backslash would make an unknown command of it."""
    assert neutralise("$a<b$ $[[1,2]]$ $x::y$") == "$a< b$ $[ [1,2]]$ $x: :y$"
    assert neutralise("$$\nx ^2\n[[1]]\n\ny<z\n$$") == "$$\nx ^2{}\n[ [1]]\n\ny< z\n$$"


@pytest.mark.parametrize(
    ("typed", "neutral"),
    [
        ("`a\n[[x]]\nb`", f"`a\n[{Z}[x]]\nb`"),
        ("$5 and `$[[x]]`", f"$5 and `$[{Z}[x]]`"),
        ("[t](a`b) `[[x]]` c", f"[t](a`b) `[{Z}[x]]` c"),
        ("[t](a 'b`') `[[x]]`", f"[t](a 'b`') `[{Z}[x]]`"),
        ("https://example.com/` `[[x]]`", f"https://example.com/` `[{Z}[x]]`"),
        ("- a\n\n      [[x]]", f"- a\n\n      [{Z}[x]]"),
        ("[^1]: n\n\n    ```dataviewjs\n    [[x]]", f"[^1]: n\n\n    ```text dataviewjs\n    [{Z}[x]]"),
        ("100. a\n\n    <b>", f"100. a\n\n    <{Z}b>"),
        ("- ```\n  a\n\n```\n[[x]]\n```", f"- ```\n  a\n\n```\n[{Z}[x]]\n```"),
        ("[a]: /u\n    [[x]]", f"[a]: /u\n    [{Z}[x]]"),
    ],
)
def test_code_that_readers_disagree_on_is_broken_without_a_trace(typed: str, neutral: str) -> None:
    """Where one reader sees code and another text, only a zero-width space is put in."""
    assert neutralise(typed) == neutral


def test_a_dollar_pair_across_code_is_no_formula() -> None:
    """Readers disagree on what comes first, so the dollars are escaped and the code stays code."""
    assert neutralise("$$\n```\nx\n```\n$$") == "\\$\\$\n```\nx\n```\n\\$\\$"
    assert neutralise("$$\n~~~\nx\n~~~\n$$") == "\\$\\$\n~~~\nx\n~~~\n\\$\\$"
    assert neutralise("$$\n\n    = x\n\n$$") == f"\\$\\$\n\n    {Z}= x\n\n\\$\\$"
    assert neutralise("$$ a `x` $$ b") == "\\$\\$ a `x` \\$\\$ b"


def test_a_fence_after_bottomless_nesting_is_still_closed() -> None:
    """Lists nested deeper than is read lose their marks, so that the rest of the memo can be read."""
    neutral = neutralise("- " * 300 + "x\n\n```\n[[y]]")
    assert neutral.endswith("\n\n```\n[[y]]\n```")
    assert split_blocks(neutral)[-1].kind == "fence"


# -- blocks and anchors, case by case --------------------------------------------------------------------------------------


def kinds(text: str) -> list[str]:
    return [block.kind for block in split_blocks(text)]


def test_blocks_have_kinds_and_half_open_lines() -> None:
    """Each kind is told apart; lines count from 0; rules carry no anchor."""
    text = "# h\npara\n\n- a\n\n- b\n\n\n> q\n\n| a |\n|---|\n\n```\nx\n\n```\n***\n\n    code\n\n$$\nm\n$$\n\n[a]: /u\nset\n---"
    blocks = split_blocks(text)
    assert [b.kind for b in blocks] == "heading paragraph list quote table fence rule code math heading".split()
    assert [(b.start, b.end) for b in blocks[:4]] == [(0, 1), (1, 2), (3, 6), (8, 9)]
    assert blocks[-1].text == "set\n---"
    assert "rule" not in [b.kind for b in anchorable(blocks)]


def test_math_blocks_span_blank_lines_and_what_commonmark_sees_in_them() -> None:
    """A ``$$`` pair is one block, whatever stands in it; text glued to it belongs to it."""
    assert kinds("$$\na\n\n- b\n\n# c\n$$") == ["math"]
    assert kinds("text\n$$\na\n\nb\n$$\n\nafter") == ["math", "paragraph"]
    assert kinds("text\n$$\na\n$$\nmore") == ["paragraph"]
    assert kinds("$$\na\n\nb") == ["paragraph", "paragraph"]


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("a\nb  \n\nc", "a\nb ^m7-1\n\nc ^m7-2"),
        ("# h\ntext", "# h ^m7-1\ntext ^m7-2"),
        ("# h #", "# h #\n\n^m7-1"),
        ("two\nlines\n---", "two\nlines ^m7-1\n---"),
        ("- a\n- b\n\nc", "- a\n- b\n\n^m7-1\n\nc ^m7-2"),
        ("> q\n# h", "> q\n\n^m7-1\n\n# h ^m7-2"),
        ("```\nx\n```\ny", "```\nx\n```\n\n^m7-1\n\ny ^m7-2"),
        ("    x\n", "    x\n\n^m7-1\n"),
        ("see $$x$$", "see $$x$$\n\n^m7-1"),
        ("$$\nx\n$$\n***\n", "$$\nx\n$$\n\n^m7-1\n\n***\n"),
        ("[a]:", "[a]:\n\n^m7-1"),
        ("a\n1.", "a\n1.\n\n^m7-1"),
        ("***", "***"),
        ("", ""),
    ],
)
def test_anchors_stand_where_obsidian_looks_for_them(text: str, marked: str) -> None:
    """At the end of a paragraph's or heading's last line, else on a line of their own between blank lines."""
    assert anchored(text) == marked


@pytest.mark.parametrize(
    ("typed", "own_line"),
    [
        ("list of tides\n\n```sh\ntide --week\n```", True),
        ("| buoy | colour |\n|---|---|\n| 7 | red |", True),
        ("- oars\n  - spare", True),
        ("> [!tip] fog\n> wait at the pier", True),
        ("begun\n```python\nprint('open')", True),
        ("aside %% begun\n\nlast words", False),
        ("one\nparagraph\n\nanother", False),
        ("$$\nv = s / t\n$$", True),
        ("<details><summary>more</summary>\nleft open", False),
        ("its own id ^pier-2", False),
        ("---\nrent: oars\n---\nthe key is under the bench", False),
    ],
)
def test_the_last_anchor_stands_clear_of_whatever_the_memo_ends_in(typed: str, own_line: bool) -> None:
    """Its line is outside code and HTML, alone below a blank line where the block needs that, and nothing is left open."""
    marked = anchored(neutralise(typed), "31")
    *_, before, last = ["", *marked.split("\n")]
    assert re.search(r"\^m31-\d+$", last)
    assert (before == "" and last.startswith("^")) == own_line
    assert len(marked.split("\n")) - 1 not in closed_lines(marked)
    assert marked.count("%%") == 0
    assert reader().parse(marked + "\n# Below")[-3].type == "heading_open"


def test_numbers_must_match_the_blocks() -> None:
    """Too few or too many numbers are a mistake of the caller, never a silent loss."""
    with pytest.raises(ValueError, match="zip"):
        anchor_text("a\n\nb", "7", [1])


@given(st.text(max_size=6), st.integers(1, 99), st.text(max_size=6), st.integers(1, 99))
def test_anchor_ids_are_legal_and_never_shared(one: str, m: int, other: str, n: int) -> None:
    """Letters, digits and dashes only; different memos or numbers differ even where case is ignored."""
    first, second = anchor_id(one, m), anchor_id(other, n)
    assert re.fullmatch(r"[A-Za-z0-9-]+", first)
    assert (first.casefold() == second.casefold()) == ((one, m) == (other, n))


def test_anchor_ids_of_ordinary_memos_are_plain() -> None:
    """A memo number stands in its anchors as it is."""
    assert anchor_id("456", 12) == "m456-12"
    assert len({anchor_id("aB", 1), anchor_id("ab", 1), anchor_id("a-b", 1), anchor_id("a_b", 1)}) == 4


def test_anchors_of_other_memos_stay() -> None:
    """Only the memo's own anchors are stripped; a longer id that begins alike is another memo's."""
    assert strip_anchors("a ^m7-1\n\nb ^m70-1\n\nc ^mine", "7") == "a\n\nb ^m70-1\n\nc ^mine"


def test_a_person_may_have_edited_around_the_anchors() -> None:
    """Blank lines gone, text typed below an id, a block deleted above one: nothing is misread, nobody else's id is taken."""
    region = "a ^m7-1\nadded\n\n- x\n^m7-2\n\n^m7-3\n\n***\n\n^m7-4\n\n```\nz ^m7-5\n```\n\nown ^mine"
    assert read_anchors(region) == [("m7-1", "a\nadded"), ("m7-2", "- x")]
    assert strip_anchors(region, "7") == "a\nadded\n\n- x\n\n***\n\n```\nz ^m7-5\n```\n\nown ^mine"


# -- numbers through edits -------------------------------------------------------------------------------------------------

FERRY = "The ferry leaves at nine from the north quay."
ROPE = "Twelve millimetre rope for the spring line."
LAMP = "Lamp oil is behind the barometer."


def test_a_fresh_memo_counts_from_one() -> None:
    """Without old blocks the numbers are 1..n."""
    assert align_numbers([], [FERRY, ROPE, LAMP], 1) == ([1, 2, 3], 4)


@pytest.mark.parametrize(
    ("new", "numbers", "next_number"),
    [
        ([FERRY, ROPE, LAMP], [1, 2, 3], 4),
        ([FERRY, "new", ROPE, LAMP], [1, 4, 2, 3], 5),
        ([FERRY, LAMP], [1, 3], 4),
        ([LAMP, FERRY, ROPE], [3, 1, 2], 4),
        ([FERRY, ROPE + " Two of them.", LAMP], [1, 2, 3], 4),
        ([FERRY, "altogether other words", LAMP], [1, 2, 3], 4),
        ([FERRY, "0", ROPE + " Red.", LAMP], [1, 4, 2, 3], 5),
        (["0", LAMP + "!", FERRY.replace("nine", "ten")], [2, 3, 1], 4),
        (["0", LAMP + "!"], [4, 3], 5),
        ([], [], 4),
    ],
)
def test_blocks_keep_their_numbers_through_edits(new: list[str], numbers: list[int], next_number: int) -> None:
    """Kept, moved, edited and rewritten blocks keep theirs; new ones get the next free ones."""
    assert align_numbers([(1, FERRY), (2, ROPE), (3, LAMP)], new, 4) == (numbers, next_number)


def test_a_deleted_number_never_comes_back() -> None:
    """Not when the last block was deleted, and not when the caller's next number is too low."""
    numbers, following = align_numbers([(1, FERRY), (2, ROPE)], [FERRY], 3)
    assert align_numbers([(1, FERRY)], [FERRY, ROPE], following) == ([1, 3], 4)
    assert numbers == [1]
    assert align_numbers([(8, FERRY)], [FERRY, ROPE], 1) == ([8, 9], 10)


BLOCKS = st.lists(st.sampled_from([FERRY, ROPE, LAMP, FERRY + "!", ROPE[:20], "a", "b", ""]), max_size=8)


@MANY
@given(st.lists(BLOCKS, min_size=2, max_size=5))
def test_numbers_are_unique_for_ever(versions: list[list[str]]) -> None:
    """Through any history: no number twice, none revived, and an unchanged version changes nothing."""
    known: list[tuple[int, str]] = []
    following, gone = 1, set[int]()
    for version in versions:
        numbers, following = align_numbers(known, version, following)
        assert len(set(numbers)) == len(version)
        assert not gone & set(numbers)
        assert all(number < following for number in numbers)
        gone |= {number for number, _ in known} - set(numbers)
        known = list(zip(numbers, version, strict=True))
        assert align_numbers(known, version, following) == (numbers, following)


# -- words of a line, links --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("**b** *i* ***bi*** __u__ ~~s~~ ==h==", "b i bi u s h"),
        ("**bold *it* text**", "bold it text"),
        ("a * b, snake_case_word, 2 ** 3, a == b", "a * b, snake_case_word, 2 ** 3, a == b"),
        ("[t](https://example.com/a_(b)) ![alt](p.png 'x')", "t alt"),
        ("[![i](a.png)](b) <https://example.com> [[n|shown]] [[note]]", "i https://example.com shown note"),
        ("`code *x*` and ``a`b``", "code *x* and a`b"),
        ("## Head", "Head"),
        ("- [x] done\n1. one", "done\none"),
        ("> [!note]- title", "title"),
        ("```python", "python"),
        ("pic ![p](data:image/png;base64,AAAA+/==) end", "pic p end"),
        ("data:image/png;base64,AAAA end", "end"),
        ("\\<b> %\\% [\\[x]] \\*y\\*", "<b> %% [[x]] *y*"),
        (f"<{Z}% x ^m7-1", "<% x"),
        ("#tag 买菜 #a/b", "#tag 买菜 #a/b"),
    ],
)
def test_plain_text_reads_like_the_page(markdown: str, words: str) -> None:
    """Marks, escapes, targets, ids and data are gone; words, tags and addresses stay."""
    assert plain_text(markdown) == words


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("File: A", "File: A"),
        ("C# notes", "C# notes"),
        ("plan^2 #1", "plan^2 #1"),
        ("x|y and [z]", "x｜y and ［z］"),
        ("[[a link]]", "［［a link］］"),
        ('why? *now* <b> "q" a < b', 'why? *now* ＜b> "q" a < b'),
        ("a/b\\c\n  `d` $5 50%% k:: v <% x", "a/b＼c ｀d｀ ＄5 50%％ k:： v ＜% x"),
    ],
)
def test_titles_keep_their_look_as_display_text(title: str, shown: str) -> None:
    """Only what ends the link or could run is replaced, each by its full-width form."""
    assert escape_display(title) == shown


@given(ANYTHING)
def test_a_display_text_never_ends_or_opens_anything(text: str) -> None:
    """It is one line, and holds neither the end of its link nor a mark that could run or pair up."""
    shown = escape_display(text)
    assert not re.search(r"[\[\]|`\\$\n]|<[A-Za-z/!?%]|%%|::", shown)
    assert escape_display(shown) == shown
    assert reader().parse(wikilink("Folder/note", "m7-1", text))[1].content.count("[[") == 1


def test_wikilinks_name_path_block_and_text() -> None:
    """Anchor and text may be missing; a path that would break the link becomes a Markdown link to the same file."""
    assert wikilink("CFlow/Memos/买菜", "m7-1", "x|y [z]") == "[[CFlow/Memos/买菜#^m7-1|x｜y ［z］]]"
    assert wikilink("a", "^m7-1", "") == "[[a#^m7-1]]"
    assert wikilink("a b", None, " C# \n notes ") == "[[a b|C# notes]]"
    assert wikilink("C#/a b", "m7-1") == "[a b](C%23/a%20b.md#^m7-1)"


# -- large memos -------------------------------------------------------------------------------------------------------------

LARGE = 400_000
REPEATED = [
    "[[", "`", "` ", "`a``", "<", "<a", "<ab:", "<a@", "%%", "::", "$", "$$", "$$ ", "$a ", "\\", " ^a", "](", "[](", "[a](b",
    "![[", "*a ", "_a ", "> ", "- ", "|", "a|", "|-\n", "# ", "\n", " ", "\u3000", "[a]: <b`c>\n", "[[\n", "[^1]: a\n", "```\n",
    "~~~ x\n", "- ```\n", "$$\n", "$$\n\n", "    $$\n", "a://", "data:a/b;", "&lt;", "a\n===\n", "= ", "`=", '"', "a:b ",
]  # fmt: skip


@FEW_SECONDS
@pytest.mark.parametrize("unit", REPEATED)
def test_no_repeated_mark_makes_it_slow(unit: str) -> None:
    """400,000 characters of any mark (100,000 where lines repeat) cost seconds to break, and no more to anchor and to read."""
    size = LARGE // 4 if "\n" in unit else LARGE
    text = (unit * size)[:size]
    assert len(neutralise(text)) >= size
    neutral = neutralise(text[: LARGE // 10])
    marked = anchored(neutral)
    assert strip_anchors(marked, "7") == normalise(neutral)
    assert read_anchors(marked) or not anchorable(split_blocks(neutral))
    assert len(escape_display(text)) <= LARGE
    assert len(plain_text(text)) <= LARGE


@FEW_SECONDS
def test_embedded_data_of_five_megabytes_is_no_burden() -> None:
    """A picture pasted into a memo passes as it is."""
    data = "data:image/png;base64," + "iVBORw0KGgo/" * 420_000
    for text in (f"![p]({data})\n\ntext", data, f"[a]: {data}", f"<{data}>", f"`{data}`"):
        assert neutralise(text) == text
    assert anchored(f"![p]({data})\n\ntext") == f"![p]({data}) ^m7-1\n\ntext ^m7-2"
    assert plain_text(f"![p]({data}) text") == "p text"


@FEW_SECONDS
def test_many_small_memos_are_quick() -> None:
    """Two years of memos are read and anchored in a sync that nobody waits for."""
    for number in range(2_800):
        text = neutralise(
            f"看完 {number} 部 `film::{number}`，记在 https://example.com/{number}\n\n- 片源 <b>\n- 片单 [[{number}]]\n\n#观影"
        )
        assert anchored(text, str(number)).count(f"^m{number}-") == 3


@FEW_SECONDS
def test_many_blocks_align_quickly() -> None:
    """A memo of thousands of blocks, equal or rewritten, costs no square of them."""
    old = [(n, f"block {n} of the list") for n in range(1, 3_001)]
    assert align_numbers(old, [text.upper() for _, text in old], 3_001)[1] == 3_001
    equal = [(n, "same") for n in range(1, 3_001)]
    assert align_numbers(equal, ["first", *["same"] * 2_999], 3_001)[1] == 3_001
