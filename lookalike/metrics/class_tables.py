"""The measures of metric learning for a set of vectors: one row for each column of labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from threadpoolctl import threadpool_limits

from lookalike.core.arrays import Floats
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from lookalike.core.unit_vectors import unit_rows
from lookalike.io.documents import Table
from lookalike.metrics.classes import SUCCESS_AT, class_retrieval, cluster_agreement
from lookalike.stats.text_tables import TEXT, table

MOST_CLUSTERS = 1000  # k-means with more takes hours
RETRIEVAL = ("MAP@R", "R-Prec", "P@1", *(f"Success@{k}" for k in SUCCESS_AT), "lg_map@1000")
CLUSTERS = ("AMI", "NMI", "F1")
HEADER = ("column", "images", "classes", "largest", *RETRIEVAL, *CLUSTERS)


@dataclass(frozen=True)
class ClassMean:
    """A mean over the images for which a measure is defined."""

    value: float
    n_defined: int


@dataclass(frozen=True)
class ClusterScore:
    """Mean and population standard deviation over the random starts of k-means."""

    mean: float
    std: float


@dataclass(frozen=True)
class ClassScores:
    """How well vectors tell the values of one column apart.

    Attributes:
        column: its name.
        n_images: with a value; others are left out as if they were not there.
        n_classes: distinct values.
        n_lone: images without another of their value, which have no value of most measures.
        largest: share of images of the most frequent value: what always naming it would score.
        measures: of RETRIEVAL, MAP and MRR.
        chance: what a random order is expected to reach, for those with a closed form.
        clusters: of CLUSTERS; empty where there are more than `MOST_CLUSTERS` classes.
    """

    column: str
    n_images: int
    n_classes: int
    n_lone: int
    largest: float
    measures: dict[str, ClassMean]
    chance: dict[str, float]
    clusters: dict[str, ClusterScore]


def score_classes(
    vectors: NDArray[np.floating],
    labels: Sequence[str],
    *,
    column: str = "",
    is_cosine: bool = True,
    seed: int = 0,
    n_starts: int = 5,
    n_clusters: int | None = None,
    progress: Progress = SILENT,
) -> ClassScores:
    """Return how well vectors tell the values of a column apart.

    Source: docs/measures.md, "Class-labelled embeddings".

    Args:
        vectors: shape (n_images, d), finite.
        labels: of each image, "" where it is not known.
        column: what to call it.
        is_cosine: compare directions; otherwise Euclidean distances of the vectors as they are.
        seed: of the first start of k-means.
        n_starts: how many; 0 for no clusters.
        n_clusters: k; the number of classes if None.
        progress: told how many images are ranked.

    Raises:
        Refused: fewer than two values, or none that two images share.
        ValueError: shapes that do not fit, or values that are not finite.

    >>> found = score_classes(np.eye(4)[[0, 0, 1, 1]], ["hat", "hat", "bag", "bag"], n_starts=0)
    >>> found.measures["MAP@R"], round(found.chance["MAP@R"], 3)
    (ClassMean(value=1.0, n_defined=4), 0.333)
    """
    known = np.array([bool(label) for label in labels], np.bool_)
    if known.shape != vectors.shape[:1]:
        raise ValueError(f"{known.size} labels for {len(vectors)} vectors")
    y = np.unique(np.array([label for label in labels if label], np.str_), return_inverse=True)[1]
    sizes = np.bincount(y)
    if sizes.size < 2 or sizes.max() < 2:
        what = "has fewer than two values" if sizes.size < 2 else "has no value of two images"
        raise Refused("column", f"{column!r} {what} among {int(known.sum()):,} images with one")
    X = np.asarray(vectors[known], np.float32)
    X = unit_rows(X) if is_cosine else X
    progress.start(0, y.size, f"{column}: ranking the images")
    means = class_retrieval(X, y, progress=progress).means()
    clusters: dict[str, ClusterScore] = {}
    if n_starts and (n_clusters or sizes.size) <= (n_clusters or MOST_CLUSTERS):
        progress.start(0, None, f"{column}: clustering", is_long=True)
        with threadpool_limits(1):  # so that k-means adds up in one order
            found = cluster_agreement(X, y, seed=seed, n_starts=n_starts, n_clusters=n_clusters)
        for name, values in zip(CLUSTERS, (found.ami, found.nmi, found.f1), strict=True):
            clusters[name] = ClusterScore(float(values.mean()), float(values.std()))
    return ClassScores(
        column, y.size, sizes.size, int((sizes == 1).sum()), float(sizes.max() / y.size),
        {name: ClassMean(*mean) for name, mean in means.items()}, class_chance(y), clusters,
    )  # fmt: skip


def class_chance(labels: ArrayLike) -> dict[str, float]:
    """Return what a random order of the other images is expected to reach.

    Args:
        labels: shape (n_images,); images alone in their class are left out of the means.

    Returns:
        P@1, R-Prec, Success@k, MAP@R and MAP; NaN where no image has another of its class.

    >>> round(class_chance(["hat", "hat", "bag", "bag"])["P@1"], 4)
    0.3333
    """
    y = np.unique(np.asarray(labels), return_inverse=True)[1]
    sizes = np.bincount(y)
    R = (sizes - 1)[sizes > 1]
    if not R.size:
        return dict.fromkeys(("P@1", "R-Prec", "MAP@R", "MAP"), float("nan"))
    n, weights = y.size - 1, sizes[sizes > 1] / sizes[sizes > 1].sum()
    p = R / n
    found = {"P@1": p, "R-Prec": p}
    for k in SUCCESS_AT:
        steps = np.arange(min(k, n))
        found[f"Success@{k}"] = 1 - np.prod(
            np.maximum(0, n - R[:, None] - steps) / (n - steps), axis=1
        )
    found["MAP@R"] = _expected_precision(R, n, R)
    found["MAP"] = _expected_precision(R, n, np.full_like(R, n))
    return {name: float(values @ weights) for name, values in found.items()}


def _expected_precision(R: NDArray[np.int64], n: int, depth: NDArray[np.int64]) -> Floats:
    """Return the mean of the sum of precisions at hits down to a depth, over R, per class.

    The image at rank j is a hit with chance p, and with another before it with chance p2 each.
    """
    p, p2 = R / n, R * (R - 1) / (n * max(n - 1, 1))
    harmonic = np.concatenate([[0.0], np.cumsum(1.0 / np.arange(1, depth.max() + 1))])[depth]
    value: Floats = (p * harmonic + p2 * (depth - harmonic)) / R
    return value


def class_table(rows: Sequence[ClassScores]) -> Table:
    """Return a row of numbers for each column of labels."""
    return Table(
        HEADER,
        [
            (
                row.column,
                row.n_images,
                row.n_classes,
                row.largest,
                *(row.measures[name].value for name in RETRIEVAL),
                *(row.clusters[name].mean if row.clusters else None for name in CLUSTERS),
            )
            for row in rows
        ],
    )


def class_lines(rows: Sequence[ClassScores]) -> list[str]:
    """Return the same as lines of text, with what chance would give below each row."""
    lines = [HEADER]
    for row in rows:
        clusters = [row.clusters[name].mean if row.clusters else None for name in CLUSTERS]
        lines.append(
            (
                row.column,
                f"{row.n_images:,}",
                f"{row.n_classes:,}",
                TEXT.share(row.largest),
                *(TEXT.number(row.measures[name].value) for name in RETRIEVAL),
                *(TEXT.number(value) for value in clusters),
            )
        )
        chance = [TEXT.number(row.chance.get(name)) for name in RETRIEVAL]
        lines.append(("  by chance", "", "", "", *chance, *[""] * len(CLUSTERS)))
    return table(lines)


def known_labels(rows: Sequence[Mapping[str, str]]) -> dict[str, list[str]]:
    """Return the values of each column in which two images share one and two differ.

    Args:
        rows: of each image, {column: value}; a column that is absent or empty is not known.
    """
    names = dict.fromkeys(name for row in rows for name in row)
    columns = {name: [row.get(name, "") for row in rows] for name in names}
    return {name: values for name, values in columns.items() if _tells(values)}


def _tells(values: Sequence[str]) -> bool:
    known = [value for value in values if value]
    return 1 < len(set(known)) < len(known)
