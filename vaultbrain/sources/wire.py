"""How Memos 0.13-0.21, CFlow and their exports spell a memo in JSON, and the memo it means.

Pure. Decides which fields a memo cannot do without, what an item must look like to be believed, and where its web page and its
files are. Missing and unknown fields are no fault; a field with a value of the wrong kind is, because a listing with an item
that nobody can read is not known to be whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vaultbrain.memo import Attachment, Memo, Relation, clean_text, tags_of

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Unix seconds of the years 2 to 9998: what a note can show as a date in every time zone. Milliseconds fall outside.
MIN_TIME = -62_104_060_800
MAX_TIME = 253_370_764_799
#: The largest id that a 64-bit database column can hold.
MAX_ID = 2**63 - 1


class UnknownShape(ValueError):
    """JSON that is no list of memos; the text says what it is instead."""


class NotAMemo(ValueError):
    """An item that cannot be read as a memo; the text says which and why."""


def items_of(data: object) -> list[Any]:
    """The items of a listing: a bare array, or an object whose only key is ``data``.

    An object with more keys is refused, since ``{"code": 401, "data": []}`` is an error and not an empty listing.
    """
    inner = unwrap(data)
    if isinstance(inner, list):
        return inner
    if isinstance(data, dict):
        keys = ", ".join(clean_text(str(key))[:20] for key in list(data)[:6])
        raise UnknownShape(f"unknown reply shape: an object with {f'the keys {keys}' if keys else 'no keys'}")
    raise UnknownShape(f"unknown reply shape: {_kind(data)}")


def unwrap(data: object) -> object:
    """What ``{"data": ...}`` holds; anything else as it is."""
    return data["data"] if isinstance(data, dict) and data.keys() == {"data"} else data


def read_memo(item: object, public_url: str, position: int = 0) -> Memo:
    """The memo that ``item`` spells; ``position`` (from 0) only serves the message.

    ``public_url`` is the base of its links; empty leaves them empty. Raises ``NotAMemo``.
    """
    if not isinstance(item, dict):
        raise NotAMemo(f"item {position + 1} is {_kind(item)}")
    try:
        return _read_fields(item, public_url.rstrip("/"))
    except NotAMemo as error:
        raise NotAMemo(f"item {position + 1} (memo {_presentable(item.get('id'))}): {error}") from None


def creator_id_of(item: Mapping[str, Any]) -> int | None:
    """The owner's user id; None when the item does not say."""
    owner = item.get("creatorId")
    return owner if type(owner) is int else None


def _read_fields(item: dict[str, Any], base: str) -> Memo:
    memo_id = str(_identity(item, "id"))
    name = _text(item, "name")
    content = _required_text(item, "content")
    created = _time(item, "createdTs")
    return Memo(
        id=memo_id,
        content=content,
        created=created,
        updated=_time(item, "updatedTs", created),
        visibility=_text(item, "visibility") or "PRIVATE",
        state="archived" if _text(item, "rowStatus") == "ARCHIVED" else "normal",
        pinned=_flag(item, "pinned"),
        creator=_text(item, "creatorUsername") or _text(item, "creatorName"),
        uid=name,
        url=f"{base}/m/{quote(name or memo_id, safe='')}" if base else "",
        tags=tags_of(content) if "#" in content else (),
        attachments=tuple(_read_attachment(file, base) for file in _objects(item, "resourceList")),
        relations=tuple(_read_relation(relation) for relation in _objects(item, "relationList")),
    )


def _read_attachment(file: dict[str, Any], base: str) -> Attachment:
    return Attachment(
        id=str(_identity(file, "id")),
        filename=_text(file, "filename"),
        mime=_text(file, "type"),
        size_bytes=_whole(file, "size", 0),
        url=_file_url(file, base),
    )


def _file_url(file: dict[str, Any], base: str) -> str:
    """Each release put files elsewhere; the keys of the file itself tell which release wrote it."""
    external = _text(file, "externalLink")
    if external.lower().startswith(("http://", "https://")):
        return external
    if not base:
        return ""
    name = _text(file, "name")
    if uid := _text(file, "uid"):
        parts = [uid]
    elif public_id := _text(file, "publicId"):
        parts = [str(file["id"]), public_id, _text(file, "filename")]
    elif name and not name.startswith("resources/"):
        parts = [name]
    else:
        parts = [str(file["id"])]
    return "/".join([f"{base}/o/r", *(quote(part, safe="") for part in parts)])


def _read_relation(relation: dict[str, Any]) -> Relation:
    return Relation(
        memo_id=str(_identity(relation, "memoId")),
        related_id=str(_identity(relation, "relatedMemoId")),
        kind=_text(relation, "type"),
    )


def _identity(item: dict[str, Any], key: str) -> int:
    value = _whole(item, key)
    if not 0 <= value <= MAX_ID:
        raise NotAMemo(f"{key} is out of range")
    return value


def _time(item: dict[str, Any], key: str, default: int | None = None) -> int:
    value = _whole(item, key, default)
    if not MIN_TIME <= value <= MAX_TIME:
        raise NotAMemo(f"{key} is {value}, which is no time in seconds")
    return value


def _whole(item: dict[str, Any], key: str, default: int | None = None) -> int:
    value = item.get(key, default)
    if value is None and default is not None:
        return default
    if type(value) is not int:  # a bool is an int to isinstance
        raise NotAMemo(f"{key} is {_kind(value)}, not a whole number")
    return value


def _flag(item: dict[str, Any], key: str) -> bool:
    value = item.get(key)
    if value is not None and type(value) is not bool:
        raise NotAMemo(f"{key} is {_kind(value)}, not true or false")
    return bool(value)


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    if value is None:
        return ""
    if type(value) is not str:
        raise NotAMemo(f"{key} is {_kind(value)}, not text")
    # What Python calls printable has nothing to clean, and most strings of a listing are: half the time of reading it.
    return value if value.isprintable() else clean_text(value)


def _required_text(item: dict[str, Any], key: str) -> str:
    if item.get(key) is None:
        raise NotAMemo(f"{key} is missing")
    return _text(item, key)


def _objects(item: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """A list of objects; a Go server may send null for an empty one."""
    values = item.get(key)
    if values is None:
        return []
    if type(values) is not list or not all(type(value) is dict for value in values):
        raise NotAMemo(f"{key} is not a list of objects")
    return values


def _kind(value: object) -> str:
    if value is None:
        return "null"
    words = {bool: "true or false", int: "a number", float: "a number", str: "text", list: "an array", dict: "an object"}
    return words.get(type(value), type(value).__name__)


def _presentable(value: object) -> str:
    return str(value) if type(value) is int and abs(value) <= MAX_ID else "without a usable id"
