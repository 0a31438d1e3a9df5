"""What an agent waits for: an MCP server from its start to the first result, and calls to one that is warm.

    python benchmarks/agents.py ~/vault
    python benchmarks/agents.py ~/vault --texts path/to/memobench --runs 10

The vault has to be synced; nothing is written into it. The client is the SDK's own, over stdin and stdout, as agents use it, and
the server a whole process: Python, the SDK, ours, the catalog, the model. How long Python takes for the SDK alone, without which
there is no server, stands beside it; such runs and the server's take turns, because a shared machine is never the same twice.
Texts are new to the server at every call, so that nothing that it keeps of a text can help. Memory is shown where there is /proc.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT)]

from figures import times  # noqa: E402
from mcp import Client, StdioServerParameters  # noqa: E402

from vaultbrain.wiring import open_brain  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

#: What a server over stdin and stdout needs of the SDK, at the least.
IMPORT_OF_SDK = "import mcp.server.lowlevel, mcp.server.stdio, mcp.types"
FIRST_QUERIES = ("观影", "电影", "movie")
#: Twelve queries, as an assistant widens a question; the first is of each question, the others of all.
QUESTIONS = ("提示词怎么写", "備份硬碟", "packing list for a short trip", "睡前怎么哄孩子", "电费怎么算", "coffee at home")
VARIANTS = ("做法", "清单", "步骤", "方法", "经验", "checklist", "how to", "steps", "参考", "整理", "工具")
#: What people write, where no file of texts is given: needs and talk, in both scripts and in English.
TEXTS = (
    "最近备份照片的做法有什么可以参考的？硬盘快满了，不想再丢一次。",
    "我想把每周的发布清单做成固定流程，该怎么安排步骤、谁来检查？",
    "AI SEO 这条路到底值不值得继续深挖？先看看以前记过什么。",
    "想優化 agent workflow，有沒有值得抄的做法？",
    "備份硬碟的步驟怎麼排才不會漏？",
    "孩子晚上总是拖到十点才睡，之前试过的办法有哪些管用？",
    "How do other people keep a changelog that readers actually use?",
    "Looking for a checklist before we ship the next release.",
    "I keep forgetting what to pack for short trips. Did I write that down somewhere?",
    "今天天气不错，下午去公园走了两圈。",
    "Weight 70.2, slept seven hours.",
    "NAS 又满了，先删片子还是先加盘，怎么定优先级？",
)
MEGABYTE = 1_024
#: Calls before anything is timed: the model, the tables and what is compiled on first use are there then.
WARM_UPS = 2


@dataclass
class Measured:
    """Seconds of every run or call; megabytes of the server when it had answered all."""

    start: list[float] = field(default_factory=list)
    first_result: list[float] = field(default_factory=list)
    sdk: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    search: list[float] = field(default_factory=list)
    inside: list[float] = field(default_factory=list)
    megabytes: dict[str, float] = field(default_factory=dict)


def environment() -> dict[str, str]:
    """The SDK gives a server few variables; ours has to find this tree."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def server_of(vault: Path) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "vaultbrain", "mcp", "--vault", str(vault)], env=environment()
    )


async def call(client: Client, tool: str, **given: Any) -> Any:
    result = await client.call_tool(tool, given)
    if result.is_error:
        raise SystemExit(f"{tool} failed: {result.content[0].text}")
    return result.structured_content


async def timed(awaited: Awaitable[Any]) -> float:
    began = time.perf_counter()
    await awaited
    return time.perf_counter() - began


def time_import() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-c", IMPORT_OF_SDK], env=environment(), check=True)
    return time.perf_counter() - began


async def measure_cold(vault: Path, runs: int, measured: Measured) -> None:
    for _ in range(runs):
        measured.sdk.append(time_import())
        began = time.perf_counter()
        async with Client(server_of(vault)) as client:
            measured.start.append(time.perf_counter() - began)
            found = await call(client, "brain_search_cflow", queries=list(FIRST_QUERIES))
            measured.first_result.append(time.perf_counter() - began)
            if missed := found["coverage"].get("not_searched"):
                raise SystemExit(f"a search that lacks something is no measure: {missed}")


async def measure_warm(vault: Path, texts: Sequence[str], measured: Measured) -> None:
    async with Client(server_of(vault)) as client:
        for text in texts[:WARM_UPS]:
            await call(client, "recall_for_conversation", text=text)
        for text in texts[WARM_UPS:]:
            measured.recall.append(await timed(call(client, "recall_for_conversation", text=text)))
        for question in QUESTIONS:
            measured.search.append(await timed(call(client, "brain_search_cflow", queries=[question, *VARIANTS])))
        measured.megabytes = memory_of(server_process())


def measure_inside(vault: Path, texts: Sequence[str], measured: Measured) -> None:
    """The same in this process, without protocol and pipes."""
    brain = open_brain(vault)
    for text in texts[:WARM_UPS]:
        brain.recall(text)
    for text in texts[WARM_UPS:]:
        began = time.perf_counter()
        brain.recall(text)
        measured.inside.append(time.perf_counter() - began)


def server_process() -> int | None:
    """The SDK does not tell: of our children the one that serves; None without /proc."""
    listed = Path(f"/proc/self/task/{os.getpid()}/children")
    children = listed.read_text("ascii").split() if listed.exists() else []
    serving = [int(child) for child in children if b"vaultbrain" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")]
    return serving[0] if serving else None


def memory_of(process: int | None) -> dict[str, float]:
    """Resident memory, the highest so far, and the part that is the process's own (the rest are files)."""
    if process is None:
        return {}
    lines = Path(f"/proc/{process}/status").read_text("ascii").splitlines()
    fields = dict(line.split(":", 1) for line in lines)
    names = {"resident": "VmRSS", "peak": "VmHWM", "own": "RssAnon"}
    return {name: int(fields[key].split()[0]) / MEGABYTE for name, key in names.items()}


def spread(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]
    return {"min": ordered[0], "median": statistics.median(ordered), "p95": p95, "max": ordered[-1]}


def read_texts(folder: Path | None) -> list[str]:
    if folder is None:
        return list(TEXTS)
    return [row["text"] for row in json.loads((folder / "gate.json").read_text("utf-8"))]


def print_table(measured: Measured, count: int) -> None:
    rows: tuple[tuple[str, list[float], str], ...] = (
        ("start -> connected", measured.start, ""),
        ("start -> first brain_search_cflow", measured.first_result, "<= 1.5 s"),
        ("  Python and the SDK alone", measured.sdk, ""),
        (f"recall_for_conversation, {len(measured.recall)} texts", measured.recall, "<= 80 ms"),
        ("  Brain.recall in one process", measured.inside, ""),
        (f"brain_search_cflow, {1 + len(VARIANTS)} queries", measured.search, ""),
    )
    print(f"{count} memos; load of the machine {' '.join(f'{load:.1f}' for load in os.getloadavg())}")
    for name, seconds, target in rows:
        print(f"{name:40} {times(spread(seconds))}{f'  [{target}]' if target else ''}")
    if memory := measured.megabytes:
        print(f"{'memory of the server':40} " + "  ".join(f"{name} {value:.0f} MB" for name, value in memory.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, help="a synced vault")
    parser.add_argument("--texts", type=Path, metavar="FOLDER", help="memobench, whose gate.json has texts to recall for")
    parser.add_argument("--runs", type=int, default=5, help="cold starts")
    options = parser.parse_args()
    texts, measured = read_texts(options.texts), Measured()
    count = open_brain(options.vault).status()["memos"]
    steps: tuple[Callable[[], None], ...] = (
        lambda: asyncio.run(measure_cold(options.vault, options.runs, measured)),
        lambda: asyncio.run(measure_warm(options.vault, texts, measured)),
        lambda: measure_inside(options.vault, texts, measured),
    )
    for step in steps:
        step()
    print_table(measured, count)


if __name__ == "__main__":
    main()
