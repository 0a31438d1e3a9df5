"""The first sentences of an answer: how much there is, the best of it, and what the mode found besides; or that there is nothing.

Pure. Every quotation is cut at the end of a clause, says something, and says it once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.answer.best import (
    best_pieces,
    heading_of,
    is_bare_address,
    is_passing,
    may_answer,
    pieces_by_memo,
    rank,
    says_the_same,
)
from vaultbrain.answer.citing import QUOTE_COLUMNS, inline, link_to, links_of, shown_line, shown_quote, shown_title
from vaultbrain.answer.context import EXPLORE, INVENTORY, MATCH
from vaultbrain.answer.pieces import ADDRESS, says_something
from vaultbrain.answer.topic import said_filters, shown_word, unmet_words
from vaultbrain.retrieve.fusion import STRONG, WEAK
from vaultbrain.vault.markdown import columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vaultbrain.answer.checking import Sentence
    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.pieces import Piece
    from vaultbrain.answer.sections import Arranged
    from vaultbrain.answer.wording import Words
    from vaultbrain.retrieve.search import Hit, SearchResult

#: Pieces named in the conclusion, and sub-questions.
BEST_PIECES, NAMED_QUESTIONS = 3, 3
#: Pieces of one memo that are tried until one says something new.
_TRIED = 3
#: Words of a question from which on a shorter one is worth trying.
_LONG_QUESTION = 4


def conclude(result: SearchResult, context: AnswerContext, arranged: Arranged, words: Words) -> list[str]:
    """One to three sentences; a language model's own where they held."""
    if not result.hits:
        return _nothing(result, context, words)
    if context.written and context.written.conclusion:
        return [with_links(sentence, result.hits) for sentence in context.written.conclusion]
    if context.mode == MATCH:
        return _matched(result, context, arranged, words)
    sentences = [_count(result, words)]
    if not result.query.topic:
        sentences.append(words("say_newest", best=_best(result, result.hits, context, arranged, words)))
    elif not (len(result.hits) == 1 and result.hits[0].label == STRONG):
        name = "say_best" if result.coverage.strong_memos else "say_closest"
        sentences.append(words(name, best=_best(result, _worth_naming(result.hits), context, arranged, words)))
    else:
        sentences = [words("found_one", best=_best(result, result.hits, context, arranged, words))]
    besides = {INVENTORY: _addresses, EXPLORE: _explored}.get(context.mode)
    return [*sentences, *(besides(arranged, words) if besides else ())]


def with_links(sentence: Sentence, hits: Sequence[Hit]) -> str:
    """A model's sentence, inert, with links to the memos that it rests on."""
    return " ".join([inline(sentence.text), *links_of(sentence.memo_ids, hits)])


def worth_reading(result: SearchResult) -> int:
    """Memos on the subject: all that are strong or related, and of the weak ones those that are cited."""
    weak = sum(hit.label == WEAK for hit in result.hits)
    return max(result.coverage.strong_memos + result.coverage.related_memos + weak, len(result.hits))


def _count(result: SearchResult, words: Words) -> str:
    total, strong = worth_reading(result), result.coverage.strong_memos
    if not result.query.topic:
        return words("found_filtered", total=total, filters=words("list_join").join(said_filters(result.query.conditions, words)))
    name = "found_all" if strong == total else "found" if strong else "found_near" if _is_near(result) else "found_loosely"
    return words(name, total=total, strong=strong)


def _is_near(result: SearchResult) -> bool:
    return any(hit.label != WEAK for hit in result.hits)


def _worth_naming(hits: Sequence[Hit]) -> Sequence[Hit]:
    """The strong hits; when there are fewer than two the next related ones, too, but none in passing or far off."""
    near = [hit for hit in hits if hit.label != WEAK]
    near = [hit for hit in near if not is_passing(hit)] or near
    strong = [hit for hit in near if hit.label == STRONG]
    if len(strong) > 1:
        return strong
    return (list(filter(may_answer, near)) or near)[:2] or hits


def _best(result: SearchResult, hits: Sequence[Hit], context: AnswerContext, arranged: Arranged, words: Words) -> str:
    """The best piece of each of the best memos, with links; two that say the same are one."""
    pieces = pieces_by_memo(hits, context)
    lists = _lists_of_addresses(arranged) if context.mode == INVENTORY else {}
    shown: list[str] = []
    named: list[str] = []
    for hit in hits:
        if hit.memo_id in lists:
            text, link = lists[hit.memo_id]
        elif piece := _piece_to_quote(result, hit, [*heading_of(hit, context), *pieces[hit.memo_id]], shown):
            if named and is_bare_address(piece.text):
                continue
            shown.append(piece.text)
            text, link = shown_quote(piece.text), link_to(hit, piece.anchor)
        else:
            continue
        named.append(words("best", text=words("quoted", text=text), link=link))
        if len(named) == BEST_PIECES:
            break
    return words("clause_join").join(named or map(_titled, hits[:BEST_PIECES]))


def _piece_to_quote(result: SearchResult, hit: Hit, pieces: Sequence[Piece], shown: Sequence[str]) -> Piece | None:
    """The best piece that says something new; rather a heading than an item that is understood in its list only."""
    ranked = best_pieces(rank(result, hit, pieces), hit)
    tried = sorted([*ranked[:_TRIED], *pieces[:1]], key=_needs_its_list)
    return next((piece for piece in tried if not any(says_the_same(piece.text, text) for text in shown)), None)


def _needs_its_list(piece: Piece) -> bool:
    return is_bare_address(piece.text) or _is_row(piece.text) or (bool(piece.lead) and not says_something(piece.lead))


def _is_row(text: str) -> bool:
    """A row of a table, which means little without its head."""
    return " | " in text


def _lists_of_addresses(arranged: Arranged) -> dict[str, tuple[str, str]]:
    """memo id → (the short line above its addresses, link)."""
    items = [item for section in arranged.sections for item in section.items]
    return {
        item.memo_id: (item.text.rstrip(":： "), item.link)
        for item in items
        if columns(item.text) <= QUOTE_COLUMNS and any(ADDRESS.search(line.text) for line in item.lines)
    }


def _titled(hit: Hit) -> str:
    """A memo of which no sentence can be quoted: code, a table, only tags."""
    return f"{shown_title(hit.title)} {link_to(hit)}"


def _addresses(arranged: Arranged, words: Words) -> Iterator[str]:
    texts = [[item.text, *(line.text for line in item.lines)] for section in arranged.sections for item in section.items]
    more = sum(item.more for section in arranged.sections for item in section.items)
    found = [len(ADDRESS.findall(" ".join(lines))) for lines in texts]
    if any(found):
        memos = sum(map(bool, found))
        yield words("say_addresses" if memos > 1 else "say_addresses_one", addresses=sum(found) + more, memos=memos)


def _explored(arranged: Arranged, words: Words) -> Iterator[str]:
    questions = sorted(arranged.exploration.questions, key=lambda question: -len(question.memo_ids))[:NAMED_QUESTIONS]
    questions = [question for question in questions if len(question.memo_ids) > 1]
    if questions:
        named = [words("short_counted", what=words(f"short_{q.name}"), count=len(q.memo_ids)) for q in questions]
        yield words("say_subquestions", names=words("count_join").join(named))


def _matched(result: SearchResult, context: AnswerContext, arranged: Arranged, words: Words) -> list[str]:
    parts, touched = len(context.passage_parts), sum(bool(part.text and part.touches) for part in arranged.matched)
    total = worth_reading(result)
    name = "matched_whole" if parts < 2 or not touched else "matched_all" if touched == parts else "matched_parts"
    first = words(name, parts=parts, total=total, touched=touched)
    closest = {touch.hit.memo_id: touch.sentence for part in arranged.matched for touch in part.touches}
    named = [(hit, piece) for hit in result.hits[:BEST_PIECES] if (piece := closest.get(hit.memo_id))]
    best = [
        _titled(hit)
        if _is_row(piece.text)
        else words("best", text=words("quoted", text=shown_quote(piece.text)), link=link_to(hit, piece.anchor))
        for hit, piece in named
    ]
    return [first, words("say_closest", best=words("clause_join").join(best))] if best else [first]


# nothing


def _nothing(result: SearchResult, context: AnswerContext, words: Words) -> list[str]:
    """That there is nothing, what came nearest, and what to try."""
    coverage, filters = result.coverage, said_filters(result.query.conditions, words)
    if filters and not coverage.memos_searched:
        said = words("nothing_filtered", filters=words("list_join").join(filters))
        return [said, words("try", ways=words("try_filters"))]
    asked = shown_line(context.question, QUOTE_COLUMNS)
    sentences = [words("nothing_close") if context.mode == MATCH else words("nothing", topic=asked)]
    if result.nearest:
        sentences.append(words("nearest", links=words("clause_join").join(map(_titled, result.nearest))))
    return [*sentences, words("try", ways=words("clause_join").join(_ways(result, context, words)))]


def _ways(result: SearchResult, context: AnswerContext, words: Words) -> Iterator[str]:
    topic = result.query.topic.split()
    unmet = unmet_words(result, context)
    yield words("try_other_words")
    if unmet and 0 < len(unmet) < len(topic) and context.mode != MATCH:
        yield words("try_without", words=words("list_join").join(shown_word(text, result) for text in unmet))
    elif len(topic) >= _LONG_QUESTION and context.mode != MATCH:
        yield words("try_shorter")
    if not result.query.conditions.is_empty:
        yield words("try_filters")
    yield words("try_sync")
