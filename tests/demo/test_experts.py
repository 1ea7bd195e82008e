"""Simulated experts: the rule, the stated rates, and answers that depend on the pair alone."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import binom

from demo.drawing.catalog import COLUMNS
from demo.drawing.colours import DYES
from demo.drawing.plan import products
from demo.experts import (
    EXPERTS,
    FAR_FACTOR,
    KINDRED,
    THRESHOLD,
    WEIGHTS,
    Bias,
    Expert,
    cant_tell_rate,
    error_rate,
    is_similar,
    judge_pair,
    pair_rng,
    similarity,
)
from tests.paths import ROOT

COAT = {
    "category": "coat",
    "colour": "navy",
    "second_colour": "white",
    "texture": "checked",
    "pattern_scale": "fine",
    "cut": "slim",
    "detail": "belted",
    "trim": "tonal",
    "material": "wool",
}


def like(**changes: str) -> dict[str, str]:
    return {**COAT, **changes}


def within(count: int, n: int, rate: float) -> bool:
    """Whether a count lies where all but one in 100,000 binomial counts would."""
    low, high = binom.interval(1 - 1e-5, n, rate)
    return bool(low <= count <= high)


def answers(query, candidate, expert, n: int, seed: int = 0) -> Counter[str]:
    return Counter(
        judge_pair(query, candidate, expert, pair_rng(seed, expert, "q", i)).answer
        for i in range(n)
    )


def test_the_points_add_up_to_100_and_the_category_alone_decides_nothing():
    assert sum(WEIGHTS.values()) == 100
    assert WEIGHTS["category"] < THRESHOLD
    assert 100 - WEIGHTS["category"] < THRESHOLD
    assert set(WEIGHTS) <= set(COLUMNS)


@pytest.mark.parametrize(
    ("other", "points"),
    [
        (like(), 100),
        (like(colour="yellow"), 84),
        (like(colour="blue"), 92),  # kindred
        (like(second_colour="red"), 97),
        (like(texture="striped", pattern_scale="bold"), 81),
        (like(category="hat"), 60),
        (like(colour="yellow", second_colour="red", cut="cocoon"), 72),
        (like(texture="striped", cut="cocoon", detail="zipped"), 70),  # just enough
        (like(colour="yellow", second_colour="red", cut="cocoon", trim="contrast"), 69),
    ],
)
def test_similarity_counts_the_points_of_equal_attributes(other, points):
    assert similarity(COAT, other) == points
    assert similarity(other, COAT) == points
    assert is_similar(COAT, other) == (points >= 70)


def test_a_second_colour_that_nobody_sees_makes_no_difference():
    plain = like(texture="plain", pattern_scale="none")
    unseen = {**plain, "second_colour": "red"}
    assert similarity(plain, unseen) == 100
    assert similarity(plain, {**unseen, "trim": "contrast"}) == 94


def test_what_belongs_to_the_picture_counts_for_nothing():
    taken = {"view": "front", "background": "linen", "pose": "laid flat", "light": "soft top"}
    assert similarity({**COAT, **taken}, {**COAT, "view": "detail"}) == 100


def test_kindred_colours_are_pairs_of_known_colours():
    assert all(len(pair) == 2 for pair in KINDRED)
    assert set().union(*KINDRED) <= set(DYES)


def test_a_missing_attribute_is_named():
    part = {k: v for k, v in COAT.items() if k not in ("cut", "trim")}
    with pytest.raises(ValueError, match="the candidate has no attribute cut, trim"):
        similarity(COAT, part)


def test_the_demo_catalog_has_pairs_of_both_kinds_in_each_category():
    planned = [vars(p) for p in products(150, np.random.default_rng([0, 0]))]
    kinds: dict[str, Counter[bool]] = {}
    for a, b in combinations(planned, 2):
        if a["category"] == b["category"]:
            kinds.setdefault(a["category"], Counter())[is_similar(a, b)] += 1
        else:
            assert not is_similar(a, b)
    assert len(kinds) == 7
    assert all(c[True] >= 3 and c[False] >= 3 for c in kinds.values())


PAIRS = {
    "similar": like(material="cotton"),
    "similar, other cut": like(cut="cocoon"),
    "different": like(colour="yellow", texture="striped", cut="cocoon"),
    "different, same colour": like(texture="striped", cut="cocoon", detail="zipped",
                                   trim="contrast"),
    "different, same texture": like(colour="yellow", second_colour="red", cut="straight",
                                    detail="zipped", material="felt"),
    "far": like(category="hat"),
}  # fmt: skip

STATED = {  # error rate on each pair, by expert: worked out by hand from the profiles
    "A": (0.05, 0.15, 0.03, 0.03, 0.03, 0.003),
    "B": (0.06, 0.06, 0.06, 0.18, 0.06, 0.018),
    "C": (0.03, 0.03, 0.09, 0.09, 0.20, 0.020),
}


@pytest.mark.parametrize("expert", EXPERTS, ids=lambda e: e.name[-1])
def test_the_rate_on_a_pair_follows_from_the_profile(expert):
    assert [is_similar(COAT, c) for c in PAIRS.values()] == [True, True, False, False, False, False]
    rates = [error_rate(COAT, c, expert) for c in PAIRS.values()]
    assert rates == pytest.approx(STATED[expert.name[-1]])
    assert cant_tell_rate(COAT, PAIRS["far"], expert) == expert.cant_tell_rate * FAR_FACTOR


@pytest.mark.parametrize("expert", EXPERTS, ids=lambda e: e.name[-1])
@pytest.mark.parametrize("pair", list(PAIRS))
def test_measured_rates_match_the_stated_ones(expert, pair):
    n = 4000
    candidate = PAIRS[pair]
    counts = answers(COAT, candidate, expert, n)
    assert within(counts["cant_tell"], n, cant_tell_rate(COAT, candidate, expert))
    answered = n - counts["cant_tell"]
    wrong = counts["different" if is_similar(COAT, candidate) else "similar"]
    assert within(wrong, answered, error_rate(COAT, candidate, expert))


def test_over_the_whole_catalog_errors_come_as_often_as_stated():
    planned = [vars(p) for p in products(60, np.random.default_rng([0, 0]))]
    pairs = [(a, b) for a, b in combinations(planned, 2) if a["category"] == b["category"]]
    for expert in EXPERTS:
        wrong, expected, variance = 0, 0.0, 0.0
        for seed in range(20):
            for a, b in pairs:
                rng = pair_rng(seed, expert, a["product_id"], b["product_id"])
                answer = judge_pair(a, b, expert, rng).answer
                if answer == "cant_tell":
                    continue
                rate = error_rate(a, b, expert)
                wrong += (answer == "similar") != is_similar(a, b)
                expected, variance = expected + rate, variance + rate * (1 - rate)
        assert abs(wrong - expected) < 4.5 * variance**0.5


def test_answers_do_not_depend_on_the_order_in_which_pairs_are_judged():
    jobs = [(e, f"q{q}", f"c{c}", c) for e in EXPERTS for q in range(5) for c in range(12)]
    looks = list(PAIRS.values())

    def judged(order):
        return {
            (e.name, q, c): judge_pair(COAT, looks[n % 6], e, pair_rng(7, e, q, c))
            for e, q, c, n in order
        }

    shuffled = random.Random(1).sample(jobs, len(jobs))
    assert judged(jobs) == judged(shuffled)
    assert judged(jobs[:20]).items() <= judged(jobs).items()


def test_seed_expert_and_pair_each_have_their_own_stream():
    a, b = EXPERTS[:2]
    streams = [
        pair_rng(0, a, "1", "23"),
        pair_rng(1, a, "1", "23"),
        pair_rng(0, b, "1", "23"),
        pair_rng(0, a, "12", "3"),
        pair_rng(0, a, "23", "1"),
    ]
    assert len({float(rng.random()) for rng in streams}) == 5
    assert pair_rng(0, a, 1, 23).random() == pair_rng(0, a, "1", "23").random()


def test_a_judgement_is_the_same_today_and_tomorrow():
    """Pinned: stored judgements of the demo must not change behind its back."""
    got = [judge_pair(COAT, PAIRS["similar"], e, pair_rng(0, e, "P001", "P002")) for e in EXPERTS]
    assert [(g.answer, g.think_ms) for g in got] == PINNED


PINNED = [("different", 4359), ("similar", 1560), ("similar", 4634)]


def test_think_times_center_on_the_stated_median_and_hesitation_is_slower():
    for expert in EXPERTS:
        clear, close = like(), like(colour="yellow", second_colour="red", cut="cocoon")
        times = {}
        for name, candidate in (("clear", clear), ("close", close)):
            got = [
                judge_pair(COAT, candidate, expert, pair_rng(0, expert, "q", i))
                for i in range(2000)
            ]
            assert all(500 <= g.think_ms <= 60_000 for g in got)
            times[name] = float(np.median([g.think_ms for g in got if g.answer != "cant_tell"]))
        assert times["clear"] == pytest.approx(expert.median_ms, rel=0.06)
        assert times["close"] == pytest.approx(1.35 * expert.median_ms, rel=0.06)


def test_every_expert_is_called_simulated():
    assert [e.name for e in EXPERTS] == [f"Simulated expert {c}" for c in "ABC"]


@pytest.mark.parametrize("rate", [-0.1, 0.5, 1.0])
def test_a_rate_that_is_none_is_refused_by_name(rate):
    bias = Bias("cut", "equal", "false_positive", 0.1)
    with pytest.raises(ValueError, match="false_negative_rate"):
        Expert("Simulated expert X", 0.1, rate, 0.0, bias, 1000, 0.1)
    with pytest.raises(ValueError, match=r"bias\.rate"):
        Bias("cut", "equal", "false_positive", rate)
    with pytest.raises(ValueError, match="mood"):
        Bias("mood", "equal", "false_positive", 0.1)


def test_the_docs_state_the_same_points_and_rates():
    text = (ROOT / "docs" / "demo.md").read_text(encoding="utf-8")
    for name, points in WEIGHTS.items():
        assert f"| {name} | {points} |" in text
    for e in EXPERTS:
        usual = (
            f"{e.false_positive_rate:.0%} | {e.false_negative_rate:.0%} | {e.cant_tell_rate:.0%}"
        )
        assert f"| {e.name} | {usual} |" in text
        assert f"{e.bias.rate:.0%}" in text
        assert f"{e.median_ms / 1000:.1f} s" in text
    assert f"at least {THRESHOLD} of 100" in text
