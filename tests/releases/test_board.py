"""The board on a release's page is the one that stands in the release, and that compare gives."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from django.contrib.auth.models import AnonymousUser

import lookalike as lk
from lookalike.release.format.layout import BOARD
from releases.models import Release
from releases.site.board import board_of

PARTS = ("low", "high", "letters", "comparable_with", "reason", "n_queries", "no_interval")


def test_page_release_and_compare_give_the_same_board(release: Release, folder: Path) -> None:
    names = {model["name"]: model["id"] for model in release.entrants}
    frozen = {
        (row["measure"], row["model_id"]): row
        for row in pq.read_table(folder / BOARD.path).to_pylist()
    }
    shown = board_of(release, AnonymousUser(), "", hidden=False)
    found = lk.compare(folder, sorted(names.values()))
    cells = {
        (one.measure, name): cell
        for one in found.differences
        for name, cell in ((one.first, one.first_cell), (one.second, one.second_cell))
    }
    for line in shown.lines:
        for column, cell in zip(shown.columns, line.cells, strict=True):
            key = (column.name, names[line.model.name])
            assert cell.value == frozen[key]["value"]
            for part in PARTS:
                on_page, in_release = getattr(cell, part), frozen[key][part]
                if isinstance(on_page, float):
                    assert in_release == pytest.approx(on_page, abs=1e-11), part
                else:
                    assert in_release == on_page, part
                if key in cells:
                    assert getattr(cells[key], part) == on_page, part
    assert cells.keys() <= frozen.keys()
