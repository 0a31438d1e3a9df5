"""A model of a few lines for tests of logic: texts that share character pairs are near each other. It knows no meanings."""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from vaultbrain.index.fold import fold

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass
class TinyEmbedder:
    """The same text has the same vector in every process. ``dimension`` 8 is enough to be stored, 64 to be searched.

    ``calls`` counts calls of both functions; ``texts`` and ``queries`` hold what came, in order, as it came. Blank texts are
    refused as by the real models.
    """

    dimension: int = 64
    batch_size: int = 16
    fingerprint: str = "tiny:1"
    calls: int = 0
    texts: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._embed(texts)
        self.texts += texts
        return vectors

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._embed(texts)
        self.queries += texts
        return vectors

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if isinstance(texts, str) or not all(text.strip() for text in texts):
            raise ValueError("a blank text, or a text instead of texts")
        self.calls += 1
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            padded = f" {fold(text)} "
            for start in range(len(padded) - 1):
                number = zlib.crc32(padded[start : start + 2].encode())
                row[number % self.dimension] += 1 if number >> 31 else -1
            if not row.any():
                row[0] = 1
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors
