"""Joins the parts that answer question notes, for ``wiring`` alone.

A question is asked once: its digest is remembered before its note is told, so that neither a kill nor our own words in the note's
properties make it asked again. The note is told only when nobody is typing in it. Who takes ``vb_status`` out of a note that was
told asks again; so does a new note under an old name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from vaultbrain.answer.inbox import NotedQuestion, read_noted_question
from vaultbrain.errors import (
    EmbeddingUnavailable,
    NoteBeingEdited,
    NoteUnreadable,
    StateBusy,
    VaultbrainError,
    VectorStoreFailed,
    WriteFailed,
    explain,
)
from vaultbrain.index.inbox import ANSWERED, FAILED, InboxRow
from vaultbrain.vault.markdown import wikilink
from vaultbrain.vault.note import read_properties, with_own_properties

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbrain.index.inbox import InboxShelf
    from vaultbrain.vault.note import Value
    from vaultbrain.vault.vault import Vault

#: Seconds until a question that failed is tried again, when that may help; doubled each time, up to the second figure.
RETRY_S, LONGEST_RETRY_S = 60.0, 3_600.0
#: Seconds until another try when somebody else is at work: another process, or the person in the answer's note.
BUSY_S = 31.0
_BUSY = (StateBusy, NoteBeingEdited)
#: What another try may mend.
_PASSING = (EmbeddingUnavailable, VectorStoreFailed, NoteUnreadable, WriteFailed)

_STATUS = re.compile(r"^vb_status[ \t]*:", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class InboxOutcome:
    """What became of the question in the note at ``path``: where it is answered, or why it is not.

    ``retry_s``: seconds until another try may help; 0 when none does.
    """

    path: str
    answer: str = ""
    error: str = ""
    retry_s: float = 0.0

    @property
    def may_pass(self) -> bool:
        return self.retry_s > 0


class InboxWiring:
    """Question notes of one vault. ``ask`` takes a question, a mode and a passage, and gives the path of the answer's note."""

    def __init__(self, shelf: InboxShelf, vault: Vault, folder: str, ask: Callable[[str, str, str], str]) -> None:
        self._shelf, self._vault, self._folder, self._ask = shelf, vault, folder, ask

    def waiting(self) -> list[str]:
        """Paths of notes with something to do, in order: asked or edited while nobody looked, to be tried again, to be told."""
        root = self._vault.root
        found = sorted(path.relative_to(root).as_posix() for path in (root / self._folder).rglob("*.md") if path.is_file())
        return [path for path in found if not _is_hidden(path) and self._has_work(path)]

    def _has_work(self, path: str) -> bool:
        text = self._read(path)
        question = _question_in(path, text)
        row = self._shelf.load(path)
        if text is None or question is None:
            return False
        return not _is_settled(row, question, text) or (row is not None and not row.told)

    def answer(self, path: str) -> InboxOutcome | None:
        """Answers the question in the note at ``path``; None when there is none, or none that is new."""
        text = self._read(path)
        question = _question_in(path, text)
        if text is None or question is None:
            return None
        row = self._shelf.load(path) or self._told_before(path, question, text)
        if _is_settled(row, question, text):
            return None
        tries = row.tries if row and row.digest == question.digest else 0
        try:
            outcome = self._outcome(path, question, tries)
        except _BUSY as error:
            return InboxOutcome(path, error=explain(error).what, retry_s=BUSY_S)
        status = ANSWERED if outcome.answer else FAILED
        left = tries + 1 if outcome.may_pass else 0
        self._shelf.write(InboxRow(path, question.digest, status, outcome.answer, outcome.error, left))
        return outcome

    def _outcome(self, path: str, question: NotedQuestion, tries: int) -> InboxOutcome:
        if question.problem:
            return InboxOutcome(path, error=question.problem)
        try:
            return InboxOutcome(path, answer=self._ask(question.text, question.mode, question.passage))
        except _BUSY:
            raise
        except VaultbrainError as error:
            retry_s = min(LONGEST_RETRY_S, RETRY_S * 2.0 ** min(tries, 10)) if isinstance(error, _PASSING) else 0.0
            return InboxOutcome(path, error=explain(error).what, retry_s=retry_s)

    def _read(self, path: str) -> str | None:
        """None when there is nothing that can be read."""
        try:
            return self._vault.read(path)
        except NoteUnreadable:
            return None

    def _told_before(self, path: str, question: NotedQuestion, text: str) -> InboxRow | None:
        """With a lost catalog, or a note that was moved here: what its own properties say, if they speak of this question.

        A note that was copied or renamed speaks of another: the one that its answer shows.
        """
        properties = read_properties(text)
        if properties.get("vb_status") != ANSWERED:
            return None
        link = str(properties.get("vb_link", ""))
        answered = read_properties(self._read(_target(link)) or "").get("vb_question")
        if answered is not None and not _is_same(str(answered), question.text):
            return None
        row = InboxRow(path, question.digest, ANSWERED, link, told=True)
        self._shelf.write(row)
        return row

    def tell(self, path: str) -> bool:
        """Writes into the note's properties what became of its question; whether it is told now.

        Raises ``NoteBeingEdited`` while somebody may be typing in it, ``NoteUnreadable`` and ``WriteFailed``.
        """
        row = self._shelf.load(path)
        if row is None or row.told:
            return False
        mark = self._vault.mark(path)
        text = self._vault.read(path)
        question = _question_in(path, text)
        if text is None or question is None or question.digest != row.digest:
            return False  # gone, or another question by now
        told = with_own_properties(text, _properties(row), without=("vb_link", "vb_error"))
        if told != text:
            if self._vault.mark(path) != mark:
                raise NoteBeingEdited(path=path, reason="it is being changed just now")
            self._vault.replace(path, told)
        self._shelf.write(replace(row, told=True))
        return True


def _is_hidden(path: str) -> bool:
    return any(part.startswith(".") for part in path.split("/"))


def _question_in(path: str, text: str | None) -> NotedQuestion | None:
    return None if text is None else read_noted_question(text, PurePosixPath(path).stem)


def _is_settled(row: InboxRow | None, question: NotedQuestion, text: str) -> bool:
    if row is None or row.digest != question.digest:
        return False
    if row.told and not _STATUS.search(text):
        return False
    return row.status == ANSWERED or not row.tries


def _is_same(shown: str, question: str) -> bool:
    """``shown`` may be cut off. A difference that means nothing costs no more than that the same answer is written once more."""
    return question.startswith(shown.removesuffix("…")) if shown.endswith("…") else shown == question


def _target(link: str) -> str:
    return f"{link.strip().removeprefix('[[').removesuffix(']]').partition('|')[0]}.md"


def _properties(row: InboxRow) -> dict[str, Value]:
    if row.status == FAILED:
        return {"vb_status": FAILED, "vb_error": row.error}
    link = row.answer if row.answer.startswith("[[") else wikilink(row.answer.removesuffix(".md"), None, "")
    return {"vb_status": ANSWERED, "vb_link": link}
