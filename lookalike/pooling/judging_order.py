"""Which pairs of a pool are likelier to be similar, so that a panel may be asked them first.

Pure: proposals in, one small number for each pair out. The order of a queue is made elsewhere,
of these numbers alone.

The likelihood is the rank-biased weight of Moffat, Webber and Zobel (SIGIR 2007, method A): a
pair has, of every model that proposed it, what rank-biased precision would give its rank. It is
static on purpose. Move-to-front (Cormack, Palmer and Clarke, SIGIR 1998) and bandits (Losada,
Parapar and Barreiro, SIGIR 2016) choose the next pair by the answers so far; here several experts
judge the same pairs independently, and an order that followed their answers would tell one what
the others said. It would also have to be chosen at each request instead of drawn once.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Ints
from lookalike.pooling.eds import Pairs, Proposals, distinct_pairs

PERSISTENCE = 0.8  # of rank-biased precision: the weight of a rank is this part of the one above
N_PHASES = 4
DIGITS = 12  # sums of the same weights in another order are one weight

Mask = NDArray[np.bool_]


def rank_biased_weights(proposals: Proposals, has_ranks: Mask) -> NDArray[np.float64]:
    """Return the weight of each distinct pair: the sum of (1 - p) p^rank over its proposals.

    Args:
        proposals: all of the pool; ranks count from 0.
        has_ranks: shape (n_models,), False for a source whose ranks mean nothing.

    Returns:
        Shape (n_pairs,), in the order of `distinct_pairs`; 0 for a pair that no ranking proposed.
    """
    gains = (1 - PERSISTENCE) * PERSISTENCE ** proposals.rank.astype(np.float64)
    return np.round(_summed(proposals, np.where(has_ranks[proposals.model], gains, 0)), DIGITS)


def judging_phases(
    proposals: Proposals, has_ranks: Mask, rng: np.random.Generator
) -> tuple[Pairs, Ints]:
    """Split the pairs of each query into `N_PHASES` parts as equal as can be, likelier ones first.

    The parts are of each query, not of the pool, so after any phase all queries are judged to
    the same share. Equal weights are ordered by chance. Pairs that only chance proposed are
    spread over all phases by chance: as likely as they are, they estimate prevalence, and should
    not all be judged late.

    Args:
        proposals: all of the pool.
        has_ranks: shape (n_models,), False for a source that draws by chance.
        rng: source of what is left to chance.

    Returns:
        The distinct pairs, and the phase of each, 0 <= phase < N_PHASES.
    """
    pairs = distinct_pairs(proposals)
    weights = rank_biased_weights(proposals, has_ranks)
    is_ranked = pairs.is_proposed[:, has_ranks].any(axis=1)
    phases: Ints = rng.integers(N_PHASES, size=len(pairs))
    chosen = np.flatnonzero(is_ranked)
    chosen = chosen[np.lexsort((rng.random(chosen.size), -weights[chosen], pairs.query[chosen]))]
    _, first, n = np.unique(pairs.query[chosen], return_index=True, return_counts=True)
    place = np.arange(chosen.size) - np.repeat(first, n)
    phases[chosen] = place * N_PHASES // np.repeat(n, n)
    return pairs, phases


def _summed(proposals: Proposals, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the proposals' values for each pair, ordered as in `distinct_pairs`."""
    keys = np.stack([proposals.query, proposals.candidate], axis=1).reshape(-1, 2)
    _, pair = np.unique(keys, axis=0, return_inverse=True)
    return np.bincount(pair.reshape(-1), weights=values).astype(np.float64)
