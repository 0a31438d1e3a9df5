"""Judged sets: documents, queries, and which documents answer which query. Decides what such a set looks like on disk.

Two forms are read: one JSON file with ``documents`` (or ``documents_from``, a file beside it) and ``queries``, which anybody can
write; or a folder with ``memos.json``, as the server sends them, and ``queries.json``, where
judged utterances (``bench.utterances``) may lie as well. Refuses a set that would measure something
else than its author meant: an id twice, a judged document that is not there, a grade that is no grade.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vaultbrain.bench.strict import Flaw, as_id, identity, load_json, naming, one_line, refuse_twice, some
from vaultbrain.bench.utterances import read_utterances
from vaultbrain.errors import ExportUnreadable, JudgedSetUnreadable
from vaultbrain.memo import Memo, clean_text, tags_of
from vaultbrain.sources.export import ExportSource

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from vaultbrain.bench.utterances import Utterances

_MEMOS = "memos.json"
_QUERIES = "queries.json"

#: Highest grade of a judgement. A grade counts 2^grade - 1, so that one above it would drown all others.
MAX_GRADE = 10
#: What a document of a list of relevant ones is worth.
_RELEVANT = 1


@dataclass(frozen=True, slots=True)
class JudgedQuery:
    """``grades``: document id → 1 to ``MAX_GRADE``; none for a query that nothing answers. ``kind`` may be empty."""

    id: str
    text: str
    grades: dict[str, int]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class JudgedSet:
    """``memos`` are the documents, each id once; every graded id is one of them, and no query id is there twice.

    ``utterances``: what a person writes, judged for recall, where a folder has that too.
    """

    name: str
    memos: tuple[Memo, ...]
    queries: tuple[JudgedQuery, ...]
    utterances: Utterances | None = None


def read_judged_set(path: Path) -> JudgedSet:
    """The set in a file or folder. Raises ``JudgedSetUnreadable``."""
    path = path.expanduser()
    return _read_folder(path) if path.is_dir() else _read_file(path)


def _read_folder(folder: Path) -> JudgedSet:
    memos = _export(folder / _MEMOS)
    path = folder / _QUERIES
    with naming(path):
        queries = _read_queries(load_json(path), memos)
    return JudgedSet(folder.resolve().name, memos, queries, read_utterances(folder))


def _read_file(path: Path) -> JudgedSet:
    with naming(path):
        data = _object(load_json(path))
        memos = _documents(path, data)
        queries = _read_queries(data.get("queries"), memos)
    name = data.get("name")
    return JudgedSet((one_line(name) if isinstance(name, str) else "") or path.stem, memos, queries)


def _object(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise Flaw("it is no object with documents and queries")
    return data


def _documents(path: Path, data: dict[str, Any]) -> tuple[Memo, ...]:
    """The set's own documents, or those of another set or an export beside it."""
    if "documents" in data:
        return _read_documents(data["documents"])
    if not isinstance(data.get("documents_from"), str):
        raise Flaw("neither `documents` nor `documents_from` (a file's name) is in it")
    other = path.parent / data["documents_from"]
    held = load_json(other)
    if isinstance(held, dict) and "documents" in held:
        with naming(other):
            return _read_documents(held["documents"])
    return _export(other)


def _export(path: Path) -> tuple[Memo, ...]:
    try:
        return ExportSource(path).list_memos().memos
    except ExportUnreadable as error:
        raise JudgedSetUnreadable(path=path, detail=error.fact("detail")) from error


def _read_documents(items: object) -> tuple[Memo, ...]:
    if not isinstance(items, list):
        raise Flaw("`documents` is no list")
    memos = tuple(_read_document(item, f"document {number}") for number, item in enumerate(items, 1))
    refuse_twice((memo.id for memo in memos), "documents")
    return memos


def _read_document(item: object, where: str) -> Memo:
    """A memo without a history: all are of one time, so that none is preferred for its age."""
    document_id = identity(item, where)
    content = item.get("text") if isinstance(item, dict) else None
    if not isinstance(content, str):
        raise Flaw(f"{where} ({document_id}) has no `text`")
    content = clean_text(content)
    return Memo(document_id, content, created=0, updated=0, visibility="PRIVATE", tags=tags_of(content))


def _read_queries(items: object, memos: Sequence[Memo]) -> tuple[JudgedQuery, ...]:
    if not isinstance(items, list):
        raise Flaw("there is no list of queries in it")
    if not memos or not items:
        raise Flaw(f"there are no {'queries' if memos else 'documents'} in it")
    known = {memo.id for memo in memos}
    queries = tuple(_read_query(item, f"query {number}", known) for number, item in enumerate(items, 1))
    refuse_twice((query.id for query in queries), "queries")
    if not any(query.grades for query in queries):
        raise Flaw("no query has a relevant document, so there is nothing to measure")
    return queries


def _read_query(item: object, where: str, known: set[str]) -> JudgedQuery:
    query_id = identity(item, where)
    where = f"{where} ({query_id})"
    fields = item if isinstance(item, dict) else {}
    text, kind = fields.get("text"), fields.get("kind") or ""
    if not isinstance(text, str) or not text.strip():
        raise Flaw(f"{where} has no `text`")
    if not isinstance(kind, str):
        raise Flaw(f"{where} has a `kind` that is no text")
    if "relevant" not in fields:
        raise Flaw(f"{where} has no `relevant`: give a list of document ids, empty if nothing answers it")
    grades = _read_grades(fields["relevant"], where)
    if strangers := [document_id for document_id in grades if document_id not in known]:
        raise Flaw(f"{where} has relevant ids that are no documents: {some(strangers)}")
    return JudgedQuery(query_id, text, {document_id: grade for document_id, grade in grades.items() if grade}, one_line(kind))


def _read_grades(relevant: object, where: str) -> dict[str, int]:
    if isinstance(relevant, list):
        return {as_id(document_id, f"{where}: a relevant id"): _RELEVANT for document_id in relevant}
    if not isinstance(relevant, dict):
        raise Flaw(f"{where} has a `relevant` that is neither a list of ids nor an object of id and grade")
    for document_id, grade in relevant.items():
        if type(grade) is not int or not 0 <= grade <= MAX_GRADE:
            raise Flaw(f"{where}: the grade of {one_line(document_id)} is no whole number from 0 to {MAX_GRADE}")
    return dict(relevant)
