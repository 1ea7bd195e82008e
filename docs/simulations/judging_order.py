"""How early likely pairs first finds a pool's similar pairs, and which it finds late.

    python docs/simulations/judging_order.py          prints the figures; writes the document
    python docs/simulations/judging_order.py --check  exits with 1 if the document says otherwise

Six models, two of each family, propose their best candidates by the true similarity and errors of
their own, half of which they share with their family. Everything proposed is judged without
mistakes, in the orders of the product: shuffled, and in phases by
`lookalike.pooling.judging_order`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from annotation.order.ordering import shuffled_by_query, shuffled_in_phases  # noqa: E402
from lookalike.pooling.eds import Pairs, Proposals, distinct_pairs, union_of_proposals  # noqa: E402
from lookalike.pooling.judging_order import N_PHASES, judging_phases  # noqa: E402
from lookalike.search.topk import TopK  # noqa: E402

DOCUMENT = ROOT / "docs/pooling.md"
BEGIN, END = "<!-- figures of the order -->", "<!-- end of the figures -->"
N_MODELS, N_FAMILIES = 6, 3
ERROR, SHARED, POSITIVE_SHARE = 0.6, 0.5, 0.005  # the true similarity's spread is 1
SHARES = (0.10, 0.25, 0.50, 0.75)
SEEDS, DEPTHS = range(5), (6, 20)
SHUFFLED, PHASES, IDEAL = "shuffled", "likely pairs first", "ideal"

Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Size:
    """How large a simulated world is."""

    n_queries: int = 200
    n_images: int = 3_000


@dataclass(frozen=True)
class World:
    """A simulated pool whose true labels are known, one for each of `distinct_pairs(proposals)`."""

    proposals: Proposals
    is_positive: Flags

    @property
    def pairs(self) -> Pairs:
        """The distinct pairs."""
        return distinct_pairs(self.proposals)


def simulate(depth: int, seed: int, size: Size) -> World:
    """Return a pool of six models; the best `POSITIVE_SHARE` of all pairs are positive."""
    rng = np.random.default_rng(seed)
    shape = (size.n_queries, size.n_images)
    truth = rng.normal(size=shape)
    families = [rng.normal(size=shape) for _ in range(N_FAMILIES)]
    found = []
    for model in range(N_MODELS):
        own = rng.normal(size=shape)
        error = np.sqrt(SHARED) * families[model % N_FAMILIES] + np.sqrt(1 - SHARED) * own
        seen = truth + ERROR * error
        best = np.argsort(-seen, axis=1)[:, :depth]
        scores = np.take_along_axis(seen, best, axis=1).astype(np.float32)
        found.append(TopK(best.astype(np.int64), scores))
    proposals = union_of_proposals(found)
    pairs = distinct_pairs(proposals)
    line = np.quantile(truth, 1 - POSITIVE_SHARE)
    return World(proposals, truth[pairs.query, pairs.candidate] > line)


def figures(depth: int, seed: int, size: Size) -> dict[str, float]:
    """Return the share of positives found after each share of the work, in each order.

    `lone` are positives that one model alone proposed; `phase` is the share of positives among
    the pairs of a phase.
    """
    world = simulate(depth, seed, size)
    pairs, rng = world.pairs, np.random.default_rng(seed)
    has_ranks = np.ones(N_MODELS, bool)
    _, phases = judging_phases(world.proposals, has_ranks, rng)
    orders = {
        SHUFFLED: shuffled_by_query(pairs.query, rng),
        PHASES: shuffled_in_phases(pairs.query, phases, rng),
        IDEAL: np.argsort(~world.is_positive, kind="stable"),
    }
    is_lone = world.is_positive & (pairs.is_proposed.sum(axis=1) == 1)
    found = {"pairs": float(len(pairs)), "positive": float(world.is_positive.mean())}
    for name, order in orders.items():
        for share in SHARES:
            judged = order[: round(share * len(pairs))]
            found[f"{name} {share}"] = _share(world.is_positive, judged)
            found[f"{name} lone {share}"] = _share(is_lone, judged)
    for phase in range(N_PHASES):
        found[f"phase {phase}"] = float(world.is_positive[phases == phase].mean())
    return found


def _share(wanted: Flags, judged: NDArray[np.int64]) -> float:
    """Return which share of what is wanted has been judged."""
    return float(wanted[judged].sum() / wanted.sum())


def table(depth: int, size: Size) -> Iterator[str]:
    """Yield the figures of one depth as Markdown, means over the seeds."""
    runs = [figures(depth, seed, size) for seed in SEEDS]

    def mean(key: str) -> str:
        return f"{np.mean([run[key] for run in runs]):.0%}"

    n_pairs = round(np.mean([run["pairs"] for run in runs]))
    yield (
        f"Six models to depth {depth}, {size.n_queries} queries: {n_pairs:,} pairs, "
        f"{mean('positive')} of them similar."
    )
    yield ""
    yield "| after this share of the judgements | " + " | ".join(f"{s:.0%}" for s in SHARES) + " |"
    yield "|---|" + "---:|" * len(SHARES)
    for name in (SHUFFLED, PHASES, IDEAL):
        yield (
            f"| similar pairs found, {name} | "
            + " | ".join(mean(f"{name} {share}") for share in SHARES)
            + " |"
        )
    for name in (SHUFFLED, PHASES):
        yield (
            f"| of those that one model alone proposed, {name} | "
            + " | ".join(mean(f"{name} lone {share}") for share in SHARES)
            + " |"
        )
    yield ""
    yield "| phase | " + " | ".join(str(phase + 1) for phase in range(N_PHASES)) + " |"
    yield "|---|" + "---:|" * N_PHASES
    yield (
        "| similar among its pairs | "
        + " | ".join(mean(f"phase {phase}") for phase in range(N_PHASES))
        + " |"
    )


def document(size: Size) -> str:
    """Return all tables."""
    return "\n\n".join("\n".join(table(depth, size)) for depth in DEPTHS)


def main() -> int:
    """Simulate, print the figures, and write or check the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare the document, write nothing")
    arguments = parser.parse_args()
    printed = document(Size())
    print(printed)
    text = DOCUMENT.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    wanted = f"{head}{BEGIN}\n{printed}\n{END}{tail}"
    if arguments.check:
        return int(text != wanted)
    DOCUMENT.write_text(wanted, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
