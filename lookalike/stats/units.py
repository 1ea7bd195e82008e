"""Independent units of a sample of queries: queries of one product are one observation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lookalike.core.arrays import Bools, Floats, Ints

PRODUCT, QUERY = "product", "query"
_SAME, _TINY = 1e-12, 1e-9


@dataclass(frozen=True)
class Units:
    """The unit of each query. Intervals and tests treat units, not queries, as independent.

    Attributes:
        codes: shape (n_queries,), from 0; queries with the same number share a unit.
        name: `PRODUCT`, or the column that names the units.
    """

    codes: Ints
    name: str = PRODUCT

    @classmethod
    def of(
        cls, queries: Sequence[str], unit_of: Mapping[str, str] | None, name: str = PRODUCT
    ) -> Units:
        """Return the units of some queries; one without a known unit is a unit of its own.

        Args:
            queries: ids, in the order of the values.
            unit_of: {query: unit}, "" where unknown; None if no unit is known.
            name: what a unit is.

        >>> units = Units.of(["a.jpg", "b.jpg", "c.jpg"], {"a.jpg": "P1", "b.jpg": "P1"})
        >>> units.words()
        '3 queries of 2 products'
        """
        known = unit_of or {}
        named = [(1, unit) if (unit := known.get(query)) else (0, query) for query in queries]
        place = {key: code for code, key in enumerate(dict.fromkeys(named))}
        return cls(np.array([place[key] for key in named], np.int64), name)

    def part(self, queries: Ints) -> Units:
        """Return the units of some queries, by their numbers."""
        return Units(self.codes[queries], self.name)

    @property
    def are_shared(self) -> bool:
        """Whether any two queries share a unit."""
        return self.count() < self.codes.size

    def count(self, is_used: Bools | None = None) -> int:
        """Return how many units the queries, or some of them, have."""
        return int(np.unique(self.codes if is_used is None else self.codes[is_used]).size)

    def words(self, is_used: Bools | None = None) -> str:
        """Return the sample size in words, such as "100 queries of 75 products"."""
        n = self.codes.size if is_used is None else int(np.count_nonzero(is_used))
        return sample_words(n, self.count(is_used), self.name)


def sample_words(n_queries: int, n_units: int | None, name: str = PRODUCT) -> str:
    """Return a sample size in words; the units are named where queries share one.

    >>> sample_words(100, 75), sample_words(100, 75, "series"), sample_words(100, 100)
    ('100 queries of 75 products', '100 queries in 75 groups by series', '100 queries')
    """
    queries = f"{n_queries:,} {'query' if n_queries == 1 else 'queries'}"
    if n_units is None or n_units >= n_queries:
        return queries
    if name == PRODUCT:
        return f"{queries} of {n_units:,} product{'' if n_units == 1 else 's'}"
    return f"{queries} in {n_units:,} group{'' if n_units == 1 else 's'} by {name}"


@dataclass(frozen=True)
class Spread:
    """How surely a mean is known.

    Attributes:
        mean: over all values.
        error: its standard error over units.
        freedom: degrees of freedom of the error.
        n_units: units behind it.
        tail_freedom: the same from the kurtosis of the units: few where a few of them make most
            of the spread, since the error is then known as badly as from few values.
    """

    mean: float
    error: float
    freedom: float
    n_units: int
    tail_freedom: float = float("nan")


def unit_spread(values: ArrayLike, groups: ArrayLike | None = None) -> Spread:
    """Return the mean of values and its standard error, values of one group being dependent.

    Source: Bell and McCaffrey (Survey Methodology 2002), the cluster-robust variance with the
    small-sample correction CR2; degrees of freedom of Imbens and Kolesár (Review of Economics and
    Statistics 2016), with the correlation inside groups estimated from the values. Of groups of
    one value: the usual standard error, and one less than values.

    Args:
        values: shape (n,), no NaN.
        groups: shape (n,), the group of each; None: each value is a group of its own.

    Returns:
        The spread; the error is NaN with fewer than two groups.

    >>> spread = unit_spread([0.0, 0.0, 1.0, 1.0], [0, 0, 1, 1])
    >>> spread.error, round(spread.freedom, 9)
    (0.5, 1.0)
    """
    v = np.asarray(values, dtype=np.float64)
    mean = float(v.mean()) if v.size else float("nan")
    codes = np.unique(np.asarray(groups), return_inverse=True)[1] if groups is not None else None
    n_units = v.size if codes is None else int(codes.max(initial=-1)) + 1
    if n_units < 2:
        return Spread(mean, float("nan"), float("nan"), n_units)
    if codes is None or n_units == v.size:
        error, tail = float(v.std(ddof=1) / np.sqrt(v.size)), kurtosis_freedom(v - mean)
        return Spread(mean, error, v.size - 1.0, n_units, tail)
    sizes = np.bincount(codes).astype(np.float64)
    beyond = np.bincount(codes, weights=v - mean).astype(np.float64)
    share = sizes / v.size
    error = float(np.sqrt((beyond**2 / (1.0 - share)).sum()) / v.size)
    inside = _correlation_inside(v - mean, codes, beyond, sizes)
    freedom = _satterthwaite(share, sizes * (1.0 + (sizes - 1.0) * inside))
    return Spread(mean, error, freedom, n_units, min(freedom, kurtosis_freedom(beyond)))


def kurtosis_freedom(centred: Floats, kurtosis: float = 1.0, n: int | None = None) -> float:
    """Return of how many independent values a spread is known.

    Source: Satterthwaite (Biometrics Bulletin 1946), since the variance of a variance follows
    from the kurtosis.

    Args:
        centred: shape (n_values,), less their mean.
        kurtosis: beyond which it counts.
        n: values that there would be of this spread; None: those there are.

    Returns:
        Degrees of freedom, from 1 to n - 1.
    """
    n = centred.size if n is None else n
    variance = float(np.mean(centred**2))
    beyond = float(np.mean(centred**4)) / max(variance**2, _TINY**2) - kurtosis
    return float(max(1.0, min(n - 1.0, 2.0 * n / max(beyond, _TINY))))


def effective_number(deviations: Floats) -> float:
    """Return of how many equal deviations a sum is worth: (Σ|d|)² / Σ d² (Kish); 0 of none."""
    size = np.abs(deviations)
    squares = float((size**2).sum())
    return float(size.sum()) ** 2 / squares if squares > 0.0 else 0.0


def unit_deviations(values: Floats, groups: Ints | None = None) -> Floats:
    """Return how far each group's sum is from the mean of all values, times its size.

    Args:
        values: shape (n,).
        groups: shape (n,), the group of each; None: each value is a group of its own.

    Returns:
        Shape (n_groups,); its mean is 0.
    """
    centred = values - values.mean()
    if groups is None:
        return np.asarray(centred)
    return unit_sums(centred[:, None], groups)[:, 0]


def _correlation_inside(centred: Floats, codes: Ints, beyond: Floats, sizes: Floats) -> float:
    """Return the correlation of two values of one group, estimated by moments, in [0, 1]."""
    variance = float((centred**2).mean())
    if not variance > _SAME**2:
        return 0.0
    products = float((beyond**2 - np.bincount(codes, weights=centred**2)).sum())
    return float(np.clip(products / float((sizes * (sizes - 1.0)).sum()) / variance, 0.0, 1.0))


def _satterthwaite(share: Floats, variances: Floats) -> float:
    """Return (tr M)² / tr M² of the CR2 variance as a quadratic form in independent group sums.

    M = W^½ (I - h 1')' D (I - h 1') W^½ with D = diag(1 / (1 - h)), h the shares and W the
    variances of the groups' sums; it is diagonal but for a part of rank 2, so no matrix is made.
    """
    root = np.sqrt(variances)
    scale = 1.0 / (1.0 - share)
    d, a, b = variances * scale, root * scale * share, root
    c = float((scale * share**2).sum())
    ab, aa, bb = float(a @ b), float(a @ a), float(b @ b)
    trace = float(d.sum()) - 2.0 * ab + c * bb
    low_rank = 2.0 * aa * bb + 2.0 * ab**2 + c**2 * bb**2 - 4.0 * c * ab * bb
    crossed = 2.0 * (c * float((d * b * b).sum()) - 2.0 * float((d * a * b).sum()))
    return trace**2 / (float((d * d).sum()) + crossed + low_rank)


def unit_sums(values: Floats, groups: Ints) -> Floats:
    """Return the sum of each group's rows: (n, n_columns) to (n_groups, n_columns)."""
    _, codes = np.unique(groups, return_inverse=True)
    sums = np.zeros((int(codes.max(initial=-1)) + 1, values.shape[1]))
    np.add.at(sums, codes, values)
    return sums
