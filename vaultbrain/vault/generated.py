"""What became of a file that we make and the person may edit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Generated:
    """``text`` is what to write, None when the file stays as it is; ``left_alone`` says why when it cannot be read."""

    text: str | None
    left_alone: str = ""
