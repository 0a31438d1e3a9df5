"""Recall: a text that is being written in, at most two old memos out, and for every candidate why it is shown or held.

Joins the two layers of the gate: ``gate`` says whether the text is worth a look-up, ``query`` what to look up, the search finds,
``judge`` says what is worth a mention. Candidates are gathered in two ways: by the words of the short query, and by those of the
need as the person put it, the end of what was written. Both go by the meaning of the need, which is all that a model reads; never
by the whole of a long text. Refuses to write anything: see ``delivery``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from vaultbrain.recall.gate import Decision, decide
from vaultbrain.recall.judge import Candidate, Situation, Verdict, asked_kinds, is_near, judge
from vaultbrain.recall.keywords import score_by_keywords
from vaultbrain.recall.query import short_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from vaultbrain.index.gist import Gist
    from vaultbrain.memo import Memo
    from vaultbrain.recall.areas import Areas
    from vaultbrain.retrieve.search import Hit, SearchResult

#: Hits of each search that are judged; what comes later is never near enough.
CANDIDATES = 10
#: The need is looked for in the last so many sentences, and so many characters at most: people tell what happened first and what
#: they want last. Searched for by their own meaning, 45 of 60 short queries had the wanted memo among ten, and 58 of these.
NEED_SENTENCES, NEED_CHARS = 2, 200

_SENTENCE_END = re.compile(r"(?<=[。！？!?；;\n])|(?<=\.)\s")
#: What a search would take as an order: quotation marks, and what leaves a word out or names a field.
_ORDERS = re.compile(r"[\"“”„＂]|(?<!\w)[-－]+(?=\S)|(?<=[A-Za-zＡ-Ｚａ-ｚ])[:：](?!//)")


@dataclass(frozen=True, slots=True)
class RecallParts:
    """What recall works with.

    ``search`` takes queries and how many hits of each, which need not be cited, and goes by the meaning of the first of them;
    ``has_vectors`` tells whether it can go by meaning; ``containing`` gives the ids of memos in which one of the terms stands;
    ``memos`` loads them, ``gists`` what they are about and worth, by id. ``note_of``: the path of a memo's note, or nothing.
    ``liking``: folded tag → the person's ticks for it, less those against it.
    """

    search: Callable[[Sequence[str], int], Sequence[SearchResult]]
    has_vectors: bool
    containing: Callable[[Sequence[str]], Sequence[str]]
    memos: Callable[[Sequence[str]], dict[str, Memo]]
    gists: Callable[[Iterable[Memo]], dict[str, Gist]]
    note_of: Callable[[str], str]
    areas: Areas
    is_word: Callable[[str], bool] | None
    corpus_size: int
    dismissed: frozenset[str]
    liking: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Recalled:
    """``query`` is what was looked up, empty when nothing was. ``held`` says why, when no candidate was judged.

    ``kinds`` are what the text asks for (``judge.KINDS``). ``by`` is ``meaning`` or ``keywords``. ``verdicts`` are all
    candidates, best first.
    """

    decision: Decision
    query: str
    kinds: tuple[str, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    by: str = "meaning"
    held: str = ""

    @property
    def shown(self) -> tuple[Verdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.shown)


NOTHING_TO_LOOK_FOR = "the text names no subject"


def read_gate(parts: RecallParts, text: str) -> tuple[Decision, str]:
    """Whether the text is worth a look-up, and the query for it."""
    return decide(text, parts.areas), " ".join(short_query(text, parts.areas, parts.is_word))


def need_of(text: str) -> str:
    """The end of ``text``, in which people say what they want, without marks that a search would obey."""
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    need = " ".join(sentences[-NEED_SENTENCES:])
    if len(need) > NEED_CHARS:
        need = re.sub(r"^[A-Za-z]*\s", "", need[-NEED_CHARS:])
    return " ".join(_ORDERS.sub(" ", need).split())


def recall(
    parts: RecallParts, text: str, situation: Situation | None = None, *, limit: int = 2, semantic: bool | None = None
) -> Recalled:
    """What is worth a mention to whoever writes ``text``, whether or not the first layer would have looked.

    ``semantic`` None goes by meaning where there are vectors. ``situation`` tells what is known of the note; without one there is
    only the text.
    """
    decision, query = read_gate(parts, text)
    by_meaning = parts.has_vectors if semantic is None else semantic
    if not query and not (decision.recall and by_meaning):
        return Recalled(decision, "", held=NOTHING_TO_LOOK_FOR)
    candidates = _by_meaning(parts, query, need_of(text)) if by_meaning else _by_keywords(parts, query.split())
    known = situation or Situation(text=text)
    known = replace(
        known,
        corpus_size=parts.corpus_size,
        dismissed=parts.dismissed,
        liking=parts.liking,
        query=tuple(query.split()),
        features=tuple(name for name, _ in decision.features),
    )
    verdicts = judge(candidates, known, limit=limit)
    kinds = asked_kinds(text, known.features)
    return Recalled(decision, query, kinds, tuple(verdicts), "meaning" if by_meaning else "keywords")


def _by_meaning(parts: RecallParts, query: str, need: str) -> list[Candidate]:
    """What both searches found, each memo once, by the meaning of the need. The need's hit counts, the short query's confirms it.

    Three words meet a memo by a common word too easily to outrank what the whole need says of it.
    """
    results = parts.search(list(dict.fromkeys(filter(None, [need, query]))), CANDIDATES)
    memos = parts.memos(list(dict.fromkeys(hit.memo_id for result in results for hit in result.hits)))
    gists = parts.gists(memos.values())
    found: dict[str, Candidate] = {}
    cited: dict[str, Callable[[], Hit]] = {}
    for result in results:
        for rank, hit in enumerate(result.hits):
            memo_id, known = hit.memo_id, found.get(hit.memo_id)
            if known:
                found[memo_id] = replace(known, agreement=hit.score, rank=min(rank, known.rank))
            elif memo_id in memos:
                found[memo_id] = _candidate(memos[memo_id], gists[memo_id], hit, rank)
                cited[memo_id] = partial(result.cite, hit)
    candidates = [_with_passage(each, cited[each.memo.id]()) if is_near(each, parts.liking) else each for each in found.values()]
    return sorted(candidates, key=lambda item: (item.rank, -item.likeness, item.memo.id))


def _candidate(memo: Memo, gist: Gist, hit: Hit, rank: int) -> Candidate:
    return Candidate(memo, gist, hit.label, hit.score, hit.cosine, hit.note, hit.anchor, hit.matched, rank, excerpt=hit.excerpt)


def _with_passage(candidate: Candidate, hit: Hit) -> Candidate:
    return replace(candidate, anchor=hit.anchor, excerpt=hit.excerpt)


def _by_keywords(parts: RecallParts, terms: Sequence[str]) -> list[Candidate]:
    memos = parts.memos(parts.containing(terms))
    scored = score_by_keywords(memos.values(), terms)[:CANDIDATES]
    gists = parts.gists(found.memo for found in scored)
    return [
        Candidate(
            *(found.memo, gists[found.memo.id], found.label, found.score, None, parts.note_of(found.memo.id), "", found.matched),
            rank,
        )
        for rank, found in enumerate(scored)
    ]
