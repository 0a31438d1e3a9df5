"""The person's session as far as a service depends on it, and what a service runs there: the same for every service manager."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from vaultbrain.settings import ENVIRONMENT_PREFIX, NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from vaultbrain.settings import Settings

#: Stands in every file of ours; what has it not is someone else's.
MARK = "Written by vaultbrain; taken away by: vaultbrain service uninstall"
#: Seconds before a watcher that failed is started again: a vault that is not mounted yet costs two starts a minute.
RESTART_S = 30
#: Seconds that it may need to stop; it promises 10.
STOP_S = 20
NICE = 10
#: Seconds for one command of the service manager.
_PATIENCE_S = 30
_LONGEST_NAME = 40
#: Variables besides our settings that change what a watcher finds or does, and are no secrets.
_CARRIED = ("HF_HOME", "PYTHONPATH", "SSL_CERT_FILE", "TZ", "XDG_CACHE_HOME", "XDG_DATA_HOME")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The machine and the session, as far as a service depends on them."""

    environment: Mapping[str, str]
    platform: str = sys.platform
    executable: str = sys.executable
    sleep: Callable[[float], None] = time.sleep

    @property
    def home(self) -> Path:
        return Path(self.environment.get("HOME") or Path.home())

    def folder(self, variable: str, usual: str) -> Path:
        """Of the XDG base directories, where a path that is not absolute does not count."""
        given = Path(self.environment.get(variable, ""))
        return given if given.is_absolute() else self.home / usual

    def run(self, *words: str) -> Ran:
        try:
            done = subprocess.run(  # noqa: S603  (words of our own, and no shell)
                words,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=_PATIENCE_S,
                check=False,
            )
        except FileNotFoundError:
            return Ran(127, "", f"there is no {words[0]}")
        except OSError as error:
            return Ran(126, "", f"{words[0]} cannot be run: {error.strerror or error}")
        except subprocess.TimeoutExpired:
            return Ran(124, "", f"{words[0]} did not end within {_PATIENCE_S} s")
        return Ran(done.returncode, done.stdout, done.stderr)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command of the service manager ended."""

    code: int
    out: str
    err: str

    @property
    def reason(self) -> str:
        """What it said, in a line; without a full stop, to stand inside a sentence."""
        said = " ".join((self.err or self.out).split()).rstrip(".")
        return said[:300] or f"it ended with code {self.code}"


def watch_words(settings: Settings, executable: str) -> tuple[str, ...]:
    """``-P``: the folder that it is started in holds no modules for it, whatever lies there.

    ``--quiet``: the watcher has its own log; what a service manager keeps of stderr may grow without end.
    """
    return (executable, "-P", "-m", "vaultbrain", "watch", "--quiet", "--vault", str(settings.vault))


def carried(environment: Mapping[str, str]) -> dict[str, str]:
    """Settings that are set in this shell, so that the service works on the same state with the same model. No keys or tokens."""
    names = {f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in NAMES} | set(_CARRIED)
    found = {name: environment[name] for name in sorted(names) if environment.get(name)}
    if modules := found.get("PYTHONPATH"):
        found["PYTHONPATH"] = os.pathsep.join(str(Path(folder).absolute()) for folder in modules.split(os.pathsep))
    return found


def short_name(vault: Path) -> str:
    """One for each vault's path, of marks that every service manager takes."""
    digest = hashlib.blake2b(os.fsencode(vault), digest_size=5).hexdigest()
    readable = re.sub(r"[^A-Za-z0-9]+", "-", vault.name).strip("-")[:_LONGEST_NAME].strip("-").lower()
    return f"{readable}-{digest}" if readable else digest
