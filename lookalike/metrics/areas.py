"""ROC and precision-recall areas of several systems on one set of judged pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lookalike.core.arrays import Floats, Ints
from lookalike.metrics.contamination import corrected_auc
from lookalike.metrics.micro import micro_split
from lookalike.stats.defined_values import ratio
from lookalike.stats.roc_auc import AucAp, auc_and_ap, micro_auc_and_ap


@dataclass(frozen=True)
class Areas:
    """All areas of n_systems systems on the same pairs; nothing is computed twice.

    Attributes:
        scores: shape (n_systems, n_pairs); -inf for a missing score placed worst.
        labels: shape (n_pairs,).
        queries: shape (n_pairs,).
        n_queries: how many queries the labels have.
        contamination: share of true positives among the negatives (β), for random ones; None
            if unknown or if the negatives are annotated.
        undefined: systems that lack a score, so that their areas are not known.
    """

    scores: Floats
    labels: Ints
    queries: Ints
    n_queries: int
    contamination: float | None = None
    undefined: frozenset[int] = frozenset()

    @cached_property
    def by_query(self) -> AucAp:
        """The areas of each query."""
        return auc_and_ap(self.scores, self.labels, self.queries, self.n_queries)

    @cached_property
    def over_all(self) -> AucAp:
        """The areas over all pairs as if they were one query."""
        return micro_auc_and_ap(self.scores, self.labels)

    def macro_values(self, system: int, *, is_roc: bool) -> Floats:
        """Return the per-query area of one system, shape (n_queries,), NaN where undefined."""
        per_query = self.by_query
        values: Floats = (per_query.auc if is_roc else per_query.average_precision)[system, 0]
        return values

    def macro_details(self, values: Floats, *, is_roc: bool) -> dict[str, float]:
        """Return what must stand beside a macro area: its floor, or its corrected value.

        Args:
            values: the per-query areas that the mean is over; NaN elsewhere.
            is_roc: False for the area under precision and recall.
        """
        kept = ~np.isnan(values)
        if is_roc:
            return self._corrected(values[kept].mean() if kept.any() else np.nan)
        P, N = self.by_query.n_positive[0, kept], self.by_query.n_negative[0, kept]
        floor = P / (P + N)
        gain = (values[kept] - floor) / (1.0 - floor)
        means = (floor.mean(), gain.mean()) if kept.any() else (np.nan, np.nan)
        return {"prevalence": float(means[0]), "normalised_gain": float(means[1])}

    def micro_value(self, system: int, *, is_roc: bool) -> float:
        """Return the area of one system over all pairs."""
        pooled = self.over_all
        return float((pooled.auc if is_roc else pooled.average_precision)[system, 0, 0])

    def micro_details(self, system: int, *, is_roc: bool) -> dict[str, float]:
        """Return what must stand beside a micro area.

        For ROC its within-query and cross-query parts and the share of the first; for precision
        and recall the prevalence, which is the value of a constant scorer, and the gain over it.
        """
        P, N = self.over_all.n_positive[0, 0], self.over_all.n_negative[0, 0]
        counts = {"n_positive": float(P), "n_negative": float(N)}
        value = self.micro_value(system, is_roc=is_roc)
        if is_roc:
            split = micro_split(self.by_query, self.over_all)
            parts = {
                "within_queries": float(split.within[system, 0]),
                "across_queries": float(split.cross[system, 0]),
                "share_within": float(split.share[0]),
            }
            return parts | self._corrected(value) | counts
        floor = float(ratio(P, P + N))
        gain = float(ratio(value - floor, 1.0 - floor))
        return {"prevalence": floor, "normalised_gain": gain} | counts

    def _corrected(self, auc: float) -> dict[str, float]:
        if self.contamination is None:
            return {}
        return {"corrected": corrected_auc(float(auc), negatives_wrong=self.contamination)}
