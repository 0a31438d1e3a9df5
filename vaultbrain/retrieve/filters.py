"""The filters in a query, taken out of it: ``观影 tag:film -tag:todo after:2026-01 "first cut"``.

Pure. Decides how filters are written; what a memo must hold to meet them stands in ``index.scope``. The rules:

- ``tag:`` ``visibility:`` ``is:`` ``has:`` ``after:`` ``before:`` with a value right behind the colon, in any letter case. A tag
  covers its children. ``visibility`` is private, protected or public; ``is`` knows pinned and ``has`` link.
- A date is ``2026``, ``2026-01`` or ``2026-01-31``; ``/`` and ``.`` do for ``-``. ``after`` includes the date itself, ``before``
  does not: ``after:2026`` is from New Year's Day 2026 on, ``before:2026`` is all that was there earlier.
- ``"between straight quotes"``: the memo has to hold these characters, apart from width, case, script and line breaks. A quote
  without a partner, within a Latin word or around nothing is only a character, as are “ ” 「 」 《 》.
- A minus in front turns a filter, a phrase, a word or a ``#tag`` into its opposite. In front of a digit, a single
  letter or another minus, or within a word, it is only a character: ``-5``, ``-f``, ``--flag``, ``a-b``.
- Filters begin the query or follow white space, another filter or a mark like ，。！; a phrase may follow a Chinese character.
  The full-width ``：``, ``－``, ``＂`` and ``＃`` serve as well. A value ends at white space, a comma or a mark like 。！“（.

Nothing is a syntax error. What looks like a filter and cannot be read stays among the words and is named in ``ignored``; a name
that is no filter (``https:``, ``foo:``) is a word like any other.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from vaultbrain.index.fold import fold
from vaultbrain.index.scope import Scope
from vaultbrain.index.tokens import is_cjk, searchable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from datetime import tzinfo

VISIBILITIES = ("private", "protected", "public")

_QUOTE, _MINUS, _HASH = '"＂', "-－", "#＃"
#: After a filter, marks that only set it apart from what follows.
_SEPARATORS = ",，;；、"
#: A full stop or colon at the end of a value ends the sentence.
_TAIL = ".:：．"
_STOP = rf"\s{_QUOTE}{_SEPARATORS}。！？…“”‘’「」『』《》()（）【】"
_PHRASE = re.compile(rf"[{_QUOTE}](?P<value>[^{_QUOTE}]*)[{_QUOTE}]")
_NAMED = re.compile(rf"(?P<name>[A-Za-zＡ-Ｚａ-ｚ]+)[:：](?:[{_QUOTE}](?P<quoted>[^{_QUOTE}]*)[{_QUOTE}]|(?P<bare>[^{_STOP}]*))")
#: Not a single letter: ``ssh -N``, ``logs -f`` are options of a command.
_EXCLUDED_WORD = re.compile(rf"(?![A-Za-z](?:[{_STOP}]|$))(?:[^\W\d_]|[{_HASH}]+[^{_STOP}{_HASH}/])[^{_STOP}]*")
#: Behind these a filter may begin: white space, and Chinese marks that nobody types a space after.
_BREAK = r"\s，；、。！？"
#: What is passed over when it is no filter: a break, one quote, or a word.
_PLAIN = re.compile(rf"[{_BREAK}]+|[{_QUOTE}]|[^{_BREAK}{_QUOTE}]+")
_IS_BREAK = re.compile(rf"[{_BREAK}]+")
_DATE = re.compile(r"([0-9]{4})(?:[-/.]([0-9]{1,2})(?:[-/.]([0-9]{1,2}))?)?")

#: Years within which every system can say when midnight was in its own zone; beyond them no zone matters.
_FIRST_LOCAL_YEAR, _LAST_LOCAL_YEAR = 1971, 2999


@dataclass(frozen=True, slots=True)
class Conditions:
    """What a memo has to meet, all of it; texts as typed, each once. Fields as in ``Scope``, with dates for times."""

    tags: tuple[str, ...] = ()
    excluded_tags: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None
    visibilities: tuple[str, ...] = ()
    excluded_visibilities: tuple[str, ...] = ()
    pinned: tuple[bool, ...] = ()
    has_link: tuple[bool, ...] = ()
    phrases: tuple[str, ...] = ()
    excluded_phrases: tuple[str, ...] = ()
    excluded_words: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        return self == Conditions()

    def describe(self) -> tuple[str, ...]:
        """Each condition in a few English words: ``tag film``, ``after 2026-01-01``, ``not "first cut"``."""
        visibility = (" or ".join(self.visibilities),) if self.visibilities else ()
        return (
            *_said("tag {}", self.tags),
            *_said("not tag {}", self.excluded_tags),
            *_said("after {}", filter(None, [self.after])),
            *_said("before {}", filter(None, [self.before])),
            *_said("visibility {}", visibility),
            *_said("not visibility {}", self.excluded_visibilities),
            *("pinned" if is_pinned else "not pinned" for is_pinned in self.pinned),
            *("has link" if has_link else "has no link" for has_link in self.has_link),
            *_said('"{}"', self.phrases),
            *_said('not "{}"', self.excluded_phrases),
            *_said("not {}", self.excluded_words),
        )

    def timestamps(self, zone: tzinfo | None) -> tuple[int | None, int | None]:
        """(from, before) in Unix seconds: midnights in ``zone``, ``None`` for the zone of the machine."""
        return _midnight(self.after, zone), _midnight(self.before, zone)

    def scope(self, zone: tzinfo | None) -> Scope:
        """The same in the catalog's terms; days begin in ``zone``, ``None`` for the zone of the machine."""
        created_from, created_before = self.timestamps(zone)
        return Scope(
            tags=tuple(map(fold, self.tags)),
            excluded_tags=tuple(map(fold, self.excluded_tags)),
            created_from=created_from,
            created_before=created_before,
            visibilities=self.visibilities,
            excluded_visibilities=self.excluded_visibilities,
            pinned=self.pinned,
            has_link=self.has_link,
            parts=tuple(map(searchable, self.phrases)),
            excluded_parts=tuple(map(searchable, self.excluded_phrases)),
            excluded_words=tuple(map(searchable, self.excluded_words)),
        )


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something typed like a filter that cannot be read. ``reason`` says in English what could be."""

    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class FilteredQuery:
    """``rest`` is what was typed without its filters, their gaps closed; empty, or only punctuation, when there is nothing else.

    ``sought`` is the rest with the words of the phrases in their places: what to rank by. Reading ``rest`` again finds no filter.
    """

    text: str
    rest: str
    sought: str
    conditions: Conditions
    ignored: tuple[Ignored, ...] = ()


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some of the text as typed. ``name`` is ``phrase``, ``word`` or that of a filter; empty for what is none."""

    text: str
    name: str = ""
    value: str = ""
    is_excluded: bool = False


class _Unreadable(Exception):
    """Its text is the reason."""


class _Found:
    """Conditions as they come. Of two texts that fold to the same the first stays."""

    def __init__(self) -> None:
        self._texts: dict[str, dict[str, str]] = {}
        self._flags: dict[str, dict[bool, None]] = {}
        self._after: list[date] = []
        self._before: list[date] = []

    def add(self, piece: _Piece) -> None:
        """Raises ``_Unreadable`` when the value is none that this filter knows."""
        if piece.name in ("after", "before"):
            # Without what was from a day on is what was before it: the two are each other's opposite.
            dates = self._after if (piece.name == "after") != piece.is_excluded else self._before
            dates.append(_read_date(piece.value))
        elif piece.name in _FLAGS:
            value, flag = _FLAGS[piece.name]
            if fold(piece.value) != value:
                raise _Unreadable(f"{piece.name} knows only {value}")
            self._flags.setdefault(flag, {})[not piece.is_excluded] = None
        else:
            kind = f"excluded_{piece.name}" if piece.is_excluded else piece.name
            value = _VALUE_READERS.get(piece.name, str.strip)(piece.value)
            self._texts.setdefault(kind, {}).setdefault(searchable(value), value)

    def conditions(self) -> Conditions:
        return Conditions(
            tags=self._all_of("tag"),
            excluded_tags=self._all_of("excluded_tag"),
            after=max(self._after, default=None),
            before=min(self._before, default=None),
            visibilities=self._all_of("visibility"),
            excluded_visibilities=self._all_of("excluded_visibility"),
            pinned=tuple(self._flags.get("pinned", ())),
            has_link=tuple(self._flags.get("has_link", ())),
            phrases=self._all_of("phrase"),
            excluded_phrases=self._all_of("excluded_phrase"),
            excluded_words=self._all_of("excluded_word"),
        )

    def _all_of(self, kind: str) -> tuple[str, ...]:
        return tuple(self._texts.get(kind, {}).values())


def read_filters(text: str) -> FilteredQuery:
    """Takes the filters out of ``text``. Never fails, whatever it holds."""
    found, ignored = _Found(), list[Ignored]()
    rest, sought = list[str](), list[str]()
    for piece in _pieces(text):
        left, words = piece.text, piece.text
        if piece.name:
            try:
                found.add(piece)
            except _Unreadable as error:
                ignored.append(Ignored(piece.text.rstrip(_SEPARATORS), str(error)))
            else:
                left, words = " ", f" {piece.value} " if piece.name == "phrase" and not piece.is_excluded else " "
        rest.append(left)
        sought.append(words)
    conditions = found.conditions()
    left, words = (text.strip() if conditions.is_empty else " ".join("".join(parts).split()) for parts in (rest, sought))
    return FilteredQuery(text, left, words, conditions, tuple(ignored))


def _pieces(text: str) -> Iterator[_Piece]:
    """All of the text, cut into what is a filter and what is none."""
    at, may_begin = 0, True
    while at < len(text):
        may_quote = text[at] in _QUOTE and (may_begin or is_cjk(text[at - 1]))  # behind a Chinese character nobody types a space
        found = (may_begin and _filter_at(text, at)) or (may_quote and _quoted_at(text, at))
        piece = found or _plain_at(text, at)
        yield piece
        at += len(piece.text)
        may_begin = bool(piece.name or _IS_BREAK.fullmatch(piece.text))


def _filter_at(text: str, at: int) -> _Piece | None:
    is_excluded = text[at] in _MINUS
    start = at + is_excluded
    name, value, end = _phrase(text, start) or _named(text, start) or (is_excluded and _word(text, start)) or ("", "", at)
    if not name:
        return None
    while text[end : end + 1] and text[end] in _SEPARATORS:
        end += 1
    return _Piece(text[at:end], name, value, is_excluded)


def _quoted_at(text: str, at: int) -> _Piece | None:
    """A phrase; or two quotes around nothing, which stay together lest one finds another partner when filters are taken out."""
    found = _PHRASE.match(text, at)
    return _filter_at(text, at) or (_Piece(found[0]) if found else None)


def _phrase(text: str, start: int) -> tuple[str, str, int] | None:
    found = _PHRASE.match(text, start)
    return ("phrase", found["value"], found.end()) if found and searchable(found["value"]) else None


def _named(text: str, start: int) -> tuple[str, str, int] | None:
    found = _NAMED.match(text, start)
    name = fold(found["name"]) if found else ""
    if not found or name not in _NAMES:
        return None
    value = found["bare"].rstrip(_TAIL) if found["quoted"] is None else found["quoted"]
    return name, value, found.end()


def _word(text: str, start: int) -> tuple[str, str, int] | None:
    found = _EXCLUDED_WORD.match(text, start)
    return ("tag" if found[0][0] in _HASH else "word", found[0].rstrip(_TAIL), found.end()) if found else None


def _plain_at(text: str, at: int) -> _Piece:
    found = _PLAIN.match(text, at)
    assert found, "every character is a break, a quote or a part of a word"
    return _Piece(found[0])


def _read_tag(value: str) -> str:
    tag = value.strip().lstrip(_HASH).strip("/")
    if not tag:
        raise _Unreadable("write the tag right behind the colon")
    return tag


def _read_visibility(value: str) -> str:
    if fold(value) not in VISIBILITIES:
        raise _Unreadable(f"visibility is {', '.join(VISIBILITIES[:-1])} or {VISIBILITIES[-1]}")
    return fold(value)


def _read_date(value: str) -> date:
    found = _DATE.fullmatch(fold(value))
    if found:
        year, month, day = (int(part or 1) for part in found.groups())
        with suppress(ValueError):  # there is no 31st of February
            return date(year, month, day)
    raise _Unreadable("write a date as 2026, 2026-01 or 2026-01-31")


def _said(words: str, values: Iterable[object]) -> Iterator[str]:
    return (words.format(value) for value in values)


def _midnight(day: date | None, zone: tzinfo | None) -> int | None:
    """The beginning of the day in Unix seconds."""
    if day is None:
        return None
    is_local = _FIRST_LOCAL_YEAR <= day.year <= _LAST_LOCAL_YEAR
    return int(datetime(day.year, day.month, day.day, tzinfo=zone if is_local else UTC).timestamp())


#: Filters with one value: name → (the value, the field).
_FLAGS = {"is": ("pinned", "pinned"), "has": ("link", "has_link")}
_VALUE_READERS: dict[str, Callable[[str], str]] = {"tag": _read_tag, "visibility": _read_visibility}
_NAMES = frozenset(["after", "before", *_FLAGS, *_VALUE_READERS])
