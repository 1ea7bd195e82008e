"""The option `--unit`: the independent unit of intervals and tests."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lookalike.cli.inputs import file_option
from lookalike.io.column_table import column_names
from lookalike.io.errors import InputError
from lookalike.io.labels import PRODUCT_COLUMN, read_image_column, read_products
from lookalike.io.matched_names import MatchedNames
from lookalike.io.runs import sniff
from lookalike.planning.pool import RankedPool
from lookalike.stats.units import PRODUCT, QUERY, Units

HELP = (
    "the independent unit of intervals and tests: query, product, or a column of {source} such as "
    "series; default: the product where products are known"
)


def add_unit(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup, source: str = "--metadata"
) -> None:
    """Add the option; `source` names the file with the columns."""
    parser.add_argument("--unit", metavar="COLUMN", help=HELP.format(source=source))


@dataclass(frozen=True)
class UnitChoice:
    """The unit of queries.

    Attributes:
        unit_of: the unit of each query, "" where unknown; None where each query is one.
        name: what a unit is, as `Units.name`.
    """

    unit_of: Mapping[str, str] | None
    name: str

    def of(self, queries: Sequence[str]) -> Units:
        """Return the units of some queries."""
        return Units.of(queries, self.unit_of, self.name)

    def named(self, names: MatchedNames) -> UnitChoice:
        """Return the same with known names of images.

        Raises:
            InputError: a name that may be two images.
        """
        if self.unit_of is None:
            return self
        return replace(self, unit_of=names.mapping(self.unit_of, f"the {self.name} of images"))

    def refuse_strangers(self, queries: Sequence[str], metadata: object) -> None:
        """Refuse a column without any of the queries: each query would silently be a unit.

        Raises:
            InputError: no query has a value.
        """
        if self.unit_of is not None and not any(self.unit_of.get(query) for query in queries):
            raise InputError(
                f"{metadata}: no query has a {self.name} there (queries have {queries[0]!r}, this "
                f"file {next(iter(self.unit_of), '')!r}); --unit query takes each as independent"
            )


def chosen_unit(
    unit: str | None, metadata: Path | None, products: Mapping[str, str] | None
) -> UnitChoice:
    """Return the unit of the option `--unit`, read from the metadata of images.

    Args:
        unit: the option; None: the product where products are known.
        metadata: the file of products and columns.
        products: of each image, as read from it; None where there is none.

    Raises:
        InputError: a unit without a file, or a column that the file lacks.
        OSError: the file cannot be opened.
    """
    if unit is None or unit == PRODUCT:
        if unit and products is None:
            raise InputError(f"--unit {unit} needs --metadata, which says the product of images")
        return UnitChoice(products, PRODUCT)
    if unit == QUERY:
        return UnitChoice(None, QUERY)
    if metadata is None:
        raise InputError(f"--unit {unit} is a column of --metadata, which is missing")
    return UnitChoice(read_image_column(metadata, unit), unit)


def add_metadata(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add --metadata and --unit."""
    file_option(parser, "--metadata", "products and further columns of queries, for --unit")
    add_unit(parser, "--metadata, or an attribute of the release,")


def metadata_products(
    arguments: argparse.Namespace, notes: list[str] | None = None
) -> dict[str, str] | None:
    """Return the products in --metadata; None without it.

    Where --unit names a column, the file needs no column of products. `notes` receives a sentence
    for each kind of value that was repaired.
    """
    metadata = arguments.metadata
    if metadata is None:
        return None
    is_column = arguments.unit not in (None, PRODUCT, QUERY)
    if is_column and sniff(metadata) != "json" and PRODUCT_COLUMN not in column_names(metadata):
        return None
    return read_products(metadata, notes)


def file_unit(arguments: argparse.Namespace, names: MatchedNames | None = None) -> UnitChoice:
    """Return the unit of queries by the options --unit and --metadata.

    Args:
        arguments: with the options.
        names: of images; the unit has them.

    Raises:
        InputError: a column that --metadata lacks, or no such file.
    """
    unit, metadata = arguments.unit, arguments.metadata
    by_product = metadata is not None and unit in (None, PRODUCT)
    notes = None if names is None else names.notes
    choice = chosen_unit(unit, metadata, read_products(metadata, notes) if by_product else None)
    return choice if names is None else choice.named(names)


def unit_json(pool: RankedPool) -> dict[str, Any]:
    """Return the unit of a pool's queries, and how many there are, as JSON has them."""
    name = QUERY if pool.units is None or pool.groups is None else pool.units.name
    return {"unit": name, "n_units": pool.n_units}
