"""What files that we make and the person may edit have in common: what became of one, and the words in it by language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from vaultbrain.vault.words_table import LANGUAGES

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Generated:
    """``text`` is what to write, None when the file stays as it is; ``left_alone`` says why when it cannot be read."""

    text: str | None
    left_alone: str = ""


def words_in(language: str, table: Mapping[str, tuple[str, str, str]]) -> dict[str, str]:
    """The table's column of the language, by name."""
    column = LANGUAGES.index(language)
    return {name: row[column] for name, row in table.items()}
