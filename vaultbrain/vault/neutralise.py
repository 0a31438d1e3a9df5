"""What memo text may not do in a vault: run, link, hide, tag a block, or leave something open behind it.

Pure. First it reads what the text is made of: blocks (CommonMark with tables, HTML off, ``$$`` blocks added), and which
stretches are code or math for every reader of a note. Then it breaks marks, and this is the one place that decides which and how:
text gets a backslash (invisible once rendered), formulas a space (invisible to TeX), code and whatever readers disagree on a
zero-width space. Everything else stays as typed: images, ordinary links, tags, task boxes, callouts, tables, rules.

What Obsidian and its plugins react to: https://obsidian.md/help/syntax (wikilinks, comments, block ids, HTML), Templater
(``<%`` in the file; ``<%+`` in the rendered page, therefore also in code and behind entities), Dataview (``key:: value``,
inline code and code blocks that begin with ``=`` or ``$=``), and any fence whose language a plugin owns.
"""

from __future__ import annotations

import enum
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from vaultbrain.memo import clean_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

#: Container levels (a list counts two, a quote one) that are read; the parser recurses and skips what lies deeper.
MAX_NESTING = 100

_KINDS = {
    "paragraph_open": "paragraph",
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "blockquote_open": "quote",
    "table_open": "table",
    "fence": "fence",
    "code_block": "code",
    "hr": "rule",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A top-level block. ``start`` and ``end`` are line numbers, half-open; ``text`` is those lines without blanks at the end.

    ``kind``: paragraph, heading, list, quote, table, fence, code (indented), math, rule, other. ``math`` is a block that begins
    and ends with ``$$``, or the whole run of CommonMark blocks that one pair of ``$$`` reaches across.
    """

    kind: str
    start: int
    end: int
    text: str


class Zone(enum.Enum):
    """How a stretch of text is read. What lies in no stretch is ordinary text.

    ``CODE`` is code for every reader, ``QUERY`` too, but begins like a Dataview query. ``DOUBT`` is code for one reader and
    text for another (CommonMark, the live preview, footnotes). ``INFO`` follows the opening marks of a fence.
    """

    CODE = enum.auto()
    QUERY = enum.auto()
    DOUBT = enum.auto()
    INFO = enum.auto()
    MATH = enum.auto()


class Stretch(NamedTuple):
    """Characters ``start`` to ``end`` (half-open) of the text."""

    start: int
    end: int
    zone: Zone


class _Dollars(NamedTuple):
    """A run of two or more ``$``, or, when empty, a place that no formula reaches across.

    ``opens``: it stands at the start of a line of a top-level paragraph, where a math block may begin.
    """

    start: int
    end: int
    top: int
    opens: bool


@dataclass(slots=True)
class Outline:
    """``lines`` of the text; ``blocks``; ``stretches`` in order, disjoint; ``code_lines``: numbers of all lines in code blocks.

    ``open_fence``: the marks of a top-level fence that is never closed, or empty. ``too_deep``: something is nested deeper than
    was read, so the rest of the outline cannot be trusted.
    """

    lines: list[str]
    blocks: list[Block]
    stretches: list[Stretch]
    code_lines: set[int]
    open_fence: str
    too_deep: bool


@lru_cache(maxsize=1)
def _block_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "maxNesting": MAX_NESTING})
    return parser.enable("table").disable(["html_block", "inline", "text_join"])


def read_outline(text: str) -> Outline:
    """The outline of ``text``. HTML is read as text, as it is once ``neutralise`` has escaped it."""
    # With a last line feed the parser counts lines like `split`, and a fence's content counts its own lines.
    return _Reader(text).read(_block_parser().parse(text + "\n"))


def split_blocks(text: str) -> list[Block]:
    """The top-level blocks of neutralised ``text`` in order. Blank lines and link reference definitions belong to none."""
    return read_outline(text).blocks


# The tail of a link, as far as it certainly ends where it seems to; ticks in any other tail may belong to the link.
_PLAIN_TAIL = r"""\((?:<[^<>`\\\n]*+>|(?:[^`()<>"'\\\n]++|\([^`()<>"'\\\n]*+\))*+)(?:"[^"`\\\n]*+"|'[^'`\\\n]*+')?[ \t]*+\)"""
_PLAIN_LABEL = r"\[[^`\[\]\\\n]*+\]"
_GREEDY_TAIL = rf"\](?=[(\[])(?!{_PLAIN_TAIL}|{_PLAIN_LABEL})"
_INLINE_MARK = re.compile(rf"\\[^\n]|`+|\$+|(?P<tail>{_GREEDY_TAIL})|(?P<address>://|www\.)")
_ADDRESS_END = re.compile(r"[\s<`]")
_TICKS = re.compile(r"`+")
_CELL_BAR = re.compile(r"(?<!\\)\|")
_FOOTNOTE = re.compile(r"^ {0,3}\[\^[^\]\s]+\]:", re.MULTILINE)
_QUERY_START = re.compile(r"[\s\ufeff]*\$?=")


class _Reader:
    """Walks the parser's block tokens once and collects an outline."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.offsets = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.tops: list[tuple[str, int, int]] = []
        self.stretches: list[Stretch] = []
        self.dollars: list[_Dollars] = []
        self.code_lines: set[int] = set()
        self.open_fence = ""
        # A fence that only the end of its list or quote closes is read differently by line-based readers: what follows
        # it is code for one and text for the other. The same holds for indented text after a footnote definition.
        self.lost_fence = False
        footnote = _FOOTNOTE.search(text)
        self.first_footnote = footnote.start() if footnote else len(text)

    def read(self, tokens: Iterable[Token]) -> Outline:
        in_table, deepest = False, 0
        for token in tokens:
            deepest = max(deepest, token.level)
            if token.type in ("table_open", "table_close"):
                in_table = token.type == "table_open"
            if token.map is None:
                continue
            self._visit(token, token.map[0], token.map[1], in_table)
        pairs = _pair_dollars(self.text, self.dollars)
        return Outline(
            self.lines, self._blocks(pairs), self._with_math(pairs), self.code_lines, self.open_fence, deepest + 2 >= MAX_NESTING
        )

    def _visit(self, token: Token, start: int, end: int, in_table: bool) -> None:
        if token.level == 0:
            self.tops.append((_KINDS.get(token.type, "other"), start, self._without_blank_end(start, end)))
        if token.type == "fence":
            self._read_fence(token, start, end)
        elif token.type == "code_block":
            self._read_indented(token, start, end)
        elif token.type == "tr_open":
            self._read_row(start)
        elif token.type == "inline" and not in_table:
            self._read_leaf(*self._span(start, end), in_paragraph=token.level == 1 and self.tops[-1][0] == "paragraph")

    def _span(self, start: int, end: int) -> tuple[int, int]:
        return self.offsets[start], min(self.offsets[end], len(self.text))

    def _without_blank_end(self, start: int, end: int) -> int:
        """The parser counts the blank lines below a list as part of it."""
        while end > start + 1 and is_blank(self.lines[end - 1]):
            end -= 1
        return end

    def _read_fence(self, token: Token, start: int, end: int) -> None:
        nested = token.level > 0
        closed = end - start == 2 + token.content.count("\n")
        self.code_lines.update(range(start, end))
        if not closed and nested:
            self.lost_fence = True
        elif not closed:
            self.open_fence = token.markup
        line_end = self.offsets[start] + len(self.lines[start])
        self._add(line_end - len(token.info), line_end, Zone.INFO)
        self._add(*self._span(start + 1, end - 1 if closed else end), self._code_zone(token.content, doubtful=self.lost_fence))
        self._bar_formulas(line_end)

    def _read_indented(self, token: Token, start: int, end: int) -> None:
        self.code_lines.update(range(start, end))
        span = self._span(start, end)
        before = self.tops[-2][0] if len(self.tops) > 1 else ""
        doubtful = (
            token.level > 0
            or self.lost_fence
            or before == "list"
            or span[0] > self.first_footnote
            or (start > 0 and not is_blank(self.lines[start - 1]))
        )
        zone = self._code_zone(token.content, doubtful)
        self._add(*span, zone)
        if zone is not Zone.CODE:
            self._bar_formulas(span[0])

    def _code_zone(self, content: str, doubtful: bool) -> Zone:
        if doubtful:
            return Zone.DOUBT
        return Zone.QUERY if _QUERY_START.match(content) else Zone.CODE

    def _read_row(self, line: int) -> None:
        """A code span never reaches across the bars of a table."""
        start = self.offsets[line]
        for bar in _CELL_BAR.finditer(self.lines[line]):
            end = self.offsets[line] + bar.start()
            self._read_leaf(start, end, in_paragraph=False)
            start = end + 1
        self._read_leaf(start, self.offsets[line] + len(self.lines[line]), in_paragraph=False)

    def _read_leaf(self, start: int, end: int, in_paragraph: bool) -> None:
        """Finds the code spans and the runs of dollars in inline content, container marks included.

        A code span over two lines, or one whose ticks a link, an address or a ``$…$`` may swallow, puts the rest in doubt.
        """
        runs: dict[int, list[int]] | None = None
        position, address, seen_tail, seen_dollar = start, -1, False, False
        while found := _INLINE_MARK.search(self.text, position, end):
            position = found.end()
            mark = found.group()
            if mark[0] == "$":
                seen_dollar = True
                self._add_dollars(found.start(), position, in_paragraph)
            elif mark[0] == "`":
                runs = _tick_runs(self.text, start, end) if runs is None else runs
                closing = _next_run(runs, len(mark), position)
                if closing < 0:
                    continue
                inner = self.text[position:closing]
                glued = address >= 0 and not _ADDRESS_END.search(self.text, address, found.start())
                if seen_tail or glued or "\n" in inner or (seen_dollar and "$" in inner):
                    return self._add(found.start(), end, Zone.DOUBT)
                self._add(position, closing, self._code_zone(inner, doubtful=False))
                position, address = closing + len(mark), -1
            else:
                seen_tail = seen_tail or found["tail"] is not None
                address = position if found["address"] else address
        return None

    def _add(self, start: int, end: int, zone: Zone) -> None:
        if start < end:
            self.stretches.append(Stretch(start, end, zone))

    def _add_dollars(self, start: int, end: int, in_paragraph: bool) -> None:
        if end - start > 1:
            line_start = self.text.rfind("\n", 0, start) + 1
            opens = in_paragraph and start - line_start < 4 and is_blank(self.text[line_start:start])
            self.dollars.append(_Dollars(start, end, len(self.tops) - 1, opens))

    def _bar_formulas(self, place: int) -> None:
        self.dollars.append(_Dollars(place, place, len(self.tops) - 1, opens=False))

    def _with_math(self, pairs: Sequence[tuple[int, int]]) -> list[Stretch]:
        """The stretches with each pair of ``$$`` laid over the indented code in it; no other stretch can lie in a pair."""
        if not pairs:
            return self.stretches
        starts = [start for start, _ in pairs]
        kept = [s for s in self.stretches if (i := bisect_right(starts, s.start) - 1) < 0 or s.start >= pairs[i][1]]
        return sorted(kept + [Stretch(start, end, Zone.MATH) for start, end in pairs])

    def _blocks(self, pairs: Sequence[tuple[int, int]]) -> list[Block]:
        tops = self._merge_math(pairs) if pairs else self.tops
        return [Block(kind, start, end, "\n".join(self.lines[start:end]).rstrip(" \t")) for kind, start, end in tops]

    def _merge_math(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[str, int, int]]:
        """The top-level blocks, with those that one ``$$`` pair reaches across made one."""
        starts = [start for _, start, _ in self.tops]
        last_of: dict[int, int] = {}
        for opening, closing in pairs:
            first, last = (bisect_right(starts, self._line_of(at)) - 1 for at in (opening, closing - 1))
            last_of[first] = max(last, last_of.get(first, last))
        merged: list[tuple[str, int, int]] = []
        index = 0
        while index < len(self.tops):
            at = reach = index
            while at <= reach:
                reach = max(reach, last_of.get(at, at))
                at += 1
            merged.append(self._join(index, reach))
            index = at
        return merged

    def _join(self, first: int, last: int) -> tuple[str, int, int]:
        kind, start, _ = self.tops[first]
        end = self.tops[last][2]
        framed = (
            kind == "paragraph" and self.lines[start].lstrip().startswith("$$") and self.lines[end - 1].rstrip().endswith("$$")
        )
        return ("math" if framed or last > first else kind), start, end

    def _line_of(self, offset: int) -> int:
        return bisect_right(self.offsets, offset) - 1


def is_blank(line: str) -> bool:
    """Blank for CommonMark: nothing but spaces and tabs."""
    return not line.strip(" \t")


def _tick_runs(text: str, start: int, end: int) -> dict[int, list[int]]:
    """Where the runs of backticks begin, in order, by their length."""
    runs: dict[int, list[int]] = {}
    for run in _TICKS.finditer(text, start, end):
        runs.setdefault(len(run.group()), []).append(run.start())
    return runs


def _next_run(runs: dict[int, list[int]], length: int, after: int) -> int:
    """The offset of the next run of exactly ``length`` backticks, or -1."""
    places = runs.get(length, [])
    index = bisect_left(places, after)
    return places[index] if index < len(places) else -1


def _pair_dollars(text: str, dollars: Iterable[_Dollars]) -> list[tuple[int, int]]:
    """The stretches from ``$$`` to its partner that every reader takes for one formula.

    Both ends lie in one top-level block, or the first one stands where a math block begins. Nothing between them may look like
    another end or like code: readers disagree there on what comes first. All other ``$$`` have no partner.
    """
    pairs: list[tuple[int, int]] = []
    pending: _Dollars | None = None
    for mark in dollars:
        if mark.end - mark.start != 2:
            pending = None
        elif pending and (mark.top == pending.top or pending.opens) and _is_formula(text[pending.end : mark.start]):
            pairs.append((pending.start, mark.end))
            pending = None
        else:
            pending = mark
    return pairs


def _is_formula(between: str) -> bool:
    return "$$" not in between and "`" not in between


_ZERO_WIDTH_SPACE = "\u200b"

#: Languages that name nothing but a colouring. Any other first word of a fence may be a plugin's and becomes plain text.
ORDINARY_LANGUAGES = frozenset(
    """
    ada apache applescript asm assembly awk bash basic bat batch bibtex c c# c++ clj clojure cmake cmd cobol coffee coffeescript
    conf console cpp crystal cs csharp css csv cuda cxx d dart diff docker dockerfile dos dotenv elisp elixir elm env erl erlang
    fish fortran fsharp gherkin git gitignore glsl go golang gql gradle graphql groovy h haskell hcl hpp hs html http ini java
    javascript jl js json json5 jsonc jsonl jsp jsx julia kotlin kt latex less lisp log lua make makefile markdown mathematica
    matlab md nasm nginx nim nix none objc objective-c objectivec ocaml octave pascal patch perl php pl plain plaintext postgres
    powershell prolog properties proto protobuf ps1 purescript py py3 python python3 r racket rb reg regex rs rst ruby rust sass
    scala scheme scss sed sh shell shellsession solidity sql sqlite svelte svg swift tcl terraform tex text tf toml ts tsv tsx
    txt typescript v vb verilog vhdl vim vue wasm xhtml xml yaml yml zig zsh
    """.split()
)

#: Deepest indentation, in columns, at which list and quote marks are left alone in a memo that is nested beyond reading.
_MAX_DEEP_COLUMNS = 80

#: Two are needed by nearly every text that needs any, three or four by contrived ones.
_MAX_PASSES = 12

# `<` and `%` as the rendered page may get them. CommonMark: entities end with a semicolon; numbers may have leading zeros.
_RENDERED_TEMPLATE = re.compile(r"(<|&(?:lt|LT|#0{0,5}60|#[xX]0{0,4}3[cC]);)(?=\\?%|&(?:percnt|#0{0,5}37|#[xX]0{0,4}25);)")

# An address in angle brackets is no HTML. Narrower than CommonMark's: ticks and dollars would mean something else once the
# `<` is escaped after all.
_SCHEME = r"[A-Za-z][A-Za-z0-9+.-]{1,31}"
_AUTOLINK = rf"<(?:{_SCHEME}:[^\s<>`$]*+|[A-Za-z0-9.!#&'*+/=?^_{{|}}~-]++@[A-Za-z0-9][A-Za-z0-9.-]*+)>"
_HTML = rf"(?P<html>(?!{_AUTOLINK})<(?=[A-Za-z/!?]))"
_URL = rf"(?P<url>(?<![A-Za-z0-9+.-]){_SCHEME}://[!-;=?-\[\]-_a-~]*+)"
_DESTINATION = rf"(?P<destination>\]\(<{_SCHEME}:[^<>`$\n]*+>)"
_MATH = r"(?P<math>\$(?=[^\s$])(?:\\[^\n]|[^$`\\\n])++(?<!\s)\$(?![\d$]))"
_ESCAPE = r"\\[!-/:-@\[-`{-~]"
_DOLLARS = r"(?P<dollars>\${2,})"
_TWIN = r"(?P<twin>(?<=\[)\[|(?<=%)%|(?<=:):)"
_TWIN_IN_URL = r"(?P<twin>(?<=\[)\[|(?<=%)%)"
_TWIN_IN_DOUBT = r"(?P<twin>(?<=\[)\[|(?<=%)%|(?<=:):|(?<=\$)\$)"
_BLOCK_ID = r"(?P<id>(?:^|(?<=[\s>\ufeff]))\^[A-Za-z0-9-]++)(?=[^\S\n\u2028\u2029]*+(?:$|[\u2028\u2029]))"
_QUERY = r"(?P<query>(?:^(?:[>*+.)\d-]|[^\S\n])*+|`++\s*+)(?=\$?=))"
_FENCE = r"(?P<fence>^[ \t>*+.)\d-]*+(?:`{3,}+|~{3,}+)[ \t]*+)(?P<language>[^\s`]++)"


def _any_of(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.MULTILINE)


_IN_TEXT = _any_of(_ESCAPE, _URL, _DESTINATION, _MATH, _DOLLARS, _HTML, _TWIN, _BLOCK_ID)
_IN_URL = _any_of(_ESCAPE, _DOLLARS, _TWIN_IN_URL)
_IN_MATH = _any_of(r"(?P<html><(?=[A-Za-z/!?]))", _TWIN, _BLOCK_ID)
_IN_DOUBT = _any_of(_HTML, _TWIN_IN_DOUBT, _BLOCK_ID, _QUERY, _FENCE)
_QUERY_MARK = re.compile(r"\$?=")
# The marks of our managed region would end it even inside code.
_REGION_MARK = re.compile(r"%%(?=[ \t]*+vaultbrain:)", re.IGNORECASE)
# `[[a]: b` is text, but `[\[a]: b` would be a link reference definition, which no reader shows.
_NEAR_DEFINITION = re.compile(r"^([ \t>*+.)\d-]*+)\[(?=\[)", re.MULTILINE)
_CONTAINER_MARKS = re.compile(r"[ \t>*+.)\d-]*+")
_FIRST_MARK = re.compile(r"[>*+.)-]")


def neutralise(text: str) -> str:
    """``text`` (cleaned by ``clean_text``) with everything broken that would run, link, hide or stay open in a note.

    Lines keep their number and order, but for one closing line after a fence that was left open. Idempotent.
    """
    text = _RENDERED_TEMPLATE.sub(rf"\1{_ZERO_WIDTH_SPACE}", clean_text(text))
    # Breaking a mark can change how the rest reads (a definition becomes a paragraph): repeat until nothing is left to break.
    for _ in range(_MAX_PASSES):
        before, text = text, _break_once(text)
        if text == before:
            break
    return text


def _break_once(text: str) -> str:
    outline = read_outline(text)
    if outline.too_deep and (flattened := _flatten(outline.lines)) != text:
        return flattened
    break_text = _break_text_near_definitions if "]:" in text else _break_text
    pieces: list[str] = []
    position = 0
    for start, end, zone in outline.stretches:
        pieces += break_text(text[position:start]), _BREAK[zone](text[start:end])
        position = end
    pieces.append(break_text(text[position:]))
    if outline.open_fence:
        pieces += "" if text.endswith("\n") else "\n", outline.open_fence
    return "".join(pieces)


def _break_text_near_definitions(text: str) -> str:
    return _break_text(_NEAR_DEFINITION.sub(r"\1\\[", text))


def _break_text(text: str) -> str:
    return _IN_TEXT.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    token = found[0]
    match found.lastgroup:
        case None:
            return token
        case "url" | "destination":
            return _IN_URL.sub(_escaped, token)
        case "math":
            return _break_math(token)
        case "dollars":
            return "\\$" * len(token)
        case _:
            return "\\" + token


def _break_math(formula: str) -> str:
    """Spaces and empty groups change nothing in a formula, where a backslash would."""
    return _IN_MATH.sub(_spaced, formula)


def _spaced(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "html":
            return "< "
        case "id":
            return found[0] + "{}"
        case _:
            return " " + found[0]


def _break_doubtful(text: str) -> str:
    """Breaks by a zero-width space, which shows neither in code nor in text."""
    return _IN_DOUBT.sub(_split, text)


def _split(found: re.Match[str]) -> str:
    match found.lastgroup:
        case "html" | "query":
            return found[0] + _ZERO_WIDTH_SPACE
        case "language":
            return found["fence"] + _allowed_info(found["language"])
        case _:
            return _ZERO_WIDTH_SPACE + found[0]


def _break_code(code: str) -> str:
    return _REGION_MARK.sub(f"%{_ZERO_WIDTH_SPACE}%", code)


def _break_query(code: str) -> str:
    return _break_code(_QUERY_MARK.sub(rf"{_ZERO_WIDTH_SPACE}\g<0>", code, count=1))


def _break_info(info: str) -> str:
    return _break_doubtful(_allowed_info(info))


def _allowed_info(info: str) -> str:
    """``info`` led by an ordinary language; an empty one stays empty."""
    words = info.split(maxsplit=1)
    if not words or words[0].casefold() in ORDINARY_LANGUAGES:
        return info
    before, word, after = info.partition(words[0])
    return f"{before}text {word}{after}"


_BREAK: dict[Zone, Callable[[str], str]] = {
    Zone.CODE: _break_code,
    Zone.QUERY: _break_query,
    Zone.DOUBT: _break_doubtful,
    Zone.INFO: _break_info,
    Zone.MATH: _break_math,
}


def _flatten(lines: list[str]) -> str:
    """The text with the containers of absurdly indented lines turned into plain characters, so that the rest can be read."""
    return "\n".join(map(_flatten_line, lines))


def _flatten_line(line: str) -> str:
    found = _CONTAINER_MARKS.match(line)
    assert found  # the pattern matches the empty text
    marks = found[0]
    if len(marks.expandtabs(4)) <= _MAX_DEEP_COLUMNS:
        return line
    return _FIRST_MARK.sub(r"\\\g<0>", marks, count=1) + line[len(marks) :]
