"""How an answer ages: why it is stale, what a new answer changed, and where its links lead when a block or memo is gone.

Pure. An answer is stale when a memo that it rests on changed or went, or when a memo would now be among its sources that was not
near then. Everything is worked out from what was recorded, so a memo that changes back makes its answers fresh again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from vaultbrain.answer.citing import link
from vaultbrain.answer.wording import Words
from vaultbrain.vault.markdown import wikilink

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vaultbrain.index.answers import AnswerRow, CitedMemo

#: Links named in one reason or line; more are counted.
MAX_NAMED = 5


@dataclass(frozen=True, slots=True)
class Staleness:
    """Why an answer is no longer right; all empty when it is. Memo ids, in the order of the answer's sources."""

    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    come: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changed or self.gone or self.come)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memo's note is now (empty: it has none), and the anchors that stand in it; None: it cannot be read just now."""

    note: str
    anchors: frozenset[str] | None

    def has(self, anchor: str) -> bool:
        return self.anchors is None or anchor in self.anchors


def staleness(row: AnswerRow, versions: Mapping[str, str], now_sources: Sequence[str]) -> Staleness:
    """``versions``: memo id → content hash now; ``now_sources`` are what would be cited now (those that are not known: none)."""
    cited = {memo.memo_id for memo in row.cited}
    return Staleness(
        tuple(m.memo_id for m in row.cited if versions.get(m.memo_id, m.version) != m.version),
        tuple(m.memo_id for m in row.cited if m.memo_id not in versions),
        tuple(memo_id for memo_id in now_sources if memo_id not in row.seen and memo_id not in cited),
    )


def in_words(stale: Staleness, language: str) -> str:
    """One line for the note's property ``vb_stale``; plain ids, since links do not live there."""
    words = Words(language)
    reasons = [
        words(f"stale_{name}", ids=_named([f"#{memo_id}" for memo_id in ids], words))
        for name, ids in (("changed", stale.changed), ("gone", stale.gone), ("come", stale.come))
        if ids
    ]
    return words("clause_join").join(reasons)


def what_changed(before: AnswerRow, after: AnswerRow) -> tuple[str, ...]:
    """Lines for the callout: sources that came, went, changed their text or their weight, with links; empty when nothing did."""
    words = Words(after.language)
    old, new = ({memo.memo_id: memo for memo in row.cited if memo.label} for row in (before, after))
    kept = [(old[memo_id], memo) for memo_id, memo in new.items() if memo_id in old]
    lines = [
        _line("now_cited", [memo for memo_id, memo in new.items() if memo_id not in old], words),
        _line("now_changed", [memo for was, memo in kept if was.version and was.version != memo.version], words),
        _line("no_longer_cited", [memo for memo_id, memo in old.items() if memo_id not in new], words, linked=False),
        _line("now_weighs", [memo for was, memo in kept if was.label != memo.label], words, labelled=True),
    ]
    return tuple(line for line in lines if line)


def _line(name: str, memos: Sequence[CitedMemo], words: Words, *, linked: bool = True, labelled: bool = False) -> str:
    if not memos:
        return ""
    shown = [link_to_cited(memo) if linked else link(memo.memo_id, "") for memo in memos]
    if labelled:
        shown = [
            words("weighs", link=linked_memo, label=words(memo.label)) for linked_memo, memo in zip(shown, memos, strict=True)
        ]
    return words(name, links=_named(shown, words))


def _named(items: Sequence[str], words: Words) -> str:
    named = words("list_join").join(items[:MAX_NAMED])
    return words("and_more", named=named, count=len(items) - MAX_NAMED) if len(items) > MAX_NAMED else named


def link_to_cited(memo: CitedMemo) -> str:
    """``[[path#^anchor|#id]]``, or ``#id`` for a memo without a note."""
    return link(memo.memo_id, memo.note, memo.anchor)


def mended_text(text: str, row: AnswerRow, places: Mapping[str, Place]) -> str:
    """``text`` with each link to a cited memo leading somewhere again.

    A link to a block that is gone leads to the memo and is marked, one to a note that has moved follows it, and one to a memo
    that is gone becomes plain text. A link that the person wrote in another form is not recognised.
    """
    words = Words(row.language)
    cited = {memo.note: memo for memo in (*row.named, *row.cited) if memo.note}
    if not cited:
        return text
    # In one go: a note may have taken the name that another one had.
    return _links_to(cited).sub(partial(_mended, cited=cited, places=places, words=words), text)


def mended_citations(memos: Sequence[CitedMemo], places: Mapping[str, Place]) -> tuple[CitedMemo, ...]:
    """``memos`` with the places where they are now.

    One whose link was lost has no version any more: its answer says so in its text, and is not fresh before it is written anew.
    """
    found = []
    for memo in memos:
        place = places.get(memo.memo_id, _NOWHERE)
        anchor = memo.anchor if place.note and place.has(memo.anchor) else ""
        is_lost = (memo.note and not place.note) or anchor != memo.anchor
        found.append(replace(memo, note=place.note, anchor=anchor, version="" if is_lost else memo.version))
    return tuple(found)


_NOWHERE = Place("", frozenset())


def _links_to(notes: Iterable[str]) -> re.Pattern[str]:
    """Links of ours to the notes, in the two forms of ``wikilink``: groups path, anchor and shown, of one form or the other."""
    paths = "|".join(re.escape(note.removesuffix(".md")) for note in notes)
    plain = rf"\[\[(?P<path>{paths})(?:#\^(?P<anchor>[\w-]+))?\|(?P<shown>[^\[\]]*)\]\]"
    quoted = "|".join(re.escape(quote(note, safe="/")) for note in notes)
    encoded = rf"\[(?P<shown_2>[^\[\]]*)\]\((?P<path_2>{quoted})(?:#\^(?P<anchor_2>[\w-]+))?\)"
    return re.compile(f"{plain}|{encoded}")


def _mended(match: re.Match[str], *, cited: Mapping[str, CitedMemo], places: Mapping[str, Place], words: Words) -> str:
    memo = cited[f"{match['path']}.md" if match["path"] else unquote(match["path_2"])]
    place = places.get(memo.memo_id, _NOWHERE)
    was, shown = match["anchor"] or match["anchor_2"] or "", match["shown"] or match["shown_2"] or ""
    if not place.note:
        return f"\\{shown}{words('mark_gone')}" if shown.startswith("#") else f"{shown}{words('mark_gone')}"
    anchor = was
    if anchor and not place.has(anchor):
        anchor, shown = "", f"{shown}{words('mark_block_gone')}"
    if (place.note, anchor) == (memo.note, was):
        return match[0]
    return wikilink(place.note.removesuffix(".md"), anchor or None, shown)
