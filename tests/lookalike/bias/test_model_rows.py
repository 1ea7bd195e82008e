"""Badges, equal terms, adjustment, advice: golden case G5 and loops as oracles."""

import dataclasses

import numpy as np
import pytest

from lookalike.bias.evidence.pool import RandomNegatives
from lookalike.bias.measurements import measure
from lookalike.bias.model_rows import model_rows
from lookalike.bias.outsiders import (
    adjusted_scores,
    equal_outsider,
    family_matched,
    find_siblings,
    model_badge,
    random_negative_auc,
)
from lookalike.bias.relatives import undeclared_relatives
from lookalike.bias.subsets import kept_without, leave_out_sets
from lookalike.metrics.contamination import corrected_auc
from lookalike.stats.roc_auc import auc_and_ap
from tests.lookalike.bias.cases import g5, pool_from, random_pool, rich_pool, some


def on(pool, ks=(2,)):
    sets = leave_out_sets(pool)
    return pool, sets, measure(pool, sets, ks)


def rows_of(pool, ks=(2,)):
    return {r.name: r for r in model_rows(*on(pool, ks), ks=ks)}


def auc_on(pool, kept):
    weights = kept[None].astype(float)
    return auc_and_ap(pool.scores, pool.labels, pool.queries, pool.n_queries, weights).auc[:, 0]


def test_badges_tell_pooled_models_their_relatives_and_outsiders():
    pool = rich_pool()
    badges = [model_badge(pool, name) for name in pool.models]
    assert badges == ["pooled", "pooled", "pooled", "sibling", "outsider"]
    assert find_siblings(pool, "m1") == ("m2",)
    assert find_siblings(pool, "m3") == ("m1", "m2")
    assert find_siblings(pool, "m4") == ()


def test_golden_models_are_judged_on_labels_they_did_not_make():
    found = equal_outsider(*on(g5()))
    assert found.mean(axis=1) == pytest.approx([0.875, 1, 0.5])


def test_outsiders_average_over_the_pools_of_the_others():
    pool = random_pool(4)
    found = equal_outsider(*on(pool))
    without = np.stack([auc_on(pool, kept_without(pool.contributed, g)) for g in range(3)])
    common = ~np.isnan(without).any(axis=(0, 1))
    assert (~np.isnan(found) == common).all()
    for m in range(3):
        assert found[m, common] == pytest.approx(without[m, m, common])
    for m in (3, 4):
        assert found[m, common] == pytest.approx(without[:, m, common].mean(axis=0))


def test_family_matched_takes_whole_families_out_for_relatives_too():
    pool = dataclasses.replace(random_pool(4), families={"m1": "x", "m2": "x", "m3": "x"})
    found = family_matched(*on(pool))
    without_x = auc_on(pool, kept_without(pool.contributed, 1, 2))
    without_m0 = auc_on(pool, kept_without(pool.contributed, 0))
    common = ~np.isnan(without_x[0]) & ~np.isnan(without_m0[0])
    assert (~np.isnan(found) == common).all()
    assert found[0, common] == pytest.approx(without_m0[0, common])
    for m in (1, 2, 3):
        assert found[m, common] == pytest.approx(without_x[m, common])
    assert found[4, common] == pytest.approx((without_x + without_m0)[4, common] / 2)


def test_without_relatives_the_two_comparisons_are_one():
    pool = random_pool(6)
    np.testing.assert_array_equal(equal_outsider(*on(pool)), family_matched(*on(pool)))


def test_adjustment_adds_what_the_pooled_models_lose_without_themselves():
    pool = dataclasses.replace(g5(), models=("A", "B", "new"))
    found = adjusted_scores(*on(pool))
    assert set(found) == {"new"}
    auc, precision = found["new"]["macro_auc"], found["new"]["p@2"]
    assert auc.added == pytest.approx(-(0.125 + 0.166667) / 2, abs=1e-6)
    assert precision.added == pytest.approx(0.25)
    assert auc.value == pytest.approx(0.5 + auc.added)
    assert precision.raw == pytest.approx(0.5)
    assert not precision.is_clipped


def test_an_adjustment_beyond_one_is_clipped_and_says_so():
    pool = dataclasses.replace(g5(), models=("A", "new", "C"))
    perfect = dataclasses.replace(
        pool,
        scores=np.stack([pool.scores[0], pool.labels, pool.scores[2]]),
        lists=dataclasses.replace(
            pool.lists,
            ranks=np.stack(
                [pool.lists.ranks[0], np.where(pool.labels == 1, 1, 9), pool.lists.ranks[2]]
            ),
        ),
    )
    found = adjusted_scores(*on(perfect))["new"]["p@2"]
    assert found.value == 1
    assert found.is_clipped


def test_nobody_is_adjusted_by_models_that_are_not_evaluated():
    pool = dataclasses.replace(g5(), models=("x", "y", "z"))
    assert adjusted_scores(*on(pool)) == {}


def test_random_negatives_stand_against_pooled_positives_only():
    pool = rich_pool()
    found, negatives = some(random_negative_auc(pool)), some(pool.random_negatives)
    for m, q in [(0, 0), (4, 11)]:
        up = pool.scores[m, (pool.queries == q) & (pool.labels == 1)]
        down = negatives.scores[m, negatives.queries == q]
        if up.size:
            wins = (up[:, None] > down).mean() + (up[:, None] == down).mean() / 2
            assert found[m, q] == pytest.approx(wins)
        else:
            assert np.isnan(found[m, q])
    assert random_negative_auc(g5()) is None


def test_rows_hold_raw_and_corrected_random_negatives():
    rows = rows_of(rich_pool(), ks=(4,))
    row = rows["m4"]
    assert row.random_negative_corrected == pytest.approx(
        corrected_auc(row.random_negative_auc.value, negatives_wrong=0.02)
    )
    unknown = RandomNegatives(np.array([0]), np.zeros((3, 1)))
    assert rows_of(g5(random_negatives=unknown))["A"].random_negative_corrected is None


def test_golden_rows_are_ranked_and_bounded():
    rows = rows_of(g5())
    assert [rows[name].rank for name in "ABC"] == [2, 1, 3]
    assert rows["A"].macro_auc.n_queries == 2
    assert rows["A"].forced_loss_ceiling == pytest.approx(
        np.mean([1 - 0 * 1 / 6, 1 - 1 * (3 - 1) / (3 * 2)])
    )
    cutoff = rows["A"].cutoffs[0]
    assert (cutoff.k, cutoff.precision.value, cutoff.upper) == (2, 0.75, 0.75)
    assert (cutoff.judged, cutoff.hole) == (1, 0)


def test_upper_bound_adds_the_holes_of_the_queries_that_count():
    pool = random_pool(7)
    row = rows_of(pool, ks=(4,))["m4"].cutoffs[0]
    assert row.upper > row.precision.value
    slack = []
    for q in range(pool.n_queries):
        if pool.labels[pool.queries == q].any():
            judged = ((pool.queries == q) & (pool.lists.ranks[4] <= 4)).sum()
            slack.append(1 - judged / 4)
    assert row.upper - row.precision.value == pytest.approx(np.mean(slack))


def test_advice_says_in_words_what_may_be_compared():
    rows = rows_of(rich_pool(), ks=(4,))
    pooled = {a.column: a.comparable_with for a in rows["m0"].advice}
    assert pooled["P@k, Success@k, MRR@k"] == "pooled models"
    assert pooled["annotated AUC and AP"] == "pooled models"
    assert pooled["equal-outsider AUC"] == "models without relatives"
    assert pooled["family-matched AUC"] == "all models"
    assert pooled["AUC on random negatives"] == "all models"
    sibling = {a.column: a.comparable_with for a in rows["m3"].advice}
    assert sibling["annotated AUC and AP"] == sibling["equal-outsider AUC"] == "nobody"
    assert sibling["family-matched AUC"] == "all models"
    outsider = {a.column: a for a in rows["m4"].advice}
    assert outsider["annotated AUC and AP"].comparable_with == "outsiders"
    assert outsider["P@k, Success@k, MRR@k"].comparable_with == "nobody"
    assert "are judged" in outsider["P@k, Success@k, MRR@k"].reason
    assert "keep its annotated macro AUC at or below" in " ".join(rows["m0"].notes)
    assert "m2 of the same family stays" in " ".join(rows["m1"].notes)
    assert "m1, m2" in " ".join(rows["m3"].notes)
    assert "lies anywhere between" in " ".join(rows["m4"].notes)


def test_no_cut_off_below_the_pools_depth_is_called_fair():
    advice = rows_of(random_pool(0), ks=(2, 4, 5))["m0"].advice[0]
    assert advice.comparable_with == "pooled models"
    assert advice.reason.startswith("up to k = 4; below the pool's depth of 4")
    beyond = rows_of(random_pool(0), ks=(5,))["m0"].advice[0]
    assert beyond.comparable_with == "nobody"


def test_undeclared_twins_are_never_called_fair_among_all():
    rng = np.random.default_rng(0)
    latent = rng.normal(size=(25, 40))
    scores = latent + rng.normal(size=(5, 25, 40))
    scores[1] = scores[0]
    twins = pool_from(scores, latent > 0.6, 3, 4)
    assert undeclared_relatives(twins) == [("m0", "m1", 1.0)]
    assert undeclared_relatives(random_pool(0)) == []
    for row in rows_of(twins).values():
        columns = {a.column: a.comparable_with for a in row.advice}
        assert columns["equal-outsider AUC"] != "all models"
        if row.name in ("m0", "m1"):
            assert columns["equal-outsider AUC"] == columns["family-matched AUC"] == "nobody"
    declared = dataclasses.replace(twins, families={"m0": "x", "m1": "x"})
    assert undeclared_relatives(declared) == []


def test_an_outsider_that_is_a_pooled_models_copy_is_found_by_its_list():
    pool = random_pool(0)
    ranks = pool.lists.ranks.copy()
    ranks[4] = ranks[1]
    copied = dataclasses.replace(pool, lists=dataclasses.replace(pool.lists, ranks=ranks))
    assert undeclared_relatives(copied) == [("m1", "m4", 1.0)]


def perceiving(share: float, n_models: int = 6, seed: int = 3):
    """Return a pool of models of which m1 and the outsider m5 have a share of their errors common.

    All of them see the same pictures through errors of their own.
    """
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(40, 40))
    common = rng.normal(size=latent.shape)
    errors = rng.normal(size=(n_models, 40, 40))
    errors[[1, 5]] = share**0.5 * common + (1 - share) ** 0.5 * errors[[1, 5]]
    return pool_from(latent + 1.2 * errors, latent > 0.6, 3, 5)


def test_a_copy_that_scores_judged_pairs_alone_may_be_related():
    """Numbers.md N6: scores on judged pairs ranked first among models without relatives."""
    pool = perceiving(0.0)
    scores = pool.scores.copy()
    scores[5] = np.round(3 * scores[1] + 1, 6)  # the copy has no list, and another scale
    known = np.array([True] * 5 + [False])
    ranks = np.where(known[:, None], pool.lists.ranks, 0)
    lists = dataclasses.replace(pool.lists, ranks=ranks, known=known)
    copied = dataclasses.replace(pool, scores=scores, lists=lists)
    assert [pair for *pair, _ in undeclared_relatives(copied)] == [["m1", "m5"]]
    columns = {a.column: a for a in rows_of(copied)["m5"].advice}
    assert columns["equal-outsider AUC"].comparable_with == "nobody"
    assert "may be related to m1" in columns["equal-outsider AUC"].reason


@pytest.mark.parametrize("seed", range(8))
def test_siblings_with_common_errors_are_found_and_unrelated_models_are_not(seed):
    assert undeclared_relatives(perceiving(0.0, seed=seed)) == []
    found = undeclared_relatives(perceiving(0.85, seed=seed))
    assert [sorted(pair) for *pair, _ in found] == [["m1", "m5"]]
    assert found[0][2] < 0.95, "not by a copy's equal lists"


def test_the_advice_on_random_negatives_prints_the_number_of_generators():
    reasons = {a.column: a.reason for a in rows_of(rich_pool())["m0"].advice}
    assert "3 here" in reasons["AUC on random negatives"]


def test_without_relatives_the_equal_outsider_column_is_for_all():
    for row in rows_of(random_pool(0)).values():
        columns = {a.column: a.comparable_with for a in row.advice}
        assert columns["equal-outsider AUC"] == "all models"
        assert "family-matched AUC" not in columns


def test_a_pooled_model_with_an_unpooled_relative_needs_the_family_matched_column():
    pool = dataclasses.replace(random_pool(0), families={"m0": "x", "m3": "x"})
    columns = {a.column: a.comparable_with for a in rows_of(pool)["m0"].advice}
    assert columns["equal-outsider AUC"] == "nobody"
    assert columns["family-matched AUC"] == "all models"
    one_family = dataclasses.replace(pool, families=dict.fromkeys(pool.generators, "x"))
    columns = {a.column: a.comparable_with for a in rows_of(one_family)["m4"].advice}
    assert columns["family-matched AUC"] == "nobody"


def test_pooled_models_are_comparable_up_to_the_depth_that_was_judged():
    rows = rows_of(random_pool(0), ks=(4, 20))
    advice = rows["m0"].advice[0]
    assert advice.comparable_with == "pooled models"
    assert advice.reason.startswith("up to k = 4; below the pool's depth of 4")


def test_without_lists_there_are_no_cut_offs_to_compare():
    rows = rows_of(dataclasses.replace(g5(), lists=None))
    assert rows["A"].cutoffs == ()
    assert rows["A"].advice[0].comparable_with == "nobody"


def test_a_pool_of_one_model_leaves_nothing_to_compare_equally():
    pool = g5()
    alone = dataclasses.replace(
        pool,
        generators=("A",),
        queries=pool.queries[pool.ranks[0] > 0],
        candidates=pool.candidates[pool.ranks[0] > 0],
        labels=pool.labels[pool.ranks[0] > 0],
        ranks=pool.ranks[:1, pool.ranks[0] > 0],
        scores=pool.scores[:, pool.ranks[0] > 0],
        lists=None,
    )
    rows = rows_of(alone)
    assert np.isnan(rows["B"].equal_outsider_auc.value)
    advice = {a.column: a.comparable_with for a in rows["B"].advice}
    assert advice["equal-outsider AUC"] == "nobody"


def test_what_two_models_proposed_does_not_set_their_errors_against_each_other():
    """A pair stands in the pool since one of them ranks it high: that alone correlates them."""
    common = perceiving(0.0, seed=5).common_errors
    assert np.abs(common[np.triu_indices(6, 1)]).max() < 0.35
    assert common[:3, :3][np.triu_indices(3, 1)].min() > -0.3


@pytest.mark.parametrize("n_copies", [1, 6])
def test_a_crowd_of_copies_does_not_make_copies_usual(n_copies):
    pool = perceiving(0.0, n_models=5 + n_copies, seed=4)
    scores = pool.scores.copy()
    noise = np.random.default_rng(0).normal(size=(n_copies, scores.shape[1]))
    scores[5:] = scores[1] + 0.5 * noise
    unlisted = np.array([True] * 5 + [False] * n_copies)
    ranks = np.where(unlisted[:, None], pool.lists.ranks, 0)
    lists = dataclasses.replace(pool.lists, ranks=ranks, known=unlisted)
    crowd = dataclasses.replace(pool, scores=scores, lists=lists)
    found = [tuple(pair) for *pair, _ in undeclared_relatives(crowd)]
    assert found == [("m1", f"m{5 + at}") for at in range(n_copies)]
