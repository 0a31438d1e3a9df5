"""What a search may be narrowed to, in the catalog's own terms: folded text, Unix seconds, memo facts.

Pure. How a person writes such a filter is decided elsewhere (``retrieve.filters``).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Conditions that a memo meets all of; an empty field asks for nothing. Every text is folded (``tokens.searchable``).

    A tag, wanted or not, covers its children: ``film`` is also ``film/2024``. ``created_from`` (inclusive) and
    ``created_before`` (exclusive) are Unix seconds. Of ``visibilities`` one is enough. ``pinned`` and ``has_link`` hold the
    values asked for; both at once meet no memo. ``parts`` stand in the memo as they are, ``excluded_parts`` do not;
    ``excluded_words`` do not stand there as words (``art`` leaves ``start`` alone).
    """

    tags: tuple[str, ...] = ()
    excluded_tags: tuple[str, ...] = ()
    created_from: int | None = None
    created_before: int | None = None
    visibilities: tuple[str, ...] = ()
    excluded_visibilities: tuple[str, ...] = ()
    pinned: tuple[bool, ...] = ()
    has_link: tuple[bool, ...] = ()
    parts: tuple[str, ...] = ()
    excluded_parts: tuple[str, ...] = ()
    excluded_words: tuple[str, ...] = ()
