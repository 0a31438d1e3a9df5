"""Catalog rows as vectors that can be compared: what both the vector store and an exact search use."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from vaultbrain.index.centring import centre_passages, means_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

#: (chunk id, memo id, CJK share, float32 bytes), as the catalog gives them.
Rows: TypeAlias = "Sequence[tuple[str, str, float, bytes]]"


def centred_matrix(rows: Rows, fingerprint: str) -> NDArray[np.float32]:
    """(n, dimension) float32, unit length, the mean of each text's language taken off where the model has such means."""
    import numpy as np

    if not rows:
        return np.zeros((0, 0), dtype=np.float32)
    raw = np.frombuffer(b"".join(row[3] for row in rows), dtype=np.float32).reshape(len(rows), -1)
    return centre_passages(raw, np.array([row[2] for row in rows], dtype=np.float32), means_for(fingerprint))
