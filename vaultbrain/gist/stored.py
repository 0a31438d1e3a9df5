"""Stored gists: filled by a sync, read by everybody else.

The one place that decides whether a stored gist still holds: it was made from this very text by the rules of today. Where none
does (before the first sync after an upgrade, or while a memo is being taken in) the gist is made on the spot and not stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.gist.gist import RULES_VERSION, gist_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from vaultbrain.index.catalog import Catalog
    from vaultbrain.index.gist import Gist
    from vaultbrain.memo import Memo

#: Gists made between two commits: about a second of work, the most that a kill can cost.
BATCH = 500


def load_gists(catalog: Catalog, memos: Iterable[Memo]) -> dict[str, Gist]:
    """memo id → the gist of each of these memos."""
    memos = list(memos)
    stored = catalog.gists.load([memo.id for memo in memos], RULES_VERSION)
    found = {}
    for memo in memos:
        gist = stored.get(memo.id)
        found[memo.id] = gist if gist and gist.content_hash == memo.content_hash else gist_of(memo)
    return found


def fill_gists(catalog: Catalog, progress: Callable[[str, int, int], None], should_stop: Callable[[], bool]) -> None:
    """Stores the gist of every memo, as it is searched, that has none or a stale one. May be repeated after a kill."""
    missing = catalog.gists.missing(RULES_VERSION)
    for start in range(0, len(missing), BATCH):
        if should_stop():
            return
        with catalog.transaction():
            memos = catalog.load_memos(missing[start : start + BATCH])
            catalog.gists.write(map(gist_of, memos.values()), RULES_VERSION)
        progress("gists", min(start + BATCH, len(missing)), len(missing))
