"""What was wrong with one file or row of an import, in words for the person who made it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """A file or row that did not go in, or not as expected, and why."""

    file: str
    reason: str


def safe_cell(text: str) -> str:
    """Return a text that a spreadsheet does not take for a formula (CWE-1236)."""
    return "'" + text if text[:1] in {"=", "+", "-", "@", "\t", "\r"} else text
