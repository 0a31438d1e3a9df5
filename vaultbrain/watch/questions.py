"""Question notes: answered once nobody is typing in them any more, and told so when they have been left alone for long enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.errors import NoteBeingEdited, NoteUnreadable, WriteFailed, explain
from vaultbrain.watch.burst import Burst
from vaultbrain.watch.mirroring import paths_of
from vaultbrain.watch.paths import Kind

if TYPE_CHECKING:
    from vaultbrain.watch.noticing import Noted
    from vaultbrain.watch.station import Station
    from vaultbrain.wiring_inbox import InboxOutcome

#: Seconds without a change after which a question counts as asked: Obsidian saves every two seconds while somebody types.
ASKED_S = 6.0
#: However long somebody goes on, the question as it stands is answered then.
LONGEST_S = 300.0
#: Seconds to wait before another try, when that may help.
RETRY_S = 60.0


class Questions:
    """The notes in the inbox folder."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._burst = Burst(ASKED_S, LONGEST_S)
        self._later: dict[str, float] = {}  # path → when to look at it again: to try once more, or to tell its note
        self._starts = True

    @property
    def queue(self) -> int:
        return len(self._later) + (self._burst.wait_s(0.0) is not None)

    def add(self, noted: Noted, now: float) -> None:
        self._burst.add(now, paths_of(noted, Kind.INBOX, self._station))

    def wait_s(self, now: float) -> float | None:
        if not self._station.brain.has_synced():
            return None  # there is nothing to answer from
        if self._starts:
            return 0.0
        waits = [at - now for at in self._later.values()]
        if (burst := self._burst.wait_s(now)) is not None:
            waits.append(burst)
        return max(0.0, min(waits)) if waits else None

    def work(self, now: float) -> None:
        if self._starts:
            self._starts = False
            with self._station.brain.inbox() as inbox:
                self._later |= dict.fromkeys(inbox.waiting(), now)
        due = [path for path, at in sorted(self._later.items()) if at <= now]
        if self._burst.is_due(now):
            due += sorted(self._burst.take())
        for path in dict.fromkeys(due):
            if self._station.should_stop():
                self._later[path] = now
                continue
            self._later.pop(path, None)
            self._answer(path)

    def _answer(self, path: str) -> None:
        station = self._station
        with station.brain.inbox() as inbox:
            outcome = inbox.answer(path)
            if outcome:
                self._say(outcome)
            if outcome and outcome.may_pass:
                self._later[path] = station.now() + RETRY_S
            try:
                inbox.tell(path)
            except NoteBeingEdited:
                self._later.setdefault(path, station.now() + max(1.0, station.brain.wait_s(path)))
            except (NoteUnreadable, WriteFailed) as error:
                station.failed("question", explain(error).what, about=path)
                self._later.setdefault(path, station.now() + RETRY_S)

    def _say(self, outcome: InboxOutcome) -> None:
        if outcome.answer:
            sentence = f"Answered the question in {outcome.path}: {outcome.answer}"
            self._station.log.said("question", sentence, about=outcome.path, answer=outcome.answer)
        else:
            sentence = f"The question in {outcome.path} is not answered: {outcome.error}"
            self._station.failed("question", sentence, about=outcome.path)
