"""Shallower pools, fewer annotators, attributes, order: goldens, loops, degenerate inputs."""

import dataclasses
from itertools import combinations

import krippendorff
import numpy as np
import pytest

from lookalike.bias.attributes import attribute_bias
from lookalike.bias.depth import depth_ablation
from lookalike.bias.evidence.pool import Attribute, Votes
from lookalike.bias.order import order_kept
from lookalike.bias.panels import krippendorff_alpha, panel_ablation, panel_labels, panels
from lookalike.bias.subsets import kept_at_depth, kept_without
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.roc_auc import auc_and_ap
from tests.lookalike.bias.cases import g5, random_pool, rich_pool

G8 = ["111", "110", "100", "111", "000", "111", "101", "111", "111", "011"]
G8_MISSING = [(1, 2), (2, 2), (4, 0), (7, 1), (7, 2)]


def votes_from(rows, missing=()):
    answers = np.array([[c == "1" for c in row] for row in rows])
    is_given = np.ones(answers.shape, dtype=bool)
    for place in missing:
        is_given[place] = False
    return Votes(tuple("abc"[: answers.shape[1]]), answers, is_given)


def resampling(n_queries):
    return Resampling.of(n_queries, n_bootstraps=30, rng=np.random.default_rng(0))


def test_golden_votes_have_their_majority_and_alpha():
    votes = votes_from(G8)
    found = panel_labels(votes, (0, 1, 2))
    assert "".join("01"[int(x)] for x in found.labels) == "1101011111"
    assert not found.is_tie.any()
    assert krippendorff_alpha(votes.answers, votes.is_given) == pytest.approx(0.340909, abs=1e-6)


def test_missing_votes_change_alpha_and_a_tie_is_negative():
    votes = votes_from(G8, G8_MISSING)
    assert krippendorff_alpha(votes.answers, votes.is_given) == pytest.approx(0.273684, abs=1e-6)
    found = panel_labels(votes, (0, 1, 2))
    assert not found.labels[2]
    assert found.is_tie[2]


def test_alpha_falls_below_zero_where_agreement_is_high_but_one_sided():
    votes = votes_from(["11"] * 90 + ["10"] * 5 + ["01"] * 5)
    assert krippendorff_alpha(votes.answers, votes.is_given) == pytest.approx(-0.047368, abs=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_alpha_equals_the_krippendorff_package(seed):
    rng = np.random.default_rng(seed)
    answers, is_given = rng.random((30, 4)) < 0.7, rng.random((30, 4)) < 0.8
    data = np.where(is_given, answers.astype(float), np.nan).T
    oracle = krippendorff.alpha(data, level_of_measurement="nominal")
    assert krippendorff_alpha(answers, is_given) == pytest.approx(oracle, abs=1e-12)


def test_alpha_is_undefined_without_a_second_opinion_or_a_second_value():
    assert np.isnan(krippendorff_alpha(np.ones((4, 1), bool), np.ones((4, 1), bool)))
    assert np.isnan(krippendorff_alpha(np.ones((4, 2), bool), np.ones((4, 2), bool)))


def test_all_sub_panels_are_tried_and_many_annotators_are_sampled_by_seed():
    found, is_complete = panels(3, np.random.default_rng(0))
    assert found == [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    assert is_complete
    some, is_complete = panels(12, np.random.default_rng(0))
    assert not is_complete
    assert some == panels(12, np.random.default_rng(0))[0]
    assert some[-1] == tuple(range(12))
    assert len(set(some)) == len(some)
    assert {len(p) for p in some} == set(range(1, 13))


def test_panel_rows_equal_a_loop_that_relabels_the_pool():
    pool = rich_pool(2)
    votes = pool.votes
    found = panel_ablation(pool, votes, np.random.default_rng(0))
    assert [r.annotators for r in found.rows] == [
        *((a,) for a in votes.annotators),
        *combinations(votes.annotators, 2),
        votes.annotators,
    ]
    whole = panel_labels(votes, (0, 1, 2))
    for row in found.rows:
        members = tuple(votes.annotators.index(a) for a in row.annotators)
        mine = panel_labels(votes, members)
        k = mine.is_labelled
        auc = auc_and_ap(pool.scores[:, k], mine.labels[k], pool.queries[k], 25).auc[:, 0]
        k = whole.is_labelled
        reference = auc_and_ap(pool.scores[:, k], whole.labels[k], pool.queries[k], 25).auc[:, 0]
        common = ~np.isnan(auc[0]) & ~np.isnan(reference[0])
        assert row.n_queries == common.sum()
        assert row.macro_auc == pytest.approx(auc[:, common].mean(axis=1))
        assert row.n_labelled == mine.is_labelled.sum()
        assert row.is_even == (len(members) == 2)
        flips = (mine.labels != whole.labels)[mine.is_labelled]
        assert row.flip_rate == pytest.approx(flips.mean())
    last = found.rows[-1]
    assert (last.flip_rate, last.tau_b, last.max_drop) == (0, 1, 0)
    even = [r.n_positive / r.n_labelled for r in found.rows if r.is_even]
    odd = [r.n_positive / r.n_labelled for r in found.rows if not r.is_even]
    assert max(even) < min(odd), "ties pull even panels to no"


def test_pools_grow_with_depth_and_the_deepest_is_the_pool_itself():
    pool = random_pool(3)
    rows = depth_ablation(pool, (2,), resampling(25))
    assert [r.depth for r in rows] == [1, 2, 3, 4]
    assert rows[-1].n_pairs == pool.n_pairs
    macro = next(a for a in rows[-1].agreement if a.measure == "macro_auc")
    assert (macro.spearman.value, macro.tau_ap.value, macro.max_drop.value) == (1, 1, 0)


def test_each_depth_equals_the_pool_cut_by_hand():
    pool = random_pool(3)
    rows = depth_ablation(pool, (2,), resampling(25))
    for row in rows[1:]:
        kept = kept_at_depth(pool.ranks, row.depth)
        assert (row.n_pairs, row.n_positive) == (kept.sum(), pool.labels[kept].sum())
        cut = auc_and_ap(pool.scores[:, kept], pool.labels[kept], pool.queries[kept], 25).auc[:, 0]
        assert row.means["macro_auc"] == pytest.approx(np.nanmean(cut, axis=1))
        proposed = ((pool.ranks > 0) & (pool.ranks <= row.depth)).T[kept]
        for g, name in enumerate(pool.generators):
            left = kept_without(proposed, g)
            part = auc_and_ap(
                pool.scores[:, kept][:, left], pool.labels[kept][left], pool.queries[kept][left], 25
            ).auc[g, 0]
            assert row.self_deltas[name] == pytest.approx(np.nanmean(part - cut[g]))


def test_a_depth_that_defines_nothing_is_undefined_not_zero():
    pool = dataclasses.replace(g5(), labels=np.ones(10))
    row = depth_ablation(pool, (2,), resampling(2))[0]
    assert np.isnan(row.means["macro_auc"]).all()
    assert np.isnan(row.self_deltas["A"])


def test_attributes_compare_positives_with_the_catalogue():
    pool = g5()
    colours = Attribute(
        "colour",
        query_values=np.array(["red", "blue"]),
        candidate_values=np.array(
            ["red", "red", "blue", "blue", "", "blue", "blue", "blue", "red", "red"]
        ),
        catalogue_counts={"red": 6, "blue": 2},
        deep_counts={"red": 3, "blue": 1},
    )
    found = attribute_bias(pool, colours, 0.95)
    # pooled pairs: q1 a+ b+ c- d+ f-, q2 b- c+ d- e+ f+
    assert [(v.value, v.n_positive) for v in found.values] == [("blue", 2), ("red", 4)][::-1]
    red = found.values[0]
    assert red.pooled == pytest.approx(4 / 6)
    assert red.catalogue == red.deep == 0.75
    assert red.ratio == pytest.approx(4 / 6 / 0.75)
    assert np.isnan(red.interval.low), "two queries"
    assert found.same_as_query_positive == pytest.approx(3 / 6)
    assert found.same_as_query_negative == pytest.approx(2 / 3)
    assert found.same_as_query_catalogue == pytest.approx((3 * 0.75 + 3 * 0.25) / 6)
    assert found.n_known == 9


def test_an_attribute_nobody_counted_is_undefined_in_the_catalogue():
    pool = g5()
    nothing = Attribute("x", np.array(["", ""]), np.full(10, ""), {})
    found = attribute_bias(pool, nothing, 0.95)
    assert found.values == ()
    assert np.isnan(found.same_as_query_positive)
    assert np.isnan(found.same_as_query_catalogue)


def test_order_is_kept_always_when_clear_and_half_the_time_when_tied():
    rng = np.random.default_rng(0)
    clear = rng.random(40)
    values = np.stack([clear, clear + 1, clear + 1])
    found = order_kept(("a", "b", "c"), values, resampling(40))
    assert [(n.better, n.worse) for n in found] == [("b", "c"), ("c", "a")]
    assert [n.kept for n in found] == [0.5, 1]
    assert found[1].difference == pytest.approx(1)
    nothing = order_kept(("a", "b"), np.full((2, 40), np.nan), resampling(40))
    assert np.isnan(nothing[0].kept)
