"""Simulated experts at work: they are served and answer as people are, by the same services."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from annotation.answering.submissions import MAX_BATCH, RejectedError, Submission
from annotation.models import Campaign, Judgement, QuestionKind
from annotation.queries.judges import Judge, find_judge
from annotation.queries.next_questions import AskedQuestion, next_questions
from annotation.services.answers import record_answers
from catalog.models import Image
from demo.experts import EXPERTS, Expert, judge_pair, pair_rng

NAMESPACE = uuid.UUID("5a2a2a34-8f6e-4c4d-9a0f-6d3f0c9b7a11")
SEED = 0


def username(expert: Expert) -> str:
    """Return the account name of a simulated expert, which says what it is."""
    return slugify(expert.name)


def judge_all(
    campaign: Campaign, experts: list[User], on_progress: Callable[[int, int], None]
) -> dict[str, Any]:
    """Let every simulated expert of the panel answer all that is open; return the counts.

    An answer depends on the expert and the two pictures alone, so a run that was cut short goes
    on to the same end.
    """
    profiles = {username(expert): expert for expert in EXPERTS}
    catalogs = campaign.questions.values("query__catalog").union(
        campaign.questions.values("candidate__catalog")
    )
    pictures = {
        image.pk: image
        for image in Image.objects.filter(
            catalog_id__in=[row["query__catalog"] for row in catalogs]
        ).only("sha256", "attributes")
    }
    n_total = campaign.n_questions * len(experts)
    for number, person in enumerate(experts):
        before = number * campaign.n_questions
        _judge(
            campaign,
            person,
            profiles[person.username],
            pictures,
            lambda n, before=before: on_progress(before + n, n_total),  # type: ignore[misc]
        )
    given = Judgement.objects.filter(
        question__campaign=campaign, question__kind=QuestionKind.PAIR, is_surplus=False
    )
    by_answer = dict(given.values_list("answer").annotate(n=Count("pk")).order_by("answer"))
    return {"judges": len(experts), "answers": sum(by_answer.values()), **by_answer}


def _judge(
    campaign: Campaign,
    person: User,
    expert: Expert,
    pictures: dict[int, Image],
    on_progress: Callable[[int], None],
) -> None:
    clock = timezone.now() - timedelta(hours=12)
    while True:
        judge = find_judge(campaign.uid, person.pk)
        asked = next_questions(judge, after=0, n=MAX_BATCH)
        if not asked:
            return
        batch = []
        for question in asked:
            submission = _answer(question, expert, pictures, clock, judge)
            clock = submission.decided_at
            batch.append(submission)
        receipt = record_answers(
            campaign_uid=campaign.uid,
            annotator_id=person.pk,
            submissions=[(submission.uuid, submission) for submission in batch],
        )
        refused = [result for result in receipt.results if isinstance(result, RejectedError)]
        if refused:
            raise refused[0]
        on_progress(receipt.n_done)


def _answer(
    question: AskedQuestion,
    expert: Expert,
    pictures: dict[int, Image],
    shown_at: datetime,
    judge: Judge,
) -> Submission:
    query, candidate = pictures[question.query.id], pictures[question.candidate.id]
    rng = pair_rng(SEED, expert, query.sha256, candidate.sha256)
    found = judge_pair(query.attributes, candidate.attributes, expert, rng)
    return Submission(
        uuid=uuid.uuid5(NAMESPACE, f"{judge.member_id} {question.uid} {judge.n_done}"),
        question=question.uid,
        answer=found.answer,
        reason="",
        mode="pair",
        device="keyboard",
        guideline_version=judge.guideline_version,
        shown_at=shown_at,
        decided_at=shown_at + timedelta(milliseconds=found.think_ms),
        visible_ms=found.think_ms,
        load_ms=0,
        undoes=None,
    )
