"""Clauses of a rambling text, and which of them say what is wanted.

Pure. Decides where a clause ends, and whether it asks for what was written before (想找以前写过的…, could you dig up…), asks
at all (怎么…, how do I…), or only says something. What goes on with the asking asks as well: 尤其是…, a question beside it.
Everything is expected as ``index.fold.fold_keeping_offsets`` gives it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Levels of need: it says something, it asks, it asks for what was written.
SAYS, ASKS, ASKS_FOR_NOTES = 0, 1, 2

_END = re.compile(
    r"[，。！？；：…—～\n\r!?;（）()【】\[\]{}|<>]+|(?<![0-9])[,:]|[,:](?![0-9])|\.(?=\s|$|[^\w])|\.\.+|~+|\s-+\s|"
    r"\s+(?=(?:and|but|so|because|since|before|while|although|anyway)\s+(?:i|i'm|i've|we|he|she|they|it|my|all i)\b)"
)
_ENDS_SENTENCE = re.compile(r"[。！？….!?\n]")
_ADDRESS = re.compile(r"https?://\S+|www\.\S+")
#: Before these stands the occasion of what is asked, in the same clause.
_BEGINS_TO_ASK = re.compile(
    r"(?<=..)(?:(?<!不)(?<!就)想(?=找|看|把|参考|知道|查|翻)|帮我|麻烦你?帮)|(?<=.. )\b(?:could|can) you\b"
)

_BEFORE = r"(?:以前|之前|上次|上回|上周|上个?月|去年|前年|当时|曾经|从前|过去|早前|前阵子|那时候?)"
_NOTED = (
    r"(?:记|写|存|收藏?|录|算|归|总结|整理|列|排查|摘抄?|抄|攒|收集|读|看|比较|拆解|备课|说|讲|"
    r"做|画|试|查|研究|学|练|订|定|逛|想)"
)
#: Something was done then: 前年问过三家. Not 超过, 过期.
_DONE = r"(?:以前|之前|上次|上回|去年|前年|先前|早先|前阵子|曾经|当时).{0,6}?[^\W超经通]过(?![期程敏去年来分于度户夜节生])"
_WHERE = r"[记存写放收]在?哪|在哪(?:里|儿|一)?[条篇页份本了]|在哪(?:里|儿)?\Z|留着呢?\Z"
#: I found it out myself.
_FOUND_OUT = r"我.{0,3}(?:问|调|测|拆|弄|请教|咨询|摸索|跑通)过|跑通了|[都也]记了"
_WANT = (
    r"(?:(?<!不)(?<!就)想要?|(?<![不只重主])要|得|需要|打算|准备|希望|赶紧|赶快|先|帮我?忙?|麻烦|请|能不能|可不可以|能否|再|趁)"
)
_LOOK = (
    r"(?:找|翻|查|搜|看看|看一?下|看一[看眼]|再看|先看|参考|参照|对照|比较|对比|比一下|确认|核对|了解|知道|弄清|搞清|回顾|复习|"
    r"借鉴|理一|重新|重排|调出|捞|挖|拿来|拿出|照着)"
)
_WAY = (
    r"(?:怎么(?!说|开口|回事|了|呢)|怎样|如何|哪(?:一.|[个种些款条家几])|有没有|有哪些|要不要|该不该|值不值|好不好|"
    r"能不能|可不可以|是不是该|该先|先后|多少|多久)"
)
#: I once wrote, I'd already saved, I've collected.
_I_NOTED = (
    r"i(?:'ve|'d| have| had)? (?:(?:once|already|also|even|actually|definitely|must have|first|then) )*"
    r"(?:wrote|written|saved|noted|made|kept|bookmarked|collected|jotted|clipped|drew up|drawn up|put together|worked out|"
    r"copied|gathered|recorded|logged|listed|sketched|drafted|scribbled|typed up|"
    r"compared|summari[sz]ed|compiled|archived|documented|tested)"
)
#: Done then: the questions I used last time.
_I_DID_THEN = (
    r"i (?:used|tried|did|had|learned|found|followed|settled on) (?:[\w'-]+ ){0,6}?"
    r"(?:last (?:time|year|month|spring|summer|autumn|fall|winter)|before|back then|once)"
)
_ASKS_FOR_NOTES = re.compile(
    rf"{_WANT}.{{0,6}}?{_LOOK}|(?:找|翻|查|调|捞|挖|(?<![能以])拿)(?:一下)?(?:出来|出|来(?![覆复去做当]))|"
    rf"找找|翻翻|[找翻查捞调]一下|"
    rf"{_BEFORE}.{{0,8}}?{_NOTED}(?:下来|下|了|过|的)|(?:我|自己).{{0,8}}?{_NOTED}(?:下来|下|过|的)|"
    rf"{_DONE}|{_WHERE}|{_FOUND_OUT}|"
    r"[找发调翻]给我|给我[找翻调]|\A\s*(?:参考|参照|对照)|我?有(?:记|写|存|收|整理|抄|列|留)(?!得)|"
    r"我(?:都|也|全|还)(?:记|写|存|抄|列|留|拍|画|标)[了着]|"
    rf"记得.{{0,4}}{_NOTED}?过|{_NOTED}过|的(?:笔记|记录)|"
    r"(?:收藏|总结)(?:了|的|过)|"
    r"想看(?!的)|想找|想(?:再|继续)?(?:用|沿用|套用|照抄|照搬|照着|复用)|看(?:之前|以前|去年|上次)|"
    r"\b(?:dig(?:ging)? (?:up|out)|pull (?:up|out)|bring up|track down|hunt(?:ing)? (?:down|for)|fish out|"
    r"go (?:over|through|back (?:to|over))|"
    r"(?<!pretending to )(?<!pretend to )look(?:ing)? (?:up|for|at(?! (?:me|us|him|her|them|you)\b)|back)|"
    r"find|show me|where(?:'s| is| are| did)|(?:can|could|may) i (?:see|have|get|reread)|let me (?:see|start|have|reread|check)|"
    r"what i (?:wrote|saved|learned|noted|said|collected|knew)|"
    rf"{_I_NOTED}|{_I_DID_THEN}|"
    r"(?:did|do) i (?:have|say|write|note|save|put|keep|decide|choose|pick|settle|conclude|learn|find|use)|"
    r"(?:how|what|which|when|why) did i\b|what (?:was|were) (?:that|those|the|my)|somewhere\Z|"
    r"anything (?:about|on)|reread|reuse|redo|revisit|remind me|compare|"
    r"i remember (?:writing|saving|making|noting|reading)|"
    r"(?:my|the|those|own|old|earlier|packing) (?:[\w-]+ )?(?:notes?|memos?|checklist|list)(?! (?:said|says|reads?|was|were)\b)|"
    r"notes? (?:on|about)|write-?ups?)\b"
)
_ASKS = re.compile(
    rf"{_WANT}把|(?<!不)想把|得把|{_WAY}|"
    r"\b(?:i (?:just |really |still |only )?(?:want|need)|i'd (?:like|love)|all i want|how (?:to|do|can|should)|which|"
    r"what's the best|should i|could you|can you|help me|trying to|figure out|or should)\b"
)
_GOES_ON = re.compile(
    r"\A(?:尤其|特别是|包括|主要是|比如|例如|还有|以及|那[个条篇]|"
    r"(?:or )?something about|the (?:one|part|bit|section)\b|"
    r"and (?:the|my|what|how|where)|plus|also|especially|including|particularly|"
    r"mainly|e\.g)|\A(?:[a-z-]+ ){1,3}(?:and|or|versus|vs) [a-z-]+\Z|"
    r"(?:什么的|之类的?|等等|(?:那[一两三几]?|[两三几])[个条篇种段张块页套份版节])\Z|"
    r"\A[^，]{2,5}[和跟与及][^，]{2,5}\Z|\A[^、]{2,6}(?:、[^、]{2,6})+\Z"
)
#: Parts of what is wanted, named behind it: the intervals and the card types. Nothing is done in it.
_NAMES_PARTS = re.compile(
    r"\A(?:and |plus )?(?:the|my|our|any|some)(?: (?!(?:i|we|he|she|they|it|you|who|is|was|are|were|has|had|have|keeps?|got|went|"
    r"came|did|does|said|says|thinks?|wants?|just|[a-z]+n't|[a-z]{3,}ed)\b)[\w'-]+){1,7}\Z"
)


@dataclass(frozen=True, slots=True)
class Clause:
    """``text[start:end]``; ``is_need``: it is one of those that say what is wanted; ``sentence``: which one it is part of;
    ``is_beside``: the same as one of these.
    """

    start: int
    end: int
    level: int
    is_need: bool = False
    sentence: int = 0
    is_beside: bool = False


def clauses_of(folded: str) -> list[Clause]:
    """In order, addresses left out. The need is what asks most; a text of one clause is all need.

    Where nothing asks, people come to the point in the end: the last sentence.
    """
    found = _with_continuations(folded, list(_cut(folded)))
    most = max((clause.level for clause in found), default=SAYS)
    if most == SAYS and found and found[-1].sentence:
        return _with_neighbours([replace(clause, is_need=clause.sentence == found[-1].sentence) for clause in found])
    return _with_neighbours([replace(clause, is_need=len(found) == 1 or SAYS < most == clause.level) for clause in found])


def with_what_is_meant(clauses: Sequence[Clause]) -> list[Clause]:
    """For a need that only points (找找那条, I want to see that): what was said just before is needed."""
    meant = [
        replace(clause, is_need=clause.is_need or clauses[place + 1].is_need) if place + 1 < len(clauses) else clause
        for place, clause in enumerate(clauses)
    ]
    return _with_neighbours(meant)


def _with_neighbours(clauses: Sequence[Clause]) -> list[Clause]:
    sentences = {clause.sentence for clause in clauses if clause.is_need}
    return [replace(clause, is_beside=not clause.is_need and clause.sentence in sentences) for clause in clauses]


def _cut(folded: str) -> Iterator[Clause]:
    blank = _ADDRESS.sub(lambda found: "\n" * len(found[0]), folded)
    start = sentence = 0
    for mark in _END.finditer(blank):
        yield from _parts(blank, start, mark.start(), sentence)
        start = mark.end()
        sentence += bool(_ENDS_SENTENCE.search(mark[0]))
    yield from _parts(blank, start, len(blank), sentence)


def _parts(folded: str, start: int, end: int, sentence: int) -> Iterator[Clause]:
    """Nothing when it is blank; two when something stands before the asking."""
    said = folded[start:end]
    if not said.strip():
        return
    level = _level_of(said)
    asking = _BEGINS_TO_ASK.search(said)
    if level and asking:
        middle = start + asking.start()
        yield Clause(start, middle, min(level, _level_of(folded[start:middle])), sentence=sentence)
        start = middle
    yield Clause(start, end, level, sentence=sentence)


def _level_of(said: str) -> int:
    if _ASKS_FOR_NOTES.search(said):
        return ASKS_FOR_NOTES
    return ASKS if _ASKS.search(said) else SAYS


def _with_continuations(folded: str, clauses: Sequence[Clause]) -> list[Clause]:
    """Beside a clause that asks: a question asks as much, and so does what goes on with it or stands between two such clauses."""
    found: list[Clause] = []
    for clause in clauses:
        before = found[-1].level if found else SAYS
        is_beside = bool(found) and found[-1].sentence == clause.sentence
        said = folded[clause.start : clause.end].strip()
        goes_on = before and (clause.level or _GOES_ON.search(said) or (is_beside and _NAMES_PARTS.search(said)))
        found.append(replace(clause, level=max(clause.level, before)) if goes_on else clause)
    for place in reversed(range(len(found) - 1)):
        level, after = found[place].level, found[place + 1].level
        is_between = place > 0 and found[place - 1].level == after == ASKS_FOR_NOTES
        if level < after and (level or is_between):
            found[place] = replace(found[place], level=after)
    return found
