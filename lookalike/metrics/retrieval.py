"""Measures of a ranking, per query, from the ranks of the judged candidates.

Every function takes `JudgedRanks` and returns shape (n_queries,). A query without positives is
undefined, NaN. A query that the run does not list at all has rank 0 everywhere, so it scores 0.
An unjudged candidate is counted as not relevant, never stored as one; P_max, RBP_residual,
judged and hole say what that may hide. `condensed` takes the unjudged off the lists instead.
"""

from __future__ import annotations

import numpy as np

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.metrics.rank import JudgedRanks
from lookalike.stats.defined_values import ratio

INFAP_EPSILON = 1e-5  # trec_eval's smoothing; part of the published definition in code


def success(ranks: JudgedRanks, k: int) -> Floats:
    """Return 1 where a positive stands in the top k, else 0 (hit rate; Recall@k of GeneCIS)."""
    return _if_positives(ranks, (_hits(ranks, k) > 0).astype(np.float64))


def reciprocal_rank(ranks: JudgedRanks, k: int | None = None) -> Floats:
    """Return 1 / rank of the first positive, 0 if it is not in the top k (MRR@k once averaged).

    Source: Voorhees (TREC-8 QA). With k None the whole list counts.
    """
    first = np.full(ranks.n_queries, np.inf)
    is_hit = _is_hit(ranks, k)
    np.minimum.at(first, ranks.queries[is_hit], ranks.ranks[is_hit])
    return _if_positives(ranks, 1.0 / first)


def precision(ranks: JudgedRanks, k: int) -> Floats:
    """Return the share of positives in the top k; the divisor stays k if the list is shorter."""
    return _if_positives(ranks, _hits(ranks, k) / k)


def precision_all(ranks: JudgedRanks, k: int) -> Floats:
    """Return `precision`, and 0 for queries without positives, which trec_eval averages in."""
    return _hits(ranks, k) / k


def precision_max(ranks: JudgedRanks, k: int) -> Floats:
    """Return what `precision` would be if every unjudged candidate in the top k were positive.

    P@k lies in [precision, precision_max] whatever the missing judgements say.
    """
    return _if_positives(ranks, (_hits(ranks, k) + _holes(ranks, k)) / k)


def recall(ranks: JudgedRanks, k: int) -> Floats:
    """Return the share of the query's known positives that stand in the top k."""
    return ratio(_hits(ranks, k), ranks.count(1))


def r_precision(ranks: JudgedRanks) -> Floats:
    """Return the share of positives in the top R, R being the query's number of positives."""
    R = ranks.count(1)
    is_hit = _is_hit(ranks, None) & (ranks.ranks <= R[ranks.queries])
    return ratio(_per_query(ranks, is_hit), R)


def ndcg(ranks: JudgedRanks, k: int | None = None, *, is_exponential: bool = False) -> Floats:
    """Return the normalised discounted gain: gain = grade or label, discount log2(rank + 1).

    Source: Järvelin and Kekäläinen (TOIS 2002) in trec_eval's form; the ideal list holds all
    judged candidates by falling gain, cut at k. With `is_exponential` the gain is 2^grade - 1
    (Burges et al., ICML 2005), which yes-no labels do not notice.
    """
    last = np.inf if k is None else k
    best_first = np.lexsort((-ranks.gains, ranks.queries))
    starts = np.searchsorted(ranks.queries, np.arange(ranks.n_queries))
    ideal = np.arange(ranks.queries.size) - starts[ranks.queries] + 1
    gains = ranks.gains.astype(np.float64)
    if is_exponential:
        gains = np.exp2(gains) - 1.0
    return ratio(
        _discounted(ranks, ranks.ranks, gains, last),
        _discounted(ranks, ideal, gains[best_first], last),
    )


def _discounted(ranks: JudgedRanks, places: Ints, gains: Floats, last: float) -> Floats:
    """Sum the gains of each query at these ranks (0: not listed), discounted by them."""
    counted = (places > 0) & (places <= last) & (gains > 0)
    return ranks.total(counted, gains[counted] / np.log2(places[counted] + 1.0))


def average_precision(ranks: JudgedRanks, k: int | None = None) -> Floats:
    """Return the mean over all known positives of the precision at each; 0 for an unlisted one.

    Without k, ties count as one group: the precision is taken at the end of the group, as
    scikit-learn does, so that a constant scorer gets the prevalence. trec_eval takes the order
    of the names; `rank_run(order="trec")` reproduces it. With k, positives below rank k count 0
    and the rank itself is used (trec_eval's map_cut).
    """
    return ratio(_precision_sum(ranks, k, None), ranks.count(1))


def map_at_r(ranks: JudgedRanks) -> Floats:
    """Return AP cut at R, R being the query's number of positives (Musgrave et al., ECCV 2020)."""
    R = ranks.count(1)
    return ratio(_precision_sum(ranks, None, R), R)


def bpref(ranks: JudgedRanks, *, as_trec: bool = False) -> Floats:
    """Return bpref: how rarely judged negatives stand above positives; the unjudged are ignored.

    Source: Buckley and Voorhees (SIGIR 2004) as trec_eval codes it: the mean over all known
    positives of 1 - min(negatives above, R) / min(R, N), 0 for an unlisted positive. Equals
    ROC-AUC where N <= R, there are no ties and every judged candidate is listed.

    A query without judged negatives is NaN; with `as_trec` it is the share of listed positives.
    """
    R, N = ranks.count(1), ranks.count(0)
    is_hit = _is_hit(ranks, None)
    q = ranks.queries[is_hit]
    above = np.minimum(_judged_above(ranks, ranks.labels == 0)[is_hit], R[q])
    lost = np.divide(above, np.minimum(R, N)[q], out=np.zeros(q.size), where=above > 0)
    values = ratio(ranks.total(is_hit, 1.0 - lost), R)
    return values if as_trec else np.where(N > 0, values, np.nan)


def inferred_ap(ranks: JudgedRanks, unjudged: JudgedRanks | None = None) -> Floats:
    """Return infAP: AP with the relevance of the unjudged inferred from the judged above.

    Source: Yilmaz and Aslam (CIKM 2006) as trec_eval codes it, with its epsilon of 1e-5. A
    candidate that is neither judged nor in `unjudged` counts as outside the pool; with complete
    judgements of the pool infAP is AP in rank order but for epsilon.

    Args:
        ranks: of the judged candidates.
        unjudged: of the pool's candidates that were not judged, among the same lists.
    """
    is_hit = _is_hit(ranks, None)
    rank = ranks.ranks[is_hit].astype(np.float64)
    positives = _judged_above(ranks, ranks.labels == 1)[is_hit]
    judged = positives + _judged_above(ranks, ranks.labels == 0)[is_hit]
    pooled = judged + (0 if unjudged is None else _listed_above(ranks, unjudged)[is_hit])
    above = np.maximum(rank - 1.0, 1.0)
    expected = (pooled / above) * (positives + INFAP_EPSILON) / (judged + 2 * INFAP_EPSILON)
    at_rank = np.where(rank == 1, 1.0, 1.0 / rank + (rank - 1.0) / rank * expected)
    return ratio(ranks.total(is_hit, at_rank), ranks.count(1))


def rank_biased_precision(ranks: JudgedRanks, p: float) -> Floats:
    """Return RBP, the positives weighted by (1 - p) p^(rank - 1): its lower end.

    Source: Moffat and Zobel (TOIS 2008). The truth lies in [RBP, RBP + residual].
    """
    return _if_positives(ranks, _rbp_weight(ranks, p, _is_hit(ranks, None)))


def rank_biased_residual(ranks: JudgedRanks, p: float) -> Floats:
    """Return what the unjudged ranks and the tail below the list could still add to RBP."""
    return _if_positives(ranks, 1.0 - _rbp_weight(ranks, p, ranks.ranks > 0))


def judged(ranks: JudgedRanks, k: int) -> Floats:
    """Return the judged share of the query's top k; NaN where the run lists nothing.

    A list shorter than k is measured over its own length. Defined without positives too.
    """
    return 1.0 - hole(ranks, k)


def hole(ranks: JudgedRanks, k: int) -> Floats:
    """Return the unjudged share of the query's top k; NaN where the run lists nothing.

    Judged means judged for this query. BEIR and MTEB ask "judged for any query".
    """
    return ratio(_holes(ranks, k), np.minimum(ranks.n_listed, k))


def tie_rate(ranks: JudgedRanks, k: int) -> Floats:
    """Return 1 where two neighbours of ranks 1..k+1 tie, so that ids decided, else 0."""
    return np.where(ranks.n_listed > 0, (ranks.first_tie <= k).astype(np.float64), np.nan)


def _if_positives(ranks: JudgedRanks, values: Floats) -> Floats:
    return np.where(ranks.count(1) > 0, values, np.nan)


def _is_hit(ranks: JudgedRanks, k: int | None) -> Bools:
    """Mark the listed positives, down to rank k."""
    is_hit: Bools = (ranks.ranks > 0) & (ranks.labels == 1)
    return is_hit if k is None else is_hit & (ranks.ranks <= k)


def _per_query(ranks: JudgedRanks, mask: Bools) -> Ints:
    return np.bincount(ranks.queries[mask], minlength=ranks.n_queries)


def _hits(ranks: JudgedRanks, k: int) -> Ints:
    return _per_query(ranks, _is_hit(ranks, k))


def _holes(ranks: JudgedRanks, k: int) -> Ints:
    """Count the unjudged candidates in each top k."""
    n_judged = _per_query(ranks, (ranks.ranks > 0) & (ranks.ranks <= k))
    return np.minimum(ranks.n_listed, k) - n_judged


def _judged_above(ranks: JudgedRanks, mask: Bools) -> Ints:
    """Count, for each row, the rows of its query in `mask` that stand above it."""
    running: Ints = np.cumsum(mask) - mask
    starts = np.searchsorted(ranks.queries, np.arange(ranks.n_queries))
    first = np.minimum(starts, max(ranks.queries.size - 1, 0))
    return (running - running[first][ranks.queries]) if running.size else running


def _listed_above(ranks: JudgedRanks, others: JudgedRanks) -> Ints:
    """Count, for each row, the listed rows of `others` of its query at a smaller rank."""
    span = int(max(ranks.ranks.max(initial=0), others.ranks.max(initial=0))) + 1
    is_listed = others.ranks > 0
    keys = others.queries[is_listed] * span + others.ranks[is_listed]
    starts = np.searchsorted(keys, ranks.queries * span)
    above: Ints = np.searchsorted(keys, ranks.queries * span + ranks.ranks) - starts
    return above


def _precision_sum(ranks: JudgedRanks, k: int | None, last: Ints | None) -> Floats:
    """Sum the precision at each listed positive, down to rank k or each query's `last`."""
    is_hit = _is_hit(ranks, k)
    if last is not None:
        is_hit &= ranks.ranks <= last[ranks.queries]
    q = ranks.queries[is_hit]
    whole = k is None and last is None
    ends = (ranks.tie_ends if whole else ranks.ranks)[is_hit]
    span = int(ranks.n_listed.max(initial=0)) + 1
    seen = np.searchsorted(q * span + ranks.ranks[is_hit], q * span + ends, side="right")
    before = np.searchsorted(q, q, side="left")
    return ranks.total(is_hit, (seen - before) / ends)


def _rbp_weight(ranks: JudgedRanks, p: float, mask: Bools) -> Floats:
    return ranks.total(mask, (1.0 - p) * np.power(p, ranks.ranks[mask] - 1.0))
