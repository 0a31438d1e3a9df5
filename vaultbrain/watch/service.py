"""The watcher as a service of the person's own session: a systemd user unit on Linux, a launchd agent on macOS.

Its file is there whole and enabled, or not at all; a file of the same name that we did not write is never touched. Nothing secret
is ever written into it. Where there is no such service manager, ``ServiceUnavailable`` says what does the same.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from vaultbrain.errors import ServiceUnavailable, WriteFailed
from vaultbrain.settings import EMBEDDING_KEY_VARIABLE, TOKEN_VARIABLE
from vaultbrain.watch.launchd import LaunchdAgent
from vaultbrain.watch.session import MARK, NICE, carried, short_name, watch_words
from vaultbrain.watch.systemd import SystemdUnit
from vaultbrain.whole_file import write_whole

if TYPE_CHECKING:
    from vaultbrain.settings import Settings
    from vaultbrain.watch.session import Surroundings


_IN_A_TERMINAL = "Keep it running in a terminal: vaultbrain watch"
#: Where the session of each system takes variables from, that a service inherits.
_PLACES_FOR_KEYS = {
    "linux": "a line NAME=value in ~/.config/environment.d/vaultbrain.conf, and a new login",
    "darwin": "launchctl setenv NAME value, after each login",
}


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """``is_enabled`` and ``is_running`` are None where the service manager does not answer; ``problem`` says why.

    ``is_current``: an install now would write the same file. ``detail`` is the manager's own word, such as ``active (running)``.
    """

    manager: str
    name: str
    path: Path
    is_installed: bool
    is_current: bool
    is_enabled: bool | None
    is_running: bool | None
    detail: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Removed:
    """``problem``: why the service manager did not stop it; then it may still run until the session ends."""

    was_there: bool
    problem: str = ""


class Manager(Protocol):
    """One vault's service with one kind of service manager.

    ``..._steps`` are the commands, for people. ``trouble`` says why the service manager cannot be asked, ``switch_on`` and
    ``switch_off`` why it refused; empty when all is well. ``look`` gives enabled, running and the manager's own word.
    """

    kind: str
    name: str
    path: Path
    text: str

    def install_steps(self) -> tuple[tuple[str, ...], ...]: ...
    def uninstall_steps(self) -> tuple[tuple[str, ...], ...]: ...
    def trouble(self) -> str: ...
    def switch_on(self, *, is_new: bool) -> str: ...
    def switch_off(self) -> str: ...
    def after_removal(self) -> None: ...
    def look(self) -> tuple[bool | None, bool | None, str]: ...


def service_of(settings: Settings, surroundings: Surroundings) -> Service:
    """The service of this vault. Raises ``ServiceUnavailable`` on systems that have no service manager we know."""
    if not surroundings.executable:
        raise ServiceUnavailable(reason="it is not known which Python this is")
    if surroundings.platform.startswith("linux"):
        return Service(SystemdUnit(settings, surroundings), instead=_cron_line(settings, surroundings))
    if surroundings.platform == "darwin":
        return Service(LaunchdAgent(settings, surroundings), instead=_cron_line(settings, surroundings))
    if surroundings.platform == "win32":
        raise ServiceUnavailable(reason="Windows has none for a single person", next=_task_hint(settings, surroundings))
    raise ServiceUnavailable(
        reason=f"no service manager is known for {surroundings.platform}", next=_cron_line(settings, surroundings)
    )


class Service:
    """Installs, removes and looks; the same for every service manager. Each can be repeated safely."""

    def __init__(self, manager: Manager, *, instead: str) -> None:
        self.manager = manager
        self._instead = instead

    def is_installed(self) -> bool:
        """Whether our file is there. Raises ``ServiceUnavailable`` when someone else's stands where ours would."""
        return self._standing() is not None

    def install(self) -> bool:
        """Whether the file was written; False when it stood there already, in which case it is only made to count.

        Raises:
            ServiceUnavailable: the service manager does not answer or refuses, or someone else's file is there. All is as before.
            WriteFailed: the file cannot be written.
        """
        before = self._standing()
        if trouble := self.manager.trouble():
            raise ServiceUnavailable(reason=trouble, next=self._instead)
        is_new = before != self.manager.text
        if is_new:
            _write(self.manager.path, self.manager.text)
        if refusal := self.manager.switch_on(is_new=is_new):
            self._take_back(before)
            raise ServiceUnavailable(reason=refusal, next=self._instead)
        return is_new

    def _take_back(self, before: str | None) -> None:
        if before is None:
            self.uninstall()
        elif before != self.manager.text:
            _write(self.manager.path, before)
            self.manager.switch_on(is_new=True)

    def uninstall(self) -> Removed:
        """Stops it, and takes the file away also where the service manager does not answer.

        Raises ``ServiceUnavailable`` when the file is someone else's, ``WriteFailed`` when it cannot be removed.
        """
        if self._standing() is None:
            return Removed(was_there=False)
        problem = self.manager.switch_off()
        try:
            self.manager.path.unlink(missing_ok=True)
        except OSError as error:
            raise WriteFailed(path=self.manager.path, reason=error.strerror or str(error)) from error
        self.manager.after_removal()
        return Removed(was_there=True, problem=problem)

    def status(self) -> ServiceStatus:
        """What is there and whether it runs. Raises ``ServiceUnavailable`` when the file is someone else's."""
        standing, trouble = self._standing(), self.manager.trouble()
        enabled, running, detail = (None, None, "") if trouble else self.manager.look()
        return ServiceStatus(
            manager=self.manager.kind,
            name=self.manager.name,
            path=self.manager.path,
            is_installed=standing is not None,
            is_current=standing == self.manager.text,
            is_enabled=enabled,
            is_running=running,
            detail=detail,
            problem=trouble,
        )

    def _standing(self) -> str | None:
        """The text of our file, or None when nothing is there."""
        path = self.manager.path
        try:
            text = path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            if not path.is_symlink():
                return None
            text = ""
        except OSError as error:
            raise ServiceUnavailable(reason=f"{path} cannot be read: {error.strerror or error}") from error
        if MARK not in text:
            raise ServiceUnavailable(
                reason=f"{path} is there already and was not written by vaultbrain",
                next="Look into that file; move it away if nothing needs it, then run the same command again.",
            )
        return text


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise WriteFailed(path=path, reason=error.strerror or str(error)) from error


# where there is none, and what people should know


def _cron_line(settings: Settings, surroundings: Surroundings) -> str:
    given = [f"{name}={value}" for name, value in carried(surroundings.environment).items()]
    words = [*(["env", *given] if given else []), "nice", "-n", str(NICE), *watch_words(settings, surroundings.executable)]
    line = shlex.join(words).replace("%", "\\%")  # crontab(5)
    return f"{_IN_A_TERMINAL}\nOr start it with the machine, by this line in crontab -e:\n@reboot {line}"


def _task_hint(settings: Settings, surroundings: Surroundings) -> str:
    words = watch_words(settings, re.sub(r"python\.exe$", "pythonw.exe", surroundings.executable))
    quoted = " ".join(f'\\"{word}\\"' if re.search(r"[\s&()^,;=%]", word) else word for word in words)
    task = f'schtasks /Create /TN "vaultbrain-{short_name(settings.vault)}" /SC ONLOGON /RL LIMITED /TR "{quoted}"'
    return f"{_IN_A_TERMINAL}\nOr let the Task Scheduler start it at each login:\n{task}"


def notes_on(settings: Settings, surroundings: Surroundings) -> tuple[str, ...]:
    """What a person should know after an install, a sentence or two each. Names of variables only, never what is in them."""
    notes = _secrets_left_behind(settings, surroundings)
    if _is_temporary(surroundings):
        notes.append(
            f"{surroundings.executable} lies in a folder for temporary files: when that is emptied, the service stops working."
            " Install vaultbrain elsewhere and run this again."
        )
    if surroundings.platform.startswith("linux"):
        notes.append("It runs while you are logged in. To have it run without a login too: loginctl enable-linger")
    return tuple(notes)


def _secrets_left_behind(settings: Settings, surroundings: Surroundings) -> list[str]:
    environment, notes = surroundings.environment, []
    if environment.get(TOKEN_VARIABLE, "").strip() and not settings.token_file:
        notes.append(
            f"The service does not inherit {TOKEN_VARIABLE} from your shell. Put the token into a file that only you can read,"
            ' and name it in vaultbrain.toml: token_file = "~/.config/vaultbrain/token"'
        )
    keys = [settings.llm_api_key_env] if settings.llm_base_url else []
    keys += [EMBEDDING_KEY_VARIABLE] if settings.embedding.startswith("openai:") else []
    given = [name for name in sorted(set(keys)) if environment.get(name, "").strip()]
    if given:
        place = _PLACES_FOR_KEYS.get(surroundings.platform, "the environment of the service")
        notes.append(f"The service does not inherit {' and '.join(given)} from your shell. Where it can stand: {place}.")
    return notes


def _is_temporary(surroundings: Surroundings) -> bool:
    """Folders that are emptied at times; programs that run once from a cache are there as well."""
    import tempfile

    cache = surroundings.folder("XDG_CACHE_HOME", ".cache")
    folders = (Path(tempfile.gettempdir()), Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"), cache)  # noqa: S108
    return any(Path(surroundings.executable).is_relative_to(folder) for folder in folders)
