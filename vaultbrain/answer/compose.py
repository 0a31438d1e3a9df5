"""An answer from search hits: conclusion, themes, sources, coverage. Extractive: every word about a memo is the memo's own.

Pure and deterministic. Decides the form of citations and what is said when there is nothing, or when something could not be
searched or read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from vaultbrain.answer.themes import group_by_theme
from vaultbrain.answer.wording import Words
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut
from vaultbrain.memo import without_tags
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK
from vaultbrain.retrieve.query import as_typed, language_of
from vaultbrain.vault.markdown import neutralise, plain_text, wikilink
from vaultbrain.vault.memo_note import local_date
from vaultbrain.vault.note import Date, Value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from vaultbrain.retrieve.coverage import VariantCoverage
    from vaultbrain.retrieve.search import Hit, SearchResult

TEMPLATE = "answer.md.j2"

#: Pieces named in the conclusion; two that share this much of their tokens say the same. Columns of a title in running text.
BEST_PIECES = 3
SAME_SHARE = 0.6
_TITLE_WIDTH = 64
_THEME_LINE_WIDTH = 120

_INVENTORY = re.compile(r"资源|資源|网站|網站|清单|清單|列表|有哪些|哪些|找|list|resources?|which|find", re.IGNORECASE)
_LIST_MARK = re.compile(r"^\s*(?:[-*+]|\d+[.)])\s+(?:\[.\]\s+)?")
_URL = re.compile(r"https?://\S+")
_LOOSE_SPACE = re.compile(r"\s+(?=[，。；：、！？])")
_TRAILING = re.compile(r"[\s，。；：、,;:.]+$")
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Reading:
    """How the sources' full text was had: ``from_server``, ``from_mirror`` or ``from_export``, with memo ids of special cases."""

    how: str
    read: int = 0
    reason: str = ""
    changed: tuple[str, ...] = ()
    changed_unused: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """What an answer depends on besides the hits. ``when`` is the last sync in local time, readable; ``now`` is aware."""

    question: str
    mode: str
    language: str
    now: datetime
    when: str
    model: str
    reading: Reading
    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """``values`` are what the template is given; ``properties`` the note's, in order; ``as_json`` the public form."""

    properties: dict[str, Value]
    values: dict[str, Any]
    as_json: dict[str, Any]


def choose_language(setting: str, question: str) -> str:
    return language_of(question) if setting == "auto" else setting


def choose_mode(question: str, wanted: str) -> str:
    """``inventory`` lists what there is, ``explore`` thinks about a subject, ``match`` compares with a passage."""
    if wanted != "auto":
        return wanted
    return "inventory" if _INVENTORY.search(question) else "explore"


def compose(result: SearchResult, context: AnswerContext) -> Answer:
    words = Words(context.language)
    hits = result.hits
    themes = _themes(result, context, words)
    coverage = _coverage(result, context, words)
    values = {
        "words": words,
        "conclusion": _conclusion(result, words),
        "themes": themes,
        "sources": [_source(hit, result, context, words) for hit in hits],
        "coverage": coverage,
    }
    return Answer(_properties(result, context), values, _as_json(result, context, values))


def link_to(hit: Hit) -> str:
    """``[[path#^anchor|#id]]``, or ``#id`` for a memo without a note."""
    return (
        wikilink(hit.note.removesuffix(".md"), f"^{hit.anchor}" if hit.anchor else None, f"#{hit.memo_id}")
        if hit.note
        else f"\\#{hit.memo_id}"
    )


def _conclusion(result: SearchResult, words: Words) -> list[str]:
    hits = result.hits
    if not hits:
        return _nothing(result, words)
    strong = [hit for hit in hits if hit.label == STRONG]
    best = [words("best", title=_shown_title(hit), link=link_to(hit)) for hit in _distinct(strong or hits)[:BEST_PIECES]]
    total = _worth_reading(result)
    name = "found" if strong else "found_loosely"
    return [words(name, total=total, strong=result.coverage.strong_memos, best=words("clause_join").join(best))]


def _distinct(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without those that say nearly the same as one before."""
    kept: list[tuple[Hit, set[str]]] = []
    for hit in hits:
        tokens = set(cut(fold(hit.excerpt)))
        if all(len(tokens & other) < SAME_SHARE * min(len(tokens), len(other) or 1) for _, other in kept):
            kept.append((hit, tokens))
    return [hit for hit, _ in kept]


def _nothing(result: SearchResult, words: Words) -> list[str]:
    sentences = [words("nothing", topic=_shown_word(result.query.topic, result))]
    if result.nearest:
        links = [words("best", title=_shown_title(hit), link=link_to(hit)) for hit in result.nearest]
        sentences.append(words("nearest", links=words("clause_join").join(links)))
    return [*sentences, words("try")]


def _shown_title(hit: Hit) -> str:
    """The title as words in a sentence: without addresses and tags, where something remains."""
    plain = plain_text(hit.title)
    words = _LOOSE_SPACE.sub("", _URL.sub("", without_tags(plain)))
    title = _inline(_TRAILING.sub("", words)) or _inline(plain)
    return _shortened(title, _TITLE_WIDTH)


def _shortened(text: str, width: int) -> str:
    """At most ``width`` columns, a Chinese character taking two; ``…`` where something was cut."""
    used = 0
    for position, character in enumerate(text):
        used += 2 if east_asian_width(character) in "WF" else 1
        if used > width:
            return neutralise(text[:position].rstrip() + "…")
    return text


def _shown_word(text: str, result: SearchResult) -> str:
    """Folded query words as the person typed them, where they did."""
    return _inline(" ".join(as_typed(word, result.query.text) for word in text.split()))


def _inline(text: str) -> str:
    """Text of others in a line of ours: nothing in it may be Markdown that runs, links or breaks the line."""
    return neutralise(" ".join(text.split())).lstrip("#>-+ ")


def _themes(result: SearchResult, context: AnswerContext, words: Words) -> list[dict[str, Any]]:
    hits, topic = result.hits, _shown_word(result.query.topic, result)
    near = [hit for hit in hits if hit.label in (STRONG, RELATED)]
    themes = group_by_theme(near, context.tags)
    return [
        {
            "name": _inline(theme.name or (words("other_theme") if len(themes) > 1 else topic)),
            "items": [{"text": _gist(hit, context.mode), "link": link_to(hit), "memo_id": hit.memo_id} for hit in theme.hits],
        }
        for theme in themes
    ]


def _gist(hit: Hit, mode: str) -> str:
    """One line of the excerpt that stands for the memo: in an inventory one with an address, if there is one."""
    is_code = bool(_FENCE.match(hit.excerpt))
    lines = [_LIST_MARK.sub("", line).strip() for line in hit.excerpt.split("\n") if not _FENCE.match(line)]
    lines = [line for line in lines if line.strip("|-: ")] or [_shown_title(hit)]
    if is_code:
        code = " ".join(_best_line(lines, hit).split()).replace("`", "'")
        return f"`{_shortened(code, _THEME_LINE_WIDTH)}`"
    lines = [bare for line in lines if (bare := without_tags(line.lstrip("> ")).lstrip("# ").strip())] or [_shown_title(hit)]
    with_address = [line for line in lines if _URL.search(line)] if mode == "inventory" else []
    line = _best_line(with_address or lines, hit)
    return line if _URL.search(line) else _shortened(line, _THEME_LINE_WIDTH)


def _worth_reading(result: SearchResult) -> int:
    """Memos on the subject: all that are strong or related, and of the weak ones those that are cited."""
    weak = sum(hit.label == WEAK for hit in result.hits)
    return max(result.coverage.strong_memos + result.coverage.related_memos + weak, len(result.hits))


def _best_line(lines: Sequence[str], hit: Hit) -> str:
    """The line with the most words of the question; the first of equals."""
    tokens = set(cut(" ".join(hit.matched)))
    return max(lines, key=lambda line: len(tokens & set(cut(fold(line)))))


def _source(hit: Hit, result: SearchResult, context: AnswerContext, words: Words) -> dict[str, Any]:
    channels = " + ".join(words(name) for name in hit.channels)
    met = words("list_join").join(_shown_word(word, result) for word in hit.matched if not word.startswith("#"))
    matched = met or words("partly" if "keyword" in hit.channels else "by_meaning")
    return {
        "link": link_to(hit),
        "label": words(hit.label),
        "date": local_date(hit.created, context.now.tzinfo).text[:10],
        "url": hit.url,
        "excerpt": _standing_alone((hit.excerpt or _shown_title(hit)).split("\n")),
        "matched": f"{matched} · {channels}" if channels else matched,
        "open": hit.label == STRONG,
    }


def _standing_alone(lines: list[str]) -> list[str]:
    """The excerpt, with an empty line after a list or table, which would take the next line for its own."""
    return [*lines, ""] if _LIST_MARK.match(lines[-1]) or lines[-1].startswith("|") else lines


def _coverage(result: SearchResult, context: AnswerContext, words: Words) -> dict[str, Any]:
    coverage = result.coverage
    summary = words(
        "searched",
        memos=_number(coverage.memos),
        searched=_number(coverage.memos_searched),
        queries=len(coverage.variants),
        read=context.reading.read,
    )
    return {"summary": summary, "lines": [*_channel_lines(result, context, words), *_reading_lines(result, context, words)]}


def _channel_lines(result: SearchResult, context: AnswerContext, words: Words) -> list[str]:
    coverage = result.coverage
    queries = [_query_word(variant, result, words) for variant in coverage.variants]
    lines = [
        words("queries", words=words("list_join").join(queries)),
        words("channels", keyword=coverage.keyword_memos, semantic=coverage.semantic_memos, both=coverage.both_memos),
        words(
            "index",
            have=_number(coverage.chunks_with_vector),
            all=_number(coverage.chunks),
            model=context.model,
            when=context.when or words("first_sync_open"),
        ),
    ]
    unmet = [_shown_word(text, result) for text in coverage.unmet if not text.startswith("#")]
    if unmet:
        lines.append(words("unmet", words=words("list_join").join(unmet)))
    if coverage.left_out:
        lines.append(words("left_out", count=coverage.left_out))
    if (more := _worth_reading(result) - len(result.hits)) > 0:
        lines.append(words("more", count=more))
    return lines + [words(s.code, reason=_inline(s.reason)) for s in coverage.degraded]


def _query_word(variant: VariantCoverage, result: SearchResult, words: Words) -> str:
    if variant.text.startswith("#"):
        return variant.text
    word = _shown_word(variant.text, result)
    return words("original", word=word) if variant.family == "literal" else word


def _reading_lines(result: SearchResult, context: AnswerContext, words: Words) -> list[str]:
    reading = context.reading
    links = {hit.memo_id: link_to(hit) for hit in result.hits}
    lines = [words(reading.how, reason=_inline(reading.reason))] if reading.read else []
    for name in ("changed", "changed_unused", "gone"):
        ids = [links[memo_id] for memo_id in getattr(reading, name) if memo_id in links]
        if ids:
            lines.append(words(name, links=words("list_join").join(ids)))
    return lines


def _number(value: int) -> str:
    """Groups of three set apart by a narrow no-break space, which reads well in every language."""
    return f"{value:,}".replace(",", "\u202f")


def _properties(result: SearchResult, context: AnswerContext) -> dict[str, Value]:
    labels = [hit.label for hit in result.hits]
    return {
        "vb_kind": "answer",
        "vb_question": context.question,
        "vb_mode": context.mode,
        "vb_asked": Date(context.now.strftime("%Y-%m-%dT%H:%M:%S")),
        "vb_status": "fresh",
        "vb_memos": [wikilink(hit.note.removesuffix(".md"), None, f"#{hit.memo_id}") for hit in result.hits if hit.note],
        "vb_strong": labels.count(STRONG),
        "vb_related": labels.count(RELATED),
        "vb_weak": labels.count(WEAK),
        "vb_queries": len(result.coverage.variants),
        "tags": ["vaultbrain/answer"],
    }


def _as_json(result: SearchResult, context: AnswerContext, values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "mode": context.mode,
        "conclusion": " ".join(values["conclusion"]),
        "themes": [
            {"name": theme["name"], "memo_ids": [item["memo_id"] for item in theme["items"]]} for theme in values["themes"]
        ],
        "sources": [
            {"memo_id": h.memo_id, "label": h.label, "anchor": h.anchor, "excerpt": h.excerpt, "note": h.note, "url": h.url}
            for h in result.hits
        ],
        "coverage": result.coverage.as_json() | {"read_in_full": context.reading.read, "full_text": context.reading.how},
    }
