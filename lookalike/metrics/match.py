"""Align a run with the labels: one numbering of ids, without pairs that are never compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.near_ties import first_of_ties
from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels, Run
from lookalike.metrics.product_codes import product_codes

Mode = Literal["image", "product"]
Missing = Literal["error", "worst"]
WHOLE = np.iinfo(np.int64).max  # the depth of a list that holds every candidate


class MissingScoresError(InputError):
    """A run lacks scores of judged pairs and nobody said what to do about it."""


@dataclass(frozen=True)
class AlignedRun:
    """Labels and one run on the same codes; only queries that have labels.

    Attributes:
        query_ids: the queries of the labels, in ascending order.
        candidate_ids: every candidate of labels or run in ascending order (products, once
            collapsed), so codes break ties as ids would.
        queries, candidates, labels: shape (n_judged,), the judged pairs.
        is_excluded: shape (n_judged,), True for the query itself or its own product.
        run_queries, run_candidates, scores: shape (n_scored,), without excluded pairs.
        products: shape (n_candidates,), the product code of each candidate; an image without a
            product is a product of its own.
        unknown_queries: queries of the run that have no labels.
        depths: shape (n_queries,), the rank down to which the list of each query is complete;
            `WHOLE` where it holds all that the system ranks.
        grades: shape (n_judged,), as of `Qrels`.
    """

    query_ids: tuple[str, ...]
    candidate_ids: tuple[str, ...]
    queries: Ints
    candidates: Ints
    labels: Ints
    is_excluded: Bools
    run_queries: Ints
    run_candidates: Ints
    scores: Floats
    products: Ints
    unknown_queries: tuple[str, ...]
    depths: Ints
    grades: Ints | None = None

    @property
    def n_queries(self) -> int:
        """How many queries the labels have."""
        return len(self.query_ids)

    @cached_property
    def by_rank(self) -> Ints:
        """The run's rows by query, falling score and ascending candidate."""
        return self._sorted[0]

    @cached_property
    def is_first(self) -> Bools:
        """Where in `by_rank` a group of equal scores begins."""
        return self._sorted[1]

    @cached_property
    def _sorted(self) -> tuple[Ints, Bools]:
        order = np.argsort(-self.scores)
        order = order[np.argsort(self.run_queries[order], kind="stable")]
        queries = self.run_queries[order]
        is_start = np.r_[True, queries[1:] != queries[:-1]][: order.size]
        is_first = first_of_ties(self.scores[order], is_start)
        tied = np.flatnonzero(~is_first | ~np.append(is_first[1:], True)[: order.size])
        group = np.cumsum(is_first)[tied]
        order[tied] = order[tied][np.lexsort((self.run_candidates[order[tied]], group))]
        return order, is_first

    @property
    def ranks(self) -> Ints:
        """The rank of each of the run's rows in its query's list, from 1; 0 below `depths`."""
        ranks = np.empty(self.scores.size, np.int64)
        ranks[self.by_rank] = _places(self.run_queries[self.by_rank], self.n_queries) + 1
        return np.where(ranks <= self.depths[self.run_queries], ranks, 0)

    @property
    def depth(self) -> int:
        """The rank down to which every list is complete; `WHOLE` if it holds all candidates."""
        return int(self.depths.min(initial=WHOLE))

    @cached_property
    def product_depths(self) -> Ints:
        """`depths` counted in products, each at its best image, shape (n_queries,)."""
        if (self.depths == WHOLE).all():
            return self.depths
        q = self.run_queries[self.by_rank]
        head = self.by_rank[_places(q, self.n_queries) < self.depths[q]]
        n = int(self.products.max(initial=0)) + 1
        keys = np.unique(self.run_queries[head] * n + self.products[self.run_candidates[head]])
        n_products = np.bincount(keys // n, minlength=self.n_queries)
        return np.where(self.depths == WHOLE, WHOLE, n_products)

    @cached_property
    def judged_at(self) -> Ints:
        """Where in the run's rows each judged pair stands, -1 for a pair without a score."""
        return scored_at(self, self.queries, self.candidates)


def refuse_strangers(qrels: Qrels, runs: Sequence[Run]) -> None:
    """Refuse runs of other queries than those with labels: all that they got would be zeros.

    Raises:
        InputError: it names the run, and a query of each.
    """
    for run in runs:
        if not set(run.query_ids) & set(qrels.query_ids):
            raise InputError(
                f"run {run.name!r} scores none of the queries of the labels (these have "
                f"{qrels.query_ids[0]!r}, the run {run.query_ids[0]!r})"
            )


def match_run(
    qrels: Qrels,
    run: Run,
    *,
    products: Mapping[str, str] | None = None,
    mode: Mode = "image",
) -> AlignedRun:
    """Return labels and run on one numbering, without self pairs and pairs of one product.

    A query is never its own candidate, told by id, not by rank or score. An image of the
    query's own product is neither positive nor negative. In mode "product" the images of one
    product become one candidate: its score is their highest, its label is 1 if any judged image
    of it is positive, and it is unjudged if none of them is judged.

    Args:
        qrels: the labels.
        run: the scores, of any set of pairs.
        products: {image: product}, "" for an image without one, or `Products` where queries
            come from another catalog; None: no products are known.
        mode: "image" keeps every image of a product; "product" keeps one candidate each.

    Raises:
        InputError: if `products` is given and lacks a query or candidate, or mode is "product"
            without `products`.
    """
    if mode == "product" and products is None:
        raise InputError("mode 'product' needs the product of each image (metadata)")
    ids = tuple(sorted({*qrels.candidate_ids, *run.candidate_ids}))
    code_of = {name: code for code, name in enumerate(ids)}
    product_of, product_of_query = product_codes(ids, qrels.query_ids, products)
    known = {name: code for code, name in enumerate(qrels.query_ids)}
    query_of = np.array([known.get(name, -1) for name in run.query_ids], dtype=np.int64)
    run_queries = query_of[run.queries]
    is_known = run_queries >= 0
    run_queries = run_queries[is_known]
    run_candidates = _recoded(run.candidate_ids, code_of)[run.candidates[is_known]]
    candidates = _recoded(qrels.candidate_ids, code_of)[qrels.candidates]
    own = np.array([code_of.get(name, -1) for name in qrels.query_ids], dtype=np.int64)
    is_off = product_of[run_candidates] == product_of_query[run_queries]
    is_off |= run_candidates == own[run_queries]
    n_listed = np.bincount(run_queries, minlength=len(known))
    is_cut = n_listed >= (WHOLE if run.depth is None else run.depth)
    whole = AlignedRun(
        query_ids=qrels.query_ids,
        candidate_ids=ids,
        queries=qrels.queries,
        candidates=candidates,
        labels=qrels.labels.astype(np.int64),
        is_excluded=(product_of[candidates] == product_of_query[qrels.queries])
        | (candidates == own[qrels.queries]),
        run_queries=run_queries,
        run_candidates=run_candidates,
        scores=run.scores[is_known],
        products=product_of,
        unknown_queries=tuple(name for name in run.query_ids if name not in known),
        depths=np.where(is_cut, run.depth or 0, WHOLE),
        grades=qrels.grades,
    )
    aligned = _without(whole, is_off)
    return _collapsed(aligned, products or {}) if mode == "product" else aligned


def _without(whole: AlignedRun, is_off: Bools) -> AlignedRun:
    """Take rows off the lists; each list is complete down to so many ranks less."""
    if not is_off.any():
        return whole
    depths = whole.depths
    if (depths < WHOLE).any():
        q = whole.run_queries[whole.by_rank]
        is_lost = is_off[whole.by_rank] & (_places(q, whole.n_queries) < depths[q])
        n_lost = np.bincount(q[is_lost], minlength=whole.n_queries)
        depths = np.where(depths == WHOLE, WHOLE, depths - n_lost)
    return replace(
        whole,
        run_queries=whole.run_queries[~is_off],
        run_candidates=whole.run_candidates[~is_off],
        scores=whole.scores[~is_off],
        depths=depths,
    )


def _places(queries: Ints, n_queries: int) -> Ints:
    """Return the place of each row in its query's list, from 0; rows lie by query."""
    n_listed = np.bincount(queries, minlength=n_queries)
    places: Ints = np.arange(queries.size) - (np.cumsum(n_listed) - n_listed)[queries]
    return places


def pair_scores(aligned: AlignedRun, missing: Missing = "error") -> Floats:
    """Return the run's score of each judged pair that is not excluded.

    Args:
        aligned: from `match_run`.
        missing: "error" refuses a run without a score for each of them; "worst" puts the
            missing ones into one tie group below all others.

    Returns:
        Shape (n_judged - n_excluded,), in the order of the judged pairs; -inf where missing.

    Raises:
        MissingScoresError: naming how many are missing and the first.
    """
    kept = ~aligned.is_excluded
    queries, candidates = aligned.queries[kept], aligned.candidates[kept]
    place = aligned.judged_at[kept]
    absent = np.flatnonzero(place < 0)
    if absent.size and missing == "error":
        query = aligned.query_ids[queries[absent[0]]]
        candidate = aligned.candidate_ids[candidates[absent[0]]]
        raise MissingScoresError(
            f"no score for {absent.size} of {place.size} judged pairs "
            f"(first: query {query!r}, candidate {candidate!r})"
        )
    scores = np.full(place.size, -np.inf)
    scores[place >= 0] = aligned.scores[place[place >= 0]]
    return scores


def has_list(aligned: AlignedRun, asked: AlignedRun | None = None) -> bool:
    """Return whether a run ranks candidates of its own choice, so that a rank means something.

    A run made from the labelled pairs names judged candidates of a query and none that was not
    put to the judges; ranked among themselves, the positives stand far higher than in any list
    of the catalog. More than half of a run's queries like that, and it has no list.

    Where it is known what was asked, naming nothing else is enough: a run from outside the pool
    that leaves pairs out is still made from them, and one that is cut where the pool ends cannot
    be told from it. Otherwise a query counts as like that only if all its judged candidates are
    named, since a member of the pool may be cut at the depth of the pool.

    Args:
        aligned: the run with the labels.
        asked: the run with all pairs put to the judges, the labelled ones among them; None where
            no others are known than those that have a label.
    """
    n_judged, n_found, n_listed = _pairs_of_queries(aligned)
    if asked is None:
        is_bare = (n_listed == n_found) & (n_found == n_judged)
    else:
        _, n_asked, n_of_run = _pairs_of_queries(asked)
        place = {query: at for at, query in enumerate(asked.query_ids)}
        rows = [place.get(query, -1) for query in aligned.query_ids]
        is_bare = np.append(n_of_run == n_asked, False)[rows]
    is_listed = n_listed > 0
    return bool(2 * (is_bare & is_listed).sum() <= is_listed.sum())


def _pairs_of_queries(aligned: AlignedRun) -> tuple[Ints, Ints, Ints]:
    """Return for each query its judged pairs, those of them in the run, and the run's pairs."""
    pairs = (
        aligned.queries[~aligned.is_excluded],
        aligned.queries[aligned.judged_at >= 0],
        aligned.run_queries,
    )
    n_judged, n_found, n_listed = (np.bincount(of, minlength=aligned.n_queries) for of in pairs)
    return n_judged, n_found, n_listed


def scored_at(aligned: AlignedRun, queries: Ints, candidates: Ints) -> Ints:
    """Return where in the run's rows each pair stands, -1 for a pair without a score."""
    n = max(len(aligned.candidate_ids), 1)
    keys = aligned.run_queries * n + aligned.run_candidates
    order = np.argsort(keys)
    wanted = queries * n + candidates
    if keys.size == 0:
        return np.full(wanted.size, -1, dtype=np.int64)
    at = np.minimum(np.searchsorted(keys, wanted, sorter=order), keys.size - 1)
    return np.where(keys[order[at]] == wanted, order[at], -1)


def _recoded(ids: Sequence[str], code_of: Mapping[str, int]) -> Ints:
    return np.array([code_of[name] for name in ids], dtype=np.int64)


def _collapsed(aligned: AlignedRun, products: Mapping[str, str]) -> AlignedRun:
    """Return the same with one candidate per product."""
    names = [products.get(image) or image for image in aligned.candidate_ids]
    codes, first = np.unique(aligned.products, return_index=True)
    order = np.array(sorted(range(codes.size), key=lambda i: (names[first[i]], int(first[i]))))
    new_code = np.empty(int(aligned.products.max(initial=0)) + 1, dtype=np.int64)
    new_code[codes[order]] = np.arange(codes.size)
    of_candidate = new_code[aligned.products]
    n = codes.size
    kept = ~aligned.is_excluded
    pairs = aligned.queries[kept] * n + of_candidate[aligned.candidates[kept]]
    judged, labels = _maxima(pairs, aligned.labels[kept])
    grades = None if aligned.grades is None else _maxima(pairs, aligned.grades[kept])[1]
    scored, scores = _maxima(
        aligned.run_queries * n + of_candidate[aligned.run_candidates], aligned.scores
    )
    return replace(
        aligned,
        candidate_ids=tuple(names[first[i]] for i in order),
        queries=judged // n,
        candidates=judged % n,
        labels=labels.astype(np.int64),
        is_excluded=np.zeros(judged.size, dtype=np.bool_),
        run_queries=scored // n,
        run_candidates=scored % n,
        scores=scores.astype(np.float64),
        products=np.arange(n),
        depths=aligned.product_depths,
        grades=None if grades is None else grades.astype(np.int64),
    )


def _maxima(
    keys: Ints, values: NDArray[np.float64] | Ints
) -> tuple[Ints, NDArray[np.float64] | Ints]:
    """Return the distinct keys in order and the largest value of each."""
    if keys.size == 0:
        return keys, values
    order = np.argsort(keys, kind="stable")
    distinct, starts = np.unique(keys[order], return_index=True)
    return distinct, np.maximum.reduceat(values[order], starts)
