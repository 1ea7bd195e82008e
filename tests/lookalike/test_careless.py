"""Signs of careless work are found where they are, and not with judges who look."""

import numpy as np
import pytest

from lookalike.agreement.careless import Answers, careless_flags
from lookalike.agreement.judge_statistics import Share, sequence_effect

N = 200


def flags(visible=None, *, in_sheet=False, shown=None, similar=60, different=140, others=0.3,
          checks=(9, 10), answers=None, n_stops=0, n_pictures=2, places=()):  # fmt: skip
    rng = np.random.default_rng(1)
    visible = rng.integers(900, 6000, N) if visible is None else np.asarray(visible)
    n = visible.size
    answers = rng.random(N) < 0.3 if answers is None else answers
    found = careless_flags(
        Answers(
            visible,
            np.full(n, in_sheet),
            np.arange(n) * 5000 if shown is None else np.asarray(shown),
            np.ones(n, bool),
            n_pictures,
            np.array(places, np.int64),
        ),
        n_similar=similar,
        n_different=different,
        others=Share(round(others * 1000), 1000),
        checks=Share(*checks),
        sequence=sequence_effect(answers, np.repeat(np.arange(10), N // 10)),
        n_stops=n_stops,
    )
    return [flag.name for flag in found]


def test_who_looks_has_no_flag():
    assert flags() == []
    assert flags([100] * 5) == []  # too few to say
    assert flags(similar=0, different=200, others=0.01) == []  # others find nothing similar either
    assert flags(checks=(0, 4)) == []
    assert flags([300, *[4000] * 199]) == []
    assert flags([900] * N, n_pictures=7) == []
    assert flags(places=[0] * 17 + [1] * 3) == []
    assert flags(places=[0] * 19) == []  # too few to say


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"visible": [300] * 40 + [2000] * 60}, ["pace"]),
        ({"visible": [60] * 5 + [2000] * 95}, ["unseen"]),
        ({"similar": 4, "different": 196}, ["one_sided"]),
        ({"similar": 443, "different": 14, "others": 0.7}, ["one_sided"]),
        ({"checks": (3, 6)}, ["checks"]),
        ({"answers": np.arange(N) % 2 == 0}, ["order"]),
        ({"n_stops": 3}, ["held"]),
        ({"visible": [900] * N, "n_pictures": 11}, ["pace"]),  # for two it would do
        ({"places": [1] * 57 + [0] * 3}, ["one_place"]),
        ({"visible": [25] * 48, "in_sheet": True, "shown": [7] * 48}, ["sheets"]),
        ({"visible": [100] * 30, "in_sheet": True}, ["sheets"]),
    ],
)
def test_each_sign_is_found(given, found):
    assert flags(**given) == found


def test_a_sheet_that_was_looked_at_is_none():
    assert flags([200] * 48, in_sheet=True, shown=[7] * 48) == []
