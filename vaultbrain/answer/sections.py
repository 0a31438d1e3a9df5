"""The part "by theme" of an answer, in each of the three modes: what an inventory lists, a match compares, an exploration asks.

Pure. Every hit that is strong or related stands in a section; every text of a memo is verbatim in the block that its link names.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from vaultbrain.answer.best import best_pieces, heading_of, is_passing, may_answer, pieces_by_memo, rank
from vaultbrain.answer.citing import TITLE_COLUMNS, inline, link_to, shown_line, shown_title
from vaultbrain.answer.context import EXPLORE, INVENTORY, MATCH
from vaultbrain.answer.cues import asked_for
from vaultbrain.answer.explore import Exploration, SubQuestion, Voice, explore
from vaultbrain.answer.matching import MatchedPart, match_parts
from vaultbrain.answer.pieces import ADDRESS, HEADING_MARK, bare_line, says_something, sentences, without_edge_tags
from vaultbrain.answer.themes import group_by_theme
from vaultbrain.answer.topic import said_filters, shown_topic
from vaultbrain.memo import without_tags
from vaultbrain.retrieve.fusion import RELATED, STRONG
from vaultbrain.vault.markdown import split_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.matching import Touch
    from vaultbrain.answer.pieces import Piece
    from vaultbrain.answer.wording import Words
    from vaultbrain.retrieve.search import Hit, SearchResult

#: Lines with addresses shown of one memo.
MAX_ADDRESS_LINES = 6
#: Columns of a part of a passage in a heading.
PART_COLUMNS = 56

#: Share of the hits that have to speak to a sub-question; below it they are better sorted by what they are about.
_LEAST_SPOKEN = 0.4
#: Memos from which on sub-questions are worth headings even if one memo speaks to each.
_ENOUGH_MEMOS = 4
#: Of so many memos one heading over this share of them divides nothing.
_MANY_MEMOS, _NEARLY_ALL = 6, 0.75


@dataclass(frozen=True, slots=True)
class Line:
    """``link`` is empty when the line stands in the same block as the one before."""

    text: str
    link: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Item:
    """What one memo says under a heading, with the lines of a list below the line that leads it.

    ``words`` are shared with a passage; ``more``: lines with addresses not shown.
    """

    memo_id: str
    text: str
    link: str
    anchor: str
    words: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    more: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """``name`` is a heading, inert."""

    name: str
    items: tuple[Item, ...]


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


def arrange(result: SearchResult, context: AnswerContext, words: Words) -> Arranged:
    """Sorts the hits as the mode wants it. A passage without parts and a subject without sub-questions go by theme."""
    near = tuple(hit for hit in result.hits if hit.label in (STRONG, RELATED))
    if context.mode == MATCH:
        near = result.hits  # a passage shares little with anything; what is near enough to be cited is near enough to compare
    desk = _Desk(result, context, words, near, pieces_by_memo(result.hits, context))
    if context.mode == MATCH and context.passage_parts and near:
        return _by_part(desk)
    arranged = _by_subquestion(desk) if context.mode == EXPLORE else Arranged()
    if not arranged.sections and near:
        arranged = replace(arranged, sections=_by_theme(desk))
    if len(arranged.sections) > 1:
        return arranged
    return replace(arranged, sections=(*arranged.sections, *_loosely_related(desk)))


def _loosely_related(desk: _Desk) -> list[Section]:
    """The weak hits, where there is little else to show; one alone is not worth a heading."""
    weak = [hit for hit in desk.result.hits if hit not in desk.near]
    items = _bare_tags_last([_gist(desk, hit) for hit in weak])
    return [Section(desk.words("loosely"), items)] if len(items) > 1 else []


# by theme


def _by_theme(desk: _Desk) -> tuple[Section, ...]:
    filters = desk.words("list_join").join(said_filters(desk.result.query.conditions, desk.words))
    whole = shown_line(desk.context.question, TITLE_COLUMNS) if desk.result.query.topic else filters
    topic = shown_topic(desk.result) or whole or desk.words("this")
    asked = shown_topic(desk.result) or desk.result.query.topic
    themes = group_by_theme(desk.result.hits, desk.context.material, asked, desk.context.language)
    if len(themes) == 1 and len(desk.result.hits) - len(desk.near) > 1:  # the weak ones have a section of their own
        themes = [replace(themes[0], hits=desk.near)]
    is_list = desk.context.mode == INVENTORY
    sections = []
    for theme in themes:
        is_rest = len(themes) > 1 and not theme.is_subject
        name = desk.words("list_join").join(map(inline, theme.names)) or (desk.words("other_theme") if is_rest else topic)
        items = [_resource(desk, hit) if is_list else _gist(desk, hit) for hit in theme.hits]
        if is_list:
            items.sort(key=lambda item: not any(map(ADDRESS.search, [item.text, *(line.text for line in item.lines)])))
        sections.append(Section(name, _bare_tags_last(items)))
    return tuple(sections)


def _bare_tags_last(items: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(sorted(items, key=lambda item: not says_something(item.text.replace("\\#", "#")) and not item.lines))


def _gist(desk: _Desk, hit: Hit) -> Item:
    """The piece that answers best, or the first line of a memo that says nothing."""
    best = best_pieces(rank(desk.result, hit, [*heading_of(hit, desk.context), *desk.pieces[hit.memo_id]]), hit)
    if best:
        return _item_of(hit, best[0])
    return _item(hit, shown_line(bare_line(hit.excerpt.split("\n")[0])[0]) or shown_title(hit.title), hit.anchor)


def _item_of(hit: Hit, piece: Piece) -> Item:
    """The piece; below the line above its list where it needs that to be understood."""
    if not piece.lead:
        return _item(hit, shown_line(piece.text), piece.anchor)
    below = Line(shown_line(piece.text), link_to(hit, piece.anchor) if piece.anchor != piece.lead_anchor else "", piece.anchor)
    return replace(_item(hit, shown_line(piece.lead), piece.lead_anchor), lines=(below,))


def _item(hit: Hit, text: str, anchor: str) -> Item:
    return Item(hit.memo_id, text, link_to(hit, anchor), anchor)


# an inventory


def _resource(desk: _Desk, hit: Hit) -> Item:
    """What it is, and its addresses: on one line, or the lines of a list below the line that says what they are."""
    blocks = desk.context.material.blocks.get(hit.memo_id) or [(hit.anchor, hit.excerpt)]
    lines = [(anchor, line) for anchor, block in blocks for line in _lines_of(block)]
    found = [(anchor, line) for anchor, line in lines if ADDRESS.search(line)]
    if not found:
        return _gist(desk, hit)
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
    bare = [without_edge_tags(bare_line(HEADING_MARK.sub("", line))[0]) for line in block.split("\n")]
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
    matched = match_parts(desk.near, context.passage_parts, context.part_hits, desk.pieces, context.material)
    touched = [part for part in matched if part.touches]
    sections = [Section(part_name(part.text, desk.words), tuple(_compared(desk, t) for t in part.touches)) for part in touched]
    return Arranged(tuple(sections), matched=tuple(matched))


def part_name(text: str, words: Words) -> str:
    """A part of the passage in quotes; the words for the whole when it is empty."""
    return words("quoted", text=shown_line(text, PART_COLUMNS)) if text else words("whole_passage")


def _compared(desk: _Desk, touch: Touch) -> Item:
    item = _item_of(touch.hit, touch.sentence) if touch.sentence else _gist(desk, touch.hit)
    return replace(item, words=tuple(map(inline, touch.shared)))


# an exploration


def _by_subquestion(desk: _Desk) -> Arranged:
    """Empty sections when the memos speak to no sub-question at all."""
    heard = {hit.memo_id: _voices(desk, hit) for hit in desk.near}
    passing = tuple(hit.memo_id for hit in desk.near if is_passing(hit) or not any(v.is_sure for v in heard[hit.memo_id]))
    passing = passing if len(passing) < len(heard) else ()
    voices = {memo_id: found for memo_id, found in heard.items() if memo_id not in passing}
    exploration = explore(voices, desk.context.question)
    exploration = replace(exploration, elsewhere=(*exploration.elsewhere, *passing))
    if not _worth_headings(exploration, desk):
        return Arranged(exploration=replace(exploration, questions=(), silent=()))
    hits = {hit.memo_id: hit for hit in desk.near}
    sections = [Section(_subquestion(q.name, desk.words), _spoken(q, hits)) for q in exploration.questions]
    if exploration.elsewhere:
        rest = [_gist(desk, hits[memo_id]) for memo_id in exploration.elsewhere]
        sections.append(Section(desk.words("besides"), _bare_tags_last(rest)))
    return Arranged(tuple(sections), exploration)


def _voices(desk: _Desk, hit: Hit) -> list[Voice]:
    """The memo's pieces; what was found by a far meaning alone does not answer what the question asks just by being there."""
    ranked = rank(desk.result, hit, desk.pieces[hit.memo_id])
    return [Voice(found.piece, found.relevance, found.has_words, found.has_words or may_answer(hit)) for found in ranked]


def _worth_headings(exploration: Exploration, desk: _Desk) -> bool:
    """Whether enough memos speak to sub-questions; a few memos are better sorted by what they are about."""
    asked = asked_for(desk.context.question)
    questions, near = exploration.questions, len(desk.near)
    is_shared = any(len(question.memo_ids) > 1 or question.name in asked for question in questions)
    is_several = len(questions) > 1 and near >= _ENOUGH_MEMOS
    most = max((len(question.memo_ids) for question in questions), default=0)
    if near >= _MANY_MEMOS and most >= _NEARLY_ALL * near:
        return False
    return (is_shared or is_several) and near - len(exploration.elsewhere) >= _LEAST_SPOKEN * near


def _subquestion(name: str, words: Words) -> str:
    """A heading that is right for any subject, which the note's name says already."""
    text = words(f"short_{name}")
    return text[0].upper() + text[1:]


def _spoken(question: SubQuestion, hits: Mapping[str, Hit]) -> tuple[Item, ...]:
    """An item each; the items of one list stand below its line together."""
    items: list[Item] = []
    for piece in question.pieces:
        item = _item_of(hits[piece.memo_id], piece)
        if items and item.lines and items[-1].lines and (item.text, item.anchor) == (items[-1].text, items[-1].anchor):
            known = [line.anchor for line in items[-1].lines]
            below = [replace(line, link="") if line.anchor in known else line for line in item.lines]
            items[-1] = replace(items[-1], lines=(*items[-1].lines, *below))
        else:
            items.append(item)
    return tuple(items)
