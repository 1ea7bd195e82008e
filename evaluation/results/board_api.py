"""The board of a campaign and its paired tests as plain values, for the API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from evaluation.models import Result
from evaluation.results.leaderboard import board_tests, leaderboard
from evaluation.results.stored import StoredResult, defined
from lookalike.metrics.leaderboard import Cell, Line
from lookalike.stats.significance import PairedTest
from lookalike.stats.units import QUERY

CELL = (
    *("low", "high", "no_interval", "n_queries", "n_units", "comparable_with", "reason"),
    *("letters", "is_best"),
)


def board_values(row: Result, by: str) -> dict[str, Any]:
    """Return the board of a result; `by` sorts it, the first column if there is none so named."""
    result = StoredResult(row)
    board = leaderboard(result, by)
    names = [column.name for column in board.columns]
    return {
        **_of(result),
        "created_at": row.created_at,
        "by": names[board.sorted_at],
        "measures": names,
        "lines": [_line(line, names) for line in board.lines],
    }


def comparison_values(row: Result, measure: str) -> dict[str, Any]:
    """Return the paired tests of a result by a measure, as its board corrects them."""
    result = StoredResult(row)
    known = measure in row.settings["measures"] or bool(result.tests(measure))
    tests = board_tests(result, measure) if known else ()
    return {**_of(result), "measure": measure, "comparisons": [_test(one) for one in tests]}


def _of(result: StoredResult) -> dict[str, Any]:
    labels = result.summary.labels
    is_shared = labels.n_units is not None and labels.n_units < labels.n_queries
    return {
        "campaign": result.row.campaign.slug,
        "result": result.row.uid,
        "unit": labels.unit if is_shared else QUERY,
    }


def _line(line: Line, names: list[str]) -> dict[str, Any]:
    return {
        "name": line.model.name,
        "badge": line.model.badge,
        "notes": list(line.model.notes),
        "cells": {name: _cell(cell) for name, cell in zip(names, line.cells, strict=True)},
    }


def _cell(cell: Cell) -> dict[str, Any]:
    values = asdict(cell)
    return {"value": cell.shown, **{name: values[name] for name in CELL}}


def _test(test: PairedTest) -> dict[str, Any]:
    ends = test.interval
    return {
        **{name: getattr(test, name) for name in ("first", "second", "n_queries", "n_units")},
        "difference": test.difference,
        "low": defined(ends.low),
        "high": defined(ends.high),
        "no_interval": ends.reason,
        **{name: defined(getattr(test, name)) for name in ("effect_size", "p", "p_holm")},
    }
