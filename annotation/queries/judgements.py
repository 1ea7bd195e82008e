"""Single judgements with what they are about, for exports that admins read."""

from __future__ import annotations

from django.db.models import QuerySet

from annotation.models import Campaign, Judgement


def list_judgements(campaign: Campaign, *, kind: str = "") -> QuerySet[Judgement]:
    """Return the answers that stand in a campaign, with pair, judge and event.

    Args:
        campaign: whose questions.
        kind: only of questions of this kind; "" for all.
    """
    judgements = Judgement.objects.filter(question__campaign=campaign)
    if kind:
        judgements = judgements.filter(question__kind=kind)
    return judgements.select_related(
        "question__query", "question__candidate", "member__annotator", "event"
    )
