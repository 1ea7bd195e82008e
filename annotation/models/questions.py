"""What is asked: pairs, the known answers of some, and each judge's queue."""

from __future__ import annotations

import uuid

from django.db import models

from annotation.models.campaigns import Campaign, PanelMember
from annotation.models.choices import NO_VOTES, UNFINISHED, Answer, EntryState, QuestionKind, Stage
from catalog.models import Image


class Question(models.Model):
    """A (query, candidate) pair put to the panel, or what else the campaign's task asks about.

    A template or triplet is the `subject`; its reference or anchor is the query, and one of the
    images to pick from the candidate.

    Rows are created in a seeded shuffled order, and `uid` is random: neither tells where the
    pair stood in a pool, or its phase. `position` is the campaign's shared order, used when k of
    n judge.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="questions", db_index=False
    )
    query = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="asked_as_query")
    candidate = models.ForeignKey(
        Image, on_delete=models.PROTECT, related_name="asked_as_candidate"
    )
    subject = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="As the kind of task knows it; 0: the pair itself."
    )
    kind = models.CharField(max_length=13, choices=QuestionKind, default=QuestionKind.PAIR)
    original = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="controls"
    )
    position = models.PositiveIntegerField()
    phase = models.PositiveSmallIntegerField(
        default=0, help_text="Pairs of lower phases are asked first; never shown."
    )
    n_counted = models.PositiveSmallIntegerField(default=0, help_text="k of n: votes that count.")
    n_free = models.SmallIntegerField(
        default=0, help_text="k of n: votes still wanted and not leased to anyone."
    )
    # a word of its own for the index: rows whose number alone changes need no new entry in any
    is_free = models.GeneratedField(
        expression=models.Q(n_free__gt=0),  # type: ignore[arg-type]  # its stubs are behind
        output_field=models.BooleanField(),
        db_persist=True,
    )
    is_settled = models.BooleanField(
        default=False, help_text="Closed early: the outcome can no longer change."
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "query", "candidate", "kind", "subject"],
                name="one_question_per_subject",
            )
        ]
        indexes = [
            models.Index(
                fields=["campaign", "position"],
                condition=models.Q(is_free=True),
                name="question_free",
            ),
            models.Index(
                fields=["campaign", "kind"],
                condition=~models.Q(kind=QuestionKind.PAIR),
                name="question_control",
            ),
        ]


class Gold(models.Model):
    """The known answer of a question that checks or teaches a judge."""

    class Source(models.TextChoices):
        ADMIN = "admin", "Set by an admin"
        CONSENSUS = "consensus", "Unanimous in an earlier campaign"
        RULING = "ruling", "A ruling"

    question = models.OneToOneField(Question, on_delete=models.CASCADE, related_name="gold")
    answer = models.CharField(max_length=15, choices=Answer)
    why = models.CharField(max_length=500, blank=True, help_text="Shown in training and examples.")
    source = models.CharField(max_length=10, choices=Source, default=Source.ADMIN)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(answer__in=(*NO_VOTES, *UNFINISHED)), name="gold_is_a_vote"
            )
        ]


class QueueEntry(models.Model):
    """One question in one judge's queue: the order is written down once, and kept.

    The database holds it to its judge and question (ADR 19).

    `place` orders what is still open; it equals `position` until the judge says “later”.
    The last event that touched the entry decides what counts (see `annotation.answering.register`).
    """

    pk = models.CompositePrimaryKey("member", "question")
    member = models.ForeignKey(
        PanelMember, on_delete=models.CASCADE, related_name="queue", db_index=False,
        db_constraint=False,
    )  # fmt: skip
    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="entries", db_constraint=False
    )
    position = models.PositiveBigIntegerField(help_text="Order in which it was drawn, from 1.")
    place = models.PositiveBigIntegerField()
    stage = models.CharField(max_length=14, choices=Stage, default=Stage.JUDGING)
    state = models.CharField(max_length=8, choices=EntryState, default=EntryState.OPEN)
    lease_until = models.DateTimeField(null=True, blank=True, help_text="k of n only.")
    last_uuid = models.UUIDField(null=True, blank=True, help_text="Of the event that counts.")
    decided_at = models.DateTimeField(null=True, blank=True, help_text="Of that event.")

    class Meta:
        ordering = ["member", "place"]
        indexes = [
            models.Index(  # in the order in which they are asked
                fields=["member", "place", "question"],
                condition=models.Q(state=EntryState.OPEN),
                name="entry_open",
            ),
            models.Index(
                fields=["lease_until"],
                condition=models.Q(state=EntryState.OPEN, lease_until__isnull=False),
                name="entry_leased",
            ),
        ]
