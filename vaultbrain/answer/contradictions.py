"""Two memos that say the opposite of each other on the same thing.

Pure rules, and strict: two pieces must speak of the same thing in nearly the same words and differ in one telling word or in one
number of a rule. A false contradiction is worse than none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING

from vaultbrain.answer.pieces import ATOM, Piece
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Words that say the opposite of each other, folded; the first of a pair is looked for only where the second does not stand.
_OPPOSITES = (
    (r"值得推荐|强烈推荐|推荐", r"不推荐|不太推荐|别买|不建议"),
    (r"建议", r"不建议"),
    (r"好用", r"难用|不好用"),
    (r"有用|有效|管用|见效", r"没用|没有用|无效|没什么效果|没效果|没有效果|不管用|不见效"),
    (r"值得", r"不值得|不值"),
    (r"够用", r"不够用"),
    (r"支持", r"不支持"),
    (r"安全", r"不安全"),
    (r"需要", r"不需要|不用|无需"),
    (r"可以", r"不可以|不能|不行"),
    (r"\brecommend(?:ed)?\b", r"\b(?:don'?t|do not|would not|wouldn'?t|not) recommend(?:ed)?\b"),
    (r"\bworks\b", r"\b(?:doesn'?t|does not|no longer) works?\b"),
    (r"\bworth\b", r"\bnot worth\b"),
    (r"\bneeds?\b|\bneeded\b", r"\b(?:don'?t|doesn'?t|do not|does not|no) needs?\b|\bnot needed\b"),
    (r"\bsupports\b", r"\b(?:doesn'?t|does not) support\b"),
    (r"\bsafe\b", r"\b(?:unsafe|not safe)\b"),
)
_POLES = [(re.compile(positive), re.compile(negative)) for positive, negative in _OPPOSITES]
_NUMBER = re.compile(
    r"(\d+(?:\.\d+)?)\s*(分钟|小时|天|周|个月|年|元|块|度|克|公斤|公里|毫升|次|页|倍|%|minutes?|min|hours?|days?|weeks?|months?|years?|gb|tb|mb|kg|km|"
    r"ml|g)(?![a-z])"
)
#: Only a rule can contradict a rule: what happened on two days differs, and both are true.
_IS_RULE = re.compile(
    r"应该|应当|建议|一般|通常|需要|最好|至少|最多|不超过|控制在|标准|保持|默认|"
    r"\b(?:should|must|usually|at least|at most|needs?|default)\b"
)
_WORDS = re.compile(r"[a-z][a-z0-9+.#-]+|[\u3400-\u9fff]+")
#: Tokens that two pieces must share at least, and as a share of those of the shorter one.
_LEAST_SHARED, _SAME_THING = 3, 0.55
#: Pieces that are compared, each with each.
_MOST_COMPARED = 400


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two pieces on the same thing, the newer first; ``words`` are what each says differently."""

    newer: Piece
    older: Piece
    words: tuple[str, str]


@dataclass(frozen=True, slots=True)
class _Read:
    """``poles``: number of a pair of opposites → (whether it is denied, the word). ``numbers``: unit → number, of rules only."""

    piece: Piece
    tokens: frozenset[str]
    poles: dict[int, tuple[bool, str]]
    numbers: dict[str, str]


def contradictions(pieces: Iterable[Piece]) -> list[Contradiction]:
    """Pairs from different memos, each memo in one pair at most, in the order of the pieces."""
    read = [one for one in map(_read, islice(pieces, _MOST_COMPARED)) if one.poles or one.numbers]
    found: list[Contradiction] = []
    used: set[str] = set()
    for one, other in combinations(read, 2):
        ids = {one.piece.memo_id, other.piece.memo_id}
        if len(ids) == 2 and not ids & used and (words := _differ(one, other)):
            found.append(_newer_first(one.piece, other.piece, words))
            used |= ids
    return found


def _read(piece: Piece) -> _Read:
    text = fold(ATOM.sub(" ", piece.text))
    poles = {number: pole for number, (positive, negative) in enumerate(_POLES) if (pole := _pole(text, positive, negative))}
    numbers: dict[str, str] = {}
    for amount, unit in _NUMBER.findall(text) if _IS_RULE.search(text) else ():
        numbers[unit.rstrip("s")] = "" if unit.rstrip("s") in numbers else amount  # two of a unit: which is meant?
    bare = _IS_RULE.sub(" ", _NUMBER.sub(" ", text))
    for number in poles:
        for pattern in reversed(_POLES[number]):
            bare = pattern.sub(" ", bare)
    tokens = frozenset(cut(" ".join(_WORDS.findall(bare))))
    return _Read(piece, tokens, poles, {unit: amount for unit, amount in numbers.items() if amount})


def _pole(text: str, positive: re.Pattern[str], negative: re.Pattern[str]) -> tuple[bool, str] | None:
    """None when neither or both of the opposites stand there."""
    against = negative.search(text)
    speaks = positive.search(negative.sub(" ", text))
    if against and not speaks:
        return True, against[0]
    return (False, speaks[0]) if speaks and not against else None


def _differ(one: _Read, other: _Read) -> tuple[str, str] | None:
    """What each says differently of the same thing."""
    shared = len(one.tokens & other.tokens)
    if shared < _LEAST_SHARED or shared < _SAME_THING * min(len(one.tokens), len(other.tokens)):
        return None
    for number, (is_denied, word) in one.poles.items():
        theirs = other.poles.get(number)
        if theirs and theirs[0] != is_denied:
            return word, theirs[1]
    for unit, amount in one.numbers.items():
        their_amount = other.numbers.get(unit)
        if their_amount and float(their_amount) != float(amount):
            return f"{amount} {unit}", f"{their_amount} {unit}"
    return None


def _newer_first(one: Piece, other: Piece, words: tuple[str, str]) -> Contradiction:
    is_ordered = (one.created, one.memo_id) >= (other.created, other.memo_id)
    return Contradiction(one, other, words) if is_ordered else Contradiction(other, one, (words[1], words[0]))
