"""Overlap, uniques, ceilings, Chao: golden case G5 and properties."""

import dataclasses

import numpy as np
import pytest

from lookalike.bias.discovery import best_ranks, discovery, unseen_positives
from lookalike.bias.overlap import (
    forced_loss_ceiling,
    generator_rows,
    overlap,
    pool_summary,
)
from lookalike.stats.roc_auc import auc_and_ap
from tests.lookalike.bias.cases import g5, random_pool, rich_pool, some


def test_golden_pool_is_counted_as_by_hand():
    found = pool_summary(g5())
    assert (found.n_pairs, found.n_judged, found.n_positive, found.depth) == (10, 10, 6, 2)
    assert found.positive_share == pytest.approx(0.6)
    assert found.duplication == pytest.approx(0.166667, abs=1e-6)
    assert found.saving == pytest.approx(1.6)
    assert found.saving_bound == pytest.approx(16 / 12)
    assert found.pairs_per_query == 5
    assert found.positive_share_bound == pytest.approx(6 / 16)


def test_the_papers_saving_is_a_bound_and_the_exact_one_is_larger():
    pool = dataclasses.replace(g5(), n_catalogue_pairs=None)
    found = pool_summary(pool)
    assert found.saving is found.saving_bound is found.positive_share_bound is None


def test_golden_overlap_is_half_for_a_and_b_and_nothing_for_c():
    found = overlap(g5())
    assert found.generators == ("A", "B", "C")
    assert found.share == [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]
    assert found.jaccard[0] == pytest.approx([1, 1 / 3, 0])
    assert found.mean_share == pytest.approx(1 / 6)


def test_golden_generators_bring_what_was_counted_by_hand():
    rows = {row.name: row for row in generator_rows(g5())}
    assert (rows["A"].n_proposed, rows["A"].n_positive) == (4, 3)
    assert (rows["A"].n_unique, rows["A"].n_unique_positive) == (2, 1)
    assert rows["A"].unique_yield == 0.5
    assert (rows["B"].n_unique, rows["B"].n_unique_positive) == (2, 1)
    assert (rows["C"].n_unique, rows["C"].n_unique_positive) == (4, 2)
    assert rows["C"].precision == 0.5


def test_pairs_without_a_label_count_for_size_but_not_for_yield():
    pool = rich_pool()
    with_them, without = generator_rows(pool)[0], generator_rows(random_pool(0))[0]
    assert with_them.n_proposed == without.n_proposed + 1
    assert with_them.n_unique == without.n_unique + 1
    assert with_them.n_judged == without.n_judged
    assert with_them.unique_yield == without.unique_yield
    assert pool_summary(pool).n_pairs == pool.n_pairs + 2


def test_ceiling_of_the_worked_example():
    labels = np.r_[np.ones(15), np.zeros(17)]
    mine = np.zeros(32, dtype=np.int64)
    mine[0], mine[15:20] = 1, 1
    ceiling = forced_loss_ceiling(mine, labels, np.zeros(32, dtype=int), 2)
    assert ceiling == pytest.approx([0.725490, np.nan], abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("seed", range(5))
def test_no_generator_passes_the_ceiling_of_its_own_proposals(seed):
    rng = np.random.default_rng(seed)
    pool = random_pool(seed)
    untied = dataclasses.replace(pool, scores=pool.scores + rng.random(pool.scores.shape) * 1e-6)
    auc = auc_and_ap(untied.scores, untied.labels, untied.queries, 25).auc[:, 0]
    reached = 0
    for g in range(3):
        ceiling = forced_loss_ceiling(pool.ranks[g], pool.labels, pool.queries, 25)
        defined = ~np.isnan(ceiling)
        assert (defined == ~np.isnan(auc[g])).all()
        # ties at the edge of the top-k were cut by position: allow a tied pair's half
        assert (auc[g][defined] <= ceiling[defined] + 0.1).all()
        reached += (auc[g][defined] > ceiling[defined] - 0.1).sum()
    assert reached > 0, "a bound that is never near says nothing"


def test_chao_of_the_golden_pool_is_four_and_two_when_corrected():
    found = discovery(g5()).next_model
    assert (found.n_seen, found.n_once, found.n_twice) == (6, 4, 2)
    assert (found.unseen, found.unseen_corrected) == (4, 2)
    assert found.unseen_few_models == pytest.approx(4 / 3)
    assert found.coverage == pytest.approx(1 - 4 / 8)


def test_chao_without_doubles_is_undefined_but_its_corrected_form_is_not():
    found = unseen_positives([1, 1, 1], 3)
    assert np.isnan(found.unseen)
    assert found.unseen_corrected == 3
    nothing = unseen_positives([], 3)
    assert (nothing.n_seen, nothing.unseen_corrected) == (0, 0)
    assert np.isnan(nothing.coverage)


def test_chao_of_few_independent_models_needs_the_incidence_form():
    rng = np.random.default_rng(0)
    finders = (rng.random((4, 20_000)) < 0.3).sum(axis=0)
    missed = (finders == 0).sum()
    found = unseen_positives(finders[finders > 0], 4)
    assert found.unseen_few_models == pytest.approx(missed, rel=0.05)
    assert found.unseen > 1.2 * missed


def test_yield_by_depth_sums_to_the_pool_and_is_extrapolated():
    pool = random_pool(0)
    found = discovery(pool)
    assert [y.depth for y in found.by_depth] == [1, 2, 3, 4]
    assert sum(y.n_new for y in found.by_depth) == pool.n_pairs
    assert sum(y.n_new_positive for y in found.by_depth) == pool.labels.sum()
    assert found.by_depth[0].labels_per_positive == pytest.approx(
        found.by_depth[0].n_new / found.by_depth[0].n_new_positive
    )
    assert some(found.next_depth).depth == 5
    assert some(found.next_depth).n_new_positive < found.by_depth[-1].n_new_positive


def test_extrapolation_follows_a_power_law_exactly():
    ranks = np.concatenate([np.full(n, d) for d, n in ((1, 400), (2, 200), (4, 100))])
    n = ranks.size
    pool = dataclasses.replace(
        g5(),
        n_queries=1,
        queries=np.zeros(n, dtype=int),
        candidates=np.arange(n),
        labels=np.ones(n),
        ranks=np.stack([ranks, ranks, ranks]),
        scores=np.zeros((3, n)),
        lists=None,
    )
    found = discovery(pool)
    assert some(found.next_depth).slope == pytest.approx(-1)
    assert some(found.next_depth).n_new_positive == pytest.approx(400 / 5)
    assert np.isnan(found.by_depth[2].labels_per_positive), "nobody used rank 3"


def test_one_depth_cannot_be_extrapolated_and_no_positive_costs_everything():
    pool = random_pool(0, depth=1)
    assert discovery(pool).next_depth is None
    barren = dataclasses.replace(pool, labels=np.zeros(pool.n_pairs))
    assert discovery(barren).by_depth[0].labels_per_positive == np.inf


def test_best_rank_is_the_least_over_models_and_zero_if_nobody_proposed():
    ranks = np.array([[3, 0, 0], [1, 2, 0]])
    assert best_ranks(ranks).tolist() == [1, 2, 0]
