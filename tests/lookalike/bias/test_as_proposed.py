"""A pool's models, ranked as they proposed."""

from __future__ import annotations

import pytest

from lookalike.bias.evidence.as_proposed import as_proposed
from lookalike.bias.evidence.files import make_proposals
from lookalike.io.tables import Run
from lookalike.planning.pool_files import named_pool


def test_what_only_a_rounding_puts_above_a_models_proposals_stands_below_them():
    proposals = make_proposals([("q", "a", "m", 1), ("q", "b", "m", 2), ("q", "c", "n", 1)])
    scores = {"a": 0.7, "new": 0.59588, "b": 0.59586, "c": 0.5}
    run = Run.of("m", [("q", name, score) for name, score in scores.items()])
    found = as_proposed(run, proposals).by_query()["q"]
    assert sorted(found, key=found.__getitem__, reverse=True) == ["a", "b", "new", "c"]
    assert {name: found[name] for name in "abc"} == {name: scores[name] for name in "abc"}
    assert named_pool(proposals, [as_proposed(run, proposals)]).pool.ranks.tolist() == [[1, 2, 4]]
    clear = Run.of("m", [("q", name, {**scores, "new": 0.65}[name]) for name in scores])
    assert as_proposed(clear, proposals).by_query()["q"]["new"] == pytest.approx(0.65)
