"""How long a warm search takes in collections of several sizes, the model's time apart.

    python benchmarks/search.py --chunks 5000 100000 --queries 200

Memos are made of lexicon words drawn by a Zipf law, so that common and rare words are as unequal as in real notes; vectors are
random, since their values do not change the time. Queries are one to three words, of which some are very common. Every search is
the product's own, with the catalog opened anew as a command does and the vectors kept in memory as a running program does; the
embedder costs nothing. Beyond the limit of exact search a real Chroma proposes candidates, with ``--exact`` never. Prints
median, 95th percentile and maximum in milliseconds; figures of one run on a quiet machine may be compared, no others.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vaultbrain.index.catalog import Catalog
from vaultbrain.index.chunking import ChunkProfile, split_chunks, text_hash
from vaultbrain.index.embedding import embedding_fingerprint
from vaultbrain.index.tokens import keyword_entry
from vaultbrain.memo import Memo
from vaultbrain.retrieve.lexicon import load_lexicon
from vaultbrain.settings import Settings
from vaultbrain.wiring import CATALOG, Brain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DIMENSION = 384
#: Of the bundled model, so that vectors are centred as its are.
FINGERPRINT = embedding_fingerprint("e5")
WORDS_PER_MEMO = 18
#: Flattens the head of Zipf's law (Mandelbrot): the commonest word stands in about one memo of seven.
FLAT = 20
SEED = 11


class RandomEmbedder:
    """Vectors that mean nothing, at no cost."""

    fingerprint = FINGERPRINT
    dimension = DIMENSION
    batch_size = 64

    def __init__(self) -> None:
        self._random = np.random.default_rng(SEED)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        vectors = self._random.standard_normal((len(texts), DIMENSION)).astype(np.float32)
        unit: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    embed_queries = embed_passages


class Words:
    """Lexicon words, some far more often than others."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(SEED)
        self.words = sorted(load_lexicon().by_word)
        self._random.shuffle(self.words)
        ranks = np.arange(1, len(self.words) + 1) + FLAT
        self._shares = (1 / ranks) / (1 / ranks).sum()

    def draw(self, count: int) -> list[str]:
        return [self.words[n] for n in self._random.choice(len(self.words), size=count, p=self._shares)]


def fill(catalog: Catalog, chunks: int, words: Words) -> None:
    """One short paragraph, one chunk, for each memo."""
    embedder, profile = RandomEmbedder(), ChunkProfile(10_000, 0)
    with catalog.transaction():
        for start in range(0, chunks, 1_000):
            numbers = range(start, min(start + 1_000, chunks))
            texts = ["，".join(words.draw(WORDS_PER_MEMO)) for _ in numbers]
            vectors = embedder.embed_passages(texts)
            rows = []
            for number, text, vector in zip(numbers, texts, vectors, strict=True):
                memo = Memo(str(number), text, 1_700_000_000 + number, 1_700_000_000 + number, "private")
                catalog.write_memo(memo, keyword_entry(memo))
                pieces = [(chunk, text_hash(chunk.text)) for chunk in split_chunks(memo.id, text, profile)]
                catalog.replace_chunks(memo.id, memo.content_hash, pieces, chunker="benchmark")
                rows += [(digest, 0.5, vector.tobytes()) for _, digest in pieces]
            catalog.write_vectors(FINGERPRINT, rows)


def fill_chroma(brain: Brain, catalog: Catalog) -> None:
    from vaultbrain.index.matrix import centred_matrix

    rows = catalog.load_vectors(FINGERPRINT)
    brain._vector_store(DIMENSION).rebuild(
        [([row[0] for row in rows], centred_matrix(rows, FINGERPRINT), [row[1] for row in rows])]
    )


def measure(chunks: int, queries: int, limit: int) -> dict[str, float]:
    words = Words()
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state")
        settings = Settings(vault=Path(folder), state_dir=str(state), exact_search_limit=limit)
        brain = Brain(settings, embedder=RandomEmbedder())
        with Catalog(state / CATALOG) as catalog:
            fill(catalog, chunks, words)
            if chunks > limit:
                fill_chroma(brain, catalog)
        brain._note_check()
        asked = ["".join(words.draw(1 + n % 3)) for n in range(queries)]
        begun = time.perf_counter()
        brain.search(asked[0])
        first = time.perf_counter() - begun
        spent = []
        for text in asked:
            begun = time.perf_counter()
            brain.search(text)
            spent.append((time.perf_counter() - begun) * 1_000)
        spent.sort()
    return {
        "first": first * 1_000,
        "median": statistics.median(spent),
        "p95": spent[int(len(spent) * 0.95)],
        "max": spent[-1],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chunks", type=int, nargs="+", default=[5_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--exact", action="store_true", help="compare all chunks whatever their number")
    options = parser.parse_args()
    for chunks in options.chunks:
        limit = 10_000_000 if options.exact else Settings.__dataclass_fields__["exact_search_limit"].default
        found = measure(chunks, options.queries, limit)
        print(f"{chunks:>8} chunks: " + "  ".join(f"{name} {value:.1f} ms" for name, value in found.items()), flush=True)


if __name__ == "__main__":
    main()
