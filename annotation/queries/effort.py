"""What judging took."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, Sum

from annotation.models import Campaign, JudgementEvent, QuestionKind


class Effort(NamedTuple):
    """What judges spent on a pair: answers given, changed ones too, and hours it was on screen."""

    n_answers: int
    hours: float


def effort_by_pair(campaign: Campaign) -> dict[tuple[int, int], Effort]:
    """Return what each pair with an answer took, by the ids of its query and candidate."""
    events = JudgementEvent.objects.filter(
        question__campaign=campaign, question__kind=QuestionKind.PAIR
    )
    rows = events.order_by().values_list("question__query_id", "question__candidate_id")
    return {
        (query, candidate): Effort(n, (visible or 0) / 3_600_000)
        for query, candidate, n, visible in rows.annotate(Count("pk"), Sum("visible_ms"))
    }
