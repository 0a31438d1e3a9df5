"""``vaultbrain skill``: the Skill for assistants, written into their skills folder and kept up to date."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vaultbrain.cli.console import JsonOption, answer, answer_json, say
from vaultbrain.errors import EXIT_PARTLY
from vaultbrain.index.installed import installed_version
from vaultbrain.skill.install import NEW_SUFFIX, SKILL, WAITING, Fate, Offer, Reader, apply_plan, plan_install

if TYPE_CHECKING:
    from vaultbrain.skill.install import Plan

_BLOCKED = (
    "You changed {name}, and {new} is not ours as it stands: both stay as they are, and the new text was not written. Move {new}"
    " away, then run the same command again."
)
_RESTART = "An assistant that runs may have to be started again to see the Skill."


def register(app: typer.Typer) -> None:
    skill = typer.Typer(help="The Skill that teaches an assistant to use your memos.", rich_markup_mode=None)
    skill.command("install", epilog="Example: vaultbrain skill install ~/.claude/skills --for claude")(install)
    app.add_typer(skill, name="skill")


def install(
    directory: Annotated[
        str,
        typer.Argument(metavar="DIR", help="The skills folder, as ~/.claude/skills, ~/.agents/skills, or .claude/skills."),
    ],
    reader: Annotated[
        Reader | None,
        typer.Option("--for", metavar="claude|codex", help="Whose folder it is; default: as before, at first codex."),
    ] = None,
    restore: Annotated[bool, typer.Option("--restore", help="Write files again that you deleted.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write the Skill cflow-brain into an assistant's skills folder, or bring it up to date there.

    A file that you changed stays as it is; new text is put beside it as NAME.new, once, and the exit code is 3 while it waits. A
    file that you deleted stays deleted. For codex all files are written, which suits Claude, too; for claude, agents/openai.yaml
    is left out. DIR is made if the folder above it exists.
    """
    version = installed_version("vaultbrain") or "unknown"
    plan = plan_install(Path(directory).expanduser(), version, reader=reader, restores=restore)
    if not dry_run:
        apply_plan(plan)
    if as_json:
        answer_json(_as_json(plan, dry_run=dry_run))
    else:
        answer("\n".join(_lines(plan, dry_run=dry_run)))
        for note in _notes(plan, dry_run=dry_run):
            say(f"note: {note}")
    if plan.offers(*WAITING):
        raise typer.Exit(EXIT_PARTLY)


def _as_json(plan: Plan, *, dry_run: bool) -> dict[str, Any]:
    named = {"path": str(plan.folder), "version": plan.version, "for": plan.reader.value, "dry_run": dry_run}
    waiting = [f"{name}{NEW_SUFFIX}" for name in plan.offers(*WAITING)]
    return named | {fate.value: plan.names(fate) for fate in Fate} | {"waiting": waiting}


def _lines(plan: Plan, *, dry_run: bool) -> list[str]:
    written = [*plan.names(Fate.WRITTEN), *(f"{name}{NEW_SUFFIX}" for name in plan.offers(Offer.PUT))]
    removed = [*plan.names(Fate.REMOVED), *(f"{name}{NEW_SUFFIX}" for name in plan.offers(Offer.WITHDRAWN))]
    writes, removes = ("would write", "would remove") if dry_run else ("wrote", "removed")
    done = [f"{writes} {name}" for name in written] + [f"{removes} {name}" for name in removed]
    head = f"{SKILL} {plan.version} in {plan.folder}"
    return [f"{head}:", *(f"  {line}" for line in done)] if done else [f"{head}: nothing to write."]


def _notes(plan: Plan, *, dry_run: bool) -> list[str]:
    """What the person should know or do."""
    kept = [name for name in plan.names(Fate.KEPT) if name not in plan.offers(*WAITING)]
    told = [
        *(_waiting(plan, name) for name in plan.offers(Offer.PUT, Offer.STANDS) if not dry_run),
        *(_BLOCKED.format(name=name, new=f"{name}{NEW_SUFFIX}") for name in plan.offers(Offer.BLOCKED)),
        *(f"You changed {name}, so it stays as it is; there is no new text for it." for name in kept),
        *(f"You deleted {name}, so it stays away; --restore writes it again." for name in plan.names(Fate.LEFT_OUT)),
    ]
    return told + ([_RESTART] if plan.names(Fate.WRITTEN) and not dry_run else [])


def _waiting(plan: Plan, name: str) -> str:
    path = plan.folder / name
    both = f"{shlex.quote(str(path))} {shlex.quote(f'{path}{NEW_SUFFIX}')}"
    return (
        f"You changed {name}, so it stays as it is; the new text is beside it in {name}{NEW_SUFFIX}. Take over what you want,"
        f" then delete {name}{NEW_SUFFIX}. To compare them: diff {both}"
    )
