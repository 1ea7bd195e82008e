"""Paired tests between models on the same queries, corrected for how many there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtr

from lookalike.core.arrays import Floats, Ints
from lookalike.stats.bootstrap import Resampling
from lookalike.stats.defined_values import common_queries
from lookalike.stats.proportion import Interval
from lookalike.stats.units import PRODUCT, sample_words, unit_spread, unit_sums

EXACT_UP_TO = 14
_TOLERANCE = 1e-12
_CHUNK = 1_000


@dataclass(frozen=True)
class PairedTest:
    """One model against another on one measure.

    Attributes:
        first: name of the model whose values stand on the left of the difference.
        second: name of the other.
        difference: mean of first - second over the common queries.
        interval: of the difference over queries, from `difference_intervals`.
        effect_size: mean over standard deviation of the differences (Cohen's d_z).
        n_queries: how many queries both are defined on.
        p: two-sided sign-flip p-value.
        p_holm: the same after Holm's correction over all pairs of this measure.
        p_t: two-sided paired t-test, cluster-robust where queries share a unit, for comparison.
        n_units: how many independent units the queries have; None in results made before.
        unit: what a unit is, "product" or the column that names them.
    """

    first: str
    second: str
    difference: float
    interval: Interval
    effect_size: float
    n_queries: int
    p: float
    p_holm: float
    p_t: float
    n_units: int | None = None
    unit: str = PRODUCT

    @property
    def sample(self) -> str:
        """How many queries there are, and of how many units where they share some."""
        return sample_words(self.n_queries, self.n_units, self.unit)


@dataclass(frozen=True)
class MeasureTests:
    """All paired tests of one measure and the share of them that separate two models.

    Attributes:
        measure: its name.
        tests: one per unordered pair of models.
        discriminative_power: share of pairs with p < .05 (Sakai, SIGIR 2006), uncorrected.
        discriminative_power_holm: the same after Holm's correction.
    """

    measure: str
    tests: tuple[PairedTest, ...]
    discriminative_power: float
    discriminative_power_holm: float


def holm(p_values: ArrayLike) -> Floats:
    """Return Holm's step-down adjusted p-values, which hold for any dependence.

    Source: Holm (Scandinavian Journal of Statistics 1979). NaN stays NaN and is not counted.

    Args:
        p_values: shape (n,), in [0, 1].

    Returns:
        Shape (n,), each at least its p-value and at most 1.

    Raises:
        ValueError: a p-value outside [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    if ((p < 0.0) | (p > 1.0)).any():
        raise ValueError("a p-value is below 0 or above 1")
    adjusted = np.full(p.shape, np.nan)
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    steps = p[order] * (order.size - np.arange(order.size))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def paired_tests(
    measure: str,
    models: Sequence[str],
    values: ArrayLike,
    resampling: Resampling,
    *,
    is_yes_no: bool = False,
) -> MeasureTests:
    """Compare every two models on the queries where all of them are defined.

    The sign-flip test asks about the mean; Wilcoxon's, which some prefer for its power, asks
    about the median of symmetric differences and is not offered.

    Args:
        measure: name to print.
        models: names, n_models of them.
        values: shape (n_models, n_queries), NaN where undefined; a model without any defined
            query is not tested.
        resampling: the bootstrap samples of these queries, their units, and the draws of the
            sign flips, which flip all queries of a unit together.
        is_yes_no: whether the measure is 0 or 1 at every query; see `difference_intervals`.

    Returns:
        One test per unordered pair, in the order of `models`.
    """
    v = np.asarray(values, dtype=np.float64)
    is_common = common_queries(v)
    is_tested = np.logical_not(np.isnan(v).all(axis=1))
    models = [models[m] for m in np.flatnonzero(is_tested).tolist()]
    drawn, v = v[is_tested], v[is_tested][:, is_common].T
    if not models or v.shape[0] == 0:
        return MeasureTests(measure, (), np.nan, np.nan)
    codes = np.arange(drawn.shape[1]) if resampling.units is None else resampling.units.codes
    codes = codes[is_common]
    p = sign_flip_p(unit_sums(v, codes), resampling.rng, resampling.n_permutations)
    n_units = int(np.unique(codes).size)
    pairs = list(combinations(range(len(models)), 2))
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    differences = np.where(is_common, drawn[first] - drawn[second], np.nan)
    intervals = resampling.differences(differences.T, is_yes_no=is_yes_no)
    adjusted = holm([p[i, j] for i, j in pairs])
    tests = tuple(
        PairedTest(
            first=models[i],
            second=models[j],
            difference=float((v[:, i] - v[:, j]).mean()),
            interval=interval,
            effect_size=_effect_size(v[:, i] - v[:, j]),
            n_queries=v.shape[0],
            p=float(p[i, j]),
            p_holm=float(p_holm),
            p_t=_paired_t(v[:, i] - v[:, j], codes),
            n_units=n_units,
            unit=PRODUCT if resampling.units is None else resampling.units.name,
        )
        for (i, j), p_holm, interval in zip(pairs, adjusted, intervals, strict=True)
    )
    return MeasureTests(
        measure,
        tests,
        discriminative_power([t.p for t in tests]),
        discriminative_power([t.p_holm for t in tests]),
    )


def discriminative_power(p_values: Sequence[float], alpha: float = 0.05) -> float:
    """Return the share of pairs of models that a measure tells apart.

    Source: Sakai (SIGIR 2006). Choose a measure or cut-off by it, not by taste.

    Args:
        p_values: one per pair of models.
        alpha: significance level.

    Returns:
        The share in [0, 1]; NaN without pairs.
    """
    p = np.asarray(p_values, dtype=np.float64)
    return float((p < alpha).mean()) if p.size else float("nan")


def sign_flip_p(values: Floats, rng: np.random.Generator, n_permutations: int = 10_000) -> Floats:
    """Return the two-sided p-value of mean difference zero of every two models by flipping signs.

    Source: Fisher's randomisation test; Smucker, Allan, Carterette (CIKM 2007) for retrieval.
    All 2^n flips up to `EXACT_UP_TO` queries, else seeded ones counted as
    (1 + extreme) / (1 + drawn). A difference of 0 stays and counts under either sign. Flipping
    the sign of v_i - v_j equals flipping both v_i and v_j, so one product with the signs serves
    all pairs.

    Args:
        values: shape (n_queries, n_models), or the sums of units of queries; no NaN.
        rng: draws the flips of more queries.
        n_permutations: how many flips to draw.

    Returns:
        Shape (n_models, n_models), in (0, 1]; NaN without queries, 1 if all differences are 0.
    """
    n_queries, n_models = values.shape
    if n_queries == 0:
        return np.full((n_models, n_models), np.nan)
    total = values.sum(axis=0)
    observed = np.abs(total[:, None] - total[None, :]) - _TOLERANCE * n_queries
    first, second = np.triu_indices(n_models, 1)
    n_extreme = np.zeros(first.size)
    n_drawn = 0
    for signs in _sign_blocks(n_queries, rng, n_permutations):
        sums = (signs @ values).T
        n_extreme += (np.abs(sums[first] - sums[second]) >= observed[first, second, None]).sum(1)
        n_drawn += len(signs)
    extreme = np.full((n_models, n_models), float(n_drawn))  # no model differs from itself
    extreme[first, second] = extreme[second, first] = n_extreme
    if n_queries <= EXACT_UP_TO:
        return extreme / n_drawn
    return (1.0 + extreme) / (1.0 + n_drawn)


def _sign_blocks(n_queries: int, rng: np.random.Generator, n_permutations: int) -> Iterator[Floats]:
    """Yield rows of +1 and -1: all of them for few queries, else seeded ones."""
    if n_queries <= EXACT_UP_TO:
        yield np.array(list(product((1.0, -1.0), repeat=n_queries)))
        return
    for at in range(0, n_permutations, _CHUNK):
        size = (min(_CHUNK, n_permutations - at), n_queries)
        signs = rng.integers(0, 2, size, dtype=np.int8).astype(np.float64)
        signs *= 2.0  # in place: fresh memory costs more than the arithmetic
        signs -= 1.0
        yield signs


def _effect_size(differences: Floats) -> float:
    spread = float(differences.std(ddof=1)) if differences.size > 1 else 0.0
    return float(differences.mean()) / spread if spread > 0 else float("nan")


def _paired_t(differences: Floats, codes: Ints) -> float:
    spread = unit_spread(differences, codes)
    if not spread.error > 0:
        return float("nan")
    return float(2.0 * stdtr(spread.freedom, -abs(spread.mean) / spread.error))
