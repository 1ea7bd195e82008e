"""Products and attributes of rows: repaired, and what looks damaged."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from lookalike.images.rows import Row
from lookalike.io.values import Finding, ValueColumn, ValueKind

_FEW_VALUES = 20  # of an attribute; more are classes only where images share them
_DECIMAL_COMMA = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+),\d+\Z")
_WHOLE = re.compile(r"[-+]?(?:\d+|\d{1,3}(?:\.\d{3})+)\Z")


def repair_values(rows: dict[str, Row], product_name: str) -> tuple[list[Finding], list[str]]:
    """Repair products and attributes of all rows in place; return what looks damaged, and notes.

    An attribute of few values, or of values that images share, is a class; names and
    descriptions are not. Where all values of an attribute are numbers and some have a decimal
    comma, they get a decimal point.
    """
    values: dict[str, Counter[str]] = {}
    for row in rows.values():
        for name, text in row.attributes.items():
            values.setdefault(name, Counter())[text.strip()] += 1
    commas = {name for name, counts in values.items() if _has_decimal_commas(counts)}
    product = ValueColumn(product_name, ValueKind.PRODUCT)
    columns = {}
    for name, counts in values.items():
        is_class = len(counts) <= max(_FEW_VALUES, counts.total() // 2)
        columns[name] = ValueColumn(name, ValueKind.CLASS if is_class else ValueKind.NAME)
    for path, row in rows.items():
        texts = {
            name: columns[name].add(row.number, _with_point(text) if name in commas else text)
            for name, text in row.attributes.items()
        }
        text = product.add(row.number, row.product_id) if row.product_id else ""
        rows[path] = replace(row, product_id=text, attributes=texts)
    findings = [one for column in (product, *columns.values()) for one in column.findings()]
    notes = [f"{one.message()}." for one in findings if not one.needs_yes]
    for name in sorted(commas):
        n = sum(n for text, n in values[name].items() if "," in text)
        example = next(text for text in values[name] if "," in text)
        notes.append(f"{name}: {n:,} decimal commas were read as points, such as {example}.")
    return findings, notes


def _has_decimal_commas(values: Counter[str]) -> bool:
    """Whether all values are numbers, some of them with a decimal comma."""
    has_comma = False
    for text in values:
        if _DECIMAL_COMMA.match(text):
            has_comma = True
        elif not _WHOLE.match(text):
            return False
    return has_comma


def _with_point(text: str) -> str:
    plain = text.strip()
    return plain.replace(".", "").replace(",", ".")
