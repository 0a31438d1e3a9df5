"""The day's daily note: where the vault has it, and one line in it that links an answer.

Decides which settings hold (the Periodic Notes plugin's where it makes daily notes, else the core plugin's), and what is written:
one list item behind everything else, or a new note from the vault's own template. Refuses, with the reason in words, to write
where it would have to guess: an unknown token of the format, a place outside the vault, a template that Templater must run.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote

from vaultbrain.errors import NoteBeingEdited, NoteUnreadable
from vaultbrain.vault.moment import UnsupportedToken, format_day, format_time

if TYPE_CHECKING:
    from datetime import date

    from vaultbrain.vault.vault import Vault

_CONFIG_FOLDER = ".obsidian"
#: Obsidian's own, where the settings name none.
DEFAULT_FORMAT = "YYYY-MM-DD"
_DEFAULT_TIME = "HH:mm"
#: The language of the app is not in the vault. Notes of so many days back show in which one their names are.
_DAYS_BACK = 60
#: Somebody else may write the note between our look and our hand.
_TRIES = 3

LINKED, CREATED, ALREADY, REFUSED, WAITS = "linked", "created", "already", "refused", "waits"

_LOCALE_OF_LANGUAGE: Final = {"zh-Hans": "zh-cn", "zh-Hant": "zh-tw", "en": "en"}
_NOT_IN_NAMES = re.compile(r'[:*?"<>|\\\x00-\x1f]')
_TEMPLATER = "<%"
_PLACEHOLDER = re.compile(r"\{\{\s*(date|time|title|yesterday|tomorrow)\b([^{}]*)\}\}", re.IGNORECASE)
_FORMAT_OF_PLACEHOLDER = re.compile(r"\s*(?::(.*?))?\s*", re.DOTALL)
_DAYS_AWAY = {"yesterday": -1, "tomorrow": 1}
_TARGET = re.compile(r"\[\[([^\[\]|#\n]+)|\]\(<?([^)>#\n]+?)>?(?:#[^)\n]*)?\)")

Read = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class DailySettings:
    """``folder`` and ``template`` are paths in the vault, empty for none; ``source`` is the file that says so.

    ``is_periodic``: the notes are those of the Periodic Notes plugin.
    """

    folder: str = ""
    format: str = DEFAULT_FORMAT
    template: str = ""
    source: str = "daily-notes.json"
    is_periodic: bool = False


@dataclass(frozen=True, slots=True)
class DailyLink:
    """What was done with the daily note at ``path``: ``linked``, ``created``, ``already``, or ``refused`` for ``reason``.

    ``waits``: somebody is typing in it, so the link is to be tried again.
    """

    did: str
    path: str = ""
    reason: str = ""


class DailyRefused(Exception):
    """``reason`` is a sentence without its full stop."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def link_from_daily(vault: Vault, link: str, now: datetime, *, language: str = "en") -> DailyLink:
    """Links an answer from the daily note of the day of ``now``. ``link`` is a whole wikilink with its display text.

    A note that is there is appended to, else made; nothing is raised but ``WriteFailed``.
    """
    path = ""
    try:
        settings = read_daily_settings(vault.read)
        path = find_daily_path(lambda path: vault.mark(path) is not None, settings, now.date(), language)
        for _ in range(_TRIES):
            did = _try_to_link(vault, path, link, lambda: _made_from_template(vault.read, settings, path, now, language))
            if did:
                return DailyLink(did, path)
    except DailyRefused as refused:
        return DailyLink(REFUSED, path, refused.reason)
    except NoteBeingEdited as error:
        return DailyLink(WAITS, path, error.fact("reason"))
    except NoteUnreadable as error:
        return DailyLink(REFUSED, path, f"{error.fact('path')} cannot be read: {error.fact('reason')}")
    return DailyLink(REFUSED, path, "another program keeps writing to it")


def _try_to_link(vault: Vault, path: str, link: str, make: Callable[[], str]) -> str:
    """What was done; empty when the file changed meanwhile."""
    mark = vault.mark(path)
    text = vault.read(path)
    if text is None:
        made = make()
        try:
            vault.create(path, with_link(made, link) or made)
        except FileExistsError:
            return ""
        return CREATED
    changed = with_link(text, link)
    if changed is None:
        return ALREADY
    if vault.mark(path) != mark:
        return ""
    vault.replace(path, changed)
    return LINKED


def _made_from_template(read: Read, settings: DailySettings, path: str, now: datetime, language: str) -> str:
    title = path.rpartition("/")[2].removesuffix(".md")
    plugin_form = settings.format if settings.is_periodic else ""
    return new_daily(_read_template(read, settings), title, now, _LOCALE_OF_LANGUAGE[language], plugin_form)


def read_daily_settings(read: Read) -> DailySettings:
    """The vault's settings for daily notes; ``read`` gives the text of a file by its path in the vault, None without one.

    Raises ``DailyRefused`` when daily notes are switched off, or a settings file is no JSON.
    """
    periodic = _periodic_settings(read)
    if periodic:
        return periodic
    path = f"{_CONFIG_FOLDER}/daily-notes.json"
    found = _read_json(read, path)
    if found is None and not _is_switched_on(_read_json(read, f"{_CONFIG_FOLDER}/core-plugins.json")):
        raise DailyRefused("the core plugin Daily notes is switched off in this vault")
    return _settings_from(found if isinstance(found, dict) else {}, "template", path)


def _periodic_settings(read: Read) -> DailySettings | None:
    plugins = _read_json(read, f"{_CONFIG_FOLDER}/community-plugins.json")
    if not isinstance(plugins, list) or "periodic-notes" not in plugins:
        return None
    path = f"{_CONFIG_FOLDER}/plugins/periodic-notes/data.json"
    found = _read_json(read, path)
    if not isinstance(found, dict):
        return None
    sets = [one for one in found.get("calendarSets") or () if isinstance(one, dict)]  # since 1.0
    active = next((one for one in sets if one.get("id") == found.get("activeCalendarSet")), None)
    daily, template = (active.get("day"), "templatePath") if active else (found.get("daily"), "template")
    if not isinstance(daily, dict) or daily.get("enabled") is not True:
        return None
    return replace(_settings_from(daily, template, path), is_periodic=True)


def _settings_from(found: dict[str, Any], template_key: str, source: str) -> DailySettings:
    def text(key: str) -> str:
        value = found.get(key)
        return value.strip() if isinstance(value, str) else ""

    return DailySettings(text("folder"), text("format") or DEFAULT_FORMAT, text(template_key), source)


def _is_switched_on(plugins: Any) -> bool:
    """Newer vaults hold a map, older ones a list of what is on. Without the file the defaults hold, and daily notes are on."""
    if isinstance(plugins, dict):
        return plugins.get("daily-notes") is not False
    return "daily-notes" in plugins if isinstance(plugins, list) else True


def _read_json(read: Read, path: str) -> Any:
    text = read(path)
    if text is None or not text.strip():
        return None
    try:
        return json.loads(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise DailyRefused(f"{path} is no JSON") from error


def daily_path(settings: DailySettings, day: date, language: str = "en") -> str:
    """The path of the day's note in the vault. Names of months and days, and local weeks, are those of ``language``.

    Raises ``DailyRefused``.
    """
    try:
        name = format_day(settings.format, day, _LOCALE_OF_LANGUAGE[language])
    except UnsupportedToken as error:
        why = "is a time of day" if error.is_time else "is not supported"
        raise DailyRefused(
            f"the format {settings.format} in {settings.source} has the token {error.token}, which {why}"
        ) from error
    parts = [part.strip() for part in f"{settings.folder}/{name}".replace("\\", "/").split("/")]
    parts = [part for part in parts if part]
    path = unicodedata.normalize("NFC", "/".join(parts))
    if any(part.startswith(".") for part in parts) or _NOT_IN_NAMES.search(path) or not name.strip(" /"):
        raise DailyRefused(f"{path or 'an empty name'} from {settings.source} is no place for a note")
    return path if path.endswith(".md") else f"{path}.md"


def find_daily_path(exists: Callable[[str], bool], settings: DailySettings, day: date, language: str = "en") -> str:
    """As ``daily_path``, in the language in which the vault's daily notes are named: this day's, else those of the days before.

    ``exists`` says whether there is a file at a path in the vault. Raises ``DailyRefused``.
    """
    languages = [language, *(other for other in _LOCALE_OF_LANGUAGE if other != language)]
    paths = {other: daily_path(settings, day, other) for other in languages}
    if len(set(paths.values())) > 1:
        for back in range(min(_DAYS_BACK, day.toordinal() - 1)):
            for other in languages:
                if exists(daily_path(settings, day - timedelta(days=back), other)):
                    return paths[other]
    return paths[language]


def with_link(text: str, link: str) -> str | None:
    """``text`` with the list item ``- link`` at its end; None when a link to the same note stands in it already.

    All of ``text`` stays as it is; a missing newline at its end is put in, of the kind that its first line ends with.
    """
    wanted = _forms_of(_targets(link)[0])
    if any(wanted & _forms_of(target) for target in _targets(text)):
        return None
    end_of_line = "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"
    needs_end = bool(text.removeprefix("\ufeff")) and not text.endswith("\n")
    return f"{text}{end_of_line if needs_end else ''}- {link}{end_of_line}"


def _targets(text: str) -> Sequence[str]:
    """The notes that links in ``text`` lead to, as they are written."""
    return [wiki or unquote(inline) for wiki, inline in _TARGET.findall(text)]


def _forms_of(target: str) -> set[str]:
    """The path and the name alone: Obsidian shortens links to what leads to the note."""
    path = unicodedata.normalize("NFC", target).strip().strip("/\\").casefold().removesuffix(".md")
    return {path, path.rpartition("/")[2]}


def new_daily(template: str, title: str, now: datetime, locale: str = "en", plugin_form: str = "") -> str:
    """A new daily note: ``template`` with ``{{date}}``, ``{{time}}`` and ``{{title}}`` filled in, each as in ``{{date:YYYY}}``.

    ``plugin_form`` is the name's format where the Periodic Notes plugin makes the notes; it writes dates in that, and knows
    ``{{yesterday}}`` and ``{{tomorrow}}``. Raises ``DailyRefused`` for what cannot be filled in.
    """
    if _TEMPLATER in template:
        raise DailyRefused("its template holds Templater commands; open today's note in Obsidian first")

    def filled(found: re.Match[str]) -> str:
        what, rest = found[1].lower(), _FORMAT_OF_PLACEHOLDER.fullmatch(found[2])
        if what in _DAYS_AWAY and not plugin_form:
            return found[0]
        if rest is None:
            raise DailyRefused(f"its template holds {found[0]}, which is not supported")
        if what == "title":
            return title
        form = rest[1] or (_DEFAULT_TIME if what == "time" else plugin_form or DEFAULT_FORMAT)
        try:
            return format_time(form, now + timedelta(days=_DAYS_AWAY.get(what, 0)), locale)
        except UnsupportedToken as error:
            raise DailyRefused(f"its template holds {found[0]} with the token {error.token}, which is not supported") from error

    return _PLACEHOLDER.sub(filled, template)


def _read_template(read: Read, settings: DailySettings) -> str:
    """Raises ``DailyRefused`` when the settings name a template that is not there: the plugin would never fill the note again."""
    if not settings.template:
        return ""
    path = settings.template.replace("\\", "/").strip("/")
    if ".." in path.split("/"):
        raise DailyRefused(f"its template {path} is outside the vault")
    text = read(path if path.endswith(".md") else f"{path}.md")
    if text is None:
        raise DailyRefused(f"its template {path} from {settings.source} is missing")
    return text
