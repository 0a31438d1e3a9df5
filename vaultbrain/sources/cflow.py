"""CFlow and Memos 0.13-0.21 (``/api/memo``, ``/api/v1/memo``) as a source.

Decides when a listing is proven whole: the same login before and after, pages walked to an empty one, every item readable, and
not fewer normal memos than the server itself counts. Whatever falls short of that is an error. The rules answer the traps in
which other mirrors deleted memos that were still there; absence of a memo is decided by ``sync``, never here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from vaultbrain.errors import ListingNotWhole, NotMemos, OriginChanged, SourceOverloaded, SourceRefused
from vaultbrain.sources.http import ServerDoor, not_memos
from vaultbrain.sources.listing import Listing, Origin
from vaultbrain.sources.wire import NotAMemo, UnknownShape, creator_id_of, items_of, read_memo, unwrap

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from vaultbrain.memo import Memo

#: Memos asked for at once. Memos passes any limit on to the database, so that this is one page for almost everybody.
PAGE_SIZE = 9999
#: Pages before a listing is given up: 20,000 memos from a server that sends 20 at a time.
MAX_PAGES = 1000
#: Numbers of memos at which a server is likely to cut a page. See ``CFlowSource._is_fixed_list``.
USUAL_PAGE_CAPS = frozenset({20, 25, 30, 50, 100, 200, 250, 500, 1000, 2000, 5000})
#: In these releases comments count in the statistics, but are not listed.
_STATS_WITH_COMMENTS = ("0.16.", "0.17.")


@dataclass(frozen=True, slots=True)
class _Paths:
    """Where one generation keeps things; ``stats`` is empty where its numbers prove nothing."""

    login: str
    memos: str
    stats: str


_PATHS = {
    "A": _Paths("/api/user/me", "/api/memo", ""),
    "B": _Paths("/api/v1/user/me", "/api/v1/memo", "/api/v1/memo/stats"),
}


class _Row(NamedTuple):
    """One line of the listing as sent: a memo may come twice, and another person's memo may come, too."""

    memo: Memo
    creator_id: int | None


class CFlowSource:
    """One person's memos on the server behind ``door``.

    ``public_url`` is the base of links to memos and files. ``remembered`` is who answered last time: another user's login is
    refused. ``recognise`` finds out the generation and version anew at each listing, since a server may have been upgraded.
    """

    is_export = False

    def __init__(
        self,
        door: ServerDoor,
        public_url: str,
        remembered: Origin | None = None,
        *,
        recognise: Callable[[ServerDoor, Origin | None], tuple[str, str]],
        page_size: int = PAGE_SIZE,
    ) -> None:
        self._door = door
        self._public_url = public_url
        self._remembered = remembered
        self._recognise = recognise
        self._page_size = page_size

    def list_memos(self) -> Listing:
        """All memos of the login, normal and archived.

        Raises:
            LoginRefused: no token, or one that the server does not know; nothing else was asked then.
            OriginChanged: the login is not the one of last time.
            ListingNotWhole: memos came, but these may not be all.
            SourceError: the others of ``ServerDoor.get_json`` and of ``recognise``.
        """
        generation, version = self._recognise(self._door, self._remembered)
        paths = _PATHS[generation]
        before = self._ask_login(paths)
        self._require_remembered(before)
        counted = None if before is None else self._count_normal(paths, before, version)
        rows = self._walk(paths, before, counted)
        self._require_count(rows, before, counted)
        after = self._ask_login(paths)
        if after != before:
            detail = f"the login changed from user {before} to user {after} meanwhile"
            raise ListingNotWhole(address=self._door.address, detail=detail)
        user_id = self._only_creator(rows) if before is None else before
        self._require_remembered(user_id)
        self._remembered = Origin(self._door.address, generation, version, "" if user_id is None else str(user_id))
        return Listing(_own_memos(rows, user_id), self._remembered)

    def fetch_memo(self, memo_id: str) -> Memo | None:
        """The memo now; None only when the server says that it has no memo of this very id."""
        answer = self._door.probe(f"{self._paths().memos}/{quote(memo_id, safe='')}")
        if (answer.status, answer.message.strip()) in {
            (404, f"Memo not found: {memo_id}"),
            (404, f"Memo ID not found: {memo_id}"),
            (400, f"ID is not a number: {memo_id}"),
        }:
            return None
        try:
            memo = read_memo(unwrap(self._door.accept(answer).data), self._public_url)
        except NotAMemo as error:
            raise not_memos(answer, f"unknown reply shape: {error}") from error
        if memo.id != memo_id:
            raise not_memos(answer, f"asked for memo {memo_id}, got memo {memo.id}")
        return memo

    def close(self) -> None:
        self._door.close()

    def _paths(self) -> _Paths:
        """Those of the generation last seen; a single memo is not worth a new look at the server."""
        if self._remembered is not None and self._remembered.generation in _PATHS:
            return _PATHS[self._remembered.generation]
        return _PATHS[self._recognise(self._door, None)[0]]

    def _ask_login(self, paths: _Paths) -> int | None:
        """The user id of the login; None when the server has no such page, as a fork of Memos may.

        The listing proves the login then: without ``creatorId`` it is refused to whoever is not logged in.
        """
        answer = self._door.probe(paths.login)
        if answer.status == 404:
            return None
        user = unwrap(self._door.accept(answer).data)
        user_id = user.get("id") if isinstance(user, dict) else None
        if type(user_id) is not int:
            raise not_memos(answer, "unknown reply shape: the login has no user id")
        return user_id

    def _only_creator(self, rows: Collection[_Row]) -> int | None:
        creators = {row.creator_id for row in rows if row.creator_id is not None}
        if len(creators) > 1:
            detail = "it holds memos of several users, and the server does not say whose login this is"
            raise ListingNotWhole(address=self._door.address, detail=detail)
        return next(iter(creators), None)

    def _require_remembered(self, user_id: int | None) -> None:
        before = self._remembered.user if self._remembered is not None else ""
        if before and user_id is not None and before != str(user_id):
            raise OriginChanged(address=self._door.address, before=f"user {before}", now=f"user {user_id}")

    def _walk(self, paths: _Paths, user_id: int | None, counted: int | None) -> list[_Row]:
        """Pages until an empty one. A short page proves nothing: a server may cap what it sends without a word."""
        rows: list[_Row] = []
        seen: set[str] = set()
        for _ in range(MAX_PAGES):
            page = self._fetch_page(paths, len(rows))
            if not page or (rows and self._is_fixed_list(rows, page, user_id, counted)):
                return rows
            if seen.issuperset(row.memo.id for row in page):
                detail = f"paging does not advance: offset {len(rows)} brought only memos that had come before"
                raise ListingNotWhole(address=self._door.address, detail=detail)
            rows += page
            seen.update(row.memo.id for row in page)
        raise ListingNotWhole(address=self._door.address, detail=f"it did not end after {MAX_PAGES} pages")

    def _fetch_page(self, paths: _Paths, offset: int) -> list[_Row]:
        params = {"limit": self._page_size} | ({"offset": offset} if offset else {})
        answer = self._door.get_json(paths.memos, params)
        try:
            items = items_of(answer.data)
        except UnknownShape as error:
            raise not_memos(answer, str(error)) from error
        try:
            return [_Row(read_memo(item, self._public_url, offset + n), creator_id_of(item)) for n, item in enumerate(items)]
        except NotAMemo as error:
            raise ListingNotWhole(address=answer.address, detail=str(error)) from error

    @staticmethod
    def _is_fixed_list(rows: Sequence[_Row], page: Sequence[_Row], user_id: int | None, counted: int | None) -> bool:
        """Whether the server ignores ``offset`` because it always sends everything, rather than the same first page.

        Told by the server's own count; without one, by the number, since lists are rarely as long as a usual page.
        """
        if [row.memo.id for row in page] != [row.memo.id for row in rows]:
            return False
        return len(rows) not in USUAL_PAGE_CAPS if counted is None else _normal_rows(rows, user_id) >= counted

    def _count_normal(self, paths: _Paths, user_id: int, version: str) -> int | None:
        """The server's own number of normal memos of this user; None when it gives none that can be compared."""
        if not paths.stats or version.startswith(_STATS_WITH_COMMENTS):
            return None
        try:
            answer = self._door.probe(paths.stats, {"creatorId": user_id})
        except (SourceOverloaded, SourceRefused, NotMemos):
            return None  # a second opinion that is not to be had; the listing itself is still held to every other rule
        if answer.status != 200 or not isinstance(answer.data, list) or not all(type(moment) is int for moment in answer.data):
            return None
        return len(answer.data)

    def _require_count(self, rows: Collection[_Row], user_id: int | None, counted: int | None) -> None:
        """A memo deleted between count and listing trips this, too; the next run is right again.

        Counting once more would excuse it, and with it the memo that slips by when another is deleted between two pages.
        """
        listed = _normal_rows(rows, user_id)
        if counted is not None and listed < counted:
            detail = f"{listed} normal memos were listed, but the server counts {counted}"
            raise ListingNotWhole(address=self._door.address, detail=detail)


def _is_own(row: _Row, user_id: int | None) -> bool:
    return row.creator_id is None or user_id is None or row.creator_id == user_id


def _normal_rows(rows: Collection[_Row], user_id: int | None) -> int:
    """Rows, not memos: the server's count and its listing repeat a memo with two comment relations alike."""
    return sum(row.memo.state == "normal" and _is_own(row, user_id) for row in rows)


def _own_memos(rows: Collection[_Row], user_id: int | None) -> tuple[Memo, ...]:
    """Each memo of this user once, in the order sent."""
    memos: dict[str, Memo] = {}
    for row in rows:
        if _is_own(row, user_id):
            memos.setdefault(row.memo.id, row.memo)
    return tuple(memos.values())
