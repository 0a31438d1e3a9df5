"""An oracle for generated vaults: what Obsidian reads in a folder of notes, and what is wrong with it.

It decides, from Obsidian's own rules (help pages "Properties", "Internal links", "Tags", "Comments"; Sync's name rules), whether
front matter is read, where a link leads, and where a block id counts. It knows the two region markers, the ``vb_`` properties and
the shape of an answer's quotes, because those are promises to users; it imports nothing of the product and never writes.

Stricter than Obsidian where Obsidian is undocumented. Lines are counted from 0 inside, from 1 in messages.
"""

from __future__ import annotations

import hashlib
import posixpath
import re
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, NamedTuple

import yaml  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

if TYPE_CHECKING:
    from collections.abc import Iterator

Problem = tuple[int | None, str]

MARKER = re.compile(r"%% vaultbrain:(begin|end) %%")
LOOSE_MARKER = re.compile(r"%%\s*vaultbrain:(?:begin|end)\s*%%")
FILLER = "\ufffc"  # stands for every hidden character: no letter, no space, in no token looked for

# --- names: the strictest platform that Obsidian Sync knows
REFUSED_IN_NAMES = re.compile(r'[\x00-\x1f*"\\/<>:|?]')
BREAKS_LINKS = re.compile(r"[#^\[\]|]|%%")
RESERVED_NAMES = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
MAX_NAME_BYTES = 180  # of 255 on ext4, less what sync tools add to conflict copies

# --- properties
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
DATE = re.compile(r"\d{4}-\d\d-\d\d")
LINK_AS_VALUE = re.compile(r"\s*!?\[\[(?:(?!\]\]).)+\]\]\s*")
LIKE_DATE_TIME = re.compile(r"\d{4}-\d\d?-\d\d?[Tt\s]\s*\d[\d:.]*\s*(?:Z|[+-][\d:]+)?")
DATE_TIME_PROPERTIES = {"vb_created", "vb_updated", "vb_asked"}
WORDS_PROPERTIES = {"vb_question", "vb_query", "vb_title"}  # a person's words, whatever they look like
TAG_REFUSED = re.compile("[\u2000-\u206f\u2e00-\u2e7f\\s\ufeff!-,.:-@\\[-^`{-~]")
YAML_CORE = {  # YAML 1.2 core schema, section 10.3.2; everything else is a string
    "null": re.compile(r"~|null|Null|NULL|"),
    "bool": re.compile(r"true|True|TRUE|false|False|FALSE"),
    "int": re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+"),
    "float": re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"),
}

# --- body
CODE_SPAN = re.compile(r"\\.|(?P<run>`+)(?P<code>.+?(?<!`)(?P=run)(?!`))?", re.DOTALL)
LINK = re.compile(r"\\.|\[\[(?P<inner>(?:(?!\[\[).)+?)\]\]")
LINK_BAR = re.compile(r"\\?\|")
ID_AT_END = re.compile(r"(?:^|(?<=\s))\^([A-Za-z0-9-]+)\s*$")
LIKE_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+|\w+-\d+)\s*$")
PRODUCT_ID = re.compile(r"\^m\w+-\d+\s*$")
VALID_ID = re.compile(r"[A-Za-z0-9-]+")
HEADING_NOISE = re.compile(r'[!"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+')
OPENERS = {"%%": re.compile(r"(?<!%)%%(?!%)"), "$$": re.compile(r"(?<!\\)\$\$")}
ADDRESSED_FROM_BELOW = {"bullet_list", "ordered_list", "blockquote", "table", "fence", "code_block"}
LIVE_FENCES = {"dataview", "dataviewjs", "tasks", "query", "base", "mermaid"}
URL = re.compile(r"[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
KEY_LETTERS = r"\w\s/\-\u2600-\u27bf\U0001f000-\U0001faff"
DATAVIEW_FIELD = re.compile(rf"^[^\w{FILLER}]*\w[{KEY_LETTERS}]*[_*~`]*::|[\[(][^\[\]()]*::[^\[\]()]*[\])]")
QUOTE_CALLOUT = re.compile(r"\s{0,3}> ?\[!quote\][+-]?\s*", re.IGNORECASE)
QUOTE_PREFIX = re.compile(r"^(?:\s*>)+ ?")
MATCHED_WORDS = ("命中", "Matched")
ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|\u200b")

_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def path_key(path: str) -> str:
    """What Obsidian compares of a path: NFC, plain spaces, no case."""
    return unicodedata.normalize("NFC", re.sub("[\u00a0\u202f]", " ", path)).casefold()


@dataclass(frozen=True)
class Link:
    """One ``[[path#subpath|text]]``; ``bar`` is the separator as written. ``line`` is ``None`` for a link in a property."""

    line: int | None
    path: str
    subpath: str
    bar: str
    in_table: bool

    @property
    def anchor(self) -> str:
        """The block id it asks for, or ``""``."""
        return self.subpath[1:] if self.subpath.startswith("^") else ""

    def __str__(self) -> str:
        return f"[[{self.path}{'#' * bool(self.subpath)}{self.subpath}]]"


def links_in(text: str, line: int | None, *, in_table: bool = False) -> Iterator[Link]:
    """The links that one line holds, those behind a backslash left out. Code must be hidden already."""
    for found in LINK.finditer(text):
        if found["inner"] is None:
            continue
        bar = LINK_BAR.search(found["inner"])
        target = found["inner"][: bar.start()] if bar else found["inner"]
        path, _, subpath = target.partition("#")
        yield Link(line, path.strip(), subpath.strip(), bar[0] if bar else "", in_table)


@dataclass(frozen=True)
class Anchor:
    """A block id that Obsidian reads, the line it stands on, and the lines ``first <= n < last`` of its block."""

    id: str
    line: int
    first: int
    last: int


class Excerpt(NamedTuple):
    """What a quote claims. ``target``: a vault path, or the link as written; ``anchor``: ``""`` for a whole note."""

    target: str
    anchor: str
    text: str


@dataclass(eq=False)
class Note:
    """One Markdown file, read as Obsidian reads it. ``path`` is NFC, from the vault's root, with ``/``."""

    path: str
    data: bytes

    @cached_property
    def text(self) -> str:
        """Decoded leniently, so that one fault does not hide the others."""
        return self.data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        return self.text.split("\n")

    @cached_property
    def front_end(self) -> int | None:
        """The line that closes the front matter."""
        if self.lines[0] != "---":
            return None
        return next((n for n, line in enumerate(self.lines) if n and re.fullmatch(r"---[ \t]*", line)), None)

    @cached_property
    def front_matter(self) -> str | None:
        return None if self.front_end is None else "".join(f"{line}\n" for line in self.lines[1 : self.front_end])

    @cached_property
    def properties(self) -> dict[Any, Any]:
        """As PyYAML reads them; empty when it cannot."""
        try:
            loaded = yaml.safe_load(self.front_matter or "")
        except (yaml.YAMLError, ValueError):
            return {}
        return loaded if isinstance(loaded, dict) else {}

    @cached_property
    def markers(self) -> list[tuple[int, str]]:
        return [(n, found[1]) for n, line in enumerate(self.lines) if (found := MARKER.fullmatch(line))]

    @cached_property
    def region(self) -> range | None:
        """The lines between the markers, where there is exactly one pair of them."""
        begin_end = [(n, kind) for n, kind in self.markers if n not in self.code_lines]
        if [kind for _, kind in begin_end] != ["begin", "end"]:
            return None
        return range(begin_end[0][0] + 1, begin_end[1][0])

    @property
    def kind(self) -> Any:
        return self.properties.get("vb_kind")

    @property
    def is_ours(self) -> bool:
        return self.kind is not None or any(n not in self.code_lines for n, _ in self.markers)

    @cached_property
    def page(self) -> list[str]:
        """The body at its own line numbers: front matter and markers blank, as neither is shown or joins a block."""
        body = 0 if self.front_end is None else self.front_end + 1
        return ["" if n < body or MARKER.fullmatch(line) else line for n, line in enumerate(self.lines)]

    @cached_property
    def nodes(self) -> list[SyntaxTreeNode]:
        root = SyntaxTreeNode(_MARKDOWN.parse("\n".join(self.page)))
        return [node for node in root.walk() if not node.is_root]

    def _lines_of(self, *types: str) -> set[int]:
        return {line for node in self.nodes if node.type in types and node.map for line in range(*node.map)}

    @cached_property
    def code_lines(self) -> set[int]:
        return self._lines_of("fence", "code_block")

    @cached_property
    def html_lines(self) -> set[int]:
        return self._lines_of("html_block")

    @cached_property
    def masked(self) -> list[str]:
        """The page with every character of code replaced by ``FILLER``."""
        lines = [FILLER * len(line) if n in self.code_lines else line for n, line in enumerate(self.page)]
        for first, last in {node.map for node in self.nodes if node.type == "inline" and node.map and "`" in node.content}:
            lines[first:last] = CODE_SPAN.sub(_hide_code, "\n".join(lines[first:last])).split("\n")
        return lines

    @cached_property
    def links(self) -> list[Link]:
        """Links of the body, comments included, and of the properties whose whole value is one link."""
        tables = self._lines_of("table")
        rows = [(n, line) for n, line in enumerate(self.masked) if n not in self.html_lines]
        body = [link for n, line in rows for link in links_in(line, n, in_table=n in tables)]
        whole = [value for value in _strings(self.properties) if LINK_AS_VALUE.fullmatch(value)]
        return body + [link for value in whole for link in links_in(value, None)]

    @cached_property
    def headings(self) -> list[str]:
        titles = [node.children[0].content for node in self.nodes if node.type == "heading" and node.children]
        return [heading_key(ID_AT_END.sub("", title)) for title in titles]

    @cached_property
    def anchors(self) -> list[Anchor]:
        blocks = (node for node in self.nodes if node.type in ("paragraph", "heading") and node.children)
        return [anchor for node in blocks if (anchor := self._anchor_of(node))]

    def _anchor_of(self, node: SyntaxTreeNode) -> Anchor | None:
        """The id at the end of a paragraph or heading, if it stands where Obsidian reads it."""
        first, last = node.children[0].map or (0, 0)  # a setext underline belongs to the heading, not to its text
        line = last - 1
        found = ID_AT_END.search(self.masked[line])
        if found is None or _is_within(node, "blockquote"):
            return None
        item = node.parent if node.parent and node.parent.type == "list_item" else None
        before = self.page[line][: found.start()]
        if before.strip():
            return None if before.rstrip().endswith("$$") else _anchor(found[1], line, item or node)
        if item:
            return _anchor(found[1], line, item) if before else None
        above = node.previous_sibling
        stands_free = first == line and not self.page[line - 1].strip() and not "".join(self.page[line + 1 : line + 2]).strip()
        return _anchor(found[1], line, above) if above and stands_free and self._is_addressed_from_below(above) else None

    def _is_addressed_from_below(self, node: SyntaxTreeNode) -> bool:
        is_math = node.type == "paragraph" and node.map is not None and self.page[node.map[1] - 1].rstrip().endswith("$$")
        return is_math or node.type in ADDRESSED_FROM_BELOW

    def anchor(self, block_id: str) -> Anchor | None:
        return next((anchor for anchor in self.anchors if anchor.id.lower() == block_id.lower()), None)

    def block_text(self, block_id: str) -> str | None:
        """The lines of a block without ids and quote prefixes; the whole region for ``""``; ``None`` without such a block."""
        whole = self.region or range(len(self.page))
        anchor = self.anchor(block_id) if block_id else Anchor("", 0, whole.start, whole.stop)
        if anchor is None:
            return None
        with_id = {other.line for other in self.anchors}
        numbered = ((n, self.page[n]) for n in range(anchor.first, anchor.last))
        rows = (ID_AT_END.sub("", row) if n in with_id else row for n, row in numbered)
        return "\n".join(QUOTE_PREFIX.sub("", row).rstrip() for row in rows).strip()

    def has_heading(self, subpath: str) -> bool:
        """Whether ``H1#H2`` names headings that follow each other in this order."""
        rest = iter(self.headings)
        return all(any(heading == wanted for heading in rest) for wanted in map(heading_key, subpath.split("#")))


def _hide_code(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", FILLER, found[0]) if found["code"] else found[0]


def _anchor(block_id: str, line: int, block: SyntaxTreeNode) -> Anchor:
    return Anchor(block_id, line, *(block.map or (line, line + 1)))


def _is_within(node: SyntaxTreeNode, kind: str) -> bool:
    return node.parent is not None and (node.parent.type == kind or _is_within(node.parent, kind))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def heading_key(title: str) -> str:
    """A heading as links compare it: special characters and runs of spaces are one space, no case."""
    return HEADING_NOISE.sub(" ", unicodedata.normalize("NFC", title)).strip().casefold()


def as_read(text: str) -> str:
    """Text as the reader sees it: without escaping backslashes and zero-width spaces."""
    return ESCAPE.sub(r"\1", text)


# ---------------------------------------------------------------- checks of one note


def name_problems(path: str) -> Iterator[Problem]:
    for segment in path.split("/"):
        stem = segment.removesuffix(".md")
        if REFUSED_IN_NAMES.search(segment):
            yield None, f"the name {segment!r} has a character that some platform refuses"
        if BREAKS_LINKS.search(segment):
            yield None, f"the name {segment!r} has a character that breaks links"
        if stem != stem.strip() or stem.endswith(".") or segment.endswith((" ", ".")):
            yield None, f"the name {segment!r} begins or ends with a space, or ends with a dot"
        if segment.split(".")[0].strip().casefold() in RESERVED_NAMES:
            yield None, f"the name {segment!r} is reserved on Windows"
        if len(segment.encode("utf-8", "surrogateescape")) > MAX_NAME_BYTES:
            yield None, f"the name {segment!r} is longer than {MAX_NAME_BYTES} bytes"


def encoding_problems(note: Note) -> Iterator[Problem]:
    try:
        note.data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield None, f"not UTF-8 at byte {error.start}"
    if note.data.startswith(b"\xef\xbb\xbf"):
        yield None, "has a byte-order mark"
    yield from (
        (None, f"has a {name}") for byte, name in ((b"\x00", "NUL byte"), (b"\r", "carriage return")) if byte in note.data
    )
    if not note.data.strip():
        yield None, "is empty"
    elif not note.data.endswith(b"\n"):
        yield None, "does not end with a newline"


def front_matter_problems(note: Note) -> Iterator[Problem]:
    if note.front_matter is None:
        if note.lines[0] == "---":
            yield 0, "the front matter never closes"
        elif re.match(r"\s+---\n\w+:", note.text) or note.is_ours:
            yield 0, "no front matter on the first line"
        return
    try:
        loaded = yaml.safe_load(note.front_matter)
        root = yaml.compose(note.front_matter, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, ValueError) as error:
        yield 0, f"the front matter is not YAML: {' '.join(str(error).split())}"
        return
    if not isinstance(loaded, dict):
        if loaded is not None or note.is_ours:
            yield 0, "the front matter is not a mapping"
        return
    yield from _yaml_problems(root, note.front_matter)
    yield from _list_problems(loaded, is_ours=note.is_ours)
    if any(re.search("[\ud800-\udfff]", value) for value in _strings(loaded)):
        yield 0, "a property holds half of a surrogate pair"


def _yaml_problems(root: Any, source: str) -> Iterator[Problem]:
    yield from _duplicate_keys(root)
    for key, value in root.value:
        name = str(key.value)
        is_owned = name.startswith("vb_") or name in ("tags", "aliases")
        for node in _yaml_nodes(value):
            line = node.start_mark.line + 1
            if isinstance(node, yaml.SequenceNode) and node.flow_style and any(_is_flow_list(child) for child in node.value):
                yield line, f"{name}: an unquoted [[...]] is a list inside a list"
            if is_owned:
                yield from ((line, f"{name}: {trap}") for trap in _traps(node, source))
        if isinstance(value, yaml.ScalarNode) and name.startswith("vb_") and _is_wrong_date(name, value):
            yield value.start_mark.line + 1, f"{name}: {value.value!r} is not YYYY-MM-DDTHH:MM:SS"


def _duplicate_keys(root: Any) -> Iterator[Problem]:
    for node in _yaml_nodes(root):
        keys = [child for child, _ in node.value] if isinstance(node, yaml.MappingNode) else []
        counted = Counter(str(key.value).casefold() for key in keys)
        yield from ((node.start_mark.line + 1, f"the property {key} is there twice") for key, n in counted.items() if n > 1)


def _yaml_nodes(node: Any) -> Iterator[Any]:
    yield node
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _yaml_nodes(child)
    elif isinstance(node, yaml.MappingNode):
        for _, child in node.value:
            yield from _yaml_nodes(child)


def _is_flow_list(node: Any) -> bool:
    return isinstance(node, yaml.SequenceNode) and bool(node.flow_style)


def _traps(node: Any, source: str) -> Iterator[str]:
    """What a scalar of ours must not do: read differently in YAML 1.1 and 1.2, or lose a part to a comment, anchor or tag."""
    if source[node.start_mark.index : node.start_mark.index + 1] in ("&", "!"):
        yield "an unquoted & or ! is an anchor or a tag"
    if not isinstance(node, yaml.ScalarNode):
        return
    if source[node.end_mark.index :].split("\n", 1)[0].strip().startswith("#"):
        yield "an unquoted # begins a comment"
    if node.style is None:
        old = node.tag.rpartition(":")[2]
        new = next((name for name, pattern in YAML_CORE.items() if pattern.fullmatch(node.value)), "str")
        is_date = old == "timestamp" and new == "str"
        if (old != new and not is_date) or re.fullmatch(r"[-+]?0[0-9]+", node.value):
            yield f"unquoted {node.value} is read as {old} by YAML 1.1 and as {new} by YAML 1.2"


def _is_wrong_date(name: str, node: Any) -> bool:
    """Whether a date and time is there, or is due, and is not written the one way. A date alone is a date."""
    if DATE_TIME.fullmatch(node.value):
        return False
    is_timestamp = node.style is None and node.tag.endswith(":timestamp") and not DATE.fullmatch(node.value)
    looks_like_one = name not in WORDS_PROPERTIES and LIKE_DATE_TIME.fullmatch(node.value) is not None
    return is_timestamp or looks_like_one or name in DATE_TIME_PROPERTIES


def _list_problems(properties: dict[Any, Any], *, is_ours: bool) -> Iterator[Problem]:
    for name in ("tags", "aliases"):
        value = properties.get(name, [])
        if not is_ours and (value is None or isinstance(value, str)):  # a person may write so, and Obsidian leaves empty ones
            continue
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            yield 0, f"{name} is not a list of strings: {value!r}"
        elif name == "tags":
            yield from ((0, f"{tag!r} is not a tag") for tag in value if not is_tag(tag))


def is_tag(text: str) -> bool:
    """Whether the words after an optional ``#`` may be a tag."""
    tag = text.removeprefix("#")
    return not TAG_REFUSED.search(tag) and bool(re.search(r"[^\d/]", tag)) and not tag.endswith("/")


def region_problems(note: Note) -> Iterator[Problem]:
    if not note.is_ours:
        return
    kinds = [kind for _, kind in note.markers]
    if kinds != ["begin", "end"]:
        yield None, f"the region markers are {kinds}, not one begin and then one end"
    yield from ((n, f"the {kind} marker is inside code") for n, kind in note.markers if n in note.code_lines)
    for n, line in enumerate(note.masked):
        if LOOSE_MARKER.search(line):
            yield n, "a region marker is not alone on its line"


def anchor_problems(note: Note) -> Iterator[Problem]:
    for block_id, n in Counter(anchor.id.lower() for anchor in note.anchors).items():
        if n > 1:
            yield None, f"the block id ^{block_id} is there {n} times"
    if note.region is None:
        return
    placed = {anchor.line for anchor in note.anchors}
    for line in note.region:
        found = LIKE_ID.search(note.masked[line])
        if found and not VALID_ID.fullmatch(found[1]):
            yield line, f"^{found[1]} has a character that no block id may have"
        elif found and line not in placed:
            yield line, f"the block id ^{found[1]} stands where Obsidian does not read it"
        elif line in note.code_lines and PRODUCT_ID.search(note.page[line]):
            yield line, "a block id is inside code"
    yield from _open_constructs(note, note.region)


def _open_constructs(note: Note, region: range) -> Iterator[Problem]:
    ends = [*(anchor.line for anchor in note.anchors if anchor.line in region), region.stop]
    for name, opener in OPENERS.items():
        hidden = [line for line in ends if sum(len(opener.findall(row)) for row in note.masked[:line]) % 2]
        if hidden:
            yield hidden[0], f"an open {name} hides what follows"
    for node in note.nodes:
        if node.type == "fence" and node.map and node.map[0] in region and not _is_closed(node, note.page):
            yield node.map[0], "the code fence is never closed"


def _is_closed(fence: SyntaxTreeNode, page: list[str]) -> bool:
    first, last = fence.map or (0, 0)
    closing = re.fullmatch(r"[\s>]*(`+|~+)\s*", page[last - 1])
    return last - 1 > first and closing is not None and closing[1].startswith(fence.markup)


def live_text_problems(note: Note, allow_links: bool | tuple[str, ...]) -> Iterator[Problem]:
    """What a memo's words may not do in a vault: run, query, become a field; and in their own note, link."""
    if note.kind not in ("memo", "answer", "recall") or note.region is None:
        return
    for line in (*range(note.front_end or 0), *note.region):  # Templater reads the raw file, properties included
        if "<%" in note.lines[line]:
            yield line, "a Templater command"
    for line in note.region:
        masked = note.masked[line]
        if DATAVIEW_FIELD.search(URL.sub(lambda url: FILLER * len(url[0]), masked)):
            yield line, "a Dataview field"
        may_link = masked.startswith(allow_links) if isinstance(allow_links, tuple) else allow_links
        if note.kind == "memo" and not may_link and "[[" in re.sub(r"\\.", FILLER, masked):
            yield line, "a live [["
    for node in note.nodes:
        if (live := _live_node(node)) and (line := _line_of(node)) in note.region:
            yield line, live


def _line_of(node: SyntaxTreeNode) -> int:
    """The line on which the node, or what it is inline in, begins."""
    if node.is_root:
        return -1
    return node.map[0] if node.map else _line_of(node.parent) if node.parent else -1


def _live_node(node: SyntaxTreeNode) -> str | None:
    if node.type in ("html_block", "html_inline"):
        return f"raw HTML: {node.content.strip()[:40]}"
    if node.type == "fence" and node.info.strip().partition(" ")[0].casefold() in LIVE_FENCES:
        return f"a live fence: {node.info.strip()}"
    if node.type in ("code_inline", "fence", "code_block") and node.content.lstrip().startswith(("=", "$=")):
        return f"a Dataview inline query: {node.content.strip()[:40]}"
    return None


# ---------------------------------------------------------------- the vault


@dataclass(eq=False)
class Vault:
    """``notes`` by path; ``files`` holds every visible file, attachments included, as spelled on disk."""

    notes: dict[str, Note]
    files: list[str]

    @classmethod
    def load(cls, path: str | Path) -> Vault:
        """Reads all notes below ``path``; whatever has a segment with a leading dot does not exist for Obsidian."""
        root = Path(path)
        found = [(file.relative_to(root), file) for file in sorted(root.rglob("*")) if file.is_file()]
        visible = {name.as_posix(): file for name, file in found if not any(part.startswith(".") for part in name.parts)}
        notes: dict[str, Note] = {}
        for name, file in visible.items():
            if file.suffix.lower() == ".md":
                nfc = unicodedata.normalize("NFC", name)
                notes.setdefault(nfc, Note(nfc, file.read_bytes()))
        return cls(notes, list(visible))

    @cached_property
    def _paths(self) -> dict[str, str]:
        return {path_key(path): unicodedata.normalize("NFC", path) for path in self.files}

    def resolve(self, source: Note, target: str) -> str | None:
        """The path a link leads to: the exact path, else a match in the source's own folder, else the shortest path."""
        if not target:
            return source.path
        folder = posixpath.dirname(source.path)
        if target.startswith(("./", "../")):
            target = "/" + posixpath.normpath(posixpath.join(folder, target))
        key = path_key(target.lstrip("/"))
        for exact in (key, f"{key}.md"):
            if exact in self._paths:
                return self._paths[exact]
        if target.startswith("/"):
            return None
        matches = [path for known, path in self._paths.items() if f"/{known}".endswith((f"/{key}", f"/{key}.md"))]
        return min(matches, key=lambda path: (posixpath.dirname(path) != folder, len(path), path), default=None)

    def problems(self, folder: str | None = None, *, allow_links: bool | tuple[str, ...] = False) -> list[str]:
        """All that is wrong, as ``path:line: words``, in the whole vault or below ``folder``.

        ``allow_links``: whether memo regions may hold links; a tuple allows them on lines that begin with one of its strings.
        """
        below = "" if folder is None else unicodedata.normalize("NFC", folder).rstrip("/") + "/"
        report = [text for path, text in self._twins() if f"{path}/".startswith(below)]
        for path in dict.fromkeys(unicodedata.normalize("NFC", file) for file in self.files):
            if path.startswith(below):
                found = [*name_problems(path), *self._note_problems(self.notes.get(path), allow_links)]
                report += [f"{path}: {text}" if line is None else f"{path}:{line + 1}: {text}" for line, text in found]
        return report

    def _twins(self) -> Iterator[tuple[str, str]]:
        """Files or folders that are one thing for Obsidian, each reported under each of its spellings."""
        spellings: dict[str, set[str]] = defaultdict(set)
        for file in self.files:
            for name in (file, *(parent.as_posix() for parent in PurePosixPath(file).parents if parent.name)):
                spellings[path_key(name)].add(name)
        for same in spellings.values():
            for name in sorted(same) if len(same) > 1 else ():
                yield unicodedata.normalize("NFC", name), f"{name}: one name in several spellings: {sorted(same)!a}"

    def _note_problems(self, note: Note | None, allow_links: bool | tuple[str, ...]) -> Iterator[Problem]:
        if note is None:
            return
        yield from encoding_problems(note)
        yield from front_matter_problems(note)
        yield from region_problems(note)
        yield from anchor_problems(note)
        yield from live_text_problems(note, allow_links)
        yield from self._link_problems(note)
        yield from self._quote_problems(note)

    def _link_problems(self, note: Note) -> Iterator[Problem]:
        for link in note.links:
            path = self.resolve(note, link.path)
            if link.bar == ("|" if link.in_table else "\\|"):
                yield link.line, f"{link}: the bar must be escaped in tables, and only there"
            elif path is None:
                yield link.line, f"{link} leads nowhere"
            elif (target := self.notes.get(path)) and link.subpath:
                if link.anchor and not target.anchor(link.anchor):
                    yield link.line, f"{link}: {path} has no such block"
                elif not link.anchor and not target.has_heading(link.subpath):
                    yield link.line, f"{link}: {path} has no such heading"

    def _quotes(self, note: Note) -> Iterator[tuple[int, Link | None, list[str]]]:
        """Each quote callout of an answer: its line, the link that it stands on, its excerpt lines."""
        for n in note.region or ():
            title = QUOTE_CALLOUT.match(note.masked[n])
            if title is None:
                continue
            last = next((m for m in range(n + 1, len(note.page)) if not note.page[m].lstrip().startswith(">")), len(note.page))
            rows = [QUOTE_PREFIX.sub("", row).strip() for row in note.page[n + 1 : last]]
            ends = [m for m, row in enumerate(rows) if row.startswith(MATCHED_WORDS)]
            links = (link for link in links_in(note.masked[n], n) if link.anchor or not link.subpath)
            yield n, next(links, None), [row for row in rows[: ends[-1] if ends else None] if row]

    def excerpts(self, note: Note) -> list[Excerpt]:
        """What the quotes of an answer claim, in order; the excerpt's lines joined by newlines."""
        found = ((link, rows) for _, link, rows in self._quotes(note) if link)
        return [Excerpt(self.resolve(note, link.path) or link.path, link.anchor, "\n".join(rows)) for link, rows in found]

    def block_text(self, note: Note | str, anchor: str) -> str | None:
        """See ``Note.block_text``; ``note`` may be a path. ``None`` also for an unknown path."""
        found = self.notes.get(note) if isinstance(note, str) else note
        return found.block_text(anchor) if found else None

    def _quote_problems(self, note: Note) -> Iterator[Problem]:
        """An excerpt is verbatim if each line, but for an ellipsis at its ends, stands in the block as a reader sees it."""
        if note.kind != "answer":
            return
        for line, link, rows in self._quotes(note):
            if link is None:
                yield line, "the quote has no link to a block or a note"
                continue
            block = self.block_text(self.resolve(note, link.path) or "", link.anchor)
            if block is None:  # said already: the link leads nowhere
                continue
            shown = as_read(block)
            yield from ((line, f"{link} does not say: {row}") for row in rows if as_read(row).strip("… ") not in shown)


def hash_tree(path: str | Path, *, with_mtime: bool = False) -> dict[str, str | tuple[str, int]]:
    """Every file below ``path`` (dot folders too) by its name on disk: SHA-256, or with ``with_mtime`` (SHA-256, nanoseconds).

    Folders appear with a trailing ``/`` and an empty value, so that an empty one counts. A link counts by where it points.
    """
    root, tree = Path(path), dict[str, str | tuple[str, int]]()
    for file in sorted(root.rglob("*")):
        name = file.relative_to(root).as_posix()
        if file.is_symlink():
            tree[name] = f"-> {file.readlink()}"
        elif file.is_dir():
            tree[f"{name}/"] = ""
        else:
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            tree[name] = (digest, file.stat().st_mtime_ns) if with_mtime else digest
    return tree
