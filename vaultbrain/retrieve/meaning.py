"""The channel of meaning: the query's vectors against those of the chunks; a memo counts by its nearest chunk.

Decides what of a query is embedded. ``plain`` is the question alone: its topic and, counting more, all of it as asked. ``wide``
is moved towards words that mean the same, the further the more of the question they stand for, and towards what the caller gives.
``across`` is moved on towards the question in the other language, and meets only chunks of that language: what e5 does not know
to be the same, a dictionary may.

Up to a limit all chunks are compared, in a matrix that is kept as long as no chunk changes; beyond it Chroma proposes some, and
the catalog's exact vectors decide their order. Either way the same chunk gets the same cosine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from vaultbrain.index.centring import centre_query, cjk_share, means_for
from vaultbrain.index.chunking import ChunkProfile, split_chunks
from vaultbrain.index.fold import fold
from vaultbrain.index.matrix import centred_matrix
from vaultbrain.retrieve.query import is_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from vaultbrain.index.catalog import Catalog
    from vaultbrain.index.embedding import Embedder
    from vaultbrain.index.matrix import Rows
    from vaultbrain.retrieve.query import Query

    Floats: TypeAlias = NDArray[np.float32]

#: Characters of a question that is embedded whole; of anything longer so many pieces are.
LONGEST_QUESTION = 120
PASSAGE_PIECES = ChunkProfile(size=120, overlap=0)
MAX_PASSAGE_PIECES = 4
#: A question as asked counts so much more than its topic: a model reads what kind of answer is wanted, too.
WHOLE_QUESTION = 2.0
#: How far the query's vector is moved: towards words that mean all of it, towards what the caller added, towards its translation.
NEAR_STEP, GIVEN_STEP, TRANSLATED_STEP = 0.75, 0.5, 0.35
#: Variants of the caller that are embedded (``expand.MAX_GIVEN`` are looked up); each takes about 10 ms.
MAX_GIVEN_EMBEDDED = 8
#: Chunk and query are in different languages when their shares of Chinese differ by more.
OTHER_LANGUAGE = 0.6
#: Chunks that tell what is ordinary in a large collection.
SAMPLE = 500
#: Models differ in what they call near (e5: 0.7-0.9 for anything, USE: 0-0.6), so that no fixed limit fits them all. One standard
#: deviation above the ordinary counts as this much on the scale of centred e5 cosines (0.6 is about six of them).
DEVIATION = 0.1
#: A model whose cosines vary less than this over a collection tells nothing apart there.
LEAST_DEVIATION = 0.02
#: Texts of questions whose vectors are kept: the next page, and the same words in the next question, need no model. 1.5 KB each.
MOST_KEPT = 512
#: Marks that say nothing about a question, folded. A name may begin with a full stop or a colon: .net.
_LEADING_MARKS = " \t\r\n,!?;~，。！？、；…"
_ENDING_MARKS = _LEADING_MARKS + ".:："
#: Two vectors that cancel each other out leave nothing to divide by.
_SHORTEST = 1e-6


@dataclass(frozen=True, slots=True)
class Wording:
    """What is embedded besides the topic: near words as one text for each language, with how much of it they stand for.

    ``whole``: the question as it was asked, too.
    """

    near: tuple[str, ...] = ()
    share: float = 0.0
    given: tuple[str, ...] = ()
    translated: str = ""
    whole: bool = True


@dataclass(frozen=True, slots=True)
class QueryVectors:
    """Each (dimension,) float32 of unit length. ``cjk_share`` is that of the topic."""

    plain: Floats
    wide: Floats
    across: Floats
    cjk_share: float

    @property
    def columns(self) -> Floats:
        """(dimension, 3) float32."""
        import numpy as np

        return np.stack([self.plain, self.wide, self.across], axis=1)


@dataclass(frozen=True)
class VectorTable:
    """Chunk vectors in memory: ``matrix`` (n, dimension) float32, centred; ``shares`` (n): how Chinese each text is.

    Rows of one memo stand together; ``starts`` are the first rows of each, and ``memo_ids`` has one entry for each of them.
    """

    matrix: Floats
    shares: Floats
    chunk_ids: tuple[str, ...]
    memo_ids: tuple[str, ...]
    starts: NDArray[np.int64]

    @property
    def chunks(self) -> int:
        return len(self.chunk_ids)

    @cached_property
    def places(self) -> dict[str, int]:
        """memo id → its place in ``memo_ids`` and ``starts``."""
        return {memo_id: n for n, memo_id in enumerate(self.memo_ids)}


class QueryEmbedder(Protocol):
    """What of ``Embedder`` is needed here."""

    def embed_queries(self, texts: Sequence[str]) -> Sequence[Floats]: ...


class KeptVectors:
    """The vectors of the last texts that were asked with, by model.

    Two threads may use it at once: each step is one of a dict's own, and what one misses because the other just moves it is made
    again.
    """

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], Floats] = {}

    def embedder(self, fingerprint: str, open_embedder: Callable[[], Embedder]) -> QueryEmbedder:
        """The model; it is opened for texts whose vectors are not kept."""
        return _Remembering(self, fingerprint, open_embedder)

    def find(self, fingerprint: str, texts: Iterable[str]) -> dict[str, Floats]:
        found = {}
        for text in texts:
            vector = self._kept.pop((fingerprint, text), None)
            if vector is not None:
                found[text] = self._kept[fingerprint, text] = vector  # now the last one that was asked for
        return found

    def keep(self, fingerprint: str, vectors: Mapping[str, Floats]) -> None:
        self._kept |= {(fingerprint, text): vector for text, vector in vectors.items()}
        keys = list(self._kept)
        for key in keys[: max(0, len(keys) - MOST_KEPT)]:
            self._kept.pop(key, None)


@dataclass(frozen=True, slots=True)
class _Remembering:
    kept: KeptVectors
    fingerprint: str
    open_embedder: Callable[[], Embedder]

    def embed_queries(self, texts: Sequence[str]) -> Sequence[Floats]:
        found = self.kept.find(self.fingerprint, texts)
        if missing := [text for text in dict.fromkeys(texts) if text not in found]:
            made = dict(zip(missing, self.open_embedder().embed_queries(missing), strict=True))
            self.kept.keep(self.fingerprint, made)
            found |= made
        return [found[text] for text in texts]


class TableCache:
    """The table of one model's vectors, read again when chunks have changed. Two threads may each build it; either is right.

    ``asked``: the vectors of what was asked last.
    """

    def __init__(self) -> None:
        self.asked = KeptVectors()
        self._held: tuple[tuple[str, str], VectorTable] | None = None
        self._counted: tuple[tuple[str, str], tuple[int, int]] | None = None

    def counts(self, catalog: Catalog, fingerprint: str) -> tuple[int, int]:
        """(chunks, chunks with a vector), counted again when chunks have changed."""
        key = (catalog.chunks_version(), fingerprint)
        counted = self._counted
        if counted is None or counted[0] != key:
            found = catalog.counts(fingerprint)
            counted = (key, (found["chunks"], found["chunks_with_vector"]))
            self._counted = counted
        return counted[1]

    def table(self, catalog: Catalog, fingerprint: str) -> VectorTable:
        key = (catalog.chunks_version(), fingerprint)
        held = self._held
        if held is None or held[0] != key:
            held = (key, build_table(catalog.load_vectors(fingerprint), fingerprint))
            self._held = held
        return held[1]


class Nearest(NamedTuple):
    """A memo's nearest chunk. ``is_translated``: it is in the other language."""

    chunk_id: str
    is_translated: bool


def build_table(rows: Rows, fingerprint: str) -> VectorTable:
    """(chunk id, memo id, CJK share, float32 bytes) of whatever chunks, as one table."""
    import numpy as np

    rows = sorted(rows, key=lambda row: row[1])
    owners = [row[1] for row in rows]
    starts = [n for n, owner in enumerate(owners) if n == 0 or owner != owners[n - 1]]
    return VectorTable(
        centred_matrix(rows, fingerprint),
        np.array([row[2] for row in rows], dtype=np.float32),
        tuple(row[0] for row in rows),
        tuple(owners[n] for n in starts),
        np.array(starts, dtype=np.int64),
    )


def likeness_between(catalog: Catalog, fingerprint: str, memo_ids: Sequence[str]) -> dict[tuple[str, str], float]:
    """(one id, other id), in sorted order → cosine of the two memos' mean vectors, -1..1; without pairs that lack a vector."""
    import numpy as np

    rows = catalog.load_vectors(fingerprint, catalog.chunk_ids(memo_ids))
    if not rows:
        return {}
    table = build_table(rows, fingerprint)
    means = np.add.reduceat(table.matrix, table.starts, axis=0)
    means /= np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-12)
    cosines = means @ means.T
    ids = table.memo_ids
    return {
        (ids[n], ids[m]) if ids[n] < ids[m] else (ids[m], ids[n]): round(float(cosines[n, m]), 4)
        for n in range(len(ids))
        for m in range(n + 1, len(ids))
    }


def embed_query(query: Query, wording: Wording, embedder: QueryEmbedder, fingerprint: str) -> QueryVectors:
    """All texts go to the model in one call. Raises ``EmbeddingUnavailable``."""
    asked, given = _asked(query, wording), _given(wording)
    texts = [*(text for _, text in asked), *wording.near, *given, *filter(None, [wording.translated])]
    means = means_for(fingerprint)
    vectors = embedder.embed_queries(texts)
    centred = [centre_query(vector, text, means) for vector, text in zip(vectors, texts, strict=True)]
    parts = iter(centred)
    plain = _unit(sum(weight * next(parts) for weight, _ in asked))
    near = _unit(sum(next(parts) for _ in wording.near)) if wording.near else None
    from_caller = _unit(sum(next(parts) for _ in given)) if given else None
    wide = _moved(_moved(plain, near, NEAR_STEP * wording.share), from_caller, _given_step(len(given)))
    return QueryVectors(plain, wide, _moved(wide, next(parts, None), TRANSLATED_STEP), cjk_share(query.topic))


def _given(wording: Wording) -> list[str]:
    """The beginning of each: the model takes seconds over a long text, and what it makes of one is blurred."""
    return [text[:LONGEST_QUESTION] for text in wording.given[:MAX_GIVEN_EMBEDDED] if text.strip()]


def _given_step(texts: int) -> float:
    """One text moves by ``GIVEN_STEP``, many by nearly twice as much: what they have in common is surer than any of them."""
    return GIVEN_STEP * (2 - 1 / texts) if texts else 0.0


def _asked(query: Query, wording: Wording) -> list[tuple[float, str]]:
    """(weight, text) of what is asked. Of a passage its first pieces: a blurred vector finds nothing."""
    if len(query.sought) > LONGEST_QUESTION:
        pieces = split_chunks("", fold(query.sought), PASSAGE_PIECES)[:MAX_PASSAGE_PIECES]
        return [(1.0, piece.text) for piece in pieces] or [(1.0, fold(query.sought)[:LONGEST_QUESTION])]
    whole, topic = _closed(fold(query.sought)), fold(query.topic)
    return [(1.0, topic)] if whole == topic or not wording.whole else [(WHOLE_QUESTION, whole), (1.0, topic)]


def _closed(whole: str) -> str:
    """With a question mark if it is a question, else with none, whatever it ended with: a model reads each mark differently."""
    bare = whole.lstrip(_LEADING_MARKS).rstrip(_ENDING_MARKS)
    return f"{bare}?" if bare and is_question(bare) else bare or whole


def _moved(vector: Floats, towards: Floats | None, step: float) -> Floats:
    return vector if towards is None or not step else _unit(vector + step * towards)


def _unit(vector: Any) -> Floats:
    import numpy as np

    unit: Floats = (vector / max(float(np.linalg.norm(vector)), _SHORTEST)).astype(np.float32)
    return unit


class Comparison:
    """A query against a table: the cosine of every memo's nearest chunk."""

    def __init__(self, table: VectorTable, vectors: QueryVectors, scale: Callable[[Any], Any] = lambda cosines: cosines) -> None:
        """``scale`` brings the cosines of a model without language means to those of e5."""
        import numpy as np

        self._table, self._vectors = table, vectors
        plain, wide, across = scale(table.matrix @ vectors.columns).T if table.chunks else np.zeros((3, 0), np.float32)
        self._is_other = np.abs(table.shares - vectors.cjk_share) > OTHER_LANGUAGE
        self._cosines = np.where(self._is_other, across, wide)
        self.best = self._maximum(self._cosines)
        self._nearness = self.best.tolist()
        self._plain_nearness = self._maximum(plain).tolist()

    def _maximum(self, cosines: Any) -> Any:
        import numpy as np

        return np.maximum.reduceat(cosines, self._table.starts) if self._table.chunks else cosines

    def is_of(self, table: VectorTable, vectors: QueryVectors) -> bool:
        return self._table is table and self._vectors is vectors

    def memos(self) -> tuple[str, ...]:
        """The ids of all memos that have a vector."""
        return self._table.memo_ids

    def top(self, limit: int) -> list[str]:
        """The ids of the ``limit`` memos with the nearest chunks, in any order."""
        import numpy as np

        if len(self.best) <= limit:
            return list(self._table.memo_ids)
        return [self._table.memo_ids[n] for n in np.argpartition(-self.best, limit)[:limit]]

    def cosines(self, memo_id: str) -> tuple[float, float] | None:
        """(cosine, the one without expansion) of the memo's nearest chunk; None when it has no vector."""
        place = self._table.places.get(memo_id)
        return None if place is None else (self._nearness[place], self._plain_nearness[place])

    def nearest(self, memo_id: str) -> Nearest | None:
        """None when the memo has no vector."""
        place = self._table.places.get(memo_id)
        if place is None:
            return None
        starts = self._table.starts
        first = int(starts[place])
        last = int(starts[place + 1]) if place + 1 < len(starts) else self._table.chunks
        row = first + int(self._cosines[first:last].argmax())
        return Nearest(self._table.chunk_ids[row], bool(self._is_other[row]))


def scale_for(catalog: Catalog, vectors: QueryVectors, fingerprint: str) -> Callable[[Any], Any]:
    """Of (n, 3) cosines: the identity for a centred model, else how far each stands out of those of the collection, by column."""
    if means_for(fingerprint) is not None:
        return lambda cosines: cosines
    import numpy as np

    sample = centred_matrix(catalog.sample_vectors(fingerprint, SAMPLE), fingerprint)
    ordinary = sample @ vectors.columns
    centre, deviation = ordinary.mean(axis=0), np.maximum(ordinary.std(axis=0), LEAST_DEVIATION)
    return lambda cosines: DEVIATION * (cosines - centre) / deviation
