"""Intervals of a panel's agreement, over other queries and over other judges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from annotation.queries.labels import VoteTable
from catalog.models import Image
from lookalike.agreement.intervals import CoefficientIntervals, agreement_intervals
from lookalike.agreement.votes import Votes
from lookalike.core.arrays import Ints
from lookalike.stats.units import Units

Intervals = Mapping[str, CoefficientIntervals]


def side_intervals(cast: VoteTable) -> Intervals:
    """Return the intervals of agreement on similar and different."""
    return _intervals(cast, cast.is_similar.astype(np.int64), 2)


def grade_intervals(cast: VoteTable, n_grades: int) -> Intervals | None:
    """Return the intervals of agreement on grades; None where nothing is graded."""
    if cast.grades is None or not (cast.grades >= 0).all():
        return None
    return _intervals(cast, cast.grades, n_grades)


def pair_units(cast: VoteTable) -> Ints:
    """Return the unit of each pair, shape (n_pairs,): its query's product, else its query."""
    is_first = np.append(True, np.diff(cast.pair_of) != 0)[: cast.query_ids.size]
    queries = [str(pk) for pk in cast.query_ids[is_first].tolist()]
    images = Image.objects.filter(pk__in=set(queries)).exclude(product_id="")
    products = {
        str(pk): f"{catalog} {product}"
        for pk, catalog, product in images.values_list("pk", "catalog_id", "product_id")
    }
    return Units.of(queries, products).codes


def _intervals(cast: VoteTable, labels: Ints, n_labels: int) -> Intervals:
    people, worker_of = np.unique(cast.annotator_ids, return_inverse=True)
    units = pair_units(cast)
    votes = Votes(
        [str(place) for place in range(units.size)], [str(pk) for pk in people.tolist()],
        [str(place) for place in range(n_labels)], cast.pair_of, worker_of.astype(np.int64),
        labels, units,
    )  # fmt: skip
    return agreement_intervals(votes)
