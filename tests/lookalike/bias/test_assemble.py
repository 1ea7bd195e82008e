"""Labels, proposals and runs by their ids: the golden pool again, and all that can be odd."""

import numpy as np
import pytest

from lookalike.bias.evidence.assemble import Extras, assemble_evidence
from lookalike.bias.evidence.files import VoteTable, make_proposals
from lookalike.bias.report import BiasSettings, bias_report
from lookalike.bias.words.text import as_text
from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import MissingScoresError
from tests.lookalike.bias.cases import (
    IMAGES,
    g5,
    g5_qrels,
    g5_rows,
    g5_runs,
    some,
)


def test_the_golden_files_make_the_golden_pool():
    found = assemble_evidence(
        g5_qrels(), make_proposals(g5_rows()), g5_runs(), extras=Extras(n_catalogue_pairs=16)
    )
    wanted = g5()
    for name in ("queries", "labels", "ranks", "scores"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), name)
    np.testing.assert_array_equal(some(found.lists).ranks, some(wanted.lists).ranks)
    np.testing.assert_array_equal(some(found.lists).lengths, some(wanted.lists).lengths)
    assert found.generators == found.models == ("A", "B", "C")
    assert found.n_catalogue_pairs == 16
    assert found.unjudged_queries.size == found.n_outside_pool == 0


def test_order_of_rows_does_not_matter():
    rows = g5_rows()
    first = assemble_evidence(g5_qrels(), make_proposals(rows), g5_runs())
    pairs = list(g5_qrels())
    second = assemble_evidence(Qrels.of(pairs[::-1]), make_proposals(rows[::-1]), g5_runs())
    np.testing.assert_array_equal(first.scores, second.scores)
    assert second.generators == ("C", "B", "A")
    np.testing.assert_array_equal(first.ranks, second.ranks[::-1])


def test_proposals_without_a_label_and_labels_without_a_proposal_are_kept_apart():
    pairs = [*g5_qrels(images="abcd"), ("q1", "g", 1), ("q3", "a", 1)]
    found = assemble_evidence(Qrels.of(pairs), make_proposals(g5_rows()), g5_runs())
    assert found.n_pairs == 7
    assert (found.n_own_product, found.n_outside_pool) == (0, 2)
    assert found.unjudged_queries.tolist() == [0, 1, 1]
    assert found.pool_ranks.shape == (3, 10)
    assert np.count_nonzero(found.pool_ranks[:, 7:], axis=0).tolist() == [1, 1, 1]


def test_a_query_without_any_label_still_counts_as_a_query_of_the_pool():
    found = assemble_evidence(g5_qrels(queries=("q2",)), make_proposals(g5_rows()), g5_runs())
    assert found.n_queries == 2
    assert set(found.queries) == {1}
    assert some(found.lists).lengths.shape == (3, 2)


def test_pairs_of_one_product_are_left_out_everywhere():
    products = {image: image for image in (*IMAGES, "q1", "q2")} | {"q1": "a", "q2": "f"}
    found = assemble_evidence(
        g5_qrels(), make_proposals(g5_rows()), g5_runs(), extras=Extras(products=products)
    )
    assert found.n_pairs == 8
    assert (found.n_own_product, found.n_outside_pool) == (2, 0)
    assert some(found.lists).ranks.max() <= 7
    assert some(found.lists).lengths.tolist() == [[7, 7]] * 3


def test_a_run_of_exactly_the_judged_pairs_has_no_list_and_takes_nobody_elses():
    qrels = g5_qrels()
    only = [
        Run.of("x", [(q, c, float(i)) for i, (q, c, _) in enumerate(qrels)]),
        *g5_runs(),
    ]
    alone = assemble_evidence(qrels, make_proposals(g5_rows()), only[:1])
    assert alone.lists is None
    beside = assemble_evidence(qrels, make_proposals(g5_rows()), only)
    assert some(beside.lists).is_known.tolist() == [False, True, True, True]
    settings = BiasSettings(n_bootstraps=20, n_permutations=100)
    found = bias_report(beside, np.random.default_rng(0), settings)
    without = assemble_evidence(qrels, make_proposals(g5_rows()), only[1:])
    wanted = bias_report(without, np.random.default_rng(0), settings)
    assert [len(row.cutoffs) for row in found.model_rows] == [0, 4, 4, 4]
    for one, other in zip(found.model_rows[1:], wanted.model_rows, strict=True):
        assert [c.precision.value for c in one.cutoffs] == [
            c.precision.value for c in other.cutoffs
        ]
        assert [c.judged for c in one.cutoffs] == [c.judged for c in other.cutoffs]
    for ours, theirs in zip(found.leave_out, wanted.leave_out, strict=True):
        rho = {a.measure: a.spearman.value for a in ours.agreement if a.measure.startswith("p@")}
        assert rho == pytest.approx(
            {a.measure: a.spearman.value for a in theirs.agreement if a.measure in rho}, nan_ok=True
        )
    assert any(text.endswith("hole@k: x.") for text in found.findings)
    assert "x" in as_text(found)


def test_missing_scores_are_an_error_that_names_the_run_or_the_worst():
    runs = [*g5_runs()[:2], Run.of("C", [("q1", "a", 0.1), ("q1", "d", 0.9)])]
    with pytest.raises(MissingScoresError, match="run 'C': no score for 8 of 10"):
        assemble_evidence(g5_qrels(), make_proposals(g5_rows()), runs)
    found = assemble_evidence(g5_qrels(), make_proposals(g5_rows()), runs, missing="worst")
    assert np.isneginf(found.scores[2]).sum() == 8
    assert some(found.lists).lengths[2].tolist() == [2, 0]


def test_votes_attributes_and_negatives_find_their_pairs():
    votes = VoteTable(
        ("ann", "zoe"),
        (("q1", "a", 0, 1), ("q1", "a", 1, 0), ("q1", "h", 0, 1), ("q9", "a", 0, 1)),
    )
    found = assemble_evidence(
        g5_qrels(),
        make_proposals(g5_rows()),
        g5_runs(),
        extras=Extras(
            votes=votes,
            attributes={"colour": {"q1": "red", "a": "red", "b": "blue", "z": ""}},
            negatives=[("q1", "h"), ("q2", "g"), ("q1", "a")],
            contamination=0.1,
            families={"A": "x"},
        ),
    )
    assert some(found.votes).is_given.sum() == 2
    assert some(found.votes).answers[0].tolist() == [True, False]
    colour = found.attributes[0]
    assert colour.query_values.tolist() == ["red", ""]
    assert colour.candidate_values[:3].tolist() == ["red", "blue", ""]
    assert colour.catalogue_counts == {"red": 2, "blue": 1}
    negatives = some(found.random_negatives)
    assert negatives.queries.tolist() == [0, 1], "the judged pair is no negative any more"
    assert negatives.scores[0].tolist() == [0.2, 0.4]
    assert negatives.contamination == 0.1
    assert found.family_of("A") == "x"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"runs": [*g5_runs(), *g5_runs()[:1]]}, "two runs are called 'A'"),
        ({"extras": Extras(families={"Z": "x"})}, "neither a run nor a generator"),
        ({"extras": Extras(negatives=[("q7", "a")])}, "query 'q7', which is not in the pool"),
        (
            {"extras": Extras(negatives=[("q1", "nowhere")])},
            "run 'A': no score for 1 of 1 random negatives",
        ),
        ({"qrels": Qrels.of([("q1", "h", 1)])}, "share no pair"),
    ],
)
def test_what_cannot_be_joined_is_refused(change, reason):
    given = {
        "qrels": g5_qrels(),
        "proposals": make_proposals(g5_rows()),
        "runs": g5_runs(),
    } | change
    extras = given.pop("extras", None)
    with pytest.raises(InputError, match=reason):
        assemble_evidence(*given.values(), extras=extras)
