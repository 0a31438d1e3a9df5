"""One note as text: its properties and our managed region, written or changed without touching anything else in it.

Pure. Decides what is ours in a note: the text between the two markers, and every property that begins with ``vb_``; of
``tags`` and ``aliases`` we own the entries that we added. All the rest stays byte for byte: properties are changed by splicing
our own lines, never by loading and dumping YAML.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from vaultbrain.vault.merge import merge_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BEGIN = "%% vaultbrain:begin %%"
END = "%% vaultbrain:end %%"

#: Lists in which the person's entries stand beside ours.
SHARED_LISTS = ("aliases", "tags")

_KEY = re.compile(r"(?P<key>[A-Za-z_][\w-]*)[ \t]*:(?P<value>.*)")
_ITEM = re.compile(r"\s*-\s+(?P<value>.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Date:
    """A local date and time, written without quotes or offset so that Obsidian takes it as a date."""

    text: str


Value = str | bool | int | Date | list[str]


@dataclass(frozen=True, slots=True)
class UpdatedNote:
    """``text`` is the whole note. ``clashes`` counts places where both sides changed the same lines.

    ``entries`` are those of ``SHARED_LISTS`` that are ours now: what the person had put in first stays theirs.
    """

    text: str
    clashes: int
    entries: dict[str, list[str]]


def emit_properties(properties: Mapping[str, Value]) -> list[str]:
    """YAML lines in the given order. Strings are JSON-quoted, which YAML 1.1 and 1.2 read alike; empty lists are left out."""
    lines: list[str] = []
    for key, value in properties.items():
        if isinstance(value, list):
            if value:
                lines += [f"{key}:", *(f"  - {_quoted(item)}" for item in value)]
        else:
            lines.append(f"{key}: {_scalar(value)}")
    return lines


def _scalar(value: str | bool | int | Date) -> str:
    if isinstance(value, Date):
        return value.text
    return str(value).lower() if isinstance(value, bool) else str(value) if isinstance(value, int) else _quoted(value)


def _quoted(text: str) -> str:
    # U+2028, U+2029 and U+0085 end a line for some YAML readers; Templater looks for its tags in the raw file.
    quoted = json.dumps(text, ensure_ascii=False).replace("<%", "\\u003c%")
    return quoted.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029").replace("\x85", "\\u0085")


def read_properties(text: str) -> dict[str, object]:
    """The note's properties as YAML has them; empty when there are none, or when they are no YAML."""
    lines = text.split("\n")
    end = _frontmatter_end(lines)
    return _loaded([line.removesuffix("\r") for line in lines[1:end]]) if end is not None else {}


def new_note(properties: Mapping[str, Value], region: str) -> str:
    """A whole note of ours. Blank lines keep the markers out of the first and the last Markdown block."""
    return "\n".join(["---", *emit_properties(properties), "---", *_managed(region), ""])


def _managed(region: str) -> list[str]:
    return [BEGIN, "", *region.split("\n"), "", END] if region else [BEGIN, END]


def read_region(text: str) -> str | None:
    """Our region's text without markers and the blank lines next to them; None unless each marker stands there exactly once."""
    found = _region_lines(text.split("\n"))
    if found is None:
        return None
    lines = [line.removesuffix("\r") for line in text.split("\n")[found[0] + 1 : found[1]]]
    return _trimmed(lines)


def read_body(text: str) -> str:
    """What the person wrote around our region, without the properties: the whole body when there are no markers."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    start = (_frontmatter_end(lines) or -1) + 1
    region = _region_lines(lines)
    around = [lines[start:]] if region is None else [lines[start : region[0]], lines[region[1] + 1 :]]
    return "\n\n".join(part for rows in around if (part := "\n".join(rows).strip("\n")).strip())


def read_words(text: str) -> str:
    """The whole body, without the properties."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    end = _frontmatter_end(lines)
    return "\n".join(lines if end is None else lines[end + 1 :]).strip("\n")


def with_own_properties(text: str, properties: Mapping[str, Value], *, without: Sequence[str] = ()) -> str:
    """A person's note with these properties of ours (``vb_``) set, and those ``without`` taken out; nothing else changes."""
    lines = text.split("\n")
    end_of_line = "\r" if lines[0].endswith("\r") else ""
    return "\n".join(_with_properties(lines, properties, dict.fromkeys(without, ()), end_of_line))


def _trimmed(lines: Sequence[str]) -> str:
    """Without one blank line at either end: ours, next to the markers."""
    start = 1 if lines and not lines[0].strip() else 0
    end = len(lines) - 1 if len(lines) > start and not lines[-1].strip() else len(lines)
    return "\n".join(lines[start:end])


def _region_lines(lines: Sequence[str]) -> tuple[int, int] | None:
    begins = [n for n, line in enumerate(lines) if line.strip() == BEGIN]
    ends = [n for n, line in enumerate(lines) if line.strip() == END]
    return (begins[0], ends[0]) if len(begins) == len(ends) == 1 and begins[0] < ends[0] else None


def update_note(
    text: str,
    *,
    base_region: str | None,
    region: str,
    properties: Mapping[str, Value],
    base_properties: Mapping[str, Sequence[str]],
) -> UpdatedNote | None:
    """The note with our region and properties brought up to date; None when the markers are gone, so nothing is ours to change.

    ``base_region`` is the region as we wrote it last (None: unknown, then differing texts clash);
    ``base_properties`` are the properties we wrote last, with our entries of those in ``SHARED_LISTS`` (empty: unknown, then
    whatever we would write is ours). Every line keeps its own line end; lines of ours end like the first one.
    """
    lines = text.split("\n")
    found = _region_lines(lines)
    if found is None:
        return None
    begin, end = found
    end_of_line = "\r" if lines[0].endswith("\r") else ""
    standing = _trimmed([line.removesuffix("\r") for line in lines[begin + 1 : end]])
    merged = merge_texts(base_region if base_region is not None else "", standing, region)
    if merged.text != standing:
        lines[begin + 1 : end] = [line + end_of_line for line in _managed(merged.text)[1:-1]]
    entries = {key: _our_entries(lines, properties, base_properties, key) for key in SHARED_LISTS if key in properties}
    lines = _with_properties(lines, properties, base_properties, end_of_line)
    return UpdatedNote("\n".join(lines), merged.clashes, entries)


def _our_entries(lines: Sequence[str], properties: Mapping[str, Value], base: Mapping[str, Sequence[str]], key: str) -> list[str]:
    wanted = properties[key]
    assert isinstance(wanted, list)
    ours = base.get(key, ()) if base else wanted
    theirs = _standing(lines[1 : _frontmatter_end(lines) or 1], key, without=ours)
    return [item for item in wanted if item in ours or item.casefold() not in theirs]


def _with_properties(
    lines: list[str], properties: Mapping[str, Value], base: Mapping[str, Sequence[str]], end_of_line: str
) -> list[str]:
    close = _frontmatter_end(lines)
    if close is None:
        return [*(line + end_of_line for line in ("---", *emit_properties(properties), "---")), *lines]
    block = lines[1:close]
    for key, value in properties.items():
        if key in SHARED_LISTS and isinstance(value, list):
            block = _with_list(block, key, value, base.get(key, ()), end_of_line)
        elif key.startswith("vb_"):
            block = _with_own(block, key, value, end_of_line)
    for key in SHARED_LISTS:
        if key in base and key not in properties:  # such as tags, once the memo has none
            block = _with_list(block, key, (), base[key], end_of_line)
    for key in base:
        if key not in properties and key.startswith("vb_"):  # such as vb_pinned, once the memo is unpinned
            for start, end in _entries(block, key)[:1]:
                block = [*block[:start], *block[end:]]
    return [lines[0], *block, *lines[close:]]


def _frontmatter_end(lines: Sequence[str]) -> int | None:
    """The line number of the closing fence; None without front matter."""
    if not lines or lines[0].removeprefix("\ufeff").rstrip() != "---":
        return None
    return next((n for n in range(1, len(lines)) if lines[n].rstrip() == "---"), None)


def _entries(block: Sequence[str], key: str) -> list[tuple[int, int]]:
    """Line ranges of the top-level entries with this name, compared without case; an entry's lines below it are included."""
    starts = [n for n, line in enumerate(block) if _KEY.match(line)]
    found = []
    for start in starts:
        match = _KEY.match(block[start])
        if match and match["key"].casefold() == key.casefold():
            end = start + 1
            while end < len(block) and (block[end][:1] in (" ", "\t") or _ITEM.match(block[end])):
                end += 1
            found.append((start, end))
    return found


def _with_own(block: list[str], key: str, value: Value, end_of_line: str) -> list[str]:
    """A ``vb_`` property set to ``value``: in its place, else behind our last one, else on top."""
    new = [line + end_of_line for line in emit_properties({key: value})]
    entries = _entries(block, key)
    if entries:
        start, end = entries[0]
        return [*block[:start], *new, *block[end:]]
    ours = [_entries(block, m["key"])[-1][1] for line in block if (m := _KEY.match(line)) and m["key"].startswith("vb_")]
    at = max(ours, default=0)
    return [*block[:at], *new, *block[at:]]


def _with_list(block: list[str], key: str, wanted: Sequence[str], base: Sequence[str], end_of_line: str) -> list[str]:
    """A shared list with our old entries that are gone taken out and our new ones put in; otherwise as the person left it."""
    gone = [item for item in base if item not in wanted]
    standing = _standing(block, key, without=gone)
    come = [item for item in wanted if item not in base and item.casefold() not in standing]
    if come:
        block = _with_items(block, key, come, end_of_line)
    for item in gone:
        block = _without_item(block, key, item)
    return block


def _standing(block: Sequence[str], key: str, without: Sequence[str]) -> set[str]:
    """The list's values, case-folded, but for those in ``without``."""
    values = [value for start, end in _entries(block, key) for value in _read_items(block[start:end])]
    return {value.casefold() for value in values if value not in without}


def _read_items(entry: Sequence[str]) -> list[str]:
    """The entry's values, only to know what is already there. What is no YAML is read as far as it goes."""
    values = next(iter(_loaded(entry).values()), None)
    if isinstance(values, list):
        return [str(value).lstrip("#") for value in values if value is not None]
    return [_unquoted(m["value"]) for line in entry[1:] if (m := _ITEM.match(line))]


def _loaded(lines: Sequence[str]) -> dict[str, object]:
    import frontmatter
    from yaml import YAMLError

    try:
        # Not ``frontmatter.loads``: a property called content or handler, or one with a number for a name, would make it fail.
        found = frontmatter.YAMLHandler().load("\n".join(lines), Loader=_lenient_loader())
    except (YAMLError, ValueError, TypeError, RecursionError):
        return {}
    return {str(key): value for key, value in found.items()} if isinstance(found, dict) else {}


@cache
def _lenient_loader() -> type:
    """Reads a date that is in no calendar as its text, so that it does not make the other properties unreadable."""
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the quick one is there when PyYAML was built with libyaml

    class Lenient(base):  # type: ignore[misc]
        def construct_yaml_timestamp(self, node: Any) -> Any:
            try:
                return super().construct_yaml_timestamp(node)
            except ValueError:
                return self.construct_scalar(node)

    Lenient.add_constructor("tag:yaml.org,2002:timestamp", Lenient.construct_yaml_timestamp)
    return Lenient


def _unquoted(value: str) -> str:
    value = value.strip()
    if value.startswith('"'):
        try:
            return str(json.loads(value))
        except ValueError:
            return value.strip('"')
    return value.strip("'").lstrip("#")


def _without_item(block: list[str], key: str, item: str) -> list[str]:
    for start, end in _entries(block, key):
        for n in range(start + 1, end):
            match = _ITEM.match(block[n])
            if match and _unquoted(match["value"]) == item:
                rest = [*block[:n], *block[n + 1 :]]
                is_empty = end - start == 2 and not block[start].split(":", 1)[1].strip()
                return [*block[:start], *block[end:]] if is_empty else rest
    return block


def _with_items(block: list[str], key: str, items: Sequence[str], end_of_line: str) -> list[str]:
    entries = _entries(block, key)
    if not entries:
        return [*block, *(line + end_of_line for line in emit_properties({key: list(items)}))]
    start, end = entries[0]
    value = block[start].split(":", 1)[1].strip()
    if not value:
        indents = [line[: len(line) - len(line.lstrip())] for line in block[start + 1 : end] if _ITEM.match(line)]
        indent = indents[-1] if indents else "  "
        return [*block[:end], *(f"{indent}- {_quoted(item)}{end_of_line}" for item in items), *block[end:]]
    if value.startswith("[") and value.endswith("]"):
        inner = value[1:-1].strip().rstrip(",")
        head = block[start].split(":", 1)[0]
        line = f"{head}: [{', '.join(filter(None, [inner, *map(_quoted, items)]))}]{end_of_line}"
        return [*block[:start], line, *block[start + 1 :]]
    return block  # a scalar or a form of the person's own: theirs to keep
