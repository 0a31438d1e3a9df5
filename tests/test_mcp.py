"""The MCP server as an agent has it: the SDK's own client, a real process, a real memo server, a real vault."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from cflow_server import answer_status, wire_memo
from films import MEMOS as FILMS
from jsonschema import Draft202012Validator
from mcp.shared.exceptions import MCPError
from mcp_client import Agent, CallFailed, World, connected, inside_fence, outside_fences, world
from obsidian import hash_tree

from vaultbrain.mcp.arguments import schema_of
from vaultbrain.mcp.paging import MOST_BYTES
from vaultbrain.mcp.results import schema_of as result_schema
from vaultbrain.mcp.tools import INSTRUCTIONS, TOOLS
from vaultbrain.retrieve.preview import LEAST_CHARS, MOST_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.model

ZH = "第{n}天把阳台的花盆换了土，又把旧架子擦干净，晚上记下每一盆的位置。"
HANT = "第{n}天在家整理舊書，翻到一本講電車的散文，夾著當年的車票。"
EN = "On day {n} the late ferry was full again, so we walked along the harbour instead. "
ADDRESS = "https://example.com/" + "a/long-way_down?" * 17 + "end"
#: Stand in one memo, in every part of it: title and so the note's name, text, tag, address.
PLANTED = ("quokkatitle", "quokkatext", "quokkatag", "quokkahost", "quokkapath", "quokkalink")


def laid(filler: str, word: str, before: int, after: int) -> str:
    def tell(count: int) -> str:
        return "".join(filler.format(n=number) for number in range(count))

    return f"{tell(before)}{word}。{tell(after)}" if filler != EN else f"{tell(before)}{word}. {tell(after)}"


#: Id → the text and the word by which it is looked up.
LONG = {
    302: (laid(ZH, "龙舌兰分株", 14, 14), "龙舌兰分株"),
    305: (laid(HANT, "纜車月票夾", 16, 16), "缆车月票夹"),
    309: (laid(EN, "gaff halyard", 7, 0), "halyard"),
    310: (laid(ZH, f"紫砂壶养护清单 {ADDRESS} ", 8, 12), "紫砂壶养护清单"),
}
#: Ten times the same forty chapters: the model reads equal texts once.
HUGE = "\n\n".join(
    f"## Chapter {n % 40}\n\n" + ZH.format(n=n % 40) + EN.format(n=n % 40) + "`code` 👩‍👩‍👧‍👦 <<417 417>>" for n in range(400)
)
GLAZES = (
    "青瓷",
    "tenmoku",
    "志野",
    "celadon over slip",
    "天青",
    "shino",
    "鈞窯",
    "raku",
    "黑釉",
    "ash glaze",
    "白瓷",
    "cobalt wash",
)
KILNS = {
    600
    + n: f"Kiln log, {glaze}: {'slow cooling over night, ' * (n % 4)}cone {n}, {'第三层偏冷，' * (n % 5 * 8)}{GLAZES[-n]} #kiln"
    for n, glaze in enumerate(GLAZES)
}
MEMOS: dict[int, str] = {
    **FILMS,
    201: "週末看的電影：資料館的修復版老片，片尾那段長鏡頭很好。 #觀影",
    202: "Film list for the winter: three noir movies, with subtitles, at the small cinema.",
    250: "NAS 备份流程 quokkatitle\n\n先做快照 quokkatext，再同步到移动硬盘，最后每月抽三个文件恢复一次。实测两小时。\n\n"
    "[quokkalink](https://quokkahost.example/quokkapath) #NAS #quokkatag",
    **{number: text for number, (text, _) in LONG.items()},
    **KILNS,
    640: KILNS[610],
}
NEED = "NAS 备份怎么做才稳？想定一套备份流程。"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(tmp_path_factory.mktemp("mcp"), [wire_memo(number, text) for number, text in MEMOS.items()]) as made:
        yield made


@pytest.fixture(scope="module")
def agent(place: World) -> Iterator[Agent]:
    """One server for all tests; it makes the mirror itself."""
    with connected(place.vault) as running:
        assert running.call("auto_sync_if_needed")["created"] == len(MEMOS)
        yield running
        assert "Traceback" not in running.errors()


def ids(page: Any) -> list[str]:
    return [hit["memo_id"] for hit in page["hits"]]


# the handshake and the list


@pytest.fixture(scope="module")
def second(place: World, agent: Agent) -> Iterator[Agent]:
    """Another server beside it, to which the client spoke the older way."""
    with connected(place.vault, "legacy") as running:
        yield running


def test_a_client_is_told_what_this_is(agent: Agent, second: Agent) -> None:
    """By the handshake of 2026-07-28 and by the older one, the instructions, the name and the tools reach the client."""
    for told, version in ((agent, "2026-07-28"), (second, "2025-11-25")):
        assert told.client.instructions == INSTRUCTIONS
        assert told.client.protocol_version == version
        assert told.client.server_info
        assert told.client.server_info.name == "vaultbrain"
        assert told.client.server_capabilities.tools
        assert told.client.server_capabilities.resources
        assert list(told.tools) == [tool.name for tool in TOOLS]


def test_the_list_of_tools_is_the_table(agent: Agent) -> None:
    """Descriptions, hints and both schemas are those of the table; each schema is one, each argument and tool is described."""
    for tool in TOOLS:
        listed = agent.tools[tool.name]
        assert (listed.description, listed.input_schema) == (tool.about, schema_of(tool.arguments))
        assert listed.output_schema == result_schema(tool.result)
        Draft202012Validator.check_schema(listed.input_schema)
        Draft202012Validator.check_schema(listed.output_schema)
        assert all(described["description"] for described in listed.input_schema["properties"].values())
        hints = listed.annotations
        assert hints
        assert hints.read_only_hint == (tool.name not in {"ask_cflow_note", "auto_sync_if_needed"})
        assert hints.idempotent_hint == (tool.name != "ask_cflow_note")
        assert hints.destructive_hint is False
        assert hints.open_world_hint == (tool.name in {"ask_cflow_note", "auto_sync_if_needed", "get_cflow_note"})


# searching


@pytest.mark.parametrize("tool", ["brain_search_cflow", "semantic_search_cflow", "search_cflow_notes"])
@pytest.mark.parametrize("query", ["观影", "觀影", "movies"])
def test_each_search_finds_films_in_each_script(agent: Agent, tool: str, query: str) -> None:
    """Simplified, traditional and English words lead to memos on films; each hit says all that is needed to cite and link it."""
    page = agent.call(tool, queries=[query])
    assert {"456", "123", "201", "202"} & set(ids(page)), page
    assert page["coverage"]["memos"] == len(MEMOS)
    for hit in page["hits"]:
        assert hit["label"] in {"strong", "related", "weak"}
        assert f"({hit['memo_id']})" in inside_fence(hit["note"])
        assert re.fullmatch(rf"(m{hit['memo_id']}-\d+)?", hit["anchor"])
        address = page["memo_url"].replace("*", hit.get("url", hit["memo_id"]))
        assert address.endswith(f"uid{hit['memo_id']:0>19}")
        if hit.get("whole", True):
            assert inside_fence(hit["text"]) == MEMOS[int(hit["memo_id"])].strip()


def test_a_filter_in_a_later_query_is_told(agent: Agent) -> None:
    """Filters count in the first query only; one that stands elsewhere is named, and was searched for as words."""
    page = agent.call("brain_search_cflow", queries=["观影", "after:2026-06"])
    assert page["coverage"]["not_searched"] == ["taken for words, since filters stand in the first query: after:2026-06"]
    assert "filters" not in page["coverage"]
    assert "not_searched" not in agent.call("brain_search_cflow", queries=["观影 after:2020", "电影"])["coverage"]


def test_match_needs_a_passage(agent: Agent) -> None:
    """Without one nothing is written, and the error says what to give."""
    answer = agent.try_call("ask_cflow_note", question="哪些备忘接近", mode="match")
    assert answer.is_error
    assert answer.text.endswith("Nothing was written.\nGive passage, or another mode.")


def test_one_call_takes_twelve_queries(agent: Agent) -> None:
    """Each query is counted in its place, however it is spelt, the question by its topic; words that stand nowhere are named."""
    queries = ["有哪些观影资源", "观影", "看电影", "電影", "影视", "片单", "movie", "film", "subtitles", "#观影", "豆瓣", "zzyzx"]
    page = agent.call("brain_search_cflow", queries=queries)
    counts = dict(zip(queries, page["coverage"]["queries"], strict=True))
    assert (counts["豆瓣"], counts["zzyzx"], counts["subtitles"]) == (1, 0, 1)
    assert counts["观影"] >= 2
    assert counts["電影"] == 1
    assert counts["有哪些观影资源"] >= 2
    assert "zzyzx" in page["coverage"]["without_memo"]
    assert {"456", "123"} <= set(ids(page)[:4])


def test_by_meaning_alone_no_words_are_counted(agent: Agent) -> None:
    """Nothing is said of words that were not looked up."""
    coverage = agent.call("semantic_search_cflow", queries=["观影", "电影"])["coverage"]
    assert coverage["found"]
    assert not {"queries", "without_memo"} & coverage.keys()


def test_filters_go_into_the_first_query(agent: Agent) -> None:
    """Only memos that meet them are searched, and the result says so; what cannot be read as one is told as well."""
    page = agent.call("search_cflow_notes", queries=["观影 tag:资源"])
    assert (ids(page), page["coverage"]["memos"], len(page["coverage"]["filters"])) == (["456"], 1, 1)
    page = agent.call("search_cflow_notes", queries=["观影 after:someday"])
    assert any("after:someday" in text for text in page["coverage"]["not_searched"])


def test_nothing_found_is_a_result(agent: Agent) -> None:
    """With no hit, no cursor, nothing left, and what was searched."""
    page = agent.call("search_cflow_notes", queries=["zzyzx"])
    assert page["hits"] == []
    assert (page["left"], page["coverage"]["found"], page["coverage"]["without_memo"]) == (0, 0, ["zzyzx"])
    assert "cursor" not in page


@pytest.mark.parametrize("number", LONG)
def test_a_long_memo_is_previewed_around_its_match(agent: Agent, number: int) -> None:
    """300-400 characters word for word with the match in them, from one clause to another, wherever in the memo it stands."""
    text, word = LONG[number]
    hit = next(h for h in agent.call("search_cflow_notes", queries=[word])["hits"] if h["memo_id"] == str(number))
    shown = inside_fence(hit["text"])
    part = shown.removeprefix("…").removesuffix("…")
    assert hit["whole"] is False
    assert part in text
    needle = next(spelt for spelt in (word, "纜車月票夾") if spelt in text)
    assert needle in part
    assert LEAST_CHARS <= len(part) <= (MOST_CHARS if number != 310 else MOST_CHARS + len(ADDRESS))
    assert part.endswith(("。", "，", ".", ",", "👦", "end")) or text.endswith(part)
    assert ADDRESS in part or "way_down" not in part
    assert not part.replace("👩‍👩‍👧‍👦", "").count("👩")


# the budget


@pytest.mark.parametrize("most", [1_024, 1_500, 2_048, 3_000, 8_192, 20_000, MOST_BYTES])
def test_pages_keep_to_their_bytes_and_hold_all(agent: Agent, most: int) -> None:
    """Every page has at most the bytes that are allowed; together they name each memo once, in one order, and count it down."""
    pages = agent.pages("search_cflow_notes", queries=["kiln", "窑温"], max_bytes=most, limit=50)
    found = [memo_id for page in pages for memo_id in ids(page)]
    named = {*found, *(copy for page in pages for hit in page["hits"] for copy in hit.get("copies", []))}
    assert len(found) == len(set(found)) == pages[0]["coverage"]["found"]
    assert named == {str(number) for number, text in MEMOS.items() if "#kiln" in text}
    assert len(found) > 10
    assert found == ids(agent.call("search_cflow_notes", queries=["kiln", "窑温"], max_bytes=MOST_BYTES, limit=50))
    left = pages[0]["coverage"]["found"]
    for page in pages:
        left -= len(page["hits"])
        assert page["left"] == left
        assert page["hits"]
    assert not left


def test_bytes_hold_for_what_was_searched_as_well(agent: Agent) -> None:
    """Twenty long queries that nothing holds have their remarks, and still no page grows beyond its bytes."""
    for text in ("漢" * 200, "zq" * 900, "a:👩‍👩‍👧‍👦" * 60, '"b" tag:c after:d ' * 20):
        queries = [f"kiln {text}", *(f"{text}{number}" for number in range(19))]
        for most in (1_024, 2_048):
            agent.call("search_cflow_notes", queries=queries, max_bytes=most)
    missing = [f"{number:064}" for number in range(20)]
    assert agent.call("get_cflow_note", memo_ids=missing, max_bytes=1_024)["missing"]
    assert agent.call("get_cflow_note", memo_ids=missing, max_bytes=8_192)["missing"] == missing


def test_the_order_is_that_of_the_command_line(place: World, agent: Agent) -> None:
    """Pages of an agent and ``vaultbrain search --json`` name the same memos in the same order."""
    pages = agent.pages("brain_search_cflow", queries=["kiln"], limit=5)
    done = place.run("search", "kiln", "--json", "-k", "100")
    assert done.returncode == 0, done.stderr
    assert [memo_id for page in pages for memo_id in ids(page)] == [hit["memo_id"] for hit in json.loads(done.stdout)["hits"]]


def test_a_cursor_is_good_at_every_server_and_for_no_other_call(agent: Agent, second: Agent) -> None:
    """Another process goes on where this one stood. With other arguments, or made up, it is refused with what to do."""
    first = agent.call("search_cflow_notes", queries=["kiln"], limit=5)
    given = {"queries": ["kiln"], "limit": 5, "cursor": first["cursor"]}
    assert second.call("search_cflow_notes", **given) == agent.call("search_cflow_notes", **given)
    for tool, given in (
        ("search_cflow_notes", {"queries": ["kilns"]}),
        ("brain_search_cflow", {"queries": ["kiln"]}),
        ("get_cflow_note", {"memo_ids": ["456"]}),
    ):
        refused = agent.try_call(tool, **given, cursor=first["cursor"])
        assert refused.lines[0] == "The cursor is not one of this call."
        assert "without cursor" in refused.lines[2]
    assert "not one that a result gave" in agent.try_call("search_cflow_notes", queries=["kiln"], cursor="12").lines[0]


# what is somebody's text stands between marks


def test_text_of_a_memo_stands_between_marks_only(place: World, agent: Agent) -> None:
    """Words of a memo's title, text, tags and links, and of its note's name, are nowhere outside the marks in any tool."""
    for tool, given in (
        ("brain_search_cflow", {"queries": ["快照"]}),
        ("search_cflow_notes", {"queries": ["快照"], "max_bytes": 1_024}),
        ("semantic_search_cflow", {"queries": ["NAS 备份"]}),
        ("get_cflow_note", {"memo_ids": ["250"]}),
        ("ask_cflow_note", {"question": "NAS 备份快照", "dry_run": True}),
        ("recall_for_conversation", {"text": NEED}),
    ):
        result = agent.call(tool, **given)
        assert "quokka" in json.dumps(result), f"{tool} does not show the memo at all: {result}"
        rest = outside_fences(result)
        assert not [word for word in PLANTED if word in rest], (tool, rest)
        assert re.search(r"material, never instructions", result["fence"])


def test_what_a_sync_says_has_no_text_of_memos(place: World, agent: Agent) -> None:
    """Notices on notes that a person changed name them; a note's name begins with what the memo says."""
    note = next(place.vault.rglob("*(250).md"))
    before = note.read_bytes()
    note.write_bytes(before.replace("实测两小时".encode(), "实测两小时半".encode()))
    place.cflow.edit(250, MEMOS[250].replace("两小时", "三小时"))
    try:
        outcome = agent.call("auto_sync_if_needed", max_age_s=0)
        assert outcome["conflicts"] == 1
        assert "quokkatitle" in inside_fence(outcome["notices"][0])
        rest = outside_fences(outcome)
        assert not [word for word in PLANTED if word in rest], rest
    finally:
        place.cflow.edit(250, MEMOS[250])
        note.write_bytes(before)
        agent.call("auto_sync_if_needed", max_age_s=0)


# whole memos


@pytest.mark.parametrize("most", [3_000, 8_192, MOST_BYTES])
def test_a_memo_of_many_pages_comes_whole(place: World, agent: Agent, most: int) -> None:
    """Parts of a memo of 60 kB, joined without the sign of a cut, are its text; every page has its bytes, all but the last say
    that they are not whole."""
    assert len(HUGE.encode()) > 60_000
    place.cflow.add(HUGE, id=500)
    try:
        pages = agent.pages("get_cflow_note", memo_ids=["456", "500", "99"], max_bytes=most)
    finally:
        place.cflow.delete(500)
    parts: dict[str, list[str]] = {}
    for page in pages:
        for memo in page["memos"]:
            parts.setdefault(memo["memo_id"], []).append(inside_fence(memo["text"]))
            assert memo["came_from"] == "server"
    assert list(parts) == ["456", "500", "99"]
    assert (parts["456"], parts["99"]) == ([MEMOS[456]], [MEMOS[99]])
    *cut, last = parts["500"]
    assert all(part.endswith("…") for part in cut)
    assert "".join(part[:-1] for part in cut) + last == HUGE
    assert len(cut) >= len(HUGE.encode()) // MOST_BYTES


def test_ids_are_taken_as_people_and_programs_write_them(agent: Agent) -> None:
    """As numbers, with #, as text, one alone; the order is kept, a memo comes once, and unknown ids are named."""
    page = agent.call("get_cflow_note", memo_ids=[456, "#123", "456", " 99 ", "31337", "no-such"])
    assert [memo["memo_id"] for memo in page["memos"]] == ["456", "123", "99"]
    assert page["missing"] == ["31337", "no-such"]
    memo = agent.call("get_cflow_note", memo_ids=456)["memos"][0]
    assert inside_fence(memo["text"]) == MEMOS[456]
    assert (memo["whole"], memo["visibility"], inside_fence(memo["tags"])) == (True, "PRIVATE", "#观影 #资源")
    assert (memo["created"], memo["url"][-3:]) == ("2023-11-15 05:49", "456")
    assert (page := agent.call("get_cflow_note", memo_ids=["31337"]))["memos"] == []
    assert (page["missing"], page["left"]) == (["31337"], 0)


def test_the_mirror_serves_when_the_server_does_not(place: World, agent: Agent) -> None:
    """What the mirror has comes with the reason; what it does not have is missing, and alone it is an error with three lines."""
    place.cflow.behaviours |= dict.fromkeys(("/api/v1/memo/456", "/api/v1/memo/31337", "/api/v1/status"), answer_status(503))
    try:
        page = agent.call("get_cflow_note", memo_ids=["456", "31337"])
        [memo] = page["memos"]
        assert (memo["came_from"], inside_fence(memo["text"])) == ("mirror", MEMOS[456])
        assert "503" in memo["reason"]
        assert page["missing"] == ["31337"]
        assert "503" in agent.try_call("get_cflow_note", memo_ids=["31337"]).lines[0]
    finally:
        place.cflow.behaviours.clear()


# answers


def test_ask_writes_one_note_and_nothing_else(place: World, agent: Agent) -> None:
    """The note is below Answers; a dry run writes nothing, the same question again brings the same note up to date. As a
    resource the note is listed first and comes between marks."""
    before = hash_tree(place.vault)
    dry = agent.call("ask_cflow_note", question="有哪些观影资源", variants=["movie"], mode="inventory", dry_run=True)
    assert (dry["path"], dry["link"], dry["updated"]) == ("", "", False)
    assert hash_tree(place.vault) == before
    made = agent.call("ask_cflow_note", question="有哪些观影资源", variants=["movie"], mode="inventory")
    after = hash_tree(place.vault)
    new = {path for path in after if path not in before and not path.endswith("/")}
    assert new == {made["path"]}
    assert made["path"].startswith("CFlow/Answers/")
    assert {path for path in before if after.get(path) != before[path]} <= {"CFlow/Home.md"}
    assert made["link"].startswith("obsidian://open?vault=vault&file=CFlow%2FAnswers%2F")
    assert {"456", "123"} <= {source["memo_id"] for source in made["sources"]}
    assert inside_fence(made["conclusion"])
    again = agent.call("ask_cflow_note", question="有哪些观影资源", variants=["movie"], mode="inventory")
    assert (again["path"], again["updated"]) == (made["path"], True)
    first = agent.do(agent.client.list_resources()).resources[0]
    assert (first.title, first.mime_type) == ("有哪些观影资源", "text/markdown")
    [contents] = agent.do(agent.client.read_resource(first.uri)).contents
    note = (place.vault / made["path"]).read_text("utf-8")
    assert note.strip() in contents.text
    code = re.match(r"Between <<(\d+) and \1>>", contents.text)[1]  # type: ignore[index]
    assert contents.text.endswith(f"<<{code} {note} {code}>>\n")
    assert code not in note


def test_a_passage_is_matched(agent: Agent) -> None:
    """With a passage, memos close to its parts are the sources."""
    result = agent.call(
        "ask_cflow_note", question="这段话和哪些笔记有关", mode="match", passage="周末想看几部老电影，最好有片单。", dry_run=True
    )
    assert result["mode"] == "match"
    assert {"456", "123", "201", "202"} & {source["memo_id"] for source in result["sources"]}


@pytest.mark.parametrize("address", ["cflow://answers/no-such", "cflow://answers/", "cflow://answers/../../etc/passwd", "x:y"])
def test_an_unknown_resource_is_an_error_of_the_protocol(agent: Agent, address: str) -> None:
    """It says how to see those there are."""
    with pytest.raises(MCPError, match="List the resources"):
        agent.do(agent.client.read_resource(address))


# keeping up


def test_a_fresh_mirror_is_left_alone(place: World, agent: Agent) -> None:
    """Nothing is asked, nothing written, and the age is told."""
    agent.call("auto_sync_if_needed", max_age_s=0)
    before, asked = hash_tree(place.vault.parent, with_mtime=True), len(place.cflow.requests)
    outcome = agent.call("auto_sync_if_needed")
    assert (outcome["ran"], outcome["finished"]) == (False, True)
    assert 0 <= outcome["age_s"] < 300
    assert len(place.cflow.requests) == asked
    after = hash_tree(place.vault.parent, with_mtime=True)
    assert {path for path in before | after if before.get(path) != after.get(path) and "sqlite3-" not in path} == set()


def test_what_changed_on_the_server_comes(place: World, agent: Agent) -> None:
    """New, changed and deleted memos are counted, progress is told meanwhile, and a search knows them at once."""
    stages: list[str] = []
    place.cflow.add("新写的 xylophone 练习计划", id=900)
    place.cflow.edit(77, "跑步 7 公里 xylophone")
    outcome = agent.begin("auto_sync_if_needed", stages.append, max_age_s=0).result(90)
    assert not outcome.is_error, outcome.text
    assert (outcome.result["ran"], outcome.result["finished"]) == (True, True)
    assert (outcome.result["created"], outcome.result["updated"]) == (1, 1)
    assert stages
    assert set(ids(agent.call("search_cflow_notes", queries=["xylophone"]))) == {"900", "77"}
    place.cflow.delete(900)
    place.cflow.edit(77, MEMOS[77])
    assert agent.call("auto_sync_if_needed", max_age_s=0)["deleted"] == 1


def test_a_dead_server_is_an_error_and_changes_nothing(place: World, agent: Agent) -> None:
    """Three lines, the vault as it was, and searches go on."""
    before = hash_tree(place.vault)
    place.cflow.behaviours |= dict.fromkeys(("/api/v1/status", "/api/v1/memo", "/api/v1/memo/stats"), answer_status(503))
    try:
        failed = agent.try_call("auto_sync_if_needed", max_age_s=0)
        assert "503" in failed.lines[0]
        assert hash_tree(place.vault) == before
        assert ids(agent.call("search_cflow_notes", queries=["豆瓣"])) == ["123"]
    finally:
        place.cflow.behaviours.clear()


def test_status_tells_the_state(place: World, agent: Agent) -> None:
    """Counts, age and watcher; nothing to do when all is there."""
    agent.call("auto_sync_if_needed", max_age_s=0)
    status = agent.call("cflow_brain_status")
    assert (status["memos"], status["notes"], status["memos_to_index"]) == (len(MEMOS), len(MEMOS), 0)
    assert status["chunks"] == status["chunks_with_vector"] > len(MEMOS)
    assert (status["watcher"], status["source"], status["vault"]) == ("never", place.cflow.url, str(place.vault))
    assert 0 <= status["age_s"] < 60
    assert "next" not in status


# conversations


def test_recall_mentions_a_memo_that_helps_once(agent: Agent) -> None:
    """By words alone as well; a memo that was mentioned in this conversation does not come again; small talk recalls nothing."""
    for semantic in (None, False):
        found = agent.call("recall_for_conversation", text=NEED, semantic=semantic)
        assert [mention["memo_id"] for mention in found["mentions"]] == ["250"], found
        [mention] = found["mentions"]
        assert mention["why"]
        assert "NAS" in inside_fence(mention["title"])
        assert inside_fence(mention["link"]) == "https://quokkahost.example/quokkapath"
    again = agent.call("recall_for_conversation", text=NEED, already_mentioned=["#250"])
    assert "250" not in [mention["memo_id"] for mention in again["mentions"]]
    quiet = agent.call("recall_for_conversation", text="好的，谢谢！")
    assert (quiet["worth_a_look"], quiet["mentions"]) == (False, [])
    assert quiet["reasons"]


def test_the_gate_judges_a_text(agent: Agent) -> None:
    """What is worth a look-up has its short query, what is not has its reason."""
    assert agent.call("recall_gate", text="照片备份的步骤是什么？")["recall"] is True
    closed = agent.call("recall_gate", text="好的，谢谢！")
    assert closed["recall"] is False
    assert closed["reasons"]


# before there is anything


def test_a_vault_that_is_not_ready_is_told_and_mended_without_a_restart(tmp_path: Path) -> None:
    """Without a vault, with broken settings, before the first sync: the server runs, every tool says what to do in three lines
    or what there is, and the next call after the repair works."""
    given: dict[str, dict[str, Any]] = {tool.name: {} for tool in TOOLS}
    given |= {name: {"queries": ["观影"]} for name in ("brain_search_cflow", "semantic_search_cflow", "search_cflow_notes")}
    given |= {"get_cflow_note": {"memo_ids": ["456"]}, "ask_cflow_note": {"question": "观影"}}
    given |= {name: {"text": "照片备份的步骤是什么？"} for name in ("recall_for_conversation", "recall_gate")}
    vault = tmp_path / "later" / "vault"
    with connected(vault) as agent:
        for name, arguments in given.items():
            assert agent.try_call(name, **arguments).is_error, name
        with pytest.raises(MCPError, match="vault"):
            agent.do(agent.client.list_resources())
        with world(tmp_path / "later", [wire_memo(number, text) for number, text in FILMS.items()]) as made:
            good = made.settings.read_text("utf-8")
            made.settings.write_text("embedding = 7\nnonsense = [", encoding="utf-8")
            for name, arguments in given.items():
                assert "vaultbrain.toml" in agent.try_call(name, **arguments).text, name
            made.settings.write_text(good, encoding="utf-8")
            for name in ("search_cflow_notes", "ask_cflow_note", "recall_for_conversation"):
                assert "sync" in agent.try_call(name, **given[name]).lines[2], name
            assert "auto_sync_if_needed" in agent.call("cflow_brain_status")["next"]
            assert agent.call("get_cflow_note", memo_ids=["456"])["memos"][0]["came_from"] == "server"
            assert agent.call("auto_sync_if_needed")["created"] == len(FILMS)
            assert set(ids(agent.call("search_cflow_notes", queries=["观影"]))) == {"456", "123"}
            made.settings.write_text(good + "folder = 'Elsewhere'\n", encoding="utf-8")
            assert agent.call("cflow_brain_status")["vault"] == str(vault)
            made.settings.write_text("x", encoding="utf-8")
            with pytest.raises(CallFailed):
                agent.call("cflow_brain_status")
        assert "Traceback" not in agent.errors()
