"""How many pairs a pool has, and what a pool costs from 50,000 to a billion images.

    python docs/simulations/scale.py            prints the figures and writes them into the document
    python docs/simulations/scale.py --check    exits with 1 if the document says otherwise

The pairs are simulated: every model sees the same true similarity through errors of its own, half
of which it shares with its family. The costs are arithmetic on rates that benchmarks/README.md
gives, and on assumptions that the document names.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from lookalike.pooling.eds import distinct_pairs, union_of_proposals  # noqa: E402
from lookalike.pooling.stats import expert_hours  # noqa: E402
from lookalike.search.topk import TopK  # noqa: E402

DOCUMENT = ROOT / "docs/scale.md"
BEGIN, END = "<!-- figures of the script -->", "<!-- end of the figures -->"
N_IMAGES, N_QUERIES, N_FAMILIES, LATENT = 20_000, 100, 4, 24
MODELS, DEPTHS = (1, 2, 4, 8, 12), (6, 20, 100)
ERROR, SHARED = 0.5, 0.5  # of a model, the true similarity's spread being 1; its family's part

# measured on two cores (benchmarks/README.md)
EMBEDDED_PER_SECOND = 92.9  # tf_efficientnet_lite0, float32, torch, with AVX-512
SEARCH_SECONDS = 3.04  # a million x 256, 2,000 queries
# assumed
GPU_PER_SECOND, GPU_DOLLARS, HOURLY_WAGE = 2_000, 2.5, 25.0
CORES, DISK_GB_PER_SECOND, DIM, BYTES = 64, 3.0, 256, 2
POOL_QUERIES, POOL_MODELS, POOL_DEPTH, JUDGES, PAIR_SECONDS = 2_000, 12, 6, 3, 5.0

Floats = NDArray[np.float32]


def rankings() -> list[NDArray[np.int64]]:
    """Return each model's 100 nearest images of each query, shape (n_queries, 100)."""
    rng = np.random.default_rng(0)
    queries = rng.standard_normal((N_QUERIES, LATENT), np.float32)
    images = rng.standard_normal((N_IMAGES, LATENT), np.float32)
    truth = _standardised(queries @ images.T)
    families = [rng.standard_normal(truth.shape, np.float32) for _ in range(N_FAMILIES)]
    found = []
    for model in range(max(MODELS)):
        own = rng.standard_normal(truth.shape, np.float32)
        error = np.sqrt(SHARED) * families[model % N_FAMILIES] + np.sqrt(1 - SHARED) * own
        seen = truth + np.float32(ERROR) * error
        nearest = np.argpartition(-seen, max(DEPTHS), axis=1)[:, : max(DEPTHS)]
        order = np.argsort(-np.take_along_axis(seen, nearest, axis=1), axis=1)
        found.append(np.take_along_axis(nearest, order, axis=1).astype(np.int64))
    return found


def _standardised(scores: Floats) -> Floats:
    rows: Floats = (scores - scores.mean(axis=1, keepdims=True)) / scores.std(axis=1, keepdims=True)
    return rows


def share_of_most(found: list[NDArray[np.int64]], n_models: int, k: int) -> float:
    """Return the pairs of a pool as a part of models x queries x k."""
    lists = [TopK(one[:, :k], np.zeros((N_QUERIES, k), np.float32)) for one in found[:n_models]]
    return len(distinct_pairs(union_of_proposals(lists))) / (n_models * N_QUERIES * k)


def size_table() -> Iterator[str]:
    """Yield how the pool grows with models and depth."""
    found = rankings()
    yield "| models | " + " | ".join(f"k = {k}" for k in DEPTHS) + " |"
    yield "|---" * (1 + len(DEPTHS)) + "|"
    for n_models in MODELS:
        shares = [share_of_most(found, n_models, k) for k in DEPTHS]
        pairs = [
            f"{share * n_models * k:,.0f} ({share:.0%})"
            for k, share in zip(DEPTHS, shares, strict=True)
        ]
        yield f"| {n_models} | " + " | ".join(pairs) + " |"


def cost_table() -> Iterator[str]:
    """Yield what one pool costs at several sizes of its catalog."""
    n_pairs = round(POOL_QUERIES * POOL_DEPTH * POOL_MODELS * _union_share())
    wage = expert_hours(n_pairs, PAIR_SECONDS, JUDGES)
    yield (
        "| images | vectors of a model | embedding: two cores | embedding: 8 GPUs |"
        " dollars a model | search: two cores | search: 64 cores | judging |"
    )
    yield "|---" * 8 + "|"
    for n_images in (50_000, 1_000_000, 10_000_000, 1_000_000_000):
        size = n_images * DIM * BYTES
        gpu_seconds = n_images / GPU_PER_SECOND
        search = SEARCH_SECONDS * n_images / 1e6
        many = max(search * 2 / CORES, size / (DISK_GB_PER_SECOND * 1e9))
        cells = [
            f"{n_images:,}",
            _bytes(size),
            _time(n_images / EMBEDDED_PER_SECOND),
            _time(gpu_seconds / 8),
            f"{gpu_seconds / 3600 * GPU_DOLLARS:,.2f}",
            _time(search),
            _time(many),
            f"{wage:,.0f} h, ${wage * HOURLY_WAGE:,.0f}",
        ]
        yield "| " + " | ".join(cells) + " |"
    yield ""
    yield (
        f"Judging is of {n_pairs:,} pairs: {POOL_QUERIES:,} queries, {POOL_MODELS} models, "
        f"k = {POOL_DEPTH}, of whose proposals {_union_share():.0%} are distinct in the "
        f"simulation, by {JUDGES} judges at {PAIR_SECONDS:g} s a pair."
    )


def _union_share() -> float:
    return share_of_most(rankings(), POOL_MODELS, POOL_DEPTH)


def _bytes(n: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} TB"


def _time(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.2g} s"


def figures() -> str:
    """Return the part of the document that this script writes."""
    return "\n".join(
        [
            BEGIN,
            "Candidates of a query, and the part of models x k that they are:",
            "",
            *size_table(),
            "",
            "What one pool costs:",
            "",
            *cost_table(),
            END,
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="write nothing")
    given = parser.parse_args()
    text = DOCUMENT.read_text()
    start, end = text.index(BEGIN), text.index(END) + len(END)
    found = figures()
    sys.stdout.write(found + "\n")
    if given.check:
        return int(text[start:end] != found)
    DOCUMENT.write_text(text[:start] + found + text[end:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
