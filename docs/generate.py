"""Writes docs/commands.md and docs/settings.md from the program itself; a test keeps them up to date.

python docs/generate.py
"""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.main import get_command

from vaultbrain.cli.main import app
from vaultbrain.mcp.http_token import HTTP_TOKEN_VARIABLE
from vaultbrain.settings import EMBEDDING_KEY_VARIABLE, ENVIRONMENT_PREFIX, LLM_KEY_VARIABLE, NAMES, TOKEN_VARIABLE, Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parent

_COMMANDS_HEAD = """\
# Commands

Written by `docs/generate.py` from the program itself: what stands here is what `--help` says.

The answer goes to stdout, all talk to stderr. With `--json`, stdout holds one JSON document and nothing else; field names stay.
Progress is shown only when stderr is a terminal. Exit codes:

| code | means |
| --- | --- |
| 0 | done |
| 1 | failed; stderr says what happened, what was left untouched, and what to do next |
| 2 | wrong usage, or settings that cannot be used |
| 3 | finished, but some items failed, conflict or were withheld |
| 130 | interrupted; what was finished is kept |

Any command takes `--debug`, which shows the traceback of a failure, and `--help`.
"""

_SETTINGS_HEAD = f"""\
# Settings

Written by `docs/generate.py` from the program itself.

Settings stand in `vaultbrain.toml` in the vault's folder. A variable of the environment wins over the file: its name in capitals
after `{ENVIRONMENT_PREFIX}`, as in `{ENVIRONMENT_PREFIX}TIMEOUT`. `vaultbrain config show` says where each value comes from.

`llm.model` is the key `model` below a line `[llm]`, which stands after all settings without a table; its variable is
`{ENVIRONMENT_PREFIX}LLM_MODEL`.

The server's access token is no setting, because a vault is shared and synced: it comes from `{TOKEN_VARIABLE}`, or from the file
that `token_file` names. The key of an embedding server comes from `{EMBEDDING_KEY_VARIABLE}`, that
of a chat server from `{LLM_KEY_VARIABLE}` or from the variable that `llm.api_key_env` names. The token that
clients of `vaultbrain mcp --http` send comes from `{HTTP_TOKEN_VARIABLE}`, from `--token-file`, or from a file that is made
in the state folder.

| setting | default | what it is |
| --- | --- | --- |
"""


def commands_page() -> str:
    parts = [_COMMANDS_HEAD]
    parts += [_section(words, command) for words, command in walk(get_command(app), "vaultbrain")]
    return "\n".join(parts)


def settings_page() -> str:
    rows = [
        f"| `{NAMES[field.name]}` | {_default(field.name, field.default)} | {_cell(field.metadata['doc'])} |"
        for field in fields(Settings)
        if "doc" in field.metadata
    ]
    return _SETTINGS_HEAD + "\n".join(rows) + "\n"


def walk(command: Any, words: str) -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its words, in the order of the help."""
    parts = getattr(command, "commands", None)
    if parts is None:
        yield words, command
        return
    for name, part in parts.items():
        yield from walk(part, f"{words} {name}")


def _section(words: str, command: Any) -> str:
    paragraphs = [" ".join(paragraph.split()) for paragraph in command.help.split("\n\n")]
    rows = [f"| {_spelling(parameter)} | {_meaning(parameter)} |" for parameter in command.params if parameter.name != "help"]
    example = command.epilog.removeprefix("Example: ")
    table = ["| | |", "| --- | --- |", *rows, ""] if rows else []
    return "\n".join([f"## {words}", "", "\n\n".join(paragraphs), "", *table, "```console", f"$ {example}", "```", ""])


def _spelling(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar}`" if parameter.required else f"`[{parameter.metavar}]`"
    value = "" if parameter.is_flag else f" {_cell(parameter.metavar)}"
    return ", ".join(f"`{option}{value}`" for option in (*parameter.opts, *parameter.secondary_opts))


def _meaning(parameter: Any) -> str:
    shows = parameter.default not in (None, False, "") and not parameter.multiple
    return _cell(parameter.help) + (f" Default: `{parameter.default}`." if shows else "")


def _default(name: str, value: object) -> str:
    if name == "embedding":
        return '`"e5"`; `"use"` on Windows'
    if isinstance(value, tuple):
        return f"`[{', '.join(value)}]`"
    return f'`"{value}"`' if isinstance(value, str) and value else "" if value == "" else f"`{str(value).lower()}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


PAGES = {"commands.md": commands_page, "settings.md": settings_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8", newline="\n")
