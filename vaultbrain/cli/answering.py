"""``vaultbrain ask`` and ``vaultbrain refresh``."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import unquote

import typer

from vaultbrain.cli.console import (
    JsonOption,
    QuietOption,
    VariantOption,
    VaultOption,
    answer,
    answer_json,
    on_terminal,
    refuse_blank,
    say,
    showing_progress,
    stopping,
)
from vaultbrain.errors import EXIT_INTERRUPTED, EXIT_PARTLY, AnswerNotFound, UsageProblem
from vaultbrain.wiring import open_brain
from vaultbrain.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vaultbrain.answer.ask import Asked
    from vaultbrain.wiring import Brain

MODES = ("auto", "inventory", "match", "explore")

#: Columns of running text beyond which the eye loses the line.
_WIDEST = 100
#: Links of ours in the two forms of ``vault.markdown.wikilink``; addresses of the web are left as they are.
_LINK = re.compile(
    r"(?<!\\)\[\[[^\[\]|]*\|([^\[\]]*)\]\]|(?<!\\)\[([^\[\]]*)(?<!\\)\]\((?![a-z]+://)[^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)"
)
_CALLOUT = re.compile(r"^> \[!\w+\][+-]? (.*)$", re.MULTILINE)
_QUOTED_LINE = re.compile(r"^(> .*\S)$", re.MULTILINE)
#: A note as it may be named: copied from another note, with or without what follows its name.
_NAMED_AS_LINK = re.compile(r"!?\[\[(?P<wiki>[^\[\]|#]+)[^\[\]]*\]\]|\[[^\[\]]*\]\(<?(?P<encoded>[^<>#]+?)(?:#[^<>]*)?>?\)")
#: Bytes of a text to compare with. 200 kB are a hundred pages, and take up to half a minute.
_LONGEST_PASSAGE = 200_000


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
    Filters may stand in the question, as in search. Put -- before a question that begins with a minus.
    """
    if mode not in MODES:
        raise UsageProblem(what=f"--mode {mode} is not known.", next=f"Use one of: {', '.join(MODES)}")
    question = question.encode("utf-8", "surrogateescape").decode("utf-8", "replace")  # bytes that were no UTF-8
    refuse_blank(question.replace("\u200b", ""), "question")
    brain = open_brain(vault)
    passage = _read_passage(from_file) if from_file else ""
    writes = not (dry_run or stdout)
    asked = brain.ask(question, mode=mode, variants=variant or (), passage=passage, writes=writes, new=new, canvas=canvas)
    for notice in (*asked.notices, *_without_model([asked])):
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
    return EXIT_PARTLY if asked.is_partial else 0


def _without_model(done: Sequence[Asked]) -> list[str]:
    """What became of the chat model's sentences, each reason once."""
    reasons = dict.fromkeys(asked.writer_failed for asked in done if asked.writer_failed)
    return [
        f"The chat model wrote nothing that can be used ({reason}); the answer is in the memos' own words." for reason in reasons
    ]


def _tell_place(brain: Brain, asked: Asked) -> None:
    answer(str(brain.settings.vault / asked.path))
    if on_terminal(sys.stdout):
        answer(brain.obsidian_link(asked.path))


def _show(asked: Asked) -> None:
    """The answer to be read on a terminal; elsewhere as Markdown without our links, which lead nowhere there."""
    text = _readable(asked.row.region)
    if not on_terminal(sys.stdout):
        answer(text)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    console = Console()
    text = _QUOTED_LINE.sub(r"\1  ", text)  # Obsidian keeps the lines of a quotation; Markdown joins them
    console.print(Markdown(text, hyperlinks=False), width=min(console.width, _WIDEST))
    console.print()


def _readable(region: str) -> str:
    """Markdown that any reader shows: links as their text, a callout as a quotation that begins with its title."""
    return _CALLOUT.sub(r"> **\1**\n>", _without_links(region))


def _without_links(text: str) -> str:
    return _LINK.sub(lambda match: match[1] or match[2] or "", text)


def _read_passage(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageProblem(what=f"{path} cannot be read: {reason}.", next="Give --from a text file.") from error
    if not text.strip():
        raise UsageProblem(what=f"{path} holds no text.", next="Give --from a file with the text to compare.")
    if len(text.encode()) > _LONGEST_PASSAGE:
        what = f"{path} is longer than the {_LONGEST_PASSAGE // 1000} kB that can be compared at once."
        raise UsageProblem(what=what, next="Give --from a part of it.")
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
    wanted = list(dict.fromkeys(_in_vault(brain, note) for note in notes or ()))
    failed: dict[str, str] = {}
    with stopping() as should_stop, showing_progress(quiet=quiet or as_json) as progress:
        done = brain.refresh(
            wanted,
            everything=everything,
            auto_only=auto,
            writes=not dry_run,
            progress=progress,
            should_stop=should_stop,
            on_failure=failed.__setitem__,
        )
    for path, reason in failed.items():
        say(f"failed: {path} ({reason}); it is as it was")
    for notice in dict.fromkeys([*(notice for asked in done for notice in asked.notices), *_without_model(done)]):
        say(f"note: {notice}", quiet=quiet)
    if as_json:
        answer_json({"refreshed": [_public_form(asked) for asked in done], "failed": failed})
    elif done or not (failed or should_stop()):
        answer("\n".join(_in_words(done, is_dry=dry_run, is_auto=auto)))
    if should_stop():
        say("Stopped. Everything finished so far is kept.\nGo on with: vaultbrain refresh")
        return EXIT_INTERRUPTED
    return EXIT_PARTLY if failed or any(asked.is_partial for asked in done) else 0


def _in_vault(brain: Brain, note: str) -> str:
    """The note's path in the vault, given like that or as a file, absolute or from the working folder; or as a link to it.

    Raises ``AnswerNotFound`` for a place outside the vault.
    """
    link = _NAMED_AS_LINK.fullmatch(note.strip())
    name = (link["wiki"] or unquote(link["encoded"])) if link else note
    root = brain.settings.vault.resolve()
    try:
        places = [place.resolve() for place in (root / name, Path(name).expanduser())]
        inside = [place.relative_to(root).as_posix() for place in places if place.is_relative_to(root) and place != root]
        found = [path for given in inside for path in (given, f"{given}.md") if (root / path).is_file()]
    except (OSError, RuntimeError, ValueError) as error:  # a name that is too long, somebody without a home, a null byte
        raise AnswerNotFound(path=note, reason="that is no name of a note") from error
    if not inside:
        raise AnswerNotFound(path=note, reason="it is not in the vault")
    return (found or inside)[0]


def _public_form(asked: Asked) -> dict[str, Any]:
    return asked.as_json | {"path": asked.row.path, "changes": list(asked.changes)}


def _in_words(done: Sequence[Asked], *, is_dry: bool, is_auto: bool) -> list[str]:
    if not done:
        return [f"Nothing to do: no answer {'with vb_refresh: auto ' if is_auto else ''}is stale."]
    head = "Would refresh" if is_dry else "Refreshed"
    lines = [f"{head} {counted(len(done), 'answer')}."]
    for asked in done:
        lines.append(asked.row.path)
        lines += [f"  {_without_links(change)}".replace("\\#", "#") for change in asked.changes] or ["  nothing new"]
    return lines
