"""What embeddings for several conditions make of triplets whose conditions are known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch.nn.functional import normalize

from lookalike.core.arrays import Float32s, Ints
from lookalike.learning.conditions.mixture import log_likelihoods
from lookalike.learning.conditions.triplets import ConditionTriplets
from lookalike.learning.engine.determinism import one_thread

BATCH = 512


@dataclass(frozen=True)
class Sorted:
    """Triplets, each given to the embedding that finds its closer image best.

    Attributes:
        n_used: how many embeddings are used: 1 where one has all triplets, K where each has as
            many (exponential of the entropy).
        right: share that is given to the embedding of its condition, where conditions are matched
            with embeddings for the largest share.
    """

    n_used: float
    right: float


def sort_triplets(
    embeddings: Float32s, triplets: ConditionTriplets, *, is_by_order: bool
) -> Sorted:
    """Tell what each triplet is about from its images alone, as far as embeddings can.

    Args:
        embeddings: of all images under each condition, shape (K, n_images, dim); compared by
            cosines.
        triplets: rows of the images. Those of other conditions lie among them in each batch of
            512.
        is_by_order: as `log_likelihoods`.
    """
    order = np.random.default_rng(0).permutation(len(triplets.rows))
    unit = normalize(torch.from_numpy(embeddings), dim=2).transpose(0, 1)
    chosen = []
    with one_thread(), torch.no_grad():
        for start in range(0, len(order), BATCH):
            parts = unit[torch.from_numpy(triplets.rows[order[start : start + BATCH]].T)]
            chosen.append(log_likelihoods(parts, is_by_order=is_by_order).argmax(dim=1).numpy())
    given = np.concatenate(chosen)
    return Sorted(_n_used(given, len(embeddings)), _matched(triplets.conditions[order], given))


def _n_used(given: Ints, n_embeddings: int) -> float:
    shares = np.bincount(given, minlength=n_embeddings) / len(given)
    shares = shares[shares > 0]
    return float(np.exp(-(shares * np.log(shares)).sum()))


def _matched(conditions: Ints, given: Ints) -> float:
    counts = np.zeros((conditions.max() + 1, given.max() + 1))
    np.add.at(counts, (conditions, given), 1)
    return float(counts[linear_sum_assignment(-counts)].sum() / len(given))
