"""Hits sorted into themes, by what they mean and by the words that they share, each named by a word of the memos.

Pure and deterministic. Decides how many themes an answer has, what belongs together, and what a theme is called: a tag or a known
word (``answer.labels``) that most of its memos have and few others, else the first clause of its best memo. A theme has at least
two memos; what fits nowhere stands under no name.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from vaultbrain.answer.labels import LATIN, URL, holds, labels_of
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import is_cjk
from vaultbrain.memo import without_tags
from vaultbrain.retrieve.fusion import STRONG
from vaultbrain.vault.markdown import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from vaultbrain.answer.labels import Label
    from vaultbrain.answer.material import Material
    from vaultbrain.retrieve.search import Hit

MAX_THEMES = 6
#: Fewer hits are one theme; so many are two or more if each has a word for a name; from ``SURE_TO_DIVIDE`` on, if anything
#: tells them apart.
LEAST_TO_DIVIDE, SURE_TO_DIVIDE = 4, 6
_MIN_MEMOS = 2

# These numbers are chosen by reading the themes of 64 judged questions over 360 memos.
#: How much each counts in the nearness of two memos: likeness in standard deviations, shared tags, shared words.
_BY_LIKENESS, _BY_TAGS, _BY_WORDS = 0.5, 1.0, 0.5
_MAX_DEVIATIONS = 2.0
#: Of a cosine; processors differ in later ones. Cosines that vary less than the last of them tell nothing apart.
_DECIMALS, _LEAST_DEVIATION = 3, 1e-3
#: A name is borne by this share of the theme's memos at least, and by a share of the others that is smaller by so much.
_LEAST_SHARE, _LEAST_DIFFERENCE = 0.5, 0.2
#: The tag of its best memo names a theme of up to so many, if no other name does: it is worth so much less.
_LARGEST_BY_ONE, _BY_ONE = 3, 0.3
#: What a division is worth besides being near: memos under a word of their own, and how much the largest theme may take.
_FOR_NAMES, _FOR_REST, _FOR_SIZE, _LARGEST_SHARE = 0.6, 0.6, 2.0, 0.5
#: How groups are kept from swallowing one hit after the other.
_BRAKES = (0.0, 0.1, 0.3)
#: A hit fits its theme when it is nearer to the others there than this; 0 is as near as any two hits are.
_FITS = 0.0
#: A hit is near others from here on: half a standard deviation of likeness, if they share no word.
_NEAR = 0.25
#: A clause for a name: Chinese characters, or words of another language.
_MAX_CLAUSE_CHARACTERS, _MAX_CLAUSE_WORDS = 12, 4
_SHORTEST_CLAUSE = 2

#: A place between two characters of one word.
_SPLIT_WORD = re.compile(r"[^\W_\u3400-\u9fff]{2}")
_CLAUSE_END = re.compile(r"[，。；：！？、,;:!?|（）()—→=]|\.(?:\s|$)|\s[-–+/]\s")


@dataclass(frozen=True, slots=True)
class Theme:
    """``hits`` in the order of the search. ``name`` is as memos have it, unescaped; empty for an only theme and for the rest."""

    name: str
    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    """Hits by their places; ``is_rest``: they have nothing in common but that they fit nowhere else."""

    places: tuple[int, ...]
    label: Label | None = None
    is_rest: bool = False


def group_by_theme(hits: Sequence[Hit], material: Material, topic: str) -> list[Theme]:
    """Every hit in exactly one theme; themes in the order of their best hit, what fits nowhere last and without a name."""
    divided = _best_division(hits, material, topic) if len(hits) >= LEAST_TO_DIVIDE else None
    if divided is None:
        return [Theme("", tuple(hits))] if hits else []
    taken = [topic, *(group.label.shown for group in divided if group.label)]
    themes: list[Theme] = []
    rest: list[int] = []
    for group in sorted(divided, key=lambda group: min(group.places)):
        members = tuple(hits[place] for place in group.places)
        name = "" if group.is_rest else group.label.shown if group.label else _clause_for(members, topic, taken)
        if name:
            taken.append(name)
            themes.append(Theme(name, members))
        else:
            rest += group.places
    return [*themes, Theme("", tuple(hits[place] for place in sorted(rest)))] if rest else themes


def _best_division(hits: Sequence[Hit], material: Material, topic: str) -> list[_Group] | None:
    """None when nothing tells the hits apart, or when they are few and not all of them have a named place."""
    labels = labels_of(hits, material, topic)
    nearness = _nearness(hits, labels, material.likeness)
    strong = {place for place, hit in enumerate(hits) if hit.label == STRONG}
    divisions = [_settled(_named(division, labels, nearness), strong, nearness) for division in _divisions(nearness)]
    if len(hits) < SURE_TO_DIVIDE:
        divisions = [groups for groups in divisions if all(group.label and not group.is_rest for group in groups)]
    divisions = [groups for groups in divisions if 1 < len(groups) <= MAX_THEMES]
    return max(divisions, key=lambda groups: _value(groups, nearness), default=None)


# how near they are


def _nearness(hits: Sequence[Hit], labels: Sequence[Label], likeness: Mapping[tuple[str, str], float]) -> list[list[float]]:
    """(n, n), symmetric: likeness against that of the other pairs, and what two hits share that few have."""
    count = len(hits)
    alike = _standardised(hits, likeness)
    rarity = [math.log(count / len(label.bearers)) / math.log(count / _MIN_MEMOS) for label in labels]
    nearness = [[0.0] * count for _ in hits]
    for one, other in combinations(range(count), 2):
        shared = [(label, rare) for label, rare in zip(labels, rarity, strict=True) if {one, other} <= label.bearers]
        tags = sum(rare for label, rare in shared if label.is_tag)
        words = sum(rare for label, rare in shared if not label.is_tag)
        value = _BY_LIKENESS * alike.get((one, other), 0.0) + _BY_TAGS * min(tags, 1.0) + _BY_WORDS * min(words, 1.0)
        nearness[one][other] = nearness[other][one] = value
    return nearness


def _standardised(hits: Sequence[Hit], likeness: Mapping[tuple[str, str], float]) -> dict[tuple[int, int], float]:
    """Likeness in standard deviations from the mean of all pairs, within bounds: what all share tells nothing apart."""
    pairs = {}
    for one, other in combinations(range(len(hits)), 2):
        ids = sorted((hits[one].memo_id, hits[other].memo_id))
        if (ids[0], ids[1]) in likeness:
            pairs[one, other] = round(likeness[ids[0], ids[1]], _DECIMALS)
    if not pairs:
        return {}
    mean = sum(pairs.values()) / len(pairs)
    deviation = math.sqrt(sum((value - mean) ** 2 for value in pairs.values()) / len(pairs))
    if deviation < _LEAST_DEVIATION:
        return {}
    return {pair: max(-_MAX_DEVIATIONS, min(_MAX_DEVIATIONS, (value - mean) / deviation)) for pair, value in pairs.items()}


# which belong together


def _divisions(nearness: Sequence[Sequence[float]]) -> list[list[list[int]]]:
    """Divisions into 2 to ``MAX_THEMES`` groups of two or more: average linkage at every height, with and without a brake."""
    found: list[list[list[int]]] = []
    for brake in _BRAKES:
        for groups in _mergers(nearness, brake):
            division = sorted(_without_singles(groups, nearness))
            if 2 <= len(division) <= MAX_THEMES and division not in found:
                found.append(division)
    return found or [_halves(nearness)]


def _mergers(nearness: Sequence[Sequence[float]], brake: float) -> Iterator[list[list[int]]]:
    """The groups after each merger of the nearest two; each member they would have costs them ``brake`` of their nearness."""
    groups = [[place] for place in range(len(nearness))]
    while len(groups) > 1:
        pairs = combinations(groups, 2)
        one, other = max(pairs, key=lambda two: _linkage(two[0], two[1], nearness) - brake * (len(two[0]) + len(two[1])))
        groups = sorted([*(group for group in groups if group not in (one, other)), sorted(one + other)])
        yield groups


def _linkage(one: Sequence[int], other: Sequence[int], nearness: Sequence[Sequence[float]]) -> float:
    return sum(nearness[a][b] for a in one for b in other) / (len(one) * len(other))


def _without_singles(groups: Sequence[Sequence[int]], nearness: Sequence[Sequence[float]]) -> list[list[int]]:
    """Lone hits put to the group that is nearest; each against the groups as they were."""
    kept = [list(group) for group in groups if len(group) >= _MIN_MEMOS]
    grown = [list(group) for group in kept]
    for group in groups:
        if len(group) < _MIN_MEMOS and kept:
            nearest = max(range(len(kept)), key=lambda number: _linkage(group, kept[number], nearness))
            grown[nearest] += group
    return [sorted(group) for group in grown]


def _halves(nearness: Sequence[Sequence[float]]) -> list[list[int]]:
    """Two groups about the two hits that are furthest apart: when clustering adds one hit after the other to a single group."""
    count = len(nearness)
    first, second = min(combinations(range(count), 2), key=lambda pair: nearness[pair[0]][pair[1]])
    rest = [place for place in range(count) if place not in (first, second)]
    rest.sort(key=lambda place: nearness[place][second] - nearness[place][first])
    middle = max(1, min(len(rest) - 1, sum(nearness[place][first] >= nearness[place][second] for place in rest)))
    return [sorted([first, *rest[:middle]]), sorted([second, *rest[middle:]])]


# what they are called


def _named(division: Sequence[Sequence[int]], labels: Sequence[Label], nearness: Sequence[Sequence[float]]) -> list[_Group]:
    """Each group with the label that fits it best, the best fit first served."""
    count = sum(map(len, division))
    fits = [
        (-fit, number, label.key, label)
        for number, group in enumerate(division)
        for label in labels
        if (fit := _fit(label, group, count) or _fit_by_one(label, group, nearness)) > 0
    ]
    names: dict[int, Label] = {}
    for _, number, _, label in sorted(fits, key=lambda item: item[:3]):
        if number not in names and not any(_alike(label, other) for other in names.values()):
            names[number] = label
    return _regrouped([list(group) for group in division], names, nearness)


def _fit(label: Label, group: Sequence[int], count: int) -> float:
    """How well the label names the group: worth × share within × (share within - share of the others); 0 if it does not."""
    within = len(label.bearers & set(group))
    share = within / len(group)
    difference = share - (len(label.bearers) - within) / (count - len(group))
    if within < _MIN_MEMOS or share < _LEAST_SHARE or difference < _LEAST_DIFFERENCE:
        return 0.0
    return label.worth * share * difference


def _fit_by_one(label: Label, group: Sequence[int], nearness: Sequence[Sequence[float]]) -> float:
    """The same for a tag of one memo only, that is the best of a small group or near the others there."""
    if label.is_synonym or len(label.bearers) > 1 or len(group) > _LARGEST_BY_ONE:
        return 0.0
    for place in label.lone_tag_of & set(group):
        if place == min(group) or _linkage([place], [other for other in group if other != place], nearness) > _NEAR:
            return _BY_ONE * label.worth / len(group)
    return 0.0


def _alike(one: Label, other: Label) -> bool:
    return holds(one.key, other.key) or holds(other.key, one.key) or (one.is_synonym and other.is_synonym)


def _regrouped(groups: list[list[int]], names: Mapping[int, Label], nearness: Sequence[Sequence[float]]) -> list[_Group]:
    """Hits that bear another theme's name and not their own's go there, where two are left behind."""
    for number, place in [(number, place) for number, group in enumerate(groups) for place in group]:
        wanted = [n for n, label in names.items() if place in label.bearers]
        if wanted and number not in wanted and len(groups[number]) > _MIN_MEMOS:
            groups[number].remove(place)
            groups[max(wanted, key=lambda n: _linkage([place], groups[n], nearness))].append(place)
    return [_Group(tuple(sorted(group)), names.get(number)) for number, group in enumerate(groups)]


def _settled(groups: Sequence[_Group], strong: set[int], nearness: Sequence[Sequence[float]]) -> list[_Group]:
    """The groups without hits that neither bear the name nor are near the others; two of those or more make the rest.

    A ``strong`` hit answers the question and is never put there: it goes to the nearest group, or there are two groups.
    """
    cores = [_core(group, strong, nearness) for group in groups]
    kept = [(core, group.label) for core, group in zip(cores, groups, strict=True) if len(core) >= _MIN_MEMOS]
    settled = {place for core, _ in kept for place in core}
    rest = [place for place in range(len(nearness)) if place not in settled]
    moving = _moving(rest, strong, len(kept))
    for place in moving:
        max(kept, key=lambda entry: _linkage([place], entry[0], nearness))[0].append(place)
    rest = [place for place in rest if place not in moving]
    named = [_Group(tuple(sorted(core)), label) for core, label in kept]
    return [*named, _Group(tuple(rest), None, is_rest=strong.isdisjoint(rest))] if rest else named


def _moving(rest: Sequence[int], strong: set[int], kept: int) -> Sequence[int]:
    """Which of the rest go to other groups."""
    if not kept or len(rest) < _MIN_MEMOS:
        return rest if kept else ()
    answering = [place for place in rest if place in strong] if kept > 1 else []
    return rest if answering and len(rest) - len(answering) < _MIN_MEMOS else answering


def _core(group: _Group, strong: set[int], nearness: Sequence[Sequence[float]]) -> list[int]:
    return [
        place
        for place in group.places
        if place in strong
        or (group.label and place in group.label.bearers)
        or _linkage([place], [other for other in group.places if other != place], nearness) > _FITS
    ]


def _value(groups: Sequence[_Group], nearness: Sequence[Sequence[float]]) -> float:
    """How good a division is: near within and far between, under names that most of the hits bear, none too large."""
    count = sum(len(group.places) for group in groups)
    apart, borne, rest = 0.0, 0, 0
    for group in groups:
        others = [other.places for other in groups if other is not group]
        if group.is_rest:
            rest = len(group.places)
            continue
        for place in group.places:
            mates = [other for other in group.places if other != place]
            apart += _linkage([place], mates, nearness) - max(_linkage([place], other, nearness) for other in others)
        borne += len(group.label.bearers & set(group.places)) if group.label else 0
    largest = max(len(group.places) for group in groups)
    too_large = _FOR_SIZE * max(0.0, largest / count - _LARGEST_SHARE)
    return (apart + _FOR_NAMES * borne - _FOR_REST * rest) / count - too_large


def _clause_for(members: Sequence[Hit], topic: str, taken: Sequence[str]) -> str:
    """The first clause of the best memo whose clause is short enough; else the beginning of the best one's."""
    found = [clause for hit in members if (clause := _clause_of(hit.title) or _clause_of(hit.excerpt))]
    clauses = [clause for clause in found if fold(clause) not in map(fold, taken)]
    wants_chinese = any(map(is_cjk, topic))
    short = [clause for clause in clauses if _is_short(clause)]
    own = [clause for clause in short if any(map(is_cjk, clause)) == wants_chinese]
    return next(iter(own or short), "") or next(map(_cut, clauses), "")


def _clause_of(title: str) -> str:
    bare = URL.sub("", without_tags(plain_text(title)))
    clauses = (piece.strip(" #>*-_`~.\"'“”") for piece in _CLAUSE_END.split(bare))
    return next((clause for clause in clauses if sum(map(str.isalnum, clause)) >= _SHORTEST_CLAUSE), "")


def _is_short(clause: str) -> bool:
    characters = sum(map(is_cjk, clause))
    words = len(LATIN.findall(clause))
    return characters / _MAX_CLAUSE_CHARACTERS + words / _MAX_CLAUSE_WORDS <= 1


def _cut(clause: str) -> str:
    end = next(
        (end for end in range(len(clause), 1, -1) if _is_short(clause[:end]) and not _SPLIT_WORD.match(clause, end - 1)), 1
    )
    return clause[:end].rstrip() + "…"
