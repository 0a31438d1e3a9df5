"""The channel of words: what FTS5 knows of each variant, as evidence for each memo. (That of meaning is ``retrieve.meaning``.)

Decides how sure the words make of a memo, not which memo is first. Four kinds of evidence are kept apart, because fusion trusts
them differently: the question's own words (``literal``), what the caller says besides (``given``), words near them (``near``),
and words of the other language (``translated``).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from vaultbrain.index.tokens import cut, is_cjk, match_all, match_any, match_phrase, searchable
from vaultbrain.retrieve.expand import LITERAL, WEIGHTS, Variant
from vaultbrain.retrieve.fusion import highest_bm25, inverse_document_frequency, specificity

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Iterable, Mapping, Sequence

    from vaultbrain.index.catalog import Catalog
    from vaultbrain.retrieve.concepts import Concept

#: BM25 weights of title, tags and body. A title is also part of the body, so its words count twice already.
FIELD_WEIGHTS = (1.0, 1.5, 1.0)
#: Memos that one variant may bring by BM25. Far more than anybody reads, and still quick.
KEYWORD_LIMIT = 300
#: Tokens of a long text that are looked up, the rarest of those that any memo has: a passage shares few words with any memo.
MAX_LITERAL_TOKENS = 24
#: A memo in which all words of the question stand is as sure as this, however long it is; BM25 thinks little of long texts.
LEAST_WHOLE = 0.35
#: A single Chinese character says little: what a memo gets at most for it.
SINGLE_CHARACTER = 0.5
#: What a memo gets that holds an address, a piece of code or a symbol exactly as typed.
AS_TYPED = 0.95
#: The same for a word that stands inside longer ones only.
INSIDE_A_WORD = 0.4
#: The doubt that is left, to the power of the weights of the near words met: each synonym (0.6) halves it.
DOUBT_LEFT = 0.315

#: One text that the caller gives stands for the question. Of very many each is a guess: what it counts when it is met alone, and
#: the power of its specificity (``fusion.specificity``) that this is multiplied with. docs/retrieval.md has the figures.
#: Where only words are searched, nothing else can confirm one, and more is left to it.
ONE_OF_MANY, ONE_OF_MANY_WORDS = 0.4, 0.7
RARITY_OF_MANY = 2.0

#: What a memo gets at most for the letters and digits of something typed that no memo has.
PARTS_ONLY = 0.2
#: A word in letters that no memo has as a word is looked for inside longer ones: strasse in hafenstrasse.
_LATIN_WORD = re.compile(r"[^\W\d_]{4,}", re.ASCII)

#: Families looked up by BM25 over their words, of which some may be missing; all others have to stand in the memo whole.
_SCATTERED = ("literal", "script", "given", "suggested")
#: A run without white space that means only itself: an address, a file name, an option, an identifier.
_AS_TYPED = re.compile(r"(?=.*[a-z0-9])(?=.*[./:_@=+\\~$%&*<>^|{}()\[\]-]|.*\d.*[a-z]|.*[a-z].*\d)[\x21-\x7e]{3,}")


@dataclass(slots=True)
class KeywordHits:
    """Evidence by memo id, each 0..1.

    ``literal``: how surely the memo says what was asked, in its words. ``near``: how much of the question the near words in it
    stand for. ``given``: what the caller's variants say for it together. ``doubt``: how far they need the consent of the meaning,
    0 for a single one, near 1 for a dozen. ``translated``: the share of the question's words, the rare ones counting more, whose
    translation stands in it.
    ``matched``: the variants that stand in it whole. ``met``: variant text → number of memos.
    """

    literal: dict[str, float] = field(default_factory=dict)
    near: dict[str, float] = field(default_factory=dict)
    given: dict[str, float] = field(default_factory=dict)
    doubt: float = 0.0
    translated: dict[str, float] = field(default_factory=dict)
    matched: dict[str, list[Variant]] = field(default_factory=dict)
    met: dict[str, int] = field(default_factory=dict)

    def keep(self, inside: Container[str]) -> None:
        """Forgets all memos that are not ``inside``; ``met`` then counts those that hold a variant whole."""
        for evidence in (self.literal, self.near, self.given, self.translated, self.matched):
            for memo_id in [memo_id for memo_id in evidence if memo_id not in inside]:
                del evidence[memo_id]
        met = Counter(variant.text for matched in self.matched.values() for variant in matched)
        self.met = {text: met[text] for text in self.met}


def search_keywords(
    catalog: Catalog,
    variants: Sequence[Variant],
    concepts: Sequence[Concept],
    documents: int,
    limit: int = KEYWORD_LIMIT,
    *,
    one_of_many: float = ONE_OF_MANY,
) -> KeywordHits:
    """What each variant meets. ``limit`` bounds the memos of one variant, -1 for none. ``one_of_many`` as the constant."""
    hits = KeywordHits()
    near = _Near()
    given = _Given(sum(variant.is_given for variant in variants), documents, one_of_many)
    for variant in variants:
        as_given: dict[str, float] = {}
        if variant.is_given:
            as_given = _match(catalog, replace(variant, family="given"), documents, limit)
            given.add(as_given, _frequencies(catalog, variant, as_given))
        if variant.family in LITERAL:
            found = _match(catalog, variant, documents, limit)
            _note_literal(hits, variant, found, _met_whole(catalog, variant, found))
        elif variant.family == "given":
            found = as_given
            whole = _met_whole(catalog, variant, found)
            _note_matched(hits, variant, [memo_id for memo_id in found if memo_id in whole])
        else:
            found = dict.fromkeys(_holding(catalog, variant.looked_up), 1.0)
            if variant.family != "translation":
                near.add(variant, found)
            _note_matched(hits, variant, found)
        hits.met[variant.text] = len(found)
    hits.near = near.evidence()
    hits.given, hits.doubt = given.evidence(), given.doubt
    hits.translated = _translated(catalog, concepts, documents)
    return hits


def as_typed(sought: str) -> list[str]:
    """The folded pieces of a query that are looked for character by character: addresses, code, symbols, single characters."""
    pieces = searchable(sought).split()
    has_words = any(map(str.isalnum, sought))
    found = [piece for piece in pieces if _AS_TYPED.fullmatch(piece) or not (cut(piece) or (has_words and piece.isascii()))]
    if len(pieces) == 1 and len(pieces[0]) == 1:
        found = pieces
    return [piece for piece in dict.fromkeys(found) if not piece.startswith("#")]


def search_as_typed(catalog: Catalog, sought: str, hits: KeywordHits, limit: int = KEYWORD_LIMIT) -> None:
    """Adds the memos that hold such a piece, even inside a word: FTS5 only knows words."""
    whole = len("".join(sought.split()))
    inside_words = [word for word in searchable(sought).split() if _LATIN_WORD.fullmatch(word) and not hits.met.get(word, 1)]
    typed = as_typed(sought)
    for piece in dict.fromkeys([*typed, *inside_words]):
        share = min(1.0, len(piece) / whole)
        worth = AS_TYPED if piece in typed else INSIDE_A_WORD
        sureness = SINGLE_CHARACTER if len(piece) == 1 and cut(piece) else worth * share
        family = "as typed" if piece in typed else "inside a word"
        variant = Variant(piece, family, round(sureness, 2), "these very characters", share=share)
        found = catalog.memos_containing(piece, limit)
        if not found and piece in typed and len(piece) > whole / 2:
            _distrust_parts(hits, piece)
        hits.met[piece] = len(found)
        for memo_id in found:
            hits.literal[memo_id] = max(hits.literal.get(memo_id, 0.0), sureness)
        _note_matched(hits, variant, found)


def _distrust_parts(hits: KeywordHits, piece: str) -> None:
    """No memo has the piece as it was typed (c++, 10:30): what holds its letters or digits says little."""
    for memo_id, sureness in hits.literal.items():
        hits.literal[memo_id] = min(sureness, PARTS_ONLY)
    for memo_id, matched in hits.matched.items():
        hits.matched[memo_id] = [variant for variant in matched if variant.text != piece]


def _note_literal(hits: KeywordHits, variant: Variant, found: Mapping[str, float], whole: Container[str]) -> None:
    for memo_id, sureness in found.items():
        surely = max(sureness, LEAST_WHOLE) if variant.family == "literal" and memo_id in whole else sureness
        hits.literal[memo_id] = max(hits.literal.get(memo_id, 0.0), variant.weight * variant.share * surely)
    _note_matched(hits, variant, [memo_id for memo_id in found if memo_id in whole])


def _note_matched(hits: KeywordHits, variant: Variant, memo_ids: Iterable[str]) -> None:
    for memo_id in memo_ids:
        matched = hits.matched.setdefault(memo_id, [])
        if all(other.text != variant.text for other in matched):
            matched.append(variant)


class _Near:
    """Adds up the near words of each memo, by the word of the question that they stand for."""

    def __init__(self) -> None:
        self._weights: dict[str, dict[str, float]] = {}
        self._shares: dict[str, float] = {}

    def add(self, variant: Variant, memo_ids: Iterable[str]) -> None:
        self._shares[variant.group] = variant.share
        for memo_id in memo_ids:
            weights = self._weights.setdefault(memo_id, {})
            weights[variant.group] = weights.get(variant.group, 0.0) + variant.weight

    def evidence(self) -> dict[str, float]:
        """Memo id → how much of the question its near words stand for, 0..1."""
        return {memo_id: min(1.0, sum(map(self._belief, weights.items()))) for memo_id, weights in self._weights.items()}

    def _belief(self, item: tuple[str, float]) -> float:
        group, weight = item
        return self._shares[group] * (1 - math.pow(DOUBT_LEFT, weight))


class _Given:
    """Adds up what the caller's variants say for each memo.

    One alone counts as it is. Of several, each counts by how few memos have it, and leaves the more doubt the more there are;
    those that meet in one memo each take their share of the doubt that is left.
    """

    def __init__(self, variants: int, documents: int, one_of_many: float) -> None:
        self.doubt = 1 - 1 / variants if variants else 0.0
        self._belief = 1 - (1 - one_of_many) * self.doubt
        self._documents = documents
        self._left: dict[str, float] = {}

    def add(self, found: Mapping[str, float], frequencies: Collection[int]) -> None:
        """``found``: memo id → sureness; ``frequencies``: how many memos have each token of the variant."""
        if not found:
            return
        rarity = sum(specificity(self._documents, count) for count in frequencies) / len(frequencies)
        worth = self._belief * math.pow(rarity, RARITY_OF_MANY * self.doubt)
        for memo_id, sureness in found.items():
            self._left[memo_id] = self._left.get(memo_id, 1.0) * (1 - worth * sureness)

    def evidence(self) -> dict[str, float]:
        return {memo_id: WEIGHTS["given"] * (1 - left) for memo_id, left in self._left.items()}


def _frequencies(catalog: Catalog, variant: Variant, found: Collection[str]) -> Collection[int]:
    """How many memos have each token of the variant; of a tag, how many have the tag."""
    if variant.text.startswith("#"):
        return [len(found)]
    tokens = cut(variant.text)
    frequencies = catalog.document_frequencies(tokens)
    return [frequencies.get(token, 0) for token in tokens]


def _translated(catalog: Catalog, concepts: Sequence[Concept], documents: int) -> dict[str, float]:
    shares: dict[str, float] = {}
    whole = 0.0
    for concept in concepts:
        found = _holding(catalog, concept.looked_up)
        own = _holding(catalog, concept.own_forms) if cut(concept.word) else set()
        weight = concept.weight * inverse_document_frequency(documents, len(found | own))
        whole += weight
        for memo_id in found:
            shares[memo_id] = shares.get(memo_id, 0.0) + weight
    return {memo_id: share / whole for memo_id, share in shares.items()} if whole else {}


def _holding(catalog: Catalog, texts: Sequence[str]) -> set[str]:
    """Memos in which one of the texts stands, as words; for a tag, among the tags."""
    tags = [text.lstrip("#") for text in texts if text.startswith("#")]
    words = [text for text in texts if not text.startswith("#")]
    phrases = [match_phrase(tokens) for text in words if (tokens := cut(text))]
    phrases += [f"tags : {match_phrase(tokens)}" for text in tags if (tokens := cut(text))]
    return set(catalog.memos_meeting(" OR ".join(dict.fromkeys(phrases)))) if phrases else set()


def _met_whole(catalog: Catalog, variant: Variant, found: Mapping[str, float]) -> Container[str]:
    """The memos in which all of the variant stands."""
    tokens = list(dict.fromkeys(cut(variant.text)))
    if variant.family not in _SCATTERED or len(tokens) < 2:
        return found
    if len(tokens) > MAX_LITERAL_TOKENS:
        return ()
    return set(catalog.memos_meeting(match_all(tokens)))


def _match(catalog: Catalog, variant: Variant, documents: int, limit: int) -> dict[str, float]:
    """Memo id → sureness, before the family's weight."""
    is_tag = variant.text.startswith("#")
    is_scattered = variant.family in _SCATTERED
    tokens = list(dict.fromkeys(cut(variant.text))) if is_scattered else cut(variant.text)
    if not tokens or (len(tokens) == 1 and len(tokens[0]) == 1 and is_cjk(tokens[0])):
        return {}  # looked for as typed
    frequencies = catalog.document_frequencies(tokens)
    if is_scattered and len(tokens) > MAX_LITERAL_TOKENS:
        tokens = sorted(frequencies, key=lambda token: (frequencies[token], token))[:MAX_LITERAL_TOKENS]
    if not tokens:
        return {}
    expression = match_any(tokens) if is_scattered and not is_tag else match_phrase(tokens)
    scored = catalog.match_keywords(f"tags : {expression}" if is_tag else expression, FIELD_WEIGHTS, limit)
    if (is_scattered and not is_tag) or not scored:
        highest = highest_bm25(tokens, frequencies, documents)
        return {memo_id: min(score / highest, 1.0) for memo_id, score in scored}
    best = scored[0][1]  # a phrase has an idf of its own, so its scores are measured by their best
    return {memo_id: 0.5 + 0.5 * score / best for memo_id, score in scored}
