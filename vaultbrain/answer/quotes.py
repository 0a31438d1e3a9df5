"""The sources of an answer: each memo with its excerpt, how near it is, what it met, what says the same and what it refers to.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vaultbrain.answer.citing import link, link_to, shown_date, shown_title, titled_relative
from vaultbrain.answer.material import COMMENT
from vaultbrain.answer.pieces import LIST_MARK
from vaultbrain.answer.topic import said_filters, shown_word
from vaultbrain.retrieve.fusion import STRONG
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.wording import Words
    from vaultbrain.retrieve.search import Hit, SearchResult

#: Sources that stand open, if they are strong; the others unfold.
MAX_OPEN = 3


def quotes(result: SearchResult, context: AnswerContext, words: Words) -> list[dict[str, Any]]:
    return [_quote(hit, result, context, words, is_open=place < MAX_OPEN) for place, hit in enumerate(result.hits)]


def _quote(hit: Hit, result: SearchResult, context: AnswerContext, words: Words, *, is_open: bool) -> dict[str, Any]:
    return {
        "link": link_to(hit),
        "label": words(hit.label),
        "date": shown_date(hit.created, context.now),
        "url": hit.url,
        "excerpt": _standing_alone((hit.excerpt or shown_title(hit.title)).split("\n")),
        "matched": _matched(hit, result, words),
        "besides": list(_besides(hit, context, words)),
        "open": is_open and hit.label == STRONG,
    }


def _matched(hit: Hit, result: SearchResult, words: Words) -> str:
    """Which words of the question were met, or that it was found without; a passage is too long for a word.

    Of conditions alone they themselves.
    """
    if not result.query.topic:
        return words("list_join").join(said_filters(result.query.conditions, words)) or words("partly")
    met = [word for word in hit.matched if not word.startswith("#") and len(word) <= LONGEST_WITH_FILTERS]
    said = words("list_join").join(shown_word(word, result) for word in met)
    return said or words("partly" if "keyword" in hit.channels else "by_meaning")


def _besides(hit: Hit, context: AnswerContext, words: Words) -> Iterator[str]:
    """What says the same, and what the memo comments on or refers to."""
    if hit.copies:
        links = [link(memo_id, context.material.notes.get(memo_id, "")) for memo_id in hit.copies]
        yield words("copies", links=words("list_join").join(links))
    relatives = context.material.relatives.get(hit.memo_id, ())
    for name, found in (
        ("comments_on", [relative for relative in relatives if relative.kind == COMMENT]),
        ("refers_to", [relative for relative in relatives if relative.kind != COMMENT]),
    ):
        if found:
            yield words(name, links=words("list_join").join(map(titled_relative, found)))


def _standing_alone(lines: Sequence[str]) -> list[str]:
    """The excerpt, with an empty line after a list or table, which would take the next line for its own."""
    return [*lines, ""] if LIST_MARK.match(lines[-1]) or lines[-1].startswith("|") else list(lines)
