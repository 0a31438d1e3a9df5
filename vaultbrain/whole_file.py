"""A file of ours outside the vault is there whole or not at all, for whoever reads it meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Through a hidden temporary file beside it and a rename; the folder must be there. Raises ``OSError``.

    The temporary file always has the same name, so that killed writers leave one at most; writers of one path take turns.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            file.write(text)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
