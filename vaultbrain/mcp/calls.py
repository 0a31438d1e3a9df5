"""What each tool does: values in, a result out. Parse and present; all work is the brain's.

Decides what of an answer is sent and in which order: first what the caller must have to cite (ids, labels, links), then text, as
much as the bytes allow. Text of memos leaves here only between the marks of ``mcp.fence``. Refuses to know of the protocol.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import Interrupted, NoteBeingEdited, StateBusy, UsageProblem
from vaultbrain.gist.summary import is_from
from vaultbrain.index.fold import fold
from vaultbrain.mcp.fence import Fence
from vaultbrain.mcp.paging import Place, digest_of, fitting_items, read_cursor, size_of, write_cursor
from vaultbrain.mcp.results import (
    AnswerNote,
    BrainStatus,
    CitedSource,
    FoundMemo,
    GateDecision,
    HeldMemo,
    MemoPage,
    Mention,
    Recollection,
    Searched,
    SearchPage,
    SyncOutcome,
    WholeMemo,
    as_json,
)
from vaultbrain.recall.note import mention_of
from vaultbrain.retrieve.fusion import LABEL_NAMES, WEAK
from vaultbrain.retrieve.preview import Preview, cut_between_words, preview_of
from vaultbrain.retrieve.query import read_query
from vaultbrain.watch.pulse import read_pulse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from vaultbrain.mcp.lanes import Work
    from vaultbrain.retrieve.coverage import Coverage
    from vaultbrain.retrieve.search import Hit
    from vaultbrain.wiring import Brain
    from vaultbrain.wiring_reading import FetchedMemo

#: Words and copies that are named with a hit, words without a memo, other remarks; and characters of each of them.
MOST_MATCHED, MOST_COPIES, MOST_REMARKS, REMARK_CHARS = 2, 3, 8, 160
#: The least value that is worth telling.
TOLD_VALUE = 0.5
#: Bytes kept free for what a result gets when its items are chosen: the cursor, and how many are left.
_MARGIN_BYTES = 64
#: One part in so many of the bytes of a result may go to remarks on a search, to tags, twice that to ids that nobody has; and of
#: so many bytes each is a character of one remark.
_ASIDE_SHARE, _REMARK_SHARE = 4, 32
#: Characters behind a cut that decide where it may be: what is not cut is shorter (``retrieve.excerpt``).
_BEHIND_CUT_CHARS = 700
#: Seconds after which a sync stops at its next safe point and says how to go on: clients give up on a call after a minute.
SYNC_PATIENCE_S = 40.0
#: Memos that were held back and are named.
MOST_HELD = 3
#: Of an answer, themes that are named and sources that are listed.
MOST_THEMES, MOST_SOURCES = 12, 40

#: A link to a memo's block in an answer; what it shows is the memo's id, and says enough here.
_OWN_LINK = re.compile(r"\[\[[^\[\]|]*\|(#[\w-]+)\]\]")


# searching


def search_memos(channel: str, tool: str) -> Callable[[Brain, Mapping[str, Any], Work], SearchPage]:
    """The tool that searches by this channel: ``hybrid``, ``keyword`` or ``semantic``."""

    def call(brain: Brain, values: Mapping[str, Any], work: Work) -> SearchPage:  # noqa: ARG001
        return _search(brain, values, channel, digest_of(tool, values))

    return call


def _search(brain: Brain, values: Mapping[str, Any], channel: str, digest: str) -> SearchPage:
    place = read_cursor(values["cursor"], digest)
    question, *variants = values["queries"]
    misplaced = [text for text in variants if not read_query(text).conditions.is_empty]
    result = brain.search(question, variants=variants, channel=channel, top_k=place.items + values["limit"])
    hits = result.hits[place.items :]
    memos = brain.memos([hit.memo_id for hit in hits])
    previews = [_preview(hit, memos[hit.memo_id].content if hit.memo_id in memos else hit.excerpt) for hit in hits]
    shown = list(zip(hits, previews, strict=True))
    fence = Fence(text for hit, preview in shown for text in (preview.text, hit.summary, hit.source, hit.note))
    pattern = _address_pattern(hits)
    found = [_found(brain, hit, preview, fence, pattern) for hit, preview in shown]
    queries = values["queries"] if not place.items else ()
    coverage = _searched(result.coverage, queries, [hit.memo_id for hit in result.nearest], misplaced)
    page = SearchPage(
        hits=(),
        coverage=_leaner(coverage, values["max_bytes"]),
        left=max(0, result.coverage.found - place.items),
        memo_url=pattern,
        fence=fence.rule if hits else "",
    )
    return _filled(page, found, place, digest, values["max_bytes"])


def _leaner(coverage: Searched, max_bytes: int) -> Searched:
    """The same with remarks that leave room for memos: what was not searched goes first, words that stand nowhere last."""
    room = max_bytes // _ASIDE_SHARE
    kept: dict[str, Any] = {}
    for name in ("not_searched", "filters", "without_memo"):
        texts = _remarks(getattr(coverage, name), min(REMARK_CHARS, max_bytes // _REMARK_SHARE))
        kept[name] = texts[: fitting_items(texts, room)]
        room -= size_of(kept[name])
    return replace(coverage, **kept)


def _filled(page: SearchPage, found: Sequence[FoundMemo], place: Place, digest: str, max_bytes: int) -> SearchPage:
    """The page with as many hits as have room; with one at least, its text cut where it must be."""
    room = max_bytes - size_of(as_json(page)) - _MARGIN_BYTES
    count = fitting_items([as_json(hit) for hit in found], room)
    shown = tuple(found[:count]) or tuple(_cut_to(hit, room) for hit in found[:1])
    left = page.left - len(shown)
    cursor = write_cursor(Place(place.items + len(shown)), digest) if left and shown else ""
    return replace(page, hits=shown, left=left, cursor=cursor)


def _cut_to(hit: FoundMemo, room: int) -> FoundMemo:
    """The hit with less of its text, between its marks."""
    bare = replace(hit, summary="", source="", matched=(), copies=(), whole=False)
    opening, _, rest = hit.text.partition(" ")
    text, _, closing = rest.rpartition(" ")
    space = room - size_of(as_json(replace(bare, text=f"{opening} … {closing}")))
    return replace(bare, text=f"{opening} {text[: _fitting(text, space)]}… {closing}")


def _fitting(text: str, room: int) -> int:
    """How many characters of the text have room in so many bytes of JSON, cut between words."""
    low, high = 0, max(0, min(len(text), room))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if size_of(text[:middle]) - 2 <= room else (low, middle - 1)
    return cut_between_words(text[: low + _BEHIND_CUT_CHARS], low)


def _preview(hit: Hit, content: str) -> Preview:
    """Of a memo that is only weakly near, its one sentence says enough."""
    preview = preview_of(content, hit.excerpt, hit.matched)
    if hit.label == WEAK and hit.summary and not preview.is_whole:
        return Preview(hit.summary, is_whole=False)
    return preview


def _address_pattern(hits: Sequence[Hit]) -> str:
    """The beginning that most addresses share, with ``*`` for the rest: a memo's id, or what its server calls it."""
    beginnings = Counter(f"{hit.url.rpartition('/')[0]}/*" for hit in hits if "/" in hit.url)
    return min(beginnings, key=lambda pattern: (-beginnings[pattern], pattern), default="")


def _rest_of_address(hit: Hit, pattern: str) -> str:
    """What stands for ``*``, or the whole address when it does not begin so; empty when it is the memo's id."""
    rest = hit.url.removeprefix(pattern.removesuffix("*"))
    return "" if rest == hit.memo_id and pattern else rest


def _found(brain: Brain, hit: Hit, preview: Preview, fence: Fence, pattern: str) -> FoundMemo:
    return FoundMemo(
        memo_id=hit.memo_id,
        label=LABEL_NAMES[hit.label],
        text=fence(preview.text),
        note=fence(_link_target(hit.note, hit.memo_id)),
        anchor=hit.anchor,
        created=brain.local_time(hit.created)[:10],
        matched=tuple(dict.fromkeys(word.lstrip("#") for word in hit.matched))[:MOST_MATCHED],
        whole=preview.is_whole,
        url=_rest_of_address(hit, pattern),
        summary="" if preview.is_whole or is_from(hit.summary, preview.text) else fence(hit.summary),
        source="" if hit.source == hit.url or hit.source in preview.text else fence(hit.source),
        value=round(hit.value, 1) if hit.value >= TOLD_VALUE else 0.0,
        gives=", ".join(hit.gives) if hit.value >= TOLD_VALUE else "",
        copies=hit.copies[:MOST_COPIES],
    )


def _link_target(note: str, memo_id: str) -> str:
    """What a wikilink to the note names: its name, which holds the memo's id, or its path where a person renamed it."""
    path = note.removesuffix(".md")
    name = path.rpartition("/")[2]
    return name if f"({memo_id})" in name else path


def _searched(
    coverage: Coverage, queries: Sequence[str] = (), nearest: Sequence[str] = (), misplaced: Sequence[str] = ()
) -> Searched:
    """``misplaced`` are variants that hold a filter, which counts in the first query only."""
    not_searched = [
        *map(str, coverage.degraded),
        *(f"no filter: {text}" for text in coverage.filters_ignored),
        *(f"taken for words, since filters stand in the first query: {text}" for text in misplaced),
    ]
    return Searched(
        memos=coverage.memos_searched,
        found=coverage.found,
        strong=coverage.strong_memos,
        related=coverage.related_memos,
        synced=coverage.checked_at,
        queries=_counts_of(queries, coverage),
        without_memo=_remarks(coverage.unmet),
        filters=_remarks(coverage.filters),
        not_searched=_remarks(not_searched),
        nearest=tuple(nearest),
    )


def _counts_of(queries: Sequence[str], coverage: Coverage) -> tuple[int, ...]:
    """How many memos hold words of each; nothing when none were looked up. Of the first, the question, its topic counts."""
    if not (queries and coverage.variants):
        return ()
    topic = next((variant.memos for variant in coverage.variants if variant.family == "literal"), 0)
    met = {variant.text: variant.memos for variant in coverage.variants}
    return (topic, *(met.get(fold(query).strip(), 0) for query in queries[1:]))


def _remarks(texts: Sequence[str], most_chars: int = REMARK_CHARS) -> tuple[str, ...]:
    return tuple(text if len(text) <= most_chars else f"{text[:most_chars].rstrip('…')}…" for text in texts[:MOST_REMARKS])


# whole memos


def get_memos(brain: Brain, values: Mapping[str, Any], work: Work) -> MemoPage:  # noqa: ARG001
    """The memos one after the other; one that is too long goes on in the next page."""
    digest = digest_of("get_cflow_note", values)
    place = read_cursor(values["cursor"], digest)
    fetched = brain.fetch(values["memo_ids"])
    if not fetched.memos and fetched.failure:
        raise fetched.failure
    waiting = fetched.memos[place.items :]
    texts = [item.memo.content.strip()[place.chars if not number else 0 :] for number, item in enumerate(waiting)]
    fence = Fence(text for item, text in zip(waiting, texts, strict=True) for text in (text, item.note, *item.memo.tags))
    whole = [
        _whole_memo(brain, item, text, fence, is_all=bool(number or not place.chars))
        for number, (item, text) in enumerate(zip(waiting, texts, strict=True))
    ]
    aside = values["max_bytes"] // _ASIDE_SHARE
    missing = fetched.missing[: fitting_items(fetched.missing, 2 * aside)]
    page = MemoPage((), len(waiting), missing, fence=fence.rule if waiting else "")
    room = values["max_bytes"] - size_of(as_json(page)) - _MARGIN_BYTES
    count = fitting_items([as_json(memo) for memo in whole], room)
    if count or not whole:
        left = len(whole) - count
        cursor = write_cursor(Place(place.items + count), digest) if left else ""
        return replace(page, memos=tuple(whole[:count]), left=left, cursor=cursor)
    part, shown = _part_of(whole[0], texts[0], fence, room, aside)
    return replace(page, memos=(part,), cursor=write_cursor(Place(place.items, place.chars + shown), digest))


def _part_of(memo: WholeMemo, text: str, fence: Fence, room: int, room_for_tags: int) -> tuple[WholeMemo, int]:
    """The memo with as much of its text as has room, and how many characters of it that are: one at least."""
    bare = replace(memo, text=fence("…"), whole=False, tags=memo.tags if size_of(memo.tags) <= room_for_tags else "")
    shown = max(1, _fitting(text, room - size_of(as_json(bare))))
    return replace(bare, text=fence(f"{text[:shown]}…")), shown


def _whole_memo(brain: Brain, item: FetchedMemo, text: str, fence: Fence, *, is_all: bool) -> WholeMemo:
    memo = item.memo
    return WholeMemo(
        memo_id=memo.id,
        text=fence(text),
        whole=is_all,
        came_from=item.came_from,
        note=fence(_link_target(item.note, memo.id)),
        url=memo.url,
        created=brain.local_time(memo.created),
        updated=brain.local_time(memo.updated),
        visibility=memo.visibility,
        tags=fence(" ".join(f"#{tag}" for tag in memo.tags)),
        reason=item.reason,
    )


# the state of things


def tell_status(brain: Brain, values: Mapping[str, Any], work: Work) -> BrainStatus:  # noqa: ARG001
    found = brain.status()
    watcher = read_pulse(brain.settings.state_folder)
    names = ("vault", "source", "memos", "notes", "chunks", "chunks_with_vector", "memos_to_index", "answers", "answers_stale")
    return BrainStatus(
        **{name: found[name] for name in names},
        synced=found["checked_at"],
        age_s=found["age_s"],
        model=found["model"],
        watcher="never" if watcher is None else "running" if watcher.is_running else "stopped",
        next=_what_is_due(found),
    )


def _what_is_due(found: Mapping[str, Any]) -> str:
    if not found["checked_at"]:
        return "Nothing has been mirrored yet: call auto_sync_if_needed."
    if found["memos_to_index"]:
        return "Some memos have no vectors yet: call auto_sync_if_needed."
    return ""


def sync_if_needed(brain: Brain, values: Mapping[str, Any], work: Work) -> SyncOutcome:
    """Compares with the server when that was too long ago, or something was left to do."""
    before = brain.status()
    is_fresh = before["age_s"] is not None and before["age_s"] < values["max_age_s"] and not before["memos_to_index"]
    if is_fresh:
        return SyncOutcome(ran=False, finished=True, age_s=before["age_s"])
    patience = time.monotonic() + SYNC_PATIENCE_S
    try:
        report = brain.sync(progress=work.progress, should_stop=lambda: work.should_stop() or time.monotonic() > patience)
    except Interrupted as stopped:
        told = _fenced_remarks(list(stopped.facts.get("notices") or ()))
        return SyncOutcome(ran=True, finished=False, age_s=brain.status()["age_s"], next=_GO_ON, **told)
    except StateBusy:
        return SyncOutcome(ran=False, finished=False, age_s=before["age_s"], next=_ANOTHER_SYNCS)
    counts = {name: getattr(report, name) for name in ("created", "updated", "deleted", "conflicts", "chunks_embedded")}
    return SyncOutcome(
        ran=True,
        finished=True,
        age_s=brain.status()["age_s"],
        **counts,
        withheld=report.withheld,
        failed=len(report.failed),
        next=_CONFIRM if report.withheld else "",
        **_fenced_remarks(report.notices),
    )


def _fenced_remarks(notices: Sequence[str]) -> dict[str, Any]:
    """They name notes, and a note's name begins with what its memo says."""
    told = _remarks(notices)
    fence = Fence(told)
    return {"notices": tuple(map(fence, told)), "fence": fence.rule if told else ""}


_GO_ON = "Call auto_sync_if_needed again: it goes on where it stopped. Searches answer meanwhile from what there is."
_ANOTHER_SYNCS = "Another vaultbrain is writing just now, most likely a sync. Searches answer meanwhile from what there is."
_CONFIRM = "Deletions were withheld because they are many. A person has to look and run: vaultbrain sync --confirm-deletions"


# answers


def write_answer(brain: Brain, values: Mapping[str, Any], work: Work) -> AnswerNote:  # noqa: ARG001
    if values["mode"] == "match" and not values["passage"]:
        raise UsageProblem(what="mode match compares a passage, and there is none.", next="Give passage, or another mode.")
    try:
        asked = brain.ask(
            values["question"],
            mode=values["mode"],
            variants=values["variants"],
            passage=values["passage"],
            writes=not values["dry_run"],
        )
    except NoteBeingEdited as error:
        wait_s = math.ceil(brain.wait_s(error.fact("path"))) or 1
        again = {"next": f"Call ask_cflow_note again in {wait_s} seconds."}
        raise NoteBeingEdited(**error.facts | again) from error
    shown = asked.as_json
    names = [f"{theme['name']} ({len(theme['memo_ids'])})" for theme in shown["themes"][:MOST_THEMES]]
    themes = "; ".join(names)
    conclusion = _OWN_LINK.sub(r"\1", shown["conclusion"])
    notices = _remarks([*asked.notices, *filter(None, [asked.writer_failed])])
    fence = Fence([conclusion, themes, *notices])
    sources = [CitedSource(hit.memo_id, LABEL_NAMES[hit.label], hit.anchor) for hit in asked.result.hits[:MOST_SOURCES]]
    return AnswerNote(
        path=asked.path,
        link=brain.obsidian_link(asked.path) if asked.path else "",
        mode=shown["mode"],
        conclusion=fence(conclusion),
        themes=fence(themes),
        sources=tuple(sources),
        updated=asked.is_update,
        coverage=_searched(asked.result.coverage, nearest=[hit.memo_id for hit in asked.result.nearest]),
        notices=tuple(map(fence, notices)),
        fence=fence.rule,
    )


# recall


def recall_memos(brain: Brain, values: Mapping[str, Any], work: Work) -> Recollection:  # noqa: ARG001
    text = values["text"]
    found = brain.recall(text, semantic=values["semantic"], mentioned=values["already_mentioned"])
    language = brain.spoken_language(text)
    mentions = [mention_of(verdict, found.kinds, language) for verdict in found.shown]
    fence = Fence(part for mention in mentions for part in (mention.title, mention.summary, mention.link, mention.note))
    labels = {verdict.candidate.memo.id: LABEL_NAMES[verdict.candidate.label] for verdict in found.shown}
    held = [verdict for verdict in found.verdicts if not verdict.shown][:MOST_HELD]
    return Recollection(
        worth_a_look=found.decision.recall,
        query=found.query,
        mentions=tuple(
            Mention(
                memo_id=mention.memo_id,
                title=fence(mention.title),
                summary=fence(mention.summary),
                why=mention.relevance,
                link=fence(mention.link),
                note=fence(_link_target(mention.note, mention.memo_id)),
                anchor=mention.anchor,
                label=labels[mention.memo_id],
            )
            for mention in mentions
        ),
        held=tuple(HeldMemo(verdict.candidate.memo.id, tuple(map(_in_english, verdict.reasons))) for verdict in held),
        reasons=(*found.decision.reasons, *filter(None, [found.held])),
        fence=fence.rule if mentions else "",
    )


def _in_english(reason: str) -> str:
    """A reason with the labels that results have."""
    for label, name in LABEL_NAMES.items():
        reason = reason.replace(label, name)
    return reason


def ask_gate(brain: Brain, values: Mapping[str, Any], work: Work) -> GateDecision:  # noqa: ARG001
    decision, query = brain.gate(values["text"])
    return GateDecision(decision.recall, query, decision.reasons)
