"""A memo's gist: headline, one sentence, source and value in one record, as the catalog keeps it.

Pure. Decides what a gist is made of, and the version of its rules.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from vaultbrain.gist.summary import headline_of, original_link, summary_of
from vaultbrain.gist.value import value_of
from vaultbrain.index.gist import Gist
from vaultbrain.memo import without_data

if TYPE_CHECKING:
    from vaultbrain.memo import Memo

#: Count up with every change of ``gist.summary`` or ``gist.value`` that shows: stored gists are made, and notes written, anew.
RULES_VERSION = 1


#: Characters of a memo, data in it not counted, that its gist is made from: whatever is longer says first what it is about.
MAX_CHARS = 20_000


def gist_of(memo: Memo) -> Gist:
    read = replace(memo, content=without_data(memo.content)[:MAX_CHARS])
    value = value_of(read)
    return Gist(
        memo_id=memo.id,
        content_hash=memo.content_hash,
        headline=headline_of(read.content),
        summary=summary_of(read.content),
        source=original_link(read),
        value=value.score,
        actionable=value.actionable,
        specific=value.specific,
        sourced=value.sourced,
        gives=value.gives,
        low=value.low,
    )
