"""The watcher as a service: what stands in its file, what the service manager is told, and what is left when that goes wrong.

The service managers are small programs that write down what they were told; all else is real.
"""

from __future__ import annotations

import json
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from obsidian import hash_tree
from shell import SECRET, Shell

from vaultbrain.errors import ServiceUnavailable, explain
from vaultbrain.settings import Settings
from vaultbrain.watch.launchd import launchd_text
from vaultbrain.watch.pulse import only_watcher
from vaultbrain.watch.service import notes_on, service_of
from vaultbrain.watch.session import Surroundings
from vaultbrain.watch.systemd import systemd_text

if TYPE_CHECKING:
    from collections.abc import Sequence

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the service managers of these tests are shell scripts")
on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a command uses the service manager of its system")

#: Writes down what it is told; is away when there is a file ``away``; refuses the command that the file ``refuses`` names.
HEAD = """#!/bin/sh
here={folder}
echo "$*" >> "$here/calls"
if [ -e "$here/away" ]; then echo "Failed to connect to bus: No medium found." >&2; exit 1; fi
if [ -e "$here/refuses" ] && [ "$(cat "$here/refuses")" = "{command}" ]; then echo "Access denied" >&2; exit 5; fi
"""
SYSTEMCTL = """
case "$2" in
  enable) touch "$here/enabled"; [ "$3" != --now ] || touch "$here/active" ;;
  restart) touch "$here/active" ;;
  disable) rm -f "$here/enabled" "$here/active" ;;
  show)
    if [ -e "$here/active" ]; then echo ActiveState=active; echo SubState=running
    else echo ActiveState=inactive; echo SubState=dead; fi
    if [ -e "$here/enabled" ]; then echo UnitFileState=enabled; else echo UnitFileState=; fi ;;
esac
"""
#: Like the real one it forgets a service only some time after it was told to: at the third try of a bootstrap.
LAUNCHCTL = """
case "$1" in
  print)
    case "$2" in
      gui/*/*) [ -e "$here/loaded" ] || exit 113; echo "	state = running" ;;
    esac ;;
  print-disabled) [ ! -e "$here/disabled" ] || printf '	"%s" => disabled\\n' "$(cat "$here/disabled")" ;;
  bootstrap)
    if [ -e "$here/ending" ]; then
      if [ "$(wc -c < "$here/ending")" -ge 2 ]; then rm "$here/ending"; else printf x >> "$here/ending"; exit 5; fi
    fi
    [ ! -e "$here/loaded" ] || exit 5
    touch "$here/loaded" ;;
  bootout) [ -e "$here/loaded" ] || exit 3; rm "$here/loaded"; : > "$here/ending" ;;
esac
"""


class FarEnd:
    """A service manager that stands first on PATH."""

    def __init__(self, folder: Path, name: str, script: str, command: str) -> None:
        folder.mkdir()
        self.folder = folder
        program = folder / name
        program.write_text(HEAD.format(folder=shlex.quote(str(folder)), command=command) + script, encoding="utf-8")
        program.chmod(0o755)

    @property
    def path(self) -> str:
        return f"{self.folder}{os.pathsep}{os.environ['PATH']}"

    def mark(self, name: str, text: str = "") -> None:
        (self.folder / name).write_text(text, encoding="utf-8")

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()

    def take_calls(self) -> list[str]:
        """What it was told since the last time, without the questions."""
        path = self.folder / "calls"
        calls = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return [call.removeprefix("--user ") for call in calls if not re.match(r"(--user show|print)", call)]


@pytest.fixture
def systemd(tmp_path: Path) -> FarEnd:
    return FarEnd(tmp_path / "bin", "systemctl", SYSTEMCTL, "$2")


@pytest.fixture
def launchd(tmp_path: Path) -> FarEnd:
    return FarEnd(tmp_path / "bin", "launchctl", LAUNCHCTL, "$1")


@pytest.fixture
def shell(tmp_path: Path, systemd: FarEnd) -> Shell:
    home = tmp_path / "home"
    (home / "vault").mkdir(parents=True)
    (home / "vault" / "vaultbrain.toml").write_text('source = "http://127.0.0.1:1"\n', encoding="utf-8")
    return Shell(home, {"PATH": systemd.path}, (sys.executable, "-m", "vaultbrain"))


def unit_of(shell: Shell) -> Path:
    (unit,) = (shell.home / ".config" / "systemd" / "user").glob("vaultbrain-vault-*.service")
    return unit


def around(tmp_path: Path, platform: str, **environment: str) -> Surroundings:
    """A session without anything of the one that the tests run in."""
    environment = {"HOME": str(tmp_path / "home"), "PATH": "/nowhere", "XDG_CACHE_HOME": str(tmp_path / "cache")} | environment
    return Surroundings(environment, platform, "/opt/python/bin/python3", sleep=lambda seconds: None)


# systemd: installing and removing


@on_linux
def test_install_writes_enables_and_starts(shell: Shell, systemd: FarEnd) -> None:
    """One file, in the folder for the user's own units; enabled and running; and what to look at next."""
    done = shell("service", "install")
    assert done.code == 0, done.err
    unit = unit_of(shell)
    assert done.out == f"Wrote {unit}\nThe service is on. See how it is: vaultbrain service status\n"
    assert systemd.take_calls() == ["daemon-reload", f"enable {unit.name}", f"restart {unit.name}"]
    text = unit.read_text(encoding="utf-8")
    words = words_in(text, "ExecStart")
    assert [word.decode() for word in words] == [
        sys.executable, "-P", "-m", "vaultbrain", "watch", "--quiet", "--vault", str(shell.vault.resolve())
    ]  # fmt: skip
    assert [path.name for path in unit.parent.iterdir()] == [unit.name]


@on_linux
def test_install_twice_is_install_once(shell: Shell, systemd: FarEnd) -> None:
    """The file stays as it is, and a watcher that runs is not started anew."""
    shell("service", "install")
    before = hash_tree(shell.home), unit_of(shell).stat().st_mtime_ns
    systemd.take_calls()
    done = shell("service", "install")
    assert (done.code, done.out.splitlines()[0]) == (0, f"{unit_of(shell)} was up to date.")
    assert systemd.take_calls() == ["daemon-reload", f"enable --now {unit_of(shell).name}"]
    assert (hash_tree(shell.home), unit_of(shell).stat().st_mtime_ns) == before


@on_linux
def test_what_changed_is_brought_up_to_date(shell: Shell, systemd: FarEnd) -> None:
    """Status says that the file is an older one; an install writes it anew and starts the watcher anew."""
    shell("service", "install")
    text = unit_of(shell).read_text(encoding="utf-8")
    unit_of(shell).write_text(text.replace("Nice=", "#Nice="), encoding="utf-8")
    assert shell("service", "status", "--json").json["current"] is False
    systemd.take_calls()
    assert shell("service", "install", "--json").json["changed"] is True
    assert systemd.take_calls()[-1] == f"restart {unit_of(shell).name}"
    assert unit_of(shell).read_text(encoding="utf-8") == text
    assert shell("service", "status", "--json").json["current"] is True


@on_linux
def test_uninstall_leaves_nothing(shell: Shell, systemd: FarEnd) -> None:
    """Stopped, disabled, the file gone; a second time there is nothing to do."""
    shell("service", "install")
    unit = unit_of(shell)
    systemd.take_calls()
    assert shell("service", "uninstall").out == f"Removed {unit}\n"
    assert systemd.take_calls() == [f"disable --now {unit.name}", f"reset-failed {unit.name}", "daemon-reload"]
    assert (systemd.has("active"), systemd.has("enabled")) == (False, False)
    assert list(unit.parent.iterdir()) == []
    assert shell("service", "uninstall", "--dry-run").out == shell("service", "uninstall").out
    again = shell("service", "uninstall")
    assert (again.code, again.out) == (0, "Nothing to do: no service is installed for this vault.\n")
    assert systemd.take_calls() == []


@on_linux
def test_a_watcher_in_a_terminal_is_mentioned(shell: Shell) -> None:
    """The service waits for its end; with the service installed, the watcher that runs is its own."""
    with only_watcher(shell.home / "state"):
        assert f"note: Another watcher runs now, process {os.getpid()};" in shell("service", "install").err
        assert "Another watcher" not in shell("service", "install").err
    shell("service", "uninstall")
    assert "Another watcher" not in shell("service", "install").err


@on_linux
def test_a_service_can_outlive_its_vault_and_be_removed(shell: Shell, systemd: FarEnd) -> None:
    """The vault's path is enough; its settings may be broken or gone."""
    shell("service", "install")
    (shell.vault / "vaultbrain.toml").write_text("nonsense", encoding="utf-8")
    assert shell("service", "uninstall", "--dry-run").out.startswith("would remove ")
    shutil.rmtree(shell.vault)
    assert shell("service", "uninstall", "--vault", str(shell.vault), folder=shell.home).out.startswith("Removed ")
    assert shell("service", "uninstall", folder=shell.home).code == 2


@on_linux
def test_status_tells_what_is_so(shell: Shell, systemd: FarEnd) -> None:
    """Installed, enabled and running, each by itself; for people and for machines."""
    nothing = {
        "installed": False,
        "current": False,
        "enabled": False,
        "running": False,
        "detail": "inactive (dead)",
        "problem": "",
    }
    assert shell("service", "status", "--json").json.items() >= nothing.items()
    shell("service", "install")
    everything = {
        "installed": True,
        "current": True,
        "enabled": True,
        "running": True,
        "detail": "active (running)",
        "problem": "",
    }
    assert shell("service", "status", "--json").json.items() >= everything.items()
    (systemd.folder / "active").unlink()
    assert shell("service", "status").out == (
        f"service    {unit_of(shell).name} (systemd)\ninstalled  yes, {unit_of(shell)}\nenabled    yes\n"
        "running    no, inactive (dead)\n"
    )


@on_linux
@pytest.mark.parametrize("command", ["--print", "--dry-run"])
def test_looking_first_writes_nothing(shell: Shell, systemd: FarEnd, command: str) -> None:
    """Neither the file nor its folder, and the service manager is told nothing; it need not even be there."""
    before = hash_tree(shell.home)
    systemd.mark("away")
    done = shell("service", "install", command)
    assert done.code == 0
    assert hash_tree(shell.home) == before
    assert systemd.take_calls() == []
    assert ("ExecStart=" in done.out) == (command == "--print")
    assert ("would run systemctl --user enable --now" in done.out) == (command == "--dry-run")


@on_linux
def test_what_is_printed_is_what_is_installed(shell: Shell) -> None:
    """Byte for byte, also inside JSON."""
    printed, as_json = shell("service", "install", "--print").out, shell("service", "install", "--print", "--json").json["text"]
    shell("service", "install")
    assert unit_of(shell).read_text(encoding="utf-8") == printed == as_json


@on_linux
def test_the_file_goes_where_xdg_says(shell: Shell, tmp_path: Path) -> None:
    """A relative path in that variable does not count (XDG base directory specification)."""
    shell("service", "install", XDG_CONFIG_HOME=str(tmp_path / "config"))
    assert len(list((tmp_path / "config" / "systemd" / "user").iterdir())) == 1
    shell("service", "install", XDG_CONFIG_HOME="config")
    assert unit_of(shell).is_file()


# when it cannot be


@on_linux
def test_without_a_session_nothing_is_left_behind(shell: Shell, systemd: FarEnd) -> None:
    """In a container or by sudo there is no bus: the reason, and what does the same; no half-installed file."""
    before = hash_tree(shell.home)
    systemd.mark("away")
    done = shell("service", "install")
    assert (done.code, done.out) == (1, "")
    what, untouched, *instead = done.err.splitlines()
    assert what == "The background service cannot be set up: Failed to connect to bus: No medium found."
    assert untouched == "Nothing was changed."
    assert instead[0] == "Keep it running in a terminal: vaultbrain watch"
    assert instead[2].startswith("@reboot env ")
    assert shlex.split(instead[2])[-7:] == ["-P", "-m", "vaultbrain", "watch", "--quiet", "--vault", str(shell.vault)]
    assert hash_tree(shell.home) == before


@on_linux
def test_without_systemctl_status_still_tells_what_it_can(shell: Shell, tmp_path: Path) -> None:
    """The file is there or not; whether it runs is not known."""
    shell("service", "install")
    (tmp_path / "empty").mkdir()
    found = shell("service", "status", "--json", PATH=str(tmp_path / "empty")).json
    assert (found["installed"], found["enabled"], found["running"]) == (True, None, None)
    assert found["problem"] == "there is no systemctl"
    assert shell("service", "install", PATH=str(tmp_path / "empty")).err.startswith(
        "The background service cannot be set up: there is no systemctl.\n"
    )


@on_linux
def test_without_a_session_it_can_be_removed(shell: Shell, systemd: FarEnd) -> None:
    """The file and the link by which systemd starts it go; that it could not be stopped is said, with code 3."""
    shell("service", "install")
    unit = unit_of(shell)
    wants = unit.parent / "default.target.wants" / unit.name
    wants.parent.mkdir()
    wants.symlink_to(unit)
    systemd.mark("away")
    done = shell("service", "uninstall")
    assert (done.code, done.out) == (3, f"Removed {unit}\n")
    assert "note: systemd could not be told to stop it (Failed to connect to bus: No medium found)" in done.err
    assert not unit.exists()
    assert not wants.is_symlink()


@on_linux
@pytest.mark.parametrize("step", ["daemon-reload", "enable", "restart"])
def test_a_refused_step_takes_everything_back(shell: Shell, systemd: FarEnd, step: str) -> None:
    """The first install leaves no file, an update the file that stood there, and the service is as it was."""
    systemd.mark("refuses", step)
    done = shell("service", "install")
    assert (done.code, done.err.splitlines()[0]) == (1, "The background service cannot be set up: Access denied.")
    assert list((shell.home / ".config" / "systemd" / "user").iterdir()) == []
    assert not systemd.has("enabled") and not systemd.has("active")  # noqa: PT018
    (systemd.folder / "refuses").unlink()
    shell("service", "install")
    old = unit_of(shell).read_text(encoding="utf-8").replace("Nice=", "#Nice=")
    unit_of(shell).write_text(old, encoding="utf-8")
    systemd.mark("refuses", step)
    systemd.take_calls()
    assert shell("service", "install").code == 1
    assert systemd.take_calls().count("daemon-reload") == 2  # once for each of the two texts
    assert unit_of(shell).read_text(encoding="utf-8") == old
    assert systemd.has("enabled") and systemd.has("active")  # noqa: PT018


@on_linux
@pytest.mark.parametrize("kind", ["text", "masked", "broken link", "folder"])
def test_a_file_of_someone_else_is_never_touched(shell: Shell, systemd: FarEnd, kind: str) -> None:
    """Neither by install nor by uninstall, nor to find out how it is; also one that systemd masked."""
    shell("service", "install")
    unit = unit_of(shell)
    unit.unlink()
    if kind == "text":
        unit.write_text("[Service]\nExecStart=/bin/true\n", encoding="utf-8")
    elif kind == "folder":
        unit.mkdir()
    else:
        unit.symlink_to("/dev/null" if kind == "masked" else "nowhere")
    before = hash_tree(unit.parent), unit.lstat().st_ino
    systemd.take_calls()
    for words in (["install"], ["install", "--dry-run"], ["uninstall"], ["uninstall", "--dry-run"], ["status"]):
        done = shell("service", *words)
        assert done.code == 1, words
        assert str(unit) in done.err
    assert (hash_tree(unit.parent), unit.lstat().st_ino) == before
    assert systemd.take_calls() == []


@on_linux
def test_a_folder_that_cannot_be_made_is_a_failure_in_words(shell: Shell) -> None:
    """A file stands where the folder should be."""
    (shell.home / ".config").write_text("", encoding="utf-8")
    done = shell("service", "install")
    assert done.code == 1
    assert "systemd/user" in done.err


def test_windows_and_others_hear_what_to_do_instead(tmp_path: Path) -> None:
    """A line for the Task Scheduler with the paths quoted, without a console window; elsewhere a line for cron."""
    watched = Settings(vault=Path("C:/My Notes/記憶"))
    windows = replace(around(tmp_path, "win32"), executable="C:\\Program Files\\Python\\python.exe")
    with pytest.raises(ServiceUnavailable) as refused:
        service_of(watched, windows)
    task = explain(refused.value).next.splitlines()[-1]
    assert task.startswith('schtasks /Create /TN "vaultbrain-')
    assert task.endswith(
        '/TR "\\"C:\\Program Files\\Python\\pythonw.exe\\" -P -m vaultbrain watch --quiet --vault \\"C:/My Notes/記憶\\""'
    )
    with pytest.raises(ServiceUnavailable) as refused:
        service_of(Settings(vault=Path("/v/100% done")), around(tmp_path, "freebsd14"))
    line = explain(refused.value).next.splitlines()[-1]
    assert line.endswith("watch --quiet --vault '/v/100\\% done'")
    with pytest.raises(ServiceUnavailable, match="which Python"):
        service_of(watched, replace(windows, executable=""))


# systemd: the text


def words_in(text: str, key: str) -> list[bytes]:
    """The words of a line as systemd reads them (systemd.syntax(7), systemd.service(5)); every mark must be one that it knows."""
    (line,) = [line for line in text.split("\n") if line.startswith(f"{key}=")]
    quoted = re.findall(r'"((?:[^"\\]|\\.)*)"(?: |$)', line.partition("=")[2])
    assert " ".join(f'"{word}"' for word in quoted) == line.partition("=")[2]
    return [unescaped(word, variables=key == "ExecStart") for word in quoted]


def unescaped(word: str, *, variables: bool) -> bytes:
    found = b""
    for part in re.findall(r"\\x[0-9a-f]{2}|\\.|%.?|\$.?|[^\\%$]", word, re.DOTALL):
        if part.startswith("\\x"):
            found += bytes.fromhex(part[2:])
        elif part.startswith(("\\", "%")) or (variables and part.startswith("$")):
            assert part in ("\\\\", '\\"', "%%", "$$"), part
            found += part[1:].encode()
        else:
            found += os.fsencode(part)
    return found


anything = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)
bytes_in_paths = st.binary(max_size=12).map(lambda raw: os.fsdecode(raw.replace(b"\0", b"")))


@given(vault=anything | bytes_in_paths, value=anything)
@settings(deadline=None)
def test_systemd_reads_back_every_path(vault: str, value: str) -> None:
    """Spaces, quotes, backslashes, percent and dollar signs, line ends, any script and no script at all."""
    words = ("/usr/bin/python3", "--vault", f"/{vault}")
    text = systemd_text(Path(f"/{vault}"), words, {"VAULTBRAIN_STATE_DIR": value})
    assert words_in(text, "ExecStart") == [os.fsencode(word) for word in words]
    assert words_in(text, "Environment") == [f"VAULTBRAIN_STATE_DIR={value}".encode()]
    assert [line.partition("=")[0] for line in text.split("\n")] == [
        line.partition("=")[0] for line in systemd_text(Path("/v"), words, {"VAULTBRAIN_STATE_DIR": ""}).split("\n")
    ]
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff]", text)


@pytest.mark.parametrize("folder", ["plain", "with space", 'it\'s "x" $HOME %h \\ 記憶=a\nb'])
def test_any_executable_is_run(tmp_path: Path, folder: str) -> None:
    """Of the first word systemd resolves less than of the others; where that matters, a shell passes all words on as they are."""
    program = tmp_path / folder / "python"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nfor word in "$0" "$@"; do printf "%s\\0" "$word"; done\n', encoding="utf-8")
    program.chmod(0o755)
    words = (str(program), "-m", "$HOME ${x} %h 'a' \"b\" \\", "")
    run = words_in(systemd_text(tmp_path, words, {}), "ExecStart")
    assert (run[0] == b"/bin/sh") == (folder.startswith("it's"))
    assert subprocess.run(run, capture_output=True).stdout.decode().split("\0")[:-1] == list(words)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="this system has no systemd")
@pytest.mark.parametrize("folder", ["plain", "with space", 'it\'s "x" $HOME %h \\ 記憶'])
def test_systemd_itself_finds_nothing_to_complain_about(tmp_path: Path, folder: str) -> None:
    """Every key and value is known to it, the executable is found."""
    program = tmp_path / folder / "python"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n", encoding="utf-8")
    program.chmod(0o755)

    def complaints(text: str) -> list[str]:
        unit = tmp_path / "vaultbrain-test.service"
        unit.write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["systemd-analyze", "--user", "verify", str(unit)],
            capture_output=True,
            text=True,
            env=os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)},
        )
        return [line for line in (done.stdout + done.stderr).splitlines() if "vaultbrain-test" in line]

    text = systemd_text(program.parent, (str(program), "watch", "--vault", str(program.parent)), {"A": "100 % \"'\\$"})
    assert complaints(text) == []
    assert complaints(text.replace("Nice=10", "Nice=lots"))
    assert complaints(text.replace("/python", "/nothing")) or folder.startswith("it's")


# launchd


def test_launchd_gets_the_agent_and_starts_it(tmp_path: Path, launchd: FarEnd) -> None:
    """A property list in the folder for the user's agents, bootstrapped into the graphical session; twice is once."""
    service = service_of(Settings(vault=Path("/v/My Vault")), around(tmp_path, "darwin", PATH=launchd.path))
    path = service.manager.path
    assert path.parent == tmp_path / "home" / "Library" / "LaunchAgents"
    assert service.install()
    domain = f"gui/{os.getuid()}"
    assert launchd.take_calls() == [f"enable {domain}/{path.stem}", f"bootstrap {domain} {path}"]
    agent = plistlib.loads(path.read_bytes())
    assert agent["Label"] == path.stem
    assert agent["ProgramArguments"] == [
        "/opt/python/bin/python3", "-P", "-m", "vaultbrain", "watch", "--quiet", "--vault", "/v/My Vault"
    ]  # fmt: skip
    assert not service.install()
    assert launchd.take_calls() == []
    found = service.status()
    assert (found.is_installed, found.is_current, found.is_enabled, found.is_running) == (True, True, True, True)
    launchd.mark("disabled", path.stem)
    assert service.status().is_enabled is False


def test_launchd_is_given_time_to_forget(tmp_path: Path, launchd: FarEnd) -> None:
    """A changed agent is stopped, and bootstrapped again as soon as launchd takes it; a removed one leaves nothing."""
    service = service_of(Settings(vault=Path("/v")), around(tmp_path, "darwin", PATH=launchd.path))
    service.install()
    service.manager.path.write_text(service.manager.text.replace("<integer>10<", "<integer>5<"), encoding="utf-8")
    launchd.take_calls()
    assert service.install()
    assert [call.split()[0] for call in launchd.take_calls()] == ["bootout", "enable", "bootstrap", "bootstrap", "bootstrap"]
    assert service.status().is_running
    assert service.uninstall().was_there
    assert not service.manager.path.exists()
    assert not launchd.has("loaded")
    assert not service.uninstall().was_there
    found = service.status()
    assert (found.is_installed, found.is_enabled, found.is_running, found.detail) == (False, False, False, "not loaded")


def test_launchd_that_refuses_leaves_nothing(tmp_path: Path, launchd: FarEnd) -> None:
    """Without a graphical session, and when it does not take the agent."""
    service = service_of(Settings(vault=Path("/v")), around(tmp_path, "darwin", PATH=launchd.path))
    launchd.mark("refuses", "bootstrap")
    with pytest.raises(ServiceUnavailable, match="Access denied"):
        service.install()
    launchd.mark("away")
    with pytest.raises(ServiceUnavailable, match="No medium"):
        service.install()
    assert not service.manager.path.exists()
    assert service.status().is_running is None


@given(vault=st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufffe\uffff"), max_size=30))
@settings(deadline=None)
def test_launchd_reads_back_every_path(vault: str) -> None:
    """Markup and any script survive; the agent comes back after a failure only, and not more often than it should."""
    text = launchd_text("x", ("/p", "--vault", f"/{vault}"), {"A": vault}, Path("/log"))
    agent = plistlib.loads(text.encode("utf-8"))
    assert agent["ProgramArguments"][-1] == f"/{vault}"
    assert agent["EnvironmentVariables"] == {"A": vault}
    assert agent["KeepAlive"] == {"SuccessfulExit": False}
    assert agent["ThrottleInterval"] == 30
    assert agent["RunAtLoad"] is True


def test_a_path_that_no_property_list_can_hold_is_refused(tmp_path: Path) -> None:
    """In words, before anything is written."""
    with pytest.raises(ServiceUnavailable, match="property list"):
        service_of(Settings(vault=Path("/a\x01b")), around(tmp_path, "darwin"))


# names, environment, secrets


def names(tmp_path: Path, vaults: Sequence[str]) -> list[str]:
    return [service_of(Settings(vault=Path(vault)), around(tmp_path, "linux")).manager.name for vault in vaults]


def test_each_vault_has_a_service_of_its_own(tmp_path: Path) -> None:
    """Also vaults of the same name, of no Latin name, of a very long one; every name is one that systemd takes."""
    found = names(tmp_path, ["/a/Notes", "/b/Notes", "/a/記憶", "/a/筆記", "/a/" + "x" * 200, "/a/x y%$'\"\\\n@", "/a/\udcff"])
    assert len(set(found)) == len(found)
    assert all(re.fullmatch(r"vaultbrain-[a-z0-9-]{10,60}\.service", name) for name in found)
    assert found[0].startswith("vaultbrain-notes-")
    assert names(tmp_path, ["/a/Notes"]) == found[:1]


def test_settings_of_the_shell_go_along_and_secrets_do_not(tmp_path: Path) -> None:
    """Else the service would work on another state, or with another model; but no token or key is ever written down."""
    given = {
        "VAULTBRAIN_STATE_DIR": "/s",
        "VAULTBRAIN_EMBEDDING": "openai:x",
        "VAULTBRAIN_LLM_BASE_URL": "http://127.0.0.1:1",
        "VAULTBRAIN_EMBEDDING_API_KEY": SECRET,
        "VAULTBRAIN_LLM_API_KEY": SECRET,
        "CFLOW_API_TOKEN": SECRET,
        "HTTPS_PROXY": f"http://me:{SECRET}@127.0.0.1",
        "TZ": "Asia/Shanghai",
        "VAULTBRAIN_FOLDER": "",
        "PYTHONPATH": f"here{os.pathsep}/there",
    }
    for platform in ("linux", "darwin"):
        text = service_of(Settings(vault=Path("/v")), around(tmp_path, platform, **given)).manager.text
        assert SECRET not in text
        assert "VAULTBRAIN_FOLDER" not in text
        assert all(name in text for name in ("VAULTBRAIN_STATE_DIR", "VAULTBRAIN_EMBEDDING", "VAULTBRAIN_LLM_BASE_URL", "TZ"))
        assert f"{Path('here').absolute()}{os.pathsep}/there" in text


def test_a_token_that_only_the_shell_knows_is_mentioned(tmp_path: Path) -> None:
    """By its name and with what to do; not when there is a token file, and not what it is."""
    session = around(
        tmp_path, "linux", CFLOW_API_TOKEN=SECRET, VAULTBRAIN_LLM_API_KEY=SECRET, VAULTBRAIN_EMBEDDING_API_KEY=SECRET
    )
    watched = Settings(vault=Path("/v"))
    first, linger = notes_on(watched, session)
    assert "CFLOW_API_TOKEN" in first
    assert "token_file" in first
    assert linger.endswith("loginctl enable-linger")
    assert notes_on(replace(watched, token_file="t"), session) == (linger,)
    assert notes_on(watched, around(tmp_path, "linux")) == (linger,)
    (keys,) = notes_on(
        replace(watched, token_file="t", llm_base_url="http://127.0.0.1:1", embedding="openai:x"),
        replace(session, platform="darwin"),
    )
    assert "VAULTBRAIN_EMBEDDING_API_KEY and VAULTBRAIN_LLM_API_KEY" in keys
    assert SECRET not in first + keys


def test_a_temporary_python_is_mentioned(tmp_path: Path) -> None:
    """One in a folder for temporary files or in a cache will be gone one day, and the service with it."""
    session = around(tmp_path, "darwin")
    watched = Settings(vault=Path("/v"))
    assert notes_on(watched, session) == ()
    for executable in ("/tmp/x/bin/python", f"{tmp_path}/cache/archive/bin/python"):
        (note,) = notes_on(watched, replace(session, executable=executable))
        assert executable in note


@on_linux
def test_what_to_know_is_said_after_an_install(shell: Shell) -> None:
    """On stderr for people, in the document for machines; the shell has the token in its environment."""
    done = shell("service", "install")
    assert "note: The service does not inherit CFLOW_API_TOKEN from your shell." in done.err
    assert any("enable-linger" in note for note in shell("service", "install", "--json").json["notes"])
    with (shell.vault / "vaultbrain.toml").open("a", encoding="utf-8") as file:
        file.write('token_file = "~/token"\n')
    assert "CFLOW_API_TOKEN" not in shell("service", "install").err
    assert SECRET not in json.dumps(hash_tree(shell.home)) + unit_of(shell).read_text(encoding="utf-8")


@on_linux
def test_the_package_can_be_run_by_its_name(shell: Shell) -> None:
    """``python -m vaultbrain`` is the command, also in a folder that holds something of that name."""
    (shell.home / "vaultbrain.py").write_text("raise SystemExit(9)\n", encoding="utf-8")
    safe = replace(shell, command=(sys.executable, "-P", "-m", "vaultbrain"))
    assert safe("--version", folder=shell.home).out.startswith("vaultbrain ")
