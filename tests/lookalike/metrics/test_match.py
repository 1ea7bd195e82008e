"""What is compared: self and own product left out, products collapsed, missing scores."""

import numpy as np
import pytest

from lookalike.io.tables import Qrels, Run
from lookalike.metrics.match import MissingScoresError, match_run, pair_scores
from lookalike.metrics.rank import rank_run

PRODUCTS = {"q": "Q", "own": "Q", "a1": "A", "a2": "A", "b": "B", "x": ""}


def pairs(matched):
    return {
        (matched.query_ids[q], matched.candidate_ids[c]): label
        for q, c, label, out in zip(
            matched.queries, matched.candidates, matched.labels, matched.is_excluded, strict=True
        )
        if not out
    }


def scored(matched):
    return {
        matched.candidate_ids[c]: score
        for c, score in zip(matched.run_candidates, matched.scores, strict=True)
    }


def case():
    labels = [("q", "q", 1), ("q", "own", 1), ("q", "a1", 0), ("q", "a2", 1), ("q", "b", 0)]
    scores = {"q": 1.0, "own": 0.9, "a1": 0.8, "a2": 0.7, "b": 0.6, "x": 0.5}
    return Qrels.of(labels), Run.of("r", [("q", c, s) for c, s in scores.items()])


def test_a_query_is_never_its_own_candidate():
    matched = match_run(*case())
    assert pairs(matched) == {("q", "own"): 1, ("q", "a1"): 0, ("q", "a2"): 1, ("q", "b"): 0}
    assert "q" not in scored(matched)


def test_images_of_the_own_product_are_neither_positive_nor_negative():
    matched = match_run(*case(), products=PRODUCTS)
    assert pairs(matched) == {("q", "a1"): 0, ("q", "a2"): 1, ("q", "b"): 0}
    assert scored(matched) == {"a1": 0.8, "a2": 0.7, "b": 0.6, "x": 0.5}
    assert rank_run(matched).ranks.tolist() == [1, 2, 3]


def test_product_mode_keeps_the_best_score_and_the_most_positive_judged_label():
    matched = match_run(*case(), products=PRODUCTS, mode="product")
    assert matched.candidate_ids == ("A", "B", "Q", "x")
    assert pairs(matched) == {("q", "A"): 1, ("q", "B"): 0}
    assert scored(matched) == {"A": 0.8, "B": 0.6, "x": 0.5}


def test_an_unjudged_image_of_a_product_gives_it_no_label_but_its_score():
    qrels = Qrels.of([("q", "a1", 0), ("q", "b", 1)])
    run = Run.of("r", [("q", "a1", 0.1), ("q", "a2", 0.9), ("q", "b", 0.5)])
    matched = match_run(qrels, run, products=PRODUCTS, mode="product")
    assert pairs(matched) == {("q", "A"): 0, ("q", "B"): 1}
    assert pair_scores(matched).tolist() == [0.9, 0.5]


def test_an_image_named_like_a_product_stays_apart_from_it():
    products = {"q": "Q", "A": "", "a1": "A"}
    qrels = Qrels.of([("q", "A", 0), ("q", "a1", 1)])
    run = Run.of("r", [("q", "A", 0.1), ("q", "a1", 0.9)])
    matched = match_run(qrels, run, products=products, mode="product")
    assert sorted(matched.labels.tolist()) == [0, 1]


def test_an_image_that_the_metadata_does_not_know_is_refused():
    with pytest.raises(ValueError, match="says nothing about image 'b'"):
        match_run(*case(), products={k: v for k, v in PRODUCTS.items() if k != "b"})
    with pytest.raises(ValueError, match="needs the product"):
        match_run(*case(), mode="product")


def test_excluded_pairs_have_no_place_among_the_scores():
    assert pair_scores(match_run(*case())).tolist() == [0.9, 0.8, 0.7, 0.6]
    assert pair_scores(match_run(*case(), products=PRODUCTS)).tolist() == [0.8, 0.7, 0.6]


def test_queries_without_labels_are_named_and_left_out():
    qrels, run = Qrels.of([("q", "a", 1)]), Run.of("r", [("z", "a", 1), ("q", "a", 2)])
    matched = match_run(qrels, run)
    assert matched.unknown_queries == ("z",)
    assert matched.scores.tolist() == [2.0]


def test_scores_follow_the_order_of_the_labels():
    qrels = Qrels.of([("q", "b", 1), ("q", "a", 0), ("p", "b", 1)])
    run = Run.of("r", [("q", "a", 1), ("p", "b", 2), ("q", "b", 3), ("p", "z", 4)])
    assert pair_scores(match_run(qrels, run)).tolist() == [3.0, 1.0, 2.0]


def test_a_missing_score_is_an_error_unless_worst_is_asked_for():
    qrels = Qrels.of([("q", "b", 1), ("q", "a", 0), ("p", "b", 1)])
    matched = match_run(qrels, Run.of("r", [("q", "a", 1)]))
    with pytest.raises(MissingScoresError, match=r"2 of 3 judged pairs.*'q', candidate 'b'"):
        pair_scores(matched)
    assert pair_scores(matched, "worst").tolist() == [-np.inf, 1.0, -np.inf]


def test_a_run_that_knows_none_of_the_queries_ranks_nothing():
    matched = match_run(Qrels.of([("q", "a", 1)]), Run.of("r", [("z", "a", 1)]))
    ranks = rank_run(matched)
    assert ranks.ranks.tolist() == [0]
    assert ranks.n_listed.tolist() == [0]


def test_ties_are_ranked_by_ascending_id_and_by_descending_id_for_trec():
    qrels = Qrels.of([("q", "a", 1), ("q", "b", 0), ("q", "c", 1)])
    matched = match_run(qrels, Run.of("r", [("q", c, 0.5) for c in "bca"]))
    assert rank_run(matched).ranks.tolist() == [1, 2, 3]
    assert rank_run(matched).tie_ends.tolist() == [3, 3, 3]
    as_trec = rank_run(matched, order="trec")
    assert dict(zip(as_trec.labels.tolist(), as_trec.ranks.tolist(), strict=False)) == {1: 3, 0: 2}
    assert as_trec.tie_ends.tolist() == [1, 2, 3]


def test_trec_order_sees_scores_as_float32():
    qrels = Qrels.of([("q", "a", 1), ("q", "b", 0)])
    matched = match_run(qrels, Run.of("r", [("q", "a", 0.5 + 1e-9), ("q", "b", 0.5)]))
    assert rank_run(matched).labels.tolist() == [1, 0]
    assert rank_run(matched, order="trec").labels.tolist() == [0, 1]
