"""The part "by theme" of an answer, in each of the three modes: what an inventory lists, a match compares, an exploration asks.

Pure. Every hit that is strong or related stands in a section; every text of a memo is verbatim in the block that its link names.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from vaultbrain.answer.best import best_pieces, pieces_by_memo, rank
from vaultbrain.answer.citing import inline, link_to, shown_line, shown_title, shown_topic
from vaultbrain.answer.context import EXPLORE, INVENTORY, MATCH
from vaultbrain.answer.explore import Exploration, SubQuestion, Voice, explore
from vaultbrain.answer.matching import MatchedPart, match_parts
from vaultbrain.answer.pieces import ADDRESS, bare_line, columns, says_something, sentences, without_edge_tags
from vaultbrain.answer.themes import group_by_theme
from vaultbrain.answer.wording import Words
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut
from vaultbrain.memo import without_tags
from vaultbrain.retrieve.fusion import RELATED, STRONG
from vaultbrain.vault.markdown import split_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.matching import Touch
    from vaultbrain.answer.pieces import Piece
    from vaultbrain.retrieve.search import Hit, SearchResult

#: Lines with addresses shown of one memo.
MAX_ADDRESS_LINES = 6
#: Columns of a part of a passage in a heading.
PART_COLUMNS = 44

_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_CUT_CODE_COLUMNS = 120
_HEADING_MARK = re.compile(r"^\s*#{1,6}\s+")
_SPACE_AT_MARK = re.compile(r"\s+(?=[？：，])")
#: Share of the hits that have to speak to a sub-question; below it they are better sorted by what they are about.
_LEAST_SPOKEN = 0.4


@dataclass(frozen=True, slots=True)
class Line:
    """``link`` is empty when the line stands in the same block as the one before."""

    text: str
    link: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Item:
    """What one memo says under a heading. ``words`` are shared with a passage; ``more``: lines with addresses not shown."""

    memo_id: str
    text: str
    link: str
    anchor: str
    words: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """``name`` is a heading, inert. ``part`` is the number of the passage's part in a match, -1 elsewhere."""

    name: str
    items: tuple[Item, ...]
    part: int = -1


@dataclass(frozen=True, slots=True)
class Arranged:
    """The sections of an answer, and what the mode found besides."""

    sections: tuple[Section, ...] = ()
    exploration: Exploration = field(default_factory=Exploration)
    matched: tuple[MatchedPart, ...] = ()


class _Desk(NamedTuple):
    """What all the ways to arrange work with. ``near`` are the hits that are strong or related."""

    result: SearchResult
    context: AnswerContext
    words: Words
    near: tuple[Hit, ...]
    pieces: Mapping[str, tuple[Piece, ...]]


def arrange(result: SearchResult, context: AnswerContext) -> Arranged:
    """Sorts the hits as the mode wants it. A passage without parts and a subject without sub-questions go by theme."""
    near = tuple(hit for hit in result.hits if hit.label in (STRONG, RELATED))
    if context.mode == MATCH:
        near = result.hits  # a passage shares little with anything; what is near enough to be cited is near enough to compare
    desk = _Desk(result, context, Words(context.language), near, pieces_by_memo(result.hits, context))
    if not near:
        return Arranged()
    if context.mode == MATCH and context.passage_parts:
        return _by_part(desk)
    if context.mode == EXPLORE:
        arranged = _by_subquestion(desk)
        if arranged.sections:
            return arranged
        return replace(arranged, sections=_by_theme(desk))
    return Arranged(_by_theme(desk))


# by theme


def _by_theme(desk: _Desk) -> tuple[Section, ...]:
    topic = shown_topic(desk.result) or desk.words("this")
    themes = group_by_theme(desk.near, desk.context.material, desk.result.query.topic)
    is_list = desk.context.mode == INVENTORY
    sections = []
    for theme in themes:
        name = inline(theme.name) or (desk.words("other_theme") if len(themes) > 1 else topic)
        items = [_resource(desk, hit) if is_list else gist(desk.result, hit, desk.pieces[hit.memo_id]) for hit in theme.hits]
        if is_list:
            items.sort(key=lambda item: not (item.lines or ADDRESS.search(item.text)))
        sections.append(Section(name, tuple(items)))
    return tuple(sections)


def gist(result: SearchResult, hit: Hit, pieces: Sequence[Piece]) -> Item:
    """The piece that answers best; a line of code or of a table where that is what was found."""
    first = hit.excerpt.split("\n")[0]
    if _FENCE.match(first):
        code = _best_line([line for line in hit.excerpt.split("\n") if not _FENCE.match(line)], hit)
        shown = " ".join(code.split()).replace("`", "'")
        return _item(
            hit, f"`{shown}`" if columns(shown) <= _CUT_CODE_COLUMNS else f"`{shown[:_CUT_CODE_COLUMNS].rstrip()}…`", hit.anchor
        )
    if not pieces or first.startswith("|"):
        lines = [bare for line in hit.excerpt.split("\n") if (bare := without_edge_tags(bare_line(line)[0])).strip("|-: ")]
        line = _best_line([line for line in lines if says_something(line)] or lines, hit)
        return _item(hit, shown_line(line) or shown_title(hit.title), hit.anchor)
    piece = best_pieces(rank(result, hit, pieces), hit)[0]
    return _item(hit, shown_line(piece.text), piece.anchor)


def _item(hit: Hit, text: str, anchor: str) -> Item:
    return Item(hit.memo_id, text, link_to(hit, anchor), anchor)


def _best_line(lines: Sequence[str], hit: Hit) -> str:
    """The line with the most words of the question; the first of equals."""
    tokens = set(cut(" ".join(hit.matched)))
    return max(lines, key=lambda line: len(tokens & set(cut(fold(line)))), default="")


# an inventory


def _resource(desk: _Desk, hit: Hit) -> Item:
    """What it is, and its addresses: on one line, or the lines of a list below the line that says what they are."""
    blocks = desk.context.material.blocks.get(hit.memo_id) or [(hit.anchor, hit.excerpt)]
    lines = [(anchor, line) for anchor, block in blocks for line in _lines_of(block)]
    found = [(anchor, line) for anchor, line in lines if ADDRESS.search(line)]
    if not found:
        return gist(desk.result, hit, desk.pieces[hit.memo_id])
    said = [(anchor, line) for anchor, line in lines if not ADDRESS.search(line)]
    is_bare = len(found) == 1 and not says_something(ADDRESS.sub("", found[0][1]))
    if (len(found) == 1 and not is_bare) or not said or lines[0] == found[0]:
        (anchor, lead), below = found[0], found[1:]
    else:
        (anchor, lead), below = said[0], found
    shown = tuple(_lines(hit, anchor, below[:MAX_ADDRESS_LINES]))
    return replace(_item(hit, _line_around_address(lead), anchor), lines=shown, more=max(0, len(below) - MAX_ADDRESS_LINES))


def _lines_of(block: str) -> list[str]:
    """The lines of a block that say something or hold an address, without marks and tags at their ends."""
    if next((part.kind for part in split_blocks(block)), "paragraph") in ("fence", "code", "table", "math", "rule"):
        return []
    bare = [without_edge_tags(bare_line(_HEADING_MARK.sub("", line))[0]) for line in block.split("\n")]
    return [line for line in bare if ADDRESS.search(line) or any(map(str.isalnum, without_tags(line)))]


def _lines(hit: Hit, anchor: str, found: Sequence[tuple[str, str]]) -> list[Line]:
    shown = []
    for own, line in found:
        shown.append(Line(_line_around_address(line), link_to(hit, own) if own != anchor else "", own))
        anchor = own
    return shown


def _line_around_address(line: str) -> str:
    """The line, or of a long one the sentence with the address, which is never cut off."""
    shown = shown_line(line)
    if not ADDRESS.search(line) or ADDRESS.search(shown):
        return shown
    sentence = next((part for part in sentences(line) if ADDRESS.search(part)), line)
    return inline(sentence)


# a match


def _by_part(desk: _Desk) -> Arranged:
    context = desk.context
    matched = match_parts(desk.near, context.passage_parts, context.part_hits, desk.pieces, context.material.is_word)
    sections = [
        Section(
            part_name(part.text, desk.words), tuple(_compared(desk, touch) for touch in part.touches), number if part.text else -1
        )
        for number, part in enumerate(matched)
        if part.touches
    ]
    return Arranged(tuple(sections), matched=tuple(matched))


def part_name(text: str, words: Words) -> str:
    """A part of the passage in quotes; the words for the whole when it is empty."""
    return words("quoted", text=shown_line(text, PART_COLUMNS)) if text else words("whole_passage")


def _compared(desk: _Desk, touch: Touch) -> Item:
    if touch.sentence is None:
        item = gist(desk.result, touch.hit, ())
    else:
        item = _item(touch.hit, shown_line(touch.sentence.text), touch.sentence.anchor)
    return replace(item, words=tuple(map(inline, touch.shared)))


# an exploration


def _by_subquestion(desk: _Desk) -> Arranged:
    """Empty sections when the memos speak to no sub-question at all."""
    voices = {
        hit.memo_id: [Voice(found.piece, found.relevance) for found in rank(desk.result, hit, desk.pieces[hit.memo_id])]
        for hit in desk.near
    }
    exploration = explore(voices, desk.context.question)
    if len(desk.near) - len(exploration.elsewhere) < _LEAST_SPOKEN * len(desk.near):
        return Arranged(exploration=exploration)
    hits = {hit.memo_id: hit for hit in desk.near}
    sections = [Section(subquestion(q.name, desk.result, desk.words), _spoken(q, hits)) for q in exploration.questions]
    if exploration.elsewhere:
        rest = [gist(desk.result, hits[memo_id], desk.pieces[memo_id]) for memo_id in exploration.elsewhere]
        sections.append(Section(desk.words("besides"), tuple(rest)))
    return Arranged(tuple(sections), exploration)


def subquestion(name: str, result: SearchResult, words: Words) -> str:
    """In the language of the question and naming the topic; a topic that is one Latin word is asked for as a tool is."""
    topic = shown_topic(result)
    if not topic:
        return words(f"ask_{name}", topic=words("this"))
    is_tool = name == "how" and topic.isascii() and " " not in topic
    spaced = words("topic_latin", topic=topic) if topic.isascii() else topic
    asked = words("ask_use" if is_tool else f"ask_{name}", topic=spaced)
    return _SPACE_AT_MARK.sub("", asked).strip()


def _spoken(question: SubQuestion, hits: Mapping[str, Hit]) -> tuple[Item, ...]:
    return tuple(_item(hits[piece.memo_id], shown_line(piece.text), piece.anchor) for piece in question.pieces)
