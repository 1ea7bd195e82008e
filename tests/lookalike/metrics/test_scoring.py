"""From labels and runs to outcomes: means, coverage, areas with what belongs beside them."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.areas import Areas
from lookalike.metrics.match import MissingScoresError, has_list, match_run
from lookalike.metrics.measures import parse_measure
from lookalike.metrics.negatives import NegativeList
from lookalike.metrics.score import score
from lookalike.metrics.scoring import Scored, score_runs
from lookalike.metrics.uncertainty import leaderboard_tests
from lookalike.stats.bootstrap import Resampling
from tests.lookalike.metrics.cases import g3, random_labels_and_run, toy


def scored(qrels: Qrels, runs: Run | list[Run], names: str, **options: Any) -> list[Scored]:
    runs = runs if isinstance(runs, list) else [runs]
    return score_runs(qrels, runs, [parse_measure(name) for name in names.split(",")], **options)


def by_query(found: Scored, name: str) -> list[float]:
    values = found.outcomes[name].by_query
    assert values is not None
    return list(values.tolist())


def test_the_toy_of_the_protocol_from_files_to_outcomes():
    qrels, run, products = toy()
    names = "vsd_hr@5,vsd_mrr@5,vsd_pair_mrr,macro_roc_auc,micro_roc_auc,macro_pr_auc,micro_pr_auc"
    (found,) = scored(qrels, run, names, products=products)
    values = {name: outcome.value for name, outcome in found.outcomes.items()}
    golden = {
        "vsd_hr@5": 0.266667,
        "vsd_mrr@5": 0.316302,
        "vsd_pair_mrr": 0.433333,
        "macro_roc_auc": 0.666667,
        "micro_roc_auc": 0.675,
        "macro_pr_auc": 0.805556,
        "micro_pr_auc": 0.668333,
    }
    assert values == pytest.approx(golden, abs=1e-6)
    assert found.outcomes["macro_roc_auc"].n_defined == 3
    assert found.outcomes["micro_roc_auc"].n_defined is None


def test_coverage_names_what_is_missing_on_either_side():
    (found,) = scored(*g3(), "AP")
    assert found.coverage.n_pairs == 11
    assert found.coverage.n_scored == 9
    assert found.coverage.share == pytest.approx(9 / 11)
    assert found.coverage.queries_not_in_run == ("q4",)
    assert found.coverage.queries_not_in_labels == ("q5",)
    assert found.outcomes["AP"].value == pytest.approx(0.402778, abs=1e-6)
    assert found.outcomes["AP"].n_defined == 3


def test_a_micro_area_comes_with_its_two_parts():
    (found,) = scored(toy()[0], toy()[1], "micro_roc_auc,micro_pr_auc")
    roc = found.outcomes["micro_roc_auc"].details
    whole = roc["share_within"] * roc["within_queries"]
    whole += (1 - roc["share_within"]) * roc["across_queries"]
    assert whole == pytest.approx(found.outcomes["micro_roc_auc"].value)
    assert roc["share_within"] == pytest.approx(7 / 20)
    pr = found.outcomes["micro_pr_auc"]
    assert pr.details["prevalence"] == pytest.approx(5 / 9)
    gain = (pr.value - 5 / 9) / (4 / 9)
    assert pr.details["normalised_gain"] == pytest.approx(gain)


def test_a_macro_pr_area_comes_with_the_floor_of_the_same_queries():
    labels = [("q1", "a", 1), ("q1", "b", 0), ("q1", "c", 0), ("q2", "a", 1)]
    run = Run.of("r", [("q1", "a", 3), ("q1", "b", 2), ("q1", "c", 1), ("q2", "a", 1)])
    (found,) = scored(Qrels.of(labels), run, "macro_pr_auc")
    outcome = found.outcomes["macro_pr_auc"]
    assert (outcome.value, outcome.n_defined) == (1.0, 1)
    assert outcome.details == pytest.approx({"prevalence": 1 / 3, "normalised_gain": 1.0})


def test_models_that_answer_alike_differ_by_an_interval_of_yes_no_measures_alone():
    qrels, run = random_labels_and_run(0)
    twins = [run, replace(run, name="twin")]
    names = ["Success@5", "P@1", "P@5", "macro_roc_auc"]
    found = scored(qrels, twins, ",".join(names), missing="worst")
    resampling = Resampling.of(25, n_bootstraps=50, rng=np.random.default_rng(0))
    tests = leaderboard_tests(found, names, resampling)
    assert [of.tests[0].interval.is_defined for of in tests] == [True, True, False, False]


def test_nothing_defined_is_nan_with_count_zero():
    qrels = Qrels.of([("q", "a", 0), ("q", "b", 0)])
    run = Run.of("r", [("q", "a", 1), ("q", "b", 0)])
    names = "P@1,AP,macro_roc_auc,macro_pr_auc,micro_roc_auc,micro_pr_auc,vsd_pair_mrr"
    (found,) = scored(qrels, run, names)
    assert all(np.isnan(outcome.value) for outcome in found.outcomes.values())
    assert found.outcomes["P@1"].n_defined == 0
    assert found.outcomes["macro_roc_auc"].n_defined == 0


def test_several_runs_are_averaged_over_the_queries_that_all_of_them_define():
    qrels = Qrels.of([("q1", "a", 1), ("q2", "a", 1)])
    full = Run.of("full", [("q1", "a", 1), ("q2", "x", 1)])
    half = Run.of("half", [("q1", "a", 1), ("q1", "x", 0)])
    alone = scored(qrels, full, "judged@1")[0].outcomes["judged@1"]
    assert (alone.value, alone.n_defined) == (0.5, 2)
    for run in scored(qrels, [full, half], "judged@1"):
        assert run.outcomes["judged@1"].n_defined == 1
        assert run.outcomes["judged@1"].value == 1


def test_only_areas_need_every_score():
    qrels, run = g3()
    scored(qrels, run, "AP,P@5,bpref,judged@5")
    with pytest.raises(MissingScoresError, match="run 'g3': no score for 2 of 11"):
        scored(qrels, run, "AP,macro_roc_auc")
    (found,) = scored(qrels, run, "macro_roc_auc", missing="worst")
    np.testing.assert_allclose(by_query(found, "macro_roc_auc"), [0.5, np.nan, np.nan, 0.5])


def test_trec_averages_over_queries_in_both_with_zero_for_none():
    (found,) = scored(*g3(), "AP,bpref,P@5", trec=True)
    assert found.outcomes["AP"].n_defined == 3
    assert found.outcomes["AP"].value == pytest.approx((0.625 + 0.583333) / 3, abs=1e-6)
    np.testing.assert_allclose(by_query(found, "bpref"), [0.5, 1, 0, np.nan])


def test_trec_ranks_equal_scores_by_descending_id():
    qrels = Qrels.of([("q", "a", 1), ("q", "b", 0)])
    run = Run.of("r", [("q", "a", 1), ("q", "b", 1)])
    assert scored(qrels, run, "P@1", without_list=())[0].outcomes["P@1"].value == 1
    assert scored(qrels, run, "P@1", trec=True)[0].outcomes["P@1"].value == 0


def test_product_mode_collapses_everything_but_the_official_measures():
    qrels, run, products = toy()
    (image,) = scored(qrels, run, "P@1,vsd_hr@2", products=products)
    (product,) = scored(qrels, run, "P@1,vsd_hr@2", products=products, mode="product")
    assert image.outcomes["vsd_hr@2"].value == product.outcomes["vsd_hr@2"].value
    assert product.outcomes["P@1"].value > image.outcomes["P@1"].value


def test_random_negatives_replace_the_annotated_ones():
    qrels = Qrels.of([("q1", "a", 1), ("q1", "b", 0), ("q2", "c", 1), ("q2", "d", 0)])
    rows = [("q1", "a", 3), ("q1", "b", 9), ("q1", "x", 1), ("q2", "c", 3), ("q2", "d", 9)]
    run = Run.of("r", [*rows, ("q2", "y", 5)])
    negatives = (("q1", "x"), ("q2", "y"), ("q2", "d"))  # d has been judged since
    names = "macro_roc_auc,macro_roc_auc_random,micro_roc_auc_random"
    (found,) = scored(qrels, run, names, negatives=NegativeList(negatives, contamination=0.1))
    assert found.outcomes["macro_roc_auc"].value == 0
    raw = found.outcomes["macro_roc_auc_random"]
    assert (raw.value, raw.n_defined) == (0.5, 2)
    assert raw.details["corrected"] == pytest.approx(0.5)
    assert by_query(found, "macro_roc_auc_random") == [1.0, 0.0]
    micro = found.outcomes["micro_roc_auc_random"]
    assert micro.details["n_negative"] == 2
    assert micro.details["corrected"] == pytest.approx(0.5 + (micro.value - 0.5) / 0.9)


def test_measures_on_random_negatives_need_a_list():
    with pytest.raises(InputError, match="needs random negatives"):
        scored(toy()[0], toy()[1], "macro_roc_auc_random")


def test_a_query_with_annotated_labels_only_keeps_its_place_among_random_negatives():
    qrels = Qrels.of([("q1", "a", 0), ("q2", "a", 1)])
    run = Run.of("r", [("q1", "a", 1), ("q2", "a", 2), ("q2", "b", 1)])
    (found,) = scored(qrels, run, "macro_roc_auc_random", negatives=NegativeList((("q2", "b"),)))
    np.testing.assert_array_equal(by_query(found, "macro_roc_auc_random"), [np.nan, 1.0])


def test_the_order_of_a_run_s_rows_changes_nothing():
    qrels, run = random_labels_and_run(7)
    pairs = [(q, c, s) for q, row in run.by_query().items() for c, s in row.items()]
    shuffled = [pairs[i] for i in np.random.default_rng(1).permutation(len(pairs))]
    names = "P@5,AP,nDCG@3,infAP,vsd_mrr@5,macro_pr_auc,micro_roc_auc"
    runs = [Run.of("a", pairs), Run.of("b", shuffled)]
    first, second = scored(qrels, runs, names, missing="worst")
    for name in first.outcomes:
        assert first.outcomes[name].value == second.outcomes[name].value


def test_areas_of_two_systems_do_not_mix():
    areas = Areas(np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([1, 0]), np.array([0, 0]), 1)
    assert [areas.micro_value(m, is_roc=True) for m in (0, 1)] == [1.0, 0.0]
    assert [areas.macro_values(m, is_roc=True)[0] for m in (0, 1)] == [1.0, 0.0]


def test_scores_of_judged_pairs_alone_are_no_list_and_change_nobody_elses_means():
    rng = np.random.default_rng(0)
    qrels, run = random_labels_and_run(rng)
    bare = Run.of("bare", [(q, c, float(rng.random())) for q, c, _ in qrels])
    names = "P@5,vsd_hr@5,vsd_pair_mrr,MRR,infAP,judged@5,AP',bpref,macro_roc_auc"
    (alone,) = scored(qrels, run, names, missing="worst")
    full, listless = scored(qrels, [run, bare], names, missing="worst", without_list=["bare"])
    for name in ("P@5", "vsd_hr@5", "vsd_pair_mrr", "MRR", "infAP", "judged@5"):
        np.testing.assert_equal(full.outcomes[name].value, alone.outcomes[name].value)
        assert full.outcomes[name].n_defined == alone.outcomes[name].n_defined
        assert np.isnan(listless.outcomes[name].value)
    assert listless.outcomes["P@5"].n_defined == 0
    for name in ("AP'", "bpref", "macro_roc_auc"):
        assert not np.isnan(listless.outcomes[name].value)


def test_a_run_has_a_list_once_it_chooses_what_to_name():
    judged = [("q", "a", 1), ("q", "b", 0), ("r", "a", 1), ("r", "c", 0), ("s", "c", 1)]
    qrels = Qrels.of(judged)

    def says(*pairs: tuple[str, str]) -> bool:
        rows = [(q, c, float(i)) for i, (q, c) in enumerate(pairs)]
        return has_list(match_run(qrels, Run.of("x", rows)))

    only = [(q, c) for q, c, _ in judged]
    assert not says(*only)
    assert not says(*only[:-1]), "a query left out is no choice among candidates"
    assert not says(*only, ("q", "z")), "most of the queries decide"
    assert says(*only, ("q", "z"), ("r", "z")), "unjudged candidates"
    assert says(("q", "a"), ("r", "a")), "a list as deep as a pool"
    asked = Qrels.of([*judged, ("q", "u", 0), ("r", "u", 0), ("s", "u", 0)])
    for rows, is_list in (
        (only, False),
        ([("q", "a"), ("r", "a")], False),
        ([*only, ("q", "u"), ("r", "u")], False),
        ([*only, ("q", "z")], False),
        ([*only, ("q", "z"), ("r", "z")], True),
    ):
        run = Run.of("x", [(q, c, float(i)) for i, (q, c) in enumerate(rows)])
        assert has_list(match_run(qrels, run), match_run(asked, run)) == is_list, rows


def test_no_run_and_options_that_do_not_exist_are_refused():
    qrels, run = random_labels_and_run(np.random.default_rng(0))
    with pytest.raises(InputError, match="there is no run to score"):
        score(qrels, [])
    assert len(score(qrels, (one for one in [run]), ["P@5"])) == 1
    with pytest.raises(InputError, match="unknown mode 'prodct'; one of image, product"):
        score(qrels, run, ["P@5"], mode="prodct")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown missing 'wrost'; one of error, worst"):
        score(qrels, run, ["P@5"], missing="wrost")  # type: ignore[arg-type]
