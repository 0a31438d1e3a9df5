"""What a person asks, taken apart: its language and script, and its topic without the words that only ask.

Pure. ``帮我找和观影有关的资源`` is a question in simplified Chinese about ``观影`` that wants resources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vaultbrain.index.fold import fold, to_simplified
from vaultbrain.index.tokens import cut, is_cjk

#: Ways of asking in Chinese, folded; taken off repeatedly at the start, at the end, or wherever they stand.
_ASKING_START = re.compile(
    r"^(?:请问|请|麻烦|帮我|帮忙|给我|替我|我想要|我想|我要|想要|想|在cflow里|cflow里|在memos里|从cflow|根据已有资源|"
    r"(?:找|查|搜|搜索|查找|列|列出|整理|总结|汇总|看看|看|探索)(?:一下|下|出|找)?(?![\u4e00-\u9fff]$)|"
    r"有没有|有哪些|有什么|有啥|哪些|什么是|关于|所有|我|里|的|一下|过)"
)
_ASKING_END = re.compile(
    r"(?:吗|呢|吧|啊|么|的|了|有哪些|有什么|有啥|是什么|怎么做|怎么办|怎么样|怎么弄|该怎么办|"
    r"(?:的|有关的?|相关的?)(?:资源|内容|笔记|资料|记录|东西|备忘|memo|memos|想法)|有关|相关|有关的|相关的)$"
)
_ABOUT = re.compile(r"(?:和|跟|与|同|关于|有关)(?P<topic>.{1,30}?)(?:有关|相关)")
_ASKING_INSIDE = re.compile(r"有哪些|有什么|是什么|怎么样|怎么|如何|哪些|什么|为什么|是不是|有没有|以及|还有|的|吗|呢")

_ENGLISH_STOPS = frozenset(
    "a about all am an and any are as at be by can could did do does find for from get give had has have help how i in into is it"
    " its list look me memo memos my note notes of on or our please search should show so some tell that the their them there"
    " these they thing things this to us was we were what when where which who why will with would you your".split()
)
_PUNCTUATION = re.compile(r"[\s，。！？、；：,.!?;:…~\"'“”‘’（）()\[\]{}《》<>【】「」『』|]+")
_RESOURCE_WORDS = re.compile(r"资源|网站|网址|链接|清单|列表|工具|list|links?\b|resources?|sites?\b|tools?\b")


@dataclass(frozen=True, slots=True)
class Query:
    """``text`` is as typed; ``topic`` its folded subject, words separated by spaces; ``language`` zh-Hans, zh-Hant or en.

    ``wants_resources``: the question asks for links, tools or lists rather than for thoughts.
    """

    text: str
    topic: str
    language: str
    wants_resources: bool


def read_query(text: str) -> Query:
    """Never fails: a query of filler only, or of punctuation, keeps its own text as topic."""
    folded = fold(text)
    return Query(text, _topic(folded) or folded.strip(), language_of(text), bool(_RESOURCE_WORDS.search(folded)))


def language_of(text: str) -> str:
    """``en`` without a Chinese character, else ``zh-Hant`` if the simplified script writes the text otherwise."""
    if not any(is_cjk(character) for character in text):
        return "en"
    return "zh-Hans" if to_simplified(text) == text else "zh-Hant"


def _topic(folded: str) -> str:
    words: list[str] = []
    for piece in filter(None, _PUNCTUATION.split(folded)):
        if any(is_cjk(character) for character in piece):
            words += _chinese_topic(piece).split()
        elif piece not in _ENGLISH_STOPS:
            words.append(piece)
    return " ".join(dict.fromkeys(words))


def _chinese_topic(piece: str) -> str:
    about = _ABOUT.search(piece)
    if about:
        return about["topic"].strip("的")
    before = ""
    while piece != before:
        before = piece
        shorter = _ASKING_END.sub("", _ASKING_START.sub("", piece)).strip()
        piece = shorter if cut(shorter) else piece
    parts = [part.strip() for part in _ASKING_INSIDE.split(piece)]
    return " ".join(part for part in parts if part) or piece
