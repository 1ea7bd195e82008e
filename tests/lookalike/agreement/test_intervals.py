"""Intervals of agreement: by brute force, their coverage, and when there is none."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import norm, t

from lookalike.agreement.coefficients import agreement, cohen_kappa
from lookalike.agreement.grades import ordinal_agreement
from lookalike.agreement.intervals import (
    CoefficientIntervals,
    agreement_intervals,
    kappa_interval,
)
from lookalike.agreement.machine_judge import trial
from lookalike.agreement.votes import Votes, read_votes
from lookalike.cli.main import main
from lookalike.core.arrays import Ints


def votes_of(
    table: Ints, is_given: np.ndarray | None = None, units: Ints | None = None, n_labels: int = 2
) -> Votes:
    items, judges = np.nonzero(np.ones_like(table, bool) if is_given is None else is_given)
    n_items, n_judges = table.shape
    return Votes(
        [f"i{n}" for n in range(n_items)], [f"w{n}" for n in range(n_judges)],
        [str(n) for n in range(n_labels)], items, judges, table[items, judges], units,
    )  # fmt: skip


def panel(
    rng: np.random.Generator, n_items: int, n_judges: int, *, spread: float, mean: float = 0.0
) -> Ints:
    """Answers of judges with thresholds of their own on items with a place of their own."""
    places = 2.0 * rng.standard_normal((n_items, 1)) + mean
    thresholds = spread * rng.standard_normal((1, n_judges))
    answers: Ints = (rng.random((n_items, n_judges)) < ndtr(places + thresholds)).astype(int)
    return answers


def true_alpha(spread: float, mean: float = 0.0) -> float:
    """Alpha of all items and all judges of that world."""
    x = np.linspace(-8, 8, 4001)
    weights = norm.pdf(x) / norm.pdf(x).sum()
    share = ndtr((2.0 * x + mean) / np.sqrt(1.0 + spread**2))
    pi = weights @ share
    return float(1.0 - weights @ (2 * share * (1 - share)) / (2 * pi * (1 - pi)))


def values(table: Ints, n_labels: int) -> list[float]:
    counts = np.stack([(table == label).sum(axis=1) for label in range(n_labels)], axis=1)
    plain, grades = agreement(counts), ordinal_agreement(counts)
    return [plain.percent, plain.alpha, plain.ac1, plain.fleiss, grades.within_one, grades.alpha]


NAMES = ["percent", "alpha", "ac1", "fleiss", "within_one", "ordinal_alpha"]


def test_over_items_it_is_the_jackknife_of_the_coefficients_themselves():
    table = np.random.default_rng(0).integers(0, 3, (80, 4))
    table[:, 1:3] = np.where(np.random.default_rng(1).random((80, 2)) < 0.6, table[:, :1], 2)
    units = np.arange(80) // 2
    found = agreement_intervals(votes_of(table, units=units, n_labels=3))
    whole = np.array(values(table, 3))
    left = np.array([values(table[units != unit], 3) for unit in range(40)])
    half = t.ppf(0.975, 39) * np.sqrt(39 * left.var(axis=0)) / (1 - whole)
    for name, value, width in zip(NAMES, whole, half, strict=True):
        ends = found[name].items
        assert ends.low == pytest.approx(1 - (1 - value) * np.exp(width))
        assert ends.high == pytest.approx(1 - (1 - value) * np.exp(-width))


@pytest.mark.parametrize(("n_judges", "taken_off"), [(3, 1.0), (4, 1.0), (6, 3 / 5)])
def test_over_judges_it_is_the_jackknife_over_judges_and_items(n_judges, taken_off):
    rng, n = np.random.default_rng(1), 60
    table = panel(rng, n, n_judges, spread=1.5)
    found = agreement_intervals(votes_of(table))["alpha"]
    alpha = values(table, 2)[1]

    def by_item(part: Ints) -> np.ndarray:
        return np.array([values(np.delete(part, row, axis=0), 2)[1] for row in range(n)])

    panels = [np.delete(table, judge, axis=1) for judge in range(n_judges)]
    left = np.array([values(part, 2)[1] for part in panels])
    share = (n_judges - 1) / n_judges
    of_judges = share * ((left - left.mean()) ** 2).sum()
    both = np.stack([by_item(part) for part in panels])
    both -= both.mean(axis=1, keepdims=True)
    by_chance = share * (n - 1) / n * ((both - both.mean(axis=0)) ** 2).sum()
    of_judges = max(of_judges - taken_off * by_chance, 0.0)
    of_items = (n - 1) * by_item(table).var()
    variance = of_items + of_judges
    freedom = variance**2 / (of_items**2 / (n - 1) + of_judges**2 / (n_judges - 1))
    width = t.ppf(0.975, freedom) * np.sqrt(variance) / (1 - alpha)
    assert of_judges > 0
    assert np.log((1 - alpha) / (1 - found.judges.high)) == pytest.approx(width, rel=0.05)


@pytest.mark.parametrize(("spread", "n_judges"), [(0.0, 5), (0.5, 5), (0.5, 8)])
def test_intervals_over_items_and_judges_hold_the_alpha_of_all_judges(spread, n_judges):
    rng = np.random.default_rng(3)
    truth, held, held_by_items = true_alpha(spread), 0, 0
    for _ in range(150):
        found = agreement_intervals(votes_of(panel(rng, 100, n_judges, spread=spread)))["alpha"]
        held += found.judges.low <= truth <= found.judges.high
        held_by_items += found.items.low <= truth <= found.items.high
    assert held >= 0.91 * 150
    assert held >= held_by_items


def test_judges_who_answer_a_part_each_have_intervals_too():
    rng = np.random.default_rng(4)
    table = panel(rng, 300, 12, spread=0.5)
    order = np.argsort(rng.random(table.shape), axis=1)
    is_given = np.argsort(order, axis=1) < 3
    found = agreement_intervals(votes_of(table, is_given))["alpha"]
    assert found.items.low < true_alpha(0.5) < found.items.high
    assert found.judges.low <= found.items.low < found.items.high <= found.judges.high


def test_pairs_of_one_query_are_one_unit():
    rng = np.random.default_rng(5)
    places = np.repeat(rng.integers(0, 2, 30), 10)
    noise = np.repeat(rng.random((30, 4)) < 0.25, 10, axis=0)
    table = (places[:, None] ^ noise).astype(int)
    alone = agreement_intervals(votes_of(table))["alpha"].items
    grouped = agreement_intervals(votes_of(table, units=np.arange(300) // 10))["alpha"].items
    assert grouped.high - grouped.low > 2 * (alone.high - alone.low)


def reasons(found: CoefficientIntervals) -> tuple[str, str]:
    return found.items.reason, found.judges.reason


def test_where_no_interval_is_valid_it_is_blank_and_says_why():
    rng = np.random.default_rng(6)
    none = agreement_intervals(votes_of(np.zeros((0, 3), int)))
    assert all("independent items have two votes" in of.items.reason for of in none.values())
    two = agreement_intervals(votes_of(panel(rng, 100, 2, spread=0.5)))["alpha"]
    assert two.items.is_defined
    assert reasons(two) == ("", "fewer than 3 judges tell nothing of other judges")
    few = agreement_intervals(votes_of(panel(rng, 9, 4, spread=0.5)))
    assert "fewer than 10 independent items" in few["percent"].items.reason
    assert "fewer than 30 independent items" in few["alpha"].items.reason
    twenty = agreement_intervals(votes_of(panel(rng, 20, 8, spread=0.5)))
    assert "fewer than 30 independent items" in twenty["alpha"].items.reason
    assert twenty["ac1"].judges.is_defined
    units = np.arange(100) // 12
    shared = agreement_intervals(votes_of(panel(rng, 100, 4, spread=0.5), units=units))
    assert not any(of.items.is_defined for of in shared.values())
    equal = agreement_intervals(votes_of(np.ones((50, 3), int)))
    assert equal["alpha"].items.reason == "the coefficient is undefined"
    assert equal["percent"].items.reason == "judges differ on fewer than 2 independent items"
    rare = np.zeros((100, 4), int)
    rare[:6, :2] = 1
    found = agreement_intervals(votes_of(rare))
    assert "fewer than 15 independent items have an answer other" in found["alpha"].items.reason
    assert found["ac1"].items.is_defined
    unequal = np.ones((100, 4), bool)
    unequal[:50, 0] = False
    partial = agreement_intervals(votes_of(panel(rng, 100, 4, spread=0.5), unequal))
    assert partial["fleiss"].items.reason == "the coefficient is undefined"
    many = votes_of(rng.integers(0, 30, (60, 3)), n_labels=30)
    assert agreement_intervals(many)["alpha"].items.reason == "there are more than 20 labels"


def test_cohens_kappa_of_two_judges_has_the_jackknifes_interval():
    rng = np.random.default_rng(7)
    first, second = panel(rng, 60, 2, spread=0.3).T
    found = kappa_interval(first, second)
    kappa = cohen_kappa(first, second)
    left = np.array([cohen_kappa(np.delete(first, n), np.delete(second, n)) for n in range(60)])
    width = t.ppf(0.975, 59) * np.sqrt(59 * left.var()) / (1 - kappa)
    assert found.low == pytest.approx(1 - (1 - kappa) * np.exp(width))
    assert found.high == pytest.approx(1 - (1 - kappa) * np.exp(-width))
    assert not kappa_interval(first[:9], second[:9]).is_defined
    assert not kappa_interval(first, first).is_defined


def test_kappas_of_a_machine_and_of_experts_have_intervals_by_query():
    rng = np.random.default_rng(8)
    answers = panel(rng, 300, 5, spread=0.3)
    similar = answers.sum(axis=1)
    machine = panel(rng, 300, 1, spread=0.0)[:, 0].astype(float)
    alone = trial(similar, 5 - similar, machine).strata[0]
    grouped = trial(similar, 5 - similar, machine, units=np.arange(300) // 8).strata[0]
    for one in (alone, grouped):
        assert one.interval.low < one.kappa < one.interval.high
        assert one.human_interval.low < one.human_kappa < one.human_interval.high
    assert alone.kappa == grouped.kappa
    assert alone.interval != grouped.interval


def test_the_commands_print_intervals_and_why_there_are_none(tmp_path, capsys):
    table = panel(np.random.default_rng(9), 60, 4, spread=0.5)
    path = tmp_path / "votes.csv"
    rows = [f"i{i},w{w},{table[i, w]}" for i in range(60) for w in range(4)]
    path.write_text("\n".join(["item,worker,label", *rows]))
    wanted = agreement_intervals(read_votes(path))
    assert main(["agreement", str(path), "--ordinal", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["intervals"]) == {*NAMES}
    assert found["intervals"]["alpha"] == wanted["alpha"].as_json()
    assert main(["agreement", str(path)]) == 0
    assert f"{wanted['alpha'].judges.low:.4f}" in capsys.readouterr().out
    assert main(["aggregate", str(path), "--tie", "undecided"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["agreement"]["intervals"]["ac1"] == wanted["ac1"].as_json()
    path.write_text("item,worker,label\na,1,x\na,2,y\n")
    assert main(["agreement", str(path), "--json"]) == 0
    blank = json.loads(capsys.readouterr().out)["intervals"]["alpha"]["items"]
    assert (blank["low"], bool(blank["reason"])) == (None, True)
