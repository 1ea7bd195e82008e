"""The board of a release says the same of who may be compared as the report on its pool."""

from __future__ import annotations

import numpy as np
import pytest

import lookalike as lk
from lookalike.metrics.leaderboard import Entrant, Leaderboard
from lookalike.release.leaderboard import ReleaseScores, pool_depth, release_leaderboard
from tests.paths import GOLDEN_RELEASES

BADGES = {"good": "pooled", "poor": "pooled", "new": "submitted"}
SHARES = {"good": 0.9, "poor": 0.3, "new": 0.95}


def board(depth: int, judged: float = 1.0) -> Leaderboard:
    """Return a board by P@5 and the area, where one pooled model is clearly above the other."""
    rng = np.random.default_rng(0)
    scores = []
    for name, badge in BADGES.items():
        hits = rng.binomial(5, SHARES[name], 40) / 5
        by_query = {"P@5": hits, "macro_roc_auc": hits}
        values = {measure: float(of.mean()) for measure, of in by_query.items()}
        n_queries = dict.fromkeys(by_query, 40)
        values["judged@5"] = judged
        scores.append(ReleaseScores(Entrant(name, badge), values, n_queries, by_query=by_query))
    columns = [("P@5", "P@5"), ("macro_roc_auc", "AUC")]
    return release_leaderboard(scores, columns, "P@5", depth=depth)


def groups(found: Leaderboard, column: int) -> dict[str, str]:
    return {line.model.name: line.cells[column].comparable_with for line in found.lines}


def test_pooled_models_are_ranked_by_cut_offs_that_the_pool_is_deep_enough_for() -> None:
    found = board(depth=5)
    assert groups(found, 0) == {"good": "pooled models", "poor": "pooled models", "new": "nobody"}
    assert [line.cells[0].is_best for line in found.lines] == [True, False, False]


@pytest.mark.parametrize(("depth", "judged"), [(4, 1.0), (6, 0.7), (0, 1.0)])
def test_a_cut_off_below_the_pools_depth_or_hardly_judged_ranks_nobody(
    depth: int, judged: float
) -> None:
    found = board(depth, judged)
    assert set(groups(found, 0).values()) == {"nobody"}
    assert not any(line.cells[0].letters or line.cells[0].is_best for line in found.lines)
    assert groups(found, 1)["good"] == groups(found, 1)["poor"] == "pooled models"


def test_the_shallowest_of_several_pools_decides() -> None:
    one, two = (lk.open_release(GOLDEN_RELEASES / f"small-{n}.0.0.zip") for n in (1, 4))
    assert pool_depth(one) == 4
    assert [pool["k"] for pool in two.info["pools"]] == [3, 4]
    assert pool_depth(two) == 3
