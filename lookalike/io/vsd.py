"""The JSON files of the VSD benchmark: annotations, example pairs and image metadata."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lookalike.io.errors import FormatError
from lookalike.io.json_text import JsonText, read_json
from lookalike.io.tables import Row


def annotation_rows(file: JsonText) -> Iterator[Row]:
    """Yield the pairs of `[{"key": ["<query>", "<candidate>"], "value": 0 or 1}, ...]`.

    The example pairs of the benchmark's site, `[{"query", "gallery", "value", ...}]`, are pairs,
    too.

    Raises:
        FormatError: an entry of another shape.
    """
    for number, (line, entry) in enumerate(file.entries(), 1):
        if isinstance(entry, dict) and {"query", "gallery", "value"} <= entry.keys():
            key = [entry["query"], entry["gallery"]]
        elif isinstance(entry, dict) and {"key", "value"} <= entry.keys():
            key = entry["key"]
        else:
            reason = f'entry {number} is no object with "key" and "value"'
            raise FormatError(file.path, line, reason)
        if not isinstance(key, list) or len(key) != 2 or not all(isinstance(k, str) for k in key):
            reason = f"the key of entry {number} is not [query, candidate]"
            raise FormatError(file.path, line, reason)
        yield Row(line, key[0], key[1], entry["value"])


def vsd_values(path: Path, key: str = "id") -> Iterator[tuple[int, str, str]]:
    """Yield line, path and value of `{"images": [{"id": "<product>", "path": "..."}, ...]}`.

    An empty value is kept as the empty string: an image without a product.

    Args:
        path: the file.
        key: of each entry; by default the product id.

    Raises:
        FormatError: not UTF-8, not JSON, or an entry without its path or its value as strings.
    """
    file = read_json(path)
    for number, (line, entry) in enumerate(file.entries("images"), 1):
        image = entry.get("path") if isinstance(entry, dict) else None
        value = entry.get(key) if isinstance(entry, dict) else None
        if not isinstance(image, str) or not isinstance(value, str) or not image:
            raise FormatError(path, line, f'entry {number} lacks "path" or "{key}"')
        yield line, image, value
