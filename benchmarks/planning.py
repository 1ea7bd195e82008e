"""How long rounds and plans take: a round over 100,000 pairs, a plan of 200 designs.

python -m benchmarks.planning
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from itertools import product

import numpy as np

from lookalike.core.arrays import Floats
from lookalike.planning.designs import Costs, Design
from lookalike.planning.estimates import estimate
from lookalike.planning.measures import BOARD
from lookalike.planning.pilot import Pilot
from lookalike.planning.planner import forecast
from lookalike.planning.rounds import Round, draw_round
from lookalike.planning.simulator import World, simulate

ROUND_SECONDS, PLAN_SECONDS = 5.0, 10.0


def measured(what: str, work: Callable[[], object]) -> float:
    """Do the work, print how long it took by the clock and of the processor, return the latter."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    clock, processor = time.perf_counter() - clock, time.process_time() - processor
    print(f"{what}: {clock:.1f} s, {processor:.1f} s of the processor")
    return processor


def main() -> int:
    """Measure; 1 where a promise is broken on the processor's time."""
    campaign = simulate(World(n_queries=3_750), 1)
    pool, labels = campaign.pool, np.full(campaign.pool.n_pairs, np.nan)
    rounds: list[Round] = []

    def next_round(known: Floats) -> None:
        wanted = pool.n_pairs // 10
        rng = np.random.default_rng([1, len(rounds)])
        rounds.append(draw_round(pool, known, n_wanted=wanted, rng=rng))

    next_round(labels)
    labels = np.where(rounds[0].drawn, campaign.labels, labels)
    drawn = measured(f"a second round over {pool.n_pairs:,} pairs", lambda: next_round(labels))
    labels = np.where(rounds[1].drawn, campaign.labels, labels)
    measured("the board from both rounds", lambda: estimate(pool, labels, rounds, BOARD))
    designs = [
        Design(*one)
        for one in product((50, 100, 200, 400, 800), (5, 6, 8, 10), (1, 3), (0.2, 0.3, 0.5, 0.7, 1))
    ]

    def plan() -> None:
        pilot = simulate(World(n_queries=200, depth=10), 1)
        votes = pilot.votes.astype(np.float64)
        forecast(Pilot.of(pilot.pool, votes), designs, ["P@5"], Costs())

    planned = measured(f"a plan of {len(designs)} designs", plan)
    return int(drawn > ROUND_SECONDS or planned > PLAN_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
