"""What a person asks, taken apart: its language and script, and its topic without the words that only ask.

Pure. ``帮我找和观影有关的资源`` is a question in simplified Chinese about ``观影`` that wants resources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold, fold_keeping_offsets, in_other_region, to_simplified
from vaultbrain.index.tokens import is_cjk
from vaultbrain.retrieve.filters import Conditions, FilteredQuery, Ignored, read_filters

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What Chinese asks with, folded: who, and when; taking notes; how much; what ought to be.
_WHO = r"(?:我们?|咱们?)"
_BEFORE = rf"(?:{_WHO}|自己|最近|有没有|是否|以前|之前|曾经|曾|从前|当时|过去|都|还|有|到底|究竟|一共|总共|已经)"
_NOTE_TAKING = r"(?:记录|收藏|保存|收集|摘录|[记写说提存看聊])(?:下|到)?"
_OUGHT = r"(?:应该|应当|需要(?=怎|如何|[多几]|[提事先准])|可以|该|(?<![重主必摘概纪提首只简次])要)"
_COUNTED = r"(?:部|个月|个|次|本|篇|种|条|款|只|台|家|天|年|岁|遍|回|张|场|件|位)"
_WHICH = rf"(?:什么|哪些|啥|多少{_COUNTED}?|几{_COUNTED})"
_QUESTION_WORD = (
    r"(?:为什么|为何|什么(?:样|时候|地方|名字|东西)?|啥|怎么样?|怎样|咋|如何|哪些|哪里|哪儿|哪位|"
    rf"哪一?{_COUNTED}|何时|何处|多少(?:钱|(?!种){_COUNTED})?|多久|(?<![十百千万好这那前后近过头每第])几{_COUNTED}|"
    r"是不是|有没有|能不能|会不会|要不要|该不该|可不可以|是否|能否|是谁|谁(?=[写是]|$))"
)
#: Ways of asking in Chinese. Of one character none counts by itself: 想法, 请假, 过年, 列表, 查重 are words.
_ASKING_START = re.compile(
    r"^(?:请问|请帮忙|请帮我|请给我|请替我|请(?=找|列出|整理|总结)|麻烦|帮我|帮忙|给我|替我|我想要|我想找|我要找|我想|我要|想要|想找|"
    rf"{_BEFORE}{{1,6}}{_NOTE_TAKING}(?:过(?:的|{_WHICH})?|的(?=关于|有关|[那这]))|{_BEFORE}{{1,6}}[试用做去买吃读学听玩]过{_WHICH}|"
    rf"{_BEFORE}{{0,6}}{_NOTE_TAKING}[过了]{_WHICH}|有关(?!部门|方面|人员|单位)(?=..)|"
    rf"{_WHO}(?=有没有|有哪些|有什么|关于|以前|之前)|还?记不记得|(?:我|你)?还?记得(?=.*(?:吗|什么|哪))|"
    r"有没有|有哪些|有什么|有啥|哪些|什么是|关于|所有的|我的|我之前|在cflow里|在cflow中|cflow里的?|cflow中的?|从cflow里?|"
    r"查找|搜索|列出|列一下|找一下|找找|找出|查一下|搜一下|看一下|看看|整理一下|总结一下|汇总一下)"
)
#: After one of these a verb of one character asks, too: 帮我找, 请列.
_ASKING_VERB = re.compile(r"^(?:找|查|搜|列|看|整理|总结|汇总|探索)(?:一下|下|出)?(?:里|的)?")
_ASKING_END = re.compile(
    rf"(?:{_BEFORE}{{1,6}}{_NOTE_TAKING}过(?:{_WHICH}|没有?)?|{_BEFORE}{{0,6}}{_NOTE_TAKING}[过了](?:{_WHICH}|没有?)|"
    rf"{_OUGHT}?(?:提前|事先|先)?(?:准备|[做干带买])(?:些|点)?(?:什么|哪些|啥)(?:东西|事情|事项)?|{_OUGHT}?(?:提前|事先)准备|"
    r"有哪些|有什么|有啥|是什么|怎么做|怎么办|怎么样|怎么弄|该怎么办|吗|呢|(?<![酒网贴书氧])吧|啊|(?<![目标])的|了|"
    r"的(?:事情?|事儿|方面)|"
    r"(?:的|有关的?|相关的?|有什么|有哪些)(?:资源|内容|笔记|资料|记录|东西|备忘|memos?|想法|看法)|有关的?|相关的?|"
    r"(?<=..)(?<!人力)(?<!自然)(?:资源|资料))$"
)
_ABOUT = re.compile(r"(?:和|跟|与|同|关于|有关)(?P<topic>.{1,30}?)(?:有关|相关)")
#: A question word with what leads up to it: 我看了几部, 应该按什么, 我当时怎么.
_ASKING_INSIDE = re.compile(
    rf"(?:{_WHO}(?:当时|以前|之前|一共|总共|都|已经)*(?:[看读写记去做听用吃玩买](?:了|过|完)?)?)?"
    rf"(?:已经|总共|一共|大约|大概|到底|究竟)?{_OUGHT}?(?:(?<!解)放在|(?<![存现内实潜所正外])在|从|按照?|是|叫做?|有)?{_QUESTION_WORD}|"
    rf"(?<=..){_OUGHT}(?:特别)?(?=注意|留意)|以及|还有|(?<=..)(?<![目标])的(?=..)"
)
#: In a question only: whose the thing asked for is, which one, on what occasion.
_ASKS_IN_CHINESE = re.compile(rf"{_QUESTION_WORD}|哪(?![吒怕])|[吗呢]$")
_MINE = re.compile(
    rf"^(?:{_WHO}[养买写看读做吃用记拍画听学]的(?=.)|{_WHO}(?![爸妈家国校])(?:当时|以前|之前)?的?(?:对(?=..))?(?=.)|"
    r"[那这](?:部|个|本|篇|条|次|种|些)(?=..)|[上下]次(?=..))"
)
#: What may be left in front of a part when the asking within has been taken out.
_LEFT_BEFORE = re.compile(r"^(?:的|关于(?=.))")
_ONLY_JOINS = frozenset("的了吗呢吧啊么和跟与同在是有要会能该把被让从按我你他她它叫来去过也都就")
_YEAR_APART = re.compile(r"(?<=[0-9])\s+(?=[年月日号])")
#: A topic is never stripped of a single character below this, in characters.
_MIN_TOPIC = 2

_ENGLISH_STOPS = frozenset(
    "a about all already am an and any anything are as at be by can could did do does ever everything find for from get give had"
    " has have help how i in into is it its list look me my of on or our please search should show so some something tell that"
    " the their them there these they thing things this to us was we were what when where which who why will with would you"
    " your".split()
)
#: What is asked for is a note; the word counts when nothing is left but what one does with notes.
_ENGLISH_NOTES = frozenset("memo memos note notes".split())
_DONE_WITH_NOTES = frozenset(
    "archive better export good import keep link make manage merge organise organize review search sort store structure sync take"
    " write".split()
)
#: Behind a verb they are part of it. Only in a question: push up and back pain are subjects.
_PARTICLES = frozenset("away down off out up".split())
_GOES_BACK = r"(?:bring|call|come|cut|fall|get|give|go|look|move|pay|put|send|switch|take|turn|write)"
_ASKS_IN_ENGLISH = re.compile(r"\b(?:how|what|when|where|which|who|why)\b|\b(?:can|could|did|do|have|should|would) (?:i|we)\b")
_BEGINS_TO_ASK = re.compile(
    r"^(?:are|can|could|describe|did|do|does|explain|had|has|have|is|name|should|tell me|was|were|will|would)\b|^(?:请问|告诉我)"
)
_SHORTENED = re.compile(r"\b(how|i|it|let|that|there|they|we|what|where|who|you)['’](?:d|ll|m|re|s|ve)\b")
_WRITTEN = r"(?:bookmarked|collected|jotted|learned|learnt|mentioned|noted|recorded|said|saved|thought|written|wrote)(?: down)?"
_WRITE = r"(?:bookmark|collect|jot|know|learn|mention|note|put|record|save|say|think|write)(?: down)?"
_ENGLISH_ASKING = re.compile(
    rf"\b(?:did|had|have) (?:i|we) (?:(?:already|ever|just|once) )*(?:{_WRITE}|{_WRITTEN}|"
    r"want(?: to(?: (?:buy|do|read|see|try|visit|watch))?)?)\b|"
    r"\bdo (?:i|we) (?:already )?(?:know|remember|think|want)\b|"
    rf"\b(?:i|we) (?:(?:already|ever|had|have|once) )*(?:know|{_WRITTEN})\b|"
    r"\b(?:keep|make|take|taking|took) (?:(?:a|better|good|my|the) )?(?:memo|note)s?\b|"
    r"\bhow (?:many|much)\b"
)
#: Words without any subject; a query of nothing else asks for nothing.
_NO_SUBJECT = frozenset(
    "a an and are as at be by for from in is of on or that the these this those to was were what with".split()
)
_NO_SUBJECT_IN_CHINESE = frozenset("的了吗呢吧啊嘛呀么和与及或是")

_PUNCTUATION = re.compile(r"[\s，。！？、；：,.!?;:…~\"'“”‘’（）()\[\]{}《》<>【】「」『』|]+")
#: Marks around a query that end or introduce it. Not those that begin a name or an address: .net, :wq.
_EDGES = re.compile(r"\A[\s，。！？、；：…]+|[\s，。！？、；：….,!?;:]+\Z")
_QUOTED = re.compile(r"《[^》]*》|「[^」]*」|『[^』]*』|“[^”]*”|\"[^\"]*\"")
_RESOURCE_WORDS = re.compile(r"资源|网站|网址|链接|清单|列表|工具|list|links?\b|resources?|sites?\b|tools?\b")


#: Characters of a query in which filters are looked for. In a longer one, a pasted passage, quotes are only quotes.
LONGEST_WITH_FILTERS = 200
NO_CONDITIONS = Conditions()


@dataclass(frozen=True, slots=True)
class Query:
    """``text`` is as typed, ``sought`` without its filters and the marks around it.

    ``topic`` is its folded subject, words separated by spaces.

    ``elsewhere`` is the topic in the words of the other region (硬盘 for 硬碟), empty when they are the same.
    ``language``: zh-Hans, zh-Hant or en. ``wants_resources``: the question asks for links, tools or lists rather than for
    thoughts. ``topic`` is empty when there are only filters, or only words like ``的`` and ``the``; what looks like a filter and
    cannot be read is sought only when there is nothing else.
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
    """Never fails: a query of asking only, or of punctuation, keeps its own text as topic."""
    filtered = read_filters(text) if len(text) <= LONGEST_WITH_FILTERS else None
    sought = _without_unreadable(filtered) if filtered else text
    sought = _EDGES.sub("", sought) or sought
    folded = fold(sought)
    phrases = [fold(phrase) for phrase in filtered.conditions.phrases] if filtered else []
    topic = "" if _has_no_subject(folded) else _topic(folded, phrases) or folded.strip()
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


def is_question(folded: str) -> bool:
    """Whether a folded text without a question mark asks all the same."""
    return any(pattern.search(folded) for pattern in (_ASKS_IN_CHINESE, _ASKS_IN_ENGLISH, _BEGINS_TO_ASK))


def _has_no_subject(folded: str) -> bool:
    words = [word for word in _PUNCTUATION.split(folded) if word]
    return bool(words) and all(word in _NO_SUBJECT or _NO_SUBJECT_IN_CHINESE.issuperset(word) for word in words)


def _topic(folded: str, phrases: Sequence[str] = ()) -> str:
    """Without what asks; a ``phrase`` and whatever stands in quotation marks stay whole."""
    text = _YEAR_APART.sub("", folded)
    whole = [rf"(?<![a-z0-9]){re.escape(phrase)}(?![a-z0-9])" for phrase in phrases if len(phrase.strip()) > 1]
    found: list[str] = []
    for n, part in enumerate(re.split(f"({'|'.join([*whole, _QUOTED.pattern])})", text)):
        found += [" ".join(_words(part))] if n % 2 else _asked_for(part)
    words = list(dict.fromkeys(filter(None, found)))
    return " ".join([word for word in words if word not in _ONLY_JOINS] or words)


def _words(text: str) -> list[str]:
    return [piece for piece in _PUNCTUATION.split(text) if piece]


def _asked_for(text: str) -> list[str]:
    """The words of the text without those that ask; fewer ways of asking are known to it when else nothing would be left."""
    plain = _SHORTENED.sub(r"\1", text)
    bare = _ENGLISH_ASKING.sub(" ", plain)
    return _left_over(_without_particles(bare) if _ASKS_IN_ENGLISH.search(plain) else bare) or _left_over(plain)


def _without_particles(text: str) -> str:
    """Of a question: *back up* is one word, and *turn off* is about what is turned."""
    text = re.sub(r"\bback(?:ed|ing)? up\b", "backup", text)
    text = re.sub(r"\broll(?:ed|ing)? back\b", "rollback", text)
    text = re.sub(rf"\b({_GOES_BACK}) back\b", r"\1", text)
    return re.sub(rf"(?<=[a-z] )(?:{'|'.join(sorted(_PARTICLES))})\b(?!-)", "", text)


def _left_over(text: str) -> list[str]:
    words: list[str] = []
    for piece in _words(text):
        if any(map(is_cjk, piece)):
            words += _chinese_topic(piece).split()
        elif piece not in _ENGLISH_STOPS:
            words.append(piece)
    subject = [word for word in words if word not in _ENGLISH_NOTES]
    return words if _DONE_WITH_NOTES.issuperset(subject) else subject


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
    if asked or _ASKS_IN_CHINESE.search(rest):
        rest = _MINE.sub("", rest)
    while (shorter := _ASKING_END.sub("", rest)) != rest and (_is_topic(shorter, rest) or asked or not shorter):
        rest = shorter
    return " ".join(part for part in (_LEFT_BEFORE.sub("", part.strip()) for part in _ASKING_INSIDE.split(rest)) if part)


def _is_topic(shorter: str, longer: str) -> bool:
    """Whether it may be left of the longer one: a single character only where more than a particle was taken off."""
    return len(shorter) >= _MIN_TOPIC or len(longer) - len(shorter) > 1
