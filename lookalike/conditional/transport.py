"""Transport between conditions and embeddings with uniform marginals."""

from __future__ import annotations

import os
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Floats

Plan = NDArray[np.float64]
_SINKHORN_STEPS = 1000
_SINKHORN_TOLERANCE = 1e-9


def exact_plan(cost: Floats) -> Plan:
    """Return a plan of least cost: row sums 1/M, column sums 1/K.

    A square cost has a permutation as optimum (Birkhoff) and is solved by assignment; others by
    POT's network simplex where POT is installed, else by linear programming. Where several plans
    are optimal the two may take different ones.

    Args:
        cost: shape (M, K), finite.

    Returns:
        Shape (M, K).

    >>> exact_plan(np.array([[0.1, 0.4], [0.2, 0.3]])).tolist()
    [[0.5, 0.0], [0.0, 0.5]]
    """
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  # slow to load

    n_rows, n_columns = cost.shape
    if n_rows == n_columns:
        plan = np.zeros(cost.shape)
        plan[linear_sum_assignment(cost)] = 1.0 / n_rows
        return plan
    marginals = _uniform(n_rows), _uniform(n_columns)
    if find_spec("ot") is None:
        return _programmed(cost, np.concatenate(marginals))
    found: Plan = _pot().emd(*marginals, np.ascontiguousarray(cost))
    return found


def _programmed(cost: Floats, marginals: Floats) -> Plan:
    """Solve the transport as a linear program: a row and a column of constraints each."""
    from scipy.optimize import linprog  # noqa: PLC0415  # slow to load
    from scipy.sparse import eye_array, kron, vstack  # noqa: PLC0415

    n_rows, n_columns = cost.shape
    sums = vstack(
        [
            kron(eye_array(n_rows), np.ones((1, n_columns))),
            kron(np.ones((1, n_rows)), eye_array(n_columns)),
        ]
    )
    plan: Plan = linprog(cost.ravel(), A_eq=sums, b_eq=marginals, method="highs-ds").x
    return plan.reshape(cost.shape)


def sinkhorn_plan(cost: Floats, regularisation: float) -> Plan:
    """Return what entropic transport gives; it may be no plan (see `sinkhorn_accuracy`).

    Source: Sinkhorn and Knopp's scaling (Cuturi, NeurIPS 2013) as POT has it, which a test holds
    it to: at most 1,000 steps, the columns looked at in every tenth; a step that divides by 0 or
    overflows is the last and does not count.

    Args:
        cost: shape (M, K), finite.
        regularisation: of the entropy.

    Returns:
        Shape (M, K).

    Raises:
        ValueError: a regularisation that is not above 0.
    """
    if not regularisation > 0:
        raise ValueError(f"the regularisation is {regularisation}, not above 0")
    n_rows, n_columns = cost.shape
    rows, columns = _uniform(n_rows), _uniform(n_columns)
    with np.errstate(all="ignore"):  # what fails is what the caller reports
        kernel = np.exp(cost / -regularisation)
        scaled = (1 / rows).reshape(-1, 1) * kernel
        u, v = np.ones(n_rows) / n_rows, np.ones(n_columns) / n_columns
        for step in range(_SINKHORN_STEPS):
            reached = kernel.T @ u
            v_next = columns / reached
            u_next = 1.0 / (scaled @ v_next)
            if not (reached.all() and np.isfinite(u_next).all() and np.isfinite(v_next).all()):
                break
            u, v = u_next, v_next
            if step % 10 == 0:
                marginal = np.einsum("i,ij,j->j", u, kernel, v)
                if np.linalg.norm(marginal - columns) < _SINKHORN_TOLERANCE:
                    break
        plan = u.reshape(-1, 1) * kernel * v.reshape(1, -1)
    found: Plan = np.nan_to_num(plan, nan=0.0, posinf=0.0)
    return found


def _pot() -> Any:
    """Return POT, which takes seconds to import, without the back ends that it would import too."""
    for name in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW"):
        os.environ.setdefault(f"POT_BACKEND_DISABLE_{name}", "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its sources have invalid escapes, said when compiled
        return import_module("ot")


def _uniform(n: int) -> Floats:
    return np.full(n, 1.0 / n)
