"""Time and memory of the full bias report at the size of the VSD benchmark.

    python -m benchmarks.bias [--bootstraps 1000]

2,000 queries, 54,170 judged pairs, 14 models of which 6 built the pool (one pair of relatives),
3 annotators, 7 label sets per leave-one-out meaning. The data are simulated; only their size and
shares are those of VSD. Exits with 1 if the report takes more than 30 s or 1 GB.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from pathlib import Path

if not __package__:  # run as a file: benchmarks/evaluation.py must not hide the package
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np

from lookalike.bias.evidence.pool import Lists, PoolEvidence, Votes
from lookalike.bias.report import BiasSettings, bias_report
from lookalike.core.dataclass_json import as_json

N_QUERIES, N_PAIRS, N_MODELS, N_GENERATORS, DEPTH = 2_000, 54_170, 14, 6, 6
N_CANDIDATES, N_ANNOTATORS, POSITIVE_SHARE = 400, 3, 0.848
MOST_SECONDS, MOST_BYTES = 30.0, 1_000_000_000


def simulated_pool(rng: np.random.Generator) -> PoolEvidence:
    """Return a pool of VSD's size whose models see one latent similarity through noise."""
    latent = rng.normal(size=(N_QUERIES, N_CANDIDATES)).astype(np.float32)
    noise = np.linspace(1.0, 1.6, N_MODELS)
    ranks = np.empty((N_MODELS, N_QUERIES, N_CANDIDATES), dtype=np.int16)
    scores = np.empty((N_MODELS, N_QUERIES, N_CANDIDATES), dtype=np.float32)
    for m in range(N_MODELS):
        scores[m] = latent + noise[m] * rng.normal(size=latent.shape)
        ranks[m] = (-scores[m]).argsort(axis=1).argsort(axis=1) + 1
    queries, candidates = np.nonzero((ranks[:N_GENERATORS] <= DEPTH).any(axis=0))
    chosen = np.sort(rng.choice(queries.size, min(N_PAIRS, queries.size), replace=False))
    queries, candidates = queries[chosen], candidates[chosen]
    pair_ranks = ranks[:, queries, candidates].astype(np.int64)
    seen = latent[queries, candidates] + rng.normal(scale=0.3, size=(N_ANNOTATORS, queries.size))
    answers = (seen > np.quantile(seen, 1 - POSITIVE_SHARE)).T
    models = tuple(f"m{i:02}" for i in range(N_MODELS))
    return PoolEvidence(
        n_queries=N_QUERIES,
        queries=queries,
        candidates=candidates,
        labels=(answers.sum(axis=1) > N_ANNOTATORS / 2).astype(np.float64),
        generators=models[:N_GENERATORS],
        ranks=np.where(pair_ranks <= DEPTH, pair_ranks, 0)[:N_GENERATORS],
        models=models,
        scores=scores[:, queries, candidates].astype(np.float64),
        families={"m04": "a", "m05": "a", "m06": "a"},
        lists=Lists(pair_ranks, np.full((N_MODELS, N_QUERIES), N_CANDIDATES)),
        n_catalogue_pairs=N_QUERIES * N_CANDIDATES,
        votes=Votes(("a1", "a2", "a3"), answers, np.ones_like(answers)),
    )


def main() -> int:
    """Run the report once and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bootstraps", type=int, default=1_000)
    arguments = parser.parse_args()
    evidence = simulated_pool(np.random.default_rng(0))
    before = _peak_bytes()
    start, start_cpu = time.perf_counter(), time.process_time()
    settings = BiasSettings(n_bootstraps=arguments.bootstraps)
    report = bias_report(evidence, np.random.default_rng(1), settings)
    seconds, cpu = time.perf_counter() - start, time.process_time() - start_cpu
    size = len(json.dumps(as_json(report)))
    print(
        f"{evidence.n_queries} queries, {evidence.n_pairs} pairs "
        f"({evidence.labels.mean():.1%} positive), {len(evidence.models)} models, "
        f"{1 + N_GENERATORS} label sets, {arguments.bootstraps} bootstraps"
    )
    print(f"report: {seconds:.1f} s ({cpu:.1f} s of CPU), JSON {size / 1e6:.1f} MB")
    print(f"peak memory: {_peak_bytes() / 1e6:.0f} MB ({before / 1e6:.0f} MB before the report)")
    return int(seconds > MOST_SECONDS or _peak_bytes() > MOST_BYTES)


def _peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    sys.exit(main())
