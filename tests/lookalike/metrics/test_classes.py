"""Class-labelled embeddings: goldens, pytorch-metric-learning as oracle, lone labels, ties."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

from lookalike.metrics import classes
from lookalike.metrics.classes import class_retrieval, cluster_agreement

LINE = [[0.0], [0.1], [0.25], [0.45], [0.7], [1.5]]
LABELS = [0, 1, 0, 0, 1, 2]


def test_the_golden_points_on_a_line():
    found = class_retrieval(LINE, LABELS)
    assert_allclose(found.map_at_r, [0.25, 0, 0.25, 0.5, 0, np.nan])
    means = found.means()
    golden = {"MAP@R": 0.2, "P@1": 0.2, "R-Prec": 0.3, "MAP": 0.5, "MRR": 0.516667}
    for name, value in golden.items():
        assert means[name] == pytest.approx((value, 5), abs=1e-6)
    expected = [0.388889, 0.125, 0.388889, 0.5, 0.166667, 0]
    assert_allclose(found.lg_average_precision, expected, atol=1e-6)
    assert means["lg_map@1000"] == pytest.approx((0.261574, 6), abs=1e-6)


def test_the_golden_unit_vectors():
    circle = [(1, 0), (0.96, 0.28), (0.8, 0.6), (0.6, 0.8), (0.28, 0.96), (0, 1)]
    # Two distances are equal but for the rounding to float32: a tie, ordered by index.
    means = class_retrieval(np.array(circle, dtype=np.float32), LABELS).means()
    expected = {"MAP": 0.523333, "MAP@R": 0.25, "MRR": 0.6, "P@1": 0.4, "R-Prec": 0.3}
    for name, value in expected.items():
        assert means[name] == pytest.approx((value, 5), abs=1e-6)


def test_a_perfect_ranking_reaches_one_only_once_corrected():
    found = class_retrieval([[0.0], [0.1], [0.2], [9.0], [9.1]], ["a", "a", "a", "b", "b"])
    assert_allclose(found.lg_average_precision, [2 / 3] * 3 + [1 / 2] * 2)
    assert_allclose(found.lg_average_precision_corrected, 1)
    assert_allclose(found.average_precision, 1)


def test_the_lg_list_ends_at_its_depth(monkeypatch):
    monkeypatch.setattr(classes, "LG_DEPTH", 2)
    found = class_retrieval([[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 0])
    assert found.lg_average_precision[0] == 0
    assert found.average_precision[0] == pytest.approx(1 / 3)


def test_a_lone_image_is_undefined_but_lowers_lg_map():
    found = class_retrieval([[0.0], [1.0], [2.0]], [0, 0, 1])
    assert np.isnan(found.average_precision[2])
    assert np.isnan(found.lg_average_precision_corrected[2])
    assert found.lg_average_precision[2] == 0
    assert class_retrieval([[0.0], [1.0]], [0, 1]).means()["MAP"][1] == 0
    assert class_retrieval([[0.0]], [0]).means()["lg_map@1000"] == (0.0, 1)


def test_identical_images_are_ordered_by_index_in_every_block_size(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 300)).astype(np.float32)[rng.integers(0, 12, 90)]
    y = rng.integers(0, 4, 90)
    whole = class_retrieval(X, y)
    monkeypatch.setattr(classes, "_BLOCK_VALUES", 7 * 90)
    assert_allclose(class_retrieval(X, y).average_precision, whole.average_precision, rtol=0)
    distance = ((X[:, None].astype(float) - X[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    order = np.argsort(distance, axis=1, kind="stable")[:, :-1]
    hits = y[order] == y[:, None]
    precision = np.cumsum(hits, axis=1) / np.arange(1, 90)
    assert_allclose(whole.average_precision, (precision * hits).sum(axis=1) / hits.sum(axis=1))


@pytest.mark.parametrize("seed", range(3))
def test_random_embeddings_equal_pytorch_metric_learning(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 12, 150)
    y[0] = 99  # a lone label
    X = rng.normal(size=(150, 16)).astype(np.float32) + 0.5 * rng.normal(size=(100, 16))[y]
    X = X.astype(np.float32)
    names = {
        "mean_average_precision": "MAP",
        "mean_average_precision_at_r": "MAP@R",
        "mean_reciprocal_rank": "MRR",
        "precision_at_1": "P@1",
        "r_precision": "R-Prec",
    }
    oracle = AccuracyCalculator(include=tuple(names), k=None, device=torch.device("cpu"))
    expected = oracle.get_accuracy(torch.from_numpy(X), torch.from_numpy(y))
    means = class_retrieval(X, y).means()
    for theirs, ours in names.items():
        assert means[ours] == pytest.approx((expected[theirs], 149), abs=1e-6)


def test_images_of_an_own_group_are_no_neighbours_as_if_each_query_were_asked_without_them():
    rng = np.random.default_rng(3)
    X, y, g = rng.normal(size=(60, 4)), rng.integers(0, 5, 60), rng.integers(0, 20, 60)
    found = class_retrieval(X, y, groups=g)
    for row in range(60):
        others = np.concatenate([[row], np.flatnonzero(g != g[row])])
        alone = class_retrieval(X[others], y[others])
        assert found.n_relevant[row] == alone.n_relevant[0]
        for name in ("precision_at_1", "map_at_r", "r_precision", "average_precision"):
            assert_allclose(getattr(found, name)[row], getattr(alone, name)[0], equal_nan=True)
    none = class_retrieval(X, y, groups=np.zeros(60))
    assert none.means()["P@1"][1] == 0, "nothing is of another group"
    assert class_retrieval(X, y, groups=range(60)).means() == class_retrieval(X, y).means()
    with pytest.raises(ValueError, match="differ in length"):
        class_retrieval(X, y, groups=[1])


def test_large_labels_do_not_collide():
    found = class_retrieval([[0.0], [0.1], [0.2]], [2**24, 2**24 + 1, 2**24])
    assert found.precision_at_1.tolist()[0] == 0


def test_clusters_are_compared_with_classes_for_each_start():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 4)) + 8 * np.eye(4)[y]
    found = cluster_agreement(X, y, seed=0, n_starts=4)
    assert found.nmi.shape == found.ami.shape == (4,)
    assert found.nmi.max() == pytest.approx(1)
    again = cluster_agreement(X, y, seed=0, n_starts=4)
    assert again.nmi.tolist() == found.nmi.tolist()
    more = cluster_agreement(X, y, seed=0, n_starts=1, n_clusters=6)
    assert more.nmi[0] < 1


def test_the_golden_agreement_of_two_clusterings():
    a, b = [0, 0, 1, 1, 2, 2], [0, 0, 1, 2, 2, 2]
    assert normalized_mutual_info_score(a, b) == pytest.approx(0.739667, abs=1e-6)
    assert adjusted_mutual_info_score(a, b) == pytest.approx(0.502361, abs=1e-6)
    points = np.array([[0.0], [0.0], [5.0], [9.0], [9.0], [9.0]])
    found = cluster_agreement(points, a, seed=1, n_starts=3)
    assert found.nmi.max() == pytest.approx(0.739667, abs=1e-6)
    assert found.ami.max() == pytest.approx(0.502361, abs=1e-6)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [np.nan]], [0, 1], "NaN"),
        ([[0.0], [1.0]], [0], "are not"),
        ([0.0, 1.0], [0, 1], "are not"),
        (np.zeros((0, 3)), [], "are not"),
    ],
)
def test_bad_embeddings_are_refused(X, y, message):
    with pytest.raises(ValueError, match=message):
        class_retrieval(X, y)
