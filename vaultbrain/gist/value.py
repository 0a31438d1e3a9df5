"""Whether a memo is worth being brought up unasked: what can be done with it, how definite it is, and whether it has a source.

Pure. Reads form and cue words of the text, no meaning. ``low`` names what rules a memo out by itself: it is a mood, a log line, a
word, tags, an address, a list of errands, boilerplate, or a text that gives orders to a machine. Decides nothing about the text
at hand: whether a memo fits that is the judge's (``recall.judge``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.gist.summary import external_link
from vaultbrain.index.fold import fold
from vaultbrain.memo import without_tags
from vaultbrain.vault.markdown import ADDRESS, columns, plain_text

if TYPE_CHECKING:
    from vaultbrain.index.gist import Gist
    from vaultbrain.memo import Memo

#: What a memo can give, in the order in which it is named to a person.
LINK = "link"
GIVES = ("steps", "commands", "list", "case", "numbers", "advice", LINK)
OPINION = "opinion"

#: What each kind adds to being actionable and to being definite.
_ACTIONABLE = {"steps": 0.6, "commands": 0.6, "list": 0.4, "advice": 0.45}
_SPECIFIC = {"case": 0.5, "numbers": 0.4, "commands": 0.3, "list": 0.2, "steps": 0.15, "link": 0.2}
#: How good a source is: a link that leads away, the person's own trial, the memo alone.
_LINK_SOURCE, _OWN_TRIAL, _OWN_WORD = 1.0, 0.6, 0.3
#: What counts how much in ``Value.score``.
_SHARES = (0.5, 0.35, 0.15)

#: Columns of words up to which a memo is one word; below which nothing can be learnt from it; up to which a feeling is all of it.
_ONE_WORD, _LEAST_SUBSTANCE, _MOOD_COLUMNS = 8, 14, 90
#: Share of digits among letters and digits from which on a short text is a row of readings, and the fewest.
_LOG_DIGITS, _LOG_COLUMNS, _LEAST_READINGS = 0.3, 100, 2
#: Entries of a list; marks of an enumeration within a sentence.
_LEAST_ENTRIES, _LEAST_ENUMERATED = 3, 3
#: Share of the lines that must be boilerplate.
_MOSTLY = 0.5

_STEPS = re.compile(
    r"第[一二三四五]步|步骤|流程|顺序|[①②③]|先[^。\n]{1,24}(?:再|然后|最后|后[^。]{1,6}再)|一是.{1,60}二是|一,.{1,60}二,"
    r"|\S→.{1,40}→|\S → .{1,40} → |(?:^|\s)1[.)、].{1,200}\s2[.)、]|\bstep \d"
    r"|\bfirst\b.{1,80}\b(?:then|second|next)\b|\bbefore you\b",
    re.DOTALL,
)
_COMMANDS = re.compile(
    r"^ {0,3}(?:`{3,}|~{3,})(?!\s*dataview)|`[^`\n]*[ \-=/][^`\n]*`|^(?:git|docker|chmod|ss|sudo|npm|pip|curl) \S", re.MULTILINE
)
_ENTRY = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)、]|[一二三四五六七八九十][ 、])\s*\S", re.MULTILINE)
#: A name, a colon, and how it goes, clause by clause. Folding makes both commas one.
_TOLD_BY_CLAUSES = re.compile(r":\s?[^。:\n]{2,60},[^。:\n]{2,60},\s?[^。:\n]{2}")
_TASK = re.compile(r"^\s*[-*+] \[[ xX]\] ")
_CASE = re.compile(
    r"实测|试过|试了|试一次|跑了|跑通|做过|用了|上次|那次|上个月|去年|案例|例如|比如|例子|演练|复盘|回看|三周|两周|结果|后来|坑|教训|实验"
    r"|记录|换了|改成.{1,20}(?:后|了|好)|\bfor example\b|\be\.g\.|\bmy\b"
    r"|\b(?:saved|worked|failed|tried|measured|learned|lost|helped|fixed|wins)\b"
)
_NUMBERS = re.compile(
    r"\d+(?:[.,:]\d+)*\s?(?:分钟|小时|秒|天|周|个月|年|次|条|个|份|页|字|公斤|公里|克|毫升|度|%|元|块|倍|米|章|轮|分贝"
    r"|(?:[kmgt]b?|cm|mm|w|kg|minutes?|min|hours?|h|days?|weeks?|years?|times?)\b)"
    r"|[一二两三四五六七八九十百]+(?:分钟|小时|天|周|个月|次|条|步|个|份|成|倍|遍)"
)
_ADVICE = re.compile(
    r"别|不要|改成|换成|必须|一定要|记得|千万|只(?![有是想好能剩])|不许|应该|建议|先|用.{1,12}(?:代替|就|把)|注意|认准|至少|宁可|永远|优先|够了"
    r"|就行|拆|(?:^|[.:;,] |\n)(?:use|do not|don't|never|always|check|keep|add|set|avoid|try|read|cut|make|write|put|let|print"
    r"|look for|stop|ask)\b|\binstead\b|\bshould\b|\bmust\b|\brule\b|\btest:|\btrick\b",
)
_MOOD = re.compile(
    r"[😀-🙏💔❤🥲🥹😭]|好累|累死|烦|难过|开心|高兴|想哭|哭了|气死|崩溃|唉|哎|哈哈|呜|嘻|也太|真的好|好想|孤独|郁闷|无聊|生气|道歉|心里|空落|幸福|感动"
    r"|\b(?:tired|sad|happy|angry|exhausted|lonely|ugh|sigh|lol|haha|so done|crying|i love|i hate)\b"
)
_NUMBER = re.compile(r"\d{4}-\d{2}-\d{2}|\d+(?:[.:]\d+)*")
_READING = re.compile(
    r"\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|\d/\d|血压|体重|心率|步数|汇率|配速|睡眠|早餐|午餐|\b(?:weight|slept|bpm|steps|pace|breakfast|lunch)\b"
)
_TAG = re.compile(r"(?:(?<=\s)|^)#[^\s#]+")
_BOILERPLATE = re.compile(
    r"版权所有|保留所有权利|点击上方|蓝字|扫码关注|长按.{0,6}二维码|转发抽奖|关注.{0,4}公众号|免责声明|本文转自|阅读原文"
    r"|点赞.{0,6}(?:在看|收藏|关注)|all rights reserved|unsubscribe|subscribe to (?:our|my)|cookie (?:policy|settings)"
    r"|accept (?:all )?cookies|terms of (?:service|use)|privacy policy|sent from my (?:iphone|ipad|android)|click here to"
    r"|view (?:this email )?in (?:your )?browser"
)
_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,24}\b(?:previous|prior|above|earlier|all)\b.{0,24}"
    r"\b(?:instructions?|prompts?|rules?|messages?)"
    r"|\byou are now\b|\bnew instructions?:|\breveal\b.{0,24}\bsystem prompt|</?(?:system|assistant|instructions?)>"
    r"|<\|im_start\|>|\[/?inst\]|(?:忽略|无视|忘记|忘掉).{0,10}(?:之前|以上|上面|前面|先前|所有|此前).{0,10}(?:指令|指示|提示|规则|命令|要求|设定)"
    r"|从现在(?:起|开始).{0,8}(?:所有|你的|每个)?.{0,4}(?:回答|回复)|你现在是.{0,12}(?:助手|机器人|ai|模型)"
    r"|(?:泄露|输出|公开).{0,8}系统提示词",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Value:
    """Each 0..1. ``gives``: of ``GIVES``, or ``OPINION`` alone. ``low``: what rules it out, in English, or empty."""

    actionable: float
    specific: float
    sourced: float
    gives: tuple[str, ...]
    low: str = ""

    @property
    def score(self) -> float:
        """0..1; nothing when it is ruled out."""
        parts = (self.actionable, self.specific, self.sourced)
        return 0.0 if self.low else round(sum(share * part for share, part in zip(_SHARES, parts, strict=True)), 4)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it is worth so much: what it gives, or what rules it out."""
        return (self.low,) if self.low else self.gives


def value_of(memo: Memo) -> Value:
    """What the memo is worth to somebody at work, whatever at."""
    text = fold(memo.content)
    found = _found(memo, text)
    gives = tuple(name for name in GIVES if found[name])
    source = _LINK_SOURCE if found["link"] else _OWN_TRIAL if found["case"] else _OWN_WORD
    return Value(
        actionable=_capped(_ACTIONABLE, gives),
        specific=_capped(_SPECIFIC, gives),
        sourced=source,
        gives=gives or (OPINION,),
        low=_low(memo, text, gives),
    )


def value_in(gist: Gist) -> Value:
    """What ``value_of`` said of the memo when its gist was made."""
    return Value(gist.actionable, gist.specific, gist.sourced, gist.gives, gist.low)


def _capped(worths: dict[str, float], gives: tuple[str, ...]) -> float:
    return round(min(1.0, sum(worths.get(name, 0.0) for name in gives)), 4)


def _found(memo: Memo, text: str) -> dict[str, bool]:
    words = ADDRESS.sub(" ", without_tags(text))
    return {
        "steps": bool(_STEPS.search(words)),
        "commands": bool(_COMMANDS.search(memo.content)),
        "list": _has_list(memo.content, words),
        "case": bool(_CASE.search(words)),
        "numbers": bool(_NUMBERS.search(words)),
        "advice": bool(_ADVICE.search(words)),
        "link": bool(external_link(memo)),
    }


def _has_list(content: str, words: str) -> bool:
    enumerated = max((sentence.count("、") for sentence in re.split(r"[。\n]", words)), default=0)
    is_enumerated = enumerated >= _LEAST_ENUMERATED or bool(_TOLD_BY_CLAUSES.search(words))
    return len(_ENTRY.findall(content)) >= _LEAST_ENTRIES or is_enumerated


# what rules a memo out


def says_nothing(text: str) -> bool:
    """Whether nothing but tags, headings' marks or punctuation is left of a memo."""
    return not any(map(str.isalnum, _TAG.sub(" ", text)))


def _low(memo: Memo, text: str, gives: tuple[str, ...]) -> str:
    words = _words(memo.content)
    width = columns("".join(filter(str.isalnum, words)))
    checks = (
        ("tags only", says_nothing(text)),
        ("tells a machine what to do", bool(_INJECTION.search(text))),
        ("only a link", not width and bool(ADDRESS.search(text))),
        ("only errands", _is_errands(memo.content)),
        ("one word", width <= _ONE_WORD or (" " not in words.strip() and words.isascii())),
        ("boilerplate", _is_boilerplate(text)),
        ("log line", _is_log(words)),
        ("only mood", _is_mood(words, gives)),
        ("no substance", width < _LEAST_SUBSTANCE),
    )
    return next((name for name, is_met in checks if is_met), "")


def _words(content: str) -> str:
    return " ".join(ADDRESS.sub(" ", plain_text(without_tags(content))).split())


def _is_errands(content: str) -> bool:
    """Nothing but boxes to tick: a plan of that day. With a line that names it, it is a list to use again."""
    lines = [line for line in content.split("\n") if without_tags(line).strip()]
    return bool(lines) and all(map(_TASK.match, lines))


def _is_boilerplate(text: str) -> bool:
    lines = [line for line in text.split("\n") if line.strip()]
    return sum(bool(_BOILERPLATE.search(line)) for line in lines) >= max(1.0, _MOSTLY * len(lines))


def _is_log(words: str) -> bool:
    """A few readings or times and hardly a word about them."""
    folded = fold(words)
    letters = [c for c in folded if c.isalnum()]
    if columns(words) > _LOG_COLUMNS or len(_NUMBER.findall(folded)) < _LEAST_READINGS or not _READING.search(folded):
        return False
    return sum(map(str.isdigit, letters)) >= _LOG_DIGITS * len(letters) and not _ADVICE.search(folded)


def _is_mood(words: str, gives: tuple[str, ...]) -> bool:
    folded = fold(words)
    is_plain = not {"steps", "commands", "list", "link"} & set(gives)
    return is_plain and columns(words) <= _MOOD_COLUMNS and bool(_MOOD.search(folded)) and not _ADVICE.search(folded)
