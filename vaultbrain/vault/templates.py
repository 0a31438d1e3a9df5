"""The Jinja2 templates of notes: the built-in ones, each of which a vault may override by a file of the same name.

Templates run sandboxed and see only the values they are given. A template shapes our region; properties, markers and anchors
are not its business.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import TemplateBroken
from vaultbrain.vault.note import BEGIN, END

if TYPE_CHECKING:
    from collections.abc import Mapping

_NEXT_TO_US = Path(__file__).parent.parent / "vault_templates"  # in an installed wheel
_IN_THE_REPOSITORY = Path(__file__).parent.parent.parent / "vault_templates"
OVERRIDES_FOLDER = "Templates"


class Templates:
    """Finds and renders templates by name (``memo.md.j2``); ``overrides`` is searched first."""

    def __init__(self, overrides: Path) -> None:
        self._folders = (overrides, _NEXT_TO_US, _IN_THE_REPOSITORY)
        self._environment: Any = None

    def path_of(self, name: str) -> Path:
        return next(path for folder in self._folders if (path := folder / name).is_file())

    def digest(self, name: str) -> str:
        """Changes when the template's text changes. Loads no Jinja2."""
        return hashlib.blake2b(self.path_of(name).read_bytes(), digest_size=8).hexdigest()

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """The text without blank lines at its ends. Raises ``TemplateBroken``."""
        from jinja2 import TemplateError, TemplateSyntaxError

        path = self.path_of(name)
        try:
            template = self._loaded().from_string(path.read_text(encoding="utf-8"))
            text = str(template.render(values)).strip("\n")
        except TemplateSyntaxError as error:
            raise TemplateBroken(path=path, line=error.lineno, reason=error.message) from error
        except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError) as error:
            raise TemplateBroken(path=path, line=_line_in_template(error), reason=str(error)) from error
        marked = next((n for n, line in enumerate(text.split("\n"), 1) if line.strip() in (BEGIN, END)), 0)
        if marked:  # a second pair of markers would lock every note
            raise TemplateBroken(path=path, line=marked, reason="it prints a vaultbrain marker; the markers are not its business")
        return text

    def _loaded(self) -> Any:
        if self._environment is None:
            from jinja2 import StrictUndefined
            from jinja2.sandbox import SandboxedEnvironment

            # Notes are Markdown, not HTML: escaping is done where text becomes part of a note.
            self._environment = SandboxedEnvironment(
                undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True, autoescape=False
            )
        return self._environment


def _line_in_template(error: BaseException) -> int:
    """The template's line in which rendering failed; Jinja2 names compiled templates ``<template>`` in tracebacks."""
    line, step = 1, error.__traceback__
    while step:
        if step.tb_frame.f_code.co_filename == "<template>":
            line = step.tb_lineno
        step = step.tb_next
    return line
