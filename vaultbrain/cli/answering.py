"""``vaultbrain ask`` and ``vaultbrain refresh``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import typer

from vaultbrain.cli.console import (
    JsonOption,
    QuietOption,
    VariantOption,
    VaultOption,
    answer,
    answer_json,
    counted,
    on_terminal,
    refuse_blank,
    say,
    showing_progress,
    stopping,
)
from vaultbrain.errors import EXIT_PARTLY, UsageProblem
from vaultbrain.wiring import open_brain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vaultbrain.answer.ask import Asked
    from vaultbrain.wiring import Brain

MODES = ("auto", "inventory", "match", "explore")

#: Columns of running text beyond which the eye loses the line.
_WIDEST = 100
_WIKILINK = re.compile(r"\[\[[^\[\]|]*\|([^\[\]]*)\]\]")
_CALLOUT = re.compile(r"^> \[!\w+\][+-]? (.*)$", re.MULTILINE)


def register(app: typer.Typer) -> None:
    app.command("ask", epilog='Example: vaultbrain ask "帮我找和观影有关的资源"')(ask)
    app.command("refresh", epilog='Example: vaultbrain refresh "CFlow/Answers/2026-11-30 观影.md"')(refresh)


def ask(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question; the note is written in its language.")],
    vault: VaultOption = None,
    mode: Annotated[
        str, typer.Option("--mode", metavar="|".join(MODES), help="List what there is, compare with a text, or explore.")
    ] = "auto",
    variant: VariantOption = None,
    from_file: Annotated[Path | None, typer.Option("--from", metavar="FILE", help="A text to find related memos for.")] = None,
    new: Annotated[bool, typer.Option("--new", help="Make another note though this question has one.")] = False,
    canvas: Annotated[bool, typer.Option("--canvas", help="Draw a canvas beside the note, too.")] = False,
    stdout: Annotated[bool, typer.Option("--stdout", help="Only print the answer; write nothing.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the note as it would be; write nothing.")] = False,
    as_json: JsonOption = False,
) -> int:
    """Answer a question in a note that cites your memos.

    The same question asked again brings its note up to date. A long text in place of a question is compared with your memos.
    """
    if mode not in MODES:
        raise UsageProblem(what=f"--mode {mode} is not known.", next=f"Use one of: {', '.join(MODES)}")
    refuse_blank(question, "question")
    brain = open_brain(vault)
    passage = _read_passage(from_file) if from_file else ""
    writes = not (dry_run or stdout)
    asked = brain.ask(question, mode=mode, variants=variant or (), passage=passage, writes=writes, new=new, canvas=canvas)
    for notice in asked.notices:
        say(f"note: {notice}")
    if as_json:
        answer_json(asked.as_json)
    elif dry_run:
        answer(asked.text)
    else:
        if stdout or on_terminal(sys.stdout):
            _show(asked)
        if not stdout:
            _tell_place(brain, asked)
    return EXIT_PARTLY if asked.writer_failed else 0


def _tell_place(brain: Brain, asked: Asked) -> None:
    answer(str(brain.settings.vault / asked.path))
    if on_terminal(sys.stdout):
        answer(f"obsidian://open?vault={quote(brain.settings.vault.name, safe='')}&file={quote(asked.path, safe='')}")


def _show(asked: Asked) -> None:
    """The answer to be read on a terminal; elsewhere as Markdown without our links, which lead nowhere there."""
    text = _readable(asked.row.region)
    if not on_terminal(sys.stdout):
        answer(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    console.print(Markdown(text, hyperlinks=False), width=min(console.width, _WIDEST))
    console.print()


def _readable(region: str) -> str:
    """Markdown that any reader shows: links as their text, a callout as a quotation that begins with its title."""
    return _CALLOUT.sub(r"> **\1**\n>", _without_links(region))


def _without_links(text: str) -> str:
    return _WIKILINK.sub(r"\1", text)


def _read_passage(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageProblem(what=f"{path} cannot be read: {reason}.", next="Give --from a text file.") from error
    if not text.strip():
        raise UsageProblem(what=f"{path} holds no text.", next="Give --from a file with the text to compare.")
    return text


def refresh(
    notes: Annotated[
        list[str] | None, typer.Argument(metavar="[NOTE]...", help="Answer notes by their paths; default: the stale ones.")
    ] = None,
    vault: VaultOption = None,
    everything: Annotated[bool, typer.Option("--all", help="Every answer, the fresh ones too.")] = False,
    auto: Annotated[bool, typer.Option("--auto", help="Only notes with the property vb_refresh: auto.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change; write nothing.")] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Answer again what stale notes answer, in the same notes; what you wrote in them stays.

    Each note says what has changed since its last version.
    """
    if notes and (everything or auto):
        raise UsageProblem(what="NOTE was given together with --all or --auto.", next="Name notes, or leave them out.")
    brain = open_brain(vault)
    wanted = [_in_vault(brain, note) for note in notes or ()]
    with stopping() as should_stop, showing_progress(quiet=quiet or as_json) as progress:
        done = brain.refresh(
            wanted, everything=everything, auto_only=auto, writes=not dry_run, progress=progress, should_stop=should_stop
        )
    if as_json:
        answer_json({"refreshed": [_public_form(asked) for asked in done]})
    else:
        answer("\n".join(_in_words(done, is_dry=dry_run)))
    return EXIT_PARTLY if any(asked.writer_failed for asked in done) else 0


def _in_vault(brain: Brain, note: str) -> str:
    """The note's path in the vault, given like that or as a file, absolute or from the working folder."""
    root, given = brain.settings.vault, Path(note).expanduser()
    if (root / note).is_file() or (root / f"{note}.md").is_file():
        return Path(note).as_posix() if not given.is_absolute() else given.resolve().relative_to(root).as_posix()
    resolved = given.resolve()
    return resolved.relative_to(root).as_posix() if resolved.is_relative_to(root) else note


def _public_form(asked: Asked) -> dict[str, Any]:
    return asked.as_json | {"path": asked.row.path, "changes": list(asked.changes)}


def _in_words(done: Sequence[Asked], *, is_dry: bool) -> list[str]:
    if not done:
        return ["Nothing to do: no answer is stale."]
    head = "Would refresh" if is_dry else "Refreshed"
    lines = [f"{head} {counted(len(done), 'answer')}."]
    for asked in done:
        lines.append(asked.row.path)
        lines += [f"  {_without_links(change)}" for change in asked.changes] or ["  nothing new"]
    return lines
