"""The Skill in the skills folder of an assistant: what is written there, and what is left alone.

Decides by a record beside the files, which keeps how each of them was written: a file that still is as we wrote it is brought up
to date, one that the person changed stays byte for byte with the new text beside it, one that they deleted stays deleted. Nothing
in a folder that we did not make is touched. What an assistant does with the Skill is not decided here.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from vaultbrain.errors import UsageProblem, WriteFailed
from vaultbrain.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Mapping

SKILL = "cflow-brain"
#: Hidden, so that no assistant reads it.
RECORD = ".vaultbrain-skill.json"
NEW_SUFFIX = ".new"

_OURS = Path(__file__).parent


class Reader(StrEnum):
    """Whose skills folder it is. What Codex reads is everything, and does Claude no harm."""

    CLAUDE = "claude"
    CODEX = "codex"


_FILES = {
    Reader.CLAUDE: ("SKILL.md", "references/cflow-rag-playbook.md"),
    Reader.CODEX: ("SKILL.md", "references/cflow-rag-playbook.md", "agents/openai.yaml"),
}

_VERSION_MARK = b"{version}"
#: The line of the front matter that names the version; alone it makes no difference between two texts.
_VERSION_LINE = re.compile(rb'^  version: "[^"\n]*"\r?\n', re.MULTILINE)
_NAME = re.compile(r"[\w.-]+(/[\w.-]+)*")


class Fate(StrEnum):
    """What becomes of a file."""

    WRITTEN = "written"
    UNCHANGED = "unchanged"
    #: The person changed it.
    KEPT = "kept"
    #: The person deleted it.
    LEFT_OUT = "left_out"
    #: It is no longer part of the Skill.
    REMOVED = "removed"


class Offer(StrEnum):
    """What becomes of ``NAME.new``, the new text beside a file that the person changed."""

    NONE = "none"
    PUT = "put"
    #: It stands there from before and still waits for the person.
    STANDS = "stands"
    #: Something of the person's stands there, which is left alone.
    BLOCKED = "blocked"
    #: It is ours and no longer of use.
    WITHDRAWN = "withdrawn"


#: New text that the person has not dealt with.
WAITING = (Offer.PUT, Offer.STANDS, Offer.BLOCKED)


@dataclass(frozen=True, slots=True)
class Remembered:
    """Marks of the text that we wrote, and of the one that we put beside it last; empty when there was none."""

    written: str = ""
    offered: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One file: ``text`` is what it should hold, None when it is no longer part. ``remember`` is None to forget it."""

    name: str
    text: bytes | None
    fate: Fate
    offer: Offer
    remember: Remembered | None


@dataclass(frozen=True, slots=True)
class Plan:
    """What an installation would do in ``folder``."""

    folder: Path
    version: str
    reader: Reader
    steps: tuple[Step, ...]

    def names(self, fate: Fate) -> list[str]:
        return [step.name for step in self.steps if step.fate is fate]

    def offers(self, *offers: Offer) -> list[str]:
        """Files that the person changed, with such a ``NAME.new`` beside them."""
        return [step.name for step in self.steps if step.offer in offers]


@dataclass(frozen=True, slots=True)
class _Record:
    reader: Reader
    files: Mapping[str, Remembered]


def plan_install(directory: Path, version: str, *, reader: Reader | None = None, restores: bool = False) -> Plan:
    """What installing into the skills folder ``directory`` would do. ``reader`` None: as before, at first all files. ``restores``
    writes files again that the person deleted. Writes nothing.

    Raises ``UsageProblem`` for a folder that cannot be the right one.
    """
    try:
        folder = _skill_folder(directory)
        record = _load_record(folder)
        chosen = reader or (record.reader if record else Reader.CODEX)
        wanted = _wanted(chosen, version)
        if record is None:
            _refuse_foreign(folder, wanted)
        known = record.files if record else {}
        dropped = [name for name in known if name not in wanted and _read(folder / name) is not None]
        steps = [_step(folder, name, wanted.get(name), known.get(name), restores=restores) for name in [*wanted, *dropped]]
    except OSError as error:
        raise UsageProblem(
            what=f"{error.filename or directory} cannot be read ({error.strerror or error}).",
            next="Correct its permissions or move it away, then run the same command again.",
        ) from error
    return Plan(folder, version, chosen, tuple(steps))


def apply_plan(plan: Plan) -> None:
    """Does it; may be repeated after a failure. The record is written last, and only when it changes. Raises ``WriteFailed``."""
    path = plan.folder
    try:
        for step in plan.steps:
            path = plan.folder / step.name
            _apply(step, path)
        path = plan.folder / RECORD
        text = _record_text(plan)
        if _read(path) != text.encode():
            write_whole(path, text)
    except OSError as error:
        raise WriteFailed(path=path, reason=error.strerror or str(error)) from error


def _skill_folder(directory: Path) -> Path:
    """Where the Skill goes in the skills folder, which may be missing if the folder above it is there."""
    if directory.name == SKILL:
        raise UsageProblem(
            what=f"{directory} is the folder of the Skill itself.",
            next=f"Give the skills folder above it: vaultbrain skill install {shlex.quote(str(directory.parent))}",
        )
    for path in (directory, directory / SKILL):
        if os.path.lexists(path) and not path.is_dir():
            raise UsageProblem(
                what=f"{path} is not a folder.", next="Give the skills folder of your assistant, or move that away."
            )
    if not directory.is_dir() and not directory.parent.is_dir():
        raise UsageProblem(
            what=f"There is neither {directory} nor the folder above it.",
            next=f"If that is the right place, make it, then run the same command again: mkdir -p {shlex.quote(str(directory))}",
        )
    return directory / SKILL


def _wanted(reader: Reader, version: str) -> dict[str, bytes]:
    """The text of each file."""
    return {name: (_OURS / name).read_bytes().replace(_VERSION_MARK, version.encode()) for name in _FILES[reader]}


def _refuse_foreign(folder: Path, wanted: Mapping[str, bytes]) -> None:
    """Without a record a folder is ours only if it holds nothing but what a stopped installation leaves."""
    strangers = [name for name in _files_in(folder) if not _is_left_by_us(folder, name, wanted)]
    if strangers:
        raise UsageProblem(
            what=f"{folder} was not made by vaultbrain: it holds {strangers[0]}, and no {RECORD}.",
            next="Move that folder away or give it another name, then run the same command again.",
        )


def _files_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir())


def _is_left_by_us(folder: Path, name: str, wanted: Mapping[str, bytes]) -> bool:
    path = folder / name
    is_temporary = path.name.startswith(".") and path.name.endswith(".tmp")
    return is_temporary or (name in wanted and _mark(path.read_bytes()) == _mark(wanted[name]))


def _step(folder: Path, name: str, text: bytes | None, known: Remembered | None, *, restores: bool) -> Step:
    there, beside = _read(folder / name), _read(folder / f"{name}{NEW_SUFFIX}")
    before = known or Remembered()
    if (folder / name).is_symlink():  # made by the person, and it may lead anywhere
        before = replace(before, written="")
    withdrawn = Offer.WITHDRAWN if beside is not None and _mark(beside) == before.offered else Offer.NONE
    if there is None:
        if text is not None and (known is None or restores):
            return Step(name, text, Fate.WRITTEN, withdrawn, Remembered(_mark(text)))
        return Step(name, text, Fate.LEFT_OUT, withdrawn, replace(before, offered=""))
    if text is None:
        fate = Fate.REMOVED if _mark(there) == before.written else Fate.KEPT
        return Step(name, None, fate, withdrawn, None)
    if _mark(there) in (before.written, _mark(text)):
        return Step(name, text, Fate.UNCHANGED if there == text else Fate.WRITTEN, withdrawn, Remembered(_mark(text)))
    if _mark(text) == before.written:
        return Step(name, text, Fate.KEPT, withdrawn, replace(before, offered=""))
    offer = _offer(beside, _mark(text), before.offered)
    return Step(name, text, Fate.KEPT, offer, before if offer is Offer.BLOCKED else replace(before, offered=_mark(text)))


def _offer(beside: bytes | None, wanted: str, offered: str) -> Offer:
    """For a file that the person changed, and whose text has changed since: each text is offered once."""
    if wanted == offered:
        return Offer.NONE if beside is None else Offer.STANDS
    if beside is None or _mark(beside) == offered:
        return Offer.PUT
    return Offer.STANDS if _mark(beside) == wanted else Offer.BLOCKED


def _apply(step: Step, path: Path) -> None:
    beside = path.with_name(f"{path.name}{NEW_SUFFIX}")
    if step.fate is Fate.WRITTEN or step.offer is Offer.PUT:
        assert step.text is not None
        target = path if step.fate is Fate.WRITTEN else beside
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, step.text.decode())
    if step.fate is Fate.REMOVED:
        path.unlink(missing_ok=True)
        if not any(path.parent.iterdir()):
            path.parent.rmdir()
    if step.offer is Offer.WITHDRAWN:
        beside.unlink(missing_ok=True)


def _read(path: Path) -> bytes | None:
    """What the file holds; None when there is none."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _mark(text: bytes) -> str:
    """What tells two texts apart, whatever version they name."""
    return hashlib.sha256(_VERSION_LINE.sub(b"", text, count=1)).hexdigest()


def _record_text(plan: Plan) -> str:
    files = {step.name: asdict(step.remember) for step in plan.steps if step.remember}
    value = {"skill": SKILL, "version": plan.version, "for": plan.reader.value, "files": files}
    return json.dumps(value, indent=2) + "\n"


def _load_record(folder: Path) -> _Record | None:
    """None when there is none. One that cannot be read is no reason to write over anything."""
    path = folder / RECORD
    text = _read(path)
    if text is None:
        return None
    try:
        value = json.loads(text)
        files = {
            _inside(name): Remembered(str(marks["written"]), str(marks["offered"])) for name, marks in value["files"].items()
        }
        return _Record(Reader(value["for"]), files)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageProblem(
            what=f"{path}, which says how the Skill was written, cannot be read.",
            next=f"Move {folder} away, run the same command again, and take your changes over from there.",
        ) from error


def _inside(name: str) -> str:
    """The name of a file below our folder. A record may come with somebody's repository, so it cannot choose a path elsewhere."""
    if not _NAME.fullmatch(name) or ".." in name.split("/"):
        raise ValueError(name)
    return name
