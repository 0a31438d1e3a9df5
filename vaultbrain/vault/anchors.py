"""Block anchors: their names, where they stand in a memo's text, and how their numbers live through edits.

Pure. An anchor is ``^m<memo id>-<number>``. It ends the last line of a paragraph or heading; below everything else it stands
on a line of its own between blank lines (https://obsidian.md/help/links, "Link to a block in a note"). Memo text has no block
ids of its own left, because ``neutralise`` has escaped them. All texts here are neutralised, or are such a text as a person
has edited it since.
"""

from __future__ import annotations

import re
from collections import defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from vaultbrain.vault.neutralise import is_blank, read_outline, split_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vaultbrain.vault.neutralise import Block

#: Two texts are one edited block from this ``difflib`` ratio on: half of all characters are shared.
SIMILAR_RATIO = 0.5
#: Characters of a block that are compared; the ratio costs the square of it.
_COMPARED_CHARS = 400
#: Comparisons for one edited range, about a tenth of a millisecond to a millisecond each; larger ranges pair by position only.
_MAX_COMPARISONS = 2_500

_ORDINARY_ID_CHAR = re.compile(r"[a-z0-9]")
_ANY_OF_OURS = r"m(?:[a-z0-9]|-[0-9a-f]+-)*-[0-9]+"


def anchor_id(memo_id: str, number: int) -> str:
    """``m<memo_id>-<number>``, without ``^``. Two memos never share one, even where case is ignored.

    Obsidian allows Latin letters, digits and dashes and ignores case, so every other character and every capital becomes
    ``-<hexadecimal code point>-``.
    """
    return f"{_prefix(memo_id)}{number}"


def _prefix(memo_id: str) -> str:
    return "m" + "".join(c if _ORDINARY_ID_CHAR.match(c) else f"-{ord(c):x}-" for c in memo_id) + "-"


def anchorable(blocks: Iterable[Block]) -> list[Block]:
    """The blocks that carry an anchor: all but rules and paragraphs of blanks, where there is nothing to cite."""
    return [block for block in blocks if _is_citable(block)]


def _is_citable(block: Block) -> bool:
    return block.kind != "rule" and not block.text.isspace()


# An ATX heading that is empty or closed by number signs would show an id as part of its text.
_CLOSED_HEADING = re.compile(r" {0,3}#{1,6}(?:\s*+$|.*[ \t]#++[ \t]*+$)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*$")
# Followed by an id these would become a list item or a link reference definition, or the id would be lost behind them.
_REFUSES_ID_BEHIND = ("$$", "%%", "]:")
_REFUSES_ID = re.compile(r"\s*(?:[-+*]|\d{1,9}[.)])?")


def _carrier(block: Block, lines: Sequence[str]) -> int | None:
    """The line whose end carries the block's anchor, or None if the anchor needs a line of its own."""
    last = block.end - 1
    if block.kind == "heading" and block.end - block.start > 1 and _UNDERLINE.match(lines[last]):
        last -= 1
    elif (block.kind == "heading" and _CLOSED_HEADING.match(lines[last])) or block.kind not in ("paragraph", "heading"):
        return None
    line = lines[last].rstrip(" \t")
    return None if line.endswith(_REFUSES_ID_BEHIND) or _REFUSES_ID.fullmatch(line) else last


def anchor_text(text: str, memo_id: str, numbers: Sequence[int]) -> str:
    """Neutralised ``text``, normalised, with ``^m<memo_id>-<n>`` on each anchorable block; ``numbers`` are theirs, in order.

    Raises ``ValueError`` when there are not as many numbers as anchorable blocks.
    """
    blocks = split_blocks(text)
    marks = [f"^{anchor_id(memo_id, number)}" for number in numbers]
    return _lay_out(text, blocks, marks)


def normalise(text: str) -> str:
    """``text`` as ``strip_anchors`` gives it back: blanks gone at line ends that an anchor would follow, a blank line below each
    block whose anchor needs a line of its own, unless nothing follows. Shows the same. Idempotent.
    """
    return _lay_out(text, split_blocks(text), None)


def _lay_out(text: str, blocks: Sequence[Block], marks: Sequence[str] | None) -> str:
    carriers = anchorable(blocks)
    lines = text.split("\n")
    laid: list[str] = []
    done = 0
    for block, mark in zip(carriers, [None] * len(carriers) if marks is None else marks, strict=True):
        carrier = _carrier(block, lines)
        laid += lines[done : block.end]
        done = block.end
        if carrier is not None:
            at = carrier - block.end
            laid[at] = laid[at].rstrip(" \t") + (f" {mark}" if mark else "")
            continue
        laid += ["", mark] if mark else []
        laid += [""] if done < len(lines) and not is_blank(lines[done]) else []
    return "\n".join(laid + lines[done:])


class _Found(NamedTuple):
    """An anchor at the end of a line: the line without it, and its id without ``^``."""

    rest: str
    anchor: str


def _find_anchor(line: str, pattern: re.Pattern[str]) -> _Found | None:
    found = pattern.search(line)
    return _Found(line[: found.start()].rstrip(" \t"), found[1]) if found else None


def _at_line_end(ids: str) -> re.Pattern[str]:
    return re.compile(rf"(?:^|(?<=[ \t]))\^({ids})[ \t]*$")


_OURS_AT_LINE_END = _at_line_end(_ANY_OF_OURS)


def strip_anchors(region_text: str, memo_id: str) -> str:
    """``region_text`` without this memo's anchors and the blank lines above those on lines of their own.

    ``strip_anchors(anchor_text(t, memo_id, …), memo_id) == normalise(t)`` for every neutralised ``t``.
    """
    outline = read_outline(region_text)
    pattern = _at_line_end(re.escape(_prefix(memo_id)) + "[0-9]+")
    kept: list[str] = []
    for number, line in enumerate(outline.lines):
        found = None if number in outline.code_lines else _find_anchor(line, pattern)
        if found is None:
            kept.append(line)
        elif found.rest:
            kept.append(found.rest)
        elif kept and is_blank(kept[-1]):
            kept.pop()
    return "\n".join(kept)


def read_anchors(region_text: str) -> list[tuple[str, str]]:
    """``(anchor id without ^, text of its block without anchors)`` of every block that carries an anchor of ours, in order.

    An anchor on a line of its own belongs to the block above it, if that has none. Of several in one block the last counts.
    """
    outline = read_outline(region_text)
    read: list[tuple[str, str]] = []
    waiting = ""  # text of the block above, while it has no anchor
    for block in outline.blocks:
        anchor, text = _read_block(block, outline.code_lines)
        if anchor and (text or waiting):
            read.append((anchor, text or waiting))
        waiting = text if not anchor and _is_citable(block) else ""
    return read


def _read_block(block: Block, code_lines: set[int]) -> tuple[str, str]:
    """The block's last anchor, or an empty text, and its lines without any."""
    anchor, lines = "", []
    for number, line in enumerate(block.text.split("\n"), start=block.start):
        found = None if number in code_lines else _find_anchor(line, _OURS_AT_LINE_END)
        if found:
            anchor = found.anchor
        if not found or found.rest:
            lines.append(found.rest if found else line)
    return anchor, "\n".join(lines)


def align_numbers(old: Sequence[tuple[int, str]], new: Sequence[str], next_number: int) -> tuple[list[int], int]:
    """The number of each ``new`` block, and the next free number.

    Equal blocks keep theirs, also where they moved. In a rewritten range the most similar blocks are taken for each other, then,
    if as many are left on both sides, those in the same place. The rest get fresh numbers from ``next_number`` (or above all old
    ones) upwards. A number is never given twice, nor again after its block is gone.
    """
    texts = [text for _, text in old]
    partner, ranges = _match_equal(texts, new)
    _match_moved(texts, new, partner)
    for old_range, new_range in ranges:
        _match_rewritten(texts, new, partner, old_range, new_range)
    fresh = max([next_number, *(number + 1 for number, _ in old)])
    numbers: list[int] = []
    for index in range(len(new)):
        if index in partner:
            numbers.append(old[partner[index]][0])
        else:
            numbers.append(fresh)
            fresh += 1
    return numbers, fresh


def _match_equal(old: Sequence[str], new: Sequence[str]) -> tuple[dict[int, int], list[tuple[range, range]]]:
    """New index → old index of blocks that are equal and in order; and the ranges (old, new) that replaced each other."""
    # Most edits touch one block: what is equal at both ends needs no matcher, which is slow on many equal blocks.
    shorter = min(len(old), len(new))
    head = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    tail = next((i for i in range(shorter - head) if old[-1 - i] != new[-1 - i]), shorter - head)
    partner = {i: i for i in range(head)} | {len(new) - 1 - i: len(old) - 1 - i for i in range(tail)}
    matcher = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail], autojunk=False)
    ranges = []
    for operation, *bounds in matcher.get_opcodes():
        old_start, old_end, new_start, new_end = (bound + head for bound in bounds)
        if operation == "equal":
            partner |= zip(range(new_start, new_end), range(old_start, old_end), strict=True)
        elif operation == "replace":
            ranges.append((range(old_start, old_end), range(new_start, new_end)))
    return partner, ranges


def _match_moved(old: Sequence[str], new: Sequence[str], partner: dict[int, int]) -> None:
    taken = set(partner.values())
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index in reversed(range(len(old))):
        if index not in taken:
            places[old[index]].append(index)
    for index, text in enumerate(new):
        if index not in partner and places[text]:
            partner[index] = places[text].pop()


def _match_rewritten(old: Sequence[str], new: Sequence[str], partner: dict[int, int], old_range: range, new_range: range) -> None:
    taken = set(partner.values())
    old_left = [i for i in old_range if i not in taken]
    new_left = [j for j in new_range if j not in partner]
    for i, j in _similar_pairs(old, new, old_left, new_left):
        if i in old_left and j in new_left:
            partner[j] = i
            old_left.remove(i)
            new_left.remove(j)
    if len(old_left) == len(new_left):
        partner |= zip(new_left, old_left, strict=True)


def _similar_pairs(old: Sequence[str], new: Sequence[str], old_left: list[int], new_left: list[int]) -> list[tuple[int, int]]:
    """Pairs from ``SIMILAR_RATIO`` upwards, the most similar first; the nearer in place of equals."""
    if len(old_left) * len(new_left) > _MAX_COMPARISONS:
        return []
    scored = []
    for row, i in enumerate(old_left):
        for column, j in enumerate(new_left):
            ratio = _ratio(old[i], new[j])
            if ratio >= SIMILAR_RATIO:
                scored.append((-ratio, abs(row - column), i, j))
    return [(i, j) for *_, i, j in sorted(scored)]


def _ratio(old: str, new: str) -> float:
    """``difflib``'s ratio of the beginnings, or 0 as soon as it cannot reach ``SIMILAR_RATIO``."""
    matcher = SequenceMatcher(None, old[:_COMPARED_CHARS], new[:_COMPARED_CHARS], autojunk=False)
    if matcher.real_quick_ratio() < SIMILAR_RATIO or matcher.quick_ratio() < SIMILAR_RATIO:
        return 0.0
    return matcher.ratio()
