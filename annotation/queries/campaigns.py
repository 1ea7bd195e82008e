"""Campaigns as their admins see them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db.models import Count
from django.urls import reverse

from accounts.models import User
from annotation.models import Campaign, CampaignState, QuestionKind
from annotation.models.campaigns import Campaigns
from annotation.queries.agreement_intervals import (
    Intervals,
    grade_intervals,
    pair_units,
    side_intervals,
)
from annotation.queries.kept import kept
from annotation.queries.labels import VoteTable, distinct_pairs, labels_from, votes
from catalog.browsing.pages import Tab
from lookalike.agreement.coefficients import Agreement, cohen_kappas
from lookalike.agreement.coefficients import agreement as agreement_of
from lookalike.agreement.grades import OrdinalAgreement, Scale, ordinal_agreement
from lookalike.agreement.intervals import kappa_interval
from lookalike.agreement.majority import majority
from lookalike.core.arrays import Bools, Ints
from lookalike.stats.intervals import UNDEFINED
from lookalike.stats.proportion import Interval

MAX_MATRIX = 12  # judges; a wider table helps nobody


@dataclass(frozen=True)
class LabelCounts:
    """What one rule makes of the votes."""

    rule: str
    n_similar: int
    n_different: int
    n_undecided: int


@dataclass(frozen=True)
class KappaRow:
    """One judge's Cohen's kappas with the others.

    Attributes:
        name: of the judge.
        kappas: with each judge, None on the diagonal and where undefined.
        intervals: of these over other queries.
    """

    name: str
    kappas: list[float | None]
    intervals: list[Interval]

    @property
    def cells(self) -> list[tuple[float | None, Interval]]:
        """Each kappa with its interval."""
        return list(zip(self.kappas, self.intervals, strict=True))


@dataclass(frozen=True)
class AgreementReport:
    """Everything the agreement page shows.

    Where pairs are graded, all but `grades` is of the sides of the threshold.
    """

    figures: Agreement
    scale: Scale | None
    grades: OrdinalAgreement | None
    n_ruled: int
    by_rule: list[LabelCounts]
    patterns: list[tuple[int, int, int]]
    kappas: list[KappaRow]
    intervals: Intervals
    grade_intervals: Intervals | None

    @property
    def shares(self) -> list[tuple[int, str, float]]:
        """Each grade with its word and its share of all votes."""
        if self.scale is None or self.grades is None:
            return []
        of_grade = zip(self.scale.words, self.grades.prevalence, strict=True)
        return [(grade, word, share) for grade, (word, share) in enumerate(of_grade)]


def campaigns_shown_to(person: User) -> Campaigns:
    """Return the campaigns that a reader may know: drafts are their admins' alone."""
    campaigns = Campaign.objects.all()
    return campaigns if person.is_admin else campaigns.exclude(state=CampaignState.DRAFT)


def campaign_tabs(campaign: Campaign, current: str) -> list[Tab]:
    """Return the pages of a campaign, the current one marked."""
    pages = (
        ("Progress", "campaign"),
        ("Panel", "panel"),
        ("Guidelines", "edit_guidelines"),
        ("Gold", "gold"),
        ("Questions", "questions"),
        ("Answers", "answers_given"),
        ("Quality", "quality"),
        ("Results", page) if (page := campaign.kind.results_page) else ("Agreement", "agreement"),
        ("Adjudication", "adjudication"),
        ("Settings", "settings"),
    )
    return [
        Tab(
            label,
            reverse(name if ":" in name else f"annotation:{name}", args=[campaign.slug]),
            name == current,
        )
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
    return kept(campaign, "agreement", lambda: _agreement_report(campaign))


def _agreement_report(campaign: Campaign) -> AgreementReport:
    cast, scale = votes(campaign), campaign.kind.scale
    table = labels_from(cast, campaign)
    counts = np.stack([table.n_different, table.n_similar], axis=1)
    by_rule = []
    for rule in ("negative", "undecided", "unanimous"):
        outcome = majority(table.n_similar, table.n_different, rule)
        n_decided, n_similar = int(outcome.is_decided.sum()), int(outcome.is_similar.sum())
        n_voted = int((counts.sum(axis=1) > 0).sum())
        by_rule.append(LabelCounts(rule, n_similar, n_decided - n_similar, n_voted - n_decided))
    columns, at = distinct_pairs(counts[counts.sum(axis=1) > 0])
    n_pairs = np.bincount(at, minlength=len(columns[0]))
    patterns = [(int(s), int(d), int(n)) for d, s, n in zip(*columns, n_pairs, strict=True)]
    return AgreementReport(
        figures=agreement_of(counts),
        scale=scale,
        grades=None if table.grade_counts is None else ordinal_agreement(table.grade_counts),
        n_ruled=int(table.is_ruled.sum()),
        by_rule=by_rule,
        patterns=patterns[::-1],
        kappas=_kappas(campaign, cast),
        intervals=side_intervals(cast),
        grade_intervals=grade_intervals(cast, scale.n_grades) if scale else None,
    )


def _kappas(campaign: Campaign, table: VoteTable) -> list[KappaRow]:
    members = list(campaign.panel.select_related("annotator"))
    if not 2 <= len(members) <= MAX_MATRIX:
        return []
    pair_of = table.pair_of
    people = np.array([member.annotator_id for member in members])
    in_order = np.argsort(people)
    judge_of = in_order[np.searchsorted(people, table.annotator_ids, sorter=in_order)]
    shape = (int(pair_of.max(initial=-1)) + 1, len(members))
    counts = np.zeros(shape, dtype=np.int64)
    is_given = np.zeros(shape, dtype=bool)
    counts[pair_of, judge_of] = table.is_similar
    is_given[pair_of, judge_of] = True
    kappas: list[list[Any]] = cohen_kappas(counts, is_given).tolist()
    intervals = _kappa_intervals(counts, is_given, pair_units(table))
    return [
        KappaRow(member.annotator.username, [None if k != k else k for k in row], ends)  # noqa: PLR0124
        for member, row, ends in zip(members, kappas, intervals, strict=True)
    ]


def _kappa_intervals(counts: Ints, is_given: Bools, units: Ints) -> list[list[Interval]]:
    n_judges = counts.shape[1]
    found = [[UNDEFINED] * n_judges for _ in range(n_judges)]
    for i in range(n_judges):
        for j in range(i + 1, n_judges):
            both = is_given[:, i] & is_given[:, j]
            of = kappa_interval(counts[both, i], counts[both, j], units[both])
            found[i][j] = found[j][i] = of
    return found
