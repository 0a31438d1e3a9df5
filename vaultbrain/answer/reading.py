"""Which memos an answer reads in full, and why.

Pure. Every exact hit, what is near in meaning, what several kinds of words met, and the memos that these comment on or refer to.
A memo that one marginal word met is not read: its excerpt says all that it has to say.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.retrieve.fusion import WEAK
from vaultbrain.retrieve.search import SPEAKS, is_exact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vaultbrain.retrieve.search import Hit

EXACT, MEANING, SEVERAL_GROUPS, REFERRED_TO = "exact", "meaning", "several groups", "referred to"

#: How far relations are followed upwards, and how many memos they may add.
MAX_STEPS, MAX_REFERRED = 3, 10
#: Families of query words that a memo must have met to be read for that alone.
SEVERAL = 2


def choose_reading(hits: Sequence[Hit], upwards: Callable[[Sequence[str]], Mapping[str, Sequence[str]]]) -> dict[str, str]:
    """memo id → why it is read, hits first. ``upwards`` gives for memo ids those that each comments on or refers to."""
    chosen = {hit.memo_id: why for hit in hits if (why := _why_read(hit))}
    seen, step = set(chosen) | {hit.memo_id for hit in hits}, list(chosen)
    referred: list[str] = []
    for _ in range(MAX_STEPS):
        found = upwards(step)
        step = list(dict.fromkeys(up for memo_id in step for up in found.get(memo_id, ()) if up not in seen))
        seen.update(step)
        referred += step
        if not step:
            break
    return chosen | dict.fromkeys(referred[:MAX_REFERRED], REFERRED_TO)


def _why_read(hit: Hit) -> str:
    """Empty when it is not read."""
    if any(map(is_exact, hit.met)):
        return EXACT
    if hit.label == WEAK:
        return ""
    if hit.cosine is not None and hit.cosine >= SPEAKS:
        return MEANING
    return SEVERAL_GROUPS if len({variant.family for variant in hit.met}) >= SEVERAL else ""
