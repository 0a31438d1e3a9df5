"""The concepts of a topic: its words, each with what the dictionary says it is in the other language.

Pure. Decides how a folded topic is cut into words of the dictionary, which translations of a word are looked up, and how the
topic reads in the other language. Refuses to say how much any of it counts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Protocol

from vaultbrain.index.tokens import is_cjk
from vaultbrain.retrieve.stems import inflections

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

#: Translations that are looked up: glosses of a Chinese word, of a Chinese character, headwords of an English word.
MAX_GLOSSES, MAX_CHARACTER_GLOSSES, MAX_HEADWORDS = 6, 4, 10
#: Of the headwords of one character; one stands in many words, and means little there.
MAX_SINGLE = 2
#: How much a Chinese character alone counts against a word; it is often only a syllable that the dictionary did not know.
CHARACTER_WEIGHT = 0.3
#: Words of the longest English phrase, and pieces of the longest Chinese word, that the dictionary is asked for.
LONGEST_PHRASE, LONGEST_WORD = 3, 6

_PIECE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]|[^\W_\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+")
#: They say nothing about the topic. In a phrase they count: ``check in``, ``cost of living``.
STOP_WORDS = frozenset(
    "a about after all also am an and any are as at be been before but by can could did do does for from get got had has"
    " have how i if in into is it its just me more my no not of off on one or our out over so some such than that the their"
    " them then there these they this those to too up us very was we were what when where which who why will with would you"
    " your".split()
)
STOP_CHARACTERS = frozenset(
    "的了着过是在有和与及或就也都还吗呢吧啊呀么们地得把被给让对从到向而且但我你他她它这那哪个些之其以于为所"
)


class Vocabulary(Protocol):
    """What of ``Dictionary`` is needed here."""

    def senses(self, word: str) -> tuple[str, ...]: ...

    def headwords(self, phrase: str) -> tuple[str, ...]: ...

    def characters(self, phrase: str) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Concept:
    """A word of the topic, or a phrase of up to three.

    ``translations``: in the other language, the best first; Chinese ones have two characters or more, those of one character
    stand in ``characters``. ``weight``: 1, or less where the word is a single Chinese character.
    """

    word: str
    translations: tuple[str, ...] = ()
    characters: tuple[str, ...] = ()
    weight: float = 1.0

    @property
    def own_forms(self) -> tuple[str, ...]:
        """The forms in which the word itself may stand in a text."""
        return forms_of(self.word)

    @property
    def looked_up(self) -> tuple[str, ...]:
        """The forms in which its translations may stand in a text."""
        return tuple(dict.fromkeys(chain.from_iterable(map(forms_of, self.translations))))


def forms_of(text: str) -> tuple[str, ...]:
    """The forms under which a word or phrase may stand in a memo."""
    return (text,) if is_cjk(text) else inflections(text) or (text,)


def concepts(topic: str, dictionary: Vocabulary, extra_words: Container[str] = ()) -> tuple[Concept, ...]:
    """The concepts of a folded topic in its order, each once.

    ``extra_words`` are kept whole as if they were in the dictionary. An English phrase is followed by its words, which have the
    phrase's translations besides their own, so that knowing the phrase takes nothing from them.
    """
    found: dict[str, Concept] = {}
    for words in _stretches(topic, dictionary, extra_words):
        made = _chinese(words, dictionary) if _is_chinese(words[0]) else _english(words, dictionary)
        for concept in made:
            found.setdefault(concept.word, concept)
    return tuple(found.values())


def _stretches(topic: str, dictionary: Vocabulary, extra_words: Container[str]) -> Iterator[Sequence[str]]:
    """Chinese words that follow each other, English words that do, by turns."""
    stretch: list[str] = []
    for run in topic.split():
        for word in segment(run, dictionary, extra_words):
            if stretch and _is_chinese(word) != _is_chinese(stretch[0]):
                yield stretch
                stretch = []
            stretch.append(word)
    if stretch:
        yield stretch


def _is_chinese(word: str) -> bool:
    """Also u盘 and t恤."""
    return any(map(is_cjk, word))


def segment(text: str, dictionary: Vocabulary, extra_words: Container[str] = ()) -> list[str]:
    """Folded text as words: as few as possible, of those with the fewest lone characters, of those the first longest.

    A Chinese character and an English word are a piece each; a word is made of up to six pieces that stand together (u盘).
    """
    pieces = list(_PIECE.finditer(text))
    # From the end: (words, lone characters, the words) of the best way to cut the rest.
    best: list[tuple[int, int, list[str]]] = [(0, 0, [])]
    for start in reversed(range(len(pieces))):
        ways = []
        for size in range(min(LONGEST_WORD, len(pieces) - start), 0, -1):
            end = pieces[start + size - 1].end()
            word = text[pieces[start].start() : end]
            if size == 1 or _is_word(word, dictionary, extra_words):
                words, lone, rest = best[len(pieces) - start - size]
                ways.append((words + 1, lone + (size == 1 and is_cjk(word)), [word, *rest]))
        best.append(min(ways, key=lambda way: way[:2]))
    return best[-1][2]


def _is_word(word: str, dictionary: Vocabulary, extra_words: Container[str]) -> bool:
    return _is_chinese(word) and (word in extra_words or bool(dictionary.senses(word)))


def _chinese(words: Sequence[str], dictionary: Vocabulary) -> Iterator[Concept]:
    for word in words:
        glosses = dictionary.senses(word)
        if len(word) > 1:
            yield Concept(word, glosses[:MAX_GLOSSES])
        elif word not in STOP_CHARACTERS:
            single_words = tuple(gloss for gloss in glosses if " " not in gloss)
            yield Concept(word, single_words[:MAX_CHARACTER_GLOSSES], weight=CHARACTER_WEIGHT)


def _english(words: Sequence[str], dictionary: Vocabulary) -> Iterator[Concept]:
    start = 0
    while start < len(words):
        phrase = _phrase_at(words, start, dictionary)
        size = len(phrase.word.split()) if phrase else 1
        content = [word for word in words[start : start + size] if _is_content(word)]
        if phrase:
            yield phrase
        # What is left of "check in" without its stop word is another word.
        if not phrase or len(content) > 1:
            yield from (_single(word, dictionary, phrase) for word in content)
        start += size


def _phrase_at(words: Sequence[str], start: int, dictionary: Vocabulary) -> Concept | None:
    """The longest phrase of two words or more that the dictionary knows and that begins here."""
    if not _is_content(words[start]):
        return None
    for size in range(min(LONGEST_PHRASE, len(words) - start), 1, -1):
        text = " ".join(words[start : start + size])
        if translations := dictionary.headwords(text)[:MAX_HEADWORDS]:
            return Concept(text, translations)
    return None


def _single(word: str, dictionary: Vocabulary, phrase: Concept | None) -> Concept:
    carried = phrase.translations if phrase else ()
    translations = tuple(dict.fromkeys([*carried, *dictionary.headwords(word)[:MAX_HEADWORDS]]))
    return Concept(word, translations, dictionary.characters(word)[:MAX_SINGLE])


def _is_content(word: str) -> bool:
    return len(word) > 1 and word not in STOP_WORDS and not word.isdigit()


def translated(found: Iterable[Concept], in_use: Callable[[str], bool]) -> str:
    """The topic in the other language; empty when nothing of it can be translated.

    English if any of it is Chinese. Each Chinese word gives its first gloss, each English one its first headword that is
    ``in_use`` in the person's memos, else the first of all. What has no translation stays, if it is in that language already.
    """
    known = list(found)
    chinese = [concept for concept in known if _is_chinese(concept.word)]
    if chinese:
        if not any(concept.translations for concept in chinese):
            return ""
        parts = ((*concept.translations, "")[0] if _is_chinese(concept.word) else concept.word for concept in known)
    else:
        parts = (_headword_in_use(concept, in_use) for concept in known)
    return " ".join(dict.fromkeys(filter(None, parts)))


def _headword_in_use(concept: Concept, in_use: Callable[[str], bool]) -> str:
    candidates = (*concept.translations, *concept.characters)
    return next(filter(in_use, candidates), candidates[0] if candidates else "")
