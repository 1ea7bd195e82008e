"""Pieces of Markdown that the documents share."""

from __future__ import annotations

from lookalike.io.documents import markdown_text


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table."""
    lines = [f"| {' | '.join(map(markdown_text, cells))} |" for cells in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])


def single_line(text: str) -> str:
    """Return what somebody wrote as one line without the dot at its end."""
    return " ".join(str(text).split()).rstrip(".")


def sentence(text: str) -> str:
    """Return what somebody wrote as one line that ends as a sentence does; "" for nothing."""
    line = single_line(text)
    return line if not line or line.endswith((".", "!", "?", "…")) else f"{line}."
