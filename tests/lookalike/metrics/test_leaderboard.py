"""A leaderboard never ranks, letters or crowns across what may not be compared."""

from __future__ import annotations

import csv
import io

import pytest

from lookalike.io.documents import as_csv, as_latex, as_markdown
from lookalike.metrics.leaderboard import (
    NOBODY,
    Cell,
    Entrant,
    Leaderboard,
    Measured,
    make_leaderboard,
)
from lookalike.metrics.leaderboard_tables import numbers_table, table_notes, words_table
from lookalike.stats.proportion import Interval
from lookalike.stats.significance import PairedTest

MODELS = {
    "deep": "pooled",
    "wide": "pooled",
    "plain": "pooled",
    "new": "outsider",
    "raw": "outsider",
}
GROUPS = {"pooled": "pooled models", "outsider": "outsiders"}
VALUES = {"new": 0.95, "raw": 0.94, "deep": 0.9, "wide": 0.7, "plain": 0.69}


def paired(p_values: dict[tuple[str, str], float]) -> list[PairedTest]:
    names = list(MODELS)
    return [
        PairedTest(
            first=a,
            second=b,
            difference=VALUES[a] - VALUES[b],
            interval=Interval(0.0, 1.0),
            effect_size=1.0,
            p=p_values.get((a, b), 0.5),
            p_holm=p_values.get((a, b), 0.5),
            p_t=0.5,
            n_queries=40,
        )
        for i, a in enumerate(names)
        for b in names[i + 1 :]
    ]


def board(
    p_values: dict[tuple[str, str], float] | None = None, n_queries: int = 40, group: str = ""
) -> Leaderboard:
    cells = {
        name: Cell(VALUES[name], 0.6, 0.99, n_queries, group or GROUPS[badge])
        for name, badge in MODELS.items()
    }
    kept = {("deep", "wide"): 0.999, ("wide", "plain"): 0.55, ("new", "raw"): 0.6}
    column = Measured("macro_roc_auc", "ROC-AUC", cells, paired(p_values or {}), kept)
    return make_leaderboard([Entrant(*model) for model in MODELS.items()], [column])


def cell(found: Leaderboard, name: str) -> Cell:
    return next(line.cells[0] for line in found.lines if line.model.name == name)


def test_models_that_may_not_be_compared_stand_in_sections_of_their_own() -> None:
    found = board()
    assert [[line.model.name for line in section.lines] for section in found.sections] == [
        ["new", "raw"],
        ["deep", "wide", "plain"],
    ]
    assert found.sections[0].title == "Comparable with each other: outsiders"
    assert [line.kept for line in found.lines] == [0.6, None, 0.999, 0.55, None]


def test_letters_are_shared_only_by_what_may_be_compared() -> None:
    found = board({("deep", "wide"): 0.001, ("deep", "plain"): 0.001})
    letters = {name: cell(found, name).letters for name in MODELS}
    assert letters == {"deep": "a", "wide": "b", "plain": "b", "new": "c", "raw": "c"}


def test_bold_is_only_what_is_told_apart_from_all_it_may_be_compared_with() -> None:
    one = {("deep", "wide"): 0.001}
    assert not any(cell(board(one), name).is_best for name in MODELS)
    both = {**one, ("deep", "plain"): 0.001}
    assert [name for name in MODELS if cell(board(both), name).is_best] == ["deep"]


def test_bold_never_stands_beside_a_higher_number_of_another_group() -> None:
    """Sorted by another column, pooled models and outsiders stand in one section."""
    first = Measured("P@5", "P@5", {name: Cell(0.5, n_queries=40) for name in MODELS})
    told_apart = paired({("deep", "wide"): 0.001, ("deep", "plain"): 0.001})
    for beyond, crowned in ((0.95, []), (0.85, ["deep"])):
        values = {**VALUES, "new": beyond, "raw": beyond}
        cells = {
            name: Cell(values[name], n_queries=40, comparable_with=GROUPS[badge])
            for name, badge in MODELS.items()
        }
        second = Measured("macro_roc_auc", "ROC-AUC", cells, told_apart, {})
        found = make_leaderboard([Entrant(*model) for model in MODELS.items()], [first, second])
        assert [line.model.name for line in found.lines if line.cells[1].is_best] == crowned


def test_what_may_be_compared_with_nobody_is_neither_lettered_nor_crowned() -> None:
    found = board({("deep", "new"): 0.001}, group=NOBODY)
    assert found.sections[0].title == ""  # one section alone
    for line in found.lines:
        assert line.kept is None
        assert (line.cells[0].letters, line.cells[0].is_best) == ("", False)


@pytest.mark.parametrize(("n_queries", "shown"), [(9, None), (10, 0.9)])
def test_a_mean_of_fewer_than_ten_queries_is_a_dash(n_queries: int, shown: float | None) -> None:
    found = board({("deep", "wide"): 0.001, ("deep", "plain"): 0.001}, n_queries=n_queries)
    assert cell(found, "deep").shown == shown
    assert cell(found, "deep").is_best == (shown is not None)
    assert ("–" in as_markdown(words_table(found))) == (shown is None)


def test_the_table_is_taken_away_as_numbers_and_as_words() -> None:
    found = board({("deep", "wide"): 0.001, ("deep", "plain"): 0.001})
    rows = list(csv.DictReader(io.StringIO(as_csv(numbers_table(found)))))
    assert [row["model"] for row in rows] == ["new", "raw", "deep", "wide", "plain"]
    assert rows[2]["macro_roc_auc"] == "0.9"
    assert rows[2]["macro_roc_auc letters"] == "a"
    assert rows[2]["macro_roc_auc comparable_with"] == "pooled models"
    assert "| deep | pooled | 0.9000 [0.600, 0.990] a |" in as_markdown(words_table(found))
    assert r"deep & pooled & 0.9000 [0.600, 0.990] a \\" in as_latex(words_table(found))


def test_what_is_taken_away_keeps_apart_what_the_page_keeps_apart_and_explains_its_signs() -> None:
    people = Cell(0.91, 0.88, 0.94, 40)
    found = board({("deep", "wide"): 0.001, ("deep", "plain"): 0.001})
    in_markdown = as_markdown(words_table(found, people)).splitlines()
    assert in_markdown[2] == "| **Comparable with each other: outsiders** |  |  |"
    assert in_markdown[5] == "| **Comparable with each other: pooled models** |  |  |"
    assert in_markdown[-1].endswith("of the others | people | 0.9100 [0.880, 0.940] |")
    heading = r"\multicolumn{3}{l}{\emph{Comparable with each other: outsiders}} \\"
    assert heading in as_latex(words_table(found, people))
    notes = " ".join(table_notes(found, is_simulated=True))
    for words in (
        "The judgements are simulated",
        "95 % intervals over 40 queries",
        "Models that share a letter",
        "Holm within the column",
        "Means over: ROC-AUC 40 queries.",
        "keep the order: new above raw 60%, deep above wide 100%, wide above plain 55%.",
    ):
        assert words in notes
    assert "Values with * may be compared with nobody" in " ".join(table_notes(board(group=NOBODY)))
    rows = list(
        csv.DictReader(io.StringIO(as_csv(numbers_table(found, people, is_simulated=True))))
    )
    assert [row["order_holds"] for row in rows] == ["0.6", "", "0.999", "0.55", "", ""]
    assert (rows[-1]["part_in_pool"], rows[-1]["macro_roc_auc"]) == ("people", "0.91")
    assert {row["judges"] for row in rows} == {"simulated"}
