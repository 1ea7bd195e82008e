"""Tables of class measures: beside what chance gives, on labels with holes, and F1 of clusters."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from sklearn.metrics.cluster import pair_confusion_matrix

from lookalike.core.errors import Refused
from lookalike.metrics.class_tables import (
    CLUSTERS,
    RETRIEVAL,
    class_chance,
    known_labels,
    score_classes,
)
from lookalike.metrics.classes import class_retrieval, pair_f1


@pytest.mark.parametrize("labels", ["aaabbc", "aabb", "aaaaab", "ab", "aabbccd"])
def test_chance_is_the_mean_over_every_order(labels):
    y = np.array(list(labels))
    expected: dict[str, list[float]] = {}
    for query in range(y.size):
        others = np.delete(y, query) == y[query]
        if not others.any():
            continue
        n_relevant = int(others.sum())
        for order in set(permutations(others.tolist())):
            hits = np.array(order)
            precision = np.cumsum(hits) / np.arange(1, hits.size + 1) * hits
            values = {
                "P@1": hits[0],
                "R-Prec": hits[:n_relevant].mean(),
                "MAP@R": precision[:n_relevant].sum() / n_relevant,
                "MAP": precision.sum() / n_relevant,
                **{f"Success@{k}": hits[:k].any() for k in (2, 4, 8)},
            }
            weight = len(set(permutations(others.tolist())))
            for name, value in values.items():
                expected.setdefault(name, []).append(float(value) / weight)
    n_queries = sum(list(labels).count(label) > 1 for label in labels)
    found = class_chance(y)
    if not n_queries:
        assert np.isnan(list(found.values())).all()
    for name, parts in expected.items():
        assert found[name] == pytest.approx(sum(parts) / n_queries, abs=1e-12), name


def test_vectors_of_chance_score_what_chance_is_said_to():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 5, 300)
    found = class_retrieval(rng.normal(size=(300, 40)), y).means()
    for name, value in class_chance(y).items():
        assert found[name][0] == pytest.approx(value, abs=0.04), name


@pytest.mark.parametrize("seed", range(5))
def test_f1_of_clusters_is_that_of_their_pairs(seed):
    rng = np.random.default_rng(seed)
    y, clusters = rng.integers(0, 6, 50), rng.integers(0, 9, 50)
    (_, wrong), (missed, right) = pair_confusion_matrix(y, clusters)
    assert pair_f1(y, clusters) == pytest.approx(2 * right / (2 * right + wrong + missed))
    assert pair_f1(y, y) == 1
    assert np.isnan(pair_f1(range(50), range(50)))


def test_images_without_a_value_are_as_if_they_were_not_there():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(40, 5))
    labels = np.array(list("abca" * 10))
    labels[::3] = ""
    known = labels != ""
    found = score_classes(vectors, labels.tolist(), column="x")
    assert found == score_classes(vectors[known], labels[known].tolist(), column="x")
    assert (found.n_images, found.n_classes) == (int(known.sum()), 3)
    assert set(found.clusters) == set(CLUSTERS)
    assert set(RETRIEVAL) <= set(found.measures)


def test_lengths_count_in_euclidean_distances_alone():
    vectors = np.array([[1.0, 0.1], [9, 1], [1, 0], [9, 0]])
    labels = ["a", "a", "b", "b"]
    for is_cosine, expected in ((True, 1.0), (False, 0.0)):
        found = score_classes(vectors, labels, is_cosine=is_cosine, n_starts=0)
        assert found.measures["P@1"].value == expected
    assert found.clusters == {}


@pytest.mark.parametrize(
    ("labels", "reason"),
    [(["a", "a", ""], "fewer than two values"), (["a", "b", "c"], "no value of two images"),
     (["", "", ""], "fewer than two values")],
)  # fmt: skip
def test_a_column_that_divides_nothing_is_refused(labels, reason):
    with pytest.raises(Refused, match=reason):
        score_classes(np.eye(3), labels, column="x")


def test_columns_that_tell_nothing_are_left_out():
    rows = [{"a": "1", "b": "x", "c": "u"}, {"a": "2", "b": "x"}, {"a": "2", "c": ""}]
    assert known_labels(rows) == {"a": ["1", "2", "2"]}
