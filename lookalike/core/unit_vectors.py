"""Vectors scaled to length 1, whose inner products are cosines."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def unit_rows(vectors: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return the rows scaled to length 1, at least in float32; a row of zeros stays as it is.

    Lengths are summed in float64. Summed in float32, they would make the cosines of two vectors
    of one direction differ by more than `core.near_ties` allows.

    Args:
        vectors: shape (n, d).

    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    rows = vectors.astype(np.result_type(vectors.dtype, np.float32), copy=False)
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))[:, None]
    unit = np.zeros_like(rows)
    np.divide(rows, lengths, out=unit, where=lengths > 0, casting="same_kind")
    return unit
