"""What a person asks, taken apart: its language and script, and its topic without the words that only ask.

Pure. ``帮我找和观影有关的资源`` is a question in simplified Chinese about ``观影`` that wants resources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultbrain.index.fold import fold, fold_keeping_offsets, in_other_region, to_simplified
from vaultbrain.index.tokens import is_cjk
from vaultbrain.retrieve.filters import Conditions, FilteredQuery, Ignored, read_filters

#: Ways of asking in Chinese, folded. Of one character none counts by itself: 想法, 请假, 过年, 列表, 查重 are words.
_ASKING_START = re.compile(
    r"^(?:请问|请帮忙|请帮我|请给我|请替我|请(?=找|列出|整理|总结)|麻烦|帮我|帮忙|给我|替我|我想要|我想找|我要找|我想|我要|想要|想找|"
    r"有没有|有哪些|有什么|有啥|哪些|什么是|关于|所有的|我的|我之前|在cflow里|在cflow中|cflow里的?|cflow中的?|从cflow里?|"
    r"查找|搜索|列出|列一下|找一下|找找|找出|查一下|搜一下|看一下|看看|整理一下|总结一下|汇总一下)"
)
#: After one of these a verb of one character asks, too: 帮我找, 请列.
_ASKING_VERB = re.compile(r"^(?:找|查|搜|列|看|整理|总结|汇总|探索)(?:一下|下|出)?(?:里|的)?")
_ASKING_END = re.compile(
    r"(?:有哪些|有什么|有啥|是什么|怎么做|怎么办|怎么样|怎么弄|该怎么办|吗|呢|吧|啊|的|了|"
    r"(?:的|有关的?|相关的?)(?:资源|内容|笔记|资料|记录|东西|备忘|memos?|想法)|有关的?|相关的?|"
    r"(?<=..)(?<!人力)(?<!自然)(?:资源|资料))$"
)
_ABOUT = re.compile(r"(?:和|跟|与|同|关于|有关)(?P<topic>.{1,30}?)(?:有关|相关)")
_ASKING_INSIDE = re.compile(r"有哪些|有什么|是什么|怎么样|怎么|如何|哪些|为什么|什么|是不是|有没有|以及|还有|(?<=..)的(?=..)")
#: A topic is never stripped below this, in characters.
_MIN_TOPIC = 2

_ENGLISH_STOPS = frozenset(
    "a about all am an and any are as at be by can could did do does find for from get give had has have help how i in into is it"
    " its list look me memo memos my note notes of on or our please search should show so some tell that the their them there"
    " these they thing things this to us was we were what when where which who why will with would you your".split()
)
_PUNCTUATION = re.compile(r"[\s，。！？、；：,.!?;:…~\"'“”‘’（）()\[\]{}《》<>【】「」『』|]+")
_QUOTED = re.compile(r"《[^》]*》|「[^」]*」|『[^』]*』|“[^”]*”|\"[^\"]*\"")
_RESOURCE_WORDS = re.compile(r"资源|网站|网址|链接|清单|列表|工具|list|links?\b|resources?|sites?\b|tools?\b")


#: Characters of a query in which filters are looked for. In a longer one, a pasted passage, quotes are only quotes.
LONGEST_WITH_FILTERS = 200
NO_CONDITIONS = Conditions()


@dataclass(frozen=True, slots=True)
class Query:
    """``text`` is as typed, ``sought`` without its filters; ``topic`` is its folded subject, words separated by spaces.

    ``elsewhere`` is the topic in the words of the other region (硬盘 for 硬碟), empty when they are the same.
    ``language``: zh-Hans, zh-Hant or en. ``wants_resources``: the question asks for links, tools or lists rather than for
    thoughts. ``topic`` is empty when there are only filters; what looks
    like a filter and cannot be read is sought only when there is nothing else.
    """

    text: str
    sought: str
    topic: str
    language: str
    wants_resources: bool
    elsewhere: str = ""
    conditions: Conditions = NO_CONDITIONS
    ignored: tuple[Ignored, ...] = ()


def read_query(text: str) -> Query:
    """Never fails: a query of filler only, or of punctuation, keeps its own text as topic."""
    filtered = read_filters(text) if len(text) <= LONGEST_WITH_FILTERS else None
    sought = _without_unreadable(filtered) if filtered else text
    folded = fold(sought)
    topic = _topic(folded) or folded.strip()
    return Query(
        text,
        sought,
        topic,
        language_of(sought or text),
        bool(_RESOURCE_WORDS.search(folded)),
        _elsewhere(topic, sought),
        filtered.conditions if filtered else NO_CONDITIONS,
        filtered.ignored if filtered else (),
    )


def _without_unreadable(filtered: FilteredQuery) -> str:
    """What is sought, without what looks like a filter and is none; with it when there is nothing else."""
    rest = filtered.sought
    for item in filtered.ignored:
        rest = rest.replace(item.text, " ")
    return " ".join(rest.split()) if filtered.ignored and rest.strip() else filtered.sought


def _elsewhere(topic: str, sought: str) -> str:
    if len(topic) > LONGEST_WITH_FILTERS or not any(map(is_cjk, topic)):
        return ""
    other = fold(" ".join(in_other_region(as_typed(word, sought)) for word in topic.split()))
    return "" if other == topic else other


def language_of(text: str) -> str:
    """``en`` without a Chinese character, else ``zh-Hant`` if the simplified script writes the text otherwise.

    A title in quotation marks keeps the script of its maker and says nothing of who asks.
    """
    if not any(is_cjk(character) for character in text):
        return "en"
    bare = _QUOTED.sub("", text)
    asked = bare if any(is_cjk(character) for character in bare) else text
    return "zh-Hans" if to_simplified(asked) == asked else "zh-Hant"


def as_typed(word: str, text: str) -> str:
    """A folded word as it stands in the unfolded ``text``; the word itself where it does not stand there."""
    at = fold_keeping_offsets(text).find(word)
    return text[at : at + len(word)] if at >= 0 else word


def _topic(folded: str) -> str:
    words: list[str] = []
    for piece in filter(None, _PUNCTUATION.split(folded)):
        if any(is_cjk(character) for character in piece):
            words += _chinese_topic(piece).split()
        elif piece not in _ENGLISH_STOPS:
            words.append(piece)
    return " ".join(dict.fromkeys(words))


def _chinese_topic(piece: str) -> str:
    """The piece without its asking; empty when it is nothing else."""
    about = _ABOUT.search(piece)
    if about:
        return about["topic"].strip("的")
    asked, rest = False, piece
    while (shorter := _ASKING_START.sub("", rest)) != rest:
        asked, rest = True, shorter
    if asked:
        rest = _ASKING_VERB.sub("", rest)
    while (shorter := _ASKING_END.sub("", rest)) != rest and (len(shorter) >= _MIN_TOPIC or asked or not shorter):
        rest = shorter
    return " ".join(part for part in map(str.strip, _ASKING_INSIDE.split(rest)) if part)
