"""The gist of one memo, as the catalog keeps it.

Pure. Refuses to find it: see ``gist.gist``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gist:
    """A memo in a few of its own words. ``content_hash`` is that of the memo it was made from.

    ``summary`` is one sentence, empty when the memo says no more than its ``headline``. ``source`` is its first link that leads
    away, else its own address. ``value`` 0..1, of ``actionable``, ``specific`` and ``sourced``, each 0..1; ``gives`` names what
    can be had from it; ``low`` what rules it out, in English, or empty: see ``gist.value``.
    """

    memo_id: str
    content_hash: str
    headline: str
    summary: str
    source: str
    value: float
    actionable: float
    specific: float
    sourced: float
    gives: tuple[str, ...]
    low: str = ""
