"""Do pooled positives favour one colour, category or view?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lookalike.bias.comparison import defined_means
from lookalike.bias.evidence.pool import Attribute, PoolEvidence
from lookalike.core.arrays import Bools, Ints
from lookalike.stats.intervals import mean_interval
from lookalike.stats.proportion import Interval


@dataclass(frozen=True)
class ValueShare:
    """One value of an attribute.

    Attributes:
        value: such as "red".
        n_positive: pooled positives with it.
        pooled: its share among pooled positives of known value.
        interval: of that share, the positives of one query belonging together.
        catalogue: its share in the catalogue, NaN if unknown.
        deep: its share among positives of a sample below the pool, NaN without one.
        ratio: pooled / catalogue.
    """

    value: str
    n_positive: int
    pooled: float
    interval: Interval
    catalogue: float
    deep: float
    ratio: float


@dataclass(frozen=True)
class AttributeBias:
    """How one attribute is spread over the pool.

    Attributes:
        name: the attribute.
        values: by falling count among pooled positives.
        same_as_query_positive: share of pooled positives with the query's value.
        same_as_query_negative: share of pooled negatives with the query's value.
        same_as_query_catalogue: chance that a catalogue image has it, on the same queries.
        n_known: pooled pairs with a known value on both sides.
    """

    name: str
    values: tuple[ValueShare, ...]
    same_as_query_positive: float
    same_as_query_negative: float
    same_as_query_catalogue: float
    n_known: int


def attribute_bias(evidence: PoolEvidence, attribute: Attribute, level: float) -> AttributeBias:
    """Compare pooled positives with the catalogue on one attribute.

    The image analogue of title-word bias in text pools (Buckley, Dimmick, Soboroff, Voorhees
    2006-07): a pool built by similar models holds positives that share a cue with the query,
    and misses those that do not. A share of positives with the query's value near 1 where the
    catalogue's is low says that the pool can hardly judge a model that looks at other cues.

    Args:
        evidence: the pool.
        attribute: its values; "" is unknown and left out.
        level: coverage of the intervals.

    Returns:
        The shares.
    """
    is_positive = evidence.labels == 1
    mine = attribute.query_values[evidence.queries]
    theirs = attribute.candidate_values
    is_known = (mine != "") & (theirs != "")
    same = mine == theirs
    catalogue = _shares(attribute.catalogue_counts)
    chance = np.array([catalogue.get(str(v), 0.0) for v in mine[is_known & is_positive]])
    return AttributeBias(
        name=attribute.name,
        values=_values(
            attribute, _units_of_pairs(evidence), is_positive & (theirs != ""), catalogue, level
        ),
        same_as_query_positive=float(defined_means(same[is_known & is_positive])),
        same_as_query_negative=float(defined_means(same[is_known & ~is_positive])),
        same_as_query_catalogue=float(defined_means(chance)) if catalogue else float("nan"),
        n_known=int(is_known.sum()),
    )


def _units_of_pairs(evidence: PoolEvidence) -> Ints:
    """Return the unit of each pair's query, shape (n_pairs,)."""
    codes = evidence.unit_codes
    return evidence.queries if codes is None else codes[evidence.queries]


def _values(
    attribute: Attribute,
    units: Ints,
    is_known_positive: Bools,
    catalogue: Mapping[str, float],
    level: float,
) -> tuple[ValueShare, ...]:
    theirs, own = attribute.candidate_values[is_known_positive], units[is_known_positive]
    values, counts = np.unique(theirs, return_counts=True)
    deep = _shares(attribute.deep_counts)
    total = int(counts.sum())
    rows = []
    for value, n in sorted(
        zip(values.tolist(), counts.tolist(), strict=True), key=lambda row: (-row[1], row[0])
    ):
        in_catalogue = catalogue.get(value, 0.0) if catalogue else float("nan")
        rows.append(
            ValueShare(
                value=value,
                n_positive=n,
                pooled=n / total,
                interval=mean_interval(theirs == value, level, groups=own),
                catalogue=in_catalogue,
                deep=deep.get(value, 0.0) if deep else float("nan"),
                ratio=n / total / in_catalogue if in_catalogue else float("nan"),
            )
        )
    return tuple(rows)


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    total = sum(counts.values())
    return {value: n / total for value, n in counts.items()} if total else {}
