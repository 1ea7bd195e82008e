"""How many threads there are to be."""

from __future__ import annotations

import os

import pytest

from lookalike.core.cores import available_cores


def test_only_the_cores_that_this_process_may_use_count():
    all_of_them = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_of_them)})
    try:
        assert available_cores() == 1
    finally:
        os.sched_setaffinity(0, all_of_them)
    assert available_cores() == len(all_of_them)


@pytest.mark.parametrize(("counted", "expected"), [(8, 8), (None, 1)])
def test_where_nobody_can_say_all_cores_count(monkeypatch, counted, expected):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert available_cores() == expected
