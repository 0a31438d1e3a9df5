"""Builds what answering works with, from a brain and its open catalog: the half of ``wiring`` that only answers need.

Imported by ``wiring`` inside the methods that answer, so that a sync that finds nothing to do never loads it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from vaultbrain.answer.ask import AskParts
from vaultbrain.answer.changes import Place
from vaultbrain.answer.delivery import DeliveryParts
from vaultbrain.answer.gathering import GatheringParts
from vaultbrain.answer.living import LivingParts
from vaultbrain.answer.writer import Exclusions, request_for, write
from vaultbrain.errors import ChatFailed, NoteUnreadable
from vaultbrain.index.embedding import model_name
from vaultbrain.retrieve.lexicon import load_lexicon
from vaultbrain.retrieve.meaning import likeness_between
from vaultbrain.retrieve.search import search
from vaultbrain.vault.markdown import anchor_id
from vaultbrain.vault.memo_note import standing_anchors
from vaultbrain.vault.note import read_region

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime

    from vaultbrain.answer.checking import Written
    from vaultbrain.answer.compose import Answer
    from vaultbrain.answer.context import AnswerContext
    from vaultbrain.answer.gathering import Gathered
    from vaultbrain.chat import ChatModel
    from vaultbrain.index.catalog import Catalog
    from vaultbrain.memo import Memo
    from vaultbrain.retrieve.dictionary import Dictionary
    from vaultbrain.retrieve.search import SearchParts, SearchResult
    from vaultbrain.settings import Settings
    from vaultbrain.sources.listing import Source
    from vaultbrain.vault.templates import Templates
    from vaultbrain.vault.vault import Vault

_S_PER_DAY = 86_400


class AnswerWiring:
    """Joins the parts of answering. ``parts`` are those of searching, which share the catalog."""

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        parts: SearchParts,
        *,
        vault: Vault,
        templates: Templates,
        mirror_now: Callable[[Sequence[Memo]], None],
        open_source: Callable[[], Source],
        lock: Callable[[], AbstractContextManager[object]],
        age_s: float | None,
        now: Callable[[], datetime],
        writer: ChatModel | None,
        usual_language: str,
    ) -> None:
        self._settings, self._catalog, self._search_parts, self._vault = settings, catalog, parts, vault
        self._mirror_now, self._open_source, self._lock, self._now = mirror_now, open_source, lock, now
        self._templates, self._age_s, self._writer = templates, age_s, writer
        self._usual_language = usual_language

    def asking(self) -> AskParts:
        return AskParts(
            gathering=self._gathering(),
            delivery=DeliveryParts(self._catalog.answers, self._vault, self._settings.answers_folder, self._lock),
            templates=self._templates,
            language=self._settings.language,
            usual_language=self._usual_language,
            headings=self._settings.headings,
            model=model_name(self._settings.embedding),
            when=self._search_parts.checked_at,
            age_days=None if self._age_s is None else int(self._age_s // _S_PER_DAY),
            now=self._now,
            write=self._write if self._writer else None,
        )

    def aging(self, *, looks_for_new: bool) -> LivingParts:
        """For a look at all answers, which asks no chat model for other words: nobody is there who wanted that sent."""
        self._search_parts = replace(self._search_parts, suggest=None)
        return self.living(looks_for_new=looks_for_new)

    def living(self, *, looks_for_new: bool = True) -> LivingParts:
        return LivingParts(self.asking(), self._catalog.content_hashes, self._places, looks_for_new)

    def _gathering(self) -> GatheringParts:
        return GatheringParts(
            search=self._search,
            mirrored=self._catalog.load_memos,
            originals=self._catalog.load_originals,
            note_of=self._catalog.note_path,
            relations=self._catalog.relations_of,
            mirror_now=self._mirror_now,
            open_source=self._open_source,
            likeness=partial(likeness_between, self._catalog, self._search_parts.fingerprint),
            is_word=self._is_word,
            is_topic=self._is_topic,
            vault=self._vault,
        )

    def _write(self, gathered: Gathered, answer: Answer, context: AnswerContext) -> tuple[Written | None, str]:
        assert self._writer is not None
        settings = self._settings
        exclusions = Exclusions(settings.llm_exclude_tags, settings.llm_exclude_visibilities, settings.llm_exclude_folders)
        try:
            return write(self._writer, request_for(gathered, answer, context), exclusions), ""
        except ChatFailed as error:
            return error.facts.get("written"), error.fact("reason")

    def _search(self, text: str, variants: Sequence[str], top_k: int) -> SearchResult:
        return search(self._search_parts, text, top_k=top_k, variants=variants)

    def _is_topic(self, word: str) -> bool:
        return word in self._topics

    def _is_word(self, word: str) -> bool:
        return word in self._topics or (self._dictionary is not None and self._dictionary.has(word))

    @cached_property
    def _topics(self) -> frozenset[str]:
        """Folded words of the lexicon, and tags with their levels."""
        levels = (level for tag in self._catalog.folded_tags() for level in (tag, *tag.split("/")))
        return frozenset([*load_lexicon(self._settings.own_lexicon).by_word, *levels])

    @cached_property
    def _dictionary(self) -> Dictionary | None:
        return self._search_parts.open_dictionary()

    def _places(self, memo_ids: Sequence[str]) -> Mapping[str, Place]:
        return {memo_id: self._place(memo_id) for memo_id in memo_ids}

    def _place(self, memo_id: str) -> Place:
        path = self._catalog.note_path(memo_id)
        try:
            text = self._vault.read(path) if path else None
        except NoteUnreadable:
            return Place(path, None)
        if text is None:
            return Place("", frozenset())
        numbers = standing_anchors(memo_id, read_region(text) or "")
        return Place(path, frozenset(anchor_id(memo_id, number) for number, _ in numbers))
