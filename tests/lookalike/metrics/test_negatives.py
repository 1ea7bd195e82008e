"""Random negatives: never what must not be drawn, the same by the same seed."""

from itertools import pairwise

import numpy as np
import pytest

from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.negatives import draw_band, draw_negatives, draw_uniform, with_negatives


def catalogue(seed=0, n_images=40):
    rng = np.random.default_rng(seed)
    images = [f"i{i:02d}" for i in range(n_images)]
    products = {image: f"p{i // 2}" for i, image in enumerate(images)}
    labels = [
        (q, str(c), int(rng.random() < 0.6))
        for q in images[:8]
        for c in rng.choice([i for i in images if i != q], 6, replace=False)
    ]
    runs = [
        Run.of(name, [(q, c, float(rng.random())) for q in images[:8] for c in images])
        for name in ("beit", "clip")
    ]
    return Qrels.of(labels), runs, products


@pytest.mark.parametrize("band", [None, (3, 20)])
def test_neither_self_nor_own_product_nor_a_judged_image_is_drawn(band):
    qrels, runs, products = catalogue()
    drawn = draw_negatives(qrels, runs, band=band, seed=0, per_positive=3, products=products)
    judged = {(q, c) for q, c, _ in qrels}
    assert drawn.pairs
    for query, candidate in drawn.pairs:
        assert products[query] != products[candidate]
        assert (query, candidate) not in judged
    assert len(set(drawn.pairs)) == len(drawn.pairs)


def test_each_query_gets_as_many_as_it_has_positives():
    qrels, runs, _ = catalogue()
    drawn = draw_negatives(qrels, runs, band=None, seed=0)
    for query, row in qrels.by_query().items():
        assert sum(q == query for q, _ in drawn.pairs) == sum(row.values())
    assert drawn.short == ()


def test_a_query_without_enough_candidates_is_named():
    qrels, runs, _ = catalogue()
    drawn = draw_negatives(qrels, runs, band=(1, 1), seed=0, per_positive=5)
    assert set(drawn.short) == {q for q, row in qrels.by_query().items() if any(row.values())}


def test_the_same_seed_draws_the_same_list_and_another_seed_another():
    qrels, runs, _ = catalogue()
    first, again, other = (draw_negatives(qrels, runs, band=None, seed=seed) for seed in (4, 4, 5))
    assert first.pairs == again.pairs
    assert first.sha256 == again.sha256
    assert first.sha256 != other.sha256
    assert len(first.sha256) == 64


def test_the_source_says_whose_ranks_were_used():
    qrels, runs, _ = catalogue()
    assert draw_negatives(qrels, runs, band=(5, 9), seed=0).source == "ranks 5-9 of beit, clip"
    assert draw_negatives(qrels, runs[:1], band=None, seed=0).source == "uniform over beit"


def test_a_band_holds_exactly_its_ranks_of_every_reference():
    lists = [[np.array([9, 8, 7, 6, 5])], [np.array([0, 1, 2, 3, 4])]]
    rng = np.random.default_rng(0)
    (drawn,) = draw_band([99], lists, (2, 4), [np.array([3, 7])], rng)
    assert drawn.tolist() == [1, 2, 6, 8]


def test_a_band_counts_each_product_once_when_products_are_known():
    qrels = Qrels.of([("q", "z", 1)])
    run = Run.of("r", [("q", c, s) for c, s in zip("abcdz", [5, 4, 3, 2, 1], strict=True)])
    products = {"q": "", "z": "", "a": "P", "b": "P", "c": "", "d": ""}
    drawn = draw_negatives(qrels, [run], band=(2, 2), seed=0, products=products)
    assert drawn.pairs == (("q", "c"),)


def test_uniform_draws_reach_every_free_candidate_equally_often():
    barred = [np.array([0, 3, 3, 7])]
    rng = np.random.default_rng(0)
    counts = np.zeros(10)
    for _ in range(4000):
        (drawn,) = draw_uniform([2], 10, barred, rng)
        assert all(a < b for a, b in pairwise(drawn.tolist()))
        counts[drawn] += 1
    assert counts[[0, 3, 7]].tolist() == [0, 0, 0]
    free = np.delete(counts, [0, 3, 7])
    assert np.abs(free - 8000 / 7).max() < 5 * np.sqrt(8000 / 7)
    (everything,) = draw_uniform([99], 10, barred, rng)
    assert everything.tolist() == [1, 2, 4, 5, 6, 8, 9]


def test_drawn_pairs_that_have_been_judged_since_are_left_out():
    qrels = Qrels.of([("q", "a", 1), ("q", "b", 0), ("p", "a", 0)])
    found = with_negatives(qrels, [("q", "a"), ("q", "b"), ("q", "x")])
    assert list(found) == [("q", "a", 1), ("q", "x", 0)]
    assert found.query_ids == qrels.query_ids


@pytest.mark.parametrize(
    ("negatives", "reason"),
    [([("z", "a")], "query 'z', which has no labels"), ([("q", "a")], "all of them")],
)
def test_useless_lists_are_refused(negatives, reason):
    with pytest.raises(InputError, match=reason):
        with_negatives(Qrels.of([("q", "a", 1)]), negatives)


@pytest.mark.parametrize("band", [(0, 5), (5, 4)])
def test_an_empty_band_is_refused(band):
    qrels, runs, _ = catalogue()
    with pytest.raises(InputError, match="rank band"):
        draw_negatives(qrels, runs, band=band, seed=0)
    with pytest.raises(InputError, match="reference"):
        draw_negatives(qrels, [], band=(1, 2), seed=0)
