"""Memory that was freed, given back to the system: a program that runs all day should not keep what one minute needed."""

from __future__ import annotations

import ctypes
import gc
import sys


def give_back() -> None:
    """The C library of Linux (glibc) keeps freed memory for later; here it is told not to. Elsewhere only cycles are freed."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim:
        trim(0)
