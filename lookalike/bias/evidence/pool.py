"""What the bias analysis needs to know of a pool, its labels and the models judged by it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.stats.units import Units

FEWEST_ERRORS = 50  # judged pairs of two models, to correlate their errors


@dataclass(frozen=True)
class Lists:
    """Where every model's whole ranking, judged or not, has the judged pairs.

    Attributes:
        ranks: shape (n_models, n_pairs), 1 for the first image of the query's list, 0 where
            the list does not hold the pair.
        lengths: shape (n_models, n_queries), how many images each list holds.
        known: shape (n_models,), False for a model that scores judged pairs alone, whose places
            mean nothing; None: all are known.
        depths: shape (n_models,), the rank down to which all lists of a model are complete; None:
            they hold every candidate.
    """

    ranks: Ints
    lengths: Ints
    known: Bools | None = None
    depths: Ints | None = None

    def reach(self, k: int) -> Bools:
        """Return which models have lists that are complete down to rank k, shape (n_models,)."""
        return self.is_known if self.depths is None else self.is_known & (self.depths >= k)

    @property
    def is_known(self) -> Bools:
        """Shape (n_models,): which models have a list."""
        return np.ones(len(self.ranks), np.bool_) if self.known is None else self.known


@dataclass(frozen=True)
class Votes:
    """The single answers behind the labels.

    Attributes:
        annotators: names, n_annotators of them.
        answers: shape (n_pairs, n_annotators), 1 or 0; read it only where `is_given`.
        is_given: same shape; False where that annotator did not judge that pair.
    """

    annotators: tuple[str, ...]
    answers: Bools
    is_given: Bools


@dataclass(frozen=True)
class RandomNegatives:
    """Frozen unjudged pairs taken as negatives.

    Attributes:
        queries: shape (n_random,), query index of each.
        scores: shape (n_models, n_random); NaN for a model that does not score all of them.
        contamination: estimated share of true positives among them (β), None if unknown.
    """

    queries: Ints
    scores: Floats
    contamination: float | None = None


@dataclass(frozen=True)
class Attribute:
    """One property of images, to see whether pooled positives favour some of its values.

    Attributes:
        name: such as "category".
        query_values: shape (n_queries,), strings; "" where unknown.
        candidate_values: shape (n_pairs,), strings; "" where unknown.
        catalogue_counts: how many catalogue images have each value.
        deep_counts: how many positives of a random sample below the pool have each value,
            empty without such a sample.
    """

    name: str
    query_values: NDArray[np.str_]
    candidate_values: NDArray[np.str_]
    catalogue_counts: Mapping[str, int]
    deep_counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class PoolEvidence:
    """A judged pool as arrays: one column per judged pair that at least one model proposed.

    Attributes:
        n_queries: how many queries the pool was built for, judged or not.
        queries: shape (n_pairs,), query index in [0, n_queries).
        candidates: shape (n_pairs,), image index; names the pair together with the query.
        labels: shape (n_pairs,), 0 or 1.
        generators: names of the models that built the pool.
        ranks: shape (n_generators, n_pairs), 1 for a model's best candidate, 0 where the model
            did not propose the pair.
        models: names of the models to evaluate; one that is also in `generators` is pooled.
        scores: shape (n_models, n_pairs), higher is more similar.
        families: family of each model or generator (same backbone or same finetuning data);
            a model that is absent is its own family.
        lists: places in the models' whole rankings, None if only judged pairs have scores;
            without them no P@k, judged@k or hole@k.
        unjudged_queries: shape (n_unjudged,), query index of proposed pairs without a label.
        unjudged_ranks: shape (n_generators, n_unjudged), as `ranks`.
        n_outside_pool: judged pairs left out because no model proposed them.
        n_own_product: judged pairs of a query with itself or its product, left out.
        n_catalogue_pairs: |Q| times the candidates of a query, None if unknown.
        votes: the answers behind the labels, or None.
        attributes: properties of the images, possibly none.
        random_negatives: a frozen list of negatives, or None.
        units: of the queries, which intervals and tests treat as independent; None: each query.
    """

    n_queries: int
    queries: Ints
    candidates: Ints
    labels: Floats
    generators: tuple[str, ...]
    ranks: Ints
    models: tuple[str, ...]
    scores: Floats
    families: Mapping[str, str] = field(default_factory=dict)
    lists: Lists | None = None
    unjudged_queries: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    unjudged_ranks: Ints | None = None
    n_outside_pool: int = 0
    n_own_product: int = 0
    n_catalogue_pairs: int | None = None
    votes: Votes | None = None
    attributes: tuple[Attribute, ...] = ()
    random_negatives: RandomNegatives | None = None
    units: Units | None = None

    def __post_init__(self) -> None:
        _check_pairs(self)
        _check_pool(self)
        _check_extras(self)

    @property
    def n_pairs(self) -> int:
        """How many judged pairs the pool holds."""
        return int(self.labels.size)

    @property
    def unit_codes(self) -> Ints | None:
        """Shape (n_queries,): the unit of each query; None where each is its own."""
        return None if self.units is None else self.units.codes

    @cached_property
    def contributed(self) -> Bools:
        """Shape (n_pairs, n_generators): which generator's top-k held which pair."""
        return np.ascontiguousarray((self.ranks > 0).T)

    @cached_property
    def pool_ranks(self) -> Ints:
        """Shape (n_generators, n_pairs + n_unjudged): `ranks` of the whole pool."""
        if self.unjudged_ranks is None:
            return self.ranks
        return np.concatenate([self.ranks, self.unjudged_ranks], axis=1)

    @cached_property
    def depth(self) -> int:
        """The pool's depth k: the worst rank that was still proposed."""
        return int(self.pool_ranks.max(initial=0))

    @cached_property
    def common_errors(self) -> Floats:
        """How the errors of each two models correlate, shape (n_models, n_models).

        Errors are a model's ranks of the judged pairs of a query, less their mean over its pairs
        of the same label: what is left once the label is told. Pairs that either of the two
        proposed are left out: both models rank such a pair high or it would not be judged, so
        models without anything in common would seem opposed. Where fewer than `FEWEST_ERRORS`
        pairs are left, all count.
        """
        from scipy.stats import rankdata  # noqa: PLC0415 - slow to load, and the web process must not

        ranks = np.zeros(self.scores.shape)
        order = np.argsort(self.queries, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(self.queries[order])) + 1):
            ranks[:, rows] = rankdata(self.scores[:, rows], axis=1) / rows.size
        own = np.zeros(self.scores.shape, np.bool_)
        for m, name in enumerate(self.models):
            if name in self.generators:
                own[m] = self.ranks[self.generators.index(name)] > 0
        cells = (2 * self.queries + self.labels).astype(np.int64)
        found = np.eye(len(self.models))
        for i, j in combinations(range(len(self.models)), 2):
            others = ~(own[i] | own[j])
            kept = others if others.sum() >= FEWEST_ERRORS else slice(None)
            found[i, j] = found[j, i] = _correlation(ranks[[i, j]][:, kept], cells[kept])
        return found

    def family_of(self, name: str) -> str:
        """Return the family of a model or generator, by default its own name."""
        return self.families.get(name, name)

    @cached_property
    def pooled_families(self) -> dict[str, tuple[int, ...]]:
        """The families with at least one generator, and which generators they hold."""
        members: dict[str, tuple[int, ...]] = {}
        for g, name in enumerate(self.generators):
            family = self.family_of(name)
            members[family] = (*members.get(family, ()), g)
        return members


def _correlation(ranks: Floats, cells: Ints) -> float:
    """Return the correlation of two rows of ranks within cells; 0 where one does not vary."""
    sizes = np.maximum(np.bincount(cells), 1)
    means = np.stack([np.bincount(cells, weights=row) / sizes for row in ranks])
    first, second = ranks - means[:, cells]
    lengths = float(np.sqrt((first @ first) * (second @ second)))
    return float(first @ second) / max(lengths, 1e-12)


def _check_pairs(e: PoolEvidence) -> None:
    n_pairs = e.labels.shape[0]
    shapes = {
        "queries": (e.queries.shape, (n_pairs,)),
        "candidates": (e.candidates.shape, (n_pairs,)),
        "labels": (e.labels.shape, (n_pairs,)),
        "ranks": (e.ranks.shape, (len(e.generators), n_pairs)),
        "scores": (e.scores.shape, (len(e.models), n_pairs)),
    }
    for name, (shape, wanted) in shapes.items():
        if shape != wanted:
            raise ValueError(f"{name} has shape {shape}, wanted {wanted}")
    if n_pairs == 0:
        raise ValueError("no judged pair was proposed by any model: there is no pool to analyse")
    if not np.isin(e.labels, (0.0, 1.0)).all():
        raise ValueError("labels must be 0 or 1; leave an unjudged pair out")
    if e.queries.min() < 0 or e.queries.max() >= e.n_queries:
        raise ValueError(f"queries must be in [0, {e.n_queries})")
    if np.unique(e.queries * (e.candidates.max() + 1) + e.candidates).size != n_pairs:
        raise ValueError("a pair of query and candidate occurs twice")


def _check_pool(e: PoolEvidence) -> None:
    for kind, names in (("generator", e.generators), ("model", e.models)):
        if len(set(names)) != len(names):
            raise ValueError(f"a {kind} is named twice: {', '.join(names)}")
    if not e.generators or not e.models:
        raise ValueError("at least one generator and one model to evaluate are needed")
    if (e.ranks < 0).any():
        raise ValueError("a rank is below 1; 0 marks a pair that the model did not propose")
    if not (e.ranks > 0).any(axis=0).all():
        raise ValueError("a judged pair was proposed by no model; leave it out of the pool")
    if e.unjudged_ranks is not None:
        wanted = (len(e.generators), e.unjudged_queries.size)
        if e.unjudged_ranks.shape != wanted:
            raise ValueError(f"unjudged_ranks has shape {e.unjudged_ranks.shape}, wanted {wanted}")


def _check_extras(e: PoolEvidence) -> None:
    if e.lists is not None and (
        e.lists.ranks.shape != e.scores.shape
        or e.lists.lengths.shape != (len(e.models), e.n_queries)
    ):
        raise ValueError(f"lists of shape {e.lists.ranks.shape} fit neither models nor pairs")
    if e.votes is not None and e.votes.answers.shape != (e.n_pairs, len(e.votes.annotators)):
        raise ValueError(f"votes of shape {e.votes.answers.shape} do not fit the pairs")
    for a in e.attributes:
        if a.query_values.shape != (e.n_queries,) or a.candidate_values.shape != (e.n_pairs,):
            raise ValueError(f"attribute {a.name} does not fit the queries or pairs")
    if e.units is not None and e.units.codes.shape != (e.n_queries,):
        raise ValueError(f"units of {e.units.codes.size} queries do not fit {e.n_queries}")
    r = e.random_negatives
    if r is not None and r.scores.shape != (len(e.models), r.queries.size):
        raise ValueError(f"random negatives have scores of shape {r.scores.shape}")
