"""Our Dawid-Skene over arrays is crowd-kit's."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.agreement.dawid_skene import chance_of_similar
from lookalike.agreement.voter_models import posterior
from lookalike.agreement.votes import Votes


@pytest.mark.parametrize("seed", range(4))
def test_the_chances_are_those_of_crowd_kit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_pairs, n_judges = 60, 5
    truth = rng.random(n_pairs) < 0.4
    pairs, judges = np.divmod(np.arange(n_pairs * n_judges), n_judges)
    kept = rng.random(pairs.size) < 0.8
    kept[::n_judges] = True
    wrong = rng.random(pairs.size) < 0.1 + 0.05 * judges
    said = np.where(wrong, ~truth[pairs], truth[pairs]).astype(np.int64)
    pairs, judges, said = pairs[kept], judges[kept], said[kept]
    votes = Votes(
        items=[str(p) for p in range(n_pairs)],
        workers=[str(j) for j in range(n_judges)],
        labels=["0", "1"],
        item_of=pairs,
        worker_of=judges,
        label_of=said,
    )
    expected = posterior(votes, "dawid-skene")[:, 1]
    found = chance_of_similar(pairs, judges, said, n_pairs, n_judges)
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_pair_without_a_vote_has_no_chance() -> None:
    one = np.array([1], np.int64)
    found = chance_of_similar(one, np.array([0]), np.array([1]), 3, 1)
    assert np.isnan(found[[0, 2]]).all()
    assert found[1] > 0.99
    none = np.zeros(0, np.int64)
    assert np.isnan(chance_of_similar(none, none, none, 2, 0)).all()
