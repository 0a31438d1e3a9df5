"""Which of a memo's pieces are about the question, and which one to quote when there is room for one.

Pure. A piece counts when it holds words of the question or of what the memo was found by, or stands in the block that the search
chose; a label counts little, because it says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.answer.pieces import Piece, columns, pieces_of
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut
from vaultbrain.vault.markdown import plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.retrieve.search import Hit, SearchResult

#: Two pieces that share this much of their tokens say the same.
SAME_SHARE = 0.6
#: What speaks for a piece: all words of the question, other words of what was met, the block of the search, a memo of few pieces.
_TOPIC, _MET, _BLOCK, _FEW_PIECES = 1.0, 0.5, 0.4, 0.2
#: Other words met in a piece that count in full; pieces that are few.
_ENOUGH_MET, _FEW = 3, 4
#: A quotation of such width reads well; a narrower one is a label.
_GOOD_COLUMNS = (18, 110)
_SHAPE = 0.3
#: Characters of a question; a longer one is a passage, whose words are everywhere.
_LONG_TOPIC = 200


@dataclass(frozen=True, slots=True)
class Ranked:
    piece: Piece
    relevance: float


def pieces_by_memo(hits: Sequence[Hit], context: AnswerContext) -> dict[str, tuple[Piece, ...]]:
    """The pieces of each hit's memo; those of the excerpt when its blocks are not known."""
    blocks = context.material.blocks
    return {
        hit.memo_id: pieces_of(hit.memo_id, blocks.get(hit.memo_id) or [(hit.anchor, hit.excerpt)], hit.created) for hit in hits
    }


def rank(result: SearchResult, hit: Hit, pieces: Sequence[Piece]) -> list[Ranked]:
    """The pieces in the order of the text, each with how much it is about the question: 0 for not at all.

    When nothing speaks for any of them all count a little: the memo was found by its meaning.
    """
    topic = set(cut(result.query.topic)) if len(result.query.topic) <= _LONG_TOPIC else set[str]()
    met = set(cut(" ".join(word.lstrip("#") for word in hit.matched))) - topic
    ranked = [Ranked(piece, _relevance(piece, hit, topic, met, len(pieces))) for piece in pieces]
    if any(found.relevance for found in ranked):
        return ranked
    return [Ranked(piece, _FEW_PIECES) for piece in pieces]


def _relevance(piece: Piece, hit: Hit, topic: set[str], met: set[str], count: int) -> float:
    words = set(cut(fold(piece.text)))
    relevance = _TOPIC * len(words & topic) / len(topic) if topic else 0.0
    relevance += _MET * min(len(words & met), _ENOUGH_MET) / _ENOUGH_MET
    relevance += _BLOCK * (piece.anchor == hit.anchor)
    return relevance + _FEW_PIECES * (count <= _FEW)


def best_pieces(ranked: Sequence[Ranked], hit: Hit) -> list[Piece]:
    """Best first; of equals the first of the text."""
    order = sorted(enumerate(ranked), key=lambda found: (-_worth(found[1], hit), found[0]))
    return [found.piece for _, found in order]


def _worth(found: Ranked, hit: Hit) -> float:
    width = columns(found.piece.text)
    low, high = _GOOD_COLUMNS
    shape = _SHAPE if low <= width <= high else -_SHAPE if width < low else 0.0
    is_title = plain_text(found.piece.text) == plain_text(hit.title) and width < 2 * low
    return found.relevance + shape - _SHAPE * is_title


def says_the_same(one: str, other: str) -> bool:
    ours, theirs = set(cut(fold(one))), set(cut(fold(other)))
    return len(ours & theirs) >= SAME_SHARE * max(1, min(len(ours), len(theirs)))
