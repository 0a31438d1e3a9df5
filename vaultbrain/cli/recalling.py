"""``vaultbrain gate`` and ``recall``: the conversation doors of recall, and the log of what it did while you wrote."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from vaultbrain.cli.console import JsonOption, VaultOption, answer, answer_json, refuse_blank, say
from vaultbrain.errors import UsageProblem
from vaultbrain.wiring import open_brain, open_brain_anywhere

if TYPE_CHECKING:
    from vaultbrain.index.recalls import LoggedCandidate

#: Entries of the log that are shown.
_SHOWN = 40


class Form(StrEnum):
    """As ``recall.formats`` has them."""

    CHAT = "chat"
    MARKDOWN = "markdown"
    JSON = "json"
    PROMPT = "prompt"


def register(app: typer.Typer) -> None:
    app.command("recall", epilog='Example: vaultbrain recall "which backup tool is better for home?" --format chat')(recall)
    app.command("gate", epilog='Example: vaultbrain gate "how do I set up a weekly review?" --json')(gate)


def recall(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is being said or written.")] = "",
    vault: VaultOption = None,
    form: Annotated[
        Form,
        typer.Option("--format", metavar="FORM", help="chat: a few lines to say; markdown; json; prompt: for a language model."),
    ] = Form.CHAT,
    semantic: Annotated[
        bool | None,
        typer.Option("--semantic/--no-semantic", help="Search by meaning, or by keywords; default: by meaning where possible."),
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Say why the last candidates were shown or held while you wrote.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Mention one or two old memos that help with what is being said, or nothing.

    Whether a text is worth a look-up at all says vaultbrain gate; this command looks in any case, and mentions only what is near
    enough, of use, and says something new. Nothing is written.
    """
    if log:
        _show_log(vault, as_json=as_json)
        return
    if not text.strip():
        raise UsageProblem(what="There is no text.", next="Give it in quotes, or see the log with: vaultbrain recall --log")
    shown = open_brain(vault).recalled_as(text, "json" if as_json else form.value, semantic=semantic)
    if shown:
        answer(shown)
    else:
        say("Nothing is worth a mention. Why not: the same command with --format json")


def gate(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A sentence or a paragraph that is being written.")],
    vault: VaultOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say whether a text is worth a look-up in the memos, why, and with which short query.

    Looks at the text alone; nothing is searched and nothing is written.
    """
    refuse_blank(text, "text")
    decision, query = open_brain_anywhere(vault).gate(text)
    if as_json:
        features = dict(decision.features)
        answer_json({"recall": decision.recall, "query": query, "reasons": list(decision.reasons), "features": features})
        return
    answer("worth a look-up" if decision.recall else "not worth a look-up")
    for reason in decision.reasons:
        answer(f"  {reason}")
    if query:
        answer(f"query: {query}")


def _show_log(vault: str | None, *, as_json: bool) -> None:
    entries = open_brain(vault).recall_log(_SHOWN)
    if as_json:
        answer_json([asdict(entry) for entry in entries])
        return
    if not entries:
        say("Nothing yet: the watcher writes here what it looked up while you wrote (vaultbrain watch).")
    for entry in entries:
        answer(_in_words(entry))


def _in_words(entry: LoggedCandidate) -> str:
    memo = f"#{entry.memo_id} {entry.title}" if entry.memo_id else "nothing looked up" if not entry.query else "nothing mentioned"
    head = f"{entry.at.replace('T', ' ')}  {'shown' if entry.shown else 'held '}  {memo}"
    query = f"  [{entry.query}]" if entry.query else ""
    return f"{head}: {'; '.join(entry.reasons)}\n    for {entry.note}{query}"
