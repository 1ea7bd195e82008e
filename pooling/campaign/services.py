"""Open a pool to a panel of judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db import transaction
from django.utils.text import slugify

from accounts.models import Role, User
from annotation.errors import CampaignError
from annotation.models import AskingOrder, Campaign, TieRule
from annotation.notions import asked_notion
from annotation.services import change_settings, create_campaign, open_campaign
from catalog.short_names import NameCheck, check_name
from lookalike.agreement.grades import Scale
from lookalike.core.errors import Refused
from lookalike.pooling.judging_order import judging_phases
from lookalike.pooling.source_spec import SourceKind, source_kind
from pooling.models import Pool, PoolCampaign, PoolState
from pooling.pools.queries import pool_pairs, stored_proposals


def campaign_name(name: str) -> NameCheck:
    """Return whether a new campaign may have a name, and else one like it that is free."""
    return check_name(name, Campaign.objects.all(), what="campaign")


def open_pool_campaign(
    *,
    pool: Pool,
    name: str,
    panel: Sequence[User],
    scale: Scale | None = None,
    tie_rule: str = TieRule.NEGATIVE,
    asking_order: str = AskingOrder.SHUFFLED,
    guidelines: str = "",
    notion: str = "",
    notion_model: str = "",
    seed: int = 0,
    owner: User | None = None,
    is_draft: bool = False,
    rules: Mapping[str, Any] | None = None,
    first_round: Sequence[tuple[int, int]] | None = None,
) -> Campaign:
    """Put every pair of a pool to a panel and let the judging begin.

    Args:
        scale: grades that judges give; None: similar or different.
        asking_order: shuffled, or likely pairs first. The campaign learns the phase of each pair
            and nothing else of what the pool knows.
        notion: in what pictures are compared, as judges read it; empty: as a whole.
        notion_model: spec of its learned model.
        is_draft: do not open it yet, so that its rules and its gold can be set before the
            judges' queues are drawn.
        rules: further ones, as `change_settings` takes them.
        first_round: the pairs to begin with where the pool is judged in rounds; None: all.

    Raises:
        Refused: the pool is still being filled or has nothing to judge, a member of the
            panel is not an annotator or is named twice, the name is taken, nothing says which
            pairs are likely, or there is no such learned notion.
    """
    if pool.state == PoolState.FILLING:
        raise Refused("pool", f"“{pool}” is still being filled; wait for it or cancel the rest.")
    pairs = pool_pairs(pool) if first_round is None else list(first_round)
    if not pairs:
        raise Refused("pool", f"“{pool}” has no pairs: none of its models has proposed any.")
    check_panel(panel)
    slug = slugify(name)[:80]
    if not slug:
        raise Refused("name", "give a name with at least one letter or digit.")
    if Campaign.objects.filter(slug=slug).exists():
        free = campaign_name(name).free
        raise Refused("name", f"there is a campaign “{slug}” already; “{free}” is free.")
    phases = _phases(pool, pairs, seed) if asking_order == AskingOrder.PHASES else None
    try:
        with transaction.atomic():
            campaign = create_campaign(
                name=name[:200],
                slug=slug,
                pairs=pairs,
                panel=panel,
                phases=phases,
                scale=scale,
                tie_rule=tie_rule,
                seed=seed,
                guidelines=guidelines,
                notion=asked_notion(notion, notion_model),
                owner=owner,
            )
            PoolCampaign.objects.create(
                pool=pool, campaign=campaign, in_rounds=first_round is not None
            )
            campaign = change_settings(campaign=campaign, by=owner, **(rules or {}))
            return campaign if is_draft else open_campaign(campaign=campaign, by=owner)
    except CampaignError as problem:
        raise Refused("campaign", str(problem)) from problem


def _phases(pool: Pool, pairs: Sequence[tuple[int, int]], seed: int) -> list[int]:
    """Return the phase of each pair of a pool."""
    sources, proposals = stored_proposals(pool)
    has_ranks = np.array([source_kind(source.spec) != SourceKind.RANDOM for source in sources])
    if not has_ranks.any():
        raise Refused(
            "asking_order",
            f"all of “{pool}” was drawn by chance, so no pair is likelier; have it shuffled.",
        )
    asked = dict(pool.queries.values_list("position", "image_id"))
    found, phases = judging_phases(proposals, has_ranks, np.random.default_rng(seed))
    phase_of = {
        (asked[query], candidate): phase
        for query, candidate, phase in zip(
            found.query.tolist(), found.candidate.tolist(), phases.tolist(), strict=True
        )
    }
    return [phase_of[pair] for pair in pairs]


def check_panel(panel: Sequence[User]) -> None:
    """Raise Refused if nobody is on the panel, or somebody who may not judge."""
    if not panel:
        raise Refused("panel", "name at least one judge.")
    if len({member.pk for member in panel}) < len(panel):
        raise Refused("panel", "somebody is named twice.")
    for member in panel:
        if member.role != Role.ANNOTATOR:
            raise Refused(
                "panel",
                f"{member.username} is {member.get_role_display().lower()}, not annotator: "
                "only annotators are kept blind.",
            )
        if not member.is_active:
            raise Refused("panel", f"{member.username} has been deactivated.")


def panel_by_name(usernames: Sequence[str]) -> list[User]:
    """Return the people of a panel in the order in which they are named.

    Raises:
        Refused: somebody does not exist; names everybody who is unknown.
    """
    user_of = {user.username: user for user in User.objects.filter(username__in=usernames)}
    unknown = [name for name in usernames if name not in user_of]
    if unknown:
        raise Refused("panel", f"nobody here is called {', '.join(unknown)}.")
    return [user_of[name] for name in usernames]
