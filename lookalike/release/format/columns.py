"""What a table and a column of a release are."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa

TYPES: dict[str, pa.DataType] = {
    "text": pa.string(),
    "int8": pa.int8(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        name: as in the file.
        kind: key of TYPES.
        about: what it means; says so where it may be null.
    """

    name: str
    kind: str
    about: str


GRADE = Column("grade", "int8", "Only where pairs are graded: the grade, null without one.")


@dataclass(frozen=True)
class Table:
    """One parquet file under data/.

    Attributes:
        name: the file is data/NAME.parquet.
        about: what one row is.
        key: the columns that no two rows share.
        columns: in order.
        is_primary: taken from the database; all other tables follow from these.
        may_be_graded: has the column `GRADE` at its end where pairs are graded.
    """

    name: str
    about: str
    key: tuple[str, ...]
    columns: tuple[Column, ...]
    is_primary: bool = True
    may_be_graded: bool = False

    @property
    def path(self) -> str:
        """The file, relative to the release."""
        return f"data/{self.name}.parquet"

    def graded(self) -> Table:
        """Return it with grades, if it is one that may have them."""
        return replace(self, columns=(*self.columns, GRADE)) if self.may_be_graded else self

    @property
    def schema(self) -> pa.Schema:
        """The types of the columns."""
        return pa.schema([(column.name, TYPES[column.kind]) for column in self.columns])
