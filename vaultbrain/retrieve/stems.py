"""English inflections: which written forms are forms of one word.

Pure. Decides the one stem under which resume, resumes, resumed and resuming meet, and the forms that have to be looked up where
the index cannot stem. A stem is a key, not always a word (``arriv``). Only inflection is taken off, never derivation: *sleeper*
does not become *sleep*, and no care is taken to tell *meeting* from *meet*. Words of one syllable keep their final *e*, so that
*car* and *care* stay apart; longer ones lose it, because nothing tells *resum-ing* from *edit-ing*. Everything is expected
without letter case; accents are taken off as
the index does; words of other scripts are returned as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING
from unicodedata import normalize

if TYPE_CHECKING:
    from collections.abc import Callable

_VOWELS = re.compile("[aeiouy]+")
_ACCENT = re.compile("[\u0300-\u036f]")
_WORDS = re.compile(r"[^\W_]+")
_SHORT_WORD = re.compile(r"(?:.*[^aeiouy]|.*qu)?[aeiouy][^aeiouwxy]")
#: After these a final *e* was dropped before -ing and -ed: leav(e), serv(e), danc(e), judg(e), handl(e).
_LACKS_E = re.compile(r".*(?:[aeiou][aeiou][vzc]|[aeiou]{2}s|[rnl][sv]|[rn]c|dg|rg|[^aeiourlw]l|u)")
#: Which of two syllables or more lost one: updat(e), manag(e), prepar(e); and which did not: edit, open, paint.
_LONG_LACKS_E = re.compile(
    r".*(?:[au]t|invit|[iu]d|[aiouy][zg]|[uv]|[aiu]r|[iu]m|[^aeiou]in|[rdn]g|[aeinr]c|[^aeiourlwn]l|[iao]s|ns)"
)
_LONG_IS_WHOLE = re.compile(r".*(?:e[nrlt]|it|o[pnt]|or|ow|[aeo][iy]|[^aeiou][^aeiou]|h|w|x|y|k)")
_CONSONANT_Y = re.compile(r"[^aeiou]y$")
_DOUBLED = re.compile(r"([^aeiousz])\1$")
_HISSING = re.compile(r"(?:s|x|z|ch|sh)$")

#: All forms of a word, the base first.
_WHOLE_FAMILIES = """
ache aches ached aching|agree agrees agreed agreeing|be is are was were been being am|become becomes became becoming|bus buses
cache caches cached caching|change changes changed changing|child children|crisis crises|die dies died dying
do does did done doing|foot feet|free freed freeing|gas gases|go goes went gone going|goose geese|half halves
have has had having|knife knives|leaf leaves|lens lenses|lie lies lied lying lain|life lives|man men|mouse mice
pass passes passed passing|paste pastes pasted pasting|quiz quizzes|scarf scarves|see sees saw seen seeing|shelf shelves
taste tastes tasted tasting|tie ties tied tying|tooth teeth|use uses used using|waste wastes wasted wasting|wolf wolves
woman women
"""
#: The base and its past forms; the others are regular.
_PASTS = """
begin began begun|bend bent|bite bit bitten|blow blew blown|break broke broken|bring brought|build built|buy bought|catch caught
choose chose chosen|come came|deal dealt|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen
feed fed|feel felt|fight fought|find found|fly flew flown|forget forgot forgotten|freeze froze frozen|get got gotten
give gave given|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|know knew known|lead led|lose lost
make made|mean meant|meet met|pay paid|ride rode ridden|ring rang rung|rise rose risen|run ran|say said|sell sold|send sent
shake shook|shoot shot|sing sang sung|sink sank sunk|sit sat|sleep slept|speak spoke spoken|spend spent|stand stood
steal stole stolen|stick stuck|swim swam swum|take took taken|teach taught|tell told|think thought|throw threw thrown
understand understood|wake woke woken|wear wore worn|win won|write wrote written
"""
#: They look inflected and are not.
_WHOLE = frozenset(
    "anything bus ceiling christmas during evening everything gas hundred lens naked news nothing sacred series something"
    " species tennis this thus was yes".split()
)
#: The dictionary writes American English.
_AMERICAN = {
    "behaviour": "behavior", "catalogue": "catalog", "centre": "center", "cheque": "check", "colour": "color",
    "defence": "defense", "favour": "favor", "favourite": "favorite", "fibre": "fiber", "flavour": "flavor", "grey": "gray",
    "harbour": "harbor", "honour": "honor", "humour": "humor", "jewellery": "jewelry", "labour": "labor",
    "licence": "license", "litre": "liter", "metre": "meter", "mould": "mold", "neighbour": "neighbor",
    "organise": "organize", "organisation": "organization", "plough": "plow", "programme": "program", "pyjamas": "pajamas",
    "theatre": "theater", "tyre": "tire", "yoghurt": "yogurt",
}  # fmt: skip
_BRITISH = {american: british for british, american in _AMERICAN.items()}
#: With -es; other words in -o have -s.
_ECHOES = frozenset("echo hero mango potato tomato tornado volcano".split())


def _families(text: str) -> dict[str, tuple[str, ...]]:
    return {base: tuple(forms) for base, *forms in map(str.split, re.split(r"[|\n]", text.strip()))}


_ALL_FORMS, _PAST_FORMS = _families(_WHOLE_FAMILIES), _families(_PASTS)
_BASE_OF = {form: base for base, forms in (_ALL_FORMS | _PAST_FORMS).items() for form in forms}


@lru_cache(maxsize=4096)
def stem(word: str) -> str:
    """The key under which the forms of one English word meet: ``stopped`` → ``stop``, ``babies`` → ``babi``."""
    if not word.isascii():
        bare = _ACCENT.sub("", normalize("NFKD", word))
        return stem(bare) if bare.isascii() else word
    base = _BASE_OF.get(word) or (word if word in _WHOLE else _without_ending(word))
    return _canonical(_AMERICAN.get(base, base))


def stem_phrase(phrase: str) -> str:
    """The stems of the words of ``phrase``, separated by spaces; hyphens and other punctuation separate words."""
    return " ".join(map(stem, _WORDS.findall(phrase)))


def remembering_stemmer() -> Callable[[str], str]:
    """As ``stem_phrase``, for all glosses of a dictionary: it keeps the stem of every word for as long as it lives."""
    stem_of = _Remembered().__getitem__

    def stem_remembered(phrase: str) -> str:
        return stem_of(phrase) if phrase.isalpha() else " ".join(map(stem_of, _WORDS.findall(phrase)))

    return stem_remembered


class _Remembered(dict[str, str]):
    def __missing__(self, word: str) -> str:
        self[word] = found = stem(word)
        return found


def _without_ending(word: str) -> str:
    if word.endswith("s"):
        word = _without_s(word)
    if not word.endswith(("ing", "ed")):
        return word
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) > 2 and _VOWELS.search(base) and not word.endswith("eed"):
            return _with_final_e(base)
    return word


def _without_s(word: str) -> str:
    if len(word) < 4 or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        # Not -y: movies and movie have to meet as well, and ``_canonical`` makes -i of all of them.
        return word[:-3] + "i"
    return word[:-2] if word.endswith(("sses", "xes", "ches", "shes")) else word[:-1]


def _with_final_e(base: str) -> str:
    """``base``: what -ing or -ed left. Only what decides between words of one syllable matters; others lose their *e* anyway."""
    if _DOUBLED.search(base):
        is_short = _syllables(base) == 1 and (base.endswith("ll") or len(base) < 4)
        return base if is_short else base[:-1]
    if _syllables(base) == 1 and (_SHORT_WORD.fullmatch(base) or _LACKS_E.fullmatch(base)):
        return base + "e"
    return base


def _canonical(word: str) -> str:
    if word.endswith("e") and len(word) > 3 and (_syllables(word[:-1]) > 1 or word.endswith("ie")):
        word = word[:-1]
    if word.endswith("ll") and _syllables(word) > 1:
        word = word[:-1]
    return word[:-1] + "i" if _CONSONANT_Y.search(word) else word


def _syllables(word: str) -> int:
    """Groups of vowels."""
    return len(_VOWELS.findall(word))


@lru_cache(maxsize=4096)
def inflections(phrase: str) -> tuple[str, ...]:
    """The forms in which a gloss may stand in a text, itself first: ``stop`` → stop, stops, stopped, stopping.

    Of several words the first or the last is varied, not both: ``back up`` → backed up, ``air fryer`` → air fryers. Forms
    that nobody uses may be among them; all have the stem of ``phrase``.
    """
    words = _WORDS.findall(phrase)
    if not words:
        return ()
    if len(words) == 1:
        return _forms(words[0])
    first = (" ".join([form, *words[1:]]) for form in _forms(words[0]))
    last = (" ".join([*words[:-1], form]) for form in _forms(words[-1]))
    return tuple(dict.fromkeys(chain([" ".join(words)], first, last)))


def _forms(word: str) -> tuple[str, ...]:
    if not (word.isascii() and word.isalpha()) or len(word) < 3:
        return (word,)
    bases = _bases(word)
    bases += [spelling[base] for base in bases for spelling in (_BRITISH, _AMERICAN) if base in spelling]
    nouns = [word + "s"] if word.endswith("ing") else []
    candidates = chain([word], *map(_forms_of_base, bases), nouns)
    key = stem(word)
    return tuple(dict.fromkeys(form for form in candidates if stem(form) == key))


def _bases(word: str) -> list[str]:
    """What the word may be a form of."""
    guess = _BASE_OF.get(word) or (word if word in _WHOLE else _without_ending(word))
    if guess == word or word.endswith("s"):
        return [guess[:-1] + "y", guess + "e"] if guess.endswith("i") and guess != word else [guess]
    if guess.endswith("i"):
        return [guess[:-1] + "y"]
    if _syllables(guess) == 1 or guess in _BASE_OF.values():
        return [guess]
    # -ing and -ed of a longer word do not tell whether an *e* is missing; mostly its end does.
    return (
        [guess + "e"] if _LONG_LACKS_E.fullmatch(guess) else [guess] if _LONG_IS_WHOLE.fullmatch(guess) else [guess, guess + "e"]
    )


def _forms_of_base(base: str) -> list[str]:
    if base in _ALL_FORMS:
        return [base, *_ALL_FORMS[base]]
    stems = _before_vowel(base)
    past = _PAST_FORMS.get(base) or [_past(base, doubled) for doubled in stems]
    return [base, _plural(base), *past, *(_participle(base, doubled) for doubled in stems)]


def _plural(base: str) -> str:
    if _CONSONANT_Y.search(base):
        return base[:-1] + "ies"
    return base + "es" if _HISSING.search(base) or base in _ECHOES else base + "s"


def _past(base: str, doubled: str) -> str:
    if base.endswith("e"):
        return base + "d"
    return base[:-1] + "ied" if _CONSONANT_Y.search(base) else doubled + "ed"


def _participle(base: str, doubled: str) -> str:
    return (base[:-1] if base.endswith("e") and not base.endswith("ee") else doubled) + "ing"


def _before_vowel(base: str) -> list[str]:
    """The base as it stands before -ed and -ing: ``stopp``; of a longer word both, travel and the British ``travell``."""
    if not _SHORT_WORD.fullmatch(base):
        return [base]
    if _syllables(base) == 1:
        return [base + base[-1]]
    return [base, base + "l"] if base.endswith("l") else [base]
