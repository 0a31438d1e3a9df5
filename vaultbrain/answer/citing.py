"""How a memo's words and links stand in a line of ours: inert, on one line, cut only where a clause ends.

Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vaultbrain.answer.pieces import masked
from vaultbrain.memo import without_tags
from vaultbrain.vault.markdown import columns, fitting, neutralise, plain_text, wikilink
from vaultbrain.vault.memo_note import local_date

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from vaultbrain.answer.material import Relative
    from vaultbrain.retrieve.search import Hit

#: Columns of a title and of a quoted piece in running text, and of a line in a list.
TITLE_COLUMNS = 64
QUOTE_COLUMNS = 84
LINE_COLUMNS = 160
#: A cut leaves at least this share of the room filled, or is made between words; one behind a whole sentence the second.
_LEAST_FILLED, _LEAST_OF_SENTENCES = 0.25, 0.5
#: What is left of a quotation by a cut; otherwise it may be as long as a line.
_LEAST_OF_QUOTE = 0.4

_URL = re.compile(r"https?://\S+")
_LOOSE_SPACE = re.compile(r"\s+(?=[，。；：、！？])")
_SENTENCE_END = re.compile(r"[。！？]|[.!?](?=\s)")
_CLAUSE_END = re.compile(r"[，。；：、！？]|[,;:.!?](?=\s)|\s[-–—]+(?=\s)")
_LOOSE_END = re.compile(r"[\s，。；：、,;:.]+$")
_LINE_MARKS = re.compile(r"^(?:>\s*|(?:#{1,6}|[-+*]|\d{1,9}[.)])(?:\s+|$))+")
_PAIRED_MARK = re.compile(r"(?<!\\)[`$\[\]]")
_TAG_MARK = re.compile(r"(?<![\\\w&/#])#(?=[^\s#])")


def link_to(hit: Hit, anchor: str | None = None) -> str:
    """``[[path#^anchor|#id]]``, or ``#id`` for a memo without a note. ``anchor`` None is that of the hit."""
    return link(hit.memo_id, hit.note, hit.anchor if anchor is None else anchor)


def titled_relative(relative: Relative) -> str:
    return titled(link(relative.memo_id, relative.note, relative.anchor), relative.title)


def link(memo_id: str, note: str, anchor: str = "") -> str:
    return wikilink(note.removesuffix(".md"), anchor, f"#{memo_id}") if note else f"\\#{memo_id}"


def inline(text: str) -> str:
    """Text of others in a line of ours: nothing in it may be Markdown that runs, links, tags or breaks the line."""
    line = _LINE_MARKS.sub("", " ".join(text.split()))
    return _self_contained(neutralise(line))


def shown_line(text: str, width: int = LINE_COLUMNS) -> str:
    """As ``inline``, at most about ``width`` columns, cut at the end of a clause, never within an address or a link."""
    return inline(cut_at_clause(" ".join(text.split()), width))


def shown_quote(text: str) -> str:
    """A piece within a sentence of ours: whole clauses, without the full stop at its end."""
    quoted = text.rstrip("。.；; ")
    cut = cut_at_clause(quoted, QUOTE_COLUMNS)
    is_whole = columns(quoted) <= QUOTE_COLUMNS or bool(_last_end(quoted, QUOTE_COLUMNS))
    return (
        inline(cut) if is_whole and columns(cut) >= _LEAST_OF_QUOTE * min(columns(quoted), QUOTE_COLUMNS) else shown_line(quoted)
    )


def cut_at_clause(text: str, width: int) -> str:
    """At most ``width`` columns of the text and ``…``; more only when it begins with an address or a link that is longer."""
    if columns(text) <= width:
        return text
    end = _last_end(text, width) or _between_words(masked(text), fitting(text, width))
    return _LOOSE_END.sub("", text[:end]) + "…"


def _last_end(text: str, width: int) -> int:
    """Where the last whole sentence ends that fills half of the room, else the last clause that fills some of it; else 0."""
    whole, within = masked(text), fitting(text, width)
    for pattern, least in ((_SENTENCE_END, _LEAST_OF_SENTENCES), (_CLAUSE_END, _LEAST_FILLED)):
        ends = [found.start() for found in pattern.finditer(whole[: within + 1]) if found.start() <= within]
        if ends and columns(text[: ends[-1]]) >= least * width:
            return ends[-1]
    return 0


def _between_words(whole: str, at: int) -> int:
    """The last place up to ``at`` that does not part a word, or the first one behind it."""
    start = at
    while start > 0 and _parts_word(whole, start):
        start -= 1
    if start > 0:
        return start
    while at < len(whole) and _parts_word(whole, at):
        at += 1
    return at


def _parts_word(whole: str, at: int) -> bool:
    return (
        at < len(whole)
        and whole[at - 1].isascii()
        and not whole[at - 1].isspace()
        and not (whole[at].isspace() or ord(whole[at]) > 0x2E80)
    )


def _self_contained(line: str) -> str:
    """A memo's tag is not the answer's, and no mark of it pairs up with one behind the link. Code and addresses stay."""
    whole = masked(line)
    marks = {found.start() for found in _TAG_MARK.finditer(whole)} | {found.start() for found in _PAIRED_MARK.finditer(whole)}
    return "".join(f"\\{character}" if n in marks else character for n, character in enumerate(line))


def shown_title(title: str) -> str:
    """The title as words in a sentence: without addresses and tags, where something remains."""
    plain = plain_text(title)
    words = _LOOSE_SPACE.sub("", _URL.sub("", without_tags(plain)))
    kept = _LOOSE_END.sub("", words)
    return shown_line(kept if any(map(str.isalnum, kept)) else plain, TITLE_COLUMNS)


def titled(linked: str, title: str) -> str:
    return f"{linked} {shown_title(title)}".strip()


def shown_date(seconds: int, now: datetime) -> str:
    return local_date(seconds, now.tzinfo).text[:10]


def links_of(memo_ids: Iterable[str], hits: Iterable[Hit]) -> list[str]:
    """Links to those of the memos that are among the hits, in the order of ``memo_ids``."""
    by_id = {hit.memo_id: hit for hit in hits}
    return [link_to(by_id[memo_id]) for memo_id in dict.fromkeys(memo_ids) if memo_id in by_id]
