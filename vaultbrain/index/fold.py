"""What counts as the same text when searching: width, letter case and Chinese script are folded away.

Decides the one folding that the index and every query go through, so that 觀影, 观影, ＡＢＣ and abc meet. Refuses to touch
anything a person sees: notes and excerpts show the original.

Two functions, because compatibility forms do not keep lengths (``ﬁ`` becomes two letters, ``e`` with a combining accent one):

- ``fold`` for whatever is compared as a whole: texts to embed, keyword tokens, queries.
- ``fold_keeping_offsets`` for showing *where* something matched. Fold the words with ``fold``, look them up in
  ``fold_keeping_offsets(original)``, and the positions found are positions in the original. A word that matches only after a
  change of length is found by the search and simply not highlighted.

Both give the same string wherever folding changes no length, which holds for Chinese, for full-width forms and for English.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opencc import OpenCC

_SURROGATE = re.compile(r"[\ud800-\udfff]")

#: OpenCC reads phrases, and a character it left alone inside one phrase may convert once its neighbours have: 坐落於倫敦 needs
#: two passes, as did 9 of 7,073 texts tried; none needed more. The cap only guards against a dictionary with a loop.
_MAX_SCRIPT_PASSES = 4


def fold(text: str) -> str:
    """``text`` in compatibility form (NFKC), without letter case, in simplified script. Folding twice changes nothing.

    Lengths may change. Halves of surrogate pairs become U+FFFD.
    """
    if text.isascii():
        return text.casefold()
    return _folded_words(text) if len(text) <= _LONGEST_KEPT else _folded(text)


def _folded(text: str) -> str:
    return to_simplified(_compatible(text))


#: Tags, titles and the words of a question are folded over and over again.
_LONGEST_KEPT = 64
_folded_words = lru_cache(maxsize=4096)(_folded)


def fold_keeping_offsets(text: str) -> str:
    """As ``fold``, but character by character, so that the result is exactly as long as ``text``.

    A character whose folded form would be longer keeps what can be kept: ``ß`` and ``ﬁ`` stay, ``İ`` stays.
    """
    if text.isascii():
        return text.casefold()
    return to_simplified("".join(map(_fold_character, text)))


@cache
def _fold_character(character: str) -> str:
    composed = _compatible(character)
    return next((form for form in (composed, character.casefold()) if len(form) == 1), character)


def _compatible(text: str) -> str:
    """NFKC and casefold; NFKC again, since casefold can leave a pair that composes."""
    composed = unicodedata.normalize("NFKC", _SURROGATE.sub("\ufffd", text))
    return unicodedata.normalize("NFKC", composed.casefold())


def to_simplified(text: str) -> str:
    """``text`` with traditional characters replaced by simplified ones, and nothing else. Exactly as long as ``text``."""
    if text.isascii():
        return text
    if _SURROGATE.search(text):
        return "".join(map(_simplified_character, text))
    for _ in range(_MAX_SCRIPT_PASSES):
        converted: str = _converter().convert(text)
        if len(converted) != len(text):
            return "".join(map(_simplified_character, text))
        if converted == text:
            break
        text = converted
    return text


def in_other_region(text: str) -> str:
    """``text`` in the words of the other region: 備份硬碟 → 备份硬盘 and the other way round.

    Traditional script is taken for Taiwan's, simplified script for the mainland's; what both write alike may be either. The
    result is in the other script.
    """
    if text.isascii():
        return text
    text = _SURROGATE.sub("\ufffd", text)
    directions = ("s2twp", "tw2sp") if to_simplified(text) == text else ("tw2sp",)
    for direction in directions:
        converted: str = _regional_converter(direction).convert(text)
        if to_simplified(converted) != to_simplified(text):
            return converted
    return text


def to_traditional(text: str) -> str:
    """``text`` as Taiwan writes it, in script and words; traditional script stays."""
    return text if text.isascii() else str(_regional_converter("s2twp").convert(_SURROGATE.sub("\ufffd", text)))


@cache
def _regional_converter(direction: str) -> OpenCC:
    from opencc import OpenCC

    return OpenCC(direction)


def forget_regional() -> None:
    """Frees the converters between regions, of which the one to Taiwan's words holds 43 MB. The next text loads it again."""
    _regional_converter.cache_clear()


@cache
def _simplified_character(character: str) -> str:
    """Of one length whatever OpenCC's dictionaries say; so far they keep the length of every character and phrase."""
    converted = character if _SURROGATE.match(character) else _converter().convert(character)
    return converted if len(converted) == 1 else character


@cache
def _converter() -> OpenCC:
    """One converter for the process; converting is safe from several threads."""
    from opencc import OpenCC

    return OpenCC("t2s")
