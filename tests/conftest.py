"""A vault, a server and a brain for tests: real files, real HTTP, real Chroma; only the model is small unless a test says so."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from cflow_server import TOKEN, CFlowServer, wire_memo
from films import MEMOS
from shell import CACHE_VARIABLES, ROOT
from tiny_embedder import TinyEmbedder

from vaultbrain.index.catalog import Catalog
from vaultbrain.retrieve.compiling import compile_dictionary, is_compiled
from vaultbrain.settings import load_settings
from vaultbrain.wiring import CATALOG, Brain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vaultbrain.index.embedding import Embedder

#: The person's own cache is not for tests. Shared by all workers and runs, since the dictionary in it takes seconds to compile.
os.environ.update(dict.fromkeys(CACHE_VARIABLES, str(ROOT / ".pytest_cache" / "home")))

NOW = datetime(2026, 11, 30, 7, 4, 5, tzinfo=UTC)


def pytest_sessionstart(session: pytest.Session) -> None:
    """Before any worker starts."""
    if not hasattr(session.config, "workerinput") and not is_compiled():
        compile_dictionary()


@dataclass
class Home:
    """A person's vault, with the state beside it."""

    vault: Path
    source: str

    @property
    def memos(self) -> Path:
        return self.vault / "CFlow" / "Memos"

    @property
    def state(self) -> Path:
        return self.vault.parent / "state"

    def brain(self, embedder: Embedder | None = None, *, in_background: bool = False, **settings: Any) -> Brain:
        """A new one, as a new process would have, with ``in_background`` the watcher; a small model unless another is given."""
        found, _ = load_settings(self.vault, environment={}, flags=settings)
        return Brain(
            found,
            environment={"CFLOW_API_TOKEN": TOKEN},
            clock=lambda: NOW,
            embedder=embedder or TinyEmbedder(dimension=64),
            in_background=in_background,
        )

    def catalog(self) -> Catalog:
        return Catalog(self.state / CATALOG)

    def note_of(self, memo_id: int | str) -> Path:
        """The one note of this memo, wherever it is in the vault."""
        files = [p for p in self.vault.rglob("*.md") if ".trash" not in p.parts and p.is_file()]
        found = [p for p in files if f'vb_id: "{memo_id}"'.encode() in p.read_bytes()]
        assert len(found) == 1, found
        return found[0]

    def text_of(self, memo_id: int | str) -> str:
        return self.note_of(memo_id).read_bytes().decode("utf-8")


@pytest.fixture
def make_home(tmp_path: Path) -> Callable[[str], Home]:
    def make(source: str, name: str = "vault") -> Home:
        vault = tmp_path / name
        (vault / ".obsidian").mkdir(parents=True)
        (vault / "vaultbrain.toml").write_text(
            f'source = "{source}"\nstate_dir = "../state"\ntimezone = "UTC"\ntimeout = 2\nlock_timeout = 5\n', encoding="utf-8"
        )
        return Home(vault, source)

    return make


@pytest.fixture
def server() -> Iterator[CFlowServer]:
    with CFlowServer([]) as running:
        yield running


@pytest.fixture
def home(server: CFlowServer, make_home: Callable[[str], Home]) -> Home:
    return make_home(server.url)


@pytest.fixture
def films(server: CFlowServer, home: Home) -> Home:
    """The memos of ``films.py``, mirrored."""
    server.memos += [wire_memo(n, text) for n, text in MEMOS.items()]
    home.brain().sync()
    return home
