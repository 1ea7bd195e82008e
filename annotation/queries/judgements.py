"""Single judgements with what they are about, for exports that admins read."""

from __future__ import annotations

from django.db.models import Q, QuerySet

from annotation.models import Campaign, Judgement


def list_judgements(
    campaign: Campaign,
    *,
    kind: str = "",
    judge: int | None = None,
    answer: str = "",
    is_excluded: bool | None = None,
) -> QuerySet[Judgement]:
    """Return the answers that stand in a campaign, with pair, judge and event.

    Args:
        campaign: whose questions.
        kind: only of questions of this kind; "" for all.
        judge: only of the judge with this place on the panel.
        answer: only this answer, of whatever grade; "" for all.
        is_excluded: only excluded ones, or only the others.
    """
    judgements = Judgement.objects.filter(question__campaign=campaign)
    if kind:
        judgements = judgements.filter(question__kind=kind)
    if judge is not None:
        judgements = judgements.filter(member__number=judge)
    if answer:
        judgements = judgements.filter(Q(answer=answer) | Q(answer__startswith=f"{answer}:"))
    if is_excluded is not None:
        judgements = judgements.filter(is_excluded=is_excluded)
    return judgements.select_related(
        "question__query", "question__candidate", "member__annotator", "event"
    )
