"""What a sync did, or would do: the numbers for people and programs alike."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True)
class SyncReport:
    """Counts are memos unless named otherwise. ``notices`` are sentences that a person should read once."""

    created: int = 0
    updated: int = 0
    deleted: int = 0
    withheld: int = 0
    conflicts: int = 0
    failed: list[dict[str, str]] = field(default_factory=list)
    notes_written: int = 0
    notes_removed: int = 0
    notes_deferred: int = 0
    edits_taken_in: int = 0
    answers_stale: int = 0
    chunks_embedded: int = 0
    chunks_waiting: int = 0
    memos_total: int = 0
    model_loaded: bool = False
    vectors_rebuilt: bool = False
    dry_run: bool = False
    notices: list[str] = field(default_factory=list)

    @property
    def is_partial(self) -> bool:
        """Finished, but some items failed, conflict or were withheld."""
        return bool(self.failed or self.conflicts or self.withheld)

    @property
    def is_empty(self) -> bool:
        """Nothing had to be done."""
        done = (self.created, self.updated, self.deleted, self.notes_written, self.notes_removed, self.edits_taken_in)
        return (
            not any(done)
            and not self.chunks_embedded
            and not self.is_partial
            and not self.vectors_rebuilt
            and not self.chunks_waiting
        )


class Progress(Protocol):
    """Told how far a stage is; ``done`` may jump. Called often, so it must be cheap."""

    def __call__(self, stage: str, done: int, total: int) -> None: ...


def no_progress(stage: str, done: int, total: int) -> None:
    """Tells nobody."""
