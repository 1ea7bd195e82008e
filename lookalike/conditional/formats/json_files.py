"""JSON files as lists of objects, with the place of what is wrong in them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from pathlib import Path

from lookalike.conditional.types import Box
from lookalike.io.errors import FormatError
from lookalike.io.text_files import not_decodable

MAX_BYTES = 2**30


class EntryError(ValueError):
    """One entry of a file cannot be used; the message says why."""


def read_json(path: Path) -> object:
    """Return what a JSON file holds.

    Raises:
        FormatError: not UTF-8, not JSON (with the line), NaN or infinity, or larger than 1 GiB.
        OSError: if the file cannot be opened.
    """
    if path.stat().st_size > MAX_BYTES:
        raise FormatError(path, None, f"at most {MAX_BYTES:,} bytes of JSON are read")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise not_decodable(path) from error

    def refuse(name: str) -> object:
        raise FormatError(path, None, f"it holds the number {name}, which is not JSON")

    try:
        found: object = json.loads(text, parse_constant=refuse)
    except FormatError:
        raise
    except json.JSONDecodeError as error:
        raise FormatError(path, error.lineno, f"not JSON: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise FormatError(
            path, None, "the JSON is nested too deep, or a number too long"
        ) from error
    return found


def read_json_list(path: Path) -> list[object]:
    """Return the entries of a file that is one JSON list.

    Raises:
        FormatError: as `read_json`; also for anything but a list, and for an empty one.
        OSError: if the file cannot be opened.
    """
    found = read_json(path)
    if not isinstance(found, list):
        raise FormatError(path, 1, f"a JSON list is needed, not {json_kind(found)}")
    if not found:
        raise FormatError(path, 1, "the list is empty")
    return found


def write_json(path: Path, content: object) -> None:
    """Write JSON as the official GeneCIS files are written: four spaces, no last newline."""
    path.write_text(json.dumps(content, indent=4), encoding="utf-8")


def json_kind(value: object) -> str:
    """Return what JSON calls a value, for messages."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    if value is None:
        return "null"
    return names.get(type(value), "a number")


def as_object(value: object, what: str = "the entry") -> Mapping[str, object]:
    """Return a JSON object.

    Raises:
        EntryError: if it is something else.
    """
    if not isinstance(value, dict):
        raise EntryError(f"{what} is {json_kind(value)}, not an object")
    return value


def required(entry: Mapping[str, object], key: str) -> object:
    """Return the value of a key.

    Raises:
        EntryError: if it is missing.
    """
    if key not in entry:
        raise EntryError(f"{key} is missing")
    return entry[key]


def as_text(entry: Mapping[str, object], key: str) -> str:
    """Return a string.

    Raises:
        EntryError: if the key is missing or holds something else.
    """
    value = required(entry, key)
    if not isinstance(value, str):
        raise EntryError(f"{key} is {json_kind(value)}, not a string")
    return value


def as_list(entry: Mapping[str, object], key: str) -> list[object]:
    """Return a list.

    Raises:
        EntryError: if the key is missing or holds something else.
    """
    value = required(entry, key)
    if not isinstance(value, list):
        raise EntryError(f"{key} is {json_kind(value)}, not a list")
    return value


def as_id(entry: Mapping[str, object], key: str) -> str:
    """Return an id, which may stand there as a number or as a string.

    Raises:
        EntryError: if the key is missing, empty or holds something else.
    """
    value = required(entry, key)
    if isinstance(value, bool) or not isinstance(value, int | str) or value == "":
        raise EntryError(f"{key} is {json_kind(value) if value != '' else 'empty'}, not an id")
    return str(value)


def as_texts(entry: Mapping[str, object], key: str) -> list[str]:
    """Return a list of strings, none empty.

    Raises:
        EntryError: if the key is missing or holds something else.
    """
    values = as_list(entry, key)
    for place, value in enumerate(values):
        if not isinstance(value, str) or not value.strip():
            raise EntryError(f"{key}[{place}] is not a text")
    return [str(value) for value in values]


def as_box(entry: Mapping[str, object], key: str) -> Box:
    """Return a box [left, top, width, height].

    Raises:
        EntryError: if the key is missing or does not hold four finite numbers.
    """
    values = as_list(entry, key)
    numbers = [
        value
        for value in values
        if isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    ]
    if len(numbers) != 4 or len(values) != 4:
        raise EntryError(f"{key} is not four numbers [x, y, width, height]")
    return Box(*numbers)


def number_if_decimal(name: str) -> int | str:
    """Return an id as the number that official files write, where that loses nothing."""
    return int(name) if name.isascii() and name.isdecimal() and str(int(name)) == name else name
