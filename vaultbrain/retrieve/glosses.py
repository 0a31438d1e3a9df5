"""What the lines of CC-CEDICT say for a search: clean short glosses, and how usual a headword is.

Pure. Decides which parts of an entry are translations at all, how they are cleaned, in which order the glosses of a word and the
headwords of a gloss come. The dictionary has no frequencies; what is written about a word, and in how many other words it and its
characters occur, stands in for them (``rank_headwords``).
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING

from vaultbrain.retrieve.stems import remembering_stemmer

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping
    from typing import TypeAlias

    # Plain tuples: of three quarters of a million, named ones take half a second longer to make.
    #: One line: the simplified form, its reading, its senses as written.
    Entry: TypeAlias = tuple[str, str, tuple[str, ...]]
    #: Text; rank of its sense within the word, from 0; whether the sense is marked as literary, dialect, technical …
    Gloss: TypeAlias = tuple[str, int, bool]
    #: A headword for a gloss; the gloss as it stands, not stemmed; the score, which compares within one stem only.
    Translation: TypeAlias = tuple[str, str, float]

#: Words of a gloss, articles apart. Longer ones are explanations, which no memo holds word for word.
MAX_GLOSS_WORDS = 3

# What makes a headword a good translation of a gloss, fitted (softmax over the headwords of a gloss) to the 613 English words of
# the bundled lexicon with two headwords or more. Halves fitted and measured crosswise, the first headword was one of the
# lexicon's for 60 % of the words, one of the first three for 88 %; by rank and number of glosses alone for 36 % and 77 %.
_PER_LN_WORDS_CONTAINING = 0.85
_PER_LN_MENTIONS = 0.5
_HAS_MEASURE_WORD = 1.3
_THREE_CHARACTERS = -0.4
_MORE_CHARACTERS = -1.5
_PER_LN_RANK = -0.65
_PER_LN_GLOSSES = -0.85
_RARE_SENSE = -1.2
#: For each factor e by which more words contain the rarest character; fitted with the others to published frequencies of 105,000
#: words, since the lexicon has no rare characters. 孑, 伶 and 㤽 are written by nobody.
_PER_LN_CHARACTER = 0.15

# The order of a word's glosses, tried on the 397 Chinese words of the lexicon: with it the first gloss is one of the lexicon's
# for 70 %, in the order of the dictionary for 56 %. A memo says *angry* rather than *get angry*.
_GLOSS_PER_LN_PLACE = 0.6
_GLOSS_OF_WORDS = (0.0, 0.0, 0.8, 1.5)
_GLOSS_IS_RARE = 0.3

_LINE = re.compile(r"\S+ (\S+) \[([^\]]*)\] /(.*)/\s*$")
_CHINESE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_READING = re.compile(r"\[[^\]]*\]")
_IN_PARENTHESES = re.compile(r"\([^()]*\)")
_LABEL = re.compile(r"\(([^()]*)\)")
#: About the word, its writing or its use; no translation.
_NO_GLOSS = re.compile(
    r"(?:CL:|surname\b|see\b|also (?:written|pr|called|known)|(?:Taiwan|Beijing|old|also) pr\b"
    r"|used (?:in|as|to|for|before|after|at|with|by)\b|lit\.|indicat|Japanese surname"
    r"|(?:classifier|interjection|particle|prefix|suffix|radical|Kangxi|onom|component|phonetic|abbr|erhua|variant)\b"
    r"|(?:name of|idiom|equivalent of|contraction of|same as)\b)"
)
#: Apart from ``_NO_GLOSS``, which looks at the first word only: it is asked two hundred thousand times.
_VARIANT = re.compile(r"(?:\w+ ){1,2}variant of\b")
_AS_IN = "(as in"
#: The headword stands for the one named: ``variant of 賬號|账号[zhang4 hao4]``.
_STANDS_FOR = re.compile(
    r"(?:\([^()]*\) ?)?"
    r"(?:(?:\w+ )?variant of|abbr\. (?:for|of|to)|see(?: also)?|also written|same as|contraction of|equivalent of)"
    r" (?:\S+\|)?([\u3400-\u9fff]+)(?=[\s\[,;/)]|$)"
)
_MENTIONED = re.compile(r"([\u3400-\u9fff]+)\[")
#: Taken off before and after a translation: *to be angry with sb* is angry with.
_LEADING = frozenset("to a an the be sth sb sb's one's of etc or and fig. esp.".split())
_TRAILING = frozenset("sth sb etc one's sb's oneself".split())
_PLACEHOLDER = re.compile(r"\b(?:sth|sb|sb's|one's|etc|i\.e|e\.g)\b")
_PLACEHOLDERS = frozenset({"sth", "sb", "etc"})
_ARTICLES = frozenset({"a", "an", "the"})
_BETWEEN = re.compile(r"[;:]| - |\u2014")
_NOT_IN_GLOSS = re.compile(r"[^\w '&+.-]|(?<!\d)\.|\.(?!\d)")
#: Single words that translate nothing.
_EMPTY_GLOSSES = frozenset(
    "a an the of to in on for and or with by at from as is be do not no very sth sb it its that this into up out off over who"
    " which what if so such etc there here can may will would one's oneself used abbr".split()
)
#: Said before or after a sense that is rarely meant, or of a word that is rarely used.
_RARE = re.compile(
    r"literary|old|archaic|dialect|classical|idiom|Tw|Buddhism|formal|honorific|humble|polite|bound form|onom|proverb|Cantonese"
    r"|slang|derog|vulgar|jocular|arch\.|TCM|place names|in former times|imperial|loanword|neologism|bird species|chemistry|math"
    r"|geology|botany|zoology|Internet|female names|coll|constellation|taxonomy|baseball|chess|mining|kokuji|HK|Hong Kong"
)
#: 天儿 [tian1 r5]: the spoken form of a word with 儿 after it.
_SPOKEN = " r5"


def read_entries(lines: Iterable[str]) -> Iterator[Entry]:
    """The entries of a file in the form of CC-CEDICT; comments and whatever is no entry are passed over."""
    for match in filter(None, map(_LINE.match, lines)):
        word, reading, senses = match.groups()
        yield word, reading, tuple(filter(None, senses.split("/")))


def stands_for(sense: str) -> str:
    """The word that ``variant of …``, ``abbr. for …`` and the like point to; empty for other senses."""
    match = _STANDS_FOR.match(sense)
    return match[1] if match else ""


def clean_glosses(sense: str) -> list[str]:
    """The translations in one sense: ``to back up (data); to save`` → back up, save. Empty for remarks and explanations."""
    if _is_remark(sense):
        return []
    text = sense
    if "(" in sense or "[" in sense:
        text = _without_parentheses(sense).strip()
        if _is_remark(text):
            return []
    if text.replace(" ", "").isalpha():
        gloss = _clean(text)
        return [gloss] if gloss else []
    found = list(chain.from_iterable(map(_synonyms, _BETWEEN.split(text))))
    return found if len(found) < 2 else list(dict.fromkeys(found))


def _is_remark(sense: str) -> bool:
    return bool(_NO_GLOSS.match(sense) or _AS_IN in sense or ("variant of" in sense and _VARIANT.match(sense)))


def _without_parentheses(text: str) -> str:
    if "[" in text:
        text = _READING.sub("", text)
    while "(" in text and (shorter := _IN_PARENTHESES.sub(" ", text)) != text:
        text = shorter
    return text


def _synonyms(part: str) -> list[str]:
    """*last, final* is two glosses; of *Telok Blangah, a place in Singapore* only the beginning is one."""
    first, *others = part.split(",")
    gloss = _clean(first)
    if gloss and others and not _is_name(part):
        pieces = [gloss, *map(_clean, others)]
        return pieces if all(pieces) else pieces[:1]
    return [gloss] if gloss else []


def _is_name(text: str) -> bool:
    return text.lstrip()[:1].isupper()


def _clean(piece: str) -> str:
    """Empty when the piece is too long, holds Chinese or a placeholder in its middle, or says nothing."""
    words = piece.casefold().replace("\u2019", "'").split()
    while words and words[0] in _LEADING:
        del words[0]
    while len(words) > 1 and words[-1] in _TRAILING:
        del words[-1]
    if len(words) > MAX_GLOSS_WORDS and sum(map(str.isalpha, words)) - sum(map(words.count, _ARTICLES)) > MAX_GLOSS_WORDS:
        return ""
    text = " ".join(words)
    if not (text.isascii() and text.replace(" ", "").isalpha()):
        text = _without_marks(text)
    elif not _PLACEHOLDERS.isdisjoint(words):
        return ""
    return text if len(text) > 1 and text not in _EMPTY_GLOSSES else ""


def _without_marks(text: str) -> str:
    text = " ".join(_NOT_IN_GLOSS.sub(" ", text).split()).strip("' .-")
    if _PLACEHOLDER.search(text) or _CHINESE.search(text) or _count_words(text) > MAX_GLOSS_WORDS:
        return ""
    return text


def _count_words(gloss: str) -> int:
    """Articles apart."""
    return sum(word not in _ARTICLES for word in gloss.split()) if " " in gloss else 1


def collect_glosses(entries: Iterable[Entry]) -> dict[str, tuple[Gloss, ...]]:
    """The glosses of every word that has any, the most usual first, each once.

    Of several entries of a word the one with most senses comes first; glosses of marked senses come last. A word that only
    stands for another one, as a variant or an abbreviation, has the other's glosses, all as rare.
    """
    by_word: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_word[entry[0]].append(entry)
    own = {word: glosses for word, group in by_word.items() if (glosses := _glosses_of(group))}
    borrowed = {word: glosses for word, group in by_word.items() if word not in own and (glosses := _borrowed(group, own))}
    return own | borrowed


def _glosses_of(entries: list[Entry]) -> tuple[Gloss, ...]:
    if len(entries) > 1:
        entries = sorted(entries, key=lambda entry: -len(entry[2]))
    is_spoken = entries[0][1].endswith(_SPOKEN)
    found: list[Gloss] = []
    rank = 0
    for _, _, senses in entries:
        for sense in senses:
            if texts := clean_glosses(sense):
                is_rare = is_spoken or _is_rare(sense)
                found += [(text, rank, is_rare) for text in texts]
                rank += 1
    return _usual_first(found) if len(found) > 1 else tuple(found)


def _usual_first(glosses: list[Gloss]) -> tuple[Gloss, ...]:
    once = tuple({gloss[0]: gloss for gloss in reversed(glosses)}.values())[::-1]
    costs = [_cost(text, place, is_rare) for place, (text, _, is_rare) in enumerate(once)]
    return tuple([once[place] for place in sorted(range(len(once)), key=costs.__getitem__)])


def _cost(text: str, place: int, is_rare: bool) -> float:
    return _GLOSS_PER_LN_PLACE * math.log1p(place) + _GLOSS_OF_WORDS[_count_words(text)] + _GLOSS_IS_RARE * is_rare


def _is_rare(sense: str) -> bool:
    """Names count as rare: 泰尔 (Tyre) is no word for a tyre."""
    if "(" not in sense:
        return _is_name(sense)
    return _is_name(_LABEL.sub("", sense)) or any(map(_RARE.search, _LABEL.findall(sense)))


def _borrowed(entries: list[Entry], own: Mapping[str, tuple[Gloss, ...]]) -> tuple[Gloss, ...]:
    targets = (own.get(stands_for(sense), ()) for _, _, senses in entries for sense in senses)
    return tuple((text, rank, True) for text, rank, _ in next(filter(None, targets), ()))


def rank_headwords(entries: Iterable[Entry], glosses: Mapping[str, tuple[Gloss, ...]]) -> dict[str, list[Translation]]:
    """By stem, the headwords of its glosses, the best first; a word once for each form (tire, tired).

    Of the headwords of one character only things that are counted (茶, 猫), by their first sense. A word that is no gloss has
    the headwords of glosses that end with it: *charger* those of *battery charger*.
    """
    usualness = _Usualness(list(entries))
    stem_of = remembering_stemmer()
    found: dict[str, list[Translation]] = defaultdict(list)
    phrases: list[tuple[str, Translation]] = []
    for word, own in glosses.items():
        base = usualness.of(word) + _PER_LN_GLOSSES * math.log1p(len(own))
        is_single, is_counted = len(word) == 1, usualness.is_counted(word)
        for text, rank, is_rare in own:
            if is_single and (rank or not is_counted):
                continue
            translation = (word, text, base + _PER_LN_RANK * math.log1p(rank) + (_RARE_SENSE if is_rare else 0.0))
            key = stem_of(text)
            found[key].append(translation)
            if " " in key and not is_rare and not is_single:
                phrases.append((key, translation))
    found |= _ends(phrases, found)
    for translations in found.values():
        if len(translations) > 1:
            # By word where the score is the same.
            translations.sort(key=itemgetter(0))
            translations.sort(key=itemgetter(2), reverse=True)
    return found


def _ends(phrases: list[tuple[str, Translation]], known: Container[str]) -> dict[str, list[Translation]]:
    """The translations of phrases by their last stem, where that is not ``known`` by itself."""
    found: dict[str, list[Translation]] = defaultdict(list)
    for key, translation in phrases:
        end = key.rpartition(" ")[2]
        if end not in known:
            found[end].append(translation)
    return found


class _Usualness:
    """How usual headwords are, as far as the dictionary itself tells."""

    def __init__(self, entries: list[Entry]) -> None:
        words = {word for word, _, _ in entries}
        self._containing = dict(Counter(part for word in words if len(word) > 2 for part in _parts(word) if part in words))
        self._with_character = dict(Counter(chain.from_iterable(map(set, words))))
        mentioned: list[str] = []
        self._counted: set[str] = set()
        for word, _, senses in entries:
            for sense in senses:
                if "[" in sense:
                    mentioned += _mentioned(sense) - {word}
                if sense.startswith("CL:"):
                    self._counted.add(word)
        self._mentions = dict(Counter(mentioned))

    def is_counted(self, word: str) -> bool:
        """Whether the dictionary names a measure word for it."""
        return word in self._counted

    def of(self, word: str) -> float:
        """The part of the score that does not depend on the gloss."""
        length = 0.0 if len(word) < 3 else _THREE_CHARACTERS if len(word) == 3 else _MORE_CHARACTERS
        productive = _PER_LN_WORDS_CONTAINING * math.log1p(self._containing.get(word, 0))
        mentioned = _PER_LN_MENTIONS * math.log1p(self._mentions.get(word, 0))
        characters = _PER_LN_CHARACTER * math.log(min(map(self._with_character.__getitem__, word)))
        return length + productive + mentioned + characters + _HAS_MEASURE_WORD * self.is_counted(word)


def _parts(word: str) -> set[str]:
    """What the word contains, of two characters or more, itself apart."""
    if len(word) == 3:
        return {word[:2], word[1:]}
    return {word[start:end] for start in range(len(word)) for end in range(start + 2, len(word) + 1)} - {word}


def _mentioned(sense: str) -> set[str]:
    return set(_MENTIONED.findall(sense))
