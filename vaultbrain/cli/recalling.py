"""``vaultbrain gate`` and ``recall``: the conversation doors of recall, and the log of what it did while you wrote."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

import typer

from vaultbrain.cli.console import JsonOption, VaultOption, answer, answer_json, refuse_blank, say
from vaultbrain.errors import UsageProblem
from vaultbrain.wiring import open_brain, open_brain_anywhere

if TYPE_CHECKING:
    from collections.abc import Sequence

    from vaultbrain.index.recalls import LoggedCandidate

#: Of a burst in the log, the held candidates that are named, and how many there can be at most.
_HELD_TOLD, _MOST_CANDIDATES = 3, 20


class Form(StrEnum):
    """As ``recall.formats`` has them."""

    CHAT = "chat"
    MARKDOWN = "markdown"
    JSON = "json"
    PROMPT = "prompt"


def register(app: typer.Typer) -> None:
    app.command("recall", epilog='Example: vaultbrain recall "想把备份重新排一遍，之前的做法是什么？" --format chat')(recall)
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
    bursts: Annotated[int, typer.Option("-n", min=1, metavar="N", help="With --log: how many bursts of writing.")] = 12,
    as_json: JsonOption = False,
) -> None:
    """Mention one or two old memos that help with what is being said, or nothing.

    Whether a text is worth a look-up at all says vaultbrain gate; this command looks in any case, and mentions only what is near
    enough, of use, and says something new. Nothing is written.
    """
    if log:
        if text:
            raise UsageProblem(what="--log takes no text.", next="Run: vaultbrain recall --log")
        _show_log(vault, bursts, as_json=as_json)
        return
    if as_json and form is not Form.CHAT:
        raise UsageProblem(what="--json and --format contradict each other.", next="Give one of them.")
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


def _show_log(vault: str | None, bursts: int, *, as_json: bool) -> None:
    entries = open_brain(vault).recall_log(bursts * _MOST_CANDIDATES)
    groups = [list(group) for _, group in groupby(entries, key=lambda entry: (entry.at, entry.note, entry.query))][-bursts:]
    if as_json:
        answer_json([asdict(entry) for group in groups for entry in group])
        return
    if not groups:
        say("Nothing yet: the watcher writes here what it looked up while you wrote (vaultbrain watch).")
    answer("\n\n".join("\n".join(_in_words(group)) for group in groups))


def _in_words(group: Sequence[LoggedCandidate]) -> list[str]:
    """One burst of writing: what was looked up for it, what was shown, and the nearest of what was held."""
    first = group[0]
    head = f"{first.at.replace('T', ' ')}  {first.note}" + (f"  [{first.query}]" if first.query else "")
    if not first.memo_id:
        return [head, f"  nothing mentioned: {'; '.join(first.reasons)}"]
    held = [entry for entry in group if not entry.shown]
    told = [entry for entry in group if entry.shown] + held[:_HELD_TOLD]
    lines = [
        f"  {'shown' if entry.shown else 'held '}  #{entry.memo_id} {entry.title}: {'; '.join(entry.reasons)}" for entry in told
    ]
    more = len(held) - _HELD_TOLD
    return [head, *lines, *([f"  held   and {more} more, less near"] if more > 0 else [])]
