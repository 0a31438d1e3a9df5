"""The watcher as an agent of the user's graphical session on macOS: its property list, and the commands that make it count."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import ServiceUnavailable
from vaultbrain.watch.session import MARK, NICE, RESTART_S, STOP_S, carried, short_name, watch_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from vaultbrain.settings import Settings
    from vaultbrain.watch.session import Surroundings

#: launchd forgets a service some time after it was told to; until then it takes no new one of that name.
_TRIES, _WAIT_S = 10, 0.5


class LaunchdAgent:
    """An agent of the user's graphical session."""

    kind = "launchd"

    def __init__(self, settings: Settings, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self.name = f"vaultbrain.{short_name(settings.vault)}"
        self.path = surroundings.home / "Library" / "LaunchAgents" / f"{self.name}.plist"
        self._domain = f"gui/{os.getuid()}" if sys.platform != "win32" else "gui"
        self._target = f"{self._domain}/{self.name}"
        log = surroundings.home / "Library" / "Logs" / f"{self.name}.log"
        self.text = launchd_text(
            self.name, watch_words(settings, surroundings.executable), carried(surroundings.environment), log
        )

    def install_steps(self) -> tuple[tuple[str, ...], ...]:
        return (("launchctl", "enable", self._target), ("launchctl", "bootstrap", self._domain, str(self.path)))

    def uninstall_steps(self) -> tuple[tuple[str, ...], ...]:
        return (("launchctl", "bootout", self._target),)

    def trouble(self) -> str:
        ran = self._surroundings.run("launchctl", "print", self._domain)
        return ran.reason if ran.code else ""

    def switch_on(self, *, is_new: bool) -> str:
        """Why it refused, or empty. A running watcher of an older text is stopped first, which launchd does in its own time."""
        is_loaded = self._is_loaded()
        if is_loaded and not is_new:
            return ""
        if is_loaded:
            self.switch_off()
        enabling, bootstrapping = self.install_steps()
        self._surroundings.run(*enabling)
        for _ in range(_TRIES if is_loaded else 1):
            if not (ran := self._surroundings.run(*bootstrapping)).code:
                return ""
            self._surroundings.sleep(_WAIT_S)
        return ran.reason

    def switch_off(self) -> str:
        if not self._is_loaded():
            return ""
        (step,) = self.uninstall_steps()
        ran = self._surroundings.run(*step)
        return ran.reason if ran.code else ""

    def after_removal(self) -> None:
        """Nothing: launchd looks into its folders at login only."""

    def look(self) -> tuple[bool | None, bool | None, str]:
        ran = self._surroundings.run("launchctl", "print", self._target)
        found = re.search(r"^\s*state = (.+)$", ran.out, re.MULTILINE)
        state = found[1].strip() if found and not ran.code else "not loaded"
        return self._is_enabled(), state == "running", state

    def _is_loaded(self) -> bool:
        return not self._surroundings.run("launchctl", "print", self._target).code

    def _is_enabled(self) -> bool:
        """An agent whose file is there starts at login, unless it was switched off by name."""
        disabled = self._surroundings.run("launchctl", "print-disabled", self._domain).out
        is_off = re.search(rf'"{re.escape(self.name)}" => (disabled|true)', disabled)
        return self.path.is_file() and not is_off


def launchd_text(label: str, words: Sequence[str], environment: Mapping[str, str], log: Path) -> str:
    """The property list, with our mark as a comment; launchd.plist(5). ``log`` gets what is said before the watcher's own log."""
    import plistlib  # brings an XML parser along, which --help needs not wait for

    agent: dict[str, Any] = {
        "Label": label,
        "ProgramArguments": list(words),
        "EnvironmentVariables": dict(environment),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": RESTART_S,
        "ExitTimeOut": STOP_S,
        "ProcessType": "Background",
        "Nice": NICE,
        "LowPriorityIO": True,
        "StandardOutPath": "/dev/null",
        "StandardErrorPath": str(log),
    }
    try:
        text = plistlib.dumps(agent, sort_keys=False).decode("utf-8")
    except ValueError as error:  # control marks in a path, or a name that is no text
        raise ServiceUnavailable(reason=f"a property list cannot hold a path of this vault: {error}") from error
    return text.replace("<plist ", f"<!-- {MARK} -->\n<plist ", 1)
