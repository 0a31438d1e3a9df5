"""The recall note: what stands in it, and what the person ticked in it.

Pure. Decides the form of a mention (a callout of its own, so that each box belongs to one memo and a deleted callout takes
nothing else along), its properties, how text of memos is made harmless in it, and how ticks are found again whatever an editor or
the person did around them. A box belongs to the memo to whose block the callout links. Refuses to read or write files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from unicodedata import category
from urllib.parse import quote

from vaultbrain.gist.summary import host_of
from vaultbrain.index.fold import fold
from vaultbrain.index.ticks import DISMISSED, USEFUL
from vaultbrain.recall.wording import Words, in_all_languages, why_relevant
from vaultbrain.vault.markdown import anchor_id, escape_display, neutralise, wikilink
from vaultbrain.vault.note import Date

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vaultbrain.recall.judge import Verdict
    from vaultbrain.vault.note import Value

KIND = "recall"
TAG = "vaultbrain/recall"
#: What the link to a memo's own address is called.
OWN_LINK = "CFlow"

#: Characters that are safe in the address of a Markdown link and mean nothing to Obsidian there.
_SAFE_IN_ADDRESS = "/:?#@!&'+,;=-._~%"
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SECOND_COLON = re.compile(r"(?<=:):")

#: Marks that could begin something within a line of ours: always, and only next to another.
_MARK = re.compile(
    r"[\\`*\[\]$^]|#(?=\S)|&(?=#?\w+;)|(?<=~)~|(?<==)=|(?<=%)%|(?<=:):|(?<![^\W_])_|_(?![^\W_])|<(?=[A-Za-z/!?%])|(?<=<)%"
)

_UNSEEN, _JOINER = frozenset(("Cc", "Cf", "Cs", "Co")), "\u200d"  # Unicode: general categories
#: In the text of a link, marks would pair up with those around it.
_IN_BOLD_LINK = str.maketrans({"*": "＊", "=": "＝", "~": "～"})

_QUOTE = re.compile(r"^[\s>]*")
_CALLOUT = re.compile(r"^\[!\w[\w-]*\]")
_BLOCK_LINK = re.compile(r"#\^(m[a-z0-9-]+-\d+)(?=[|\])])|%%\s*(m[a-z0-9-]+-\d+)\s*%%", re.IGNORECASE)
_BOX = re.compile(r"^(?:[-*+]|\d{1,9}[.)])\s*\[\s*(?P<mark>[^\]\s]?)\s*\]\s*(?P<label>.+?)\s*$")
_ANY_MARK = re.compile(r"\[.?\]")
_TICKED = frozenset("xX✓✔√☑")
#: What editors and plugins put behind a task: dates with their signs, a block id, a full stop.
_BEHIND_LABEL = re.compile(r"\s*(?:[✅❌➕📅⏳🛫🔁].*|\^[\w-]+|[。.!！]+)?\s*$")
_LAST_CHARACTER = 0x10FFFF  # Unicode
_ESCAPED_CHARACTER = re.compile(r"-([0-9a-f]+)-")


@dataclass(frozen=True, slots=True)
class Mention:
    """``relevance`` is a sentence; ``ticked``: ``USEFUL``, ``DISMISSED`` or empty. ``note`` ends in .md or is empty.

    Text only, so that it can be kept field by field.
    """

    memo_id: str
    title: str
    summary: str
    relevance: str
    link: str = ""
    link_name: str = ""
    note: str = ""
    anchor: str = ""
    ticked: str = ""


def mention_of(verdict: Verdict, kinds: Sequence[str], language: str) -> Mention:
    """What is shown of a verdict. ``kinds``: what the text asks for (``judge.asked_kinds``)."""
    candidate = verdict.candidate
    memo = candidate.memo
    link = candidate.gist.source
    return Mention(
        memo_id=memo.id,
        title=verdict.title or f"#{memo.id}",
        summary=verdict.summary,
        relevance=why_relevant(kinds, verdict, language),
        link=link,
        link_name=OWN_LINK if link == memo.url else host_of(link),
        note=candidate.note,
        anchor=candidate.anchor,
    )


# what stands in the note


def recall_region(mentions: Sequence[Mention], language: str) -> str:
    """Our part of the note: a callout for each mention, a blank line between them."""
    words = Words(language)
    callouts = (_callout(mention, words("another" if place else "one"), words) for place, mention in enumerate(mentions))
    return "\n\n".join(callouts)


def _callout(mention: Mention, header: str, words: Words) -> str:
    lines = [f"[!tip]+ {header}", _headline(mention, words), f"{words('why')}{words('colon')}{inline(mention.relevance)}"]
    if link := markdown_link(mention.link_name, mention.link):
        lines.append(f"{words('source')}{words('colon')}{link}")
    lines += [f"- [{'x' if mention.ticked == name else ' '}] {words(name)}" for name in (USEFUL, DISMISSED)]
    return "\n".join(f"> {line}" for line in lines)


def _headline(mention: Mention, words: Words) -> str:
    title = f"**{memo_link(mention)}**"
    if not (mention.note and mention.anchor):
        title += f"%%{anchor_id(mention.memo_id, 0)}%%"  # a box must find its memo even if nothing can be linked
    return f"{title}{words('colon')}{inline(mention.summary)}" if mention.summary else title


def memo_link(mention: Mention) -> str:
    """The title as a link to the memo's block; only the title when it has no note."""
    title = _without_unseen(mention.title)
    if not mention.note:
        return inline(title)
    return wikilink(mention.note.removesuffix(".md"), mention.anchor or None, title.translate(_IN_BOLD_LINK))


def inline(text: str) -> str:
    """Text of others within a line of ours: nothing in it links, tags, hides, runs, or ends the line."""
    line = _MARK.sub(lambda found: f"\\{found[0]}", _without_unseen(text))
    return neutralise(f"x {line}").removeprefix("x ")


def _without_unseen(text: str) -> str:
    """One line without controls and marks of direction; joiners within emoji stay."""
    return "".join(
        c for c in " ".join(text.split()) if category(c) not in ("Cc", "Cs", "Co") and (category(c) != "Cf" or c == "\u200d")
    )


def markdown_link(name: str, address: str) -> str:
    """``[name](address)``; empty when the address is none of the web."""
    if not host_of(address):
        return ""
    safe = quote(_BARE_PERCENT.sub("%25", _SECOND_COLON.sub("%3A", address)), safe=_SAFE_IN_ADDRESS)
    return f"[{escape_display(inline(name) or host_of(address))}]({safe})"


def recall_properties(note: str, created: str, query: Sequence[str], useful: bool | None = None) -> dict[str, Value]:
    """The note's properties. ``note``: the path of the one being written; ``created``: local, ``2026-11-30T15:20:11``.

    ``useful``: as ``usefulness`` gives it; the property is left out while nothing is ticked (``vault.bases`` relies on it).
    """
    properties: dict[str, Value] = {
        "vb_kind": KIND,
        "vb_for": _property_link(note),
        "vb_created": Date(created),
        "vb_query": " ".join(query),
    }
    if useful is not None:
        properties["vb_useful"] = useful
    return properties | {"tags": [TAG]}


def _property_link(note: str) -> str:
    """A wikilink; the bare path where it cannot stand in one, since Obsidian reads no other link in a property."""
    link = wikilink(note.removesuffix(".md"))
    return link if link.startswith("[[") else note


# what the person ticked


def with_ticks(mentions: Sequence[Mention], ticks: Mapping[str, str]) -> tuple[Mention, ...]:
    """The mentions with the boxes ticked that are ticked in the note (``read_ticks``)."""
    return tuple(replace(mention, ticked=ticks.get(mention.memo_id, "") or mention.ticked) for mention in mentions)


def usefulness(ticks: Mapping[str, str]) -> bool | None:
    """Of a whole note: whether one mention helped; False when one was only waved away, None while nothing is ticked."""
    if USEFUL in ticks.values():
        return True
    return False if DISMISSED in ticks.values() else None


def read_ticks(text: str) -> dict[str, str]:
    """Memo id → ``USEFUL``, ``DISMISSED`` or empty, for every mention that still stands in ``text`` (a note or our region).

    When both boxes of a memo are ticked it is dismissed: who is asked to be silent must not guess.
    """
    ticks: dict[str, str] = {}
    for group in _groups(text):
        if group.memo_id:
            names = [name for _, name, is_ticked in group.boxes if is_ticked]
            ticks[group.memo_id] = _strongest([ticks.get(group.memo_id, ""), *names])
    return ticks


def _strongest(names: Sequence[str]) -> str:
    return max(names, key=("", USEFUL, DISMISSED).index)


def ticked_like(region: str, standing: str) -> str:
    """``region`` (as we wrote it) with its boxes as they are in ``standing``: the base of a merge.

    With it a tick is no change of the person's against which ours could clash.
    """
    marks = {(group.memo_id, name): is_ticked for group in _groups(standing) for _, name, is_ticked in group.boxes}
    lines = region.split("\n")
    for group in _groups(region):
        for number, name, is_ticked in group.boxes:
            mark = "x" if marks.get((group.memo_id, name), is_ticked) else " "
            lines[number] = _ANY_MARK.sub(f"[{mark}]", lines[number], count=1)
    return "\n".join(lines)


@dataclass(slots=True)
class _Group:
    """The lines of one mention as they are read. ``is_sure``: the memo is named by a headline, not by some link.

    ``boxes``: line number, which box, whether it is ticked.
    """

    memo_id: str = ""
    is_sure: bool = False
    boxes: list[tuple[int, str, bool]] = field(default_factory=list)


def _groups(text: str) -> Iterator[_Group]:
    """A callout, or what begins with another headline where two callouts ran together. Lines of the person's end nothing."""
    group = _Group()
    for number, line in enumerate(text.split("\n")):
        said = _QUOTE.sub("", line)
        memo_id, is_headline = _memo_of(said), said.startswith("**")
        if _CALLOUT.match(said) or (memo_id and is_headline and group.is_sure):
            yield group
            group = _Group()
        if memo_id and (is_headline > group.is_sure or not group.memo_id):
            group.memo_id, group.is_sure = memo_id, is_headline
        group.boxes += [(number, *box) for box in _box(said)]
    yield group


def _memo_of(line: str) -> str:
    """The memo to whose block a line links, or that it names in a comment."""
    found = _BLOCK_LINK.search(line)
    return _memo_id((found[1] or found[2]).lower()) if found else ""


def _memo_id(anchor: str) -> str:
    """The inverse of ``anchor_id``."""
    coded = anchor.removeprefix("m").rpartition("-")[0]
    return _ESCAPED_CHARACTER.sub(lambda found: chr(min(int(found[1], 16), _LAST_CHARACTER)), coded)


def _box(line: str) -> list[tuple[str, bool]]:
    """Which of our boxes stands on the line, if one does, and whether it is ticked."""
    box = _BOX.match(line)
    if box is None:
        return []
    label = fold(_BEHIND_LABEL.sub("", box["label"]))
    return [(name, box["mark"] in _TICKED) for name in (USEFUL, DISMISSED) if label in map(fold, in_all_languages(name))]
