"""Campaigns from a known truth: models with errors, families that share them, judges who err."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from lookalike.agreement.majority import majority
from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.errors import Refused
from lookalike.planning.pool import RankedPool

CLOSE, DISTANT = (0.95, 1.05), (0.4, 2.0)  # errors of the best and the worst model
MOST_SCORES = 100_000_000


@dataclass(frozen=True)
class World:
    """What a campaign is drawn from. True similarity varies by 1 within a query.

    Attributes:
        n_queries: each with candidates of its own.
        n_images: candidates of a query.
        n_models: which propose their top `depth`.
        depth: k of the pool.
        best, worst: standard deviation of the errors of the first and the last model; those
            between are evenly spaced.
        n_families: models are dealt out to so many families in turn; 0: no ties.
        shared: share of the variance of a model's errors that its family shares.
        positives: share of all pairs that are similar.
        ease: standard deviation of what a query's candidates have in common.
        n_judges: who each judge every pair.
        misses, false_alarms: how often a judge calls a similar pair different, and a different
            one similar.
    """

    n_queries: int = 300
    n_images: int = 100
    n_models: int = 8
    depth: int = 6
    best: float = DISTANT[0]
    worst: float = DISTANT[1]
    n_families: int = 0
    shared: float = 0.5
    positives: float = 0.1
    ease: float = 0.5
    n_judges: int = 3
    misses: float = 0.08
    false_alarms: float = 0.04

    def __post_init__(self) -> None:
        for name in ("n_queries", "n_models", "depth", "n_judges"):
            if getattr(self, name) < 1:
                raise Refused(name, f"{getattr(self, name)} is below 1")
        if self.n_images <= self.depth:
            raise Refused("n_images", f"{self.n_images} candidates have no pool {self.depth} deep")
        if not 0 <= self.n_families <= self.n_models:
            raise Refused(
                "n_families", f"{self.n_families} is not between 0 and the models' number"
            )
        if not 0 < self.positives < 1:
            raise Refused("positives", f"{self.positives} is not between 0 and 1")
        if not 0 <= self.shared <= 1:
            raise Refused("shared", f"{self.shared} is not a share")
        for name in ("misses", "false_alarms"):
            if not 0 <= getattr(self, name) < 0.5:
                raise Refused(name, f"{getattr(self, name)} is not in [0, 0.5)")
        for name in ("best", "worst", "ease"):
            if not 0 <= getattr(self, name) < np.inf:
                raise Refused(name, f"{getattr(self, name)} is not a standard deviation")
        if self.n_queries * self.n_images * self.n_models > MOST_SCORES:
            raise Refused(
                "n_queries", f"more than {MOST_SCORES:,} scores: simulate fewer at a time"
            )

    @property
    def models(self) -> tuple[str, ...]:
        """The models' names, the best first."""
        return tuple(f"model-{m + 1}" for m in range(self.n_models))

    @property
    def families(self) -> dict[str, str]:
        """The family of each model, where there are ties."""
        if not self.n_families:
            return {}
        return {name: f"family-{m % self.n_families + 1}" for m, name in enumerate(self.models)}


@dataclass(frozen=True)
class SimulatedCampaign:
    """A campaign in which every pair was judged, and what is true.

    Attributes:
        world: it was drawn from.
        pool: what the models proposed.
        candidates: shape (n_pairs,), the candidate's number within its query.
        truth: shape (n_pairs,), which pairs are similar.
        votes: shape (n_pairs, n_judges), what each judge said.
        scores: shape (n_models, n_queries, n_images), of all candidates: the runs.
    """

    world: World
    pool: RankedPool
    candidates: Ints
    truth: Bools
    votes: Bools
    scores: Floats

    @property
    def labels(self) -> Floats:
        """The majority of each pair, a tie being different, shape (n_pairs,), 0 or 1."""
        n_similar = self.votes.sum(axis=1)
        n_different = self.votes.shape[1] - n_similar
        return majority(n_similar, n_different, "negative").is_similar.astype(np.float64)


def simulate(world: World, seed: int | np.random.Generator) -> SimulatedCampaign:
    """Return a campaign drawn from a world: the same one for the same seed.

    A pair is similar if its true similarity, normal within a query and around the query's own
    level, is above the threshold that leaves the share `positives`. A model sees it through
    normal errors. What the models rank highest is judged by everyone, each erring alone.

    Args:
        world: what to draw from.
        seed: or a generator.

    >>> campaign = simulate(World(n_queries=20, n_models=3), seed=1)
    >>> campaign.pool.n_pairs == campaign.labels.size
    True
    """
    rng = np.random.default_rng(seed)
    shape = (world.n_queries, world.n_images)
    similarity = rng.normal(size=shape) + world.ease * rng.normal(size=(shape[0], 1))
    is_similar = similarity > -ndtri(world.positives) * np.sqrt(1.0 + world.ease**2)
    scores = similarity + _errors(world, rng)
    order = np.argsort(-scores, axis=2, kind="stable")
    ranks = np.empty(order.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(1, shape[1] + 1)[None, None], axis=2)
    queries, candidates = np.nonzero((ranks <= world.depth).any(axis=0))
    truth = is_similar[queries, candidates]
    errs = np.where(truth, world.misses, world.false_alarms)[:, None]
    votes = truth[:, None] ^ (rng.random((truth.size, world.n_judges)) < errs)
    pool = RankedPool(
        models=world.models,
        n_queries=world.n_queries,
        queries=queries.astype(np.int64),
        ranks=ranks[:, queries, candidates],
        scores=scores[:, queries, candidates],
        depth=world.depth,
    )
    return SimulatedCampaign(world, pool, candidates.astype(np.int64), truth, votes, scores)


def _errors(world: World, rng: np.random.Generator) -> Floats:
    """Return the errors of all models, shape (n_models, n_queries, n_images)."""
    shape = (world.n_queries, world.n_images)
    errors = rng.normal(size=(world.n_models, *shape))
    if world.n_families:
        common = rng.normal(size=(world.n_families, *shape))
        of_family = common[np.arange(world.n_models) % world.n_families]
        errors = np.sqrt(1.0 - world.shared) * errors + np.sqrt(world.shared) * of_family
    sizes = np.linspace(world.best, world.worst, world.n_models)
    return np.asarray(sizes[:, None, None] * errors, dtype=np.float64)
