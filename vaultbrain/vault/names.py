"""File names: one rule on every machine, made once for a note and never changed by us.

Pure. A name is the memo's title made safe, and its id in brackets; an answer's is its date and question. Names are NFC, free
of what Windows, Android or Obsidian links refuse, and at most ``MAX_NAME_BYTES`` long. Two names are the same name when they
are equal after NFC and case folding.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from vaultbrain.memo import without_tags
from vaultbrain.vault.markdown import ADDRESS, fitting, plain_text

if TYPE_CHECKING:
    from collections.abc import Container

#: Of 255 bytes on ext4, Obsidian's importer uses 240; sync services add about 40 for the name of a conflict copy.
MAX_NAME_BYTES = 180

#: Longer names are cut off in the file list anyway. Width: a Chinese character counts two.
MAX_TITLE_WIDTH = 72

_REFUSED = re.compile(r'[\\/:*?"<>|#^\[\]%\x00-\x1f\x7f]')
_SPACES = re.compile(r"[\s\u00a0\u202f]+")
_WINDOWS_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[1-9]|lpt[1-9])(?:\..*)?", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[，。；：！？]|[,;.!](?=\s)")
_LOOSE_SPACE = re.compile(r"\s+(?=[，。；：、！？])")
_PUNCTUATION = " \t,.;:!?-–—，。；：！？、"
_UNTITLED = "memo"


def memo_name(title: str, memo_id: str) -> str:
    """The note's base name without ``.md``: ``观影清单 (456)``. Addresses and tags are left out where words remain."""
    words = _LOOSE_SPACE.sub("", ADDRESS.sub(" ", without_tags(plain_text(title)))).strip(_PUNCTUATION)
    return _joined(_safe(words) or _safe(plain_text(title)) or _UNTITLED, f" ({_safe(memo_id)})")


def answer_name(question: str, day: str) -> str:
    """The answer's base name without ``.md``: ``2026-11-30 帮我找和观影有关的资源``."""
    return _joined(f"{day} {_safe(question) or _UNTITLED}".strip(), "")


def recall_name(stem: str) -> str:
    """The base name of the recall note for a note: not the note's own, for a link to that must not become ambiguous."""
    return _joined(_safe(stem) or _UNTITLED, " (recall)")


def free_path(folder: str, name: str, taken: Container[str]) -> str:
    """``folder/name.md``, or with `` 2``, `` 3``... after the name when ``taken`` holds the path's ``same_name`` form."""
    path, number = f"{folder}/{name}.md", 1
    while same_name(path) in taken:
        number += 1
        path = f"{folder}/{name} {number}.md"
    return path


def same_name(path: str) -> str:
    """The form in which two paths are compared: Obsidian and most file systems see fewer different names than bytes."""
    return unicodedata.normalize("NFC", path).casefold()


def _safe(text: str) -> str:
    text = unicodedata.normalize("NFC", text)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn"))
    text = _SPACES.sub(" ", _REFUSED.sub(" ", text)).strip(" .")
    text = _cut(text, MAX_TITLE_WIDTH)
    return f"{text}_" if _WINDOWS_DEVICE.fullmatch(text) else text


def _cut(text: str, width: int) -> str:
    """At most ``width`` columns, ended at a clause where one ends in the second half."""
    room = fitting(text, width)
    if room == len(text):
        return text
    ends = [match.start() for match in _CLAUSE_END.finditer(text, room // 2, room)]
    return text[: ends[-1] if ends else room].rstrip(_PUNCTUATION + "(（")


def _joined(head: str, tail: str) -> str:
    room = MAX_NAME_BYTES - len(".md") - len(tail.encode())
    return head.encode()[:room].decode(errors="ignore").rstrip(" .") + tail
