"""Which further model would bring most new similar pairs for an hour of judging.

The pairs that a newcomer would add to a pool are guessed by the label model, from labels of the
pool and from what the pool's models and the newcomer itself say of them. Nobody has judged such a
pair, and no pair that the model has learnt from was left out by every builder of the pool: so each
builder is taken out in turn and foretold as a newcomer, beside what its own pairs turned out to
be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lookalike.core.arrays import Bools, Floats
from lookalike.core.errors import Refused
from lookalike.planning.label_model import LEAST_LABELS
from lookalike.planning.pilot import part_of
from lookalike.planning.pool import RankedPool
from lookalike.planning.rounds import guesses
from lookalike.pooling.stats import expert_hours


@dataclass(frozen=True)
class Newcomer:
    """What one more model would bring.

    Attributes:
        model: its name.
        n_new: pairs of its top k that nobody else proposed.
        expected: of those, how many are similar, as is guessed.
        found: how many are; NaN where nobody has judged them.
    """

    model: str
    n_new: int
    expected: float
    found: float

    def per_hour(self, seconds: float, n_judges: int) -> float:
        """Return the similar pairs to be expected for an hour of judging; 0 where none is new.

        Args:
            seconds: of one judge for one pair.
            n_judges: of each pair.
        """
        hours = expert_hours(self.n_new, seconds, n_judges)
        return self.expected / hours if hours > 0 else 0.0


def next_models(pool: RankedPool, labels: Floats, builders: Sequence[str]) -> list[Newcomer]:
    """Return what each model that has not built the pool would bring, the most first.

    Args:
        pool: of the pairs that builders and newcomers propose, all to the same depth.
        labels: shape (n_pairs,), 0 or 1; NaN where unjudged.
        builders: the models whose proposals were put to the judges.

    Raises:
        Refused: too few labels to learn from, no builder, or no newcomer.
    """
    is_builder = np.isin(pool.models, builders)
    if not is_builder.any() or is_builder.all():
        raise Refused("run", "name runs of models that have built the pool, and of some that not")
    _check(labels)
    found = [_foretold(pool, labels, is_builder, m) for m in np.flatnonzero(~is_builder).tolist()]
    return sorted(found, key=lambda one: -one.expected / max(one.n_new, 1))


def builders_as_newcomers(
    pool: RankedPool, labels: Floats, builders: Sequence[str]
) -> list[Newcomer]:
    """Return what would have been foretold of each builder, had the others built the pool alone.

    Its own pairs count where they are judged, and nothing is learnt from them.

    Args:
        pool: as for `next_models`.
        labels: likewise.
        builders: likewise.
    """
    is_builder = np.isin(pool.models, builders)
    _check(labels)
    found = []
    for m in np.flatnonzero(is_builder).tolist():
        others = is_builder.copy()
        others[m] = False
        if others.any():
            found.append(_foretold(pool, labels, others, m, judged_alone=True))
    return found


def _check(labels: Floats) -> None:
    n = int((~np.isnan(labels)).sum())
    if n < LEAST_LABELS:
        raise Refused(
            "qrels", f"{n} labels are too few to guess others by: {LEAST_LABELS} at least"
        )


def _foretold(
    pool: RankedPool, labels: Floats, builders: Bools, m: int, *, judged_alone: bool = False
) -> Newcomer:
    proposed = pool.proposed
    by_builders = proposed[builders].any(axis=0)
    is_new = proposed[m] & ~by_builders
    if judged_alone:
        is_new &= ~np.isnan(labels)
    kept = by_builders | is_new
    rows = np.append(np.flatnonzero(builders), m)
    part = part_of(pool, kept)
    part = replace(
        part,
        models=tuple(pool.models[row] for row in rows),
        ranks=part.ranks[rows],
        scores=part.scores[rows],
    )
    of_builders = np.where(by_builders, labels, np.nan)[kept]
    p = guesses(part, of_builders)[is_new[kept]]
    n_judged = int((~np.isnan(labels[is_new])).sum())
    return Newcomer(
        model=pool.models[m],
        n_new=int(is_new.sum()),
        expected=float(p.sum()),
        found=float(np.nansum(labels[is_new])) if n_judged else float("nan"),
    )
