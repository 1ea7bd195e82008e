"""Metadata as JSON: the VSD benchmark's, objects with other keys, and which of them it is."""

from __future__ import annotations

import json
from typing import Any

from lookalike.images.metadata_columns import Choice, is_path_name
from lookalike.images.metadata_table import MAX_BYTES, MetadataTable, table_of_entries
from lookalike.images.paths import shown
from lookalike.images.problems import Problem
from lookalike.images.rows import MetadataError, Row, RowError, as_text, checked_row


def json_document(content: bytes, name: str) -> Any:
    """Return the value of a JSON file; None for JSON lines and all that is no JSON.

    Raises:
        MetadataError: broken JSON; names the line.
    """
    body = content.removeprefix(b"\xef\xbb\xbf").lstrip()
    if body[:1] not in {b"{", b"["} or len(content) > MAX_BYTES:
        return None
    try:
        return json.loads(body.decode("utf-8"))
    except UnicodeDecodeError as problem:
        start = len(content) - len(body) + problem.start
        line = content.count(b"\n", 0, start) + 1
        raise MetadataError(
            f"{name} line {line} is not UTF-8 (byte 0x{body[problem.start]:02x}): "
            "save the file as UTF-8."
        ) from None
    except json.JSONDecodeError as problem:
        if _are_json_lines(body):
            return None
        raise MetadataError(
            f"{name} line {problem.lineno} is not proper JSON: {problem.msg}."
        ) from None
    except (RecursionError, ValueError):  # ValueError: a number of thousands of digits
        raise MetadataError(f"{name} is nested too deeply, or a number is too long.") from None


def _are_json_lines(body: bytes) -> bool:
    first, _, rest = body.partition(b"\n")
    if not rest.strip():
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def vsd_entries(document: Any, name: str, choice: Choice) -> list[Any] | None:
    """Return the images of the VSD benchmark's JSON; None for objects with other keys."""
    images = document.get("images") if isinstance(document, dict) else document
    if isinstance(document, dict) and any(is_path_name(str(key)) for key in document):
        return None  # JSON lines of one line
    if not isinstance(images, list):
        raise MetadataError(f'{name} must be an object {{"images": [...]}}.')
    if choice != Choice():
        return None
    keys = [set(entry) for entry in images if isinstance(entry, dict)]
    has_path = not keys or any("path" in entry for entry in keys)
    has_product = not keys or any("id" in entry for entry in keys)
    return images if has_path and has_product else None


def entries_as_table(document: Any, name: str) -> MetadataTable:
    """Return objects with any keys as a table."""
    entries = document.get("images", [document]) if isinstance(document, dict) else document
    listed = [(n, entry) for n, entry in enumerate(entries, 1) if isinstance(entry, dict)]
    table = table_of_entries(listed, name, "JSON")
    table.problems += [
        Problem(name, f"{name} entry {n} was left out: it is not an object.")
        for n, entry in enumerate(entries, 1)
        if not isinstance(entry, dict)
    ]
    return table


def vsd_row(entry: Any, number: int, name: str) -> Row | Problem:
    """Return one image of the VSD benchmark's JSON as a row, or what is wrong with it."""
    path = entry.get("path") if isinstance(entry, dict) else None
    try:
        if not isinstance(entry, dict):
            raise RowError("it is not an object")
        for key in ("path", "id"):
            if key not in entry:
                raise RowError(f"it has no “{key}”")
        if not isinstance(path, str):
            raise RowError("its “path” is not text")
        texts = {str(k): as_text(v) for k, v in entry.items() if k not in {"path", "id"}}
        return checked_row(path, as_text(entry["id"]), texts, number)
    except RowError as problem:
        subject = shown(path) if isinstance(path, str) and path else name
        return Problem(subject, f"{name} entry {number} was left out: {problem}.")
