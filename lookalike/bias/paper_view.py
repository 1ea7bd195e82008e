"""The leave-one-out table of the VSD paper, from our label sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.bias.evidence.pool import PoolEvidence
from lookalike.bias.measurements import MACRO_AUC, MICRO_AUC, Measured
from lookalike.bias.subsets import LabelSet
from lookalike.core.arrays import Floats
from lookalike.stats.defined_values import mean_defined
from lookalike.stats.rank_correlation import correlations
from lookalike.stats.rank_correlation_p import Orders, PValue, spearman_p, spearman_p_t


@dataclass(frozen=True)
class PaperCell:
    """One half of a row.

    Attributes:
        mean: the model's AUC, averaged over the label sets that leave one generator out.
        spread: standard deviation over those sets (divided by their number).
        spearman: order of the generators on the set without this one, against the full set.
        p_t: its p-value as the paper has it.
        p: its permutation p-value.
    """

    mean: float
    spread: float
    spearman: float
    p_t: PValue
    p: PValue


@dataclass(frozen=True)
class PaperRow:
    """One generator: averaged over all sets on the left, left out of the pool on the right."""

    generator: str
    micro: PaperCell
    macro: PaperCell


def paper_table(
    evidence: PoolEvidence,
    sets: Sequence[LabelSet],
    measured: Measured,
    kind: str,
    rng: np.random.Generator,
) -> tuple[PaperRow, ...]:
    """Reproduce Table 3 of the VSD paper (Barkan et al.) on the generators alone.

    As there, each set averages over its own defined queries. Unlike there, nothing is rounded
    before ranking (its macro column can only come from AUCs rounded to one decimal), and the
    permutation p-value stands beside the t approximation, which is not valid for six models.

    Args:
        evidence: the pool.
        sets: from `leave_out_sets`, the full set first.
        measured: values on them.
        kind: "uniques" or "contributions", the two readings of the paper's sentence.
        rng: for the p-values of many generators.

    Returns:
        One row per generator that is evaluated, in the order of the generators.
    """
    macro, _ = mean_defined(measured.macro[MACRO_AUC])
    micro = measured.micro[MICRO_AUC]
    columns = {s.name: g for g, s in enumerate(sets) if s.kind == kind}
    pooled = [n for n in evidence.generators if n in evidence.models]
    rows = [evidence.models.index(n) for n in pooled]
    left_out = [columns[n] for n in evidence.generators]
    orders = Orders.of(len(rows), rng)

    def cell(values: Floats, m: int, g: int) -> PaperCell:
        own = values[m, left_out]
        full, part = values[rows, 0], values[rows, g]
        rho = float(correlations(full, part).spearman)
        return PaperCell(
            mean=float(own.mean()),
            spread=float(own.std()),
            spearman=rho,
            p_t=spearman_p_t(rho, len(rows)),
            p=spearman_p(full, part, orders),
        )

    return tuple(
        PaperRow(name, cell(micro, m, columns[name]), cell(macro, m, columns[name]))
        for name, m in zip(pooled, rows, strict=True)
    )
