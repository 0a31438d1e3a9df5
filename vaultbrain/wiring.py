"""Builds the parts from the settings and joins them: the only place that knows all of them.

``Brain`` is what the command line, programs and agents call; each method is one command. The rooms of searching and answering are
entered by the methods that need them: together they take 80 ms to import, and a sync that finds nothing to do runs all day long.
Nobody imports this module but the doors, so no loop can hide in that.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from vaultbrain.errors import MemoNotFound, NoteUnreadable, SettingsInvalid, UsageProblem, VaultNotFound, WriteFailed
from vaultbrain.gist.stored import fill_gists
from vaultbrain.index.answers import STALE, WAITING_LINKS
from vaultbrain.index.answers import VERSION as ANSWERS_VERSION
from vaultbrain.index.catalog import Catalog, IndexProfile
from vaultbrain.index.centring import centred_fingerprint
from vaultbrain.index.chunking import CHUNKER_VERSION
from vaultbrain.index.embedding import embedding_fingerprint, open_embedder
from vaultbrain.index.fold import forget_regional
from vaultbrain.index.vectors import ServerVectorIndex, VectorIndex
from vaultbrain.memory import give_back
from vaultbrain.settings import SETTINGS_FILE, find_vault, load_settings, read_embedding_key, read_llm_key, read_token
from vaultbrain.sources.detect import open_source
from vaultbrain.sync.indexing import Indexer
from vaultbrain.sync.lock import ANSWERS_LOCK, writing
from vaultbrain.sync.mirror import Mirror
from vaultbrain.sync.plan import MemoPlan, NotePlan
from vaultbrain.sync.report import SyncReport, no_progress
from vaultbrain.sync.sync import SyncOptions, SyncParts, remembered_origin, run_sync, take_in_notes
from vaultbrain.vault.home_note import TEMPLATE as HOME_TEMPLATE
from vaultbrain.vault.templates import OVERRIDES_FOLDER, Templates
from vaultbrain.vault.vault import Vault
from vaultbrain.wiring_reading import fetch_memos, newest_answers, read_answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import tzinfo

    from vaultbrain.answer.ask import Asked
    from vaultbrain.bench.cached_embedder import CachedEmbedder
    from vaultbrain.bench.judged import JudgedSet
    from vaultbrain.bench.run import BenchProgress, BenchResult, MeasuredSet
    from vaultbrain.chat import ChatModel
    from vaultbrain.index.answers import AnswerRow
    from vaultbrain.index.embedding import Embedder
    from vaultbrain.index.recalls import LoggedCandidate
    from vaultbrain.index.vectors import VectorStore
    from vaultbrain.memo import Memo
    from vaultbrain.recall.gate import Decision
    from vaultbrain.recall.recall import Recalled
    from vaultbrain.retrieve.crossencoder import Reranker
    from vaultbrain.retrieve.dictionary import Dictionary
    from vaultbrain.retrieve.meaning import TableCache
    from vaultbrain.retrieve.search import SearchParts, SearchResult
    from vaultbrain.retrieve.suggest import Suggestions
    from vaultbrain.settings import Settings
    from vaultbrain.sources.listing import Source
    from vaultbrain.sync.lock import WriterLock
    from vaultbrain.sync.report import Progress
    from vaultbrain.vault.vault import FileMark
    from vaultbrain.views import ViewParts
    from vaultbrain.wiring_answers import AnswerWiring
    from vaultbrain.wiring_inbox import InboxWiring
    from vaultbrain.wiring_reading import Fetched, FetchedMemo
    from vaultbrain.wiring_recall import RecallOutcome, RecallWiring

CATALOG = "catalog.sqlite3"
_CHROMA = "chroma"
#: An empty file whose time of change says when a whole listing was last compared. Its time moves, its bytes never do.
_CHECKED = "checked"
#: What the Home note and the base were last made from; the number counts up when they are to be made anew for a reason of ours.
_VIEWED, _VIEWS_RULES = "views_made_from", 2
#: What all answers were last compared with (``_answers_rest_on``), and the version of the memos in which each question was last
#: searched for new ones.
_AGED, _SEARCHED = "answers_aged", "answers_searched"
#: What the links in recall notes were last compared with.
_MENDED = "recalls_mended"

#: While a person waits for an answer, a server that is away may cost so many seconds.
_ASK_TIMEOUT_S = 5
#: Seconds. The watcher leaves a note alone until its last change, unless that was ours, is so old; and so long it waits for the
#: server, once, and for another process of ours, because it tries again anyway and must end soon when it is told to.
_SPARE_S, _BACKGROUND_TIMEOUT_S, _BACKGROUND_LOCK_S = 30.0, 8, 1
#: Readers hold Chroma's lock for milliseconds and only one sync writes at a time; when it is busy for longer, comparing every
#: chunk is quicker than waiting.
_STORE_LOCK_TIMEOUT_S = 2.0
#: 9999-12-31: what comes later, some servers have it, has no date.
_LAST_SECOND = 253_402_214_400
#: What is searched for to have everything loaded: a word in Chinese, so that the converters are, too.
_ANY_WORD = "笔记"


def _for_background(settings: Settings) -> Settings:
    return replace(
        settings,
        timeout=min(settings.timeout, _BACKGROUND_TIMEOUT_S),
        lock_timeout=min(settings.lock_timeout, _BACKGROUND_LOCK_S),
    )


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Brain:
    """One vault's mirror, index and answers. Opens what a call needs; a vector store or model stays open for the next one."""

    def __init__(
        self,
        settings: Settings,
        *,
        environment: Mapping[str, str] = os.environ,
        clock: Callable[[], datetime] = _utc_now,
        embedder: Embedder | None = None,
        in_background: bool = False,
    ) -> None:
        """``clock`` gives aware times; ``embedder`` takes the place of the one the settings name.

        ``in_background``: nobody waits, so no note that is being edited is written, and a server in trouble is asked once.
        """
        self.settings = _for_background(settings) if in_background else settings
        self._tries = 1 if in_background else None
        self._environment = environment
        self._clock = clock
        self._embedder = embedder
        self._keeps_embedder = embedder is not None
        self.fingerprint = embedder.fingerprint if embedder else embedding_fingerprint(settings.embedding, settings.embedding_url)
        self._vault = Vault(settings.vault, spare_s=_SPARE_S if in_background else 0.0)
        self._templates = Templates(settings.vault / settings.folder / OVERRIDES_FOLDER)
        self._store: VectorStore | None = None
        self._tables: TableCache | None = None
        self._dictionary: Dictionary | None = None
        self._reranker: Reranker | None = None

    # what people call

    def sync(
        self,
        options: SyncOptions | None = None,
        *,
        progress: Progress = no_progress,
        should_stop: Callable[[], bool] = lambda: False,
        on_wait: Callable[[], None] = lambda: None,
    ) -> SyncReport:
        """Brings the mirror and the index up to date; see ``sync.run_sync`` for what it raises."""
        options = options or SyncOptions()
        if options.dry_run:
            with self._catalog(in_memory=not self._catalog_path.exists()) as catalog:
                parts = self._sync_parts(catalog, SyncReport(), progress=progress, should_stop=should_stop)
                return self._run_sync(parts, options)
        is_first = not self._checked_at()
        with self._writing("sync", self.settings.lock_timeout, on_wait), self._catalog() as catalog:
            self._vault.remove_leftovers(self.settings.memos_folder)
            parts = self._sync_parts(catalog, SyncReport(), progress=progress, should_stop=should_stop)
            was_searched = catalog.memos_version() == catalog.read_meta(_SEARCHED)
            report = self._run_sync(parts, options)
            self._note_check()
            looks_for_new = not was_searched or bool(report.created or report.updated)
            self._age_answers(catalog, report, progress, looks_for_new=looks_for_new)
            with self._answers_lock():
                report.notices += self._update_views(catalog)
                self._link_waiting(catalog)
            self._mend_recalls(catalog)
        if is_first or not report.is_empty:
            self._ensure_dictionary(report.notices.append, progress)
        return report

    def search(self, text: str, *, top_k: int = 10, variants: Sequence[str] = (), channel: str = "hybrid") -> SearchResult:
        """Ranked memos. Raises ``UsageProblem`` before the first sync."""
        from vaultbrain.retrieve.search import search

        with self._synced_catalog() as catalog:
            return search(self._search_parts(catalog), text, top_k=top_k, variants=variants, channel=channel)

    def ask(
        self,
        question: str,
        *,
        mode: str = "auto",
        variants: Sequence[str] = (),
        passage: str = "",
        writes: bool = True,
        new: bool = False,
        canvas: bool = False,
    ) -> Asked:
        """Answers in a note, or only composes it without ``writes``. A ``passage`` is searched for in place of the question.

        The last note with the same question is brought up to date, unless a ``new`` one is wanted; with ``canvas`` one is drawn
        beside it. Raises ``UsageProblem`` before the first sync.
        """
        from vaultbrain.answer.ask import AskOptions, ask

        with self._synced_catalog() as catalog:
            options = AskOptions(mode, tuple(variants), passage, writes, new)
            asked = ask(self._answer_wiring(catalog).asking(), question, options)
            return self._with_views(catalog, asked, canvas=canvas or self.settings.canvas) if writes else asked

    def refresh(
        self,
        notes: Sequence[str] = (),
        *,
        everything: bool = False,
        auto_only: bool = False,
        writes: bool = True,
        progress: Progress = no_progress,
        should_stop: Callable[[], bool] = lambda: False,
        on_failure: Callable[[str, str], None] | None = None,
    ) -> list[Asked]:
        """Answers again what the ``notes`` (paths in the vault) answer; without any, what is stale, or ``everything``.

        ``auto_only``: only notes whose property ``vb_refresh`` is ``auto``. Raises ``AnswerNotFound`` before anything is done.
        A note that cannot be read or written does not stop the others: ``on_failure`` hears of its path and the reason; without
        it, the first such error is raised when all others are done.
        """
        from vaultbrain.answer.living import refresh, rows_to_refresh

        with self._synced_catalog() as catalog:
            parts = self._answer_wiring(catalog).living()
            rows = rows_to_refresh(parts, notes, everything=everything, auto_only=auto_only)
            done: list[Asked] = []
            failed: list[NoteUnreadable | WriteFailed] = []
            for row in rows:
                if should_stop():
                    break
                progress("answers", len(done), len(rows))
                try:
                    asked = refresh(parts, row, writes=writes)
                except (NoteUnreadable, WriteFailed) as error:
                    failed.append(error)
                    if on_failure:
                        on_failure(row.path, error.fact("reason"))
                    continue
                done.append(self._with_views(catalog, asked, canvas=self.settings.canvas) if writes else asked)
            if failed and not on_failure:
                raise failed[0]
            return done

    def get(self, memo_id: str) -> FetchedMemo:
        """One memo, from the server if it answers. Raises ``MemoNotFound``."""
        fetched = self.fetch([memo_id])
        if fetched.memos:
            return fetched.memos[0]
        raise fetched.failure or MemoNotFound(memo_id=memo_id, address=self.settings.source)

    # what agents call

    def fetch(self, memo_ids: Sequence[str]) -> Fetched:
        """Memos as the server has them now, or as mirrored where it does not answer."""
        with self._catalog(in_memory=not self._catalog_path.exists()) as catalog:
            return fetch_memos(catalog, lambda: self._source(catalog, timeout_s=self.settings.timeout, tries=1), memo_ids)

    def memos(self, memo_ids: Sequence[str]) -> dict[str, Memo]:
        """Memos of the mirror as they are kept, by id; unknown ones are left out."""
        with self._synced_catalog() as catalog:
            return catalog.load_memos(memo_ids)

    def newest_answers(self, limit: int) -> list[AnswerRow]:
        with self._catalog(in_memory=not self._catalog_path.exists()) as catalog:
            return newest_answers(catalog, limit)

    def read_answer(self, answer_id: str) -> tuple[AnswerRow, str] | None:
        """The answer with its note as it stands; None when there is none. Raises ``NoteUnreadable``."""
        with self._catalog(in_memory=not self._catalog_path.exists()) as catalog:
            return read_answer(catalog, self._vault, answer_id)

    # what the watcher and conversations call

    def take_in(self, paths: Sequence[str], *, should_stop: Callable[[], bool] = lambda: False) -> SyncReport:
        """Brings the index in line with what the person wrote into the memo notes among ``paths``; asks no server."""
        with self._writing("watch", self.settings.lock_timeout), self._catalog() as catalog:
            parts = self._sync_parts(catalog, SyncReport(), progress=no_progress, should_stop=should_stop)
            take_in_notes(parts, catalog.memos_at(paths).values())
            return parts.report

    def make_inbox(self) -> None:
        """The folder for question notes, so that it is there to drop one into."""
        self._vault.make_folder(self.settings.inbox_folder)

    def has_synced(self) -> bool:
        """Whether there is anything to answer from."""
        return bool(self._checked_at())

    def memo_notes(self, paths: Sequence[str]) -> list[str]:
        """Those of the paths at which a memo's note was last met."""
        with self._catalog() as catalog:
            return list(catalog.memos_at(paths))

    def gate(self, text: str) -> tuple[Decision, str]:
        """Whether what is being written is worth a look-up, and the short query for it. Changes nothing."""
        with self._catalog(in_memory=not self._catalog_path.exists()) as catalog:
            return self._recall_wiring(catalog).gate(text)

    def recall(self, text: str, *, semantic: bool | None = None, mentioned: Sequence[str] = ()) -> Recalled:
        """At most two memos that are worth a mention in a conversation about ``text``; every candidate with its reasons.

        ``semantic`` None goes by meaning where there are vectors, else by keywords. ``mentioned`` are ids of memos that the
        conversation had already. Changes nothing. Raises ``UsageProblem`` before the first sync.
        """
        with self._synced_catalog() as catalog:
            return self._recall_wiring(catalog).recall(text, semantic=semantic, mentioned=mentioned)

    def spoken_language(self, text: str) -> str:
        """The language in which something is said to whoever wrote ``text``."""
        from vaultbrain.wiring_recall import spoken_language

        return spoken_language(self.settings, text)

    def recalled_as(self, text: str, form: str, *, semantic: bool | None = None) -> str:
        """As ``recall``, in one of ``recall.formats.FORMATS`` and the language of the text; empty for a silent chat."""
        from vaultbrain.recall.formats import render

        with self._synced_catalog() as catalog:
            recalling = self._recall_wiring(catalog)
            return render(recalling.recall(text, semantic=semantic), recalling.language_of(text), form)

    def recall_note(self, path: str, text: str) -> RecallOutcome:
        """Mentions at most one memo in the recall note of the note at ``path``, in which ``text`` was just written."""
        with self._synced_catalog() as catalog:
            return self._recall_wiring(catalog).mention(path, text)

    def recall_log(self, limit: int) -> list[LoggedCandidate]:
        """Why the last candidates were shown or held, the newest last."""
        with self._catalog(in_memory=not self._catalog_path.exists()) as catalog:
            return self._recall_wiring(catalog).read_log(limit)

    @contextmanager
    def recall_notes(self) -> Iterator[RecallWiring]:
        """What was ticked in recall notes, to be read and shown."""
        with self._catalog() as catalog:
            yield self._recall_wiring(catalog)

    @contextmanager
    def inbox(self) -> Iterator[InboxWiring]:
        """The question notes, to be answered and told."""
        with self._catalog() as catalog:
            yield self._inbox_wiring(catalog)

    def warm_up(self) -> None:
        """Loads what a search needs, the model excepted, so that the first one comes sooner. Nothing happens before a sync."""
        if self.has_synced():
            self.search(_ANY_WORD, top_k=1, channel="keyword")

    def rest(self) -> None:
        """Gives back the memory that only work needs: model, table of vectors, converters. What needs them loads them again."""
        if self._tables is None and (self._embedder is None or self._keeps_embedder):
            return
        self._tables = None
        if not self._keeps_embedder:
            self._embedder = None
        forget_regional()
        give_back()

    def close(self) -> None:
        """Lets go of the vector store; the next call opens it again."""
        if self._store:
            self._store.close()
            self._store = None

    def local_time(self, seconds: float) -> str:
        """Unix seconds as day and time in the vault's zone: ``2026-01-03 21:04``."""
        bounded = min(max(seconds, 0), _LAST_SECOND)
        return datetime.fromtimestamp(bounded, self._zone).strftime("%Y-%m-%d %H:%M")

    def obsidian_link(self, path: str) -> str:
        """Opens the note at ``path`` in Obsidian (help.obsidian.md, Obsidian URI)."""
        return f"obsidian://open?vault={quote(self.settings.vault.name, safe='')}&file={quote(path, safe='')}"

    def own_mark(self, path: str) -> FileMark | None:
        """The file as this brain wrote it last; None when it did not."""
        return self._vault.own_mark(path)

    def wait_s(self, path: str) -> float:
        """For how many seconds the note is still to be left alone, since somebody may be typing in it."""
        return self._vault.wait_s(path)

    def status(self) -> dict[str, Any]:
        """Counts and ages; changes nothing and asks no server."""
        with self._catalog(in_memory=not self._catalog_path.exists()) as catalog:
            counts, answers = catalog.counts(self.fingerprint), catalog.answers.count_by_status()
            origin = remembered_origin(catalog)
            dimension = catalog.dimension(self.fingerprint)
            return {
                "vault": str(self.settings.vault),
                "source": self.settings.source,
                "generation": origin.generation if origin else "",
                "state_dir": str(self.settings.state_folder),
                "model": self.fingerprint,
                "checked_at": self._checked_at(),
                "age_s": self._age_s(),
                "memos_to_index": catalog.count_memos_to_index(self._profile),
                "vector_store": self._vector_store(dimension).state() if dimension else "absent",
                "answers": sum(answers.values()),
                "answers_stale": answers[STALE],
                **counts,
            }

    def manifest(self) -> list[dict[str, Any]]:
        """Manifest v2: what is indexed, memo by memo."""
        with self._catalog(in_memory=not self._catalog_path.exists()) as catalog:
            return list(catalog.manifest())

    def bench(
        self,
        sets: Sequence[str | Path],
        *,
        channel: str = "hybrid",
        without: Sequence[str] = (),
        cache_dir: Path | None = None,
        progress: BenchProgress | None = None,
        should_stop: Callable[[], bool] = lambda: False,
        notice: Callable[[str], None] = lambda _: None,
    ) -> BenchResult:
        """Measures of searching, with these settings, on judged sets. Neither the vault nor its state is written to.

        ``without``: some of ``retrieve.search.INGREDIENTS``, to see what each of them brings.
        Vectors are kept in ``cache_dir`` (default: the user's cache folder) for the next time; ``notice`` hears in a sentence
        when that is not possible. Raises ``JudgedSetUnreadable`` before anything is done, ``EmbeddingUnavailable``, and
        ``Interrupted`` soon after ``should_stop`` said so.
        """
        from vaultbrain.bench.cached_embedder import CachedEmbedder, default_cache_dir
        from vaultbrain.bench.judged import read_judged_set
        from vaultbrain.bench.run import BenchResult

        judged_sets = [read_judged_set(Path(path)) for path in sets]
        if "dictionary" not in without:
            self._ensure_dictionary(notice)
        how = {"channel": channel, "should_stop": should_stop} | ({"progress": progress} if progress else {})
        with CachedEmbedder(cache_dir or default_cache_dir(), self.fingerprint, self._open_embedder, notice) as embedder:
            leave_out = frozenset(without)
            return BenchResult(tuple(self._measure(judged, embedder, leave_out, how) for judged in judged_sets))

    # how the parts are made

    @property
    def _catalog_path(self) -> Path:
        return self.settings.state_folder / CATALOG

    @property
    def _zone(self) -> tzinfo | None:
        from zoneinfo import ZoneInfo

        return None if self.settings.timezone == "local" else ZoneInfo(self.settings.timezone)

    @property
    def _profile(self) -> IndexProfile:
        return IndexProfile(self.fingerprint, CHUNKER_VERSION, self.settings.chunk_size, self.settings.chunk_overlap)

    def _now(self) -> datetime:
        return self._clock().astimezone(self._zone)

    def _catalog(self, *, in_memory: bool = False) -> Catalog:
        return Catalog(None if in_memory else self._catalog_path)

    def _synced_catalog(self) -> Catalog:
        if self._catalog_path.exists():
            catalog = self._catalog()
            if self._checked_at() or catalog.has_memos():
                return catalog
            catalog.close()
        raise UsageProblem(what="Nothing has been mirrored yet.", next="Run: vaultbrain sync")

    def _writing(
        self, command: str, timeout_s: float, on_wait: Callable[[], None] = lambda: None
    ) -> AbstractContextManager[WriterLock]:
        return writing(self.settings.state_folder, timeout_s=timeout_s, command=command, on_wait=on_wait)

    def _answers_rest_on(self, catalog: Catalog) -> str:
        """Another one when a memo or its note moved on, an answer was written, or the person deleted, moved or put back one."""
        try:
            names = sorted(self._vault.names_in(self.settings.answers_folder))
        except WriteFailed:  # it cannot be listed: a file stands in its place
            names = []
        missing = [path for path in catalog.answers.paths() if self._vault.mark(path) is None]
        listing = hashlib.blake2b(json.dumps([names, missing]).encode(), digest_size=6).hexdigest()
        return f"{catalog.memos_version()}/{catalog.notes_version()}/{catalog.read_meta(ANSWERS_VERSION)}/{listing}"

    def _answers_lock(self) -> AbstractContextManager[WriterLock]:
        settings = self.settings
        return writing(settings.state_folder, timeout_s=settings.lock_timeout, command="ask", name=ANSWERS_LOCK)

    def _source(
        self,
        catalog: Catalog,
        *,
        timeout_s: float,
        tries: int | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Source:
        if not self.settings.source:
            raise UsageProblem(what="No source is set.", next="Put `source` into vaultbrain.toml, or run: vaultbrain init")
        return open_source(
            self.settings.source,
            vault=self.settings.vault,
            token=read_token(self.settings, environment=self._environment),
            public_url=self.settings.public_url,
            timeout_s=timeout_s,
            tries=tries or self._tries,
            should_stop=should_stop,
            remembered=remembered_origin(catalog),
        )

    def _sync_parts(
        self, catalog: Catalog, report: SyncReport, *, progress: Progress, should_stop: Callable[[], bool]
    ) -> SyncParts:
        settings = self.settings
        return SyncParts(
            source=self._source(catalog, timeout_s=settings.timeout, should_stop=should_stop),
            catalog=catalog,
            mirror=self._mirror(catalog, report),
            indexer=Indexer(catalog, self._profile, self._vector_store, self._open_embedder, report),
            profile=self._profile,
            report=report,
            now=self._now,
            progress=progress,
            should_stop=should_stop,
        )

    def _run_sync(self, parts: SyncParts, options: SyncOptions) -> SyncReport:
        try:
            return run_sync(parts, options, str(self.settings.vault / self.settings.memos_folder))
        finally:
            parts.source.close()

    def _answer_wiring(self, catalog: Catalog) -> AnswerWiring:
        from vaultbrain.views import resolved_language
        from vaultbrain.wiring_answers import AnswerWiring

        settings = self.settings
        return AnswerWiring(
            settings,
            catalog,
            self._search_parts(catalog),
            vault=self._vault,
            templates=self._templates,
            mirror_now=lambda memos: self._mirror_now(catalog, memos),
            open_source=lambda: self._source(catalog, timeout_s=min(_ASK_TIMEOUT_S, settings.timeout), tries=1),
            lock=self._answers_lock,
            age_s=self._age_s(),
            now=self._now,
            writer=self._chat_model() if settings.llm_base_url and settings.llm_write else None,
            usual_language=resolved_language(catalog, settings.language),
        )

    def _recall_wiring(self, catalog: Catalog) -> RecallWiring:
        from vaultbrain.wiring_recall import RecallWiring

        return RecallWiring(
            self.settings, catalog, self._search_parts(catalog), vault=self._vault, lock=self._answers_lock, now=self._now
        )

    def _inbox_wiring(self, catalog: Catalog) -> InboxWiring:
        from vaultbrain.wiring_inbox import InboxWiring

        def ask(question: str, mode: str, passage: str) -> str:
            return self.ask(question, mode=mode, passage=passage).path

        return InboxWiring(catalog.inbox, self._vault, self.settings.inbox_folder, ask)

    def _age_answers(self, catalog: Catalog, report: SyncReport, progress: Progress, *, looks_for_new: bool) -> None:
        """Tells answers whose memos have moved on. A sync that was killed before is made up for: what was seen is remembered."""
        version = self._answers_rest_on(catalog)
        if version == catalog.read_meta(_AGED):
            return
        left: list[str] = []
        if catalog.answers.has_any():
            from vaultbrain.answer.living import age_answers

            living = self._answer_wiring(catalog).aging(looks_for_new=looks_for_new)
            aged = age_answers(living, lambda done, total: progress("answers", done, total))
            report.answers_stale += len(aged.stale)
            report.notes_deferred += len(aged.deferred)
            report.failed += [{"answer": path, "reason": reason} for path, reason in aged.failed.items()]
            left = [*aged.failed, *aged.deferred]
        catalog.write_meta(_SEARCHED, catalog.memos_version())
        if left:
            return  # they are tried again by the next sync
        if self._answers_rest_on(catalog) == version:
            catalog.write_meta(_AGED, version)
        else:  # it was moved on by us, or by a refresh that had not seen the newest memos
            self._age_answers(catalog, report, progress, looks_for_new=False)

    def _view_parts(self, catalog: Catalog) -> ViewParts:
        from vaultbrain.views import ViewParts

        settings = self.settings
        return ViewParts(catalog, self._vault, self._templates, settings.folder, settings.language, self._zone)

    def _update_views(self, catalog: Catalog) -> list[str]:
        """The Home note and the base, if what they show has changed; what there is to say of them and of broken templates."""
        seen = [_VIEWS_RULES, catalog.memos_version(), catalog.read_meta(ANSWERS_VERSION), self._templates.digest(HOME_TEMPLATE)]
        key = json.dumps([*seen, self.settings.folder, self.settings.language])
        notices: list[str] = []
        if catalog.read_meta(_VIEWED) != key and catalog.has_memos():
            from vaultbrain.views import update_views

            done = update_views(self._view_parts(catalog))
            notices = done.notices
            if not notices and not done.deferred:
                catalog.write_meta(_VIEWED, key)
        for problem in self._templates.problems:
            what = f"The template {problem.path} has a mistake in line {problem.line}: {problem.reason}."
            notices.append(f"{what} The built-in one was used.")
        self._templates.problems.clear()
        return notices

    def _mend_recalls(self, catalog: Catalog) -> None:
        """Links in recall notes follow the memos' notes; what cannot be written now is tried by the next sync."""
        version = f"{catalog.memos_version()}/{catalog.notes_version()}"
        if catalog.read_meta(_MENDED) != version and (not catalog.recalls.notes() or self._recall_wiring(catalog).mend_links()):
            catalog.write_meta(_MENDED, version)

    def _link_waiting(self, catalog: Catalog) -> None:
        if catalog.read_meta(WAITING_LINKS):
            from vaultbrain.views import link_waiting

            link_waiting(self._view_parts(catalog))

    def _with_views(self, catalog: Catalog, asked: Asked, *, canvas: bool) -> Asked:
        """What shows an answer besides its note; whatever of it fails is said and stops nothing."""
        from vaultbrain.views import draw_canvas, link_daily

        parts, notices = self._view_parts(catalog), list(asked.missing)
        with self._answers_lock():
            if (canvas or asked.row.canvas) and (reason := draw_canvas(parts, asked, is_asked_for=canvas)):
                notices.append(f"The canvas beside {asked.path} was left as it is: {reason}.")
            if self.settings.daily_link and not asked.is_update and (reason := link_daily(parts, asked, self._now())):
                notices.append(f"The daily note does not link to this answer: {reason}.")
            missing = tuple(notices)
            notices += self._update_views(catalog)
        return replace(asked, notices=tuple(notices), missing=missing)

    def _mirror(self, catalog: Catalog, report: SyncReport) -> Mirror:
        return Mirror(catalog, self._vault, self._templates, self.settings.memos_folder, self._zone, report)

    def _mirror_now(self, catalog: Catalog, memos: Sequence[Memo]) -> None:
        """Mirrors single memos that changed; their vectors follow with the next sync."""
        report = SyncReport()
        with self._writing("ask", 0):
            mirror = self._mirror(catalog, report)
            mirror.record(MemoPlan((), tuple(memos), (), ()), no_progress)
            mirror.write(NotePlan(tuple(memo.id for memo in memos), (), ()), {}, no_progress, lambda: False)
            mirror.take_in_edits([memo.id for memo in memos])
            fill_gists(catalog, no_progress, lambda: False)
            Indexer(catalog, self._profile, self._vector_store, self._open_embedder, report).cut_memos(no_progress)

    def _search_parts(self, catalog: Catalog) -> SearchParts:
        from vaultbrain.retrieve.meaning import TableCache
        from vaultbrain.retrieve.search import SearchParts

        self._tables = self._tables or TableCache()
        return SearchParts(
            catalog=catalog,
            fingerprint=self.fingerprint,
            open_embedder=self._open_embedder,
            store=self._vector_store,
            exact_search_limit=self.settings.exact_search_limit,
            checked_at=self._checked_at(),
            tables=self._tables,
            zone=self._zone,
            own_lexicon=self.settings.own_lexicon,
            open_dictionary=self._open_dictionary,
            suggest=self._suggest if self.settings.llm_expand else None,
            open_reranker=self._open_reranker if self.settings.rerank else None,
        )

    def _open_dictionary(self) -> Dictionary | None:
        from vaultbrain.retrieve.dictionary import open_dictionary

        if self._dictionary is None or self._dictionary.is_damaged:
            self._dictionary = open_dictionary()
        return self._dictionary

    def _ensure_dictionary(self, notice: Callable[[str], None], progress: Progress = no_progress) -> None:
        """Compiles it if it is not there. A failure costs searches the words of the other language, and nothing else."""
        from vaultbrain.retrieve.compiling import DictionaryNotMade, compile_dictionary, is_compiled

        if is_compiled():
            return
        progress("dictionary", 0, 1)
        try:
            compile_dictionary()
        except DictionaryNotMade as error:
            notice(f"The dictionary could not be made ({error}); searches do not look up words of the other language in it.")
        progress("dictionary", 1, 1)

    def _suggest(self, question: str) -> Suggestions:
        from vaultbrain.retrieve.suggest import suggest_variants

        return suggest_variants(self._chat_model(), question)

    def _chat_model(self) -> ChatModel:
        from vaultbrain.chat import ChatModel

        settings = self.settings
        key = read_llm_key(settings, environment=self._environment)
        return ChatModel(settings.llm_base_url, settings.llm_model, key, settings.llm_timeout)

    def _open_reranker(self) -> Reranker:
        from vaultbrain.retrieve.crossencoder import open_reranker

        if self._reranker is None:
            self._reranker = open_reranker(self.settings.rerank)
        return self._reranker

    def _measure(
        self, judged: JudgedSet, embedder: CachedEmbedder, leave_out: frozenset[str], how: Mapping[str, Any]
    ) -> MeasuredSet:
        """In a brain of its own that lives in a temporary folder: all its parts are made as for a vault."""
        from tempfile import TemporaryDirectory

        from vaultbrain.bench.run import BenchParts, measure_set

        with TemporaryDirectory(prefix="vaultbrain-bench-", ignore_cleanup_errors=True) as folder:
            # Without the Chroma server, whose collections outlive the folder.
            settings = replace(self.settings, vault=Path(folder), state_dir=str(Path(folder, "state")), chroma_url="")
            brain = Brain(settings, environment=self._environment, clock=self._clock, embedder=embedder)
            with brain._catalog() as catalog:
                try:
                    parts = replace(brain._search_parts(catalog), own_lexicon=self.settings.own_lexicon, leave_out=leave_out)
                    return measure_set(BenchParts(catalog, brain._profile, embedder, parts, **how), judged)
                finally:
                    if brain._store:
                        brain._store.close()

    def _open_embedder(self) -> Embedder:
        if self._embedder is None:
            self._embedder = open_embedder(
                self.settings.embedding,
                base_url=self.settings.embedding_url,
                api_key=read_embedding_key(environment=self._environment),
            )
        return self._embedder

    def _vector_store(self, dimension: int) -> VectorStore:
        if self._store is None:
            fingerprint = centred_fingerprint(self.fingerprint)
            if self.settings.chroma_url:
                self._store = ServerVectorIndex(
                    self.settings.chroma_url,
                    vault_id=self.settings.state_folder.name,
                    fingerprint=fingerprint,
                    dimension=dimension,
                )
            else:
                folder = self.settings.state_folder / _CHROMA
                self._store = VectorIndex(
                    folder, fingerprint=fingerprint, dimension=dimension, lock_timeout_s=_STORE_LOCK_TIMEOUT_S
                )
        return self._store

    def _note_check(self) -> None:
        path, now = self.settings.state_folder / _CHECKED, self._clock().timestamp()
        path.touch()
        os.utime(path, (now, now))

    def _checked_at(self) -> str:
        """When a listing was last compared, in local time; empty before the first sync."""
        try:
            seconds = (self.settings.state_folder / _CHECKED).stat().st_mtime
        except OSError:
            return ""
        return self.local_time(seconds)

    def _age_s(self) -> float | None:
        try:
            seconds = (self.settings.state_folder / _CHECKED).stat().st_mtime
        except OSError:
            return None
        return max(0.0, round(self._clock().timestamp() - seconds, 1))


def open_brain(vault: str | Path | None = None, **flags: Any) -> Brain:
    """The brain of the vault at or above ``vault`` (default: the working folder); ``flags`` override settings."""
    settings, _ = load_settings(find_vault(Path(vault or ".")), flags=flags)
    return Brain(settings)


def open_watching_brain(vault: str | Path | None = None, **flags: Any) -> Brain:
    """As ``open_brain``, for the watcher."""
    settings, _ = load_settings(find_vault(Path(vault or ".")), flags=flags)
    return Brain(settings, in_background=True)


def open_brain_anywhere(vault: str | Path | None = None) -> Brain:
    """As ``open_brain``; without a vault here or above, a brain with the defaults and the environment's settings.

    Such a brain can only do what needs no vault: there is no folder behind it.
    """
    try:
        return open_brain(vault)
    except VaultNotFound:
        if vault is not None:
            raise
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        Path(folder, SETTINGS_FILE).touch()
        try:
            settings, _ = load_settings(Path(folder))
        except SettingsInvalid as error:
            raise SettingsInvalid(path="The environment", problems=error.facts["problems"]) from error
    return Brain(settings)
