"""The words of a clause that a search is better with, joined where they stand together: possible terms of a query.

Pure. Decides how Chinese is cut into words, which words are dropped, and which words that are dropped elsewhere belong to a name
here (内容 in 内容拆分, 打开 in 打开率, low in low light settings). In a clause that is the need more is kept than in others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold, in_other_region
from vaultbrain.index.tokens import is_cjk
from vaultbrain.recall.query_words import (
    ASIDES,
    DROPPED,
    ENGLISH_ADJECTIVES,
    ENGLISH_DROPPED,
    ENGLISH_GENERAL_NOUNS,
    GENERAL_NOUNS,
    INTENTS,
    JOINING,
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

    from vaultbrain.recall.query_clauses import Clause

    IsWord = Callable[[str], bool]

#: Characters of the longest Chinese word that is looked up; Chinese characters, all characters and English words of a term.
_LONGEST_WORD, _MAX_CHINESE, _MAX_CHARS, _MAX_WORDS = 6, 8, 32, 3
#: What a word costs when Chinese is cut: as few words as possible, those of our tables first, lone characters last.
_WORD, _OWN_WORD, _LONE = 1.0, 0.95, 1.3
#: A Chinese phrase of so many characters is a saying more often than a subject.
_SAYING_CHARS = 4
#: With an unknown character behind they make a word: 短评, 旧文, 新番.
_FORMING = frozenset("短长旧新老小大热冷干湿快慢高低深浅早晚前后内外")
#: In a need they are the first half of a word that no list has: 打样, 变位, 回译.
_VERBAL = OBJECT_VERBS | frozenset("起重回变除续转调出入退进合保工译量通过跳漏断卡掉脱听默抄缩防控开")
#: They never end such a word: 拉花师 要.
_OUTSIDE = PARTICLES | frozenset("要能想该再已才给")
#: What is counted by them, or what they are themselves; what is done by hand or by a machine: 转写, 听写, 复印.
_ALSO_NOUNS = frozenset("样位名号页行列章写译录印根块片")
#: Before a gerund that says what kind of a thing.
_BEFORE_A_KIND = frozenset(("a", "about", "for", "his", "my", "of", "on", "our", "the", "their"))
#: They make a word of a verb before them that is dropped elsewhere: 打开率.
_MEASURING = frozenset("率量法器机费期度额")
#: A verb with what it cannot reach: 找不着, 不下; what is counted: 三个, 第几天, 每周; people: 阿姨们, 老王.
_POTENTIAL = re.compile(r"[^不]不[着到了下住起懂清完动上见得]|[不没].|[^超经通不]过|(..)\1|(.)\2(.)\3")
#: Sayings by their form: 气归气, 翻来覆去, 七上八下, 一来二去.
_SAYING = re.compile(r"(.)[归就是了一]\1|.来[覆复]?[去回].?|七.八.|千.万.|东.西.|半.[半不].|一[^对比].?一.|[有无没不].[无没不].")
#: Characters that paint a sound: 嗖嗖, 咯吱, 噼里啪啦.
_SOUNDS = re.compile(r"[嗖咯吱嘎嘎哐啪噼啦里叮咚哗砰轰咔嚓滋唰呼噜咕嘟嗡嘀嗒哒扑通]{2,}")
_COUNTED = re.compile(
    r"[一二三四五六七八九十百千万两几半]+[个只条张本次回遍趟天年月日周岁点分秒块元层楼碗杯瓶袋盒斤口句字页段篇种样件套双对群堆版款圈场顿阵身脸晚夜宿头家位名台部首集章人下把手眼声份]?|[第每].{1,2}|.*(?:小时|分钟)|.+们|"
    r"[老小阿][王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗]"
)
_EMPTY_FORMS = (_COUNTED, _POTENTIAL, _SAYING, _SOUNDS)
_ENGLISH_NOISE = re.compile(r"[0-9]+(?:am|pm|st|nd|rd|th|h|s)?|.|.{3,}ly|(?:ha)+h?|l+o+l+")
#: What a verb leads to in degree is a picture: 吓得魂都没了, 说得天花乱坠.
_DEGREE = re.compile(
    r"(?<=[\u3400-\u9fff])(?<![我你他她们记觉值懒舍懂晓显难不只还非也就先总必取获使变])得(?=[\u3400-\u9fff]{2})(?!先|把|去|赶|重)"
)
_SO_THAT = re.compile(r"(?<= )so (?:[a-z]+ ){1,3}(?:that|i|my)\b")
#: Likenesses and dreams are pictures as well: 画的马像河马, 跟锯木头一样, limping like a pirate.
_LIKENS = re.compile(
    r"梦[到见]|(?<=.)(?<![好图录偶头画影想摄塑不镜成音铜神雕遗肖])像(?![素是样片章])|(?<=.)[跟和].{2,10}(?:一样|似的)\Z|"
    r"(?<= )(?<!'d )(?<!would )(?<!i )(?<!we )(?<!you )like (?:an?|some|my|the) "
)
#: What comes after the fetching is what for: 翻出来撑场面, 找来补上.
_FETCHED = re.compile(r"(?<=..)(?:[找翻调捞挖]出来?|拿出来|[找拿]来)(?!的|哪)")
#: What should not be: 别又写成论文, 免得忘了.
_WARNS = re.compile(r"\s*(?:千万|可)?(?:别(?!问|说|提|看|笑|人)|免得|省得|以免|不然|否则)(?!的|人|墅|处)")
#: What people do in a story.
_ACTS = re.compile(r"[问说叫让催喊笑骂还又也都在老非]")
#: An error message that somebody quotes.
_QUOTED = re.compile(r"[\"“「『`](?P<said>[^\W_][^\"“”「」『』`\n]{2,80})[\"”」』`]")
_SAYS_ERROR = re.compile(
    r"error|fail|denied|not found|no such|exceeded|cannot|invalid|timed? ?out|refused|unexpected|missing|undefined|exception|"
    r"unable|失败|错误|出错|无法|异常|超时|拒绝|不支持|无效|不存在|未找到|找不到"
)
#: Words of the longest message that leaves room for what it is about.
_MAX_MESSAGE = 6
_CJK = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(
    rf"(?P<chinese>[{_CJK}]+)|\b(?:back(?:ed|ing)? up|roll(?:ed|ing)? back)\b|"
    rf"[^\W_{_CJK}](?:[^\W{_CJK}]|[+#.\-'’/](?=[^\W_{_CJK}])|[+#](?![^\W_]))*"
)
#: Done again and again: 练琴练到邻居搬家, 换来换去.
_UNTIL = re.compile(r"([^\W一两几])[^都也还又]{1,4}\1[到得](?!底)|(.)来\2去")
_STORY_ENDS = (_DEGREE, _SO_THAT, _LIKENS, _UNTIL)


@dataclass(frozen=True, slots=True)
class Token:
    """A word at ``start`` to ``end``. ``is_made``: of lone characters that neither our tables nor the dictionary join."""

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
class Term:
    """Words that stand together at ``start`` to ``end``; ``weight`` is given to it by who chooses."""

    start: int
    end: int
    words: tuple[str, ...]
    weight: float = 0.0


def terms_of(folded: str, clause: Clause, is_word: IsWord | None) -> list[Term]:
    """What is left of a clause, in order; nothing of one that says what should not be."""
    if _WARNS.match(folded, clause.start, clause.end):
        return []
    end = _end_of_interest(folded, clause)
    tokens = _merged(_tokens(folded, clause.start, end, is_word), in_need=clause.is_need or clause.is_beside)
    together: list[Token] = []
    terms: list[list[Token]] = []
    for token, is_kept in _sifted(folded, tokens, clause):
        if together and not (is_kept and _stands_with(folded, together, token)):
            terms.append(together)
            together = []
        if is_kept:
            together.append(token)
    whole = [term for term in (*terms, together) if term and (clause.is_need or len(term) > 1 or not term[0].is_lone)]
    return [Term(term[0].start, term[-1].end, tuple(token.word for token in term)) for term in whole]


@lru_cache(maxsize=4096)
def is_subject(word: str) -> bool:
    """Whether people keep notes on it: the lexicon has it, in any form and in the words of either region, or ``OTHER_WORDS``."""
    if is_cjk(word):
        return word in _subjects() or fold(in_other_region(word)) in _subjects()
    return word in _subjects() or stem_phrase(word) in load_lexicon().by_stem


def messages_in(folded: str) -> list[Term]:
    """Error messages between quotation marks: each is searched whole, if it is short enough for a query."""
    found = (Term(each.start("said"), each.end("said"), (each["said"],)) for each in _QUOTED.finditer(folded))
    return [term for term in found if len(term.words[0].split()) <= _MAX_MESSAGE and _SAYS_ERROR.search(term.words[0])]


def _end_of_interest(folded: str, clause: Clause) -> int:
    said = folded[clause.start : clause.end]
    found = (pattern.search(said) for pattern in ((_FETCHED,) if clause.is_need else _STORY_ENDS))
    return clause.start + min((each.start() for each in found if each), default=len(said))


# cutting


def _tokens(folded: str, start: int, end: int, is_word: IsWord | None) -> Iterator[Token]:
    for run in _RUN.finditer(folded, start, end):
        at = run.start()
        for word in _segmented(run[0], is_word) if run["chinese"] else [run[0]]:
            yield Token(word, at, at + len(word))
            at += len(word)


def _segmented(run: str, is_word: IsWord | None) -> list[str]:
    """Chinese as the cheapest words; of equal ways the one whose first word is longest."""
    own = _own_words()
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for start in reversed(range(len(run))):
        ways = []
        for size in range(min(_LONGEST_WORD, len(run) - start), 0, -1):
            word = run[start : start + size]
            if size == 1 or word in own or (is_word and is_word(word)):
                cost, rest = best[len(run) - start - size]
                ways.append((cost + _cost(word, own), [word, *rest]))
        best.append(min(ways, key=lambda way: way[0]))
    return best[-1][1]


def _cost(word: str, own: frozenset[str]) -> float:
    if len(word) == 1:
        return _OWN_WORD if word in PARTICLES else _LONE
    return _OWN_WORD if word in own else _WORD


@lru_cache(maxsize=1)
def _own_words() -> frozenset[str]:
    chinese = frozenset(word for word in load_lexicon().by_word if is_cjk(word) and len(word) > 1)
    return DROPPED | INTENTS | ASIDES | OTHER_WORDS | NOTES | chinese


@lru_cache(maxsize=1)
def _subjects() -> frozenset[str]:
    return (frozenset(load_lexicon().by_word) | OTHER_WORDS) - ASIDES - DROPPED - ENGLISH_DROPPED


def _merged(tokens: Iterable[Token], *, in_need: bool) -> list[Token]:
    """With lone characters that no list knows, and that stand together, as one word."""
    found: list[Token] = []
    for token in tokens:
        last = found[-1] if found else None
        if last and last.end == token.start and _is_more_of(last, token, in_need=in_need):
            found[-1] = Token(last.word + token.word, last.start, token.end, is_made=True)
        else:
            found.append(token)
    return found


def _is_more_of(last: Token, token: Token, *, in_need: bool) -> bool:
    if not token.is_lone or not (last.is_lone or last.is_made) or len(last.word) >= _SAYING_CHARS:
        return False
    if last.word in PARTICLES or token.word in _OUTSIDE:
        return False
    if token.word in SUFFIXES or (last.word in _FORMING and token.word not in DROPPED):
        return True
    if in_need and last.word in _VERBAL and (token.word not in DROPPED or token.word in _ALSO_NOUNS):
        return True
    return last.word not in DROPPED and (in_need or token.word not in DROPPED)


# sifting


def _sifted(folded: str, tokens: Sequence[Token], clause: Clause) -> list[tuple[Token, bool]]:
    """Each token, and whether it is kept."""
    in_need = clause.is_need
    found: list[tuple[Token, bool]] = []
    for token in reversed(tokens):
        if token.word in ENGLISH_ADJECTIVES:
            is_kept = (in_need or clause.is_beside) and bool(found) and found[-1][1] and found[-1][0].start == token.end + 1
        else:
            is_kept = not _is_dropped(token, in_need=in_need) and not _is_color(folded, token, in_need=in_need)
        found.append((token, is_kept))
    found.reverse()
    return [(token, is_kept or _is_part_of_name(found, place, in_need=in_need)) for place, (token, is_kept) in enumerate(found)]


def _is_dropped(token: Token, *, in_need: bool) -> bool:
    word = token.word
    if token.is_chinese:
        return word in DROPPED or (in_need and word in NOTES) or any(form.fullmatch(word) for form in _EMPTY_FORMS)
    bare = word.replace("’", "'").removesuffix("'s")
    return bare in ENGLISH_DROPPED or bare in DROPPED or bool(_ENGLISH_NOISE.fullmatch(bare))


def _is_color(folded: str, token: Token, *, in_need: bool) -> bool:
    """People, bodies and dishes that are named once; sayings; what somebody did. In the need only people who do something."""
    word = token.word
    is_actor = word in ASIDES and bool(_ACTS.match(folded, token.end))
    if in_need or is_actor:
        return is_actor or (token.is_lone and folded.startswith(("过", "一下"), token.end))
    if not token.is_chinese:
        return word.isalpha() and word.endswith("ed") and len(word) > len("used")
    is_saying = len(word) == _SAYING_CHARS and not token.is_made and word not in _own_words() and word[-1] not in SUFFIXES
    return (word in ASIDES or is_saying) and folded.count(word) == 1


def _is_part_of_name(sifted: Sequence[tuple[Token, bool]], place: int, *, in_need: bool) -> bool:
    """Whether a word that says nothing belongs to a neighbour that stands beside it and is kept."""
    token = sifted[place][0]
    if place and _goes_with_word_before(*sifted[place - 1], token):
        return True
    if place + 1 >= len(sifted):
        return False
    if in_need and place > 0 and _joins(sifted[place - 1], token, sifted[place + 1]):
        return True
    return _goes_with_word_behind(token, *sifted[place + 1], in_need=in_need)


def _joins(before: tuple[Token, bool], token: Token, behind: tuple[Token, bool]) -> bool:
    """A verb inside a compound: 自动保存设置; one that says what kind: the list of reading games."""
    if not behind[1]:
        return False
    if token.is_chinese:
        is_close = before[0].end == token.start and behind[0].start == token.end
        return before[1] and is_close and before[0].is_chinese and len(token.word) > 1 and token.word in JOINING
    is_close = before[0].end + 1 == token.start and behind[0].start == token.end + 1
    return is_close and token.word.endswith("ing") and before[0].word in _BEFORE_A_KIND


def _goes_with_word_before(before: Token, is_kept: bool, token: Token) -> bool:
    """打开率, 作品集; screen time, exit code 137."""
    if before.is_chinese:
        is_suffix = token.word in _MEASURING or (is_kept and token.word in SUFFIXES)
        return is_suffix and before.end == token.start and len(before.word) > 1
    is_number = token.word.isdigit() and len(token.word) > len("99")
    return is_kept and token.start - before.end <= 1 and (is_number or token.word in ENGLISH_GENERAL_NOUNS)


def _goes_with_word_behind(token: Token, behind: Token, is_kept: bool, *, in_need: bool) -> bool:
    """打开率; 内容拆分, 救砖."""
    if behind.start != token.end or not token.is_chinese:
        return False
    if behind.word in _MEASURING:
        return len(token.word) > 1
    return in_need and is_kept and (token.word in GENERAL_NOUNS or token.word in OBJECT_VERBS)


def _stands_with(folded: str, together: Sequence[Token], token: Token) -> bool:
    """Whether nothing but a space is between, and both may be one term."""
    if folded[together[-1].end : token.start] not in ("", " "):
        return False
    term = (*together, token)
    if any(item.is_chinese for item in term):
        chinese = sum(len(item.word) for item in term if item.is_chinese)
        return chinese <= _MAX_CHINESE and token.end - together[0].start <= _MAX_CHARS
    return len(term) <= _MAX_WORDS
