"""The page for users of assistants names the tools as they are, and what it gives to paste can be pasted."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

import pytest
from test_docs import complaint

from vaultbrain.cli.agents import USUAL_PORT
from vaultbrain.mcp.arguments import is_required
from vaultbrain.mcp.http import DEFAULT_PORT, HOST, PATH
from vaultbrain.mcp.http_token import HTTP_TOKEN_VARIABLE
from vaultbrain.mcp.tools import TOOLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from vaultbrain.mcp.arguments import Argument
    from vaultbrain.mcp.tools import Tool

PAGE = (Path(__file__).parent.parent / "docs" / "agents.md").read_text("utf-8")
#: The program in every block that starts the server, and what stands before its name in a permission.
PROGRAM = "/home/me/.venv/bin/vaultbrain"
PERMISSION = "mcp__vaultbrain__"

_SECTION = re.compile(r"^### (`\w+`(?:, `\w+`)*)$(.*?)(?=^##)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```(json|toml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAME = re.compile(r"`(\w+)`")


def sections() -> dict[str, str]:
    """What the page says of each tool, by its name."""
    return {name: text for heading, text in _SECTION.findall(PAGE) for name in _NAME.findall(heading)}


def rows(section: str, head: str) -> list[list[str]]:
    """The cells of all tables whose first column's head begins so."""
    found = re.findall(rf"^\| {head}[^\n]*\n\| ---.*?(?=\n\n|\Z)", section, re.MULTILINE | re.DOTALL)
    tables = [table.split("\n") for table in found]
    return [re.split(r" ?\| ?", row.strip().strip("|").strip()) for table in tables for row in table[2:]]


def field_names(kind: Any) -> Iterator[str]:
    """The names in a result and in what it holds."""
    if is_dataclass(kind):
        for name, hint in get_type_hints(kind).items():
            yield name
            yield from field_names(hint)
    for part in get_args(kind):
        yield from field_names(part)


def default_of(argument: Argument) -> str:
    """As the page tells it: nothing for an empty one."""
    if is_required(argument):
        return "required"
    return "" if argument.default in {"", ()} else json.dumps(argument.default)


def blocks(language: str) -> list[str]:
    return [text for name, text in _BLOCK.findall(PAGE) if name == language]


def servers() -> Iterator[dict[str, Any]]:
    """What a client is told to start, from each block that tells it."""
    for text in blocks("json"):
        yield from json.loads(text).get("mcpServers", {}).values()
    for text in blocks("toml"):
        yield from tomllib.loads(text).get("mcp_servers", {}).values()


def test_the_page_has_every_tool_and_no_other() -> None:
    """In the order in which a client lists them."""
    assert list(sections()) == [tool.name for tool in TOOLS]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_arguments_of_a_tool_are_those_that_it_takes(tool: Tool) -> None:
    """Each with its default, where it has one worth telling, or that it has to be given."""
    told = {_NAME.findall(row[0])[0]: row[1].strip("`") for row in rows(sections()[tool.name], "argument")}
    wanted = {argument.name: default_of(argument) for argument in tool.arguments}
    assert told == wanted


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_fields_of_a_result_are_those_that_it_has(tool: Tool) -> None:
    """Each field is in a table of the tool, or, of something that other tools give too, of the tool that gives it first."""
    told = {name for row in rows(sections()[tool.name], "field") for name in _NAME.findall(row[0])}
    earlier = {name for name, text in sections().items() if name != tool.name for name in _NAME.findall(text)}
    wanted = set(field_names(tool.result))
    assert told <= wanted
    own = {item.name for item in fields(tool.result)}
    assert own <= told
    assert wanted <= told | earlier | set(_NAME.findall(sections()[tool.name]))


def test_the_result_that_is_shown_has_only_fields_that_results_have() -> None:
    """It was a real one once; a field that is renamed makes it a lie."""
    (shown,) = [json.loads(text) for text in blocks("json") if '"hits"' in text]
    assert {*shown, *shown["hits"][0], *shown["coverage"]} <= set(field_names(TOOLS[0].result))


def test_every_block_that_starts_a_server_names_a_command_that_exists() -> None:
    """The same program with the same vault in each, so that one replacement serves all of them."""
    started = [server for server in servers() if "url" not in server]
    assert len(started) >= 5
    for server in started:
        assert server["command"] == PROGRAM
        assert Path(server["args"][-1]).is_absolute()
        assert complaint(" ".join(["vaultbrain", *server["args"]])) == ""


def test_every_block_with_an_address_has_the_one_where_the_server_listens() -> None:
    """By default, as the command says it, too; and takes the token from the variable that the server reads."""
    reached = [server for server in servers() if "url" in server]
    assert reached
    assert USUAL_PORT == DEFAULT_PORT
    for server in reached:
        assert server["url"] == f"http://{HOST}:{DEFAULT_PORT}{PATH}"
        assert HTTP_TOKEN_VARIABLE in json.dumps(server)


def test_tools_that_may_be_allowed_exist_and_writing_is_asked_for() -> None:
    """A name that is wrong would allow nothing, and nobody would notice; what writes is never among those that pass."""
    (permissions,) = [json.loads(text)["permissions"] for text in blocks("json") if "permissions" in text]
    by_name = {tool.name: tool for tool in TOOLS}
    assert {name.removeprefix(PERMISSION) for kind in permissions.values() for name in kind} == by_name.keys()
    assert all(by_name[name.removeprefix(PERMISSION)].reads_only for name in permissions["allow"])
    enabled = [name for server in servers() for name in server.get("enabled_tools", ())]
    assert enabled
    assert all(by_name[name].reads_only for name in enabled)
