"""Judged utterances: texts that a person writes, for measuring whether they are looked up in the memos, and by which words.

Decides what ``gate.json`` (which texts are worth a look-up) and ``query_generation.json`` (which words the short query has to
keep and to drop) look like, and what counts as right. Words are compared without regard to letter case and to Chinese script; a
word is kept if it is part of a longer term, and left if it stands anywhere in the query.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from vaultbrain.bench.strict import Flaw, identity, load_json, naming, refuse_twice
from vaultbrain.index.fold import fold

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

GATE_FILE = "gate.json"
QUERY_FILE = "query_generation.json"
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class GateUtterance:
    """``recall``: the text is worth a look-up."""

    id: str
    text: str
    recall: bool


@dataclass(frozen=True, slots=True)
class QueryUtterance:
    """``must`` stand in the short query, ``must_not`` do not; it has ``max_terms`` terms at most."""

    id: str
    text: str
    must: tuple[str, ...]
    must_not: tuple[str, ...]
    max_terms: int


_Utterance = TypeVar("_Utterance", GateUtterance, QueryUtterance)


@dataclass(frozen=True, slots=True)
class Utterances:
    """Either may be empty, not both."""

    gate: tuple[GateUtterance, ...]
    queries: tuple[QueryUtterance, ...]


@dataclass(frozen=True, slots=True)
class GateFigures:
    """``false_mentions``: ids that were let through and should not; ``missed``: the other way round."""

    n: int
    true_mentions: int
    false_mentions: tuple[str, ...]
    missed: tuple[str, ...]

    @property
    def precision(self) -> float | None:
        """The share of what was let through that should be; None when nothing was."""
        return _share(self.true_mentions, len(self.false_mentions))

    @property
    def recall(self) -> float | None:
        """The share of what should be let through that was; None when nothing should."""
        return _share(self.true_mentions, len(self.missed))

    def as_json(self) -> dict[str, Any]:
        rates = {"precision": self.precision, "recall": self.recall}
        wrong = {"false_mentions": list(self.false_mentions), "missed": list(self.missed)}
        return {"n": self.n, "true_mentions": self.true_mentions} | rates | wrong


@dataclass(frozen=True, slots=True)
class WrongQuery:
    """``lost``: words that the query should have kept; ``left``: words that it should have dropped."""

    query: tuple[str, ...]
    lost: tuple[str, ...]
    left: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {"query": list(self.query), "lost": list(self.lost), "left": list(self.left)}


@dataclass(frozen=True, slots=True)
class QueryFigures:
    """``most_terms``: of the longest query. ``too_long``: ids of queries with more terms than they may have."""

    n: int
    most_terms: int
    wrong: dict[str, WrongQuery]
    too_long: tuple[str, ...]

    @property
    def all_kept(self) -> int:
        return self.n - sum(bool(found.lost) for found in self.wrong.values())

    @property
    def none_left(self) -> int:
        return self.n - sum(bool(found.left) for found in self.wrong.values())

    @property
    def all_kept_none_left(self) -> int:
        return self.n - len(self.wrong)

    def as_json(self) -> dict[str, Any]:
        counts = {"all_kept": self.all_kept, "none_left": self.none_left, "all_kept_none_left": self.all_kept_none_left}
        wrong = {utterance_id: found.as_json() for utterance_id, found in self.wrong.items()}
        return {"n": self.n} | counts | {"most_terms": self.most_terms, "too_long": list(self.too_long), "wrong": wrong}


@dataclass(frozen=True, slots=True)
class RecallFigures:
    """None where the set has no such utterances. ``query_without_memos``: the queries of somebody who has no memos yet."""

    gate: GateFigures | None
    query: QueryFigures | None
    query_without_memos: QueryFigures | None = None

    def as_json(self) -> dict[str, Any]:
        named = (("gate", self.gate), ("query", self.query), ("query_without_memos", self.query_without_memos))
        return {name: found.as_json() for name, found in named if found}


# measuring


def measure_utterances(
    utterances: Utterances,
    decide: Callable[[str], bool],
    short_query: Callable[[str], tuple[str, ...]],
    query_without_memos: Callable[[str], tuple[str, ...]],
) -> RecallFigures:
    """``decide``: whether a text is worth a look-up; ``short_query``: the terms that are searched for it."""
    return RecallFigures(
        measure_gate(utterances.gate, decide) if utterances.gate else None,
        measure_queries(utterances.queries, short_query) if utterances.queries else None,
        measure_queries(utterances.queries, query_without_memos) if utterances.queries else None,
    )


def measure_gate(utterances: Sequence[GateUtterance], decide: Callable[[str], bool]) -> GateFigures:
    decided = [(item, decide(item.text)) for item in utterances]
    return GateFigures(
        len(decided),
        sum(item.recall and through for item, through in decided),
        tuple(item.id for item, through in decided if through and not item.recall),
        tuple(item.id for item, through in decided if item.recall and not through),
    )


def measure_queries(utterances: Sequence[QueryUtterance], short_query: Callable[[str], tuple[str, ...]]) -> QueryFigures:
    asked = [(item, short_query(item.text)) for item in utterances]
    judged = {item.id: _wrong_with(item, query) for item, query in asked}
    return QueryFigures(
        len(asked),
        max((len(query) for _, query in asked), default=0),
        {utterance_id: found for utterance_id, found in judged.items() if found.lost or found.left},
        tuple(item.id for item, query in asked if len(query) > item.max_terms),
    )


def _wrong_with(item: QueryUtterance, query: tuple[str, ...]) -> WrongQuery:
    searched = fold(" ".join(query))
    lost = tuple(word for word in item.must if fold(word) not in searched)
    return WrongQuery(query, lost, tuple(word for word in item.must_not if fold(word) in searched))


def _share(right: int, wrong: int) -> float | None:
    return round(right / (right + wrong), _DIGITS) if right + wrong else None


# reading


def read_utterances(folder: Path) -> Utterances | None:
    """The judged utterances in a folder; None when it has none. Raises ``JudgedSetUnreadable``."""
    gate, queries = folder / GATE_FILE, folder / QUERY_FILE
    found = Utterances(
        read_gate_utterances(gate) if gate.exists() else (), read_query_utterances(queries) if queries.exists() else ()
    )
    return found if found.gate or found.queries else None


def read_gate_utterances(path: Path) -> tuple[GateUtterance, ...]:
    """Raises ``JudgedSetUnreadable``."""
    return tuple(_read_items(path, _read_gate))


def read_query_utterances(path: Path) -> tuple[QueryUtterance, ...]:
    """Raises ``JudgedSetUnreadable``."""
    return tuple(_read_items(path, _read_query))


def _read_items(path: Path, read: Callable[[object, str], _Utterance]) -> list[_Utterance]:
    with naming(path):
        items = load_json(path)
        if not isinstance(items, list) or not items:
            raise Flaw("it is no list of utterances, or an empty one")
        utterances = [read(item, f"utterance {number}") for number, item in enumerate(items, 1)]
        refuse_twice((item.id for item in utterances), "utterances")
        return utterances


def _read_gate(item: object, where: str) -> GateUtterance:
    utterance_id, text, fields = _read_text(item, where)
    if not isinstance(fields.get("recall"), bool):
        raise Flaw(f"{where} ({utterance_id}) has no `recall` that is true or false")
    return GateUtterance(utterance_id, text, fields["recall"])


def _read_query(item: object, where: str) -> QueryUtterance:
    utterance_id, text, fields = _read_text(item, where)
    where = f"{where} ({utterance_id})"
    must, must_not = (_read_words(fields.get(name), text, f"{where}: `{name}`") for name in ("must", "must_not"))
    if not must:
        raise Flaw(f"{where}: `must` is empty, so there is nothing to keep")
    if type(fields.get("max_terms")) is not int or fields["max_terms"] < 1:
        raise Flaw(f"{where} has no `max_terms` that is a whole number above 0")
    return QueryUtterance(utterance_id, text, must, must_not, fields["max_terms"])


def _read_text(item: object, where: str) -> tuple[str, str, dict[str, Any]]:
    utterance_id = identity(item, where)
    fields = item if isinstance(item, dict) else {}
    text = fields.get("text")
    if not isinstance(text, str) or not text.strip():
        raise Flaw(f"{where} ({utterance_id}) has no `text`")
    return utterance_id, text, fields


def _read_words(words: object, text: str, where: str) -> tuple[str, ...]:
    if not isinstance(words, list) or not all(isinstance(word, str) and word.strip() for word in words):
        raise Flaw(f"{where} is no list of words")
    folded = fold(text)
    if strangers := [word for word in words if fold(word) not in folded]:
        raise Flaw(f"{where} has words that do not stand in the text: {', '.join(strangers)}")
    return tuple(words)
