"""A passage against memos: its parts, which memo is closest to which of them, and in what words both speak.

Pure. Parts are verbatim pieces of the passage. Words that two texts share are real words, in the memo's written form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from vaultbrain.answer.pieces import Piece, bare_line, leans, says_something, sentences
from vaultbrain.index.fold import fold, fold_keeping_offsets
from vaultbrain.index.tokens import cut, is_cjk
from vaultbrain.vault.markdown import columns

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vaultbrain.retrieve.search import Hit

MIN_PARTS, MAX_PARTS = 2, 6
#: Columns of a part that stands alone, and up to which a text has one part only.
_SHORT_COLUMNS, _WHOLE_COLUMNS = 60, 120
MAX_SHARED = 6
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
        "这么 那么 为了 其中 还要 就会 不到 一定 大家 直接 一直 管理 情况 事情 问题 希望 最近 "
        "the and for with that this from have has was were are not but you your they them then than when what which who "
        "how why can could will would should into over about just also only more most some any all one two its our out "
        "very been being there here because too much many three four five first last after before although people think "
        "like even still well really"
    ).split()
)


@dataclass(frozen=True, slots=True)
class Touch:
    """A memo under the part that it is closest to. ``sentence`` is its closest piece; ``shared`` words stand in both."""

    hit: Hit
    sentence: Piece | None
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatchedPart:
    """``text`` is empty for memos that are close to the whole and to no part of it."""

    text: str
    touches: tuple[Touch, ...] = ()


def parts_of(passage: str) -> tuple[str, ...]:
    """At most ``MAX_PARTS`` parts, verbatim and in order: paragraphs, or groups of sentences where there is only one.

    Front matter, headings, code and the marks of lists are left out. Empty for a passage without words.
    """
    bare = _FENCED.sub("\n\n", _FRONT_MATTER.sub("", passage.replace("\r\n", "\n")))
    paragraphs = [text for block in _BLANK_LINE.split(bare) if (text := _paragraph(block))]
    if len(paragraphs) < MIN_PARTS:
        paragraphs = _groups_of_sentences(paragraphs[0]) if paragraphs else []
    return tuple(_few(_joined(paragraphs)))


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


def _joined(paragraphs: Sequence[str]) -> list[str]:
    """A paragraph of a few words goes with the next one, or with the last."""
    joined: list[str] = []
    waiting = ""
    for paragraph in paragraphs:
        waiting = f"{waiting}\n{paragraph}" if waiting else paragraph
        if columns(waiting) >= _SHORT_COLUMNS:
            joined.append(waiting)
            waiting = ""
    if waiting:
        joined = [*joined[:-1], f"{joined[-1]}\n{waiting}"] if joined else [waiting]
    return joined


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
    is_word: Callable[[str], bool],
) -> list[MatchedPart]:
    """Every part in order, those that no memo touches too, and a last one without text for memos that touch none."""
    scores = [{hit.memo_id: hit.score for hit in found} for found in part_hits]
    homes: dict[int, list[Touch]] = {}
    for hit in hits:
        own = pieces.get(hit.memo_id, ())
        number = _closest_part(hit.memo_id, own, parts, scores)
        text = "\n".join(parts) if number < 0 else parts[number]
        homes.setdefault(number, []).append(_touch(hit, own, text, is_word))
    matched = [MatchedPart(part, tuple(homes.get(number, ()))) for number, part in enumerate(parts)]
    return [*matched, MatchedPart("", tuple(homes[-1]))] if -1 in homes else matched


def _closest_part(memo_id: str, own: Sequence[Piece], parts: Sequence[str], scores: Sequence[Mapping[str, float]]) -> int:
    """The part whose search ranked the memo highest, else the one with most of its words; -1 when there is neither."""
    score, _, number = max(((found.get(memo_id, 0.0), -n, n) for n, found in enumerate(scores)), default=(0.0, 0, -1))
    if score > 0:
        return number
    words = set(cut(fold(" ".join(piece.text for piece in own))))
    common, _, number = max(((len(words & set(cut(fold(part)))), -n, n) for n, part in enumerate(parts)), default=(0, 0, -1))
    return number if common > 1 else -1


def _touch(hit: Hit, own: Sequence[Piece], part: str, is_word: Callable[[str], bool]) -> Touch:
    tokens = set(cut(fold(part)))
    ranked = sorted(enumerate(own), key=lambda found: (-_closeness(found[1], hit, tokens), found[0]))
    sentence = ranked[0][1] if ranked else None
    texts = [sentence.text, *(piece.text for piece in own if piece is not sentence)] if sentence else [hit.excerpt]
    shared = dict.fromkeys(word for text in texts for word in shared_words(text, part, is_word))
    return Touch(hit, sentence, tuple(_without_parts(list(shared)))[:MAX_SHARED])


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
