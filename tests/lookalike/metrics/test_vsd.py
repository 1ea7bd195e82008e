"""The official meaning of the VSD benchmark's HR and MRR."""

import numpy as np
import pytest

from lookalike.io.tables import Qrels, Run
from lookalike.metrics import retrieval
from lookalike.metrics.match import match_run, pair_scores
from lookalike.metrics.rank import rank_run
from lookalike.metrics.vsd import vsd_hit_rate, vsd_pair_reciprocal_rank, vsd_reciprocal_rank
from lookalike.stats.roc_auc import auc_and_ap, micro_auc_and_ap
from tests.lookalike.metrics.cases import g2, toy


def lists(case, one_per_product=True):
    qrels, run, products = case
    return rank_run(match_run(qrels, run, products=products), one_per_product=one_per_product)


G2_ROWS = """
k  hr   mrr      success first    recall
1  .5   .5       .5      .5       .25
2  .25  .333333  .5      .5       .25
3  .5   .454545  1       .666667  .75
"""


@pytest.mark.parametrize("row", G2_ROWS.strip().splitlines()[1:])
def test_the_golden_case_with_siblings(row):
    k, hr, mrr, success, first, recall = (int(row[0]), *map(float, row[1:].split()))
    ranks = lists(g2())
    assert np.nanmean(vsd_hit_rate(ranks, k)) == pytest.approx(hr, abs=1e-6)
    assert np.nanmean(vsd_reciprocal_rank(ranks, k)) == pytest.approx(mrr, abs=1e-6)
    assert np.nanmean(retrieval.success(ranks, k)) == pytest.approx(success, abs=1e-6)
    assert np.nanmean(retrieval.reciprocal_rank(ranks, k)) == pytest.approx(first, abs=1e-6)
    assert np.nanmean(retrieval.recall(ranks, k)) == pytest.approx(recall, abs=1e-6)
    whole = lists(g2(), one_per_product=False)
    assert np.nanmean(vsd_hit_rate(whole, k)) == pytest.approx(0.5)
    assert np.nanmean(vsd_reciprocal_rank(whole, k)) == pytest.approx(0.5)


def test_the_golden_case_over_annotated_pairs():
    qrels, run, products = g2()
    scores = pair_scores(match_run(qrels, run, products=products))
    micro = micro_auc_and_ap([scores], qrels.labels)
    assert micro.auc[0, 0, 0] == pytest.approx(0.5625)
    assert micro.average_precision[0, 0, 0] == pytest.approx(0.816667, abs=1e-6)


@pytest.mark.parametrize(
    ("k", "hr", "mrr"),
    [
        (1, 0.333333, 0.333333),
        (2, 0.333333, 0.333333),
        (3, 0.444444, 0.393939),
        (5, 0.266667, 0.316302),
    ],
)
def test_the_toy_of_the_protocol(k, hr, mrr):
    ranks = lists(toy())
    assert np.nanmean(vsd_hit_rate(ranks, k)) == pytest.approx(hr, abs=1e-6)
    assert np.nanmean(vsd_reciprocal_rank(ranks, k)) == pytest.approx(mrr, abs=1e-6)


def test_the_toy_s_mean_over_pairs_and_areas():
    qrels, run, products = toy()
    assert vsd_pair_reciprocal_rank(lists(toy())) == pytest.approx(0.433333, abs=1e-6)
    scores = pair_scores(match_run(qrels, run, products=products))
    micro = micro_auc_and_ap([scores], qrels.labels)
    assert micro.auc[0, 0, 0] == pytest.approx(0.675)
    assert micro.average_precision[0, 0, 0] == pytest.approx(0.668333, abs=1e-6)
    macro = auc_and_ap([scores], qrels.labels, qrels.queries, 3)
    assert macro.auc[0, 0].tolist() == pytest.approx([0.5, 0.5, 1])
    assert macro.average_precision[0, 0] == pytest.approx([0.833333, 0.583333, 1], abs=1e-6)


def test_a_positive_that_a_sibling_precedes_is_never_found():
    qrels = Qrels.of([("q", "worse", 1)])
    run = Run.of("r", [("q", "better", 2), ("q", "worse", 1)])
    products = {"q": "", "better": "P", "worse": "P"}
    assert vsd_hit_rate(lists((qrels, run, products)), 9).tolist() == [0]


def test_a_query_whose_only_positive_is_its_own_product_still_counts():
    qrels = Qrels.of([("q", "sibling", 1), ("p", "a", 1)])
    run = Run.of("r", [("q", "sibling", 2), ("p", "a", 1)])
    products = {"q": "Q", "sibling": "Q", "p": "", "a": ""}
    ranks = lists((qrels, run, products))
    assert dict(zip(["p", "q"], vsd_hit_rate(ranks, 1).tolist(), strict=True)) == {"p": 1, "q": 0}


def test_no_positive_at_all_is_undefined():
    qrels, run = Qrels.of([("q", "a", 0)]), Run.of("r", [("q", "a", 1)])
    ranks = rank_run(match_run(qrels, run), one_per_product=True)
    assert np.isnan(vsd_hit_rate(ranks, 1)).all()
    assert np.isnan(vsd_reciprocal_rank(ranks, 1)).all()
    assert np.isnan(vsd_pair_reciprocal_rank(ranks))


def by_the_official_steps(qrels, run, products, k):
    """Walk each ranking as the official code does, one item at a time."""
    positives = {q: {c for c, y in row.items() if y} for q, row in qrels.by_query().items()}
    hits = reciprocal = 0.0
    for query, row in run.by_query().items():
        seen, kept = {products[query]}, []
        for image in sorted(row, key=lambda c: (-row[c], c)):
            if products[image] not in seen:
                seen.add(products[image])
                kept.append(image)
        for rank, image in enumerate(kept[:k], 1):
            if image in positives.get(query, ()):
                hits += 1
                reciprocal += 1 / rank
    n_seeds = sum(bool(found) for found in positives.values())
    harmonic = sum(1 / i for i in range(1, k + 1))
    return hits / (k * n_seeds), reciprocal / (n_seeds * harmonic)


@pytest.mark.parametrize("seed", range(5))
def test_random_cases_equal_the_official_steps(seed):
    rng = np.random.default_rng(seed)
    images = [f"i{i:02d}" for i in range(30)]
    products = {image: f"p{rng.integers(12)}" for image in images}
    pairs = [(q, c) for q in images[:12] for c in images]
    labels = [(q, c, int(rng.random() < 0.5)) for q, c in pairs if rng.random() < 0.3]
    run = Run.of("r", [(q, c, float(rng.integers(15))) for q, c in pairs])
    qrels = Qrels.of(labels)
    ranks = rank_run(match_run(qrels, run, products=products), one_per_product=True)
    for k in (1, 3, 5, 9):
        ours = (
            np.nanmean(vsd_hit_rate(ranks, k)),
            np.nanmean(vsd_reciprocal_rank(ranks, k)),
        )
        assert ours == pytest.approx(by_the_official_steps(qrels, run, products, k))
