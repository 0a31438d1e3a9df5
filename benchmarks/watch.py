"""The background mode as a whole: a real ``vaultbrain watch``, a real vault, a memo server on loopback.

    python benchmarks/watch.py --synced ~/watched           # everything; about 40 minutes, most of it idle or killing
    python benchmarks/watch.py --only idle --idle-minutes 10
    python benchmarks/watch.py --quick                      # some minutes, to see whether it runs

Nothing is asserted about time: on a shared machine the figures say what the machine was doing, too, so the load stands beside
them. What has to be right (texts found, everything in agreement after kills) is checked, and decides the exit code. A first
sync of 2,800 memos takes minutes; ``--synced`` makes it once, and each run works on a copy. Linux only: figures come from /proc.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "benchmarks")]

from cflow_server import CFlowServer, make_memos  # noqa: E402
from watch_kills import kill_often  # noqa: E402
from watching import RunningWatcher, command, environment, wait_until, watching  # noqa: E402

from vaultbrain.index.catalog import Catalog  # noqa: E402
from vaultbrain.index.embedding import embedding_fingerprint  # noqa: E402
from vaultbrain.index.fold import fold  # noqa: E402
from vaultbrain.index.tokens import cut, match_phrase  # noqa: E402
from vaultbrain.watch.pulse import read_pulse  # noqa: E402
from vaultbrain.wiring import CATALOG  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

SECTIONS = ("save", "server", "checkout", "idle", "stop", "kills")
#: Seconds between two looks for what is waited for.
LOOK_S = 0.02
PATIENCE_S = 180.0
#: The interval while server edits are timed: the shortest that the settings allow.
SHORT_INTERVAL_S = 5
#: Of the files that git changes, how many are notes of memos.
CHECKOUT_FILES, CHECKOUT_MEMOS = 500, 100
#: Seconds without a line, anything waiting or more than so many seconds of processor, after which the watcher counts as quiet.
QUIET_S, WORKS_S = 4.0, 0.08
#: How old the notes in the vault are when a watcher starts, so that nobody seems to be typing in them.
LONG_AGO_S = 3_600
#: Memos that are edited at once before the watcher is told to stop, and the latest moment of that, in seconds.
STOP_EDITS, STOP_LATEST_S = 150, 6.0
#: Entries of one line of the table, where there may be many.
MOST_SHOWN = 12

BURST = "想把每周的发布清单做成固定流程，该怎么安排步骤、谁来检查？先找找以前记过的做法。\n"
QUESTION = "关于发布清单我记过什么？\n"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the table. ``is_wrong`` when something that has nothing to do with time is not as it must be."""

    name: str
    reached: str
    target: str = ""
    is_wrong: bool = False


@dataclass(frozen=True, slots=True)
class Watched:
    """A synced vault and its server."""

    vault: Path
    server: CFlowServer
    dice: random.Random

    @property
    def state(self) -> Path:
        return self.vault.parent / "state"

    @property
    def fingerprint(self) -> str:
        return embedding_fingerprint("e5")

    @contextmanager
    def watch(self, interval_s: int = 60) -> Iterator[RunningWatcher]:
        """A watcher that has asked the server and is quiet."""
        leave_alone(self.vault)
        with watching(self.vault, "--interval", f"{interval_s}s") as watcher:
            wait_until(lambda: (pulse := read_pulse(self.state)) and pulse.last_poll, "the first poll", PATIENCE_S)
            self.wait_until_quiet(watcher)
            yield watcher

    def wait_until_quiet(self, watcher: RunningWatcher) -> None:
        lines, cpu_s, changed = -1, 0.0, time.monotonic()

        def is_quiet() -> bool:
            nonlocal lines, cpu_s, changed
            pulse, used_s = read_pulse(self.state), watcher.cpu_s()
            if len(watcher.lines) != lines or pulse is None or pulse.queue or used_s > cpu_s + WORKS_S:
                lines, cpu_s, changed = len(watcher.lines), used_s, time.monotonic()
            return time.monotonic() - changed > QUIET_S

        wait_until(is_quiet, "quiet", PATIENCE_S)

    def memo_notes(self, count: int) -> list[tuple[str, Path]]:
        """(memo id, note) of some memos, drawn by lot."""
        with Catalog(self.state / CATALOG) as catalog:
            rows = sorted(catalog.note_rows().values(), key=lambda row: row.memo_id)
        chosen = self.dice.sample([row for row in rows if row.status == "written"], count)
        return [(row.memo_id, self.vault / row.path) for row in chosen]


def leave_alone(vault: Path) -> None:
    """As if nobody had written anything for an hour; files that are older stay as they are."""
    then = time.time() - LONG_AGO_S
    for path in vault.rglob("*.md"):
        if ".git" not in path.parts and path.stat().st_mtime > then:
            os.utime(path, (then, then))


def memos_with(catalog: Catalog, word: str) -> set[str]:
    return set(catalog.memos_meeting(match_phrase(cut(fold(word)))))


def is_indexed(catalog: Catalog, fingerprint: str, word: str, memo_id: str) -> bool:
    """Found by the word, and each of the memo's chunks has a vector."""
    if memo_id not in memos_with(catalog, word):
        return False
    chunks = catalog.chunk_ids([memo_id])
    return len(catalog.load_vectors(fingerprint, chunks)) == len(chunks) > 0


def append(note: Path, text: str) -> None:
    note.parent.mkdir(parents=True, exist_ok=True)
    with note.open("a", encoding="utf-8") as file:
        file.write(text)


def time_until(condition: Callable[[], Any], what: str) -> float:
    began = time.monotonic()
    while not condition():
        if time.monotonic() > began + PATIENCE_S:
            raise SystemExit(f"not within {PATIENCE_S:.0f} s: {what}")
        time.sleep(LOOK_S)
    return time.monotonic() - began


def spread(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return f"median {statistics.median(ordered):.2f} s, p95 {p95:.2f} s, max {ordered[-1]:.2f} s"


# what is measured


def measure_saves(watched: Watched, count: int) -> list[Line]:
    """A word is added to one memo note after another, at any moment."""
    spent = []
    with watched.watch() as watcher, Catalog(watched.state / CATALOG) as catalog:
        for number, (memo_id, note) in enumerate(watched.memo_notes(count)):
            time.sleep(watched.dice.uniform(0, 2))
            word = f"saved{watched.dice.randrange(10**9)}n{number}"
            append(note, f"\n补充一句 {word}。\n")
            spent.append(time_until(lambda: is_indexed(catalog, watched.fingerprint, word, memo_id), "the word is found"))  # noqa: B023
        watched.wait_until_quiet(watcher)
        passes = len(watcher.said("take-in"))
    return [
        Line(
            f"save -> indexed, {count} notes", f"{spread(spent)} (the first, which loads the model: {spent[0]:.2f} s)", "<= 3 s"
        ),
        Line("  passes", f"{passes} for {count} saves"),
    ]


def measure_server(watched: Watched, count: int) -> list[Line]:
    spent = []
    with watched.watch(SHORT_INTERVAL_S):
        for memo_id, note in watched.memo_notes(count):
            time.sleep(watched.dice.uniform(0, SHORT_INTERVAL_S))
            word = f"edited{watched.dice.randrange(10**9)}"
            memo = watched.server.memo(int(memo_id))
            watched.server.edit(memo["id"], f"{memo['content']}\n\n{word}")
            spent.append(time_until(lambda: word in note.read_text("utf-8"), "the note shows the edit"))  # noqa: B023
    beyond = max(spent) - SHORT_INTERVAL_S
    return [
        Line(f"server edit -> note, {count} edits", f"{spread(spent)} at an interval of {SHORT_INTERVAL_S} s"),
        Line("  beyond the interval, at most", f"{beyond:.2f} s", "<= 3 s"),
    ]


# 500 files by git


def git(vault: Path, *words: str) -> None:
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "core.autocrlf=false", "-c", "gc.auto=0")
    subprocess.run(["git", "-C", str(vault), *who, *words], check=True, capture_output=True)


def commit_two_states(watched: Watched) -> tuple[str, set[str]]:
    """The branches ``before`` and ``after`` of the same files; which word the memo notes of the second have, and their memos."""
    memos = min(CHECKOUT_MEMOS, len(watched.server.memos) // 4)
    notes = watched.memo_notes(memos)
    pages = [watched.vault / "Pages" / f"page {number}.md" for number in range(CHECKOUT_FILES - memos)]
    for page in pages:
        append(page, f"{page.stem}\n")
    files = [str(path.relative_to(watched.vault)) for path in (*pages, *(note for _, note in notes))]
    git(watched.vault, "init", "--quiet", "--initial-branch=before")
    git(watched.vault, "add", *files)
    git(watched.vault, "commit", "--quiet", "-m", "before")
    git(watched.vault, "checkout", "--quiet", "-b", "after")
    word = f"checkedout{watched.dice.randrange(10**9)}"
    for page in pages:
        append(page, "another line\n")
    for number, (_, note) in enumerate(notes):
        append(note, f"\n换一个状态，第 {number} 条 {word}。\n")
    git(watched.vault, "commit", "--quiet", "--all", "-m", "after")
    git(watched.vault, "checkout", "--quiet", "before")
    return word, {memo_id for memo_id, _ in notes}


def measure_checkout(watched: Watched) -> list[Line]:
    word, memos = commit_two_states(watched)
    lines = []
    with watched.watch() as watcher, Catalog(watched.state / CATALOG) as catalog:
        for branch, wanted in (("after", memos), ("before", set[str]())):
            said, cpu, asked = len(watcher.lines), watcher.cpu_s(), len(watched.server.requests)
            began = time.monotonic()
            git(watched.vault, "checkout", "--quiet", branch)
            checkout_s = time.monotonic() - began
            found_s = time_until(lambda: memos_with(catalog, word) == wanted, f"{branch} is found")  # noqa: B023
            watched.wait_until_quiet(watcher)
            passes = [line for line in watcher.lines[said:] if line["event"] == "take-in"]
            lines.append(
                Line(
                    f"git checkout of {CHECKOUT_FILES} files, {branch}",
                    f"{len(passes)} passes; {len(memos)} memo notes found after {found_s:.1f} s (git itself: {checkout_s:.1f} s);"
                    f" {watcher.cpu_s() - cpu:.1f} s of processor; {len(watched.server.requests) - asked} requests",
                    "1 pass",
                )
            )
        complete = {memo for memo in memos if len(catalog.load_vectors(watched.fingerprint, catalog.chunk_ids([memo]))) > 0}
        failed = [line["text"] for line in watcher.lines if line.get("failed")]
    is_right = complete == memos and not failed
    return [
        *lines,
        Line("  afterwards", "everything found, nothing failed" if is_right else f"wrong: {failed}", "", not is_right),
    ]


# idle


def megabytes(watcher: RunningWatcher) -> dict[str, float]:
    """Resident memory: all of it, the highest so far, and the part that is the process's own (the rest are files)."""
    status = Path(f"/proc/{watcher.process.pid}/status").read_text("ascii")
    fields = dict(line.split(":", 1) for line in status.splitlines())
    names = {"resident": "VmRSS", "peak": "VmHWM", "own": "RssAnon"}
    return {name: int(fields[key].split()[0]) / 1_024 for name, key in names.items()}


def shown_megabytes(watcher: RunningWatcher) -> str:
    found = megabytes(watcher)
    return f"{found['resident']:.0f} MB ({found['own']:.0f} of its own, peak {found['peak']:.0f})"


def files_below(folder: Path) -> dict[str, tuple[int, int]]:
    marks = {}
    for path in folder.rglob("*"):
        if path.is_file():
            found = path.stat()
            marks[str(path)] = (found.st_size, found.st_mtime_ns)
    return marks


def written_bytes(watcher: RunningWatcher) -> int:
    """What the process has handed to write calls of any kind."""
    io = Path(f"/proc/{watcher.process.pid}/io").read_text("ascii")
    return int(dict(line.split(": ") for line in io.splitlines())["wchar"])


def measure_idle(watched: Watched, minutes: float) -> Iterator[Line]:
    with watched.watch() as watcher:
        yield Line("memory at the start", shown_megabytes(watcher), "< 200 MB")
        yield from work_once(watched, watcher)
        yield from rest(watched, watcher, minutes)


def work_once(watched: Watched, watcher: RunningWatcher) -> Iterator[Line]:
    """Something of each kind of work, so that whatever is loaded or held is there: a save, recall, an answer, a server edit."""
    ((memo_id, note), (edited, shown)) = watched.memo_notes(2)
    with Catalog(watched.state / CATALOG) as catalog:
        append(note, "\n闲时测量之前的一句 warmedup。\n")
        time_until(lambda: is_indexed(catalog, watched.fingerprint, "warmedup", memo_id), "the save is found")
        yield Line("  after a save", shown_megabytes(watcher), "< 200 MB")
        append(watched.vault / "Diary" / "today.md", BURST)
        time_until(lambda: any(entry.note.endswith("today.md") for entry in catalog.recalls.read_log(50)), "recall was tried")
        yield Line("  after recall", shown_megabytes(watcher), "< 200 MB")
    append(watched.vault / "CFlow" / "Ask" / f"ask {time.time_ns()}.md", QUESTION)
    watcher.wait_for("question", "Answered")
    yield Line("  after an answer", shown_megabytes(watcher), "< 200 MB")
    for memo in watched.server.memos[:: max(1, len(watched.server.memos) // 30)]:
        watched.server.edit(memo["id"], f"{memo['content']}\n\n再写一句 warmed.")
    watched.server.edit(int(edited), f"{watched.server.memo(int(edited))['content']}\n\nwarmedbyserver")
    time_until(lambda: "warmedbyserver" in shown.read_text("utf-8"), "the server's edit is shown")
    watched.wait_until_quiet(watcher)
    yield Line("  after a sync of 30 memos", shown_megabytes(watcher), "< 200 MB")


def rest(watched: Watched, watcher: RunningWatcher, minutes: float) -> list[Line]:
    watched.wait_until_quiet(watcher)
    time.sleep(35)  # half a minute after the last change, what was spared is written
    watched.wait_until_quiet(watcher)
    before, asked, cpu = files_below(watched.vault.parent), len(watched.server.requests), watcher.cpu_s()
    wrote, said, began = written_bytes(watcher), len(watcher.lines), time.monotonic()
    time.sleep(minutes * 60)
    took = time.monotonic() - began
    share = (watcher.cpu_s() - cpu) / took
    after = files_below(watched.vault.parent)
    moved = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    size = sum(after.get(path, (0, 0))[0] for path in moved)
    changed = ", ".join(Path(path).name for path in moved if after.get(path, (1, 0))[0]) or "none"
    return [
        Line(f"idle, {minutes:g} min: processor", f"{share:.2%} of a core ({watcher.cpu_s() - cpu:.2f} s)", "< 0.5 %"),
        Line("  memory at the end", shown_megabytes(watcher), "< 200 MB"),
        Line("  files with another mark", f"{len(moved)}, of {size} bytes; not empty: {changed}", "0 bytes"),
        Line("  bytes written by any call", f"{written_bytes(watcher) - wrote} (thread wake-ups and requests among them)"),
        Line("  requests", f"{len(watched.server.requests) - asked} in {took / 60:.1f} min"),
        Line("  lines in the log", str(len(watcher.lines) - said), "0"),
    ]


# stopping


def measure_stop(watched: Watched, count: int) -> list[Line]:
    """Each time there is a lot to do, so that the signal comes in the midst of it."""
    spent, codes = [], set()
    for _ in range(count):
        for memo in watched.dice.sample(watched.server.memos, min(STOP_EDITS, len(watched.server.memos))):
            watched.server.edit(memo["id"], f"{memo['content'][:200]}\n\nstop {watched.dice.randrange(10**6)}")
        with watching(watched.vault, is_ready=False) as watcher:
            time.sleep(watched.dice.uniform(0.2, STOP_LATEST_S))
            began = time.monotonic()
            watcher.process.send_signal(signal.SIGTERM)
            codes.add(watcher.process.wait(PATIENCE_S))
            spent.append(time.monotonic() - began)
    codes.discard(-signal.SIGTERM)  # before Python had read our handler, where nothing was begun
    is_wrong = bool(codes - {0})
    return [Line(f"SIGTERM -> ended, {count} times", f"{spread(spent)}; exit codes {sorted(codes) or [0]}", "<= 10 s", is_wrong)]


# kills


def measure_kills(kills: int, seed: int, keep: Path | None) -> list[Line]:
    with tempfile.TemporaryDirectory() as folder:
        found = kill_often(Path(folder) / "killed", kills, seed)
        if found.broken and keep:
            shutil.copytree(folder, keep, dirs_exist_ok=True)
    counts = {"killed": found.deaths, "done": found.done, "said": found.said, "failed": found.failed}
    lines = [
        Line(
            f"{kills} kills, seed {seed}",
            f"{len(found.broken)} things broken; {found.seconds / 60:.1f} min",
            "0",
            bool(found.broken),
        )
    ]
    for name, counter in counts.items():
        lines.append(
            Line(f"  {name}", "; ".join(f"{what} {number}" for what, number in counter.most_common(MOST_SHOWN)) or "nothing")
        )
    return lines + [Line("  broken", problem[:600]) for problem in found.broken]


# the whole


@contextmanager
def synced(options: argparse.Namespace) -> Iterator[Watched]:
    """A copy of a synced vault, with the server that it was synced from: at the same address, which stands in its notes."""
    with tempfile.TemporaryDirectory() as temporary:
        kept = options.synced or Path(temporary) / "synced"
        settings = kept / "vault" / "vaultbrain.toml"
        port = int(tomllib.loads(settings.read_text("utf-8"))["source"].rpartition(":")[2]) if settings.exists() else 0
        with CFlowServer(make_memos(options.memos), port=port) as server:
            settings.parent.mkdir(parents=True, exist_ok=True)
            settings.write_text(f'source = "{server.url}"\nstate_dir = "../state"\ntimezone = "UTC"\n', encoding="utf-8")
            subprocess.run(command(settings.parent, "sync", "--quiet"), env=environment(), check=True)
            copy = Path(temporary) / "copy"
            shutil.copytree(kept, copy, symlinks=True)
            yield Watched(copy / "vault", server, random.Random(options.seed))


def measure(options: argparse.Namespace) -> Iterator[Line]:
    sections = options.only or SECTIONS
    with ExitStack() as stack:
        if set(sections) - {"kills"}:
            watched = stack.enter_context(synced(options))
        measures: dict[str, Callable[[], Iterable[Line]]] = {
            "save": lambda: measure_saves(watched, options.saves),
            "server": lambda: measure_server(watched, options.edits),
            "checkout": lambda: measure_checkout(watched),
            "idle": lambda: measure_idle(watched, options.idle_minutes),
            "stop": lambda: measure_stop(watched, options.stops),
            "kills": lambda: measure_kills(options.kills, options.seed, options.keep),
        }
        for section in [name for name in SECTIONS if name in sections]:
            yield from measures[section]()
            yield Line("  load of the machine meanwhile", " ".join(f"{load:.1f}" for load in os.getloadavg()))


def print_line(line: Line) -> None:
    target = f"  [{line.target}]" if line.target else ""
    print(f"{line.name:40} {line.reached}{target}{'  WRONG' if line.is_wrong else ''}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memos", type=int, default=2_800)
    parser.add_argument(
        "--synced", type=Path, metavar="FOLDER", help="where a synced vault and its state are kept for the next time"
    )
    parser.add_argument("--only", action="append", choices=SECTIONS, help="may be given several times")
    parser.add_argument("--idle-minutes", type=float, default=10.0)
    parser.add_argument("--saves", type=int, default=30)
    parser.add_argument("--edits", type=int, default=12)
    parser.add_argument("--stops", type=int, default=15)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="copy what the kills have broken to here")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--quick", action="store_true", help="few of everything, over 150 memos")
    options = parser.parse_args()
    if options.quick:
        few = {"memos": 150, "idle_minutes": 0.3, "saves": 4, "edits": 3, "stops": 3, "kills": 4}
        vars(options).update(few)
    print(f"{options.memos} memos, seed {options.seed}", flush=True)
    is_wrong = False
    for line in measure(options):
        print_line(line)
        is_wrong |= line.is_wrong
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
