"""How the benchmarks write their figures."""

from __future__ import annotations


def share(part: int, whole: int) -> str:
    """``38 of 44 (86.4%)``."""
    return f"{part} of {whole}" + (f" ({part / whole:.1%})" if whole else "")


def times(seconds: dict[str, float]) -> str:
    """``median 53 ms  p95 830 ms``."""
    return "  ".join(f"{name} {value * 1_000:.0f} ms" for name, value in seconds.items())
