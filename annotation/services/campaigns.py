"""Make campaigns, choose their panel, and open, pause or close them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.models import User
from annotation.errors import CampaignError, ChangedMeanwhileError
from annotation.models import (
    AskingOrder,
    Campaign,
    CampaignState,
    Guideline,
    PanelMember,
    Serving,
    StateChange,
    TieRule,
)
from annotation.notions import AskedNotion
from annotation.services.counted_votes import lock_panel, recount_pairs
from annotation.services.guidelines import find_pictures
from annotation.services.questions import Asked, add_questions
from annotation.services.serving.queues import prepare_member, prepare_questions
from annotation.task_kinds import PAIR
from audit.actions import Action
from audit.services import record
from lookalike.agreement.grades import Scale

MAX_PANEL = 500
AS_A_WHOLE = AskedNotion()
Seen = tuple[str, Callable[[Campaign], str]]
STEPS = {
    CampaignState.DRAFT: {CampaignState.OPEN},
    CampaignState.OPEN: {CampaignState.PAUSED, CampaignState.CLOSED},
    CampaignState.PAUSED: {CampaignState.OPEN, CampaignState.CLOSED},
    CampaignState.CLOSED: {CampaignState.OPEN},
}
MOVES = {
    CampaignState.OPEN: Action.CAMPAIGN_OPENED,
    CampaignState.PAUSED: Action.CAMPAIGN_PAUSED,
    CampaignState.CLOSED: Action.CAMPAIGN_CLOSED,
}


@transaction.atomic
def create_campaign(
    *,
    name: str,
    slug: str,
    pairs: Iterable[Asked],
    panel: Sequence[User],
    phases: Sequence[int] | None = None,
    task_kind: str = PAIR,
    scale: Scale | None = None,
    tie_rule: str = TieRule.NEGATIVE,
    serving: str = Serving.EVERYONE,
    k: int = 3,
    seed: int = 0,
    guidelines: str = "",
    notion: AskedNotion = AS_A_WHOLE,
    owner: User | None = None,
) -> Campaign:
    """Store a campaign as a draft with its questions and its panel.

    Args:
        pairs: (query image id, candidate image id), in any order; the order is not kept. Of
            another kind of task: with the subject.
        panel: the judges, all of them annotators.
        phases: of each pair, from 0; lower ones are asked first. Without them every judge's
            order is shuffled as a whole, and else within each phase.
        task_kind: one that is registered.
        scale: grades for pairs; None: a pair is similar or different.
        guidelines: markdown, becomes version 1.
        notion: in what pictures are compared; of pairs alone.

    Raises:
        CampaignError: the slug is taken or not a slug, a pair is repeated or joins an image to
            itself or names an unknown image, there is no pair or no judge, a judge is not an
            annotator, k does not fit the panel, or the phases do not fit the pairs.
    """
    if slugify(slug) != slug:
        raise CampaignError(f"“{slug}” is not a slug; try “{slugify(slug) or 'campaign-1'}”.")
    if tie_rule not in TieRule.values or serving not in Serving.values:
        raise CampaignError(f"Unknown rule: {tie_rule!r} / {serving!r}.")
    if serving == Serving.K_OF_N and not 1 <= k <= len(panel):
        raise CampaignError(f"k = {k} judges cannot be had from a panel of {len(panel)}.")
    if not panel:
        raise CampaignError("A campaign needs at least one judge.")
    try:
        with transaction.atomic():
            campaign = Campaign.objects.create(
                name=name, slug=slug, tie_rule=tie_rule, serving=serving, k=k, seed=seed,
                owner=owner, task_kind=task_kind,
                **({"grades": "\n".join(scale.words), "similar_from": scale.similar_from}
                   if scale else {}),
                notion=notion.name, notion_model=notion.model,
                notion_prompts="\n".join(notion.prompts),
                asking_order=AskingOrder.SHUFFLED if phases is None else AskingOrder.PHASES,
            )  # fmt: skip
    except IntegrityError:
        raise CampaignError(f"There is a campaign “{slug}” already.") from None
    record(owner, Action.CAMPAIGN_MADE, campaign, slug=slug)
    first = Guideline.objects.create(campaign=campaign, version=1, text=guidelines, author=owner)
    if not add_questions(campaign=campaign, pairs=pairs, phases=phases):
        raise CampaignError("A campaign needs at least one pair.")
    if pictures := find_pictures(campaign, guidelines):
        first.pictures = pictures
        first.save(update_fields=["pictures"])
    add_members(campaign=campaign, annotators=panel)
    campaign.refresh_from_db()
    return campaign


@transaction.atomic
def add_members(*, campaign: Campaign, annotators: Sequence[User]) -> list[PanelMember]:
    """Put annotators on the panel; those who are on it already are left alone.

    Raises:
        CampaignError: somebody is not an annotator (and so need not stay blind), or the panel
            would be too large.
    """
    seeing = [str(user) for user in annotators if not user.is_annotator]
    if seeing:
        raise CampaignError(
            f"{', '.join(seeing)}: only annotators may judge, others see what models propose."
        )
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    present = set(campaign.panel.values_list("annotator_id", flat=True))
    fresh = list({user.pk: user for user in annotators if user.pk not in present}.values())
    if len(present) + len(fresh) > MAX_PANEL:
        raise CampaignError(f"A panel has at most {MAX_PANEL} judges.")
    members = [
        PanelMember.objects.create(campaign=campaign, annotator=user, number=number)
        for number, user in enumerate(fresh, start=len(present) + 1)
    ]
    if fresh:
        names = [user.get_username() for user in fresh]
        record(None, Action.PANEL_ADDED, campaign, judges=names)
    if any(user.is_simulated for user in fresh) and not campaign.is_simulated:
        campaign.is_simulated = True
        campaign.save(update_fields=["is_simulated"])
    if campaign.state != CampaignState.DRAFT:
        lock_panel(campaign.pk)
        for member in members:
            prepare_member(member=member)
        recount_pairs(campaign)
    return members


def open_campaign(
    *, campaign: Campaign, by: User | None = None, reason: str = "", seen: Seen | None = None
) -> Campaign:
    """Let judges answer; the first time, draw every judge's queue.

    Args:
        campaign: which.
        by: who opens it.
        reason: needed where it was open before.
        seen: (what the admin has confirmed, how to look it up now); None confirms anything.

    Raises:
        ChangedMeanwhileError: what was confirmed is not so any more.
        CampaignError: it is open, or has no judge.
    """
    return _move(campaign, CampaignState.OPEN, by, reason, seen)


def pause_campaign(*, campaign: Campaign, by: User | None, reason: str) -> Campaign:
    """Stop taking answers for a while.

    Raises:
        CampaignError: it is not open, or no reason is given.
    """
    return _move(campaign, CampaignState.PAUSED, by, reason)


def close_campaign(*, campaign: Campaign, by: User | None, reason: str) -> Campaign:
    """Stop taking answers for good (it can be opened again, with a reason).

    Raises:
        CampaignError: it is a draft or closed, or no reason is given.
    """
    return _move(campaign, CampaignState.CLOSED, by, reason)


@transaction.atomic
def _move(
    campaign: Campaign,
    after: CampaignState,
    by: User | None,
    reason: str,
    seen: Seen | None = None,
) -> Campaign:
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if seen is not None and campaign.state == CampaignState.DRAFT and seen[1](campaign) != seen[0]:
        raise ChangedMeanwhileError("Somebody has changed the campaign meanwhile; look again.")
    before = CampaignState(campaign.state)
    if after not in STEPS[before]:
        raise CampaignError(f"{campaign} is {before.label.lower()}; it cannot become {after}.")
    if before != CampaignState.DRAFT and not reason.strip():
        raise CampaignError("Say why: the reason is kept with the campaign.")
    if before == CampaignState.DRAFT:
        if not campaign.panel.exists():
            raise CampaignError("A campaign needs at least one judge.")
        prepare_questions(campaign=campaign)
    lock_panel(campaign.pk)  # answers on their way come first; those that wait here see the state
    campaign.state = after
    campaign.save(update_fields=["state"])
    StateChange.objects.create(
        campaign=campaign, before=before, after=after, reason=reason.strip()[:500], changed_by=by
    )
    record(by, MOVES[after], campaign, before=before, reason=reason.strip())
    return campaign
