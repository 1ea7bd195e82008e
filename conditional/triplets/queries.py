"""Reads of triplets: questions, what panels said of them, and the pictures that show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Count, Q, QuerySet

from annotation.models import Campaign
from annotation.queries.reviewing.adjudication import votes_wanted
from annotation.task_kinds import pick_place
from catalog.models import Catalog
from conditional.campaigns.queries import asked_subjects, by_condition, panel_intervals
from conditional.models import TripletQuestion, TripletSet
from conditional.triplets.pictures import ShownPicture, ShownTriplet, counted, image_uids
from lookalike.agreement.coefficients import Agreement
from lookalike.agreement.intervals import CoefficientIntervals
from lookalike.conditional.triplet_majority import (
    CANT_TELL,
    Closer,
    Standing,
    Tally,
    decide_closer,
    tally_outcomes,
)
from lookalike.conditional.verdicts import Vote, verdict_agreement
from pooling.models import Pool


def triplet_sets() -> QuerySet[TripletSet]:
    """Return the sets of triplets with how many panels they were put to, newest first."""
    sets = TripletSet.objects.select_related("catalog").order_by("-pk")
    return sets.annotate(n_campaigns=Count("campaigns"))


def places_to_compare() -> list[tuple[str, list[tuple[str, str]]]]:
    """Return, in groups, the finished pools and the catalogs with vectors of several models."""
    pools = Pool.objects.select_related("catalog").prefetch_related("sources__job").order_by("-pk")
    listed = [
        (f"pool:{pool.slug}", f"{pool.name} (over {pool.catalog.name})")
        for pool in pools
        if pool.has_ended and pool.query_catalog_id in {None, pool.catalog_id}
    ]
    complete = Count("embedding_sets", filter=Q(embedding_sets__is_complete=True))
    catalogs = Catalog.objects.annotate(n=complete).filter(n__gte=2).order_by("name")
    spaces = [(f"catalog:{one.slug}", f"{one.name} ({one.n} embedding sets)") for one in catalogs]
    groups = [("Finished pools", listed), ("Embedding sets of a catalog", spaces)]
    return [(title, found) for title, found in groups if found]


@dataclass(frozen=True)
class TripletResult:
    """What became of a triplet.

    Attributes:
        question: its row.
        votes: as given, without names, in no order of people.
        outcome: what they come to.
    """

    question: TripletQuestion
    votes: list[Vote]
    outcome: Closer

    @property
    def standing(self) -> Standing:
        """How it stands by votes and ruling."""
        return self.outcome.standing


def triplet_results(campaign: Campaign) -> list[TripletResult]:
    """Return what became of every triplet of a campaign, by position.

    A ruling decides what the votes have not. What nobody is going to judge any more waits for
    no vote.
    """
    n_wanted, asked = votes_wanted(campaign), asked_subjects(campaign)
    results = []
    for question in TripletQuestion.objects.filter(pk__in=asked).order_by("position"):
        found = asked[question.pk]
        n_given = len(found.votes)
        n_panel = n_given if found.is_finished else max(n_wanted, n_given)
        outcome = decide_closer(found.votes, n_panel)
        if outcome.standing == Standing.UNDECIDED and found.ruling is not None:
            outcome = replace(outcome, ruled=pick_place(found.ruling.answer))
        results.append(TripletResult(question, found.votes, outcome))
    return results


@dataclass(frozen=True)
class Group:
    """The figures of one condition, or of all triplets."""

    tally: Tally
    agreement: Agreement


@dataclass(frozen=True)
class TripletStatistics:
    """The figures of a campaign; `by_condition` has the largest condition first."""

    total: Group
    by_condition: list[tuple[str, Group]]


def triplet_statistics(results: Sequence[TripletResult]) -> TripletStatistics:
    """Count results."""
    groups = by_condition(results, lambda one: one.question.condition)
    return TripletStatistics(_group(results), [(name, _group(found)) for name, found in groups])


def _group(results: Sequence[TripletResult]) -> Group:
    return Group(
        tally_outcomes(one.outcome for one in results),
        verdict_agreement([one.votes for one in results], [2] * len(results), others=(CANT_TELL,)),
    )


def triplet_intervals(
    campaign: Campaign, results: Sequence[TripletResult]
) -> Mapping[str, CoefficientIntervals]:
    """Return the intervals of agreement on triplets; "can't tell" is an answer."""
    questions = [one.question for one in results]
    return panel_intervals(
        campaign,
        {one.pk: one.anchor_id for one in questions},
        dict.fromkeys((one.pk for one in questions), 2),
        (CANT_TELL,),
    )


def shown_results(results: Sequence[TripletResult]) -> list[ShownTriplet]:
    """Join results with their pictures and votes."""
    uids = image_uids(
        pk for one in results for pk in (one.question.anchor_id, *one.question.candidates)
    )
    rows = []
    for one in results:
        pictures = [ShownPicture("Anchor", uids[one.question.anchor_id])]
        counts = (one.outcome.n_first, one.outcome.n_second)
        for place, (pk, n) in enumerate(zip(one.question.candidates, counts, strict=True)):
            is_closer = one.outcome.place == place
            role = "Closer" if is_closer else "Candidate"
            pictures.append(ShownPicture(role, uids[pk], counted(n, "vote"), is_closer))
        n_cant = one.outcome.n_cant_tell
        rows.append(
            ShownTriplet(one.question.condition, pictures, f"{n_cant} can’t tell" if n_cant else "")
        )
    return rows
