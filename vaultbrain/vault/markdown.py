"""The Markdown of a memo in one place: neutral text, blocks, anchors (from ``neutralise`` and ``anchors``), and inline words.

Pure. Decides by itself only how a line reads without its marks, how wide it is, and how a wikilink is spelled.
"""

from __future__ import annotations

import re
from unicodedata import east_asian_width
from urllib.parse import quote

from vaultbrain.vault.anchors import align_numbers, anchor_id, anchor_text, anchorable, normalise, read_anchors, strip_anchors
from vaultbrain.vault.neutralise import ORDINARY_LANGUAGES, Block, neutralise, split_blocks

__all__ = [
    "ADDRESS",
    "ORDINARY_LANGUAGES",
    "Block",
    "align_numbers",
    "anchor_id",
    "anchor_text",
    "anchorable",
    "columns",
    "escape_display",
    "fitting",
    "neutralise",
    "normalise",
    "plain_text",
    "read_anchors",
    "split_blocks",
    "strip_anchors",
    "wikilink",
]

#: An address of the web as people write it: Chinese text may follow it without a space.
ADDRESS = re.compile(r"https?://[^\s\u3000-\u9fff\uff00-\uffef]+")

_ZERO_WIDTH_SPACE = "\u200b"
_WIDE = "WF"  # Unicode Standard Annex #11
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
#: Escaped characters move here (a plane for private use) while marks are dropped, and back afterwards.
_SHELTER = 0x10F000
_SHELTERED = re.compile(f"[{chr(_SHELTER)}-{chr(_SHELTER + 0x7F)}]")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)([^\n]{1,1000}?)(?<!`)\1(?!`)")
_DATA_URI = re.compile(r"\bdata:[\w.+-]+/[\w.+-]+[;,][^\s)>\]\"']*+", re.IGNORECASE)
_INLINE_LINK = re.compile(
    r"!?\[([^\[\]]*+)\]\((?:<[^<>\n]*+>|[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+)(?:\s++(?:\"[^\"]*+\"|'[^']*+'))?\s*+\)"
)
_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|\n]*+\|)?([^\[\]|\n]*+)\]\]")
_ANGLE_LINK = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+|[^\s<>@]++@[^\s<>@]++)>")
_LINE_MARKS = re.compile(
    r"^[ \t]*+(?:(?:>|[-+*](?=\s)|\d{1,9}[.)](?=\s)|#{1,6}(?=\s|$)|`{3,}|~{3,}|\[[ xX]\](?=\s)|\[![\w-]+\][+-]?)[ \t]*+)++",
    re.MULTILINE,
)
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^[A-Za-z0-9-]++[ \t]*+$", re.MULTILINE)
_EMPHASIS = (
    re.compile(r"(\*{1,3})(?=\S)([^*\n]*[^*\s])\1"),
    re.compile(r"(?<!\w)(_{1,3})(?=\S)([^_\n]*[^_\s])\1(?!\w)"),
    re.compile(r"(~~)(?=\S)([^~\n]*[^~\s])~~"),
    re.compile(r"(==)(?=\S)([^=\n]*[^=\s])=="),
)


def plain_text(markdown: str) -> str:
    """``markdown``, a line or a few, as it reads: no marks, ticks, escapes, block ids, link targets or embedded data.

    For excerpts and titles; not an inverse of anything.
    """
    text = _ESCAPE.sub(lambda m: chr(_SHELTER + ord(m[1])), markdown.replace(_ZERO_WIDTH_SPACE, ""))
    text = _CODE_SPAN.sub(lambda m: _sheltered(m[2].strip() or m[2]), _DATA_URI.sub("", text))
    for _ in range(2):  # an image may be the text of a link
        text = _INLINE_LINK.sub(r"\1", text)
    text = _ANGLE_LINK.sub(r"\1", _WIKILINK.sub(r"\1", text))
    text = _BLOCK_ID.sub("", _LINE_MARKS.sub("", text))
    for _ in range(2):  # emphasis in emphasis
        for pattern in _EMPHASIS:
            text = pattern.sub(r"\2", text)
    return _SHELTERED.sub(lambda m: chr(ord(m[0]) - _SHELTER), text).strip()


def columns(text: str) -> int:
    """How wide text is; a Chinese character takes two."""
    return sum(2 if east_asian_width(character) in _WIDE else 1 for character in text)


def fitting(text: str, width: int) -> int:
    """How many characters of the beginning take at most ``width`` columns."""
    used = 0
    for place, character in enumerate(text):
        used += columns(character)
        if used > width:
            return place
    return len(text)


def _sheltered(code: str) -> str:
    return "".join(chr(_SHELTER + ord(c)) if c.isascii() and not c.isalnum() and not c.isspace() else c for c in code)


#: Characters that end a wikilink's display text, start something else in it, or pair up with one in the next link.
_LOOK_ALIKES = str.maketrans({"[": "［", "]": "］", "|": "｜", "`": "｀", "\\": "＼", "$": "＄"})
_LIVE_MARK = re.compile(r"<(?=[A-Za-z/!?%])|(?<=%)%|(?<=:):")
_FULL_WIDTH_SHIFT = 0xFEE0  # Unicode: from an ASCII character to its full-width form


def escape_display(text: str) -> str:
    """``text`` on one line, fit to stand behind the bar of a wikilink; full-width look-alikes replace what would end it.

    ``#`` and ``^`` stay: behind the bar they mean nothing.
    """
    line = " ".join(text.split()).translate(_LOOK_ALIKES)
    return _LIVE_MARK.sub(lambda m: chr(ord(m[0]) + _FULL_WIDTH_SHIFT), line)


_BREAKS_WIKILINK = re.compile(r"[\[\]|#^`]|%%")


def wikilink(path_without_md: str, anchor: str | None = None, display: str | None = None) -> str:
    """``[[path#^anchor|display]]``; a percent-encoded Markdown link where the path cannot stand in a wikilink.

    ``anchor`` may come with or without its ``^``.
    """
    block = f"#^{anchor.removeprefix('^')}" if anchor else ""
    shown = escape_display(display or "")
    if _BREAKS_WIKILINK.search(path_without_md):
        shown = shown or escape_display(path_without_md.rpartition("/")[2])
        return f"[{shown}]({quote(path_without_md + '.md', safe='/')}{block})"
    return f"[[{path_without_md}{block}{'|' if shown else ''}{shown}]]"
