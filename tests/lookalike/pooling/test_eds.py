"""The union of proposals and the figures of a pool, against the worked cases of the papers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.pooling.eds import Proposals, distinct_pairs, union_of_proposals
from lookalike.pooling.stats import expert_hours, pool_stats
from lookalike.search.topk import TopK

A, B, C = 0, 1, 2
G5_SCORES = {  # images a..h; two queries; three models; k = 2
    A: [
        [0.95, 0.90, 0.70, 0.60, 0.50, 0.40, 0.30, 0.20],
        [0.20, 0.30, 0.95, 0.90, 0.60, 0.50, 0.40, 0.10],
    ],
    B: [
        [0.60, 0.95, 0.90, 0.50, 0.80, 0.30, 0.20, 0.10],
        [0.10, 0.20, 0.90, 0.40, 0.95, 0.80, 0.60, 0.30],
    ],
    C: [
        [0.30, 0.40, 0.50, 0.95, 0.20, 0.90, 0.60, 0.10],
        [0.80, 0.90, 0.50, 0.30, 0.60, 0.95, 0.20, 0.10],
    ],
}


def top(rows: list[list[int]]) -> TopK:
    indices = np.array(rows)
    return TopK(indices, np.linspace(1, 0, indices.size).reshape(indices.shape).astype(np.float32))


def g5() -> Proposals:
    found = []
    for scores in G5_SCORES.values():
        table = np.array(scores, np.float32)
        indices = np.argsort(-table, axis=1)[:, :2]
        found.append(TopK(indices, np.take_along_axis(table, indices, axis=1)))
    return union_of_proposals(found)


def test_the_eds_toy_gives_the_four_candidates_of_its_three_models() -> None:
    proposals = union_of_proposals([top([[0, 1]]), top([[1, 3]]), top([[4, 1]])])
    pairs = distinct_pairs(proposals)
    assert pairs.candidate.tolist() == [0, 1, 3, 4]
    assert pairs.is_proposed.tolist() == [
        [True, False, False],
        [True, True, True],
        [False, True, False],
        [False, False, True],
    ]
    without_m1 = pairs.is_proposed[:, 1:].any(axis=1)
    assert pairs.candidate[without_m1].tolist() == [1, 3, 4]
    assert pairs.candidate[~pairs.is_proposed[:, 0]].tolist() == [3, 4]


def test_every_proposal_keeps_its_model_rank_and_score() -> None:
    proposals = union_of_proposals([top([[5, 2], [7, -1]]), top([[2], [9]])])
    columns = [proposals.query, proposals.candidate, proposals.model, proposals.rank]
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == [
        (0, 5, 0, 0),
        (0, 2, 0, 1),
        (1, 7, 0, 0),
        (0, 2, 1, 0),
        (1, 9, 1, 0),
    ]
    assert proposals.score[:2].tolist() == pytest.approx([1, 2 / 3])


def test_the_golden_pool_has_its_ten_pairs_and_figures() -> None:
    proposals = g5()
    pairs = distinct_pairs(proposals)
    assert ["".join("abcdefgh"[c] for c in pairs.candidate[pairs.query == q]) for q in (0, 1)] == [
        "abcdf",
        "bcdef",
    ]
    stats = pool_stats(proposals, n_queries=2, n_images=8)
    assert (stats.queries, stats.pairs, stats.proposals) == (2, 10, 12)
    assert stats.duplication == pytest.approx(1 / 6)
    assert stats.brute_force_pairs == 16
    assert stats.saving == pytest.approx(1.6)
    assert stats.overlap == [[1, 0.5, 0], [0.5, 1, 0], [0, 0, 1]]
    assert stats.jaccard == [[1, pytest.approx(1 / 3), 0], [pytest.approx(1 / 3), 1, 0], [0, 0, 1]]
    assert stats.unique_by_model == [2, 2, 4]
    per_query = stats.candidates_per_query
    assert (per_query.mean, per_query.min, per_query.max) == (5, 5, 5)
    assert per_query.histogram == [(5, 2)]


def test_a_query_without_candidates_counts_in_the_mean_and_the_histogram() -> None:
    proposals = union_of_proposals([top([[3, 4], [-1, -1], [3, -1]])])
    stats = pool_stats(proposals, n_queries=3, n_images=10, n_excluded=3)
    assert stats.candidates_per_query.mean == 1
    assert stats.candidates_per_query.histogram == [(0, 1), (1, 1), (2, 1)]
    assert stats.brute_force_pairs == 27


def test_ids_may_be_any_numbers() -> None:
    plain = g5()
    renamed = Proposals(
        plain.query * 1000 + 7,
        plain.candidate * -13,
        plain.model,
        plain.rank,
        plain.score,
        plain.n_models,
    )
    assert pool_stats(renamed, 2, 8) == pool_stats(plain, 2, 8)


def test_overlap_of_models_with_different_depths_is_a_share_of_the_rows_model() -> None:
    stats = pool_stats(union_of_proposals([top([[1, 2, 3, 4]]), top([[2]])]), 1, 10)
    assert stats.overlap == [[1, 0.25], [1, 1]]
    assert stats.proposals_by_model == [4, 1]


def test_figures_of_an_empty_pool_are_undefined_and_null_in_json() -> None:
    stats = pool_stats(union_of_proposals([top([[-1, -1]])]), n_queries=1, n_images=5)
    assert np.isnan(stats.duplication)
    assert np.isnan(stats.saving)
    plain = json.loads(json.dumps(stats.as_dict(), allow_nan=False))
    assert plain["saving"] is None
    assert plain["overlap"] == [[None]]


@given(data=st.data())
def test_the_union_is_the_union_of_the_models_sets(data: st.DataObject) -> None:
    n_queries = data.draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 12), unique=True, min_size=3, max_size=3)
    tables = data.draw(
        st.lists(st.lists(row, min_size=n_queries, max_size=n_queries), min_size=1, max_size=4)
    )
    pairs = distinct_pairs(union_of_proposals([top(table) for table in tables]))
    sets = [{(q, c) for q, line in enumerate(table) for c in line} for table in tables]
    union = sorted(set.union(*sets))
    assert list(zip(pairs.query.tolist(), pairs.candidate.tolist(), strict=True)) == union
    assert pairs.is_proposed.tolist() == [[pair in one for one in sets] for pair in union]


def test_expert_hours_count_every_expert() -> None:
    assert expert_hours(54_170, 15) == pytest.approx(225.708333)
    assert expert_hours(54_170, 15, n_experts=3) == pytest.approx(677.125)
    assert expert_hours(0, 15) == 0
    for pairs, seconds, experts in [(-1, 15, 1), (1, 0, 1), (1, 15, -1), (1, float("nan"), 1)]:
        with pytest.raises(ValueError, match="seconds per pair"):
            expert_hours(pairs, seconds, experts)


def test_what_does_not_belong_together_is_refused() -> None:
    with pytest.raises(ValueError, match="no model"):
        union_of_proposals([])
    with pytest.raises(ValueError, match=r"different numbers of queries: \[1, 2\]"):
        union_of_proposals([top([[1]]), top([[1], [2]])])
    with pytest.raises(ValueError, match="2 queries have proposals, but only 1 were asked"):
        pool_stats(g5(), n_queries=1, n_images=8)
