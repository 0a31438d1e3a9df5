"""How a table of words is read: one row to a name, one column to a language. Pure; the tables stand where they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The columns.
LANGUAGES: Final = ("zh-Hans", "zh-Hant", "en")


class Column:
    """The column of one language of a subclass's ``table``: ``words("found", total=3)``."""

    table: ClassVar[Mapping[str, tuple[str, str, str]]]

    def __init__(self, language: str) -> None:
        self.language = language
        self._column = LANGUAGES.index(language)

    def __call__(self, name: str, **values: object) -> str:
        return self.table[name][self._column].format(**values)
