"""What was answered: append-only events, what counts of them now, exclusions and rulings."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation.models.campaigns import PanelMember
from annotation.models.choices import NO_VOTES, UNFINISHED, Answer, Device, Mode, Reason
from annotation.models.questions import Question

ANSWER_CODE = r"^([a-z_]+|pick:[0-9]+|(similar|different):[0-4])$"


class JudgementEvent(models.Model):
    """One thing a judge did, exactly as it arrived; rows are never changed.

    `uuid` is made in the browser: the same one twice is the same answer sent twice. Question and
    judge name an entry, which the database holds it to (ADR 19): only what stands in a judge's
    queue is answered.
    """

    uuid = models.UUIDField(unique=True)
    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="events", db_constraint=False
    )
    member = models.ForeignKey(
        PanelMember, on_delete=models.RESTRICT, related_name="events", db_index=False,
        db_constraint=False,
    )  # fmt: skip
    answer = models.CharField(max_length=15, choices=Answer)
    reason = models.CharField(max_length=15, choices=Reason, blank=True)
    mode = models.CharField(max_length=6, choices=Mode)
    device = models.CharField(max_length=8, choices=Device, blank=True)
    guideline_version = models.PositiveIntegerField()
    undoes = models.UUIDField(null=True, blank=True)
    shown_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(help_text="By the judge's clock, never later than received.")
    received_at = models.DateTimeField(default=timezone.now)
    visible_ms = models.PositiveIntegerField(default=0, help_text="Pair on screen, tab visible.")
    load_ms = models.PositiveIntegerField(default=0, help_text="Waiting for its images.")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["member", "id"], name="event_of_member")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(answer__regex=ANSWER_CODE), name="event_answer_is_a_code"
            ),
            models.CheckConstraint(
                condition=models.Q(undoes__isnull=False, answer=Answer.WITHDRAWN)
                | (models.Q(undoes__isnull=True) & ~models.Q(answer=Answer.WITHDRAWN)),
                name="only_a_withdrawal_undoes",
            ),
        ]


class Judgement(models.Model):
    """What a judge says about a question now; a withdrawn answer has no row.

    The database holds it to its event, which is of this judge and question (ADR 19).
    """

    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="judgements", db_index=False,
        db_constraint=False,
    )  # fmt: skip
    member = models.ForeignKey(
        PanelMember, on_delete=models.RESTRICT, related_name="judgements", db_index=False,
        db_constraint=False,
    )  # fmt: skip
    event = models.OneToOneField(
        JudgementEvent, primary_key=True, on_delete=models.CASCADE, related_name="+",
        db_constraint=False,
    )  # fmt: skip
    answer = models.CharField(max_length=15, choices=Answer)
    is_surplus = models.BooleanField(
        default=False, help_text="k of n: came after k votes; kept, exported, not counted."
    )
    is_excluded = models.BooleanField(
        default=False, db_default=False, help_text="Excluded from counting by an admin."
    )
    is_counted = models.GeneratedField(
        expression=models.Q(is_surplus=False, is_excluded=False)  # type: ignore[arg-type]  # it is one
        & ~models.Q(answer__in=NO_VOTES),
        output_field=models.BooleanField(),
        db_persist=True,
        help_text="A vote that counts: the only place where that is said.",
    )

    class Meta:
        ordering = ["event_id"]
        indexes = [models.Index(fields=["member", "event"], name="judgement_of_member")]
        constraints = [
            models.UniqueConstraint(fields=["question", "member"], name="one_judgement_per_judge"),
            models.CheckConstraint(
                condition=~models.Q(answer__in=UNFINISHED), name="judgement_answer_is_final"
            ),
        ]


class Exclusion(models.Model):
    """An admin's decision that one answer is not to count, until it is ended.

    It holds for that answer alone: what the judge says of the pair afterwards counts.
    """

    event = models.ForeignKey(JudgementEvent, on_delete=models.CASCADE, related_name="exclusions")
    reason = models.CharField(max_length=500)
    asks_again = models.BooleanField(
        default=False, help_text="The judge is asked the pair once more."
    )
    promoted = models.ForeignKey(
        JudgementEvent,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        db_index=False,
        help_text="k of n: the surplus vote that took its place.",
    )
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField(default=timezone.now)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["event"],
                condition=models.Q(ended_at__isnull=True),
                name="one_exclusion_at_a_time",
            )
        ]


class Adjudication(models.Model):
    """An admin's ruling on a question that the panel did not settle."""

    question = models.OneToOneField(Question, on_delete=models.CASCADE, related_name="adjudication")
    answer = models.CharField(max_length=15, choices=Answer)
    reason = models.CharField(max_length=500)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(answer__in=(*NO_VOTES, *UNFINISHED)), name="ruling_is_a_vote"
            )
        ]
