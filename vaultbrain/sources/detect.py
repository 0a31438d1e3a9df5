"""Which source a setting means, and which generation of server answers at an address.

Decides by shape: an answer counts only with status 200, JSON and the key that this generation has; a web page with 200 means
"not this one". A server that is overloaded or silent is an error and never a guess. Version numbers are hints.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import LoginRefused, ServerUnsupported
from vaultbrain.sources.cflow import CFlowSource
from vaultbrain.sources.export import ExportSource
from vaultbrain.sources.http import MAX_TRIES, READ_TIMEOUT_S, Answer, ServerDoor, not_memos
from vaultbrain.sources.wire import NotAMemo, UnknownShape, items_of, read_memo

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbrain.sources.listing import Origin, Source

#: In the safe order: newer servers first, since they answer an unknown path of the older ones with a web page, status 200.
_INSTANCE = "/api/v1/instance/profile"
_WORKSPACE = "/api/v1/workspace/profile"
_STATUS_B = "/api/v1/status"
_STATUS_A = "/api/status"
_SAFE_ORDER = (_INSTANCE, _WORKSPACE, _STATUS_B, _STATUS_A)
_VERSION_KEYS = {
    _INSTANCE: ("version",),
    _WORKSPACE: ("version",),
    _STATUS_B: ("profile", "version"),
    _STATUS_A: ("data", "profile", "version"),
}
_OWN_ENDPOINT = {"A": _STATUS_A, "B": _STATUS_B}
_LIST_B = "/api/v1/memo"

#: First version of each generation that this release does not read, newest first; and the name when the version says nothing.
_UNSUPPORTED = (((0, 31), "G"), ((0, 27), "F"), ((0, 25, 3), "E"), ((0, 24), "D"), ((0, 22), "C"))
_UNSUPPORTED_ANY = {_INSTANCE: "E or later", _WORKSPACE: "C or D"}

_SERVER_ADDRESS = re.compile(r"https?://", re.IGNORECASE)


def open_source(
    address_or_path: str,
    *,
    vault: Path,
    token: str = "",
    public_url: str = "",
    timeout_s: float = READ_TIMEOUT_S,
    tries: int | None = None,
    remembered: Origin | None = None,
    should_stop: Callable[[], bool] = lambda: False,
) -> Source:
    """The source that a setting means: a server, or an export file (relative to ``vault``). Asks and reads nothing yet.

    ``public_url`` is the base of links when people reach the server under another address than we do. ``tries`` is how often a
    server in trouble is asked; None leaves that to ``http``. Once ``should_stop`` says so, ``Interrupted`` is raised.
    """
    if not _SERVER_ADDRESS.match(address_or_path):
        return ExportSource(vault / Path(address_or_path).expanduser(), public_url)
    door = ServerDoor(address_or_path, token, timeout_s=timeout_s, tries=tries or MAX_TRIES, should_stop=should_stop)
    return CFlowSource(door, public_url or door.address, remembered, recognise=detect)


def describe_source(address_or_path: str, *, vault: Path, token: str = "") -> str:
    """A sentence on what is there, for somebody who sets a source up. Raises as ``detect`` or ``ExportSource`` do."""
    if not _SERVER_ADDRESS.match(address_or_path):
        listing = ExportSource(vault / Path(address_or_path).expanduser(), "").list_memos()
        return f"{address_or_path} is an export of {len(listing.memos)} memos."
    door = ServerDoor(address_or_path, token, tries=1)
    try:
        generation, version = detect(door)
    finally:
        door.close()
    return f"{door.address} is a CFlow or Memos server of generation {generation}{f' ({version})' if version else ''}."


def detect(door: ServerDoor, remembered: Origin | None = None) -> tuple[str, str]:
    """Generation (``A`` or ``B``) and version (may be empty) of the server behind ``door``.

    The endpoint of the remembered generation is asked first, so that the usual case costs one request.

    Raises:
        ServerUnsupported: a newer generation.
        LoginRefused: something there wants a login before it says what it is.
        NotMemos: nothing there answers like a memo server.
        SourceError: the others of ``ServerDoor.probe``; the generation is unknown then.
    """
    own = _OWN_ENDPOINT.get(remembered.generation, "") if remembered is not None else ""
    for path in sorted(_SAFE_ORDER, key=lambda path: path != own):
        version = _version_in(door.probe(path), _VERSION_KEYS[path])
        if version is not None:
            return _conclude(door, path, version)
    answer = door.probe(_LIST_B, {"limit": 1})
    if _is_listing(answer):
        return "B", ""
    if answer.status == 401:
        raise LoginRefused(address=door.address, status=answer.status, has_token=door.has_token)
    raise not_memos(answer, "nothing here answers like a CFlow or Memos server")


def _conclude(door: ServerDoor, path: str, version: str) -> tuple[str, str]:
    if path == _STATUS_A:
        return "A", version
    # CFlow may have been grown from a newer server and still serve the old list; a true newer one has no such path.
    if path == _STATUS_B or _is_listing(door.probe(_LIST_B, {"limit": 1})):
        return "B", version
    raise ServerUnsupported(address=door.address, generation=_unsupported(path, version), version=version)


def _unsupported(path: str, version: str) -> str:
    numbers = tuple(int(part) for part in re.findall(r"\d+", version.partition("-")[0]))
    return next((name for first, name in _UNSUPPORTED if numbers >= first), _UNSUPPORTED_ANY[path])


def _version_in(answer: Answer, keys: tuple[str, ...]) -> str | None:
    """The version under ``keys``; None when this is not the answer of that generation."""
    found: Any = answer.data if answer.status == 200 else None
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else None


def _is_listing(answer: Answer) -> bool:
    """A list of memos of generation B. An empty one counts: a new account has no memos."""
    if answer.status != 200 or answer.flaw:
        return False
    try:
        for item in items_of(answer.data):
            read_memo(item, "")
    except (UnknownShape, NotAMemo):
        return False
    return True
