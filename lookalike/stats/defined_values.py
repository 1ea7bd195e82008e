"""Values of which some are undefined: their ratio, their mean, the queries that all have one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.core.arrays import Floats, Ints


def ratio(part: ArrayLike, whole: ArrayLike) -> Floats:
    """Divide, with NaN where the denominator is zero."""
    a, b = np.broadcast_arrays(
        np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    )
    result = np.full(a.shape, np.nan)
    np.divide(a, b, out=result, where=b != 0)
    return result


def mean_defined(values: ArrayLike) -> tuple[Floats, Ints]:
    """Return the mean over the last axis without its NaN, and how many values it is over.

    A mean of nothing is NaN with a count of 0.

    Args:
        values: any shape, at least one axis; NaN marks an undefined query.

    Returns:
        Mean and count, each of the shape without the last axis.
    """
    V = np.asarray(values, dtype=np.float64)
    is_defined = ~np.isnan(V)
    n_defined = is_defined.sum(axis=-1)
    return ratio(np.where(is_defined, V, 0.0).sum(axis=-1), n_defined), n_defined


def common_queries(values: ArrayLike) -> NDArray[np.bool_]:
    """Mark the queries that are defined for every model that is defined on any.

    Args:
        values: shape (n_models, ..., n_queries), NaN where undefined.

    Returns:
        Shape (n_queries,), all False if no model is defined anywhere.
    """
    V = np.asarray(values, dtype=np.float64)
    is_defined = ~np.isnan(V)
    between = tuple(range(1, is_defined.ndim))
    kept = is_defined[is_defined.any(axis=between)]
    is_common = np.asarray(kept.all(axis=tuple(range(kept.ndim - 1))), np.bool_)
    return is_common & bool(len(kept))
