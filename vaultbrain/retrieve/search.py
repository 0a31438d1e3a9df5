"""Search: a query in, memos out, best first, each with a label, the reason and the block to cite; and what was searched.

The catalog's exact vectors decide every score. Up to ``exact_search_limit`` chunks all are compared, which is quicker than
opening Chroma; beyond that Chroma proposes candidates. Words are searched without any lock, so a running sync is no obstacle.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import EmbeddingUnavailable, StateBusy, VectorStoreFailed
from vaultbrain.index.centring import centre_query, means_for
from vaultbrain.index.chunking import ChunkProfile, split_chunks
from vaultbrain.index.fold import fold
from vaultbrain.index.matrix import centred_matrix
from vaultbrain.retrieve.channels import KeywordHits, SemanticHits, best_per_memo, search_keywords
from vaultbrain.retrieve.coverage import Coverage, Shortcoming, VariantCoverage
from vaultbrain.retrieve.excerpt import Wanted, best_excerpt
from vaultbrain.retrieve.expand import expand
from vaultbrain.retrieve.fusion import E5_PROFILE, EXCLUDED, STRONG, FusionProfile, fuse, label, on_e5_scale, sureness
from vaultbrain.retrieve.query import read_query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vaultbrain.index.catalog import Catalog, NoteRow
    from vaultbrain.index.embedding import Embedder
    from vaultbrain.index.matrix import Rows
    from vaultbrain.index.vectors import VectorStore
    from vaultbrain.memo import Memo
    from vaultbrain.retrieve.expand import Variant
    from vaultbrain.retrieve.query import Query

#: Memos looked at closely, and how many more candidates than that Chroma is asked for: several chunks may be of one memo.
CANDIDATES = 200
OVER_FETCH = 5
#: Chunks that tell what is ordinary in a large collection.
SAMPLE = 500
#: Memos that came nearest when nothing reached the label 弱.
NEAREST_MISSES = 3

#: Characters of a question that is embedded whole; of anything longer so many pieces are.
LONGEST_QUESTION = 120
PASSAGE_PIECES = ChunkProfile(size=120, overlap=0)
MAX_PASSAGE_PIECES = 4
#: Two vectors that cancel each other out leave nothing to divide by.
_SHORTEST = 1e-6


@dataclass(frozen=True, slots=True)
class Hit:
    """``score`` 0..1; ``anchor`` without ``^`` and ``note`` may be empty; ``excerpt`` stands word for word in the block."""

    memo_id: str
    label: str
    score: float
    title: str
    excerpt: str
    anchor: str
    note: str
    url: str
    matched: tuple[str, ...]
    channels: tuple[str, ...]
    created: int
    words: float
    cosine: float | None

    def as_json(self) -> dict[str, Any]:
        names = ("memo_id", "label", "score", "title", "excerpt", "anchor", "note", "url", "matched", "channels")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True)
class SearchResult:
    query: Query
    hits: tuple[Hit, ...]
    coverage: Coverage
    nearest: tuple[Hit, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {"query": self.query.text, "hits": [hit.as_json() for hit in self.hits], "coverage": self.coverage.as_json()}


@dataclass(frozen=True, slots=True)
class SearchParts:
    """What a search works with. ``fingerprint`` names the vectors; ``store`` is given their dimension."""

    catalog: Catalog
    fingerprint: str
    open_embedder: Callable[[], Embedder]
    store: Callable[[int], VectorStore]
    exact_search_limit: int
    checked_at: str = ""
    profile: FusionProfile = E5_PROFILE


@dataclass(slots=True)
class _Scored:
    memo_id: str
    words: float
    cosine: float | None
    score: float
    label: str
    channels: tuple[str, ...] = field(default_factory=tuple)


def search(
    parts: SearchParts, text: str, *, top_k: int = 10, variants: Sequence[str] = (), channel: str = "hybrid"
) -> SearchResult:
    """The best ``top_k`` memos, or the nearest misses when nothing is near enough.

    ``channel`` is ``hybrid``, ``keyword`` or ``semantic``. A model or vector store that fails leaves the words, and is named in
    the coverage.
    """
    with parts.catalog.snapshot():
        return _search(parts, read_query(text), top_k, variants, channel)


def _search(parts: SearchParts, query: Query, top_k: int, variants: Sequence[str], channel: str) -> SearchResult:
    counts = parts.catalog.counts(parts.fingerprint)
    coverage = Coverage(
        counts["memos"], counts["memos"], counts["chunks"], counts["chunks_with_vector"], parts.fingerprint, parts.checked_at
    )
    tried = expand(query, variants, parts.catalog.folded_tags())
    words = search_keywords(parts.catalog, tried, counts["memos"]) if channel != "semantic" else KeywordHits()
    meanings = _search_meaning(parts, query, coverage) if channel != "keyword" else SemanticHits({})
    scored = _score(parts.profile, words, meanings)
    found_any = bool(scored) and scored[0].score >= parts.profile.least_best
    kept = [item for item in scored if item.label != EXCLUDED] if found_any else []
    coverage.variants = [VariantCoverage(v.text, v.family, v.weight, v.reason, words.met.get(v.text, 0)) for v in tried]
    coverage.found, coverage.strong_memos = len(kept), sum(1 for item in kept if item.label == STRONG)
    coverage.keyword_memos = sum(1 for item in kept if "keyword" in item.channels)
    coverage.semantic_memos = sum(1 for item in kept if "semantic" in item.channels)
    coverage.both_memos = sum(1 for item in kept if len(item.channels) == 2)
    coverage.left_out = sum(1 for item in scored if item.label == EXCLUDED and item.words)
    misses = [] if kept else scored[:NEAREST_MISSES]
    coverage.nearest_misses = [item.memo_id for item in misses]
    hits, nearest = (_hits(parts, items, words, meanings, query) for items in (kept[:top_k], misses))
    return SearchResult(query, hits, coverage, nearest)


def _search_meaning(parts: SearchParts, query: Query, coverage: Coverage) -> SemanticHits:
    if not coverage.chunks_with_vector:
        coverage.degraded.append(Shortcoming("no_vectors"))
        return SemanticHits({})
    if not any(map(str.isalnum, query.topic)):
        return SemanticHits({})  # no model makes sense of punctuation
    try:
        vector = _query_vector(parts, query)
        return best_per_memo(_compare(parts, vector, coverage))
    except EmbeddingUnavailable as error:
        coverage.degraded.append(Shortcoming("no_model", error.fact("reason")))
        return SemanticHits({})


def _query_vector(parts: SearchParts, query: Query) -> Any:
    """(dimension,) float32, unit length: the topic and the question as asked, each without the mean of its language.

    Of a passage its first pieces: a model's time grows with the length, and a blurred vector finds nothing.
    """
    import numpy as np

    texts = list(dict.fromkeys([fold(query.topic), fold(query.text)]))
    if len(query.text) > LONGEST_QUESTION:
        texts = [chunk.text for chunk in split_chunks("", fold(query.text), PASSAGE_PIECES)[:MAX_PASSAGE_PIECES]]
    vectors = parts.open_embedder().embed_queries(texts)
    means = means_for(parts.fingerprint)
    blend = sum(centre_query(vector, text, means) for vector, text in zip(vectors, texts, strict=True))
    return blend / max(float(np.linalg.norm(blend)), _SHORTEST)


def _compare(parts: SearchParts, vector: Any, coverage: Coverage) -> list[tuple[str, str, float]]:
    """(chunk id, memo id, cosine) of all chunks, or of those that Chroma proposes in a large collection."""
    candidates = None
    if coverage.chunks_with_vector > parts.exact_search_limit:
        try:
            store = parts.store(len(vector))
            candidates = [chunk_id for chunk_id, _ in store.query(vector, CANDIDATES * OVER_FETCH)]
        except (VectorStoreFailed, StateBusy) as error:
            coverage.degraded.append(Shortcoming("no_store", error.fact("reason") or "another process has it"))
    rows = parts.catalog.load_vectors(parts.fingerprint, candidates)
    cosines = _cosines(parts, rows, vector)
    if means_for(parts.fingerprint) is None:
        sample = (
            cosines if candidates is None else _cosines(parts, parts.catalog.sample_vectors(parts.fingerprint, SAMPLE), vector)
        )
        ordinary, deviation = float(sample.mean()), float(sample.std())
        cosines = [on_e5_scale(float(cosine), ordinary, deviation) for cosine in cosines]
    return [(row[0], row[1], float(cosine)) for row, cosine in zip(rows, cosines, strict=True)]


def _cosines(parts: SearchParts, rows: Rows, vector: Any) -> Any:
    import numpy as np

    return centred_matrix(rows, parts.fingerprint) @ vector if rows else np.zeros(0, dtype=np.float32)


def _score(profile: FusionProfile, words: KeywordHits, meanings: SemanticHits) -> list[_Scored]:
    """Every memo that a channel speaks for, best first; equal scores by id, so that results repeat."""
    scored = []
    for memo_id in {*words.matched, *meanings.nearest}:
        cosine = meanings.nearest[memo_id][0] if memo_id in meanings.nearest else None
        sure = sureness(words.literal.get(memo_id, 0.0), words.other.get(memo_id, 0.0), cosine, profile)
        score = fuse(sure, cosine, profile)
        by_meaning = cosine is not None and fuse(0.0, cosine, profile) >= profile.weak
        channels = tuple(name for name, spoke in (("keyword", sure > 0), ("semantic", by_meaning)) if spoke)
        scored.append(_Scored(memo_id, sure, cosine, score, label(score, sure, profile), channels))
    return sorted(scored, key=lambda item: (-item.score, len(item.memo_id), item.memo_id))


def _hits(
    parts: SearchParts, kept: Sequence[_Scored], words: KeywordHits, meanings: SemanticHits, query: Query
) -> tuple[Hit, ...]:
    memos = parts.catalog.load_memos([item.memo_id for item in kept])
    chunks = parts.catalog.chunk_texts([item.memo_id for item in kept])
    return tuple(
        _hit(
            item,
            memos[item.memo_id],
            parts.catalog.load_note(item.memo_id),
            words.matched.get(item.memo_id, []),
            _nearest_text(item.memo_id, meanings, chunks),
            query,
        )
        for item in kept
    )


def _nearest_text(memo_id: str, meanings: SemanticHits, chunks: dict[str, list[tuple[str, str]]]) -> str:
    nearest = meanings.nearest.get(memo_id)
    return dict(chunks.get(memo_id, [])).get(nearest[1], "") if nearest else ""


def _hit(  # noqa: PLR0917
    item: _Scored, memo: Memo, note: NoteRow | None, matched: Sequence[Variant], nearest: str, query: Query
) -> Hit:
    terms = [variant.text.lstrip("#") for variant in matched] or [query.topic]
    is_linked = note is not None and note.status in ("written", "conflict")
    anchors = note.anchors if note and is_linked else ()
    excerpt = best_excerpt(memo.id, anchors, memo.content, Wanted(terms, nearest, query.wants_resources))
    return Hit(
        memo_id=memo.id,
        label=item.label,
        score=round(item.score, 4),
        title=memo.title,
        excerpt=excerpt.text,
        anchor=excerpt.anchor,
        note=note.path if note and is_linked else "",
        url=memo.url,
        matched=tuple(dict.fromkeys(variant.text for variant in matched)),
        channels=item.channels,
        created=memo.created,
        words=item.words,
        cosine=item.cosine,
    )
