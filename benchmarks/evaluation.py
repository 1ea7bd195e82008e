"""Time and memory of all ROC-AUC and PR-AUC values at the size of the VSD benchmark.

    python -m benchmarks.evaluation [--repeats 5] [--ours-only]

2,000 queries, 54,170 judged pairs, 14 models, 7 label sets (all labels, and six that leave about an
eighth of the pairs out). The data are simulated; only their size and shares are those of VSD, and
scores have three decimals, so ties abound. scikit-learn runs its per-query loop for one model on
one label set, over all 2,000 queries, and its time is multiplied by 14 x 7; its micro values are
timed the same way. Both answers are compared. Exits with 1 if ours takes more than 1 s, is less
than 500 times faster than the loop, differs by more than 1e-12, or needs more than 1 GB.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
import tracemalloc
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # run as a file: its own name must not hide the package `evaluation`
    sys.path[0] = str(ROOT)

import numpy as np  # noqa: E402

from lookalike.core.arrays import Floats, Ints  # noqa: E402
from lookalike.stats.roc_auc import AucAp, auc_and_ap, micro_auc_and_ap  # noqa: E402

N_QUERIES, N_PAIRS, N_MODELS, N_SETS, POSITIVE_SHARE = 2_000, 54_170, 14, 7, 0.848
MOST_SECONDS, LEAST_RATIO, MOST_DIFFERENCE, MOST_BYTES = 1.0, 500.0, 1e-12, 1_000_000_000

Data = tuple[Floats, Ints, Ints, Floats]


def simulated(rng: np.random.Generator) -> Data:
    """Return scores, labels, queries and weights of VSD's size."""
    least = N_PAIRS // N_QUERIES // 2
    extra = rng.integers(0, N_QUERIES, N_PAIRS - least * N_QUERIES)
    both = np.concatenate([np.repeat(np.arange(N_QUERIES), least), extra])
    queries: Ints = rng.permutation(both).astype(np.int64)
    latent = rng.normal(size=N_PAIRS)
    labels = (latent + rng.normal(size=N_PAIRS) > -1.454).astype(np.int64)  # 84.8 % positive
    noise = np.linspace(0.8, 2.0, N_MODELS)[:, None]
    seen = latent + noise * rng.normal(size=(N_MODELS, N_PAIRS))
    scores: Floats = np.round(np.tanh(seen), 3).astype(np.float64)
    weights = (rng.random((N_SETS, N_PAIRS)) < 0.88).astype(np.float64)
    weights[0] = 1.0
    return scores, labels, queries, weights


def ours(data: Data) -> tuple[AucAp, AucAp]:
    """Return all macro and all micro values."""
    scores, labels, queries, weights = data
    by_query = auc_and_ap(scores, labels, queries, N_QUERIES, weights)
    return by_query, micro_auc_and_ap(scores, labels, weights)


def timed(data: Data, repeats: int) -> tuple[list[float], list[float]]:
    """Return the seconds of the macro and of the micro call, `repeats` times each."""
    scores, labels, queries, weights = data
    macro, micro = [], []
    for _ in range(repeats):
        start = time.perf_counter()
        auc_and_ap(scores, labels, queries, N_QUERIES, weights)
        middle = time.perf_counter()
        micro_auc_and_ap(scores, labels, weights)
        macro.append(middle - start)
        micro.append(time.perf_counter() - middle)
    return macro, micro


def scikit_learn(data: Data, model: int, label_set: int) -> tuple[Floats, Floats, float, float]:
    """Return per-query and micro values of one model and label set, and the seconds of each."""
    from sklearn.metrics import average_precision_score, roc_auc_score  # noqa: PLC0415

    scores, labels, queries, weights = data
    kept = weights[label_set] > 0
    s, y, q = scores[model, kept], labels[kept], queries[kept]
    start = time.perf_counter()
    rows = np.split(np.argsort(q, kind="stable"), np.cumsum(np.bincount(q, minlength=N_QUERIES)))
    values = np.full((2, N_QUERIES), np.nan)
    for query, of_query in enumerate(rows[:N_QUERIES]):
        truth = y[of_query]
        if 0 < truth.sum() < truth.size:
            values[0, query] = roc_auc_score(truth, s[of_query])
            values[1, query] = average_precision_score(truth, s[of_query])
    middle = time.perf_counter()
    micro = np.array([roc_auc_score(y, s), average_precision_score(y, s)])
    return values, micro, middle - start, time.perf_counter() - middle


@dataclass(frozen=True)
class Comparison:
    """What both sides took for one model and label set, or for everything, and how they differ.

    Attributes:
        macro, micro: shape (n_repeats,), our seconds for all models and label sets.
        loop, peer_micro: seconds of scikit-learn for one model on one label set.
        difference: largest absolute difference of any value.
        n_defined: queries defined in the label set compared.
        memory: bytes: peak of the process with the data, peak after our call, what the call took.
    """

    macro: Floats
    micro: Floats
    loop: float
    peer_micro: float
    difference: float
    n_defined: int
    memory: dict[str, int]

    @property
    def total(self) -> float:
        """Our median seconds for everything."""
        return float(np.median(self.macro + self.micro))

    @property
    def ratio(self) -> float:
        """How many times faster our macro values are than the loop."""
        return float(self.loop * N_MODELS * N_SETS / np.median(self.macro))

    @property
    def is_met(self) -> bool:
        """Whether every target is met."""
        return (
            self.total <= MOST_SECONDS
            and self.ratio >= LEAST_RATIO
            and self.difference <= MOST_DIFFERENCE
            and self.memory["peak"] <= MOST_BYTES
        )


def compared(data: Data, repeats: int, model: int = 3, label_set: int = 1) -> Comparison:
    """Run both sides on the same data."""
    macro, micro = timed(data, repeats)
    values, over_all, loop, peer_micro = scikit_learn(data, model, label_set)
    by_query, all_pairs = ours(data)
    at = (model, label_set)
    mine = np.stack([by_query.auc[at], by_query.average_precision[at]])
    mine_micro = np.array([all_pairs.auc[at][0], all_pairs.average_precision[at][0]])
    assert np.array_equal(np.isnan(values), np.isnan(mine)), "different queries are defined"
    difference = max(np.nanmax(np.abs(values - mine)), np.abs(over_all - mine_micro).max())
    command = [sys.executable, "-m", "benchmarks.evaluation", "--ours-only"]
    child = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    return Comparison(
        macro=np.array(macro),
        micro=np.array(micro),
        loop=loop,
        peer_micro=peer_micro,
        difference=float(difference),
        n_defined=int((~np.isnan(values[0])).sum()),
        memory=json.loads(child.stdout),
    )


def table(found: Comparison, positive_share: float) -> str:
    """Return the comparison for a person."""
    n = N_MODELS * N_SETS
    peer = "  (1 x 1 measured, times 98)"
    rows = [
        ("ours, macro ROC-AUC and PR-AUC", "", np.median(found.macro), ""),
        ("ours, micro ROC-AUC and PR-AUC", "", np.median(found.micro), ""),
        ("ours, all of them", "", found.total, ""),
        ("scikit-learn, per-query loop", f"{found.loop:.3f}", found.loop * n, peer),
        ("scikit-learn, micro", f"{found.peer_micro:.3f}", found.peer_micro * n, peer),
    ]
    spread, whole = found.macro + found.micro, (found.loop + found.peer_micro) * n
    memory = {name: f"{value / 1e6:.0f} MB" for name, value in found.memory.items()}
    return "\n".join(
        [
            f"{N_QUERIES} queries ({found.n_defined} defined in the label set compared), {N_PAIRS} "
            f"pairs ({positive_share:.1%} positive), {N_MODELS} models, {N_SETS} label sets",
            f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores",
            f"{'seconds':34}{'1 x 1':>10}{'14 x 7':>10}",
            *(f"{name:34}{one:>10}{all_:>10.3f}{note}" for name, one, all_, note in rows),
            f"ours, all of them, ranged from {spread.min():.3f} to {spread.max():.3f} s",
            f"macro values: {found.ratio:.0f} times faster than the loop",
            f"all values: {whole / found.total:.0f} times faster than scikit-learn",
            f"largest difference to scikit-learn: {found.difference:.1e}",
            f"peak memory of a process that makes the data and computes everything: "
            f"{memory['peak']} ({memory['before']} after making the data; "
            f"the computation itself holds at most {memory['call']})",
            "targets met" if found.is_met else "TARGETS MISSED",
        ]
    )


def memory_of_ours(data: Data) -> dict[str, int]:
    """Return this process's peak before and after our call, and the most the call holds."""
    before = _peak_bytes()
    ours(data)
    peak = _peak_bytes()
    tracemalloc.start()
    ours(data)
    return {"before": before, "peak": peak, "call": tracemalloc.get_traced_memory()[1]}


def main() -> int:
    """Run both sides, print the table and say whether the targets are met."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--ours-only", action="store_true", help="print our memory as JSON")
    arguments = parser.parse_args()
    data = simulated(np.random.default_rng(0))
    if arguments.ours_only:
        print(json.dumps(memory_of_ours(data)))
        return 0
    found = compared(data, arguments.repeats)
    print(table(found, float(data[1].mean())))
    return int(not found.is_met)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
