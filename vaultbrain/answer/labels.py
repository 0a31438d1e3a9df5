"""What an answer's hits share, as labels under which memos may stand together: tags, known words, works, kinds of content.

Pure. Decides which words are labels, of which memos each is true, how it is written, and what it is worth as a name. A word
counts where the memo begins or is cited, not anywhere in it; what stands in a 《title》 names that work and nothing else. The
subject of the question is in every hit, so that it and its translations are no labels but a last resort.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vaultbrain.answer.material import COMMENT
from vaultbrain.answer.pieces import ADDRESS
from vaultbrain.answer.wording import LANGUAGES
from vaultbrain.index.fold import fold, fold_keeping_offsets, to_traditional
from vaultbrain.index.tokens import is_cjk
from vaultbrain.memo import without_tags
from vaultbrain.retrieve.concepts import STOP_WORDS
from vaultbrain.retrieve.fusion import STRONG, WEAK
from vaultbrain.retrieve.lexicon import load_lexicon
from vaultbrain.retrieve.query import language_of
from vaultbrain.retrieve.stems import stem_phrase

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vaultbrain.answer.material import Material
    from vaultbrain.retrieve.lexicon import Group
    from vaultbrain.retrieve.search import Hit

#: A label that fewer memos bear names no theme alone.
MIN_MEMOS = 2
#: Characters from which on a memo may be about several things, and only the cited piece says what it is cited for.
_MAX_TEXT_CHARS = 400
#: Characters of a Chinese word, letters of another.
_SHORTEST_CHINESE, _LONGEST_CHINESE, _SHORTEST_LATIN = 2, 6, 3
#: Columns, two to a Chinese character, in which a text says what it is about.
_HEAD_COLUMNS = 32
#: Columns of a subject that makes a heading; a longer one is a sentence.
_SUBJECT_COLUMNS = 24

#: What a name is worth: a tag, its parent, a word that belongs to the question's subject, words that mean the same, a work, any
#: other word, a kind of content, the subject itself.
_TAG, _PARENT, _COMPANION, _GROUP, _WORK, _WORD, _CONTENT, _SUBJECT = 1.0, 0.6, 0.9, 0.85, 0.9, 0.7, 0.4, 0.35
#: A subject that is a tag of several levels tells more than one word of them.
_TAG_ASKED = 0.75
#: A word of the question, or one that means the same, says less; so does a word of the other language, and a tag for any memo.
_OF_THE_QUESTION, _OTHER_LANGUAGE, _FOR_ANY = 0.7, 0.6, 0.5
#: How sure a memo is about a word: it is tagged or begins with it; the cited piece has it; a long memo is tagged with it.
_SURE, _CITED, _LONG_TAGGED = 1.0, 0.7, 0.5
#: Families of variants (``retrieve.expand``) that say what the question says; a synonym may be narrower, and so a name.
_SAME = frozenset({"literal", "script", "form", "tag", "other language", "translation"})
_SYNONYMS = frozenset({"synonym", "related tag"})
_COMPANIONS = frozenset({"resource", "action"})
#: A variant that stands for less of the question than this is not its subject.
_WHOLE = 0.6
#: What is left of a name's worth when all hits bear it.
_FOR_ALL = 0.3

_URL = re.compile(r"https?://\S+|\b(?:[a-z\d-]+\.)+[a-z]{2,}\b(?:/\S*)?", re.IGNORECASE | re.ASCII)
_CHINESE = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]+")
_LATIN = re.compile(r"(?<![^\W_\u3400-\u9fff])[^\W\d_\u3400-\u9fff][^\W_\u3400-\u9fff]+")
_WORK_TITLE = re.compile(r"《([^《》\n]{1,40})》")
_TO_DO = re.compile(r"^\s*[-*+] \[[ xX]\] ", re.MULTILINE)
_ENTRY = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)、]) *\S", re.MULTILINE)
_CODE = re.compile(r"^ {0,3}(?:```|~~~)|`[^`\n]+[ -][^`\n]*`", re.MULTILINE)
#: What a memo is by its form, the most telling first: the names in each language, and the least that shows it.
_CONTENTS: tuple[tuple[tuple[str, str, str], re.Pattern[str], int], ...] = (
    (("待办", "待辦", "To-dos"), _TO_DO, 2),
    (("网站与链接", "網站與連結", "Links"), ADDRESS, 1),
    (("代码与命令", "程式碼與指令", "Code and commands"), _CODE, 1),
    (("清单", "清單", "Lists"), _ENTRY, 3),
    (("具体作品", "具體作品", "Single works"), re.compile(r"\A[^《\n]{0,4}《[^《》\n]{1,40}》"), 1),
)
#: What the rest is called already. Folded.
_NO_NAMES = frozenset("其他 其它 other others misc".split())
#: Known words that say nothing about what a text is about. Folded.
_GENERAL = frozenset(
    "今天 明天 昨天 早上 晚上 上午 下午 中午 周末 周一 周二 周三 周四 周五 周六 周日 星期 每天 每周 每月 每年 今年 明年"
    " 去年 时间 时候 小时 分钟 一天 半年 一个 两个 三个 一次 两次 第一 第二 一下 一点 一起 一样 一遍 一条 一份 一张 一本"
    " 一句 一句话 一行 几个 自己 别人 我们 他们 你们 大家 什么 怎么 为什么 这个 那个 这样 那样 这里 那里 没有 不是 不要"
    " 不能 不用 可以 可能 应该 需要 觉得 知道 发现 开始 结束 以后 以前 之前 之后 后来 现在 最后 最近 已经 还是 还有 但是"
    " 因为 所以 如果 就是 只是 只有 只要 或者 而且 然后 其实 其他 其余 比较 非常 真的 特别 有点 直接 马上 别的 东西 事情"
    " 问题 方法 办法 地方 情况 原因 结果 内容 部分 全部 所有 很多 太多 不同 重要 简单 容易 好用 上面 下面 里面 外面 前面"
    " 后面 左右 出来 起来 下来 回来 看到 想到 记录 记下 记得 使用 喜欢 希望 变成 作为 关于 尝试 学习 整理 分享 收藏 计划"
    " 推荐 笔记 资料 合集 待办 备忘 版本 数字 名字 位置 完整 默认 新的 一般 固定 先后 实际 note notes new good better best first"
    " last time day week month year thing things way people work one two three use make every never save learn try plan"
    " list morning evening monday tuesday wednesday thursday friday saturday sunday weekend todo memo today tomorrow http"
    " https www com org html".split()
)


@dataclass(frozen=True, slots=True)
class Label:
    """One or two ``names``, together true of the ``bearers``: the places of hits, and how surely, up to 1. ``key`` is folded.

    ``is_sure``: tags and the like, which say what a memo is about. ``is_synonym``: it means nearly what the question asks for;
    two such are no two themes. ``is_fallback``: it says little, and names only what nothing else does; ``is_subject``: it is
    what the question asks for.
    """

    key: str
    names: tuple[str, ...]
    worth: float
    bearers: Mapping[int, float]
    is_sure: bool = False
    is_synonym: bool = False
    is_fallback: bool = False
    is_subject: bool = False
    is_work: bool = False


def labels_of(hits: Sequence[Hit], material: Material, topic: str, language: str) -> list[Label]:
    """What is true of some of the hits and not of all, in the order of the keys; also what is true of one alone."""
    asked = _asked_by(hits, topic)
    found = _found_in(hits, material, asked)
    labels = [
        *_labels_of_words(found, asked, language),
        *_labels_of_groups(found, asked, language),
        *_labels_of_works(hits, material),
        *_labels_of_contents(hits, material, language),
    ]
    labels = [_with_comments(label, hits, material) for label in labels]
    labels = [label for label in labels if label.bearers]
    telling = [label if len(label.bearers) < len(hits) else _as_fallback(label) for label in labels]
    if _head(topic, _SUBJECT_COLUMNS) == topic:
        telling.append(_label_of_subject(hits, found, asked, topic))
    return sorted(telling, key=lambda label: (label.key, -label.worth, -len(label.bearers)))


def holds(text: str, key: str) -> bool:
    """Whether a key is part of a folded text: as a word, or anywhere in Chinese."""
    return key in map(_key, text.split()) if key.isascii() else key in text


def _key(word: str) -> str:
    return stem_phrase(word) if word.isascii() else word


# what is asked


@dataclass(frozen=True, slots=True)
class _Asked:
    """Keys: the ``subject``'s own words in both languages, words of nearly that meaning, words that go with it."""

    topic: str
    subject: frozenset[str]
    synonyms: frozenset[str]
    companions: frozenset[str]

    def is_named_by(self, key: str) -> bool:
        """写不出来 for 写不出 is no other word, either."""
        is_longer = not key.isascii() and len(self.topic) > 1 and self.topic in key and len(key) == len(self.topic) + 1
        return key in self.subject or is_longer


def _asked_by(hits: Sequence[Hit], topic: str) -> _Asked:
    folded = fold(topic)
    bare = folded.lstrip("#")
    same, synonyms, companions = {_key(folded), _key(bare), _key(bare.rpartition("/")[2])}, set[str](), set[str]()
    for variant in (variant for hit in hits for variant in hit.met):
        words = {_key(word.removeprefix("#")) for word in (variant.text, *variant.words)}
        if variant.family in _COMPANIONS:
            companions |= words
        elif variant.share >= _WHOLE and variant.family in _SAME:
            same |= words
        elif variant.share >= _WHOLE and variant.family in _SYNONYMS:
            synonyms |= words
    return _Asked(folded, frozenset(same), frozenset(synonyms - same), frozenset(companions))


# what the memos have


@dataclass(slots=True)
class _Found:
    """How a word is written and how often, and of which hits it is true; ``worth`` is that of a tag, 0 of another word."""

    forms: Counter[str] = field(default_factory=Counter)
    bearers: dict[int, float] = field(default_factory=dict)
    worth: float = 0.0

    def add(self, shown: str, place: int, sureness: float, worth: float = 0.0) -> None:
        self.forms[shown] += 1
        self.bearers[place] = max(sureness, self.bearers.get(place, 0.0))
        self.worth = max(self.worth, worth)

    def shown(self, language: str) -> str:
        """In the script of the question if one of them writes it so; as most do, of equals as the best hit does."""
        return max(self.forms, key=lambda form: (language_of(form) == language, self.forms[form]))


def _found_in(hits: Sequence[Hit], material: Material, asked: _Asked) -> dict[str, _Found]:
    """By key: every tag's levels (``AI/提示词`` is AI and 提示词), and every known word of a memo's head or cited piece.

    What is above the subject's own tag is left out.
    """
    found: dict[str, _Found] = {}
    for place, hit in enumerate(hits):
        sureness = _LONG_TAGGED if _is_long(hit, material) else _SURE
        for tag in material.tags.get(hit.memo_id, ()):
            levels = [level for level in tag.split("/") if level]
            for level in levels if _key(fold(levels[-1])) not in asked.subject else levels[-1:]:
                found.setdefault(_key(fold(level)), _Found()).add(
                    level, place, sureness, _TAG if level == levels[-1] else _PARENT
                )
        for key, (shown, sureness) in _said_in(hit, is_long=_is_long(hit, material)).items():
            if _is_telling(key, shown, material.is_topic):
                found.setdefault(key, _Found()).add(shown, place, sureness)
    return found


def _is_long(hit: Hit, material: Material) -> bool:
    return sum(len(text) for _, text in material.blocks.get(hit.memo_id, ())) > _MAX_TEXT_CHARS


def _said_in(hit: Hit, *, is_long: bool) -> dict[str, tuple[str, float]]:
    """Key → (as written, how sure) for all that may be a word. The head of a long memo is that of the piece that is cited."""
    cited = _bare(hit.excerpt)
    head = _head(cited) if is_long else _head(_bare(hit.title))
    said = {key: (shown, _CITED) for key, shown in _words_in(cited).items()}
    return said | {key: (shown, _SURE) for key, shown in _words_in(head).items()}


def _bare(text: str) -> str:
    """Without tags, addresses, and the titles of works."""
    return _WORK_TITLE.sub(" 《》 ", _URL.sub(" ", without_tags(text))).strip()


def _head(text: str, most: int = _HEAD_COLUMNS) -> str:
    columns = 0
    for end, character in enumerate(text):
        columns += 2 if is_cjk(character) else 1
        if columns > most:
            return text[:end]
    return text


def _is_telling(key: str, shown: str, is_topic: Callable[[str], bool]) -> bool:
    forms = (key, fold(shown))
    return any(map(is_topic, forms)) and _GENERAL.isdisjoint(forms)


def _words_in(text: str) -> dict[str, str]:
    """Key → as written, for all that may be a word."""
    found: dict[str, str] = {}
    folded = fold_keeping_offsets(text)
    for match in _CHINESE.finditer(folded):
        for start in range(match.start(), match.end() - 1):
            for end in range(start + _SHORTEST_CHINESE, min(start + _LONGEST_CHINESE, match.end()) + 1):
                found.setdefault(folded[start:end], text[start:end])
    for match in _LATIN.finditer(folded):
        if len(match[0]) >= _SHORTEST_LATIN and match[0] not in STOP_WORDS:
            found.setdefault(_key(match[0]), text[match.start() : match.end()])
    return found


# labels


def _labels_of_words(found: Mapping[str, _Found], asked: _Asked, language: str) -> Iterable[Label]:
    """Tags, and words that two hits have and that are not always part of a longer one."""
    for key, own in found.items():
        is_rare = not own.worth and (len(own.bearers) < MIN_MEMOS or _is_part(key, own, found))
        if is_rare or key in _NO_NAMES or asked.is_named_by(key):
            continue
        is_synonym = key in asked.synonyms or not asked.subject.isdisjoint(key.split())
        name = _in_language(own.shown(language), language)
        worth = own.worth or (_COMPANION if key in asked.companions else _WORD)
        worth *= _OF_THE_QUESTION if is_synonym or holds(asked.topic, key) else 1.0
        worth *= _OTHER_LANGUAGE if language == "en" and any(map(is_cjk, name)) else 1.0
        worth *= _FOR_ANY if _GENERAL & {key, _key(fold(name))} or (is_synonym and not own.worth) else 1.0
        yield Label(_key(fold(name)), (name,), worth, own.bearers, is_sure=own.worth > 0, is_synonym=is_synonym)


def _is_part(key: str, own: _Found, found: Mapping[str, _Found]) -> bool:
    return any(key != other and holds(other, key) and more.bearers.keys() >= own.bearers.keys() for other, more in found.items())


def _labels_of_groups(found: Mapping[str, _Found], asked: _Asked, language: str) -> Iterable[Label]:
    """Words of the lexicon that mean nearly the same, under the one or two of them that the hits have."""
    for group in _groups_of(found):
        keys = list(dict.fromkeys(_key(word.text) for word in group.words))
        held = [(key, found[key]) for key in keys if key in found and key not in _GENERAL]
        if len(held) < MIN_MEMOS or any(map(asked.is_named_by, keys)):
            continue
        names, bearers = _borne(held, keys[0], language)
        if any(asked.is_named_by(_key(fold(name))) for name in names):
            continue
        is_synonym = not asked.synonyms.isdisjoint(keys)
        worth = _GROUP * (_OF_THE_QUESTION if is_synonym or any(holds(asked.topic, key) for key in keys) else 1.0)
        yield Label(_key(fold(names[0])), names, worth, bearers, is_synonym=is_synonym)


def _groups_of(keys: Iterable[str]) -> list[Group]:
    lexicon = load_lexicon()
    groups: dict[int, Group] = {}
    for key in keys:
        for word in lexicon.by_stem.get(key, ()) if key.isascii() else (key,):
            groups |= {id(group): group for group in lexicon.groups_for(word)}
    return list(groups.values())


def _borne(held: Sequence[tuple[str, _Found]], first: str, language: str) -> tuple[tuple[str, ...], dict[int, float]]:
    """(the names, by whom they are borne): the word that most are sure of, and the one that most others are.

    The first word of a group is the widest, and stands for the other. Of words of two languages the question's is shown.
    """
    sure = [(key, own, {place for place, sureness in own.bearers.items() if sureness == _SURE}) for key, own in held]
    key, top, bearers = max(sure, key=lambda item: (len(item[2]), item[0] == first))
    other_key, other, others = max(sure, key=lambda item: (len(item[2] - bearers), item[0] == first))
    if others <= bearers:
        return (_in_language(top.shown(language), language),), dict(top.bearers)
    shown = {word: own.shown(language) for word, own in ((key, top), (other_key, other))}
    if first in shown:
        shown = {first: shown[first]}
    elif len({any(map(is_cjk, word)) for word in shown.values()}) > 1:
        shown = {word: form for word, form in shown.items() if any(map(is_cjk, form)) == (language != "en")}
    names = dict.fromkeys(_in_language(form, language) for form in shown.values())
    return tuple(names), dict.fromkeys(bearers | others, _SURE)


def _in_language(word: str, language: str) -> str:
    """A Chinese word in English for an English question, where the lexicon has it, and else in the question's script.

    A word in Latin letters is a name as often as not (git, obsidian) and stays as people write it.
    """
    if language != "en" or not any(map(is_cjk, word)):
        return _in_script(word, language)
    for group in load_lexicon().groups_for(fold(word)):
        chinese, english = (next((own.text for own in group.words if own.language == of), "") for of in ("zh", "en"))
        if chinese == fold(word) and english:
            return english[:1].upper() + english[1:]
    return word


def _in_script(word: str, language: str) -> str:
    """A Chinese word in the question's script; others, and words with none to choose, as they are."""
    if not any(map(is_cjk, word)) or language == "en" or language_of(word) == language:
        return word
    if language == "zh-Hant":
        return to_traditional(word)
    return fold_keeping_offsets(word) if not any(map(str.isascii, word)) else word


def _labels_of_works(hits: Sequence[Hit], material: Material) -> Iterable[Label]:
    """A 《title》 that hits are about: they begin with it, or are cited with it."""
    found: dict[str, _Found] = {}
    for place, hit in enumerate(hits):
        for text, sureness in ((hit.title, _SURE), (hit.excerpt, _CITED)):
            for title in _WORK_TITLE.findall(text)[:1] if not _is_long(hit, material) or sureness < _SURE else ():
                found.setdefault(fold(title), _Found()).add(f"《{title}》", place, sureness)
    for key, own in found.items():
        names = (max(own.forms, key=lambda form: own.forms[form]),)
        yield Label(f"《{key}》", names, _WORK, own.bearers, is_sure=True, is_work=True)


def _labels_of_contents(hits: Sequence[Hit], material: Material, language: str) -> Iterable[Label]:
    """What short memos are by their form, the first that fits; of a long one the cited piece."""
    found: dict[str, dict[int, float]] = {}
    for place, hit in enumerate(hits):
        if hit.label == WEAK:
            continue
        whole = "\n".join(text for _, text in material.blocks.get(hit.memo_id, ()))
        text = hit.excerpt if _is_long(hit, material) else without_tags(whole or hit.excerpt).strip()
        for names, pattern, least in _CONTENTS:
            if len(pattern.findall(text)) >= least:
                found.setdefault(names[LANGUAGES.index(language)], {})[place] = _SURE
                break
    for name, bearers in found.items():
        yield Label(fold(name), (name,), _CONTENT, bearers, is_fallback=True)


def _with_comments(label: Label, hits: Sequence[Hit], material: Material) -> Label:
    """A comment is about what the memo is about that it stands below."""
    places = {hit.memo_id: place for place, hit in enumerate(hits)}
    inherited = {
        places[memo_id]: label.bearers[places[kin.memo_id]]
        for memo_id, relatives in material.relatives.items()
        for kin in relatives
        if kin.kind == COMMENT and memo_id in places and places.get(kin.memo_id, -1) in label.bearers
    }
    if label.is_fallback or not inherited:
        return label
    return replace(label, bearers=inherited | dict(label.bearers))


def _as_fallback(label: Label) -> Label:
    """What is true of all tells nothing apart, but may name those that nothing else names."""
    return replace(label, worth=_FOR_ALL * label.worth, is_fallback=True)


def _label_of_subject(hits: Sequence[Hit], found: Mapping[str, _Found], asked: _Asked, topic: str) -> Label:
    """Hits that answer, or have the subject's own word or one that nearly means the same; of a tag below another, its own."""
    is_tag = "/" in asked.topic and " " not in asked.topic
    named = {place for key in asked.subject | asked.synonyms if key in found for place in found[key].bearers}
    answering = {place for place, hit in enumerate(hits) if hit.label == STRONG and not is_tag}
    bearers = dict.fromkeys(sorted(named | answering), _SURE)
    worth = _TAG_ASKED if is_tag else _SUBJECT
    return Label(asked.topic, (topic,), worth, bearers, is_sure=is_tag, is_fallback=True, is_subject=True)
