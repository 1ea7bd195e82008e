"""Pieces of Markdown that the documents share."""

from __future__ import annotations

from collections.abc import Iterator


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table."""
    yield "| " + " | ".join(head) + " |"
    yield "|" + "---|" * len(head)
    for row in rows:
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"


def line_of(text: str) -> str:
    """Return what somebody wrote as one line without the dot at its end."""
    return " ".join(str(text).split()).rstrip(".")


def sentence(text: str) -> str:
    """Return what somebody wrote as one line that ends as a sentence does; "" for nothing."""
    line = line_of(text)
    return line if not line or line.endswith((".", "!", "?", "…")) else f"{line}."
