"""Which of a memo's pieces are about the question, and which one to quote when there is room for one.

Pure. A piece counts when it holds words of the question or of what the memo was found by, or stands in the block that the search
chose; a label counts little, because it says nothing, and a sentence that leans on another one less than one that stands alone.
Decides, too, which memos were met by a word in passing, and which are too far off to answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

from vaultbrain.answer.pieces import ADDRESS, FENCE, Piece, bare_line, leans, pieces_of, says_something, without_edge_tags
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut
from vaultbrain.retrieve.fusion import STRONG
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS
from vaultbrain.vault.markdown import columns, plain_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.retrieve.search import Hit, SearchResult

#: Two pieces say the same when they share this much of the shorter one's tokens.
_SAME_SHARE = 0.6
#: What speaks for a piece: all words of the question, other words of what was met, the block of the search, a memo of few pieces.
_TOPIC, _MET, _BLOCK, _FEW_PIECES = 1.0, 0.5, 0.4, 0.2
#: Other words met in a piece that count in full; pieces that are few.
_ENOUGH_MET, _FEW = 3, 4
#: A quotation of such width reads well; a narrower one is a label.
_GOOD_COLUMNS = (18, 110)
_SHAPE = 0.3
#: What is left of the relevance of a label.
_LABEL_SHARE = 0.4
#: What is left of the relevance of a piece without any word of the search, where another one of the memo has some; and of one
#: that leans on a sentence that is not there.
_WORDLESS_SHARE, _LEANING_SHARE = 0.5, 0.6
#: A memo that was met by such words only, and whose meaning is no nearer than this, was met in passing.
_SMALL_WORDS = frozenset(
    "up down back out off in on over get got make made do use used go come put set keep take want need see let way time".split()
)
_NEAR_MEANING = 0.4
#: Cosine from which on a memo that is not strong may still be about the question.
_ABOUT = 0.3
#: Columns of a heading that says something.
_LONG_HEADING = 24
_HEADING = re.compile(r"#{1,6}[ \t]+([^\n]+)")
#: Code between ticks, behind a prompt, or a command with its options.
_CODE = re.compile(
    r"(`+)[^`]+\1|(?:[$>]|PS>|C:\\>)\s+\S.*|[a-z][!-~]*(?: [!-~]+)* --?[a-z][!-~]*(?: [!-~]+)*(?<![.!?])", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Ranked:
    """``has_words``: the piece holds words of the search; otherwise only its place speaks for it."""

    piece: Piece
    relevance: float
    has_words: bool = True


def pieces_by_memo(hits: Sequence[Hit], context: AnswerContext) -> dict[str, tuple[Piece, ...]]:
    """The pieces of each hit's memo; those of the excerpt when its blocks are not known.

    Where code or a table was found, its best line is one of them, code between ticks, led by the first line of the memo.
    """
    blocks = context.material.blocks
    found: dict[str, tuple[Piece, ...]] = {}
    for hit in hits:
        pieces = pieces_of(hit.memo_id, blocks.get(hit.memo_id) or [(hit.anchor, hit.excerpt)], hit.created)
        found[hit.memo_id] = (*_code_or_row(hit, blocks.get(hit.memo_id, ())), *pieces)
    return found


def heading_of(hit: Hit, context: AnswerContext) -> list[Piece]:
    """The heading that opens the memo, when it is long enough to say something by itself."""
    blocks = context.material.blocks.get(hit.memo_id, ())
    if not blocks or not (found := _HEADING.fullmatch(blocks[0][1].strip())):
        return []
    text = without_edge_tags(found[1])
    is_telling = columns(text) >= _LONG_HEADING and says_something(text)
    return [Piece(hit.memo_id, text, blocks[0][0], hit.created)] if is_telling else []


def _code_or_row(hit: Hit, blocks: Sequence[tuple[str, str]]) -> list[Piece]:
    """The best line of the excerpt when that is code or a table."""
    lines = [line for line in hit.excerpt.split("\n") if line.strip("|-: ")]
    if not lines or not (FENCE.match(lines[0]) or lines[0].startswith("|")):
        return []
    is_code = not lines[0].startswith("|")
    lines = [line for line in lines if not FENCE.match(line)] if is_code else lines[1:] or lines
    tokens = set(cut(" ".join(hit.matched)))
    line = " ".join(max(lines, key=lambda line: len(tokens & set(cut(fold(line)))), default="").split())
    text = f"`{line.replace('`', chr(39))}`" if is_code and line else line.strip("| ")
    lead, lead_anchor = _first_line(blocks)
    if lead_anchor == hit.anchor:
        lead = lead_anchor = ""
    return [Piece(hit.memo_id, text, hit.anchor, hit.created, lead=lead, lead_anchor=lead_anchor)] if text else []


def _first_line(blocks: Sequence[tuple[str, str]]) -> tuple[str, str]:
    """What the memo begins with, when that is a heading or a line of text."""
    anchor, block = blocks[0] if blocks else ("", "")
    heading = _HEADING.fullmatch(block.strip())
    first = pieces_of("", [(anchor, heading[1] if heading else block)], 0)[:1]
    return next(((piece.lead or piece.text, anchor) for piece in first), _announcing_line(anchor, block))


def _announcing_line(anchor: str, block: str) -> tuple[str, str]:
    """A line that only says what follows is no piece, and yet the best that is said of code."""
    line = without_edge_tags(bare_line(block.split("\n", maxsplit=1)[0])[0])
    is_announcing = line.endswith((":", "：")) and not FENCE.match(block)
    text = line.rstrip(":： ") if is_announcing else ""
    return (text, anchor) if text and says_something(text) else ("", "")


def rank(result: SearchResult, hit: Hit, pieces: Sequence[Piece]) -> list[Ranked]:
    """The pieces in the order of the text, each with how much it is about the question: 0 for not at all.

    When nothing speaks for any of them all count a little: the memo was found by its meaning.
    """
    topic = _weights(result)
    scripts = [variant.text for variant in result.coverage.variants if variant.family == "script"]
    met = set(cut(" ".join([*(word.lstrip("#") for word in hit.matched), *scripts]))).difference(topic)
    found = [_by_words(piece, topic, met) for piece in pieces]
    ranked = [
        Ranked(piece, _relevance(piece, hit, said, len(pieces), is_met=any(found)), said > 0)
        for piece, said in zip(pieces, found, strict=True)
    ]
    if any(found.relevance for found in ranked):
        return ranked
    return [Ranked(piece, _FEW_PIECES, has_words=False) for piece in pieces]


def _weights(result: SearchResult) -> dict[str, float]:
    """The topic's tokens with what they weigh, 1 in the mean: one that few of the hits hold tells more than one of all of them.

    A token that stands in no excerpt weighs 1. A passage has no topic: its words are everywhere.
    """
    topic = dict.fromkeys(cut(result.query.topic), 1.0) if len(result.query.topic) <= LONGEST_WITH_FILTERS else {}
    held = [_tokens(hit.excerpt) for hit in result.hits]
    counts = {token: count for token in topic if (count := sum(token in tokens for tokens in held))}
    rarity = {token: log(1 + (len(held) + 1) / count) for token, count in counts.items()}
    mean = sum(rarity.values()) / max(len(rarity), 1)
    return topic | {token: value / mean for token, value in rarity.items()}


@lru_cache(maxsize=128)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(cut(fold(text)))


def _by_words(piece: Piece, topic: Mapping[str, float], met: set[str]) -> float:
    words = set(cut(fold(f"{piece.lead} {piece.text}")))
    share = sum(weight for token, weight in topic.items() if token in words) / len(topic) if topic else 0.0
    return _TOPIC * share + _MET * min(len(words & met), _ENOUGH_MET) / _ENOUGH_MET


def _relevance(piece: Piece, hit: Hit, said: float, count: int, *, is_met: bool) -> float:
    relevance = said + _BLOCK * (piece.anchor == hit.anchor) + _FEW_PIECES * (count <= _FEW)
    relevance *= _WORDLESS_SHARE if is_met and not said else 1
    return relevance * (_LEANING_SHARE if leans(piece.text) else 1)


def is_passing(hit: Hit) -> bool:
    """Whether nothing but small words, which stand everywhere, and no near meaning led to the memo."""
    words = [word for text in hit.matched for word in text.split()]
    is_far = hit.cosine is not None and hit.cosine < _NEAR_MEANING
    return is_far and bool(words) and _SMALL_WORDS.issuperset(words)


def may_answer(hit: Hit) -> bool:
    """Whether the memo is strong, or not far in meaning; without vectors nobody knows, and it may."""
    return hit.label == STRONG or hit.cosine is None or hit.cosine >= _ABOUT


def best_pieces(ranked: Sequence[Ranked], hit: Hit) -> list[Piece]:
    """Best first; of equals the first of the text."""
    any_words = any(found.has_words for found in ranked)
    order = sorted(enumerate(ranked), key=lambda found: (-_worth(found[1], hit, any_words=any_words), found[0]))
    return [found.piece for _, found in order]


def _worth(found: Ranked, hit: Hit, *, any_words: bool) -> float:
    """How well a piece stands for its memo: a label or a bare address names something and says nothing of it."""
    text = found.piece.text
    width = columns(text)
    low, high = _GOOD_COLUMNS
    is_title = plain_text(text) == plain_text(hit.title)
    if width < low or (is_title and width < _LONG_HEADING) or is_bare_address(text):
        return _LABEL_SHARE * found.relevance
    is_good = width <= high and not is_title and (found.has_words or not any_words)
    return found.relevance + (_SHAPE if is_good else 0.0)


def is_code(text: str) -> bool:
    """Whether the whole of it is a command or code."""
    return bool(_CODE.fullmatch(text.strip()))


def is_bare_address(text: str) -> bool:
    return not any(map(str.isalnum, ADDRESS.sub("", text)))


def says_the_same(one: str, other: str) -> bool:
    ours, theirs = set(cut(fold(one))), set(cut(fold(other)))
    return len(ours & theirs) >= _SAME_SHARE * max(1, min(len(ours), len(theirs)))
