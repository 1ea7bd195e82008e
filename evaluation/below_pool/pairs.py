"""Which of a campaign's pairs were drawn below its pool, and labels without them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from django.db.models import Q

from annotation.models import Campaign
from annotation.queries.labels import LabelTable
from evaluation.models import Sample, SampledPair
from pooling.models import Proposal
from pooling.pools.queries import pool_of, pool_pairs

Pairs = set[tuple[int, int]]


def drawn_beside_pool(campaign: Campaign) -> Pairs:
    """Return the sampled pairs that no model has proposed since: (query id, candidate id)."""
    drawn: Pairs = set(
        SampledPair.objects.filter(sample__campaign=campaign).values_list(
            "query_id", "candidate_id"
        )
    )
    pool = pool_of(campaign) if drawn else None
    return drawn.difference(pool_pairs(pool)) if pool else drawn


def pooled_at_draw(sample: Sample) -> Pairs:
    """Return the pool's pairs as they were when the sample was drawn."""
    then = Q()
    for spec, k in sample.sources.items():
        then |= Q(source__spec=spec, rank__lt=k)
    held = Proposal.objects.filter(then, pool__campaign_links__campaign=sample.campaign_id)
    return set(held.values_list("query_id", "candidate_id").order_by().distinct())


def without_pairs(table: LabelTable, pairs: Pairs) -> LabelTable:
    """Return the labels of all other pairs, in the same order."""
    if not pairs:
        return table
    rows = zip(table.query_ids.tolist(), table.candidate_ids.tolist(), strict=True)
    kept = np.array([pair not in pairs for pair in rows], dtype=np.bool_)
    columns: dict[str, Any] = {
        field.name: None if (column := getattr(table, field.name)) is None else column[kept]
        for field in fields(table)
    }
    return LabelTable(**columns)
