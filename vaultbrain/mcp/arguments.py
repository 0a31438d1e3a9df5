"""What a tool may be called with: each argument's type, bounds and meaning, said once and used twice.

Pure. From the same description comes the JSON Schema that a client reads and the check of what it then sends, so that they cannot
differ. Every problem of a call is found at once, and none of them repeats what was sent: it may be a megabyte long.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from vaultbrain.memo import clean_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

#: Of one text: a question, or a page that memos are compared with.
MAX_TEXT_CHARS, MAX_PASSAGE_CHARS = 2_000, 60_000
#: Names of unknown arguments that are repeated, and characters of each.
_NAMES_TOLD, _NAME_CHARS = 3, 30

#: Of an id given as a number: what SQLite and most servers count up to.
_LARGEST_ID = 2**63

_MEMO_ID = re.compile(r"#?([A-Za-z0-9_-]{1,64})")


class WrongValue(ValueError):
    """What is wrong with one value, to be read after the argument's name: ``must be a text``."""


class Argument(Protocol):
    """``default`` is None when it has to be given."""

    @property
    def name(self) -> str: ...
    @property
    def about(self) -> str: ...
    @property
    def default(self) -> Any: ...

    def read(self, value: Any) -> Any:
        """The value as the tool takes it. Raises ``WrongValue``."""

    def schema(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Text:
    """One text; blank only where it may be left out."""

    name: str
    about: str
    default: str | None = None
    max_chars: int = MAX_TEXT_CHARS

    def read(self, value: Any) -> str:
        text = _read_text(value, self.max_chars)
        if not text and self.default is None:
            raise WrongValue("must not be blank")
        return text

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "maxLength": self.max_chars} | ({"minLength": 1} if self.default is None else {})


@dataclass(frozen=True, slots=True)
class Texts:
    """Several texts, blank ones and repetitions left out. One alone is taken for a list of it."""

    name: str
    about: str
    least: int
    most: int
    default: tuple[str, ...] | None = None
    max_chars: int = MAX_TEXT_CHARS

    def read(self, value: Any) -> tuple[str, ...]:
        items = _read_list(value, self.most)
        texts = tuple(dict.fromkeys(filter(None, (_read_text(item, self.max_chars) for item in items))))
        if len(texts) < self.least:
            raise WrongValue("must hold at least one text that is not blank")
        return texts

    def schema(self) -> dict[str, Any]:
        item = {"type": "string", "maxLength": self.max_chars}
        return {"type": "array", "items": item, "minItems": self.least, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class MemoIds:
    """Ids of memos, with or without ``#``, as texts or whole numbers."""

    name: str
    about: str
    most: int
    least: int = 1
    default: tuple[str, ...] | None = None

    def read(self, value: Any) -> tuple[str, ...]:
        ids = tuple(dict.fromkeys(_read_id(item) for item in _read_list(value, self.most)))
        if len(ids) < self.least:
            raise WrongValue("must hold at least one id")
        return ids

    def schema(self) -> dict[str, Any]:
        item = {"type": ["string", "integer"]}
        return {"type": "array", "items": item, "minItems": self.least, "maxItems": self.most}


@dataclass(frozen=True, slots=True)
class Number:
    """A whole number within bounds."""

    name: str
    about: str
    low: int
    high: int
    default: int | None = None

    def read(self, value: Any) -> int:
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if isinstance(value, bool) or not is_whole or not self.low <= value <= self.high:
            raise WrongValue(f"must be a whole number from {self.low} to {self.high}")
        return int(value)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


@dataclass(frozen=True, slots=True)
class Flag:
    """Yes or no; ``or_neither`` also null."""

    name: str
    about: str
    default: bool | None = False
    or_neither: bool = False

    def read(self, value: Any) -> bool | None:
        if isinstance(value, bool) or (value is None and self.or_neither):
            return value
        raise WrongValue("must be true or false" + (", or null" if self.or_neither else ""))

    def schema(self) -> dict[str, Any]:
        return {"type": ["boolean", "null"] if self.or_neither else "boolean"}


@dataclass(frozen=True, slots=True)
class Choice:
    """One of a few words."""

    name: str
    about: str
    choices: tuple[str, ...] = field(default=())
    default: str | None = None

    def read(self, value: Any) -> str:
        if not isinstance(value, str) or value not in self.choices:
            raise WrongValue(f"must be one of {', '.join(self.choices)}")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "enum": list(self.choices)}


def is_required(argument: Argument) -> bool:
    return argument.default is None and not isinstance(argument, Flag)


def schema_of(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The JSON Schema of all arguments of a tool."""
    properties = {argument.name: _property(argument) for argument in arguments}
    required = [argument.name for argument in arguments if is_required(argument)]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _property(argument: Argument) -> dict[str, Any]:
    default = argument.default
    has_default = default is not None and default not in ("", ())
    return {**argument.schema(), "description": argument.about} | ({"default": default} if has_default else {})


def read_arguments(arguments: Sequence[Argument], given: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The values by name, those left out with their defaults; and what is wrong, a clause each."""
    known = {argument.name: argument for argument in arguments}
    values: dict[str, Any] = {}
    problems = [_unknown(list(given.keys() - known.keys()))] if given.keys() - known.keys() else []
    for name, argument in known.items():
        is_given = name in given and not (given[name] is None and not is_required(argument))
        try:
            if is_given:
                values[name] = argument.read(given[name])
            elif is_required(argument):
                problems.append(f"{name} is missing")
            else:
                values[name] = argument.default
        except WrongValue as error:
            problems.append(f"{name} {error}")
    return values, problems


def _unknown(names: list[str]) -> str:
    told = ", ".join(repr(clean_text(name)[:_NAME_CHARS]) for name in sorted(names)[:_NAMES_TOLD])
    more = f" and {len(names) - _NAMES_TOLD} more" if len(names) > _NAMES_TOLD else ""
    return f"there is no argument {told}{more}"


def _read_text(value: Any, max_chars: int) -> str:
    if not isinstance(value, str):
        raise WrongValue("must be text")
    if len(value) > max_chars:
        raise WrongValue(f"must have at most {max_chars} characters in each text")
    return clean_text(value).strip().strip("\u200b\ufeff").strip()


def _read_list(value: Any, most: int) -> list[Any]:
    items = value if isinstance(value, list) else [value]
    if len(items) > most:
        raise WrongValue(f"must hold at most {most}")
    return items


def _read_id(value: Any) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST_ID
    text = str(value) if is_number else value
    found = _MEMO_ID.fullmatch(text.strip()) if isinstance(text, str) else None
    if found is None:
        raise WrongValue('must hold memo ids such as "456"')
    return found[1]
