"""What an answer's hits share: tags, their levels, and known words, as labels under which memos may stand together.

Pure. Decides which words are labels and what each is worth as a name. The subject of the question is in every hit, so that it
and its translations are no labels; words that nearly mean it are worth less, words that go with it more than any other word.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold, fold_keeping_offsets
from vaultbrain.memo import without_tags
from vaultbrain.retrieve.concepts import STOP_WORDS
from vaultbrain.retrieve.query import language_of
from vaultbrain.retrieve.stems import stem_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vaultbrain.answer.material import Material
    from vaultbrain.retrieve.search import Hit

#: A word that fewer memos have is no label.
_MIN_MEMOS = 2
#: Characters of a memo that is read whole; of a longer one only what is cited: a diary is about everything.
_MAX_TEXT_CHARS = 400
#: Characters of a Chinese word, letters of another.
_SHORTEST_CHINESE, _LONGEST_CHINESE, _SHORTEST_LATIN = 2, 6, 3

#: What a name is worth: a tag, its parent, a word that belongs to the question's subject, any other word.
_TAG, _PARENT, _COMPANION, _WORD = 1.0, 0.9, 0.9, 0.7
#: A word of the question, or one that means the same, says less; so does a word of the other language.
_OF_THE_QUESTION, _OTHER_LANGUAGE = 0.6, 0.6
#: Families of variants (``retrieve.expand``) that say what the question says; a synonym may be narrower, and so a name.
_SAME = frozenset({"literal", "script", "form", "tag", "other language", "translation"})
_SYNONYMS = frozenset({"synonym", "related tag"})
_COMPANIONS = frozenset({"resource", "action", "related"})
#: A variant that stands for less of the question than this is not its subject.
_WHOLE = 0.6

URL = re.compile(r"https?://\S+|\b(?:[a-z\d-]+\.)+[a-z]{2,}\b(?:/\S*)?", re.IGNORECASE | re.ASCII)
_CHINESE = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]+")
LATIN = re.compile(r"(?<![^\W_\u3400-\u9fff])[^\W\d_\u3400-\u9fff][^\W_\u3400-\u9fff]+")
#: Known words that say nothing about what a text is about. Folded.
_GENERAL = frozenset(
    "今天 明天 昨天 早上 晚上 上午 下午 中午 周末 周一 周二 周三 周四 周五 周六 周日 星期 每天 每周 每月 每年 今年 明年"
    " 去年 时间 时候 小时 分钟 一天 半年 一个 两个 三个 一次 两次 第一 第二 一下 一点 一起 一样 一遍 一条 一份 一张 一本"
    " 一句 一句话 一行 几个 自己 别人 我们 他们 你们 大家 什么 怎么 为什么 这个 那个 这样 那样 这里 那里 没有 不是 不要"
    " 不能 不用 可以 可能 应该 需要 觉得 知道 发现 开始 结束 以后 以前 之前 之后 后来 现在 最后 最近 已经 还是 还有 但是"
    " 因为 所以 如果 就是 只是 只有 只要 或者 而且 然后 其实 其他 其余 比较 非常 真的 特别 有点 直接 马上 别的 东西 事情"
    " 问题 方法 办法 地方 情况 原因 结果 内容 部分 全部 所有 很多 太多 不同 重要 简单 容易 好用 上面 下面 里面 外面 前面"
    " 后面 左右 出来 起来 下来 回来 看到 想到 记录 记下 记得 使用 喜欢 希望 变成 作为 关于 尝试 学习 整理 分享 收藏 计划"
    " 推荐 资料 合集 待办 备忘 版本 数字 名字 位置 完整 默认 新的 一般 固定 先后 实际 note notes new good better best first"
    " last time day week month year thing things way people work one two three use make every never save learn try plan"
    " list morning evening monday tuesday wednesday thursday friday saturday sunday weekend todo memo today tomorrow http"
    " https www com org html".split()
)


@dataclass(frozen=True, slots=True)
class Label:
    """A word or tag as people wrote it, by its folded ``key``; ``bearers`` are the places of the hits that have it.

    ``lone_tag_of``: those that are short and have no other tag, so that it says what they are about.
    ``is_synonym``: it means nearly what the question asks for; two such are no two themes.
    """

    key: str
    shown: str
    worth: float
    bearers: frozenset[int]
    is_tag: bool = False
    lone_tag_of: frozenset[int] = frozenset()
    is_synonym: bool = False


def labels_of(hits: Sequence[Hit], material: Material, topic: str) -> list[Label]:
    """Tags and words that some of the hits have and others do not, in the order of their keys."""
    same, synonyms, companions = _said_by(hits, topic)
    language, subject = language_of(topic), fold(topic)
    tags = _tags(hits, material)
    words = _words(hits, material)
    found = []
    for key in sorted(tags.keys() | words.keys()):
        bearers = tags[key].bearers if key in tags else frozenset[int]()
        bearers |= words[key].bearers if key in words else frozenset()
        if key in same or _is_longer_by_one(key, subject) or len(bearers) == len(hits):
            continue
        is_synonym = key in synonyms or not same.isdisjoint(key.split())
        shown = (tags.get(key) or words[key]).shown(language)
        worth = tags[key].worth if key in tags else _COMPANION if key in companions else _WORD
        if is_synonym or holds(subject, key):
            worth *= _OF_THE_QUESTION
        if language == "en" and not key.isascii():
            worth *= _OTHER_LANGUAGE
        lone = tags[key].alone if key in tags else ()
        found.append(Label(key, shown, worth, bearers, key in tags, frozenset(lone), is_synonym))
    return found


def _is_longer_by_one(key: str, subject: str) -> bool:
    """写不出来 for 写不出: no other word."""
    return not key.isascii() and len(subject) > 1 and subject in key and len(key) == len(subject) + 1


def holds(text: str, key: str) -> bool:
    """Whether a key is part of a folded text: as a word, or anywhere in Chinese."""
    return key in map(_key, text.split()) if key.isascii() else key in text


def _said_by(hits: Sequence[Hit], topic: str) -> tuple[set[str], set[str], set[str]]:
    """(the subject's own words in both languages, words of nearly that meaning, words that go with it), all as keys."""
    subject = fold(topic)
    same, synonyms, companions = {_key(subject), _key(subject.removeprefix("#"))}, set[str](), set[str]()
    for variant in (variant for hit in hits for variant in hit.met):
        words = {_key(word.removeprefix("#")) for word in (variant.text, *variant.words)}
        if variant.family in _COMPANIONS:
            companions |= words
        elif variant.share >= _WHOLE and variant.family in _SAME:
            same |= words
        elif variant.share >= _WHOLE and variant.family in _SYNONYMS:
            synonyms |= words
    return same, synonyms, companions


def _key(word: str) -> str:
    return stem_phrase(word) if word.isascii() else word


@dataclass(slots=True)
class _Found:
    """How a word is written, how often, and where; ``worth`` is that of a tag."""

    forms: Counter[str] = field(default_factory=Counter)
    places: set[int] = field(default_factory=set)
    worth: float = 0.0
    alone: list[int] = field(default_factory=list)

    def add(self, shown: str, place: int, worth: float = 0.0) -> None:
        self.forms[shown] += 1
        self.places.add(place)
        self.worth = max(self.worth, worth)

    def shown(self, language: str) -> str:
        """In the script of the question if one of them writes it so; as most do, of equals as the best hit does."""
        return max(self.forms, key=lambda form: (language_of(form) == language, self.forms[form]))

    @property
    def bearers(self) -> frozenset[int]:
        return frozenset(self.places)


def _tags(hits: Sequence[Hit], material: Material) -> dict[str, _Found]:
    """By key, every tag's levels: ``AI/提示词`` is AI and 提示词."""
    found: dict[str, _Found] = {}
    for place, hit in enumerate(hits):
        own = material.tags.get(hit.memo_id, ())
        is_short = sum(len(text) for _, text in material.blocks.get(hit.memo_id, ())) <= _MAX_TEXT_CHARS
        for tag in own:
            levels = [level for level in tag.split("/") if level]
            for level in levels:
                entry = found.setdefault(_key(fold(level)), _Found())
                entry.add(level, place, _TAG if level == levels[-1] else _PARENT)
                if is_short and len(own) == 1:
                    entry.alone.append(place)
    return found


def _words(hits: Sequence[Hit], material: Material) -> dict[str, _Found]:
    """By key, every known word in the text of two hits or more, that is not always part of a longer one."""
    texts = [_words_in(_text_of(hit, material.blocks.get(hit.memo_id, ()))) for hit in hits]
    counted = Counter(word for text in texts for word in text)
    common = {word: shown for text in texts for word, shown in text.items() if counted[word] >= _MIN_MEMOS}
    known = {word for word, shown in common.items() if _is_telling(word, shown, material.is_topic)}
    found: dict[str, _Found] = {}
    for place, text in enumerate(texts):
        for word, shown in text.items():
            if word in known:
                found.setdefault(word, _Found()).add(shown, place)
    return {
        word: own
        for word, own in found.items()
        if not any(word != other and holds(other, word) and more.places >= own.places for other, more in found.items())
    }


def _is_telling(key: str, shown: str, is_word: Callable[[str], bool]) -> bool:
    forms = (key, fold(shown))
    return any(map(is_word, forms)) and _GENERAL.isdisjoint(forms)


def _text_of(hit: Hit, blocks: Sequence[tuple[str, str]]) -> str:
    """What the memo says on the subject: all of a short one, else its title, its excerpt and the block that is cited."""
    whole = "\n".join(text for _, text in blocks)
    if len(whole) > _MAX_TEXT_CHARS:
        whole = next((text for anchor, text in blocks if anchor == hit.anchor), "")[:_MAX_TEXT_CHARS]
    return URL.sub(" ", without_tags("\n".join([hit.title, hit.excerpt, whole])))


def _words_in(text: str) -> dict[str, str]:
    """Key → as written, for all that may be a word."""
    found: dict[str, str] = {}
    folded = fold_keeping_offsets(text)
    for match in _CHINESE.finditer(folded):
        for start in range(match.start(), match.end() - 1):
            for end in range(start + _SHORTEST_CHINESE, min(start + _LONGEST_CHINESE, match.end()) + 1):
                found.setdefault(folded[start:end], text[start:end])
    for match in LATIN.finditer(folded):
        if len(match[0]) >= _SHORTEST_LATIN and match[0] not in STOP_WORDS:
            found.setdefault(_key(match[0]), text[match.start() : match.end()])
    return found
