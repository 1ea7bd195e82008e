"""Lead a judge from training through qualification to judging."""

from __future__ import annotations

from django.db import transaction

from annotation.errors import CampaignError
from annotation.models import (
    Campaign,
    EntryState,
    Gold,
    Judgement,
    PanelMember,
    QueueEntry,
    Stage,
)
from annotation.services.counted_votes import lock_panel, recount_pairs
from audit.actions import Action
from audit.services import record
from lookalike.agreement.grades import agrees

NEXT = {Stage.TRAINING: Stage.QUALIFICATION, Stage.QUALIFICATION: Stage.JUDGING}


def advance(*, member_id: int) -> Stage:
    """Move a judge on whose present stage has nothing left to answer; return the stage."""
    member = PanelMember.objects.select_related("campaign").get(pk=member_id)
    before = stage = Stage(member.stage)
    entries = QueueEntry.objects.filter(member=member, state=EntryState.OPEN)
    while stage in NEXT and not entries.filter(stage=stage).exists():
        if stage == Stage.QUALIFICATION:
            n_right, n_asked = qualification_score(member)
            if n_right * 100 < member.campaign.pass_percent * n_asked:
                stage = Stage.NOT_QUALIFIED
                break
        stage = NEXT[stage]
    if stage != before:
        PanelMember.objects.filter(pk=member.pk).update(stage=stage)
    if stage != before and stage == Stage.NOT_QUALIFIED:
        # not now: this transaction may hold questions in another order
        transaction.on_commit(lambda: transaction.atomic(recount_pairs)(member.campaign))
    return stage


def qualification_score(member: PanelMember) -> tuple[int, int]:
    """Return how many qualification questions were answered as the gold says, of how many."""
    golds = dict(
        Gold.objects.filter(
            question__entries__member=member, question__entries__stage=Stage.QUALIFICATION
        ).values_list("question_id", "answer")
    )
    answers = dict(
        Judgement.objects.filter(member=member, question_id__in=golds).values_list(
            "question_id", "answer"
        )
    )
    n_right = sum(agrees(answers.get(pk, ""), answer) for pk, answer in golds.items())
    return n_right, len(golds)


@transaction.atomic
def admit(*, member: PanelMember) -> None:
    """Let somebody judge who has not passed the qualification round, by an admin's decision.

    Raises:
        CampaignError: the judge is judging already.
    """
    campaign = Campaign.objects.select_for_update(no_key=True).get(pk=member.campaign_id)
    lock_panel(campaign.pk)
    changed = PanelMember.objects.filter(pk=member.pk).exclude(stage=Stage.JUDGING)
    if not changed.update(stage=Stage.JUDGING):
        raise CampaignError(f"{member.annotator} is judging already.")
    record(None, Action.JUDGE_ADMITTED, campaign, judge=member.annotator)
    recount_pairs(campaign)
