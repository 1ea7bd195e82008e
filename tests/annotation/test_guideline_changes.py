"""Changes of guidelines are shown in bounded time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.markdown import diff


def applied(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that a diff removes and adds."""
    lines = diff(before, after)
    return [one.text for one in lines if one.sign == "-"], [
        one.text for one in lines if one.sign == "+"
    ]


@pytest.mark.parametrize("change", [("first",), ("first", "last")])
def test_guidelines_of_5000_equal_lines_are_compared_within_a_second(change: tuple[str]) -> None:
    before = ["same"] * 5000
    after = [change[0], *before[1:], *change[1:]]
    start = time.process_time()
    found = applied("\n".join(before), "\n".join(after))
    assert time.process_time() - start < 1
    assert change[0] in found[1]


def test_two_lines_that_alternate_are_compared_within_a_second() -> None:
    before, after = ["a", "b", "", ""] * 1250, ["", "b", "a", ""] * 1250
    start = time.process_time()
    applied("\n".join(before), "\n".join(after))
    assert time.process_time() - start < 1


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_a_diff_removes_and_adds_what_differs(before: list[str], after: list[str]) -> None:
    removed, added = applied("\n".join(before), "\n".join(after))
    assert len(before) - len(removed) == len(after) - len(added)
    assert sorted([*before, *added]) == sorted([*after, *removed])
