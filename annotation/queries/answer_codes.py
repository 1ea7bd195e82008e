"""What of an answer's code counts, in SQL: its side, and whether it is as another.

A grade is stored with the side that it counts for, as in `similar:2`; `pick:3` is one word.
"""

from __future__ import annotations


def side(answer: str) -> str:
    """Return SQL for an answer without its grade: similar or different, or what it says else."""
    return f"regexp_replace({answer}, '^(similar|different):.$', '\\1')"


def agrees(answer: str, known: str) -> str:
    """Return SQL as `lookalike.agreement.grades.agrees`."""
    near = f"abs(ascii(right({answer}, 1)) - ascii(right({known}, 1))) <= 1"
    is_graded = f"{answer} ~ '^(similar|different):'"
    return f"({answer} = {known} or {is_graded} and {side(answer)} = {side(known)} and {near})"
