"""Time Dawid-Skene against crowd-kit at a release's size: `python -m benchmarks.agreement`.

330,000 votes of 30 judges on 110,000 pairs, three each, neighbours in a list of the judges or
drawn; a tenth of the pairs is similar and judges err in 2 to 30 % of their votes. Both are timed
in processor time, in turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import pandas as pd
from crowdkit.aggregation.classification import DawidSkene

from lookalike.agreement.dawid_skene import label_chances
from lookalike.core.arrays import Floats, Ints

N_PAIRS, N_JUDGES, K, N_ROUNDS = 110_000, 30, 3, 3


def timed(run: Callable[[], Floats]) -> tuple[float, Floats]:
    """Return the processor seconds of a call, and what it returned."""
    began = time.process_time()
    found = run()
    return time.process_time() - began, found


def report(design: str, judges: Ints, rng: np.random.Generator) -> None:
    """Print the times and the largest difference for one way to choose who judges what."""
    pairs, judges = np.repeat(np.arange(N_PAIRS), K), judges.ravel()
    is_similar = rng.random(N_PAIRS) < 0.1
    is_wrong = rng.random(pairs.size) < np.linspace(0.02, 0.3, N_JUDGES)[judges]
    votes = (is_similar[pairs] ^ is_wrong).astype(int)
    table = pd.DataFrame({"task": pairs, "worker": judges, "label": votes})

    def theirs() -> Floats:
        chances = DawidSkene(n_iter=100).fit_predict_proba(table).sort_index()
        return np.asarray(chances[[0, 1]], float)

    def ours() -> Floats:
        return label_chances(pairs, judges, votes, N_PAIRS, N_JUDGES)

    rounds = [(timed(ours), timed(theirs)) for _ in range(N_ROUNDS)]
    (_, mine), (_, expected) = rounds[0]
    our_time, their_time = (median(run[side][0] for run in rounds) for side in (0, 1))
    print(f"{pairs.size:,} votes, {design}: ours {our_time:.2f} s, crowd-kit {their_time:.2f} s")
    print(f"largest difference {np.abs(mine - expected).max():.1e}")


def main() -> None:
    """Report on judges in groups, and on judges drawn for each pair."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, N_JUDGES, N_PAIRS)
    report("neighbours judge a pair", (first[:, None] + np.arange(K)) % N_JUDGES, rng)
    drawn = np.argpartition(rng.random((N_PAIRS, N_JUDGES)), K, axis=1)[:, :K]
    report("three are drawn for each pair", drawn, rng)


if __name__ == "__main__":
    main()
