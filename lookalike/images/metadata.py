"""Read the metadata of a catalog: a table of any usual kind, or the JSON of the VSD benchmark.

Tables have a column that names the file, one that names the product, and attributes; an empty
cell means that the value is not known. JSON: `{"images": [{"id", "path", ...}]}`, where `id` is
the product (Barkan et al., VSD benchmark, 2023) and further keys are attributes.

A row that is wrong is left out and reported; a file that is wrong as a whole is refused. Values
that would merge or split products or classes are findings, which a person has to confirm.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from lookalike.images.metadata_columns import PRODUCT, Choice, Columns, find_columns
from lookalike.images.metadata_json import (
    entries_as_table,
    json_document,
    vsd_entries,
    vsd_row,
)
from lookalike.images.metadata_table import (
    MAX_BYTES,
    MAX_ROWS,
    MetadataTable,
    read_table,
)
from lookalike.images.metadata_values import repair_values
from lookalike.images.problems import Problem
from lookalike.images.rows import (
    MAX_ATTRIBUTE,
    MAX_COLUMNS,
    MAX_PRODUCT,
    MetadataError,
    Row,
    UnknownColumnsError,
    as_text,
    make_row,
)
from lookalike.io.values import Finding

__all__ = [
    "MAX_ATTRIBUTE",
    "MAX_BYTES",
    "MAX_COLUMNS",
    "MAX_PRODUCT",
    "Choice",
    "Metadata",
    "MetadataError",
    "Preview",
    "Row",
    "UnknownColumnsError",
    "as_text",
    "make_row",
    "read_metadata",
    "read_preview",
]

N_PREVIEW = 5


@dataclass(frozen=True)
class Preview:
    """The beginning of a table, for the person who gave it.

    Attributes:
        columns: name and use of each: "file", "product", "attribute", or why it is left out.
        rows: the first rows, a cell for each column.
        details: how the table was read.
        n_rows: of the table, those that cannot be used included.
    """

    columns: list[tuple[str, str]]
    rows: list[list[str]]
    details: str
    n_rows: int


@dataclass
class Metadata:
    """The usable rows by path, and what was wrong with the others.

    Attributes:
        notes: remarks on the table, though nothing is wrong.
        names_all: only files with a row are wanted.
        findings: values that may not be what they were.
        preview: None for what is no table.
    """

    name: str
    rows: dict[str, Row] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    names_all: bool = False
    findings: list[Finding] = field(default_factory=list)
    preview: Preview | None = None

    def where(self, condition: str) -> Metadata:
        """Return the rows of one value of an attribute, files without a row left out.

        Args:
            condition: `attribute=value`, such as split=test.

        Raises:
            MetadataError: no row has it.
        """
        name, _, value = (part.strip() for part in condition.partition("="))
        rows = {path: row for path, row in self.rows.items() if row.attributes.get(name) == value}
        if not rows:
            values = sorted({row.attributes.get(name, "") for row in self.rows.values()} - {""})
            known = f"it is {', '.join(values[:10])}" if values else "no row says it"
            raise MetadataError(f"{self.name}: no row has {name}={value}; {known}.")
        return Metadata(
            self.name, rows, self.problems, self.notes, True, self.findings, self.preview
        )

    def repair(self, product_name: str) -> None:
        """Repair the values of all rows, and find those that look damaged.

        Args:
            product_name: what the table calls the product.
        """
        self.findings, notes = repair_values(self.rows, product_name)
        self.notes += [Problem(self.name, note) for note in notes]

    def report(self, n_used: int) -> dict[str, Any]:
        """Return how the table was read: details, use of each column, rows read and left out.

        Args:
            n_used: rows that describe a picture.
        """
        seen = self.preview
        return {
            "details": seen.details if seen else "",
            "columns": [list(column) for column in seen.columns] if seen else [],
            "rows": seen.n_rows if seen else len(self.rows),
            "used": n_used,
        }

    @property
    def grave_findings(self) -> list[str]:
        """Sentences on values that would merge or split products or classes."""
        return [f"{self.name}: {one.message()}." for one in self.findings if one.needs_yes]

    def require_yes(self, is_given: bool, how: str) -> None:
        """Refuse values that would merge or split products or classes unless somebody accepts.

        Args:
            is_given: somebody has.
            how: what to do to accept, for the message.

        Raises:
            MetadataError: there are such values, and nobody has accepted them.
        """
        if self.grave_findings and not is_given:
            listed = " ".join(self.grave_findings)
            raise MetadataError(
                f"{listed} Correct the table; or take the values as they stand: {how}."
            )


def read_metadata(
    content: bytes,
    name: str,
    *,
    with_products: bool = True,
    choice: Choice | None = None,
) -> Metadata:
    """Read metadata of any kind; which it is, the content says.

    Rows are numbered as a spreadsheet shows them: the header is row 1. The entries of a JSON
    list are counted from 1, those of JSON lines by line. Of rows with one path the first is used.

    Args:
        content: the file's bytes: CSV, a workbook, JSON, JSON lines or parquet.
        name: its file name, for messages.
        with_products: a table without a product is refused.
        choice: what the columns are; detected where it is silent.

    Raises:
        MetadataError: empty, broken, too large, of too many rows; columns missing or doubled.
    """
    chosen = choice or Choice()
    document = json_document(content, name)
    metadata = Metadata(name)
    if document is not None:
        entries = vsd_entries(document, name, chosen)
        if entries is not None:
            for number, entry in enumerate(entries, start=1):
                _add(metadata, number, vsd_row(entry, number, name))
            metadata.repair(PRODUCT)
            return metadata
        table = entries_as_table(document, name)
    else:
        table = read_table(content, name)
    _read_rows(metadata, table, chosen, with_products)
    return metadata


def _read_rows(
    metadata: Metadata, table: MetadataTable, choice: Choice, with_products: bool
) -> None:
    cells = [row.cells for row in table.rows]
    columns = find_columns(table.header, cells, table.name, choice, with_products=with_products)
    metadata.problems += table.problems
    for row in table.rows:
        texts = {name: _filled(row.cells[at]) for at, name in columns.attributes.items()}
        product = "" if columns.product is None else _filled(row.cells[columns.product])
        path = row.cells[columns.path].strip()
        _add(metadata, row.number, make_row(path, product, texts, row.number, table.name))
    product_name = PRODUCT if columns.product is None else columns.names[columns.product]
    metadata.repair(product_name)
    metadata.preview = _preview(table, columns)


def _filled(cell: str) -> str:
    return cell if cell.strip() else ""


def _preview(table: MetadataTable, columns: Columns) -> Preview:
    uses = {columns.path: "file", **dict.fromkeys(columns.attributes, "attribute")}
    if columns.product is not None:
        uses[columns.product] = "product"
    uses |= columns.left_out
    listed = [(name, uses[at]) for at, name in enumerate(columns.names)]
    details = ", ".join([table.format, *table.details])
    first = [row.cells for row in table.rows[:N_PREVIEW]]
    return Preview(listed, first, details, len(table.rows) + len(table.problems))


def read_preview(content: bytes, name: str, choice: Choice | None = None) -> Preview | None:
    """Return the beginning of a table, even where nobody can tell what its columns are.

    Returns:
        None for the JSON of the VSD benchmark, which has no columns.

    Raises:
        MetadataError: as `read_metadata`, but for unknown columns.
    """
    try:
        return read_metadata(content, name, choice=choice).preview
    except UnknownColumnsError:
        document = json_document(content, name)
        is_table = document is None
        table = read_table(content, name) if is_table else entries_as_table(document, name)
    uses = [(column, "attribute") for column in table.header]
    details = ", ".join([table.format, *table.details])
    first = [row.cells for row in table.rows[:N_PREVIEW]]
    return Preview(uses, first, details, len(table.rows) + len(table.problems))


def _add(metadata: Metadata, number: int, row: Row | Problem) -> None:
    if number > MAX_ROWS:
        raise MetadataError(f"{metadata.name} has more than {MAX_ROWS:,} rows. Split it.")
    if isinstance(row, Problem):
        metadata.problems.append(row)
    elif (first := metadata.rows.get(row.path)) is not None:
        reason = f"{metadata.name} row {number} repeats row {first.number}, which is used."
        metadata.problems.append(Problem(row.path, reason))
    else:
        metadata.rows[row.path] = row
