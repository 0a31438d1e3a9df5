"""How a memo looks as a note: its properties, its text with block anchors, its files.

Pure but for the template it is given. Refuses to write anything that the memo's author could use to run code, make links or
break out of our region: see ``vault.markdown``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from vaultbrain.vault.markdown import (
    align_numbers,
    anchor_id,
    anchor_text,
    anchorable,
    escape_display,
    neutralise,
    read_anchors,
    split_blocks,
)
from vaultbrain.vault.note import Date, Value

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from vaultbrain.memo import Memo
    from vaultbrain.vault.templates import Templates

TEMPLATE = "memo.md.j2"

#: Part of a note's ``look``: notes are written anew when our rules change. Count up with every change that shows.
RULES_VERSION = 2

#: Obsidian refuses these inside a tag, and a tag of digits only.
_NOT_IN_TAGS = re.compile(r"[^\w/\-\u3000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class MemoGist:
    """What the properties tell of a memo besides its facts; what is empty or 0 is not told.

    ``summary``: a sentence of the memo. ``source``: a link. ``worth``: 0..100; ``gives`` why, as words of their own.
    """

    summary: str = ""
    source: str = ""
    worth: int = 0
    gives: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RenderedMemo:
    """``anchors`` are (number, block text) of the blocks that carry one, in order; ``next_anchor`` is the next unused number."""

    properties: dict[str, Value]
    region: str
    anchors: tuple[tuple[int, str], ...]
    next_anchor: int


def look_of(templates: Templates, gist_rules: int) -> str:
    """Names everything besides the memo that a note's text depends on. ``gist_rules``: the version of those for gists."""
    return f"{RULES_VERSION}.{gist_rules}/{templates.digest(TEMPLATE)}"


def render_memo(  # noqa: PLR0917
    memo: Memo,
    gist: MemoGist,
    templates: Templates,
    zone: tzinfo | None,
    old_anchors: Sequence[tuple[int, str]] = (),
    next_anchor: int = 1,
) -> RenderedMemo:
    """The memo as a note; blocks that were there before keep their anchors. ``zone`` None is the machine's."""
    text = neutralise(memo.content.strip("\n"))
    blocks = [block.text for block in anchorable(split_blocks(text))]
    numbers, next_anchor = align_numbers(old_anchors, blocks, next_anchor)
    files = [
        {"label": escape_display(f.filename) or f.id, "url": f.url.replace(" ", "%20"), "id": f.id} for f in memo.attachments
    ]
    region = templates.render(TEMPLATE, {"text": anchor_text(text, memo.id, numbers), "files": files})
    return RenderedMemo(memo_properties(memo, gist, zone), region, tuple(zip(numbers, blocks, strict=True)), next_anchor)


def standing_anchors(memo_id: str, region: str) -> tuple[tuple[int, str], ...]:
    """(number, block text) of the anchors of this memo that stand in a region, in order."""
    prefix = anchor_id(memo_id, 0).removesuffix("0")
    return tuple(
        (int(number), text)
        for anchor, text in read_anchors(region)
        if (number := anchor.removeprefix(prefix)).isdecimal() and anchor.startswith(prefix)
    )


def memo_properties(memo: Memo, gist: MemoGist, zone: tzinfo | None) -> dict[str, Value]:
    """In the order in which they are written; what is empty is left out."""
    properties: dict[str, Value] = {
        "vb_kind": "memo",
        "vb_id": memo.id,
        "vb_created": local_date(memo.created, zone),
        "vb_updated": local_date(memo.updated, zone),
        "vb_url": memo.url,
        "vb_visibility": memo.visibility,
        "vb_state": memo.state,
        "vb_creator": memo.creator,
        "vb_pinned": memo.pinned,
        "vb_summary": _pulled_apart(gist.summary),
        "vb_source": gist.source,
        "vb_worth": gist.worth,
        "vb_gives": list(gist.gives),
        "aliases": [_not_a_link(memo.title)] if memo.title else [],
        "tags": note_tags(memo.tags),
    }
    return {key: value for key, value in properties.items() if value not in ("", 0, False)}


def _not_a_link(title: str) -> str:
    """A property that is wholly ``[[...]]`` counts as a link; a title may not make one."""
    return title[2:-2].strip() if title.startswith("[[") and title.endswith("]]") else title


def _pulled_apart(text: str) -> str:
    """Double brackets and Templater's marks in a memo's text pulled apart: in a property no backslash disarms them."""
    for mark in ("[[", "]]", "<%", "%>"):
        text = text.replace(mark, f"{mark[0]} {mark[1]}")
    return text


def note_tags(tags: Sequence[str]) -> list[str]:
    """The tags that Obsidian accepts as tags, each once."""
    found: dict[str, str] = {}
    for tag in tags:
        safe = _NOT_IN_TAGS.sub("", tag).strip("/")
        if safe and not safe.isdigit():
            found.setdefault(safe.casefold(), safe)
    return list(found.values())


def local_date(seconds: int, zone: tzinfo | None) -> Date:
    """Unix seconds as local time without offset, as Obsidian's property editor has it; far-off years are kept within range."""
    bounded = min(max(seconds, 0), 253_402_214_400)  # 1970-01-01 .. 9999-12-31, what a date property can hold
    return Date(datetime.fromtimestamp(bounded, zone).strftime("%Y-%m-%dT%H:%M:%S"))
