"""A memo's blocks in pieces that can be quoted by themselves: sentences and list items, verbatim.

Pure. Decides where a sentence ends, which sentence needs the one before it, which list item needs the line above the list, and
what is no piece: headings, code, tables, lines of tags, and lines that only announce what follows. Addresses, code and links are
never cut.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.memo import without_tags
from vaultbrain.vault.markdown import columns, split_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The mark in the box of a task that is still to be done.
OPEN_TASK = " "

#: Columns of a sentence that is too short to stand alone: it takes the next one along. Characters up to which a list item is
#: whole.
_SHORTEST_COLUMNS = 22
_LONGEST_ITEM = 140
#: Columns that two sentences may take together, so that a line still shows both.
_LONGEST_JOINED = 150
#: Columns of a list item that is only a name: it says nothing without the line above the list.
_NAME_COLUMNS = 24

ADDRESS = re.compile(r"https?://[^\s，。；！？、（）「」『』《》<>]+")
#: What must not be cut: an address, code, a link.
ATOM = re.compile(rf"{ADDRESS.pattern}|(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|!?\[[^\[\]\n]*\]\([^()\s]*\)|\\?\[\\?\[[^\[\]\n]*\]\\?\]")
LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d{1,9}[.)])\s+")
_TASK = re.compile(r"\[([ xX])\]\s+")
_QUOTE_MARK = re.compile(r"^\s*(?:>\s?)+(?:\\?\[![\w-]+\]\S*\s*)?")
FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_CLOSERS = "”’」』）)\"'"
_SENTENCE_END = re.compile(
    rf"[。！？]+[{_CLOSERS}]*|[!?]+[{_CLOSERS}]*(?=\s|$|[\u3000-\u9fff])|(?<![A-Z])(?<!e\.g)(?<!i\.e)(?<!\bvs)\.[{_CLOSERS}]*(?=\s)"
)
_EDGE_TAGS = re.compile(r"^(?:\s*\\?#[^\s#]+(?=\s|$))+\s*|(?:(?<=[\s\u3000-\u9fff\uff00-\uffef])\\?#[^\s#]+\s*)+$")
_ANNOUNCES = re.compile(r"[:：]\s*$")
HEADING_MARK = re.compile(r"^\s*#{1,6}\s+")
#: A sentence that speaks of the one before it, folded: by its first word, or by a word that points back anywhere in it.
_LEANS = re.compile(
    r"^(?:这(?!里)|那(?!么)|它|他|她|其(?!他|实)|此|该|但|不过|否则|不然|所以|因此|于是|然后|接着|结果|而且|并且|另外|还有|还不|也|就|再|又|却|反而"
    r"|同样|相反|后来|最后(?!期限)|前者|后者|后一个|缺点|优点|好处|坏处|尤其|特别是|比如|例如|因为|原因|[一二三四五六七八九十],|哪天|有时候|[听看读用做写跑弄搞]完|换成)"
    r"|两者|前者|后者|上述|如上|同上|见(?:之前|前面|上面|上一)|,也(?:管用|行|可以|是|算|不)|再说[。!]?$"
    r"|^(?:this|that|these|those|it|its|it's|they|them|their|he|she|but|so|then|also|and|or|otherwise|instead|afterwards|however|still"
    r"|both|neither|such|same|because|why)\b"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """``text`` stands word for word in the block ``anchor``. ``task`` is the mark in the box of a task, or empty.

    ``lead`` is the line above the list that a list item needs to be understood, from the block ``lead_anchor``, or empty.
    """

    memo_id: str
    text: str
    anchor: str
    created: int
    task: str = ""
    lead: str = ""
    lead_anchor: str = ""


def pieces_of(memo_id: str, blocks: Sequence[tuple[str, str]], created: int) -> tuple[Piece, ...]:
    """``blocks`` are (anchor, text) as they stand in the note; the pieces come in their order."""
    found: list[Piece] = []
    lead, name = ("", ""), None  # the line above; the piece that is only a name and waits for what it names
    for anchor, block in blocks:
        for number, line in enumerate(_lines_of_block(block)):
            pieces = [Piece(memo_id, text, anchor, created, task) for text, task in _pieces_of_line(line)]
            if pieces and name:
                pieces[0] = replace(pieces[0], lead=name.text, lead_anchor=name.anchor)
            elif _is_item(line):
                pieces = _with_lead(pieces, *lead)
            if not _is_item(line):
                lead = (_bare_text(line), anchor)
            if pieces:
                is_first = not number and not name and len(pieces) == 1 and not _is_item(line)
                name = pieces[0] if is_first and _is_name(pieces[0].text) else None
            found += pieces if name is None else []
        lead = _lead_behind(block, anchor, lead)
        if name and not lead[0]:
            found, name = [*found, name], None
    return (*found, name) if name else tuple(found)


def _is_name(text: str) -> bool:
    """A line of a few words without a mark at its end, as a title has none."""
    return columns(text) < _NAME_COLUMNS and text[-1].isalnum() and not ADDRESS.search(text)


def _lead_behind(block: str, anchor: str, lead: tuple[str, str]) -> tuple[str, str]:
    """A heading leads what follows it; code, a table or a line between takes the lead away."""
    kind = next((part.kind for part in split_blocks(block)), "paragraph")
    if kind == "heading":
        return _bare_text(HEADING_MARK.sub("", block.strip())), anchor
    return lead if kind in ("paragraph", "list", "quote") else ("", "")


def _with_lead(pieces: Sequence[Piece], lead: str, anchor: str) -> list[Piece]:
    """The first piece of a list item with the line above the list, where that announces it or the item is only a name."""
    if not pieces or not any(map(str.isalnum, lead)) or pieces[0].task:
        return list(pieces)
    needs_it = _ANNOUNCES.search(lead) or columns(pieces[0].text) < _NAME_COLUMNS
    return [replace(pieces[0], lead=lead, lead_anchor=anchor), *pieces[1:]] if needs_it else list(pieces)


def leans(text: str) -> bool:
    """Whether a sentence speaks of one that is not there."""
    return bool(_LEANS.search(fold(text.lstrip('*_~=“"「『（('))))


def masked(text: str) -> str:
    """``text`` with nothing to cut at in its atoms; of the same length."""
    return ATOM.sub(lambda found: "x" * len(found[0]), text)


def sentences(text: str) -> list[str]:
    """A line's sentences, verbatim: one of a few words with the next, a question with its answer, "this" with what it means.

    A sentence that leans on a long one stays alone.
    """
    spans, start = list[tuple[int, int]](), 0
    for end in [*(found.end() for found in _SENTENCE_END.finditer(masked(text))), len(text)]:
        if end == len(text) or not _wants_more(text[start:end].strip()):
            if spans and leans(text[start:end].strip()) and columns(text[spans[-1][0] : end].strip()) <= _LONGEST_JOINED:
                start = spans.pop()[0]
            spans.append((start, end))
            start = end
    if len(spans) > 1 and _is_tail(text[slice(*spans[-1])].strip(), text[slice(*spans[-2])].strip()):
        spans[-2:] = [(spans[-2][0], spans[-1][1])]
    return [sentence for span in spans if (sentence := text[slice(*span)].strip())]


def _is_tail(last: str, before: str) -> bool:
    room = _LONGEST_JOINED - columns(before)
    return columns(last) < (_SHORTEST_COLUMNS if columns(last) <= room else _SHORTEST_COLUMNS // 2)


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


def _lines_of_block(block: str) -> Iterator[str]:
    """The lines of a paragraph, list or quote, without code within."""
    kind = next((part.kind for part in split_blocks(block)), "paragraph")
    if kind not in ("paragraph", "list", "quote"):
        return
    in_code = False
    for line in block.split("\n"):
        if FENCE.match(bare_line(line)[0]):
            in_code = not in_code
        elif not in_code and line.strip():
            yield line


def _is_item(line: str) -> bool:
    return bool(LIST_MARK.match(_QUOTE_MARK.sub("", line)))


def _bare_text(line: str) -> str:
    return without_edge_tags(bare_line(line)[0])


def _pieces_of_line(line: str) -> Iterator[tuple[str, str]]:
    text, task = bare_line(line)
    text = without_edge_tags(text)
    for part in [text] if _is_item(line) and len(text) <= _LONGEST_ITEM else sentences(text):
        piece = without_edge_tags(part)
        if says_something(piece):
            yield piece, task
