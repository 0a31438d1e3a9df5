"""Whether a sentence of a model may stand in an answer: only what the memos that it names hold themselves.

Pure, and deaf to how well a sentence is put. What can be compared exactly must be there exactly: numbers with their units, names,
quotations, addresses. Of the other words that carry meaning most must be there (``LEAST_SUPPORTED``), in every clause
(``LEAST_OF_CLAUSE``), with no longer stretch that is not (``MAX_UNSUPPORTED_STRETCH``); and a clause denies exactly if the clause
denies that it is most like. Nothing that would run, link or format in a note passes, and nothing that speaks of the model's task.
When in doubt it refuses: an answer without the sentence quotes the memo instead.

What it cannot see: two facts of the same memos exchanged for each other (who of two did what), a *perhaps* left out, and what is
true but said in words that no memo uses, or in another language than the memo's; the last it refuses.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from vaultbrain.answer.counted import ENGLISH_NUMBERS, numbers_in, without_count_of_memos, without_leading_zeros
from vaultbrain.answer.denial import denies, turned_round
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut, is_cjk
from vaultbrain.retrieve.stems import stem
from vaultbrain.vault.markdown import neutralise, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from vaultbrain.answer.reply import Statement

#: Of a sentence's meaningful words (by weight) this share stands in the memos it names. Measured with the sentences in
#: ``tests/test_writer.py``: 49 of 54 pass that keep to their memos in other words, and 5 of 82 that hold one invention; at 0.8 it
#: is 46 and 4, at 0.85 41 and 4.
LEAST_SUPPORTED = 0.75
#: The same for each clause, which may be one word: half of it.
LEAST_OF_CLAUSE = 0.5
#: A word weighs as much as the two characters that a Chinese word mostly has. More in a row that no memo has is a claim.
_WORD_WEIGHT = 2
MAX_UNSUPPORTED_STRETCH = 2
#: What a sentence must have at least to say anything: two words, or three characters.
LEAST_WEIGHT = 3
#: Characters of a sentence. A longer one is a paragraph, which nobody checks by following its links.
MAX_SENTENCE_CHARS = 300


class Fault(StrEnum):
    """Why a sentence is dropped; the first that applies, in this order."""

    NO_SOURCE = "without a source"
    UNKNOWN_SOURCE = "with a source that was not given"
    MARKUP = "with markup"
    LENGTH = "too long"
    INSTRUCTION = "about the task"
    LANGUAGE = "in another language"
    ADDRESS = "with an address that its memos do not hold"
    QUOTE = "with a quotation that its memos do not hold"
    NUMBER = "with a number that its memos do not hold"
    NAME = "with a name that its memos do not hold"
    NEGATION = "that deny what their memos say, or the other way round"
    UNSUPPORTED = "not supported by their memos"
    OTHER_THEME = "under another theme than their memos"
    TOO_MANY = "too many"


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text``: one line, plain, without marks. ``memo_ids``: at least one, each once."""

    text: str
    memo_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Checked sentences. ``themes``: index of the theme in the request (from 0) → its sentences; only themes that have some.

    ``reasons``: how many sentences were dropped, by ``Fault``; ``unknown_marks``: marks that named no given memo, or one that has
    nothing to do with the sentence. ``given``: memos that the model saw, in whole or in part; ``withheld``: how many it was not
    to see. Tokens are None when not counted, or when nothing was asked.
    """

    conclusion: tuple[Sentence, ...] = ()
    themes: Mapping[int, tuple[Sentence, ...]] = field(default_factory=dict)
    reasons: Mapping[Fault, int] = field(default_factory=dict)
    unknown_marks: int = 0
    given: tuple[str, ...] = ()
    withheld: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def dropped(self) -> int:
        return sum(self.reasons.values())


# words


#: Words that carry no meaning of their own in an answer; folded, so in simplified script.
_CHINESE_STOP_WORDS = """
根据 依据 按照 总的来说 总之 总体 整体 其中 此外 另外 同时 还有 以及 并且 而且 但是 不过 因此 所以 因为 例如 比如 包括 包含
分别 关于 有关 相关 对于 至于 笔记 备忘 备忘录 记录 记载 记下 记着 记了 写道 写到 写了 写着 提到 提及 谈到 说明 说到 说的
认为 表示 指出 列出 列了 收集 整理 内容 一条 一则 几条 多条 两条 这条 那条 这些 那些 这个 那个 这里 那里 这家 那家 一些 一个
一家 一种 一次 一部 一位 各自 方面 如下 主要 首先 其次 最后 然后 也 都 还 就 又 再 很 更 最 的 了 着 过 是 在 有 和 与 及 或
吗 呢 吧 啊 们 地 得 把 被 给 让 从 而 且 但 我 你 您 他 她 它 这 那 哪 些 之 其 以 于 为 所
那天 当天 当时 那时 暂时 一共 总共 共有 讲到 讲了 讲的 讲述 介绍 打算 可以 可 能 会 要 想 则 即 曾
曾经 已 已经 自己 你的 我的 时候 没有 没 不 未 无
"""
_ENGLISH_STOP_WORDS = """
a about according after all also although am an and another any are aren as at be because been before being both but by can
cannot cflow could couldn describe described describes did didn do does doesn doing don each few for from further get got
had has have having he her here him his how i if in include included includes including into is isn it its itself just list
listed lists me memo memos mention mentioned mentions might more most must my never no none nor not note noted notes
nothing of off on once one only or other our out over overall own per record recorded records s say says several shall she
should shouldn so some such t than that the their them then there these they this those three through to too two under until
up upon us very was wasn we were what when where whether which while who whom whose why will with within without won would
write writes written wrote yet you your yours yourself
still first next finally recently currently later earlier already together among besides instead
"""
_CHINESE_STOPS = re.compile("|".join(sorted(_CHINESE_STOP_WORDS.split(), key=lambda word: (-len(word), word))))
_ENGLISH_STOPS = frozenset(_ENGLISH_STOP_WORDS.split())
_WORDS = re.compile(r"[^\W_]+(?:['’][a-z]+)?")
_CLAUSE_END = re.compile(
    r"[，,；;：:。！!？?、…—()（）\n]|\.(?=\s|$)"
    r"|\b(?:and|but|because|while|although|though|however|since|whereas)\b|但是|但|不过|而且|并且|因为|所以|虽然|却|而(?=[^且])",
    re.IGNORECASE,
)
_MONTHS = "january february march april may june july august september october november december".split()
_COMPARES = re.compile(r"\bthan\b|(?<![对评占相])比(?![赛如较例])")
#: ``About films, …`` names the subject of the question and says nothing.
_FRAME = re.compile(r"^\s*(?:关于|有关|对于|至于|就|在|about\b|regarding\b|concerning\b|as for\b|on\b)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Unit:
    """A character of Chinese or a word that carries meaning. ``keys``: what may stand in a memo for it, any of them."""

    keys: tuple[str, ...]
    weight: int


def _runs(folded: str) -> Iterator[tuple[str, bool]]:
    """Runs of Chinese (Japanese, Korean) characters without function words, and other words; with whether it is the former."""
    for found in _WORDS.findall(folded):
        for chinese, characters in groupby(found, is_cjk):
            run = "".join(characters)
            if not chinese:
                yield run, False
            else:
                yield from ((part, True) for part in _CHINESE_STOPS.sub(" ", run).split())


def _units(folded: str) -> Iterator[_Unit]:
    for run, chinese in _runs(folded):
        if chinese and len(run) > 1:
            pairs = cut(run)
            yield _Unit((pairs[0],), 1)
            yield from (_Unit((left, right), 1) for left, right in pairwise(pairs))
            yield _Unit((pairs[-1],), 1)
        elif chinese:
            yield _Unit((run,), 1)
        elif (word := _bare(run)) not in _ENGLISH_STOPS:
            number = ENGLISH_NUMBERS.get(word)
            yield _Unit((stem(word),) if number is None else (stem(word), str(number)), _WORD_WEIGHT)


def _bare(word: str) -> str:
    return re.sub(r"['’].*$", "", word)


def _keys(folded: str) -> set[str]:
    """Everything in a memo's text that a unit of a sentence may find there."""
    keys = {token if is_cjk(token) else stem(_bare(token)) for token in cut(folded)}
    for run, chinese in _runs(folded):
        keys |= {*run, *cut(run)} if chinese else {stem(_bare(run))}
    return keys


# what a memo holds


@dataclass(frozen=True)
class Evidence:
    """What the model was given of one memo. ``date`` as it was shown, beginning with year-month-day, or empty."""

    text: str
    date: str = ""

    @cached_property
    def folded(self) -> str:
        return fold(self.text)

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(_keys(self.folded) | {number for number, _, _ in self.numbers})

    @cached_property
    def numbers(self) -> tuple[tuple[str, str, int], ...]:
        return tuple(numbers_in(self.folded, claimed=False))

    @cached_property
    def clauses(self) -> tuple[tuple[frozenset[str], bool], ...]:
        return tuple((frozenset(_keys(clause)), denies(clause)) for clause in _CLAUSE_END.split(self.folded) if clause.strip())

    @cached_property
    def comparisons(self) -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
        return tuple(_comparisons(self.folded))

    def without_date(self, folded: str) -> str:
        """``folded`` without the memo's date, in the ways in which people write it, whole or in part."""
        return re.sub(_ways_to_write(self.date), " ", folded) if self.date else folded


def _ways_to_write(date: str) -> str:
    """A pattern; matches nothing when ``date`` does not begin with year-month-day."""
    found = re.match(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", date)
    if not found or not 1 <= int(found[2]) <= len(_MONTHS):
        return r"(?!)"
    year, month, day = (str(int(part)) for part in found.groups())
    name, on = _MONTHS[int(month) - 1], rf"{day}(?:st|nd|rd|th)?"
    return (
        rf"(?<!\d)(?:{year}[-/.]0?{month}(?:[-/.]0?{day})?(?!\d)|{year}\s*年(?:\s*0?{month}\s*月(?:\s*0?{day}\s*[日号])?)?"
        rf"|0?{month}\s*月(?:\s*0?{day}\s*[日号])?|{name}(?:\s+{on})?(?:,?\s+{year})?\b|{on}(?:\s+of)?\s+{name}(?:,?\s+{year})?\b"
        rf"|{year}(?!\d))"
    )


@dataclass(frozen=True)
class Asked:
    """The question that the sentences answer. ``topic``: words with which it was searched, besides its own."""

    question: str
    language: str
    topic: tuple[str, ...] = ()

    @cached_property
    def folded(self) -> str:
        return fold(" ".join([self.question, *self.topic]))

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(_keys(self.folded))

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(number for number, _, _ in numbers_in(self.folded, claimed=False))


# the checks

_LIVE = re.compile(
    r"\[\[|\]\]|\]\(|!\[|\[!|\[\^|<[A-Za-z/!?%]|%>|%%|\{\{|\}\}|\{%|``|~~~|::|\$\$|\$=|`\s*\$?=|^\s*(?:#{1,6}\s|>|\|)|\\|(?:^|\s)\^[\w-]+\s*$"
    r"|&(?:#\w+|\w+);|\b(?:javascript|data|vbscript|obsidian|file):(?=\S)",
    re.IGNORECASE,
)
_TASK_TALK = re.compile(
    r"\b(?:ignor\w+ (?:all|any|the|previous|earlier|above)|instructions?|prompts?|as an ai|ai assistant|language model|code ?word"
    r"|im_end|im_start|inst)\b|system:|assistant:"
    r"|you are now\b|^\W*(?:sorry\b|i(?: am\b|['’]m\b| will\b|['’]ll\b| can\b| cannot\b| can['’]t\b))"
    r"|^\W*(?:我是|我将|我会|我无法|我不能|抱歉|对不起)|提示词|系统提示|指令|指示|忽略(?:以上|之前|所有|前面)|语言模型|人工智能助手|作为(?:一个|一名)?ai"
)
_TAG_SIGN = re.compile(r"#(?=[^\s#])")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://[^\s，。；！？、（）()「」『』《》<>]+|www\.[^\s，。]+|[\w.+-]+@[\w-]+\.[\w.-]+")
_DOTTED = re.compile(r"[a-z0-9_-]+(?:[./\\][a-z0-9_-]+)+")
_QUOTATION = re.compile(r"“([^“”]+)”|「([^「」]+)」|『([^『』]+)』|《([^《》]+)》|\"([^\"]+)\"|‘([^‘’]{4,})’")
_KANA = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]+")
#: Frequent ones that begin few other words.
_SURNAMES = (
    "王李张刘陈杨赵黄吴徐孙胡朱郭罗梁宋郑谢韩唐冯董萧曹袁邓傅沈曾彭吕苏"
    "卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪姜范姚谭廖邹熊陆郝孔崔邱秦顾侯邵孟龚"
)
_CHINESE_NAME = re.compile(rf"[{_SURNAMES}][\u3400-\u9fff]|[小老阿][{_SURNAMES}]")
_HONORIFIC = re.compile(rf"[{_SURNAMES}](?:老师|老板|先生|女士|教授|医生|经理|师傅|同学)")
_WEEKDAY = re.compile(r"(?:周|星期|礼拜)[一二三四五六日天末]")


def check(statement: Statement, evidence: Mapping[str, Evidence], asked: Asked) -> Sentence | Fault:
    """The sentence with the memos that it may stand on, or why it may not stand. ``evidence``: memo id → what was given of it."""
    if not statement.memo_ids:
        return Fault.UNKNOWN_SOURCE if statement.unknown else Fault.NO_SOURCE
    if fault := _form_fault(statement.text, asked):
        return fault
    text = _TAG_SIGN.sub("", plain_text(statement.text.replace("`", "")))
    keys = {key for unit in _units(fold(text)) for key in unit.keys}
    ids = tuple(memo_id for memo_id in statement.memo_ids if keys & evidence[memo_id].keys)
    if not ids or neutralise(text) != text:
        return Fault.MARKUP if ids else Fault.UNSUPPORTED
    fault = _content_fault(text, [evidence[memo_id] for memo_id in ids], asked)
    return fault or Sentence(text, ids)


def _form_fault(text: str, asked: Asked) -> Fault | None:
    """What is wrong with the sentence whatever the memos say."""
    if _LIVE.search(text) or not text.isprintable():
        return Fault.MARKUP
    if len(text) > MAX_SENTENCE_CHARS:
        return Fault.LENGTH
    if any(found[0] not in asked.folded for found in _TASK_TALK.finditer(fold(text))):
        return Fault.INSTRUCTION
    return None if _is_in(asked.language, text) else Fault.LANGUAGE


def _is_in(language: str, text: str) -> bool:
    """Chinese holds a Chinese character outside quotations, in either script; English more words than half the characters.

    Both scripts pass: a memo in the other one is quoted as it stands, and converting would change names.
    """
    bare = _QUOTATION.sub(" ", text)
    chinese = sum(map(is_cjk, bare))
    if language != "en":
        return chinese > 0 and not _KANA.search(bare)
    words = sum(not is_cjk(word) for word in _WORDS.findall(bare))
    return bool(words) and words * 2 >= chinese


def _content_fault(text: str, memos: Sequence[Evidence], asked: Asked) -> Fault | None:
    """What the sentence says and the memos do not."""
    folded = fold(text)
    for memo in memos:
        folded = memo.without_date(folded)
    folded = without_count_of_memos(folded, len(memos))
    held = "\n".join(memo.folded for memo in memos)
    keys = frozenset[str]().union(*(memo.keys for memo in memos))
    checks = (
        (Fault.ADDRESS, not _addresses(folded) <= _addresses(held)),
        (Fault.QUOTE, any(not _is_quoted(next(filter(None, found.groups())), held) for found in _QUOTATION.finditer(folded))),
        (Fault.NUMBER, not _numbers_hold(folded, memos, asked)),
        (Fault.NAME, not _names_hold(text, folded, held, keys, asked)),
        (Fault.NEGATION, turned_round(folded, held) or not (_same_sign(folded, memos) and _same_order(folded, memos))),
        (Fault.UNSUPPORTED, not _is_supported(folded, keys, asked)),
    )
    return next((fault for fault, found in checks if found), None)


def _addresses(folded: str) -> set[str]:
    return {found.rstrip(".,;:!?)]>'\"") for found in _ADDRESS.findall(folded)}


def _is_quoted(quoted: str, held: str) -> bool:
    return quoted.strip(" ，。.,!！?？…") in held


def _numbers_hold(folded: str, memos: Sequence[Evidence], asked: Asked) -> bool:
    """Every number stands in a memo or in the question, with the same unit if it always has one there."""
    units: dict[str, set[str]] = {}
    for memo in memos:
        for number, unit, _ in memo.numbers:
            units.setdefault(number, set()).add(unit)
    for number, unit, _ in numbers_in(folded, claimed=True):
        there = units.get(number)
        if there is None and number not in asked.numbers:
            return False
        if there and unit and unit not in there and "" not in there:
            return False
    return True


def _names_hold(text: str, folded: str, held: str, keys: frozenset[str], asked: Asked) -> bool:
    """Every name stands in a memo or in the question."""
    known = keys | asked.keys
    dated = set(cut(fold(text))) - set(cut(folded))
    names = {_bare(fold(word)) for word in _latin_names(text, asked.language)} - dated
    if any(stem(name) not in known for name in names) or any(_CHINESE_NAME.match(gap) for gap in _gaps(folded, known)):
        return False
    both = f"{held}\n{asked.folded}"
    exact = [found[0] for pattern in (_DOTTED, _HONORIFIC, _WEEKDAY) for found in pattern.finditer(folded)]
    if asked.language == "en":
        exact += [run for run, chinese in _runs(folded) if chinese]
    return all(word in both or _is_date(word, known) for word in exact)


def _is_date(word: str, known: frozenset[str]) -> bool:
    """``2024/05/03`` or ``3/4``, whose numbers are checked elsewhere."""
    parts = re.split(r"[./\\-]", word)
    return all(part.isdecimal() and without_leading_zeros(part) in known for part in parts)


def _latin_names(text: str, language: str) -> Iterator[str]:
    """In Chinese every word of another script; else those with a capital, a digit or foreign letters."""
    for found in _WORDS.finditer(text):
        for word in ("".join(part) for chinese, part in groupby(found[0], is_cjk) if not chinese):
            folded = _bare(fold(word))
            if folded in _ENGLISH_STOPS or folded.isdecimal() or folded in ENGLISH_NUMBERS:
                continue
            if language != "en" or word != word.lower() or not word.isascii() or any(map(str.isdigit, word)):
                yield word


def _same_order(folded: str, memos: Iterable[Evidence]) -> bool:
    """Whether what a comparison puts first is what the memos' comparison puts first: not *b than a* for *a than b*."""
    theirs = [(left - right, right - left) for memo in memos for left, right in memo.comparisons]
    for before, _ in _comparisons(folded) if theirs else []:
        if max(len(before & left) - len(before & right) for left, right in theirs) < 0:
            return False
    return True


def _comparisons(folded: str) -> list[tuple[frozenset[str], frozenset[str]]]:
    """What stands before and behind *than* or 比 in each clause."""
    sides = [_COMPARES.split(clause, maxsplit=1) for clause in _CLAUSE_END.split(folded) if _COMPARES.search(clause)]
    return [(frozenset(_keys(before)), frozenset(_keys(after))) for before, after in sides]


def _same_sign(folded: str, memos: Iterable[Evidence]) -> bool:
    """Whether each clause denies exactly if a clause does that shares most words with it; of several, one that denies."""
    clauses = [clause for memo in memos for clause in memo.clauses]
    for clause in filter(str.strip, _CLAUSE_END.split(folded)):
        keys = {key for unit in _units(clause) for key in unit.keys}
        shared = [(len(keys & theirs), sign) for theirs, sign in clauses]
        most = max((count for count, _ in shared), default=0)
        signs = {sign for count, sign in shared if count == most} if most else {False}
        if denies(clause) not in signs or (most > 1 and not denies(clause) and True in signs):
            return False
    return True


def _is_supported(folded: str, keys: frozenset[str], asked: Asked) -> bool:
    supported = total = 0
    for number, clause in enumerate(_CLAUSE_END.split(folded)):
        units = list(_units(clause))
        if number == 0 and _FRAME.match(clause) and all(set(unit.keys) & (asked.keys | keys) for unit in units):
            continue
        weight = sum(unit.weight for unit in units)
        found = [bool(keys.intersection(unit.keys)) for unit in units]
        have = sum(unit.weight for unit, is_there in zip(units, found, strict=True) if is_there)
        if have < LEAST_OF_CLAUSE * weight or _longest_gap(units, found) > MAX_UNSUPPORTED_STRETCH:
            return False
        supported, total = supported + have, total + weight
    return total >= LEAST_WEIGHT and supported >= LEAST_SUPPORTED * total


def _gaps(folded: str, keys: frozenset[str]) -> Iterator[str]:
    """The longest stretches of Chinese characters of which nothing is in the memos."""
    for run, chinese in _runs(folded):
        if chinese:
            found = "".join(" " if keys.intersection(unit.keys) else char for unit, char in zip(_units(run), run, strict=True))
            yield from found.split()


def _longest_gap(units: Sequence[_Unit], found: Sequence[bool]) -> int:
    """The weight of the longest stretch of which nothing is in the memos."""
    longest = current = 0
    for unit, is_there in zip(units, found, strict=True):
        current = 0 if is_there else current + unit.weight
        longest = max(longest, current)
    return longest
