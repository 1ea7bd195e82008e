"""The board of a campaign and its paired tests: what the pages show, and who may read it."""

from __future__ import annotations

import pytest

from annotation.models import Campaign
from evaluation.models import Result
from evaluation.results.leaderboard import board_tests, leaderboard
from evaluation.results.stored import StoredResult, defined
from tests.clients import Caller
from tests.worlds import World


@pytest.mark.parametrize("by", ["", "AP'", "nothing"])
def test_the_board_is_that_of_the_page(
    world: World, result: Result, researcher: Caller, by: str
) -> None:
    told = researcher.get(f"/campaigns/{world.campaign.slug}/board", by=by)
    board = leaderboard(StoredResult(result), by)
    assert (told["result"], told["campaign"]) == (str(result.uid), world.campaign.slug)
    assert told["measures"] == [column.name for column in board.columns]
    assert told["by"] == told["measures"][board.sorted_at]
    assert told["unit"] == "product"
    assert [line["name"] for line in told["lines"]] == [line.model.name for line in board.lines]
    for line, of_page in zip(told["lines"], board.lines, strict=True):
        for name, cell in zip(told["measures"], of_page.cells, strict=True):
            found = line["cells"][name]
            assert (found["value"], found["low"], found["high"]) == (
                cell.shown, cell.low, cell.high,
            )  # fmt: skip
            assert found["no_interval"] == cell.no_interval
            assert (found["letters"], found["comparable_with"]) == (
                cell.letters, cell.comparable_with,
            )  # fmt: skip


def test_comparisons_are_those_of_the_board(
    world: World, result: Result, researcher: Caller
) -> None:
    path = f"/campaigns/{world.campaign.slug}/comparisons"
    told = researcher.get(path, measure="AP'")
    tests = board_tests(StoredResult(result), "AP'")
    assert tests
    assert [(one["first"], one["second"]) for one in told["comparisons"]] == [
        (one.first, one.second) for one in tests
    ]
    for one, test in zip(told["comparisons"], tests, strict=True):
        assert one["difference"] == test.difference
        assert (one["p"], one["p_holm"]) == (defined(test.p), defined(test.p_holm))
        assert (one["n_queries"], one["n_units"]) == (test.n_queries, test.n_units)
        assert (one["low"] is None) == bool(one["no_interval"])
    assert researcher.get(path, measure="no such measure")["comparisons"] == []
    researcher.get(path, 422)


@pytest.mark.parametrize("part", ["board", "comparisons"])
def test_what_the_pages_keep_back_the_api_keeps_back(
    world: World, result: Result, researcher: Caller, admin: Caller, part: str
) -> None:
    path = f"/campaigns/{world.campaign.slug}/{part}"
    researcher.get(path, measure="P@5")
    researcher.get(f"/campaigns/nowhere/{part}", 404, measure="P@5")
    Campaign.objects.filter(pk=world.campaign.pk).update(labels_hidden=True)
    researcher.get(path, 404, measure="P@5")
    admin.get(path, measure="P@5")
    result.delete()
    admin.get(path, 404, measure="P@5")
