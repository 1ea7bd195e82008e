"""Which pairs are likelier: golden weights, and phases that are shares of each query."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lookalike.pooling.eds import Proposals
from lookalike.pooling.judging_order import N_PHASES, judging_phases, rank_biased_weights

Rows = list[tuple[int, int, int, int]]


def proposals_of(rows: Rows, n_models: int = 3) -> Proposals:
    """Proposals from rows of model, query, candidate, rank."""
    model, query, candidate, rank = np.array(rows, np.int64).reshape(-1, 4).T
    return Proposals(query, candidate, model, rank, np.zeros(len(rows), np.float32), n_models)


def phases_of(rows: Rows, has_ranks: list[bool], seed: int = 0) -> dict[tuple[int, int], int]:
    pairs, phases = judging_phases(
        proposals_of(rows, len(has_ranks)), np.array(has_ranks), np.random.default_rng(seed)
    )
    return dict(
        zip(
            zip(pairs.query.tolist(), pairs.candidate.tolist(), strict=True),
            phases.tolist(),
            strict=True,
        )
    )


def test_a_pair_weighs_what_each_models_rank_is_worth() -> None:
    rows = [(0, 0, 5, 0), (0, 0, 6, 1), (1, 0, 6, 0), (1, 0, 4, 1), (2, 0, 9, 0), (2, 0, 5, 1)]
    weights = rank_biased_weights(proposals_of(rows), np.array([True, True, False]))
    # candidates 4, 5, 6, 9: 0.2 at the first rank, 0.16 at the second, nothing for chance
    assert weights.tolist() == [0.16, 0.2, 0.36, 0.0]


def test_the_same_ranks_by_other_models_weigh_the_same() -> None:
    rows = [(m, 0, c, (m + c) % 3) for m in range(3) for c in range(3)]
    assert len(set(rank_biased_weights(proposals_of(rows), np.ones(3, bool)).tolist())) == 1


def test_each_query_is_split_by_its_own_weights() -> None:
    rows = [(0, 1, 10 + rank, rank) for rank in range(8)] + [(1, 1, 17, 0)]
    rows += [(0, 2, 30, 0), (0, 2, 31, 1)]
    assert phases_of(rows, [True, True]) == {
        (1, 10): 0, (1, 11): 1, (1, 12): 1, (1, 13): 2, (1, 14): 2, (1, 15): 3, (1, 16): 3,
        (1, 17): 0, (2, 30): 0, (2, 31): 2,
    }  # fmt: skip


def test_pairs_drawn_by_chance_fall_into_every_phase_and_move_no_other() -> None:
    ranked = [(0, 0, candidate, candidate) for candidate in range(8)]
    chance = [(1, 0, candidate, candidate) for candidate in range(4, 404)]
    phases = phases_of(ranked + chance, [True, False])
    assert [phases[0, candidate] for candidate in range(8)] == [0, 0, 1, 1, 2, 2, 3, 3]
    counts = np.bincount([phases[0, candidate] for candidate in range(8, 404)])
    assert counts.size == N_PHASES
    assert counts.min() > 70


def test_equal_weights_are_ordered_by_chance_and_by_the_seed() -> None:
    rows = [(model, 0, model, 0) for model in range(4)]
    found = {tuple(phases_of(rows, [True] * 4, seed).values()) for seed in range(200)}
    assert len(found) == 24
    assert phases_of(rows, [True] * 4, 3) == phases_of(rows, [True] * 4, 3)


@given(
    st.dictionaries(
        st.tuples(st.integers(0, 2), st.integers(0, 3), st.integers(4, 15)), st.integers(0, 20)
    )
)
def test_a_likelier_pair_of_a_query_never_comes_later_and_phases_are_equal_shares(ranks) -> None:
    rows = [(*key, rank) for key, rank in ranks.items()]
    proposals, has_ranks = proposals_of(rows), np.ones(3, bool)
    pairs, phases = judging_phases(proposals, has_ranks, np.random.default_rng(1))
    weights = rank_biased_weights(proposals, has_ranks)
    assert len(pairs) == len({key[1:] for key in ranks})
    for query in np.unique(pairs.query):
        mine = pairs.query == query
        found = list(zip(weights[mine].tolist(), phases[mine].tolist(), strict=True))
        assert all(a[1] <= b[1] for a in found for b in found if a[0] > b[0])
        counts = np.bincount(phases[mine], minlength=N_PHASES)
        assert counts.max() - counts.min() <= 1
