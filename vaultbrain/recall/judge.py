"""The second layer of the gate: whether what was found is worth a mention, and why or why not.

Pure. Nothing is mentioned that is not near: that is necessary, whatever else speaks for a memo. Then two of five must be met: a
clear title, a decent summary, a link that leads away, high relevance, real use for what the text asks. Of a memo's own address
nothing follows: every memo has one, so it is shown and does not count. What has little value, what the text says already, and
what the person has seen or waved away is held, and every verdict says why.

Refuses to search, to phrase anything for people, and to know of budgets and bursts: one call judges one text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from vaultbrain.gist.summary import is_from, summary_of
from vaultbrain.gist.value import LINK, OPINION, Value, value_in
from vaultbrain.index.fold import fold, fold_keeping_offsets
from vaultbrain.index.tokens import cut, is_cjk
from vaultbrain.retrieve.fusion import RELATED, STRONG
from vaultbrain.vault.markdown import ADDRESS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.index.gist import Gist
    from vaultbrain.memo import Memo

#: Memos below which nothing is mentioned: among so few the best match is no match, and the person knows them.
SMALLEST_CORPUS = 20
#: Mentions of one text.
MAX_MENTIONS = 2
#: Of title, summary, outside link, high relevance and use, how many must be met.
LEAST_CRITERIA = 2

#: How near a memo is: shares of the score and of the cosine, and what the score in the other search adds: found both ways a memo
#: is surer. Chosen with ``BAR`` on half of the simulated day, 64 judged subjects and 47 that no memo holds (docs/recall.md).
SCORE_SHARE, COSINE_SHARE, AGREEMENT_SHARE = 0.6, 0.4, 0.2
#: The least nearness. One tick of 有用 or 不要再提 on a tag's memos moves it by ``LIKING_STEP``, all of them by ``MAX_LIKING``.
BAR, LIKING_STEP, MAX_LIKING = 0.42, 0.02, 0.08
#: The least score where there is no cosine, and how much of the subject must stand in one paragraph: words alone prove less.
BAR_OF_WORDS, LEAST_SUBJECT_OF_WORDS = 0.2, 0.65
#: What use for the task adds to the points by which verdicts are ordered, at most.
USE_SHARE = 0.1
#: The share of the best one's points that a second mention must have; and from which on a memo that was mentioned before stands
#: for the same need.
SECOND_SHARE = 0.8
#: What a memo must be, of ``Value``, to be of use.
LEAST_USE = 0.4

#: Runs of tokens that are compared (of three pairs of characters: four Chinese characters; else three words); the share of the
#: memo's that stand in the text, and of a text of so many that stand in the memo, from which on it says nothing new.
_RUN, _SAID_ALREADY, _COPIED, _LEAST_COPIED_RUNS = 3, 0.5, 0.6, 8
#: Share of the tokens of the shorter of two memos that the other has, too, from which on one mention is enough.
_ALIKE = 0.6

_MENTIONED = "mentioned before"
#: Names of the subject, and words of one.
_NAMED, _NAME_WORDS = 2, 5
#: What stands before an English verb, and after one.
_DOES = r"(?:i|we|you|they|can|can't|cannot|could|should|would|will|won't|don't|didn't|let's)"
_ARTICLE = r"(?:a|an|the|my|our|your|some|this|that|these|those)"
#: Letters and digits of a title that names something, a Chinese character counting two, and of a summary that says something.
_LEAST_TITLE, _LEAST_SUMMARY = 5, 12

#: What is asked, the most telling first, by folded words. The gate's features have the same names.
_ASKS = {
    "comparison": (
        r"比较(?!好|合适|安全|快|大|小|适合)|对比|哪个|哪种|哪家|区别|优缺点|差别|\bvs\b|\bcompar|\bversus\b|\bdifferences?\b"
        r"|\bpros and cons\b|\bwhich\b.{1,40}\bor\b"
    ),
    "priority": (
        r"优先|先后(?:顺序|次序)|(?:排|定|分).{0,4}先后|先后.{0,2}怎么|排序|哪.{0,6}先[^生]"
        r"|先(?!生).{1,2}(?:哪|什么|谁|啥)|先.{1,14}还是.{0,4}先|\bpriorit|\bwhich first\b|\bfirst\?"
    ),
    "decision": (
        r"要不要|值不值|值得|该不该|决策|决定|取舍|策略|犹豫|(?<!how )\bshould (?:i|we)\b|\bworth\b|\bdecid|\bstrategy\b"
        r"|\bor (?:keep|not)\b"
    ),
    "cases": r"案例|例子|参考|灵感|借鉴|对照|素材|\bexamples?\b|\bcase stud|\binspiration\b|\breferences?\b",
    "next step": r"下一步|从哪.{0,4}(?:入手|开始|下手)|卡在|接下来|\bnext steps?\b|\bwhere (?:to|do i) (?:start|begin)\b",
    "method": (
        r"怎么|如何|怎样|做法|办法|方法|步骤|流程|框架|清单|模板|检查表|(?:准备|注意|需要|带|查|选|买)(?:些|点)?什么|\bsop\b|\bhow\b|\bworkflow\b|\bframework\b|\bprocess\b"
        r"|\bapproach\b|\bsteps?\b|\bchecklist\b|\bset up\b|\bbest way\b"
    ),
    "context": (
        r"整理|梳理|理清|理一?理|厘清|头绪|捋|重新(?:想|排|理|定)"
        r"|\bsort(?:ing)? out\b|\buntangle\b|\bmake sense of\b|\bhelp me see\b"
    ),
    "earlier notes": (
        r"(?:之前|以前|上次|上回|当时|去年).{0,8}(?:记|写|存|收藏|总结|整理|说)|记过|写过|收藏过"
        r"|\bi (?:wrote|saved|noted)\b|\bmy (?:own )?notes\b"
    ),
}
#: The same under the names that the gate's features have.
_GATE_NAMES = {
    "compares": "comparison",
    "has alternatives": "comparison",
    "asks for an order": "priority",
    "weighs a decision": "decision",
    "is undecided about it": "decision",
    "names a strategy word": "decision",
    "asks for cases or references": "cases",
    "looks for the next step": "next step",
    "asks for a way of doing": "method",
    "sorts out context": "context",
    "points back at earlier notes": "earlier notes",
}
AREA = "area"
KINDS = (*_ASKS, AREA)
_ASK_PATTERNS = {name: re.compile(pattern) for name, pattern in _ASKS.items()}
#: Words of a query that say what is wanted of the subject, folded; a memo that meets only these is about something else.
_ASKING_WORDS = frozenset(
    "参考 整理 方案 办法 规则 方法 规划 策略 恢复 清单 做法 选择 计划 流程 步骤 准备 优化 评价 结构 检查 素材 处理 调整 安排"
    " 框架 比较 对比 案例 决策 决定 取舍 例子 灵感 顺序 优先级 下一步 对照 排查 清理 设计 管理 经验 建议 笔记 记录 标准 工具"
    " 资源 模板 思路 技巧 要点 原因 问题 效果 区别 优缺点 怎么 如何 文章 内容 东西 团队 现成 写法 用法 心得 套路 手册 阶段 动作"
    " sop workflow framework process steps step checklist list case cases study examples example planning plan strategy decision"
    " compare comparison guide tips notes note approach method methods best way ideas idea".split()
)


_ASKING_TAIL = re.compile(rf"(?<=..)(?:{'|'.join(sorted(filter(is_cjk, _ASKING_WORDS), key=lambda word: (-len(word), word)))})+$")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A memo that was found, with what the search said of it. ``note`` and ``anchor`` may be empty, and so may ``excerpt``, the
    words of the passage that was found.

    Of a memo that two searches found these are the facts of the need's hit, and ``agreement`` is the score by the short query,
    whose words count beside the same meaning; 0 when only one found it.
    """

    memo: Memo
    gist: Gist
    label: str
    score: float
    cosine: float | None = None
    note: str = ""
    anchor: str = ""
    matched: tuple[str, ...] = ()
    rank: int = 0
    agreement: float = 0.0
    excerpt: str = ""

    @property
    def likeness(self) -> float:
        """What one search says: its score and the cosine; the score alone where there is no vector."""
        if self.cosine is None:
            return self.score
        return SCORE_SHARE * self.score + COSINE_SHARE * max(self.cosine, 0.0)

    @property
    def nearness(self) -> float:
        """What both searches say."""
        return self.likeness + AGREEMENT_SHARE * self.agreement


@dataclass(frozen=True, slots=True)
class Situation:
    """What is being written, and what the person has seen of the memos. Memo ids everywhere.

    ``note``: the whole note around the text. ``liking``: folded tag → ticks of 有用 less ticks of 不要再提. ``query``: the terms
    that were searched; without them the subject cannot be told from what is wanted of it. ``features``: names of what the first
    layer saw, of ``KINDS`` or others.
    """

    text: str
    note: str = ""
    linked: frozenset[str] = frozenset()
    mentioned: frozenset[str] = frozenset()
    dismissed: frozenset[str] = frozenset()
    liking: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    corpus_size: int = SMALLEST_CORPUS
    query: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reasons``: why it is shown or held, English. ``points`` order verdicts. ``title``, ``summary``: as a mention shows them.
    What is too far away has no summary.

    ``subject``: the words of the query that stand in it; when none does, those that it is near to. Verbs are left out.
    """

    candidate: Candidate
    shown: bool
    reasons: tuple[str, ...]
    points: float
    value: Value
    title: str
    summary: str
    subject: tuple[str, ...] = ()


def judge(candidates: Sequence[Candidate], situation: Situation, *, limit: int = MAX_MENTIONS) -> tuple[Verdict, ...]:
    """A verdict on every candidate: those to mention first, at most ``limit``, then the held ones; the best first in each."""
    judged = sorted((_judge_one(candidate, situation) for candidate in candidates), key=_order)
    told = [verdict for verdict in judged if verdict.reasons == (_MENTIONED,)]
    verdicts: list[Verdict] = []
    shown: list[Verdict] = []
    for verdict in judged:
        held = _beside_others(verdict, shown, told, limit) if verdict.shown else ""
        verdicts.append(replace(verdict, shown=False, reasons=(held,)) if held else verdict)
        shown += [] if held or not verdict.shown else [verdict]
    return tuple(sorted(verdicts, key=_order))


def _order(verdict: Verdict) -> tuple[bool, float, int, str]:
    return (not verdict.shown, -verdict.points, verdict.candidate.rank, verdict.candidate.memo.id)


def _judge_one(candidate: Candidate, situation: Situation) -> Verdict:
    memo = candidate.memo
    subject = _subject(memo, situation.query)
    value, title = value_in(candidate.gist), candidate.gist.headline
    use = _use(value, asked_kinds(situation.text, situation.features))
    points = round(candidate.nearness + USE_SHARE * use, 4)
    held = _held(candidate, situation, value) or _too_far(candidate, subject, situation.liking)
    if held:
        return Verdict(candidate, False, held, points, value, title, "", _named(subject, situation))
    summary = _summary(candidate, title, tuple(map(fold, subject.words)))
    met = _criteria(candidate, title, summary, value, use)
    if len(met) < LEAST_CRITERIA:
        held = (f"too little speaks for it: {met[0] if met else 'nothing'}",)
    elif candidate.label != STRONG and not use:
        held = ("related, and of no use for what is asked",)
    return Verdict(candidate, not held, held or met, points, value, title, summary, _named(subject, situation))


def _summary(candidate: Candidate, title: str, about: Sequence[str]) -> str:
    """One sentence of the passage that was found; of the whole memo when that passage says nothing beside its title."""
    content, passage = candidate.memo.content, candidate.excerpt
    whole = summary_of(content, title, about=about) if about else candidate.gist.summary
    if is_from(whole, passage):
        return whole
    return summary_of(f"{title}\n\n{passage}", title, about=about) or whole


def _named(subject: _Subject, situation: Situation) -> tuple[str, ...]:
    """What a sentence calls the subject; Latin words that stand together in the text are one name."""
    named: list[str] = []
    text = fold(situation.text)
    for term in _without_verbs(subject.words, text) or _without_verbs(subject_terms(situation.query), text):
        longer = f"{named[-1]} {term}" if named else term
        if named and longer.isascii() and len(longer.split()) <= _NAME_WORDS and fold(longer) in text:
            named[-1] = longer
        else:
            named.append(term)
    return tuple(named[:_NAMED])


@lru_cache(maxsize=64)
def _without_verbs(terms: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Without English words that somebody does in the text, or is to do to something."""
    verb = rf"\b(?:{_DOES} {{0}}|to {{0}} {_ARTICLE})\b"
    return tuple(term for term in terms if not (term.isascii() and re.search(verb.format(re.escape(fold(term))), text)))


def _beside_others(verdict: Verdict, shown: Sequence[Verdict], told: Sequence[Verdict], limit: int) -> str:
    """Why it is held although it could be mentioned alone. ``told`` were mentioned for this note before."""
    if any(other.points >= SECOND_SHARE * verdict.points for other in told):
        return "another was mentioned for this before"
    if len(shown) >= limit:
        return "better ones are mentioned" if limit > 1 else "a better one is mentioned"
    if shown and verdict.candidate.label != STRONG:
        return "only related, and a better one is mentioned"
    if shown and verdict.points < SECOND_SHARE * shown[0].points:
        return "far behind the best one"
    if any(_are_alike(verdict.candidate.memo.content, other.candidate.memo.content) for other in shown):
        return "says what another mention says"
    return ""


def _are_alike(one: str, other: str) -> bool:
    """Whether the shorter one says little that the longer one does not, in whatever order."""
    words, others = frozenset(cut(fold(one))), frozenset(cut(fold(other)))
    return len(words & others) >= _ALIKE * min(len(words), len(others))


# what rules a memo out


def _held(candidate: Candidate, situation: Situation, value: Value) -> tuple[str, ...]:
    memo = candidate.memo
    checks = (
        (f"too few memos: {situation.corpus_size}", situation.corpus_size < SMALLEST_CORPUS),
        ("dismissed by you", memo.id in situation.dismissed),
        ("linked in the note already", memo.id in situation.linked),
        (_MENTIONED, memo.id in situation.mentioned),
        (value.low, bool(value.low)),
        ("says nothing new", _is_said_already(candidate, situation)),
    )
    return tuple(reason for reason, is_met in checks if is_met)


def _is_said_already(candidate: Candidate, situation: Situation) -> bool:
    """Whether most of the memo stands in the note, or the text was taken from the memo, or they share the link."""
    written = f"{situation.text}\n{situation.note}"
    theirs, ours = _runs(candidate.memo.content), _runs(situation.text)
    is_copied = len(ours) >= _LEAST_COPIED_RUNS and _share(ours, theirs) >= _COPIED
    link = candidate.gist.source if LINK in candidate.gist.gives else ""
    return _share(theirs, _runs(written)) >= _SAID_ALREADY or is_copied or bool(link and link in written)


@lru_cache(maxsize=64)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    tokens = cut(fold(text))
    return frozenset(tuple(tokens[n : n + _RUN]) for n in range(max(1, len(tokens) - _RUN + 1))) if tokens else frozenset()


def _share(of: frozenset[tuple[str, ...]], among: frozenset[tuple[str, ...]]) -> float:
    return len(of & among) / len(of) if of else 0.0


# how near it is


@dataclass(frozen=True, slots=True)
class _Subject:
    """``share`` of the query's subject that one paragraph of the memo has, 0..1; ``words``: its terms that stand there."""

    share: float
    words: tuple[str, ...]


def subject_terms(query: Sequence[str]) -> tuple[str, ...]:
    """The terms that name what is spoken of, without the asking words that Chinese writes at their end (备份方案 → 备份).

    All of the terms when every one only says what is wanted.
    """
    named = [_without_asking(term) for term in query if fold(term) not in _ASKING_WORDS]
    return tuple(dict.fromkeys(term for term in named if len(term) > 1 or not is_cjk(term))) or tuple(query)


def _without_asking(term: str) -> str:
    tail = _ASKING_TAIL.search(fold_keeping_offsets(term))
    return term[: tail.start()] if tail and is_cjk(term) else term


def _subject(memo: Memo, query: Sequence[str]) -> _Subject:
    terms = subject_terms(query)
    if not terms:
        return _Subject(0.0, ())
    paragraphs = _paragraphs(memo.content)
    best = max(([_stands(term, words) for term in terms] for words in paragraphs), key=sum)
    return _Subject(sum(best) / len(terms), tuple(term for term, share in zip(terms, best, strict=True) if share == 1))


@lru_cache(maxsize=64)
def _paragraphs(content: str) -> tuple[frozenset[str], ...]:
    """The words of each."""
    return tuple(frozenset(cut(fold(part))) for part in re.split(r"\n\s*\n", content))


@lru_cache(maxsize=64)
def _tokens(term: str) -> tuple[str, ...]:
    return tuple(cut(fold(term)))


def _stands(term: str, words: frozenset[str]) -> float:
    tokens = _tokens(term)
    return sum(token in words for token in tokens) / len(tokens) if tokens else 0.0


def is_near(candidate: Candidate, liking: Mapping[str, float]) -> bool:
    """Without which it is not mentioned, whatever else speaks for it."""
    bar = BAR_OF_WORDS if candidate.cosine is None else BAR
    return candidate.label in (STRONG, RELATED) and candidate.nearness >= bar - _liked(candidate.memo, liking)


def _too_far(candidate: Candidate, subject: _Subject, liking: Mapping[str, float]) -> tuple[str, ...]:
    if candidate.label not in (STRONG, RELATED):
        return (f"not near enough: {candidate.label}",)
    if candidate.cosine is None and subject.share < LEAST_SUBJECT_OF_WORDS:
        return ("about something else",)
    return () if is_near(candidate, liking) else (f"not near enough: {candidate.label} {candidate.nearness:.2f}",)


def _liked(memo: Memo, liking: Mapping[str, float]) -> float:
    """By how much the bar is lower for this memo; below 0 when its tags were waved away."""
    balances = [liking.get(tag, liking.get(tag.partition("/")[0], 0.0)) for tag in map(fold, memo.tags)]
    return min(max(LIKING_STEP * sum(balances), -MAX_LIKING), MAX_LIKING)


# what speaks for it


def asked_kinds(text: str, features: Sequence[str] = ()) -> tuple[str, ...]:
    """What the text asks for, of ``KINDS``, the most telling first; what the gate saw counts, and what the text says."""
    seen = {_GATE_NAMES.get(name, name) for name in features}
    said = _kinds_said_in(text)
    return tuple(name for name in _ASK_PATTERNS if name in seen or name in said) or (AREA,)


@lru_cache(maxsize=8)
def _kinds_said_in(text: str) -> frozenset[str]:
    folded = ADDRESS.sub(" ", fold(text))
    return frozenset(name for name, pattern in _ASK_PATTERNS.items() if pattern.search(folded))


def _use(value: Value, kinds: Sequence[str]) -> float:
    """0..1; 0 when it does not help with what is asked."""
    if value.low or value.gives == (OPINION,):
        return 0.0
    asks_how = {"method", "next step", "priority"} & set(kinds)
    useful = value.actionable if asks_how and "cases" not in kinds else max(value.actionable, value.specific)
    return max(value.score, useful * 0.5) if useful >= LEAST_USE else 0.0


def _criteria(candidate: Candidate, title: str, summary: str, value: Value, use: float) -> tuple[str, ...]:
    """Those that are met, the strongest first."""
    checks = (
        (f"near: {candidate.label}", candidate.label == STRONG),
        (f"of use: {', '.join(value.gives)}", use > 0),
        ("outside link", LINK in value.gives),
        ("clear title", _width(title) >= _LEAST_TITLE and not title.endswith("…")),
        ("decent summary", _width(summary) >= _LEAST_SUMMARY),
    )
    return tuple(name for name, is_met in checks if is_met)


def _width(text: str) -> int:
    return sum(2 if is_cjk(c) else 1 for c in text if c.isalnum())
