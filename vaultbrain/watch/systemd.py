"""The watcher as a unit of the user's own systemd: what stands in it, and the commands that make it count."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from vaultbrain.watch.session import MARK, NICE, RESTART_S, STOP_S, carried, short_name, watch_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from vaultbrain.settings import Settings
    from vaultbrain.watch.session import Surroundings

#: What a watcher that was told to stop ends with.
_INTERRUPTED = 130
#: An executable that systemd takes as it stands. It resolves no ``$`` in it, and refuses some marks whatever way they are quoted.
_PLAIN_PATH = re.compile(r"/[\w/.+@:=,~ -]+", re.ASCII)
_RUN_ARGUMENTS = ("/bin/sh", "-c", 'exec "$0" "$@"')
#: What no line of a unit may hold as it is: control marks, and bytes of a path that are not UTF-8.
_NOT_IN_A_LINE = re.compile(r"[\x00-\x1f\x7f\udc80-\udcff]")


class SystemdUnit:
    """A unit of the user's own systemd."""

    kind = "systemd"

    def __init__(self, settings: Settings, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self.name = f"vaultbrain-{short_name(settings.vault)}.service"
        self._folder = surroundings.folder("XDG_CONFIG_HOME", ".config") / "systemd" / "user"
        self.path = self._folder / self.name
        self.text = systemd_text(
            settings.vault, watch_words(settings, surroundings.executable), carried(surroundings.environment)
        )

    def install_steps(self) -> tuple[tuple[str, ...], ...]:
        return (_systemctl("daemon-reload"), _systemctl("enable", "--now", self.name))

    def uninstall_steps(self) -> tuple[tuple[str, ...], ...]:
        return (_systemctl("disable", "--now", self.name), _systemctl("daemon-reload"))

    def trouble(self) -> str:
        ran = self._surroundings.run(*_systemctl("show", "--property=Version"))
        return ran.reason if ran.code else ""

    def switch_on(self, *, is_new: bool) -> str:
        """Why it refused, or empty. A running watcher of an older text is started anew."""
        reread, enable = self.install_steps()
        steps = [reread, _systemctl("enable", self.name), _systemctl("restart", self.name)] if is_new else [reread, enable]
        for step in steps:
            if (ran := self._surroundings.run(*step)).code:
                return ran.reason
        return ""

    def switch_off(self) -> str:
        ran = self._surroundings.run(*_systemctl("disable", "--now", self.name))
        self._surroundings.run(*_systemctl("reset-failed", self.name))
        with suppress(OSError):  # where no systemd answered
            (self._folder / "default.target.wants" / self.name).unlink(missing_ok=True)
        return ran.reason if ran.code else ""

    def after_removal(self) -> None:
        self._surroundings.run(*_systemctl("daemon-reload"))

    def look(self) -> tuple[bool | None, bool | None, str]:
        wanted = "ActiveState,SubState,UnitFileState"
        ran = self._surroundings.run(*_systemctl("show", self.name, f"--property={wanted}"))
        found = dict(line.split("=", 1) for line in ran.out.splitlines() if "=" in line)
        active = found.get("ActiveState", "")
        return found.get("UnitFileState") == "enabled", active == "active", f"{active} ({found.get('SubState', '')})"


def _systemctl(*words: str) -> tuple[str, ...]:
    return ("systemctl", "--user", *words)


def systemd_text(vault: Path, words: Sequence[str], environment: Mapping[str, str]) -> str:
    """The unit: ``words`` run at every login, and again after a failure. See systemd.syntax(7) and systemd.service(5)."""
    if not _PLAIN_PATH.fullmatch(words[0]):
        words = (*_RUN_ARGUMENTS, *words)
    settings = [f"Environment={_systemd_quoted(f'{name}={value}')}" for name, value in environment.items()]
    return "\n".join([
        f"# {MARK}",
        "[Unit]",
        f"Description=vaultbrain watches {_one_line(str(vault)).replace('%', '%%')}",
        "",
        "[Service]",
        "Type=exec",
        f"ExecStart={' '.join(_systemd_quoted(word).replace('$', '$$') for word in words)}",
        *settings,
        "Restart=on-failure",
        f"RestartSec={RESTART_S}",
        f"SuccessExitStatus={_INTERRUPTED}",
        f"TimeoutStopSec={STOP_S}",
        f"Nice={NICE}",
        "IOSchedulingPriority=7",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ])  # fmt: skip


def _systemd_quoted(word: str) -> str:
    r"""In double quotes; ``%`` begins a specifier, ``\`` an escape; control marks, and bytes that are not UTF-8, as ``\xHH``."""
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return '"' + _NOT_IN_A_LINE.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", escaped) + '"'


def _one_line(text: str) -> str:
    """For people; a backslash at its end would join the next line."""
    return _NOT_IN_A_LINE.sub("?", text).rstrip("\\")
