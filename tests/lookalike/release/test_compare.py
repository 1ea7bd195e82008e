"""Models compared on a release: the board's tests, letters and units; newcomers; every format."""

from __future__ import annotations

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pyarrow.parquet as pq
import pytest

import lookalike as lk
from lookalike.cli.main import main
from lookalike.io.errors import InputError
from lookalike.release.board import release_board
from lookalike.release.format.layout import BOARD
from lookalike.release.leaderboard import query_units, values_by_query
from lookalike.stats.significance import holm
from tests.lookalike.release.derived import current_release

COLOUR, SHAPE, TEXTURE = (
    "descriptor-colour-histogram",
    "descriptor-hog-shape",
    "descriptor-lbp-texture",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return current_release(tmp_path_factory.mktemp("release") / "small")


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["compare", *map(str, words)]) == 0
    return capsys.readouterr().out


def test_letters_and_intervals_are_those_of_the_board_in_the_release(folder: Path) -> None:
    found = lk.compare(folder, [COLOUR, SHAPE, TEXTURE])
    board = {
        (row["measure"], row["model_id"]): row
        for row in pq.read_table(folder / BOARD.path).to_pylist()
    }
    names = {name for name, _ in board}
    assert {one.measure for one in found.differences} == names - {"P_max@5", "judged@5", "hole@5"}
    for one in found.differences:
        for name, cell in ((one.first, one.first_cell), (one.second, one.second_cell)):
            row = board[one.measure, name]
            assert cell.letters == row["letters"]
            assert cell.value == row["value"]
            assert cell.low == pytest.approx(row["low"], abs=1e-9)
    assert any(one.test is not None for one in found.differences)


def test_a_difference_is_the_mean_over_common_queries_and_its_p_flips_whole_products(
    folder: Path,
) -> None:
    release = lk.open_release(folder)
    [one] = lk.compare(release, [COLOUR, SHAPE], ["AP'"]).differences
    values = values_by_query(release)
    rows = np.array([values[name]["AP'"] for name in (COLOUR, SHAPE, TEXTURE)])
    is_common = ~np.isnan(rows).any(axis=0)
    differences = (rows[0] - rows[1])[is_common]
    assert one.test is not None
    assert one.test.difference == pytest.approx(differences.mean(), abs=1e-12)
    assert one.test.n_queries == differences.size
    codes = query_units(release).codes[is_common]
    sums = np.bincount(codes, weights=differences)
    sums = sums[np.unique(codes)]
    assert one.test.n_units == sums.size
    flips = np.array(np.meshgrid(*[[1.0, -1.0]] * sums.size)).reshape(sums.size, -1)
    totals = np.abs(sums @ flips)
    assert one.test.p == pytest.approx((totals >= abs(sums.sum()) - 1e-9).mean(), abs=1e-12)


def test_the_other_order_turns_every_sign(folder: Path) -> None:
    [one] = lk.compare(folder, [COLOUR, SHAPE], ["AP'"]).differences
    [other] = lk.compare(folder, [SHAPE, COLOUR], ["AP'"]).differences
    assert one.test is not None
    assert other.test is not None
    assert other.test.difference == -one.test.difference
    assert (other.test.interval.low, other.test.interval.high) == (
        -one.test.interval.high,
        -one.test.interval.low,
    )
    assert other.test.p_holm == one.test.p_holm


def test_models_that_may_not_be_compared_are_not_tested_and_the_reason_is_told(
    folder: Path,
) -> None:
    [one] = lk.compare(folder, [COLOUR, TEXTURE], ["macro_roc_auc"]).differences
    assert one.test is None
    assert "pooled models" in one.reason
    assert one.share_letter is None


def test_a_newcomer_from_a_file_joins_the_board(folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "mine.parquet"
    copy.write_bytes((folder / f"runs/{TEXTURE}.parquet").read_bytes())
    found = lk.compare(folder, [TEXTURE, copy], ["equal_outsider_auc", "macro_roc_auc"])
    assert found.models == (TEXTURE, "mine")
    assert {line.model.name for line in found.board.lines} == {COLOUR, SHAPE, TEXTURE, "mine"}
    [area] = [one for one in found.differences if one.measure == "macro_roc_auc"]
    assert area.test is not None
    assert area.test.difference == pytest.approx(0.0, abs=1e-9)
    assert area.test.p == 1.0
    assert found.notes


def test_two_models_are_found_by_name_or_id_and_strangers_are_refused(folder: Path) -> None:
    assert lk.compare(folder, ["descriptor:hog-shape", COLOUR], ["P@5"]).models == (SHAPE, COLOUR)
    for runs, reason in (
        ([COLOUR], "two models or more"),
        ([COLOUR, COLOUR], "given twice"),
        ([COLOUR, "descriptor-hog-shap"], SHAPE),
    ):
        with pytest.raises(InputError, match=reason):
            lk.compare(folder, runs)
    with pytest.raises(InputError, match="P@x"):
        lk.compare(folder, [COLOUR, SHAPE], ["P@x"])


def test_a_measure_that_the_board_lacks_is_computed(folder: Path) -> None:
    [one] = lk.compare(folder, [COLOUR, SHAPE], ["P@3"]).differences
    [scored] = lk.open_release(folder).score(f"{folder}/runs/{COLOUR}.parquet", ["P@3"])
    assert one.first_cell.value is not None
    assert one.first_cell.n_queries is not None
    assert one.first_cell.n_queries <= (scored.outcomes["P@3"].n_defined or 0)


def test_text_fits_100_columns_and_every_format_holds_the_same_numbers(
    folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["--release", folder, "--run", COLOUR, "--run", SHAPE, "--run", TEXTURE]
    text = printed(capsys, *words)
    assert max(map(len, text.splitlines())) <= 100
    data = json.loads(printed(capsys, *words, "--format", "json"))
    assert data["differences"] == json.loads(printed(capsys, *words, "--json"))["differences"]
    rows = printed(capsys, *words, "--format", "csv").splitlines()
    assert len(rows) == 1 + len(data["differences"])
    latex = printed(capsys, *words, "--format", "latex")
    assert latex.startswith(r"\begin{tabular}")
    assert ".0000" not in latex.replace("< .0001", "").replace("1.0000", "")
    markdown = printed(capsys, *words, "--format", "markdown")
    tested = next(one for one in data["differences"] if one["p"] is not None)
    assert f"{tested['difference']:+.3f}" in text
    assert f"{tested['difference']:+.3f}" in latex
    assert f"{tested['difference']:+.3f}" in markdown


def test_the_chart_has_a_line_for_each_tested_measure(folder: Path, tmp_path: Path) -> None:
    chart = tmp_path / "chart.svg"
    words = ["compare", "--release", str(folder), "--run", COLOUR, "--run", SHAPE]
    assert main([*words, "--svg", str(chart)]) == 0
    root = ElementTree.fromstring(chart.read_text(encoding="utf-8"))  # noqa: S314
    dots = root.findall("{http://www.w3.org/2000/svg}circle")
    tested = [one for one in lk.compare(folder, [COLOUR, SHAPE]).differences if one.test]
    assert len(dots) == len(tested) > 0
    with pytest.raises(SystemExit):
        main([*words, "--svg", str(tmp_path / "chart.png")])


def test_the_letters_of_a_release_are_those_of_its_own_board(folder: Path) -> None:
    release = lk.open_release(folder)
    board = release_board(release)
    letters = {
        (column.name, line.model.name): line.cells[at].letters
        for line in board.lines
        for at, column in enumerate(board.columns)
    }
    for one in lk.compare(release, [COLOUR, SHAPE]).differences:
        assert one.first_cell.letters == letters[one.measure, COLOUR]


def test_holm_is_over_the_whole_board_not_over_the_two_models_asked_for(folder: Path) -> None:
    three = lk.compare(folder, [COLOUR, SHAPE, TEXTURE], ["equal_outsider_auc"]).differences
    [two] = lk.compare(folder, [COLOUR, SHAPE], ["equal_outsider_auc"]).differences
    tests = [one.test for one in three if one.test is not None]
    assert two.test == three[0].test
    assert [test.p_holm for test in tests] == pytest.approx(
        holm([test.p for test in tests]).tolist()
    )
    assert not any(math.isnan(test.p) for test in tests)
