"""Every interval on a page covers what it promises, and the document's figures are the script's."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

from tests.paths import ROOT
from tests.simulations import simulation_module

SCRIPT = ROOT / "docs/simulations/coverage.py"
N_WORLDS = 60
CHANCE = 0.115  # four standard errors of a share of 95 % in so many worlds


@pytest.fixture(scope="module")
def simulation() -> Iterator[ModuleType]:
    with simulation_module("coverage") as module:
        yield module


def documented(simulation: ModuleType) -> dict[str, list[str]]:
    """Return the cells of each row of the table in the document, by situation."""
    text = simulation.DOCUMENT.read_text(encoding="utf-8")
    lines = text.split(simulation.BEGIN)[1].split(simulation.END)[0].strip().splitlines()[2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: row[1:] for row in cells}


def share(cell: str) -> float:
    return float(cell.partition("%")[0]) / 100


def test_the_documented_coverage_keeps_the_promise_from_twenty_queries_on(
    simulation: ModuleType,
) -> None:
    rows = documented(simulation)
    assert list(rows) == [situation.name for situation in simulation.SITUATIONS]
    low, high = simulation.PROMISED
    for situation in simulation.SITUATIONS:
        cells = rows[situation.name][: len(simulation.N_QUERIES)]
        for n, cell in zip(simulation.N_QUERIES, cells, strict=True):
            if n >= 20 and not cell.startswith("blank"):
                assert low <= share(cell) <= high, (situation.name, cell)


def test_every_row_stands_on_a_page_and_every_interval_of_a_page_has_a_row(
    simulation: ModuleType,
) -> None:
    text = simulation.DOCUMENT.read_text(encoding="utf-8")
    lines = text.split("Where each of them stands:")[1].strip().split("\n\n")[0].splitlines()[2:]
    named = [row.strip() for line in lines for row in line.strip("|").split("|")[2].split("; ")]
    assert set(named) == {situation.name for situation in simulation.SITUATIONS}


@pytest.mark.daily
def test_the_code_covers_what_the_document_says(simulation: ModuleType) -> None:
    rows = documented(simulation)
    for situation in simulation.SITUATIONS:
        found = simulation.coverage(situation, 20, N_WORLDS)
        cell = rows[situation.name][1]
        if cell.startswith("blank"):
            assert found.shown < 4 * simulation.SELDOM
            continue
        assert abs(found.held - share(cell)) < CHANCE, situation.name
        partly = re.search(r"(\d+)% shown", cell)
        assert abs(found.shown - (int(partly[1]) / 100 if partly else 1)) < 2 * CHANCE


def test_percentiles_would_not_keep_it(simulation: ModuleType) -> None:
    success = next(s for s in simulation.SITUATIONS if "nine in ten" in s.name)
    found = simulation.coverage(success, 20, N_WORLDS)
    assert found.percentile < 0.8
    assert found.held > 0.9


def test_the_check_finds_other_figures_and_broken_promises_but_not_another_rounding(
    simulation: ModuleType,
) -> None:
    table = "| of | 10 |\n|---|---|\n| a | 91.0% | 95.0% (94% shown) | none shown | 94.0% |  |"

    def found(old: str, new: str) -> list[str]:
        assert old in table
        return list(simulation.faults(table.replace(old, new), table))

    assert found("95.0%", "95.0%") == found("95.0%", "95.1%") == []
    assert found("95.0%", "95.2%") == [
        "a: 95.2% (94% shown), but 95.0% (94% shown) in the document"
    ]
    assert len(found("94% shown", "90% shown")) == len(found("none shown", "95.0%")) == 1
    assert found("95.0%", "blank (3% shown)")
    assert found("| a", "| b") == ["the document has other rows"]
    assert list(simulation.faults(table.replace("94.0%", "92.9%"), table)) == [
        "a: 92.9%, but 94.0% in the document", "a: 92.9% at 200 queries"
    ]  # fmt: skip


@pytest.mark.daily
@pytest.mark.timeout(3600)
def test_the_figures_of_the_document_are_those_of_the_script() -> None:
    command = [sys.executable, str(SCRIPT), "--check"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
