"""The identity benchmark: its measures by hand, and its claim on real photos."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.identity import LUMA, by_cosine, by_l1, identity_scores, measure, read_photos


def test_its_measures_agree_with_a_case_worked_by_hand() -> None:
    products = np.array([0, 0, 1, 1, 1, 2])
    ranking = np.array(
        [
            [2, 1, 3, 4, 5],  # the other photo at rank 2: AP 1/2
            [0, 2, 3, 4, 5],  # at rank 1: AP 1
            [3, 0, 1, 4, 5],  # ranks 1 and 4: AP (1 + 2/4) / 2
            [4, 2, 0, 1, 5],  # ranks 1 and 2: AP 1
            [0, 1, 5, 2, 3],  # ranks 4 and 5: AP (1/4 + 2/5) / 2
            [0, 1, 2, 3, 4],  # no other photo of its product: no query
        ]
    )
    recall, average, n_queries = identity_scores(ranking, products)
    assert recall == pytest.approx(3 / 5)
    assert average == pytest.approx((0.5 + 1 + 0.75 + 1 + 0.325) / 5)
    assert n_queries == 5


def test_it_ranks_all_other_photos_by_cosine_or_by_l1() -> None:
    angles = np.array([0.0, 0.3, 1.5, 0.1])
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert by_cosine(vectors).tolist() == [[3, 1, 2], [3, 0, 2], [1, 3, 0], [0, 1, 2]]
    histograms = np.array([[1, 0], [0.5, 0.5], [0, 1], [0.7, 0.3]])
    assert by_l1(histograms).tolist() == [[3, 1, 2], [3, 0, 2], [1, 3, 0], [1, 0, 2]]


@pytest.mark.daily
@pytest.mark.skipif(not LUMA.exists(), reason=f"the photos of {LUMA} are not here")
def test_imagenet_weights_find_products_better_than_a_colour_histogram() -> None:
    paths, products = read_photos(LUMA, LUMA / "metadata.csv")
    lite0, histogram = (
        measure(spec, paths, products)
        for spec in ("timm:tf_efficientnet_lite0", "descriptor:colour-histogram")
    )
    assert lite0.recall_at_1 > histogram.recall_at_1
    assert lite0.mean_average_precision > histogram.mean_average_precision
    assert (lite0.recall_at_1, lite0.mean_average_precision) == pytest.approx(
        (0.613, 0.417), abs=0.004
    )
