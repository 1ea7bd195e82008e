"""Labels by models of the voters: Dawid-Skene, GLAD, MACE. Pure; sensitivity checks only.

Dawid-Skene and GLAD are crowd-kit's models and optimisers over plain arrays, since crowd-kit
loads pandas and torch, and needs a minute per EM step of GLAD for 100,000 votes; tests hold them
together. MACE is crowd-kit's own, and needs the extra `voters`.
With two or three voters per item all of them are weakly identified.
"""

from __future__ import annotations

import warnings
from importlib import import_module

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, softmax

from lookalike.agreement.dawid_skene import label_chances
from lookalike.agreement.majority import MODELS
from lookalike.agreement.votes import Votes
from lookalike.core.arrays import Floats
from lookalike.io.errors import InputError

_EM_STEPS = 100
_TOLERANCE = 1e-5


def posterior(votes: Votes, model: str) -> Floats:
    """Return how probable each label of each item is.

    Args:
        votes: with at least one vote.
        model: one of `MODELS`.

    Returns:
        Shape (n_items, n_labels), rows sum to 1. All ones where only one label was ever given.

    Raises:
        ValueError: an unknown model.
        InputError: no votes, or MACE without crowd-kit.
    """
    if model not in MODELS:
        raise ValueError(f"unknown model {model!r}; one of {', '.join(MODELS)}")
    if not votes.item_of.size:
        raise InputError("there are no votes")
    if len(votes.labels) == 1:
        return np.ones((len(votes.items), 1))
    if model == "glad":
        return glad(votes)
    if model == "mace":
        return mace(votes)
    return label_chances(
        votes.item_of,
        votes.worker_of,
        votes.label_of,
        len(votes.items),
        len(votes.workers),
        n_labels=len(votes.labels),
    )


def mace(votes: Votes) -> Floats:
    """Return the posterior of MACE (Hovy et al., NAACL 2013): some workers guess.

    crowd-kit starts every restart from the same seed, so that one is as good as ten.

    Args:
        votes: with at least two labels.

    Returns:
        Shape (n_items, n_labels).

    Raises:
        InputError: crowd-kit is not installed.
    """
    try:
        models = import_module("crowdkit.aggregation.classification")
    except ModuleNotFoundError as problem:
        raise InputError("MACE needs crowd-kit: pip install 'lookalike[voters]'") from problem
    pandas = import_module("pandas")
    table = pandas.DataFrame(
        {"task": votes.item_of, "worker": votes.worker_of, "label": votes.label_of}
    )
    with warnings.catch_warnings():
        # crowd-kit 1.4 still uses `inplace`, which the pandas we pin only warns about
        warnings.simplefilter("ignore", pandas.errors.PandasDeprecationWarning)
        chances = models.MACE(n_restarts=1, random_state=0).fit_predict_proba(table)
    whole = chances.reindex(
        index=range(len(votes.items)), columns=range(len(votes.labels)), fill_value=0.0
    )
    return np.asarray(whole, dtype=np.float64)


def glad(votes: Votes) -> Floats:
    """Return the posterior of GLAD: voters differ in ability, items in difficulty.

    Source: Whitehill et al. (NeurIPS 2009): p(vote = truth) = σ(α_voter · exp(β_item)), other
    labels equally likely; normal priors of mean 1 and variance 1 on α and β; EM with conjugate
    gradients in the M-step, as crowd-kit has it.

    Args:
        votes: with at least two labels.

    Returns:
        Shape (n_items, n_labels).
    """
    from scipy.optimize import minimize  # noqa: PLC0415  # slow to load

    n_items, n_workers, n_labels = len(votes.items), len(votes.workers), len(votes.labels)
    agrees = votes.label_of[:, None] == np.arange(n_labels)  # vote against possible truth
    at = np.ones(n_workers + n_items)
    last = -np.inf
    chances = np.empty((n_items, n_labels))
    for _ in range(_EM_STEPS):
        chances = _truth_given(at, votes, agrees)
        weights = chances[votes.item_of]
        right = np.where(agrees, weights, 0.0).sum(axis=1)  # chance that the vote is right
        fit = minimize(
            _loss, at, args=(votes, right), method="CG", jac=True, tol=0.01, options={"maxiter": 25}
        )
        at, gained = fit.x, -float(fit.fun) / agrees.size
        if gained - last < _TOLERANCE:
            break
        last = gained
    return chances


def _truth_given(at: Floats, votes: Votes, agrees: NDArray[np.bool_]) -> Floats:
    """E-step: the chance of each label of each item, all labels being equally likely before."""
    strength = at[votes.worker_of] * np.exp(at[len(votes.workers) :][votes.item_of])
    if_right, if_wrong = log_expit(strength), log_expit(-strength) - np.log(agrees.shape[1] - 1)
    evidence = np.where(agrees, if_right[:, None], if_wrong[:, None])
    total = np.zeros((len(votes.items), agrees.shape[1]))
    np.add.at(total, votes.item_of, evidence)
    chances: Floats = softmax(total, axis=1)
    return chances


def _loss(at: Floats, votes: Votes, right: Floats) -> tuple[float, Floats]:
    """M-step: the negative expected log-likelihood with its priors, and its gradient."""
    n_workers = len(votes.workers)
    growth = np.exp(at[n_workers:][votes.item_of])
    ability = at[votes.worker_of]
    strength = ability * growth
    likely = right * log_expit(strength) + (1.0 - right) * log_expit(-strength)
    # d/ds of r log σ(s) + (1 - r) log σ(-s)
    slope = right - expit(strength)
    gradient = np.concatenate(
        [
            np.bincount(votes.worker_of, slope * growth, minlength=n_workers),
            np.bincount(votes.item_of, slope * strength, minlength=at.size - n_workers),
        ]
    )
    off = at - 1.0
    return float(0.5 * (off**2).sum() - likely.sum()), off - gradient
