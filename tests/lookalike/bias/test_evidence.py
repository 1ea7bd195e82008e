"""Evidence that does not fit together is refused with the reason."""

import dataclasses

import numpy as np
import pytest

from lookalike.bias.evidence.pool import Attribute, Lists, RandomNegatives, Votes
from tests.lookalike.bias.cases import g5, rich_pool


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"labels": np.ones(9)}, "shape"),
        ({"labels": np.full(10, -1.0)}, "0 or 1"),
        ({"queries": np.full(10, 2)}, "queries must be"),
        ({"candidates": np.zeros(10, dtype=int)}, "occurs twice"),
        ({"scores": np.ones((2, 10))}, "scores has shape"),
        ({"ranks": np.zeros((3, 10), dtype=int)}, "proposed by no model"),
        ({"ranks": np.full((3, 10), -1)}, "below 1"),
        ({"generators": ("A", "A", "B")}, "named twice"),
        ({"models": ("A", "A", "B")}, "named twice"),
        ({"unjudged_ranks": np.ones((3, 4), dtype=int)}, "unjudged_ranks"),
        ({"lists": Lists(np.ones((3, 9), dtype=int), np.ones((3, 2), dtype=int))}, "lists"),
        ({"votes": Votes(("a",), np.ones((9, 1), bool), np.ones((9, 1), bool))}, "votes"),
        ({"attributes": (Attribute("x", np.array(["a"]), np.array(["a"]), {}),)}, "attribute x"),
        ({"random_negatives": RandomNegatives(np.zeros(2, int), np.ones((3, 1)))}, "negatives"),
    ],
)
def test_what_does_not_fit_is_refused(change, reason):
    with pytest.raises(ValueError, match=reason):
        dataclasses.replace(g5(), **change)


def test_a_pool_without_pairs_or_models_is_refused():
    pool = g5()
    nothing = np.zeros(0, dtype=int)
    with pytest.raises(ValueError, match="no pool"):
        dataclasses.replace(
            pool,
            queries=nothing,
            candidates=nothing,
            labels=np.zeros(0),
            ranks=np.zeros((3, 0), int),
            scores=np.zeros((3, 0)),
            lists=None,
        )
    with pytest.raises(ValueError, match="at least one"):
        dataclasses.replace(pool, models=(), scores=np.zeros((0, 10)), lists=None)


def test_depth_counts_proposals_that_wait_for_a_label():
    pool = rich_pool()
    assert pool.pool_ranks.shape == (3, pool.n_pairs + 2)
    deeper = dataclasses.replace(pool, unjudged_ranks=np.array([[9, 0], [0, 2], [0, 0]]))
    assert (pool.depth, deeper.depth) == (4, 9)


def test_families_default_to_the_models_own_name():
    pool = rich_pool()
    assert pool.family_of("m0") == "m0"
    assert pool.pooled_families == {"m0": (0,), "x": (1, 2)}
