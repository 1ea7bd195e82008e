"""Measures of embeddings whose relevance is a class label: every image is a query in turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lookalike.core.arrays import Bools, Floats, Ints
from lookalike.core.near_ties import first_of_ties, share_of
from lookalike.core.progress import SILENT, Progress
from lookalike.stats.defined_values import mean_defined

LG_DEPTH = 1000
SUCCESS_AT = (2, 4, 8)  # as papers on CUB and Cars print them, beside P@1
_BLOCK_VALUES = 1 << 24  # distances held at once: 128 MiB


@dataclass(frozen=True)
class ClassRetrieval:
    """Per-image values, each of shape (n_images,).

    An image without another of its class is undefined, NaN, except where stated.

    Attributes:
        n_relevant: R, other images of the class.
        precision_at_1: whether the nearest image is of the class.
        r_precision: share of the class in the nearest R.
        map_at_r: AP cut at R.
        average_precision: AP over the whole list.
        reciprocal_rank: 1 / rank of the nearest image of the class.
        lg_average_precision: AP cut at 1,000 as the language guidance code has it: divided by the
            class size with the query in it, so at best (size - 1) / size; 0 for a lone image.
        lg_average_precision_corrected: the same divided by min(R, 1000).
    """

    n_relevant: Ints
    precision_at_1: Floats
    r_precision: Floats
    map_at_r: Floats
    average_precision: Floats
    reciprocal_rank: Floats
    lg_average_precision: Floats
    lg_average_precision_corrected: Floats

    def success_at(self, k: int) -> Floats:
        """Return whether one of the nearest k is of the class: Recall@k of metric learning."""
        return np.where(
            np.isnan(self.reciprocal_rank), np.nan, self.reciprocal_rank * k >= 1 - 1e-9
        )

    def means(self) -> dict[str, tuple[float, int]]:
        """Return {measure: (mean, number of defined images)}."""
        found = {
            "MAP@R": self.map_at_r,
            "P@1": self.precision_at_1,
            "R-Prec": self.r_precision,
            **{f"Success@{k}": self.success_at(k) for k in SUCCESS_AT},
            "MAP": self.average_precision,
            "MRR": self.reciprocal_rank,
            "lg_map@1000": self.lg_average_precision,
            "lg_map@1000_corrected": self.lg_average_precision_corrected,
        }
        pairs = {name: mean_defined(values) for name, values in found.items()}
        return {name: (float(mean), int(n)) for name, (mean, n) in pairs.items()}


def class_retrieval(
    embeddings: ArrayLike,
    labels: ArrayLike,
    *,
    groups: ArrayLike | None = None,
    progress: Progress = SILENT,
) -> ClassRetrieval:
    """Return how well the nearest neighbours of each image share its class.

    Source: Musgrave, Belongie and Lim (ECCV 2020) as pytorch-metric-learning has it: exact
    Euclidean distance, the image itself removed by index, images without another of their class
    left out of the mean. lg_map@1000: the code of language guidance (Roth et al., CVPR 2022).
    pytorch-metric-learning compares labels as float32 and leaves ties to its search; here equal
    distances are ordered by index, and identical rows are exactly equally far.

    Args:
        embeddings: shape (n_images, dim), finite; normalise them beforehand for cosines.
        labels: shape (n_images,), of any type that sorts.
        groups: shape (n_images,), the product of each, say: images of its own group are neither
            an image's neighbours nor relevant to it. Each is one of its own if None.
        progress: told after each block of images how many are done.

    Returns:
        The per-image values.

    Raises:
        ValueError: if shapes disagree or a value is not finite.

    >>> found = class_retrieval([[0.0], [0.1], [1.0], [1.2]], ["hat", "hat", "bag", "hat"])
    >>> {name: found.means()[name] for name in ("P@1", "R-Prec", "Success@2")}
    {'P@1': (0.6666666666666666, 3), 'R-Prec': (0.5, 3), 'Success@2': (1.0, 3)}
    """
    X, y = _checked(embeddings, labels)
    g = np.arange(y.size) if groups is None else _numbered(groups)
    if g.shape != y.shape:
        raise ValueError(f"groups {g.shape} and labels {y.shape} differ in length")
    R = np.bincount(y)[y] - _n_alike(y, g)
    found = np.full((7, y.size), np.nan)
    found[5] = 0.0
    for rows, is_relevant in _blocks_of_relevance(X, y, g):
        if is_relevant.shape[1]:
            found[:, rows] = _values(is_relevant, R[rows])
        progress.update(rows.stop)
    return ClassRetrieval(R, *found)


@dataclass(frozen=True)
class ClusterAgreement:
    """How well k-means clusters match classes, one value for each of its random starts.

    Attributes:
        nmi: shape (n_starts,), normalised mutual information, arithmetic mean of entropies.
        ami: shape (n_starts,), adjusted for chance.
        f1: shape (n_starts,), of pairs of images: in one cluster against of one class.
    """

    nmi: Floats
    ami: Floats
    f1: Floats


def cluster_agreement(
    embeddings: ArrayLike,
    labels: ArrayLike,
    *,
    seed: int,
    n_starts: int = 5,
    n_clusters: int | None = None,
) -> ClusterAgreement:
    """Return NMI, AMI and F1 between classes and k-means clusters, for several random starts.

    Source: the protocol of metric learning papers: k-means with 20 iterations. One start is a
    draw, so show mean and spread. Needs scikit-learn, of the extra `models`.

    Args:
        embeddings: shape (n_images, dim).
        labels: shape (n_images,).
        seed: of the first start; the others count on from it.
        n_starts: how many.
        n_clusters: number of classes if None; language guidance uses that of the training set.

    Raises:
        ValueError: if shapes disagree or a value is not finite.
    """
    X, y = _checked(embeddings, labels)
    k = int(y.max()) + 1 if n_clusters is None else n_clusters
    cluster, metrics = (import_module(f"sklearn.{part}") for part in ("cluster", "metrics"))
    found = np.empty((3, n_starts))
    for i in range(n_starts):
        clusters = cluster.KMeans(k, n_init=1, max_iter=20, random_state=seed + i).fit_predict(X)
        found[0, i] = metrics.normalized_mutual_info_score(y, clusters)
        found[1, i] = metrics.adjusted_mutual_info_score(y, clusters)
        found[2, i] = pair_f1(y, clusters)
    return ClusterAgreement(*found)


def pair_f1(labels: ArrayLike, clusters: ArrayLike) -> float:
    """Return F1 over pairs of images: those in one cluster against those of one class.

    Source: Manning, Raghavan and Schütze (2008), section 16.3, with beta = 1, as papers on deep
    metric learning print it. NaN where no two images share a class or a cluster.

    Args:
        labels: shape (n_images,), classes.
        clusters: shape (n_images,).

    >>> pair_f1(["hat", "hat", "bag", "bag"], [0, 0, 0, 1])
    0.4
    """
    y, c = (np.unique(np.asarray(one), return_inverse=True)[1] for one in (labels, clusters))
    both = np.unique(y.astype(np.int64) * (int(c.max(initial=0)) + 1) + c, return_counts=True)[1]
    n_both, n_class, n_cluster = (
        int((counts * (counts - 1)).sum()) for counts in (both, np.bincount(y), np.bincount(c))
    )
    return 2 * n_both / (n_class + n_cluster) if n_class + n_cluster else float("nan")


def _checked(embeddings: ArrayLike, labels: ArrayLike) -> tuple[Floats, Ints]:
    X = np.asarray(embeddings, dtype=np.float64)
    y = _numbered(labels)
    if X.ndim != 2 or y.shape != X.shape[:1] or y.size == 0:
        raise ValueError(f"embeddings {X.shape} and labels {y.shape} are not (n, dim) and (n,)")
    if not np.isfinite(X).all():
        raise ValueError("embeddings hold NaN or infinity")
    return X, y


def _numbered(values: ArrayLike) -> Ints:
    return np.unique(np.asarray(values), return_inverse=True)[1].astype(np.int64)


def _n_alike(y: Ints, g: Ints) -> Ints:
    """Return how many images of each image's group, itself among them, have its label."""
    both = _numbered(y * (int(g.max()) + 1) + g)
    return np.bincount(both)[both]


def _blocks_of_relevance(X: Floats, y: Ints, g: Ints) -> Iterator[tuple[slice, Bools]]:
    """Yield rows and, for each of them, whether its neighbours in order are of its class."""
    distinct, place = np.unique(X, axis=0, return_inverse=True)
    lengths = np.einsum("nd,nd->n", distinct, distinct)
    own_lengths, share = lengths[place], share_of(X)
    n_rows = max(1, _BLOCK_VALUES // y.size)
    for start in range(0, y.size, n_rows):
        rows = slice(start, min(start + n_rows, y.size))
        scale = own_lengths[rows, None] + lengths
        near = (scale - 2.0 * (X[rows] @ distinct.T))[:, place]
        near[g[rows, None] == g] = np.inf  # itself and its group: last
        order = _ordered(near, share * scale[:, place])[:, :-1]
        yield rows, (y[order] == y[rows, None]) & (g[order] != g[rows, None])


def _ordered(near: Floats, within: Floats) -> NDArray[np.intp]:
    """Return the columns of each row by value, what is equal within the tolerance by index."""
    order = np.argsort(near, axis=1)
    values, allowed = (np.take_along_axis(of, order, axis=1).ravel() for of in (near, within))
    is_start = np.zeros(near.shape, np.bool_)
    is_start[:, 0] = True
    is_first = first_of_ties(-values, is_start.ravel(), allowed).reshape(near.shape)
    is_tied = ~is_first.all(axis=1)
    group = np.cumsum(is_first[is_tied], axis=1)
    by_group = np.lexsort((order[is_tied], group), axis=1)
    order[is_tied] = np.take_along_axis(order[is_tied], by_group, axis=1)
    return order


def _values(is_relevant: Bools, R: Ints) -> Floats:
    """Return the seven values of each row, in the order of `ClassRetrieval`."""
    ranks = np.arange(1, is_relevant.shape[1] + 1)
    precision = np.where(is_relevant, np.cumsum(is_relevant, axis=1) / ranks, 0.0)
    in_r = ranks <= R[:, None]
    known = np.where(R > 0, R, np.nan)
    first = is_relevant.argmax(axis=1) + 1
    cut = precision[:, :LG_DEPTH].sum(axis=1)
    return np.stack(
        [
            np.where(R > 0, is_relevant[:, 0], np.nan),
            (is_relevant & in_r).sum(axis=1) / known,
            (precision * in_r).sum(axis=1) / known,
            precision.sum(axis=1) / known,
            np.where(R > 0, 1.0 / first, np.nan),
            cut / (R + 1),
            cut / np.minimum(known, LG_DEPTH),
        ]
    )
