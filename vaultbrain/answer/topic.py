"""How a question is named in its own answer: its subject, its words, its conditions.

Pure. The words are the person's own, as typed; what only asks is left out.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from vaultbrain.answer.citing import TITLE_COLUMNS, inline
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.query import as_typed
from vaultbrain.vault.markdown import columns

if TYPE_CHECKING:
    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.wording import Words
    from vaultbrain.retrieve.filters import Conditions
    from vaultbrain.retrieve.search import SearchResult

#: Words of a topic that only ask, folded.
_ASKS = re.compile(r"(?:该|应该|应|要|会)?(?:怎么|怎样|如何|为什么|哪个|哪些|什么).*")
#: Columns of a Chinese word; what is longer is a piece of a sentence, which makes no name beside others.
_WORD_COLUMNS = 10
#: Small words that may stand between the words of an English subject; with any other one it is a sentence, not a name.
_JOINS = frozenset("a an the of for in on at to and or with from by about into my our your's &".split())


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
        if {word.lower() for word in whole.split()} - {word.lower() for word in typed} - _JOINS:
            return ""
    shown = inline(whole.lstrip("#＃"))
    is_of_words = len(words) == 1 or whole.isascii() or all(columns(word) <= _WORD_COLUMNS or word.isascii() for word in words)
    return shown if is_of_words and columns(shown) <= TITLE_COLUMNS // 2 else ""


def unmet_words(result: SearchResult, context: AnswerContext) -> list[str]:
    """Words of the question that stand in no memo, folded: only what people would call a word, and not those for which another
    form, script or synonym was found."""
    asked = fold(context.question)
    found = [text for text in result.coverage.unmet if not text.startswith("#") and len(text) > 1 and text in asked]
    words = [text for text in found if text.isascii() or context.material.is_word(text)]
    return [text for text in words if not _is_met_otherwise(text, result)]


def _is_met_otherwise(word: str, result: SearchResult) -> bool:
    met = [variant for variant in result.coverage.variants if variant.memos and word not in variant.text]
    named = re.compile(rf"(?<![a-z]){re.escape(word)}(?![a-z])")
    return any(variant.family == "script" or named.search(variant.reason) for variant in met)


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
