"""What an answer depends on besides the hits: the question's mode, language and clock, the state of the mirror, further material.

Pure values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from vaultbrain.answer.material import Material

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from vaultbrain.answer.checking import Written
    from vaultbrain.retrieve.search import Hit

INVENTORY, MATCH, EXPLORE = "inventory", "match", "explore"


@dataclass(frozen=True, slots=True)
class Reading:
    """How the sources' full text was had: ``from_server``, ``from_mirror`` or ``from_export``, with memo ids of special cases."""

    how: str
    read: int = 0
    reason: str = ""
    changed: tuple[str, ...] = ()
    changed_unused: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AnswerContext:
    """``when`` is the last sync in local time, readable, and ``age_days`` its age; ``now`` is aware.

    ``headings``: the person's own words for headings, by the names in ``wording.HEADINGS``. ``passage_parts`` and ``part_hits``
    belong together: the parts of a passage, and what a search for each of them found. ``further``: hits that were found and are
    not cited. ``changes``: lines on what is new since ``changed_since``. ``writer_failed``: why no model's sentences are there.
    """

    question: str
    mode: str
    language: str
    now: datetime
    when: str
    model: str
    reading: Reading
    material: Material = field(default_factory=Material)
    headings: Mapping[str, str] = field(default_factory=dict)
    passage_parts: Sequence[str] = ()
    part_hits: Sequence[Sequence[Hit]] = ()
    further: Sequence[Hit] = ()
    age_days: int | None = None
    changes: Sequence[str] = ()
    changed_since: str = ""
    written: Written | None = None
    writer_failed: str = ""
