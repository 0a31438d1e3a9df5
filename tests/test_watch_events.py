"""The watcher's ears, with real files and the system's own observer: what wakes it, what does not, and what it does when deaf.

A condition is waited for, never a time. That something wakes nobody is shown by a later change that does: events come in order.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import subprocess
import sys
import threading
import time
import unicodedata
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from vaultbrain.errors import VaultAway
from vaultbrain.watch.events import VaultEvents
from vaultbrain.watch.paths import Layout
from vaultbrain.watch.scan import difference, scan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

USUAL = Layout()
needs_inotify = pytest.mark.skipif(sys.platform != "linux", reason="a limit of Linux")
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")

#: Seconds; reached only by a test that fails.
PATIENCE_S = 20.0


class Listener:
    """A worker that takes what it is woken for."""

    def __init__(self, root: Path, layout: Layout = USUAL, **options: object) -> None:
        self.woken = threading.Event()
        self.wakes = 0
        self.paths: set[str] = set()
        self.rescans = 0
        self.events = VaultEvents(root, layout, self.wake, **options)  # type: ignore[arg-type]

    def wake(self) -> None:
        self.wakes += 1
        self.woken.set()

    def take(self) -> None:
        self.woken.clear()
        noticed = self.events.take()
        self.paths |= noticed.paths
        self.rescans += noticed.rescan

    def wait_until(self, holds: Callable[[], bool], what: str = "") -> None:
        """Takes whatever comes until ``holds``."""
        patience = time.monotonic() + PATIENCE_S
        while True:
            self.take()
            if holds():
                return
            assert time.monotonic() < patience, f"{what or 'it'} did not happen; noticed: {sorted(self.paths)}, {self.rescans}"
            self.woken.wait(0.02)

    def wait_for(self, *paths: str) -> None:
        self.wait_until(lambda: self.paths >= set(paths), f"notice of {paths}")

    def wait_for_rescan(self) -> None:
        self.wait_until(lambda: self.rescans > 0, "rescan")

    def settle(self, root: Path) -> None:
        """Everything before this is noticed, or never will be."""
        number = len(list(root.glob("sentinel-*.md")))
        write(root / f"sentinel-{number}.md")
        self.wait_for(f"sentinel-{number}.md")
        self.paths -= {f"sentinel-{number}.md"}

    def forget(self) -> None:
        self.take()
        self.paths, self.rescans = set(), 0


def write(path: Path, text: str = "text") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "home" / "vault"
    write(root / "vaultbrain.toml")
    write(root / "note.md", "old text")
    write(root / "CFlow" / "Memos" / "m (2).md", "old text")
    write(root / ".obsidian" / "workspace.json", "{}")
    return root


@pytest.fixture
def listen(vault: Path) -> Iterator[Callable[..., Listener]]:
    """Starts a listener; all are stopped in the end."""
    started = []

    def start(root: Path = vault, **options: object) -> Listener:
        listener = Listener(root, **options)  # type: ignore[arg-type]
        listener.events.start()
        started.append(listener)
        return listener

    yield start
    for listener in started:
        listener.events.stop()
    assert not [thread for thread in threading.enumerate() if type(thread).__module__.startswith("watchdog")]


def save_in_parts(note: Path, _: Path) -> None:
    with note.open("w", encoding="utf-8") as file:
        for part in ("the ", "heron ", "stands"):
            file.write(part)
            file.flush()
            time.sleep(0.3)


def save_by_rename(note: Path, _: Path) -> None:
    write(note.with_name(f".{note.name}.swp-x"), "heron").replace(note)


def save_like_vim(note: Path, _: Path) -> None:
    backup = note.with_name(f"{note.name}~")
    note.rename(backup)
    write(note, "heron")
    backup.unlink()


def save_from_outside(note: Path, outside: Path) -> None:
    write(outside / "note.tmp", "heron").replace(note)


def touch_only(note: Path, _: Path) -> None:
    os.utime(note)


def delete_and_create(note: Path, _: Path) -> None:
    note.unlink()
    time.sleep(0.5)
    write(note, "heron")


def save_often(note: Path, _: Path) -> None:
    for number in range(20):
        write(note, f"heron {number}")
        time.sleep(0.1)


@pytest.mark.parametrize(
    "save", [save_in_parts, save_by_rename, save_like_vim, save_from_outside, touch_only, delete_and_create, save_often]
)
def test_every_way_of_saving_is_noticed(
    vault: Path, tmp_path: Path, listen: Callable[..., Listener], save: Callable[[Path, Path], None]
) -> None:
    """The note's path and no other, whatever the editor or sync program did on the way; and its last state is noticed, too."""
    before = scan(vault, USUAL)
    listener = listen()
    taking = threading.Thread(target=save, args=(vault / "CFlow/Memos/m (2).md", tmp_path))
    taking.start()
    taking.join()
    listener.settle(vault)
    assert listener.paths == {"CFlow/Memos/m (2).md"}
    assert not listener.rescans
    (vault / "sentinel-0.md").unlink()
    assert difference(before, scan(vault, USUAL)).changed == ("CFlow/Memos/m (2).md",)


def test_a_note_that_is_written_in_parts_is_noticed_after_its_last(vault: Path, listen: Callable[..., Listener]) -> None:
    """Whoever took the path half-way is told again: a half-written state is not what stays."""
    listener = listen()
    with (vault / "note.md").open("w", encoding="utf-8") as file:
        file.write("half")
        file.flush()
        listener.wait_for("note.md")
        listener.forget()
        file.write(" and whole")
    listener.wait_for("note.md")


def test_new_deleted_and_renamed_notes_are_noticed(vault: Path, listen: Callable[..., Listener]) -> None:
    """A rename by both names, also when only the case changes."""
    write(vault / "case.md")
    listener = listen()
    write(vault / "新.md")
    listener.wait_for("新.md")
    (vault / "新.md").rename(vault / "CFlow" / "moved.md")
    listener.wait_for("CFlow/moved.md")
    (vault / "note.md").unlink()
    (vault / "case.md").rename(vault / "Case.md")
    listener.wait_for("note.md", "case.md", "Case.md")
    assert listener.paths == {"新.md", "CFlow/moved.md", "note.md", "case.md", "Case.md"}


def test_settings_and_word_list_are_noticed(vault: Path, listen: Callable[..., Listener]) -> None:
    """The only files besides notes that matter to the watcher."""
    listener = listen()
    write(vault / "CFlow" / "lexicon.toml")
    write(vault / "vaultbrain.toml", "# changed")
    listener.wait_for("vaultbrain.toml", "CFlow/lexicon.toml")


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_a_name_is_told_as_it_stands_on_disk(vault: Path, listen: Callable[..., Listener], form: str) -> None:
    """In whatever Unicode form, as a scan names it."""
    listener = listen()
    write(vault / f"{unicodedata.normalize(form, 'café 觀影')}.md")
    listener.settle(vault)
    assert listener.paths == set(scan(vault, USUAL)) - {"CFlow/Memos/m (2).md", "note.md", "sentinel-0.md", "vaultbrain.toml"}


def test_what_is_not_ours_to_see_wakes_nobody(vault: Path, listen: Callable[..., Listener]) -> None:
    """Obsidian's own state, git, sync programs, databases in the vault, temporary files and attachments, in new folders, too."""
    write(vault / "state" / "catalog.sqlite3")
    write(vault / "LICENSE")
    listener = listen(layout=Layout(state="state"))
    for number in range(20):
        write(vault / ".obsidian" / "workspace.json", f"{{{number}}}")
        write(vault / "state" / "watch.log", str(number))
    write(vault / ".git" / "objects" / "ab" / "cd.md")
    write(vault / ".stversions" / "a.md")
    shutil.rmtree(vault / ".stversions")
    write(vault / "state" / "chroma" / "g2" / "x.md")
    write(vault / ".note.md.swp-x").rename(vault / "note.md~")
    write(vault / "CFlow" / "Memos" / ".vaultbrain-00.tmp").unlink()
    write(vault / "CFlow" / "picture.png").unlink()
    with (vault / "LICENSE").open("a", encoding="utf-8") as file:
        file.write("more")
    write(vault / "note (conflicted copy 2026-11-30 101112).md")
    assert listener.wakes == 0
    listener.settle(vault)
    assert listener.paths == set()
    assert listener.rescans == 0


def test_reading_wakes_nobody(vault: Path, listen: Callable[..., Listener]) -> None:
    """Our own scans, and whoever else opens notes: the scan's reads must not start the next scan."""
    listener = listen()
    for _ in range(5):
        scan(vault, USUAL)
        for path in vault.rglob("*.md"):
            path.read_bytes()
    assert listener.wakes == 0
    listener.settle(vault)
    assert listener.paths == set()
    assert listener.rescans == 0


def test_the_worker_is_woken_once_until_it_takes(vault: Path, listen: Callable[..., Listener]) -> None:
    """However many events there are; and again after it took."""
    listener, other = listen(), listen()
    for number in range(50):
        write(vault / f"{number}.md")
    other.settle(vault)  # and so has the first one had its turn
    assert listener.woken.wait(PATIENCE_S)
    assert listener.wakes == 1
    listener.wait_for("sentinel-0.md", *(f"{number}.md" for number in range(50)))
    wakes = listener.wakes
    write(vault / "note.md", "new text")
    assert listener.woken.wait(PATIENCE_S)
    assert listener.wakes > wakes


def test_nothing_is_lost_between_takes(vault: Path, listen: Callable[..., Listener]) -> None:
    """A worker that takes all the time while 2,000 notes are written has all of them in the end."""
    listener = listen()
    writer = threading.Thread(target=lambda: [write(vault / f"d{n % 7}" / f"{n}.md") for n in range(2_000)])
    writer.start()
    listener.wait_until(lambda: not writer.is_alive())
    listener.settle(vault)
    assert {path for path in listener.paths if path.startswith("d")} == {f"d{n % 7}/{n}.md" for n in range(2_000)}


@pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")
def test_a_checkout_of_500_changed_notes_is_noticed_whole(vault: Path, listen: Callable[..., Listener]) -> None:
    """All of them, nothing of the repository itself; and two scans differ in exactly these."""

    def git(*words: str) -> None:
        identity = ("-c", "user.name=n", "-c", "user.email=n@example.com", "-c", "commit.gpgsign=false")
        subprocess.run(["git", *identity, *words], cwd=vault, check=True, capture_output=True)

    notes = [f"日记/{number}.md" for number in range(500)]
    git("-c", "init.defaultBranch=main", "init")
    for version in ("first", "second!"):
        for path in notes:
            write(vault / path, f"{version} {path}")
        git("add", ".")
        git("commit", "-m", version)
    before = scan(vault, USUAL)
    listener = listen()
    git("checkout", "HEAD~1")
    listener.settle(vault)
    assert listener.paths == set(notes)
    (vault / "sentinel-0.md").unlink()
    assert difference(before, scan(vault, USUAL)) == difference({}, {path: scan(vault, USUAL)[path] for path in notes})


def test_folders_that_come_go_and_move_ask_for_a_scan(vault: Path, tmp_path: Path, listen: Callable[..., Listener]) -> None:
    """Of the files in them not all are told, of those in a folder that was moved out none; later ones in them are."""
    for number in range(3):
        write(tmp_path / "outside" / "deep" / f"{number}.md")
    listener = listen()
    shutil.move(tmp_path / "outside", vault / "inside")
    listener.wait_for_rescan()
    listener.forget()
    write(vault / "inside" / "deep" / "later.md")
    listener.wait_for("inside/deep/later.md")
    listener.forget()
    (vault / "inside").rename(vault / "renamed")
    listener.wait_for_rescan()
    listener.forget()
    write(vault / "renamed" / "deep" / "latest.md")
    listener.wait_for("renamed/deep/latest.md")
    listener.forget()
    shutil.move(vault / "renamed", tmp_path / "outside")
    listener.wait_for_rescan()
    listener.forget()
    write(vault / "a" / "b" / "c" / "new.md")
    listener.wait_until(lambda: listener.rescans > 0 and "a/b/c/new.md" in listener.paths)
    shutil.rmtree(vault / "a")
    listener.settle(vault)
    assert listener.events.is_alive


def test_a_known_folder_that_is_moved_in_raises_no_warning(vault: Path, tmp_path: Path, listen: Callable[..., Listener]) -> None:
    """watchdog warns in its own threads, with ten kilobytes for each folder; as an error that would end them."""
    write(tmp_path / "outside" / "deep" / "x.md")
    listener = listen()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        listener.events.restart()
        for _ in range(3):
            shutil.move(tmp_path / "outside", vault / "inside")
            listener.settle(vault)
            shutil.move(vault / "inside", tmp_path / "outside")
            listener.settle(vault)
    assert caught == []
    with pytest.warns(RuntimeWarning, match="other"):
        warnings.warn("other", RuntimeWarning, stacklevel=1)


@needs_links
def test_a_linked_vault_is_heard(vault: Path, tmp_path: Path, listen: Callable[..., Listener]) -> None:
    """Under the paths that a scan of it gives."""
    (tmp_path / "link").symlink_to(vault)
    listener = listen(tmp_path / "link")
    write(vault / "note.md", "new text")
    listener.wait_for("note.md")
    (tmp_path / "link" / "日记").mkdir()
    write(tmp_path / "link" / "日记" / "x.md")
    listener.wait_until(lambda: listener.rescans > 0)
    listener.settle(vault)
    assert listener.paths == {"note.md", "日记/x.md"}


@needs_links
def test_linked_folders_are_heard(vault: Path, tmp_path: Path, listen: Callable[..., Listener]) -> None:
    """Those that were there, and one that is linked later, once the scan that it asks for was taken up. Circles do no harm."""
    write(tmp_path / "shared" / "deep" / "x.md")
    write(tmp_path / "later" / "y.md")
    (vault / "shared").symlink_to(tmp_path / "shared")
    (vault / "circle").symlink_to(vault)
    listener = listen()
    write(tmp_path / "shared" / "deep" / "x.md", "new text")
    listener.wait_for("shared/deep/x.md")
    (vault / "later").symlink_to(tmp_path / "later")
    listener.wait_for_rescan()
    write(tmp_path / "later" / "y.md", "new text")
    listener.wait_for("later/y.md")
    assert listener.events.is_alive


def test_lost_events_ask_for_a_scan(vault: Path, listen: Callable[..., Listener], capsys: pytest.CaptureFixture[str]) -> None:
    """And for a new start. watchdog tells of an overflow by its log alone; nothing is printed of it."""
    listener = listen()
    logging.getLogger("watchdog.observers.inotify_c").info("of no importance")
    listener.take()
    assert listener.rescans == 0
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    listener.wait_for_rescan()
    assert not listener.events.is_alive
    assert capsys.readouterr() == ("", "")
    listener.events.stop()
    assert logging.getLogger("watchdog").handlers == []


@needs_inotify
def test_a_queue_that_overflows_asks_for_a_scan(vault: Path, listen: Callable[..., Listener]) -> None:
    """With more events than the system keeps while the observer gets no turn; started anew, all is heard again."""
    limit = int(Path("/proc/sys/fs/inotify/max_queued_events").read_text())
    if limit > 40_000:
        pytest.skip("the queue here is too long to be filled quickly")
    listener = listen()
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)  # other threads get no turn but at a blocking call, and these system calls keep theirs short
    try:
        flood = subprocess.Popen([sys.executable, "-c", FLOOD, str(vault), str(limit)])
        while flood.poll() is None:
            sum(range(2_000_000))
    finally:
        sys.setswitchinterval(interval)
    assert flood.returncode == 0
    listener.wait_for_rescan()
    assert not listener.events.is_alive
    listener.events.restart()
    listener.settle(vault)
    assert listener.events.is_alive


#: Two names in turn, since equal events that follow each other count once.
FLOOD = """
import os, sys
files = [os.open(os.path.join(sys.argv[1], name), os.O_WRONLY | os.O_CREAT) for name in ("a.md", "b.md")]
for _ in range(int(sys.argv[2])):
    for file in files:
        os.write(file, b"x")
"""


def test_a_vault_that_is_moved_away_and_back_is_heard_again(vault: Path, tmp_path: Path, listen: Callable[..., Listener]) -> None:
    """Moved, it is away and known to be deaf; back again and started anew, all is noticed."""
    listener = listen()
    assert listener.events.is_alive
    vault.rename(tmp_path / "moved")
    listener.wait_until(lambda: not listener.events.is_alive)
    with pytest.raises(VaultAway):
        listener.events.restart()
    assert not listener.events.is_alive
    write(tmp_path / "moved" / "new folder" / "x.md")
    (tmp_path / "moved").rename(vault)
    listener.events.restart()
    assert listener.events.is_alive
    listener.wait_for_rescan()
    write(vault / "new folder" / "x.md", "new text")
    listener.wait_for("new folder/x.md")


def test_another_vault_in_its_place_is_noticed(vault: Path, tmp_path: Path, listen: Callable[..., Listener]) -> None:
    """The old one goes on being heard under a wrong name; so this one asks for a scan and a new start."""
    listener = listen()
    vault.rename(tmp_path / "old")
    write(vault / "vaultbrain.toml")
    listener.wait_until(lambda: not listener.events.is_alive)
    if sys.platform == "linux":
        listener.wait_for_rescan()
    listener.events.restart()
    listener.settle(vault)
    assert listener.events.is_alive


def test_a_vault_that_is_deleted_and_made_anew_is_heard_again(vault: Path, listen: Callable[..., Listener]) -> None:
    """Deleted, watchdog falls silent and says nothing."""
    listener = listen()
    shutil.rmtree(vault)
    listener.wait_until(lambda: not listener.events.is_alive)
    listener.wait_for_rescan()
    write(vault / "vaultbrain.toml")
    listener.wait_until(lambda: not listener.events.is_alive)  # it may well have the old one's number in the file system
    listener.events.restart()
    listener.settle(vault)
    assert listener.events.is_alive


@needs_links
def test_a_link_that_leads_to_another_vault_is_noticed(vault: Path, tmp_path: Path, listen: Callable[..., Listener]) -> None:
    """Turned round in one step, as a deployment does it."""
    write(tmp_path / "other" / "vaultbrain.toml")
    (tmp_path / "link").symlink_to(vault)
    listener = listen(tmp_path / "link")
    (tmp_path / "link 2").symlink_to(tmp_path / "other")
    (tmp_path / "link 2").replace(tmp_path / "link")
    listener.wait_until(lambda: not listener.events.is_alive)
    listener.events.restart()
    write(tmp_path / "other" / "x.md")
    listener.wait_for("x.md")


def test_what_happens_beside_the_vault_wakes_nobody(vault: Path, listen: Callable[..., Listener]) -> None:
    """Only its own folder is looked for there."""
    listener = listen()
    write(vault.parent / "beside" / "a.md")
    write(vault.parent / "b.md").rename(vault.parent / "vault 2")
    assert listener.wakes == 0
    listener.settle(vault)
    assert listener.paths == set()
    assert listener.rescans == 0
    assert listener.events.is_alive


def test_events_of_other_systems_are_understood(vault: Path, listen: Callable[..., Listener]) -> None:
    """macOS gives the vault's own path in another form than it was asked for, Windows tells of a deleted folder as of a file."""
    from watchdog.events import DirDeletedEvent, FileDeletedEvent, FileModifiedEvent
    from watchdog.observers.api import BaseObserver, EventEmitter

    class Silent(EventEmitter):
        def queue_events(self, timeout: float) -> None:
            self.stopped_event.wait()

    root = vault.parent / unicodedata.normalize("NFC", "Café")
    vault.rename(root)
    observer = BaseObserver(Silent)
    listener = listen(root, make_observer=lambda: observer)
    emitter = next(emitter for emitter in observer.emitters if emitter.watch.is_recursive)
    for other in (unicodedata.normalize("NFD", str(root)), str(root).replace("Café", "café")):
        emitter.queue_event(FileModifiedEvent(f"{other}/a/note.md"))
        listener.wait_for("a/note.md")
        listener.forget()
    emitter.queue_event(FileModifiedEvent(f"{root} 2/a/beside.md"))
    emitter.queue_event(FileModifiedEvent(os.fsencode(root / "a" / "觀影.md")))
    listener.wait_for("a/觀影.md")
    assert listener.paths == {"a/觀影.md"}
    assert not listener.rescans
    emitter.queue_event(FileDeletedEvent(f"{root}/folder"))
    listener.wait_for_rescan()
    assert listener.events.is_alive
    emitter.queue_event(DirDeletedEvent(str(root)))
    listener.wait_until(lambda: not listener.events.is_alive)


def test_starting_needs_a_vault(tmp_path: Path) -> None:
    """And leaves nothing behind when there is none."""
    listener = Listener(tmp_path / "nowhere")
    with pytest.raises(VaultAway):
        listener.events.start()
    assert not listener.events.is_alive
    assert not listener.events.is_polling
    assert logging.getLogger("watchdog").handlers == []


def test_after_stop_nobody_is_woken(vault: Path, listen: Callable[..., Listener]) -> None:
    """What was noticed may still be taken, and stopping twice does no harm."""
    listener = listen()
    write(vault / "a.md")
    listener.woken.wait(PATIENCE_S)
    listener.events.stop()
    wakes = listener.wakes
    write(vault / "b.md")
    listener.events.stop()
    listener.take()
    assert listener.paths == {"a.md"}
    assert listener.wakes == wakes
    assert not listener.events.is_alive


def refuse(error: int) -> Callable[[], object]:
    def make() -> object:
        raise OSError(error, os.strerror(error))

    return make


@needs_inotify
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (errno.ENOSPC, ("limit of watched folders", "sudo sysctl fs.inotify.max_user_watches=", "every 0.05 s")),
        (errno.EMFILE, ("limit of watchers", "sudo sysctl fs.inotify.max_user_instances=", "ulimit -n", "every 0.05 s")),
        (errno.ENOSYS, ("does not tell of changes", "every 0.05 s")),
    ],
)
def test_refused_by_the_system_it_looks_by_itself(
    vault: Path, listen: Callable[..., Listener], error: int, words: tuple[str, ...]
) -> None:
    """And says so in one sentence, with what to do. New, rewritten, renamed and deleted notes are noticed by their paths."""
    listener = listen(make_observer=refuse(error), poll_s=0.05)
    assert listener.events.is_polling
    assert listener.events.is_alive
    assert all(word in listener.events.problem for word in words)
    assert listener.events.problem.endswith(".")
    write(vault / "new" / "a.md")
    write(vault / "note.md", "longer than the old text")
    (vault / "CFlow" / "Memos" / "m (2).md").rename(vault / "m.md")
    write(vault / ".obsidian" / "workspace.json", "changed")
    listener.wait_for("new/a.md", "note.md", "CFlow/Memos/m (2).md", "m.md")
    assert listener.paths == {"new/a.md", "note.md", "CFlow/Memos/m (2).md", "m.md"}
    assert not listener.rescans


def test_polling_outlives_a_vault_that_is_away(vault: Path, tmp_path: Path, listen: Callable[..., Listener]) -> None:
    """It asks for a scan when the vault goes and when it comes, and no note counts as gone in between."""
    listener = listen(make_observer=refuse(errno.ENOSPC), poll_s=0.02)
    vault.rename(tmp_path / "moved")
    listener.wait_for_rescan()
    assert listener.events.is_alive
    listener.forget()
    (tmp_path / "moved").rename(vault)
    listener.wait_for_rescan()
    assert listener.paths == set()
    write(vault / "note.md", "longer than the old text")
    listener.wait_for("note.md")


def test_a_restart_tries_the_system_again(vault: Path, listen: Callable[..., Listener]) -> None:
    """Once the limit was raised there is nothing to complain of."""
    from watchdog.observers import Observer

    answers = iter([refuse(errno.ENOSPC), Observer])

    def make() -> object:
        return next(answers)()

    listener = listen(make_observer=make)
    assert listener.events.problem
    listener.events.restart()
    assert not listener.events.is_polling
    assert listener.events.problem == ""
    listener.settle(vault)


#: Starts in a process whose limit is set by ``LIMIT``, and prints what became of it.
REFUSED = """
import sys, threading
from pathlib import Path
import watchdog.events, watchdog.observers, watchdog.observers.polling
from vaultbrain.watch.events import VaultEvents
from vaultbrain.watch.paths import Layout
woken = threading.Event()
events = VaultEvents(Path(sys.argv[1]), Layout(), woken.set, poll_s=0.05)
{limit}
events.start()
print(events.is_polling, events.problem)
Path(sys.argv[1], "deep", "deeper", "new.md").touch()
woken.wait(20)
print(*events.take().paths)
events.stop()
"""
FEW_FILES = """
import os, resource
free = max(map(int, os.listdir("/proc/self/fd"))) + 2  # one for inotify, one for a folder, and none for its pipe
resource.setrlimit(resource.RLIMIT_NOFILE, (free, free))
"""


@needs_inotify
def test_a_process_without_free_file_descriptors_looks_by_itself(vault: Path) -> None:
    """The system itself refuses the observer, as it does when too many files are open."""
    (vault / "deep" / "deeper").mkdir(parents=True)
    done = subprocess.run([sys.executable, "-c", REFUSED.format(limit=FEW_FILES), vault], capture_output=True, text=True)
    assert done.stderr == ""
    state, noticed = done.stdout.splitlines()
    assert state.startswith("True The system's limit of watchers, or of open files (ulimit -n), is reached")
    assert noticed == "deep/deeper/new.md"


def may_unshare(*kinds: str) -> bool:
    """Whether a process may have limits or mounts of its own here."""
    if sys.platform != "linux" or not shutil.which("unshare"):
        return False
    return subprocess.run(["unshare", *kinds, "true"], capture_output=True).returncode == 0


@pytest.mark.skipif(not may_unshare("-Ur"), reason="needs a user namespace")
@pytest.mark.parametrize(("watches", "polls"), [(2, True), (4, True), (40, False)])
def test_a_limit_that_is_met_among_the_folders_is_noticed(vault: Path, watches: int, polls: bool) -> None:
    """watchdog passes in silence over folders that the system would not watch: that must not leave half of the vault unheard."""
    (vault / "deep" / "deeper").mkdir(parents=True)
    command = f'echo {watches} > /proc/sys/user/max_inotify_watches && exec "$0" -c "$1" "$2"'
    done = subprocess.run(
        ["unshare", "-Ur", "sh", "-c", command, sys.executable, REFUSED.format(limit=""), vault], capture_output=True, text=True
    )
    assert done.stderr == ""
    state, noticed = done.stdout.splitlines()
    assert state.startswith("True The system's limit of watched folders is reached" if polls else "False")
    assert noticed == "deep/deeper/new.md"


#: A vault on a drive that is unmounted and mounted again.
MOUNTED = """
import subprocess, sys, threading
from pathlib import Path
from vaultbrain.errors import VaultAway
from vaultbrain.watch.events import VaultEvents
from vaultbrain.watch.paths import Layout
from vaultbrain.watch.scan import scan
root = Path(sys.argv[1])
def run(*words): subprocess.run(words, check=True)
run("mount", "-t", "tmpfs", "drive", root)
(root / "vaultbrain.toml").touch()
woken = threading.Event()
events = VaultEvents(root, Layout(), woken.set)
events.start()
print("alive", events.is_alive)
run("umount", root)
print("alive", events.is_alive)
for attempt in (lambda: scan(root, Layout()), events.restart):
    try:
        attempt()
    except VaultAway:
        print("away")
run("mount", "-t", "tmpfs", "drive", root)
(root / "vaultbrain.toml").touch()
events.restart()
print("alive", events.is_alive, events.is_polling, events.take().rescan)
woken.clear()
(root / "new.md").touch()
woken.wait(20)
print(*events.take().paths)
events.stop()
"""


@pytest.mark.skipif(not may_unshare("-Urm"), reason="needs a mount namespace")
def test_a_vault_that_is_unmounted_and_mounted_again_is_heard_again(vault: Path, tmp_path: Path) -> None:
    """The empty place is no vault without notes, and the old observer hears nothing of the new drive."""
    (tmp_path / "drive").mkdir()
    done = subprocess.run(["unshare", "-Urm", sys.executable, "-c", MOUNTED, tmp_path / "drive"], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == ["alive True", "alive False", "away", "away", "alive True False True", "new.md"]
