"""Golden case G5: every measure on every label set, self-deltas, agreement, the paper's view."""

import numpy as np
import pytest
from scipy import stats

from lookalike.bias.comparison import compare_with_full, self_delta, typical_gap
from lookalike.bias.leave_out import leave_out_report, set_means
from lookalike.bias.measurements import coverage_at, measure, precision_at
from lookalike.bias.paper_view import paper_table
from lookalike.bias.subsets import leave_out_sets
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.roc_auc import auc_and_ap
from tests.lookalike.bias.cases import g5, random_pool

FULL = ("full", "")
TABLE = {
    FULL: {
        "macro_auc": [0.75, 0.833333, 0.5],
        "micro_auc": [0.729167, 0.854167, 0.541667],
        "macro_ap": [0.861111, 0.902778, 0.752778],
        "p@2": [0.75, 0.75, 0.5],
    },
    ("uniques", "A"): {
        "macro_auc": [0.875, 0.875, 0.416667],
        "micro_auc": [0.8, 0.833333, 0.5],
        "macro_ap": [0.916667, 0.916667, 0.777778],
        "p@2": [0.5, 0.75, 0.5],
    },
    ("uniques", "B"): {
        "macro_auc": [0.875, 1, 0.541667],
        "micro_auc": [0.833333, 1, 0.566667],
        "macro_ap": [0.916667, 1, 0.819444],
        "p@2": [0.75, 0.5, 0.5],
    },
    ("uniques", "C"): {
        "macro_auc": [0.75, 0.75, 0.5],
        "micro_auc": [0.6875, 0.8125, 0.625],
        "macro_ap": [0.916667, 0.916667, 0.791667],
        "p@2": [0.75, 0.75, 0],
    },
    ("contributions", "A"): {
        "macro_auc": [0.75, 0.75, 0.75],
        "micro_auc": [0.666667, 0.777778, 0.777778],
        "macro_ap": [0.75, 0.75, 0.916667],
    },
    ("contributions", "B"): {
        "macro_auc": [0.75, 1, 0.75],
        "micro_auc": [0.777778, 1, 0.722222],
        "macro_ap": [0.75, 1, 0.916667],
    },
}


def analysed(pool, ks=(2,), n_bootstraps=40):
    sets = leave_out_sets(pool)
    measured = measure(pool, sets, ks)
    resampling = Resampling.of(
        pool.n_queries, n_bootstraps=n_bootstraps, rng=np.random.default_rng(0)
    )
    return sets, measured, resampling


@pytest.mark.parametrize("key", TABLE)
def test_every_number_of_the_golden_table_is_reproduced(key):
    sets, measured, *_ = analysed(g5())
    g = [(s.kind, s.name) for s in sets].index(key)
    means = set_means(measured, g)
    for name, wanted in TABLE[key].items():
        assert means[name] == pytest.approx(wanted, abs=1e-6), name


def entries(pool, **options):
    sets, measured, resampling = analysed(pool, **options)
    found = leave_out_report(pool, sets, measured, resampling)
    return {(e.kind, e.name): e for e in found}


@pytest.mark.parametrize(
    ("model", "auc", "precision"), [("A", 0.125, -0.25), ("B", 0.166667, -0.25), ("C", 0, -0.5)]
)
def test_taking_part_costs_auc_and_brings_precision(model, auc, precision):
    deltas = {d.measure: d for d in entries(g5())["uniques", model].self_deltas}
    assert deltas["macro_auc"].delta.value == pytest.approx(auc, abs=1e-6)
    assert deltas["p@2"].delta.value == pytest.approx(precision, abs=1e-6)


def test_the_left_out_model_climbs_in_auc_and_falls_in_precision():
    found = entries(g5())
    of_a = {d.measure: d for d in found["uniques", "A"].self_deltas}
    assert (of_a["macro_auc"].rank_before, of_a["macro_auc"].rank_after) == (2, 1)
    assert of_a["macro_auc"].rank_shift == 1
    assert (of_a["p@2"].rank_before, of_a["p@2"].rank_after) == (1, 2)
    assert of_a["p@2"].rank_shift == -1


@pytest.mark.parametrize(("model", "rho"), [("A", 0.866025), ("B", 1), ("C", 0.866025)])
def test_spearman_of_macro_auc_is_the_golden_one(model, rho):
    agreement = {a.measure: a for a in entries(g5())["uniques", model].agreement}
    assert agreement["macro_auc"].spearman.value == pytest.approx(rho, abs=1e-6)
    assert agreement["macro_auc"].n_queries == 2


def test_sizes_are_those_of_the_sets():
    found = entries(g5())
    assert (found["uniques", "A"].n_pairs, found["uniques", "A"].n_positive) == (8, 5)
    assert (found["contributions", "A"].n_pairs, found["contributions", "A"].n_positive) == (6, 3)


def test_deltas_and_agreement_use_only_queries_defined_on_both_sets():
    pool = random_pool(3)
    sets, measured, _ = analysed(pool)
    for g, label_set in enumerate(sets[1:], start=1):
        kept = label_set.kept
        part = auc_and_ap(pool.scores, pool.labels, pool.queries, 25, kept[None].astype(float)).auc
        full = auc_and_ap(pool.scores, pool.labels, pool.queries, 25).auc
        common = ~np.isnan(part[0, 0]) & ~np.isnan(full[0, 0])
        found = compare_with_full(measured, g)[0]
        assert found.n_queries == common.sum()
        assert found.part == pytest.approx(part[:, 0, common].mean(axis=1))
        assert found.full == pytest.approx(full[:, 0, common].mean(axis=1))


def test_intervals_hold_the_estimates_and_repeat_with_the_seed():
    pool = random_pool(1, n_queries=60)
    first, again = (entries(pool, n_bootstraps=200)["uniques", "m0"] for _ in range(2))
    assert repr(first) == repr(again), "repr, because NaN is not NaN"
    for delta in first.self_deltas:
        assert delta.delta.interval.low <= delta.delta.value <= delta.delta.interval.high
    for found in first.agreement:
        assert found.n_models == 5
        assert found.p.method == "exact"


def test_what_does_not_change_has_an_interval_for_yes_and_no_alone():
    pool = random_pool(1, n_queries=60)
    sets, measured, resampling = analysed(pool, ks=(1, 2))
    (g,) = [g for g, s in enumerate(sets) if (s.kind, s.name) == ("uniques", "m0")]
    for values in (*measured.macro.values(), *measured.micro_by_query.values()):
        values[:, g] = values[:, 0]
    deltas = [self_delta(pool.models, 0, c, resampling) for c in compare_with_full(measured, g)]
    assert [d.measure for d in deltas if d.delta.interval.is_defined] == ["p@1"]


def test_a_change_beyond_the_usual_gap_is_marked():
    assert typical_gap(np.array([0.9, 0.5, 0.6, 0.85])) == pytest.approx(0.1)
    assert np.isnan(typical_gap(np.array([0.9])))
    deltas = {d.measure: d for d in entries(g5())["uniques", "C"].self_deltas}
    assert deltas["p@2"].exceeds_gap
    assert not deltas["macro_auc"].exceeds_gap


def test_precision_counts_what_the_set_lacks_as_misses_on_the_same_queries():
    pool = random_pool(5)
    kept = np.stack([np.ones(pool.n_pairs, bool), pool.ranks[0] > 0])
    values = precision_at(pool, kept, 3)
    assert np.isnan(values[:, :, 24]).all(), "the last query has no positive at all"
    assert (~np.isnan(values[:, :, :24])).all()
    for m, q in [(0, 0), (1, 3), (4, 7)]:
        for g in range(2):
            mine = (pool.queries == q) & (pool.lists.ranks[m] <= 3) & kept[g]
            expected = pool.labels[mine].sum() / 3
            assert values[m, g, q] == pytest.approx(expected)
    with pytest.raises(ValueError, match="cut-off"):
        precision_at(pool, kept, 0)


def test_coverage_counts_holes_per_query():
    pool = random_pool(5)
    coverage = coverage_at(pool, 4)
    assert (coverage.judged[:3] == 1).all(), "the pool holds the first four of its generators"
    assert (coverage.slack[:3] == 0).all()
    assert (coverage.judged[3:] < 1).any()
    for m, q in [(3, 0), (4, 9)]:
        n = ((pool.queries == q) & (pool.lists.ranks[m] <= 4)).sum()
        assert coverage.judged[m, q] == pytest.approx(n / 4)
        assert coverage.slack[m, q] == pytest.approx(1 - n / 4)


def test_the_papers_table_averages_over_sets_and_ranks_the_generators():
    pool = g5()
    sets, measured, *_ = analysed(pool)
    rows = paper_table(pool, sets, measured, "uniques", np.random.default_rng(0))
    assert [row.generator for row in rows] == ["A", "B", "C"]
    of_a = rows[0]
    assert of_a.macro.mean == pytest.approx(np.mean([0.875, 0.875, 0.75]))
    assert of_a.macro.spread == pytest.approx(np.std([0.875, 0.875, 0.75]))
    assert of_a.micro.mean == pytest.approx(np.mean([0.8, 0.833333, 0.6875]), abs=1e-6)
    assert [row.macro.spearman for row in rows] == pytest.approx([0.866025, 1, 0.866025], abs=1e-6)
    full, part = TABLE[FULL]["micro_auc"], TABLE["uniques", "A"]["micro_auc"]
    assert of_a.micro.spearman == pytest.approx(stats.spearmanr(full, part).statistic)
    assert rows[1].macro.p.value == pytest.approx(1 / 3), "two of the six orders of three"
    assert rows[1].macro.p_t.value == 0


def test_the_papers_table_leaves_unpooled_models_out():
    pool = random_pool(2)
    sets, measured, *_ = analysed(pool)
    for kind in ("uniques", "contributions"):
        rows = paper_table(pool, sets, measured, kind, np.random.default_rng(0))
        assert [row.generator for row in rows] == list(pool.generators)
