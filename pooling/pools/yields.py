"""What the judging of a pool has brought so far, for its page."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from django.db.models import Avg, Count

from accounts.models import User
from annotation.models import Campaign, Judgement, QuestionKind
from annotation.queries.kept import kept
from annotation.queries.labels import find_pairs, labels
from lookalike.agreement.judge_statistics import IDLE_SECONDS
from lookalike.pooling.advice import DepthAdvice, Gain, depth_advice, gains_by_depth, gains_by_model
from lookalike.pooling.source_spec import SourceKind
from pooling.models import Pool
from pooling.pools.queries import stored_proposals

LEAST_SHARE = 0.05  # one lookalike in twenty new pairs


@dataclass(frozen=True)
class YieldRow:
    """What some pairs brought: of a model, or of a depth.

    Attributes:
        name: the model's spec, or the depth.
        gain: of all its pairs.
        alone: of those that no other model proposed; None for a depth.
        per_hour: positives per hour of all experts; None before anything is judged.
    """

    name: str
    gain: Gain
    alone: Gain | None
    per_hour: float | None


@dataclass(frozen=True)
class Yields:
    """All of it, from one campaign's labels.

    Attributes:
        n_votes: that count, of each judged pair in the mean.
        seconds: of one judge for a pair.
        n_timed: answers whose times these are the mean of; 0 where nothing was measured.
        has_chance: whether some pairs were drawn by chance; these have no depth.
        advice: None before any pair of a model with ranks is judged.
    """

    campaign: Campaign
    n_votes: float
    seconds: float
    n_timed: int
    models: list[YieldRow]
    depths: list[YieldRow]
    has_chance: bool
    advice: DepthAdvice | None


def measured_pace(campaign: Campaign) -> tuple[float, int]:
    """Return the mean seconds that a pair was looked at, and of how many answers.

    Pairs that lay there while the judge was away are left out, as on *Quality*, and so are
    imported answers without a time.
    """
    timed = Judgement.objects.filter(
        question__campaign=campaign,
        question__kind=QuestionKind.PAIR,
        is_excluded=False,
        event__visible_ms__gt=0,
        event__visible_ms__lte=IDLE_SECONDS * 1000,
    ).aggregate(mean=Avg("event__visible_ms"), n=Count("pk"))
    return (timed["mean"] or 0.0) / 1000, timed["n"]


def compute_yields(pool: Pool, seconds: float, person: User) -> Yields | None:
    """Return what the newest campaign of a pool has found, None before any pair has a label.

    Campaigns that are judged in rounds are left out.

    Where its labels are hidden, it is None for all but admins: sums of them would tell them.

    Args:
        pool: which.
        seconds: of one judge for a pair, where the campaign has no measured times.
        person: who looks.
    """
    links = pool.campaign_links.filter(in_rounds=False)  # what rounds draw is no plain sample
    link = links.select_related("campaign").order_by("-id").first()
    if link is None or (link.campaign.labels_hidden and not person.is_admin):
        return None
    found = _found(pool, link.campaign)
    if found is None:
        return None
    pace = found.measured if found.n_timed else seconds

    def row(name: str, gain: Gain, own: Gain | None = None) -> YieldRow:
        hourly = gain.per_hour(pace, found.n_votes) if gain.n_judged else None
        return YieldRow(name, gain, own, hourly)

    return Yields(
        campaign=link.campaign,
        n_votes=found.n_votes,
        seconds=pace,
        n_timed=found.n_timed,
        models=[row(*model) for model in found.models],
        depths=[row(str(rank), gain) for rank, gain in enumerate(found.depths, 1)],
        has_chance=found.has_chance,
        advice=depth_advice(found.depths, LEAST_SHARE),
    )


@dataclass(frozen=True)
class Found:
    """What the labels of a campaign say of the proposals of its pool.

    Attributes:
        models: spec, the gain of all its pairs, and of those that it alone proposed.
        depths: the gain of each rank.
        has_chance: whether some pairs were drawn by chance.
        n_votes: as `Yields`.
        measured: mean seconds of a judge for a pair, of `n_timed` answers.
        n_timed: as `Yields`.
    """

    models: list[tuple[str, Gain, Gain]]
    depths: list[Gain]
    has_chance: bool
    n_votes: float
    measured: float
    n_timed: int


def _found(pool: Pool, campaign: Campaign) -> Found | None:
    """Return what was found so far, kept until an answer or a model's proposals come."""
    done = pool.sources.filter(done_at__isnull=False).order_by("pk")
    sources = [f"{pk} {done_at}" for pk, done_at in done.values_list("pk", "done_at")]
    return kept(campaign, f"pool {pool.pk}: {sources}", lambda: _find(pool, campaign))


def _find(pool: Pool, campaign: Campaign) -> Found | None:
    table = labels(campaign)
    if not table.is_decided.any():
        return None
    sources, proposals = stored_proposals(pool)
    row = find_pairs(table, pool.query_ids[proposals.query], proposals.candidate)
    is_judged = (row >= 0) & table.is_decided[row]
    is_positive = is_judged & table.is_similar[row]
    has_ranks = np.array([source.kind != SourceKind.RANDOM for source in sources], bool)
    every, alone = gains_by_model(proposals, is_judged, is_positive)
    names = [source.spec for source in sources]
    votes = (table.n_similar + table.n_different)[table.is_decided]
    return Found(
        list(zip(names, every, alone, strict=True)),
        gains_by_depth(proposals, is_judged, is_positive, has_ranks),
        bool(not has_ranks.all()),
        float(votes.mean()),
        *measured_pace(campaign),
    )
