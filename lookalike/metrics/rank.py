"""The rank of each judged candidate: all that the measures of a ranking need to know."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.metrics.match import AlignedRun

Order = Literal["id", "trec"]
NO_TIE = np.iinfo(np.int64).max


@dataclass(frozen=True)
class JudgedRanks:
    """Where a run put the judged candidates of each query. What is not listed is unjudged.

    Rows lie by query, and within a query by rank with the unlisted ones last.

    Attributes:
        n_queries: how many queries the labels have; queries are numbered from 0.
        queries: shape (n_judged,).
        labels: shape (n_judged,), 0 or 1.
        ranks: shape (n_judged,), from 1; 0 for a judged candidate that the run does not list.
        tie_ends: shape (n_judged,), the rank of the last candidate with the same score; 0 for
            an unlisted one.
        n_listed: shape (n_queries,), length of the run's list; 0 where the query is missing.
        first_tie: shape (n_queries,), the smallest rank whose score the next rank shares;
            `NO_TIE` if there is none.
        depths: shape (n_queries,), the rank down to which `ranks` are right; as of `AlignedRun`.
        grades: shape (n_judged,), as of `Qrels`.
    """

    n_queries: int
    queries: Ints
    labels: Ints
    ranks: Ints
    tie_ends: Ints
    n_listed: Ints
    first_tie: Ints
    depths: Ints
    grades: Ints | None = None

    @property
    def gains(self) -> Ints:
        """The grades, or the labels where there are none, shape (n_judged,)."""
        return self.labels if self.grades is None else self.grades

    def count(self, label: int) -> Ints:
        """Return how many judged candidates of each query have this label."""
        return np.bincount(self.queries[self.labels == label], minlength=self.n_queries)

    def total(self, mask: Bools, weights: Floats) -> Floats:
        """Return the sum of `weights`, one for each row in `mask`, by query."""
        sums = np.bincount(self.queries[mask], weights=weights, minlength=self.n_queries)
        return sums.astype(np.float64)


def rank_run(
    aligned: AlignedRun, *, order: Order = "id", one_per_product: bool = False
) -> JudgedRanks:
    """Rank each query's candidates by falling score and return where the judged ones stand.

    Ties: `order` "id" ranks equal scores (`core.near_ties`) by ascending id and also keeps the
    end of the tie group, which AP uses. "trec" does as trec_eval does: scores are compared as
    float32, equal ones ranked by descending id, and a tie group is never treated as one.

    Args:
        aligned: from `match_run`; in its own modes.
        order: how to break ties.
        one_per_product: keep only the best-ranked image of each product, as the VSD code does.
            A judged image that a sibling precedes is then not listed, and an excluded judged
            pair stays as an unlisted one, because VSD counts its query.
    """
    by_rank, is_first = _sorted_rows(aligned, order, one_per_product)
    q = aligned.run_queries[by_rank]
    n_listed = np.bincount(q, minlength=aligned.n_queries)
    position = np.arange(q.size)
    starts = np.cumsum(n_listed) - n_listed
    is_tied = ~np.append(is_first[1:], True)[: q.size]  # with the next one
    group_ends = np.flatnonzero(~is_tied)
    ends = group_ends[np.searchsorted(group_ends, position)]
    first_tie = np.full(aligned.n_queries, NO_TIE)
    ties = np.flatnonzero(is_tied)
    np.minimum.at(first_tie, q[ties], ties - starts[q[ties]] + 1)

    rank_at = np.zeros((2, aligned.scores.size), dtype=np.int64)
    rank_at[0, by_rank] = position - starts[q] + 1
    rank_at[1, by_rank] = rank_at[0, by_rank] if order == "trec" else ends - starts[q] + 1

    kept = ~aligned.is_excluded | one_per_product
    queries, place = aligned.queries[kept], aligned.judged_at[kept]
    ranks, tie_ends = np.zeros((2, place.size), dtype=np.int64)
    ranks[place >= 0], tie_ends[place >= 0] = rank_at[:, place[place >= 0]]
    rows = np.lexsort((np.where(ranks > 0, ranks, NO_TIE), queries))
    return JudgedRanks(
        aligned.n_queries,
        queries[rows],
        aligned.labels[kept][rows],
        ranks[rows],
        tie_ends[rows],
        n_listed,
        first_tie,
        aligned.product_depths if one_per_product else aligned.depths,
        None if aligned.grades is None else aligned.grades[kept][rows],
    )


def puts_judged_first(ranks: JudgedRanks) -> bool:
    """Return whether most lists hold every judged candidate, and all others below them.

    So does a run that was made from the judged pairs and then filled up, which no list of the
    catalog does but that of the only model of a pool.
    """
    n_judged = np.bincount(ranks.queries, minlength=ranks.n_queries)
    lowest = np.zeros(ranks.n_queries, dtype=np.int64)
    np.maximum.at(lowest, ranks.queries, np.where(ranks.ranks > 0, ranks.ranks, NO_TIE))
    is_first = (n_judged > 0) & (lowest == n_judged) & (ranks.n_listed > n_judged)
    return bool(2 * is_first.sum() > (ranks.n_listed > 0).sum())


def ranked_candidates(
    aligned: AlignedRun, *, order: Order = "id", one_per_product: bool = False
) -> list[Ints]:
    """Return for each query its candidate codes in rank order, as `rank_run` ranks them."""
    by_rank, _ = _sorted_rows(aligned, order, one_per_product)
    queries = aligned.run_queries[by_rank]
    bounds = np.searchsorted(queries, np.arange(1, aligned.n_queries))
    return np.split(aligned.run_candidates[by_rank], bounds)


def condensed(ranks: JudgedRanks) -> JudgedRanks:
    """Return the ranks that are left once every unjudged candidate is taken off the lists.

    Source: the condensed lists of Sakai (SIGIR 2007). A condensed list flatters systems that
    did not contribute to the pool.
    """
    is_listed = ranks.ranks > 0
    n_listed = np.bincount(ranks.queries[is_listed], minlength=ranks.n_queries)
    before = np.cumsum(n_listed) - n_listed
    queries = ranks.queries[is_listed]
    span = int(ranks.n_listed.max(initial=0)) + 1
    keys = queries * span + ranks.ranks[is_listed]  # ascending: rows lie by query and rank
    ends = np.searchsorted(keys, queries * span + ranks.tie_ends[is_listed], side="right")
    new_ranks, new_ends = np.zeros_like(ranks.ranks), np.zeros_like(ranks.ranks)
    new_ranks[is_listed] = np.arange(queries.size) - before[queries] + 1
    new_ends[is_listed] = ends - before[queries]
    first_tie = np.full(ranks.n_queries, NO_TIE)
    is_tied = new_ends > new_ranks
    np.minimum.at(first_tie, ranks.queries[is_tied], new_ranks[is_tied])
    return replace(
        ranks, ranks=new_ranks, tie_ends=new_ends, n_listed=n_listed, first_tie=first_tie
    )


def _sorted_rows(aligned: AlignedRun, order: Order, one_per_product: bool) -> tuple[Ints, Bools]:
    """Return the rows by query and rank, and where a group of equal scores begins.

    Args:
        aligned: the run.
        order: how to break ties.
        one_per_product: only the first row of each query and product.
    """
    if order == "trec":
        by_rank, is_first = _as_trec_sorts(aligned)
    else:
        by_rank, is_first = aligned.by_rank, aligned.is_first
    if not one_per_product:
        return by_rank, is_first
    products = aligned.products[aligned.run_candidates[by_rank]]
    keys = aligned.run_queries[by_rank] * (int(aligned.products.max(initial=0)) + 1) + products
    kept: Ints = np.sort(np.unique(keys, return_index=True)[1])
    group = np.cumsum(is_first)[kept]
    return by_rank[kept], np.r_[True, group[1:] != group[:-1]][: kept.size]


def _as_trec_sorts(aligned: AlignedRun) -> tuple[Ints, Bools]:
    """Return the rows by query, falling float32 score and descending id, and the tie groups."""
    with np.errstate(over="ignore"):
        scores = aligned.scores.astype(np.float32)
    by_rank = np.lexsort((-aligned.run_candidates, -scores, aligned.run_queries))
    q, s = aligned.run_queries[by_rank], scores[by_rank]
    return by_rank, np.r_[True, (q[1:] != q[:-1]) | (s[1:] != s[:-1])][: q.size]
