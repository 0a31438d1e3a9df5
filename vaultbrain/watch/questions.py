"""Question notes: answered once nobody is typing in them any more, and told so when they have been left alone for long enough.

Each note has its own time, so that one in which somebody goes on typing holds up no other; and one is dealt with in each turn, so
that a thousand of them leave the other duties theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.errors import NoteBeingEdited, NoteUnreadable, WriteFailed, explain
from vaultbrain.watch.mirroring import paths_of
from vaultbrain.watch.paths import Kind, kind_of

if TYPE_CHECKING:
    from vaultbrain.watch.noticing import Noted
    from vaultbrain.watch.station import Station
    from vaultbrain.wiring_inbox import InboxOutcome

#: Seconds without a change after which a question counts as asked: Obsidian saves every two seconds while somebody types.
ASKED_S = 6.0
#: However long somebody goes on, the question as it stands is answered then.
LONGEST_S = 300.0
#: Seconds to wait before another try to write into a question's note.
RETRY_S = 60.0


class Questions:
    """The notes in the inbox folder."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._due: dict[str, float] = {}  # path → when to look at it: to answer, to try once more, or to tell its note
        self._since: dict[str, float] = {}  # path → when the changes began that are still going on

    @property
    def queue(self) -> int:
        return len(self._due)

    def start(self, now: float, *, pause_s: float = ASKED_S) -> None:
        """Takes up what was asked while nobody watched; notes in which somebody may be typing after ``pause_s``."""
        station = self._station
        with station.brain.inbox() as inbox:
            waiting = [path for path in inbox.waiting() if kind_of(path, station.layout) is Kind.INBOX]
        self._due |= {path: now + (pause_s if station.brain.wait_s(path) else 0.0) for path in waiting}

    def add(self, noted: Noted, now: float) -> None:
        for path in paths_of(noted, Kind.INBOX, self._station):
            since = self._since.setdefault(path, now)
            self._due[path] = min(now + ASKED_S, since + LONGEST_S)

    def wait_s(self, now: float) -> float | None:
        if not self._due or not self._station.brain.has_synced():
            return None  # nothing was asked, or there is nothing to answer from
        return max(0.0, min(self._due.values()) - now)

    def work(self, now: float) -> None:
        """Deals with one note, the one that waited longest; of several, in order of their paths."""
        at, path = min((at, path) for path, at in self._due.items())
        if at > now:
            return
        del self._due[path]
        self._since.pop(path, None)
        self._answer(path)

    def _answer(self, path: str) -> None:
        station = self._station
        with station.brain.inbox() as inbox:
            outcome = inbox.answer(path)
            if outcome:
                self._say(outcome)
            if outcome and outcome.may_pass:
                self._due[path] = station.now() + outcome.retry_s
            try:
                inbox.tell(path)
            except NoteBeingEdited:
                self._due.setdefault(path, station.now() + max(1.0, station.brain.wait_s(path)))
            except (NoteUnreadable, WriteFailed) as error:
                station.failed("question", explain(error).what, about=path)
                self._due.setdefault(path, station.now() + RETRY_S)

    def _say(self, outcome: InboxOutcome) -> None:
        if outcome.answer:
            sentence = f"Answered the question in {outcome.path}: {outcome.answer}"
            self._station.log.said("question", sentence, about=outcome.path, answer=outcome.answer)
        else:
            sentence = f"The question in {outcome.path} is not answered: {outcome.error}"
            self._station.failed("question", sentence, about=outcome.path)
