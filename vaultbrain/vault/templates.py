"""The Jinja2 templates of notes: the built-in ones, each of which a vault may override by a file of the same name.

Templates run sandboxed and see only the values they are given. A template shapes our region; properties, markers and anchors
are not its business.

Decides what becomes of an override that cannot be used: the built-in template takes its place, and ``problems`` names the file,
the line and the reason once. One that cannot be read or compiled is out until its bytes change. One that fails while it renders
is out for the note at hand: so a note's text depends on its values and the two templates alone, never on which notes came before.
One that does not come to an end would cost its time with every note, and is out like one that is no template.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vaultbrain.errors import TemplateBroken
from vaultbrain.vault.note import BEGIN, END
from vaultbrain.vault.sandbox import Sandbox, TemplateFault

if TYPE_CHECKING:
    from collections.abc import Mapping

_NEXT_TO_US = Path(__file__).parent.parent / "vault_templates"  # in an installed wheel
_IN_THE_REPOSITORY = Path(__file__).parent.parent.parent / "vault_templates"
OVERRIDES_FOLDER = "Templates"
#: What a marker that is put together from pieces still has in the template's text.
_MARKER_WORD = "vaultbrain:"


@dataclass(frozen=True, slots=True)
class TemplateProblem:
    """Why an override is not used. ``line`` counts from 1, and is 1 where the fault has no line: a file that cannot be read."""

    path: Path
    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class _Compiled:
    """One version of an override; ``problem`` is set when it is out for good."""

    content: bytes | None
    template: Any
    problem: TemplateProblem | None


class Templates:
    """Finds and renders templates by name (``memo.md.j2``); ``overrides`` is searched first.

    ``problems`` grows by one for each version of an override that could not be used, when that is first met. Whoever shows them
    may clear it.
    """

    def __init__(self, overrides: Path) -> None:
        self.problems: list[TemplateProblem] = []
        self._overrides = overrides
        self._sandbox = Sandbox()
        self._built_in: dict[str, Any] = {}
        self._compiled: dict[str, _Compiled] = {}
        self._named: set[tuple[str, bytes | None]] = set()

    def digest(self, name: str) -> str:
        """Changes when the text of the built-in template or of its override changes. Loads no Jinja2.

        An override that does not work counts like one that does: the notes that the built-in template wrote in its place are
        up to date until somebody edits it, and are then written anew once. An override that cannot be read counts as none.
        """
        digest = hashlib.blake2b(_built_in_path(name).read_bytes(), digest_size=8)
        try:
            content = (self._overrides / name).read_bytes()
        except OSError:
            return digest.hexdigest()
        return hashlib.blake2b(content + digest.digest(), digest_size=8).hexdigest()

    def render(self, name: str, values: Mapping[str, Any]) -> str:
        """The text without blank lines at its ends. Raises ``TemplateBroken`` only for a built-in template."""
        override = self._override(name)
        if override is None:
            return self._render_built_in(name, values)
        if override.problem is None:
            found = self._render_override(name, override, values)
            if isinstance(found, str):
                return found
            self._name_once(name, override.content, found)
        return self._render_built_in(name, values)

    def _override(self, name: str) -> _Compiled | None:
        """The override as it is now, compiled again only when its bytes changed; None when there is none."""
        path = self._overrides / name
        try:
            content, refusal = path.read_bytes(), ""
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            content, refusal = None, f"it cannot be read: {error.strerror or error}"
        known = self._compiled.get(name)
        if known is None or known.content != content:
            known = self._compile(path, content, refusal)
            self._compiled[name] = known
            if known.problem:
                self._name_once(name, content, known.problem)
        return known

    def _compile(self, path: Path, content: bytes | None, refusal: str) -> _Compiled:
        if content is None:
            return _Compiled(None, None, TemplateProblem(path, 1, refusal))
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            return _Compiled(content, None, TemplateProblem(path, line, "it is not UTF-8 text"))
        if not text.strip():  # a sync service makes the file first and fills it later
            return _Compiled(content, None, TemplateProblem(path, 1, "it is empty"))
        try:
            return _Compiled(content, self._sandbox.compile(text), None)
        except TemplateFault as fault:
            return _Compiled(content, None, TemplateProblem(path, fault.line, fault.reason))

    def _render_override(self, name: str, override: _Compiled, values: Mapping[str, Any]) -> str | TemplateProblem:
        path = self._overrides / name
        try:
            text = self._sandbox.render(override.template, values).strip("\n")
        except TemplateFault as fault:
            problem = TemplateProblem(path, fault.line, fault.reason)
            if fault.has_no_end:
                self._compiled[name] = _Compiled(override.content, None, problem)
            return problem
        if _has_marker(text):
            assert override.content is not None
            line = _line_of_marker(override.content.decode("utf-8-sig"))
            return TemplateProblem(path, line, "it prints a vaultbrain marker; the markers are not its business")
        return text

    def _render_built_in(self, name: str, values: Mapping[str, Any]) -> str:
        path = _built_in_path(name)
        try:
            if name not in self._built_in:
                self._built_in[name] = self._sandbox.compile(path.read_text(encoding="utf-8"))
            text = self._sandbox.render(self._built_in[name], values, is_bounded=False).strip("\n")
        except TemplateFault as fault:
            raise TemplateBroken(path=path, line=fault.line, reason=fault.reason) from fault
        if _has_marker(text):  # a second pair of markers would lock every note
            raise TemplateBroken(path=path, line=1, reason="a value holds a vaultbrain marker")
        return text

    def _name_once(self, name: str, content: bytes | None, problem: TemplateProblem) -> None:
        if (name, content) not in self._named:
            self._named.add((name, content))
            self.problems.append(problem)


def _built_in_path(name: str) -> Path:
    return next(path for folder in (_NEXT_TO_US, _IN_THE_REPOSITORY) if (path := folder / name).is_file())


def _has_marker(text: str) -> bool:
    return any(line.strip() in (BEGIN, END) for line in text.split("\n"))


def _line_of_marker(template: str) -> int:
    """The template's first line with a whole marker, else with a piece of one."""
    lines = template.splitlines()
    for wanted in ((BEGIN, END), (_MARKER_WORD,)):
        for number, line in enumerate(lines, 1):
            if any(piece in line for piece in wanted):
                return number
    return 1
