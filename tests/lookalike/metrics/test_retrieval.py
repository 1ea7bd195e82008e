"""Measures of a ranking: goldens, trec_eval's own output, peer libraries, properties."""

import ir_measures
import numpy as np
import pytest
import pytrec_eval
from ir_measures import AP, Judged, nDCG
from numpy.testing import assert_allclose

from lookalike.io.labels import read_qrels
from lookalike.io.runs import read_run
from lookalike.io.tables import Qrels, Run
from lookalike.metrics import retrieval
from lookalike.metrics.match import match_run
from lookalike.metrics.rank import condensed, rank_run
from tests.lookalike.metrics.cases import g3, random_labels_and_run
from tests.paths import shared

NAN = np.nan


def ranks_of(case, **options):
    return rank_run(match_run(*case), **options)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (retrieval.average_precision, [0.625, 0.583333, NAN, 0]),
        (lambda r: retrieval.average_precision(condensed(r)), [0.755556, 1, NAN, 0]),
        (lambda r: retrieval.ndcg(r, 5), [0.671386, 0.693426, NAN, 0]),
        (lambda r: retrieval.ndcg(condensed(r), 5), [0.885460, 1, NAN, 0]),
        (lambda r: retrieval.precision(r, 5), [0.4, 0.4, NAN, 0]),
        (lambda r: retrieval.precision(condensed(r), 5), [0.6, 0.4, NAN, 0]),
        (lambda r: retrieval.precision_max(r, 5), [0.8, 0.6, NAN, 0]),
        (retrieval.reciprocal_rank, [1, 0.5, NAN, 0]),
        (retrieval.bpref, [0.5, NAN, NAN, 0]),
        (lambda r: retrieval.bpref(r, as_trec=True), [0.5, 1, NAN, 0]),
        (retrieval.inferred_ap, [0.625, 0.583332, NAN, 0]),
        (lambda r: retrieval.recall(r, 5), [0.666667, 1, NAN, 0]),
        (lambda r: retrieval.judged(r, 5), [0.6, 0.666667, 1, NAN]),
        (lambda r: retrieval.hole(r, 5), [0.4, 0.333333, 0, NAN]),
        (lambda r: retrieval.rank_biased_precision(r, 0.8), [0.344343, 0.288, NAN, 0]),
        (lambda r: retrieval.rank_biased_precision(r, 0.95), [0.127786, 0.092625, NAN, 0]),
        (lambda r: retrieval.rank_biased_residual(r, 0.8), [0.462121, 0.712, NAN, 1]),
    ],
)
def test_the_golden_case_with_unjudged_candidates(values, expected):
    assert_allclose(values(ranks_of(g3())), expected, atol=1e-6)


def test_the_mean_counts_a_missing_query_as_zero_and_leaves_out_one_without_positives():
    values = retrieval.average_precision(ranks_of(g3()))
    assert np.nanmean(values) == pytest.approx(0.402778, abs=1e-6)
    assert np.flatnonzero(~np.isnan(values)).tolist() == [0, 1, 3]


def one_query(labels, scores):
    return Qrels.of(("q", c, y) for c, y in labels.items()), Run.of(
        "r", (("q", c, s) for c, s in scores.items())
    )


def test_bpref_with_more_negatives_than_positives():
    case = one_query({"a": 1, "b": 0, "c": 0, "d": 0}, {"b": 4, "a": 3, "c": 2, "d": 1})
    assert retrieval.bpref(ranks_of(case)).tolist() == [0.0]


def test_bpref_without_judged_negatives_is_undefined_except_for_trec_eval():
    case = one_query({"a": 1, "b": 1}, {"x": 0.9, "a": 0.8})
    assert np.isnan(retrieval.bpref(ranks_of(case))).all()
    assert retrieval.bpref(ranks_of(case), as_trec=True).tolist() == [0.5]


def test_a_constant_scorer_gets_its_prevalence_and_no_more():
    case = one_query({"a": 1, "b": 0, "c": 0, "d": 1, "e": 0}, dict.fromkeys("abcde", 0.5))
    assert retrieval.average_precision(ranks_of(case))[0] == pytest.approx(0.4)
    as_trec = ranks_of(case, order="trec")
    assert retrieval.average_precision(as_trec)[0] == pytest.approx(0.45)
    assert retrieval.reciprocal_rank(as_trec)[0] == 0.5
    assert retrieval.precision(as_trec, 1)[0] == 0
    assert retrieval.tie_rate(ranks_of(case), 1)[0] == 1


def test_the_tie_rate_looks_one_rank_past_the_cut():
    case = one_query({"a": 1, "b": 0}, {"a": 3, "b": 2, "c": 2, "d": 1})
    assert [retrieval.tie_rate(ranks_of(case), k)[0] for k in (1, 2, 3)] == [0, 1, 1]


OFFICIAL = {
    "map": retrieval.average_precision,
    "Rprec": retrieval.r_precision,
    "bpref": lambda r: retrieval.bpref(r, as_trec=True),
    "recip_rank": retrieval.reciprocal_rank,
    "infAP": retrieval.inferred_ap,
    "ndcg": retrieval.ndcg,
    "rbp": lambda r: retrieval.rank_biased_precision(r, 0.9),
    "rbp_resid": lambda r: retrieval.rank_biased_residual(r, 0.9),
}
OFFICIAL_AT_K = {
    "P": retrieval.precision,
    "recall": retrieval.recall,
    "ndcg_cut": retrieval.ndcg,
    "map_cut": retrieval.average_precision,
    "success": retrieval.success,
    "unj": retrieval.hole,
}


@pytest.mark.parametrize(("report", "n_shared"), [("out.test", 13), ("out.test.a", 50)])
def test_trec_eval_prints_the_same_digits(report, n_shared):
    case = (
        read_qrels(shared("trec_eval/qrels.test")),
        read_run(shared("trec_eval/results.test")),
    )
    ranks = ranks_of(case, order="trec")
    compared = []
    for line in shared(f"trec_eval/{report}").read_text().splitlines():
        name, _, printed = line.split()
        stem, _, k = name.rpartition("_")
        if name in OFFICIAL:
            values = OFFICIAL[name](ranks)
        elif stem in OFFICIAL_AT_K:
            values = OFFICIAL_AT_K[stem](ranks, int(k))
        else:
            continue
        assert f"{values.mean():.4f}" == printed, name
        compared.append(name)
    assert len(compared) == n_shared


@pytest.mark.parametrize("seed", range(6))
def test_every_query_equals_pytrec_eval_on_random_runs_with_ties(seed):
    case = random_labels_and_run(seed)
    names = {"map", "Rprec", "bpref", "recip_rank", "infAP", "ndcg"}
    names |= {"P.1,5,10", "recall.5,10", "ndcg_cut.5", "map_cut.3,10", "success.1,5"}
    oracle = pytrec_eval.RelevanceEvaluator(case[0].by_query(), names)
    expected = oracle.evaluate(case[1].by_query())
    ranks = ranks_of(case, order="trec")
    ours = {name: OFFICIAL[name](ranks) for name in names & set(OFFICIAL)}
    for stem, ks in (p.split(".") for p in names if "." in p):
        for k in ks.split(","):
            ours[f"{stem}_{k}"] = OFFICIAL_AT_K[stem](ranks, int(k))
    assert len(expected) == len(case[0].query_ids) - 1
    for q, query in enumerate(case[0].query_ids):
        for name, values in ours.items():
            if query in expected:
                assert np.nan_to_num(values[q]) == pytest.approx(expected[query][name], abs=1e-9)
            else:
                assert np.nan_to_num(values[q]) == 0  # not in the run


@pytest.mark.parametrize("seed", range(3))
def test_rbp_and_its_residual_equal_a_walk_down_the_list(seed):
    qrels, run = random_labels_and_run(seed)
    ranks = ranks_of((qrels, run))
    low, residual = (
        retrieval.rank_biased_precision(ranks, 0.8),
        retrieval.rank_biased_residual(ranks, 0.8),
    )
    labels = qrels.by_query()
    for q, query in enumerate(qrels.query_ids):
        row, gained, unknown = run.by_query().get(query, {}), 0.0, 1.0
        for i, candidate in enumerate(sorted(row, key=lambda c: (-row[c], c))):
            label = labels[query].get(candidate)
            gained += 0.2 * 0.8**i * (label == 1)
            unknown -= 0.2 * 0.8**i * (label is not None)
        if 1 in labels[query].values():
            assert (low[q], residual[q]) == pytest.approx((gained, unknown))
        else:
            assert np.isnan([low[q], residual[q]]).all()


def without_ties(case):
    qrels, run = case
    rng = np.random.default_rng(0)
    pairs = [(q, c, float(rng.random())) for q, row in run.by_query().items() for c in row]
    return qrels, Run.of("distinct", pairs)


@pytest.mark.parametrize("seed", range(3))
def test_condensed_lists_equal_ir_measures(seed):
    case = without_ties(random_labels_and_run(seed))
    ranks = ranks_of(case)
    ours = {
        AP(judged_only=True): retrieval.average_precision(condensed(ranks)),
        nDCG(judged_only=True) @ 5: retrieval.ndcg(condensed(ranks), 5),
    }
    found = {
        (str(value.measure), value.query_id): value.value
        for value in ir_measures.iter_calc(list(ours), case[0].by_query(), case[1].by_query())
    }
    for measure, values in ours.items():
        for q, query in enumerate(case[0].query_ids):
            if (str(measure), query) in found:
                expected = found[str(measure), query]
                assert np.nan_to_num(values[q]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_judged_equals_ir_measures_which_breaks_ties_as_we_do(seed):
    case = random_labels_and_run(seed)
    values = retrieval.judged(ranks_of(case), 5)
    found = ir_measures.iter_calc([Judged @ 5], case[0].by_query(), case[1].by_query())
    for value in found:
        ours = values[case[0].query_ids.index(value.query_id)]
        assert np.nan_to_num(ours) == pytest.approx(value.value)


@pytest.mark.parametrize("seed", range(3))
def test_condensed_ap_and_bpref_are_the_robust_areas_of_the_vsd_paper(seed):
    from lookalike.stats.roc_auc import auc_and_ap

    rng = np.random.default_rng(seed)
    labels = [(f"q{q}", f"c{c}", int(c > 3)) for q in range(20) for c in range(12)]
    run = Run.of("r", [(q, c, float(rng.random())) for q, c, _ in labels])
    qrels = Qrels.of(labels)
    ranks = ranks_of((qrels, run))
    area = auc_and_ap([run.scores], qrels.labels, qrels.queries, 20)
    assert_allclose(retrieval.average_precision(condensed(ranks)), area.average_precision[0, 0])
    assert_allclose(retrieval.bpref(ranks), area.auc[0, 0])


@pytest.mark.parametrize("seed", range(3))
def test_average_precision_with_ties_equals_scikit_learn(seed):
    from lookalike.stats.roc_auc import auc_and_ap

    rng = np.random.default_rng(seed)
    labels = [(f"q{q}", f"c{c}", int(rng.random() < 0.4)) for q in range(20) for c in range(12)]
    run = Run.of("r", [(q, c, float(rng.integers(5))) for q, c, _ in labels])
    qrels = Qrels.of(labels)
    area = auc_and_ap([run.scores], qrels.labels, qrels.queries, 20).average_precision[0, 0]
    ours = retrieval.average_precision(ranks_of((qrels, run)))
    assert_allclose(ours[~np.isnan(area)], area[~np.isnan(area)])


def test_names_inside_a_tie_group_do_not_move_average_precision():
    labels = {"a": 1, "b": 0, "c": 1, "d": 0}
    scores = {"a": 2, "b": 1, "c": 1, "d": 1, "e": 1}
    other = {"a": "a", "b": "z", "c": "y", "d": "x", "e": "w"}
    before = one_query(labels, scores)
    after = one_query(
        {other[c]: y for c, y in labels.items()}, {other[c]: s for c, s in scores.items()}
    )
    for change in (lambda r: r, condensed):
        values = [retrieval.average_precision(change(ranks_of(c)))[0] for c in (before, after)]
        assert values[0] == values[1]


def test_map_at_r_and_r_precision_of_a_worked_list():
    case = one_query({"a": 1, "b": 0, "c": 1, "d": 1}, {"a": 4, "b": 3, "c": 2, "d": 1})
    assert retrieval.map_at_r(ranks_of(case))[0] == pytest.approx(0.555556, abs=1e-6)
    assert retrieval.r_precision(ranks_of(case))[0] == pytest.approx(0.666667, abs=1e-6)


def test_a_list_shorter_than_the_cut_still_divides_by_it():
    case = one_query({"a": 1}, {"a": 1})
    assert retrieval.precision(ranks_of(case), 5)[0] == pytest.approx(0.2)
    assert retrieval.judged(ranks_of(case), 5)[0] == 1
