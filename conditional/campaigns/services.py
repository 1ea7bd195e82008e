"""Put templates or triplets to a panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db import transaction

from accounts.models import User
from annotation.errors import CampaignError
from annotation.models import Campaign, TieRule
from annotation.services import change_settings, create_campaign, open_campaign
from annotation.services.questions import Pair
from conditional.campaigns.kinds import TEMPLATE, TRIPLET
from conditional.models import SetCampaign, TemplateSet, TripletSet
from conditional.stored_sets import make_slug
from conditional.triplets.judged import ensure_questions
from lookalike.core.errors import Refused
from pooling.campaign.services import check_panel


@transaction.atomic
def ask_panel(
    *,
    asked_set: TemplateSet | TripletSet,
    name: str,
    panel: Sequence[User],
    n_questions: int | None = None,
    seed: int = 0,
    guidelines: str = "",
    owner: User | None = None,
    is_draft: bool = False,
    slug: str = "",
    is_import: bool = False,
    rules: Mapping[str, Any] | None = None,
) -> Campaign:
    """Ask a panel about a set's templates or triplets, or about a random sample of them.

    Args:
        n_questions: how many to draw; None for all.
        seed: of the sample and of every judge's orders; at least 0.
        guidelines: markdown that judges can read beside the questions.
        is_draft: do not open it yet, so that its rules and its gold can be set before.
        slug: if it is not to be made of the name.
        is_import: it was judged elsewhere, by accounts that nobody can sign in to.
        rules: further ones, as `change_settings` takes them.

    Raises:
        Refused: the name is taken or has no letter, nobody or somebody who may not
            judge is on the panel, or the number of questions is out of range.
    """
    if not is_import:
        check_panel(panel)
    if isinstance(asked_set, TemplateSet) and asked_set.templates.filter(gallery=[]).exists():
        raise Refused(
            "set", "its templates look among all images of a split, too many for a person to judge."
        )
    slug = slug or make_slug(name)
    if seed < 0:
        raise Refused("seed", "the seed is a whole number from 0.")
    if Campaign.objects.filter(slug=slug).exists():
        raise Refused("name", f"there is a campaign “{slug}” already; choose another name.")
    is_of_triplets = isinstance(asked_set, TripletSet)
    try:
        campaign = create_campaign(
            name=name[:200],
            slug=slug,
            pairs=_drawn(asked_set, n_questions, seed),
            panel=panel,
            task_kind=TRIPLET if is_of_triplets else TEMPLATE,
            tie_rule=TieRule.UNDECIDED,
            seed=seed,
            guidelines=guidelines,
            owner=owner,
        )
        made = {"triplet_set" if is_of_triplets else "template_set": asked_set}
        SetCampaign.objects.create(campaign=campaign, **made)
        campaign = change_settings(campaign=campaign, by=owner, **(rules or {}))
        return campaign if is_draft else open_campaign(campaign=campaign, by=owner)
    except CampaignError as problem:
        raise Refused("campaign", str(problem)) from problem


def _drawn(asked_set: TemplateSet | TripletSet, n: int | None, seed: int) -> list[Pair]:
    """Draw so many questions of a set."""
    if isinstance(asked_set, TripletSet):
        ensure_questions(triplet_set=asked_set)
        triplets = asked_set.questions.order_by("position")
        noun, rows = "triplets", list(triplets.values_list("anchor", "first", "pk"))
    else:
        templates = asked_set.templates.order_by("position")
        noun, rows = "templates", list(templates.values_list("reference", "target", "pk"))
    known = [Pair(*row) for row in rows]
    n_asked = len(known) if n is None else n
    if not 1 <= n_asked <= len(known):
        raise Refused("n_questions", f"draw 1 to {len(known):,} {noun}.")
    chosen = np.random.default_rng([seed, 2]).permutation(len(known))[:n_asked]
    return [known[place] for place in chosen]
