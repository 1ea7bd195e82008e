"""Pools for the tests: golden case G5, and random ones with ties, holes and families."""

import dataclasses
from typing import TypeVar

import numpy as np

from lookalike.bias.evidence.pool import Attribute, Lists, PoolEvidence, RandomNegatives, Votes
from lookalike.io.tables import Qrels, Run
from lookalike.stats.units import Units

T = TypeVar("T")
IMAGES = "abcdefgh"
G5_SCORES = {
    "A": {
        "q1": [0.95, 0.90, 0.70, 0.60, 0.50, 0.40, 0.30, 0.20],
        "q2": [0.20, 0.30, 0.95, 0.90, 0.60, 0.50, 0.40, 0.10],
    },
    "B": {
        "q1": [0.60, 0.95, 0.90, 0.50, 0.80, 0.30, 0.20, 0.10],
        "q2": [0.10, 0.20, 0.90, 0.40, 0.95, 0.80, 0.60, 0.30],
    },
    "C": {
        "q1": [0.30, 0.40, 0.50, 0.95, 0.20, 0.90, 0.60, 0.10],
        "q2": [0.80, 0.90, 0.50, 0.30, 0.60, 0.95, 0.20, 0.10],
    },
}
G5_POSITIVE = {"q1": "abde", "q2": "acef"}


def some(value: T | None) -> T:
    """Return what must be there."""
    assert value is not None
    return value


def rank_all(scores):
    """Ranks from 1 along the last axis, equal scores in the order of the columns."""
    return (-scores).argsort(axis=-1, kind="stable").argsort(axis=-1, kind="stable") + 1


def pool_from(scores, positive, n_generators, depth, **more):
    """Return the judged pool of the first models over (n_models, n_queries, n_images) scores."""
    n_models, n_queries, n_images = scores.shape
    ranks = rank_all(scores)
    proposed = np.where(ranks[:n_generators] <= depth, ranks[:n_generators], 0)
    queries, images = np.nonzero((proposed > 0).any(axis=0))
    names = more.pop("names", tuple(f"m{m}" for m in range(n_models)))
    return PoolEvidence(
        n_queries=n_queries,
        queries=queries,
        candidates=images,
        labels=positive[queries, images].astype(float),
        generators=names[:n_generators],
        ranks=proposed[:, queries, images],
        models=names,
        scores=scores[:, queries, images],
        lists=Lists(ranks[:, queries, images], np.full((n_models, n_queries), n_images)),
        n_catalogue_pairs=n_queries * n_images,
        **more,
    )


def g5(**more):
    scores = np.array([list(of_model.values()) for of_model in G5_SCORES.values()])
    positive = np.array([[c in G5_POSITIVE[q] for c in IMAGES] for q in ("q1", "q2")])
    return pool_from(scores, positive, 3, 2, names=("A", "B", "C"), **more)


def random_pool(seed, *, n_models=5, depth=4, n_queries=25, n_images=40, **more):
    """A pool of models that see one latent similarity through noise; scores have ties."""
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=(n_queries, n_images))
    latent[-1] -= 9  # a query without a positive
    scores = np.round(latent + rng.normal(size=(n_models, n_queries, n_images)), 1)
    return pool_from(scores, latent > 0.6, 3, depth, **more)


def rich_pool(seed=0):
    """A random pool with everything: families, votes, attributes, negatives, unjudged pairs."""
    pool = random_pool(seed)
    rng = np.random.default_rng(seed + 1)
    answers = rng.random((pool.n_pairs, 3)) < 0.2 + 0.6 * pool.labels[:, None]
    negatives = np.repeat(np.arange(pool.n_queries), 4)
    return dataclasses.replace(
        pool,
        families={"m1": "x", "m2": "x", "m3": "x"},
        votes=Votes(("a1", "a2", "a3"), answers, rng.random(answers.shape) < 0.9),
        attributes=(
            Attribute(
                "colour",
                rng.choice(["red", "blue"], pool.n_queries),
                rng.choice(["red", "blue", ""], pool.n_pairs),
                {"red": 10, "blue": 30},
            ),
        ),
        random_negatives=RandomNegatives(
            negatives, rng.normal(-1, 1, (5, negatives.size)), contamination=0.02
        ),
        unjudged_queries=np.array([3, 4]),
        unjudged_ranks=np.array([[1, 0], [0, 2], [0, 0]]),
        n_outside_pool=7,
        units=Units(np.arange(pool.n_queries)),
    )


def g5_rows():
    rows = []
    for model, by_query in G5_SCORES.items():
        for query, scores in by_query.items():
            best = sorted(zip(scores, IMAGES, strict=True), reverse=True)[:2]
            rows += [(query, image, model, rank) for rank, (_, image) in enumerate(best, 1)]
    return rows


def g5_qrels(queries=("q1", "q2"), images=IMAGES):
    pool = {(q, c) for q, c, _, _ in g5_rows()}
    pairs = [(q, c, int(c in G5_POSITIVE[q])) for q in queries for c in images if (q, c) in pool]
    return Qrels.of(pairs)


def g5_runs(images=IMAGES):
    return [
        Run.of(
            model,
            [
                (q, c, s)
                for q, scores in by_query.items()
                for c, s in zip(IMAGES, scores, strict=True)
                if c in images
            ],
        )
        for model, by_query in G5_SCORES.items()
    ]
