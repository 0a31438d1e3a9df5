"""The token that guards the HTTP door: from the environment, from a file that the person names, or made once and kept.

A token never stands in the vault, which is shared and synced, and is never shown: who starts the door is told where it is. One
that is short, or in a file that others on the machine can open, is refused and not merely warned of: whoever has it reads
all memos.
"""

from __future__ import annotations

import os
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from vaultbrain.errors import HttpTokenUnusable, WriteFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HTTP_TOKEN_VARIABLE = "VAULTBRAIN_MCP_TOKEN"  # noqa: S105  (the name of the variable, not a token)
KEPT_TOKEN = "mcp-token"  # noqa: S105  (the name of a file in the state folder)
#: Random bytes of a token that is made here: RFC 6750 asks for no less than 16.
_RANDOM_BYTES = 32
#: Characters. 24 of base64 hold 144 bits; a longest one keeps the header far below what HTTP servers take (16 KiB).
_SHORTEST, _LONGEST = 24, 1_024
#: What may follow ``Bearer`` (RFC 6750, b64token).
_SENDABLE = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_READ_BY_OTHERS = 0o077


@dataclass(frozen=True, slots=True)
class HttpToken:
    """``origin`` can be shown: a file's path, or the variable's name."""

    text: str = field(repr=False)
    origin: str


def find_http_token(
    state_folder: Path, token_file: Path | None = None, *, environment: Mapping[str, str] = os.environ
) -> HttpToken:
    """From ``VAULTBRAIN_MCP_TOKEN``, else from ``token_file``, else the one kept in the state folder, which is made when missing.

    Raises:
        HttpTokenUnusable: it is blank, too short, cannot be sent or read, or others can open its file.
        WriteFailed: a new one cannot be kept.
    """
    if text := environment.get(HTTP_TOKEN_VARIABLE, "").strip():
        return _checked(text, HTTP_TOKEN_VARIABLE)
    if token_file is not None:
        path = token_file.expanduser()
        return _checked(_read(path), str(path))
    path = state_folder / KEPT_TOKEN
    if not path.exists():
        _make(path)
    return _checked(_read(path), str(path))


def _checked(text: str, origin: str) -> HttpToken:
    if reason := _complaint(text):
        raise HttpTokenUnusable(origin=origin, reason=reason)
    return HttpToken(text, origin)


def _complaint(text: str) -> str:
    """Never repeats the text."""
    if not text:
        return "it is empty"
    if len(text) < _SHORTEST:
        return f"it has {len(text)} characters, and fewer than {_SHORTEST} can be guessed"
    if len(text) > _LONGEST:
        return f"it has more than {_LONGEST} characters"
    return "" if _SENDABLE.fullmatch(text) else "it must be one word of letters, digits and - . _ ~ + /"


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            if _is_open_to_others(file):
                reason, remedy = "others on this machine can open the file", f"Run: chmod 600 {path}"
                raise HttpTokenUnusable(origin=str(path), reason=reason, next=remedy)
            return file.read(4 * _LONGEST).decode("utf-8-sig").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise HttpTokenUnusable(origin=str(path), reason=reason) from error


def _is_open_to_others(file: BinaryIO) -> bool:
    """Windows has no such bits; there the user's folders are closed to others by inheritance."""
    return os.name == "posix" and bool(os.fstat(file.fileno()).st_mode & _READ_BY_OTHERS)


def _make(path: Path) -> None:
    """Whole or not at all; of two that begin at once, both use the first one's."""
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _write_new(temporary, secrets.token_urlsafe(_RANDOM_BYTES) + "\n")
            with suppress(FileExistsError):
                path.hardlink_to(temporary)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise WriteFailed(path=path, reason=error.strerror or str(error)) from error


def _write_new(path: Path, text: str) -> None:
    """From its first moment nobody else can open it."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
