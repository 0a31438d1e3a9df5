"""Small words for people, the same wherever they are said. Pure."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """``1 note``, ``2 notes``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def spoken_time(seconds: float) -> str:
    """``8 s``, ``3 min``, ``2 h 5 min``, ``4 days``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 90:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min" if minutes < 48 * 60 else f"{minutes // (24 * 60)} days"
