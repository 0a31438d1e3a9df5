"""What a memo is, whichever server it came from: its text, its tags, its title and its two hashes.

Pure. Decides which characters a memo may hold, what counts as a tag, and what counts as a change. It does not know how a
server spells a memo (``sources``) nor how a note shows one (``vault``).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

#: Characters that no note, terminal or model should meet: C0 controls (but not tab and newline), DEL, C1 controls and
#: halves of surrogate pairs, which JSON can carry and UTF-8 cannot write.
_UNWRITABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")

#: Characters Obsidian refuses in a tag: ASCII punctuation but ``- _ /``, general punctuation, and white space.
_TAG_STOP = r"\s#,，。；：！？、（）()「」『』《》〈〉【】“”‘’…\u2000-\u206f\u2e00-\u2e7f\u3000"
_TAG_RUN = re.compile(rf"(?:^|(?<=[\s\u3000-\u9fff\uff00-\uffef]))((?:#[^{_TAG_STOP}]+)+)", re.MULTILINE)
_TAG_TAIL = ".:;!?*~`'\"|<>[]{}\\"

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,}).*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_EMBEDDED_DATA = re.compile(r"!?\[[^\]]*\]\(data:[^)]*\)")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)

_HEADING_MARK = re.compile(r"^#{1,6}[ \t]+")
#: Properties pasted along with a note: they name nothing.
_FRONT_MATTER = re.compile(r"\A\s*---[ \t]*\n(?:[^\n]*\n){0,30}?---[ \t]*(?:\n|\Z)")
_CLAUSE_END = re.compile(r"[，。；：！？、]|[,;:!?.](?=\s)")
MAX_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file that belongs to a memo. ``url`` is absolute, or empty when the source cannot say where the file is."""

    id: str
    filename: str
    mime: str
    size_bytes: int
    url: str


@dataclass(frozen=True, slots=True)
class Relation:
    """``memo_id`` refers to (``REFERENCE``) or comments on (``COMMENT``) ``related_id``."""

    memo_id: str
    related_id: str
    kind: str


@dataclass(frozen=True, slots=True)
class Memo:
    """One memo as last seen. Times are Unix seconds, UTC; ``state`` is ``normal`` or ``archived``; ``url`` may be empty."""

    id: str
    content: str
    created: int
    updated: int
    visibility: str
    state: str = "normal"
    pinned: bool = False
    creator: str = ""
    uid: str = ""
    url: str = ""
    tags: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    relations: tuple[Relation, ...] = ()

    @property
    def title(self) -> str:
        return title_of(self.content)

    @property
    def content_hash(self) -> str:
        """Changes when the text, the tags or the visibility change: what the index must follow."""
        return _digest(self.content, *sorted(self.tags), self.visibility)

    @property
    def memo_hash(self) -> str:
        """Changes when anything changes that the note shows. An attachment's URL does not count: servers re-sign it."""
        files = (part for a in self.attachments for part in (a.id, a.filename, a.mime, str(a.size_bytes)))
        times = (str(self.created), str(self.updated))
        return _digest(self.content_hash, *times, self.state, str(self.pinned), self.creator, self.url, *files)


def _digest(*parts: str) -> str:
    """128 bits over the parts; NUL stands between them, which no cleaned text holds."""
    return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def clean_text(text: str) -> str:
    """``text`` with LF line ends and each unwritable character replaced by U+FFFD. Idempotent."""
    return _UNWRITABLE.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def tags_of(content: str) -> tuple[str, ...]:
    """The memo's ``#tags`` in order of first appearance, as typed, without ``#``, each once (compared without case).

    A tag starts a line or follows white space or a Chinese character, and is not inside code. Generations 0.13-0.21 send
    no tags; later ones parse the text much the same way.
    """
    prose = _CODE_SPAN.sub(" ", _FENCE.sub(" ", content))
    tags: dict[str, str] = {}
    for run in _TAG_RUN.findall(prose):
        for word in run.split("#"):
            if tag := word.rstrip(_TAG_TAIL).strip("/"):
                tags.setdefault(tag.casefold(), tag)
    return tuple(tags.values())


def without_tags(text: str) -> str:
    """``text`` without its ``#tags``: what is left of a line to be read as words."""
    return _TAG_RUN.sub("", text)


def without_data(text: str) -> str:
    """``text`` without pictures and files that stand in it as data: megabytes that nobody reads."""
    return _EMBEDDED_DATA.sub("", text)


def title_of(content: str) -> str:
    """The first line with words in it, heading marks taken off, ended at a clause when longer than ``MAX_TITLE_CHARS``.

    Empty for a memo without text. A line that holds only tags serves when there is no other.
    """
    body = _FRONT_MATTER.sub("", without_data(content))
    first = ""
    for raw in (body if body.strip() else content).split("\n"):
        line = _HEADING_MARK.sub("", raw.strip()).strip()
        if any(map(str.isalnum, line)):
            first = first or line
            if any(not word.startswith("#") for word in line.split()):
                first = line
                break
    if len(first) <= MAX_TITLE_CHARS:
        return first
    ends = [m.start() for m in _CLAUSE_END.finditer(first, 8, MAX_TITLE_CHARS)]
    return first[: ends[0]] if ends else first[:MAX_TITLE_CHARS].rstrip() + "…"
