"""What pools ask of an admin, as the overview says it."""

from __future__ import annotations

from collections.abc import Iterator

from django.urls import reverse

from accounts.attention import Attention
from annotation.models import CampaignState
from pooling.models import Pool
from pooling.pools.queries import unasked_by_campaign, without_campaign


def attention() -> Iterator[Attention]:
    """Yield pools that nobody judges, and pairs that no campaign has asked yet."""
    pools = Pool.objects.prefetch_related("sources__job", "campaign_links__campaign")
    for pool in without_campaign(pools):
        text = f"{pool.stats.get('pairs', 0):,} pairs that nobody judges yet."
        yield Attention("No campaign", pool.name, text,
                        reverse("pooling:new_campaign", args=[pool.slug]))  # fmt: skip
    for pool in pools:
        for campaign, n in unasked_by_campaign(pool):
            pairs = f"{n:,} pair{'s' if n > 1 else ''} of “{pool}” not asked"
            if campaign.state == CampaignState.CLOSED:
                yield Attention(
                    "Not asked", campaign.name, f"{pairs}: the campaign was closed before.",
                    reverse("annotation:campaign", args=[campaign.slug]),
                )  # fmt: skip
            else:
                opens = (("Ask them", reverse("pooling:settle", args=[pool.slug])),)
                yield Attention(
                    "Not asked", campaign.name, f"{pairs} in this campaign.",
                    reverse("pooling:pool", args=[pool.slug]), buttons=opens,
                )  # fmt: skip
