"""The command line: parse, call, present. Nothing is decided here.

Commands are registered by one file per group; heavy packages are imported by what they call, so that ``--help`` is quick.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer
from typer.main import get_command

from vaultbrain.cli import (
    agents,
    answering,
    looking,
    measuring,
    recalling,
    searching,
    service,
    setting_up,
    skill,
    syncing,
    watching,
)
from vaultbrain.cli.console import answer, describe_failure, describe_usage_problem, escape_what_cannot_be_shown, say
from vaultbrain.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, OwnFault, VaultbrainError
from vaultbrain.index.installed import installed_version

PROGRAM = "vaultbrain"
_DEBUG = "--debug"
#: Objects made between two looks for unreachable cycles. Thousands of memos are made and kept; looking among them every 700
#: objects is a twentieth of a sync without changes.
_NEW_OBJECTS = 50_000

app = typer.Typer(
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example, to begin: vaultbrain init ~/vault\n\nWith --debug, any command shows the traceback of its failure.",
)


def _show_version(is_wanted: bool) -> None:
    if is_wanted:
        answer(f"{PROGRAM} {installed_version(PROGRAM) or '(not installed)'}")
        raise typer.Exit


@app.callback()
def vaultbrain(
    version: Annotated[bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version.")] = False,
) -> None:
    """Your CFlow or Memos memos in Obsidian, searchable and answering, offline."""


for group in (setting_up, syncing, searching, answering, recalling, watching, service, skill, looking, measuring, agents):
    group.register(app)


def run() -> None:
    """The console script. ``--debug`` anywhere adds the traceback of a failure."""
    escape_what_cannot_be_shown()
    gc.set_threshold(_NEW_OBJECTS)
    arguments = [argument for argument in sys.argv[1:] if argument != _DEBUG]
    sys.exit(_run(arguments or ["--help"], is_debug=len(arguments) < len(sys.argv) - 1))


def _run(arguments: list[str], *, is_debug: bool) -> int:
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except VaultbrainError as error:
        if is_debug:
            raise
        say(describe_failure(error))
        return error.exit_code
    except typer.TyperException as error:
        say(describe_usage_problem(error, PROGRAM))
        return error.exit_code
    except (KeyboardInterrupt, EOFError):
        say("\nStopped. Everything finished so far is kept.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe went away, which is its right
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except Exception:
        if is_debug:
            raise
        say(describe_failure(OwnFault(next="Run the same command with --debug to see where, and please report it.")))
        return EXIT_FAILED
    return code


def _invoke(arguments: list[str]) -> int:
    """Without Typer's own ``main``, which answers a broken pipe and Ctrl-C with codes of its own."""
    try:
        with get_command(app).make_context(PROGRAM, arguments) as context:
            code = context.command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    return code if isinstance(code, int) else EXIT_DONE
