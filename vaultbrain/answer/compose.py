"""An answer from search hits: conclusion, themes, what the mode found besides, sources, coverage.

Pure and deterministic. Extractive: every word about a memo is the memo's own, unless a language model wrote and was checked.
Decides the parts of an answer and their order, the properties of its note and the public form; the parts have modules of their
own: ``conclusion``, ``sections``, ``outlook``, ``quotes``, ``searched``.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from vaultbrain.answer.citing import link
from vaultbrain.answer.conclusion import conclude, with_links
from vaultbrain.answer.context import EXPLORE, INVENTORY, MATCH
from vaultbrain.answer.outlook import outlook
from vaultbrain.answer.quotes import quotes
from vaultbrain.answer.searched import coverage_lines, notices
from vaultbrain.answer.sections import arrange
from vaultbrain.answer.wording import HEADINGS, Words
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import is_cjk
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS, language_of, read_query
from vaultbrain.vault.markdown import fitting
from vaultbrain.vault.note import Date, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.answer.checking import Sentence
    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.sections import Arranged, Item, Section
    from vaultbrain.retrieve.search import SearchResult


TEMPLATE = "answer.md.j2"

#: Columns of a question in the note's properties: of a passage enough to know it by, of another all that is a question.
MATCH_COLUMNS, QUESTION_COLUMNS = 120, 2 * LONGEST_WITH_FILTERS

#: Asks how or why: a list is no answer, even where it also says "which". Folded, as the next.
_EXPLORES = re.compile(r"怎么|如何|为什么|为何|办法|探索|使用场景|值不值|该不该|好不好|\b(?:how|why|explore|should)\b")
_LISTS = re.compile(
    r"资源|网站|网址|链接|连结|清单|列表|片单|书单|哪些|列出|找|盘点|工具|合集"
    r"|\b(?:lists?|resources?|links?|sites?|websites?|tools?|which|find|inventory)\b"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """``values`` are what the template is given; ``properties`` the note's, in order; ``as_json`` the public form.

    ``sections`` are the themes, in the order in which ``AnswerContext.written`` numbers them.
    """

    properties: dict[str, Value]
    values: dict[str, Any]
    as_json: dict[str, Any]
    sections: tuple[Section, ...] = ()


def choose_language(setting: str, question: str, usual: str) -> str:
    """That of the question, unless it is set. Without a word in it (😭, NAS, a filter alone) it is the ``usual`` one."""
    if setting != "auto":
        return setting
    has_words = any(is_cjk(character) or character.islower() for character in read_query(question).sought)
    return language_of(question) if has_words else usual


def choose_mode(question: str, wanted: str) -> str:
    """``inventory`` lists what there is, ``explore`` thinks about a subject, ``match`` compares with a passage.

    A text that is too long for a question is a passage. A tag, or conditions alone, ask what there is.
    """
    if wanted != "auto":
        return wanted
    if len(question) > LONGEST_WITH_FILTERS:
        return MATCH
    folded = fold(question)
    if _EXPLORES.search(folded):
        return EXPLORE
    query = read_query(question)
    is_tag = query.topic.startswith("#") or not query.topic
    return INVENTORY if is_tag or _LISTS.search(folded) else EXPLORE


def compose(result: SearchResult, context: AnswerContext) -> Answer:
    words = Words(context.language)
    arranged = arrange(result, context, words)
    parts = outlook(result, context, arranged, words)
    values = {
        "words": words,
        "headings": _headings(context, words),
        "changes": _changes(context, words),
        "conclusion": conclude(result, context, arranged, words),
        "themes": [_theme(number, section, result, context, words) for number, section in enumerate(arranged.sections)],
        "outlook": [{"name": part.name, "lines": part.lines} for part in parts],
        "sources": quotes(result, context, words),
        "notices": notices(result, context, words),
        "coverage": coverage_lines(result, context, words),
    }
    return Answer(_properties(result, context), values, _as_json(result, context, arranged, values), arranged.sections)


def _headings(context: AnswerContext, words: Words) -> dict[str, str]:
    """The person's own words where they set some; on one line."""
    own = {name: " ".join(context.headings.get(name, "").split()) for name in HEADINGS}
    return {name: own[name] or words(name) for name in HEADINGS}


def _changes(context: AnswerContext, words: Words) -> dict[str, Any]:
    title = words("what_changed", day=context.changed_since or context.now.strftime("%Y-%m-%d")) if context.changes else ""
    return {"title": title, "lines": list(context.changes)}


def _theme(number: int, section: Section, result: SearchResult, context: AnswerContext, words: Words) -> dict[str, Any]:
    written = context.written.themes.get(number, ()) if context.written else ()
    return {
        "name": section.name,
        "written": [with_links(sentence, result.hits) for sentence in written],
        "items": [
            {
                "text": item.text,
                "link": item.link,
                "note": _respect(item, context, words),
                "lines": [{"text": line.text, "link": line.link} for line in item.lines],
                "more": words("more_lines", count=item.more) if item.more else "",
            }
            for item in section.items
        ],
    }


def _respect(item: Item, context: AnswerContext, words: Words) -> str:
    """In what respect a memo is close to the passage: by words that stand in both, or only by its meaning."""
    if context.mode != MATCH or not context.passage_parts:
        return ""
    return words("shared", words=words("list_join").join(item.words)) if item.words else words("by_meaning")


def _question_shown(context: AnswerContext) -> str:
    """On one line, and not the whole of a passage: the answer's row keeps that."""
    question = " ".join(context.question.split())
    end = fitting(question, MATCH_COLUMNS if context.mode == MATCH else QUESTION_COLUMNS)
    return question if end >= len(question) else f"{question[:end].rstrip()}…"


def _properties(result: SearchResult, context: AnswerContext) -> dict[str, Value]:
    labels = [hit.label for hit in result.hits]
    return {
        "vb_kind": "answer",
        "vb_question": _question_shown(context),
        "vb_mode": context.mode,
        "vb_asked": Date(context.now.strftime("%Y-%m-%dT%H:%M:%S")),
        "vb_status": "fresh",
        "vb_memos": [link(hit.memo_id, hit.note) for hit in result.hits if hit.note],
        "vb_strong": labels.count(STRONG),
        "vb_related": labels.count(RELATED),
        "vb_weak": labels.count(WEAK),
        "vb_queries": len(result.coverage.variants),
        "tags": ["vaultbrain/answer"],
    }


def _as_json(result: SearchResult, context: AnswerContext, arranged: Arranged, values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "mode": context.mode,
        "conclusion": values["words"]("sentence_join").join(values["conclusion"]),
        "themes": [_theme_as_json(section) for section in arranged.sections],
        "sources": [
            {
                **{name: getattr(hit, name) for name in ("memo_id", "label", "anchor", "excerpt", "note", "url")},
                "copies": list(hit.copies),
                "relatives": [asdict(relative) for relative in context.material.relatives.get(hit.memo_id, ())],
            }
            for hit in result.hits
        ],
        "outlook": {part["name"]: part["lines"] for part in values["outlook"]},
        "subquestions": [{"name": q.name, "memo_ids": list(q.memo_ids)} for q in arranged.exploration.questions],
        "contradictions": [
            {"newer": asdict(pair.newer), "older": asdict(pair.older), "words": list(pair.words)}
            for pair in arranged.exploration.contradictions
        ],
        "parts": [
            {"text": part.text, "memo_ids": [touch.hit.memo_id for touch in part.touches]}
            for part in arranged.matched
            if part.text
        ],
        "notices": values["notices"],
        "changes": list(context.changes),
        "writer": _writer_as_json(context),
        "coverage": result.coverage.as_json() | {"read_in_full": context.reading.read, "full_text": context.reading.how},
    }


def _theme_as_json(section: Section) -> dict[str, Any]:
    items = [
        {
            "memo_id": item.memo_id,
            "anchor": item.anchor,
            "text": item.text,
            "shared": list(item.words),
            "lines": [{"text": line.text, "anchor": line.anchor} for line in item.lines],
        }
        for item in section.items
    ]
    return {"name": section.name, "memo_ids": list(dict.fromkeys(item.memo_id for item in section.items)), "items": items}


def _writer_as_json(context: AnswerContext) -> dict[str, Any] | None:
    """None when no model was asked."""
    written = context.written
    if written is None:
        return {"failed": context.writer_failed} if context.writer_failed else None
    return {
        "failed": context.writer_failed,
        "conclusion": _sentences_as_json(written.conclusion),
        "themes": {str(number): _sentences_as_json(found) for number, found in sorted(written.themes.items())},
        "given": list(written.given),
        "dropped": written.dropped,
        "unknown_marks": written.unknown_marks,
        "withheld": written.withheld,
        "prompt_tokens": written.prompt_tokens,
        "completion_tokens": written.completion_tokens,
    }


def _sentences_as_json(sentences: Sequence[Sentence]) -> list[dict[str, Any]]:
    return [{"text": sentence.text, "memo_ids": list(sentence.memo_ids)} for sentence in sentences]
