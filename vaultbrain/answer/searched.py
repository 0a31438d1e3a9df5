"""The end of an answer: what was searched and read, and, before that, what the person should know before trusting it.

Pure. Whatever could not be searched or read as it should have been is said here, in words.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from vaultbrain.answer.citing import inline, link_to, links_of, shown_date
from vaultbrain.answer.conclusion import worth_reading
from vaultbrain.answer.context import EXPLORE, MATCH
from vaultbrain.answer.outlook import counted_tags
from vaultbrain.answer.topic import said_filters, shown_word, unmet_words
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.wording import Words
    from vaultbrain.retrieve.filters import Ignored
    from vaultbrain.retrieve.search import SearchResult

#: Days after which the mirror may be behind. Strong and related memos above which a question is too broad.
OLD_MIRROR_DAYS, TOO_BROAD = 7, 40
#: Hits that a year has to leave, to be worth a condition.
_ENOUGH_HITS = 3
#: Conditions of which we can say how they are written.
_HINTS = ("after", "before", "tag", "visibility", "is", "has")
#: Families of query words that were added to the question's own, and words without a memo that are named.
_RELATED_FAMILIES, MAX_UNMET = ("synonym", "other language", "translation", "resource", "action", "given", "suggested"), 8
#: Shortcomings of the search that change what is found; the others only its order or its words.
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
        found.append(words("too_broad", count=worth_reading(result), cited=len(result.hits), ways=ways))
    return found


def _hint(ignored: Ignored, words: Words) -> str:
    """How the condition would have to be written."""
    name = fold(ignored.text).lstrip("-").partition(":")[0]
    return words(f"hint_{name}") if name in _HINTS else inline(ignored.reason)


def _narrower(result: SearchResult, context: AnswerContext, words: Words) -> Iterator[str]:
    """Conditions that would leave some of the hits: the commonest tags, the latest year with enough of them; or another word."""
    tags = counted_tags(result, context, words)
    year = _year_of_some(result, context) if result.query.conditions.after is None else ""
    yield from tags
    if year:
        yield words("since_year", filter=f"after:{year}", year=year)
    if not tags and not year:
        yield words("try_one_more_word")


def _year_of_some(result: SearchResult, context: AnswerContext) -> str:
    """The latest year since which there are enough hits; empty when all of them are as new."""
    years = Counter(shown_date(hit.created, context.now)[:4] for hit in (*result.hits, *context.further))
    since = 0
    for year in sorted(years, reverse=True):
        since += years[year]
        if since >= _ENOUGH_HITS:
            return year if since < years.total() else ""
    return ""


def coverage_lines(result: SearchResult, context: AnswerContext, words: Words) -> dict[str, Any]:
    """``summary`` is one line, ``lines`` the rest."""
    coverage = result.coverage
    summary = words(
        "searched" if coverage.memos_searched < coverage.memos else "searched_all",
        memos=_grouped(coverage.memos),
        searched=_grouped(coverage.memos_searched),
        using=_using(len(coverage.variants), words),
        read=context.reading.read,
    )
    lines = [
        *_channels(result, context, words),
        *_shortcomings(result, words),
        *_reading(result, context, words),
        *_writer(result, context, words),
    ]
    return {"summary": summary, "lines": lines}


def _using(queries: int, words: Words) -> str:
    """Conditions alone need no query word, and none is spoken of."""
    return words("using" if queries > 1 else "using_one", queries=queries) if queries else ""


def _grouped(value: int) -> str:
    """Groups of three set apart by a narrow no-break space, which reads well in every language."""
    return f"{value:,}".replace(",", "\u202f")


def _channels(result: SearchResult, context: AnswerContext, words: Words) -> Iterator[str]:
    coverage, join = result.coverage, words("list_join").join
    if context.mode != MATCH and (queries := _query_words(result, words)):
        yield words("queries", words=join(queries))
    if filters := said_filters(result.query.conditions, words):
        yield words("filtered", filters=join(filters))
    if result.hits and result.query.topic:
        yield words("channels", keyword=coverage.keyword_memos, semantic=coverage.semantic_memos, both=coverage.both_memos)
    yield words(
        "synced" if context.when else "synced_open",
        have=_grouped(coverage.chunks_with_vector),
        all=_grouped(coverage.chunks),
        model=context.model,
        when=context.when,
    )
    unmet = unmet_words(result, context) if context.mode not in (EXPLORE, MATCH) or not result.hits else []
    if unmet := [*unmet, *(_tried_in_vain(result) if context.mode != MATCH else [])][:MAX_UNMET]:
        yield words("unmet", words=join(shown_word(text, result) for text in unmet))
    if coverage.left_out:
        yield words("left_out", count=coverage.left_out)
    if (more := worth_reading(result) - len(result.hits)) > 0:
        yield words("more" if result.query.topic else "more_filtered", count=more)


def _query_words(result: SearchResult, words: Words) -> list[str]:
    """What was asked, then what else met a memo; a tag as the word that it is."""
    found = {}
    for variant in result.coverage.variants:
        is_asked = variant.family == "literal"
        text = variant.text.lstrip("#")
        if (is_asked or variant.memos) and len(text) <= LONGEST_WITH_FILTERS and fold(text) not in found:
            word = shown_word(text, result)
            found[fold(text)] = words("original", word=word) if is_asked else word
    return list(found.values())


def _tried_in_vain(result: SearchResult) -> list[str]:
    """Related words that were looked for, too, and stand in no memo."""
    asked = set(result.query.topic.split())
    tried = (variant for variant in result.coverage.variants if not variant.memos and variant.family in _RELATED_FAMILIES)
    return [variant.text for variant in tried if not variant.text.startswith("#") and variant.text not in asked]


def _shortcomings(result: SearchResult, words: Words) -> Iterator[str]:
    coverage = result.coverage
    missing = coverage.chunks - coverage.chunks_with_vector
    if missing > 0 and coverage.chunks_with_vector:
        yield words("some_vectors", missing=_grouped(missing))
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
    if links := links_of(written.given, result.hits):
        name = "written" if written.conclusion or any(written.themes.values()) else "written_given"
        yield words(name, links=words("list_join").join(links))
    if written.dropped:
        yield words("written_dropped", count=written.dropped)
    if written.unknown_marks:
        yield words("written_marks", count=written.unknown_marks)
    if written.withheld:
        yield words("written_withheld", count=written.withheld)
    prompt, completion = written.prompt_tokens or 0, written.completion_tokens or 0
    if prompt or completion:
        total = _grouped(prompt + completion)
        yield words("written_tokens", total=total, prompt=_grouped(prompt), completion=_grouped(completion))
