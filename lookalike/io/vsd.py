"""The JSON files of the VSD benchmark: annotations and image metadata."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from lookalike.io.csv_text import not_utf8
from lookalike.io.errors import FormatError
from lookalike.io.tables import Row

MAX_BYTES = 256 * 2**20
_SPACE = re.compile(r"[ \t\r\n]*")


def vsd_rows(path: Path) -> Iterator[Row]:
    """Yield the pairs of `[{"key": ["<query>", "<candidate>"], "value": 0 or 1}, ...]`.

    Raises:
        FormatError: not UTF-8, not JSON, or an entry of another shape.
    """
    text, entries = _array(path, None)
    lines = _lines_of(text, text.find("["), len(entries))
    for number, (line, entry) in enumerate(zip(lines, entries, strict=True), 1):
        if not isinstance(entry, dict) or not {"key", "value"} <= entry.keys():
            raise FormatError(path, line, f'entry {number} is no object with "key" and "value"')
        key = entry["key"]
        if not isinstance(key, list) or len(key) != 2 or not all(isinstance(k, str) for k in key):
            raise FormatError(path, line, f"the key of entry {number} is not [query, candidate]")
        yield Row(line, key[0], key[1], entry["value"])


def vsd_products(path: Path) -> dict[str, str]:
    """Return {path: product id} of `{"images": [{"id": "<product>", "path": "..."}, ...]}`.

    An empty id is kept as the empty string: an image without a product.

    Raises:
        FormatError: not UTF-8, not JSON, an entry without its two strings, or a path with two
            products.
    """
    text, entries = _array(path, "images")
    match = re.search(r'"images"\s*:\s*', text)
    lines = _lines_of(text, match.end() if match else 0, len(entries))
    products: dict[str, str] = {}
    for number, (line, entry) in enumerate(zip(lines, entries, strict=True), 1):
        image = entry.get("path") if isinstance(entry, dict) else None
        product = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(image, str) or not isinstance(product, str) or not image:
            raise FormatError(path, line, f'entry {number} lacks "path" or "id"')
        if products.setdefault(image, product) != product:
            reason = f"{image!r} has product {product!r} here and {products[image]!r} before"
            raise FormatError(path, line, reason)
    return products


def _array(path: Path, key: str | None) -> tuple[str, list[object]]:
    if path.stat().st_size > MAX_BYTES:
        raise FormatError(path, None, f"at most {MAX_BYTES:,} bytes of JSON are read")
    try:
        text = path.read_text(encoding="utf-8-sig")
        found = json.loads(text)
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except json.JSONDecodeError as error:
        raise FormatError(path, error.lineno, f"not JSON: {error.msg}") from error
    except RecursionError as error:
        raise FormatError(path, None, "the JSON is nested too deep") from error
    if key is not None:
        found = found.get(key) if isinstance(found, dict) else None
    if not isinstance(found, list):
        where = "the file" if key is None else f'"{key}"'
        raise FormatError(path, 1, f"{where} is not a JSON array")
    return text, found


def _lines_of(text: str, start: int, n_entries: int) -> Iterator[int]:
    """Yield the line on which each entry of the array at `start` begins."""
    decoder = json.JSONDecoder()
    place, line, counted = start + 1, 1, 0
    for _ in range(n_entries):
        space = _SPACE.match(text, place)
        begin = space.end() if space else place
        line += text.count("\n", counted, begin)
        counted = begin
        yield line
        _, place = decoder.raw_decode(text, begin)
        comma = _SPACE.match(text, place)
        place = (comma.end() if comma else place) + 1
