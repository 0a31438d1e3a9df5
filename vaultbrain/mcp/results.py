"""The results of the tools: their fields, and the JSON Schema that tells a client of them.

Pure. Fields that say nothing are left out of what is sent, to save the reader's attention; those without a default are always
there. A field whose documentation says "fenced" holds text of memos between the marks of its result (``mcp.fence``).
"""

from __future__ import annotations

from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from types import UnionType
from typing import Annotated, Any, get_args, get_origin, get_type_hints


@dataclass(frozen=True, slots=True)
class FoundMemo:
    memo_id: Annotated[str, "Cite it as #id."]
    label: Annotated[str, "How near it is: strong, related or weak."]
    text: Annotated[
        str, "Fenced: the memo, or of a long one 300-400 characters around what was found; of a weak one one sentence."
    ]
    note: Annotated[str, "Fenced: its note; link to the block as [[note#^anchor]]. Empty: none."]
    anchor: Annotated[str, "The block of the note that was found; empty: the whole note."]
    created: Annotated[str, "Its day."]
    matched: Annotated[tuple[str, ...], "Words that stand in it; none: found by meaning alone."] = ()
    whole: Annotated[bool, "False: text is not all of it; get_cflow_note has the rest."] = True
    url: Annotated[str, "What stands for * in memo_url, where that is not memo_id; or a whole address."] = ""
    summary: Annotated[str, "Fenced: one sentence of it, where it does not stand in text."] = ""
    source: Annotated[str, "Fenced: the first link in it that leads away, where it does not stand in text."] = ""
    value: Annotated[float, "0-1: how actionable, specific and sourced it is; left out below 0.5."] = 0.0
    gives: Annotated[str, "What it offers: steps, commands, list, case, numbers, advice, link."] = ""
    copies: Annotated[tuple[str, ...], "Memos that say the same."] = ()


@dataclass(frozen=True, slots=True)
class Searched:
    memos: Annotated[int, "Memos that were searched: all of the mirror, or those that met the filters."]
    found: Annotated[int, "Memos that are near enough for a label."]
    strong: int
    related: int
    synced: Annotated[str, "When the mirror was last compared with the server, local time; empty: never."]
    queries: Annotated[tuple[int, ...], "For each query, in order, how many memos hold its words. First page only."] = ()
    without_memo: Annotated[tuple[str, ...], "Words that stand in no memo."] = ()
    filters: Annotated[tuple[str, ...], "Only memos that met these were searched."] = ()
    not_searched: Annotated[tuple[str, ...], "What could not be searched as it should have been."] = ()
    nearest: Annotated[tuple[str, ...], "When nothing was found: ids of what came nearest, too far off to count."] = ()


@dataclass(frozen=True, slots=True)
class SearchPage:
    hits: Annotated[tuple[FoundMemo, ...], "Best first."]
    coverage: Searched
    left: Annotated[int, "Memos that were found and come after this page."]
    memo_url: Annotated[str, "A memo's address on the server, with its url in place of *, or its memo_id where it has none."] = ""
    cursor: Annotated[str, "Give it back with the same arguments for the next page; absent at the end."] = ""
    fence: Annotated[str, "How text of memos is marked off in this result."] = ""


@dataclass(frozen=True, slots=True)
class WholeMemo:
    memo_id: str
    text: Annotated[str, "Fenced: the memo's text, or the part of it that the cursor led to."]
    whole: Annotated[bool, "Whether text is all of it."]
    came_from: Annotated[str, "server, export, or mirror when the server could not be asked."]
    note: Annotated[str, "Fenced: its note, to be linked to as [[note]]."]
    url: str
    created: str
    updated: str
    visibility: str
    tags: Annotated[str, "Fenced."] = ""
    reason: Annotated[str, "Why the mirror had to serve."] = ""


@dataclass(frozen=True, slots=True)
class MemoPage:
    memos: tuple[WholeMemo, ...]
    left: Annotated[int, "Memos that are still to come, one that is cut included."]
    missing: Annotated[tuple[str, ...], "Ids that the mirror does not have, nor the server, if it answered."] = ()
    cursor: Annotated[str, "Give it back with the same memo_ids to go on; absent at the end."] = ""
    fence: Annotated[str, "How text of memos is marked off in this result."] = ""


@dataclass(frozen=True, slots=True)
class BrainStatus:
    vault: str
    source: str
    memos: int
    notes: int
    chunks: int
    chunks_with_vector: Annotated[int, "Fewer than chunks: search by meaning does not know all memos yet."]
    memos_to_index: int
    answers: int
    answers_stale: int
    synced: Annotated[str, "When the mirror was last compared with the server, local time; empty: never."]
    age_s: float | None
    model: str
    watcher: Annotated[str, "running (it keeps the mirror fresh), stopped, or never."]
    next: Annotated[str, "What to do, when something is to be done."] = ""


@dataclass(frozen=True, slots=True)
class SyncOutcome:
    ran: Annotated[bool, "False: the mirror was fresh enough."]
    finished: Annotated[bool, "False: call again to go on; nothing is done twice."]
    age_s: Annotated[float | None, "Seconds since the mirror was last compared with the server."]
    created: int = 0
    updated: int = 0
    deleted: int = 0
    withheld: Annotated[int, "Deletions that a person has to confirm."] = 0
    conflicts: int = 0
    failed: int = 0
    chunks_embedded: int = 0
    notices: Annotated[tuple[str, ...], "Fenced: what a person should know; they name notes."] = ()
    next: Annotated[str, "What to do, when something is to be done."] = ""
    fence: Annotated[str, "How names of notes are marked off in this result."] = ""


@dataclass(frozen=True, slots=True)
class CitedSource:
    memo_id: str
    label: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class AnswerNote:
    path: Annotated[str, "The note, relative to the vault; empty with dry_run."]
    link: Annotated[str, "Opens it in Obsidian."]
    mode: str
    conclusion: Annotated[str, "Fenced: it quotes memos."]
    themes: Annotated[str, "Fenced: names of the themes with how many memos each has."]
    sources: tuple[CitedSource, ...]
    updated: Annotated[bool, "The question had a note, which was brought up to date."]
    coverage: Searched
    notices: Annotated[tuple[str, ...], "Fenced: what a person should know; they name notes."] = ()
    fence: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    memo_id: str
    title: Annotated[str, "Fenced."]
    summary: Annotated[str, "Fenced: one sentence of the memo."]
    why: Annotated[str, "Why it helps now, in the language of the conversation."]
    link: Annotated[str, "Fenced: where it comes from, or the memo's own address."]
    note: Annotated[str, "Fenced: its note; link to the block as [[note#^anchor]]."]
    anchor: str
    label: str


@dataclass(frozen=True, slots=True)
class HeldMemo:
    memo_id: str
    why: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recollection:
    worth_a_look: Annotated[bool, "What recall_gate says of the text; false: mention nothing unasked."]
    query: Annotated[str, "What was looked up; empty when the text names no subject."]
    mentions: Annotated[tuple[Mention, ...], "At most two; empty: say nothing."]
    held: Annotated[tuple[HeldMemo, ...], "The nearest of those that are not worth a mention, and why."]
    reasons: tuple[str, ...]
    fence: str = ""


@dataclass(frozen=True, slots=True)
class GateDecision:
    recall: Annotated[bool, "Whether the text is worth a look-up in the memos."]
    query: Annotated[str, "The short query for it."]
    reasons: tuple[str, ...]


def as_json(result: Any) -> Any:
    """The result as it is sent: without fields that hold their default."""
    if is_dataclass(result):
        return {item.name: as_json(getattr(result, item.name)) for item in fields(result) if not _says_nothing(result, item)}
    return [as_json(item) for item in result] if isinstance(result, tuple) else result


def _says_nothing(result: Any, item: Field[Any]) -> bool:
    return bool(getattr(result, item.name) == item.default)


_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def schema_of(kind: Any) -> dict[str, Any]:
    """The JSON Schema of what ``as_json`` makes of it."""
    if is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        required = [item.name for item in fields(kind) if item.default is MISSING]
        properties = {name: schema_of(hint) for name, hint in hints.items()}
        return {"type": "object", "properties": properties, "required": required}
    if get_origin(kind) is Annotated:
        plain, about = get_args(kind)
        return schema_of(plain) | {"description": about}
    if isinstance(kind, UnionType):
        return {"type": [_SIMPLE[part] for part in get_args(kind)]}
    if get_origin(kind) is tuple:
        return {"type": "array", "items": schema_of(get_args(kind)[0])}
    return {"type": _SIMPLE[kind]}
