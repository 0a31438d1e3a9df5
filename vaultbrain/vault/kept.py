"""A memo as the person keeps it: its note's text where they wrote something into it.

Pure. What stands in the note is what they look for and what a citation can show, so searches go by it: our region as it stands,
and their own words around it. The memo on the server stays what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from vaultbrain.memo import clean_text, tags_of
from vaultbrain.vault.markdown import neutralise, split_blocks, strip_anchors
from vaultbrain.vault.memo_note import note_tags, standing_anchors
from vaultbrain.vault.note import read_body, read_properties, read_region

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.memo import Memo


@dataclass(frozen=True, slots=True)
class KeptMemo:
    """``memo`` says what the note says. ``anchors`` are (number, block text) of blocks that can be linked to, in order;
    ``unlinked`` are the texts of all others. The texts are what may be quoted: nothing in them runs or links.
    """

    memo: Memo
    anchors: tuple[tuple[int, str], ...]
    unlinked: tuple[str, ...]


def kept_memo(
    memo: Memo, note: str, region: str, anchors: Sequence[tuple[int, str]], properties: Mapping[str, Sequence[str]]
) -> KeptMemo | None:
    """The memo as its note has it; None when the note says nothing but what we wrote.

    ``region``, ``anchors`` and ``properties`` are what we wrote last. A note without our markers is all the person's.
    """
    text = clean_text(note)
    standing, around = read_region(text), read_body(text)
    tags = _own_tags(memo, text, around, properties)
    if standing == region and not around and not tags:
        return None
    if standing == region:
        content, linked, unlinked = memo.content, tuple(anchors), []
    else:
        ours = around if standing is None else standing
        content = strip_anchors(ours, memo.id)
        linked = tuple((number, neutralise(block)) for number, block in standing_anchors(memo.id, ours))
        known = {block for _, block in linked}
        unlinked = [block.text for block in split_blocks(neutralise(content)) if block.text not in known]
    if standing is not None and around:
        content = f"{content.rstrip()}\n\n{around}"
        unlinked += [block.text for block in split_blocks(neutralise(around))]
    return KeptMemo(replace(memo, content=content, tags=(*memo.tags, *tags)), linked, tuple(filter(str.strip, unlinked)))


def _own_tags(memo: Memo, text: str, around: str, properties: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Tags that the person gave the note, in its properties or in their own words."""
    given = read_properties(text).get("tags")
    listed = [str(tag).lstrip("#") for tag in given if tag] if isinstance(given, list) else []
    ours = {tag.casefold() for tag in (*memo.tags, *note_tags(memo.tags), *properties.get("tags", ()))}
    found = {tag.casefold(): tag for tag in (*listed, *tags_of(around))}
    return tuple(tag for folded, tag in found.items() if folded not in ours)
