"""Rounds and estimates: exact where all is judged, without bias where it is not."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy.stats import kendalltau

from lookalike.bias.evidence.files import make_proposals
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.measures import parse_measure
from lookalike.metrics.scoring import score_runs
from lookalike.planning.estimates import Estimator, estimate, undrawn
from lookalike.planning.measures import BOARD
from lookalike.planning.pool_files import named_pool
from lookalike.planning.rounds import FLOOR, Round, draw_round
from lookalike.planning.simulator import World, simulate

ALL = (*BOARD, "Success@3", "MRR@1", "macro_pr_auc", "micro_pr_auc")
CAMPAIGN = simulate(World(n_queries=60, n_images=30, n_models=3, depth=5), 7)
POOL, LABELS = CAMPAIGN.pool, CAMPAIGN.labels


def drawn(share: float = 0.4, labels=None, seed: int = 1, **options) -> Round:
    labels = np.full(POOL.n_pairs, np.nan) if labels is None else labels
    rng = np.random.default_rng(seed)
    return draw_round(POOL, labels, n_wanted=int(share * POOL.n_pairs), rng=rng, **options)


def labels_of(*rounds: Round):
    known = np.any([one.drawn for one in rounds], axis=0)
    return np.where(known, LABELS, np.nan)


def test_all_judged_is_what_score_says_ties_and_empty_queries_with_it():
    rng = np.random.default_rng(3)
    images = [f"i{i:02d}" for i in range(15)]
    runs, proposed = [], []
    for name in "ab":
        scores = rng.integers(0, 5, (20, 15))  # ties everywhere
        rows = [
            (f"q{q:02d}", c, float(scores[q, i])) for q in range(20) for i, c in enumerate(images)
        ]
        runs.append(Run.of(name, rows))
        for q in range(20):
            best = sorted(range(15), key=lambda i: (-scores[q, i], images[i]))[:5]
            proposed += [(f"q{q:02d}", images[i], name, r + 1) for r, i in enumerate(best)]
    named = named_pool(make_proposals(proposed), runs)
    share = rng.choice([0.0, 0.3, 1.0], 20)  # queries without a positive, or a negative
    qrels = Qrels.of((q, c, int(rng.random() < share[int(q[1:])])) for q, c in named.pairs)
    found = estimate(named.pool, named.labels(qrels), [], ALL)
    wanted = score_runs(qrels, runs, [parse_measure(name) for name in ALL])
    for one in found.measures:
        for value, scored in zip(one.values, wanted, strict=True):
            assert value == pytest.approx(scored.outcomes[one.name].value, abs=1e-6), one.name
    assert found.judged == 1


def five_candidates(name: str, order: str) -> Run:
    """Return a run that ranks a, b, c, d, e alike for each of four queries."""
    return Run.of(name, [(f"q{q}", c, 5.0 - i) for q in range(4) for i, c in enumerate(order)])


def proposed_by(*sources: tuple[str, str]):
    rows = [
        (f"q{q}", c, name, i + 1)
        for name, order in sources
        for q in range(4)
        for i, c in enumerate(order)
    ]
    return make_proposals(rows)


def test_a_run_whose_candidates_were_not_put_to_the_judges_is_refused_by_name():
    runs = [five_candidates("a", "abcde"), five_candidates("x", "aebcd")]
    assert named_pool(proposed_by(("a", "abc")), runs[:1]).pool.depth == 3
    wanted = "run 'x': 4 of its 12 candidates down to rank 3 were never put to the judges"
    with pytest.raises(InputError, match=wanted):
        named_pool(proposed_by(("a", "abc")), runs)


def test_of_candidates_that_tie_those_put_to_the_judges_stand_first():
    scores = np.array([0.9, 0.5 + 1e-7, 0.8, 0.5, 0.1], np.float32).tolist()
    rows = [("q0", c, v) for c, v in zip("abcde", scores, strict=True)]
    proposed = make_proposals([("q0", c, "a", i + 1) for i, c in enumerate("acd")])  # not b
    named = named_pool(proposed, [Run.of("a", rows)])
    assert (named.pool.depth, named.pool.ranks.tolist()) == (3, [[1, 2, 3]])
    apart = [(q, c, 0.51 if c == "b" else v) for q, c, v in rows]
    with pytest.raises(InputError, match="1 of its 3 candidates down to rank 3 were never put"):
        named_pool(proposed, [Run.of("a", apart)])


def test_a_source_of_less_depth_makes_the_pool_as_deep_as_every_run_stands_in_it():
    runs = [five_candidates("a", "abcde"), five_candidates("b", "badce")]
    uneven = proposed_by(("a", "abc"), ("b", "ba"))  # b's third is not in the pool
    named = named_pool(uneven, runs)
    assert (named.pool.depth, named.pool.n_pairs) == (2, 12)
    with pytest.raises(InputError, match="the pool is 2 deep"):
        estimate(named.pool, np.ones(12), [], ["P@3"])
    assert named_pool(uneven, runs[:1]).pool.depth == 3


def test_over_all_draws_labels_and_measures_are_what_they_would_be_fully_judged():
    few = simulate(World(n_queries=3, n_images=8, n_models=2, depth=4, positives=0.4), 5)
    pool, rng = few.pool, np.random.default_rng(0)
    truth = few.labels.copy()
    probabilities = rng.choice([0.2, 0.5, 0.8], pool.n_pairs)
    for q in range(3):  # one similar and one different pair are known, so all is defined
        at = np.flatnonzero(pool.queries == q)[:2]
        truth[at], probabilities[at] = (1.0, 0.0), np.nan
    total_labels, total, chance = np.zeros(pool.n_pairs), np.zeros((6, 2)), 0.0
    names = ("P@3", "MRR@4", "Success@2", "AP'", "macro_roc_auc", "macro_pr_auc")
    for us in product((0.1, 0.35, 0.65, 0.9), repeat=3):
        weight = float(np.prod([{0.1: 0.2, 0.35: 0.3, 0.65: 0.3, 0.9: 0.2}[u] for u in us]))
        is_drawn = np.array(us)[pool.queries] < np.nan_to_num(probabilities)
        seen = np.where(is_drawn | np.isnan(probabilities), truth, np.nan)
        found = estimate(pool, seen, [Round(probabilities, is_drawn)], names)
        total_labels += weight * found.labels
        total += weight * np.array([one.values for one in found.measures])
        chance += weight
    full = estimate(pool, truth, [], names)
    assert chance == pytest.approx(1.0)
    assert total_labels == pytest.approx(truth, abs=1e-6)
    assert total == pytest.approx(np.array([one.values for one in full.measures]), abs=1e-6)


def test_a_round_draws_as_many_as_wanted_and_every_open_pair_may_be_drawn():
    one = drawn(0.3)
    assert one.probabilities.sum() == pytest.approx(0.3 * POOL.n_pairs, rel=0.05)
    assert one.probabilities.min() >= 0.15 - 1e-9
    labels = labels_of(one)
    two = drawn(0.02, labels, seed=2)
    is_open = np.isnan(labels)
    assert np.array_equal(~np.isnan(two.probabilities), is_open)
    assert not (two.drawn & ~is_open).any()
    assert two.probabilities[is_open].min() == pytest.approx(
        min(FLOOR, two.probabilities[is_open].mean())
    )


def test_of_a_query_the_likeliest_pairs_are_drawn():
    one = drawn(0.4, seed=3)
    for q in range(POOL.n_queries):
        p, taken = (x[POOL.queries == q] for x in (one.probabilities, one.drawn))
        if taken.any() and not taken.all():
            assert p[taken].min() > p[~taken].max()


def test_the_same_seed_draws_the_same_round():
    assert np.array_equal(drawn(seed=5).drawn, drawn(seed=5).drawn)
    assert not np.array_equal(drawn(seed=5).drawn, drawn(seed=6).drawn)


def test_what_is_left_is_drawn_whole_and_then_nothing():
    one = drawn(0.6)
    two = drawn(0.9, labels_of(one))
    assert np.array_equal(two.drawn, ~one.drawn)
    found = estimate(POOL, LABELS, [one, two], ALL)
    full = estimate(POOL, LABELS, [], ALL)
    for some, whole in zip(found.measures, full.measures, strict=True):
        assert some.values == pytest.approx(whole.values, abs=1e-4)
    with pytest.raises(Refused, match="nothing to draw"):
        drawn(0.1, LABELS)


@pytest.mark.parametrize("floor", [0.0, -0.1, 1.5])
def test_a_floor_that_leaves_pairs_out_is_refused(floor):
    with pytest.raises(Refused, match="floor"):
        drawn(floor=floor)


def test_a_label_withdrawn_after_the_draw_is_no_estimate():
    one = drawn()
    labels = labels_of(one)
    labels[np.flatnonzero(one.drawn)[0]] = np.nan
    with pytest.raises(Refused, match=r"1 of the .* have no label"):
        estimate(POOL, labels, [one], BOARD)


def test_labels_that_a_round_could_have_drawn_and_did_not_are_refused():
    one = drawn(0.3)
    labels = labels_of(one)
    gold = np.flatnonzero(np.isnan(labels))[:7]
    labels[gold] = LABELS[gold]
    with pytest.raises(Refused, match="7 labelled pairs were open in round 1 and drawn by no"):
        estimate(POOL, labels, [one], ["P@5"])
    assert np.flatnonzero(undrawn(labels, [one])).tolist() == gold.tolist()
    two = drawn(0.3, labels, seed=2)  # known before the second, they are no fault of its own
    judged = np.where(two.drawn, LABELS, labels)
    assert estimate(POOL, judged, [two], ["P@5"]).judged < 1
    with pytest.raises(Refused, match="7 labelled pairs were open in round 1"):
        estimate(POOL, judged, [one, two], ["P@5"])


def test_rounds_out_of_order_are_refused_and_none_matters_once_all_is_judged():
    one = drawn(0.3)
    two = drawn(0.3, labels_of(one), seed=2)
    labels = labels_of(one, two)
    estimate(POOL, labels, [one, two], ["P@5"])
    with pytest.raises(Refused, match=r"drawn by no round from there on: .* in their order"):
        estimate(POOL, labels, [two, one], ["P@5"])
    found, full = (estimate(POOL, LABELS, r, ["P@5"]).measures[0] for r in ([one], []))
    assert np.array_equal(found.by_query, full.by_query)


def test_a_round_before_a_top_up_counts_as_known_labels_alone():
    one = drawn(0.3)
    topped_up = replace(one, probabilities=np.where(POOL.queries < 5, np.nan, one.probabilities))
    topped_up = replace(topped_up, drawn=one.drawn & (POOL.queries >= 5))
    with pytest.raises(Refused, match="no round could have drawn every pair"):
        estimate(POOL, labels_of(topped_up), [topped_up], BOARD)
    two = drawn(0.3, labels_of(topped_up), seed=2)
    both = estimate(POOL, labels_of(topped_up, two), [topped_up, two], BOARD)
    alone = estimate(POOL, labels_of(topped_up, two), [two], BOARD)
    for one_of, other in zip(both.measures, alone.measures, strict=True):
        assert np.array_equal(one_of.values, other.values)


@pytest.mark.parametrize("name", ["nDCG@5", "judged@5", "P_max@5", "P@0", "macro_roc_auc_random"])
def test_a_measure_without_an_estimate_says_so(name):
    with pytest.raises(InputError, match="no estimate from a partly judged pool"):
        estimate(POOL, LABELS, [], [name])


def test_below_the_pools_depth_nothing_is_estimated():
    with pytest.raises(InputError, match="the pool is 5 deep"):
        estimate(POOL, LABELS, [], ["P@6"])


@pytest.mark.parametrize("label", [0.0, 1.0])
def test_labels_that_are_all_equal_leave_undefined_what_is_undefined(label):
    one = drawn()
    labels = np.where(one.drawn, label, np.nan)
    found = {m.name: m for m in estimate(POOL, labels, [one], BOARD).measures}
    assert np.isfinite(found["P@5"].values).all() or label == 0.0
    full = estimate(POOL, np.full(POOL.n_pairs, label), [], BOARD).measures
    assert np.isnan(next(m for m in full if m.name == "macro_roc_auc").values).all()
    assert all(not ends.is_defined for ends in full[-1].intervals())


def test_three_queries_have_no_interval():
    few = simulate(replace(CAMPAIGN.world, n_queries=3), 1)
    found = estimate(few.pool, few.labels, [], ["P@5"])
    assert not any(ends.is_defined for ends in found.measures[0].intervals())


def test_estimates_of_many_campaigns_hold_the_truth():
    """A small edition of docs/simulations/planning.py: gross errors of the error show."""
    names, full, values, errors = ("P@5", "macro_roc_auc"), [], [], []
    for seed in range(20):
        campaign = simulate(replace(CAMPAIGN.world, n_queries=50), seed)
        pool, rng, rounds = campaign.pool, np.random.default_rng(seed), []
        labels = np.full(pool.n_pairs, np.nan)
        for _ in range(2):
            one = draw_round(pool, labels, n_wanted=pool.n_pairs // 4, rng=rng)
            labels[one.drawn] = campaign.labels[one.drawn]
            rounds.append(one)
        found = estimate(pool, labels, rounds, names).measures
        full.append([m.values for m in estimate(pool, campaign.labels, [], names).measures])
        values.append([m.values for m in found])
        errors.append([m.by_query.std(axis=1, ddof=1) / 50**0.5 for m in found])
    z = (np.array(values) - np.mean(full, axis=0)) / np.array(errors)
    assert (np.abs(z.mean(axis=0)) < 0.7).all()
    assert np.mean(np.abs(z) < 1.96) > 0.88


def test_a_look_after_each_round_says_what_one_look_after_all_says():
    one = drawn(0.3)
    two = drawn(0.3, labels_of(one), seed=2)
    estimator = Estimator(POOL, ALL)
    first = estimator.estimate(labels_of(one), [one])
    both = estimator.estimate(labels_of(one, two), [one, two])
    for found, rounds in ((first, [one]), (both, [one, two])):
        anew = estimate(POOL, labels_of(*rounds), rounds, ALL)
        assert np.array_equal(found.labels, anew.labels)
        for some, other in zip(found.measures, anew.measures, strict=True):
            assert np.array_equal(some.by_query, other.by_query), some.name


def test_a_run_that_has_seen_labels_is_measured_and_guesses_nothing():
    one = drawn()
    labels = labels_of(one)
    cheat = np.where(one.drawn, LABELS, 0.5) + 1e-6 * np.arange(POOL.n_pairs)
    ranks = np.empty(POOL.n_pairs, dtype=np.int64)
    for q in range(POOL.n_queries):
        at = np.flatnonzero(POOL.queries == q)
        ranks[at[np.argsort(-cheat[at])]] = np.arange(at.size) + 1
    run = replace(POOL, models=("cheat",), ranks=ranks[None], scores=cheat[None])
    found = estimate(run, labels, [one], ["P@5"], guesses_from=POOL)
    assert np.array_equal(found.labels, estimate(POOL, labels, [one], ["P@5"]).labels)
    assert not np.array_equal(found.labels, estimate(run, labels, [one], ["P@5"]).labels)


@pytest.mark.daily
def test_a_quarter_of_the_judging_orders_distant_models_and_half_hardly_widens_intervals():
    """What docs/planning.md promises, on ten campaigns; its table is of more."""
    taus: dict[float, list[float]] = {0.25: [], 0.5: []}
    widths: dict[float, list[float]] = {0.25: [], 0.5: []}
    for seed, share in product(range(10), taus):
        campaign = simulate(World(), seed)
        pool, rng, rounds = campaign.pool, np.random.default_rng([seed, 1]), []
        labels = np.full(pool.n_pairs, np.nan)
        for _ in range(3):
            n = round(share * pool.n_pairs / 3)
            rounds.append(draw_round(pool, labels, n_wanted=n, rng=rng))
            labels[rounds[-1].drawn] = campaign.labels[rounds[-1].drawn]
        some = estimate(pool, labels, rounds, ["P@5"]).measures[0]
        full = estimate(pool, campaign.labels, [], ["P@5"]).measures[0]
        taus[share].append(kendalltau(some.values, full.values)[0])
        widths[share].append((some.by_query.std(axis=1) / full.by_query.std(axis=1)).mean())
    assert np.mean(taus[0.25]) >= 0.99
    assert np.mean(widths[0.5]) <= 1.3
    for share, width in widths.items():  # whole queries of that share have 1 / share of the square
        assert 1 - share * np.mean(width) ** 2 >= 0.15
