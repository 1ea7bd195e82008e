"""What a pool is: its size, how much its models agree, and what it costs and saves."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lookalike.pooling.eds import Pairs, Proposals, distinct_pairs

SECONDS_PER_HOUR = 3600
Doubles = NDArray[np.float64]


@dataclass(frozen=True)
class CandidatesPerQuery:
    """How many distinct candidates the queries have, those without any included.

    Attributes:
        histogram: (number of candidates, number of queries with it), ascending.
    """

    mean: float
    min: int
    max: int
    histogram: list[tuple[int, int]]


@dataclass(frozen=True)
class PoolStats:
    """Figures of a pool.

    Attributes:
        queries: number of queries.
        pairs: distinct (query, candidate) pairs, which are what is judged.
        proposals: over all models; a pair that m models found counts m times.
        duplication: share of the proposals that another model made too, 1 - pairs/proposals.
        proposals_by_model: shape (n_models,).
        overlap: shape (n_models, n_models); row a, column b: |S_a and S_b| / |S_a|, the share
            of a's pairs that b found too (table 2 of the paper). With the same full depth k it
            is |S_a and S_b| / (k |Q|), and symmetric.
        jaccard: shape (n_models, n_models); |S_a and S_b| / |S_a or S_b|.
        unique_by_model: shape (n_models,); pairs that only this model found.
        brute_force_pairs: what judging every admissible pair would take.
        saving: brute_force_pairs / pairs.
    """

    queries: int
    pairs: int
    proposals: int
    candidates_per_query: CandidatesPerQuery
    duplication: float
    proposals_by_model: list[int]
    overlap: list[list[float]]
    jaccard: list[list[float]]
    unique_by_model: list[int]
    brute_force_pairs: int
    saving: float

    def as_dict(self) -> dict[str, Any]:
        """Return plain lists and numbers; undefined figures (NaN) become None for JSON."""
        plain = _without_nan(asdict(self))
        assert isinstance(plain, dict)  # noqa: S101 - for the type checker
        return plain


def pool_stats(
    proposals: Proposals, n_queries: int, n_images: int, n_excluded: int = 0
) -> PoolStats:
    """Return the figures of a pool.

    Source: Barkan, Reiss et al. (ICCV 2023), sections 3.3 and 6.2 and table 2. Shares of nothing
    are NaN: duplication and saving of an empty pool, overlap of a model without proposals.

    Args:
        proposals: all proposals; queries may be numbers or ids.
        n_queries: queries asked, at least as many as occur in `proposals`.
        n_images: images in the catalog.
        n_excluded: pairs of query and image that may not be proposed (self, same product).

    Raises:
        ValueError: if more queries occur than were asked.
    """
    pairs = distinct_pairs(proposals)
    by_model = pairs.is_proposed.sum(axis=0).astype(np.float64)
    both = _intersections(pairs)
    either = by_model[:, None] + by_model - both
    brute_force = n_queries * n_images - n_excluded
    return PoolStats(
        queries=n_queries,
        pairs=len(pairs),
        proposals=len(proposals),
        candidates_per_query=_candidates_per_query(pairs, n_queries),
        duplication=1 - len(pairs) / len(proposals) if len(proposals) else float("nan"),
        proposals_by_model=by_model.astype(int).tolist(),
        overlap=_shares(both, by_model[:, None]).tolist(),
        jaccard=_shares(both, either).tolist(),
        unique_by_model=pairs.is_proposed[pairs.is_proposed.sum(axis=1) == 1].sum(axis=0).tolist(),
        brute_force_pairs=brute_force,
        saving=brute_force / len(pairs) if len(pairs) else float("nan"),
    )


def expert_hours(n_pairs: int, seconds_per_pair: float, n_experts: float = 1) -> float:
    """Return the working hours of all experts together when so many judge each pair.

    Raises:
        ValueError: for negative pairs or experts, or seconds that are not positive.
    """
    if n_pairs < 0 or n_experts < 0 or not seconds_per_pair > 0:
        raise ValueError(
            f"{n_pairs} pairs, {n_experts} experts, {seconds_per_pair} seconds per pair: "
            "the first two must not be negative, the last must be positive"
        )
    return n_pairs * seconds_per_pair * n_experts / SECONDS_PER_HOUR


def _intersections(pairs: Pairs) -> Doubles:
    """Return |S_a and S_b| for every two models, shape (n_models, n_models)."""
    flags = pairs.is_proposed.astype(np.float64)  # counts stay exact far beyond any pool
    return flags.T @ flags


def _shares(part: Doubles, whole: Doubles) -> Doubles:
    shares = np.full(part.shape, np.nan)
    np.divide(part, whole, out=shares, where=np.broadcast_to(whole > 0, part.shape))
    return shares


def _candidates_per_query(pairs: Pairs, n_queries: int) -> CandidatesPerQuery:
    _, counts = np.unique(pairs.query, return_counts=True)
    n_without = n_queries - len(counts)
    if n_without < 0:
        raise ValueError(f"{len(counts)} queries have proposals, but only {n_queries} were asked")
    counts = np.concatenate([np.zeros(n_without, np.int64), counts])
    if not len(counts):
        return CandidatesPerQuery(mean=float("nan"), min=0, max=0, histogram=[])
    values, queries = np.unique(counts, return_counts=True)
    return CandidatesPerQuery(
        mean=float(counts.mean()),
        min=int(counts.min()),
        max=int(counts.max()),
        histogram=list(zip(values.tolist(), queries.tolist(), strict=True)),
    )


def _without_nan(value: object) -> object:
    if isinstance(value, dict):
        return {key: _without_nan(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and np.isnan(value) else value
