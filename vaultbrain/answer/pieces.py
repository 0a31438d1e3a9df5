"""A memo's blocks in pieces that can be quoted by themselves: sentences and list items, verbatim.

Pure. Decides where a sentence ends and what is no piece: headings, code, tables, lines of tags, and lines that only announce what
follows. Addresses, code and links are never cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

from vaultbrain.memo import without_tags
from vaultbrain.vault.markdown import split_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OPEN_TASK, DONE_TASK = " ", "x"

#: Columns of a sentence that is too short to stand alone: it takes the next one along. Characters up to which a list item is
#: whole.
_SHORTEST_COLUMNS = 22
_LONGEST_ITEM = 140

ADDRESS = re.compile(r"https?://[^\s，。；！？、（）「」『』《》<>]+")
#: What must not be cut: an address, code, a link.
ATOM = re.compile(rf"{ADDRESS.pattern}|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|!?\[[^\[\]\n]*\]\([^()\s]*\)|\\?\[\\?\[[^\[\]\n]*\]\\?\]")
LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")
_TASK = re.compile(r"\[([ xX])\]\s+")
_QUOTE_MARK = re.compile(r"^\s*(?:>\s?)+(?:\\?\[![\w-]+\]\S*\s*)?")
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_CLOSERS = "”’」』）)\"'"
_SENTENCE_END = re.compile(
    rf"[。！？]+[{_CLOSERS}]*|[!?]+[{_CLOSERS}]*(?=\s|$|[\u3000-\u9fff])|(?<![A-Z])(?<!e\.g)(?<!i\.e)(?<!\bvs)\.[{_CLOSERS}]*(?=\s)"
)
_EDGE_TAGS = re.compile(r"^(?:\s*\\?#[^\s#]+(?=\s|$))+\s*|(?:(?<=[\s\u3000-\u9fff\uff00-\uffef])\\?#[^\s#]+\s*)+$")
_ANNOUNCES = re.compile(r"[:：]\s*$")


@dataclass(frozen=True, slots=True)
class Piece:
    """``text`` stands word for word in the block ``anchor``. ``task`` is the mark in the box of a task, or empty."""

    memo_id: str
    text: str
    anchor: str
    created: int
    task: str = ""


def pieces_of(memo_id: str, blocks: Sequence[tuple[str, str]], created: int) -> tuple[Piece, ...]:
    """``blocks`` are (anchor, text) as they stand in the note; the pieces come in their order."""
    return tuple(
        Piece(memo_id, text, anchor, created, task) for anchor, block in blocks for text, task in _pieces_of_block(block)
    )


def columns(text: str) -> int:
    """How wide text is; a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def masked(text: str) -> str:
    """``text`` with nothing to cut at in its atoms; of the same length."""
    return ATOM.sub(lambda found: "x" * len(found[0]), text)


def sentences(text: str) -> list[str]:
    """A line's sentences, verbatim; one of a few words stays with the next, and so does a question with its answer."""
    spans, start = list[tuple[int, int]](), 0
    for end in [*(found.end() for found in _SENTENCE_END.finditer(masked(text))), len(text)]:
        if end == len(text) or not _wants_more(text[start:end].strip()):
            spans.append((start, end))
            start = end
    if len(spans) > 1 and columns(text[slice(*spans[-1])].strip()) < _SHORTEST_COLUMNS // 2:
        spans[-2:] = [(spans[-2][0], spans[-1][1])]
    return [sentence for span in spans if (sentence := text[slice(*span)].strip())]


def _wants_more(sentence: str) -> bool:
    return columns(sentence) < _SHORTEST_COLUMNS or sentence.endswith(("？", "?"))


def bare_line(line: str) -> tuple[str, str]:
    """A line without the marks of quotes, lists and boxes, and the mark in its box."""
    rest = LIST_MARK.sub("", _QUOTE_MARK.sub("", line))
    box = _TASK.match(rest)
    return (rest[box.end() :].strip(), box[1].lower()) if box else (rest.strip(), "")


def without_edge_tags(text: str) -> str:
    """``text`` without the tags at its ends; those between words stay, so that it is still a part of the block."""
    while (shorter := _EDGE_TAGS.sub("", text).strip()) != text:
        text = shorter
    return text


def says_something(text: str) -> bool:
    """Whether there are words besides tags, and not only the announcement of what follows."""
    return any(map(str.isalnum, without_tags(text))) and not _ANNOUNCES.search(text)


def _pieces_of_block(block: str) -> Iterator[tuple[str, str]]:
    kind = next((part.kind for part in split_blocks(block)), "paragraph")
    if kind not in ("paragraph", "list", "quote"):
        return
    in_code = False
    for line in block.split("\n"):
        if _FENCE.match(bare_line(line)[0]):
            in_code = not in_code
        elif not in_code:
            yield from _pieces_of_line(line)


def _pieces_of_line(line: str) -> Iterator[tuple[str, str]]:
    text, task = bare_line(line)
    text = without_edge_tags(text)
    is_item = bool(LIST_MARK.match(_QUOTE_MARK.sub("", line)))
    for part in [text] if is_item and len(text) <= _LONGEST_ITEM else sentences(text):
        piece = without_edge_tags(part)
        if says_something(piece):
            yield piece, task
