"""What the rest of the product needs from a place that holds memos: a whole listing, and one memo by its id.

A ``Listing`` exists only when the source could prove that it is whole (the same login before and after, well-formed
answers of the expected shape, counts that agree). Whatever cannot be proven is an error, never a shorter listing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from vaultbrain.memo import Memo


@dataclass(frozen=True, slots=True)
class Origin:
    """Who answered: the address or file, the server generation (``A``, ``B``, ``export``), its version, the login's user id.

    ``version`` and ``user`` are empty where the source does not say. A changed ``user`` or ``generation`` between two runs
    means that ids may mean something else: nothing may be deleted then.
    """

    address: str
    generation: str
    version: str = ""
    user: str = ""


@dataclass(frozen=True, slots=True)
class Listing:
    """All memos of one person at one moment, each id once, and where they came from."""

    memos: tuple[Memo, ...]
    origin: Origin


class Source(Protocol):
    """A CFlow or Memos server, or an export file (``is_export``)."""

    is_export: bool

    def list_memos(self) -> Listing:
        """Every memo. Raises a ``SourceError`` when the listing cannot be had or cannot be proven whole."""
        ...

    def fetch_memo(self, memo_id: str) -> Memo | None:
        """The memo as it is now; None only when the source says in so many words that there is no such memo.

        Raises ``SourceError`` for every other answer: an unreachable server is not a deleted memo.
        """
        ...

    def close(self) -> None: ...
