"""What stands between the themes and the sources: contradictions, what is missing, what to look at next.

Pure. Each is a heading with lines, and left out when there is nothing to say.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from vaultbrain.answer.citing import link_to, shown_date, shown_quote, titled, titled_relative
from vaultbrain.answer.context import EXPLORE
from vaultbrain.answer.sections import part_name
from vaultbrain.answer.topic import shown_word, unmet_words
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.pieces import Piece
    from vaultbrain.answer.sections import Arranged
    from vaultbrain.answer.wording import Words
    from vaultbrain.retrieve.search import Hit, SearchResult

#: Things named on one line.
MAX_NAMED, MAX_TAGS = 5, 4
#: Memos from which on it means something that none of them speaks to a sub-question; and that share a tag worth naming.
_ENOUGH_MEMOS, _LEAST_TAGGED = 5, 2
#: Days after which the newest memo may be out of date.
_OLD_DAYS = 365
_DAY_S = 86_400


class Outlook(NamedTuple):
    """``name`` is one of ``wording.HEADINGS``; ``lines`` are Markdown without marks of a list."""

    name: str
    lines: list[str]


def outlook(result: SearchResult, context: AnswerContext, arranged: Arranged, words: Words) -> list[Outlook]:
    if not result.hits:
        return []
    found = [Outlook("gaps", list(_gaps(result, context, arranged, words)))]
    if context.mode == EXPLORE:
        found = [Outlook("contradictions", list(_contradictions(result, context, arranged, words))), *found]
        found.append(Outlook("next", list(_next(result, context, arranged, words))))
    return [part for part in found if part.lines]


def counted_tags(result: SearchResult, context: AnswerContext, words: Words) -> list[str]:
    """``tag:…`` for the tags that most of the hits share, with how many; none that the question names or that all have."""
    asked = set(fold(result.query.text).replace("#", " ").replace("tag:", " ").split())
    hits = [hit for hit in (*result.hits, *context.further) if hit.label != WEAK]
    tags = [tag for hit in hits for tag in context.material.tags.get(hit.memo_id, ())]
    written = {fold(tag): tag for tag in reversed(tags)}  # both scripts are one tag, written as the first hit has it
    counts = Counter(map(fold, tags))
    shared = [(written[key], n) for key, n in counts.items() if _LEAST_TAGGED <= n < max(len(hits), 3) and key not in asked]
    ranked = sorted(shared, key=lambda found: (-found[1], found[0]))[:MAX_TAGS]
    filters = {f'tag:"{tag}"' if any(map(str.isspace, tag)) else f"tag:{tag}": n for tag, n in ranked if "`" not in tag}
    return [words("counted_tag", tag=tag, count=count) for tag, count in filters.items()]


def _quoted(piece: Piece, hits: Sequence[Hit], words: Words) -> str:
    hit = next(hit for hit in hits if hit.memo_id == piece.memo_id)
    quote = words("quoted", text=shown_quote(piece.text))
    return words("best", text=quote, link=link_to(hit, piece.anchor))


def _contradictions(result: SearchResult, context: AnswerContext, arranged: Arranged, words: Words) -> Iterator[str]:
    for pair in arranged.exploration.contradictions[:MAX_NAMED]:
        yield words(
            "contradicts",
            new_date=shown_date(pair.newer.created, context.now),
            newer=_quoted(pair.newer, result.hits, words),
            old_date=shown_date(pair.older.created, context.now),
            older=_quoted(pair.older, result.hits, words),
        )


def _gaps(result: SearchResult, context: AnswerContext, arranged: Arranged, words: Words) -> Iterator[str]:
    join = words("list_join").join
    if untouched := [part_name(part.text, words) for part in arranged.matched if part.text and not part.is_met]:
        yield words("gap_parts", parts=join(untouched))
    if context.mode != EXPLORE:
        return
    near = [hit for hit in result.hits if hit.label in (STRONG, RELATED)]
    silent = arranged.exploration.silent
    if silent and arranged.exploration.questions and len(near) >= _ENOUGH_MEMOS:
        yield words("gap_silent", names=join(words(f"short_{name}") for name in silent))
    if unmet := unmet_words(result, context):
        yield words("gap_words", words=join(shown_word(text, result) for text in unmet))
    newest = max((hit.created for hit in near), default=None)
    if newest is not None and len(near) >= _ENOUGH_MEMOS and context.now.timestamp() - newest > _OLD_DAYS * _DAY_S:
        yield words("gap_old", date=shown_date(newest, context.now))


def _next(result: SearchResult, context: AnswerContext, arranged: Arranged, words: Words) -> Iterator[str]:
    cited = {hit.memo_id for hit in result.hits}
    listed = words("clause_join").join
    tasks = arranged.exploration.open_tasks[:MAX_NAMED]
    if tasks:
        yield words("next_tasks", pieces=listed(_quoted(piece, result.hits, words) for piece in tasks))
    relatives = {r.memo_id: r for hit in result.hits for r in context.material.relatives.get(hit.memo_id, ())}
    uncited = [titled_relative(relative) for memo_id, relative in relatives.items() if memo_id not in cited]
    if uncited:
        yield words("next_relatives", links=listed(uncited[:MAX_NAMED]))
    shown = {item.memo_id for section in arranged.sections for item in section.items}
    hits = [hit for hit in (*context.further, *result.hits) if hit.memo_id not in shown and hit.label != WEAK]
    if hits:
        yield words("next_hits", links=listed(titled(link_to(hit, ""), hit.title) for hit in hits[:MAX_NAMED]))
    if tags := counted_tags(result, context, words):
        yield words("next_tags", tags=words("list_join").join(tags))
