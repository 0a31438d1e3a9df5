"""The end of an answer: what was searched and read, and, before that, what the person should know before trusting it.

Pure. Whatever could not be searched or read as it should have been is said here, in words.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from vaultbrain.answer.citing import inline, link_to, links_of, shown_date
from vaultbrain.answer.conclusion import worth_reading
from vaultbrain.answer.context import MATCH
from vaultbrain.answer.outlook import counted_tags
from vaultbrain.answer.topic import said_filters, shown_word
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.wording import Words
    from vaultbrain.retrieve.coverage import VariantCoverage
    from vaultbrain.retrieve.filters import Ignored
    from vaultbrain.retrieve.search import SearchResult

#: Days after which the mirror may be behind. Strong and related memos above which a question is too broad.
OLD_MIRROR_DAYS, TOO_BROAD = 7, 40
#: Characters of a query word of a passage; what is longer is a part of its text.
_LONGEST_OF_PASSAGE = 16
#: Shortcomings of the search that change what is found; the others only its order or its words.
_HINTS = ("after", "before", "tag", "visibility", "is", "has")
_GRAVE = ("no_vectors", "no_model")


def notices(result: SearchResult, context: AnswerContext, words: Words) -> list[str]:
    """What may make the answer wrong or too much, with what to do about it."""
    coverage = result.coverage
    found = [words("mirror_old", days=context.age_days)] if (context.age_days or 0) >= OLD_MIRROR_DAYS else []
    found += [words(s.code, reason=inline(s.reason)) for s in coverage.degraded if s.code in _GRAVE]
    found += [words("filter_ignored", text=inline(item.text), hint=_hint(item, words)) for item in result.query.ignored]
    on_subject = coverage.strong_memos + coverage.related_memos
    if on_subject > TOO_BROAD and context.mode != MATCH:
        ways = words("list_join").join(_narrower(result, context, words))
        found.append(words("too_broad", count=on_subject, cited=len(result.hits), ways=ways))
    return found


def _hint(ignored: Ignored, words: Words) -> str:
    """How the condition would have to be written."""
    name = fold(ignored.text).lstrip("-").partition(":")[0]
    return words(f"hint_{name}") if name in _HINTS else inline(ignored.reason)


def _narrower(result: SearchResult, context: AnswerContext, words: Words) -> Iterator[str]:
    """Conditions that would leave some of the hits: the commonest tags, and the year that the newer half is of."""
    yield from counted_tags(result, context, words)
    years = Counter(shown_date(hit.created, context.now)[:4] for hit in (*result.hits, *context.further))
    if result.query.conditions.after is None:
        year = max(years, default=str(context.now.year)) if len(years) > 1 else str(context.now.year)
        yield words("since_year", filter=f"after:{year}", year=year)


def coverage_lines(result: SearchResult, context: AnswerContext, words: Words) -> dict[str, Any]:
    """``summary`` is one line, ``lines`` the rest."""
    coverage = result.coverage
    summary = words(
        "searched",
        memos=grouped(coverage.memos),
        searched=grouped(coverage.memos_searched),
        queries=len(coverage.variants),
        read=context.reading.read,
    )
    lines = [
        *_channels(result, context, words),
        *_shortcomings(result, words),
        *_reading(result, context, words),
        *_writer(result, context, words),
    ]
    return {"summary": summary, "lines": lines}


def grouped(value: int) -> str:
    """Groups of three set apart by a narrow no-break space, which reads well in every language."""
    return f"{value:,}".replace(",", "\u202f")


def _channels(result: SearchResult, context: AnswerContext, words: Words) -> Iterator[str]:
    coverage, join = result.coverage, words("list_join").join
    longest = _LONGEST_OF_PASSAGE if context.mode == MATCH else LONGEST_WITH_FILTERS
    queries = [_query_word(variant, result, words) for variant in coverage.variants if len(variant.text) <= longest]
    if queries:
        yield words("queries", words=join(queries))
    if filters := said_filters(result.query.conditions, words):
        yield words("filtered", filters=join(filters))
    yield words("channels", keyword=coverage.keyword_memos, semantic=coverage.semantic_memos, both=coverage.both_memos)
    when = context.when or words("first_sync_open")
    have, chunks = grouped(coverage.chunks_with_vector), grouped(coverage.chunks)
    yield words("index", have=have, all=chunks, model=context.model, when=when)
    unmet = [shown_word(text, result) for text in coverage.unmet if not text.startswith("#")]
    if unmet and context.mode != MATCH:
        yield words("unmet", words=join(unmet))
    if coverage.left_out:
        yield words("left_out", count=coverage.left_out)
    if (more := worth_reading(result) - len(result.hits)) > 0:
        yield words("more", count=more)


def _query_word(variant: VariantCoverage, result: SearchResult, words: Words) -> str:
    if variant.text.startswith("#"):
        return inline(f"\\{variant.text}") if not variant.text.startswith("\\") else variant.text
    word = shown_word(variant.text, result)
    return words("original", word=word) if variant.family == "literal" else word


def _shortcomings(result: SearchResult, words: Words) -> Iterator[str]:
    coverage = result.coverage
    missing = coverage.chunks - coverage.chunks_with_vector
    if missing > 0 and coverage.chunks_with_vector:
        yield words("some_vectors", missing=grouped(missing))
    for shortcoming in coverage.degraded:
        if shortcoming.code not in _GRAVE:
            yield words(shortcoming.code, reason=inline(shortcoming.reason))


def _reading(result: SearchResult, context: AnswerContext, words: Words) -> Iterator[str]:
    reading = context.reading
    if reading.read:
        yield words(reading.how, reason=inline(reading.reason))
    links = {hit.memo_id: link_to(hit) for hit in result.hits}
    for name in ("changed", "changed_unused", "gone"):
        ids = [links[memo_id] for memo_id in getattr(reading, name) if memo_id in links]
        if ids:
            yield words(name, links=words("list_join").join(ids))


def _writer(result: SearchResult, context: AnswerContext, words: Words) -> Iterator[str]:
    """Who wrote the sentences, from what, and what became of the rest."""
    if context.writer_failed:
        yield words("writer_failed", reason=inline(context.writer_failed))
    written = context.written
    if written is None:
        return
    if written.conclusion or any(written.themes.values()):
        links = links_of(written.given, result.hits)
        yield words("written", links=words("list_join").join(links))
    if written.dropped:
        yield words("written_dropped", count=written.dropped)
    if written.withheld:
        yield words("written_withheld", count=written.withheld)
    prompt, completion = written.prompt_tokens or 0, written.completion_tokens or 0
    if prompt or completion:
        yield words("written_tokens", total=grouped(prompt + completion), prompt=grouped(prompt), completion=grouped(completion))
