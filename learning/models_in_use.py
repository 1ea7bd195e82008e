"""Learned models that pools use: they stay."""

from __future__ import annotations

from catalog.models import Projection
from lookalike.core.errors import Refused
from pooling.models import PoolSource


def refuse_if_pooled(projection: Projection) -> None:
    """Raise Refused if a pool's proposals are a learned model's: they are kept as evidence."""
    source = PoolSource.objects.filter(spec=projection.spec).select_related("pool").first()
    if source is not None:
        raise Refused("model", f"the pool “{source.pool}” uses {projection.spec}.")
