"""Random negatives that are positives: golden case G9 and a simulation."""

import numpy as np
import pytest

from lookalike.metrics.contamination import corrected_auc
from lookalike.stats.roc_auc import micro_auc_and_ap


def test_a_tenth_of_wrong_negatives_turns_80_into_77():
    assert corrected_auc(0.77, negatives_wrong=0.1) == pytest.approx(0.8)


def test_correction_undoes_the_contamination_for_any_shares():
    for alpha, beta in [(0, 0), (0.2, 0.3), (0.05, 0)]:
        observed = 0.5 + (1 - alpha - beta) * (0.63 - 0.5)
        assert corrected_auc(observed, alpha, beta) == pytest.approx(0.63)


def test_expectation_holds_in_a_simulation():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], 40_000)
    scores = rng.normal(size=80_000) + labels
    wrong = labels.copy()
    true = micro_auc_and_ap(scores[None], labels).auc[0, 0, 0]
    wrong[rng.choice(40_000, 4_000, replace=False)] = 0  # 4,000 of 44,000 negatives are positive
    seen = micro_auc_and_ap(scores[None], wrong).auc[0, 0, 0]
    assert corrected_auc(seen, negatives_wrong=4 / 44) == pytest.approx(true, abs=0.003)


def test_impossible_shares_are_refused():
    with pytest.raises(ValueError, match="sum to less than 1"):
        corrected_auc(0.5, 0.5, 0.5)
    with pytest.raises(ValueError, match="negative"):
        corrected_auc(0.5, -0.1)
