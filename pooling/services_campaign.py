"""Open a pool to a panel of judges."""

from __future__ import annotations

from collections.abc import Sequence

from django.db import transaction
from django.utils.text import slugify

from accounts.models import Role, User
from annotation.errors import CampaignError
from annotation.models import Campaign, TieRule
from annotation.services import create_campaign, open_campaign
from pooling.errors import PoolError
from pooling.models import Pool, PoolCampaign, PoolState
from pooling.queries import pool_pairs


def open_pool_campaign(
    *,
    pool: Pool,
    name: str,
    panel: Sequence[User],
    tie_rule: str = TieRule.NEGATIVE,
    guidelines: str = "",
    seed: int = 0,
    owner: User | None = None,
    is_draft: bool = False,
) -> Campaign:
    """Put every pair of a pool to a panel and let the judging begin.

    Args:
        is_draft: do not open it yet, so that its rules and its gold can be set before the
            judges' queues are drawn.

    Raises:
        PoolError: the pool is still being filled or has nothing to judge, a member of the
            panel is not an annotator or is named twice, or the name is taken.
    """
    if pool.state == PoolState.FILLING:
        raise PoolError("pool", f"“{pool}” is still being filled; wait for it or cancel the rest.")
    pairs = pool_pairs(pool)
    if not pairs:
        raise PoolError("pool", f"“{pool}” has no pairs: none of its models has proposed any.")
    check_panel(panel)
    slug = slugify(name)[:80]
    if not slug:
        raise PoolError("name", "give a name with at least one letter or digit.")
    if Campaign.objects.filter(slug=slug).exists():
        raise PoolError("name", f"there is a campaign “{slug}” already; choose another name.")
    try:
        with transaction.atomic():
            campaign = create_campaign(
                name=name[:200],
                slug=slug,
                pairs=pairs,
                panel=panel,
                tie_rule=tie_rule,
                seed=seed,
                guidelines=guidelines,
                owner=owner,
            )
            PoolCampaign.objects.create(pool=pool, campaign=campaign)
            return campaign if is_draft else open_campaign(campaign=campaign, by=owner)
    except CampaignError as problem:
        raise PoolError("campaign", str(problem)) from problem


def check_panel(panel: Sequence[User]) -> None:
    """Raise PoolError if nobody is on the panel, or somebody who may not judge."""
    if not panel:
        raise PoolError("panel", "name at least one judge.")
    if len({member.pk for member in panel}) < len(panel):
        raise PoolError("panel", "somebody is named twice.")
    for member in panel:
        if member.role != Role.ANNOTATOR:
            raise PoolError(
                "panel",
                f"{member.username} is {member.get_role_display().lower()}, not annotator: "
                "only annotators are kept blind.",
            )
        if not member.is_active:
            raise PoolError("panel", f"{member.username} has been deactivated.")


def panel_by_name(usernames: Sequence[str]) -> list[User]:
    """Return the people of a panel in the order in which they are named.

    Raises:
        PoolError: somebody does not exist; names everybody who is unknown.
    """
    found = {user.username: user for user in User.objects.filter(username__in=usernames)}
    unknown = [name for name in usernames if name not in found]
    if unknown:
        raise PoolError("panel", f"nobody here is called {', '.join(unknown)}.")
    return [found[name] for name in usernames]
