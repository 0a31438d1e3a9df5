"""How a question is named in its own answer: its subject, its words, its conditions.

Pure. The words are the person's own, as typed; what only asks is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vaultbrain.answer.citing import TITLE_COLUMNS, inline
from vaultbrain.answer.pieces import columns
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.query import as_typed

if TYPE_CHECKING:
    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.wording import Words
    from vaultbrain.retrieve.filters import Conditions
    from vaultbrain.retrieve.search import SearchResult

#: Words of a topic that only ask, folded.
_ASKS = re.compile(r"(?:该|应该|应|要|会)?(?:怎么|怎样|如何|为什么|哪个|哪些|什么).*")
#: Columns of a Chinese word; what is longer is a piece of a sentence, which makes no name beside others.
_WORD_COLUMNS = 10
_LATIN = re.compile(r"[\x00-\x7f]")


def shown_word(text: str, result: SearchResult) -> str:
    """Folded query words as the person typed them, where they did."""
    return inline(" ".join(as_typed(word, result.query.text) for word in text.split()))


def shown_topic(result: SearchResult) -> str:
    """The subject as typed; empty when there is none, or when it is too long or too broken to be named."""
    words = [word for word in result.query.topic.split() if not _ASKS.fullmatch(word)]
    words = [word for word in words if len(word) > 1] or words
    typed = [as_typed(word, result.query.text) for word in words]
    whole = " ".join(typed)
    if whole.isascii() and typed:  # an English subject keeps its small words: undo a git commit
        start, last = result.query.text.find(typed[0]), result.query.text.find(typed[-1])
        whole = result.query.text[start : last + len(typed[-1])] if 0 <= start <= last else whole
    shown = inline(whole.lstrip("#＃"))
    is_of_words = len(words) == 1 or whole.isascii() or all(columns(word) <= _WORD_COLUMNS or word.isascii() for word in words)
    return shown if is_of_words and columns(shown) <= TITLE_COLUMNS // 2 else ""


def topic_in(sentence: str, topic: str, words: Words) -> str:
    """A wording with its ``{topic}``, set apart by a space from Chinese characters where it begins or ends in Latin ones."""
    before, after = ((" " if topic and _LATIN.match(topic[end]) else "") for end in (0, -1))
    said = words(sentence, topic="\0")
    start, end = said.index("\0"), said.index("\0") + 1
    before = before if start and not _LATIN.match(said[start - 1]) else ""
    after = after if end < len(said) and said[end].isalnum() and not _LATIN.match(said[end]) else ""
    return f"{said[:start]}{before}{topic}{after}{said[end:]}"


def unmet_words(result: SearchResult, context: AnswerContext) -> list[str]:
    """Words of the question that stand in no memo, folded: only what people would call a word, no piece of a sentence."""
    asked = fold(context.question)
    found = [text for text in result.coverage.unmet if not text.startswith("#") and len(text) > 1 and text in asked]
    return [text for text in found if text.isascii() or context.material.is_word(text)]


def said_filters(conditions: Conditions, words: Words) -> list[str]:
    """Each condition of the question in a few words."""
    texts = (
        ("tag", conditions.tags),
        ("excluded_tag", conditions.excluded_tags),
        ("after", [conditions.after] if conditions.after else []),
        ("before", [conditions.before] if conditions.before else []),
        ("visibility", conditions.visibilities),
        ("excluded_visibility", conditions.excluded_visibilities),
        ("phrase", conditions.phrases),
        ("excluded_phrase", (*conditions.excluded_phrases, *conditions.excluded_words)),
    )
    flags = [
        *("pinned" if is_pinned else "not_pinned" for is_pinned in conditions.pinned),
        *("has_link" if has_link else "has_no_link" for has_link in conditions.has_link),
    ]
    said = [words(f"filter_{name}", value=inline(str(value))) for name, values in texts for value in values]
    return said + [words(f"filter_{name}") for name in flags]
