"""Where a panel disagrees: kinds of pairs that are contested more often than others.

A group is a relation of an attribute (the same, different, one value beside another) or a cluster
of pictures that look alike. What is kept is contested more often than chance would have it, with
the error shared out over all groups tried; what a group before it explains is not said again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lookalike.core.arrays import Bools, Float32s, Floats, Ints

ALPHA = 0.05
LEAST_CONTESTED = 5
CONTESTED_OF_A_CLUSTER, MOST_CLUSTERS, STEPS = 10, 24, 20
SAMPLE = 5_000  # pairs that clusters are made from
EXPLAINED = 0.8  # of a group's contested pairs that are those of a group before it


class Relation(NamedTuple):
    """What the pairs of a group have in common.

    Attributes:
        attribute: its name; "" of a cluster of pictures.
        first, second: values of both images, in either order; "" where any will do.
        is_same: whether both images have the same value.
    """

    attribute: str = ""
    first: str = ""
    second: str = ""
    is_same: bool = False

    @property
    def words(self) -> str:
        """What the group is."""
        if not self.attribute:
            return "pictures that look alike"
        if not self.first:
            return f"{'the same' if self.is_same else 'different'} {self.attribute}"
        if self.is_same:
            return f"{self.attribute}: both {self.first}"
        return f"{self.attribute}: {self.first} and {self.second}"

    @property
    def passage(self) -> str:
        """What guidelines should say."""
        if not self.attribute:
            return "Show such a pair as an example, and say what decides it."
        if not self.first:
            if self.is_same:
                return f"Say what makes two images of the same {self.attribute} different."
            return f"Say whether images of different {self.attribute} can be similar."
        if self.is_same:
            return f"Say what two images need to be similar where {self.attribute} is {self.first}."
        return (
            f"Say whether {self.first} and {self.second} can be similar ({self.attribute}), and "
            "show an example."
        )


@dataclass(frozen=True)
class Group:
    """Pairs of a kind on which judges disagree more than on others.

    Attributes:
        relation: what they have in common.
        n_pairs: judged.
        n_contested: of those, contested.
        elsewhere: share of all other pairs that are contested.
        log_p: logarithm of the chance of so many (hypergeometric), times the groups tried.
        contested: shape (n_contested,), their places among the pairs; of pictures that look alike
            the most typical first.
    """

    relation: Relation
    n_pairs: int
    n_contested: int
    elsewhere: float
    log_p: float
    contested: Ints

    @property
    def p_value(self) -> float:
        """The chance of so many contested pairs, times the groups tried; at most 1."""
        return float(np.exp(min(0.0, self.log_p)))

    @property
    def share(self) -> float:
        """Share of its pairs that are contested."""
        return self.n_contested / self.n_pairs


def disagreement_groups(
    is_contested: Bools,
    values: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    vectors: tuple[Float32s, Float32s] | None = None,
    *,
    seed: int = 0,
) -> list[Group]:
    """Return the groups, the least likely by chance first.

    Args:
        is_contested: shape (n_pairs,), of judged pairs.
        values: by attribute, of the query and of the candidate of each pair; "" where unknown.
        vectors: of the queries and of the candidates, shape (n_pairs, d) each.
        seed: of the clusters.
    """
    n, n_contested = is_contested.size, int(is_contested.sum())
    if n_contested < LEAST_CONTESTED or n_contested == n:
        return []
    tried: list[tuple[Relation, Ints]] = [
        (relation, members)
        for name, (first, second) in values.items()
        for relation, members in _relations(name, first, second)
    ]
    if vectors is not None:
        tried += [(Relation(), members) for members in _clusters(is_contested, vectors, seed)]
    tried = [(what, at) for what, at in tried if is_contested[at].sum() >= LEAST_CONTESTED]
    groups = [_group(what, at, is_contested, len(tried)) for what, at in tried if at.size < n]
    kept: list[Group] = []
    for one in sorted(groups, key=lambda group: group.log_p):
        is_known = any(
            np.isin(one.contested, other.contested).mean() >= EXPLAINED for other in kept
        )
        if one.p_value <= ALPHA and not is_known:
            kept.append(one)
    return kept


def _group(relation: Relation, members: Ints, is_contested: Bools, n_tried: int) -> Group:
    from scipy.stats import hypergeom  # noqa: PLC0415  (slow to load, for every page)

    n, total = is_contested.size, int(is_contested.sum())
    contested = members[is_contested[members]]
    by_chance = float(hypergeom.logsf(contested.size - 1, n, total, members.size))
    return Group(
        relation=relation,
        n_pairs=int(members.size),
        n_contested=int(contested.size),
        elsewhere=(total - contested.size) / (n - members.size),
        log_p=by_chance + float(np.log(n_tried)),
        contested=contested,
    )


def _relations(
    name: str, first: Sequence[str], second: Sequence[str]
) -> Iterator[tuple[Relation, Ints]]:
    """Yield the pairs of the same value, of different ones, and of each two values."""
    a, b = np.array(first, dtype=np.str_), np.array(second, dtype=np.str_)
    known = (a != "") & (b != "")
    yield Relation(name, is_same=True), np.flatnonzero(known & (a == b))
    yield Relation(name), np.flatnonzero(known & (a != b))
    low, high = np.where(a < b, a, b), np.where(a < b, b, a)
    at = np.flatnonzero(known)
    both, code = np.unique(np.stack([low[at], high[at]]), axis=1, return_inverse=True)
    for i, (one, other) in enumerate(both.T.tolist()):
        yield Relation(name, one, other, is_same=one == other), at[code.ravel() == i]


def _clusters(is_contested: Bools, vectors: tuple[Float32s, Float32s], seed: int) -> Iterator[Ints]:
    """Yield clusters of pairs, made without a look at votes, the most typical of each first."""
    both = _unit(_unit(vectors[0]) + _unit(vectors[1]))
    n_clusters = min(MOST_CLUSTERS, int(is_contested.sum()) // CONTESTED_OF_A_CLUSTER)
    if n_clusters < 2:
        return
    rng = np.random.default_rng(seed)
    sample = rng.permutation(len(both))[:SAMPLE]
    centres = _centres(both[sample], n_clusters, rng)
    nearness = both @ centres.T
    nearest = nearness.argmax(axis=1)
    for i in range(n_clusters):
        members = np.flatnonzero(nearest == i)
        yield members[np.argsort(-nearness[members, i], kind="stable")]


def _centres(points: Floats, n: int, rng: np.random.Generator) -> Floats:
    """Return centres by k-means on the sphere, begun as far apart as k-means++ does."""
    chosen = [points[rng.integers(len(points))]]
    for _ in range(n - 1):
        far = 1.0 - np.max(points @ np.stack(chosen).T, axis=1)
        weight = np.maximum(far, 0.0) + 1e-12
        chosen.append(points[rng.choice(len(points), p=weight / weight.sum())])
    centres = np.stack(chosen)
    for _ in range(STEPS):
        nearest = (points @ centres.T).argmax(axis=1)
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, points)
        centres = np.where(np.bincount(nearest, minlength=n)[:, None] > 0, _unit(sums), centres)
    return centres


def _unit(rows: Float32s | Floats) -> Floats:
    wide = np.asarray(rows, dtype=np.float64)
    return np.asarray(wide / np.maximum(np.linalg.norm(wide, axis=1, keepdims=True), 1e-12))
