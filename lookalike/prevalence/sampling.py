"""Which pairs below the pool to label: strata by rank, how many of each, a seeded draw."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Floats, Ints

Aim = Literal["total", "validity", "both"]


@dataclass(frozen=True)
class Stratum:
    """Pairs by the best rank any pooled model gave them.

    Attributes:
        name: such as "ranks 21-100".
        first: best rank in it, 1 is a model's first candidate.
        last: worst rank in it; None for the rest of the catalogue.
    """

    name: str
    first: int
    last: int | None


@dataclass(frozen=True)
class Draw:
    """Pairs drawn from one stratum.

    Attributes:
        queries: shape (n_drawn,), query index.
        positions: shape (n_drawn,), which of the query's pairs in the stratum, from 0, in
            whatever fixed order the caller keeps them.
        inclusion: the chance of every pair of the stratum to be drawn, n_h / N_h.
    """

    queries: Ints
    positions: Ints
    inclusion: float


def rank_strata(depth: int, bounds: Sequence[int] = (20, 100, 500)) -> tuple[Stratum, ...]:
    """Return the strata below a pool: (k, 20], (20, 100], (100, 500] and the rest.

    Args:
        depth: the pool's depth k.
        bounds: rising last ranks; those within the pool are dropped.

    Returns:
        The strata, the deepest last.

    Raises:
        ValueError: if `depth` < 1 or the bounds do not rise.
    """
    if depth < 1 or list(bounds) != sorted(set(bounds)):
        raise ValueError(f"depth {depth} must be at least 1 and bounds {bounds} must rise")
    strata, first = [], depth + 1
    for last in bounds:
        if last >= first:
            strata.append(Stratum(f"ranks {first}-{last}", first, last))
            first = last + 1
    return (*strata, Stratum(f"below rank {first - 1}", first, None))


def allocate(
    sizes: Sequence[int], n_labels: int, aim: Aim, expected: Sequence[float] | None = None
) -> list[int]:
    """Share a budget of labels among strata, the deepest last.

    "total" wants the number of positives in the catalogue: Neyman's n_h ∝ N_h √(p_h (1 - p_h)),
    which sends nearly all labels to the deepest stratum. "validity" wants to know how far
    random negatives and the models' upper ranks can be trusted: equal parts above the deepest.
    "both" gives half to each. Rounded by largest remainder; never more than a stratum holds,
    the surplus going to the others.

    Args:
        sizes: N_h, pairs in each stratum.
        n_labels: the budget.
        aim: what the labels are for.
        expected: p_h for "total" and "both"; a guess will do.

    Returns:
        n_h, summing to the budget or to all pairs if that is less.

    Raises:
        ValueError: if a size or share is out of range, or `expected` is missing.
    """
    N = np.asarray(sizes, dtype=np.float64)
    if N.size == 0 or (N < 0).any() or n_labels < 0:
        raise ValueError(f"sizes {list(sizes)} and budget {n_labels} must not be negative")
    if aim == "validity":
        return _shared(_upper_parts(N), N, n_labels)
    if expected is None:
        raise ValueError(f"aim {aim!r} needs the expected share of positives of each stratum")
    p = np.asarray(expected, dtype=np.float64)
    if p.shape != N.shape or (p < 0).any() or (p > 1).any():
        raise ValueError(f"expected shares {list(expected)} do not fit the strata")
    neyman = N * np.sqrt(p * (1.0 - p))
    if neyman.sum() == 0:
        raise ValueError("no stratum is expected to hold both positives and negatives")
    neyman /= neyman.sum()
    return _shared(neyman if aim == "total" else (neyman + _upper_parts(N)) / 2.0, N, n_labels)


def draw(sizes_by_query: ArrayLike, n_drawn: int, rng: np.random.Generator) -> Draw:
    """Draw pairs of one stratum so that each has the same chance and queries are spread.

    Systematic sampling through the queries in random order: every pair's chance is exactly
    n / N, and a query gets more than one pair only where its share of the stratum asks for it.
    Several pairs of one query are worth less than pairs of different ones.

    Args:
        sizes_by_query: shape (n_queries,), pairs of the stratum that each query has.
        n_drawn: how many to draw.
        rng: draws them; store its seed.

    Returns:
        Distinct pairs, in random order.

    Raises:
        ValueError: if there are fewer pairs than wanted.
    """
    sizes = np.asarray(sizes_by_query, dtype=np.int64)
    total = int(sizes.sum())
    if (sizes < 0).any() or not 0 <= n_drawn <= total:
        raise ValueError(f"cannot draw {n_drawn} of {total} pairs")
    if n_drawn == 0:
        nothing = np.zeros(0, dtype=np.int64)
        return Draw(nothing, nothing, 0.0)
    order = rng.permutation(sizes.size)
    ends = np.cumsum(sizes[order])
    marks = (np.arange(n_drawn) + rng.random()) * (total / n_drawn)
    hit = np.searchsorted(ends, np.minimum(marks, total - 0.5), side="right")
    queries = np.repeat(order, np.bincount(hit, minlength=sizes.size))
    positions = np.concatenate(
        [
            rng.choice(int(sizes[q]), int(n), replace=False)
            for q, n in zip(order, np.bincount(hit, minlength=sizes.size), strict=True)
            if n
        ]
    )
    mixed = rng.permutation(n_drawn)
    return Draw(queries[mixed], positions[mixed].astype(np.int64), n_drawn / total)


def _upper_parts(N: Floats) -> Floats:
    """Return equal parts for every stratum but the deepest; all for it if it is alone."""
    parts = np.where(N > 0, 1.0, 0.0)
    if N.size > 1 and parts[:-1].sum() > 0:
        parts[-1] = 0.0
    shares: Floats = parts / max(parts.sum(), 1.0)
    return shares


def _shared(parts: Floats, N: Floats, n_labels: int) -> list[int]:
    """Round parts of a budget to whole labels within the sizes."""
    budget = int(min(n_labels, N.sum()))
    wanted = np.minimum(parts * budget, N)
    while budget - wanted.sum() > 1e-9:  # some stratum is full: give the rest to the others
        room = N - wanted
        keys = np.where(room > 0, np.where(parts > 0, parts, 0.0), 0.0)
        keys = keys if keys.sum() > 0 else room
        wanted = np.minimum(wanted + keys / keys.sum() * (budget - wanted.sum()), N)
    whole = np.floor(wanted + 1e-9)
    room_first = np.lexsort((-N, -(wanted - whole)))
    for h in room_first[: round(budget - whole.sum())]:
        whole[h] += 1
    return [int(n) for n in whole]
