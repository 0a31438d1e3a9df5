"""Joins the parts of recall, for ``wiring`` alone: what is searched, what is known of the note, what the person ticked before."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote

from vaultbrain.errors import NoteUnreadable
from vaultbrain.gist.stored import load_gists
from vaultbrain.index.fold import fold
from vaultbrain.index.recalls import LoggedCandidate, RecallRow
from vaultbrain.index.tokens import cut, match_phrase
from vaultbrain.memo import tags_of
from vaultbrain.recall.delivery import DeliveryParts, deliver, follow, mend_links, read_back, read_back_at, show_ticks, unshown
from vaultbrain.recall.feedback import areas_of, liking_of
from vaultbrain.recall.judge import Situation
from vaultbrain.recall.note import mention_of
from vaultbrain.recall.recall import Recalled, RecallParts, read_gate, recall
from vaultbrain.retrieve.query import language_of
from vaultbrain.retrieve.search import search_together
from vaultbrain.vault.markdown import anchor_id
from vaultbrain.vault.names import same_name
from vaultbrain.vault.note import read_properties, read_words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from vaultbrain.index.catalog import Catalog
    from vaultbrain.index.recalls import RecallShelf
    from vaultbrain.recall.gate import Decision
    from vaultbrain.retrieve.search import SearchParts, SearchResult
    from vaultbrain.settings import Settings
    from vaultbrain.vault.vault import Vault

#: Reasons in the log that come from neither layer of the gate.
SWITCHED_OFF = "switched off for this note"
BUDGET_USED = "as many mentions today as recall.per_day allows"
#: What a recall searches without: the need as a whole and near words, so that the model reads the need's topic and translation,
#: a quarter of what it would; and copies, which the judge tells apart itself. On the simulated day (docs/recall.md) its mentions
#: are as often right without them.
_NOT_FOR_RECALL = frozenset({"whole question", "wide vector", "copies"})
#: The log keeps no words of a note but the query's; a pasted line may begin with a password.
_SHOWN_WORDS = re.compile(r': ".*"', re.DOTALL)
_WIKILINK = re.compile(r"\[\[([^\[\]|#\n]+)")
_NOTE_LINK = re.compile(r"\]\((?:<([^<>\n]+)>|((?:[^()<>\s]|\([^()<>\s]*\))+))")
#: In properties that are no YAML the switch still counts.
_NO = re.compile(r"^vb_recall[ \t]*:[ \t]*[\"']?(?:false|no|off|0)\b", re.MULTILINE | re.IGNORECASE)
#: Of a memo on a server of either generation: ``…/m/456``, ``…/memos/456``.
_MEMO_ADDRESS = re.compile(r"https?://\S+?/(?:m|memos)/([A-Za-z0-9_-]+)")


@dataclass(frozen=True, slots=True)
class RecallOutcome:
    """What became of one burst of writing. ``shown`` are memo ids, ``path`` the recall note that names them.

    ``reasons`` say why something was shown, or why nothing was.
    """

    shown: tuple[str, ...] = ()
    path: str = ""
    query: str = ""
    reasons: tuple[str, ...] = ()


class RecallWiring:
    """Recall in one vault. ``parts`` are those of searching, which share the catalog."""

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        parts: SearchParts,
        *,
        vault: Vault,
        lock: Callable[[], AbstractContextManager[object]],
        now: Callable[[], datetime],
    ) -> None:
        self._settings, self._catalog, self._search_parts, self._vault = settings, catalog, parts, vault
        self._lock, self._now = lock, now

    # for conversations

    def gate(self, text: str) -> tuple[Decision, str]:
        """The first layer's decision on the text, and the query for it."""
        return read_gate(self._parts(), text)

    def recall(self, text: str, *, semantic: bool | None = None, mentioned: Sequence[str] = ()) -> Recalled:
        situation = Situation(text=text, mentioned=frozenset(mentioned))
        with self._catalog.snapshot():
            return recall(self._parts(), text, situation, semantic=semantic)

    # while a note is written

    def mention(self, path: str, written: str) -> RecallOutcome:
        """Mentions at most one memo in the recall note of the note at ``path``, in which ``written`` was just added."""
        note = self._read(path)
        if note is None or not written.strip():
            return RecallOutcome()
        if self._is_off(path, note):
            return RecallOutcome(reasons=(SWITCHED_OFF,))
        parts = self._parts()
        decision, query = read_gate(parts, written)
        if not decision.recall or not query:
            return self._held(path, query, tuple(_SHOWN_WORDS.sub("", reason) for reason in decision.reasons))
        if self._shelf.count_mentions_on(self._today) >= self._settings.recall_per_day:
            return self._held(path, query, (BUDGET_USED,))
        with self._catalog.snapshot():
            found = recall(parts, written, self._situation(path, written, note), limit=1)
        return self._deliver(path, written, found)

    def _deliver(self, path: str, written: str, found: Recalled) -> RecallOutcome:
        log = self._log_of(path, found)
        if not found.shown:
            self._shelf.log(log)
            reasons = found.verdicts[0].reasons if found.verdicts else (found.held or "nothing was found",)
            return RecallOutcome(query=found.query, reasons=reasons)
        verdict, language = found.shown[0], self.language_of(written)
        row = RecallRow(path, "", query=found.query, created=self._now().strftime("%Y-%m-%dT%H:%M:%S"))
        try:
            done = deliver(self._delivery, row, mention_of(verdict, found.kinds, language), language, log)
        except NoteUnreadable as error:  # it is being edited just now, or is the person's by now
            return self._held(path, found.query, (f"the recall note is left alone: {error.fact('reason')}",))
        return RecallOutcome((verdict.candidate.memo.id,), done.path, found.query, verdict.reasons)

    def read_ticks(self, path: str) -> str:
        """Takes over what was ticked in the recall note at ``path``; the note that it is for when that was news, else nothing."""
        row = read_back_at(self._delivery, path)
        return row.for_note if row else ""

    def read_all_ticks(self) -> list[tuple[str, str]]:
        """Takes over what was ticked while nobody was watching: (note, its recall note) where that was news."""
        return [(row.for_note, row.path) for row in self._shelf.notes() if read_back(self._delivery, row)]

    def unshown_ticks(self) -> list[tuple[str, str]]:
        """As ``read_all_ticks``, where a tick is known but the recall note's property does not tell so yet."""
        return [(row.for_note, row.path) for row in unshown(self._delivery)]

    def show_ticks(self, for_note: str) -> bool:
        return show_ticks(self._delivery, for_note)

    def follow(self, moved: Sequence[tuple[str, str]]) -> None:
        """Notes, or recall notes, that the person moved: (old, new) path."""
        follow(self._delivery, moved)

    def mend_links(self) -> bool:
        """Brings links in recall notes to where the memos' notes are now; whether all could be written."""
        with self._lock():
            return not mend_links(self._delivery, self._place)

    def _place(self, memo_id: str, anchor: str) -> tuple[str, str]:
        note = self._catalog.load_note(memo_id)
        if note is None or not note.is_there:
            return "", anchor
        numbers = {anchor_id(memo_id, number) for number, _ in note.anchors}
        return note.path, anchor if anchor in numbers else ""

    def read_log(self, limit: int) -> list[LoggedCandidate]:
        return self._shelf.read_log(limit)

    # how the parts are made

    @property
    def _shelf(self) -> RecallShelf:
        return self._catalog.recalls

    @property
    def _today(self) -> str:
        return self._now().strftime("%Y-%m-%d")

    @property
    def _delivery(self) -> DeliveryParts:
        return DeliveryParts(self._shelf, self._vault, self._settings.recall_folder, self._catalog.transaction, self._lock)

    def _parts(self) -> RecallParts:
        catalog, ticks, memos = self._catalog, self._shelf.ticks(), self._catalog.count_memos()
        liking = liking_of(ticks, catalog.load_memos([memo_id for memo_id, _ in ticks]))
        dictionary = self._search_parts.open_dictionary()
        return RecallParts(
            search=self._search,
            has_vectors=catalog.dimension(self._search_parts.fingerprint) > 0,
            containing=self._containing,
            memos=catalog.load_memos,
            gists=lambda memos: load_gists(catalog, memos),
            note_of=catalog.note_path,
            areas=areas_of(self._settings.recall_areas, catalog.tag_counts(), memos, liking),
            is_word=dictionary.has if dictionary else None,
            corpus_size=memos,
            dismissed=self._shelf.dismissed(),
            liking=liking,
        )

    def _search(self, queries: Sequence[str], top_k: int) -> list[SearchResult]:
        parts = replace(self._search_parts, leave_out=self._search_parts.leave_out | _NOT_FOR_RECALL)
        return search_together(parts, queries, top_k=top_k)

    def _containing(self, terms: Sequence[str]) -> list[str]:
        phrases = [match_phrase(tokens) for term in terms if (tokens := cut(fold(term)))]
        return self._catalog.memos_meeting(" OR ".join(phrases)) if phrases else []

    def language_of(self, text: str) -> str:
        return spoken_language(self._settings, text)

    # what is known of a note

    def _read(self, path: str) -> str | None:
        try:
            return self._vault.read(path)
        except NoteUnreadable:
            return None

    def _is_off(self, path: str, note: str) -> bool:
        """Read generously: whoever wrote ``no`` or named a folder in another case meant it."""
        settings, properties = self._settings, read_properties(note)
        if not settings.recall_enabled or _says_no(properties.get("vb_recall")) or (not properties and _NO.search(note)):
            return True
        folders = [same_name(folder.as_posix()) for folder in PurePosixPath(path).parents]
        if any(same_name(PurePosixPath(folder.strip("/")).as_posix()) in folders for folder in settings.recall_exclude_folders):
            return True
        tags = [fold(tag) for tag in (*_listed(properties.get("tags")), *tags_of(note))]
        excluded = [fold(tag.lstrip("#")) for tag in settings.recall_exclude_tags]
        return any(tag == off or tag.startswith(f"{off}/") for tag in tags for off in excluded)

    def _situation(self, path: str, written: str, note: str) -> Situation:
        return Situation(
            text=written,
            note=read_words(note),
            linked=frozenset(self._linked(note)),
            mentioned=self._shelf.mentioned_for(path),
        )

    def _linked(self, note: str) -> list[str]:
        """Ids of memos that the text links to, by their notes (a path, or a name alone) or by their own address."""
        targets = (unquote(spaced or target).partition("#")[0] for spaced, target in _NOTE_LINK.findall(note))
        links = [*_WIKILINK.findall(note), *targets]
        wanted = {same_name(link.strip().removesuffix(".md")) for link in links}
        paths = [path for path in sorted(self._catalog.taken_paths()) if not wanted.isdisjoint(_forms(path))] if wanted else []
        return [*self._catalog.memos_at(paths).values(), *_MEMO_ADDRESS.findall(note)]

    def _held(self, path: str, query: str, reasons: tuple[str, ...]) -> RecallOutcome:
        at = self._now().strftime("%Y-%m-%dT%H:%M:%S")
        self._shelf.log([LoggedCandidate(at, path, query, "", "", shown=False, reasons=reasons)])
        return RecallOutcome(query=query, reasons=reasons)

    def _log_of(self, path: str, found: Recalled) -> list[LoggedCandidate]:
        at = self._now().strftime("%Y-%m-%dT%H:%M:%S")
        if not found.verdicts:
            return [LoggedCandidate(at, path, found.query, "", "", shown=False, reasons=(found.held or "nothing was found",))]
        return [
            LoggedCandidate(at, path, found.query, v.candidate.memo.id, v.title or v.candidate.memo.title, v.shown, v.reasons)
            for v in found.verdicts
        ]


def spoken_language(settings: Settings, text: str) -> str:
    """The language in which something is said to whoever wrote ``text``."""
    return settings.language if settings.language != "auto" else language_of(text)


def _says_no(value: object) -> bool:
    return value is not None and str(value).strip().casefold() in ("false", "no", "off", "0")


def _listed(value: object) -> list[str]:
    """Tags of a property, which may be a list or words in a row."""
    given = value if isinstance(value, list) else str(value or "").replace(",", " ").split()
    return [str(tag).lstrip("#") for tag in given if tag]


def _forms(path: str) -> tuple[str, str]:
    """The ways in which Obsidian links to a note: by its path, and by its name."""
    whole = same_name(path.removesuffix(".md"))
    return whole, whole.rpartition("/")[2]
