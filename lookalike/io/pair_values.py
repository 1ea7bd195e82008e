"""Labels, grades, scores and ranks as numbers, from the values of a file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from lookalike.io.errors import FormatError
from lookalike.io.label_words import label_of

MAX_GRADE = 1000  # sums of 2^grade, which nDCG may take as gains, stay finite
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*\Z")


def label_value(file: str | Path, line: int, value: object, unit: str) -> float:
    """Return a label, 0 or 1.

    Raises:
        FormatError: it is neither.
    """
    number = _number(value)
    if number is None and (word := label_of(value)) is not None:
        return float(word)
    if number is None or number not in (0.0, 1.0):
        reason = f"label {_shown(value)} is neither 0 nor 1"
        if number is not None and number.is_integer():
            reason += "; of grades, say from which on they are positive (--min-rel)"
            if number < 0:
                reason += "; --min-rel 1 and --trec take it as not judged, as TREC does"
        raise FormatError(file, line, reason, unit=unit)
    return number


def grade_value(file: str | Path, line: int, value: object, unit: str) -> float:
    """Return a grade.

    Raises:
        FormatError: no whole number, or above `MAX_GRADE`.
    """
    number = _number(value)
    if number is None or not number.is_integer():
        reason = f"grade {_shown(value)} is no whole number"
        raise FormatError(file, line, reason, unit=unit)
    if number > MAX_GRADE:
        reason = f"grade {_shown(value)} is too large; at most {MAX_GRADE:,}"
        raise FormatError(file, line, reason, unit=unit)
    return number


def score_value(file: str | Path, line: int, value: object, unit: str) -> float:
    """Return a score.

    Raises:
        FormatError: no finite number.
    """
    number = _number(value)
    if number is None:
        reason = f"score {_shown(value)} is not a number"
        if _DECIMAL_COMMA.match(str(value)):
            reason += "; use a decimal point"
        raise FormatError(file, line, reason, unit=unit)
    if not np.isfinite(number):
        reason = f"score {_shown(value)} is not finite"
        raise FormatError(file, line, reason, unit=unit)
    return number


def rank_value(value: object) -> float:
    """Return a rank of a file, or NaN for any other text."""
    number = _number(value)
    return np.nan if number is None or not np.isfinite(number) else number


def _number(value: object) -> float | None:
    """Return a number of a file as float; None for any other text, `true` and `1_000` included."""
    if isinstance(value, str) and "_" not in value:
        try:
            return float(value)
        except ValueError:
            return None
    if isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:  # a whole number of more than 308 digits, which JSON may hold
            return np.inf
    return None


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) else str(value)
