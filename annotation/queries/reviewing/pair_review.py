"""All that was said of one question, by judges and admins, for the admins who vouch for it."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import Adjudication, Comment, Exclusion, JudgementEvent, Question
from annotation.queries.reviewing.review import AnswerRow, read_answers


@dataclass(frozen=True)
class PairReview:
    """All that was said of one question.

    Attributes:
        answers: those that stand, newest first.
        events: everything that judges did, the latest first.
        exclusions: those that hold and those that were ended, newest first.
        siblings: the other questions that ask this pair: silent repeats and the like.
        comments: what judges asked about it or about a sibling, newest first, with the replies.
    """

    question: Question
    answers: list[AnswerRow]
    events: list[JudgementEvent]
    exclusions: list[Exclusion]
    ruling: Adjudication | None
    siblings: list[Question]
    comments: list[Comment]


def review_pair(question: Question) -> PairReview:
    """Return all that was said of a question."""
    held = question.judgements.order_by("-event_id").values_list("event_id", flat=True)
    events = question.events.select_related("member__annotator").order_by("-pk")
    exclusions = Exclusion.objects.filter(event__question=question).select_related(
        "event__member__annotator", "made_by", "ended_by"
    )
    origin = question.original or question
    alike = [*Question.objects.filter(original=origin), *([origin] if question.original else [])]
    siblings = [one for one in alike if one.pk != question.pk]
    comments = Comment.objects.filter(question__in=[question, *siblings])
    return PairReview(
        question,
        read_answers(list(held)),
        list(events),
        list(exclusions),
        Adjudication.objects.filter(question=question).select_related("decided_by").first(),
        siblings,
        list(comments.select_related("question", "member__annotator", "replied_by")),
    )
