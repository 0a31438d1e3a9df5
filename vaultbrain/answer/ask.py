"""A question into an answer note: search, read the sources in full, make sure that every link holds, write.

Decides which memos are read in full and where their text comes from. What the server has is newer than the mirror: a memo that
changed is mirrored first, so that an answer quotes nothing that its links do not show.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from vaultbrain.answer.compose import TEMPLATE, AnswerContext, Reading, choose_language, choose_mode, compose
from vaultbrain.errors import LoginRefused, NoteUnreadable, SourceError, StateBusy
from vaultbrain.index.fold import fold
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK
from vaultbrain.vault.markdown import anchor_id
from vaultbrain.vault.memo_note import standing_anchors
from vaultbrain.vault.names import answer_name, free_path
from vaultbrain.vault.note import new_note, read_region

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from vaultbrain.memo import Memo
    from vaultbrain.retrieve.search import Hit, SearchResult
    from vaultbrain.sources.listing import Source
    from vaultbrain.vault.templates import Templates
    from vaultbrain.vault.vault import Vault

#: Sources of one answer: more is more than anybody reads.
MAX_SOURCES = 12
#: Weak sources of one answer, and the score that they need at least.
MAX_WEAK, LEAST_CITED = 4, 0.18


@dataclass(frozen=True, slots=True)
class AskOptions:
    mode: str = "auto"
    variants: tuple[str, ...] = ()
    passage: str = ""
    writes: bool = True


@dataclass(frozen=True, slots=True)
class AskParts:
    """What asking works with.

    ``search`` takes a text, variants and how many; ``mirrored`` gives memos as the catalog has them; ``mirror_now`` takes memos
    that changed on the server into the vault, or raises ``StateBusy``.
    """

    search: Callable[[str, Sequence[str], int], SearchResult]
    mirrored: Callable[[Sequence[str]], dict[str, Memo]]
    mirror_now: Callable[[Sequence[Memo]], None]
    open_source: Callable[[], Source]
    vault: Vault
    templates: Templates
    folder: str
    language: str
    model: str
    checked_at: str
    now: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Asked:
    """``path`` is relative to the vault, and empty when nothing was to be written; ``text`` is the whole note."""

    path: str
    text: str
    result: SearchResult
    as_json: dict[str, Any]


def ask(parts: AskParts, question: str, options: AskOptions) -> Asked:
    """Answers and writes the note. A server that is away is no error: the note says that the mirror was read."""
    query = options.passage or question
    result = parts.search(query, options.variants, MAX_SOURCES)
    reading, fresh = _read_in_full(parts, result.hits)
    if reading.changed:
        result = parts.search(query, options.variants, MAX_SOURCES)
    result = replace(result, hits=_worth_citing(_each_quoted_once(result.hits)))
    result = replace(
        result, hits=_with_sound_links(parts.vault, result.hits), nearest=_with_sound_links(parts.vault, result.nearest)
    )
    mirrored = parts.mirrored([hit.memo_id for hit in result.hits])
    context = AnswerContext(
        question=question,
        mode=choose_mode(question, "match" if options.passage and options.mode == "auto" else options.mode),
        language=choose_language(parts.language, question),
        now=parts.now(),
        when=parts.checked_at,
        model=parts.model,
        reading=reading,
        tags={memo_id: memo.tags for memo_id, memo in (mirrored | fresh).items()},
    )
    answer = compose(result, context)
    text = new_note(answer.properties, parts.templates.render(TEMPLATE, answer.values))
    path = _write(parts, question, context.now, text) if options.writes else ""
    return Asked(path, text, result, {"path": path, "question": question, **answer.as_json})


def _write(parts: AskParts, question: str, now: datetime, text: str) -> str:
    """A new note under a name that nothing has; asking twice makes two notes."""
    while True:
        path = free_path(parts.folder, answer_name(question, now.strftime("%Y-%m-%d")), parts.vault.names_in(parts.folder))
        try:
            parts.vault.create(path, text)
        except FileExistsError:
            continue
        return path


def _read_in_full(parts: AskParts, hits: Sequence[Hit]) -> tuple[Reading, dict[str, Memo]]:
    """The sources as the server has them now; those that changed are mirrored at once."""
    wanted = [hit.memo_id for hit in hits if hit.label in (STRONG, RELATED)]
    if not wanted:
        return Reading("from_mirror"), {}
    try:
        source = parts.open_source()
        try:
            fetched = {memo_id: source.fetch_memo(memo_id) for memo_id in wanted}
        finally:
            source.close()
    except SourceError as error:
        return Reading("from_mirror", read=len(wanted), reason=_why(error)), {}
    mirrored = parts.mirrored(wanted)
    known = {memo_id: memo for memo_id, memo in fetched.items() if memo_id in mirrored}  # a sync may have taken one away
    changed = [memo for memo_id, memo in known.items() if memo and memo.memo_hash != mirrored[memo_id].memo_hash]
    how = "from_export" if source.is_export else "from_server"
    reading = Reading(how, read=len(wanted), gone=tuple(memo_id for memo_id, memo in fetched.items() if memo is None))
    fresh = {memo_id: memo for memo_id, memo in fetched.items() if memo}
    ids = tuple(memo.id for memo in changed)
    try:
        if changed:
            parts.mirror_now(changed)
    except StateBusy:
        return replace(reading, changed_unused=ids), {}
    return replace(reading, changed=ids), fresh


def _why(error: SourceError) -> str:
    if isinstance(error, LoginRefused):
        return "the token is refused" if error.facts.get("has_token") else "no token is set"
    return error.fact("reason") or error.fact("detail") or f"status {error.fact('status')}"


def _worth_citing(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Without most weak hits: a list may end in doubtful ones, an answer may not."""
    sure = tuple(hit for hit in hits if hit.label != WEAK)
    weak = [hit for hit in hits if hit.label == WEAK and hit.score >= LEAST_CITED]
    return sure + tuple(weak[:MAX_WEAK])


def _each_quoted_once(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Without hits whose excerpt an earlier one has shown: the same words from another memo say nothing more."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(fold(hit.excerpt).strip(" .。!！"), hit)
    return tuple(first.values())


def _with_sound_links(vault: Vault, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """The hits without links that lead nowhere: the person may have moved a note or deleted a block since the last sync."""
    return tuple(_with_sound_link(vault, hit) for hit in hits)


def _with_sound_link(vault: Vault, hit: Hit) -> Hit:
    try:
        text = vault.read(hit.note) if hit.note else None
    except NoteUnreadable:
        text = None
    if text is None:
        return replace(hit, note="", anchor="")
    standing = dict(standing_anchors(hit.memo_id, read_region(text) or ""))
    block = next((block for number, block in standing.items() if anchor_id(hit.memo_id, number) == hit.anchor), None)
    return hit if block is not None and _holds(block, hit.excerpt) else replace(hit, anchor="")


def _holds(block: str, excerpt: str) -> bool:
    return all(line.rstrip("…").strip() in block for line in excerpt.split("\n"))
