"""A query as several: the words themselves, words that mean the same, the other language, the person's own tags.

Decides which variants are tried, how much each counts and why it was added. No variant may outweigh the literal words. The
bundled lexicon is the only source of meaning here; nothing is guessed.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut, is_cjk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from vaultbrain.retrieve.query import Query

#: Weights by family: a synonym's perfect match counts less than the person's own word.
WEIGHTS = {
    "literal": 1.0,
    "given": 0.9,
    "tag": 0.8,
    "related tag": 0.8,
    "form": 0.8,
    "part": 0.45,
    "synonym": 0.6,
    "other language": 0.6,
}
MAX_VARIANTS = 16
MAX_PER_GROUP = 6

#: In a longer Chinese word, a lexicon word of one character is usually only a syllable.
_MIN_CONTAINED = 2
#: Shorter English words (``os``, ``git``) are seldom plurals.
_MIN_INFLECTED = 4


@dataclass(frozen=True, slots=True)
class Variant:
    """``text`` is folded. ``reason`` names where it comes from, in a few English words."""

    text: str
    family: str
    weight: float
    reason: str


def expand(query: Query, given: Sequence[str] = (), tags: Iterable[str] = ()) -> list[Variant]:
    """The variants to search with, the literal words first, each text once. ``tags`` are folded tags that exist."""
    found: dict[str, Variant] = {}

    def add(text: str, family: str, reason: str) -> None:
        if cut(text) and text not in found and len(found) < MAX_VARIANTS:
            found[text] = Variant(text, family, WEIGHTS[family], reason)

    add(query.topic, "literal", "the words of the question")
    for text in given:
        add(fold(text).strip(), "given", "asked for by the caller")
    existing = set(tags)
    for word in query.topic.split():
        add(word, "part", "a word of the question")
        if other_form := _other_form(word):
            add(other_form, "form", f"another form of {word}")
        if word in existing:
            add(f"#{word}", "tag", f"a tag of yours: {word}")
    for word, group in _groups_in(query.topic):
        add(word, "part", "a word of the question")
        for other in [w for w in group if w != word][:MAX_PER_GROUP]:
            family = "synonym" if is_cjk(other) == is_cjk(word) else "other language"
            add(other, family, f"means nearly the same as {word}")
            if other in existing:
                add(f"#{other}", "related tag", f"a tag of yours: {other}")
    return list(found.values())


def _other_form(word: str) -> str:
    """The singular of an English plural and the other way round, by the letter ``s`` alone; empty for other words."""
    if not (word.isascii() and word.isalpha() and len(word) >= _MIN_INFLECTED):
        return ""
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else "" if word.endswith("s") else f"{word}s"


def _groups_in(topic: str) -> list[tuple[str, tuple[str, ...]]]:
    """(word, its group) for lexicon words that stand in the topic, longest first."""
    words = [*topic.split(), *filter(None, map(_other_form, topic.split()))]
    found = []
    for group in load_lexicon():
        standing = [
            w for w in group if w in words or f" {w} " in f" {topic} " or (is_cjk(w) and len(w) >= _MIN_CONTAINED and w in topic)
        ]
        if standing:
            found.append((max(standing, key=len), group))
    return sorted(found, key=lambda item: -len(item[0]))


@cache
def load_lexicon() -> tuple[tuple[str, ...], ...]:
    """The bundled groups, Chinese words and English ones taking turns so that both come early."""
    data = tomllib.loads(files("vaultbrain.retrieve").joinpath("lexicon.toml").read_text(encoding="utf-8"))
    return tuple(_interleaved(group["zh"], group["en"]) for group in data["group"])


def _interleaved(chinese: Sequence[str], english: Sequence[str]) -> tuple[str, ...]:
    """Two Chinese words for each English one."""
    words: list[str] = []
    left, right = list(chinese), list(english)
    while left or right:
        words += left[:2] + right[:1]
        left, right = left[2:], right[1:]
    return tuple(words)
