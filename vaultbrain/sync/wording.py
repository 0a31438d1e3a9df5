"""What a sync did, in a sentence for people: the command says it, and so does the watcher's log. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.words import counted

if TYPE_CHECKING:
    from vaultbrain.sync.report import SyncReport


def in_words(report: SyncReport) -> str:
    counts = {
        "new": report.created,
        "changed": report.updated,
        "deleted": report.deleted,
        "withheld": report.withheld,
        "in conflict": report.conflicts,
        "failed": len(report.failed),
    }
    said = ", ".join(f"{count} {name}" for name, count in counts.items() if count)
    done = [] if not said else [said]
    if report.notes_removed:
        done.append(f"{counted(report.notes_removed, 'note')} you removed, not written again")
    if report.answers_stale:
        done.append(f"{counted(report.answers_stale, 'answer')} now stale (vaultbrain refresh)")
    if report.edits_taken_in:
        done.append(f"what you wrote into {counted(report.edits_taken_in, 'note')} taken in")
    if report.chunks_embedded:
        done.append(f"{counted(report.chunks_embedded, 'vector')} computed")
    if report.chunks_waiting:
        still = "to compute a vector for" if report.dry_run else "still without a vector"
        done.append(f"{counted(report.chunks_waiting, 'text')} {still}")
    if not done and report.notes_written:
        done.append(f"{counted(report.notes_written, 'note')} brought up to date")
    head = "Would do" if report.dry_run else "Done"
    if not done:
        return f"Nothing to do: {counted(report.memos_total, 'memo')}, all up to date."
    return f"{head}: {'; '.join(done)} ({counted(report.memos_total, 'memo')})."
