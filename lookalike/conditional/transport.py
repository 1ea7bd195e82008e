"""Transport between conditions and embeddings with uniform marginals."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from lookalike.core.arrays import Floats

Plan = NDArray[np.float64]


def exact_plan(cost: Floats) -> Plan:
    """Return a plan of least cost: row sums 1/M, column sums 1/K.

    A square cost has a permutation as optimum (Birkhoff) and is solved by assignment; others by
    POT's network simplex.

    Args:
        cost: shape (M, K), finite.

    Returns:
        Shape (M, K).
    """
    n_rows, n_columns = cost.shape
    if n_rows == n_columns:
        plan = np.zeros(cost.shape)
        plan[linear_sum_assignment(cost)] = 1.0 / n_rows
        return plan
    found: Plan = _pot().emd(_uniform(n_rows), _uniform(n_columns), np.ascontiguousarray(cost))
    return found


def sinkhorn_plan(cost: Floats, regularisation: float) -> Plan:
    """Return what entropic transport gives; it may be no plan (see `sinkhorn_accuracy`).

    Raises:
        ValueError: a regularisation that is not above 0.
    """
    if not regularisation > 0:
        raise ValueError(f"the regularisation is {regularisation}, not above 0")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # its failures are what the caller reports
        found: Plan = _pot().sinkhorn(
            _uniform(cost.shape[0]), _uniform(cost.shape[1]), cost, regularisation
        )
    return np.nan_to_num(found, nan=0.0, posinf=0.0)


def _pot() -> Any:
    """Return POT, which takes seconds to import, without the back ends that it would import too."""
    for name in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{name}", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its sources have invalid escapes, said when compiled
        return import_module("ot")


def _uniform(n: int) -> Floats:
    return np.full(n, 1.0 / n)
