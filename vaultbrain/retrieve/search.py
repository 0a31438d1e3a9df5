"""Search: a query in, memos out, best first, each with a label, the reason and the block to cite; and what was searched.

The one place that joins the parts of retrieval: ``query`` reads, ``expand`` adds variants, ``channels`` and ``meaning`` gather
evidence, ``fusion`` weighs it and says when nothing was found, ``rerank`` takes a second look. Whatever part is missing (no
vectors, no model, a busy store, no dictionary) is named in the coverage, and the rest answers. Words are searched without any
lock, so a running sync is no obstacle.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from heapq import nlargest
from itertools import chain
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import (
    EmbeddingUnavailable,
    RerankerUnavailable,
    StateBusy,
    SuggestionsUnavailable,
    VectorStoreFailed,
)
from vaultbrain.gist.stored import load_gists
from vaultbrain.gist.value import says_nothing, value_in
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut, is_cjk, match_phrase
from vaultbrain.retrieve.channels import (
    KEYWORD_LIMIT,
    ONE_OF_MANY,
    ONE_OF_MANY_WORDS,
    KeywordHits,
    search_as_typed,
    search_keywords,
)
from vaultbrain.retrieve.concepts import concepts, translated
from vaultbrain.retrieve.coverage import Coverage, Shortcoming, VariantCoverage
from vaultbrain.retrieve.excerpt import Wanted, best_excerpt
from vaultbrain.retrieve.expand import LITERAL, Sources, Variant, expand, near_texts
from vaultbrain.retrieve.fusion import (
    E5_PROFILE,
    EXCLUDED,
    RELATED,
    STRONG,
    Evidence,
    Fused,
    FusionProfile,
    boost,
    fuse,
    hold_exact,
    inverse_document_frequency,
    label,
    standing,
)
from vaultbrain.retrieve.lexicon import Lexicon, load_lexicon
from vaultbrain.retrieve.meaning import Comparison, TableCache, Wording, build_table, embed_query, scale_for
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS, read_query
from vaultbrain.retrieve.rerank import DEPTH, NAMES_ONLY, Looked, features, fold_copies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence, Set
    from datetime import tzinfo
    from pathlib import Path

    from vaultbrain.index.catalog import Catalog
    from vaultbrain.index.embedding import Embedder
    from vaultbrain.index.gist import Gist
    from vaultbrain.index.vectors import VectorStore
    from vaultbrain.memo import Memo
    from vaultbrain.retrieve.concepts import Concept
    from vaultbrain.retrieve.crossencoder import Reranker
    from vaultbrain.retrieve.dictionary import Dictionary
    from vaultbrain.retrieve.meaning import QueryVectors, VectorTable
    from vaultbrain.retrieve.query import Query
    from vaultbrain.retrieve.suggest import Suggestions

#: Memos by meaning that are looked at closely, and how many more chunks Chroma is asked for: several may be of one memo.
CANDIDATES = 200
OVER_FETCH = 5
#: Memos that came nearest when nothing was found.
NEAREST_MISSES = 3
#: Of a cross-encoder's opinion and the fusion's score, how much the first counts.
CROSS_ENCODER_SHARE = 0.6
_NO_LIMIT = -1


@dataclass(frozen=True, slots=True)
class Hit:
    """``score`` 0..1; ``anchor`` without ``^`` and ``note`` may be empty; ``excerpt`` stands word for word in the block.

    ``copies`` are memos that say the same. ``why``: what each channel and each feature of the rerank gave, adding up to the
    score; ``met`` the variants that stand in the memo whole. ``cosine`` is that of the nearest chunk. Of the memo's gist:
    ``summary`` in one sentence, empty when the title says it all; ``source``, its first outside link, else its own address;
    ``value`` 0..1, and ``gives``, what can be had from it (``gist.value``), or what rules it out.
    """

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
    cosine: float | None
    copies: tuple[str, ...] = ()
    why: dict[str, float] = field(default_factory=dict)
    met: tuple[Variant, ...] = ()
    summary: str = ""
    source: str = ""
    value: float = 0.0
    gives: tuple[str, ...] = ()

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        shown = {name: getattr(self, name) for name in _SHOWN}
        if explain:
            met = [{"text": v.text, "family": v.family, "weight": v.weight, "reason": v.reason} for v in self.met]
            shown |= {"why": self.why, "cosine": self.cosine, "met": met}
        return shown


#: Fields of a hit that programs are shown, too.
_SHOWN = (
    *("memo_id", "label", "score", "title", "excerpt", "anchor", "note", "url", "matched", "channels", "copies"),
    *("summary", "source", "value", "gives"),
)


def _as_it_is(hit: Hit) -> Hit:
    return hit


@dataclass(frozen=True, slots=True)
class SearchResult:
    """``ranked`` are the ids of all memos that deserve a label, best first; ``hits`` the first of them.

    ``cite`` gives a hit its anchor and excerpt, where they were left out; only as long as the catalog is open.
    """

    query: Query
    hits: tuple[Hit, ...]
    coverage: Coverage
    nearest: tuple[Hit, ...] = ()
    ranked: tuple[str, ...] = ()
    cite: Callable[[Hit], Hit] = field(default=_as_it_is, repr=False, compare=False)

    def as_json(self, *, explain: bool = False) -> dict[str, Any]:
        hits = [hit.as_json(explain=explain) for hit in self.hits]
        return {"query": self.query.text, "hits": hits, "coverage": self.coverage.as_json()}


def _no_dictionary() -> None:
    return None


@dataclass(frozen=True, slots=True)
class SearchParts:
    """What a search works with. ``fingerprint`` names the vectors; ``store`` is given their dimension.

    ``tables`` keeps vectors in memory from one search to the next. ``zone`` is where days begin for date filters, None for the
    machine's. ``suggest`` and ``open_reranker`` are None unless the settings name a model. ``open_dictionary`` gives None when
    there is none. ``leave_out`` names ingredients to search without, for measuring what each brings: those of ``INGREDIENTS``.
    """

    catalog: Catalog
    fingerprint: str
    open_embedder: Callable[[], Embedder]
    store: Callable[[int], VectorStore]
    exact_search_limit: int
    checked_at: str = ""
    profile: FusionProfile = E5_PROFILE
    tables: TableCache = field(default_factory=TableCache)
    zone: tzinfo | None = None
    own_lexicon: Path | None = None
    open_dictionary: Callable[[], Dictionary | None] = _no_dictionary
    suggest: Callable[[str], Suggestions] | None = None
    open_reranker: Callable[[], Reranker] | None = None
    leave_out: frozenset[str] = frozenset()

    def uses(self, ingredient: str) -> bool:
        return ingredient not in self.leave_out


#: What can be left out to see what it brings (docs/retrieval.md).
INGREDIENTS = (
    "lexicon",
    "dictionary",
    "whole question",
    "wide vector",
    "translated vector",
    "other region",
    "as typed",
    "relations",
    "rerank",
    "copies",
)


@dataclass(slots=True)
class _Scored:
    """``plain`` is the score without expansion. ``extra``: rerank feature → points."""

    memo_id: str
    evidence: Evidence
    fused: Fused
    plain: float
    score: float
    extra: dict[str, float] = field(default_factory=dict)
    copies: tuple[str, ...] = ()

    @property
    def channels(self) -> tuple[str, ...]:
        e = self.evidence
        by_words = e.literal or e.near or e.given or e.translated
        by_meaning = e.cosine is not None and (e.cosine >= SPEAKS or not by_words)
        return tuple(name for name, spoke in (("keyword", by_words), ("semantic", by_meaning)) if spoke)

    @property
    def why(self) -> dict[str, float]:
        f = self.fused
        parts = {"words": f.literal, "near words": f.near, "translation": f.translated, "meaning": f.meaning} | self.extra
        parts["at most 1"] = min(0.0, 1 - self.score)
        return {name: round(worth, 4) for name, worth in parts.items() if worth}


_NOTHING = Fused(0.0, 0.0, 0.0, 0.0, 0.0)

#: Memos from which score spreads to those that are related to them, and how much of it by the kind of relation.
SPREADING = 20
RELATION_SHARES = {"COMMENT": 0.75, "REFERENCE": 0.4}


def _raise(item: _Scored, score: float, plain: float, share: float, source: str) -> bool:
    """Gives ``item`` a share of another memo's scores; whether it changed."""
    if share * score <= item.score:
        return False
    name = f"related to #{source}"
    item.extra[name] = item.extra.get(name, 0.0) + share * score - item.score
    item.score, item.plain = share * score, max(item.plain, share * plain)
    return True


#: Up to here literal words prove nothing: a passing word or two of the question.
LITTLE = 0.2
#: Letters of a word that may be a name; shorter ones are units and abbreviations.
SHORTEST_NAME = 3
#: What a piece of the question that need not be a word counts in an excerpt, against 1 for a whole word of it; and the least that
#: is left of a word in every second memo.
PART_OF_TOPIC = 0.3
LEAST_RARITY = 0.15


def is_exact(variant: Variant) -> bool:
    """Whether a memo that holds it whole is an exact match: it is the whole question, as asked or as typed."""
    return variant.family == "literal" or (variant.family == "as typed" and variant.share >= 1)


#: From this cosine on the meaning alone speaks for a memo: about twice what unrelated memos reach.
SPEAKS = 0.3


def search(
    parts: SearchParts, text: str, *, top_k: int = 10, variants: Sequence[str] = (), channel: str = "hybrid"
) -> SearchResult:
    """The best ``top_k`` memos, or the nearest misses when nothing is near enough.

    ``channel`` is ``hybrid``, ``keyword`` or ``semantic``. A model, store or dictionary that fails is named in the coverage, and
    what is left answers.
    """
    with parts.catalog.snapshot():
        return _Search(parts, read_query(text), channel).run(top_k, variants)


def search_together(parts: SearchParts, texts: Sequence[str], *, top_k: int = 10) -> list[SearchResult]:
    """Searches for each text by words of its own and by the meaning of the first, the only one that the model reads.

    No hit is cited yet.
    """
    with parts.catalog.snapshot():
        leader, *others = searches = [_Search(parts, read_query(text), "hybrid") for text in texts]
        for other in others:
            other.leader = leader
        return [each.run(top_k, (), is_cited=False) for each in searches]


def _most(evidence: Mapping[str, float], worth: Callable[[str], float]) -> list[str]:
    """The ``CANDIDATES`` memos with the most of it."""
    if len(evidence) <= CANDIDATES:
        return list(evidence)
    return nlargest(CANDIDATES, evidence, key=lambda memo_id: (worth(memo_id), memo_id))


def _before(memo: Memo | None) -> tuple[bool, int]:
    """Of equal scores the pinned memo comes first, then the newest."""
    return (not memo.pinned, -memo.created) if memo else (True, 0)


class _Search:
    """One search. Its steps fill ``coverage`` as they go; ``run`` shows their order, and sets what several of them read."""

    comparison: Comparison | None = None
    #: The search whose meaning this one goes by, and what the model made of the question, once it was asked.
    leader: _Search | None = None
    meant: QueryVectors | EmbeddingUnavailable | None = None
    exact: Set[str] = frozenset()

    def __init__(self, parts: SearchParts, query: Query, channel: str) -> None:
        self.parts, self.query, self.channel = parts, query, channel
        self.catalog, self.profile = parts.catalog, parts.profile
        self.memos: dict[str, Memo] = {}
        memos = self.catalog.count_memos()
        chunks, with_vector = parts.tables.counts(self.catalog, parts.fingerprint)
        self.inside = None if query.conditions.is_empty else self.catalog.memos_in_scope(query.conditions.scope(parts.zone))
        searched = memos if self.inside is None else len(self.inside)
        self.coverage = Coverage(memos, searched, chunks, with_vector, parts.fingerprint, parts.checked_at)
        self.coverage.filters = list(query.conditions.describe())
        self.coverage.filters_ignored = [f"{item.text}: {item.reason}" for item in query.ignored]

    def run(self, top_k: int, given: Sequence[str], *, is_cited: bool = True) -> SearchResult:
        if not self.query.topic and not given:
            return self._newest(top_k)
        variants = self._expand(given)
        words = self._search_words(variants)
        self.comparison = self._compare(given, words)
        scored = self._spread(self._score(words))
        kept = self._keep(scored, words)
        if kept:
            self._rerank(kept, words)
            kept = self._fold_copies(self._labelled(kept))
        misses = [] if kept else scored[:NEAREST_MISSES]
        self._count(variants, words, scored, kept, misses)
        hits, nearest = (self._hits(items, words, is_cited=is_cited) for items in (kept[:top_k], misses))
        cite = _as_it_is if is_cited else self._citing(hits)
        return SearchResult(self.query, hits, self.coverage, nearest, tuple(item.memo_id for item in kept), cite)

    # what is looked for

    @property
    def _is_passage(self) -> bool:
        """A pasted text brings its own words in plenty; nothing is added to them."""
        return len(self.query.sought) > LONGEST_WITH_FILTERS

    @cached_property
    def lexicon(self) -> Lexicon:
        if self._is_passage or not self.parts.uses("lexicon"):
            return Lexicon(())
        lexicon = load_lexicon(self.parts.own_lexicon)
        if lexicon.problems:
            reason = f"{self.parts.own_lexicon}: {'; '.join(lexicon.problems)}"
            self.coverage.degraded.append(Shortcoming("own_lexicon", reason))
        return lexicon

    @cached_property
    def concepts(self) -> Sequence[Concept]:
        if self._is_passage or self.query.topic.startswith("#") or not self.parts.uses("dictionary"):
            return ()
        dictionary = self.parts.open_dictionary()
        found = concepts(self.query.topic, dictionary) if dictionary else ()
        if dictionary is None or dictionary.is_damaged:
            self.coverage.degraded.append(Shortcoming("no_dictionary"))
        return found

    def _expand(self, given: Sequence[str]) -> list[Variant]:
        query = self.query if self.parts.uses("other region") else replace(self.query, elsewhere="")
        sources = Sources(self.lexicon, self.catalog.folded_tags(), self.concepts, given, self._suggested())
        return expand(query, sources)

    def _suggested(self) -> tuple[str, ...]:
        if self.parts.suggest is None or self._is_passage:
            return ()
        try:
            return self.parts.suggest(self.query.sought).variants
        except SuggestionsUnavailable as error:
            self.coverage.degraded.append(Shortcoming("no_suggestions", error.fact("reason")))
            return ()

    # evidence

    def _search_words(self, variants: Sequence[Variant]) -> KeywordHits:
        if self.channel == "semantic":
            return KeywordHits()
        limit = KEYWORD_LIMIT if self.inside is None else _NO_LIMIT
        one_of_many = ONE_OF_MANY if self._asks_for_meaning and self.coverage.chunks_with_vector else ONE_OF_MANY_WORDS
        hits = search_keywords(self.catalog, variants, self.concepts, self.coverage.memos, limit, one_of_many=one_of_many)
        if self.parts.uses("as typed"):
            search_as_typed(self.catalog, self.query.sought, hits, limit)
        if self.inside is not None:
            hits.keep(self.inside)
        return hits

    def _compare(self, given: Sequence[str], words: KeywordHits) -> Comparison | None:
        """None when only words can be searched; the coverage then says why."""
        if not self._asks_for_meaning:
            return None
        if not self.coverage.chunks_with_vector:
            self.coverage.degraded.append(Shortcoming("no_vectors"))
            return None
        try:
            vectors = self._vectors(given)
        except EmbeddingUnavailable as error:
            self.coverage.degraded.append(Shortcoming("no_model", error.fact("reason")))
            return None
        table = self._table(vectors, words)
        if self.leader and self.leader.comparison and self.leader.comparison.is_of(table, vectors):
            return self.leader.comparison
        return Comparison(table, vectors, scale_for(self.catalog, vectors, self.parts.fingerprint))

    @property
    def _asks_for_meaning(self) -> bool:
        """No model makes sense of punctuation."""
        return self.channel != "keyword" and any(map(str.isalnum, self.query.topic))

    def _vectors(self, given: Sequence[str]) -> QueryVectors:
        """Raises ``EmbeddingUnavailable``, for a follower the one that its leader met: the model is tried once."""
        self.meant = self.leader.meant if self.leader else None
        if self.meant is None:
            self.meant = self._ask_model(given)
        if isinstance(self.meant, EmbeddingUnavailable):
            raise self.meant
        return self.meant

    def _ask_model(self, given: Sequence[str]) -> QueryVectors | EmbeddingUnavailable:
        fingerprint = self.parts.fingerprint
        try:
            embedder = self.parts.tables.asked.embedder(fingerprint, self.parts.open_embedder)
            return embed_query(self.query, self._wording(given), embedder, fingerprint)
        except EmbeddingUnavailable as error:
            return error

    def _wording(self, given: Sequence[str]) -> Wording:
        return replace(self._own_wording, given=tuple(map(fold, given)))

    @cached_property
    def _own_wording(self) -> Wording:
        near, share = near_texts(self.query.topic, self.lexicon) if self.parts.uses("wide vector") else ((), 0.0)
        in_other_words = ""
        if self.concepts and self.parts.uses("translated vector"):
            in_other_words = translated(self.concepts, lambda word: self.catalog.meets_any(match_phrase(cut(word))))
        return Wording(near, share, translated=in_other_words, whole=self.parts.uses("whole question"))

    def _table(self, vectors: QueryVectors, words: KeywordHits) -> VectorTable:
        """The vectors to compare: all there are, or those that Chroma proposes and those of memos that words speak for."""
        limit = self.parts.exact_search_limit
        if self.coverage.chunks_with_vector <= limit:
            return self.parts.tables.table(self.catalog, self.parts.fingerprint)
        chunk_ids = self.catalog.chunk_ids(sorted(self.inside or ()))
        if not chunk_ids or len(chunk_ids) > limit:
            try:
                store = self.parts.store(len(vectors.plain))
                proposed = {chunk_id for chunk_id, _ in store.query(vectors.wide, CANDIDATES * OVER_FETCH)}
            except (VectorStoreFailed, StateBusy) as error:
                reason = error.fact("reason") or "another process has it"
                self.coverage.degraded.append(Shortcoming("no_store", reason))
                return self.parts.tables.table(self.catalog, self.parts.fingerprint)
            chunk_ids = sorted(proposed.union(self.catalog.chunk_ids(self._by_words(words))))
        return build_table(self.catalog.load_vectors(self.parts.fingerprint, chunk_ids), self.parts.fingerprint)

    @staticmethod
    def _by_words(words: KeywordHits) -> list[str]:
        """The memos for which words speak most: the vector of each has to be fetched."""
        others = (_most(evidence, evidence.__getitem__) for evidence in (words.near, words.given, words.translated))
        return sorted({*words.literal, *chain.from_iterable(others)})

    # scores

    def _score(self, words: KeywordHits) -> list[_Scored]:
        """Every memo that a channel speaks for, best first; equal scores by id, so that results repeat."""
        self.exact = {memo_id for memo_id, met in words.matched.items() if any(map(is_exact, met))}
        candidates = self._candidates(words)
        boosted = boost(len(set(cut(self.query.topic))), self.profile)
        return self._sorted([self._scored(memo_id, words, boosted) for memo_id in candidates])

    def _candidates(self, words: KeywordHits) -> set[str]:
        """Memos worth scoring: of each kind of evidence those with the most of it, and the nearest by meaning."""
        likeness = self._likeness
        near = _most(words.near, lambda memo_id: words.near[memo_id] * likeness(memo_id))
        translated = _most(words.translated, lambda memo_id: words.translated[memo_id] + likeness(memo_id))
        given = _most(words.given, lambda memo_id: words.given[memo_id] + likeness(memo_id))
        found = {*words.literal, *near, *given, *translated}
        if self.comparison:
            found.update(self.comparison.top(CANDIDATES) if self.inside is None else self.comparison.memos())
        if self.comparison and self.coverage.chunks_with_vector > self.parts.exact_search_limit:
            # Only what was proposed or spoken for by words has its vector here; the rest must not pass for memos without one.
            found = {memo_id for memo_id in found if memo_id in words.literal or self.comparison.cosines(memo_id)}
        return found if self.inside is None else found & self.inside

    def _likeness(self, memo_id: str) -> float:
        cosines = self.comparison.cosines(memo_id) if self.comparison else None
        return cosines[0] if cosines else 0.0

    def _scored(self, memo_id: str, words: KeywordHits, boosted: float) -> _Scored:
        literal = words.literal.get(memo_id, 0.0)
        cosine, plain_cosine = (self.comparison.cosines(memo_id) if self.comparison else None) or (None, None)
        near, translated = words.near.get(memo_id, 0.0), words.translated.get(memo_id, 0.0)
        evidence = Evidence(literal, near, translated, cosine, words.given.get(memo_id, 0.0), words.doubt)
        fused = fuse(evidence, boosted, self.profile)
        # What it would be without expansion is only asked when an exact match has to be held.
        plain = fuse(Evidence(literal, cosine=plain_cosine), boosted, self.profile).score if self.exact else 0.0
        return _Scored(memo_id, evidence, fused, plain, fused.score)

    def _spread(self, scored: Sequence[_Scored]) -> Sequence[_Scored]:
        """A comment is read with what it comments on: each gets a share of the other's score, if that is more than its own."""
        if not self.parts.uses("relations") or self.query.topic.startswith("#"):
            return scored
        by_id = {item.memo_id: item for item in scored}
        sources = {item.memo_id: (item.score, item.plain) for item in scored[:SPREADING]}
        changed = False
        for one, other, kind in self.catalog.relations_of(list(sources)):
            for source, target in ((one, other), (other, one)):
                if source in sources and (self.inside is None or target in self.inside):
                    item = by_id.setdefault(target, _Scored(target, Evidence(), _NOTHING, 0.0, 0.0))
                    changed |= _raise(item, *sources[source], RELATION_SHARES.get(kind, 0.0), source)
        return self._sorted(list(by_id.values())) if changed else scored

    def _sorted(self, scored: Sequence[_Scored]) -> list[_Scored]:
        """Best first, after exact matches have been held where they were without expansion."""
        scores = {item.memo_id: item.score for item in scored}
        held = scores
        if exact := {memo_id for memo_id in self.exact & scores.keys() if scores[memo_id] >= self.profile.weak}:
            held = hold_exact(scores, {item.memo_id: item.plain for item in scored}, exact)
        for item in scored:
            if held[item.memo_id] != item.score:
                item.extra["exact match first"] = item.extra.get("exact match first", 0.0) + held[item.memo_id] - item.score
                item.score = held[item.memo_id]
        return sorted(scored, key=lambda item: (-item.score, len(item.memo_id), item.memo_id))

    def _keep(self, scored: Sequence[_Scored], words: KeywordHits) -> list[_Scored]:
        """What deserves a label; nothing when even the best does not stand out."""
        if not scored or (self.query.topic.startswith("#") and not (words.literal or words.given)):
            return []  # a tag that nobody has
        best, profile = scored[0], self.profile
        nearest = self.comparison.nearest(best.memo_id) if self.comparison else None
        confirmed = nearest is not None and nearest.is_translated and best.evidence.translated > 0
        least = profile.least_translated_standing if confirmed else profile.least_standing
        is_open = self.inside is None and not self._is_passage
        if is_open and best.evidence.literal < LITTLE and self._misses_a_name(words):
            least += profile.missing_name
        if standing([item.score for item in scored], self.coverage.memos, profile) < least:
            return []
        return self._labelled(scored)

    def _labelled(self, scored: Sequence[_Scored]) -> list[_Scored]:
        return [item for item in scored if self._label(item) != EXCLUDED]

    def _misses_a_name(self, words: KeywordHits) -> bool:
        """Whether a question in Chinese has a word in letters, which is then its subject, and no memo has it."""
        topic = self.query.topic.split()
        names = [word for word in topic if word.isascii() and word.isalpha() and len(word) >= SHORTEST_NAME]
        return any(is_cjk(word) for word in topic) and any(not words.met.get(name, 1) for name in names)

    def _label(self, item: _Scored) -> str:
        return label(item.score, item.evidence.sure_words, self.profile)

    # second look

    def _rerank(self, kept: list[_Scored], words: KeywordHits) -> None:
        """Looks at the first ``DEPTH`` again and brings ``kept`` into its last order."""
        first = kept[:DEPTH]
        ids = [item.memo_id for item in first]
        memos, texts = self._load_memos(ids), self.catalog.folded_texts(ids)
        if self.parts.uses("rerank"):
            for item in first:
                self._add_features(item, memos[item.memo_id], texts[item.memo_id], words)
            kept[:] = self._sorted(kept)
        if self.parts.open_reranker is not None:
            self._cross_encode(first, memos)
        kept.sort(key=lambda item: (-item.score, *_before(memos.get(item.memo_id)), item.memo_id))

    def _add_features(self, item: _Scored, memo: Memo, text: str, words: KeywordHits) -> None:
        has_body = "\n" in memo.content.strip()
        met = tuple(words.matched.get(item.memo_id, ()))
        looked = Looked(text, fold(memo.title), tuple(map(fold, memo.tags)), met, has_body)
        added = features(self.query.topic, looked, wants_resources=self.query.wants_resources)
        item.plain += sum(worth for name, worth in added.items() if name != "agreement")
        if says_nothing(text):
            added["says nothing"] = -NAMES_ONLY * item.score
            item.plain *= 1 - NAMES_ONLY
        item.extra |= added
        item.score += sum(added.values())

    def _cross_encode(self, first: Sequence[_Scored], memos: dict[str, Memo]) -> None:
        assert self.parts.open_reranker is not None
        try:
            judged = self.parts.open_reranker().scores(self.query.sought, [memos[item.memo_id].content for item in first])
        except RerankerUnavailable as error:
            self.coverage.degraded.append(Shortcoming("no_reranker", error.fact("reason")))
            return
        for item, score in zip(first, judged, strict=True):
            item.extra["cross-encoder"] = CROSS_ENCODER_SHARE * (score - item.score)
            item.score += item.extra["cross-encoder"]

    def _fold_copies(self, kept: Sequence[_Scored]) -> list[_Scored]:
        if not self.parts.uses("copies"):
            return list(kept)
        texts = self.catalog.folded_texts([item.memo_id for item in kept])
        copies = fold_copies([(item.memo_id, texts[item.memo_id], item.score) for item in kept])
        for item in kept:
            item.copies = tuple(copies.get(item.memo_id, ()))
        return [item for item in kept if item.memo_id in copies]

    # the result

    def _newest(self, top_k: int) -> SearchResult:
        """The answer to a query of filters alone: all that meet them, newest first."""
        memo_ids = self.catalog.newest_in_scope(self.query.conditions.scope(self.parts.zone), top_k) if self.inside else []
        self.coverage.found = self.coverage.strong_memos = len(self.inside or ())
        meets = Fused(1.0, 0.0, 0.0, 0.0, 0.0)
        items = [_Scored(memo_id, Evidence(literal=1.0), meets, 1.0, 1.0, {"filters": 1.0}) for memo_id in memo_ids]
        return SearchResult(self.query, self._hits(items, KeywordHits()), self.coverage, ranked=tuple(memo_ids))

    def _count(
        self,
        variants: Sequence[Variant],
        words: KeywordHits,
        scored: Sequence[_Scored],
        kept: Sequence[_Scored],
        misses: Sequence[_Scored],
    ) -> None:
        coverage = self.coverage
        typed = [
            Variant(text, "as typed", 1.0, "these very characters")
            for text in words.met
            if text not in {v.text for v in variants}
        ]
        looked_up = () if self.channel == "semantic" else (*variants, *typed)
        shown = [v for v in looked_up if words.met.get(v.text) or v.family != "form"]
        coverage.variants = [VariantCoverage(v.text, v.family, v.weight, v.reason, words.met.get(v.text, 0)) for v in shown]
        coverage.found = len(kept)
        coverage.copies = sum(len(item.copies) for item in kept)
        labels = [self._label(item) for item in kept]
        coverage.strong_memos, coverage.related_memos = labels.count(STRONG), labels.count(RELATED)
        channels = [item.channels for item in kept]
        coverage.keyword_memos = sum("keyword" in spoke for spoke in channels)
        coverage.semantic_memos = sum("semantic" in spoke for spoke in channels)
        coverage.both_memos = sum(len(spoke) == 2 for spoke in channels)
        standing_there = {memo_id for item in kept for memo_id in (item.memo_id, *item.copies)}
        coverage.left_out = sum(item.evidence.says_a_word and item.memo_id not in standing_there for item in scored)
        coverage.nearest_misses = [item.memo_id for item in misses]

    def _hits(self, items: Sequence[_Scored], words: KeywordHits, *, is_cited: bool = True) -> tuple[Hit, ...]:
        memos = self._load_memos([item.memo_id for item in items])
        gists = load_gists(self.catalog, memos.values())
        hits = tuple(
            self._hit(item, memos[item.memo_id], gists[item.memo_id], words.matched.get(item.memo_id, [])) for item in items
        )
        return tuple(map(self._citing(hits), hits)) if is_cited else hits

    def _load_memos(self, memo_ids: Sequence[str]) -> dict[str, Memo]:
        """Each memo is read once in a search."""
        self.memos |= self.catalog.load_memos([memo_id for memo_id in memo_ids if memo_id not in self.memos])
        return {memo_id: self.memos[memo_id] for memo_id in memo_ids if memo_id in self.memos}

    def _citing(self, hits: Sequence[Hit]) -> Callable[[Hit], Hit]:
        """What gives any of the ``hits`` its anchor and excerpt; what all of them need is looked up for the first."""

        @cache
        def looked_up() -> tuple[dict[str, str], dict[str, float]]:
            chunks = self.catalog.chunk_texts([hit.memo_id for hit in hits])
            texts = {chunk_id: text for found in chunks.values() for chunk_id, text in found}
            return texts, self._weights(dict.fromkeys(variant for hit in hits for variant in hit.met))

        return lambda hit: self._cited(hit, *looked_up())

    def _cited(self, hit: Hit, texts: Mapping[str, str], weights: Mapping[str, float]) -> Hit:
        terms = [*(word.lstrip("#") for variant in hit.met for word in variant.looked_up), self.query.topic]
        nearest = self.comparison.nearest(hit.memo_id) if self.comparison else None
        wanted = Wanted(terms, texts.get(nearest.chunk_id, "") if nearest else "", self.query.wants_resources, weights)
        anchors, unlinked = self._blocks(hit)
        excerpt = best_excerpt(hit.memo_id, anchors, self.memos[hit.memo_id].content, wanted, unlinked)
        return replace(hit, excerpt=excerpt.text, anchor=excerpt.anchor)

    def _blocks(self, hit: Hit) -> tuple[Sequence[tuple[int, str]], Sequence[str]]:
        """Of the memo's note: the blocks with an anchor, and those without."""
        if not hit.note:
            return (), ()
        if blocks := self.catalog.standing_blocks(hit.memo_id):
            return blocks
        note = self.catalog.load_note(hit.memo_id)
        return (note.anchors if note else ()), ()

    def _weights(self, met: Iterable[Variant]) -> dict[str, float]:
        """Token → how much it says in an excerpt, 0..1: the rarer among all memos, and the nearer to the question, the more."""
        weights = dict.fromkeys(cut(self.query.topic), PART_OF_TOPIC)
        for variant in met:
            worth = 1.0 if variant.family in LITERAL else max(variant.weight, PART_OF_TOPIC)
            for token in cut(" ".join(variant.looked_up)):
                weights[token] = max(weights.get(token, 0.0), worth)
        memos = self.coverage.memos
        rarest = inverse_document_frequency(memos, 1)
        frequencies = self.catalog.document_frequencies(weights)
        rarity = {token: inverse_document_frequency(memos, count) / rarest for token, count in frequencies.items()}
        return {token: worth * max(LEAST_RARITY, min(1.0, rarity.get(token, 1.0))) for token, worth in weights.items()}

    def _hit(self, item: _Scored, memo: Memo, gist: Gist, met: Sequence[Variant]) -> Hit:
        return Hit(
            memo_id=memo.id,
            label=self._label(item),
            score=round(min(1.0, item.score), 4),
            title=memo.title,
            excerpt="",
            anchor="",
            note=self.catalog.note_path(memo.id),
            url=memo.url,
            matched=tuple(dict.fromkeys(variant.text for variant in met)),
            channels=item.channels,
            created=memo.created,
            cosine=None if item.evidence.cosine is None else round(item.evidence.cosine, 4),
            copies=item.copies,
            why=item.why,
            met=tuple(met),
            summary=gist.summary,
            source=gist.source,
            value=gist.value,
            gives=value_in(gist).reasons,
        )
