"""Which block of a memo answers, and which of its words to show. What is shown stands word for word in that block.

Pure. Works on the blocks as they stand in the note, so that an excerpt can be found there again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut
from vaultbrain.memo import without_tags
from vaultbrain.vault.markdown import anchor_id, neutralise, split_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Characters shown of one source, and lines of a list or of code.
MAX_CHARS = 220
MAX_LINES = 4

#: What a block's likeness to the nearest chunk counts against the words of the query standing in it.
_NEAREST_WEIGHT = 1.2

#: What each address (also when addresses are wanted) and being more than a heading add to a block; and what is left of the worth
#: of a heading or a line of tags.
_ADDRESS_WORTH, _WANTED_ADDRESS_WORTH, _CONTENT_WORTH, _BARE_WORTH = 0.1, 1.0, 0.6, 0.1

_MAX_ADDRESSES = 4

_LINE_IS_BARE = re.compile(r"^[\s>|:\-=`~*_#+$]*$")
_SENTENCE = re.compile(r".+?(?:[。！？!?；;]+[”’」』）)]*|\.(?=\s)|$)", re.DOTALL)
_ADDRESS = re.compile(r"https?://")
#: Only tags, or a heading.
_NAMES_ONLY = re.compile(r"\s*(?:(?:#\S+\s*)+|#{1,6}\s[^\n]*|[^\n]*\n(?:=+|-+)\s*)$")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``text`` may have several lines, each verbatim in the block; ``anchor`` is the block's id without ``^``, or empty."""

    text: str
    anchor: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an excerpt should show: folded ``terms``, the ``nearest`` chunk's text, and rather addresses than thoughts."""

    terms: Sequence[str]
    nearest: str = ""
    addresses: bool = False


def best_excerpt(memo_id: str, anchors: Sequence[tuple[int, str]], content: str, wanted: Wanted) -> Excerpt:
    """``anchors`` are (number, block text); without any, ``content`` serves and nothing is linked."""
    blocks = [(anchor_id(memo_id, number), text) for number, text in anchors] or [("", neutralise(content))]
    tokens = set(cut(" ".join(wanted.terms)))
    near = set(cut(fold(wanted.nearest)))
    address_worth = _WANTED_ADDRESS_WORTH if wanted.addresses else _ADDRESS_WORTH
    anchor, text = max(blocks, key=lambda block: _worth(block[1], tokens, near, address_worth))
    return Excerpt(cut_excerpt(text, tokens or near), anchor)


def _worth(text: str, tokens: set[str], near: set[str], address_worth: float) -> float:
    """How well a block answers. A heading or a line of tags names the subject, but says nothing of it."""
    words = set(cut(fold(text)))
    if not words:
        return -1.0
    likeness = len(words & near) / len(words | near) if near else 0.0
    addresses = min(len(_ADDRESS.findall(text)), _MAX_ADDRESSES)
    worth = len(words & tokens) + _NEAREST_WEIGHT * likeness + address_worth * addresses
    return worth * _BARE_WORTH if _NAMES_ONLY.match(text) else worth + _CONTENT_WORTH


def cut_excerpt(text: str, tokens: set[str]) -> str:
    """At most ``MAX_LINES`` lines and about ``MAX_CHARS`` characters of the block, those with the tokens first, in order.

    Code keeps its fence and a table its head, so that both look in an answer as they do in the memo.
    """
    lines = text.split("\n")
    kind = next((block.kind for block in split_blocks(text)), "paragraph")
    if kind == "fence" and len(lines) > 1:
        inner = [line for line in lines[1:-1] if line.strip()]
        return "\n".join([lines[0], *_chosen(inner, tokens), lines[-1]]) if inner else ""
    if kind == "table":
        return "\n".join([*lines[:2], *_chosen(lines[2:], tokens)])
    if kind == "math":
        return text
    lines = [line.rstrip() for line in lines if not _LINE_IS_BARE.match(line)]
    return neutralise(_within_room(_chosen(lines, tokens), tokens))


def _within_room(lines: Sequence[str], tokens: set[str]) -> str:
    shown: list[str] = []
    room = MAX_CHARS
    for line in lines:
        if room <= 0:
            break
        shown.append(_cut_line(line, tokens, room))
        room -= len(shown[-1])
    return "\n".join(shown)


def _chosen(lines: Sequence[str], tokens: set[str]) -> list[str]:
    """The lines to show, in their order: those with tokens, then what follows the first of them, then what stands before.

    A line of tags is shown only when there is nothing else.
    """
    lines = [line for line in lines if without_tags(line).strip()] or list(lines)
    with_tokens = [n for n, line in enumerate(lines) if tokens & set(cut(fold(without_tags(line))))]
    first = with_tokens[0] if with_tokens else 0
    by_worth = dict.fromkeys([*with_tokens, *range(first, len(lines)), *range(first - 1, -1, -1)])
    return [lines[n] for n in sorted(list(by_worth)[:MAX_LINES])]


def _cut_line(line: str, tokens: set[str], room: int) -> str:
    """The line, or its sentences from the first one with a token on, as many as have room; ``…`` where a sentence is cut."""
    if len(line) <= room:
        return line
    sentences = [match.group() for match in _SENTENCE.finditer(line) if match.group().strip()]
    start = next((n for n, sentence in enumerate(sentences) if tokens & set(cut(fold(sentence)))), 0)
    piece = sentences[start].strip()
    for sentence in sentences[start + 1 :]:
        if len(piece) + len(sentence) > room:
            break
        piece += sentence
    return piece if len(piece) <= room else piece[: max(room, 20)].rstrip() + "…"
