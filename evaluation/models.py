"""Runs to be scored, and results with what they were computed from."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.utils import timezone

from annotation.models import Campaign
from catalog.models import EmbeddingSet, Image
from jobs.models import Job
from pooling.models import Pool


class Run(models.Model):
    """Somebody's scores for a campaign's pairs, uploaded as a file.

    Embedding sets of the campaign's catalog need no row: they are scored as they are. An
    uploaded run was checked when it came in; `coverage` says how much of the labels it scores.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="runs")
    name = models.CharField(max_length=200, help_text="As shown on the leaderboard.")
    family = models.CharField(
        max_length=200,
        blank=True,
        help_text="Backbone or training data it shares with other models; empty if none.",
    )
    description = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64, help_text="Of the stored scores, a parquet file.")
    coverage = models.JSONField(default=dict)
    missing = models.CharField(
        max_length=5, default="error", help_text="What a missing score means: error or worst."
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["campaign", "name"]
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="one_run_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class Result(models.Model):
    """The measures of every model on a campaign's labels, at one moment.

    `inputs` names what went in by hash, so an old result can be told from a current one, and
    `code_version` what computed it. A result is never changed; a new evaluation is a new row.
    """

    uid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="results")
    job = models.ForeignKey(Job, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    code_version = models.CharField(max_length=100)
    inputs = models.JSONField(help_text="SHA-256 of labels, votes, pool and each model's scores.")
    settings = models.JSONField(help_text="Measures, seed, number of bootstraps.")
    summary = models.JSONField(help_text="Labels, agreement, and each model's measures.")
    bias = models.JSONField(default=dict, help_text="The report on the pool's bias.")
    by_query = models.JSONField(default=dict, help_text="Measure, model, then a value per query.")
    details_sha256 = models.CharField(
        max_length=64, default="", help_text="Of the scores of pairs and heads of lists, a file."
    )

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.campaign}, {self.created_at:%Y-%m-%d %H:%M}"


class SampleAim(models.TextChoices):
    """What the labels of a sample are wanted for; it decides how they are shared out."""

    TOTAL = "total", "How many similar pairs there are, and which part the pool holds"
    VALIDITY = "validity", "How clean unjudged pairs near the top of the lists are"
    BOTH = "both", "Both, half each"


class Sample(models.Model):
    """Pairs drawn below a campaign's pool, frozen with their chances.

    The sampled pairs are ordinary questions of the campaign; only these rows say which they
    are, and judging cannot read them.
    """

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="+")
    aim = models.CharField(max_length=8, choices=SampleAim)
    seed = models.PositiveBigIntegerField()
    sources = models.JSONField(help_text="The pool's models at the time and their depths.")
    n_pool_pairs = models.PositiveBigIntegerField(help_text="Pairs of the pool at the time.")
    strata = models.JSONField(help_text="Of each: name, n_pairs, expected share, n_drawn.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"Sample below the pool of {self.campaign}"


class SampledPair(models.Model):
    """One pair of a sample. Written once, never changed."""

    sample = models.ForeignKey(Sample, on_delete=models.CASCADE, related_name="pairs")
    query = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    stratum = models.PositiveSmallIntegerField(help_text="Its place among the sample's strata.")
    inclusion = models.FloatField(help_text="The chance that it had to be drawn.")

    class Meta:
        ordering = ["sample", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["sample", "query", "candidate"], name="one_draw_per_pair"
            ),
            models.CheckConstraint(
                condition=models.Q(inclusion__gt=0, inclusion__lte=1), name="inclusion_is_a_chance"
            ),
        ]


class PlannedCampaign(models.Model):
    """What the campaign of a pool shall be that a plan has made; a draft follows the filling."""

    pool = models.OneToOneField(Pool, on_delete=models.CASCADE, related_name="+")
    plan = models.UUIDField(db_index=True, help_text="The job that made the plan.")
    like = models.ForeignKey(
        Campaign, null=True, on_delete=models.SET_NULL, related_name="+", help_text="Its pilot."
    )
    panel = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+")
    n_judges = models.PositiveSmallIntegerField(help_text="Of each pair.")
    share = models.FloatField(help_text="Of the pairs, that is judged.")
    measure = models.CharField(max_length=40, help_text="That was planned for.")
    orders = models.BooleanField(default=False, help_text="Goal: the order of the models.")
    width = models.FloatField(null=True, help_text="Goal: half an interval.")
    campaign = models.ForeignKey(
        Campaign, null=True, on_delete=models.CASCADE, related_name="+", help_text="Once made."
    )
    problem = models.TextField(default="", help_text="Why there is no campaign.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"Campaign planned for {self.pool}"


class RoundPlan(models.Model):
    """How a campaign is judged in rounds. Judging cannot read it."""

    campaign = models.OneToOneField(Campaign, on_delete=models.CASCADE, related_name="round_plan")
    share = models.FloatField(help_text="Of the pool's pairs, about what each round draws.")
    floor = models.FloatField(
        null=True, blank=True, help_text="Least probability of an open pair; none: by the share."
    )
    seed = models.PositiveBigIntegerField(help_text="Of every round's draw.")
    measure = models.CharField(max_length=40, help_text="Order and width are those of it.")
    alpha = models.FloatField(default=0.05, help_text="Chance of any wrong claim at any look.")
    n_looks = models.PositiveSmallIntegerField(help_text="Looks planned, one after each round.")
    alike = models.FloatField(default=0.0, help_text="A difference that does not matter.")
    orders = models.BooleanField(default=False, help_text="Goal: the order of the models.")
    width = models.FloatField(null=True, blank=True, help_text="Goal: half an interval.")
    recall = models.FloatField(null=True, blank=True, help_text="Goal: share found, at least.")
    opens_itself = models.BooleanField(
        default=False, help_text="A round is opened when one is done, until the goals are met."
    )
    stopped_at = models.DateTimeField(null=True, blank=True)
    stopped_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    claim = models.JSONField(default=dict, blank=True, help_text="What was known at the stop.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"Rounds of {self.campaign}"


class Round(models.Model):
    """One draw of a campaign's pairs: a fact that estimates need for good."""

    plan = models.ForeignKey(
        RoundPlan, on_delete=models.CASCADE, related_name="rounds", db_index=False
    )
    number = models.PositiveSmallIntegerField(help_text="From 1.")
    n_known = models.PositiveIntegerField(help_text="Labels that were known before.")
    n_open = models.PositiveIntegerField(help_text="Pairs that could be drawn.")
    n_drawn = models.PositiveIntegerField()
    guess = models.CharField(max_length=40, help_text="The label model and its version.")
    look = models.JSONField(default=dict, blank=True, help_text="What was known after it.")
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    opened_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["plan", "number"]
        constraints = [
            models.UniqueConstraint(fields=["plan", "number"], name="one_round_per_number")
        ]

    def __str__(self) -> str:
        return f"Round {self.number} of {self.plan.campaign}"


class RoundPair(models.Model):
    """A pair that was open when a round was drawn. Written by COPY, never changed."""

    round = models.ForeignKey(Round, on_delete=models.CASCADE, related_name="pairs", db_index=False)
    query = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    candidate = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    probability = models.FloatField(help_text="That it was drawn.")
    is_drawn = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["round", "query", "candidate"], name="one_probability_per_pair"
            ),
            models.CheckConstraint(
                condition=models.Q(probability__gt=0, probability__lte=1),
                name="probability_is_a_chance",
            ),
        ]


class ClassScore(models.Model):
    """How well an embedding set tells the values of a column apart; scoring again replaces it."""

    embedding_set = models.ForeignKey(
        EmbeddingSet, on_delete=models.CASCADE, related_name="class_scores"
    )
    column = models.CharField(
        max_length=200, help_text="An attribute of the catalog, or product_id."
    )
    figures = models.JSONField(help_text="As `lookalike.metrics.class_tables.ClassScores`.")
    scored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["embedding_set", "column"]
        constraints = [
            models.UniqueConstraint(fields=["embedding_set", "column"], name="one_score_per_column")
        ]

    def __str__(self) -> str:
        return f"{self.column} by {self.embedding_set}"
