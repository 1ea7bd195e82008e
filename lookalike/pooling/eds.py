"""Efficient discovery of similarities (EDS): the union of what several models propose.

Source: Barkan, Reiss et al. (ICCV 2023), section 3.3: S_k is the union over the models of each
model's k best candidates for every query, and only pairs of S_k are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.search.topk import TopK


@dataclass(frozen=True)
class Proposals:
    """Every proposal of every model, in columns of one length; a pair may occur once per model.

    Attributes:
        query: the query's number (or id).
        candidate: the catalog row (or id).
        model: which model, 0 <= model < n_models.
        rank: its place in that model's list, counted from 0.
        score: the model's score of it.
        n_models: how many models proposed, those without any proposal included.
    """

    query: Ints
    candidate: Ints
    model: Ints
    rank: Ints
    score: NDArray[np.float32]
    n_models: int

    def __len__(self) -> int:
        return len(self.query)


@dataclass(frozen=True)
class Pairs:
    """The distinct pairs of a pool, sorted by query and candidate.

    Attributes:
        query: shape (n_pairs,).
        candidate: shape (n_pairs,).
        is_proposed: shape (n_pairs, n_models); True where the model proposed the pair. Every
            row has at least one True.
    """

    query: Ints
    candidate: Ints
    is_proposed: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.query)


def union_of_proposals(found: Sequence[TopK]) -> Proposals:
    """Return all proposals of several models, which answer the same queries.

    Depths may differ between models; padding (candidate -1) is no proposal. Nothing is merged
    yet: rank and score of each model stay beside the pair (`distinct_pairs` has the union).

    Args:
        found: one result for each model, in the models' order.

    Returns:
        Ordered by model, query and rank.

    Raises:
        ValueError: for no models, or different numbers of queries.
    """
    if not found:
        raise ValueError("no model proposed anything: the list is empty")
    n_queries = {len(top.indices) for top in found}
    if len(n_queries) > 1:
        raise ValueError(f"the models answer different numbers of queries: {sorted(n_queries)}")
    columns: list[list[NDArray[np.generic]]] = [[], [], [], [], []]
    for model, top in enumerate(found):
        query, rank = np.nonzero(top.indices >= 0)
        parts = [query, top.indices[query, rank], np.full(len(query), model), rank]
        for column, part in zip(columns, [*parts, top.scores[query, rank]], strict=True):
            column.append(part)
    query, candidate, model_column, rank, score = (np.concatenate(column) for column in columns)
    return Proposals(
        query=query.astype(np.int64),
        candidate=candidate.astype(np.int64),
        model=model_column.astype(np.int64),
        rank=rank.astype(np.int64),
        score=score.astype(np.float32),
        n_models=len(found),
    )


def distinct_pairs(proposals: Proposals) -> Pairs:
    """Return the union of the proposals: each distinct pair once, with who proposed it."""
    order = np.lexsort((proposals.candidate, proposals.query))
    query, candidate = proposals.query[order], proposals.candidate[order]
    is_new = np.ones(len(order), bool)
    is_new[1:] = (query[1:] != query[:-1]) | (candidate[1:] != candidate[:-1])
    is_proposed = np.zeros((int(is_new.sum()), proposals.n_models), bool)
    is_proposed[np.cumsum(is_new) - 1, proposals.model[order]] = True
    return Pairs(query[is_new], candidate[is_new], is_proposed)


def pool(nearest: Sequence[TopK]) -> Pairs:
    """Return the pairs that several models propose: each distinct pair once, with who proposed it.

    Args:
        nearest: one result of a search for each model, over the same queries and catalog.

    Raises:
        ValueError: for no models, or different numbers of queries.

    >>> first = TopK(np.array([[1, 2]]), np.array([[0.9, 0.8]], np.float32))
    >>> second = TopK(np.array([[2, 3]]), np.array([[0.7, 0.6]], np.float32))
    >>> pairs = pool([first, second])
    >>> pairs.candidate.tolist(), pairs.is_proposed.tolist()
    ([1, 2, 3], [[True, False], [True, True], [False, True]])
    """
    return distinct_pairs(union_of_proposals(nearest))
