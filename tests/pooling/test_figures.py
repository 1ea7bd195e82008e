"""The figures of the pool page, laid out by hand-computed numbers."""

from __future__ import annotations

import pytest

from pooling.pools.figures import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    column_letter,
    make_histogram,
    overlap_table,
)


def counted(*rows):
    return {"candidates_per_query": {"histogram": [list(row) for row in rows]}}


def test_columns_are_lettered_as_in_a_spreadsheet():
    assert [column_letter(n) for n in (0, 1, 25, 26, 27, 51, 52, 701, 702)] == [
        "A", "B", "Z", "AA", "AB", "AZ", "BA", "ZZ", "AAA",
    ]  # fmt: skip


def test_every_number_between_least_and_most_has_a_bar_even_if_no_query_has_it():
    histogram = make_histogram(counted([6, 1], [9, 4]))
    assert histogram is not None
    assert [(bar.n_candidates, bar.n_queries) for bar in histogram.bars] == [
        (6, 1), (7, 0), (8, 0), (9, 4),
    ]  # fmt: skip


def test_the_tallest_bar_fills_the_height_and_others_are_in_proportion():
    histogram = make_histogram(counted([6, 1], [7, 4]))
    assert histogram is not None
    room = HEIGHT - TOP - BOTTOM
    assert [bar.height for bar in histogram.bars] == [room / 4, room]
    assert all(bar.y + bar.height == histogram.baseline for bar in histogram.bars)
    assert histogram.bars[-1].x + histogram.bars[-1].width < WIDTH - RIGHT
    assert histogram.bars[0].x > LEFT


def test_many_bars_are_neither_all_counted_nor_all_marked():
    histogram = make_histogram(counted(*([n, 1] for n in range(1, 101))))
    assert histogram is not None
    assert not any(bar.is_labelled for bar in histogram.bars)
    assert len(histogram.x_ticks) <= 12


def test_nothing_proposed_is_no_histogram_and_one_model_no_overlap():
    assert make_histogram({}) is None
    assert overlap_table({}) == []
    assert overlap_table({"models": ["a"], "overlap": [[1.0]]}) == []


def test_a_cell_is_shaded_in_tenths_of_what_is_shared():
    rows = overlap_table({"models": ["x", "y"], "overlap": [[1.0, 0.26], [None, None]]})
    assert [row.spec for row in rows] == ["x", "y"]
    assert [row.letter for row in rows] == ["A", "B"]
    first = rows[0].cells
    assert [cell.is_self for cell in first] == [True, False]
    assert first[1].share == pytest.approx(0.26)
    assert first[1].shade == 3
    assert [(cell.share, cell.shade) for cell in rows[1].cells] == [(None, 0), (None, 0)]
