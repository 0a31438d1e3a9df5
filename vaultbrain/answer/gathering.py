"""What an answer is composed from: the hits worth citing, their full texts as the server has them now, their blocks and kin.

Decides where a memo's text comes from. What the server has is newer than the mirror: a memo that changed is mirrored first, so
that an answer quotes nothing that its links do not show. Decides, too, which hits an answer may end in.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from vaultbrain.answer.context import Reading
from vaultbrain.answer.material import Material, Relative
from vaultbrain.answer.reading import choose_reading
from vaultbrain.errors import LoginRefused, NoteUnreadable, SourceError, StateBusy
from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import cut
from vaultbrain.memo import without_tags
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK
from vaultbrain.vault.markdown import ADDRESS, anchor_id
from vaultbrain.vault.memo_note import standing_anchors
from vaultbrain.vault.note import read_region

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vaultbrain.memo import Memo
    from vaultbrain.retrieve.coverage import Coverage
    from vaultbrain.retrieve.search import Hit, SearchResult
    from vaultbrain.sources.listing import Source
    from vaultbrain.vault.vault import Vault

#: Sources of one answer, more is more than anybody reads; and how many further hits are known, to be named at the end.
MAX_SOURCES, MAX_FURTHER = 12, 12
#: Weak sources of one answer, and the score that they need at least, alone and against the best hit's. On memobench this cites
#: one more judged memo of 149 than four from 0.18 on, and a quarter fewer that nobody judged relevant.
MAX_WEAK, LEAST_CITED, LEAST_OF_BEST = 3, 0.16, 0.3
#: Two notes of the same addresses say the same when they share this much of the shorter one's words.
SAME_SHARE = 0.5
#: Memos that each part of a passage is searched for, and those of them that become sources though the whole did not find them.
HITS_PER_PART, SOURCES_PER_PART = 6, 2
#: Memos that one source comments on or refers to and that are named with it.
MAX_RELATIVES = 3


@dataclass(frozen=True, slots=True)
class GatheringParts:
    """What gathering works with.

    ``search`` takes a text, variants and how many; ``mirrored`` gives memos as their notes have them, ``originals`` as the source
    had them; ``note_of`` the path of a memo's note, or nothing; ``relations`` (memo, related memo, kind) of memos at either end;
    ``mirror_now`` takes memos that changed on the server into the vault, or raises ``StateBusy``; ``likeness``, ``is_word`` and
    ``is_topic`` as in ``Material``.
    """

    search: Callable[[str, Sequence[str], int], SearchResult]
    mirrored: Callable[[Sequence[str]], dict[str, Memo]]
    originals: Callable[[Sequence[str]], dict[str, Memo]]
    note_of: Callable[[str], str]
    relations: Callable[[Sequence[str]], Sequence[tuple[str, str, str]]]
    mirror_now: Callable[[Sequence[Memo]], None]
    open_source: Callable[[], Source]
    likeness: Callable[[Sequence[str]], Mapping[tuple[str, str], float]]
    is_word: Callable[[str], bool]
    is_topic: Callable[[str], bool]
    vault: Vault


@dataclass(frozen=True, slots=True)
class Gathered:
    """``result`` holds the hits that are cited, with links that hold; ``further`` were found besides.

    ``part_hits`` are what a search for each part of a passage found. ``memos`` are all that the answer names or read.
    """

    result: SearchResult
    further: tuple[Hit, ...]
    part_hits: tuple[tuple[Hit, ...], ...]
    reading: Reading
    read_for: Mapping[str, str]
    memos: Mapping[str, Memo]
    material: Material


def gather(parts: GatheringParts, query: str, variants: Sequence[str], passage_parts: Sequence[str] = ()) -> Gathered:
    """Searches, reads in full, and makes sure of every link. A server that is away is no error: ``reading`` says so."""
    found = find_sources(parts, query, variants, passage_parts)
    read_for = choose_reading(found.cited, lambda memo_ids: _upwards(parts, memo_ids))
    reading = _read_in_full(parts, list(read_for))
    if reading.changed:
        found = find_sources(parts, query, variants, passage_parts)
    notes = _Notes(parts.vault)
    memos = parts.mirrored(list(dict.fromkeys([*(hit.memo_id for hit in found.cited), *read_for])))
    result = replace(
        found.result,
        hits=tuple(notes.with_sound_link(hit) for hit in found.cited if hit.memo_id in memos),  # a sync may have taken one away
        nearest=tuple(notes.with_sound_link(hit) for hit in found.result.nearest),
    )
    memo_ids = [hit.memo_id for hit in result.hits]
    relatives = _relatives(parts, notes, memo_ids)
    copies = [copy for hit in result.hits for copy in hit.copies]
    memos |= parts.mirrored([*copies, *(kin.memo_id for named in relatives.values() for kin in named)])
    material = Material(
        tags={memo_id: memo.tags for memo_id, memo in memos.items()},
        blocks={hit.memo_id: notes.blocks(hit.memo_id, hit.note) for hit in result.hits},
        likeness=parts.likeness(memo_ids),
        relatives=relatives,
        notes={copy: note for copy in copies if notes.is_there(copy, note := parts.note_of(copy))},
        is_word=parts.is_word,
        is_topic=parts.is_topic,
    )
    further = tuple(map(notes.with_sound_link, found.further))
    return Gathered(result, further, found.part_hits, reading, read_for, memos, material)


class FoundSources(NamedTuple):
    """``cited`` and ``further`` in the order of the answer; ``part_hits`` are what each part of a passage found by itself."""

    result: SearchResult
    cited: tuple[Hit, ...]
    further: tuple[Hit, ...]
    part_hits: tuple[tuple[Hit, ...], ...]


def find_sources(parts: GatheringParts, query: str, variants: Sequence[str], passage_parts: Sequence[str]) -> FoundSources:
    """What an answer would cite. What a part of a passage finds may be lost in the whole, and becomes a source, too."""
    result = parts.search(query, variants, MAX_SOURCES + MAX_FURTHER)
    part_hits = tuple(parts.search(part, (), HITS_PER_PART).hits for part in passage_parts)
    sure_of_parts = [hit for hits in part_hits for hit in [h for h in hits if h.label != WEAK][:SOURCES_PER_PART]]
    sure = [hit for hit in result.hits if hit.label != WEAK]  # what is weak in the whole may be near to a part of it
    by_id = {hit.memo_id: hit for hit in (*result.hits[::-1], *sure_of_parts[::-1], *sure[::-1])}
    order = dict.fromkeys(hit.memo_id for hit in (*result.hits, *sure_of_parts))
    hits = [by_id[memo_id] for memo_id in order]
    if sure_of_parts:
        hits.sort(key=lambda hit: hit.label == WEAK)
    cited, further = worth_citing(hits)
    result = replace(result, coverage=_each_counted_once(result, (*cited, *further)))
    return FoundSources(result, cited, further, part_hits)


def _each_counted_once(result: SearchResult, kept: Sequence[Hit]) -> Coverage:
    """The coverage without near hits that are no sources: copies, which are counted as such, and memos that only name things."""
    copies = {memo_id for hit in kept for memo_id in hit.copies}
    named = {hit.memo_id for hit in kept}
    folded = [hit.label for hit in result.hits if hit.memo_id in copies]
    gone = [*folded, *(hit.label for hit in result.hits if hit.memo_id not in copies and hit.memo_id not in named)]
    coverage = result.coverage
    strong, related = (coverage.strong_memos - gone.count(STRONG), coverage.related_memos - gone.count(RELATED))
    return replace(coverage, strong_memos=strong, related_memos=related, copies=coverage.copies + len(folded))


def worth_citing(hits: Sequence[Hit]) -> tuple[tuple[Hit, ...], tuple[Hit, ...]]:
    """(cited, further): each thing once, without most weak hits and without memos that only name things.

    A list may end in doubtful ones, an answer may not; and a line of tags says nothing, however well it matches.
    """
    found = _each_once([hit for hit in hits if without_tags(hit.excerpt).strip()] or hits)
    least = max([LEAST_CITED, *(LEAST_OF_BEST * hit.score for hit in hits[:1])])
    sure = [hit for hit in found if hit.label != WEAK]
    weak = [hit for hit in found if hit.label == WEAK and hit.score >= least]
    worth = [*sure, *weak[:MAX_WEAK]]
    return tuple(worth[:MAX_SOURCES]), tuple(worth[MAX_SOURCES:])


def _each_once(hits: Sequence[Hit]) -> list[Hit]:
    """The hits, one that says what an earlier one says being named with that as its copy."""
    kept: list[Hit] = []
    for hit in hits:
        place = next((n for n, other in enumerate(kept) if _says_the_same(other, hit)), None)
        if place is None:
            kept.append(hit)
        else:
            copies = dict.fromkeys([*kept[place].copies, hit.memo_id, *hit.copies])
            kept[place] = replace(kept[place], copies=tuple(copies))
    return kept


def _says_the_same(one: Hit, other: Hit) -> bool:
    """The same words, or the same addresses with much the same words about them."""
    mine, theirs = (fold(without_tags(hit.excerpt)).strip(" .。!！") for hit in (one, other))
    if mine == theirs:
        return True
    addresses = set(ADDRESS.findall(mine))
    if not addresses or addresses != set(ADDRESS.findall(theirs)):
        return False
    words, their_words = (set(cut(ADDRESS.sub(" ", text))) for text in (mine, theirs))
    return len(words & their_words) >= SAME_SHARE * min(len(words), len(their_words))


# full texts


def _upwards(parts: GatheringParts, memo_ids: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for one, other, _ in parts.relations(memo_ids):
        found.setdefault(one, []).append(other)
    return found


def _read_in_full(parts: GatheringParts, wanted: Sequence[str]) -> Reading:
    """The memos as the server has them now; those that changed are mirrored at once."""
    if not wanted:
        return Reading("from_mirror")
    try:
        source = parts.open_source()
        try:
            fetched = {memo_id: source.fetch_memo(memo_id) for memo_id in wanted}
        finally:
            source.close()
    except SourceError as error:
        return Reading("from_mirror", read=len(wanted), reason=_why(error))
    recorded = parts.originals(wanted)
    known = {memo_id: memo for memo_id, memo in fetched.items() if memo_id in recorded}  # a sync may have taken one away
    changed = [memo for memo_id, memo in known.items() if memo and memo.memo_hash != recorded[memo_id].memo_hash]
    how = "from_export" if source.is_export else "from_server"
    reading = Reading(how, read=len(wanted), gone=tuple(memo_id for memo_id, memo in fetched.items() if memo is None))
    ids = tuple(memo.id for memo in changed)
    try:
        if changed:
            parts.mirror_now(changed)
    except StateBusy:
        return replace(reading, changed_unused=ids)
    return replace(reading, changed=ids)


def _why(error: SourceError) -> str:
    if isinstance(error, LoginRefused):
        return "the token is refused" if error.facts.get("has_token") else "no token is set"
    return error.fact("reason") or error.fact("detail") or f"status {error.fact('status')}"


# links


class _Notes:
    """The memos' notes as they stand, each read once: the person may have moved one or deleted a block since the last sync."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._blocks: dict[str, tuple[tuple[str, str], ...] | None] = {}

    def blocks(self, memo_id: str, note: str) -> tuple[tuple[str, str], ...]:
        return self._standing(memo_id, note) or ()

    def is_there(self, memo_id: str, note: str) -> bool:
        return self._standing(memo_id, note) is not None

    def with_sound_link(self, hit: Hit) -> Hit:
        """The hit without a link that leads nowhere."""
        if not self.is_there(hit.memo_id, hit.note):
            return replace(hit, note="", anchor="")
        block = dict(self.blocks(hit.memo_id, hit.note)).get(hit.anchor)
        return hit if block is not None and _holds(block, hit.excerpt) else replace(hit, anchor="")

    def _standing(self, memo_id: str, note: str) -> tuple[tuple[str, str], ...] | None:
        """(anchor, block text) in order; None when there is no note that can be read."""
        if note not in self._blocks:
            self._blocks[note] = self._read(memo_id, note) if note else None
        return self._blocks[note]

    def _read(self, memo_id: str, note: str) -> tuple[tuple[str, str], ...] | None:
        try:
            text = self._vault.read(note)
        except NoteUnreadable:
            return None
        if text is None:
            return None
        return tuple((anchor_id(memo_id, number), block) for number, block in standing_anchors(memo_id, read_region(text) or ""))


#: What ``neutralise`` may put before a mark: an excerpt is made inert by itself, and half of a formula is no formula any more.
_MADE_INERT = re.compile(r"\\([!-/:-@\[-`{-~])|\u200b")


def _holds(block: str, excerpt: str) -> bool:
    words = _MADE_INERT.sub(r"\1", block)
    return all(line.rstrip("…").strip() in words for line in _MADE_INERT.sub(r"\1", excerpt).split("\n"))


def _relatives(parts: GatheringParts, notes: _Notes, memo_ids: Sequence[str]) -> dict[str, list[Relative]]:
    """What the hits comment on or refer to, with links that hold."""
    pairs = [(one, other, kind) for one, other, kind in parts.relations(memo_ids) if one in set(memo_ids)]
    titles = {memo_id: memo.title for memo_id, memo in parts.mirrored(sorted({other for _, other, _ in pairs})).items()}
    found: dict[str, list[Relative]] = {}
    for one, other, kind in pairs:
        note = parts.note_of(other)
        blocks = notes.blocks(other, note)
        note = note if notes.is_there(other, note) else ""
        relative = Relative(other, kind, titles.get(other, ""), note, blocks[0][0] if blocks else "")
        found.setdefault(one, []).append(relative)
    return {memo_id: relatives[:MAX_RELATIVES] for memo_id, relatives in found.items()}
