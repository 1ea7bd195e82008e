"""Are plans right? Campaigns foretold from a part of their queries, and what came of them.

    python docs/simulations/forecasts.py                   60 of each: some minutes of two cores
    python docs/simulations/forecasts.py --campaigns 10    fewer, printed alone: the document stays

Prints how far forecasts are off, with their Brier scores, and writes it to docs/planning.md: of
campaigns of simulated models, and on real votes where these are at hand. It ends with 1 where the
mean forecast is more than 10 % from the mean width that came. Beside it stands how far one forecast
is from the one campaign that came, and what no forecast is without: how far a pilot's spread is
from that of all queries, everything being judged by everyone (the draw of the pilot), and how far a
forecast is off that knows all queries and all votes of the campaign (the chance of its votes and
rounds).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import pairwise, repeat
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from docs.simulations.planning import judged_in_rounds, printed, truth, write  # noqa: E402
from lookalike.agreement.votes import Votes, read_votes  # noqa: E402
from lookalike.core.arrays import Bools, Floats  # noqa: E402
from lookalike.planning.backtest import backtest  # noqa: E402
from lookalike.planning.designs import RANGE, Costs, Design, Forecast  # noqa: E402
from lookalike.planning.estimates import Estimate, estimate  # noqa: E402
from lookalike.planning.pilot import Pilot, judged_by, majority_labels  # noqa: E402
from lookalike.planning.planner import forecast  # noqa: E402
from lookalike.planning.pool import RankedPool  # noqa: E402
from lookalike.planning.simulator import DISTANT, World, simulate  # noqa: E402

FORESEEN = ("<!-- forecasts -->", "<!-- end of the forecasts -->")
VOTES = ROOT.parent / "shared/data/crowd_labels"
N_CAMPAIGNS = 60
N_PILOT = 55
ALLOWED = 0.1  # of a mean width, between forecast and what came
LUMA_SIZED = {
    "distant models": World(n_queries=183, n_models=6),
    "models that are closer": World(n_queries=183, n_models=6, best=0.8, worst=1.2),
}
SIX = World(n_models=6).models


@dataclass(frozen=True)
class Foreseen:
    """Forecasts of P@5 or AP', and what came.

    Attributes:
        said, came: the mean width over models, forecast and come: one of each campaign.
        ratios: widths forecast over widths that came.
        drawn: spreads of the pilot's queries over those of all, everything judged by everyone.
        informed: the ratios of forecasts from all queries and all votes.
        within: whether each width came within its range.
        orders: shape (n, 2), of neighbours: the probability forecast, and whether they came so.
    """

    said: Floats
    came: Floats
    ratios: Floats
    drawn: Floats
    informed: Floats
    within: Floats
    orders: Floats

    @classmethod
    def of(cls, several: Sequence[Foreseen]) -> Foreseen:
        """Put forecasts together."""
        parts = ("said", "came", "ratios", "drawn", "informed", "within", "orders")
        return cls(*(np.concatenate([getattr(one, part) for one in several]) for part in parts))

    @property
    def bias(self) -> tuple[float, float]:
        """How far the mean forecast is from the mean width that came, and its standard error."""
        ratio = float(self.said.mean() / self.came.mean())
        rest = self.said - ratio * self.came
        error = float(rest.std(ddof=1) / np.sqrt(rest.size) / self.came.mean())
        return ratio - 1.0, error

    @property
    def line(self) -> str:
        """What a table says of them."""
        brier = np.mean((self.orders[:, 0] - self.orders[:, 1]) ** 2)
        all_ratios = (self.ratios, self.drawn, self.informed)
        off = " | ".join(f"{np.abs(ratios - 1).mean():.1%}" for ratios in all_ratios)
        within = f"{self.within.mean():.0%}"
        return f"{shown_bias(*self.bias)} | {off} | {within} | {brier:.4f} | 0.2500 |"


def shown_bias(bias: float, error: float) -> str:
    """Return a cell of the table, bold where more than is allowed."""
    said = f"{bias:+.1%} ± {error:.1%}"
    return said if abs(bias) <= ALLOWED else f"**{said}**"


def forecast_table(n_campaigns: int, workers: int) -> Iterator[str]:
    """Yield how good forecasts were: of simulated campaigns, and of real votes where at hand."""
    heads = ["forecast from", "of", "mean forecast, beside the mean width that came"]
    heads += ["one forecast beside one campaign: off by", "the pilot's draw alone"]
    heads += ["from all queries", f"came within the range of {RANGE:.0%}"]
    heads += ["Brier score", "of 1/2 for all"]
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
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
    values = _agreement(read_votes(VOTES / "bluebirds/labels.csv"))
    real = backtest(values, 0.3, n_pilots=200)
    several = [backtest(values, 0.3, n_pilots=10, seed=seed).width for seed in range(1, 21)]
    bias = shown_bias(float(np.mean(several)) - 1.0, float(np.std(several, ddof=1) / 20**0.5))
    return (
        f"| {real.n_queries} of 108 pictures, Bluebirds | how often each of 39 people agrees with "
        f"the majority of the others, {real.n_pilots} pilots | {bias} | {real.width_error:.1%} | "
        f"{real.width_error:.1%} | | | {real.brier:.4f} | {real.brier_of_doubt:.4f} |"
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
    whole = estimate(pool, campaign.labels, [], ["P@5"]).measures[0]
    everything = Pilot.of(pool, campaign.votes.astype(np.float64))
    (best,) = forecast(everything, [design], ["P@5"], Costs(), seed)
    return _compared((said, best), came, whole, in_pilot, true["P@5"])


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
    whole = estimate(pool, majority_labels(votes), [], ["AP'"]).measures[0]
    (informed,) = forecast(Pilot.of(pool, votes), [design], ["AP'"], Costs(), seed)
    return _compared((said, informed), came, whole, in_pilot, whole.values)


def _compared(
    forecasts: tuple[Forecast, Forecast],
    came: Estimate,
    whole: Estimate,
    in_pilot: Bools,
    true: Floats,
) -> Foreseen:
    """Hold a pilot's forecast, and one from all queries, against what came.

    The pilot's queries are held against all, judged whole.
    """
    said, informed = forecasts
    widths = np.array([(ends.high - ends.low) / 2 for ends in came.intervals()])
    low, high = np.array(said.ranges).T
    at = {upper: m for m, upper in enumerate(SIX)}
    orders = []
    for upper, lower, p in said.neighbours:
        a, b = at[upper], at[lower]
        orders.append((p, (came.values[a] > came.values[b]) == (true[a] > true[b])))
    return Foreseen(
        said=np.array([np.mean(said.widths)]),
        came=np.array([widths.mean()]),
        ratios=np.array(said.widths) / widths,
        drawn=whole.by_query[:, in_pilot].std(axis=1, ddof=1) / whole.by_query.std(axis=1, ddof=1),
        informed=np.array(informed.widths) / widths,
        within=((widths >= low) & (widths <= high)).astype(np.float64),
        orders=np.array(orders, dtype=np.float64),
    )


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
    parser.add_argument("--campaigns", type=int, default=N_CAMPAIGNS)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    lines = list(printed(forecast_table(given.campaigns, given.workers)))
    if given.campaigns == N_CAMPAIGNS and VOTES.exists():
        write(FORESEEN, lines)
    return int(any("**" in line for line in lines))


if __name__ == "__main__":
    sys.exit(main())
