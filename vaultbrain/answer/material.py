"""What an answer is made from besides the search's hits: the memos' blocks and tags, how alike they are, what they refer to.

Pure values. Made by ``gathering``; read by everything that composes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


#: The ``kind`` of a memo that comments on another.
COMMENT = "COMMENT"


@dataclass(frozen=True, slots=True)
class Relative:
    """A memo that a source comments on (``COMMENT``) or refers to (``REFERENCE``). ``note`` and ``anchor`` may be empty."""

    memo_id: str
    kind: str
    title: str
    note: str
    anchor: str


def _no_word(word: str) -> bool:  # noqa: ARG001
    return False


@dataclass(frozen=True, slots=True)
class Material:
    """All by memo id. ``blocks`` are (anchor without ``^``, text) as they stand in the note, in order.

    ``likeness``: (one id, other id), in sorted order → cosine of the two memos' mean vectors, -1..1; a pair without vectors is
    absent. ``notes``: the notes' paths of memos that say the same as a source. ``is_word`` says whether a folded word is one that
    people use: a headword of the dictionary or lexicon, or a tag; ``is_topic`` whether it says what a text is about: a word of
    the lexicon, or a tag or a level of one.
    """

    tags: Mapping[str, Sequence[str]] = field(default_factory=dict)
    blocks: Mapping[str, Sequence[tuple[str, str]]] = field(default_factory=dict)
    likeness: Mapping[tuple[str, str], float] = field(default_factory=dict)
    relatives: Mapping[str, Sequence[Relative]] = field(default_factory=dict)
    notes: Mapping[str, str] = field(default_factory=dict)
    is_word: Callable[[str], bool] = _no_word
    is_topic: Callable[[str], bool] = _no_word
