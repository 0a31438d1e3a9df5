"""A person, a server and a machine that all do as they please, and a sync that has to cope: a search for bugs by Hypothesis.

Everything is real (files, catalog, HTTP in some runs, Chroma in some) but the model and, in the other runs, the vector store.
The machine knows the newest text of every memo and, note by note, what the person wrote; it foresees what each clean sync must
leave behind. ``STATE_MACHINE_EXAMPLES=500`` searches at random and for longer than the usual run, which is the same every time.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml  # type: ignore[import-untyped]
from cflow_server import CFlowServer, answer_html, answer_json, answer_status, cut_body, wire_memo
from conftest import Home
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from obsidian import Vault, hash_tree
from tiny_embedder import TinyEmbedder

from vaultbrain.errors import EmbeddingUnavailable, SourceError, VaultbrainError, VaultGone, VectorStoreFailed
from vaultbrain.gist.gist import RULES_VERSION, gist_of
from vaultbrain.index.catalog import Catalog
from vaultbrain.index.tokens import keyword_entry
from vaultbrain.index.vectors import ChromaCollection, IndexNotUsable, VectorIndex
from vaultbrain.memo import clean_text
from vaultbrain.sources import http
from vaultbrain.sources.wire import read_memo
from vaultbrain.sync.mirror import shown_gist
from vaultbrain.sync.sync import SyncOptions
from vaultbrain.vault.markdown import neutralise, normalise, strip_anchors
from vaultbrain.vault.memo_note import memo_properties, note_tags
from vaultbrain.vault.names import memo_name
from vaultbrain.vault.note import BEGIN, END, emit_properties, read_region

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from vaultbrain.index.vectors import IndexState, VectorBatch
    from vaultbrain.memo import Memo
    from vaultbrain.sync.report import SyncReport

LIST = "/api/v1/memo"
DIMENSION = 8
#: A disk in memory where there is one: fsync costs milliseconds elsewhere, and there are thousands of them.
FAST_DISK = Path("/dev/shm")

FRAGMENTS = (
    "plain words", "same words", "same words\nsecond line", "观影清单 #观影 #gear", "漢字與 \U0001f375\U0001f469\u200d\U0001f467",
    "---\ntitle: no title\ntags: [no]\n---", "---", "***", "title: x\n---", "# Heading #gear", "Setext\n===",
    "```python\nprint(1)\n\nprint(2)\n```", "```\nnever closed", "~~~\n%% vaultbrain:end %%\n~~~", "    indented code",
    "| a | b |\n|---|---|\n| 1 | 2 |", "%% hidden %%", "%% open", BEGIN, END, "[[x]] and ![[y]]", "[[x]]", "words ^abc", "^m1-1",
    "words ^m1-2", "- item\n- item 2 #mine", "- [ ] task\n\n  more", "1. one\n2. two", "> quote\n> more",
    "> [!warning]- vaultbrain: both sides changed this part; yours was\n> faked", "a\r\nb\rc", "",
    "   ", "\t", "two spaces  \nbreak", "key:: value", "<div>\nhtml", "half \ud83d and nul \x00",
    "[ref]: https://example.com", "text [^1]\n\n[^1]: foot", "`= this.file`", "line\u2028separator", "\ufeffmark", "#gear",
)  # fmt: skip

#: What is said of the fragment ``^m1-1`` in code, which is the memo's own text there.
FAKED = "a block id is inside code"

OWN_TAGS = ("gear", "mine", "观影", "Own/Tag")
OWN_LINES = (
    "plain words of my own",
    "",
    "  indented",
    "---",
    "# My heading",
    "- a list",
    "trailing blanks  ",
    "same words",
    "^mine-1",
)
OWN_PROPERTIES = (
    ("rating{}: 8",), ("# remark {}",), ("评分{}: 好",), ('author{}: "x: y"',), ("nested{}:", "  vb_id: 9", "  a: 1"),
    ("list{}:", "- a", "- b"), ("said{}: |", '  vb_id: "5"', "", "  tags: [x]"),
)  # fmt: skip

_ANCHOR = re.compile(r"(?:^|[ \t]+)\^m\d+-(\d+)[ \t]*$")
_TOP_LEVEL = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:")
_VB_ID = re.compile(r'^vb_id: "?(\d+)"?\r?$', re.MULTILINE)


class Killed(BaseException):
    """The process ends here, as far as the product can tell."""


@dataclass
class Fuse:
    """Burns at the ``left``-th passage through a door: ``file``, ``catalog``, ``model``, ``store``, or any for an empty name.

    ``killed``: that passage and all later ones raise. ``refused``: one passage, the first from there on that may be refused.
    ``person``: the person does something at that moment.
    """

    kind: str = ""
    left: int = 0
    door: str = ""
    number: int = errno.EIO
    act: Callable[[], None] = lambda: None

    def pass_(self, door: str, refusal: Exception | None = None) -> None:
        if self.left > 0 and door.startswith(self.door):
            self.left -= 1
        if self.left > 0 or not self.kind:
            return
        if self.kind == "killed":
            raise Killed
        if self.kind == "refused" and refusal:
            self.kind = ""
            raise refusal
        if self.kind == "person" and door == "catalog":
            self.kind = ""
            self.act()

    def refuse_file(self) -> OSError:
        return OSError(self.number, os.strerror(self.number))


class FusedEmbedder(TinyEmbedder):
    """The small model behind a fuse."""

    fuse = Fuse()

    def embed_passages(self, texts: Sequence[str]) -> Any:
        self.fuse.pass_("model", EmbeddingUnavailable(embedding="tiny", reason="made to fail"))
        return super().embed_passages(texts)


@dataclass
class MemoryStore:
    """What the vector store promises, without Chroma: a write cut short leaves it dirty, a rebuild replaces all or nothing."""

    chunks: set[str] | None = None
    is_dirty: bool = False
    fuse: Fuse = field(default_factory=Fuse)

    def state(self) -> IndexState:
        return "absent" if self.chunks is None else "dirty" if self.is_dirty else "clean"

    def generation(self) -> int | None:
        return None if self.chunks is None else 1

    def write(self, ids: Sequence[str], vectors: Any, memo_ids: Sequence[str], *, deletes: Sequence[str] = ()) -> None:
        if self.chunks is None or self.is_dirty:
            raise IndexNotUsable(path="memory", reason="made to fail", state=self.state())
        assert len(ids) == len(vectors) == len(memo_ids)
        self.is_dirty = True
        self.chunks |= set(ids[::2])
        self._pass()
        self.chunks |= set(ids)
        self.chunks -= set(deletes) - set(ids)
        self._pass()
        self.is_dirty = False

    def rebuild(self, batches: Iterable[VectorBatch]) -> None:
        chunks = {chunk_id for ids, _, _ in batches for chunk_id in ids}
        self._pass()
        self.chunks, self.is_dirty = chunks, False

    def _pass(self) -> None:
        self.fuse.pass_("store", VectorStoreFailed(path="memory", reason="made to fail"))

    def query(self, vector: Any, k: int) -> list[tuple[str, float]]:
        raise AssertionError("nobody searches here")

    def ids(self) -> set[str]:
        return set(self.chunks or ())

    def count(self) -> int:
        return len(self.ids())

    def close(self) -> None:
        """Nothing is open."""


def lay_fuse(patch: pytest.MonkeyPatch, fuse: Fuse, vault: Path) -> None:
    """Ways out of the product lead over the fuse: renames and deletions in the vault, fsync, writes of catalog and store."""
    for name in ("replace", "rename", "unlink"):
        patch.setattr(Path, name, _fused_path(getattr(Path, name), fuse, vault, may_refuse=name != "unlink"))
    for name in ("write_memo", "write_note", "write_meta", "delete_memo", "replace_chunks", "clear_outbox", "prune_vectors"):
        patch.setattr(Catalog, name, _fused(getattr(Catalog, name), fuse, "catalog", _catalog_error))
    for name in ("upsert", "delete"):
        patch.setattr(ChromaCollection, name, _fused(getattr(ChromaCollection, name), fuse, "store", _store_error))
    patch.setattr(os, "fsync", _fused(os.fsync, fuse, "file", fuse.refuse_file))
    patch.setattr(Catalog, "transaction", _fused_transaction(Catalog.transaction, fuse))


def _catalog_error() -> Exception:
    return sqlite3.OperationalError("made to fail")


def _store_error() -> Exception:
    return VectorStoreFailed(path="chroma", reason="made to fail")


def _fused(real: Callable[..., Any], fuse: Fuse, door: str, refusal: Callable[[], Exception]) -> Callable[..., Any]:
    def fused(*args: Any, **named: Any) -> Any:
        fuse.pass_(door, refusal())
        result = real(*args, **named)
        fuse.pass_(door)
        return result

    return fused


def _fused_path(real: Callable[..., Any], fuse: Fuse, vault: Path, *, may_refuse: bool) -> Callable[..., Any]:
    def fused(path: Path, *args: Any, **named: Any) -> Any:
        if not path.is_relative_to(vault):
            return real(path, *args, **named)
        fuse.pass_("file", fuse.refuse_file() if may_refuse else None)
        result = real(path, *args, **named)
        fuse.pass_("file")
        return result

    return fused


def _fused_transaction(real: Callable[[Catalog], Any], fuse: Fuse) -> Callable[[Catalog], Any]:
    @contextmanager
    def transaction(catalog: Catalog) -> Iterator[None]:
        is_outermost = not catalog._db.in_transaction
        with real(catalog):
            yield
            if is_outermost:
                fuse.pass_("catalog", _catalog_error())
        if is_outermost:
            fuse.pass_("catalog")

    return transaction


# a note as its parts, read without the product


@dataclass(frozen=True)
class Parts:
    """Lines with their carriage returns. ``front`` is None without front matter, ``region`` without one pair of markers."""

    front: list[str] | None
    above: list[str]
    region: list[str] | None
    below: list[str]

    @property
    def entries(self) -> list[list[str]]:
        """The front matter's top-level entries, each with the lines that belong to it."""
        entries: list[list[str]] = []
        for line in self.front or []:
            if entries and (line[:1] in (" ", "\t", "-", "") or line == "\r"):
                entries[-1].append(line)
            else:
                entries.append([line])
        return entries

    @property
    def own(self) -> tuple[list[str], list[str], list[str]]:
        """Everything that is not ours: property lines, body above and below the region."""
        front = [line for entry in self.entries if not _is_shared(entry) and not entry[0].startswith("vb_") for line in entry]
        return front, self.above, self.below

    def listed(self, key: str) -> list[str]:
        """The values of a list property."""
        loaded = yaml.safe_load("\n".join(self.front or [])) or {}
        assert isinstance(loaded, dict), self.front
        return [str(value) for value in loaded.get(key) or []]


def _is_shared(entry: Sequence[str]) -> bool:
    found = _TOP_LEVEL.match(entry[0])
    return found is not None and found[1] in ("tags", "aliases")


def parts_of(text: str) -> Parts:
    lines = text.split("\n")
    front, body = None, lines
    if lines[0].rstrip() == "---":
        close = next(n for n in range(1, len(lines)) if lines[n].rstrip() == "---")
        front, body = lines[1:close], lines[close + 1 :]
    begins = [n for n, line in enumerate(body) if line.strip() == BEGIN]
    ends = [n for n, line in enumerate(body) if line.strip() == END]
    if len(begins) == len(ends) == 1 and begins < ends:
        return Parts(front, body[: begins[0]], body[begins[0] + 1 : ends[0]], body[ends[0] + 1 :])
    return Parts(front, body, None, [])


def bare(line: str) -> str:
    """A line of a region without its anchor and the blanks around it."""
    return _ANCHOR.sub("", line.rstrip("\r")).strip()


@dataclass
class Person:
    """What the person did to one note.

    ``tags`` and ``aliases``: entries of their own. ``typed``: marks typed into our region. ``hidden``: lines of ours that they
    changed or deleted. ``is_exact``: our region must show the memo and nothing else. ``is_whole``: Obsidian must find no fault
    with it. ``is_listed``: its tags and aliases are known exactly. ``is_forgotten``: the catalog was lost since it was written.
    """

    tags: set[str] = field(default_factory=set)
    aliases: set[str] = field(default_factory=set)
    typed: set[str] = field(default_factory=set)
    hidden: set[str] = field(default_factory=set)
    is_exact: bool = True
    is_whole: bool = True
    is_listed: bool = True
    is_forgotten: bool = False
    unmarked: tuple[str, str] | None = None  # the note before and after they took our markers out


PICK = st.integers(0, 99)
TEXT = st.builds(
    lambda blocks, gaps: "".join(block + gap for block, gap in zip(blocks, gaps, strict=True)),
    st.shared(st.integers(0, 5), key="blocks").flatmap(lambda n: st.lists(st.sampled_from(FRAGMENTS), min_size=n, max_size=n)),
    st.shared(st.integers(0, 5), key="blocks").flatmap(
        lambda n: st.lists(st.sampled_from(("\n\n", "\n\n", "\n", "\n\n\n")), min_size=n, max_size=n)
    ),
)


class SyncMachine(RuleBasedStateMachine):
    """One person's vault and server, for the length of one example."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="vb-machine-", dir=FAST_DISK if FAST_DISK.is_dir() else None)).resolve()
        self.server: CFlowServer | None = None
        self.memos: list[dict[str, Any]] = []
        self.gone: list[dict[str, Any]] = []
        self.versions: dict[str, list[dict[str, Any]]] = {}
        self.people: dict[str, Person] = {}
        self.removed: dict[str, tuple[Path, bytes, Person]] = {}
        self.foreign: dict[Path, bytes] = {}
        self.in_trash: list[bytes] = []
        self.alive: dict[str, set[int]] = {}
        self.spent: dict[str, set[int]] = {}
        self.counter = 0
        self.next_id = 1
        self.shown_once: dict[str, set[int]] = {}
        self.unnamed: dict[Path, str] = {}
        self.elsewhere: dict[str, tuple[Path, Person]] = {}
        self.withheld: set[str] = set()
        self.store: MemoryStore | None = MemoryStore()

    @initialize(
        source=st.sampled_from(("export", "export", "export", "server")),
        chroma=st.sampled_from((False, False, False, True)),
        texts=st.lists(TEXT, min_size=2, max_size=4),
    )
    def begin(self, source: str, chroma: bool, texts: list[str]) -> None:
        if source == "server":
            self.server = CFlowServer(self.memos).start()
            self.server.memos = self.memos
        vault = self.root / "vault"
        (vault / ".obsidian").mkdir(parents=True)
        address = self.server.url if self.server else "../export.json"
        (vault / "vaultbrain.toml").write_text(
            f'source = "{address}"\nstate_dir = "../state"\ntimezone = "UTC"\ntimeout = 2\nlock_timeout = 1\n', encoding="utf-8"
        )
        self.home = Home(vault, address)
        if chroma:
            self.store = None
        for text in texts:
            self.add(text)
        self.sync_cleanly(confirm=False, restore=False)

    def teardown(self) -> None:
        try:
            if hasattr(self, "home"):
                self.sync_cleanly(confirm=True, restore=False)
        finally:
            if self.server:
                self.server.stop()
            shutil.rmtree(self.root)

    # the server

    @rule(text=TEXT)
    def add(self, text: str) -> None:
        self.memos.append(wire_memo(self.next_id, text))
        self.next_id += 1

    @rule(text=TEXT, shape=st.sampled_from(("note", "folder", "other memo", "empty")))
    def add_where_a_file_of_the_persons_stands(self, text: str, shape: str) -> None:
        wire = wire_memo(self.next_id, text)
        path = self.home.memos / f"{memo_name(self._memo(wire).title, str(self.next_id))}.md"
        if shape == "folder":
            path = path / "inner.md"
        if path.exists():
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        words = {"other memo": f'---\nvb_kind: "memo"\nvb_id: "{90_000 + self.next_id}"\n---\nmine\n', "empty": ""}
        path.write_text(words.get(shape, "# My own page\n"), encoding="utf-8")
        self.foreign[path] = path.read_bytes()
        self.add(text)

    @precondition(lambda self: self.memos)
    @rule(
        pick=PICK,
        how=st.sampled_from(("append", "insert", "change", "shorten", "swap", "drop", "first line", "all", "undo", "undo")),
        text=TEXT,
        is_silent=st.sampled_from((False, False, True)),
    )
    def edit(self, pick: int, how: str, text: str, is_silent: bool) -> None:
        """``is_silent``: the server's time stays as it was; so it does when an edit is undone in its database."""
        memo = self.memos[pick % len(self.memos)]
        versions = self.versions.setdefault(str(memo["id"]), [])
        if how == "undo":
            memo.update(versions.pop() if versions else {})
            return
        versions.append(dict(memo))
        blocks = memo["content"].split("\n\n")
        at = (pick // 7) % len(blocks)
        lines = blocks[at].split("\n")
        match how:
            case "append":
                blocks.append(text)
            case "insert":
                blocks.insert(at, text)
            case "change":
                lines[pick % len(lines)] += f" changed {pick}"
                blocks[at] = "\n".join(lines)
            case "shorten":
                blocks = blocks[:at]
            case "swap":
                blocks[at], blocks[0] = blocks[0], blocks[at]
            case "drop":
                del blocks[at]
            case "first line":
                blocks = [f"Title {pick} #gear\n{blocks[0]}", *blocks[1:]]
            case "all":
                blocks = [text]
        memo["content"] = "\n\n".join(blocks)
        memo["updatedTs"] += 0 if is_silent else 60

    @precondition(lambda self: self.memos)
    @rule(pick=PICK, what=st.sampled_from(("pinned", "visibility", "rowStatus")))
    def toggle(self, pick: int, what: str) -> None:
        memo = self.memos[pick % len(self.memos)]
        values = {"pinned": (True, False), "visibility": ("PUBLIC", "PRIVATE"), "rowStatus": ("ARCHIVED", "NORMAL")}[what]
        memo[what] = values[memo[what] == values[0]]

    @precondition(lambda self: self.memos)
    @rule(pick=PICK)
    def delete(self, pick: int) -> None:
        self.gone.append(self.memos.pop(pick % len(self.memos)))

    @precondition(lambda self: self.gone)
    @rule(pick=PICK)
    def add_again(self, pick: int) -> None:
        self.memos.append(self.gone.pop(pick % len(self.gone)))

    # the person

    @precondition(lambda self: self.notes())
    @rule(pick=PICK, line=st.sampled_from(OWN_LINES), above=st.booleans(), end=st.sampled_from(("\n", "\n", "\r\n", "")))
    def write_outside(self, pick: int, line: str, above: bool, end: str) -> None:
        _, path = self._pick(pick)
        text = self._read(path)
        parts = parts_of(text)
        if parts.region is None:
            return
        if not above:
            self._write(path, text + ("" if parts.below else "\n") + line + end)
        elif parts.front is not None:
            lines = text.split("\n")
            lines.insert(len(parts.front) + 2, line + end.removesuffix("\n"))
            self._write(path, "\n".join(lines))

    @precondition(lambda self: self.notes())
    @rule(pick=PICK)
    def trim_end(self, pick: int) -> None:
        _, path = self._pick(pick)
        self._write(path, self._read(path).rstrip("\n"))

    @precondition(lambda self: self.notes())
    @rule(pick=PICK, own=st.sampled_from(OWN_PROPERTIES))
    def write_property(self, pick: int, own: tuple[str, ...]) -> None:
        _, path = self._pick(pick)
        parts = parts_of(self._read(path))
        if parts.front is not None:
            self.counter += 1
            entries = parts.entries
            entries.insert(pick % (len(entries) + 1), [line.format(self.counter) for line in own])
            self._write_front(path, parts, entries)

    @precondition(lambda self: self.notes())
    @rule(pick=PICK, key=st.sampled_from(("tags", "aliases")), value=st.sampled_from(OWN_TAGS))
    def write_own_entry(self, pick: int, key: str, value: str) -> None:
        memo_id, path = self._pick(pick)
        parts = parts_of(self._read(path))
        if parts.front is None or value.casefold() in [entry.casefold() for entry in parts.listed(key)]:
            return
        entries = parts.entries
        found = next((entry for entry in entries if entry[0].startswith(f"{key}:")), None)
        if found is None:
            entries.insert(pick % (len(entries) + 1), [f"{key}:", f"  - {value}"])
        elif "[" in found[0]:
            inner = found[0].split("[", 1)[1].rsplit("]", 1)[0]
            found[0] = f"{key}: [{inner}{', ' if inner.strip() else ''}{value}]"
        else:
            indent = found[1].partition("-")[0] if len(found) > 1 else "  "
            found.insert(1 + pick % len(found), f"{indent}- {value}")
        getattr(self.people[memo_id], key).add(value)
        self._write_front(path, parts, entries)

    @precondition(lambda self: self.notes())
    @rule(pick=PICK, key=st.sampled_from(("tags", "aliases")), flow=st.booleans())
    def restyle_entries(self, pick: int, key: str, flow: bool) -> None:
        memo_id, path = self._pick(pick)
        parts = parts_of(self._read(path))
        if parts.front is None or not (values := parts.listed(key)):
            return
        plain = [value if re.fullmatch(r"[\w/]+", value) and not value.isdigit() else json.dumps(value) for value in values]
        if flow:  # what the person wrote in brackets is only added to
            self.people[memo_id].is_listed = False
        new = [f"{key}: [{', '.join(plain)}]"] if flow else [f"{key}:", *(f"- {value}" for value in plain)]
        self._write_front(path, parts, [new if entry[0].startswith(f"{key}:") else entry for entry in parts.entries])

    @precondition(lambda self: self.notes())
    @rule(pick=PICK)
    def remove_properties(self, pick: int) -> None:
        memo_id, path = self._pick(pick)
        text = self._read(path)
        parts = parts_of(text)
        if parts.front is None or parts.region is None or "".join(parts.above).strip().startswith("---"):
            return
        row = self._row(memo_id)
        if row is None or row.status != "written" or self.home.vault / row.path != path:
            return
        self.people[memo_id].tags.clear()
        self.people[memo_id].aliases.clear()
        self.unnamed[path] = memo_id
        self._write(path, "\n".join(text.split("\n")[len(parts.front) + 2 :]))

    @precondition(lambda self: self.notes())
    @rule(pick=PICK, how=st.sampled_from(("insert", "insert", "change", "delete")))
    def edit_inside(self, pick: int, how: str) -> None:
        memo_id, path = self._pick(pick)
        parts = parts_of(self._read(path))
        if parts.region is None:
            return
        self.counter += 1
        mark, person, region = f"mine{self.counter}x", self.people[memo_id], list(parts.region)
        worded = [n for n, line in enumerate(region) if bare(line)]
        if how == "insert":
            region.insert(pick % (len(region) + 1), mark)
        elif not worded:
            return
        elif how == "change":
            at = worded[pick % len(worded)]
            person.hidden.add(bare(region[at]))
            region[at] = f"{mark} {region[at]}"
        else:
            first = last = worded[pick % len(worded)]
            while first - 1 in worded:
                first -= 1
            while last + 1 in worded:
                last += 1
            person.hidden.update(map(bare, region[first : last + 1]))
            del region[first : last + 1]
        person.typed = {known for known in person.typed if known in "\n".join(region)}
        if how != "delete":
            person.typed.add(mark)
        person.is_exact = person.is_whole = False
        self._write_region(path, parts, region)

    @precondition(lambda self: self.notes())
    @rule(pick=PICK, to_crlf=st.booleans())
    def convert_line_ends(self, pick: int, to_crlf: bool) -> None:
        _, path = self._pick(pick)
        text = self._read(path).replace("\r\n", "\n")
        self._write(path, text.replace("\n", "\r\n") if to_crlf else text)

    @precondition(lambda self: self.notes())
    @rule(pick=PICK, which=st.sampled_from((BEGIN, END)))
    def remove_marker(self, pick: int, which: str) -> None:
        memo_id, path = self._pick(pick)
        text = self._read(path)
        if parts_of(text).region is not None and _VB_ID.search(text):
            after = text.replace(which, "", 1)
            if parts_of(after).region is None:
                self.people[memo_id].unmarked = (text, after)
                self._write(path, after)

    @precondition(lambda self: any(person.unmarked for person in self.people.values()))
    @rule(pick=PICK)
    def put_marker_back(self, pick: int) -> None:
        unmarked = [memo_id for memo_id, person in self.people.items() if person.unmarked and memo_id in self.notes()]
        if unmarked:
            memo_id = unmarked[pick % len(unmarked)]
            path = self.notes()[memo_id]
            before, after = self.people[memo_id].unmarked or ("", "")
            if self._read(path) == after:
                self.people[memo_id].unmarked = None
                self._write(path, before)

    @precondition(lambda self: self.notes())
    @rule(
        pick=PICK,
        place=st.sampled_from(("projects/renamed.md", "CFlow/Memos/renamed.md", "CFlow/Memos/zzz (9).md", "观影.md")),
        leaves_page=st.booleans(),
    )
    def move_note(self, pick: int, place: str, leaves_page: bool) -> None:
        memo_id, path = self._pick(pick)
        target = self.home.vault / place
        if not target.exists() and memo_id in self._identified():
            target.parent.mkdir(parents=True, exist_ok=True)
            path.rename(target)
            if leaves_page:
                path.write_text("a page of my own in its place\n", encoding="utf-8")
                self.foreign[path] = path.read_bytes()

    @precondition(lambda self: len(self._identified()) > 1)
    @rule(pick=PICK)
    def swap_names(self, pick: int) -> None:
        found = sorted(self._identified().items())
        (_, first), (_, second) = found[pick % len(found)], found[(pick + 1) % len(found)]
        between = first.with_name("between.md")
        first.rename(between)
        second.rename(first)
        between.rename(second)

    @precondition(lambda self: self.notes())
    @rule(pick=PICK, how=st.sampled_from(("unlink", "trash", "take its place")))
    def delete_note(self, pick: int, how: str) -> None:
        memo_id, path = self._pick(pick)
        content = path.read_bytes()
        person = self.people.pop(memo_id)
        row = self._row(memo_id)
        if row is not None and row.status in ("written", "conflict"):
            self.removed[memo_id] = (path, content, person)
        path.unlink()
        self.unnamed.pop(path, None)
        if how == "trash":
            (self.home.vault / ".trash").mkdir(exist_ok=True)
            (self.home.vault / ".trash" / f"deleted {memo_id}.md").write_bytes(content)
        others = [other for other in self._identified() if other != memo_id]
        if how == "take its place" and others:
            self.notes()[others[pick % len(others)]].rename(path)

    @precondition(lambda self: self.removed)
    @rule(pick=PICK, elsewhere=st.booleans())
    def bring_note_back(self, pick: int, elsewhere: bool) -> None:
        memo_id = sorted(self.removed)[pick % len(self.removed)]
        path, content, person = self.removed[memo_id]
        if elsewhere:
            path = self.home.vault / "brought back" / f"{memo_id}.md"
        if path.exists() or memo_id in self.notes() or memo_id in self.elsewhere or not _VB_ID.search(content.decode()):
            return
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        row = self._row(memo_id)
        if elsewhere and row is not None and row.status == "removed":  # nobody looks for it before --restore
            self.foreign[path] = content
            self.elsewhere[memo_id] = path, person
        else:
            del self.removed[memo_id]
            self.people[memo_id] = person

    @precondition(lambda self: not self.unnamed)
    @rule(everything=st.booleans())
    def lose_the_state(self, everything: bool) -> None:
        """The whole folder, or the catalog alone as the words of ``StateUnreadable`` advise."""
        if everything:
            shutil.rmtree(self.home.state, ignore_errors=True)
            self.store = self.store and MemoryStore()
        else:
            for file in self.home.state.glob("catalog.sqlite3*"):
                file.unlink()
        self._find_elsewhere()
        ids = {str(memo["id"]) for memo in self.memos}
        for memo_id, path in self.notes().items():
            if memo_id not in ids:
                self._leave_alone(memo_id, path)
                continue
            person = self.people.setdefault(memo_id, Person())
            person.hidden.clear()
            person.tags.clear()
            person.aliases.clear()
            person.is_listed, person.is_forgotten = False, True
        for history in (self.removed, self.alive, self.spent, self.shown_once, self.withheld):
            history.clear()

    def _leave_alone(self, memo_id: str, path: Path) -> None:
        """A note that no catalog knows any more is a file of the person's; its memo does not come back."""
        self.foreign[path] = path.read_bytes()
        self.gone = [memo for memo in self.gone if str(memo["id"]) != memo_id]
        self.people.pop(memo_id, None)

    def _find_elsewhere(self) -> None:
        for memo_id, (path, person) in self.elsewhere.items():
            del self.foreign[path]
            self.people[memo_id] = person
        self.elsewhere.clear()

    def _foresee_clashes(self) -> None:
        """After the catalog was lost, a note without a memo is nobody's, and one that differs from its memo gets both texts."""
        texts = {str(memo["id"]): memo["content"] for memo in self.memos}
        known, _, _ = self._forecast()
        for memo_id, path in self.notes().items():
            person = self.people.setdefault(memo_id, Person())
            if person.is_forgotten and memo_id not in texts and memo_id not in known:
                self._leave_alone(memo_id, path)
            if person.is_forgotten and memo_id in texts and _shown(memo_id, self._read(path)) != _expected(texts[memo_id]):
                person.is_exact = person.is_whole = False

    # syncs

    @rule(confirm=st.booleans(), restore=st.sampled_from((False, False, False, True)))
    def sync_cleanly(self, confirm: bool, restore: bool) -> None:
        if restore:
            self._find_elsewhere()
        self._foresee_clashes()
        before = {memo_id: self._read(path) for memo_id, path in self.notes().items()}
        places = self.notes()
        known, lost, written = self._forecast()
        listed = {str(memo["id"]) for memo in self.memos}
        gone = known - listed
        held = self._held()
        assert self.withheld & gone <= held
        withheld = set() if confirm else gone if _is_mass(len(gone), len(known)) else gone & held
        lost -= gone - withheld
        written -= gone - withheld
        if not restore and _is_mass(len(lost), len(written)):
            tree = hash_tree(self.home.vault, with_mtime=True)
            with pytest.raises(VaultGone):
                self._sync(SyncOptions(confirm_deletions=confirm))
            assert hash_tree(self.home.vault, with_mtime=True) == tree
            self.sync_cleanly(confirm, restore=True)
            return
        report = self._sync(SyncOptions(confirm_deletions=confirm, restore=restore))
        assert report.failed == [], report.failed
        assert report.withheld == len(withheld)
        self.withheld = withheld
        self._check(before, places, listed | withheld, gone - withheld, restored=restore)
        self._check_idempotence(is_withheld=bool(withheld))

    @rule()
    def rehearse(self) -> None:
        self._export()
        tree = hash_tree(self.home.vault.parent, with_mtime=True)
        with suppress(VaultGone):
            self._sync(SyncOptions(dry_run=True), exports=False)
        assert hash_tree(self.home.vault.parent, with_mtime=True) == tree

    @rule(
        kind=st.sampled_from(("killed", "killed", "refused", "person", "stopped")),
        at=st.one_of(
            st.tuples(st.just(""), st.integers(1, 45)),
            st.tuples(st.just("file"), st.integers(1, 8)),
            st.tuples(st.just("catalog"), st.integers(1, 20)),
            st.tuples(st.sampled_from(("store", "model")), st.integers(1, 3)),
        ),
        number=st.sampled_from((errno.EIO, errno.ENOSPC, errno.EACCES)),
        pick=PICK,
        options=st.sampled_from((SyncOptions(), SyncOptions(), SyncOptions(full=True), SyncOptions(restore=True))),
    )
    def sync_in_trouble(self, kind: str, at: tuple[str, int], number: int, pick: int, options: SyncOptions) -> None:
        self._foresee_clashes()
        before = {memo_id: self._read(path) for memo_id, path in self.notes().items()}
        fuse = Fuse(kind, at[1], at[0], number, lambda: self._interfere(pick, before))
        with pytest.MonkeyPatch.context() as patch:
            lay_fuse(patch, fuse, self.home.vault)
            with suppress(Killed, VaultbrainError, sqlite3.OperationalError):
                self._sync(SyncOptions() if options.restore and self.elsewhere else options, fuse)
        after = self.notes()
        for memo_id, text in before.items():
            if memo_id in after:
                self._check_own(memo_id, text, self._read(after[memo_id]))
            else:
                assert memo_id not in {str(memo["id"]) for memo in self.memos}, f"note {memo_id} is gone"
                self._forget(memo_id, text)
        assert self._trash() >= Counter(self.in_trash)
        self._check_foreign()
        self._adopt()
        known, _, _ = self._forecast()
        for memo_id in self.removed.keys() - known:
            self._forget(memo_id, None)
        for memo_id, path in after.items():
            if memo_id not in before:
                self.removed.pop(memo_id, None)
            numbers = set(map(int, re.findall(rf"\^m{memo_id}-(\d+)[ \t]*\r?$", self._read(path), re.MULTILINE)))
            self.shown_once.setdefault(memo_id, set()).update(numbers - self.alive.get(memo_id, set()))

    def _forget(self, memo_id: str, text: str | None) -> None:
        """The memo is no longer on the server; its note, if there was one, belongs into the trash as it was."""
        for history in (self.removed, self.alive, self.spent, self.shown_once, self.people, self.elsewhere):
            history.pop(memo_id, None)
        if text is not None:
            self.in_trash.append(text.encode())

    @rule(fault=st.sampled_from(("500", "cut", "html", "short", "missing")))
    def sync_with_a_bad_listing(self, fault: str) -> None:
        self._export()
        normal = [memo for memo in self.memos if memo["rowStatus"] == "NORMAL"]
        if self.server:
            if fault in ("short", "missing") and not normal:
                return
            behaviours = {
                "500": answer_status(500, retry_after="0"), "cut": cut_body(), "html": answer_html(),
                "short": answer_json([memo for memo in self.memos if memo not in normal[-1:]]), "missing": answer_json([]),
            }  # fmt: skip
            self.server.behaviours[LIST] = behaviours[fault]
        else:
            file = self.root / "export.json"
            bodies = {"cut": file.read_bytes()[:-1], "html": b"<html>", "500": b"", "short": b'{"code": 1, "data": []}'}
            file.unlink()
            if fault != "missing":
                file.write_bytes(bodies[fault])
        for leftover in self.home.memos.glob(".vaultbrain-*"):  # a sync takes these away before it asks for the listing
            leftover.unlink()
        tree, catalog = hash_tree(self.home.vault, with_mtime=True), hash_tree(self.home.state).get("catalog.sqlite3")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(http, "BACKOFF_STEP_S", 0)
            with pytest.raises(SourceError):
                self._sync(SyncOptions(confirm_deletions=True), exports=False)
        assert hash_tree(self.home.vault, with_mtime=True) == tree
        assert hash_tree(self.home.state).get("catalog.sqlite3") == catalog or catalog is None
        if self.server:
            self.server.behaviours.clear()

    # what must hold

    def _check(
        self, before: dict[str, str], places: dict[str, Path], expected: set[str], deleted: set[str], *, restored: bool
    ) -> None:
        if restored:
            self.removed.clear()
        for memo_id in deleted:
            self._forget(memo_id, before.get(memo_id))
        notes = self.notes()
        shown = expected - set(self.removed)
        assert set(notes) == shown, (sorted(notes), sorted(shown))
        self._adopt()
        assert self._trash() >= Counter(self.in_trash)
        self._check_foreign()
        assert not list(self.home.vault.rglob(".vaultbrain-*"))
        wires = {str(memo["id"]): memo for memo in self.memos}
        for memo_id, path in notes.items():
            if memo_id in places:
                assert path == places[memo_id], (memo_id, path)
                self._check_own(memo_id, before[memo_id], self._read(path))
            if memo_id in wires:
                self._check_note(self._memo(wires[memo_id]), self._read(path), before.get(memo_id))
            self.people[memo_id].is_forgotten = False
        self._check_catalog(wires, expected)
        self._check_obsidian(notes)
        self._check_anchors()

    def _check_own(self, memo_id: str, before: str, after: str) -> None:
        """The person's lines are all there, byte for byte; without our markers every byte is theirs."""
        person = self.people.get(memo_id, Person())
        if parts_of(before).region is None:
            assert after == before, memo_id
            return
        old, new = parts_of(before), parts_of(after)
        assert new.own == old.own, (memo_id, old.own, new.own)
        for key in ("tags", "aliases"):
            assert getattr(person, key) <= set(new.listed(key)), (memo_id, key, getattr(person, key), new.listed(key))
        assert new.region is not None
        region = "\n".join(new.region)
        assert all(mark in region for mark in person.typed), (memo_id, person.typed, region)

    def _check_note(self, memo: Memo, text: str, before: str | None) -> None:
        """The note shows the memo as it is now."""
        person = self.people[memo.id]
        parts = parts_of(text)
        if parts.region is None:
            assert person.unmarked
            return
        person.unmarked = None
        if person.is_exact:
            assert _shown(memo.id, text) == _expected(memo.content), memo.id
        else:
            wanted = Counter(bare(line) for line in _expected(memo.content).split("\n"))
            missing = {line for line in wanted - Counter(map(bare, parts.region)) if line and line not in person.hidden}
            assert not missing, (memo.id, missing, parts.region)
        if parts.front is None:
            return
        properties = memo_properties(memo, shown_gist(gist_of(memo)), UTC)
        ours = emit_properties({key: value for key, value in properties.items() if key.startswith("vb_")})
        standing = [line.rstrip("\r") for entry in parts.entries if entry[0].startswith("vb_") for line in entry]
        assert sorted(ours) == sorted(standing), memo.id
        aliases = properties.get("aliases", [])
        assert isinstance(aliases, list)
        for key, wanted_ours in (("tags", note_tags(memo.tags)), ("aliases", aliases)):
            entries = Counter(entry.casefold() for entry in parts.listed(key))
            known = {entry.casefold() for entry in [*getattr(person, key), *wanted_ours]}
            assert known <= set(entries), (memo.id, key, known, entries)
            assert not person.is_listed or known == set(entries), (memo.id, key, known, entries)
            assert max(entries.values(), default=1) == 1, (memo.id, key, entries)

    def _check_catalog(self, wires: dict[str, dict[str, Any]], expected: set[str]) -> None:
        with self.home.catalog() as catalog:
            marks = catalog.memo_marks()
            memos, originals = catalog.load_memos(list(marks)), catalog.load_originals(list(marks))
            assert set(memos) == expected
            for memo_id, wire in wires.items():
                assert originals[memo_id].content == clean_text(wire["content"])
                assert originals[memo_id].memo_hash == marks[memo_id].memo_hash == self._memo(wire).memo_hash
                assert catalog.is_kept(memo_id) == (memos[memo_id] != originals[memo_id])
            assert set(catalog.note_rows()) == expected
            rows = catalog._db.execute(
                "SELECT m.id, k.title, k.tags, k.body FROM keywords k LEFT JOIN memos m ON m.number = k.rowid"
            )
            words = {memo_id: tuple(fields) for memo_id, *fields in rows}
            entries = {memo_id: keyword_entry(memo) for memo_id, memo in memos.items()}
            assert words == {memo_id: (entry.title, entry.tags, entry.body) for memo_id, entry in entries.items()}
            assert catalog.gists.load(memos, RULES_VERSION) == {memo_id: gist_of(memo) for memo_id, memo in memos.items()}
            assert catalog._db.execute("SELECT count(*) FROM gists").fetchone() == (len(memos),)
            chunks = {chunk_id for (chunk_id,) in catalog._db.execute("SELECT chunk_id FROM chunks")}
            assert not catalog.count_stale_vectors()
            is_told = bool(catalog.dimension(TinyEmbedder.fingerprint))  # without a vector there is no store to tell
            assert not is_told or not catalog.count_outbox()
            manifest = list(catalog.manifest())
        assert {entry["memo_id"] for entry in manifest} == expected
        assert {chunk_id for entry in manifest for chunk_id in entry["chunk_ids"]} == chunks
        assert not is_told or self._stored() == chunks

    def _check_obsidian(self, notes: dict[str, Path]) -> None:
        whole = {path.relative_to(self.home.vault).as_posix() for memo_id, path in notes.items() if self._is_whole(memo_id, path)}
        found = Vault.load(self.home.vault).problems("CFlow")
        problems = [line for line in found if line.split(".md:")[0] + ".md" in whole and not line.endswith(FAKED)]
        assert not problems, problems

    def _is_whole(self, memo_id: str, path: Path) -> bool:
        text = self._read(path)
        parts = parts_of(text)
        return (
            self.people[memo_id].is_whole and text.endswith("\n") and "\r" not in text and None not in (parts.region, parts.front)
        )

    def _check_anchors(self) -> None:
        """A number whose block is gone never comes back."""
        with self.home.catalog() as catalog:
            now = {memo_id: {n for n, _ in row.anchors} for memo_id in catalog.note_rows() if (row := catalog.load_note(memo_id))}
        for memo_id, numbers in now.items():
            if memo_id in self.removed:
                continue
            back = numbers & self.spent.get(memo_id, set())
            assert not back, (memo_id, back)
            shown = self.alive.get(memo_id, set()) | self.shown_once.pop(memo_id, set())
            self.spent[memo_id] = self.spent.get(memo_id, set()) | (shown - numbers)
            self.alive[memo_id] = numbers

    def _check_foreign(self) -> None:
        for path, content in self.foreign.items():
            assert path.read_bytes() == content, path

    def _check_idempotence(self, *, is_withheld: bool) -> None:
        tree = hash_tree(self.home.vault.parent)
        times = hash_tree(self.home.vault, with_mtime=True)
        report = self._sync()
        assert is_withheld or report.is_empty, report
        assert (report.notes_written, report.conflicts, report.chunks_embedded, report.failed) == (0, 0, 0, [])
        assert hash_tree(self.home.vault.parent) == tree
        assert hash_tree(self.home.vault, with_mtime=True) == times

    # small things

    def _sync(self, options: SyncOptions | None = None, fuse: Fuse | None = None, *, exports: bool = True) -> SyncReport:
        if exports:
            self._export()
        fuse = fuse or Fuse()
        embedder = FusedEmbedder(dimension=DIMENSION)
        embedder.fuse = fuse
        brain = self.home.brain(embedder)
        if self.store:
            self.store.fuse = fuse
            brain._store = self.store

        def should_stop() -> bool:
            if fuse.kind == "stopped":
                fuse.left -= 8
            return fuse.kind == "stopped" and fuse.left <= 0

        try:
            return brain.sync(options, should_stop=should_stop)
        finally:
            if isinstance(brain._store, VectorIndex):
                brain._store.close()

    def _export(self) -> None:
        if not self.server:
            (self.root / "export.json").write_text(json.dumps(self.memos), encoding="utf-8")

    def _stored(self) -> set[str]:
        if self.store:
            return self.store.ids()
        store = self.home.brain()._vector_store(DIMENSION)
        try:
            return store.ids() if store.state() != "absent" else set()
        finally:
            store.close()

    def _memo(self, wire: dict[str, Any]) -> Memo:
        return read_memo(wire, self.server.url if self.server else "")

    def _row(self, memo_id: str) -> Any:
        with self.home.catalog() as catalog:
            return catalog.load_note(memo_id)

    def _forecast(self) -> tuple[set[str], set[str], set[str]]:
        """Memos on record, notes on record that are nowhere in the vault, notes on record."""
        with self.home.catalog() as catalog:
            known = set(catalog.memo_marks())
            written = {memo_id for memo_id, row in catalog.note_rows().items() if row.status in ("written", "conflict")}
        return known, written - set(self.notes()), written

    def _held(self) -> set[str]:
        """Memos whose deletion waits for a word of the person's."""
        with self.home.catalog() as catalog:
            return set(json.loads(catalog.read_meta("withheld") or "[]"))

    def _interfere(self, pick: int, before: dict[str, str]) -> None:
        notes = sorted((memo_id, path) for memo_id, path in self.notes().items() if memo_id in before)
        if notes:
            memo_id, path = notes[pick % len(notes)]
            text = self._read(path)
            if parts_of(text).region is not None:
                before[memo_id] = text + ("typed meanwhile\n" if parts_of(text).below else "\ntyped meanwhile\n")
                self._write(path, before[memo_id])

    def notes(self) -> dict[str, Path]:
        """memo id → its one note, wherever it is. A note whose properties the person removed is where the catalog knows it."""
        found: dict[str, Path] = {}
        for path in sorted(self.home.vault.rglob("*.md")):
            if ".trash" in path.parts or path in self.foreign or not path.is_file():
                continue
            match = _VB_ID.search(self._read(path).split("\n---", 1)[0])
            memo_id = match[1] if match else self.unnamed.get(path)
            if memo_id:
                assert memo_id not in found, f"two notes for memo {memo_id}: {found[memo_id]} and {path}"
                found[memo_id] = path
        return found

    def _identified(self) -> dict[str, Path]:
        return {memo_id: path for memo_id, path in self.notes().items() if path not in self.unnamed}

    def _adopt(self) -> None:
        for memo_id in self.notes():
            self.people.setdefault(memo_id, Person())

    def _pick(self, pick: int) -> tuple[str, Path]:
        notes = sorted(self.notes().items())
        memo_id, path = notes[pick % len(notes)]
        self.people.setdefault(memo_id, Person())
        return memo_id, path

    def _trash(self) -> Counter[bytes]:
        return Counter(path.read_bytes() for path in (self.home.vault / ".trash").glob("*.md"))

    def _read(self, path: Path) -> str:
        return path.read_bytes().decode("utf-8")

    def _write(self, path: Path, text: str) -> None:
        path.write_bytes(text.encode("utf-8"))

    def _write_front(self, path: Path, parts: Parts, entries: Sequence[Sequence[str]]) -> None:
        text = self._read(path)
        lines = text.split("\n")
        assert parts.front is not None
        end = "\r" if lines[0].endswith("\r") else ""
        front = [line.rstrip("\r") + end for entry in entries for line in entry]
        self._write(path, "\n".join([lines[0], *front, *lines[len(parts.front) + 1 :]]))

    def _write_region(self, path: Path, parts: Parts, region: Sequence[str]) -> None:
        lines = self._read(path).split("\n")
        assert parts.region is not None
        end = "\r" if lines[0].endswith("\r") else ""
        at = len(lines) - len(parts.below) - 1 - len(parts.region)
        self._write(
            path, "\n".join([*lines[:at], *(line.rstrip("\r") + end for line in region), *lines[at + len(parts.region) :]])
        )


def _is_mass(gone: int, known: int) -> bool:
    """The rule for small collections: more than two and more than half."""
    return gone > 2 and gone * 2 > known


def _expected(content: str) -> str:
    return normalise(neutralise(clean_text(content).strip("\n")))


def _shown(memo_id: str, text: str) -> str:
    return strip_anchors(read_region(text) or "", memo_id)


@pytest.mark.timeout(1_200)
def test_whatever_happens_the_next_sync_puts_it_right() -> None:
    """No order of edits, moves, deletions, crashes and bad listings loses a word or leaves server, catalog and vault apart."""
    examples = int(os.environ.get("STATE_MACHINE_EXAMPLES", "0"))
    run_state_machine_as_test(
        SyncMachine,
        settings=settings(
            max_examples=examples or 60,
            stateful_step_count=25,
            derandomize=not examples,
            database=None,
            deadline=None,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        ),
    )
