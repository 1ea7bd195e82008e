"""How likely each pair is similar: from what the models say of it and labels of other pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit, logit

from lookalike.core.arrays import Bools, Floats
from lookalike.planning.logistic import fit_logistic
from lookalike.planning.pool import RankedPool

LABEL_MODEL = "logistic 1"  # its name and version, kept with rounds: raise it with any change
LEAST_LABELS = 30
_EDGE = 0.005


@dataclass(frozen=True)
class LabelModel:
    """A calibrated guess of labels.

    Attributes:
        weights: shape (n_features,), of the logistic regression; zeros where too few labels were
            known to fit one.
        intercept: of the same.
        spread: variance of what the pairs of a query have in common beyond that, in log odds.
    """

    weights: Floats
    intercept: float
    spread: float

    def probabilities(self, features: Floats) -> Floats:
        """Return the guess for each row of features, shape (n_pairs,), within (0, 1)."""
        p: Floats = np.clip(expit(features @ self.weights + self.intercept), _EDGE, 1.0 - _EDGE)
        return p


def fit_label_model(pool: RankedPool, features: Floats, labels: Floats, used: Bools) -> LabelModel:
    """Return a model of the labels, by logistic regression; a smoothed rate where they are few.

    Calibrated by its own likelihood (see `fit_logistic`). `spread` is by moments: residuals of
    two pairs of a query have the covariance spread * v1 * v2.

    Args:
        pool: whose pairs they are.
        features: shape (n_pairs, n_features), as `RankedPool.features` has them.
        labels: shape (n_pairs,), 0 or 1 where `used`.
        used: shape (n_pairs,), the pairs to learn from.
    """
    y = labels[used]
    smoothed = (y.sum() + 0.5) / (y.size + 1.0)
    model = LabelModel(np.zeros(features.shape[1]), float(logit(smoothed)), 0.5)
    if y.size >= LEAST_LABELS and 3 <= y.sum() <= y.size - 3:
        seen = features[used]
        model = LabelModel(*fit_logistic(seen, y), 0.0)
        spread = _spread(pool, model.probabilities(seen), y, used)
        model = replace(model, spread=spread)
    return model


class QueryLevels:
    """Guesses that move by what is known of other pairs of the same query.

    Args:
        p: shape (..., n_queries, width), guesses within (0, 1).
        labels: the same shape, 0 or 1 where known.
    """

    def __init__(self, p: Floats, labels: Floats) -> None:
        self.logit = logit(p)
        self.residual = labels - p
        self.information = p * (1.0 - p)

    def guesses(self, known: Bools, spread: float | Floats) -> Floats:
        """Return the guesses after one step of Newton towards each query's own level.

        Args:
            known: the shape of the guesses.
            spread: variance of the levels, of the model or of each query's.
        """
        residual = np.where(known, self.residual, 0.0).sum(axis=-1)
        information = np.where(known, self.information, 0.0).sum(axis=-1)
        level = residual * spread / (information * spread + 1.0)
        moved: Floats = np.clip(expit(self.logit + level[..., None]), _EDGE, 1.0 - _EDGE)
        return moved


def _spread(pool: RankedPool, p: Floats, y: Floats, used: Bools) -> float:
    queries, n = pool.queries[used], pool.n_queries
    residual, v = y - p, p * (1.0 - p)
    crossed = (np.bincount(queries, residual, n) ** 2 - np.bincount(queries, residual**2, n)).sum()
    possible = (np.bincount(queries, v, n) ** 2 - np.bincount(queries, v**2, n)).sum()
    return float(np.clip(crossed / possible, 0.0, 4.0)) if possible > 0 else 0.0
