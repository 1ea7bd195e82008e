"""Letters and corrections of a public board do not depend on what only some people see."""

import numpy as np
import pytest

from lookalike.metrics.families import family_tests
from lookalike.metrics.leaderboard import Entrant
from lookalike.release.leaderboard import ReleaseScores, release_leaderboard
from lookalike.stats.proportion import Interval
from lookalike.stats.significance import PairedTest, holm

DEPTH = 5
MEASURES = ("AP'", "macro_roc_auc", "P@5")


def pair_of(first: str, second: str, p: float) -> PairedTest:
    return PairedTest(first, second, 0.1, Interval(0.0, 0.2), 0.3, 40, p, p, p)


def test_pairs_that_may_not_be_compared_do_not_count_in_the_correction() -> None:
    tests = [pair_of("a", "b", 0.03), pair_of("a", "x", 0.001), pair_of("b", "x", 0.04)]
    found = family_tests(tests, {"a": "pooled", "b": "pooled", "x": "outsiders"})
    assert found[0].p_holm == 0.03
    assert np.isnan([found[1].p_holm, found[2].p_holm]).all()
    assert np.isnan(family_tests(tests, {"a": "pooled", "b": None})[0].p_holm)


def test_a_private_model_has_a_family_of_its_own() -> None:
    tests = [
        pair_of("a", "b", 0.02),
        pair_of("a", "c", 0.01),
        pair_of("b", "c", 0.2),
        pair_of("a", "mine", 0.004),
        pair_of("b", "mine", 0.03),
        pair_of("mine", "other", 0.001),
    ]
    groups = dict.fromkeys(("a", "b", "c", "mine", "other"), "all models")
    found = family_tests(tests, groups, private=("mine", "other"))
    assert [one.p_holm for one in found[:3]] == holm([0.02, 0.01, 0.2]).tolist()
    assert [one.p_holm for one in found[3:5]] == holm([0.004, 0.03]).tolist()
    assert np.isnan(found[5].p_holm)


def entry(name: str, values: np.ndarray, *, is_private: bool = False) -> ReleaseScores:
    badge = "submitted" if name.startswith("run") else "outsider"
    means = {measure: float(np.nanmean(values)) for measure in MEASURES}
    counts: dict[str, int | None] = {m: int((~np.isnan(values)).sum()) for m in MEASURES}
    by_query = dict.fromkeys(MEASURES, values)
    return ReleaseScores(
        Entrant(name, badge, is_private=is_private), means, counts, by_query=by_query
    )


@pytest.mark.parametrize("seed", range(6))
def test_two_private_runs_change_no_public_cell(seed: int) -> None:
    """Numbers.md N5: two private runs, and a public p of .0075 lost its letter."""
    rng = np.random.default_rng(seed)
    ease = rng.beta(2, 2, 60)
    public = [
        entry(f"model {m}", np.clip(ease + rng.normal(0.03 * m, 0.15, 60), 0, 1)) for m in range(4)
    ]
    private = [
        entry(f"run {m}", np.clip(ease + rng.normal(0.02, 0.1, 60), 0, 1), is_private=True)
        for m in range(2)
    ]
    private[0].by_query["AP'"][:5] = np.nan  # a query that only a private run leaves undefined
    columns = [(name, name) for name in MEASURES]
    before = release_leaderboard(public, columns, "AP'", depth=DEPTH)
    after = release_leaderboard([*public, *private], columns, "AP'", depth=DEPTH)
    cells = {line.model.name: line.cells for line in after.lines}
    for line in before.lines:
        assert cells[line.model.name] == line.cells
    for name in ("run 0", "run 1"):
        assert not any(cell.letters or cell.is_best for cell in cells[name])
        assert cells[name][0].not_apart is not None
