"""The short query for what a person is writing: the words of its subject, one or two of its context, and what is wanted of it.

Pure. Decides which words of a rambling text are searched, and how many. Refuses to judge whether the text is worth a search
(``recall.gate``), and to say anything that does not stand in the text: every term is a piece of it, in its script.

The clauses that say what is wanted (``recall.query_clauses``) give most words. The others give what something speaks for: names
and products, words of the collected areas, words that are said again, subjects that people keep notes on, what shares a character
with the need (灯塔, 守塔人), what a memo has beside the need, and more of it where a clause says what goes wrong or what one is
at. The sentence of the need counts more than a story before it, and a name of the story less where the need has its own. What
people say around a subject is dropped wherever it stands (``recall.query_terms``); an error message that is quoted stays whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold_keeping_offsets
from vaultbrain.index.tokens import is_cjk
from vaultbrain.recall.areas import Areas, found_in
from vaultbrain.recall.query_clauses import clauses_of, with_what_is_meant
from vaultbrain.recall.query_terms import is_subject, messages_in, terms_of
from vaultbrain.recall.query_words import ASIDES, FEELINGS, INTENTS, STORY_WORDS, SUFFIXES
from vaultbrain.retrieve.stems import stem_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from vaultbrain.recall.query_clauses import Clause
    from vaultbrain.recall.query_terms import Term

#: Terms of a query, and its words between spaces: a longer query loses its subject.
MAX_TERMS = 8
#: Characters of a text that are read.
MAX_CHARS = 2_000
_USUAL_AREAS = Areas()
#: Terms of the need; terms from around it, or as many as both together make ``_ENOUGH``.
_MAX_OF_NEED, _MAX_OF_CONTEXT, _ENOUGH = 6, 3, 7

# All weights were fitted on the development texts of memobench and those of tests/data/query-*.json. A logistic regression on the
# same evidence and on the characters around each term did no better on sets that it had not seen.

#: A word from around the need has to weigh so much; less where there is no need.
_LEAST, _LEAST_WITHOUT_NEED = 0.5, 0.2
#: What a word is worth around the need: a name, an English word, a Chinese word, an intent, a person or a dish; what a
#: longer English term loses that has one of these: coffee machine.
_NAME, _ENGLISH, _CHINESE, _INTENT, _ASIDE, _ASIDE_IN = 1.1, 0.25, 0.35, 0.85, 0.1, 0.6
#: An English word with a capital letter inside a sentence, or of capital letters.
_CAPITALISED = 0.55
#: What is added: said again, a subject of notes, shares a character with the need, each word of a term.
_AGAIN, _SUBJECT, _KIN, _EACH_WORD = 0.5, 0.25, 0.25, 0.1
#: What is left of a name from another sentence where the need or its own sentence has one: the names of a story.
_NAME_OF_STORY = 0.35
#: What a memo adds in which it stands with a word of the need; a word in more than this share of the memos is no subject.
_BESIDE_NEED, _TOO_MANY = 0.35, 1 / 3
#: What a clause adds to 1: it is about work, says what goes wrong, has a name, is the first; stories and feelings in it.
_AT_WORK, _TROUBLE, _WITH_NAME, _FIRST, _COLOR = 0.35, 0.35, 0.25, 0.25, -0.3
#: A clause counts less by a step for each one between it and the need, down to the farthest, the first clause to the opening.
_STEP, _FARTHEST, _OPENING = 0.12, 0.5, 0.75
#: A clause behind the need counts so much; one in its sentence.
_BEHIND, _BEHIND_IN_SENTENCE = 0.8, 1.3
#: A clause of the sentence in which the need stands; of another one; of another one where something leads to the need in its own.
_IN_SENTENCE, _IN_LATER_SENTENCE, _OTHER_SENTENCE, _WITH_LEAD_IN = 1.1, 1.6, 0.9, 0.75

_SAYS_TROUBLE = re.compile(
    r"又[^，]{0,4}了|不肯|不愿|不爱|就是不|嫌|老是?[^，]{1,3}不|对不上|不动|不了|出错|报错|失败|坏了|满了|高了|卷了|疼|痛|失眠|怎么办|"
    r"又.{1,2}又|发[黄霉黑软酸烫]|漏[水液油]|[很太好]乱|不稳|写错|弄错|没定|[好很]慢|下滑|卡顿|掉线|断连|"
    r"生锈|褪色|结块|脱落|变[形质硬味]|返工|超支|逾期|"
    r"超时|闪退|被[拒封罚退]|太[慢大长多]|\b(?:keeps?|failing|fails|stuck|crash\w*|error|timing out|slow|"
    r"stinks?|leak(?:s|ed|ing|y)?|broken?|broke|won't|dying|died|cracked|squeak\w*|jams?|jammed|overheat\w*|lag(?:s|gy|ging)?|"
    r"doesn't (?:fit|work|start)|not working|ran out|running out|flaky|"
    r"i (?:just |accidentally |almost )?(?:broke|committed|deleted|lost|overwrote|pushed|removed))\b"
)
_SAYS_WORK = re.compile(
    r"(?<![一你])在(?:写|做|整理|搭|学|准备|弄|改|研究|看|读|用|给)|"
    r"(?:要|想|得|打算|准备|轮到|答应).{0,3}?(?:给|做|写|带|搭|换|装|学|改|办|去|教|讲|弄|交|补|备|排|"
    r"选|挑|定|买|调|续|申|订|报|设计|整理|准备|重|录|编)|"
    r"用.{1,12}的时候|这[条件种]|(?:整理|搭建|准备|维护|设计|装修|练习?|改写?)(?!了|过|好|得)|"
    r"明天|后天|下周|下个?月|月底|接下来|关于|说到|讲|(?:得|必须|该)(?:改|写|做|换|交|学|搬|整)|问我|关心|重点|关键|"
    r"\b(?:wants?|asked (?:me|us) (?:to|for)|(?:i|we) (?:have|need|promised|agreed|offered|volunteered) to|has to be|"
    r"(?:i'm|we're) (?:supposed|about|planning|preparing|building|writing|teaching|running|hosting|working|redoing|setting|"
    r"making|organi[sz]ing|learning|moving|switching)|(?:is|are|comes?) due|due (?:on|by|next|tomorrow|this)|"
    r"next (?:week|month|year)|by (?:next|the end|tomorrow|christmas|(?:mon|tues|wednes|thurs|fri)day))\b"
)
#: What tells a name from a word where all is English: gpt4, c++, .net, n8n.
_HAS_MARKS_OF_NAME = re.compile(r"[0-9+#./]")
_CAPITALS = re.compile(r"(?<=[a-z,;] )[A-Z][\w-]+|\b[A-Z]{2,}[0-9]*\b")
#: The story is over, and what was before it counts less.
_TURNS = re.compile(
    r"\A\s*(?:对了|好[了啦]|好\Z|行[吧了]|先?不管|先?不[说聊吐]|先不|言归正传|[说回]到?正[题事]|回到|正[题事]|话说回来|"
    r"其实|总之|我还是|算[了啦]|冷静|不过|可是|但是?|"
    r"anyways?\b|so\Z|quick\b|right\b|back to\b|moving on\b|but seriously\b|where was i\b|ok\Z|okay\Z)"
)
_BEFORE_THE_TURN, _TURNED = 0.7, 0.25
_COLORS = tuple(sorted({word for word in ASIDES | FEELINGS if len(word) > 1 and is_cjk(word)} | STORY_WORDS))
_ENGLISH_COLORS = frozenset(word for word in ASIDES if not is_cjk(word))
_ENGLISH_WORD = re.compile(r"[a-z-]+")
#: More colors than these say no more.
_MAX_COLORS = 2


@dataclass(frozen=True, slots=True)
class Memos:
    """The person's own memos: ids of those in which one of some words stands, and how many there are."""

    containing: Callable[[Sequence[str]], Iterable[str]]
    count: int


def short_query(
    text: str, areas: Areas = _USUAL_AREAS, is_word: Callable[[str], bool] | None = None, memos: Memos | None = None
) -> tuple[str, ...]:
    """The terms of a query, ``MAX_TERMS`` words at most, each as it stands in ``text``; none when it says nothing to search for.

    Subject, context, intent, in this order. ``is_word``: whether a folded Chinese word is in the dictionary; without it words are
    told by what stands around them. ``memos``: a word that stands in one of them together with a word of the need is
    more likely part of the subject.
    """
    text = text[:MAX_CHARS]
    folded = fold_keeping_offsets(text)
    messages = messages_in(folded)
    clauses, terms = _read(folded, messages, is_word)
    view = _View(folded, areas, _Shelf(memos) if memos else None, capitalised=_capitalised(text))
    need = _needed(view, [term for clause, found in zip(clauses, terms, strict=True) if clause.is_need for term in found])
    near = (term for clause, found in zip(clauses, terms, strict=True) if clause.is_need or clause.is_beside for term in found)
    view = replace(view.with_need(need), has_names=not all(map(_is_chinese, near)))
    context = _around(view, clauses, terms, need)
    return tuple(dict.fromkeys(text[term.start : term.end] for term in _in_order(folded, [*messages, *need], context)))


def _read(folded: str, messages: Sequence[Term], is_word: Callable[[str], bool] | None) -> tuple[list[Clause], list[list[Term]]]:
    """The clauses, and the terms of each that are no part of a message."""
    clauses = clauses_of(folded)
    terms = [terms_of(folded, clause, is_word) for clause in clauses]
    if not any(_names_more_than_intent(found) for clause, found in zip(clauses, terms, strict=True) if clause.is_need):
        clauses = with_what_is_meant(clauses)
        terms = [terms_of(folded, clause, is_word) for clause in clauses]
    return clauses, [[term for term in found if not any(_overlap(term, message) for message in messages)] for found in terms]


def _overlap(one: Term, other: Term) -> bool:
    return one.start < other.end and other.start < one.end


def _capitalised(text: str) -> frozenset[str]:
    return frozenset(found[0].casefold() for found in _CAPITALS.finditer(text))


def _names_more_than_intent(terms: Iterable[Term]) -> bool:
    return any(word not in INTENTS for term in terms for word in term.words)


@dataclass(frozen=True, slots=True)
class _View:
    """What a word is judged by: the text, the collected areas, and the words of the need.

    ``has_names``: an English term stands in the need or in its sentence.
    """

    folded: str
    areas: Areas
    shelf: _Shelf | None
    need: str = ""
    near: frozenset[str] = frozenset()
    capitalised: frozenset[str] = frozenset()
    has_names: bool = False

    def with_need(self, terms: Iterable[Term]) -> _View:
        words = [word for term in terms for word in term.words]
        ids = [self.shelf.ids(word) for word in words if word not in INTENTS] if self.shelf else []
        return replace(self, need="".join(words), near=frozenset().union(*ids))

    def worth_of(self, term: Term) -> float:
        """That of its best word, and more for each word."""
        best = max(map(self.worth, term.words))
        if len(term.words) > 1 and any(word in ASIDES and not is_cjk(word) for word in term.words):
            best -= _ASIDE_IN
        if found_in(self.areas, self.folded[term.start : term.end]):
            best = max(best, _NAME)
        return best + _EACH_WORD * (len(term.words) - 1)

    def worth(self, word: str) -> float:
        again = _AGAIN * (len(word) > 1 and self.folded.count(word) > 1)
        if word in ASIDES:
            return _ASIDE + again / 2
        return self._kind(word) + again + _SUBJECT * is_subject(word) + _KIN * self._is_kin(word) + self._in_memos(word)

    def _in_memos(self, word: str) -> float:
        """What the memos say of it. That it stands in none, or in others than those of the need, says nothing."""
        if not self.shelf or not self.near or (len(word) == 1 and is_cjk(word)):
            return 0.0
        return _BESIDE_NEED * bool(self.shelf.ids(word) & self.near)

    def _kind(self, word: str) -> float:
        if word in INTENTS:
            return _INTENT
        if is_cjk(word):
            return _CHINESE
        if any(map(is_cjk, self.folded)) or _HAS_MARKS_OF_NAME.search(word):
            return _NAME
        return _CAPITALISED if word in self.capitalised else _ENGLISH

    def _is_kin(self, word: str) -> bool:
        return is_cjk(word) and len(word) > 1 and any(character in self.need for character in word)


class _Shelf:
    """The memos as one query asks them: each word once."""

    def __init__(self, memos: Memos) -> None:
        self._memos = memos
        self._found: dict[str, frozenset[str]] = {}

    def ids(self, word: str) -> frozenset[str]:
        """Of the memos with this word, an English one in the singular or plural; none where it stands in too many."""
        if word not in self._found:
            forms = [word] if is_cjk(word) else [word.removesuffix("s"), word, word + "s"]
            found = frozenset(self._memos.containing(forms))
            self._found[word] = found if len(found) <= self._memos.count * _TOO_MANY else frozenset()
        return self._found[word]


# the choice


def _needed(view: _View, terms: Sequence[Term]) -> list[Term]:
    """Of a need with too many words, names, intents and what is said again; lone characters last."""
    weighed = [replace(term, weight=view.worth_of(term) if term.end - term.start > 1 else 0.0) for term in _once(terms)]
    return _heaviest(weighed, _MAX_OF_NEED)


def _around(view: _View, clauses: Sequence[Clause], terms: Sequence[Sequence[Term]], need: Sequence[Term]) -> list[Term]:
    has_need = any(clause.is_need for clause in clauses)
    turn = _turn(view.folded, clauses)
    weighed = [
        term
        for place, (clause, found) in enumerate(zip(clauses, terms, strict=True))
        if not clause.is_need
        for term in _weighed(view, clause, found, _nearness(clauses, terms, place, turn), is_turned=place >= turn > 0)
    ]
    least = _LEAST if has_need else _LEAST_WITHOUT_NEED
    fit = _once(_heaviest((term for term in weighed if term.weight >= least), len(weighed)), need)
    return fit[: max(_MAX_OF_CONTEXT, _ENOUGH - len(need)) if has_need else MAX_TERMS]


def _turn(folded: str, clauses: Sequence[Clause]) -> int:
    """The place of the last clause up to the need that turns from a story to the subject; 0 when none does."""
    first = next((place for place, clause in enumerate(clauses) if clause.is_need), -1)
    turns = (place for place in range(first, 0, -1) if _TURNS.search(folded[clauses[place].start : clauses[place].end]))
    return next(turns, 0)


def _weighed(view: _View, clause: Clause, terms: Sequence[Term], near: float, *, is_turned: bool) -> list[Term]:
    said = view.folded[clause.start : clause.end]
    has_name = any(map(is_cjk, said)) and any(not is_cjk(word) for term in terms for word in term.words)
    weight = near * (_weight_of_clause(said, clause) + _WITH_NAME * has_name + _TURNED * is_turned)
    if not (clause.is_beside or is_turned or _SAYS_TROUBLE.search(said) or _SAYS_WORK.search(said)):
        terms = [_trimmed(view, term) for term in terms]
    of_name = weight * (_NAME_OF_STORY if has_name and view.has_names and not clause.is_beside else 1)
    return [replace(term, weight=view.worth_of(term) * (weight if _is_chinese(term) else of_name)) for term in terms]


def _is_chinese(term: Term) -> bool:
    return any(map(is_cjk, term.words))


def _weight_of_clause(said: str, clause: Clause) -> float:
    at_work = _AT_WORK * bool(_SAYS_WORK.search(said))
    told = sum(word in said for word in _COLORS)
    colors = min(_MAX_COLORS, told + len(_ENGLISH_COLORS.intersection(_ENGLISH_WORD.findall(said))))
    kind = _TROUBLE * bool(_SAYS_TROUBLE.search(said)) + _FIRST * (clause.start == 0 and is_cjk(said))
    return 1 + at_work + kind + _COLOR * colors


def _nearness(clauses: Sequence[Clause], terms: Sequence[Sequence[Term]], place: int, turn: int) -> float:
    """About 1 near the need, and where there is none."""
    needs = [there for there, clause in enumerate(clauses) if clause.is_need]
    if ahead := [there - place for there in needs if there > place]:
        if clauses[place].is_beside:
            return (_IN_LATER_SENTENCE if clauses[place].sentence else _IN_SENTENCE) * (_BEFORE_THE_TURN if place < turn else 1)
        near = max(_FARTHEST if place else _OPENING, 1 - _STEP * (min(ahead) - 1))
        near *= _BEFORE_THE_TURN if place < turn else 1
        return near * (_WITH_LEAD_IN if _has_lead_in(clauses, terms, needs) else _OTHER_SENTENCE)
    if not needs:
        return 1.0
    return _BEHIND_IN_SENTENCE - _STEP * (place - needs[-1] - 1) if clauses[place].is_beside else _BEHIND


def _has_lead_in(clauses: Sequence[Clause], terms: Sequence[Sequence[Term]], needs: Sequence[int]) -> bool:
    """Whether something of a subject stands before the need in its sentence."""
    first = needs[0]
    before = zip(clauses[:first], terms[:first], strict=True)
    return any(clause.sentence == clauses[first].sentence and found for clause, found in before)


def _trimmed(view: _View, term: Term) -> Term:
    """Without the words at its end that nothing speaks for, where something speaks for those before: they say what it did."""
    words = list(term.words)
    while len(words) > 1 and words[-1] not in SUFFIXES and view.worth(words[-1]) <= _CHINESE:
        words.pop()
    if len(words) == len(term.words) or view.worth(words[-1]) <= _CHINESE:
        return term
    end = term.start
    for word in words:
        end = view.folded.index(word, end) + len(word)
    return replace(term, end=end, words=tuple(words))


def _once(terms: Iterable[Term], have: Sequence[Term] = ()) -> list[Term]:
    """Without terms all of whose words are in another one of these or of those we ``have``."""
    kept: list[Term] = []
    for term in terms:
        if not any(_says(other, term) for other in (*have, *kept)):
            kept = [*(other for other in kept if not _says(term, other)), term]
    return kept


def _says(longer: Term, shorter: Term) -> bool:
    if any(map(is_cjk, shorter.words)):
        return "".join(shorter.words) in "".join(longer.words)
    return set(map(stem_phrase, shorter.words)) <= set(map(stem_phrase, longer.words))


def _heaviest(terms: Iterable[Term], most: int) -> list[Term]:
    return sorted(terms, key=lambda term: (-term.weight, term.start))[:most]


def _in_order(folded: str, need: Sequence[Term], context: Sequence[Term]) -> list[Term]:
    """Subject, context, intent; where there is too much, the lightest of the context goes, then of the need."""
    kept = [*need, *context]
    while len(kept) > MAX_TERMS or sum(len(folded[term.start : term.end].split()) for term in kept) > MAX_TERMS:
        kept.pop()
    of_need = frozenset(term.start for term in need)
    return sorted(kept, key=lambda term: (INTENTS.issuperset(term.words), term.start not in of_need, term.start))
