"""Columns of a catalog as people write them: `material sep=; text=fabric`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lookalike.conditional.builders.catalog_rows import Column

_OPTION = re.compile(r"\s+(sep|path|unknown|text)=(\S+)|\s+(incomplete)\b")


def parse_column(text: str) -> Column:
    """Return the column that a line stands for.

    `NAME [sep=;] [path=/] [unknown=A,B] [text=WORD] [incomplete]`: the attribute's name, what
    parts several values, what parts the levels of a path, values that say nothing, what
    conditions call it, and that a cell does not name all values.

    Raises:
        ValueError: no name, or something behind it that is no option.
    """
    options: dict[str, str] = {}
    for match in _OPTION.finditer(text):
        name = match[1] or match[3]
        if name in options:
            raise ValueError(f"{text.strip()!r} says {name} twice")
        options[name] = match[2] or ""
    name = _OPTION.sub("", text).strip()
    if not name or "=" in name:
        raise ValueError(
            f"{text.strip()!r} is no column; write NAME [sep=;] [path=/] [unknown=A,B] "
            "[text=WORD] [incomplete]"
        )
    return Column(
        name=name,
        separator=options.get("sep"),
        is_complete="incomplete" not in options,
        path_separator=options.get("path"),
        unknown=frozenset(part for part in options.get("unknown", "").split(",") if part),
        text=options.get("text", ""),
    )


def parse_columns(lines: Iterable[str]) -> tuple[Column, ...]:
    """Return the columns of several lines; empty lines are passed over.

    Raises:
        ValueError: as `parse_column`, or a column that is named twice.
    """
    columns = tuple(parse_column(line) for line in lines if line.strip())
    names = [column.name for column in columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"the column {twice!r} is named twice")
    return columns


def parse_where(texts: Iterable[str]) -> dict[str, str]:
    """Return {column: value} of texts of the form COLUMN=VALUE; empty ones are passed over.

    Raises:
        ValueError: a text of another form; the message is a clause without a full stop.
    """
    found: dict[str, str] = {}
    for text in texts:
        if text.strip():
            name, equals, value = text.strip().partition("=")
            if not (name and equals):
                raise ValueError(f"{text!r} is not of the form COLUMN=VALUE")
            found[name] = value
    return found
