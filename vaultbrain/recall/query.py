"""The short query for what a person is writing: the words of its subject, one or two of its context, and what is wanted of it.

Pure. Decides where in a rambling text the need stands, how the text is cut into words, which of them a search is better without,
and how many are kept. Refuses to judge whether the text is worth a search (``recall.gate``), and to say anything that does not
stand in the text: every term is a piece of it, in its script.

A text is read in clauses. The clause that asks for something (想找以前写过的…, could you dig up…) gives most words; the clauses
around it give what they name: products, words that are said again, the subject that trouble is about. What people say around a
subject (``recall.query_words``) is dropped wherever it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold_keeping_offsets
from vaultbrain.index.tokens import is_cjk
from vaultbrain.recall.areas import Areas, found_in
from vaultbrain.recall.query_words import (
    ASIDES,
    DROPPED,
    ENGLISH_ADJECTIVES,
    ENGLISH_DROPPED,
    FEELINGS,
    GENERAL_NOUNS,
    INTENTS,
    NOTES,
    OBJECT_VERBS,
    OTHER_WORDS,
    PARTICLES,
    SUFFIXES,
)
from vaultbrain.retrieve.lexicon import load_lexicon
from vaultbrain.retrieve.stems import stem_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

#: Terms of a query, and its words between spaces. The first comes from the recall rules: a longer query loses its subject.
MAX_TERMS = 8
#: Characters of a text that are read; a note that is being written asks in its last lines or its first.
MAX_CHARS = 2_000
#: Terms of the need, and terms from elsewhere beside few or many of them. Together never more than ``MAX_TERMS``.
_MAX_OF_NEED, _MAX_OF_CONTEXT, _ENOUGH = 6, 3, 6
#: Pieces of the longest Chinese word that is looked up; characters and words of the longest term.
_LONGEST_WORD, _MAX_TERM_CHARS, _MAX_TERM_WORDS = 6, 8, 3
#: With an unknown character behind they make a word: 短评, 旧文, 新番.
_FORMING = frozenset("短长旧新老小大热冷干湿快慢高低深浅早晚")
#: They make a word of a verb before them that is dropped elsewhere: 打开率.
_MEASURING = frozenset("率量法器机费期度")
#: A verb with what it can or cannot reach: 找不着, 看不懂, 不下.
_POTENTIAL = re.compile(r"[^不]不[着到了下住起懂清完动上见得]|[不没].")
#: 三个, 第几天, 每周, 十来种; and whoever is more than one.
_COUNTED = re.compile(r"[一二三四五六七八九十百千万两几半]+.?|[第每].{1,2}|.*(?:小时|分钟)|.+们")
#: Below this a word from outside the need is left out.
_LEAST_WEIGHT, _LEAST_WEIGHT_ALONE = 0.5, 0.3

#: Levels of need of a clause: it asks for what was written; it asks; it says something (0).
_ASKS_FOR_NOTES = 2

_END = re.compile(
    r"[，。！？；：…—～\n\r!?;（）()【】\[\]{}|<>]+|(?<![0-9])[,:]|[,:](?![0-9])|\.(?=\s|$|[^\w])|\.\.+|~+|\s-+\s|"
    r"\s+(?=(?:and|but|so|because|since|before|while|although|anyway)\s+(?:i|i'm|i've|we|he|she|they|it|my|all i)\b)"
)
_ADDRESS = re.compile(r"https?://\S+|www\.\S+")
_TITLE = re.compile(r"《([^《》\n]{1,24})》")
_CJK = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LATIN = rf"[^\W_{_CJK}](?:[^\W{_CJK}]|[+#.\-'’/](?=[^\W_{_CJK}])|[+#](?![^\W_]))*"
_RUN = re.compile(rf"(?P<chinese>[{_CJK}]+)|(?P<latin>{_LATIN})")

# where the need stands

_BEFORE = r"(?:以前|之前|上次|上回|上周|上个?月|去年|前年|当时|曾经|从前|过去|早前|前阵子|那时候?|自己|我)"
_NOTED = (
    r"(?:记|写|存|收藏|总结|整理|列|排查|摘抄?|抄|攒|收集|读|看|比较|拆解|备课|说|讲|做|画|试|查|研究|学|练|订|定|逛|做|想)"
)
_WANT = r"(?:(?<!不)(?<!就)想要?|(?<![不只重主])要|得|需要|打算|准备|希望|赶紧|赶快|先|帮我?忙?|麻烦|请|能不能|可不可以|能否|再|趁)"
_LOOK = (
    r"(?:找|翻|查|搜|看看|看一?下|看一[看眼]|再看|先看|参考|参照|对照|比较|对比|比一下|确认|核对|了解|知道|弄清|搞清|回顾|复习|借鉴|"
    r"理一|重新|重排|调出|捞|挖|拿来|拿出|照着)"
)
_ASKS = r"(?:怎么(?!说|开口|回事|了|呢)|怎样|如何|哪[个种些款条家]|有没有|有哪些|要不要|该不该|值不值|好不好|是不是该|该先|先后)"
_STRONG = re.compile(
    rf"{_WANT}[^，]{{0,6}}?{_LOOK}|(?:找|翻|查|调|捞|挖|拿)(?:一下)?(?:出来|出|来)|找找|翻翻|"
    rf"{_BEFORE}.{{0,8}}?{_NOTED}(?:下来|下|了|过|的)|记得.{{0,4}}{_NOTED}?过|{_NOTED}过|的(?:笔记|记录)|(?:收藏|总结)(?:了|的|过)|"
    r"想看(?!的)|想找|想用|看(?:之前|以前|去年|上次)"
)
_MEDIUM = re.compile(rf"{_WANT}把|(?<!不)想把|得把|{_ASKS}")
_ENGLISH_STRONG = re.compile(
    r"\b(?:dig(?:ging)? (?:up|out)|pull up|look(?:ing)? (?:up|for|at|back)|find|show me|where did i|what i (?:wrote|saved|learned|noted|said|"
    r"collected|knew)|i (?:wrote|saved|noted|made|kept|bookmarked|collected|jotted|clipped)|(?:did|do) i (?:have|say|write|note|save|put|keep)|anything (?:about|on)|reread|i remember (?:writing|saving|making|noting|reading)|"
    r"(?:my|the|those|own|old|earlier|packing) (?:\w+ )?(?:notes?|memos?|checklist|list)|notes? (?:on|about)|revisit|remind me|compare)\b"
)
_ENGLISH_MEDIUM = re.compile(
    r"\b(?:i (?:just |really |still |only )?(?:want|need)|i'd (?:like|love)|all i want|how (?:to|do|can|should)|which|what's the best|"
    r"should i|could you|can you|help me|trying to|figure out|or should)\b"
)

_GOES_ON = re.compile(
    r"\A(?:尤其|特别是|包括|主要是|比如|例如|(?:or )?something about|the one|and (?:the|my|what|how|where)|plus|also|还有|以及|那[个条篇]|especially|including|particularly|mainly|e\.g)|(?:什么的|之类的?|等等|那[个条篇种段张])\Z|\A[^、]{2,6}(?:、[^、]{2,6})+\Z"
)

# what speaks for a clause, and against it

#: A clause that says what goes wrong names what it is about.
_TROUBLE = re.compile(
    r"又[^，]{0,4}了|不肯|不愿|不爱|就是不|嫌|老是?[^，]{1,3}不|对不上|不动|不了|出错|报错|失败|坏了|满了|高了|卷了|疼|痛|失眠|怎么办|超时|闪退|被[拒封罚退]|太[慢大长多]|"
    r"\b(?:keeps?|failing|fails|broken|stuck|crash\w*|error|timing out|slow)\b"
)
#: A clause that says what one is at.
_AT_WORK = re.compile(
    r"(?<![一你])在(?:写|做|整理|搭|学|准备|弄|改|研究|看|读|用|给)|(?:要|想|打算|准备)(?:给|做|写|带|搭|换|装|学|改|办|去)|"
    r"用.{1,12}的时候|这[条件种]|(?:整理|搭建|准备|维护|设计|装修|练习?|改写?)(?!了|过|好|得)|关于|说到|讲|聊到|问我|关心|重点|关键"
)
_ENGLISH_AT_WORK = re.compile(
    r"\b(?:i'm|we're|i am|we are) (?:\w+ ){0,2}\w+ing\b|"
    r"\b(?:going|moving|planning|working|writing|building|using) (?:to|on|a|an|the)\b"
)
#: What the clause after a verb says of its degree is a picture: 吓得魂都没了, 说得天花乱坠.
_DEGREE = re.compile(r"(?<=[\u3400-\u9fff])(?<![记觉值懒舍懂晓显难不只还非也就先总必取获使变])得(?=[\u3400-\u9fff]{2})(?!先|把|去|赶|重)")
#: What people do in a story.
_SAYS = re.compile(r"[问说叫让催喊笑骂还又也都在老非]")
#: What comes after the fetching is what for: 翻出来撑场面, 找来补上.
_BROUGHT = re.compile(r"(?<=..)(?:[找翻调捞挖]出来?|拿出来|[找拿]来)(?!的|哪)")
_AT_WORK_BONUS, _ENGLISH_AT_WORK_BONUS, _TROUBLE_BONUS, _NAME_BONUS, _ASIDE_COST = 0.25, 0.4, 0.35, 0.25, 0.3
#: What a clause counts that stands so many clauses away from the need, at least; one behind it counts less than one before.
_STEP, _FARTHEST, _BEHIND = 0.12, 0.5, 0.8
_FIRST, _OPENING = 0.15, 0.7

# what a word is worth outside the need

_WORTH_LATIN, _WORTH_ENGLISH, _WORTH_WORD, _WORTH_INTENT, _WORTH_ASIDE, _AGAIN, _COMPOUND = 1.1, 0.25, 0.3, 0.85, 0.1, 0.5, 0.1
_KNOWN, _KIN, _BESIDE_NAME = 0.3, 0.25, 0.2
_IDIOM_CHARS = 4
#: Words of stories and of feelings; a clause that has them is more often about the person.
_COLORS = tuple(sorted(word for word in ASIDES | FEELINGS if len(word) > 1))


@dataclass(frozen=True, slots=True)
class _Token:
    """A word at ``text[start:end]`` of the folded text. ``is_made``: of lone characters that no list and no dictionary joins."""

    word: str
    start: int
    end: int
    is_made: bool = False

    @property
    def is_chinese(self) -> bool:
        return is_cjk(self.word)

    @property
    def is_lone(self) -> bool:
        return len(self.word) == 1 and self.is_chinese


@dataclass(frozen=True, slots=True)
class _Term:
    """A piece of the text that may become a term: words that stand together."""

    start: int
    end: int
    words: tuple[str, ...]
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class _Clause:
    """``need``: 2 asks for something kept, 1 asks, 0 says something."""

    start: int
    end: int
    need: int


def short_query(text: str, areas: Areas = Areas(), is_word: Callable[[str], bool] | None = None) -> tuple[str, ...]:  # noqa: B008  (frozen)
    """The terms of a query, ``MAX_TERMS`` words at most, each as it stands in ``text``; none when it says nothing to search for.

    ``is_word``: whether a folded Chinese word is in the dictionary; without it words are told by what stands around them.
    """
    text = text[:MAX_CHARS]
    folded = fold_keeping_offsets(text)
    clauses = list(_clauses(folded))
    clauses = _with_continuations(folded, clauses)
    level = max((clause.need for clause in clauses), default=0)
    terms = [list(_terms(folded, clause, is_word, in_need=bool(level) and clause.need == level)) for clause in clauses]
    if level and not any(found for clause, found in zip(clauses, terms, strict=True) if clause.need == level):
        clauses = _with_what_is_meant(clauses, level)
        terms = [list(_terms(folded, clause, is_word, in_need=clause.need == level)) for clause in clauses]
    chosen = _chosen(folded, clauses, terms, level, areas)
    return _worded(text, _in_order(folded, chosen))


# clauses


def _clauses(folded: str) -> Iterator[_Clause]:
    blank = _ADDRESS.sub(lambda found: "\n" * len(found[0]), folded)
    start = 0
    for end in [*_END.finditer(blank), None]:
        stop = end.start() if end else len(blank)
        if blank[start:stop].strip():
            yield from _parts(blank, start, stop)
        start = end.end() if end else stop


def _parts(folded: str, start: int, stop: int) -> Iterator[_Clause]:
    """The clause, cut where something before the asking is only its occasion."""
    said = folded[start:stop]
    need = _need_of(said)
    cut = re.search(r"(?<=..)(?:(?<!不)(?<!就)想(?=找|看|把|参考|知道|查|翻)|帮我|麻烦你?帮)|(?<=.. )\b(?:could|can) you\b", said)
    if need and cut and cut.start() > 1:
        yield _Clause(start, start + cut.start(), min(need, _need_of(said[: cut.start()])))
        start += cut.start()
    yield _Clause(start, stop, need)


def _with_continuations(folded: str, clauses: Sequence[_Clause]) -> list[_Clause]:
    """What goes on with the asking asks as well: 咖啡、纸条什么的; 尤其是…; especially…; and a question beside it."""
    found: list[_Clause] = []
    for clause in clauses:
        before = found[-1].need if found else 0
        goes_on = before and (clause.need or _GOES_ON.search(folded[clause.start : clause.end].strip()))
        found.append(_Clause(clause.start, clause.end, max(clause.need, before)) if goes_on else clause)
    for place in reversed(range(len(found) - 1)):
        clause, after = found[place], found[place + 1].need
        is_between = place > 0 and found[place - 1].need == after == _ASKS_FOR_NOTES
        if clause.need < after and (clause.need or is_between):
            found[place] = _Clause(clause.start, clause.end, after)
    return found


def _with_what_is_meant(clauses: Sequence[_Clause], level: int) -> list[_Clause]:
    """A need that only points (找找那条, I want to see that) means what was said just before."""
    return [
        _Clause(clause.start, clause.end, level) if after.need == level and clause.need < level else clause
        for clause, after in zip(clauses, [*clauses[1:], clauses[-1]], strict=True)
    ]


def _need_of(said: str) -> int:
    if _STRONG.search(said) or _ENGLISH_STRONG.search(said):
        return _ASKS_FOR_NOTES
    return int(bool(_MEDIUM.search(said) or _ENGLISH_MEDIUM.search(said)))


# words


def _terms(folded: str, clause: _Clause, is_word: Callable[[str], bool] | None, *, in_need: bool) -> Iterator[_Term]:
    """The pieces of a clause that are left when what says nothing is gone."""
    stop = clause.end
    if in_need and (brought := _BROUGHT.search(folded, clause.start, clause.end)):
        stop = brought.start()
    if not in_need and (degree := _DEGREE.search(folded, clause.start, clause.end)):
        stop = degree.start()
    together: list[_Token] = []
    for token, is_kept in _sifted(folded, _merged(list(_tokens(folded, clause.start, stop, is_word)), in_need=in_need), in_need=in_need):
        if together and not (is_kept and _stands_with(folded, together, token)):
            yield from _joined(together, in_need=in_need)
            together = []
        if is_kept:
            together.append(token)
    yield from _joined(together, in_need=in_need)


def _tokens(folded: str, start: int, stop: int, is_word: Callable[[str], bool] | None) -> Iterator[_Token]:
    for run in _RUN.finditer(folded, start, stop):
        if run["latin"]:
            yield _Token(run[0], run.start(), run.end())
        else:
            at = run.start()
            for word in _cut(run[0], is_word):
                yield _Token(word, at, at + len(word))
                at += len(word)


def _cut(run: str, is_word: Callable[[str], bool] | None) -> list[str]:
    """Chinese as words: as few as possible and of those the fewest lone characters; our own tables count a little more."""
    own = _own_words()
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for start in reversed(range(len(run))):
        ways = []
        for size in range(min(_LONGEST_WORD, len(run) - start), 0, -1):
            word = run[start : start + size]
            is_own = word in own
            if size == 1 or is_own or (is_word and is_word(word)):
                cost, rest = best[len(run) - start - size]
                ways.append((cost + _cost(word, is_own=is_own), [word, *rest]))
        best.append(min(ways, key=lambda way: way[0]))
    return best[-1][1]


def _cost(word: str, *, is_own: bool) -> float:
    if len(word) == 1:
        return 0.95 if word in PARTICLES else 1.3
    return 0.95 if is_own else 1.0


@lru_cache(maxsize=1)
def _own_words() -> frozenset[str]:
    return DROPPED | INTENTS | ASIDES | OTHER_WORDS | frozenset(word for word in _subjects() if is_cjk(word) and len(word) > 1)


@lru_cache(maxsize=1)
def _subjects() -> frozenset[str]:
    """Words that people keep notes on, in both languages: they speak for themselves where they stand."""
    return (frozenset(load_lexicon().by_word) | OTHER_WORDS) - ASIDES - DROPPED - ENGLISH_DROPPED


def _merged(tokens: Sequence[_Token], *, in_need: bool) -> list[_Token]:
    """Lone characters that no list knows, and that stand together, are a word that the dictionary does not have."""
    found: list[_Token] = []
    for token in tokens:
        last = found[-1] if found else None
        if last and last.end == token.start and _is_more_of(last, token, in_need=in_need):
            found[-1] = _Token(last.word + token.word, last.start, token.end, is_made=True)
        else:
            found.append(token)
    return found


def _is_more_of(last: _Token, token: _Token, *, in_need: bool) -> bool:
    if not token.is_lone or not (last.is_lone or last.is_made) or last.word in PARTICLES or token.word in PARTICLES:
        return False
    if len(last.word) >= _IDIOM_CHARS:
        return False
    if token.word in SUFFIXES or (last.word in _FORMING and token.word not in DROPPED):
        return True
    return last.word not in DROPPED and (token.word not in DROPPED or (in_need and last.is_lone))


def _sifted(folded: str, tokens: Sequence[_Token], *, in_need: bool) -> list[tuple[_Token, bool]]:
    """Each token, and whether it is kept."""
    found: list[tuple[_Token, bool]] = []
    for token in reversed(tokens):
        if token.word in ENGLISH_ADJECTIVES:
            is_kept = in_need and bool(found) and found[-1][1] and found[-1][0].start == token.end + 1
        else:
            is_color = _SAYS.match(folded, token.end) if in_need else _is_color(folded, token)
            is_kept = not _is_dropped(token, in_need=in_need) and not (is_color and (not in_need or token.word in ASIDES))
        found.append((token, is_kept))
    found.reverse()
    return [(token, is_kept or _is_part_of_name(found, place, in_need=in_need)) for place, (token, is_kept) in enumerate(found)]


def _is_part_of_name(sifted: Sequence[tuple[_Token, bool]], place: int, *, in_need: bool) -> bool:
    """A general noun in front of a word that is kept: 内容拆分, 时间安排; a number behind one: exit code 137."""
    token = sifted[place][0]
    if token.word in _MEASURING and place and len(sifted[place - 1][0].word) > 1:
        return sifted[place - 1][0].end == token.start
    if token.word.isdigit() and len(token.word) > 2 and place:
        before, is_kept = sifted[place - 1]
        return is_kept and token.start - before.end < 2
    if place + 1 == len(sifted):
        return False
    after, is_kept = sifted[place + 1]
    if after.word in _MEASURING and token.is_chinese and len(token.word) > 1 and token.word in DROPPED:
        return after.start == token.end
    return in_need and is_kept and after.start == token.end and (token.word in GENERAL_NOUNS or token.word in OBJECT_VERBS)


def _is_dropped(token: _Token, *, in_need: bool) -> bool:
    word = token.word
    if token.is_chinese:
        return word in DROPPED or (in_need and word in NOTES) or bool(_COUNTED.fullmatch(word) or _POTENTIAL.fullmatch(word))
    bare = word.replace("’", "'").removesuffix("'s")
    return bare in ENGLISH_DROPPED or bare in DROPPED or _says_nothing(bare)


def _is_color(folded: str, token: _Token) -> bool:
    """Outside the need: people, bodies and dishes that are named once; phrases of four characters; what somebody did."""
    word = token.word
    if not token.is_chinese:
        return word.endswith("ed") and word.isalpha() and len(word) > 4
    is_phrase = len(word) == _IDIOM_CHARS and not token.is_made and word not in _own_words() and word[-1] not in SUFFIXES
    return (word in ASIDES or is_phrase) and folded.count(word) == 1


def _says_nothing(word: str) -> bool:
    return word.isdigit() or len(word) == 1 or (word.endswith("ly") and len(word) > 4) or bool(re.fullmatch(r"[0-9]+[a-z]{1,2}|(?:ha)+h?|l+o+l+", word))


def _stands_with(folded: str, together: Sequence[_Token], token: _Token) -> bool:
    """Whether nothing but one space is between, and both may be one term."""
    between = folded[together[-1].end : token.start]
    if between not in ("", " "):
        return False
    chars = token.end - together[0].start
    if token.is_chinese or any(item.is_chinese for item in together):
        return sum(len(item.word) for item in (*together, token) if item.is_chinese) <= _MAX_TERM_CHARS and chars <= 4 * _MAX_TERM_CHARS
    return len(together) < _MAX_TERM_WORDS


def _joined(together: Sequence[_Token], *, in_need: bool) -> Iterator[_Term]:
    if not together or (len(together) == 1 and together[0].is_lone and not in_need):
        return
    yield _Term(together[0].start, together[-1].end, tuple(token.word for token in together))


# the choice


def _chosen(
    folded: str, clauses: Sequence[_Clause], terms: Sequence[Sequence[_Term]], level: int, areas: Areas
) -> tuple[list[_Term], list[_Term]]:
    """Terms of the need, terms of its context."""
    is_need = [bool(level) and clause.need == level for clause in clauses]
    need = [term for wanted, found in zip(is_need, terms, strict=True) if wanted for term in found]
    need = _without_repeats(need, ())
    need = _heaviest((_in_need(folded, term, areas) for term in need), _MAX_OF_NEED)
    needed = "".join(word for term in need for word in term.words)
    context = [
        term
        for place, found in enumerate(terms)
        if not is_need[place]
        for term in _weighed(folded, clauses, place, found, is_need, areas, needed)
    ]
    room = max(_MAX_OF_CONTEXT, _ENOUGH - len(need)) if level else MAX_TERMS
    fit = _without_repeats(sorted(context, key=lambda term: (-term.weight, term.start)), need)
    return need, _heaviest((term for term in fit if term.weight >= _least(level, need)), room)


def _least(level: int, need: Sequence[_Term]) -> float:
    """The fewer words the need has, the more is taken from around it."""
    if not level:
        return _LEAST_WEIGHT_ALONE
    return _LEAST_WEIGHT if len(need) > 1 else _LEAST_WEIGHT - 0.08


def _in_need(folded: str, term: _Term, areas: Areas) -> _Term:
    """Of a need with too many words, those that are said again, intents and names come first; lone characters last."""
    worth = max(_worth(folded, word, areas) for word in term.words) + _COMPOUND * len(term.words)
    return _Term(term.start, term.end, term.words, 0.1 if term.end - term.start == 1 else worth)


def _weighed(
    folded: str, clauses: Sequence[_Clause], place: int, terms: Sequence[_Term], is_need: Sequence[bool], areas: Areas, needed: str = ""
) -> Iterator[_Term]:
    clause = clauses[place]
    said = folded[clause.start : clause.end]
    weight = 1.0
    weight += _AT_WORK_BONUS * bool(_AT_WORK.search(said)) + _ENGLISH_AT_WORK_BONUS * bool(_ENGLISH_AT_WORK.search(said)) + _TROUBLE_BONUS * bool(_TROUBLE.search(said))
    weight += 0.3 * (clause.need > 0) + _FIRST * (place == 0)
    weight -= _ASIDE_COST * min(2, sum(word in said for word in _COLORS))
    weight += _NAME_BONUS * any(not is_cjk(word) for term in terms for word in term.words) * any(map(is_cjk, said))
    ahead = [there - place for there, wanted in enumerate(is_need) if wanted and there > place]
    behind = [place - there for there, wanted in enumerate(is_need) if wanted and there < place]
    beside = _BESIDE_NAME * any(not is_cjk(word) for term in terms for word in term.words) * any(map(is_cjk, said))
    near = 1.0
    if ahead:
        near = max(_FARTHEST if place else _OPENING, 1 - _STEP * (min(ahead) - 1))
    elif behind:
        near = max(_FARTHEST, _BEHIND - _STEP * (min(behind) - 1))
    if not _TROUBLE.search(said):
        terms = [trimmed for term in terms for trimmed in _trimmed(folded, term, areas, needed)]
    for term in terms:
        worth = max(_worth(folded, word, areas, needed) for word in term.words) + _COMPOUND * (len(term.words) - 1) + beside
        yield _Term(term.start, term.end, term.words, weight * near * worth)


def _trimmed(folded: str, term: _Term, areas: Areas, needed: str) -> Iterator[_Term]:
    """The words of a term that something speaks for, if there are any, without those at its ends that nothing does."""
    worths = [_worth(folded, word, areas, needed) for word in term.words]
    telling = [place for place, worth in enumerate(worths) if worth > _WORTH_WORD]
    if not telling:
        yield term
        return
    at, places = term.start, []
    for word in term.words:
        at = folded.index(word, at)
        places.append((at, at + len(word)))
        at += len(word)
    first, last = telling[0], telling[-1]
    yield _Term(places[first][0], places[last][1], term.words[first : last + 1])


def _worth(folded: str, word: str, areas: Areas, need: str = "") -> float:
    again = _AGAIN * (folded.count(word) > 1 and len(word) > 1)
    if word not in ASIDES:
        again += _KNOWN * (word in _subjects()) + _KIN * (is_cjk(word) and len(word) > 1 and any(character in need for character in word))
    if found_in(areas, word):
        return _WORTH_LATIN + again
    if word in ASIDES:
        return _WORTH_ASIDE + again / 2
    if word in INTENTS:
        return _WORTH_INTENT + again
    if not is_cjk(word):
        is_name = any(map(is_cjk, folded)) or not word.isalpha()
        return (_WORTH_LATIN if is_name else _WORTH_ENGLISH) + again
    return _WORTH_WORD + again


def _without_repeats(terms: Iterable[_Term], have: Sequence[_Term]) -> list[_Term]:
    """Each word once: a term all of whose words are in another one is left out, whichever comes first."""
    kept: list[_Term] = []
    for term in terms:
        if any(_says(other, term) for other in (*have, *kept)):
            continue
        kept = [other for other in kept if not _says(term, other)]
        kept.append(term)
    return kept


def _says(longer: _Term, shorter: _Term) -> bool:
    if any(map(is_cjk, shorter.words)):
        return "".join(shorter.words) in "".join(longer.words)
    return set(map(stem_phrase, shorter.words)) <= set(map(stem_phrase, longer.words))


def _heaviest(terms: Iterable[_Term], most: int) -> list[_Term]:
    return sorted(terms, key=lambda term: (-term.weight, term.start))[:most]


# the wording


def _in_order(folded: str, chosen: tuple[list[_Term], list[_Term]]) -> list[_Term]:
    """Subject, context, intent; where there is too much, the lightest of the context goes, then of the need."""
    need, context = chosen
    while need or context:
        terms = [*need, *context]
        if len(terms) <= MAX_TERMS and sum(len(folded[term.start : term.end].split()) for term in terms) <= MAX_TERMS:
            break
        (context or need).pop()
    places = {id(term): number for number, part in enumerate((need, context)) for term in part}
    return sorted([*need, *context], key=lambda term: (set(term.words) <= INTENTS, places[id(term)], term.start))


def _worded(text: str, terms: Iterable[_Term]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text[term.start : term.end] for term in terms))
