"""Recall while somebody writes: looks at what is new in a note once they pause, and reads back what they ticked.

Decides when it is the moment: never in the midst of a sentence, never for what came in bulk, once for a burst, and not again for
the same note until a while has passed; and never for notes that are ours, wherever they were moved. What is worth a mention is
decided elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.errors import NoteBeingEdited, NoteUnreadable, VaultbrainError, WriteFailed, explain
from vaultbrain.vault.note import read_properties
from vaultbrain.watch.burst import Burst
from vaultbrain.watch.mirroring import paths_of
from vaultbrain.watch.paths import Kind, kind_of
from vaultbrain.watch.writing import known_lines, new_text

if TYPE_CHECKING:
    from array import array
    from collections.abc import Collection
    from pathlib import Path

    from vaultbrain.watch.noticing import Noted
    from vaultbrain.watch.station import Station

#: Seconds: a pause in writing, and how long a burst may be at most.
PAUSE_S, LONGEST_S = 4.0, 30.0
#: Seconds after a mention during which nothing more is mentioned for the same note.
COOL_DOWN_S = 300.0
#: Notes changed in one burst beyond which nobody typed them: a checkout, a sync program, a search and replace.
TYPED_NOTES = 3
#: Bytes of a note that is read at all.
MOST_BYTES = 1_000_000


class Mentions:
    """The notes that the person writes, and the recall notes. ``root`` is the vault's folder."""

    def __init__(self, station: Station, root: Path, *, is_on: bool) -> None:
        self._station, self._root, self._is_on = station, root, is_on
        self._burst = Burst(PAUSE_S, LONGEST_S)
        self._known: dict[str, array[int]] = {}
        self._cool_until: dict[str, float] = {}
        self._to_show: dict[str, tuple[str, float]] = {}  # note that a recall note is for → (recall note, when to write into it)

    @property
    def queue(self) -> int:
        return len(self._to_show) + (self._burst.wait_s(0.0) is not None)

    def start(self, paths: Collection[str]) -> None:
        """What stands in the notes at ``paths`` now was not just written; ticks made since the last time count."""
        if not self._is_on:
            return
        for path in paths:
            if self._station.should_stop():
                return
            if kind_of(path, self._station.layout) is Kind.NOTE:
                self._known[path] = known_lines(self._read(path) or "")
        with self._station.brain.recall_notes() as recall:
            for for_note, path in recall.read_all_ticks():
                self._say_ticked(path)
                self._show_later(for_note, path)
            for for_note, path in recall.unshown_ticks():
                self._show_later(for_note, path)

    def add(self, noted: Noted, now: float) -> None:
        if not self._is_on:
            return
        layout = self._station.layout
        self._burst.add(now, [path for path in noted.changed if kind_of(path, layout) is Kind.NOTE])
        for path in noted.gone:
            self._known.pop(path, None)
        self._follow([(old, new) for old, new in noted.moved if kind_of(old, layout) in (Kind.NOTE, Kind.RECALL)])
        for path in paths_of(noted, Kind.RECALL, self._station):
            self._read_ticks(path)

    def _follow(self, moved: list[tuple[str, str]]) -> None:
        """Notes, and recall notes, that the person moved."""
        self._known |= {new: self._known.pop(old) for old, new in moved if old in self._known}
        if moved:
            with self._station.brain.recall_notes() as recall:
                recall.follow(moved)

    def wait_s(self, now: float) -> float | None:
        waits = [at - now for _, at in self._to_show.values()]
        if (burst := self._burst.wait_s(now)) is not None:
            waits.append(burst)
        return max(0.0, min(waits)) if waits else None

    def work(self, now: float) -> None:
        if self._burst.is_due(now):
            self._look(sorted(self._burst.take()), now)
        for for_note, (path, at) in sorted(self._to_show.items()):
            if at <= now:
                self._show_ticks(for_note, path)

    # what is written

    def _look(self, paths: list[str], now: float) -> None:
        notes = [(path, text) for path in paths if (text := self._read(path)) is not None]
        written = [(path, new_text(text, self._known.get(path, ()))) for path, text in notes if not self._is_ours(path, text)]
        self._known |= {path: known_lines(text) for path, text in notes}
        if len(paths) > TYPED_NOTES:
            self._station.log.said("recall", f"{len(paths)} notes changed at once, so nobody typed them: nothing was looked up.")
            return
        if not self._station.brain.has_synced():
            return
        for path, text in written:
            if text and now >= self._cool_until.get(path, 0.0) and self._mention(path, text):
                return

    def _is_ours(self, path: str, text: str) -> bool:
        """A memo's note, an answer or a recall note among the person's own; what was ticked in one is read."""
        kind = read_properties(text).get("vb_kind") if "vb_kind" in text else None
        if kind == "recall":
            self._read_ticks(path)
        return kind is not None

    def _mention(self, path: str, text: str) -> bool:
        """Whether something was mentioned."""
        station = self._station
        try:
            outcome = station.brain.recall_note(path, text)
        except VaultbrainError as error:  # with what is written next there is another chance
            station.failed("recall", f"Nothing was mentioned for {path}: {explain(error).what}", about=path)
            return False
        if not outcome.shown:
            return False
        self._cool_until[path] = station.now() + COOL_DOWN_S
        memos = ", ".join(outcome.shown)
        sentence = f"Mentioned memo {memos} for {path}: {outcome.path}"
        station.log.said("recall", sentence, about=path, note=path, memos=outcome.shown)
        return True

    def _read(self, path: str) -> str | None:
        try:
            with (self._root / path).open("rb") as file:
                raw = file.read(MOST_BYTES + 1)
        except OSError:
            return None
        return raw.decode("utf-8", "replace") if len(raw) <= MOST_BYTES else None

    # what is ticked

    def _read_ticks(self, path: str) -> None:
        with self._station.brain.recall_notes() as recall:
            if for_note := recall.read_ticks(path):
                self._say_ticked(path)
                self._show_later(for_note, path)

    def _say_ticked(self, path: str) -> None:
        self._station.log.said("tick", f"Read what you ticked in {path}.", note=path)

    def _show_later(self, for_note: str, path: str, least_s: float = 0.0) -> None:
        self._to_show[for_note] = path, self._station.now() + max(least_s, self._station.brain.wait_s(path))

    def _show_ticks(self, for_note: str, path: str) -> None:
        del self._to_show[for_note]
        try:
            with self._station.brain.recall_notes() as recall:
                recall.show_ticks(for_note)
        except NoteBeingEdited:
            self._show_later(for_note, path, least_s=1.0)
        except (NoteUnreadable, WriteFailed) as error:
            self._station.failed("tick", explain(error).what, about=path)
