"""A subject taken apart: which sub-questions the memos speak to, where they contradict each other, what nobody has written down.

Pure rules, no model. A sub-question is found by cue words (``cues``). Decides which sub-questions are worth a heading, and that
every memo stands somewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.answer.contradictions import Contradiction, contradictions
from vaultbrain.answer.cues import SUBQUESTIONS, asked_for, cues
from vaultbrain.answer.pieces import OPEN_TASK, Piece
from vaultbrain.index.fold import fold

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: At most so many sub-questions, and of them so many to which one memo only speaks.
MAX_SUBQUESTIONS, MAX_ALONE = 5, 2
#: Sub-questions under which one memo may stand, and its pieces under each.
MAX_PER_MEMO, MAX_PIECES = 2, 2
#: A memo stands under a second sub-question when its piece there is at least this much as telling as its best one.
_SECOND_SHARE = 0.6
#: What the question asks itself weighs more, and a piece speaks to it even without a cue when its relevance is at least such a
#: share of that of the memo's best one; then it does so before all else.
_ASKED_WEIGHT, _ASKED_BASE, _ASKED_FIRST, _SURELY_ABOUT = 1.5, 1.5, 0.1, 0.8
#: What each place further down the list of memos costs a sub-question that is to be kept for it.
_RANK_COSTS = 0.25

#: Those whose absence is worth a word; not everything has a price or is still to be decided, and how to do a thing is said in so
#: many ways that not to find it says little.
CORE = ("experience", "problems")

#: Sub-question → (how telling, place in the memo, piece).
_Telling = dict[str, list[tuple[float, int, Piece]]]


@dataclass(frozen=True, slots=True)
class Voice:
    """A piece of a memo with how much it is about the subject, from 0 on.

    ``has_words`` of the search, and not only the place where the memo was found; ``is_sure`` when these or the whole memo say so.
    """

    piece: Piece
    relevance: float
    has_words: bool = True
    is_sure: bool = True


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """``name`` is one of ``SUBQUESTIONS``; the pieces in the order of the memos, of one memo in the order of its text."""

    name: str
    pieces: tuple[Piece, ...]

    @property
    def memo_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(piece.memo_id for piece in self.pieces))


@dataclass(frozen=True, slots=True)
class Exploration:
    """``silent`` are sub-questions of the core that no piece speaks to; ``elsewhere`` are memos under no sub-question."""

    questions: tuple[SubQuestion, ...] = ()
    elsewhere: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    open_tasks: tuple[Piece, ...] = ()


def explore(voices: Mapping[str, Sequence[Voice]], question: str = "") -> Exploration:
    """``voices``: memo id → its pieces, the memos best first. Every memo stands somewhere, none under more than two questions.

    What the ``question`` itself asks is what its memos speak to first.
    """
    asked = asked_for(question)
    telling = {memo_id: _telling(found, asked) for memo_id, found in voices.items()}
    homes = _few(telling)
    questions = [SubQuestion(name, tuple(_spoken(name, homes))) for name in SUBQUESTIONS]
    spoken = {name for found in telling.values() for name in found}
    relevant = [voice.piece for found in voices.values() for voice in found if voice.relevance > 0]
    return Exploration(
        tuple(question for question in questions if question.pieces),
        tuple(memo_id for memo_id in voices if not homes[memo_id]),
        tuple(name for name in SUBQUESTIONS if name in {*CORE, *asked} and name not in spoken),
        tuple(contradictions(relevant)),
        tuple(piece for piece in relevant if piece.task == OPEN_TASK),
    )


def _telling(voices: Sequence[Voice], asked: Sequence[str]) -> _Telling:
    """Sub-question → (how telling, place in the memo, piece), of pieces about the subject."""
    found: _Telling = {}
    most = max((voice.relevance for voice in voices), default=0.0)
    any_words = any(voice.has_words for voice in voices)
    for place, voice in enumerate(voices):
        if voice.relevance > 0 and (voice.has_words or not any_words):
            clear = cues(voice.piece)
            clearest = max(clear.values(), default=0.0)
            for name in asked:
                is_answer = voice.is_sure and voice.relevance >= _SURELY_ABOUT * most
                plainly = max(_ASKED_BASE, clearest + _ASKED_FIRST) if is_answer else 0.0
                clear[name] = max(clear.get(name, 0.0) * _ASKED_WEIGHT, plainly)
            for name, clearness in clear.items():
                if clearness:
                    found.setdefault(name, []).append((voice.relevance * clearness, place, voice.piece))
    return found


def _few(telling: Mapping[str, _Telling]) -> dict[str, dict[str, list[Piece]]]:
    """memo id → sub-question → pieces. As many sub-questions as are worth a heading; the weakest goes until that is so.

    A memo whose sub-question goes moves to the next one that it speaks to.
    """
    kept = list(SUBQUESTIONS)
    while True:
        homes = {memo_id: _homes({name: found[name] for name in kept if name in found}) for memo_id, found in telling.items()}
        support = {name: [memo_id for memo_id, found in homes.items() if name in found] for name in kept}
        kept = [name for name in kept if support[name]]
        alone = [name for name in kept if len(support[name]) == 1]
        if len(kept) <= MAX_SUBQUESTIONS and len(alone) <= MAX_ALONE:
            return homes
        ranks = {memo_id: rank for rank, memo_id in enumerate(telling)}
        strength = {name: max(max(telling[m][name])[0] / (1 + _RANK_COSTS * ranks[m]) for m in support[name]) for name in kept}
        kept.remove(min(alone or kept, key=lambda name: (len(support[name]), strength[name], name)))


def _homes(telling: _Telling) -> dict[str, list[Piece]]:
    """The one or two sub-questions that a memo speaks to most, with what it says to each; no piece stands under both."""
    ranked = sorted(telling, key=lambda name: (-max(telling[name])[0], SUBQUESTIONS.index(name)))
    homes: dict[str, list[Piece]] = {}
    for name in ranked:
        shown = [piece for pieces in homes.values() for piece in pieces]
        new = [found for found in telling[name] if found[2] not in shown]
        if new and (not homes or max(new)[0] >= _SECOND_SHARE * max(telling[ranked[0]])[0]):
            homes[name] = _chosen(new)
        if len(homes) == MAX_PER_MEMO:
            break
    return homes


def _chosen(telling: Sequence[tuple[float, int, Piece]]) -> list[Piece]:
    """The most telling pieces, in the order of the text; a second one only when it is nearly as good."""
    ranked = sorted(telling, key=lambda found: (-found[0], found[1]))
    chosen = [found for found in ranked[:MAX_PIECES] if found[0] >= _SECOND_SHARE * ranked[0][0]]
    return [piece for _, _, piece in sorted(chosen, key=lambda found: found[1])]


def _spoken(name: str, homes: Mapping[str, Mapping[str, Sequence[Piece]]]) -> Iterator[Piece]:
    """What the memos say to a sub-question, each thing once; but every memo says something."""
    said: set[str] = set()
    for found in homes.values():
        pieces = found.get(name, ())
        new = [piece for piece in pieces if fold(piece.text) not in said]
        said.update(fold(piece.text) for piece in pieces)
        yield from new or pieces[:1]
