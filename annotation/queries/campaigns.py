"""Campaigns as their admins see them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Case, Count, Q, QuerySet, Sum, When
from django.urls import reverse

from accounts.models import User
from annotation.models import (
    Campaign,
    CampaignState,
    EntryState,
    PanelMember,
    Question,
    QuestionKind,
    QueueEntry,
    Serving,
    Stage,
)
from annotation.queries.labels import labels, votes
from catalog.pages import Tab
from lookalike.agreement.coefficients import Agreement, cohen_kappas
from lookalike.agreement.coefficients import agreement as agreement_of
from lookalike.agreement.consensus import majority

MAX_MATRIX = 12  # judges; a wider table helps nobody


@dataclass(frozen=True)
class CampaignRow:
    """One campaign of the list: answers done and wanted; of votes where k of n judge."""

    campaign: Campaign
    n_judges: int
    n_done: int
    n_total: int

    @property
    def share_done(self) -> float:
        """The part done, 0..1."""
        return min(1.0, self.n_done / self.n_total) if self.n_total else 0.0


@dataclass(frozen=True)
class LabelCounts:
    """What one rule makes of the votes."""

    rule: str
    n_similar: int
    n_different: int
    n_undecided: int


@dataclass(frozen=True)
class KappaRow:
    """One judge's Cohen's kappas with the others, None on the diagonal and where undefined."""

    name: str
    kappas: list[float | None]


@dataclass(frozen=True)
class AgreementReport:
    """Everything the agreement page shows."""

    figures: Agreement
    n_ruled: int
    by_rule: list[LabelCounts]
    patterns: list[tuple[int, int, int]]
    kappas: list[KappaRow]


def campaigns_shown_to(person: User) -> QuerySet[Campaign]:
    """Return the campaigns that a reader may know: drafts are their admins' alone."""
    campaigns = Campaign.objects.all()
    return campaigns if person.is_admin else campaigns.exclude(state=CampaignState.DRAFT)


def campaign_rows(campaigns: QuerySet[Campaign] | None = None) -> list[CampaignRow]:
    """Return campaigns with what is done of them, newest first.

    Where everyone judges every pair, answers of all kinds are wanted but those to settled pairs,
    and none any more from judges who are not at work. Where k of n judge, votes are.
    """
    found = (Campaign.objects.all() if campaigns is None else campaigns).order_by("-pk")
    counted = list(found.annotate(n_judges=Count("panel", filter=Q(panel__is_active=True))))
    done = _votes_given([c.pk for c in counted if c.serving == Serving.K_OF_N])
    done |= _answers_given([c.pk for c in counted if c.serving == Serving.EVERYONE])
    return [CampaignRow(c, c.n_judges, *done.get(c.pk, (0, 0))) for c in counted]


def _votes_given(campaign_ids: list[int]) -> dict[int, tuple[int, int]]:
    """Return the votes that count and the votes wanted, by campaign, where k of n judge."""
    pairs = Question.objects.filter(campaign__in=campaign_ids, kind=QuestionKind.PAIR)
    wanted = Case(When(is_settled=True, then="n_counted"), default="campaign__k")
    sums = {"n_given": Sum("n_counted"), "n_wanted": Sum(wanted)}
    rows = pairs.order_by().values_list("campaign").annotate(**sums)
    return {campaign: (n_done, n_total) for campaign, n_done, n_total in rows}


def _answers_given(campaign_ids: list[int]) -> dict[int, tuple[int, int]]:
    """Return the answers given and wanted, by campaign, where everyone judges every pair."""
    members = PanelMember.objects.filter(campaign__in=campaign_ids).exclude(
        campaign__state=CampaignState.DRAFT
    )
    is_out = Q(is_active=False) | Q(stage=Stage.NOT_QUALIFIED)
    wanted = Case(When(is_out, then="n_done"), default="n_total")
    sums = {"n_given": Sum("n_done"), "n_wanted": Sum(wanted)}
    rows = members.order_by().values_list("campaign").annotate(**sums)
    settled = settled_entries(
        Q(member__campaign__in=campaign_ids) & Q(member__in=members.exclude(is_out))
    )
    less = Counter(dict(settled.values_list("member__campaign").annotate(Count("pk"))))
    return {campaign: (n_done, n_total - less[campaign]) for campaign, n_done, n_total in rows}


def settled_entries(which: Q) -> QuerySet[QueueEntry]:
    """Return the entries that need no answer, because their pairs were closed early."""
    closing = Q(member__campaign__closes_settled=True, state=EntryState.SETTLED)
    return QueueEntry.objects.filter(closing, which).order_by()


def campaign_tabs(campaign: Campaign, current: str) -> list[Tab]:
    """Return the pages of a campaign, the current one marked."""
    pages = (
        ("Progress", "campaign"),
        ("Panel", "panel"),
        ("Guidelines", "edit_guidelines"),
        ("Gold", "gold"),
        ("Quality", "quality"),
        ("Agreement", "agreement"),
        ("Adjudication", "adjudication"),
        ("Settings", "settings"),
    )
    return [
        Tab(label, reverse(f"annotation:{name}", args=[campaign.slug]), name == current)
        for label, name in pages
    ]


def gold_counts(campaign: Campaign) -> dict[str, int]:
    """Return how many questions of each kind there are."""
    counts = dict.fromkeys(QuestionKind.values, 0)
    rows = campaign.questions.order_by().values_list("kind").annotate(n=Count("pk"))
    counts.update({str(kind): n for kind, n in rows})
    return counts


def agreement_report(campaign: Campaign) -> AgreementReport:
    """Return how much the panel agrees, and what each rule would make of its votes."""
    table = labels(campaign)
    counts = np.stack([table.n_different, table.n_similar], axis=1)
    by_rule = []
    for rule in ("negative", "undecided", "unanimous"):
        outcome = majority(table.n_similar, table.n_different, rule)
        n_decided, n_similar = int(outcome.is_decided.sum()), int(outcome.is_similar.sum())
        n_voted = int((counts.sum(axis=1) > 0).sum())
        by_rule.append(LabelCounts(rule, n_similar, n_decided - n_similar, n_voted - n_decided))
    patterns, n = np.unique(counts[counts.sum(axis=1) > 0], axis=0, return_counts=True)
    return AgreementReport(
        figures=agreement_of(counts),
        n_ruled=int(table.is_ruled.sum()),
        by_rule=by_rule,
        patterns=[(int(s), int(d), int(k)) for (d, s), k in zip(patterns, n, strict=True)][::-1],
        kappas=_kappas(campaign),
    )


def _kappas(campaign: Campaign) -> list[KappaRow]:
    members = list(campaign.panel.select_related("annotator"))
    if not 2 <= len(members) <= MAX_MATRIX:
        return []
    table = votes(campaign)
    pair_of = table.pair_of
    column = {member.annotator_id: place for place, member in enumerate(members)}
    judge_of = np.array([column[person] for person in table.annotator_ids.tolist()], dtype=np.int64)
    shape = (int(pair_of.max(initial=-1)) + 1, len(members))
    counts = np.zeros(shape, dtype=np.int64)
    is_given = np.zeros(shape, dtype=bool)
    counts[pair_of, judge_of] = table.is_similar
    is_given[pair_of, judge_of] = True
    kappas: list[list[Any]] = cohen_kappas(counts, is_given).tolist()
    return [
        KappaRow(member.annotator.username, [None if k != k else k for k in row])  # noqa: PLR0124
        for member, row in zip(members, kappas, strict=True)
    ]
