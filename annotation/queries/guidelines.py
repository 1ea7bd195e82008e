"""What judges are told: the guidelines in force, and worked examples."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Gold, Guideline, QuestionKind
from catalog.images.pictures import Picture


@dataclass(frozen=True)
class Example:
    """A pair with its answer and the reason."""

    query: Picture
    candidate: Picture
    answer: str
    why: str


def guideline_in_force(campaign_id: int) -> Guideline:
    """Return the newest version."""
    return Guideline.objects.filter(campaign_id=campaign_id).order_by("-version")[0]


def worked_examples(campaign_id: int) -> list[Example]:
    """Return the examples in the order in which they were added."""
    golds = Gold.objects.filter(
        question__campaign_id=campaign_id, question__kind=QuestionKind.EXAMPLE
    ).select_related("question__query", "question__candidate")
    return [
        Example(
            Picture.of(gold.question.query),
            Picture.of(gold.question.candidate),
            gold.answer,
            gold.why,
        )
        for gold in golds.order_by("pk")
    ]
