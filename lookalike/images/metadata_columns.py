"""Which column of a table names the file, which the product, and which are attributes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lookalike.images.formats import PICTURE_ENDINGS
from lookalike.images.rows import (
    MAX_ATTRIBUTE_NAME,
    MAX_COLUMNS,
    MetadataError,
    UnknownColumnsError,
)

PATH, PRODUCT = "path", "product_id"
NO_COLUMN = "-"  # written where no column is the product
# What people call the columns, in lower case without spaces and punctuation
_PATH_NAMES = (
    *("path", "filename", "filepath", "file", "imagepath", "imagefile", "imagefilename"),
    *(
        "imagename",
        "image",
        "img",
        "imgpath",
        "picture",
        "photo",
        "relativepath",
        "url",
        "imageurl",
    ),
    *("datei", "dateiname", "dateipfad", "bild", "bilddatei", "bildname", "bildpfad", "foto"),
    *("fichier", "nomfichier", "chemin", "archivo", "imagen", "ruta", "bestand", "immagine"),
    *("id", "imageid"),  # the last: they name the file only where its values do
)
_BY_VALUE_ALONE = frozenset({"id", "imageid", "url", "imageurl"})
_PRODUCT_NAMES = (
    *("productid", "product", "productcode", "productnumber", "sku", "itemid", "item", "article"),
    *("articleid", "articlenumber", "styleid", "ean", "gtin", "objectid", "inventorynumber"),
    *("produkt", "produktid", "produktnr", "produktnummer", "artikel", "artikelid", "artikelnr"),
    *("artikelnummer", "inventarnummer", "produit", "produitid", "reference", "referenz"),
    *("producto", "productoid", "referencia", "articulo", "prodotto", "articolo", "id"),
)
_INDEX = re.compile(r"(?:unnamed: ?\d+|index)?\Z", re.IGNORECASE)


@dataclass(frozen=True)
class Choice:
    """How a person says what the columns are.

    Attributes:
        path: the column that names the file; "" to detect it.
        product: the column that names the product; "" to detect it, "-" for none.
        ignored: columns that are left out.
    """

    path: str = ""
    product: str = ""
    ignored: tuple[str, ...] = ()

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Choice:
        """Return a choice that was stored as JSON."""
        return cls(stored.get("path", ""), stored.get("product", ""), (*stored.get("ignored", ()),))


@dataclass(frozen=True)
class Columns:
    """The columns of a table by what they are for.

    Attributes:
        path: place of the column that names the file.
        product: place of the column that names the product; None if none does.
        attributes: {place: name} of the others that are used.
        left_out: {place: reason} of the others.
        names: of all, as the header has them; made up where there is none.
    """

    path: int
    product: int | None
    attributes: dict[int, str] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()


def find_columns(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    name: str,
    choice: Choice,
    *,
    with_products: bool = True,
) -> Columns:
    """Decide what each column is for.

    Args:
        header: names of the columns.
        rows: some of the table's, to see what the columns hold.
        name: of the file, for messages.
        choice: of the person who gave it.
        with_products: a table without a product is refused.

    Raises:
        MetadataError: no column, or several, may be the file's or the product's; a column is
            unnamed or named twice; too many columns.
    """
    left_out = dict.fromkeys(_chosen(header, choice.ignored, name), "ignored, as asked")
    left_out |= {at: reason for at, reason in _empty(header, rows).items() if at not in left_out}
    open_places = [at for at in range(len(header)) if at not in left_out]
    check_header(header, name, open_places)
    path = _path_place(header, rows, open_places, choice)
    product = _product_place(header, [at for at in open_places if at != path], choice)
    if path is None or (product is None and with_products and choice.product != NO_COLUMN):
        raise UnknownColumnsError(_missing(header, open_places, name, path, choice))
    attributes = {at: header[at] for at in open_places if at not in {path, product}}
    return Columns(path, product, attributes, left_out, tuple(header))


def plain(column: str) -> str:
    """Return a column's name without case, accents, spaces and punctuation.

    >>> plain("Artikel-Nr."), plain("Produkt_ID")
    ('artikelnr', 'produktid')
    """
    parts = unicodedata.normalize("NFKD", column.casefold())
    return "".join(c for c in parts if c.isalnum())


def is_path_name(column: str) -> bool:
    """Whether a column's name says that it names files, whatever it holds."""
    return plain(column) in _PATH_NAMES and plain(column) not in _BY_VALUE_ALONE


def share_of_files(values: Collection[str]) -> float:
    """Return the share of values that end as names of pictures do."""
    filled = [value for value in values if value.strip()]
    named = sum(_is_file(value) for value in filled)
    return named / len(filled) if filled else 0.0


def _is_file(value: str) -> bool:
    stem, dot, ending = value.strip().partition("?")[0].rpartition(".")
    return bool(stem and dot) and f".{ending.lower()}" in PICTURE_ENDINGS


def _chosen(header: Sequence[str], names: Sequence[str], name: str) -> list[int]:
    for wanted in names:
        if wanted not in header:
            raise MetadataError(f"{name} has no column “{wanted}”. {_listed(header)}")
    return [at for at, column in enumerate(header) if column in names]


def _empty(header: Sequence[str], rows: Sequence[Sequence[str]]) -> dict[int, str]:
    """Return columns without a name that hold nothing, or the row numbers of a data frame."""
    found = {}
    for at, column in enumerate(header):
        values = [row[at].strip() if at < len(row) else "" for row in rows]
        if not column and not any(values):
            found[at] = "empty, without a name"
        elif at == 0 and _INDEX.match(column) and values == [str(n) for n in range(len(values))]:
            found[at] = "row numbers of a data frame"
    return found


def check_header(header: Sequence[str], name: str, places: Collection[int] | None = None) -> None:
    """Check that columns have names, and each another one.

    Args:
        header: names of the columns.
        name: of the file, for messages.
        places: of the columns that are used; None: all.

    Raises:
        MetadataError: one has no name, the name of another, or one that is too long; or there
            are too many columns.
    """
    if len(header) > MAX_COLUMNS:
        raise MetadataError(f"{name} has {len(header)} columns; at most {MAX_COLUMNS} are read.")
    for at in range(len(header)) if places is None else places:
        column = header[at]
        if not column:
            raise MetadataError(f"{name}: column {at + 1} has no name. Name or delete it.")
        if header.index(column) != at:
            raise MetadataError(f"{name} has two columns named “{column}”. Rename one.")
        if len(column) > MAX_ATTRIBUTE_NAME:
            raise MetadataError(f"{name}: the name of column {at + 1} is too long.")


def _path_place(
    header: Sequence[str], rows: Sequence[Sequence[str]], places: Sequence[int], choice: Choice
) -> int | None:
    if choice.path:
        return next((at for at in places if header[at] == choice.path), None)
    for wanted in _PATH_NAMES:
        for at in places:
            if plain(header[at]) != wanted:
                continue
            if wanted not in _BY_VALUE_ALONE or _share(rows, at) > 0.5:
                return at
    by_value = [at for at in places if _share(rows, at) > 0.5]
    return by_value[0] if len(by_value) == 1 else None


def _share(rows: Sequence[Sequence[str]], at: int) -> float:
    return share_of_files([row[at] for row in rows if at < len(row)])


def _product_place(header: Sequence[str], places: Sequence[int], choice: Choice) -> int | None:
    if choice.product:
        return next((at for at in places if header[at] == choice.product), None)
    for wanted in _PRODUCT_NAMES:
        for at in places:
            if plain(header[at]) == wanted:
                return at
    return None


def _missing(
    header: Sequence[str], places: Sequence[int], name: str, path: int | None, choice: Choice
) -> str:
    missing = []
    if path is None:
        missing.append(choice.path or PATH)
    product = _product_place(header, [at for at in places if at != path], choice)
    if product is None:
        missing.append(choice.product or PRODUCT)
    return (
        f"{name} has no column {' and no column '.join(missing)}. {_listed(header)} Name the "
        "columns so, or say which they are (--path-column, --product-column; - for no product)."
    )


def _listed(header: Sequence[str]) -> str:
    return f"Its header is: {', '.join(f'“{column}”' for column in header[:20])}."
