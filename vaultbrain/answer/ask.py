"""A question into an answer note: gather, compose, let a model write if there is one, put the note into the vault.

Decides what makes two questions the same: then the note that is there is brought up to date instead of a twin. Nothing is lost
by that: what the person wrote in the note stays, and the new text says what has changed.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vaultbrain.answer.changes import what_changed
from vaultbrain.answer.compose import TEMPLATE, choose_language, choose_mode, compose
from vaultbrain.answer.context import MATCH, AnswerContext
from vaultbrain.answer.delivery import Overtaken, deliver, find_standing
from vaultbrain.answer.gathering import find_sources, gather
from vaultbrain.answer.matching import parts_of
from vaultbrain.index.answers import AnswerRow, CitedMemo
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.fusion import STRONG
from vaultbrain.retrieve.query import LONGEST_WITH_FILTERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from vaultbrain.answer.checking import Written
    from vaultbrain.answer.compose import Answer
    from vaultbrain.answer.delivery import DeliveryParts, Standing
    from vaultbrain.answer.gathering import Gathered, GatheringParts
    from vaultbrain.retrieve.search import SearchResult
    from vaultbrain.vault.templates import Templates

#: Memos that were near enough when the question was asked and that are remembered: one beyond them is a new one.
REMEMBERED = 50


@dataclass(frozen=True, slots=True)
class AskOptions:
    """``passage`` is a text to compare with; ``is_new`` makes another note though this question has one."""

    mode: str = "auto"
    variants: tuple[str, ...] = ()
    passage: str = ""
    writes: bool = True
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class AskParts:
    """What asking works with. ``language`` may be ``auto``; ``usual_language`` is that of most memos.

    ``when`` is the last sync, readable, and ``age_days`` its age.

    ``write``, None without a model, takes what was gathered and the extractive answer; it gives the model's text, or None and the
    reason why there is none.
    """

    gathering: GatheringParts
    delivery: DeliveryParts
    templates: Templates
    language: str
    usual_language: str
    headings: Mapping[str, str]
    model: str
    when: str
    age_days: int | None
    now: Callable[[], datetime]
    write: Callable[[Gathered, Answer, AnswerContext], tuple[Written | None, str]] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """``path`` is relative to the vault, and empty when nothing was to be written; ``text`` is the whole note as composed.

    ``changes`` say what is new since the note's last version. ``writer_failed``: why the model's text is missing.
    ``notices`` are sentences that a person should read once; those that tell what is ``missing`` are among them.
    """

    path: str
    text: str
    result: SearchResult
    row: AnswerRow
    answer: Answer
    is_update: bool
    changes: tuple[str, ...]
    writer_failed: str
    as_json: dict[str, Any]
    notices: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def is_partial(self) -> bool:
        """Whether something is not as wanted: the model's text, canvas, the daily note's link, the person's lines in place."""
        return bool(self.writer_failed or self.missing)


def ask(parts: AskParts, question: str, options: AskOptions, before: AnswerRow | None = None) -> Asked:
    """Answers, and writes the note: over ``before`` or the last answer to the same question, else a new one."""
    while True:
        try:
            return _ask(parts, question, options, before)
        except Overtaken:  # by another process, which answered the same meanwhile: it may have seen newer memos
            before = before and replace(parts.delivery.answers.load(before.answer_id) or before, path=before.path)


def _ask(parts: AskParts, question: str, options: AskOptions, before: AnswerRow | None) -> Asked:
    if options.mode == "auto" and not options.passage and len(question) > LONGEST_WITH_FILTERS:
        options = replace(options, passage=question)
    mode = choose_mode(question, MATCH if options.passage and options.mode == "auto" else options.mode)
    passage_parts = _passage_parts(options.passage, mode)
    gathered = gather(parts.gathering, options.passage or question, options.variants, passage_parts)
    row = _row(parts, question, mode, options, gathered)
    standing = find_standing(parts.delivery, row, before, is_new=options.is_new)
    changes = what_changed(standing.row, row) if standing.row and standing.text is not None else ()
    row = _with_callout(row, standing, changes)
    answer, failed = _compose(parts, gathered, row, passage_parts)
    row = replace(row, region=parts.templates.render(TEMPLATE, answer.values))
    delivered = deliver(parts.delivery, row, standing, answer.properties, writes=options.writes)
    is_update = standing.text is not None
    clash = (f"{delivered.path}: lines of yours met a change; they stand in a callout.",) if delivered.clashes else ()
    as_json = {"path": delivered.path, "question": question, **answer.as_json, "updated": is_update}
    return Asked(
        path=delivered.path,
        text=delivered.text,
        result=gathered.result,
        row=delivered.row,
        answer=answer,
        is_update=is_update,
        changes=changes,
        writer_failed=failed,
        as_json=as_json,
        missing=clash,
    )


def _passage_parts(passage: str, mode: str) -> tuple[str, ...]:
    return parts_of(passage) if mode == MATCH and passage else ()


def sources_now(parts: GatheringParts, row: AnswerRow) -> list[str]:
    """The ids of the memos that an answer to the row's question would cite now, without reading any of them."""
    passage_parts = _passage_parts(row.passage, row.mode)
    return [hit.memo_id for hit in find_sources(parts, row.passage or row.question, row.variants, passage_parts).cited]


#: What may differ in the same question. Not what makes a filter, and not what is part of a word: C++, 2.5.
_NO_DIFFERENCE = re.compile(r"\s+(?!-)|[,;!?。、…“”‘’「」『』《》〈〉()（）—]+|[.:](?!\w)")


def question_key(question: str, mode: str, passage: str) -> str:
    """The same for questions that differ only in case, script, spaces and punctuation."""
    words = _NO_DIFFERENCE.sub("", fold(question)).strip() or question
    return hashlib.blake2b("\0".join((words, mode, passage)).encode(), digest_size=6).hexdigest()


def _row(parts: AskParts, question: str, mode: str, options: AskOptions, gathered: Gathered) -> AnswerRow:
    hits = gathered.result.hits
    key = question_key(question, mode, options.passage)
    return AnswerRow(
        answer_id=key,
        key=key,
        number=1,
        path="",
        question=question,
        mode=mode,
        language=choose_language(parts.language, question, parts.usual_language),
        asked=parts.now().strftime("%Y-%m-%dT%H:%M:%S"),
        passage=options.passage,
        variants=options.variants,
        cited=_cited(gathered),
        named=_named(gathered),
        seen=gathered.result.ranked[:REMEMBERED],
        strong=sum(hit.label == STRONG for hit in hits),
    )


def _cited(gathered: Gathered) -> tuple[CitedMemo, ...]:
    """Every memo that the note links to: its sources first, then what these refer to and what says the same."""
    versions = {memo_id: memo.content_hash for memo_id, memo in gathered.memos.items()}
    cited = [
        CitedMemo(hit.memo_id, versions[hit.memo_id], hit.label, hit.title, hit.note, hit.anchor) for hit in gathered.result.hits
    ]
    named = [(kin.memo_id, kin.note, kin.anchor) for found in gathered.material.relatives.values() for kin in found]
    named += [(memo_id, note, "") for memo_id, note in gathered.material.notes.items()]
    sources = {memo.memo_id for memo in cited}
    others = {
        memo_id: CitedMemo(memo_id, versions[memo_id], "", gathered.memos[memo_id].title, note, anchor)
        for memo_id, note, anchor in named
        if memo_id not in sources and memo_id in versions
    }
    return (*cited, *others.values())


def _named(gathered: Gathered) -> tuple[CitedMemo, ...]:
    """Memos that the note may link to without resting on them: what came near, what was found besides."""
    hits = [*gathered.result.nearest, *gathered.further, *(hit for hits in gathered.part_hits for hit in hits)]
    cited = {hit.memo_id for hit in gathered.result.hits}
    by_id = {hit.memo_id: hit for hit in hits if hit.note and hit.memo_id not in cited}
    return tuple(CitedMemo(hit.memo_id, "", "", hit.title, hit.note, hit.anchor) for hit in by_id.values())


def _with_callout(row: AnswerRow, standing: Standing, changes: tuple[str, ...]) -> AnswerRow:
    """With what is new since the note's last version; when nothing is, with what its callout says already."""
    if changes:
        return replace(row, changes=changes, changed_on=row.asked[:10])
    before = standing.row if standing.text is not None else None
    return replace(row, changes=before.changes, changed_on=before.changed_on) if before else row


def _compose(parts: AskParts, gathered: Gathered, row: AnswerRow, passage_parts: Sequence[str]) -> tuple[Answer, str]:
    """The answer, and why a model's text is missing where one was to write."""
    context = AnswerContext(
        question=row.question,
        mode=row.mode,
        language=row.language,
        now=parts.now(),
        when=parts.when,
        model=parts.model,
        reading=gathered.reading,
        material=gathered.material,
        headings=parts.headings,
        passage_parts=passage_parts,
        part_hits=gathered.part_hits,
        further=gathered.further,
        age_days=parts.age_days,
        changes=row.changes,
        changed_since=row.changed_on,
    )
    answer = compose(gathered.result, context)
    if parts.write is None or not gathered.result.hits:
        return answer, ""
    written, failed = parts.write(gathered, answer, context)
    return compose(gathered.result, replace(context, written=written, writer_failed=failed)), failed
