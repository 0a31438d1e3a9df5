"""The lexicon: groups of words that mean nearly the same, the bundled ones and the person's own.

Decides the form of a lexicon file and what of a faulty one is still used: a group with a mistake is left out, the rest counts,
and each mistake becomes a sentence that names its line. A person's own mistake never fails a search, because the bundled groups
are always there. Refuses to say which words are tried for a query and how much they count (``retrieve.expand``).
"""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from vaultbrain.index.fold import fold
from vaultbrain.index.tokens import is_cjk
from vaultbrain.retrieve.stems import stem_phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

#: One sentence about one mistake in the person's own file, without its path: ``line 12: `zh` must be a list of words``.
LexiconProblem: TypeAlias = str

#: Characters. Anything longer is a sentence, which no memo holds word for word.
MAX_WORD_CHARS = 40
#: Bytes of the person's own file. The bundled one, which is large, has about 160,000.
MAX_OWN_BYTES = 1_000_000
#: A bad file may have one mistake in every line; nobody reads more than so many.
MAX_PROBLEMS = 10

_GROUP_KEYS = ("zh", "en", "words", "resources", "actions")
_TABLES = ("resources", "actions")
_HEADER = re.compile(r"^\s*\[(\[?)\s*(\w+)\s*\]?\]")


class Word(NamedTuple):
    """``text`` is folded. ``language`` is ``zh`` or ``en``; for a word of the list ``words`` its script decides."""

    text: str
    language: str


@dataclass(frozen=True, slots=True)
class Group:
    """Words that stand for each other, the most usual first, two Chinese ones for each English one; each text once.

    ``resources`` (片单, imdb) and ``actions`` (想看) are typical of the topic and mean little alone. ``is_own``: written by the
    person, not bundled.
    """

    words: tuple[Word, ...]
    resources: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    is_own: bool = False


@dataclass(frozen=True)
class Lexicon:
    """``groups``: the person's own first. ``resources`` and ``actions`` suit any topic. All texts are folded."""

    groups: tuple[Group, ...]
    resources: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    problems: tuple[LexiconProblem, ...] = ()

    @cached_property
    def by_word(self) -> dict[str, tuple[Group, ...]]:
        """The groups of every word, in the order of ``groups``."""
        found: dict[str, list[Group]] = {}
        for group in self.groups:
            for word in group.words:
                found.setdefault(word.text, []).append(group)
        return {text: tuple(groups) for text, groups in found.items()}

    @cached_property
    def by_stem(self) -> dict[str, tuple[str, ...]]:
        """The English words by their stems, so that a question may hold them in any inflection."""
        found: dict[str, tuple[str, ...]] = {}
        for text in self.by_word:
            if text.isascii():
                key = stem_phrase(text)
                found[key] = (*found.get(key, ()), text)
        return found

    def groups_for(self, word: str) -> tuple[Group, ...]:
        """The groups that hold exactly this folded word."""
        return self.by_word.get(word, ())


def load_lexicon(own: Path | None = None) -> Lexicon:
    """The bundled lexicon and the file ``own`` as one; read again only when the file has changed.

    Whatever is wrong with the file stands in ``problems``, and what is right in it is used.
    """
    if own is None:
        return _bundled()
    try:
        status = own.stat()
    except OSError as error:
        return _joined(Lexicon((), problems=(_unreadable(error),)))
    return _read_own(own, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=1)
def _bundled() -> Lexicon:
    """Not folded: a test holds that every word stands there folded, and a search in English need not load the converter."""
    tables = read_plain(files("vaultbrain.retrieve").joinpath("lexicon.toml").read_text(encoding="utf-8"))
    groups = tuple(_build_group(table, is_own=False) for name, table in tables if name == "group")
    general = {name: tuple(table["words"]) for name, table in tables if name in _TABLES}
    return Lexicon(groups, general["resources"], general["actions"])


def read_plain(text: str) -> list[tuple[str, dict[str, list[str]]]]:
    """(header, table) for each table of a file in the bundled one's form; a test holds that TOML's reader sees the same there.

    That form is a header alone on its line, then one list of words in plain quotes a line, and whole lines of comment. Such a
    list is JSON as well, and so all is read at once: TOML's own reader would take most of the time of a first search.
    """
    parts = []
    for line in text.splitlines():
        if line.startswith("["):
            parts.append(f'}}], ["{line.strip("[]")}", {{"": []')
        elif line and not line.startswith("#"):
            name, _, words = line.partition(" = ")
            parts.append(f', "{name}": {words}')
    tables = json.loads(f"[{''.join(parts).removeprefix('}], ')}}}]]")
    return [(name, {key: words for key, words in table.items() if key}) for name, table in tables]


@lru_cache(maxsize=4)
def _read_own(path: Path, mtime_ns: int, size_bytes: int) -> Lexicon:  # noqa: ARG001  (part of the cache's key)
    if size_bytes > MAX_OWN_BYTES:
        return _joined(Lexicon((), problems=(f"it is longer than {MAX_OWN_BYTES} bytes",)))
    try:
        return _joined(parse_lexicon(path.read_text(encoding="utf-8-sig")))
    except UnicodeDecodeError:
        return _joined(Lexicon((), problems=("it is not text in UTF-8",)))
    except OSError as error:
        return _joined(Lexicon((), problems=(_unreadable(error),)))


def _unreadable(error: OSError) -> LexiconProblem:
    return f"it cannot be read: {error.strerror or type(error).__name__}"


def _joined(own: Lexicon) -> Lexicon:
    bundled = _bundled()
    return Lexicon(
        own.groups + bundled.groups,
        _once([*own.resources, *bundled.resources]),
        _once([*own.actions, *bundled.actions]),
        own.problems[:MAX_PROBLEMS],
    )


def parse_lexicon(text: str) -> Lexicon:
    """A person's own file: its usable groups, folded, and a problem for everything else. Nothing bundled is in it."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Lexicon((), problems=(f"it is not valid TOML: {error}",))
    lines = _lines_of_headers(text)
    problems = [f"`{name}` is not known here; write [[group]], [resources] or [actions]" for name in data if not _is_known(name)]
    groups = tuple(_read_groups(data.get("group", []), lines.get("group", []), problems))
    tables = {name: _read_table(data, name, lines, problems) for name in _TABLES}
    return Lexicon(groups, tables["resources"], tables["actions"], tuple(problems))


def _is_known(name: str) -> bool:
    return name == "group" or name in _TABLES


def _lines_of_headers(text: str) -> dict[str, list[int]]:
    """The line numbers, from 1, of the headers of each name: TOML's own reader does not tell them."""
    found: dict[str, list[int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _HEADER.match(line):
            found.setdefault(match[2], []).append(number)
    return found


def _read_groups(given: Any, lines: Sequence[int], problems: list[LexiconProblem]) -> Iterable[Group]:
    if not isinstance(given, list) or not all(isinstance(item, dict) for item in given):
        problems.append("a group begins with [[group]], in two pairs of brackets")
        return
    for number, item in enumerate(given):
        # Inline groups have no header of their own; then counting is all that helps.
        place = f"line {lines[number]}" if len(lines) == len(given) else f"group {number + 1}"
        complaints = _complaints_about(item)
        if complaints:
            problems.extend(f"{place}: {complaint}" for complaint in complaints)
        else:
            yield _build_group({name: _folded(words) for name, words in item.items()}, is_own=True)


def _complaints_about(item: dict[str, Any]) -> list[str]:
    unknown = [f"`{name}` is not known; a group has {', '.join(_GROUP_KEYS)}" for name in item if name not in _GROUP_KEYS]
    faulty = [f"`{name}` {wrong}" for name in _GROUP_KEYS if (wrong := _wrong_with(item.get(name, [])))]
    if unknown or faulty:
        return unknown + faulty
    words = _folded([word for name in ("zh", "en", "words") for word in item.get(name, [])])
    return [] if len(set(words)) > 1 else ["a group needs two words that differ"]


def _wrong_with(words: Any) -> str:
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        return "must be a list of words in quotes"
    if any(not any(map(str.isalnum, word)) for word in words):
        return "holds a word without a letter or digit"
    return f"holds a word longer than {MAX_WORD_CHARS} characters" if any(len(w) > MAX_WORD_CHARS for w in words) else ""


def _read_table(data: dict[str, Any], name: str, lines: dict[str, list[int]], problems: list[LexiconProblem]) -> tuple[str, ...]:
    table = data.get(name, {})
    place = f"line {lines[name][0]}" if name in lines else f"[{name}]"
    if not isinstance(table, dict) or set(table) - {"words"}:
        problems.append(f"{place}: [{name}] holds `words` and nothing else")
        return ()
    if wrong := _wrong_with(table.get("words", [])):
        problems.append(f"{place}: `words` {wrong}")
        return ()
    return _once(_folded(table.get("words", [])))


def _folded(words: Sequence[str]) -> list[str]:
    """Folded, with one space for each run of them."""
    return [" ".join(fold(word).split()) for word in words]


def _build_group(item: Mapping[str, Sequence[str]], *, is_own: bool) -> Group:
    words = [Word(text, "zh" if is_cjk(text) else "en") for text in item.get("words", [])]
    words += _interleaved([Word(text, "zh") for text in item.get("zh", [])], [Word(text, "en") for text in item.get("en", [])])
    by_text: dict[str, Word] = {}
    for word in words:
        by_text.setdefault(word.text, word)
    return Group(
        tuple(by_text.values()),
        _once(item.get("resources", [])),
        _once(item.get("actions", [])),
        is_own,
    )


def _interleaved(chinese: Sequence[Word], english: Sequence[Word]) -> list[Word]:
    """Two Chinese words for each English one, so that both come early."""
    words: list[Word] = []
    for n in range(max((len(chinese) + 1) // 2, len(english))):
        words += [*chinese[2 * n : 2 * n + 2], *english[n : n + 1]]
    return words


def _once(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
