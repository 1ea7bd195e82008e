"""The rows of metadata: what each says of one file, or why it cannot be used."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lookalike.images.paths import UnsafePathError, clean_path, shown
from lookalike.images.problems import Problem
from lookalike.io.errors import InputError
from lookalike.io.image_spellings import normal_path

MAX_PRODUCT = 200
MAX_ATTRIBUTE_NAME = 100
MAX_ATTRIBUTE = 2000
MAX_COLUMNS = 200
_PLACE = re.compile(r"[A-Za-z]:[\\/]|[\\/]|[a-zA-Z][\w+.-]+://")


class MetadataError(InputError):
    """The metadata file cannot be used at all; the message names file, line and remedy."""


class UnknownColumnsError(MetadataError):
    """Nobody can tell which column names the file or the product; a person has to say."""


class RowError(Exception):
    """One row cannot be used; the message says why."""


@dataclass(frozen=True)
class Row:
    """What the metadata say of one file.

    Attributes:
        path: of the file: clean where it is relative, else as it was written.
    """

    path: str
    product_id: str
    attributes: dict[str, str]
    number: int


def make_row(
    path: str, product_id: str, attributes: dict[str, str], number: int, name: str
) -> Row | Problem:
    """Return a row, or what is wrong with it.

    Args:
        path: of the image; may be absolute or an address, which is only compared and never read.
        product_id: "" where unknown.
        attributes: name to text.
        number: of the row.
        name: of the list that it is in, for messages.
    """
    try:
        return checked_row(path, product_id, attributes, number)
    except RowError as problem:
        return Problem(shown(path) or name, f"{name} row {number} was left out: {problem}.")


def checked_row(path: str, product_id: str, texts: dict[str, str], number: int) -> Row:
    """Return a row.

    Raises:
        RowError: its path, product or an attribute cannot be stored.
    """
    try:
        cleaned = clean_path(path)
    except UnsafePathError as problem:
        if not _PLACE.match(path) or ".." in re.split(r"[\\/]", path) or not _is_storable(path):
            raise RowError(str(problem)) from None
        cleaned = normal_path(path)
    if len(product_id) > MAX_PRODUCT:
        raise RowError(f"its product has more than {MAX_PRODUCT} characters")
    attributes = {name: text for name, text in texts.items() if text}
    if len(attributes) > MAX_COLUMNS:
        raise RowError(f"it has more than {MAX_COLUMNS} attributes")
    for name, text in {"product_id": product_id, **attributes}.items():
        if not _is_storable(name) or not _is_storable(text):
            raise RowError(f"“{shown(name)}” has characters that cannot be stored")
        if len(text) > MAX_ATTRIBUTE or len(name) > MAX_ATTRIBUTE_NAME:
            raise RowError(f"“{shown(name)[:40]}” is longer than {MAX_ATTRIBUTE:,} characters")
    return Row(cleaned, product_id, attributes, number)


def as_text(value: Any) -> str:
    """Return a JSON value as an attribute's text: "" for null, lists and objects as JSON."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_storable(text: str) -> bool:
    """Whether PostgreSQL can store it: no NUL and no half of a surrogate pair."""
    return "\0" not in text and not any("\ud800" <= c <= "\udfff" for c in text)
