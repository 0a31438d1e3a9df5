"""Which block of a memo answers, and which of its words to show. What is shown stands word for word in that block.

Pure. Works on the blocks as they stand in the note, so that an excerpt can be found there again. Chooses by sentence and by list
item, the rare words of the question before the common ones, and the nearest chunk where no word was met. Never cuts inside an
address, a link, a code span, an emoji or a short quotation.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut
from vaultbrain.memo import without_tags
from vaultbrain.vault.markdown import anchor_id, neutralise, split_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: Characters shown of one source, and lines of a list or of code. Only an address or a link may reach beyond.
MAX_CHARS = 220
MAX_LINES = 4

#: What a block's share of the nearest chunk counts, against 1 for a rare word of the query standing in it.
_NEAREST_WEIGHT = 1.2
#: The same for a sentence or an item: the words decide, and the chunk where they do not.
_NEAREST_PIECE_WEIGHT = 0.3

#: What each address (also when addresses are wanted) and being more than a heading add to a block; what is left of the worth of a
#: heading, a line of tags or an introduction; and how much of its words counts for the block that it introduces.
_ADDRESS_WORTH, _WANTED_ADDRESS_WORTH, _CONTENT_WORTH, _BARE_WORTH = 0.1, 1.0, 0.6, 0.1
_INTRODUCED = 0.9
_MAX_ADDRESSES = 4

#: Characters of a line that may be no more than a title or an introduction.
_LONGEST_INTRODUCTION = 48
#: Words of an item that are asked for, not only near to it, so that the items around need not be shown; unless what is shown has
#: fewer characters than this.
_ASKED_FOR, _LEAST_SHOWN = 0.65, 16
#: Characters of a quotation or of brackets that stay whole, and of an address or a link: longer ones are cut like any text.
_LONGEST_QUOTATION, _LONGEST_LINK = 120, 600
#: A cut at the end of a clause is preferred from this share of the room on.
_CLAUSE_FROM = 0.4

_LINE_IS_BARE = re.compile(r"^[\s>|:\-=`~*_#+$]*$")
_ADDRESS = re.compile(r"https?://")
_BARE_ADDRESS = re.compile(r"\s*(?:[-*+]\s+)?<?https?://\S+\s*$")
#: Only tags, or a heading.
_NAMES_ONLY = re.compile(r"\s*(?:(?:#\S+\s*)+|#{1,6}\s[^\n]*|[^\n]*\n(?:=+|-+)\s*)$")
_ITEM = re.compile(r"[ \t]*(?:>[ \t]*)*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_INTRODUCED_START = re.compile(r"[ \t]*(?:[-*+][ \t]|\d{1,9}[.)][ \t]|>|`{3}|~{3}|\|)")
_ENDS_SENTENCE = re.compile(r"[。！？!?；;.…][”’」』）)\]\"']*$")

_CLOSERS = "”’」』）)】》〉\\]\"'*_~"
_SENTENCE_END = re.compile(
    rf"(?:[。！？；…]+|[!?;](?=[\s{_CLOSERS}]|[^\x00-\x7f]|$)|\.(?=[{_CLOSERS}]*(?:\s|$)))[{_CLOSERS}]*\s*|\n"
)
_CLAUSE_END = re.compile(r"[，、：]+\s*|[,:](?=\s)\s*|\s—+\s|——|\s+(?=\S)")
#: What a cut may not fall into: code, a link, an address, a mark of a list with what stands directly before it.
_UNBREAKABLE = re.compile(
    r"(?<!`)(`+)(?!`)[^\n]{1,300}?(?<!`)\1(?!`)"
    r"|!?\[[^\[\]\n]{0,200}\]\([^()\s]{0,400}(?:\([^()\s]{0,200}\)[^()\s]{0,200})?\)"
    r"|<?(?:https?://|www\.)[^\s<>\u3000-\u303f\uff00-\uffef]+>?"
    r"|^[ \t]*(?:>[ \t]*)*(?:[-*+]|\d{1,9}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?"
    r"|(?P<mark>\*\*|==|~~)(?=\S)[^*=~\n]{1,120}(?P=mark)"
    r"|\\[!-/:-@\[-`{-~]|[A-Za-z0-9_]+(?:['’.-][A-Za-z0-9_]+)*",
    re.MULTILINE,
)
_QUOTATION_MARKS = dict(zip("「『（(《〈【[“‘", "」』）)》〉】]”’", strict=True))
_QUOTATION_ENDS = frozenset(_QUOTATION_MARKS.values())
_DANGLING = " \t，、,：:；;"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)
_JOINER = "\u200d"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``text`` may have several lines, each verbatim in the block; ``anchor`` is the block's id without ``^``, or empty.

    Verbatim as it reads: a mark that is left alone where its partner was cut off is escaped.
    """

    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an excerpt should show: folded ``terms``, the ``nearest`` chunk's text, and rather addresses than thoughts.

    ``weights``: token of the terms → how much it says, 0..1; one that is not named counts 1.
    """

    terms: Sequence[str]
    nearest: str = ""
    addresses: bool = False
    weights: Mapping[str, float] = field(default_factory=dict)


class _Scale:
    """What a piece of text is worth to whoever asked."""

    def __init__(self, wanted: Wanted) -> None:
        tokens = dict.fromkeys(cut(" ".join(wanted.terms)))
        self.weights = {token: wanted.weights.get(token, 1.0) for token in tokens}
        self.near = frozenset(cut(fold(wanted.nearest)))
        self.addresses = wanted.addresses

    def met(self, text: str) -> dict[str, float]:
        """The tokens of the question in it, with their weights. A tag is the whole memo's, and says nothing of this piece."""
        words = set(cut(fold(without_tags(text))))
        return {token: weight for token, weight in self.weights.items() if token in words}

    def share(self, block: str) -> float:
        """How much of the nearest chunk's words a block has, 0..1; however long the block is."""
        return len(self.near & set(cut(fold(block)))) / len(self.near) if self.near else 0.0

    def nearness(self, piece: str) -> float:
        """How like the nearest chunk a line or a sentence is, 0..1: the cosine of their sets of words."""
        words = set(cut(fold(piece)))
        return len(self.near & words) / math.sqrt(len(self.near) * len(words)) if self.near and words else 0.0

    def worth(self, text: str) -> float:
        return sum(self.met(text).values()) + _NEAREST_PIECE_WEIGHT * self.nearness(text)


def best_excerpt(
    memo_id: str, anchors: Sequence[tuple[int, str]], content: str, wanted: Wanted, unlinked: Sequence[str] = ()
) -> Excerpt:
    """``anchors`` are (number, block text), ``unlinked`` the texts of blocks that have no anchor.

    Without either, the blocks of ``content`` serve and nothing is linked.
    """
    linked = [(anchor_id(memo_id, number), text) for number, text in anchors]
    blocks = [*linked, *(("", text) for text in unlinked)] or [("", block.text) for block in split_blocks(neutralise(content))]
    if not blocks:
        return Excerpt("", "")
    judged = list(_judged([text for _, text in blocks], _Scale(wanted)))
    best = judged.index(max(judged, key=lambda item: item[0]))
    anchor, text = blocks[best]
    return Excerpt(cut_excerpt(text, wanted, is_introduced=judged[best][1]), anchor)


def _judged(texts: Sequence[str], scale: _Scale) -> Iterator[tuple[float, bool]]:
    """How well each block answers, and whether rather by what introduced it.

    What names a subject and says nothing of it leaves its words to the block that follows.
    """
    handed_on: Mapping[str, float] = {}
    for number, text in enumerate(texts):
        following = texts[number + 1] if number + 1 < len(texts) else ""
        own = scale.met(text)
        met = {token: _INTRODUCED * weight for token, weight in handed_on.items()} | own
        worth = sum(met.values()) + _NEAREST_WEIGHT * scale.share(text)
        addresses = min(len(_ADDRESS.findall(text)), _MAX_ADDRESSES)
        worth += addresses * (_WANTED_ADDRESS_WORTH if scale.addresses else _ADDRESS_WORTH)
        is_introduced = bool(handed_on) and sum(handed_on.values()) >= sum(own.values())
        introduces = _introduces(text, following)
        handed_on = met if introduces else {}
        says_little = _NAMES_ONLY.match(text) or introduces or (number == 0 and _is_title(text, following))
        yield worth * _BARE_WORTH if says_little else worth + _CONTENT_WORTH, is_introduced


def _introduces(text: str, following: str) -> bool:
    """Whether a block only leads to the next: a heading, or a short line before a list, a quotation, code or a table."""
    if not following or "\n" in text.strip() or _INTRODUCED_START.match(text):
        return False
    if _NAMES_ONLY.match(text) or text.rstrip().endswith(("：", ":")):
        return True
    return _is_title(text, following) and bool(_INTRODUCED_START.match(following))


def _is_title(text: str, following: str) -> bool:
    """Whether it is a short line without the end of a sentence, and more follows."""
    line = text.strip()
    return bool(following) and "\n" not in line and len(line) <= _LONGEST_INTRODUCTION and not _ENDS_SENTENCE.search(line)


def cut_excerpt(text: str, wanted: Wanted, *, is_introduced: bool = False) -> str:
    """At most ``MAX_LINES`` lines and about ``MAX_CHARS`` characters of the block: what answers, in the block's order.

    ``is_introduced``: what stands before the block says that all of it answers. Code keeps its fence and a table its head, so
    that both look in an answer as they do in the memo.
    """
    shown = _pieces_that_answer(text, _Scale(wanted), is_introduced=is_introduced)
    sound = neutralise(shown)  # half of a formula or of a code span over two lines would be live, or open
    return text if sound != shown and len(text) <= MAX_CHARS and text.count("\n") < MAX_LINES else sound


def _pieces_that_answer(text: str, scale: _Scale, *, is_introduced: bool) -> str:
    lines = text.split("\n")
    kind = next((block.kind for block in split_blocks(text)), "paragraph")
    if kind == "fence" and len(lines) > 1:
        inner = [line for line in lines[1:-1] if line.strip()]
        return "\n".join([lines[0], *_rows(inner, scale, around=True), lines[-1]]) if inner else ""
    if kind == "table":
        rows = [line for line in lines[2:] if without_tags(line).strip()]
        return "\n".join([*lines[:2], *_rows(rows, scale, around=False)])
    if kind == "math":
        return text
    lines = [line.rstrip() for line in lines if not _LINE_IS_BARE.match(line)]
    lines = [line for line in lines if without_tags(line).strip()] or lines
    return "\n".join(_shown(lines, scale, is_introduced=is_introduced))


def _rows(lines: Sequence[str], scale: _Scale, *, around: bool) -> list[str]:
    """Whole lines: those with words of the question, then (``around`` them, or when there are none) what follows and precedes."""
    met = [bool(scale.met(line)) for line in lines]
    with_words = [n for n, found in enumerate(met) if found]
    by_worth = sorted(with_words, key=lambda n: (-scale.worth(lines[n]), n))
    start = with_words[0] if with_words else _nearest(lines, scale) if len(lines) > MAX_LINES else 0
    filled = [*range(start, len(lines)), *range(start - 1, -1, -1)] if around or not with_words else []
    chosen = sorted(list(dict.fromkeys([*by_worth, *filled]))[:MAX_LINES])
    return [lines[n] if len(lines[n]) <= MAX_CHARS else _cut_inside(lines[n], MAX_CHARS) for n in chosen]


def _nearest(lines: Sequence[str], scale: _Scale) -> int:
    return max(range(len(lines)), key=lambda n: (scale.nearness(lines[n]), -n), default=0)


def _shown(lines: Sequence[str], scale: _Scale, *, is_introduced: bool) -> list[str]:
    """The lines to show; all of them when there is room. Only the best is cut within a sentence, the others between them."""
    is_list = sum(bool(_ITEM.match(line)) for line in lines) > len(lines) / 2 or sum(map(_is_bare_address, lines)) > 1
    if len(lines) == 1 or (not is_list and len(lines) <= MAX_LINES and sum(map(len, lines)) <= MAX_CHARS):
        return [line if len(line) <= MAX_CHARS else _best_sentences(line, scale, MAX_CHARS) for line in lines]
    chosen: dict[int, str] = {}
    room = MAX_CHARS
    for n in _in_order_of_worth(lines, scale, stands_alone=is_list and not is_introduced):
        line = lines[n]
        if len(line) > room:
            line = _best_sentences(line, scale, room, is_whole=bool(chosen))
        if line:
            chosen[n] = line
            room -= len(line)
        if len(chosen) == MAX_LINES or room <= 0:
            break
    return _without_indent([chosen[n] for n in sorted(chosen)])


def _in_order_of_worth(lines: Sequence[str], scale: _Scale, *, stands_alone: bool) -> list[int]:
    """The lines by what they say; then those around the best, unless items that ``stands_alone`` hold what was asked for."""
    best = sorted((n for n, line in enumerate(lines) if scale.met(line)), key=lambda n: (-scale.worth(lines[n]), n))
    if scale.addresses:
        best += [n for n, line in enumerate(lines) if _ADDRESS.search(line)]
    first = best[0] if best else _nearest(lines, scale)
    order: dict[int, None] = {}
    for n in best:
        order |= dict.fromkeys([n, *_what_it_belongs_to(lines, n)])
    is_asked_for = bool(best) and sum(scale.met(lines[best[0]]).values()) >= _ASKED_FOR
    if stands_alone and is_asked_for and sum(len(lines[n]) for n in order) >= _LEAST_SHOWN:
        return list(order)
    return list(order | dict.fromkeys([*range(first, len(lines)), *range(first - 1, -1, -1)]))


def _what_it_belongs_to(lines: Sequence[str], number: int) -> Iterator[int]:
    """The item above an indented one, and the line that says what a bare address is."""
    if indent := _indent(lines[number]):
        yield next((n for n in range(number - 1, -1, -1) if _indent(lines[n]) < indent), number)
    if number and _is_bare_address(lines[number]) and not _ADDRESS.search(lines[number - 1]):
        yield number - 1


def _is_bare_address(line: str) -> bool:
    return _BARE_ADDRESS.match(line) is not None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _without_indent(lines: Sequence[str]) -> list[str]:
    """Lines out of the middle of a list, moved to the margin: alone, an indented one would be code."""
    least = min(map(_indent, lines), default=0)
    return [line[least:] for line in lines]


# sentences


@dataclass(frozen=True, slots=True)
class _Piece:
    """A sentence, or a clause of one that is too long: characters ``start`` to ``end`` of a line.

    ``goes_on``: its sentence has more clauses.
    """

    start: int
    end: int
    is_clause: bool = False
    goes_on: bool = False


def _best_sentences(line: str, scale: _Scale, room: int, *, is_whole: bool = False) -> str:
    """The run of sentences that says most and has room; one that is too long ends with ``…``, or ``is_whole`` with nothing."""
    pieces = [piece for piece in _pieces(line, room) if not (is_whole and piece.is_clause)]
    texts = [line[piece.start : piece.end] for piece in pieces]
    met = [scale.met(text) for text in texts]
    if is_whole and not any(met):
        return ""
    worths = [sum(found.values()) + _NEAREST_PIECE_WEIGHT * scale.nearness(text) for found, text in zip(met, texts, strict=True)]
    runs = [(first, _last_with_room(pieces, first, room)) for first in range(len(pieces)) if met[first] or not any(met)]
    first, last = max(runs, key=lambda run: (_together(met[run[0] : run[1] + 1]), max(worths[run[0] : run[1] + 1]), -run[0]))
    while first and _follows(pieces[first - 1], pieces[first]) and pieces[last].end - pieces[first - 1].start <= room:
        first -= 1
    text = line[pieces[first].start : pieces[last].end].strip()
    if len(text) > room:
        return _cut_inside(text, room)
    return text.rstrip(_DANGLING) + "…" if pieces[last].goes_on else text


def _together(met: Iterable[Mapping[str, float]]) -> float:
    """The weight of all tokens that were met, each once."""
    union: dict[str, float] = {}
    for tokens in met:
        union |= tokens
    return sum(union.values())


def _follows(one: _Piece, other: _Piece) -> bool:
    return one.end == other.start


def _last_with_room(pieces: Sequence[_Piece], first: int, room: int) -> int:
    last = first
    for n in range(first + 1, len(pieces)):
        if not _follows(pieces[n - 1], pieces[n]) or pieces[n].end - pieces[first].start > room:
            break
        last = n
    return last


def _pieces(line: str, room: int) -> list[_Piece]:
    """The line's sentences in order, without gaps; those longer than ``room`` in clauses."""
    fixed = uncuttable(line)
    pieces: list[_Piece] = []
    for start, end in _spans(line, 0, len(line), _SENTENCE_END, fixed):
        if end - start <= room:
            pieces.append(_Piece(start, end))
            continue
        clauses = _spans(line, start, end, _CLAUSE_END, fixed)
        pieces += [_Piece(first, last, is_clause=True, goes_on=last < end) for first, last in clauses]
    return pieces


def _spans(line: str, start: int, end: int, ends: re.Pattern[str], fixed: bytearray) -> Iterator[tuple[int, int]]:
    for found in ends.finditer(line, start, end):
        if start < found.end() < end and not fixed[found.end()] and line[start : found.end()].strip():
            yield start, found.end()
            start = found.end()
    if start < end:
        yield start, end


def uncuttable(line: str) -> bytearray:
    """For each position whether a cut there would fall into something that belongs together."""
    fixed = bytearray(len(line) + 1)
    for found in _UNBREAKABLE.finditer(line):
        if found.end() - found.start() <= _LONGEST_LINK:
            fixed[found.start() + 1 : found.end()] = b"\1" * (found.end() - found.start() - 1)
    for start, end in _quotations(line):
        fixed[start + 1 : end] = b"\1" * (end - start - 1)
    for position in range(1, len(line)):
        if _belongs_to_the_one_before(line, position):
            fixed[position] = 1
    return fixed


def _quotations(line: str) -> Iterator[tuple[int, int]]:
    """Where quotations and brackets begin and end, those that are closed and short."""
    opened: list[tuple[int, str]] = []
    for position, character in enumerate(line):
        if closer := _QUOTATION_MARKS.get(character):
            opened.append((position, closer))
        elif character in _QUOTATION_ENDS:
            place = next((n for n in range(len(opened) - 1, -1, -1) if opened[n][1] == character), None)
            if place is not None:
                start = opened[place][0]
                del opened[place:]
                if position + 1 - start <= _LONGEST_QUOTATION:
                    yield start, position + 1
        elif opened and position - opened[0][0] > _LONGEST_QUOTATION:
            del opened[0]


def _belongs_to_the_one_before(line: str, position: int) -> bool:
    """Whether a character is no beginning: an accent, a selector, a joiner, a skin tone, the second letter of a flag."""
    character, before = line[position], line[position - 1]
    if character < "\u0300":
        return before == _JOINER
    if _JOINER in (character, before) or ord(character) in _SKIN_TONES or unicodedata.category(character) in ("Mn", "Me", "Mc"):
        return True
    if ord(character) not in _FLAG_LETTERS:
        return False
    letters = 0
    while position and ord(line[position - 1]) in _FLAG_LETTERS:
        position -= 1
        letters += 1
    return letters % 2 == 1


def _cut_inside(text: str, room: int) -> str:
    """The beginning of a sentence that is too long, up to the end of a clause or a word, with ``…``."""
    fixed = uncuttable(text)
    clauses = [m.end() for m in _CLAUSE_END.finditer(text, 0, room) if m.end() >= _CLAUSE_FROM * room and not fixed[m.end()]]
    free = [n for n in range(min(room, len(text) - 1), 0, -1) if not fixed[n]]
    beyond = next((n for n in range(room, len(text)) if not fixed[n]), len(text))
    end = clauses[-1] if clauses else free[0] if free else beyond
    return text if end >= len(text) else text[:end].rstrip(_DANGLING) + "…"
