"""A memo's gist: headline, one sentence, source and value in one record, as the catalog keeps it.

Pure. Decides what a gist is made of, and the version of its rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.gist.summary import headline_of, original_link, summary_of
from vaultbrain.gist.value import value_of
from vaultbrain.index.gist import Gist

if TYPE_CHECKING:
    from vaultbrain.memo import Memo

#: Count up with every change of ``gist.summary`` or ``gist.value`` that shows: stored gists are made, and notes written, anew.
RULES_VERSION = 1


def gist_of(memo: Memo) -> Gist:
    value = value_of(memo)
    return Gist(
        memo_id=memo.id,
        content_hash=memo.content_hash,
        headline=headline_of(memo.content),
        summary=summary_of(memo.content),
        source=original_link(memo),
        value=value.score,
        actionable=value.actionable,
        specific=value.specific,
        sourced=value.sourced,
        gives=value.gives,
        low=value.low,
    )
