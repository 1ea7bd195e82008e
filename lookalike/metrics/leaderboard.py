"""A leaderboard: which values may be held against which, which are told apart, and how sure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lookalike.metrics.uncertainty import ALPHA, significance_letters
from lookalike.stats.intervals import LEAST_QUERIES
from lookalike.stats.significance import PairedTest
from lookalike.stats.units import PRODUCT, sample_words

ALL, NOBODY = "all models", "nobody"
POOLED_ONLY, OUTSIDERS_ONLY = "pooled models", "outsiders"


@dataclass(frozen=True)
class Cell:
    """One value of one model.

    Attributes:
        value, low, high: the mean and the ends of its interval, None if undefined.
        n_queries: how many queries the mean is over; None where it is no mean over queries.
        comparable_with: whose values this one may be held against: a group such as "pooled
            models", `ALL` or `NOBODY`.
        reason: why.
        letters: models that share a letter may be compared in this column, and are not told apart.
        is_best: whether it is told apart from, and above, every other value that it may be
            compared with, and no number beside it is higher.
        not_apart: of a private model, which others no test tells it apart from.
        n_units: how many independent units its queries have; None where that is unknown.
        unit: what a unit is, "product" or the column that names them.
        no_interval: why a value has no interval; "" where it has one, or never has.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    n_queries: int | None = None
    comparable_with: str = ALL
    reason: str = ""
    letters: str = ""
    is_best: bool = False
    not_apart: tuple[str, ...] | None = None
    n_units: int | None = None
    unit: str = PRODUCT
    no_interval: str = ""

    @property
    def is_alone(self) -> bool:
        """Whether it may be held against nobody's value."""
        return self.comparable_with == NOBODY

    @property
    def has_few_queries(self) -> bool:
        """Whether it is the mean of too few queries to be shown."""
        return self.n_queries is not None and self.n_queries < LEAST_QUERIES

    @property
    def has_shared_units(self) -> bool:
        """Whether queries of it share a unit."""
        return self.n_units is not None and self.n_units < (self.n_queries or 0)

    @property
    def sample(self) -> str:
        """How many queries it is over, and of how many units where they share some."""
        return (
            "" if self.n_queries is None else sample_words(self.n_queries, self.n_units, self.unit)
        )

    @property
    def shown(self) -> float | None:
        """The value, None where it is undefined or the mean of too few queries."""
        return None if self.has_few_queries else self.value


@dataclass(frozen=True)
class Entrant:
    """A model that takes part.

    Attributes:
        name: as shown.
        badge: its part in the pool: "pooled", "sibling", "outsider" or "submitted".
        notes: what must be read beside its values, in a few words each.
        key: of its page; "" where it has none.
        is_private: whether only its owner sees it. It changes no letter of the others.
    """

    name: str
    badge: str
    notes: Sequence[str] = ()
    key: str = ""
    is_private: bool = False


def seen_note(n_seen: int, n_queries: int) -> list[str]:
    """Return the note of a model that has learned labels or captions of what it is asked.

    >>> seen_note(12, 30)
    ['learned from 12 of 30 queries']
    """
    return [f"learned from {n_seen:,} of {n_queries:,} queries"] if n_seen else []


@dataclass(frozen=True)
class Line:
    """One model with its values.

    Attributes:
        model: it.
        cells: one for each column.
        kept: share of bootstrap samples of the queries in which it stays above the next line of
            its section, by the sorted column; None for the last, and where it is not known.
    """

    model: Entrant
    cells: Sequence[Cell]
    kept: float | None = None


@dataclass(frozen=True)
class Column:
    """One measure, and whether the table is sorted by it."""

    name: str
    title: str
    is_sorted: bool


@dataclass(frozen=True)
class Section:
    """Models that may be compared by the sorted column, best first.

    Attributes:
        title: "" where the table has one section alone.
        lines: the models.
    """

    title: str
    lines: Sequence[Line]


@dataclass(frozen=True)
class Leaderboard:
    """Models by measures, never ranked across groups that may not be compared."""

    columns: Sequence[Column]
    sections: Sequence[Section]

    @property
    def lines(self) -> list[Line]:
        """All models, section by section."""
        return [line for section in self.sections for line in section.lines]

    @property
    def sorted_at(self) -> int:
        """The place of the column that the table is sorted by."""
        return next(at for at, column in enumerate(self.columns) if column.is_sorted)

    @property
    def has_letters(self) -> bool:
        """Whether any test was made."""
        return any(cell.letters for line in self.lines for cell in line.cells)

    @property
    def has_few_queries(self) -> bool:
        """Whether a value is left out since it is the mean of too few queries."""
        return any(cell.has_few_queries for line in self.lines for cell in line.cells)

    @property
    def largest_sample(self) -> Cell | None:
        """The cell with the most queries; None where no value is a mean over queries."""
        cells = [c for line in self.lines for c in line.cells if c.n_queries]
        cells = [cell for cell in cells if cell.n_units is not None] or cells
        return max(cells, key=lambda cell: cell.n_queries or 0, default=None)

    @property
    def sample(self) -> str:
        """What intervals are over, such as "100 queries of 75 products"."""
        return self.largest_sample.sample if self.largest_sample else "queries"

    @property
    def unit(self) -> str:
        """What an independent unit is, such as "product"."""
        return self.largest_sample.unit if self.largest_sample else PRODUCT

    @property
    def has_shared_units(self) -> bool:
        """Whether queries share a unit."""
        return bool(self.largest_sample and self.largest_sample.has_shared_units)

    @property
    def blank_reasons(self) -> list[str]:
        """Why values have no interval, each reason once."""
        cells = (cell for line in self.lines for cell in line.cells if cell.shown is not None)
        return sorted({cell.no_interval for cell in cells} - {""})

    @property
    def tells_order(self) -> bool:
        """Whether it is known how sure the order of neighbours is."""
        return any(line.kept is not None for line in self.lines)

    @property
    def is_any_alone(self) -> bool:
        """Whether a value may be held against nobody's."""
        return any(cell.is_alone for line in self.lines for cell in line.cells)

    @property
    def n_columns(self) -> int:
        """How many columns the table has, with the names and the order's."""
        return len(self.columns) + 1 + self.tells_order

    @property
    def badges(self) -> set[str]:
        """The badges that occur."""
        return {line.model.badge for line in self.lines}


@dataclass(frozen=True)
class Measured:
    """A column before its values are held against each other.

    Attributes:
        name: of the measure.
        title: as a reader knows it.
        cells: by model; letters and `is_best` are set by `make_leaderboard`.
        tests: paired tests of each two models, corrected by `family_tests`; none where none
            was made.
        kept: how often `better` stays above `worse`, by (better, worse).
    """

    name: str
    title: str
    cells: Mapping[str, Cell]
    tests: Sequence[PairedTest] = ()
    kept: Mapping[tuple[str, str], float] = field(default_factory=dict)


def make_leaderboard(
    models: Sequence[Entrant], measured: Sequence[Measured], by: str = ""
) -> Leaderboard:
    """Return the table, in sections of models that may be compared, the best first in each.

    Letters, and what is best, are found within models that may be compared: two models share a
    letter only if they may be compared and no test tells them apart.

    Args:
        models: with different names.
        measured: the columns, each with a cell for every model.
        by: the name of the column to sort by; the first where there is none of that name.

    >>> cells = {"a": Cell(0.9, n_queries=40), "b": Cell(0.7, n_queries=40)}
    >>> models = [Entrant("b", "pooled"), Entrant("a", "pooled")]
    >>> board = make_leaderboard(models, [Measured("P@5", "P@5", cells)])
    >>> [(line.model.name, line.cells[0].value) for line in board.lines]
    [('a', 0.9), ('b', 0.7)]
    """
    by_name = {model.name: model for model in models}
    chosen = next((column for column in measured if column.name == by), measured[0])
    private = {model.name for model in models if model.is_private}
    marked = [_marked(column, private, in_sections=column is chosen) for column in measured]
    columns = [Column(column.name, column.title, column is chosen) for column in measured]
    groups = _groups(chosen.cells)
    sections = []
    for group, names in groups.items():
        lines = []
        for name, following in zip(names, [*names[1:], ""], strict=True):
            kept = None if group == NOBODY else chosen.kept.get((name, following))
            lines.append(Line(by_name[name], [cells[name] for cells in marked], kept))
        sections.append(Section(_title(group) if len(groups) > 1 else "", lines))
    return Leaderboard(columns, sections)


def _groups(cells: Mapping[str, Cell]) -> dict[str, list[str]]:
    """Return the models by whom they may be compared with, best first; alone ones stand last."""
    groups: dict[str, list[str]] = {}
    for name in sorted(cells, key=lambda name: _falling(cells[name].shown)):
        groups.setdefault(cells[name].comparable_with, []).append(name)
    if NOBODY in groups:
        groups[NOBODY] = groups.pop(NOBODY)
    return groups


def comparison_groups(cells: Mapping[str, Cell]) -> dict[str, str | None]:
    """Return whom each model may be compared with, None where nobody or without a value."""
    return {
        name: None if cell.is_alone or cell.value is None else cell.comparable_with
        for name, cell in cells.items()
    }


def _marked(column: Measured, private: Collection[str], *, in_sections: bool) -> dict[str, Cell]:
    """Return the cells with letters, and the best of each group marked.

    Outsiders get their letters last, so that a newcomer to a pool renames no letter of its models.
    Where the groups have no sections of their own, a best one stands beside higher numbers that it
    may not be compared with; bold would mislead there.
    """
    differs = {(test.first, test.second): test.p_holm < ALPHA for test in column.tests}
    marked = dict(column.cells)
    n_letters = 0
    public = [cell for name, cell in column.cells.items() if name not in private]
    highest = max((cell.shown for cell in public if cell.shown is not None), default=0.0)
    groups = _groups(column.cells)
    for group in sorted(groups, key=lambda name: name == OUTSIDERS_ONLY):  # newcomers come last
        shown = [name for name in groups[group] if column.cells[name].shown is not None]
        ranked = [name for name in shown if name not in private]
        if group == NOBODY or not differs or not ranked:
            continue
        for name in set(shown) & set(private):
            marked[name] = replace(marked[name], not_apart=_not_apart(name, ranked, differs))
        letters = significance_letters(ranked, differs, start=n_letters)
        n_letters += len(set("".join(letters.values())))
        best, *others = ranked
        tops = in_sections or column.cells[best].shown == highest
        is_separated = (
            bool(others)
            and tops
            and all(
                differs.get((best, other), differs.get((other, best), False)) for other in others
            )
        )
        for name in ranked:
            is_best = is_separated and name == best
            marked[name] = replace(marked[name], letters=letters[name], is_best=is_best)
    return marked


def _not_apart(
    name: str, others: Sequence[str], differs: Mapping[tuple[str, str], bool]
) -> tuple[str, ...]:
    return tuple(
        other for other in others if not (differs.get((name, other)) or differs.get((other, name)))
    )


def _title(group: str) -> str:
    if group == NOBODY:
        return "Not comparable with any other model here"
    return f"Comparable with each other: {group}"


def _falling(value: float | None) -> float:
    """Sort by falling value, the undefined last."""
    return float("inf") if value is None else -value
