"""Joins the parts that answer question notes, for ``wiring`` alone.

A question is asked once: its digest is remembered before its note is told, so that neither a kill nor our own words in the note's
properties make it asked again. The note is told only when nobody is typing in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from vaultbrain.answer.inbox import NotedQuestion, read_noted_question
from vaultbrain.errors import EmbeddingUnavailable, NoteUnreadable, StateBusy, VaultbrainError, explain
from vaultbrain.index.inbox import ANSWERED, FAILED, InboxRow
from vaultbrain.vault.markdown import wikilink
from vaultbrain.vault.note import read_properties, with_own_properties

if TYPE_CHECKING:
    from collections.abc import Callable

    from vaultbrain.index.inbox import InboxShelf
    from vaultbrain.vault.note import Value
    from vaultbrain.vault.vault import Vault

#: Failures in a row after which a question is left alone until it is edited.
MAX_TRIES = 5
#: What another try may mend.
_PASSING = (StateBusy, EmbeddingUnavailable)


@dataclass(frozen=True, slots=True)
class InboxOutcome:
    """What became of the question in the note at ``path``: where it is answered, or why it is not."""

    path: str
    answer: str = ""
    error: str = ""
    may_pass: bool = False


class InboxWiring:
    """Question notes of one vault. ``ask`` takes a question, a mode and a passage, and gives the path of the answer's note."""

    def __init__(self, shelf: InboxShelf, vault: Vault, folder: str, ask: Callable[[str, str, str], str]) -> None:
        self._shelf, self._vault, self._folder, self._ask = shelf, vault, folder, ask

    def waiting(self) -> list[str]:
        """Paths of the notes with something to do: asked or edited while nobody looked, to be tried again, or to be told."""
        return [path for path in sorted(self._vault.marks_in(self._folder)) if self._has_work(path)]

    def _has_work(self, path: str) -> bool:
        question = self._question_at(path)
        row = self._shelf.load(path)
        return question is not None and (not _is_settled(row, question) or (row is not None and not row.told))

    def answer(self, path: str) -> InboxOutcome | None:
        """Answers the question in the note at ``path``; None when there is none, or none that is new."""
        question = self._question_at(path)
        if question is None:
            return None
        row = self._shelf.load(path) or self._told_before(path, question)
        if _is_settled(row, question):
            return None
        tries = row.tries if row and row.digest == question.digest else 0
        outcome = self._outcome(path, question)
        status = ANSWERED if outcome.answer else FAILED
        left = tries + 1 if outcome.may_pass else MAX_TRIES
        self._shelf.write(InboxRow(path, question.digest, status, outcome.answer, outcome.error, left if outcome.error else 0))
        return outcome

    def _outcome(self, path: str, question: NotedQuestion) -> InboxOutcome:
        if question.problem:
            return InboxOutcome(path, error=question.problem)
        try:
            return InboxOutcome(path, answer=self._ask(question.text, question.mode, question.passage))
        except VaultbrainError as error:
            return InboxOutcome(path, error=explain(error).what, may_pass=isinstance(error, _PASSING))

    def _question_at(self, path: str) -> NotedQuestion | None:
        try:
            text = self._vault.read(path)
        except NoteUnreadable:
            return None
        return read_noted_question(text, PurePosixPath(path).stem) if text is not None else None

    def _told_before(self, path: str, question: NotedQuestion) -> InboxRow | None:
        """With a lost catalog, or a note that was moved here: what its own properties say."""
        properties = read_properties(self._vault.read(path) or "")
        if properties.get("vb_status") != ANSWERED:
            return None
        row = InboxRow(path, question.digest, ANSWERED, str(properties.get("vb_link", "")), told=True)
        self._shelf.write(row)
        return row

    def tell(self, path: str) -> bool:
        """Writes into the note's properties what became of its question; whether it is told now.

        Raises ``NoteBeingEdited`` while somebody may be typing in it, ``NoteUnreadable`` and ``WriteFailed``.
        """
        row = self._shelf.load(path)
        text = self._vault.read(path)
        if row is None or row.told or text is None:
            return False
        told = with_own_properties(text, _properties(row), without=("vb_link", "vb_error"))
        if told != text:
            self._vault.replace(path, told)
        self._shelf.write(replace(row, told=True))
        return True


def _is_settled(row: InboxRow | None, question: NotedQuestion) -> bool:
    if row is None or row.digest != question.digest:
        return False
    return row.status == ANSWERED or row.tries >= MAX_TRIES


def _properties(row: InboxRow) -> dict[str, Value]:
    if row.status == FAILED:
        return {"vb_status": FAILED, "vb_error": row.error}
    link = row.answer if row.answer.startswith("[[") else wikilink(row.answer.removesuffix(".md"), None, "")
    return {"vb_status": ANSWERED, "vb_link": link}
