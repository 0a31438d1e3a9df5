"""What a vault shows of us besides memos and answers: the Home note, the base, a canvas beside an answer, the daily note's link.

A file that the person deleted is not made again, and what they wrote or moved in one stays. Nothing here stops a sync or an
answer: what could not be done is said in words.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from vaultbrain.answer.wording import Words
from vaultbrain.errors import NoteBeingEdited, NoteUnreadable, WriteFailed
from vaultbrain.index.answers import REMOVED, STALE, WAITING_LINKS
from vaultbrain.retrieve.fusion import RELATED, STRONG, WEAK
from vaultbrain.retrieve.query import language_of
from vaultbrain.vault.bases import build_base
from vaultbrain.vault.canvas import CanvasAnswer, CanvasSource, CanvasTheme, build_canvas
from vaultbrain.vault.daily import REFUSED, WAITS, link_from_daily
from vaultbrain.vault.home_note import PROPERTIES, HomeAnswer, HomeState, render_home
from vaultbrain.vault.markdown import wikilink
from vaultbrain.vault.memo_note import local_date
from vaultbrain.vault.note import new_note, read_properties, read_region, update_note

if TYPE_CHECKING:
    from datetime import tzinfo

    from vaultbrain.answer.ask import Asked
    from vaultbrain.index.answers import AnswerRow
    from vaultbrain.index.catalog import Catalog
    from vaultbrain.vault.templates import Templates
    from vaultbrain.vault.vault import Vault

#: Entries of the catalog's meta: the language once decided, and what was written last.
_LANGUAGE, _HOME, _BASE = "views_language", "home_region", "base_text"
#: What a base or a canvas that we made holds, whatever a person did with it since.
_OUR_PROPERTY, _OUR_NODE = "vb_kind", '"id":"vb-'
#: Newest memos whose language decides that of the views.
_LOOKED_AT = 200


@dataclass(frozen=True, slots=True)
class ViewParts:
    """``language`` may be ``auto``; ``zone`` None is the machine's."""

    catalog: Catalog
    vault: Vault
    templates: Templates
    folder: str
    language: str
    zone: tzinfo | None


@dataclass(frozen=True, slots=True)
class UpdatedViews:
    """``notices``: what a person should know, in sentences. ``deferred``: views that are left alone while somebody is in them."""

    notices: list[str]
    deferred: list[str]


def update_views(parts: ViewParts) -> UpdatedViews:
    """Brings the Home note and the base up to date."""
    done = UpdatedViews([], [])
    for name, update in ((f"{parts.folder}/Home.md", _update_home), (f"{parts.folder}/{base_name(parts.folder)}", _update_base)):
        try:
            refusal = update(parts, name)
        except NoteBeingEdited:
            done.deferred.append(name)
            continue
        except (NoteUnreadable, WriteFailed) as error:
            refusal = error.fact("reason")
        if refusal:
            done.notices.append(f"{name} was left as it is: {refusal}")
    return done


def base_name(folder: str) -> str:
    return f"{folder.rpartition('/')[2]}.base"


def resolved_language(catalog: Catalog, setting: str) -> str:
    """That of the settings, else what most memos are written in; decided once, for names of views must not flip."""
    if setting != "auto":
        return setting
    known = catalog.read_meta(_LANGUAGE)
    if not known:
        votes = Counter(language_of(memo.content) for memo in catalog.newest_memos(_LOOKED_AT))
        known = min(votes, key=lambda language: (-votes[language], language), default="en")
        if votes:
            catalog.write_meta(_LANGUAGE, known)
    return known


def _update_home(parts: ViewParts, path: str) -> str:
    before = parts.catalog.read_meta(_HOME)
    standing = parts.vault.read(path)
    region = render_home(_home_state(parts), parts.templates)
    if standing is None:
        if before:
            return ""  # deleted or moved: the person does not want it here
        try:
            parts.vault.create(path, new_note(PROPERTIES, region))
        except FileExistsError:
            return "something else has its name"
    elif before or read_properties(standing).get("vb_kind") == PROPERTIES["vb_kind"]:
        base = before or read_region(standing)
        updated = update_note(standing, base_region=base, region=region, properties=PROPERTIES, base_properties={})
        if updated and updated.text != standing:
            parts.vault.replace(path, updated.text)
    else:
        return "it is a note of your own; rename it to get ours"
    parts.catalog.write_meta(_HOME, region)
    return ""


def _home_state(parts: ViewParts) -> HomeState:
    days = [local_date(seconds, parts.zone).text.partition("T")[0] for seconds in parts.catalog.created_times()]
    months = Counter(day.rpartition("-")[0] for day in days)
    rows = [row for row in parts.catalog.answers.rows() if row.status != REMOVED]
    return HomeState(
        language=resolved_language(parts.catalog, parts.language),
        memos=len(days),
        tagged=parts.catalog.count_tagged(),
        last_day=days[0] if days else "",
        months=tuple(sorted(months.items())),
        tags=tuple(parts.catalog.tag_counts()),
        answers=tuple(map(_shown_answer, rows)),
    )


def _shown_answer(row: AnswerRow) -> HomeAnswer:
    others = sum(bool(memo.label) for memo in row.cited) - row.strong
    return HomeAnswer(row.path, row.question, row.asked, row.status == STALE, row.reason, row.strong, others)


def _update_base(parts: ViewParts, path: str) -> str:
    before = parts.catalog.read_meta(_BASE) or None
    standing = parts.vault.read(path)
    if standing is not None and before is None and _OUR_PROPERTY not in standing:
        return "it is a base of your own; rename it to get ours"
    made = build_base(parts.folder, standing, before, resolved_language(parts.catalog, parts.language))
    if made.text is not None:
        parts.vault.replace(path, made.text)
        parts.catalog.write_meta(_BASE, made.text)
    return made.left_alone


# beside one answer


def draw_canvas(parts: ViewParts, asked: Asked, *, is_asked_for: bool = True) -> str:
    """Why the canvas beside the answer's note was left as it is; empty when it shows the answer.

    One that we drew before and that is gone is drawn again only when it ``is_asked_for``.
    """
    path = f"{asked.path.removesuffix('.md')}.canvas"
    row = parts.catalog.answers.load(asked.row.answer_id) or asked.row  # another process may have answered it anew
    try:
        standing = parts.vault.read(path)
        if standing is None and row.canvas and not is_asked_for:
            return ""  # deleted, or the note was moved away from it
        if standing is not None and _OUR_NODE not in standing:
            return "it is a canvas of your own"
        made = build_canvas(_canvas_of(asked), standing, row.canvas or None)
        if made.text is not None:
            parts.vault.replace(path, made.text)
            parts.catalog.answers.write(replace(row, canvas=made.text))
    except (NoteUnreadable, WriteFailed) as error:
        return error.fact("reason")
    return made.left_alone


def _canvas_of(asked: Asked) -> CanvasAnswer:
    words = Words(asked.row.language)
    hits = {hit.memo_id: hit for hit in asked.result.hits if hit.note}
    themes = [
        CanvasTheme(
            section.name,
            tuple(
                CanvasSource(hit.note, item.anchor, hit.label, item.text)
                for item in section.items
                if (hit := hits.get(item.memo_id))
            ),
        )
        for section in asked.answer.sections
    ]
    conclusion = "\n\n".join(asked.answer.values["conclusion"])
    labels = {label: words(label) for label in (STRONG, RELATED, WEAK)}
    return CanvasAnswer(asked.row.question, asked.path, conclusion, tuple(themes), labels)


def link_daily(parts: ViewParts, asked: Asked, now: datetime) -> str:
    """Why the day's daily note does not link to the answer; empty when it does, or will once nobody is typing in it."""
    link = wikilink(asked.path.removesuffix(".md"), None, asked.row.question)
    try:
        done = link_from_daily(parts.vault, link, now, language=asked.row.language)
    except WriteFailed as error:
        return error.fact("reason")
    if done.did == WAITS:
        waiting = _waiting_links(parts.catalog)
        parts.catalog.write_meta(WAITING_LINKS, json.dumps([*waiting, [link, asked.row.language, now.isoformat()]]))
    return done.reason if done.did == REFUSED else ""


def link_waiting(parts: ViewParts) -> None:
    """Links from daily notes that somebody was typing in; those that still cannot be written wait on, others are given up."""
    waiting = _waiting_links(parts.catalog)
    left = [entry for entry in waiting if _still_waits(parts, *entry)]
    if left != waiting:
        parts.catalog.write_meta(WAITING_LINKS, json.dumps(left))


def _waiting_links(catalog: Catalog) -> list[list[str]]:
    """[wikilink, language, moment] of each."""
    return [list(entry) for entry in json.loads(catalog.read_meta(WAITING_LINKS) or "[]")]


def _still_waits(parts: ViewParts, link: str, language: str, day: str) -> bool:
    try:
        return link_from_daily(parts.vault, link, datetime.fromisoformat(day), language=language).did == WAITS
    except WriteFailed:
        return False
