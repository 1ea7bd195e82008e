"""Reads of triplets: questions, what panels said of them, and the pictures that show it."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from catalog.models import Catalog, Image
from conditional.models import Triplet, TripletQuestion, TripletSet, Verification
from conditional.verification.queries import votes_by_question
from lookalike.agreement.coefficients import Agreement
from lookalike.conditional.triplet_majority import (
    CANT_TELL,
    Closer,
    Tally,
    decide_closer,
    tally_outcomes,
)
from lookalike.conditional.verdicts import Vote, verdict_agreement
from pooling.models import Pool


def triplet_sets() -> QuerySet[TripletSet]:
    """Return the sets of triplets with how many panels they were put to, newest first."""
    sets = TripletSet.objects.select_related("catalog").order_by("-pk")
    return sets.annotate(n_campaigns=Count("verifications"))


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


def triplet_results(verification: Verification) -> list[TripletResult]:
    """Return what became of every triplet of a campaign, by position."""
    n_panel = verification.panel.count()
    votes = votes_by_question(verification)
    results = []
    for question in verification.triplets.order_by("position"):
        given = votes.get(question.pk, [])
        results.append(TripletResult(question, given, decide_closer(given, n_panel)))
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
    of_condition: dict[str, list[TripletResult]] = {}
    for one in results:
        of_condition.setdefault(one.question.condition, []).append(one)
    by_condition = [(name, _group(found)) for name, found in of_condition.items()]
    return TripletStatistics(
        total=_group(results),
        by_condition=sorted(by_condition, key=lambda pair: (-pair[1].tally.n, pair[0])),
    )


def _group(results: Sequence[TripletResult]) -> Group:
    return Group(
        tally_outcomes(one.outcome for one in results),
        verdict_agreement([one.votes for one in results], [2] * len(results), others=(CANT_TELL,)),
    )


@dataclass(frozen=True)
class ShownPicture:
    """A picture of a triplet: what it is there, and a note beneath it."""

    role: str
    uid: uuid.UUID
    note: str = ""
    is_closer: bool = False


@dataclass(frozen=True)
class ShownTriplet:
    """A triplet with its pictures, the anchor first; for people who may see everything.

    `said` are the models by the role of the picture that they put closer.
    """

    condition: str
    pictures: list[ShownPicture]
    note: str = ""
    said: Sequence[tuple[str, list[str]]] = ()


def shown_answers(triplets: Iterable[Triplet]) -> list[ShownTriplet]:
    """Join answers with their pictures."""
    rows = list(triplets)
    uids = image_uids(pk for row in rows for pk in (row.anchor_id, row.closer_id, row.farther_id))
    return [
        ShownTriplet(
            row.condition,
            [
                ShownPicture("Anchor", uids[row.anchor_id]),
                ShownPicture("Closer", uids[row.closer_id], is_closer=True),
                ShownPicture("Farther", uids[row.farther_id]),
            ],
        )
        for row in rows
    ]


def shown_questions(questions: Iterable[TripletQuestion]) -> list[ShownTriplet]:
    """Join questions with their pictures, and with who said what where they were suggested."""
    rows = list(questions)
    uids = image_uids(pk for row in rows for pk in (row.anchor_id, *row.candidates))
    return [_question(row, uids) for row in rows]


def _question(row: TripletQuestion, uids: Mapping[int, uuid.UUID]) -> ShownTriplet:
    specs_by_role: dict[str, list[str]] = {"A": [], "B": []}
    for spec, margin in row.facts.get("margins", {}).items():
        if margin:
            specs_by_role["A" if margin > 0 else "B"].append(spec)
    pictures = [ShownPicture("Anchor", uids[row.anchor_id])]
    for (role, specs), pk in zip(specs_by_role.items(), row.candidates, strict=True):
        note = f"{role}: {_counted(len(specs), 'model')}" if specs else ""
        pictures.append(ShownPicture(role, uids[pk], note))
    disagreement = row.facts.get("disagreement")
    note = "" if disagreement is None else f"disagreement {disagreement:.2f}"
    return ShownTriplet(
        row.condition, pictures, note, [one for one in specs_by_role.items() if one[1]]
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
            pictures.append(ShownPicture(role, uids[pk], _counted(n, "vote"), is_closer))
        n_cant = one.outcome.n_cant_tell
        rows.append(
            ShownTriplet(one.question.condition, pictures, f"{n_cant} can’t tell" if n_cant else "")
        )
    return rows


def _counted(n: int, noun: str) -> str:
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def image_uids(wanted: Iterable[int]) -> dict[int, uuid.UUID]:
    """Return the uids of images by their row ids."""
    return dict(Image.objects.filter(pk__in=set(wanted)).values_list("pk", "uid"))
