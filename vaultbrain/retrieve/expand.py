"""A query as several: the words themselves, words that mean the same, the other language, the person's own tags.

Pure. Decides which variants are tried, how much each counts and why it was added. A variant belongs to a family: those of
``LITERAL`` say what the question says, in another form; those that the caller gives count the less each the more of them there
are (``retrieve.channels``); the others only say something near, and count as far as the meaning of a memo agrees
(``retrieve.fusion``). Nothing is guessed: meaning comes from the lexicon, the dictionary, the person's own tags and whoever
calls.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import is_cjk
from vaultbrain.retrieve.concepts import forms_of
from vaultbrain.retrieve.stems import inflections, stem_phrase

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from vaultbrain.retrieve.concepts import Concept
    from vaultbrain.retrieve.lexicon import Group, Lexicon
    from vaultbrain.retrieve.query import Query

#: Weights by family: how much a perfect match counts against one of the person's own words. A part of the question counts 0
#: because BM25 over the whole question has counted it already; it is there to say which words stand where.
WEIGHTS = {
    "literal": 1.0,
    "script": 0.95,
    "given": 0.9,
    "tag": 0.8,
    "form": 0.8,
    "suggested": 0.7,
    "part": 0.0,
    "synonym": 0.6,
    "other language": 0.6,
    "related tag": 0.6,
    "translation": 0.6,
    "resource": 0.3,
    "action": 0.3,
}
#: Families that need no consent of the meaning: what the person said.
LITERAL = ("literal", "script", "tag", "form", "part")
#: Variants besides those of the caller; every one costs a look-up.
MAX_VARIANTS = 20
#: The caller's come on top, so that they take no room from the question's own; those of a model do.
MAX_GIVEN = 20
MAX_SUGGESTED = 8
#: Of one group of the lexicon, in the question's language and in the other one.
MAX_SYNONYMS, MAX_OTHERS = 6, 4
MAX_RESOURCES = 3
#: Other forms of an English word of the question.
MAX_FORMS = 2
MAX_CONCEPTS = 6
#: A word that resources of any topic have (网站, list) says little of this one: the share of the question it may stand for.
ANY_TOPIC = 0.2
#: Translations named in a variant's text; all are looked up.
NAMED_TRANSLATIONS = 3

#: In a longer Chinese word, a lexicon word of one character is usually only a syllable.
_MIN_CONTAINED = 2
#: Chinese characters of the longest lexicon word that is looked for, and words of the longest English one.
_LONGEST_CHINESE, _LONGEST_PHRASE = 8, 4
_CHINESE = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]+")
_LATIN = re.compile(r"[a-z][a-z0-9'+#.-]*")
#: An English word weighs as much as so many Chinese characters, when it is asked how much of a question a word makes up.
_WORD_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class Variant:
    """``text`` is folded and names the variant; ``words``, if any, are what is looked up instead, one being enough.

    ``group`` is the word of the question that it stands for. ``share`` is how much of the question that word makes up, 0..1.
    ``reason`` says in a few English words where the variant comes from. ``is_given``: the caller says it, whatever its family.
    """

    text: str
    family: str
    weight: float
    reason: str
    group: str = ""
    share: float = 1.0
    words: tuple[str, ...] = ()
    is_given: bool = False

    @property
    def looked_up(self) -> tuple[str, ...]:
        return self.words or (self.text,)


@dataclass(frozen=True, slots=True)
class Sources:
    """What variants come from besides the question: the ``lexicon``, folded ``tags`` in use, the ``concepts`` of the topic."""

    lexicon: Lexicon
    tags: Collection[str] = ()
    concepts: Sequence[Concept] = ()
    given: Sequence[str] = ()
    suggested: Sequence[str] = ()


@dataclass(slots=True)
class _Found:
    """A text of the caller's that is one of the question's own is both: whatever is given, the question's own stay the same."""

    variants: dict[str, Variant] = field(default_factory=dict)
    own: int = 0

    def give(self, text: str) -> None:
        if text and text not in self.variants:
            self.variants[text] = Variant(text, "given", WEIGHTS["given"], "asked for by the caller", is_given=True)

    def add(self, text: str, family: str, reason: str, **more: object) -> None:
        there = self.variants.get(text)
        if text and (there is None or there.family == "given") and self.own < MAX_VARIANTS:
            made = Variant(text, family, WEIGHTS[family], reason, **more)  # type: ignore[arg-type]
            self.variants[text] = replace(made, is_given=there is not None)
            self.own += 1


def expand(query: Query, sources: Sources) -> list[Variant]:
    """The variants to search with, the literal words first, each text once."""
    found = _Found()
    topic = query.topic
    found.add(topic, "literal", "the words of the question")
    if query.elsewhere:
        found.add(query.elsewhere, "script", "as the other region says it")
    for text in sources.given[:MAX_GIVEN]:
        found.give(fold(text).strip())
    groups = list(groups_in(topic, sources.lexicon))
    _add_own_words(found, topic, groups, sources.tags)
    for text in sources.suggested[:MAX_SUGGESTED]:
        found.add(fold(text).strip(), "suggested", "proposed by the language model")
    for word, group in groups:
        _add_group(found, word, group, topic, sources.tags)
    for concept in sources.concepts[:MAX_CONCEPTS]:
        if concept.translations:
            named = " / ".join(concept.translations[:NAMED_TRANSLATIONS])
            reason = f"{concept.word} in the dictionary"
            found.add(named, "translation", reason, group=concept.word, words=concept.translations)
    for word, group in groups:
        _add_typical(found, word, group, topic)
    if query.wants_resources:
        for text in sources.lexicon.resources[:MAX_RESOURCES]:
            found.add(text, "resource", "what resources are called", group=topic, share=ANY_TOPIC)
        for text in sources.lexicon.actions[:MAX_RESOURCES]:
            found.add(text, "action", "what one does with resources", group=topic, share=ANY_TOPIC)
    return list(found.variants.values())


def _add_own_words(found: _Found, topic: str, groups: Sequence[tuple[str, Group]], tags: Collection[str]) -> None:
    words = [word for word in topic.split() if any(map(str.isalnum, word)) or not word.isascii()]
    for word in dict.fromkeys([*words, *(word for word, _ in groups)]):
        share = share_of(word, topic)
        found.add(word, "part", "a word of the question", share=share)
        for other in inflections(word)[1 : 1 + MAX_FORMS]:
            found.add(other, "form", f"another form of {word}", share=share)
        if word in tags:
            found.add(f"#{word}", "tag", f"a tag of yours: {word}", share=share)


def _add_group(found: _Found, word: str, group: Group, topic: str, tags: Collection[str]) -> None:
    share = share_of(word, topic)
    source = "your lexicon" if group.is_own else "the lexicon"
    for other in members(word, group):
        family = "synonym" if is_cjk(other) == is_cjk(word) else "other language"
        reason = f"means nearly the same as {word} ({source})"
        found.add(other, family, reason, group=word, share=share, words=forms_of(other))
        if other in tags:
            found.add(f"#{other}", "related tag", f"a tag of yours: {other}", group=word, share=share)


def _add_typical(found: _Found, word: str, group: Group, topic: str) -> None:
    """Resource and action words of this very topic."""
    share = share_of(word, topic)
    for text in group.resources[:MAX_RESOURCES]:
        found.add(text, "resource", f"what notes on {word} often name", group=word, share=share)
    for text in group.actions[:MAX_RESOURCES]:
        found.add(text, "action", f"what one does with {word}", group=word, share=share)


def members(word: str, group: Group) -> Iterator[str]:
    """The other words of the group that are tried, the most usual first."""
    left = {True: MAX_SYNONYMS, False: MAX_OTHERS}
    for other in group.words:
        is_same = is_cjk(other.text) == is_cjk(word)
        if other.text != word and left[is_same]:
            left[is_same] -= 1
            yield other.text


def near_texts(topic: str, lexicon: Lexicon) -> tuple[tuple[str, ...], float]:
    """The near words of the topic as one text for each language, to be embedded; and how much of the topic they stand for."""
    found = list(groups_in(topic, lexicon))
    words: dict[bool, dict[str, None]] = {True: {}, False: {}}
    for word, group in found:
        words[is_cjk(word)][word] = None
        for other in members(word, group):
            words[is_cjk(other)][other] = None
    share = sum(share_of(word, topic) for word in {word for word, _ in found})
    return tuple(" ".join(texts) for texts in words.values() if texts), min(1.0, share)


def groups_in(topic: str, lexicon: Lexicon) -> Iterator[tuple[str, Group]]:
    """(word, its group) for every lexicon word in the topic, longest words first; no word inside a longer one."""
    standing = sorted(_standing(topic, lexicon), key=lambda word: (-len(word), topic.find(word), word))
    kept = [word for n, word in enumerate(standing) if not any(word in longer for longer in standing[:n])]
    groups = {id(group): (word, group) for word in reversed(kept) for group in reversed(lexicon.groups_for(word))}
    yield from reversed(groups.values())


def _standing(topic: str, lexicon: Lexicon) -> set[str]:
    """Words of the lexicon in the topic: Chinese ones anywhere, one of a single character alone; others in any inflection."""
    found = {word for word in topic.split() if word in lexicon.by_word}
    for run in _CHINESE.findall(topic):
        for start in range(len(run) - _MIN_CONTAINED + 1):
            for end in range(start + _MIN_CONTAINED, min(len(run), start + _LONGEST_CHINESE) + 1):
                found |= {run[start:end]} & lexicon.by_word.keys()
    words = _LATIN.findall(topic)
    for start in range(len(words)):
        for end in range(start + 1, min(len(words), start + _LONGEST_PHRASE) + 1):
            found.update(lexicon.by_stem.get(stem_phrase(" ".join(words[start:end])), ()))
    return found


def share_of(word: str, topic: str) -> float:
    """How much of the topic the word makes up, 0..1."""
    whole = _weight(topic)
    return min(1.0, _weight(word) / whole) if whole else 0.0


@lru_cache(maxsize=16)  # of a whole passage it is asked once for each of its words
def _weight(text: str) -> float:
    return sum(map(len, _CHINESE.findall(text))) + _WORD_WEIGHT * len(_LATIN.findall(text))
