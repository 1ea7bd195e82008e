"""Campaigns, their questions, and what the judges answered.

A question is one (query, candidate) pair put to a panel. Answers are append-only events; the
judgement that counts now is kept in the same transaction, so that an unjudged pair is the
absence of a row. This app knows nothing of the models that proposed the pairs.
"""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from catalog.models import Image


class CampaignState(models.TextChoices):
    """Where a campaign stands."""

    DRAFT = "draft", "Draft"
    OPEN = "open", "Open"
    PAUSED = "paused", "Paused"
    CLOSED = "closed", "Closed"


class TieRule(models.TextChoices):
    """What a tied vote means."""

    NEGATIVE = "negative", "A tie is “different”"
    UNDECIDED = "undecided", "A tie is undecided"


class Serving(models.TextChoices):
    """Who gets which question."""

    EVERYONE = "everyone", "Everyone judges every pair"
    K_OF_N = "k_of_n", "Each pair is judged by k of the panel"


class QuestionKind(models.TextChoices):
    """Why a question is asked; only a `pair` votes, and no judge can tell the kinds apart.

    Training alone shows itself, since it gives feedback.
    """

    PAIR = "pair", "Pair of the pool"
    GOLD = "gold", "Silent gold"
    REPEAT = "repeat", "Silent repeat"
    MIRROR = "mirror", "Mirrored pair"
    TRAINING = "training", "Training with feedback"
    QUALIFICATION = "qualification", "Qualification"
    EXAMPLE = "example", "Worked example of the guidelines"


class Answer(models.TextChoices):
    """What a judge may say. Only the first two vote; `withdrawn` takes an answer back."""

    SIMILAR = "similar", "Similar"
    DIFFERENT = "different", "Different"
    CANT_TELL = "cant_tell", "Can’t tell"
    SKIP = "skip", "Skip"
    LATER = "later", "Later"
    WITHDRAWN = "withdrawn", "Withdrawn"


VOTES = (Answer.SIMILAR, Answer.DIFFERENT)


class Reason(models.TextChoices):
    """Why a question was skipped."""

    NONE = "", "–"
    BAD_IMAGE = "bad_image", "Bad image"
    NOT_COMPARABLE = "not_comparable", "Not comparable"
    UNSURE = "unsure", "Unsure"
    POLICY = "policy", "Policy question"


class Mode(models.TextChoices):
    """How an answer was given."""

    PAIR = "pair", "Pair"
    SHEET = "sheet", "Sheet"
    IMPORT = "import", "Import"


class Device(models.TextChoices):
    """What an answer was given with."""

    KEYBOARD = "keyboard", "Keyboard"
    MOUSE = "mouse", "Mouse"
    TOUCH = "touch", "Touch"
    NONE = "", "–"


class Stage(models.TextChoices):
    """How far a judge has come in a campaign."""

    TRAINING = "training", "Training"
    QUALIFICATION = "qualification", "Qualification"
    JUDGING = "judging", "Judging"
    NOT_QUALIFIED = "not_qualified", "Not qualified"


class EntryState(models.TextChoices):
    """Where one question of one judge's queue stands."""

    OPEN = "open", "To be answered"
    DONE = "done", "Answered"
    EXPIRED = "expired", "Lease ran out; served to others again"
    SETTLED = "settled", "No longer needed: the outcome cannot change"


class Campaign(models.Model):
    """A set of questions put to a panel under one set of rules."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.DRAFT)
    tie_rule = models.CharField(max_length=10, choices=TieRule, default=TieRule.NEGATIVE)
    serving = models.CharField(max_length=10, choices=Serving, default=Serving.EVERYONE)
    k = models.PositiveSmallIntegerField(
        default=3, help_text="Votes wanted for each pair when k of the panel judge it."
    )
    lease_minutes = models.PositiveSmallIntegerField(
        default=30, help_text="A pair not answered for so long is offered to others."
    )
    closes_settled = models.BooleanField(
        default=False, help_text="Stop asking a pair once its outcome can no longer change."
    )
    repeat_percent = models.PositiveSmallIntegerField(
        default=0, help_text="Pairs asked a second time, silently, in percent."
    )
    mirror_percent = models.PositiveSmallIntegerField(
        default=0, help_text="Pairs asked again with query and candidate swapped, in percent."
    )
    pass_percent = models.PositiveSmallIntegerField(
        default=80, help_text="Share of the qualification round that must agree with the gold."
    )
    seed = models.PositiveBigIntegerField(default=0, help_text="Fixes every order and sample.")
    is_simulated = models.BooleanField(
        default=False, help_text="At least one judge of the panel is a program."
    )
    guideline_version = models.PositiveIntegerField(default=1, help_text="The one in force.")
    n_questions = models.PositiveIntegerField(default=0, help_text="Pairs that vote.")
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="owned_campaigns",
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(k__gte=1), name="campaign_k_at_least_1"),
            models.CheckConstraint(
                condition=models.Q(
                    repeat_percent__lte=50, mirror_percent__lte=50, pass_percent__lte=100
                ),
                name="campaign_percent_in_range",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        """Whether judges may answer now."""
        return self.state == CampaignState.OPEN


class StateChange(models.Model):
    """Who opened, paused or closed a campaign, when and why."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="state_changes")
    before = models.CharField(max_length=10, choices=CampaignState)
    after = models.CharField(max_length=10, choices=CampaignState)
    reason = models.CharField(max_length=500, blank=True)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    changed_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-id"]


class Guideline(models.Model):
    """One version of what judges are told; a version in use is never edited."""

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="guidelines")
    version = models.PositiveIntegerField()
    text = models.TextField(blank=True, help_text="Markdown.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["campaign", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "version"], name="one_guideline_per_version"
            )
        ]


class PanelMember(models.Model):
    """One judge of one campaign, with counters that `reconcile_counters` checks."""

    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="panel", db_index=False
    )
    annotator = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships"
    )
    number = models.PositiveSmallIntegerField(help_text="Place on the panel, from 1.")
    stage = models.CharField(max_length=14, choices=Stage, default=Stage.JUDGING)
    is_active = models.BooleanField(default=True, help_text="Off: may not judge any more.")
    n_total = models.PositiveIntegerField(default=0, help_text="Questions in the queue.")
    n_done = models.PositiveIntegerField(default=0, help_text="Of these, answered.")
    last_place = models.PositiveBigIntegerField(default=0, help_text="End of the queue.")
    claimed_to = models.PositiveIntegerField(
        default=0, help_text="k of n: the question position up to which this judge has claimed."
    )
    joined_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["campaign", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "annotator"], name="one_membership_per_annotator"
            )
        ]

    def __str__(self) -> str:
        return f"{self.annotator} in {self.campaign}"


class Question(models.Model):
    """A (query, candidate) pair put to the panel.

    Rows are created in a seeded shuffled order, and `uid` is random: neither tells where the
    pair stood in a pool. `position` is the campaign's shared order, used when k of n judge.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="questions", db_index=False
    )
    query = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="asked_as_query")
    candidate = models.ForeignKey(
        Image, on_delete=models.PROTECT, related_name="asked_as_candidate"
    )
    kind = models.CharField(max_length=13, choices=QuestionKind, default=QuestionKind.PAIR)
    original = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="controls"
    )
    position = models.PositiveIntegerField()
    n_counted = models.PositiveSmallIntegerField(default=0, help_text="k of n: votes that count.")
    n_free = models.SmallIntegerField(
        default=0, help_text="k of n: votes still wanted and not leased to anyone."
    )
    is_settled = models.BooleanField(
        default=False, help_text="Closed early: the outcome can no longer change."
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "query", "candidate", "kind"], name="one_question_per_pair"
            )
        ]
        indexes = [
            models.Index(
                fields=["campaign", "position"],
                condition=models.Q(n_free__gt=0),
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

    question = models.OneToOneField(Question, on_delete=models.CASCADE, related_name="gold")
    answer = models.CharField(max_length=10, choices=Answer)
    why = models.CharField(max_length=500, blank=True, help_text="Shown in training and examples.")
    source = models.CharField(max_length=10, choices=Source, default=Source.ADMIN)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(answer__in=VOTES), name="gold_is_similar_or_different"
            )
        ]


class JudgementEvent(models.Model):
    """One thing a judge did, exactly as it arrived; rows are never changed.

    `uuid` is made in the browser: the same one twice is the same answer sent twice.
    """

    uuid = models.UUIDField(unique=True)
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="events")
    member = models.ForeignKey(
        PanelMember, on_delete=models.RESTRICT, related_name="events", db_index=False
    )
    answer = models.CharField(max_length=10, choices=Answer)
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
        constraints = [
            models.CheckConstraint(
                condition=models.Q(answer__in=Answer.values), name="event_answer_is_known"
            ),
            models.CheckConstraint(
                condition=models.Q(undoes__isnull=False, answer=Answer.WITHDRAWN)
                | (models.Q(undoes__isnull=True) & ~models.Q(answer=Answer.WITHDRAWN)),
                name="only_a_withdrawal_undoes",
            ),
        ]
        indexes = [models.Index(fields=["member", "id"], name="event_of_member")]


class QueueEntry(models.Model):
    """One question in one judge's queue: the order is written down once, and kept.

    `place` orders what is still open; it equals `position` until the judge says “later”.
    The last event that touched the entry decides what counts (see `annotation.answers`).
    """

    member = models.ForeignKey(
        PanelMember, on_delete=models.CASCADE, related_name="queue", db_index=False
    )
    question = models.ForeignKey(Question, on_delete=models.CASCADE, related_name="entries")
    position = models.PositiveBigIntegerField(help_text="Order in which it was drawn, from 1.")
    place = models.PositiveBigIntegerField()
    stage = models.CharField(max_length=14, choices=Stage, default=Stage.JUDGING)
    state = models.CharField(max_length=8, choices=EntryState, default=EntryState.OPEN)
    lease_until = models.DateTimeField(null=True, blank=True, help_text="k of n only.")
    last_uuid = models.UUIDField(null=True, blank=True, help_text="Of the event that counts.")
    decided_at = models.DateTimeField(null=True, blank=True, help_text="Of that event.")

    class Meta:
        ordering = ["member", "place"]
        constraints = [
            models.UniqueConstraint(fields=["member", "question"], name="one_entry_per_question")
        ]
        indexes = [
            models.Index(
                fields=["member", "place"],
                condition=models.Q(state=EntryState.OPEN),
                name="entry_open",
            ),
            models.Index(
                fields=["lease_until"],
                condition=models.Q(state=EntryState.OPEN, lease_until__isnull=False),
                name="entry_leased",
            ),
        ]


class Judgement(models.Model):
    """What a judge says about a question now; a withdrawn answer has no row."""

    question = models.ForeignKey(
        Question, on_delete=models.CASCADE, related_name="judgements", db_index=False
    )
    member = models.ForeignKey(PanelMember, on_delete=models.RESTRICT, related_name="judgements")
    event = models.OneToOneField(JudgementEvent, on_delete=models.CASCADE, related_name="+")
    answer = models.CharField(max_length=10, choices=Answer)
    is_surplus = models.BooleanField(
        default=False, help_text="k of n: came after k votes; kept, exported, not counted."
    )

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["question", "member"], name="one_judgement_per_judge"),
            models.CheckConstraint(
                condition=models.Q(
                    answer__in=[Answer.SIMILAR, Answer.DIFFERENT, Answer.CANT_TELL, Answer.SKIP]
                ),
                name="judgement_answer_is_final",
            ),
        ]


class Adjudication(models.Model):
    """An admin's ruling on a question that the panel did not settle."""

    question = models.OneToOneField(Question, on_delete=models.CASCADE, related_name="adjudication")
    answer = models.CharField(max_length=10, choices=Answer)
    reason = models.CharField(max_length=500)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    decided_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(answer__in=VOTES), name="ruling_is_similar_or_different"
            )
        ]


class Preference(models.Model):
    """How one judge likes the judging page."""

    annotator = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="judging_preference"
    )
    keys = models.JSONField(default=dict, help_text="Action to key, both from fixed lists.")
    mode = models.CharField(
        max_length=6, choices=[(Mode.PAIR, "Pair"), (Mode.SHEET, "Sheet")], default=Mode.PAIR
    )
