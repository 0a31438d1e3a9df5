"""vaultbrain: memos of CFlow or Memos in an Obsidian vault, searchable and answering, offline.

``vaultbrain.open(vault)`` gives a ``Brain`` with ``sync()``, ``search()``, ``ask()``, ``get()``, ``status()`` and ``manifest()``;
the command line calls the same methods.
"""

from __future__ import annotations

from vaultbrain.wiring import Brain
from vaultbrain.wiring import open_brain as open  # noqa: A004  (reads as vaultbrain.open at the call)

__all__ = ["Brain", "open"]
