"""The first sentences of an answer: how much there is, the best of it, and what the mode found besides; or that there is nothing.

Pure. Every quotation is cut at the end of a clause, says something, and says it once.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from vaultbrain.answer.best import (
    best_pieces,
    heading_of,
    is_bare_address,
    is_code,
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
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK
from vaultbrain.vault.markdown import columns

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from vaultbrain.answer.checking import Sentence
    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.matching import Touch
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
#: Asks for a command or for code, folded: then a line of code is an answer.
_ASKS_FOR_CODE = re.compile(
    r"命令|代码|脚本|语法|正则|配置|别名|怎么写|怎么敲|\b(?:commands?|code|scripts?|snippets?|syntax|regex|quer(?:y|ies)|config\w*|alias\w*|sql)\b"
)


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
    elif not (worth_reading(result) == 1 and result.hits[0].label == STRONG):
        name = "say_best" if _strong(result) else "say_closest"
        sentences.append(words(name, best=_best(result, _worth_naming(result.hits), context, arranged, words)))
    else:
        sentences = [words("found_one", best=_best(result, result.hits, context, arranged, words))]
    if context.mode == INVENTORY:
        sentences += _addresses(result, arranged, words)
    if context.mode == EXPLORE:
        sentences += _explored(arranged, words)
    return sentences


def with_links(sentence: Sentence, hits: Sequence[Hit]) -> str:
    """A model's sentence, inert, with links to the memos that it rests on."""
    return " ".join([inline(sentence.text), *links_of(sentence.memo_ids, hits)])


def worth_reading(result: SearchResult) -> int:
    """Memos on the subject: all that are cited, and those strong and related ones that are not."""
    coverage, labels = result.coverage, [hit.label for hit in result.hits]
    related = max(0, coverage.related_memos - labels.count(RELATED))
    return len(labels) + _strong(result) - labels.count(STRONG) + related


def _strong(result: SearchResult) -> int:
    """Strong memos, cited or not."""
    return max(result.coverage.strong_memos, sum(hit.label == STRONG for hit in result.hits))


def _count(result: SearchResult, words: Words) -> str:
    total, strong = worth_reading(result), _strong(result)
    if not result.query.topic:
        filters = words("list_join").join(said_filters(result.query.conditions, words))
        return words("found_filtered" if total > 1 else "found_filtered_one", total=total, filters=filters)
    if strong == total:
        return words("found_all", total=total)
    if strong:
        return words("found" if strong > 1 else "found_with_one", total=total, strong=strong)
    return words("found_near" if _is_near(result) else "found_loosely", total=total)


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
        sayable = _sayable(hit, context, pieces[hit.memo_id])
        if hit.memo_id in lists:
            text, link = lists[hit.memo_id]
        elif piece := _piece_to_quote(result, hit, sayable, shown):
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


def _sayable(hit: Hit, context: AnswerContext, pieces: Sequence[Piece]) -> list[Piece]:
    """Sentences rather than code, or the line that leads it; code itself where nothing else is there or where it is asked for."""
    found = [*heading_of(hit, context), *pieces]
    if _ASKS_FOR_CODE.search(fold(context.question)):
        return found
    leads = [
        replace(piece, text=piece.lead, anchor=piece.lead_anchor, lead="", lead_anchor="")
        for piece in pieces
        if is_code(piece.text) and piece.lead and not is_code(piece.lead)
    ]
    said = [piece for piece in found if not is_code(piece.text)]
    return said or leads[:1] or found


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


def _addresses(result: SearchResult, arranged: Arranged, words: Words) -> Iterator[str]:
    """How many addresses there are in what is on the subject; in what is only loosely related nobody counts them."""
    on_subject = {hit.memo_id for hit in result.hits if hit.label != WEAK}
    items = [item for section in arranged.sections for item in section.items if item.memo_id in on_subject]
    found = Counter[str]()
    for item in items:
        shown = " ".join([item.text, *(line.text for line in item.lines)])
        found[item.memo_id] += len(ADDRESS.findall(shown)) + item.more
    if total := found.total():
        memos = sum(count > 0 for count in found.values())
        yield words("say_addresses" if memos > 1 else "say_addresses_one", addresses=total, memos=memos)


def _explored(arranged: Arranged, words: Words) -> Iterator[str]:
    questions = sorted(arranged.exploration.questions, key=lambda question: -len(question.memo_ids))[:NAMED_QUESTIONS]
    questions = [question for question in questions if len(question.memo_ids) > 1]
    if questions:
        named = [words("short_counted", what=words(f"short_{q.name}"), count=len(q.memo_ids)) for q in questions]
        yield words("say_subquestions", names=words("count_join").join(named))


def _matched(result: SearchResult, context: AnswerContext, arranged: Arranged, words: Words) -> list[str]:
    """How many parts are met, and the touches that are surest, one of each memo."""
    parts, touched = len(context.passage_parts), sum(bool(part.text and part.is_met) for part in arranged.matched)
    total = worth_reading(result)
    if not touched and not _is_near(result):
        name = "matched_loosely"
    else:
        name = "matched_whole" if parts < 2 or not touched else "matched_all" if touched == parts else "matched_parts"
    first = words(name, parts=parts, total=total, touched=touched)
    touches = sorted((t for part in arranged.matched for t in part.touches), key=lambda t: (-t.sureness, t.hit.memo_id))
    surest = {touch.hit.memo_id: touch for touch in reversed(touches) if touch.sentence or touch.hit.title}
    named = [touch for touch in touches if surest.get(touch.hit.memo_id) is touch]
    sure = [touch for touch in named if touch.sureness >= 1] or named
    best = [_touch_named(touch, words) for touch in sure[:BEST_PIECES]]
    return [first, words("say_closest", best=words("clause_join").join(best))] if best else [first]


def _touch_named(touch: Touch, words: Words) -> str:
    piece = touch.sentence
    if piece is None or _is_row(piece.text) or is_code(piece.text):
        return _titled(touch.hit)
    return words("best", text=words("quoted", text=shown_quote(piece.text)), link=link_to(touch.hit, piece.anchor))


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
