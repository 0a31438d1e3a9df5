"""An export file (the JSON of a whole listing) as a source, for a vault without a server.

Decides when such a file is believed: it is one whole JSON document and every item in it is a memo. It has no login and no links.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from vaultbrain.errors import ExportUnreadable
from vaultbrain.sources.listing import Listing, Origin
from vaultbrain.sources.wire import NotAMemo, UnknownShape, items_of, read_memo

if TYPE_CHECKING:
    from pathlib import Path

    from vaultbrain.memo import Memo

GENERATION = "export"


class ExportSource:
    """The memos in the file at ``path``, as they were when they were first asked for.

    Links are made only when ``public_url`` says where the memos came from.
    """

    is_export = True

    def __init__(self, path: Path, public_url: str = "") -> None:
        self._path = path
        self._public_url = public_url
        self._memos: dict[str, Memo] | None = None

    def list_memos(self) -> Listing:
        """All memos of the file, each id once, the newest of its versions. Raises ``ExportUnreadable``."""
        return Listing(tuple(self._by_id().values()), Origin(str(self._path), GENERATION))

    def fetch_memo(self, memo_id: str) -> Memo | None:
        return self._by_id().get(memo_id)

    def close(self) -> None:
        """Nothing is kept open."""

    def _by_id(self) -> dict[str, Memo]:
        if self._memos is None:
            memos: dict[str, Memo] = {}
            for memo in self._read():
                known = memos.get(memo.id)
                if known is None or known.updated < memo.updated:
                    memos[memo.id] = memo
            self._memos = memos
        return self._memos

    def _read(self) -> list[Memo]:
        try:
            items = items_of(json.loads(self._path.read_bytes()))
            return [read_memo(item, self._public_url, position) for position, item in enumerate(items)]
        except OSError as error:
            raise ExportUnreadable(address=str(self._path), detail=error.strerror or type(error).__name__) from error
        except (UnknownShape, NotAMemo) as error:
            raise ExportUnreadable(address=str(self._path), detail=str(error)) from error
        except json.JSONDecodeError as error:
            detail = f"not valid JSON at line {error.lineno}, or cut short ({error.msg})"
            raise ExportUnreadable(address=str(self._path), detail=detail) from error
        except (ValueError, RecursionError) as error:
            raise ExportUnreadable(address=str(self._path), detail="not a JSON text") from error
