"""Our Dawid-Skene over arrays is crowd-kit's."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from lookalike.agreement.dawid_skene import _alike, label_chances


@pytest.mark.slow
@pytest.mark.parametrize(("n_labels", "n_judges"), [(2, 5), (3, 5), (2, 24)])
@pytest.mark.parametrize("seed", range(4))
def test_the_chances_are_those_of_crowd_kit(seed: int, n_labels: int, n_judges: int) -> None:
    rng = np.random.default_rng(seed)
    n_pairs = 60
    truth = rng.integers(0, n_labels, n_pairs)
    pairs, judges = np.divmod(np.arange(n_pairs * n_judges), n_judges)
    kept = rng.random(pairs.size) < 0.8
    kept[::n_judges] = True
    wrong = rng.random(pairs.size) < 0.1 + 0.25 * judges / n_judges
    said = np.where(wrong, (truth[pairs] + 1) % n_labels, truth[pairs])
    pairs, judges, said = pairs[kept], judges[kept], said[kept]
    from crowdkit.aggregation.classification import DawidSkene

    table = pd.DataFrame({"task": pairs, "worker": judges, "label": said})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pd.errors.PandasDeprecationWarning)
        expected = DawidSkene(n_iter=100).fit_predict_proba(table).sort_index()
    found = label_chances(pairs, judges, said, n_pairs, n_judges, n_labels=n_labels)
    np.testing.assert_allclose(found, expected[list(range(n_labels))], atol=1e-6)


def test_a_pair_without_a_vote_has_no_chance() -> None:
    one = np.array([1], np.int64)
    found = label_chances(one, np.array([0]), np.array([1]), 3, 1)
    assert np.isnan(found[[0, 2]]).all()
    assert found[1, 1] > 0.99
    none = np.zeros(0, np.int64)
    assert np.isnan(label_chances(none, none, none, 2, 0)).all()


@pytest.mark.parametrize("most", [1, 3, 40])
def test_items_are_alike_if_and_only_if_their_votes_are(most: int) -> None:
    """Also where so many voted that their votes do not fit into one number."""
    rng = np.random.default_rng(most)
    n_cells = 60
    given = [np.sort(rng.choice(n_cells, rng.integers(0, most + 1), replace=False)).tolist()
             for _ in range(200)]  # fmt: skip
    apart = [[0, *cells[1:]] for cells in given if cells]  # by one vote
    apart += [[*cells[:-1], n_cells - 1] for cells in given if cells]
    given += apart + given
    items = np.repeat(np.arange(len(given)), [len(cells) for cells in given])
    shuffled = rng.permutation(len(items))
    all_cells = np.concatenate(given).astype(np.int64)
    voted, group_of_item, group_of_vote, cells = _alike(
        items[shuffled], all_cells[shuffled], n_cells
    )
    assert voted.tolist() == [at for at, one in enumerate(given) if one]
    assert len(set(group_of_item)) == len({tuple(one) for one in given if one})
    for item, group in zip(voted, group_of_item, strict=True):
        assert cells[group_of_vote == group].tolist() == given[item]
