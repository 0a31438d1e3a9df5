"""How text becomes keyword tokens: the same for memos and for queries.

Pure. Works on folded text (``index.fold``). Chinese, Japanese and Korean runs become overlapping character bigrams, a run of one
character stays alone; everything else becomes words. FTS5 sees the tokens already cut, separated by spaces, because its own
tokenizers find no Chinese word of two characters.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold

if TYPE_CHECKING:
    from vaultbrain.memo import Memo

_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_RUN = re.compile(rf"[{_CJK}]+|[^\W_{_CJK}]+")
_IS_CJK = re.compile(rf"[{_CJK}]")
_EMBEDDED_DATA = re.compile(r"data:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=]*|[A-Za-z0-9+/]{200,}={0,2}")
#: An address, a wikilink or a Markdown link. A picture that lies beside the memo is none.
_LINK = re.compile(r"https?://[^\s)]|\[\[[^\[\]\n]+\]\]|(?<!!)\[[^\[\]\n]*\]\([^\s)]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KeywordEntry:
    """Folded, space-separated tokens of the three weighted fields; and the folded tags, each whole.

    ``folded`` is the text in which parts of words are looked up (``searchable``); ``has_link``: an address or a link is in it.
    """

    title: str
    tags: str
    body: str
    whole_tags: tuple[str, ...] = ()
    folded: str = ""
    has_link: bool = False


def is_cjk(text: str) -> bool:
    """Whether the text begins with a Chinese, Japanese or Korean character."""
    return bool(_IS_CJK.match(text))


def cut(folded: str) -> list[str]:
    """The tokens of folded text, in order."""
    tokens: list[str] = []
    for run in _RUN.findall(folded):
        if is_cjk(run) and len(run) > 1:
            tokens += [run[i : i + 2] for i in range(len(run) - 1)]
        else:
            tokens.append(run)
    return tokens


def keyword_entry(memo: Memo) -> KeywordEntry:
    """What the keyword index holds of a memo; pictures pasted as data are left out."""
    body = _without_embedded_data(memo.content)
    folded = fold(body)
    title, tags, text = (" ".join(cut(field)) for field in (fold(memo.title), fold(" ".join(memo.tags)), folded))
    whole_tags = tuple(fold(tag) for tag in memo.tags)
    return KeywordEntry(title, tags, text, whole_tags, _with_single_spaces(folded), _has_link(body))


def text_entry(memo: Memo) -> tuple[str, bool]:
    """The fields ``folded`` and ``has_link`` of the memo's ``keyword_entry`` alone."""
    body = _without_embedded_data(memo.content)
    return searchable(body), _has_link(body)


def _without_embedded_data(content: str) -> str:
    return _EMBEDDED_DATA.sub(" ", content)


def _has_link(text: str) -> bool:
    return _LINK.search(text) is not None


def searchable(text: str) -> str:
    """Text as its parts are compared: folded, with one space for any white space, so that a phrase may run over a line's end."""
    return _with_single_spaces(fold(text))


def _with_single_spaces(text: str) -> str:
    return " ".join(text.split())


def match_any(tokens: list[str]) -> str:
    """An FTS5 expression for memos with at least one of the tokens; every token is quoted, so no query is a syntax error."""
    return " OR ".join(map(_quoted, tokens))


def match_all(tokens: list[str]) -> str:
    """As ``match_any``, for memos with every one of the tokens."""
    return " AND ".join(map(_quoted, tokens))


def match_phrase(tokens: list[str]) -> str:
    """As ``match_any``, for memos in which the tokens follow each other."""
    return _quoted(" ".join(tokens))


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'
