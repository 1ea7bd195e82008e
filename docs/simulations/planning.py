"""Simulate campaigns that are judged in part: do the intervals hold, and what does judging save?

    python docs/simulations/planning.py                   1,000 of each: half an hour of a core
    python docs/simulations/planning.py --campaigns 150   fewer; the document says how many
    python docs/simulations/planning.py --only coverage --world close   some worlds, printed alone

Prints the figures and writes them to docs/planning.md. Every campaign is judged in three rounds,
and the rules to stop look after each. An interval should hold the truth in 95 % of campaigns, give
or take 1.5 (2.5 of 50 queries, or of fewer than 30 positives): a cell that is further off is
printed in bold. The truth is that of the world the queries are drawn from, with the labels that the
panel would give to all of the pool.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise, repeat
from pathlib import Path
from zlib import crc32

import numpy as np
from scipy.stats import kendalltau

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lookalike.agreement.votes import Votes, read_votes  # noqa: E402
from lookalike.core.arrays import Floats  # noqa: E402
from lookalike.planning.backtest import backtest  # noqa: E402
from lookalike.planning.estimates import Estimate, Estimates, Estimator, estimate  # noqa: E402
from lookalike.planning.pilot import Pilot, judged_by, majority_labels  # noqa: E402
from lookalike.planning.planner import Costs, Design, Forecast, forecast  # noqa: E402
from lookalike.planning.pool import RankedPool  # noqa: E402
from lookalike.planning.rounds import Round, draw_round  # noqa: E402
from lookalike.planning.simulator import CLOSE, DISTANT, World, simulate  # noqa: E402
from lookalike.planning.stopping import Looks, stop_advice  # noqa: E402

DOCUMENT = ROOT / "docs/planning.md"
COVERAGE = ("<!-- coverage of estimates -->", "<!-- end of the coverage -->")
FORESEEN = ("<!-- forecasts -->", "<!-- end of the forecasts -->")
VOTES = ROOT.parent / "shared/data/crowd_labels"
SAVED = ("<!-- what judging saves -->", "<!-- end of what it saves -->")
MEASURES = ("Success@5", "P@5", "AP'", "macro_roc_auc", "micro_roc_auc")
LEVEL, OFF, OFF_WHERE_FEW = 0.95, 0.015, 0.025
FEW_QUERIES, FEW_POSITIVES = 50, 30
SHARES = (0.15, 0.15, 0.15)
LOOKS = Looks(alpha=0.05, planned=len(SHARES))
N_TRUTH, N_CHUNK = 60_000, 3_000

BASE = World(n_models=5)
CLOSER = replace(BASE, best=CLOSE[0], worst=CLOSE[1])
WORLDS = {
    "distant models, 300 queries": BASE,
    "distant models, 50 queries": replace(BASE, n_queries=50),
    "close models, 300 queries": CLOSER,
    "close models in two families, 100 queries": replace(
        CLOSER, n_queries=100, n_families=2, n_models=4
    ),
    "distant models, rare positives, 300 queries": replace(BASE, positives=0.01, ease=0.3),
    "distant models, rare positives, 50 queries": replace(
        BASE, positives=0.005, ease=0.3, n_queries=50
    ),
    "distant models, frequent positives, 100 queries": replace(BASE, positives=0.35, n_queries=100),
}

N_PILOT = 55
LUMA_SIZED = {
    "distant models": World(n_queries=183, n_models=6),
    "models that are closer": World(n_queries=183, n_models=6, best=0.8, worst=1.2),
}
SIX = World(n_models=6).models


@dataclass(frozen=True)
class Outcome:
    """What one campaign showed.

    Attributes:
        held: for each measure, of which models the interval held the truth.
        wrong: for each rule, whether it claimed anything wrong at any look.
        settled: whether the order was known at the last look.
        n_positives: similar pairs of the pool.
    """

    held: dict[str, list[bool]]
    wrong: dict[str, bool]
    settled: bool
    n_positives: int


def judged_in_rounds(
    pool: RankedPool, truth: Floats, shares: Sequence[float], seed: int, *, is_uniform: bool = False
) -> Iterator[tuple[Floats, list[Round]]]:
    """Yield the labels known and the rounds drawn after each round."""
    rng = np.random.default_rng([seed, 1])
    labels, rounds = np.full(pool.n_pairs, np.nan), []
    for share in shares:
        wanted = max(1, round(share * pool.n_pairs))
        one = draw_round(pool, labels, n_wanted=wanted, rng=rng, is_uniform=is_uniform)
        labels = np.where(one.drawn, truth, labels)
        rounds.append(one)
        yield labels, list(rounds)


def truth(name: str, world: World) -> dict[str, Floats]:
    """Return every measure of every model in the world at large."""
    chunks = [
        estimate(c.pool, c.labels, [], MEASURES).measures
        for c in (
            simulate(replace(world, n_queries=N_CHUNK), crc32(f"{name} {i}".encode()))
            for i in range(N_TRUTH // N_CHUNK)
        )
    ]
    return {
        name: np.mean([chunk[i].values for chunk in chunks], axis=0)
        for i, name in enumerate(MEASURES)
    }


def observe(world: World, true: dict[str, Floats], seed: int) -> Outcome:
    """Judge one campaign in rounds and return what held."""
    campaign = simulate(world, seed)
    wrong = dict.fromkeys(("order", "width", "recall"), False)
    estimator = Estimator(campaign.pool, MEASURES)
    for labels, rounds in judged_in_rounds(campaign.pool, campaign.labels, SHARES, seed):
        found = estimator.estimate(labels, rounds)
        advice = stop_advice(found, labels, "P@5", LOOKS)
        rank = {model: true["P@5"][m] for m, model in enumerate(campaign.pool.models)}
        wrong["order"] |= any(
            pair.verdict == "above" and rank[pair.upper] < rank[pair.lower]
            for pair in advice.neighbours
        )
        of_rules = found.measures[MEASURES.index("P@5")]
        ends = of_rules.intervals(1 - LOOKS.share / world.n_models)
        wrong["width"] |= not all(
            np.isnan(width) or e.low <= t <= e.high
            for e, t, width in zip(ends, true["P@5"], advice.widths, strict=True)
        )
        recall = np.nansum(labels) / max(campaign.labels.sum(), 1)
        wrong["recall"] |= bool(advice.recall > recall + 1e-12)
    held = {
        one.name: [
            e.low <= t <= e.high
            for e, t in zip(one.intervals(), true[one.name], strict=True)
            if e.is_defined
        ]
        for one in found.measures
    }
    return Outcome(held, wrong, advice.order_is_known, int(campaign.labels.sum()))


def coverage_table(n_campaigns: int, workers: int, named: str = "") -> Iterator[str]:
    """Yield how often intervals held, and how often the rules to stop were wrong."""
    yield "45 % of the pairs judged in three rounds:"
    yield ""
    heads = ["campaigns", *MEASURES, "order wrong", "width wrong", "recall wrong", "order known"]
    yield f"| world | {' | '.join(heads)} |"
    yield "|---|" + "---|" * len(heads)
    n_off = n_cells = 0
    for name, world in WORLDS.items():
        if named not in name:
            continue
        true = truth(name, world)
        with ProcessPoolExecutor(workers) as pool:
            jobs = pool.map(observe, repeat(world), repeat(true), range(n_campaigns), chunksize=5)
            found = list(jobs)
        line = coverage_line(name, world, found)
        n_off += line.count("| **")
        n_cells += len(MEASURES)
        print(line, flush=True)
        yield line
    yield ""
    yield f"{n_cells - n_off} of {n_cells} cells within what is allowed."


def coverage_line(name: str, world: World, found: Sequence[Outcome]) -> str:
    """Return what the campaigns of a world showed."""
    cells = [f"{len(found):,}", *(_coverage(found, world, measure) for measure in MEASURES)]
    cells += [f"{np.mean([one.wrong[r] for one in found]):.1%}" for r in found[0].wrong]
    cells.append(f"{np.mean([one.settled for one in found]):.0%}")
    return f"| {name} | {' | '.join(cells)} |"


def _coverage(found: Sequence[Outcome], world: World, measure: str) -> str:
    """Return how often intervals held, in bold where that is too far off."""
    held = [h for one in found for h in one.held[measure]]
    if not held:
        return "none shown"
    n_positives = np.mean([one.n_positives for one in found])
    is_few = world.n_queries <= FEW_QUERIES or n_positives < FEW_POSITIVES
    is_off = abs(np.mean(held) - LEVEL) > (OFF_WHERE_FEW if is_few else OFF)
    shown = len(held) / (len(found) * world.n_models)
    partly = f" ({shown:.0%} shown)" if shown < 0.995 else ""
    return f"**{np.mean(held):.1%}**{partly}" if is_off else f"{np.mean(held):.1%}{partly}"


def saved_table(n_campaigns: int, workers: int) -> Iterator[str]:
    """Yield widths against judging everything, and agreement of the order with it."""
    yield f"Eight distant models, 300 queries, {n_campaigns:,} campaigns:"
    yield ""
    ways = ("pairs alone, no model", "whole queries", "whole queries + label model", "rounds")
    yield "| judged | " + " | ".join(f"{way}: width, tau" for way in ways) + " | saved |"
    yield "|---|" + "---|" * (len(ways) + 1)
    for share in (0.25, 0.5, 0.7):
        with ProcessPoolExecutor(workers) as pool:
            jobs = pool.map(_saved, repeat(share), range(n_campaigns), chunksize=2)
            found = np.array(list(jobs))
        widths, taus = found[:, 0].mean(axis=0), found[:, 1].mean(axis=0)
        cells = [f"× {w:.2f}, {t:.3f}" for w, t in zip(widths, taus, strict=True)]
        line = f"| {share:.0%} | {' | '.join(cells)} | {1 - share * widths[3] ** 2:.0%} |"
        print(line, flush=True)
        yield line


def _saved(share: float, seed: int) -> tuple[list[float], list[float]]:
    """Return for each way of judging the width of P@5 against full judging, and tau to it."""
    campaign = simulate(World(), seed)
    pool = campaign.pool
    full = estimate(pool, campaign.labels, [], ["P@5"]).measures[0]
    alone = _pairs_alone(pool, campaign.labels, share, seed)
    everything = _pairs_alone(pool, campaign.labels, 1.0, seed)
    widths = [float((alone.std(axis=1) / everything.std(axis=1)).mean())]
    taus = [float(kendalltau(alone.mean(axis=1), everything.mean(axis=1))[0])]
    thirds = (share / 3,) * 3
    for shares, uniform, model in (
        ((share,), True, False), ((share,), True, True), (thirds, False, True),
    ):  # fmt: skip
        *_, (labels, rounds) = judged_in_rounds(
            pool, campaign.labels, shares, seed, is_uniform=uniform
        )
        found: Estimates = estimate(pool, labels, rounds, ["P@5"], with_model=model)
        one = found.measures[0]
        widths.append(float((one.by_query.std(axis=1) / full.by_query.std(axis=1)).mean()))
        taus.append(float(kendalltau(one.values, full.values)[0]))
    return widths, taus


def _pairs_alone(pool: RankedPool, labels: Floats, share: float, seed: int) -> Floats:
    """Return Horvitz and Thompson's positives in each top 5, pairs drawn one by one."""
    drawn = np.random.default_rng([seed, 2]).random(pool.n_pairs) < share
    weighted = np.where(drawn, labels / share, 0.0)
    return np.stack(
        [
            np.bincount(pool.queries, weighted * ((r > 0) & (r <= 5)), pool.n_queries) / 5
            for r in pool.ranks
        ]
    )


@dataclass(frozen=True)
class Foreseen:
    """Forecasts of P@5 or AP', and what came.

    Attributes:
        ratios: widths forecast over widths that came.
        orders: shape (n, 2), of neighbours: the probability forecast, and whether they came so.
    """

    ratios: Floats
    orders: Floats

    @classmethod
    def of(cls, several: Sequence[Foreseen]) -> Foreseen:
        """Put forecasts together."""
        return cls(
            np.concatenate([one.ratios for one in several]),
            np.concatenate([one.orders for one in several]),
        )

    @property
    def line(self) -> str:
        """What a table says of them."""
        brier = np.mean((self.orders[:, 0] - self.orders[:, 1]) ** 2)
        off = np.abs(self.ratios - 1).mean()
        return f"{self.ratios.mean():.3f} | {off:.1%} | {brier:.4f} | 0.2500 |"


def forecast_table(n_campaigns: int, workers: int) -> Iterator[str]:
    """Yield how good forecasts were: of simulated campaigns, and of real votes where at hand."""
    yield "| forecast from | of | width forecast / come | off by | Brier score | of 1/2 for all |"
    yield "|---|---|---|---|---|---|"
    found = []
    with ProcessPoolExecutor(workers) as pool:
        for name, world in LUMA_SIZED.items():
            true = truth(f"forecast {name}", world)
            jobs = pool.map(_foreseen, repeat(world), repeat(true), range(n_campaigns), chunksize=2)
            found.append(Foreseen.of(list(jobs)))
            yield (
                f"| {N_PILOT} of {world.n_queries} queries, judged whole | rounds to 40 %, "
                f"{n_campaigns:,} campaigns, {name} | {found[-1].line}"
            )
        if VOTES.exists():
            jobs = pool.map(_foreseen_of_votes, range(n_campaigns), chunksize=2)
            found.append(Foreseen.of(list(jobs)))
            yield (
                "| a third of the documents of snow_temp, 10 votes of each pair | rounds to 60 %, "
                f"3 of the 10 votes, {n_campaigns:,} draws, simulated models | {found[-1].line}"
            )
            yield _bluebirds()
        else:
            print(f"{VOTES} is not at hand: no line for real votes")
    yield ""
    yield "Of all forecasts of two neighbours but those of Bluebirds:"
    yield ""
    yield "| forecast | how many | mean forecast | came in that order |"
    yield "|---|---|---|---|"
    p, came = Foreseen.of(found).orders.T
    for low, high in pairwise((0.0, 0.6, 0.7, 0.8, 0.9, 0.97, 1.01)):
        kept = (p >= low) & (p < high)
        if kept.any():
            shown = f"{low:.2f} to {min(high, 1.0):.2f}"
            yield f"| {shown} | {kept.sum():,} | {p[kept].mean():.3f} | {came[kept].mean():.3f} |"


def _bluebirds() -> str:
    real = backtest(_agreement(read_votes(VOTES / "bluebirds/labels.csv")), 0.3, n_pilots=200)
    return (
        f"| {real.n_queries} of 108 pictures, Bluebirds | how often each of 39 people agrees with "
        f"the majority of the others, {real.n_pilots} pilots | {real.width:.3f} | "
        f"{real.width_error:.1%} | {real.brier:.4f} | {real.brier_of_doubt:.4f} |"
    )


def _foreseen(world: World, true: dict[str, Floats], seed: int) -> Foreseen:
    """Foretell a simulated campaign by some of its queries, and judge it."""
    campaign = simulate(world, seed)
    pool = campaign.pool
    in_pilot = np.random.default_rng([seed, 3]).permutation(pool.n_queries) < N_PILOT
    votes = np.where(in_pilot[pool.queries, None], campaign.votes, np.nan)
    design = Design(pool.n_queries, pool.depth, world.n_judges, 0.4)
    (said,) = forecast(Pilot.of(pool, votes), [design], ["P@5"], Costs(), seed)
    *_, (labels, rounds) = judged_in_rounds(pool, campaign.labels, (0.2, 0.2), seed)
    came = estimate(pool, labels, rounds, ["P@5"]).measures[0]
    return _compared(said, came, true["P@5"])


def _foreseen_of_votes(seed: int) -> Foreseen:
    """Foretell AP' of simulated models on real votes of real people, from a third of the queries.

    The documents of snow_temp are the queries, their pairs of events the candidates. Whether the
    order came right is asked of all its documents and votes, which the pilot is part of.
    """
    rng = np.random.default_rng([seed, 4])
    pool, votes = _snow_temp(rng)
    in_pilot = rng.permutation(pool.n_queries) < pool.n_queries // 3
    pilot = Pilot.of(pool, np.where(in_pilot[pool.queries, None], votes, np.nan))
    design = Design(pool.n_queries, pool.depth, 3, 0.6)
    (said,) = forecast(pilot, [design], ["AP'"], Costs(), seed)
    few = judged_by(votes, 3, rng)
    *_, (labels, rounds) = judged_in_rounds(pool, few, (0.3, 0.3), seed)
    came = estimate(pool, labels, rounds, ["AP'"]).measures[0]
    best = estimate(pool, majority_labels(votes), [], ["AP'"]).measures[0]
    return _compared(said, came, best.values)


def _compared(said: Forecast, came: Estimate, true: Floats) -> Foreseen:
    widths = np.array([(ends.high - ends.low) / 2 for ends in came.intervals()])
    at = {upper: m for m, upper in enumerate(SIX)}
    orders = []
    for upper, lower, p in said.neighbours:
        a, b = at[upper], at[lower]
        orders.append((p, (came.values[a] > came.values[b]) == (true[a] > true[b])))
    return Foreseen(np.array(said.widths) / widths, np.array(orders, dtype=np.float64))


def _snow_temp(rng: np.random.Generator) -> tuple[RankedPool, Floats]:
    """Return the documents of two pairs and more as a pool, simulated models, and all votes."""
    given = read_votes(VOTES / "snow_temp/labels.csv")
    document = np.array([item.split("_")[0] for item in given.items])
    _, numbers, sizes = np.unique(document, return_inverse=True, return_counts=True)
    order = np.argsort(numbers, kind="stable")
    order = order[sizes[numbers[order]] > 1]
    _, queries = np.unique(numbers[order], return_inverse=True)
    by_item = np.argsort(given.item_of, kind="stable")
    votes = given.label_of[by_item].reshape(len(given.items), -1)[order].astype(np.float64)
    errors = np.linspace(DISTANT[0], DISTANT[1], len(SIX))[:, None]
    scores = 2.0 * votes.mean(axis=1) + errors * rng.normal(size=(len(SIX), order.size))
    ranks = np.empty(scores.shape, dtype=np.int64)
    for m, row in enumerate(scores):
        ranked = np.lexsort((-row, queries))
        ranks[m, ranked] = np.arange(order.size) - np.searchsorted(queries, queries) + 1
    depth = int(sizes.max())
    return RankedPool(SIX, int(queries.max()) + 1, queries, ranks, scores, depth), votes


def _agreement(votes: Votes) -> Floats:
    """Return whether each voter says what most others say, (n_workers, n_items)."""
    said = np.full((len(votes.workers), len(votes.items)), np.nan)
    said[votes.worker_of, votes.item_of] = votes.label_of
    others = (said.sum(axis=0) - said) / (len(said) - 1)
    return np.where(others == 0.5, 0.5, (others > 0.5) == said)


def main() -> int:
    """Simulate, print the figures and write them to the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--campaigns", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", choices=("coverage", "saved", "forecast"))
    parser.add_argument("--world", default="", help="coverage of those whose name holds this")
    arguments = parser.parse_args()
    if arguments.world:
        list(coverage_table(arguments.campaigns, arguments.workers, arguments.world))
        return 0
    for name, marks, table in (
        ("saved", SAVED, saved_table),
        ("forecast", FORESEEN, forecast_table),
        ("coverage", COVERAGE, coverage_table),
    ):
        if arguments.only in (None, name):
            figures = "\n".join(table(arguments.campaigns, arguments.workers))
            text = DOCUMENT.read_text(encoding="utf-8")
            head, rest = text.split(marks[0])
            _, tail = rest.split(marks[1])
            text = f"{head}{marks[0]}\n{figures}\n{marks[1]}{tail}"
            DOCUMENT.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
