"""The index's hands: memos into chunks, chunk texts into vectors, vectors into Chroma.

Decides the order: vectors go into the catalog together with the row that says a memo is indexed, then to Chroma, and only then
do vectors go that nobody needs. Each embedded batch is committed, so that what was computed once is never computed again. The
embedding model is opened when the first text needs it, and not before; Chroma when there is something to tell it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from vaultbrain.index.centring import cjk_share
from vaultbrain.index.chunking import ChunkProfile, embedded_text, split_chunks, text_hash
from vaultbrain.index.matrix import centred_matrix
from vaultbrain.index.vectors import IndexNotUsable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from vaultbrain.index.catalog import Catalog, IndexProfile
    from vaultbrain.index.embedding import Embedder
    from vaultbrain.index.matrix import Rows
    from vaultbrain.index.vectors import VectorBatch, VectorStore
    from vaultbrain.sync.report import Progress, SyncReport

#: Memos cut between two commits.
CHUNK_BATCH = 500
#: Distinct texts fetched from the catalog at once: finding them costs some milliseconds however few are asked for.
EMBED_WINDOW = 256
#: Texts embedded between two commits: a second of work, the most that a kill can cost.
EMBED_COMMIT = 32
#: Chunks told to Chroma in one write, which costs 70-110 ms whatever its size.
STORE_BATCH = 1_000


class Indexer:
    """Brings one vault's index up to date. All methods may be repeated after a kill."""

    def __init__(
        self,
        catalog: Catalog,
        profile: IndexProfile,
        store: Callable[[int], VectorStore],
        open_embedder: Callable[[], Embedder],
        report: SyncReport,
    ) -> None:
        self._catalog = catalog
        self._profile = profile
        self._store = store
        self._open_embedder = open_embedder
        self._report = report

    def cut_memos(self, progress: Progress) -> None:
        """Chunks for every memo that has none, or other ones than its text and the chunker now give."""
        memo_ids = self._catalog.memos_to_chunk(self._profile)
        how = ChunkProfile(self._profile.chunk_size, self._profile.chunk_overlap)
        for start in range(0, len(memo_ids), CHUNK_BATCH):
            part = memo_ids[start : start + CHUNK_BATCH]
            with self._catalog.transaction():
                for memo in self._catalog.load_memos(part).values():
                    chunks = [(c, text_hash(embedded_text(c.text))) for c in split_chunks(memo.id, memo.content, how)]
                    self._catalog.replace_chunks(memo.id, memo.content_hash, chunks, chunker=self._profile.chunker)
            progress("chunks", min(start + CHUNK_BATCH, len(memo_ids)), len(memo_ids))

    def embed(self, now: Callable[[], str], progress: Progress, should_stop: Callable[[], bool]) -> None:
        """Vectors for all texts that have none, newest memos first; memos that are complete are marked so."""
        if self._catalog.count_memos_to_index(self._profile):
            self._catalog.mark_indexed(self._profile, now())
        total = self._catalog.count_texts_without_vector(self._profile.model)
        if not total:
            return
        embedder = self._open_embedder()
        self._report.model_loaded = True
        progress("vectors", 0, total)
        done = 0
        while window := self._catalog.texts_without_vector(self._profile.model, EMBED_WINDOW):
            for start in range(0, len(window), EMBED_COMMIT):
                if should_stop():
                    return
                self._embed_batch(embedder, window[start : start + EMBED_COMMIT], now())
                done += len(window[start : start + EMBED_COMMIT])
                progress("vectors", done, total)
            if self._catalog.count_outbox() >= STORE_BATCH:
                self.tell_store()

    def _embed_batch(self, embedder: Embedder, batch: Sequence[tuple[str, str]], indexed_at: str) -> None:
        texts = [embedded_text(text) for _, text in batch]
        vectors = embedder.embed_passages(texts)
        rows = [
            (digest, cjk_share(text), vector.tobytes()) for (digest, _), text, vector in zip(batch, texts, vectors, strict=True)
        ]
        with self._catalog.transaction():
            self._catalog.write_vectors(self._profile.model, rows)
            self._catalog.mark_indexed(self._profile, indexed_at, [digest for digest, _ in batch])
        self._report.chunks_embedded += len(batch)

    def tell_store(self) -> None:
        """Sends the outbox to the vector store, or builds the store anew where it cannot be used as it is."""
        dimension = self._catalog.dimension(self._profile.model)
        if not dimension:
            return
        store = self._store(dimension)
        try:
            if store.state() == "clean":
                self._send_outbox(store)
            else:
                self.rebuild_store()
        except IndexNotUsable:  # a reader died in it since we looked
            self.rebuild_store()

    def _send_outbox(self, store: VectorStore) -> None:
        while True:
            to_write, to_delete = self._catalog.read_outbox(STORE_BATCH)
            if not to_write and not to_delete:
                return
            rows = self._catalog.load_vectors(self._profile.model, to_write)
            store.write(*self._stored_form(rows), deletes=to_delete)
            self._catalog.clear_outbox([*to_write, *to_delete])

    def rebuild_store(self) -> None:
        """A new generation of the vector store from the catalog's vectors; nothing is embedded."""
        dimension = self._catalog.dimension(self._profile.model)
        if not dimension:
            return
        rows = self._catalog.load_vectors(self._profile.model)
        parts = (rows[start : start + STORE_BATCH] for start in range(0, len(rows), STORE_BATCH))
        self._store(dimension).rebuild(self._stored_form(part) for part in parts)
        self._catalog.clear_outbox()
        self._report.vectors_rebuilt = True

    def _stored_form(self, rows: Rows) -> VectorBatch:
        return [r[0] for r in rows], centred_matrix(rows, self._profile.model), [r[1] for r in rows]
