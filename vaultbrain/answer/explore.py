"""A subject taken apart: which sub-questions the memos speak to, where they contradict each other, what nobody has written down.

Pure rules, no model. A sub-question is found by cue words, Chinese (folded, so both scripts) and English. Contradictions are
strict: two pieces must speak of the same thing in nearly the same words and differ in one telling word or one number. A false
one is worse than none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations, islice
from typing import TYPE_CHECKING

from vaultbrain.answer.pieces import ATOM, OPEN_TASK, Piece
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: At most so many sub-questions, and of them so many to which one memo only speaks.
MAX_SUBQUESTIONS, MAX_ALONE = 5, 2
#: Sub-questions under which one memo may stand, and its pieces under each.
MAX_PER_MEMO, MAX_PIECES = 2, 2
#: A memo stands under a second sub-question when its piece there is at least this much as telling as its best one.
_SECOND_SHARE = 0.6
#: What the question asks itself weighs more, and a piece speaks to it even without a cue when its relevance is at least such a
#: share of that of the memo's best one.
_ASKED_WEIGHT, _ASKED_BASE, _SURELY_ABOUT = 1.5, 1.5, 0.8
#: What each place further down the list of memos costs a sub-question that is to be kept for it.
_RANK_COSTS = 0.1
#: Cues of one kind beyond these say nothing more.
_MOST_CUES = 2

#: Sub-question → (worth of a cue, the cues), in the order in which they stand in a note. Read with ``re.VERBOSE``.
_CUES: dict[str, tuple[float, str]] = {
    "what": (
        1.0,
        r"""
            是一[种个款套类] | 是指 | 指的是 | 所谓 | 意思是 | 原理是 | 本质上?是 | 定义 | 和.{1,12}的区别 | 相当于 | 简称
          | 全称 | 就是把 | \bis\s(?:an?|the)\s\w+\s(?:that|which|for|of)\b | ^[\w\s-]{1,24}\smeans\b | \brefers?\sto\b
          | \bstands\sfor\b | \bdifference\sbetween\b | \bdefined\sas\b
        """,
    ),
    "how": (
        1.0,
        r"""
            ^先 | [，。：；\s]先(?!生|前|后) | 步骤 | 第[一二三四]步 | 做法 | 方法 | 办法 | 流程 | 怎么 | 如何 | 然后
          | 的时候先 | 设置 | 配置 | 打开.{0,12}[里中] | 运行 | 执行 | 命令 | 记得 | 每次 | 每天 | 每晚 | 每周 | 分成
          | 按.{1,8}(?:来|排|分) | 改一下 | 用.{1,12}(?:来|去|把|代替) | 把.{1,14}(?:放|改|换|写|设|调|装|拆|切|加) | 顺序
          | 模板 | \bfirst\b | \bthen\b | \bsteps?\b | \bhow\sto\b | ^use\b | ^run\b | ^set\b | ^open\b | ^add\b | ^put\b
          | ^keep\b | ^make\b | ^try\b | ^ask\b | \bmake\ssure\b | \bby\s\w+ing\b | \bevery\s(?:day|night|week|morning)\b
          | \binstead\sof\b | \btemplate\b
        """,
    ),
    "experience": (
        1.0,
        r"""
            试了 | 试过 | 第一次 | 适合 | 用了[^\s，。]{0,6}(?:年|月|周|天|次) | 发现 | 感觉 | 体验 | 效果 | 看完 | 读完
          | 听完 | 觉得 | 坚持 | 果然 | 居然 | 终于 | 亲测 | 实测 | 有用 | 管用 | 好用 | 好多了 | 舒服 | 喜欢 | 满意
          | 最打动 | 好看 | 好吃 | 值得 | 省了?一 | 比.{1,10}(?:好|快|省|强|准|稳) | 之后.{0,10}(?:好|少|多)了
          | \bi\stried\b | \btried\b | \bworked\b | \bworks\s(?:well|fine|great)\b | \bturn(?:s|ed)\sout\b | \bfelt\b
          | \bresult\b | \bfinally\b | \bfound\sthat\b | \blearn(?:ed|t)\b | \bloved?\b | \bliked\b | \bworth\b
          | \bbetter\sthan\b | \bgreat\b
        """,
    ),
    "problems": (
        1.0,
        r"""
            坑(?!人) | (?:出|有|遇到|毛病|小)问题 | 问题(?:是|在|出|：) | 缺点 | 毛病 | 报错 | 失败 | 出错 | 千万别
          | 别[再在用买把让拿放碰开关吃喝太乱去怪反热揉嫌] | [，。；\s]别(?!的|人|处|名|墅|称) | ^别(?!的|人|处|名|墅|称)
          | 不要 | 不能 | 注意 | 小心 | 风险 | 陷阱 | 避免 | 崩 | (?<!不)疼 | (?<!不)痛 | 卡住 | 卡死 | 变慢 | 越来越慢
          | 难用 | 不好用 | 没用 | 不管用 | 没效果 | 不够 | 太[贵吵慢重大长] | 后悔 | 踩 | 丢了 | 坏了 | 误 | 炸
          | \bproblems?\b | \bfail(?:s|ed|ure)?\b | \bbugs?\b | \berrors?\b | \bdon'?t\b | \bdo\snot\b | \bavoid\b
          | \bcareful\b | \bbeware\b | \bpitfalls?\b | \bissues?\b | \bbroken?\b | \bdrawback | \bdownside | \bnever\b
          | \bdoes(?:n't|\snot)\b | \btoo\s(?:slow|long|loud|expensive)\b | \bregret\b
        """,
    ),
    "cost": (
        1.0,
        r"""
            \d+(?:\.\d+)?\s*(?:元|块(?!钱?硬盘)|万|美元|刀) | [¥￥$]\s*\d | 免费 | 费用 | 价格 | 预算
          | 花了.{0,6}(?:钱|元|块) | 便宜 | 成本 | 年费 | 月费 | \bcosts?\b | \bprices?\b | [$€£]\s?\d | \bfree\b
          | \bbudget\b | \bcheap
        """,
    ),
    "tools": (
        1.2,
        r"""
            工具 | 软件 | 插件 | 网站 | 教程 | 课程 | 资源 | 清单 | 合集 | 书单 | 片单 | 推荐 | 收藏 | 入口 | 文档
          | \btools?\b | \bplugins?\b | \bwebsites?\b | \btutorials?\b | \bcourses?\b | \brepos?\b | \bwatchlist\b
          | \breading\slist\b | \bresources?\b | \brecommend
        """,
    ),
    "plans": (
        1.3,
        r"""
            打算 | 计划 | 准备(?:把|去|买|做|试|周|下) | 下周 | 下个?月 | 明天(?:去|再|要|把) | 周末(?:去|做|试|把)
          | 以后(?:再|要) | 想(?:试|买|做|学|补|把|去) | 待办 | 还没 | 有空 | 回头 | 改天 | todo | 待看 | 待读
          | \bplan(?:s|ned|ning)?\b | \btodo\b | \bto\sdo\b | \bnext\s(?:week|month|time|year)\b | \bwant\sto\b
          | \bsomeday\b | \bshould\stry\b | \bgoing\sto\b | \blater\b
        """,
    ),
    "decisions": (
        1.3,
        r"""
            决定 | 定了 | 最后(?:选|用|还是|定|买) | 选了 | 换成 | 改成 | 改用 | 放弃 | 不再 | 换到 | 退回 | 先不 | 就用
          | 只留 | 只用 | \bdecided?\b | \bchose\b | \bswitched\b | \bsettled\son\b | \bwent\swith\b | \bgave\sup\b
          | \bno\slonger\b | \bmoved\s(?:everything\s)?to\b | \bsticking\swith\b
        """,
    ),
}
SUBQUESTIONS = tuple(_CUES)
#: Those whose absence is worth a word; not everything has a price or is still to be decided.
CORE = ("how", "experience", "problems")
_PATTERNS = {name: (worth, re.compile(cues, re.VERBOSE)) for name, (worth, cues) in _CUES.items()}
_CODE = re.compile(r"`[^`]+`")
#: A quantity; one may stand anywhere, two in one piece are its point.
_QUANTITY = re.compile(
    r"\d+(?:\.\d+)?\s?(?:分钟|小时|天(?!前)|公斤|公里|克|毫升|度|%|页|(?:minutes?|min|hours?|days?|weeks?|gb|tb|mb|kg|km|g|ml)\b)"
)
_ADDRESS = re.compile(r"https?://")


#: How a question asks for one of them, folded.
_ASKS = {
    "what": re.compile(r"是什么|什么是|啥是|\bwhat (?:is|are)\b"),
    "how": re.compile(r"怎么(?!样|看)|如何|办法|步骤|方法|流程|\bhow (?:to|do|can|should)\b|\bsteps?\b"),
    "experience": re.compile(r"经验|体验|效果|怎么样|评价|值不值|\bexperiences?\b|\bresults?\b|\bworth\b"),
    "problems": re.compile(r"注意|问题|缺点|避坑|的坑|风险|\bproblems?\b|\bpitfalls?\b|\bissues?\b"),
    "cost": re.compile(r"多少|几[个次天]|价格|预算|\bhow (?:much|many|long)\b|\bcosts?\b|\bbudget\b"),
    "tools": re.compile(r"工具|资源|推荐|网站|\btools?\b|\bresources?\b"),
    "plans": re.compile(r"计划|打算|待办|\bplans?\b|\btodos?\b"),
}

#: Sub-question → (how telling, place in the memo, piece).
_Telling = dict[str, list[tuple[float, int, Piece]]]


@dataclass(frozen=True, slots=True)
class Voice:
    """A piece of a memo with how much it is about the subject, from 0 on."""

    piece: Piece
    relevance: float


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """``name`` is one of ``SUBQUESTIONS``; the pieces in the order of the memos, of one memo in the order of its text."""

    name: str
    pieces: tuple[Piece, ...]

    @property
    def memo_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(piece.memo_id for piece in self.pieces))


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two pieces on the same thing, the newer first; ``words`` are what each says differently."""

    newer: Piece
    older: Piece
    words: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Exploration:
    """``silent`` are sub-questions of the core that no piece speaks to; ``elsewhere`` are memos under no sub-question."""

    questions: tuple[SubQuestion, ...] = ()
    elsewhere: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    open_tasks: tuple[Piece, ...] = ()


def explore(voices: Mapping[str, Sequence[Voice]], question: str = "") -> Exploration:
    """``voices``: memo id → its pieces, the memos best first. Every memo stands somewhere, none under more than two questions.

    What the ``question`` itself asks is what its memos speak to first.
    """
    asked = asked_for(question)
    telling = {memo_id: _telling(found, asked) for memo_id, found in voices.items()}
    homes = _few(telling)
    questions = [SubQuestion(name, tuple(_spoken(name, homes))) for name in SUBQUESTIONS]
    spoken = {name for found in telling.values() for name in found}
    relevant = [voice.piece for found in voices.values() for voice in found if voice.relevance > 0]
    return Exploration(
        tuple(question for question in questions if question.pieces),
        tuple(memo_id for memo_id in voices if not homes[memo_id]),
        tuple(name for name in SUBQUESTIONS if name in {*CORE, *asked} and name not in spoken),
        tuple(contradictions(relevant)),
        tuple(piece for piece in relevant if piece.task == OPEN_TASK),
    )


def asked_for(question: str) -> tuple[str, ...]:
    """The sub-questions that a question asks by itself."""
    folded = fold(question)
    return tuple(name for name in SUBQUESTIONS if name in _ASKS and _ASKS[name].search(folded))


def cues(piece: Piece) -> dict[str, float]:
    """Sub-question → how clearly the piece speaks to it, those only to which it does."""
    text = fold(piece.text)
    bare = ATOM.sub(" ", text)
    found: dict[str, float] = {}
    for name, (worth, pattern) in _PATTERNS.items():
        met = len({match.group().strip() for match in pattern.finditer(bare)})
        met += name == "how" and bool(_CODE.search(text))
        met += name == "cost" and len(_QUANTITY.findall(bare)) > 1
        met += name == "tools" and bool(_ADDRESS.search(text))
        met += 2 * (name == "plans" and piece.task == OPEN_TASK)
        if met:
            found[name] = worth * min(met, _MOST_CUES)
    return found


def _telling(voices: Sequence[Voice], asked: Sequence[str]) -> _Telling:
    """Sub-question → (how telling, place in the memo, piece), of pieces about the subject."""
    found: _Telling = {}
    most = max((voice.relevance for voice in voices), default=0.0)
    for place, voice in enumerate(voices):
        if voice.relevance > 0:
            clear = cues(voice.piece)
            for name in asked:
                plainly = _ASKED_BASE if voice.relevance >= _SURELY_ABOUT * most else 0.0
                clear[name] = max(clear.get(name, 0.0) * _ASKED_WEIGHT, plainly)
            for name, clearness in clear.items():
                if clearness:
                    found.setdefault(name, []).append((voice.relevance * clearness, place, voice.piece))
    return found


def _few(telling: Mapping[str, _Telling]) -> dict[str, dict[str, list[Piece]]]:
    """memo id → sub-question → pieces. As many sub-questions as are worth a heading; the weakest goes until that is so.

    A memo whose sub-question goes moves to the next one that it speaks to.
    """
    kept = list(SUBQUESTIONS)
    while True:
        homes = {memo_id: _homes({name: found[name] for name in kept if name in found}) for memo_id, found in telling.items()}
        support = {name: [memo_id for memo_id, found in homes.items() if name in found] for name in kept}
        kept = [name for name in kept if support[name]]
        alone = [name for name in kept if len(support[name]) == 1]
        if len(kept) <= MAX_SUBQUESTIONS and len(alone) <= MAX_ALONE:
            return homes
        ranks = {memo_id: rank for rank, memo_id in enumerate(telling)}
        strength = {name: max(max(telling[m][name])[0] / (1 + _RANK_COSTS * ranks[m]) for m in support[name]) for name in kept}
        kept.remove(min(alone or kept, key=lambda name: (len(support[name]), strength[name], name)))


def _homes(telling: _Telling) -> dict[str, list[Piece]]:
    """The one or two sub-questions that a memo speaks to most, with what it says to each; no piece stands under both."""
    ranked = sorted(telling, key=lambda name: (-max(telling[name])[0], SUBQUESTIONS.index(name)))
    homes: dict[str, list[Piece]] = {}
    for name in ranked:
        shown = [piece for pieces in homes.values() for piece in pieces]
        new = [found for found in telling[name] if found[2] not in shown]
        if new and (not homes or max(new)[0] >= _SECOND_SHARE * max(telling[ranked[0]])[0]):
            homes[name] = _chosen(new)
        if len(homes) == MAX_PER_MEMO:
            break
    return homes


def _chosen(telling: Sequence[tuple[float, int, Piece]]) -> list[Piece]:
    """The most telling pieces, in the order of the text; a second one only when it is nearly as good."""
    ranked = sorted(telling, key=lambda found: (-found[0], found[1]))
    chosen = [found for found in ranked[:MAX_PIECES] if found[0] >= _SECOND_SHARE * ranked[0][0]]
    return [piece for _, _, piece in sorted(chosen, key=lambda found: found[1])]


def _spoken(name: str, homes: Mapping[str, Mapping[str, Sequence[Piece]]]) -> Iterator[Piece]:
    """What the memos say to a sub-question, each thing once; but every memo says something."""
    said: set[str] = set()
    for found in homes.values():
        pieces = found.get(name, ())
        new = [piece for piece in pieces if fold(piece.text) not in said]
        said.update(fold(piece.text) for piece in pieces)
        yield from new or pieces[:1]


# contradictions

#: Words that say the opposite of each other, folded; the first of a pair is looked for only where the second does not stand.
_OPPOSITES = (
    (r"值得推荐|强烈推荐|推荐", r"不推荐|不太推荐|别买|不建议"),
    (r"建议", r"不建议"),
    (r"好用", r"难用|不好用"),
    (r"有用|有效|管用|见效", r"没用|没有用|无效|没什么效果|没效果|没有效果|不管用|不见效"),
    (r"值得", r"不值得|不值"),
    (r"够用", r"不够用"),
    (r"支持", r"不支持"),
    (r"安全", r"不安全"),
    (r"需要", r"不需要|不用|无需"),
    (r"可以", r"不可以|不能|不行"),
    (r"\brecommend(?:ed)?\b", r"\b(?:don'?t|do not|would not|wouldn'?t|not) recommend(?:ed)?\b"),
    (r"\bworks\b", r"\b(?:doesn'?t|does not|no longer) works?\b"),
    (r"\bworth\b", r"\bnot worth\b"),
    (r"\bneeds?\b|\bneeded\b", r"\b(?:don'?t|doesn'?t|do not|does not|no) needs?\b|\bnot needed\b"),
    (r"\bsupports\b", r"\b(?:doesn'?t|does not) support\b"),
    (r"\bsafe\b", r"\b(?:unsafe|not safe)\b"),
)
_POLES = [(re.compile(positive), re.compile(negative)) for positive, negative in _OPPOSITES]
_NUMBER = re.compile(
    r"(\d+(?:\.\d+)?)\s*(分钟|小时|天|周|个月|年|元|块|度|克|公斤|公里|毫升|次|页|倍|%|minutes?|min|hours?|days?|weeks?|months?|years?|gb|tb|mb|kg|km|"
    r"ml|g)(?![a-z])"
)
#: Only a rule can contradict a rule: what happened on two days differs, and both are true.
_IS_RULE = re.compile(
    r"应该|应当|建议|一般|通常|需要|最好|至少|最多|不超过|控制在|标准|保持|默认|"
    r"\b(?:should|must|usually|at least|at most|needs?|default)\b"
)
_WORDS = re.compile(r"[a-z][a-z0-9+.#-]+|[\u3400-\u9fff]+")
#: Tokens that two pieces must share at least, and as a share of those of the shorter one.
_LEAST_SHARED, _SAME_THING = 3, 0.55


#: Pieces that are compared, each with each.
_MOST_COMPARED = 400


@dataclass(frozen=True, slots=True)
class _Read:
    """``poles``: number of a pair of opposites → (whether it is denied, the word). ``numbers``: unit → number, of rules only."""

    piece: Piece
    tokens: frozenset[str]
    poles: dict[int, tuple[bool, str]]
    numbers: dict[str, str]


def contradictions(pieces: Iterable[Piece]) -> list[Contradiction]:
    """Pairs from different memos, each memo in one pair at most, in the order of the pieces."""
    read = [one for one in map(_read, islice(pieces, _MOST_COMPARED)) if one.poles or one.numbers]
    found: list[Contradiction] = []
    used: set[str] = set()
    for one, other in combinations(read, 2):
        ids = {one.piece.memo_id, other.piece.memo_id}
        if len(ids) == 2 and not ids & used and (words := _differ(one, other)):
            found.append(_newer_first(one.piece, other.piece, words))
            used |= ids
    return found


def _read(piece: Piece) -> _Read:
    text = fold(ATOM.sub(" ", piece.text))
    poles = {number: pole for number, (positive, negative) in enumerate(_POLES) if (pole := _pole(text, positive, negative))}
    numbers: dict[str, str] = {}
    for amount, unit in _NUMBER.findall(text) if _IS_RULE.search(text) else ():
        numbers[unit.rstrip("s")] = "" if unit.rstrip("s") in numbers else amount  # two of a unit: which is meant?
    bare = _IS_RULE.sub(" ", _NUMBER.sub(" ", text))
    for number in poles:
        for pattern in reversed(_POLES[number]):
            bare = pattern.sub(" ", bare)
    tokens = frozenset(cut(" ".join(_WORDS.findall(bare))))
    return _Read(piece, tokens, poles, {unit: amount for unit, amount in numbers.items() if amount})


def _pole(text: str, positive: re.Pattern[str], negative: re.Pattern[str]) -> tuple[bool, str] | None:
    """None when neither or both of the opposites stand there."""
    against = negative.search(text)
    speaks = positive.search(negative.sub(" ", text))
    if against and not speaks:
        return True, against[0]
    return (False, speaks[0]) if speaks and not against else None


def _differ(one: _Read, other: _Read) -> tuple[str, str] | None:
    """What each says differently of the same thing."""
    shared = len(one.tokens & other.tokens)
    if shared < _LEAST_SHARED or shared < _SAME_THING * min(len(one.tokens), len(other.tokens)):
        return None
    for number, (is_denied, word) in one.poles.items():
        theirs = other.poles.get(number)
        if theirs and theirs[0] != is_denied:
            return word, theirs[1]
    for unit, amount in one.numbers.items():
        their_amount = other.numbers.get(unit)
        if their_amount and float(their_amount) != float(amount):
            return f"{amount} {unit}", f"{their_amount} {unit}"
    return None


def _newer_first(one: Piece, other: Piece, words: tuple[str, str]) -> Contradiction:
    is_ordered = (one.created, one.memo_id) >= (other.created, other.memo_id)
    return Contradiction(one, other, words) if is_ordered else Contradiction(other, one, (words[1], words[0]))
