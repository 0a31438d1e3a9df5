"""The command line as a person has it: every command a process of its own, with a home folder, a vault and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
RUN = "from vaultbrain.cli.main import run; run()"
#: Long and strange, so that it cannot stand in an output by chance.
SECRET = "zebra-umbrella-for-tests"
#: Where platformdirs finds the user's cache: everywhere but on Windows, and there.
CACHE_VARIABLES = ("XDG_CACHE_HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA")


@dataclass(frozen=True)
class Finished:
    """A command that ended: exit code, stdout and stderr, each on its own."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout; anything else there is an error."""
        return json.loads(self.out)


@dataclass
class Shell:
    """Runs commands in ``home``. ``python`` runs the package: this checkout unless ``environment`` says otherwise.

    Every command is checked for what must hold always: no traceback, and the token is nowhere to be seen.
    """

    home: Path
    environment: dict[str, str] = field(default_factory=dict)
    command: tuple[str, ...] = (sys.executable, "-c", RUN)

    def __post_init__(self) -> None:
        self.environment = {
            "PATH": os.environ.get("PATH", ""),
            "SYSTEMROOT": os.environ.get("SYSTEMROOT", ""),  # without it, Windows opens no socket
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "TZ": "UTC",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
            "PYTHONUTF8": "1",
            "VAULTBRAIN_STATE_DIR": str(self.home / "state"),
            "VAULTBRAIN_TIMEOUT": "2",
            "VAULTBRAIN_EMBEDDING": "use",
            "CFLOW_API_TOKEN": SECRET,
            **{name: os.environ[name] for name in CACHE_VARIABLES if name in os.environ},
        } | self.environment

    @property
    def vault(self) -> Path:
        return self.home / "vault"

    def __call__(self, *words: str, folder: Path | None = None, stdin: str = "", **environment: str) -> Finished:
        """``vaultbrain`` with ``words``, in the vault unless ``folder`` says otherwise; ``environment`` adds to that of all."""
        done = subprocess.run(
            [*self.command, *words],
            cwd=folder or self.vault,
            env=self.environment | environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=120,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "fault of its own" not in done.stderr, (words, done.stderr)
        assert SECRET not in done.stdout + done.stderr, words
        return Finished(done.returncode, done.stdout, done.stderr)
