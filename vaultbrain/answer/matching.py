"""A passage against memos: its parts, which memo is closest to which of them, and in what words both speak.

Pure. Parts are verbatim pieces of the passage. Words that two texts share are real words, in the memo's written form. Decides
when a part is met: its own search has to find the memo near, or the two have to share words that are not everybody's. A memo that
is only loosely near is near the whole and meets no part.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from vaultbrain.answer.pieces import LIST_MARK, Piece, bare_line, leans, says_something, sentences
from vaultbrain.index.fold import fold, fold_keeping_offsets
from vaultbrain.index.tokens import cut, is_cjk
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK
from vaultbrain.vault.markdown import columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vaultbrain.answer.material import Material
    from vaultbrain.retrieve.search import Hit

MIN_PARTS, MAX_PARTS = 2, 6
#: Columns up to which a text of one paragraph has one part only.
_WHOLE_COLUMNS = 120
MAX_SHARED = 6
#: Words that a memo and a part have to share for the part to be met without a search that says so.
LEAST_GROUND = 2
#: Parts and memos from which on a word that more than this share of them hold is common.
_MANY_PARTS, _MANY_MEMOS, _COMMON_SHARE = 3, 4, 0.5
#: Score from which on a related memo needs no word to speak for it. Chosen by reading what four passages met in memobench.
_SURELY_RELATED = 0.35
#: Columns from which on a word that is no subject by itself says something: three Chinese characters, a Latin name.
_TELLING_COLUMNS = 6
#: Characters of a Chinese word at most.
_LONGEST_WORD = 6
#: A group of sentences may be wider than its share by this factor.
_ROOM_FACTOR = 1.2
#: Tokens that make a piece of few words no closer than a whole sentence; what the block of the search adds; what is left of a
#: scrap, which is so narrow or leans on another sentence.
_EVENS_LENGTH, _BLOCK, _SCRAP_COLUMNS, _SCRAP_SHARE = 16, 0.3, 26, 0.6
#: Letters of a Latin word; characters that begin no word worth sharing.
_SHORTEST_LATIN, _NO_BEGINNING = 3, "不没很也都就再把被在是有和与的了我你他她它这那"

_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n.*?\n---[ \t]*(?:\n|\Z)", re.DOTALL)
_FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^\s*#{1,6}(?:\s|$)")
_SENTENCE_ENDS = re.compile(r"[。！？!?.…][”’」』）)\"']*\s*$")
_BLANK_LINE = re.compile(r"\n\s*\n")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z0-9+#.-]{2,}")
_CHINESE_RUN = re.compile(r"[\u3400-\u9fff]+")
_ENDS = ".-"
#: Words that everybody uses: to share them means nothing.
_SAYS_LITTLE = frozenset(
    (
        "我们 你们 他们 自己 这个 那个 这些 那些 什么 怎么 可以 一个 一些 一样 一下 一次 一种 没有 就是 不是 "
        "还是 如果 因为 所以 但是 而且 或者 然后 已经 现在 时候 这样 那样 这里 那里 觉得 知道 可能 应该 需要 "
        "东西 很多 有些 其实 之后 之前 以后 以前 最后 开始 只是 还有 不要 不会 不能 今天 明天 昨天 的话 起来 "
        "出来 下来 里面 上面 下面 一点 有点 比较 非常 真的 每天 每次 不用 只要 只有 都是 也是 不过 虽然 于是 "
        "明年 今年 去年 另外 家里 发现 存在 回去 打开 改成 下去 看看 回来 "
        "朋友 同事 女儿 儿子 爸妈 家人 别人 有人 第一 第二 第三 二次 两次 几次 再次 重新 决定 打算 准备 继续 完成 周末 上午 下午 "
        "晚上 早上 上次 下次 这次 一年 一天 几天 几个 两个 三个 一起 一直 好像 终于 突然 注意 结果 问了 "
        "这么 那么 为了 其中 还要 就会 不到 一定 大家 直接 一直 管理 情况 事情 问题 希望 最近 "
        "the and for with that this from have has was were are not but you your they them then than when what which who "
        "how why can could will would should into over about just also only more most some any all one two its our out "
        "very been being there here because too much many three four five first last after before although people think "
        "like even still well really up down back off next again another year years month week day days time see get got make "
        "made do done use used using go going come came put set keep take took want need let way new old good better best same "
        "other every each while during without between never always often maybe something anything nothing everything someone"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Touch:
    """A memo under the part that it is closest to. ``sentence`` is its closest piece; ``shared`` words stand in both.

    ``sureness`` orders touches: 2..3 when a search for the part found it strong, 1..2 when related, below when loosely.
    """

    hit: Hit
    sentence: Piece | None
    shared: tuple[str, ...]
    sureness: float = 0.0


@dataclass(frozen=True, slots=True)
class MatchedPart:
    """``text`` is empty for memos that are close to the whole and to no part of it. ``is_met``: some memo is near this part."""

    text: str
    touches: tuple[Touch, ...] = ()
    is_met: bool = False


def parts_of(passage: str) -> tuple[str, ...]:
    """At most ``MAX_PARTS`` parts, verbatim and in order: paragraphs, or groups of sentences where there is only one.

    Front matter, headings, code and the marks of lists are left out. Empty for a passage without words.
    """
    bare = _FENCED.sub("\n\n", _FRONT_MATTER.sub("", passage.replace("\r\n", "\n")))
    paragraphs = [text for block in _BLANK_LINE.split(bare) for part in _paragraphs_of(block) if (text := _paragraph(part))]
    paragraphs = _with_what_is_announced(paragraphs)
    if len(paragraphs) < MIN_PARTS:
        paragraphs = _groups_of_sentences(paragraphs[0]) if paragraphs else []
    return tuple(_few(paragraphs))


def _paragraphs_of(block: str) -> list[str]:
    """Lines that each end a sentence are paragraphs; a list, or lines that were only broken, are one."""
    lines = [line for line in block.split("\n") if line.strip() and not _HEADING.match(line)]
    are_paragraphs = all(_SENTENCE_ENDS.search(line) and not LIST_MARK.match(line) for line in lines)
    return lines if are_paragraphs else [block]


def _paragraph(block: str) -> str:
    lines = [bare_line(line)[0] for line in block.split("\n") if not _HEADING.match(line)]
    return "\n".join(line for line in lines if line and says_something(line.rstrip(":：") or line))


def _groups_of_sentences(text: str) -> list[str]:
    """Sentences in groups of about equal width; a short text is one."""
    if columns(text) <= _WHOLE_COLUMNS:
        return [text]
    found = [sentence for line in text.split("\n") for sentence in sentences(line)]
    count = min(MAX_PARTS, max(MIN_PARTS, columns(text) // (2 * _WHOLE_COLUMNS) + 1), len(found))
    room = columns(text) / max(count, 1)
    groups: list[list[str]] = [[]]
    filled = 0
    for sentence in found:
        if groups[-1] and filled + columns(sentence) > room * _ROOM_FACTOR and len(groups) < count:
            groups.append([])
            filled = 0
        groups[-1].append(sentence)
        filled += columns(sentence)
    return [_between(text, group[0], group[-1]) for group in groups]


def _between(text: str, first: str, last: str) -> str:
    start = text.index(first)
    return text[start : text.index(last, start) + len(last)]


def _with_what_is_announced(paragraphs: Sequence[str]) -> list[str]:
    """A line that only announces the next paragraph goes with it."""
    found: list[str] = []
    for paragraph in paragraphs:
        if found and found[-1].endswith((":", "：")):
            found[-1] = f"{found[-1]}\n{paragraph}"
        else:
            found.append(paragraph)
    return found


def _few(parts: Sequence[str]) -> list[str]:
    """Neighbours that are shortest together are joined until there are few enough."""
    few = list(parts)
    while len(few) > MAX_PARTS:
        n = min(range(len(few) - 1), key=lambda n: (len(few[n]) + len(few[n + 1]), n))
        few[n : n + 2] = [f"{few[n]}\n{few[n + 1]}"]
    return few


def match_parts(
    hits: Sequence[Hit],
    parts: Sequence[str],
    part_hits: Sequence[Sequence[Hit]],
    pieces: Mapping[str, Sequence[Piece]],
    material: Material,
) -> list[MatchedPart]:
    """Every part in order, those that no memo touches too, and a last one without text for memos that touch none."""
    ground = _Ground(parts, [_text_of(hit, pieces) for hit in hits], material)
    near: list[dict[str, Hit]] = [{hit.memo_id: hit for hit in found if ground.is_near(hit)} for found in part_hits]
    near += [{} for _ in parts[len(near) :]]
    homes: dict[int, list[Touch]] = {}
    for hit in hits:
        number = _closest_part(hit, _text_of(hit, pieces), near, ground)
        homes.setdefault(number, []).append(_touch(hit, pieces, number, near, ground))
    for number, found in enumerate(near):  # a memo that is near two parts stands under both before one of them stays empty
        if number not in homes and (also := [hit for hit in hits if hit.memo_id in found]):
            homes[number] = [_touch(also[0], pieces, number, near, ground)]
    matched = [
        MatchedPart(part, tuple(homes.get(number, ())), is_met=bool(near[number]) or number in homes)
        for number, part in enumerate(parts)
    ]
    whole = homes.get(-1, [])
    if any(part.is_met for part in matched):  # what shares nothing with the passage need not be shown beside what does
        whole = [touch for touch in whole if touch.hit.label != WEAK or touch.shared]
    return [*matched, MatchedPart("", tuple(whole))] if whole else matched


def _text_of(hit: Hit, pieces: Mapping[str, Sequence[Piece]]) -> str:
    return "\n".join(piece.text for piece in pieces.get(hit.memo_id, ())) or hit.excerpt


class _Ground:
    """Which words that a memo shares with a part are worth anything: no small ones, and none that most parts or memos hold."""

    def __init__(self, parts: Sequence[str], texts: Sequence[str], material: Material) -> None:
        self.parts = parts
        self.is_word = material.is_word
        self._is_topic = material.is_topic
        self._parts, self._memos = list(map(fold, parts)), list(map(fold, texts))

    def words(self, text: str, number: int) -> list[str]:
        found = shared_words(text, self.parts[number], self.is_word)
        return [word for word in _without_parts(found) if self._is_telling(fold(word))]

    def is_near(self, hit: Hit) -> bool:
        """Of what a part's search found: the strong, and the related that a subject, two words or a score speak for."""
        if hit.label != RELATED:
            return hit.label == STRONG
        own = dict.fromkeys(word for word in hit.matched if " / " not in word and word not in _SAYS_LITTLE)
        is_on_subject = any(word.startswith("#") or self._is_topic(word) for word in own)
        return is_on_subject or len(own) >= LEAST_GROUND or hit.score >= _SURELY_RELATED

    def _is_telling(self, word: str) -> bool:
        if not self._is_topic(word) and columns(word) < _TELLING_COLUMNS:
            return False
        return not _is_common(word, self._parts, _MANY_PARTS) and not _is_common(word, self._memos, _MANY_MEMOS)


def _is_common(word: str, texts: Sequence[str], many: int) -> bool:
    return len(texts) >= many and sum(word in text for text in texts) > _COMMON_SHARE * len(texts)


def _closest_part(hit: Hit, text: str, near: Sequence[Mapping[str, Hit]], ground: _Ground) -> int:
    """The part whose search found the memo nearest, else the one that shares most telling words with it; -1 without either."""
    found = [(_sureness(hits[hit.memo_id]), -n, n) for n, hits in enumerate(near) if hit.memo_id in hits]
    if found:
        return max(found)[2]
    words, _, number = max(((len(ground.words(text, n)), -n, n) for n in range(len(near))), default=(0, 0, -1))
    return number if words >= LEAST_GROUND else -1


def _sureness(hit: Hit | None) -> float:
    if hit is None or hit.label == WEAK:
        return 0.0
    return hit.score + (2 if hit.label == STRONG else 1)


def _touch(
    hit: Hit, pieces: Mapping[str, Sequence[Piece]], number: int, near: Sequence[Mapping[str, Hit]], ground: _Ground
) -> Touch:
    """With the memo's piece that is closest to the part, or to the whole."""
    part = "\n".join(ground.parts) if number < 0 else ground.parts[number]
    found = near[number].get(hit.memo_id) if number >= 0 else None
    own, tokens = pieces.get(hit.memo_id, ()), set(cut(fold(part)))
    ranked = sorted(enumerate(own), key=lambda item: (-_closeness(item[1], found or hit, tokens), item[0]))
    sentence = ranked[0][1] if ranked else None
    texts = [sentence.text, *(piece.text for piece in own if piece is not sentence)] if sentence else [hit.excerpt]
    shared = dict.fromkeys(word for text in texts for word in shared_words(text, part, ground.is_word))
    sureness = _sureness(found) or (hit.score / 2 if number < 0 else 0.5 + hit.score / 2)
    return Touch(hit, sentence, tuple(_without_parts(list(shared)))[:MAX_SHARED], sureness)


def _closeness(piece: Piece, hit: Hit, tokens: set[str]) -> float:
    words = set(cut(fold(piece.text)))
    closeness = len(words & tokens) / sqrt(len(words) + _EVENS_LENGTH) + _BLOCK * (piece.anchor == hit.anchor)
    is_scrap = leans(piece.text) or columns(piece.text) < _SCRAP_COLUMNS
    return closeness * (_SCRAP_SHARE if is_scrap else 1)


def shared_words(text: str, other: str, is_word: Callable[[str], bool]) -> list[str]:
    """Words of ``text`` that stand in ``other`` too, as written in ``text``, in its order; the longest of overlapping ones."""
    folded, theirs = fold_keeping_offsets(text), fold_keeping_offsets(other)
    their_words = {bare for word in _LATIN_WORD.findall(theirs) if len(bare := word.rstrip(_ENDS)) >= _SHORTEST_LATIN}
    found = [
        (match.start(), match.start() + len(word))
        for match in _LATIN_WORD.finditer(folded)
        if (word := match[0].rstrip(_ENDS)) in their_words and word not in _SAYS_LITTLE
    ]
    for run in _CHINESE_RUN.finditer(folded):
        found += _shared_in_run(folded, run.start(), run.end(), theirs, is_word)
    seen: dict[str, str] = {}
    for start, end in sorted(found):
        seen.setdefault(folded[start:end], text[start:end])
    return list(seen.values())


def _shared_in_run(folded: str, start: int, end: int, theirs: str, is_word: Callable[[str], bool]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    while start < end - 1:
        for length in range(min(_LONGEST_WORD, end - start), 1, -1):
            word = folded[start : start + length]
            if word in theirs and word not in _SAYS_LITTLE and is_word(word):
                found += [(start, start + length)] if word[0] not in _NO_BEGINNING else []
                start += length
                break
        else:
            start += 1
    return found


def _without_parts(words: Sequence[str]) -> list[str]:
    """Without words that stand within another of them."""
    folded = [fold(word) for word in words]
    return [
        word
        for word, key in zip(words, folded, strict=True)
        if not any(key != other and key in other for other in folded if is_cjk(key))
    ]
