"""Which judged pairs the pool holds, and who proposed each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.evidence.files import Proposals
from lookalike.core.arrays import Ints
from lookalike.core.products import query_product
from lookalike.io.errors import InputError
from lookalike.io.tables import Qrels


@dataclass(frozen=True)
class JoinedPool:
    """The judged pairs of a pool on the query numbers of its proposals.

    Attributes:
        qrels: their labels; query ids are those of the proposals, candidates are numbered over
            labels and proposals together, rows lie by query and candidate.
        ranks: shape (n_generators, n_pairs), 0 where a generator did not propose the pair.
        unjudged_queries: shape (n_unjudged,), of proposed pairs without a label.
        unjudged_ranks: shape (n_generators, n_unjudged).
        n_outside: judged pairs that no model proposed, left out.
        n_own: judged pairs of a query with itself or its product, left out.
    """

    qrels: Qrels
    ranks: Ints
    unjudged_queries: Ints
    unjudged_ranks: Ints
    n_outside: int
    n_own: int


def join_pool(qrels: Qrels, proposals: Proposals, products: Mapping[str, str] | None) -> JoinedPool:
    """Return the pairs that were both proposed and judged, and count the others.

    Raises:
        InputError: if there is no such pair.
    """
    ids = tuple(sorted({*qrels.candidate_ids, *proposals.candidate_ids}))
    code_of = {name: code for code, name in enumerate(ids)}
    query_of = {name: code for code, name in enumerate(proposals.query_ids)}
    n = len(ids)
    own = _own_product(proposals.query_ids, ids, products)
    judged_queries = np.array([query_of.get(q, -1) for q in qrels.query_ids])[qrels.queries]
    judged_candidates = np.array([code_of[c] for c in qrels.candidate_ids])[qrels.candidates]
    judged = judged_queries * n + judged_candidates
    proposed_candidates = np.array([code_of[c] for c in proposals.candidate_ids])
    proposed = proposals.queries * n + proposed_candidates[proposals.candidates]
    is_own = (judged_queries >= 0) & np.isin(judged, own)
    is_proposed = (judged_queries >= 0) & np.isin(judged, proposed)
    is_kept = is_proposed & ~is_own
    if not is_kept.any():
        raise InputError("no proposed pair is judged: labels and proposals share no pair")
    order = np.flatnonzero(is_kept)[np.argsort(judged[is_kept])]
    keys = judged[order]
    unjudged = np.setdiff1d(np.setdiff1d(proposed, judged), own)
    return JoinedPool(
        qrels=Qrels(
            proposals.query_ids,
            ids,
            judged_queries[order],
            judged_candidates[order],
            qrels.labels[order],
        ),
        ranks=_ranks(proposals, proposed, keys),
        unjudged_queries=unjudged // n,
        unjudged_ranks=_ranks(proposals, proposed, unjudged),
        n_outside=int((~is_proposed & ~is_own).sum()),
        n_own=int(is_own.sum()),
    )


def _ranks(proposals: Proposals, proposed: Ints, keys: Ints) -> Ints:
    """Return (n_generators, n_keys): the rank of each of the sorted keys, 0 if not proposed."""
    ranks = np.zeros((len(proposals.generators), keys.size), dtype=np.int64)
    if keys.size:
        at = np.minimum(np.searchsorted(keys, proposed), keys.size - 1)
        is_found = keys[at] == proposed
        ranks[proposals.models[is_found], at[is_found]] = proposals.ranks[is_found]
    return ranks


def _own_product(
    query_ids: Sequence[str], ids: Sequence[str], products: Mapping[str, str] | None
) -> Ints:
    """Return the keys of pairs whose candidate is the query or of the query's product."""
    of_product: dict[str, list[int]] = {}
    for code, image in enumerate(ids):
        product = (products or {}).get(image)
        if product:
            of_product.setdefault(product, []).append(code)
    code_of = {image: code for code, image in enumerate(ids)}
    keys = []
    for q, query in enumerate(query_ids):
        own = {code_of[query]} if query in code_of else set()
        own.update(of_product.get(query_product(products, query), ()))
        keys += [q * len(ids) + code for code in own]
    return np.array(keys, dtype=np.int64)
