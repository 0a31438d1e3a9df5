"""Hits sorted into themes, each under a name that is true of every memo there.

Pure and deterministic. Decides how many themes an answer has, what belongs together, and what a theme is called. Names
come first: a theme is made of memos that one label is true of (``answer.labels``), and likeness only chooses among such
divisions. What no name fits goes to one last theme without a name, which is better than standing under a false one. A theme has
two memos at least.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from vaultbrain.answer.labels import MIN_MEMOS, holds, labels_of
from vaultbrain.retrieve.fusion import STRONG, WEAK

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vaultbrain.answer.labels import Label
    from vaultbrain.answer.material import Material
    from vaultbrain.retrieve.search import Hit

MAX_THEMES = 6
#: Fewer hits are one theme; so many are divided only if each has a place under a word; from ``SURE_TO_DIVIDE`` on some may not.
LEAST_TO_DIVIDE, SURE_TO_DIVIDE = 4, 6

# These numbers are chosen by reading the themes of 70 judged questions over 360 memos and of 17 over 130.
#: A label is true of a theme whose memos are so sure of it, each and on average; a tag need only meet the first.
_SURE_ENOUGH, _SURE_ON_AVERAGE = 0.5, 0.8
#: What a hit is worth besides its name: the nearness to its theme; and what it costs where no name fits it, alone among others
#: whose name is not its own, and beyond half of all in one theme. A weak hit weighs less.
_FOR_NEARNESS, _FOR_REST, _FOR_STRANGER, _FOR_SIZE, _WEAK_SHARE = 0.2, 0.3, 0.6, 0.6, 0.4
_LARGEST_SHARE = 0.5
#: What each theme costs, and each hit that bears a name and stands elsewhere.
_FOR_THEME, _FOR_ELSEWHERE = 0.15, 0.1
#: Two names for one theme are worth so much of one; such a theme has no more memos than this, and neither is worth less.
_JOINED, _MOST_JOINED, _LEAST_JOINED = 0.33, 4, 0.6
#: The rest may take so much of all hits, and so much with the weak ones in it. A stranger needs a theme of so many.
_MOST_REST, _MOST_REST_WITH_WEAK, _LARGE = 1 / 3, 0.5, 4
#: So near are hits that share a theme of two names.
_NEAR = 0.15
#: How many names are tried, how many divisions are kept at each step, and how many are settled in the end.
_LABELS_TRIED, _KEPT, _SETTLED = 30, 5, 12
_MAX_DEVIATIONS = 2.0
#: Of a cosine; processors differ in later ones. Cosines that vary less than the last of them tell nothing apart.
_DECIMALS, _LEAST_DEVIATION = 3, 1e-3


@dataclass(frozen=True, slots=True)
class Theme:
    """``hits`` in the order of the search. ``names``, one or two, are true of them, unescaped.

    There are none for an only theme, for the rest, and for the theme that ``is_subject``: what the question asks for, no more.
    """

    names: tuple[str, ...]
    hits: tuple[Hit, ...]
    is_subject: bool = False


@dataclass(frozen=True, slots=True)
class _Group:
    """Hits by their places, in order."""

    places: tuple[int, ...]
    labels: tuple[Label, ...]


@dataclass(frozen=True, slots=True)
class _Division:
    groups: tuple[_Group, ...]
    rest: tuple[int, ...]
    value: float


@dataclass(frozen=True, slots=True)
class _Table:
    """What all divisions are made from. ``nearness`` is (n, n), symmetric, 0 for what is as near as any two hits are."""

    count: int
    weak: frozenset[int]
    strong: frozenset[int]
    labels: tuple[Label, ...]
    nearness: Sequence[Sequence[float]]

    def near(self, place: int, others: Iterable[int]) -> float:
        values = [self.nearness[place][other] for other in others if other != place]
        return sum(values) / len(values) if values else 0.0

    def weight(self, place: int) -> float:
        return _WEAK_SHARE if place in self.weak else 1.0


def group_by_theme(hits: Sequence[Hit], material: Material, topic: str, language: str) -> list[Theme]:
    """Every hit in exactly one theme: in the order of their best hit, those of weak hits only after the others, the rest last."""
    division = _best_division(hits, material, topic, language) if len(hits) >= LEAST_TO_DIVIDE else None
    if division is None:
        return [Theme((), tuple(hits))] if hits else []
    weak = {place for place, hit in enumerate(hits) if hit.label == WEAK}
    groups = sorted(division.groups, key=lambda group: (weak.issuperset(group.places), group.places))
    themes = [
        Theme(
            () if any(label.is_subject for label in group.labels) else _names_of(group),
            tuple(hits[place] for place in group.places),
            any(label.is_subject for label in group.labels),
        )
        for group in groups
    ]
    return [*themes, Theme((), tuple(hits[place] for place in division.rest))] if division.rest else themes


def _names_of(group: _Group) -> tuple[str, ...]:
    return tuple(name for label in group.labels for name in label.names)


def _best_division(hits: Sequence[Hit], material: Material, topic: str, language: str) -> _Division | None:
    """None when no names divide the hits, or when they are few and not all of them have a place under a telling one."""
    weak = frozenset(place for place, hit in enumerate(hits) if hit.label == WEAK)
    if len(hits) < SURE_TO_DIVIDE and len(hits) - len(weak) < LEAST_TO_DIVIDE:
        return None
    labels = labels_of(hits, material, topic, language)
    if len(hits) < SURE_TO_DIVIDE:
        labels = [label for label in labels if not label.is_fallback]
    strong = frozenset(place for place, hit in enumerate(hits) if hit.label == STRONG)
    table = _Table(len(hits), weak, strong, tuple(labels), _nearness(hits, material.likeness))
    settled = [found for division in _divisions(table) if (found := _settled(division, table))]
    best = max(settled, key=_by_value, default=None)
    if best and len(weak) >= MIN_MEMOS and all(label.is_fallback for group in best.groups for label in group.labels):
        return None  # that some hits are weak tells them apart better, and the caller says it
    return best


def _is_fair(division: _Division, table: _Table) -> bool:
    """Whether it has a good number of themes, and a small rest, in which nothing answers the question."""
    themes = len(division.groups) + bool(division.rest)
    if not 1 < themes <= MAX_THEMES or len(division.rest) == 1 or table.strong & set(division.rest):
        return False
    if table.weak.issuperset(division.rest):
        return True
    nameless = [place for place in division.rest if place not in table.weak]
    is_small = len(nameless) <= table.count * _MOST_REST and len(division.rest) <= table.count * _MOST_REST_WITH_WEAK
    return table.count >= SURE_TO_DIVIDE and is_small


# how near they are


def _nearness(hits: Sequence[Hit], likeness: Mapping[tuple[str, str], float]) -> list[list[float]]:
    """(n, n): likeness in standard deviations from the mean of all pairs, -1..1: what all share tells nothing apart."""
    nearness = [[0.0] * len(hits) for _ in hits]
    pairs = {}
    for one, other in combinations(range(len(hits)), 2):
        ids = sorted((hits[one].memo_id, hits[other].memo_id))
        if (ids[0], ids[1]) in likeness:
            pairs[one, other] = round(likeness[ids[0], ids[1]], _DECIMALS)
    mean = sum(pairs.values()) / max(1, len(pairs))
    deviation = math.sqrt(sum((value - mean) ** 2 for value in pairs.values()) / max(1, len(pairs)))
    if deviation >= _LEAST_DEVIATION:
        for (one, other), value in pairs.items():
            bounded = max(-1.0, min(1.0, (value - mean) / deviation / _MAX_DEVIATIONS))
            nearness[one][other] = nearness[other][one] = bounded
    return nearness


# which names divide them


def _divisions(table: _Table) -> list[_Division]:
    """The best divisions by names of which each has its own memos: at every step one more name, beside the best so far."""
    tried = _labels_tried(table)
    beam: list[tuple[int, ...]] = [()]
    found: list[_Division] = []
    for _ in range(MAX_THEMES):
        wider = {
            tuple(sorted((*chosen, number)))
            for chosen in beam
            for number, label in enumerate(tried)
            if number not in chosen and not any(_alike(label, tried[other]) for other in chosen)
        }
        divided = [(numbers, division) for numbers in sorted(wider) if (division := _divided([tried[n] for n in numbers], table))]
        divided.sort(key=lambda item: (-item[1].value, item[0]))
        beam = [numbers for numbers, _ in divided[:_KEPT]]
        found += [division for _, division in divided[:_SETTLED]]
    return sorted(found, key=lambda division: -division.value)[: 2 * _SETTLED]


def _labels_tried(table: _Table) -> list[Label]:
    """Those that can name a theme alone; of several for the same memos the worthiest."""
    best: dict[frozenset[int], Label] = {}
    for label in sorted(table.labels, key=lambda label: (-label.worth, len(label.key), label.key)):
        bearers = frozenset(place for place, sureness in label.bearers.items() if sureness >= _SURE_ENOUGH)
        if len(bearers) >= MIN_MEMOS:
            best.setdefault(bearers, label)
    return sorted(best.values(), key=lambda label: (-label.worth * len(label.bearers), label.key))[:_LABELS_TRIED]


def _alike(one: Label, other: Label) -> bool:
    """Names that a reader would not tell apart. What is above the tag that is asked for stands beside it."""
    if one.is_subject or other.is_subject:
        return one.key == other.key or any(label.is_synonym and not label.is_sure for label in (one, other))
    return holds(one.key, other.key) or holds(other.key, one.key) or (one.is_synonym and other.is_synonym)


def _divided(labels: Sequence[Label], table: _Table) -> _Division | None:
    """Each hit under the worthiest label that is true of it. None if a label is left without memos of its own."""
    members: list[list[int]] = [[] for _ in labels]
    rest = []
    for place in range(table.count):
        fits = [
            (label.worth * sureness, -len(label.bearers), -number)
            for number, label in enumerate(labels)
            if (sureness := label.bearers.get(place, 0.0)) >= (1.0 if place in table.weak else _SURE_ENOUGH)
        ]
        if fits:
            members[-max(fits)[2]].append(place)
        else:
            rest.append(place)
    if not all(_names(label, places, table) for label, places in zip(labels, members, strict=True)):
        return None
    groups = tuple(_Group(tuple(places), (label,)) for label, places in zip(labels, members, strict=True))
    return _valued(groups, rest, table)


def _names(label: Label, places: Sequence[int], table: _Table) -> bool:
    """Whether the label is true enough of so many; what only weak hits have is no theme."""
    if len(places) < MIN_MEMOS or table.weak.issuperset(places):
        return False
    return label.is_sure or sum(label.bearers[place] for place in places) >= _SURE_ON_AVERAGE * len(places)


def _valued(groups: Sequence[_Group], rest: Sequence[int], table: _Table) -> _Division:
    """How good a division is: telling names that are true, near within, few hits without a name, none too large."""
    value = -_FOR_THEME * len(groups) - _FOR_REST * sum(map(table.weight, rest))
    for group in groups:
        worth = sum(label.worth for label in group.labels) / len(group.labels) * (_JOINED if len(group.labels) > 1 else 1.0)
        for place in group.places:
            sureness = max(label.bearers.get(place, 0.0) for label in group.labels)
            is_stranger = sureness < _SURE_ENOUGH and not group.labels[0].is_subject
            gain = -_FOR_STRANGER if is_stranger else worth * sureness
            value += table.weight(place) * gain + _FOR_NEARNESS * table.near(place, group.places)
        for label in group.labels:
            value -= _FOR_ELSEWHERE * len(label.bearers.keys() - set(group.places)) * (not label.is_fallback)
    largest = max([len(group.places) for group in groups], default=0)
    value -= _FOR_SIZE * max(0.0, largest - _LARGEST_SHARE * table.count)
    return _Division(tuple(groups), tuple(rest), value)


# what no name fits


def _settled(division: _Division, table: _Table) -> _Division | None:
    """The best of what can be done about the rest: two names for some of it; for a single one a theme, or company."""
    ways = [division, *_with_pairs(division, table)]
    ways += [joined for way in ways for place in way.rest if place in table.strong for joined in _joining(place, way, table)]
    ways += [with_subject for way in ways if (with_subject := _with_subject(way, table))]
    lone = [way for way in ways if len(way.rest) == 1]
    ways += [end for way in lone for end in (*_joining(way.rest[0], way, table), *_with_company(way.rest[0], way, table))]
    fair = [way for way in ways if _is_fair(way, table)]
    return max(fair, key=_by_value, default=None)


def _by_value(division: _Division) -> tuple[float, tuple[tuple[int, ...], ...]]:
    """A full key, so that equals are told apart in the same way every time."""
    return round(division.value, _DECIMALS), tuple(group.places for group in division.groups)


def _with_subject(division: _Division, table: _Table) -> _Division | None:
    """With the rest, in which something answers the question, as a theme of the question's own name, without weak hits."""
    places = tuple(place for place in division.rest if place not in table.weak)
    subject = next((label for label in table.labels if label.is_subject), None)
    if subject is None or subject.is_sure or _is_taken(subject, division):
        return None
    if len(places) < MIN_MEMOS or table.strong.isdisjoint(places):
        return None
    weak = [place for place in division.rest if place in table.weak]
    return _valued((*division.groups, _Group(places, (subject,))), weak, table)


def _with_pairs(division: _Division, table: _Table) -> list[_Division]:
    """With a theme more, of hits of the rest under two names, if those of one are near those of the other."""
    rest = frozenset(division.rest)
    fitting = [
        (own, label)
        for label in table.labels
        if _may_join(label, division) and (own := _sure_of(label, rest - table.weak)) and len(label.names) == 1
    ]
    ways = []
    for (own, one), (others, two) in combinations(fitting, 2):
        places = own | others
        is_needed = len(places) > max(len(own), len(others)) and len(places) <= _MOST_JOINED
        if is_needed and (one.is_sure or two.is_sure) and not _alike(one, two) and _is_near(own, others, table):
            labels = (one, two) if min(own) <= min(others) else (two, one)
            group = _Group(tuple(sorted(places)), labels)
            ways.append(_valued((*division.groups, group), sorted(rest - places), table))
    return sorted(ways, key=lambda way: -way.value)[:_KEPT]


def _may_join(label: Label, division: _Division) -> bool:
    """Whether the label may stand beside another; a work is no subject, and what names a theme names one."""
    is_telling = not (label.is_fallback or label.is_work) and label.worth >= _LEAST_JOINED
    return is_telling and not _is_taken(label, division)


def _is_taken(label: Label, division: _Division) -> bool:
    return any(_alike(label, other) for group in division.groups for other in group.labels)


def _sure_of(label: Label, places: Iterable[int]) -> frozenset[int]:
    return frozenset(place for place in places if label.bearers.get(place, 0.0) == 1.0)


def _is_near(some: Iterable[int], others: Iterable[int], table: _Table) -> bool:
    values = [table.nearness[a][b] for a in some for b in others if a != b]
    return bool(values) and sum(values) > _NEAR * len(values)


def _joining(place: int, division: _Division, table: _Table) -> list[_Division]:
    """With a hit of the rest in a theme that takes a second name for it, or that is so large that one stranger is no lie.

    Only a hit that answers the question goes to a theme that it is not near.
    """
    own = [label for label in table.labels if label.is_sure and _sure_of(label, [place]) and _may_join(label, division)]
    rest = [other for other in division.rest if other != place]
    ways = []
    for number, group in enumerate(division.groups):
        is_near = _is_near([place], group.places, table)
        is_open = len(_names_of(group)) == 1 and len(group.places) < _MOST_JOINED and not group.labels[0].is_fallback
        named = [(*group.labels, label) for label in own if is_open and (is_near or place in table.strong)]
        named += [group.labels] if is_near and len(group.places) >= _LARGE else []
        others = (*division.groups[:number], *division.groups[number + 1 :])
        places = tuple(sorted((*group.places, place)))
        ways += [_valued((*others, _Group(places, labels)), rest, table) for labels in named]
    return ways


def _with_company(lone: int, division: _Division, table: _Table) -> list[_Division]:
    """With another hit beside the only one of the rest, from a theme that can spare it."""
    ways = []
    for number, group in enumerate(division.groups):
        others = (*division.groups[:number], *division.groups[number + 1 :])
        for place in group.places if len(group.places) > MIN_MEMOS else ():
            kept = replace(group, places=tuple(other for other in group.places if other != place))
            ways.append(_valued((*others, kept), sorted((lone, place)), table))
    return ways
