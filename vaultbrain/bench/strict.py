"""Reading a judged set strictly: what is wrong is named by file, by place in it, and by what it should have been.

Both kinds of sets are read with it, of queries (``bench.judged``) and of utterances (``bench.utterances``).
"""

from __future__ import annotations

import json
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import JudgedSetUnreadable
from vaultbrain.memo import clean_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

#: Ids shown in a message about many.
_SHOWN_IDS = 3


class Flaw(ValueError):
    """What is wrong with a part of a set, to follow its path."""


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """A flaw met inside is one of the file at ``path``."""
    try:
        yield
    except Flaw as flaw:
        raise JudgedSetUnreadable(path=path, detail=str(flaw)) from None


def load_json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise JudgedSetUnreadable(path=path, detail=error.strerror or type(error).__name__) from error
    except json.JSONDecodeError as error:
        detail = f"it is not valid JSON at line {error.lineno}, or cut short ({error.msg})"
        raise JudgedSetUnreadable(path=path, detail=detail) from error
    except (ValueError, RecursionError) as error:
        raise JudgedSetUnreadable(path=path, detail="it is not a JSON text") from error


def identity(item: object, where: str) -> str:
    if not isinstance(item, dict):
        raise Flaw(f"{where} is no object")
    if "id" not in item:
        raise Flaw(f"{where} has no `id`")
    return as_id(item["id"], f"the `id` of {where}")


def as_id(value: object, where: str) -> str:
    """Ids are text; a memo's own id may also be written as the number it is."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise Flaw(f"{where} is neither text nor a whole number")
    return str(value)


def refuse_twice(ids: Iterable[str], what: str) -> None:
    if twice := [item for item, count in Counter(ids).items() if count > 1]:
        raise Flaw(f"{what} have an id that another one has: {some(twice)}")


def some(ids: Sequence[str]) -> str:
    shown = ", ".join(one_line(item) for item in ids[:_SHOWN_IDS])
    return shown if len(ids) <= _SHOWN_IDS else f"{shown} and {len(ids) - _SHOWN_IDS} more"


def one_line(text: str) -> str:
    """``text`` as it may stand in a message or a table."""
    return " ".join(clean_text(text).split())
