"""Names of measures: what they mean, and which are refused."""

import numpy as np
import pytest

from lookalike.metrics import retrieval
from lookalike.metrics.match import match_run
from lookalike.metrics.measures import (
    AREAS,
    BAND_AREAS,
    DEFAULT_MEASURES,
    OVER_PAIRS,
    RANDOM_AREAS,
    RANKED,
    Lists,
    UnknownMeasureError,
    known_forms,
    parse_measure,
)
from lookalike.metrics.rank import condensed, rank_run
from tests.lookalike.metrics.cases import g3, random_labels_and_run, toy


def lists_of(qrels, run, products=None):
    matched = match_run(qrels, run, products=products)
    return Lists(rank_run(matched), rank_run(matched, one_per_product=True))


@pytest.mark.parametrize(
    ("name", "family", "parameter"),
    [
        ("P@5", "P", 5),
        ("P'@5", "P'", 5),
        ("vsd_hr@9", "vsd_hr", 9),
        ("MRR", "MRR", None),
        ("MRR@10", "MRR", 10),
        ("MAP@R", "MAP@R", None),
        ("AP'", "AP'", None),
        ("RBP@0.8", "RBP", 0.8),
        ("micro_pr_auc", "micro_pr_auc", None),
        ("vsd_pair_mrr", "vsd_pair_mrr", None),
    ],
)
def test_a_name_is_a_family_and_a_cut_off(name, family, parameter):
    measure = parse_measure(name)
    assert (measure.name, measure.family, measure.parameter) == (name, family, parameter)


@pytest.mark.parametrize("name", ["HR@5", "hit_rate", "p@5", "", "@5", "P@5@5", "MAP@r", "ndcg@5"])
def test_an_unknown_name_is_refused_with_the_known_ones(name):
    with pytest.raises(UnknownMeasureError, match="unknown measure") as caught:
        parse_measure(name)
    for form in known_forms():
        assert form in str(caught.value)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("P@0", "k must be at least 1"),
        ("nDCG@-3", "k must be at least 1"),
        ("P@five", "'five' is not a whole number"),
        ("P@5.0", "is not a whole number"),
        ("P@", "is not a whole number"),
        ("P@٣", "is not a whole number"),
        ("P", "written P@k"),
        ("bpref@5", "written bpref"),
        ("RBP", "written RBP@p"),
        ("RBP@1", "p must lie between 0 and 1"),
        ("RBP@nan", "p must lie between 0 and 1"),
        ("RBP@x", "is not a number"),
    ],
)
def test_a_cut_off_that_makes_no_sense_is_refused_with_the_reason(name, reason):
    with pytest.raises(UnknownMeasureError, match=reason):
        parse_measure(name)


def test_every_known_form_and_default_can_be_parsed():
    for form in known_forms():
        parse_measure(form.replace("@k", "@5").replace("@p", "@0.5"))
    assert len(known_forms()) == len(set(known_forms()))
    for name in DEFAULT_MEASURES:
        parse_measure(name)
    families = {
        parse_measure(f.replace("@k", "@5").replace("@p", "@0.5")).family for f in known_forms()
    }
    assert families == {*RANKED, *OVER_PAIRS, *AREAS, *RANDOM_AREAS, *BAND_AREAS}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("P@5", lambda r: retrieval.precision(r, 5)),
        ("P'@5", lambda r: retrieval.precision(condensed(r), 5)),
        ("P_all@5", lambda r: retrieval.precision_all(r, 5)),
        ("P_max@5", lambda r: retrieval.precision_max(r, 5)),
        ("R@2", lambda r: retrieval.recall(r, 2)),
        ("R-Prec", retrieval.r_precision),
        ("Success@1", lambda r: retrieval.success(r, 1)),
        ("MRR", retrieval.reciprocal_rank),
        ("MRR@1", lambda r: retrieval.reciprocal_rank(r, 1)),
        ("nDCG", retrieval.ndcg),
        ("nDCG@5", lambda r: retrieval.ndcg(r, 5)),
        ("nDCG'@5", lambda r: retrieval.ndcg(condensed(r), 5)),
        ("AP", retrieval.average_precision),
        ("AP@3", lambda r: retrieval.average_precision(r, 3)),
        ("AP'", lambda r: retrieval.average_precision(condensed(r))),
        ("MAP@R", retrieval.map_at_r),
        ("bpref", retrieval.bpref),
        ("infAP", retrieval.inferred_ap),
        ("RBP@0.8", lambda r: retrieval.rank_biased_precision(r, 0.8)),
        ("RBP_residual@0.8", lambda r: retrieval.rank_biased_residual(r, 0.8)),
        ("judged@5", lambda r: retrieval.judged(r, 5)),
        ("hole@5", lambda r: retrieval.hole(r, 5)),
        ("tie_rate@5", lambda r: retrieval.tie_rate(r, 5)),
    ],
)
def test_a_name_stands_for_its_function(name, values):
    lists = lists_of(*g3())
    np.testing.assert_array_equal(parse_measure(name).values(lists), values(lists.plain))


@pytest.mark.parametrize("family", [name for name, of in RANKED.items() if "k" in of.parameter])
def test_what_is_called_yes_or_no_is_so_and_what_is_not_is_not(family):
    every = [lists_of(*random_labels_and_run(seed)) for seed in range(5)]
    for k in (1, 5):
        measure = parse_measure(f"{family}@{k}")
        values = np.concatenate([measure.values(lists) for lists in every])
        only = set(np.unique(values[~np.isnan(values)])) <= {0.0, 1.0}
        if (family, k) not in {("nDCG", 1), ("nDCG'", 1), ("nDCG(dcg='exp-log2')", 1)}:
            assert measure.is_yes_no is only, "but for gains, which grades make others"
    assert not parse_measure("nDCG@1").is_yes_no
    assert not parse_measure("RBP@0.5").is_yes_no


def test_vsd_names_look_at_one_image_per_product():
    lists = lists_of(*toy())
    assert np.nanmean(parse_measure("vsd_hr@5").values(lists)) == pytest.approx(0.266667, abs=1e-6)
    assert np.nanmean(parse_measure("vsd_mrr@5").values(lists)) == pytest.approx(0.316302, abs=1e-6)
    assert np.nanmean(parse_measure("P@5").values(lists)) == pytest.approx(1 / 3)


def test_bpref_follows_trec_eval_only_on_request():
    lists = lists_of(*g3())
    as_trec = Lists(lists.plain, lists.one_per_product, as_trec=True)
    assert np.isnan(parse_measure("bpref").values(lists)[1])
    assert parse_measure("bpref").values(as_trec)[1] == 1


def test_a_rank_of_thousands_of_digits_is_refused():
    for text in ("9" * 5000, "-" + "9" * 5000):
        with pytest.raises(UnknownMeasureError, match="k is too long for a rank"):
            parse_measure(f"P@{text}")
