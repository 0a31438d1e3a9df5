"""The two ways to find memos: by words (FTS5) and by meaning (vectors). Each says how good every memo is, not which is first."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultbrain.index.tokens import cut, is_cjk, match_all, match_any
from vaultbrain.retrieve.fusion import highest_bm25

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from vaultbrain.index.catalog import Catalog
    from vaultbrain.retrieve.expand import Variant

#: BM25 weights of title, tags and body: a word in a title or tag says what the memo is about.
FIELD_WEIGHTS = (2.0, 2.0, 1.0)
#: Memos that one variant may bring. Far more than anybody reads, and still quick.
KEYWORD_LIMIT = 400
#: Families that need no consent of the meaning: the person's own words, in the question or as a tag.
ASSURED = ("literal", "form", "part", "tag")
#: Tokens of a long text that are looked up, the rarest of those that any memo has: a passage shares few words with any memo.
MAX_LITERAL_TOKENS = 24
#: A single Chinese character says little: what a memo gets at most for it.
SINGLE_CHARACTER = 0.5


@dataclass(slots=True)
class KeywordHits:
    """How sure the words are of each memo, 0..1: ``literal`` for those of ``ASSURED``, ``other`` for all other variants.

    ``matched``: memo id → variants that stand in it whole. ``met``: variant text → number of memos.
    """

    literal: dict[str, float] = field(default_factory=dict)
    other: dict[str, float] = field(default_factory=dict)
    matched: dict[str, list[Variant]] = field(default_factory=dict)
    met: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SemanticHits:
    """``nearest``: memo id → (cosine, chunk id) of its nearest chunk, for every memo that was compared."""

    nearest: Mapping[str, tuple[float, str]]


def search_keywords(catalog: Catalog, variants: Sequence[Variant], documents: int) -> KeywordHits:
    """What each variant meets. The literal words may match in part; every other variant has to stand there whole."""
    hits = KeywordHits()
    for variant in variants:
        found = _match(catalog, variant, documents)
        hits.met[variant.text] = len(found)
        best = hits.literal if variant.family in ASSURED else hits.other
        whole = _met_whole(catalog, variant, found)
        for memo_id, sureness in found.items():
            best[memo_id] = max(best.get(memo_id, 0.0), variant.weight * sureness)
            matched = hits.matched.setdefault(memo_id, [])
            if memo_id in whole:
                matched.append(variant)
    return hits


def _met_whole(catalog: Catalog, variant: Variant, found: Mapping[str, float]) -> Container[str]:
    """The memos in which all of the variant stands. Only the literal words may be met in part."""
    tokens = list(dict.fromkeys(cut(variant.text)))
    if variant.family != "literal" or len(tokens) < 2:
        return found
    if len(tokens) > MAX_LITERAL_TOKENS:
        return ()
    return {memo_id for memo_id, _ in catalog.match_keywords(match_all(tokens), FIELD_WEIGHTS, KEYWORD_LIMIT)}


def _match(catalog: Catalog, variant: Variant, documents: int) -> dict[str, float]:
    text = variant.text.lstrip("#")
    if len(text) == 1 and is_cjk(text):
        return dict.fromkeys(catalog.memos_with_character(text, KEYWORD_LIMIT), SINGLE_CHARACTER)
    tokens = list(dict.fromkeys(cut(text))) if variant.family == "literal" else cut(text)
    frequencies = catalog.document_frequencies(tokens)
    if variant.family == "literal" and len(tokens) > MAX_LITERAL_TOKENS:
        tokens = sorted(frequencies, key=lambda token: (frequencies[token], token))[:MAX_LITERAL_TOKENS]
    if not tokens:
        return {}
    expression = match_any(tokens) if variant.family == "literal" else f'"{" ".join(tokens)}"'
    if variant.text.startswith("#"):
        expression = f"tags : {expression}"
    scored = catalog.match_keywords(expression, FIELD_WEIGHTS, KEYWORD_LIMIT)
    if variant.family == "literal" or not scored:
        highest = highest_bm25(tokens, frequencies, documents)
        return {memo_id: min(score / highest, 1.0) for memo_id, score in scored}
    best = scored[0][1]  # a phrase has an idf of its own, so its scores are measured by their best
    return {memo_id: 0.5 + 0.5 * score / best for memo_id, score in scored}


def best_per_memo(compared: Sequence[tuple[str, str, float]]) -> SemanticHits:
    """The nearest chunk of each memo, from (chunk id, memo id, cosine)."""
    nearest: dict[str, tuple[float, str]] = {}
    for chunk_id, memo_id, cosine in compared:
        if memo_id not in nearest or cosine > nearest[memo_id][0]:
            nearest[memo_id] = (cosine, chunk_id)
    return SemanticHits(nearest)
