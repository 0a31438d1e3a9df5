"""What an assistant reads to answer a question from 2,800 memos, in tokens: by one call, by six calls, and by reading everything.

    pip install bpe-openai
    python benchmarks/tokens.py path/to/memobench --synced ~/tokens

The memos are those of the judged set memobench, among made-up ones of other subjects; the questions and what answers them are
the set's, too, so that it can be said how much of what is wanted was read. One call is ``brain_search_cflow`` with twelve
queries, asked of a real server over stdio. Six calls are what an assistant does where a search gives only previews: a search that
shows 300 characters of twelve memos, then five memos one by one. They are given the same twelve memos, so that they lose nothing
by a worse search, and as few fields as can be. A first sync takes minutes; ``--synced`` keeps the vault; nothing else is written
into it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from cflow_server import make_memos  # noqa: E402
from figures import share  # noqa: E402

from vaultbrain.bench.judged import read_judged_set  # noqa: E402
from vaultbrain.index.fold import fold  # noqa: E402
from vaultbrain.settings import SETTINGS_FILE  # noqa: E402
from vaultbrain.wiring import open_brain  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from mcp import Client

#: What an assistant asks for beside the question itself, for questions of the set; written before the set's memos were looked at.
QUERIES = {
    "观影": "看电影|电影|影视|影院|片单|movie|film|#观影|观影网站|电影资源|影评",
    "提示词": "prompt|提示语|指令|prompt engineering|#提示词|提示词模板|系统提示|few-shot|角色设定|写提示词的技巧|大模型 提问",
    "備份硬碟": "备份硬盘|備份|硬碟|backup|hard drive|NAS|外接硬碟|異地備份|3-2-1|#備份|資料遺失",
    "用 NotebookLM 读论文应该按什么步骤来？": (
        "NotebookLM|读论文|论文阅读|paper reading|reading papers|文献|精读|#NotebookLM|论文笔记|提问 来源|阅读流程"
    ),
    "packing list for a short trip": (
        "packing list|packing|luggage|carry-on|行李|行李清单|打包|出差|短途旅行|#旅行|travel checklist"
    ),
    "孩子晚上磨蹭不肯睡，我试过哪些有效的办法？": (
        "哄睡|睡前|孩子睡觉|不肯睡|bedtime|bedtime routine|sleep|磨蹭|作息|睡前故事|#育儿"
    ),
}
#: Made-up memos with one of these could answer one of the questions, and nobody judged whether they do.
UNJUDGED = (
    *("观影", "电影", "修复版", "纪录片", "长镜头", "剧场版"),
    *("movie", "restored print", "documentary", "screening", "director's cut", "subtitle"),
)
#: Made-up memos get ids above those of the set.
FIRST_MADE = 100_000
#: Six calls: memos of which a preview is shown, its characters, and memos that are then read one by one.
PREVIEWS, PREVIEW_CHARS, READ_ONE_BY_ONE = 12, 300, 5
#: Bytes of a result: so many that all twelve memos are in it, to know which they are.
ALL_BYTES = 65_536
SEARCH = "brain_search_cflow"
#: Of a grade that means: answers the question directly.
DIRECT = 2


@dataclass(frozen=True, slots=True)
class Way:
    """One way to the answer: for each call what the model writes and what it reads; and the memos that it got to read."""

    name: str
    calls: tuple[tuple[str, str], ...]
    memos: frozenset[str]


@dataclass(frozen=True, slots=True)
class Played:
    """One question by all ways. ``grades``: memo id → 2 for a direct answer, 1 for a related one."""

    question: str
    grades: Mapping[str, int]
    ways: tuple[Way, ...]
    result: Mapping[str, Any]


def compact(value: Any) -> str:
    """As the servers and the assistants write it into the context."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def token_counter(encoding: str) -> Callable[[str], int]:
    try:
        import bpe_openai
    except ImportError:
        raise SystemExit("The tokenizer is not installed. Run: pip install bpe-openai") from None
    encode = bpe_openai.get_encoding(encoding).encode_ordinary
    return lambda text: len(encode(text))


# the vault


def make_corpus(judged: Path, count: int) -> list[dict[str, Any]]:
    """The set's memos, and made-up ones of other subjects up to ``count``."""
    memos: list[dict[str, Any]] = json.loads((judged / "memos.json").read_text("utf-8"))
    others = (memo for memo in make_memos(2 * count) if not any(word in memo["content"] for word in UNJUDGED))
    memos += [{**memo, "id": FIRST_MADE + memo["id"]} for memo in islice(others, count - len(memos))]
    return [{**memo, "name": random_name(memo["id"]), "relationList": [], "resourceList": []} for memo in memos]


def random_name(memo_id: int) -> str:
    """The name of a memo in its address, as long and as random as those that servers make."""
    return blake2b(str(memo_id).encode(), digest_size=11).hexdigest()


def join_memos(memos: Sequence[dict[str, Any]], size: int) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Long memos, each of so many short ones; and in which of them each short one is."""
    groups = [memos[start : start + size] for start in range(0, len(memos), size)]
    joined = [{**group[0], "content": "\n\n".join(memo["content"] for memo in group)} for group in groups]
    return joined, {str(memo["id"]): str(group[0]["id"]) for group in groups for memo in group}


def make_vault(folder: Path, memos: Sequence[Mapping[str, Any]]) -> Path:
    """A synced vault of the memos below ``folder``; as it is, if there is one."""
    vault = folder / "vault"
    if not (vault / SETTINGS_FILE).exists():
        vault.mkdir(parents=True)
        (folder / "export.json").write_text(json.dumps(memos, ensure_ascii=False), encoding="utf-8")
        settings = 'source = "../export.json"\nstate_dir = "../state"\ntimezone = "UTC"\npublic_url = "http://cflow.example"\n'
        (vault / SETTINGS_FILE).write_text(settings, encoding="utf-8")
    open_brain(vault).sync()
    return vault


# the ways


async def call(client: Client, tool: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The text that a model gets, and the result as an object."""
    result = await client.call_tool(tool, dict(arguments))
    if result.is_error or result.structured_content is None:
        raise SystemExit(f"{tool}: {result.content}")
    return compact(result.structured_content), result.structured_content


def shows(hit: Mapping[str, Any], text: str) -> bool:
    """Whether a part of a memo lets a reader see why it was found."""
    return any(fold(word) in fold(text) for word in hit.get("matched", ()))


async def one_call(
    client: Client, queries: Sequence[str], options: Mapping[str, Any], pages: int = 1
) -> tuple[Way, Mapping[str, Any]]:
    """With ``pages`` calls when more was found than one result holds."""
    calls, memos, first = [], set[str](), dict[str, Any]()
    arguments: dict[str, Any] = {"queries": list(queries), **options}
    for _ in range(pages):
        text, result = await call(client, SEARCH, arguments)
        first = first or dict(result)
        calls.append((compact(arguments), text))
        memos |= {hit["memo_id"] for hit in result["hits"] if hit.get("whole", True) or shows(hit, hit["text"])}
        if not result.get("cursor"):
            break
        arguments["cursor"] = result["cursor"]
    return Way(f"{pages} call{'s' * (pages > 1)}", tuple(calls), frozenset(memos)), first


async def six_calls(client: Client, queries: Sequence[str], texts: Mapping[str, str]) -> Way:
    """A search with previews, then the best memos one by one."""
    asked = {"queries": list(queries), "limit": PREVIEWS}
    _, found = await call(client, SEARCH, {**asked, "max_bytes": ALL_BYTES})
    hits = {hit["memo_id"]: hit for hit in found["hits"]}
    previews = [{"id": memo_id, "preview": texts[memo_id][:PREVIEW_CHARS], "similarity": 0.89} for memo_id in hits]
    read = list(hits)[:READ_ONE_BY_ONE]
    whole = [(compact({"id": memo_id}), compact({"id": memo_id, "content": texts[memo_id]})) for memo_id in read]
    seen = {
        memo_id
        for memo_id, hit in hits.items()
        if memo_id in read or len(texts[memo_id]) <= PREVIEW_CHARS or shows(hit, texts[memo_id][:PREVIEW_CHARS])
    }
    return Way("6 calls", ((compact(asked), compact({"results": previews})), *whole), frozenset(seen))


def read_grades(judged: Path, places: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """For each question, the grade of each memo that answers: the best of what is in it."""
    grades: dict[str, dict[str, int]] = {}
    for query in read_judged_set(judged).queries:
        found = grades.setdefault(query.text, {})
        for memo_id, grade in query.grades.items():
            found[places[memo_id]] = max(grade, found.get(places[memo_id], 0))
    return grades


async def play(
    client: Client, grades: Mapping[str, Mapping[str, int]], texts: Mapping[str, str], options: Mapping[str, Any]
) -> list[Played]:
    everything = Way("all memos", (("", "\n\n".join(texts.values())),), frozenset(texts))
    played = []
    for question, others in QUERIES.items():
        queries = (question, *others.split("|"))
        one, result = await one_call(client, queries, options)
        two, _ = await one_call(client, queries, options, 2)
        six = await six_calls(client, queries, texts)
        played.append(Played(question, grades[question], (one, two, six, everything), result))
    return played


async def standing(client: Client) -> dict[str, str]:
    """What may be in the context before the first question."""
    tools = (await client.list_tools()).tools
    told = [{"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in tools]
    texts = {"instructions": client.instructions or "", f"{len(tools)} tools": compact(told)}
    texts["  their names alone"] = " ".join(tool.name for tool in tools)
    texts["  schemas of results (few clients pass them on)"] = compact([tool.output_schema for tool in tools])
    skill = ROOT / "vaultbrain" / "skill"
    return texts | {str(path.relative_to(skill)): path.read_text("utf-8") for path in sorted(skill.rglob("*.md"))}


# the tables


def shown(played: Sequence[Played], count: Callable[[str], int]) -> Iterable[str]:
    head = f"{'':10}{'calls':>6}{'bytes':>9}{'writes':>8}{'reads':>8}   wanted memos read, and direct answers"
    for item in played:
        yield from ("", item.question, head, *(_row(item, way, count) for way in item.ways))
    yield from ("", f"mean of {len(played)} questions", head)
    for number in range(len(played[0].ways)):
        yield _mean_row(played, number, count)


def _row(item: Played, way: Way, count: Callable[[str], int]) -> str:
    direct = [memo_id for memo_id, grade in item.grades.items() if grade >= DIRECT]
    read = f"{len(way.memos & item.grades.keys())}/{len(item.grades)}  {len(way.memos.intersection(direct))}/{len(direct)}"
    return f"{way.name:10}{len(way.calls):6}{_bytes(way):9,}{_writes(way, count):8,}{_reads(way, count):8,}   {read}"


def _mean_row(played: Sequence[Played], number: int, count: Callable[[str], int]) -> str:
    ways = [item.ways[number] for item in played]
    wanted = sum(len(item.grades) for item in played)
    read = sum(len(way.memos & item.grades.keys()) for way, item in zip(ways, played, strict=True))
    figures = (statistics.mean(map(_bytes, ways)), *(statistics.mean(f(way, count) for way in ways) for f in (_writes, _reads)))
    calls = statistics.mean(len(way.calls) for way in ways)
    return f"{ways[0].name:10}{calls:6.1f}{figures[0]:9,.0f}{figures[1]:8,.0f}{figures[2]:8,.0f}   {share(read, wanted)}"


def _bytes(way: Way) -> int:
    return sum(len(text.encode()) for _, text in way.calls)


def _writes(way: Way, count: Callable[[str], int]) -> int:
    return sum(count(text) for text, _ in way.calls)


def _reads(way: Way, count: Callable[[str], int]) -> int:
    return sum(count(text) for _, text in way.calls)


def shown_fields(played: Sequence[Played], count: Callable[[str], int]) -> Iterable[str]:
    """Where the tokens of one call go, mean of all questions: each field of the twelve hits, then the rest."""
    costs: dict[str, int] = {}
    for item in played:
        parts = [(f"hits.{name}", value) for hit in item.result["hits"] for name, value in hit.items()]
        for name, value in (*parts, *((name, value) for name, value in item.result.items() if name != "hits")):
            costs[name] = costs.get(name, 0) + count(compact({name.rpartition(".")[2]: value})) - 1
    yield from ("", "fields of one call, tokens")
    yield from (f"  {name:20}{cost / len(played):7.0f}" for name, cost in sorted(costs.items(), key=lambda item: -item[1]))


async def run(options: argparse.Namespace, folder: Path) -> None:
    from mcp import Client, StdioServerParameters

    count = token_counter(options.encoding)
    memos, places = join_memos(make_corpus(options.set, options.memos), options.joined)
    vault = make_vault(folder, memos)
    texts = {str(memo["id"]): memo["content"] for memo in memos}
    chars = [len(text) for text in texts.values()]
    middle = f"{statistics.mean(chars):.0f} characters (median {statistics.median(chars):.0f})"
    print(f"{len(texts)} memos of {middle}; tokens of {options.encoding}")
    environment = {"PYTHONPATH": str(ROOT)} | {name: os.environ[name] for name in ("XDG_CACHE_HOME",) if name in os.environ}
    words = ["-m", "vaultbrain", "mcp", "--vault", str(vault)]
    server = StdioServerParameters(command=sys.executable, args=words, env=environment)
    asked = {"max_bytes": options.max_bytes} if options.max_bytes else {}
    async with Client(server) as client:
        played = await play(client, read_grades(options.set, places), texts, asked)
        before = await standing(client)
    lines = [*shown(played, count), *(shown_fields(played, count) if options.fields else ())]
    print("\n".join(lines))
    print("\nstanding, tokens")
    for name, text in before.items():
        print(f"  {name:50}{count(text):7,}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path, help="the folder of memobench, with memos.json and queries.json")
    parser.add_argument("--synced", type=Path, metavar="FOLDER", help="where the synced vault is kept for the next time")
    parser.add_argument("--memos", type=int, default=2_800)
    parser.add_argument("--joined", type=int, default=1, metavar="N", help="make one long memo of every N")
    parser.add_argument("--max-bytes", type=int, help="of one result, in place of the server's own default")
    parser.add_argument("--fields", action="store_true", help="also show what each field of a result costs")
    parser.add_argument("--encoding", default="o200k_base", help="o200k_base (the default) or cl100k_base")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(run(options, options.synced or Path(scratch)))


if __name__ == "__main__":
    main()
