"""Which version of a package is installed, told from the name of its ``*.dist-info`` folder.

``importlib.metadata`` says the same, but brings the whole of ``email`` along: 20 ms that every command would pay.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

_INFO_FOLDER = re.compile(r"(?P<name>.+)-(?P<version>[^-]+)\.dist-info")


@cache
def installed_version(distribution: str) -> str:
    """The version on ``sys.path``, or an empty text. Names are compared as PEP 503 has it."""
    wanted = re.sub(r"[-_.]+", "_", distribution).lower()
    for folder in sys.path:
        try:
            found = sorted(Path(folder or ".").glob(f"{wanted}-*.dist-info"))
        except OSError:
            continue
        if found and (match := _INFO_FOLDER.fullmatch(found[-1].name)):
            return match["version"]
    return ""
