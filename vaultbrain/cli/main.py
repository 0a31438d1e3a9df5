"""The command line: parse, call, present. Nothing is decided here.

Commands are registered by one file per group; heavy packages are imported by what they call, so that ``--help`` is quick.
"""

from __future__ import annotations

import os
import sys

import click
import typer

from vaultbrain.cli import asking, looking, setting_up, syncing
from vaultbrain.cli.console import describe_failure, say
from vaultbrain.errors import EXIT_DONE, EXIT_FAILED, EXIT_INTERRUPTED, VaultbrainError

app = typer.Typer(
    help="Your CFlow or Memos memos in Obsidian, searchable and answering, offline.\n\nStart with: vaultbrain init VAULT",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for group in (setting_up, syncing, asking, looking):
    group.register(app)

_DEBUG = "--debug"


def run() -> None:
    """The console script. ``--debug`` anywhere adds the traceback of a failure."""
    arguments = [argument for argument in sys.argv[1:] if argument != _DEBUG]
    sys.exit(_run(arguments, is_debug=len(arguments) < len(sys.argv) - 1))


def _run(arguments: list[str], *, is_debug: bool) -> int:
    try:
        code = app(arguments, standalone_mode=False)
        sys.stdout.flush()
    except VaultbrainError as error:
        if is_debug:
            raise
        say(describe_failure(error))
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("Stopped. Everything finished so far is kept.")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of a pipe went away, which is its right
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_DONE
    except Exception:
        if is_debug:
            raise
        say(
            "vaultbrain met a fault of its own. What was finished before it is kept.\n"
            "Run the same command with --debug to see where, and please report it."
        )
        return EXIT_FAILED
    return code if isinstance(code, int) else EXIT_DONE
