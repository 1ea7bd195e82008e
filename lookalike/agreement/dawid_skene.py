"""The Dawid-Skene model of judges for two answers, over plain arrays.

Source: Dawid and Skene (Applied Statistics 1979), with the start (shares of votes), the stopping
rule and the number of EM steps of crowd-kit, which a test holds it to. crowd-kit itself loads
pandas and torch, too much for a check that anybody should be able to run.
"""

from __future__ import annotations

import numpy as np

from lookalike.core.arrays import Floats, Ints

N_STEPS = 100
TOLERANCE = 1e-5
_SMALLEST = 1e-10


def chance_of_similar(pairs: Ints, judges: Ints, said: Ints, n_pairs: int, n_judges: int) -> Floats:
    """Return how probable it is that each pair is similar.

    Args:
        pairs: shape (n_votes,), 0 <= pair < n_pairs.
        judges: shape (n_votes,), 0 <= judge < n_judges.
        said: shape (n_votes,), 1 for similar, 0 for different.
        n_pairs: how many pairs.
        n_judges: how many judges.

    Returns:
        Shape (n_pairs,), NaN for a pair without a vote.
    """
    n_votes = np.bincount(pairs, minlength=n_pairs)
    with np.errstate(invalid="ignore"):
        similar = np.bincount(pairs, weights=said, minlength=n_pairs) / n_votes
    is_voted = n_votes > 0
    chances = np.stack([1 - similar, similar], axis=1)
    if not is_voted.any():
        return chances[:, 1]
    bound = -np.inf
    priors, errors = chances[is_voted].mean(axis=0), _errors(chances[pairs], judges, said, n_judges)
    for _ in range(N_STEPS):
        chances = _posterior(priors, errors, pairs, (judges, said), n_pairs)
        chances[~is_voted] = np.nan
        priors = np.maximum(chances[is_voted].mean(axis=0), _SMALLEST)
        errors = _errors(chances[pairs], judges, said, n_judges)
        logs = np.log(errors)[judges, :, said] + np.log(priors)
        known = np.maximum(chances[is_voted], _SMALLEST)
        entropy = -(np.log(known) * known).sum()
        before, bound = bound, ((chances[pairs] * logs).sum() + entropy) / pairs.size
        if bound - before < TOLERANCE:
            break
    return chances[:, 1]


def _posterior(
    priors: Floats, errors: Floats, pairs: Ints, votes: tuple[Ints, Ints], n_pairs: int
) -> Floats:
    """Return the chance of each truth of each pair, shape (n_pairs, 2)."""
    judges, said = votes
    logs = np.log(errors)[judges, :, said]
    joint = np.log(np.maximum(priors, _SMALLEST)) + np.stack(
        [np.bincount(pairs, weights=logs[:, truth], minlength=n_pairs) for truth in (0, 1)],
        axis=1,
    )
    scaled: Floats = np.exp(joint - joint.max(axis=1, keepdims=True))
    scaled /= scaled.sum(axis=1, keepdims=True)
    return scaled


def _errors(weights: Floats, judges: Ints, said: Ints, n_judges: int) -> Floats:
    """Return the chance of each answer of each judge given the truth, (judge, truth, answer)."""
    table = np.empty((n_judges, 2, 2))
    for truth in (0, 1):
        counted = np.bincount(judges * 2 + said, weights=weights[:, truth], minlength=2 * n_judges)
        table[:, truth, :] = counted.reshape(n_judges, 2)
    table = np.maximum(table, _SMALLEST)
    shares: Floats = table / table.sum(axis=2, keepdims=True)
    return shares
