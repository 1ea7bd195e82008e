"""What somebody uploads to a campaign changes of other models only the correction it belongs to.

Everyone who sees the board sees an upload, so it is one of the family of tests of those models
that it may be compared with, as a published submission to a release is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from evaluation.models import Run
from evaluation.results.assessment import assess
from evaluation.results.leaderboard import board_tests, leaderboard
from evaluation.results.services import store_result
from evaluation.results.stored import StoredResult
from evaluation.runs.stored_runs import store_run
from lookalike.io.tables import Run as Scores
from lookalike.metrics.leaderboard import POOLED_ONLY, Cell
from lookalike.stats.significance import PairedTest
from tests.kept import kept
from tests.worlds import World, build_world, judge_world

pytestmark = pytest.mark.django_db
MEASURES = ("P@5", "Success@5", "AP'", "macro_roc_auc", "vsd_hr@5", "equal_outsider_auc")
Row = tuple[str, str, float]


def large_world() -> World:
    return judge_world(build_world(n_queries=30, has_unit_vectors=True))


judged = kept(large_world)


@pytest.fixture
def world(db: None) -> World:
    return judged()


def names(world: World) -> list[str]:
    return [image.sha256 for image in world.images]


def whole(world: World, seed: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    ids = names(world)
    return [(a, b, float(rng.random())) for a in ids for b in ids if a != b]


def one_query(world: World) -> list[Row]:
    first = names(world)[0]
    return [row for row in whole(world, 1) if row[0] == first]


def judged_alone(world: World) -> list[Row]:
    pairs = world.campaign.questions.filter(kind="pair")
    rng = np.random.default_rng(2)
    rows = pairs.values_list("query__sha256", "candidate__sha256")
    return [(query, candidate, float(rng.random())) for query, candidate in rows]


def constant(world: World) -> list[Row]:
    return [(query, candidate, 1.0) for query, candidate, _ in whole(world, 3)]


UPLOADS: dict[str, Callable[[World], list[Row]]] = {
    "one query": one_query,
    "judged alone": judged_alone,
    "constant": constant,
}


def upload(world: World, rows: list[Row], name: str, depth: int | None = None) -> None:
    run = Scores.of(name, rows)
    if depth is not None:
        run = Scores(**{**vars(run), "depth": depth})
    Run.objects.create(
        campaign=world.campaign, name=name, sha256=store_run(run), missing="worst", coverage={}
    )


def assessed(world: World) -> StoredResult:
    found = assess(world.campaign, n_bootstraps=200)
    return StoredResult(store_result(campaign=world.campaign, assessment=found, job=None))


def cells(result: StoredResult, uploads: set[str]) -> dict[tuple[str, str], Cell]:
    """Return what the board says of each model that was there before."""
    board = leaderboard(result, "P@5")
    return {
        (column.name, line.model.name): line.cells[at]
        for line in board.lines
        if line.model.name not in uploads
        for at, column in enumerate(board.columns)
    }


def pairs(result: StoredResult, uploads: set[str]) -> dict[tuple[str, str, str], PairedTest]:
    return {
        (name, one.first, one.second): one
        for name in MEASURES
        for one in board_tests(result, name)
        if not {one.first, one.second} & uploads
    }


def uncorrected(cell: Cell) -> Cell:
    return replace(cell, letters="", is_best=False)


def assert_unchanged(before: StoredResult, after: StoredResult, uploads: set[str]) -> None:
    was, now = cells(before, set()), cells(after, uploads)
    assert was.keys() == now.keys()
    for key, cell in was.items():
        assert uncorrected(cell) == uncorrected(now[key])
        if cell.comparable_with == POOLED_ONLY:
            assert cell == now[key]
    told, tells = pairs(before, set()), pairs(after, uploads)
    assert told.keys() == tells.keys()
    for (measure, first, second), one in told.items():
        other = tells[measure, first, second]
        assert repr(replace(one, p_holm=0.0)) == repr(replace(other, p_holm=0.0))
        if was[measure, first].comparable_with == POOLED_ONLY:
            assert repr(one) == repr(other)


@pytest.mark.parametrize("kind", list(UPLOADS))
def test_an_upload_changes_no_value_interval_or_p_of_other_models(world, kind):
    before = assessed(world)
    upload(world, UPLOADS[kind](world), "hostile", depth=3 if kind == "one query" else None)
    after = assessed(world)
    assert not after.summary.left_out
    assert_unchanged(before, after, {"hostile"})


def test_a_crowd_of_uploads_changes_no_letter_of_models_it_is_not_compared_with(world):
    before = assessed(world)
    crowd = {f"run {at}" for at in range(6)}
    for at, name in enumerate(sorted(crowd)):
        upload(world, whole(world, at), name)
    after = assessed(world)
    assert_unchanged(before, after, crowd)
    pooled = {key for key, cell in cells(before, set()).items() if cell.letters}
    assert pooled, "there are letters to change"
