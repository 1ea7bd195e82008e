"""How likely each pair is similar: from what the models say of it and labels of other pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from lookalike.core.arrays import Bools, Floats
from lookalike.core.errors import Refused
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


def pair_features(pool: RankedPool) -> Floats:
    """Return what the models say of each pair, shape (n_pairs, 2 n_models + 2).

    For each model 1 / log2(1 + rank), 0 where it does not list the pair, and its score,
    standardised over the pool, the least where it has none; the share of models that propose the
    pair; and the mean of the scores.
    """
    gains = np.where(pool.ranks > 0, 1.0 / np.log2(1.0 + np.maximum(pool.ranks, 1)), 0.0)
    scores = np.stack([_standardised(row) for row in pool.scores])
    return np.vstack([gains, scores, pool.proposed.mean(axis=0), scores.mean(axis=0)]).T


def _standardised(scores: Floats) -> Floats:
    listed = scores[np.isfinite(scores)]
    if not listed.size:
        return np.zeros(scores.shape)
    filled = np.where(np.isfinite(scores), scores, listed.min())
    return np.asarray((filled - filled.mean()) / max(float(filled.std()), 1e-12))


def fit_label_model(pool: RankedPool, features: Floats, labels: Floats, used: Bools) -> LabelModel:
    """Return a model of the labels, by logistic regression; a smoothed rate where they are few.

    Source: scikit-learn's LogisticRegression, calibrated by its own likelihood. `spread` is by
    moments: residuals of two pairs of a query have the covariance spread * v1 * v2.

    Args:
        pool: whose pairs they are.
        features: from `pair_features`.
        labels: shape (n_pairs,), 0 or 1 where `used`.
        used: shape (n_pairs,), the pairs to learn from.
    """
    y = labels[used]
    smoothed = (y.sum() + 0.5) / (y.size + 1.0)
    model = LabelModel(np.zeros(features.shape[1]), float(logit(smoothed)), 0.5)
    if y.size >= LEAST_LABELS and 3 <= y.sum() <= y.size - 3:
        try:
            from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 - only to fit
        except ModuleNotFoundError as problem:
            install = "pip install 'lookalike[planning]'"
            raise Refused("", f"guesses of labels need scikit-learn: {install}") from problem
        fitted = LogisticRegression(solver="newton-cholesky").fit(features[used], y)
        model = LabelModel(fitted.coef_[0], float(fitted.intercept_[0]), 0.0)
        p = model.probabilities(features[used])
        model = LabelModel(model.weights, model.intercept, _spread(pool, p, y, used))
    return model


def with_query_levels(p: Floats, labels: Floats, known: Bools, spread: float | Floats) -> Floats:
    """Return guesses moved by what is known of other pairs of the same query.

    One step of Newton towards the query's own level, whose variance is `spread`.

    Args:
        p: shape (..., n_queries, width), guesses within (0, 1).
        labels: the same shape, 0 or 1 where known.
        known: the same shape.
        spread: of the model, or of each query's.
    """
    residual = np.where(known, labels - p, 0.0).sum(axis=-1)
    information = np.where(known, p * (1.0 - p), 0.0).sum(axis=-1)
    level = residual * spread / (information * spread + 1.0)
    moved: Floats = np.clip(expit(logit(p) + level[..., None]), _EDGE, 1.0 - _EDGE)
    return moved


def _spread(pool: RankedPool, p: Floats, y: Floats, used: Bools) -> float:
    queries, n = pool.queries[used], pool.n_queries
    residual, v = y - p, p * (1.0 - p)
    crossed = (np.bincount(queries, residual, n) ** 2 - np.bincount(queries, residual**2, n)).sum()
    possible = (np.bincount(queries, v, n) ** 2 - np.bincount(queries, v**2, n)).sum()
    return float(np.clip(crossed / possible, 0.0, 4.0)) if possible > 0 else 0.0
