"""The documentation cannot lie: reference pages are what the program says, and every command that is shown can be typed."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer
from typer.main import get_command

from vaultbrain.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

_FENCED_COMMAND = re.compile(r"^\s*(?:\$ )?(vaultbrain [a-z-].*)$", re.MULTILINE)
_INLINE_COMMAND = re.compile(r"`(vaultbrain [a-z-][^`\n]*)`")
#: In the program's own words a command follows "run" or a colon, and ends with its options.
_SPOKEN_COMMAND = re.compile(r"(?:: |\b[Rr]un |[运執][行] ?)(vaultbrain [a-z]+(?: show| install)?(?: --[a-z-]+)*)")
_FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)(?:#([^)\s]+))?\)")


def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def commands_in(text: str) -> Iterator[str]:
    """The commands of a page, without what a shell makes of the rest of the line."""
    fenced = "".join(_FENCE.findall(text))
    for command in _FENCED_COMMAND.findall(fenced) + _INLINE_COMMAND.findall(_FENCE.sub("", text)):
        yield re.split(r"\s+(?:#|\||>|&&)(?:\s|$)", command)[0]


def complaint(line: str) -> str:
    """Why the line cannot be typed; empty when command and options exist. Arguments may be left out in running text."""
    words = shlex.split(line)[1:]
    command: Any = get_command(app)
    while words and getattr(command, "commands", None):
        if words[0] not in command.commands:
            break
        command = command.commands[words.pop(0)]
    try:
        command.make_context("vaultbrain", words)
    except typer.BadParameter:  # a placeholder, or an argument left out
        return ""
    except typer.Exit:
        return ""
    except typer.TyperException as error:
        said = error.format_message()
        return "" if said.endswith("requires an argument.") else said
    return f"no command {words[0]}" if getattr(command, "commands", None) and words else ""


@pytest.mark.parametrize("name", ["commands.md", "settings.md"])
def test_reference_pages_are_what_the_program_says(name: str) -> None:
    """After a change of a command or a setting: python docs/generate.py"""
    assert (ROOT / "docs" / name).read_text(encoding="utf-8") == generator().PAGES[name]()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_on_a_page_can_be_typed(page: Path) -> None:
    """The command exists and has these options."""
    complaints = {line: complaint(line) for line in commands_in(page.read_text(encoding="utf-8"))}
    assert {line: said for line, said in complaints.items() if said} == {}


def test_every_command_that_a_message_names_can_be_typed() -> None:
    """What to do next is a command to paste, so it has to be one."""
    said = set()
    for path in (ROOT / "vaultbrain").rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        texts = [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
        said |= {command for text in texts for command in _SPOKEN_COMMAND.findall(text)}
    assert {"vaultbrain sync", "vaultbrain sync --confirm-deletions", "vaultbrain config show"} <= said
    assert {line: complaint(line) for line in said if complaint(line)} == {}


def test_a_wrong_command_is_noticed() -> None:
    """Else the three tests above would mean nothing."""
    assert complaint("vaultbrain nosuch")
    assert complaint("vaultbrain sync --nosuch")
    assert complaint("vaultbrain config nosuch")
    assert complaint("vaultbrain status too many")
    assert [complaint(line) for line in ("vaultbrain ask", 'vaultbrain search "观影" -k N', "vaultbrain config show --json")] == [
        ""
    ] * 3
    page = "`vaultbrain a` b\n```console\n$ vaultbrain c --d | head  # e\nvaultbrain brings\n```\n"
    assert list(commands_in(page)) == ["vaultbrain c --d", "vaultbrain brings", "vaultbrain a"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    """Files beside the page exist, and so do the headings that links name."""
    for target, heading in _LINK.findall(_FENCE.sub("", page.read_text(encoding="utf-8"))):
        path = (page.parent / target).resolve()
        assert path.exists(), target
        if heading:
            titles = re.findall(r"^#+ (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
            assert heading in {re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-") for title in titles}, heading


def test_every_page_is_reached_from_the_readme() -> None:
    """No page of the documentation is lost."""
    linked = {(ROOT / target).resolve() for target, _ in _LINK.findall((ROOT / "README.md").read_text(encoding="utf-8"))}
    assert {page.resolve() for page in PAGES} - linked == {ROOT / "README.md"}
