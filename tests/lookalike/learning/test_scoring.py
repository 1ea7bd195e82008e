"""The paper-shaped table."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lookalike.core.errors import Refused
from lookalike.learning.notions.scoring import (
    METHODS,
    Task,
    score_notion,
    sweep_dims,
    sweep_prompts,
)

RNG = np.random.default_rng(0)
LABELS = np.arange(60) % 5
# five directions say the class, the others are louder and say nothing
PROMPTS = np.hstack([np.eye(5), np.zeros((5, 20))]).astype(np.float32)
IMAGES = np.hstack(
    [np.eye(5)[LABELS] + 0.15 * RNG.standard_normal((60, 5)), RNG.standard_normal((60, 20))]
).astype(np.float32)
TASK = Task("colour", IMAGES, LABELS, PROMPTS)


@pytest.fixture(scope="module")
def rows():
    return {row.method: row for row in score_notion(TASK, 5, n_repetitions=2)}


def test_every_method_of_the_paper_has_a_row_with_all_measures(rows):
    assert list(rows) == list(METHODS)
    for row in rows.values():
        assert list(row.scores) == ["P@1", "MAP@R", "R-Prec", "AMI", "NMI", "MAP", "MRR"]
        assert row.n_classes == 5
        assert not any(math.isnan(score.mean) for score in row.scores.values())


def test_the_prompts_directions_tell_the_classes_and_raw_vectors_do_not(rows):
    p1 = {name: row.scores["P@1"].mean for name, row in rows.items()}
    assert p1["InDiReCT"] > p1["raw"] + 0.3
    assert p1["span of the prompts"] > p1["raw"] + 0.3
    assert p1["oracle"] > 0.95
    assert p1["random"] < 0.5


def test_spread_is_over_the_seeds_and_that_of_a_whole_population(rows):
    assert rows["raw"].scores["P@1"].std == 0
    two = [score_notion(TASK, 5, methods=["random"], n_repetitions=1, seed=s)[0] for s in (0, 1)]
    a, b = (row.scores["MAP@R"].mean for row in two)
    assert rows["random"].scores["MAP@R"].mean == pytest.approx((a + b) / 2)
    assert rows["random"].scores["MAP@R"].std == pytest.approx(abs(a - b) / 2)


def test_pca_says_how_many_directions_it_had(rows):
    assert rows["PCA"].dim == 4
    assert rows["raw"].dim == 25
    assert rows["InDiReCT"].dim == 5


def test_sweeps_have_a_row_for_each_size_and_for_each_smaller_count():
    assert [row.dim for row in sweep_dims(TASK, [2, 4], n_repetitions=1)] == [2, 4]
    found = sweep_prompts(TASK, [2, 4, 5, 9], 3, n_repetitions=2)
    assert [row.n_prompts for row in found] == [2, 4]
    assert found[1].scores["P@1"].mean > found[0].scores["P@1"].mean
    with pytest.raises(Refused, match="prompt counts: a notion needs at least two"):
        sweep_prompts(TASK, [1], 3)


def test_what_cannot_be_scored_is_refused():
    with pytest.raises(Refused, match="methods: there is no 'indirect'"):
        score_notion(TASK, 5, methods=["indirect"])
    with pytest.raises(Refused, match="attribute: 'colour' has one value"):
        score_notion(Task("colour", IMAGES, LABELS * 0, PROMPTS), 5)
    with pytest.raises(Refused, match="repetitions: 0 are none"):
        score_notion(TASK, 5, n_repetitions=0)
