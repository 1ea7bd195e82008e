"""A leaderboard as a table to take away: as numbers, or as words with notes below."""

from __future__ import annotations

from collections.abc import Iterator

from lookalike.io.documents import Cell as TableCell
from lookalike.io.documents import Table
from lookalike.metrics.leaderboard import Cell, Leaderboard
from lookalike.stats.intervals import LEAST_QUERIES
from lookalike.stats.text_tables import PAGE

MEASURE_OF_PEOPLE = "macro_roc_auc"
JUDGES = "Judges, each against the majority of the others"
SIMULATED = "The judgements are simulated: programs with stated error rates gave them, not experts."
_PARTS = ("low", "high", "no_interval", "n_queries", "n_units", "letters", "comparable_with")


def numbers_table(
    board: Leaderboard, people: Cell | None = None, *, is_simulated: bool = False
) -> Table:
    """Return a leaderboard as numbers: value, ends, queries and letters in columns of their own.

    Args:
        board: it.
        people: the judges' macro ROC-AUC; they get the last row.
        is_simulated: whether programs judged, which each row then says.
    """
    header = ["model", "part_in_pool"]
    for column in board.columns:
        header += [column.name, *(f"{column.name} {part}" for part in _PARTS)]
    header += ["order_holds", *(["judges"] if is_simulated else [])]
    rows: list[list[TableCell]] = []
    for line in board.lines:
        row: list[TableCell] = [line.model.name, line.model.badge]
        for cell in line.cells:
            row += [cell.shown, cell.low, cell.high, cell.no_interval, cell.n_queries]
            row += [cell.n_units, cell.letters, cell.comparable_with]
        rows.append([*row, line.kept])
    if people is not None:
        of_people: list[TableCell] = [JUDGES, "people"]
        for column in board.columns:
            cell = people if column.name == MEASURE_OF_PEOPLE else Cell(None)
            of_people += [cell.shown, cell.low, cell.high, None, cell.n_queries, None, None, None]
        rows.append([*of_people, None])
    said = ["simulated"] if is_simulated else []
    return Table(header, [[*row, *said] for row in rows])


def words_table(board: Leaderboard, people: Cell | None = None) -> Table:
    """Return a leaderboard to be read: "0.812 [0.744, 0.871] a" in each cell.

    Models that may not be compared by the sorted column stand under headings of their own.
    """
    header = ["Model", "Part in the pool", *(column.title for column in board.columns)]
    rows: list[list[TableCell]] = []
    for section in board.sections:
        rows += [[section.title]] if section.title else []
        rows += [
            [line.model.name, line.model.badge, *map(_in_words, line.cells)]
            for line in section.lines
        ]
    if people is not None:
        names = [column.name for column in board.columns]
        of_people = [_in_words(people) if name == MEASURE_OF_PEOPLE else "" for name in names]
        rows.append([JUDGES, "people", *of_people])
    return Table(header, rows)


def table_notes(board: Leaderboard, *, is_simulated: bool = False) -> Iterator[str]:
    """Yield what must stand below a leaderboard that is read away from its page."""
    if is_simulated:
        yield SIMULATED
    yield (
        f"Best first by {board.columns[board.sorted_at].title}. In brackets 95 % intervals over "
        f"{board.sample}: what another draw of queries would change, not other judges, another "
        "pool or another catalog."
    )
    if board.has_letters:
        yield (
            "Models that share a letter in a column may be compared there and are not told apart "
            f"(paired sign-flip tests{_flipped(board)}, Holm within the column, 5 %)."
        )
    if board.is_any_alone:
        yield "Values with * may be compared with nobody’s."
    if board.has_few_queries:
        yield f"{PAGE.dash} is a mean of fewer than {LEAST_QUERIES} queries."
    if reasons := board.blank_reasons:
        yield f"Values without an interval: {'; '.join(reasons)}."
    if queries := list(_queries(board)):
        yield f"Means over: {'; '.join(queries)}."
    if orders := list(_orders(board)):
        yield f"Share of bootstrap samples of the queries that keep the order: {', '.join(orders)}."


def _flipped(board: Leaderboard) -> str:
    return f" that flip queries of one {board.unit} together" if board.has_shared_units else ""


def _queries(board: Leaderboard) -> Iterator[str]:
    for at, column in enumerate(board.columns):
        samples = {line.cells[at].sample for line in board.lines if line.cells[at].n_queries}
        if samples:
            yield f"{column.title} {' or '.join(sorted(samples))}"


def _orders(board: Leaderboard) -> Iterator[str]:
    for section in board.sections:
        for line, below in zip(section.lines, section.lines[1:], strict=False):
            if line.kept is not None:
                yield f"{line.model.name} above {below.model.name} {line.kept:.0%}"


def _in_words(cell: Cell) -> str:
    if cell.shown is None:
        return PAGE.dash
    ends = "" if cell.low is None else f"[{cell.low:.3f}, {cell.high:.3f}]"
    star = "*" if cell.is_alone else ""
    return " ".join(filter(None, [f"{cell.shown:.4f}{star}", ends, cell.letters]))
