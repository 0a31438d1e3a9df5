"""Hits sorted into themes: by the tags that people gave, then by the word of the question that they met.

Pure and deterministic. A theme has at least two memos where that can be had; what fits nowhere stands under one last heading.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from vaultbrain.retrieve.search import Hit

MAX_THEMES = 6
_MIN_MEMOS = 2


@dataclass(frozen=True, slots=True)
class Theme:
    """``hits`` in the order of the search; ``name`` is empty for what fits no other theme."""

    name: str
    hits: tuple[Hit, ...]


def group_by_theme(hits: Sequence[Hit], tags: Mapping[str, Sequence[str]]) -> list[Theme]:
    """``tags``: memo id → its tags. Every hit stands in exactly one theme; themes in the order of their best hit."""
    names = _theme_names(hits, tags)
    chosen: dict[str, list[Hit]] = {}
    for hit in hits:
        candidates = [name for name in _labels_of(hit, tags) if name in names]
        name = min(candidates, key=lambda n: (names[n], n)) if candidates else ""
        chosen.setdefault(name, []).append(hit)
    loose = [hit for name, group in chosen.items() if not name or len(group) < _MIN_MEMOS for hit in group]
    themes = [Theme(name, tuple(group)) for name, group in chosen.items() if name and len(group) >= _MIN_MEMOS]
    themes, rest = themes[:MAX_THEMES], [hit for theme in themes[MAX_THEMES:] for hit in theme.hits]
    ordered = tuple(hit for hit in hits if hit in loose or hit in rest)
    return [*themes, Theme("", ordered)] if ordered else themes


def _theme_names(hits: Sequence[Hit], tags: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Labels that at least two hits share, with how many share them; one that nearly all share divides nothing."""
    counted = Counter(label for hit in hits for label in _labels_of(hit, tags))
    too_common = max(len(hits) - 1, _MIN_MEMOS + 1)
    return {name: count for name, count in counted.items() if _MIN_MEMOS <= count < too_common}


def _labels_of(hit: Hit, tags: Mapping[str, Sequence[str]]) -> list[str]:
    """The memo's tags; without any, the query words that it met."""
    return list(tags.get(hit.memo_id, ())) or [word.lstrip("#") for word in hit.matched]
