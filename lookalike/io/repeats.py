"""What to do where one worker answers one question twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from enum import StrEnum
from typing import TypeVar

T = TypeVar("T")


class Repeats(StrEnum):
    """Which of a worker's answers to one question counts."""

    FIRST = "first"
    LAST = "last"
    ERROR = "error"


def without_repeats(
    answers: Iterable[T],
    question: Callable[[T], Hashable],
    repeats: Repeats,
    refuse: Callable[[T, T], Exception],
) -> tuple[list[T], int]:
    """Return the answers that count, in their order, and how many do not.

    Args:
        answers: in the order in which they were given.
        question: worker and item of an answer; None for an answer that repeats no other.
        repeats: which one counts; with `Repeats.ERROR` a second one is an error.
        refuse: makes the error from the first answer and the second.

    Example:
        >>> rows = [("w", "a", 1), ("v", "a", 0), ("w", "a", 0)]
        >>> without_repeats(rows, lambda row: row[:2], Repeats.LAST, lambda a, b: ValueError())
        ([('w', 'a', 0), ('v', 'a', 0)], 1)
    """
    place_of: dict[Hashable, int] = {}
    counted: list[T] = []
    n_repeated = 0
    for answer in answers:
        key = question(answer)
        place = len(counted) if key is None else place_of.setdefault(key, len(counted))
        if place == len(counted):
            counted.append(answer)
            continue
        if repeats is Repeats.ERROR:
            raise refuse(counted[place], answer)
        n_repeated += 1
        if repeats is Repeats.LAST:
            counted[place] = answer
    return counted, n_repeated
