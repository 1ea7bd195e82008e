"""The pool itself: size, saving, overlap of the generators, what only one of them found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.core.arrays import Floats, Ints
from lookalike.stats.defined_values import ratio


@dataclass(frozen=True)
class PoolSummary:
    """Counts of a pool.

    Attributes:
        n_queries: queries the pool was built for.
        n_generators: models that proposed pairs.
        depth: worst rank proposed.
        n_pairs: distinct proposed pairs, |S|.
        n_judged: of these, with a label.
        n_positive: of these, with label 1.
        positive_share: n_positive / n_judged (the paper's p_k).
        pairs_per_query: n_pairs / n_queries.
        duplication: share of proposals that another model had made already.
        n_outside_pool: judged pairs that no model proposed, not used here.
        n_catalogue_pairs: all pairs of the catalogue, |A|; None if unknown.
        saving: |A| / |S|, the labels spared against judging everything; None if unknown.
        saving_bound: the same if no two models had proposed the same pair, which is what the
            VSD paper quotes (1,464 where the exact figure is 1,946).
        positive_share_bound: n_positive / |A|, the paper's p_LB; None if unknown.
        n_own_product: judged pairs of a query with itself or its product, not used here.
    """

    n_queries: int
    n_generators: int
    depth: int
    n_pairs: int
    n_judged: int
    n_positive: int
    positive_share: float
    pairs_per_query: float
    duplication: float
    n_outside_pool: int
    n_catalogue_pairs: int | None
    saving: float | None
    saving_bound: float | None
    positive_share_bound: float | None
    n_own_product: int = 0


@dataclass(frozen=True)
class Overlap:
    """How much every two generators propose in common.

    Attributes:
        generators: names of rows and columns.
        share: |S_i ∩ S_j| / (k |Q|), the paper's Table 2 as a share.
        jaccard: |S_i ∩ S_j| / |S_i ∪ S_j|.
        mean_share: mean of `share` over pairs of generators, NaN for one generator.
    """

    generators: tuple[str, ...]
    share: list[list[float]]
    jaccard: list[list[float]]
    mean_share: float


@dataclass(frozen=True)
class GeneratorRow:
    """What one model brought to the pool.

    Attributes:
        name: the model.
        family: its family.
        n_proposed: pairs in its top-k.
        n_judged: of these, judged.
        n_positive: of these, positive.
        precision: n_positive / n_judged (the paper's p_k^m).
        n_unique: pairs nobody else proposed, judged or not.
        n_unique_positive: positives among them.
        unique_yield: positives per judged unique pair. A low one means that the model mostly
            adds negatives, which count against itself alone.
    """

    name: str
    family: str
    n_proposed: int
    n_judged: int
    n_positive: int
    precision: float
    n_unique: int
    n_unique_positive: int
    unique_yield: float


def pool_summary(evidence: PoolEvidence) -> PoolSummary:
    """Return the counts of the pool; see `PoolSummary`."""
    n_proposals = int((evidence.pool_ranks > 0).sum())
    n_pairs = evidence.pool_ranks.shape[1]
    n_positive = int(evidence.labels.sum())
    total = evidence.n_catalogue_pairs
    most = len(evidence.generators) * evidence.n_queries * evidence.depth
    return PoolSummary(
        n_queries=evidence.n_queries,
        n_generators=len(evidence.generators),
        depth=evidence.depth,
        n_pairs=n_pairs,
        n_judged=evidence.n_pairs,
        n_positive=n_positive,
        positive_share=n_positive / evidence.n_pairs,
        pairs_per_query=n_pairs / evidence.n_queries,
        duplication=1.0 - n_pairs / n_proposals,
        n_outside_pool=evidence.n_outside_pool,
        n_catalogue_pairs=total,
        saving=None if total is None else total / n_pairs,
        saving_bound=None if total is None else total / most,
        positive_share_bound=None if total is None else n_positive / total,
        n_own_product=evidence.n_own_product,
    )


def overlap(evidence: PoolEvidence) -> Overlap:
    """Return how much every two generators propose in common; see `Overlap`."""
    proposed = (evidence.pool_ranks > 0).astype(np.float64)
    both = proposed @ proposed.T
    sizes = np.diag(both)
    either = sizes[:, None] + sizes[None, :] - both
    share = both / (evidence.depth * evidence.n_queries)
    above = np.triu_indices(len(sizes), 1)
    return Overlap(
        generators=evidence.generators,
        share=share.tolist(),
        jaccard=np.divide(both, either, out=np.zeros_like(both), where=either > 0).tolist(),
        mean_share=float(share[above].mean()) if above[0].size else float("nan"),
    )


def generator_rows(evidence: PoolEvidence) -> tuple[GeneratorRow, ...]:
    """Return what each generator brought to the pool; see `GeneratorRow`."""
    n_finders = (evidence.pool_ranks > 0).sum(axis=0)
    rows = []
    for g, name in enumerate(evidence.generators):
        is_mine = evidence.pool_ranks[g] > 0
        judged = is_mine[: evidence.n_pairs]
        unique = judged & (n_finders[: evidence.n_pairs] == 1)
        n_positive, n_unique_positive = (
            int(evidence.labels[mask].sum()) for mask in (judged, unique)
        )
        rows.append(
            GeneratorRow(
                name=name,
                family=evidence.family_of(name),
                n_proposed=int(is_mine.sum()),
                n_judged=int(judged.sum()),
                n_positive=n_positive,
                precision=_share(n_positive, int(judged.sum())),
                n_unique=int((is_mine & (n_finders == 1)).sum()),
                n_unique_positive=n_unique_positive,
                unique_yield=_share(n_unique_positive, int(unique.sum())),
            )
        )
    return tuple(rows)


def forced_loss_ceiling(contributed: Ints, labels: Floats, queries: Ints, n_queries: int) -> Floats:
    """Return the highest ROC-AUC that a generator's own proposals leave possible, per query.

    A generator ranks its own pooled negatives above every positive outside its top-k, whatever
    its scores are: AUC_q <= 1 - N_q^m (P_q - P_q^m) / (P_q N_q), with P and N the positives and
    negatives of the pool and ^m those in the generator's top-k. A model outside the pool has no
    such ceiling. Holds only for a model whose proposals are the head of its own ranking.

    Args:
        contributed: shape (n_pairs,), nonzero where the generator proposed the pair.
        labels: shape (n_pairs,), 0 or 1.
        queries: shape (n_pairs,), integers in [0, n_queries).
        n_queries: length of the result.

    Returns:
        Shape (n_queries,); NaN where a query lacks a positive or a negative.
    """

    def count(weights: Floats) -> Floats:
        return np.bincount(queries, weights=weights, minlength=n_queries).astype(np.float64)

    own = (contributed > 0).astype(np.float64)
    positives, negatives = count(labels), count(1.0 - labels)
    lost = count(own * (1.0 - labels)) * (positives - count(own * labels))
    return 1.0 - ratio(lost, positives * negatives)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
