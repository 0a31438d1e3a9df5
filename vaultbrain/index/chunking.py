"""Chunker ``paragraph-v2``: where a memo is cut for finding. (For citing, see the block anchors in ``vault``.)

Pure. A chunk is a paragraph, that is, what stands between blank lines. A paragraph longer than ``chunk_size`` is cut by a window
with overlap, at the end of a sentence or line where one is near; a code fence or a table is never cut inside. Lengths are
counted in Chinese characters, and ``LETTERS_PER_CHARACTER`` other ones count as one of them, so that a chunk says about as much
in either language.
Data URIs are taken out first. Text without a letter or digit makes no chunk. A chunk's id holds its ordinal in the memo, not
its position, and equal texts keep their vector, so an added paragraph embeds only itself.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

from vaultbrain.index.centring import LETTERS_PER_CHARACTER
from vaultbrain.index.fold import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

CHUNKER_VERSION = "paragraph-v2"

#: What a model is given of one chunk at most, in characters. Only a code fence or a table can be longer; e5 averages windows
#: of longer text in linear time (0.12-0.15 s per 100 characters), which blurs the vector and lets one memo stop a sync.
MAX_EMBEDDED_CHARS = 2_000

#: A window may end early, at a sentence or line end in its last third, so that chunks are readable.
_EARLIEST_CUT = 2 / 3

_DATA_URI = re.compile(r"data:[\w.+-]+/[\w.+-]+(?:;[\w=.+-]+)*,[A-Za-z0-9+/=%_-]*")
_BASE64_RUN = re.compile(r"[A-Za-z0-9+/]{200,}={0,2}")
_FENCE_OPEN = re.compile(r" {0,3}(`{3,}|~{3,})")
_TABLE_ROW = re.compile(r"\s*\|.*\|?\s*$")
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.(?=\s)")
_WEAK_END = re.compile(r"[，、,\s]")
_WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff]")

#: Sums of 1 / LETTERS_PER_CHARACTER are not exact.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Chunk:
    """``text`` is the ``index``-th chunk of its memo, as typed, data URIs taken out."""

    id: str
    index: int
    text: str


@dataclass(frozen=True, slots=True)
class ChunkProfile:
    """What chunks depend on. ``size`` and ``overlap`` are Chinese characters, or as much of another script (``length_of``)."""

    size: int
    overlap: int
    version: str = CHUNKER_VERSION


def split_chunks(memo_id: str, content: str, profile: ChunkProfile) -> list[Chunk]:
    """The chunks of a memo's text, in order; none for a memo without a letter or digit."""
    prose = _BASE64_RUN.sub("", _DATA_URI.sub("", content))
    texts = [piece.strip("\n").rstrip() for paragraph in _paragraphs(prose) for piece in _pieces(paragraph, profile)]
    worded = [text for text in texts if any(map(str.isalnum, text))]
    return [Chunk(f"{memo_id}:chunk:{index}", index, text) for index, text in enumerate(worded)]


def embedded_text(chunk_text: str) -> str:
    """What the model is given for a chunk: folded, so that both scripts meet, and not endless."""
    return fold(chunk_text)[:MAX_EMBEDDED_CHARS]


def text_hash(embedded_text: str) -> str:
    """The key of a vector together with the embedding fingerprint: 128 bits over what the model is given."""
    return hashlib.blake2b(embedded_text.encode("utf-8", "replace"), digest_size=16).hexdigest()


def _paragraphs(content: str) -> Iterator[list[str]]:
    """Runs of lines between blank lines; a code fence keeps its own blank lines."""
    run: list[str] = []
    fence = ""
    for line in content.split("\n"):
        fence = _fence_after(line, fence)
        if line.strip() or fence:
            run.append(line)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open after ``line``, given the one open before it; empty when none is."""
    mark = _FENCE_OPEN.match(line)
    if not mark:
        return fence
    if not fence:
        return mark.group(1)
    closes = mark.group(1)[0] == fence[0] and len(mark.group(1)) >= len(fence) and not line.strip().strip(fence[0])
    return "" if closes else fence


def _pieces(lines: list[str], profile: ChunkProfile) -> Iterator[str]:
    text = "\n".join(lines)
    if length_of(text) <= profile.size:
        yield text
        return
    for run, is_whole in _runs(lines):
        text = "\n".join(run)
        if is_whole:
            yield text
        else:
            yield from _windows(text, profile)


def _runs(lines: list[str]) -> Iterator[tuple[list[str], bool]]:
    """The paragraph as runs of lines, each with whether it must stay whole (a code fence, a table)."""
    run: list[str] = []
    run_kind, fence = "", ""
    for line in lines:
        was_open, fence = fence, _fence_after(line, fence)
        kind = "fence" if was_open or fence else "table" if _TABLE_ROW.match(line) else "prose"
        if run and (kind != run_kind or (kind == "fence" and not was_open)):
            yield run, run_kind != "prose"
            run = []
        run.append(line)
        run_kind = kind
    if run:
        yield run, run_kind != "prose"


def length_of(text: str) -> float:
    """How long the text is, in Chinese characters: anything else counts ``1 / LETTERS_PER_CHARACTER``."""
    wide = len(_WIDE.findall(text))
    return wide + (len(text) - wide) / LETTERS_PER_CHARACTER


def _windows(text: str, profile: ChunkProfile) -> Iterator[str]:
    reach = [0.0, *accumulate(1.0 if _WIDE.match(character) else 1 / LETTERS_PER_CHARACTER for character in text)]
    start = 0
    while reach[-1] - reach[start] > profile.size:
        full = bisect_right(reach, reach[start] + profile.size + _ROUNDING) - 1
        earliest = bisect_right(reach, reach[start] + profile.size * _EARLIEST_CUT) - 1
        end = _cut(text, start, earliest, max(full, start + 1))
        yield text[start:end]
        start = _resume(text, end, bisect_left(reach, reach[end] - profile.overlap - _ROUNDING))
    yield text[start:]


def _cut(text: str, start: int, earliest: int, full: int) -> int:
    """Where the window that begins at ``start`` ends: after a sentence, else after a clause or word, else at ``full``."""
    for ends in (_SENTENCE_END, _WEAK_END):
        found = [match.end() for match in ends.finditer(text, max(earliest, start), full)]
        if found:
            return found[-1]
    return full


def _resume(text: str, end: int, start: int) -> int:
    """Where the next window begins: at ``start``, moved forward to a clause or word end so that no word is cut."""
    found = next((match.end() for match in _WEAK_END.finditer(text, start, end)), None)
    return found if found is not None and found < end else start
