"""Judges scored as models are, against an independent count."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from lookalike.agreement.human_line import human_line
from lookalike.stats.intervals import TOO_ALIKE, mean_interval, statistic_interval


def test_each_judge_is_scored_by_the_majority_of_the_others() -> None:
    rng = np.random.default_rng(5)
    n_pairs, n_judges, n_queries = 400, 5, 20
    truth = rng.random(n_pairs) < 0.4
    rows = [
        (pair, judge, truth[pair] ^ (rng.random() < 0.05 * (judge + 1)))
        for pair in range(n_pairs)
        for judge in range(n_judges)
        if rng.random() < 0.8
    ]
    pairs, judges, answers = (np.array(column) for column in zip(*rows, strict=True))
    queries = pairs % n_queries
    line = human_line(queries, pairs, judges, answers.astype(bool))
    assert line is not None

    aucs, hits = np.full((n_judges, n_queries), np.nan), []
    for judge in range(n_judges):
        for query in range(n_queries):
            given, labels = [], []
            for pair in sorted({p for p, j, _ in rows if j == judge and p % n_queries == query}):
                own = next(a for p, j, a in rows if (p, j) == (pair, judge))
                others = [a for p, j, a in rows if p == pair and j != judge]
                if 2 * sum(others) != len(others):
                    given.append(own)
                    labels.append(2 * sum(others) > len(others))
            hits += [a == b for a, b in zip(given, labels, strict=True)]
            if len(set(labels)) == 2:
                aucs[judge, query] = roc_auc_score(labels, given)
    np.testing.assert_allclose(line.auc, np.nanmean(np.nanmean(aucs, axis=0)), atol=1e-12)
    n_judges_of = np.count_nonzero(~np.isnan(aucs), axis=0)
    by_judge = np.nansum(aucs / n_judges_of, axis=1) / (~np.isnan(aucs) / n_judges_of).sum(axis=1)
    np.testing.assert_allclose([line.lowest, line.highest], [by_judge.min(), by_judge.max()])
    np.testing.assert_allclose(line.accuracy, np.mean(hits))
    assert (line.n_queries, line.n_judges, line.n_answers) == (n_queries, n_judges, len(hits))
    assert line.interval.low < line.auc < line.interval.high


def test_the_mean_of_judges_of_other_queries_lies_between_the_lowest_and_the_highest() -> None:
    """Each hard query has half of the judges, so that all of them have more easy ones."""
    rows = []
    for query, panel in enumerate((range(3), range(3, 6), range(6), range(6), range(3))):
        for pair in range(10):
            for judge in panel:
                errs = query < 2 and pair in {2 * (judge % 3), 9 - 2 * (judge % 3)}
                rows.append((query, 10 * query + pair, judge, (pair < 5) ^ errs))
    queries, pairs, judges, answers = (np.array(column) for column in zip(*rows, strict=True))
    line = human_line(queries, pairs, judges, answers.astype(bool))
    assert line is not None
    hard = 2 / 3
    np.testing.assert_allclose(line.auc, (2 * hard + 3) / 5)
    np.testing.assert_allclose([line.lowest, line.highest], [(hard + 1) / 2, (hard + 2) / 3])


def test_the_interval_of_judges_who_hardly_differ_is_not_that_of_the_queries_seen_alone() -> None:
    pairs = np.repeat(np.arange(80), 3)
    judges, queries = np.tile(np.arange(3), 80), np.repeat(np.arange(20), 12)
    answers = np.repeat(np.arange(80) % 2 == 0, 3)
    answers[0] = not answers[0]  # in one query of twenty a judge differs once
    line = human_line(queries, pairs, judges, answers)
    assert line is not None
    values = np.array([1.0] * 19 + [line.auc * 20 - 19])
    assert mean_interval(values).reason == TOO_ALIKE  # what the judges' own rule makes up for
    error = float(values.std(ddof=1)) / np.sqrt(20)
    alone = statistic_interval(line.auc, error, 20, freedom=19.0)
    assert line.interval.low < alone.low - 0.02
    agreed = human_line(queries, pairs, judges, np.repeat(np.arange(80) % 2 == 0, 3))
    assert agreed is not None
    assert agreed.interval == mean_interval([1.0] * 20)


def test_one_judge_alone_has_no_others() -> None:
    nothing = np.zeros(0, np.int64)
    assert human_line(nothing, nothing, nothing, np.zeros(0, bool)) is None
    alone = np.zeros(3, np.int64)
    assert human_line(alone, np.arange(3), alone, np.ones(3, bool)) is None
