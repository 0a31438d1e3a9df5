"""What the person's ticks and habits mean for the gate: subjects they collect, tags that pleased, memos never to be named again.

Pure. The ticks themselves are in ``index.recalls``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.index.ticks import DISMISSED, USEFUL
from vaultbrain.recall.areas import Areas

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from vaultbrain.memo import Memo

#: A tag is a collected subject when so many memos carry it, and this share of all; and when its name says something by itself.
AREA_MEMOS, AREA_SHARE, AREA_CHARS = 12, 0.02, 2
#: Ticks for a tag, less those against it, that make it a collected subject too.
AREA_LIKING = 2


def liking_of(ticks: Iterable[tuple[str, str]], memos: Mapping[str, Memo]) -> dict[str, float]:
    """Folded tag → times that a memo with it was ticked as useful, less times that one was dismissed; in the order of tags."""
    balance: Counter[str] = Counter()
    for memo_id, verdict in ticks:
        for tag in {fold(tag) for tag in memos[memo_id].tags} if memo_id in memos else ():
            balance[tag] += {USEFUL: 1, DISMISSED: -1}.get(verdict, 0)
    return {tag: float(balance[tag]) for tag in sorted(balance)}


def areas_of(
    settings: Sequence[str], tags: Iterable[tuple[str, int]], memos: int, liking: Mapping[str, float], usual: Areas | None = None
) -> Areas:
    """The usual areas with those of the settings and the person's own: common tags, and tags whose memos were of use.

    ``tags`` are (tag, memos with it) of ``memos`` in all. A subject that was dismissed more often than it pleased is none.
    """
    least = max(AREA_MEMOS, AREA_SHARE * memos)
    common = [tag for tag, count in tags if count >= least and liking.get(fold(tag), 0) >= 0]
    liked = [tag for tag, balance in liking.items() if balance >= AREA_LIKING]
    own = [level for tag in (*common, *liked) for level in tag.split("/") if len(level) >= AREA_CHARS]
    return (usual or Areas()).with_words((*settings, *own))
