"""Campaigns, their guidelines and their panels."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation.models.choices import AskingOrder, CampaignState, Mode, Serving, Stage, TieRule
from annotation.notions import AskedNotion
from annotation.task_kinds import PAIR, TaskKind, task_kind


class Campaigns(models.QuerySet["Campaign"]):
    """Campaigns, perhaps those of one kind of task."""

    def of_pairs(self) -> Campaigns:
        """Return those that ask about pairs: what labels, pools and results are made of."""
        return self.filter(task_kind=PAIR)


class Campaign(models.Model):
    """A set of questions put to a panel under one set of rules."""

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    slug = models.SlugField(max_length=80, unique=True)
    name = models.CharField(max_length=200)
    state = models.CharField(max_length=10, choices=CampaignState, default=CampaignState.DRAFT)
    task_kind = models.CharField(
        max_length=10, default=PAIR, db_default=PAIR, help_text="What its questions ask about."
    )
    grades = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Words of the grades, one a line from the least similar; none: a pair is similar "
        "or different.",
    )
    similar_from = models.PositiveSmallIntegerField(
        default=2, db_default=2, help_text="The least grade that counts as similar."
    )
    tie_rule = models.CharField(max_length=10, choices=TieRule, default=TieRule.NEGATIVE)
    serving = models.CharField(max_length=10, choices=Serving, default=Serving.EVERYONE)
    asking_order = models.CharField(
        max_length=10, choices=AskingOrder, default=AskingOrder.SHUFFLED
    )
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
    notion = models.CharField(
        max_length=80,
        blank=True,
        default="",
        db_default="",
        help_text="In what pictures are compared, such as colour; empty: as a whole.",
    )
    notion_model = models.CharField(
        max_length=300, blank=True, default="", db_default="", help_text="Its learned model."
    )
    notion_prompts = models.TextField(
        blank=True, default="", db_default="", help_text="Of that model, one in each line."
    )
    labels_hidden = models.BooleanField(
        default=False,
        db_column="keeps_labels_back",
        help_text="A release hides labels of it: its results are shown to admins alone.",
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

    objects = Campaigns.as_manager()

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
    def kind(self) -> TaskKind:
        """The kind of task."""
        return task_kind(self.task_kind, self.grades, self.similar_from)

    @property
    def asked_notion(self) -> AskedNotion:
        """What similar means in it."""
        return AskedNotion.stored(self.notion, self.notion_model, self.notion_prompts)

    @property
    def is_open(self) -> bool:
        """Whether judges may answer now."""
        return self.state == CampaignState.OPEN

    @property
    def asks_again(self) -> bool:
        """Whether some pairs are asked again, silently."""
        return self.repeat_percent > 0 or self.mirror_percent > 0


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
    language = models.CharField(
        max_length=16, default="en", db_default="en", help_text="Of the text."
    )
    translations = models.JSONField(
        default=dict,
        db_default={},
        blank=True,
        help_text="The same text by code of other languages.",
    )
    pictures = models.JSONField(
        default=dict, db_default={}, help_text="Image ids, by what the text calls them."
    )
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
    is_paused = models.BooleanField(
        default=False, db_default=False, help_text="On: gets nothing and may not answer meanwhile."
    )
    n_stops = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How often the page has stopped a held key."
    )
    n_total = models.PositiveIntegerField(default=0, help_text="Questions in the queue.")
    n_done = models.PositiveIntegerField(default=0, help_text="Of these, answered.")
    last_place = models.PositiveBigIntegerField(default=0, help_text="End of the queue.")
    claimed_to = models.PositiveIntegerField(
        default=0, help_text="k of n: the question position up to which this judge has claimed."
    )
    read_version = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Newest version of the guidelines that was read."
    )
    n_replies = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Replies to comments that were not seen yet."
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


class Preference(models.Model):
    """How one judge likes the judging page."""

    annotator = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="judging_preference"
    )
    keys = models.JSONField(default=dict, help_text="Action to key, both from fixed lists.")
    mode = models.CharField(
        max_length=6, choices=[(Mode.PAIR, "Pair"), (Mode.SHEET, "Sheet")], default=Mode.PAIR
    )
