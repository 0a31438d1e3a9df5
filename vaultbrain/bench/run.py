"""Measures this installation's search on a judged set: indexes the documents as a sync would, asks all queries, scores answers.

The index is a temporary one, which the caller makes and throws away. Documents go the way of a sync, and queries that of
``vaultbrain search``; nothing is measured that a person does not get. Notes are not written: searching does not need them.

A set with judged utterances is measured for recall as well: the gate's decisions, and the short queries with
the set's own memos and without any, with the usual areas.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from vaultbrain.bench.measures import DEPTH, MEASURES, interval, mean, percentile, score_ranking
from vaultbrain.bench.utterances import measure_utterances
from vaultbrain.errors import Interrupted
from vaultbrain.gist.stored import fill_gists
from vaultbrain.index.tokens import cut, keyword_entry, match_phrase
from vaultbrain.recall.areas import Areas
from vaultbrain.recall.gate import decide
from vaultbrain.recall.query import Memos, short_query
from vaultbrain.retrieve.search import search
from vaultbrain.sync.indexing import Indexer
from vaultbrain.sync.report import SyncReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from vaultbrain.bench.cached_embedder import CachedEmbedder
    from vaultbrain.bench.judged import JudgedQuery, JudgedSet
    from vaultbrain.bench.measures import Row
    from vaultbrain.bench.utterances import RecallFigures, Utterances
    from vaultbrain.index.catalog import Catalog, IndexProfile
    from vaultbrain.index.vectors import IndexState, VectorBatch, VectorStore
    from vaultbrain.retrieve.search import SearchParts, SearchResult

_DIGITS = 4
_MS = 1_000
#: When the temporary index was made is of no interest, and equal for every run.
_INDEXED_AT = "1970-01-01T00:00:00+00:00"


class BenchProgress(Protocol):
    """As ``sync.report.Progress``, with the name of the set. Stages: ``memos``, ``chunks``, ``vectors``, ``queries``."""

    def __call__(self, set_name: str, stage: str, done: int, total: int) -> None: ...


def no_bench_progress(set_name: str, stage: str, done: int, total: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True, slots=True)
class BenchParts:
    """What measuring one set works with. ``catalog`` is empty and its own; ``search_parts`` search it with ``embedder``."""

    catalog: Catalog
    profile: IndexProfile
    embedder: CachedEmbedder
    search_parts: SearchParts
    channel: str = "hybrid"
    progress: BenchProgress = no_bench_progress
    should_stop: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Asked:
    """One query's answer: ids best first, ``search_s`` without any time for embedding, ``model_s`` 0 if no model was asked."""

    query: JudgedQuery
    ranking: tuple[str, ...]
    search_s: float
    model_s: float


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over ``queries`` queries, and the ends of their 95 % intervals, in the order of ``MEASURES``."""

    queries: int
    means: Row
    low: Row
    high: Row

    def as_json(self) -> dict[str, Any]:
        intervals = {name: _rounded(ends) for name, *ends in zip(MEASURES, self.low, self.high, strict=True)}
        return dict(zip(MEASURES, _rounded(self.means), strict=True)) | {"intervals": intervals}


@dataclass(frozen=True, slots=True)
class MeasuredSet:
    """A set, what was answered, and what could not be searched as it should have been (sentences, each once).

    ``recall`` is None for a set without judged utterances.
    """

    name: str
    documents: int
    model: str
    channel: str
    asked: tuple[Asked, ...]
    shortcomings: tuple[str, ...] = field(default=())
    recall: RecallFigures | None = None

    @property
    def run(self) -> dict[str, list[str]]:
        """Query id → ids of the documents found, best first, ``DEPTH`` at most."""
        return {item.query.id: list(item.ranking) for item in self.asked}

    def figures(self) -> Figures:
        """Over every query that has an answer."""
        return _figures(self._answerable())

    def by_kind(self) -> dict[str, Figures]:
        """The same for each kind of query that has an answer, in the order of the set; queries without a kind are left out."""
        kinds: dict[str, list[Asked]] = {}
        for item in self._answerable():
            kinds.setdefault(item.query.kind, []).append(item)
        return {kind: _figures(items) for kind, items in kinds.items() if kind}

    def as_json(self) -> dict[str, Any]:
        """The public form. Times are milliseconds of searching; what the model took for a query stands apart."""
        kinds = {kind: {"queries": found.queries} | found.as_json() for kind, found in self.by_kind().items()}
        head = {"name": self.name, "documents": self.documents, "queries": len(self.asked)}
        how = {"channel": self.channel, "model": self.model, "shortcomings": list(self.shortcomings)}
        return head | self.figures().as_json() | {"by_kind": kinds, "none": self.none()} | self.times() | how | self._recall()

    def _recall(self) -> dict[str, Any]:
        return {"recall": self.recall.as_json()} if self.recall else {}

    def none(self) -> dict[str, int]:
        """How often nothing was found: rightly of ``queries`` without an answer, wrongly of the ``answerable`` ones."""
        answerable = self._answerable()
        abstained = sum(not item.ranking for item in self.asked)
        wrongly = sum(not item.ranking for item in answerable)
        return {
            "queries": len(self.asked) - len(answerable),
            "abstained": abstained - wrongly,
            "answerable": len(answerable),
            "wrongly_abstained": wrongly,
        }

    def times(self) -> dict[str, float | None]:
        """Milliseconds a query. ``model_ms_per_query`` is None when every query's vector was known already."""
        spent = [item.search_s * _MS for item in self.asked]
        model = [item.model_s * _MS for item in self.asked if item.model_s]
        return {
            "ms_per_query": round(sum(spent) / len(spent), 2),
            "ms_p50": round(percentile(spent, 50), 2),
            "ms_p95": round(percentile(spent, 95), 2),
            "model_ms_per_query": round(sum(model) / len(model), 2) if model else None,
        }

    def _answerable(self) -> list[Asked]:
        return [item for item in self.asked if item.query.grades]


@dataclass(frozen=True, slots=True)
class BenchResult:
    """All sets of one call, in its order."""

    sets: tuple[MeasuredSet, ...]

    def means(self) -> Row:
        """The mean of each measure over the sets, every set counting the same."""
        return mean([one.figures().means for one in self.sets])

    def as_json(self) -> dict[str, Any]:
        """The public form; ``mean`` only of several sets."""
        sets = {"sets": [one.as_json() for one in self.sets]}
        return sets | ({"mean": dict(zip(MEASURES, _rounded(self.means()), strict=True))} if len(self.sets) > 1 else {})


def measure_set(parts: BenchParts, judged: JudgedSet) -> MeasuredSet:
    """Indexes the documents and asks all queries.

    Raises ``EmbeddingUnavailable``, and ``Interrupted`` at the next safe point after ``should_stop`` said so.
    """
    _index(parts, judged)
    _ask(parts, judged.queries[0])  # not counted: it loads lexicon, dictionary and vectors
    asked, shortcomings = [], dict[str, None]()
    for number, query in enumerate(judged.queries, 1):
        if parts.should_stop():
            raise Interrupted
        answer, result = _ask(parts, query)
        asked.append(answer)
        shortcomings |= dict.fromkeys(map(str, result.coverage.degraded))
        parts.progress(judged.name, "queries", number, len(judged.queries))
    return MeasuredSet(
        judged.name,
        len(judged.memos),
        parts.profile.model,
        parts.channel,
        tuple(asked),
        tuple(sorted(shortcomings)),
        _measure_recall(parts, judged.utterances) if judged.utterances else None,
    )


def _measure_recall(parts: BenchParts, utterances: Utterances) -> RecallFigures:
    dictionary = parts.search_parts.open_dictionary() if parts.search_parts.uses("dictionary") else None
    is_word = dictionary.has if dictionary else None
    memos = Memos(partial(_containing, parts.catalog), parts.catalog.count_memos())
    return measure_utterances(
        utterances,
        lambda text: decide(text, Areas()).recall,
        lambda text: short_query(text, Areas(), is_word, memos),
        lambda text: short_query(text, Areas(), is_word),
    )


def _containing(catalog: Catalog, words: Sequence[str]) -> list[str]:
    phrases = [match_phrase(tokens) for word in words if (tokens := cut(word))]
    return catalog.memos_meeting(" OR ".join(phrases)) if phrases else []


def _index(parts: BenchParts, judged: JudgedSet) -> None:
    def progress(stage: str, done: int, total: int) -> None:
        parts.progress(judged.name, stage, done, total)

    with parts.catalog.transaction():
        for number, memo in enumerate(judged.memos, 1):
            parts.catalog.write_memo(memo, keyword_entry(memo))
            progress("memos", number, len(judged.memos))
    indexer = _indexer(parts, lambda _: _NoStore())
    fill_gists(parts.catalog, progress, parts.should_stop)
    indexer.cut_memos(progress)
    if parts.channel == "keyword":
        return
    indexer.embed(lambda: _INDEXED_AT, progress, parts.should_stop)
    if parts.should_stop():
        raise Interrupted
    if parts.catalog.counts(parts.profile.model)["chunks_with_vector"] > parts.search_parts.exact_search_limit:
        _indexer(parts, parts.search_parts.store).rebuild_store()


def _indexer(parts: BenchParts, store: Callable[[int], VectorStore]) -> Indexer:
    return Indexer(parts.catalog, parts.profile, store, lambda: parts.embedder, SyncReport())


def _ask(parts: BenchParts, query: JudgedQuery) -> tuple[Asked, SearchResult]:
    embedding_before, model_before = parts.embedder.spent_s, parts.embedder.model_s
    started = time.perf_counter()
    result = search(parts.search_parts, query.text, top_k=DEPTH, channel=parts.channel)
    elapsed = time.perf_counter() - started
    search_s = elapsed - (parts.embedder.spent_s - embedding_before)
    ranking = tuple(memo_id for hit in result.hits for memo_id in (hit.memo_id, *hit.copies))[:DEPTH]
    return Asked(query, ranking, search_s, parts.embedder.model_s - model_before), result


def _figures(asked: Sequence[Asked]) -> Figures:
    rows = [score_ranking(item.ranking, item.query.grades) for item in asked]
    low, high = interval(rows)
    return Figures(len(rows), mean(rows), low, high)


def _rounded(values: Iterable[float]) -> list[float]:
    return [round(value, _DIGITS) for value in values]


class _NoStore:
    """Takes what is told to a vector store. Small sets are compared exactly, and filling Chroma for them would take seconds."""

    def state(self) -> IndexState:
        return "clean"

    def generation(self) -> int | None:
        return None

    def write(
        self, ids: Sequence[str], vectors: NDArray[np.float32], memo_ids: Sequence[str], *, deletes: Sequence[str] = ()
    ) -> None:
        """Nothing is kept."""

    def rebuild(self, batches: Iterable[VectorBatch]) -> None:
        """Nothing is kept."""

    def query(self, vector: NDArray[np.float32], k: int) -> list[tuple[str, float]]:  # noqa: ARG002
        return []

    def ids(self) -> set[str]:
        return set()

    def count(self) -> int:
        return 0

    def close(self) -> None:
        """Nothing is open."""
