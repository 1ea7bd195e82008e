"""Logistic regression, beside that of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lookalike.planning.logistic import fit_logistic


@pytest.mark.parametrize("noise", [1.0, 0.0])  # 0: positives and negatives lie apart
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_weights_are_those_of_scikit_learn(scale, noise):
    rng = np.random.default_rng(int(10 * scale))
    features = scale * rng.normal(size=(200, 7))
    is_positive = features[:, 0] + noise * rng.normal(size=200) > 0.5 * scale
    weights, intercept = fit_logistic(features, is_positive)
    peer = LogisticRegression(solver="newton-cholesky").fit(features, is_positive)
    assert weights == pytest.approx(peer.coef_[0], abs=1e-10)
    assert intercept == pytest.approx(peer.intercept_[0], abs=1e-10)
