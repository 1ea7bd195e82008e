"""The order of the models in view of who judged: other judges, and other answers."""

from __future__ import annotations

import numpy as np
import pytest

from lookalike.bias.evidence.pool import Votes
from lookalike.bias.judge_noise import judge_words, positive_chance, vote_accuracy
from lookalike.bias.report import BiasSettings, bias_report
from lookalike.core.dataclass_json import as_json, from_json
from lookalike.stats.judge_intervals import judges_interval
from tests.lookalike.bias.cases import rich_pool


def votes_of(rows: list[str]) -> Votes:
    """One letter for each judge: y, n, or . for none."""
    letters = np.array([list(row) for row in rows])
    names = tuple("abcdefg"[: letters.shape[1]])
    return Votes(names, letters == "y", letters != ".")


def test_votes_that_agree_at_chance_are_right_at_chance_and_sure_ones_always():
    assert vote_accuracy(votes_of(["yy", "nn", "yn", "ny"])) == 0.5
    assert vote_accuracy(votes_of(["yyy", "nnn"])) == 1
    assert np.isnan(vote_accuracy(votes_of(["y.", ".n"])))


def test_the_accuracy_of_simulated_votes_is_found_again():
    rng = np.random.default_rng(2)
    truth = rng.random(20_000) < 0.4
    answers = truth[:, None] ^ (rng.random((20_000, 3)) < 0.1)
    votes = Votes(("a", "b", "c"), answers, np.ones_like(answers))
    assert vote_accuracy(votes) == pytest.approx(0.9, abs=0.005)
    chance = positive_chance(votes)
    for n_yes in range(4):
        held = truth[answers.sum(axis=1) == n_yes].mean()
        assert chance[answers.sum(axis=1) == n_yes][0] == pytest.approx(held, abs=0.03)


def test_a_pair_nobody_judged_has_the_chance_of_all():
    votes = votes_of(["yy.", "nn.", "ynn", "..."])
    assert positive_chance(votes)[3] == pytest.approx(3 / 7)


def test_judges_that_differ_make_the_interval_longer_and_alike_ones_do_not():
    rng = np.random.default_rng(0)
    values = rng.random(50)
    alike = judges_interval(values, [values] * 5)
    plain = 2.0096 * values.std(ddof=1) / 50**0.5
    assert alike.high - alike.low == pytest.approx(2 * plain, rel=1e-3)
    apart = judges_interval(values, [values + gap for gap in (-0.2, -0.1, 0, 0.1, 0.2)])
    assert apart.high - apart.low > 2 * (alike.high - alike.low)
    assert not judges_interval(values, [values] * 4).is_defined
    assert not judges_interval(values[:9], [values[:9]] * 5).is_defined


def test_judges_who_are_alike_but_for_chance_lengthen_it_less_than_their_means_say():
    rng = np.random.default_rng(0)
    values = rng.random(50)
    own = [values + rng.normal(0, 0.3, 50) for _ in range(9)]
    plain = 2 * 2.0096 * values.std(ddof=1) / 50**0.5
    found = judges_interval(np.mean(own, axis=0), own)
    assert found.high - found.low < 1.25 * plain


def test_the_report_tells_three_judges_of_redrawn_labels_alone_and_keeps_it():
    evidence = rich_pool()
    settings = BiasSettings(n_bootstraps=200, n_permutations=100)
    report = bias_report(evidence, np.random.default_rng(1), settings)
    noise = report.judges
    assert noise is not None
    assert len(noise.rows) == len(report.models) - 1
    assert 0.5 < noise.accuracy < 1
    assert 0 < noise.wrong < 0.3
    for row in noise.rows:
        assert row.difference >= 0
        assert 0 <= row.kept <= 1
        assert not row.over_judges.is_defined
    assert "none holds there" in judge_words(noise)
    stored = as_json(report)
    assert as_json(from_json(type(report), stored)) == stored
    again = bias_report(evidence, np.random.default_rng(1), settings)
    assert as_json(again) == stored
