"""Hits sorted into themes: by the tags that people gave and by the words of the question that they met.

Pure and deterministic. A theme has at least two memos where that can be had; what fits nowhere stands under one last heading.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from vaultbrain.retrieve.search import Hit

MAX_THEMES = 5
_MIN_MEMOS = 2


@dataclass(frozen=True, slots=True)
class Theme:
    """``hits`` in the order of the search; ``name`` is empty for what fits no other theme."""

    name: str
    hits: tuple[Hit, ...]


def group_by_theme(hits: Sequence[Hit], tags: Mapping[str, Sequence[str]]) -> list[Theme]:
    """``tags``: memo id → its tags. Every hit stands in exactly one theme; themes in the order of their best hit.

    Greedy set cover: the label that most of the remaining hits share makes the next theme. A label that all hits share divides
    nothing and is not used.
    """
    labels = {hit.memo_id: _labels_of(hit, tags) for hit in hits}
    everywhere = set.intersection(*(set(found) for found in labels.values())) if labels else set()
    left = list(hits)
    themes: list[Theme] = []
    while left and len(themes) < MAX_THEMES:
        name = _most_shared(left, labels, everywhere)
        if not name:
            break
        chosen = [hit for hit in left if name in labels[hit.memo_id]]
        themes.append(Theme(name, tuple(chosen)))
        left = [hit for hit in left if hit not in chosen]
    place = {hit.memo_id: number for number, hit in enumerate(hits)}
    themes.sort(key=lambda theme: place[theme.hits[0].memo_id])
    return [*themes, Theme("", tuple(left))] if left else themes


def _most_shared(left: Sequence[Hit], labels: Mapping[str, Mapping[str, int]], without: Container[str]) -> str:
    """The label of the most remaining hits, or an empty text; of equals a tag before a query word, then the one met first."""
    counts: dict[str, list[int]] = {}
    for hit in left:
        for label, kind in labels[hit.memo_id].items():
            if label not in without:
                counts.setdefault(label, [0, kind, len(counts)])[0] += 1
    shared = [(-count, kind, first, label) for label, (count, kind, first) in counts.items() if count >= _MIN_MEMOS]
    return min(shared)[3] if shared else ""


def _labels_of(hit: Hit, tags: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """label → 0 for a tag, 1 for a single query word that the memo met and that is none of its tags."""
    own = {fold(tag): tag for tag in tags.get(hit.memo_id, ())}
    words = {word: 1 for word in hit.matched if not word.startswith("#") and " " not in word and word not in own}
    return dict.fromkeys(own.values(), 0) | words
