"""What the judging of a pool has brought so far, for its page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign
from annotation.queries.labels import labels
from pooling.advice import DepthAdvice, Gain, depth_advice, gains_by_depth, gains_by_model
from pooling.models import Pool
from pooling.queries import stored_proposals

LEAST_SHARE = 0.05  # one lookalike in twenty new pairs


@dataclass(frozen=True)
class YieldRow:
    """What some pairs brought: of a model, or of a depth.

    Attributes:
        name: the model's spec, or the depth.
        gain: of all its pairs.
        alone: of those that no other model proposed; None for a depth.
        per_hour: positives per hour of all experts; None before anything is judged.
    """

    name: str
    gain: Gain
    alone: Gain | None
    per_hour: float | None


@dataclass(frozen=True)
class Yields:
    """All of it, from one campaign's labels."""

    campaign: Campaign
    n_judges: int
    models: list[YieldRow]
    depths: list[YieldRow]
    advice: DepthAdvice


def yields_of(pool: Pool, seconds: float) -> Yields | None:
    """Return what the newest campaign of a pool has found, None before any pair has a label."""
    link = pool.campaign_links.select_related("campaign").order_by("-id").first()
    if link is None:
        return None
    table = labels(link.campaign)
    decided = table.is_decided
    if not decided.any():
        return None
    sources, proposals = stored_proposals(pool)
    asked = np.array(
        list(pool.queries.order_by("position").values_list("image_id", flat=True)), np.int64
    )
    found = dict(
        zip(
            zip(table.query_ids[decided].tolist(), table.candidate_ids[decided].tolist(),
                strict=True),
            table.is_similar[decided].tolist(),
            strict=True,
        )
    )  # fmt: skip
    pairs = list(zip(asked[proposals.query].tolist(), proposals.candidate.tolist(), strict=True))
    is_judged = np.array([pair in found for pair in pairs], bool)
    is_positive = np.array([found.get(pair, False) for pair in pairs], bool)
    by_depth = gains_by_depth(proposals, is_judged, is_positive)
    advice = depth_advice(by_depth, LEAST_SHARE)
    if advice is None:
        return None
    n_judges = max(link.campaign.panel.count(), 1)
    every, alone = gains_by_model(proposals, is_judged, is_positive)

    def row(name: str, gain: Gain, own: Gain | None = None) -> YieldRow:
        hourly = gain.per_hour(seconds, n_judges) if gain.n_judged else None
        return YieldRow(name, gain, own, hourly)

    return Yields(
        campaign=link.campaign,
        n_judges=n_judges,
        models=[row(s.spec, g, own) for s, g, own in zip(sources, every, alone, strict=True)],
        depths=[row(str(rank), gain) for rank, gain in enumerate(by_depth, 1)],
        advice=advice,
    )
