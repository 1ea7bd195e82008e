"""What became of the templates that a campaign has put to its panel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from annotation.models import Adjudication, Campaign
from annotation.queries.choices import answers_by_judge, standing_answers
from annotation.queries.reviewing.adjudication import finished_ids, votes_wanted
from catalog.models import Image
from conditional.campaigns.kinds import PASSES, vote_of
from conditional.models import RetrievalTemplate
from lookalike.agreement.coefficients import Agreement
from lookalike.agreement.intervals import CoefficientIntervals
from lookalike.conditional.verdict_intervals import JudgedAnswer, verdict_intervals
from lookalike.conditional.verdicts import (
    OTHER_CHOICES,
    Outcome,
    Share,
    Verdict,
    Vote,
    count_verdicts,
    decide,
    verdict_agreement,
)
from lookalike.stats.units import Units

Found = TypeVar("Found")


@dataclass(frozen=True)
class Asked:
    """One of a campaign's questions, by the id of what it asks about.

    Attributes:
        votes: as given, without names, in no order of people.
        is_finished: nobody is going to judge it any more.
        ruling: what an admin ruled, if anything.
    """

    votes: list[Vote]
    is_finished: bool
    ruling: Adjudication | None


def asked_subjects(campaign: Campaign) -> dict[int, Asked]:
    """Return what was said of a campaign's questions, by the id of template or triplet."""
    answers, finished = standing_answers(campaign), finished_ids(campaign)
    rulings = {
        one.question_id: one for one in Adjudication.objects.filter(question__campaign=campaign)
    }
    questions = campaign.questions.filter(kind="pair").values_list("pk", "subject")
    return {
        subject: Asked(
            [vote_of(one) for one in answers.get(pk, [])], pk in finished, rulings.get(pk)
        )
        for pk, subject in questions
    }


@dataclass(frozen=True)
class Result:
    """What became of a template.

    Attributes:
        template: its row.
        votes: as given, without names, in no order of people.
        verdict: of the panel alone.
        ruling: what an admin ruled, which holds where the panel has no majority.
    """

    template: RetrievalTemplate
    votes: list[Vote]
    verdict: Verdict
    ruling: Adjudication | None

    @property
    def standing(self) -> Outcome:
        """How it stands by the panel alone."""
        return self.verdict.outcome

    @property
    def passes(self) -> bool | None:
        """Whether it is verified: by the panel, else by the ruling; None if neither says."""
        if self.verdict.outcome in (Outcome.PASSES, Outcome.FAILS):
            return self.verdict.outcome == Outcome.PASSES
        return None if self.ruling is None else self.ruling.answer == PASSES


def list_results(campaign: Campaign) -> list[Result]:
    """Return what became of every template of a campaign about templates, by position."""
    n_wanted, asked = votes_wanted(campaign), asked_subjects(campaign)
    results = []
    for template in RetrievalTemplate.objects.filter(pk__in=asked).order_by("position"):
        found = asked[template.pk]
        n_panel = max(n_wanted, len(found.votes))
        verdict = decide(found.votes, n_panel, len(template.gallery))
        if verdict.answer is None:  # ruled on once nobody is asked any more
            verdict = Verdict(Outcome.ADJUDICATE if found.is_finished else Outcome.WAITING)
        results.append(Result(template, found.votes, verdict, found.ruling))
    return results


@dataclass(frozen=True)
class Statistics:
    """The figures of a campaign.

    Attributes:
        total: over all templates.
        by_condition: the same for each condition, the largest first.
        agreement: between judges.
        n_verified: templates that pass, by the panel or a ruling.
    """

    total: Share
    by_condition: list[tuple[str, Share]]
    agreement: Agreement
    n_verified: int


def by_condition(
    results: Sequence[Found], condition_of: Callable[[Found], str]
) -> list[tuple[str, list[Found]]]:
    """Return results by their condition, the most frequent first."""
    groups: dict[str, list[Found]] = {}
    for one in results:
        groups.setdefault(condition_of(one), []).append(one)
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def compute_statistics(results: Sequence[Result]) -> Statistics:
    """Count results."""
    return Statistics(
        total=count_verdicts(one.verdict for one in results),
        by_condition=[
            (condition, count_verdicts(one.verdict for one in found))
            for condition, found in by_condition(results, lambda one: one.template.condition)
        ],
        agreement=verdict_agreement(
            [one.votes for one in results], [one.template.n_candidates for one in results]
        ),
        n_verified=sum(one.passes is True for one in results),
    )


def panel_intervals(
    campaign: Campaign,
    compared: Mapping[int, int],
    n_candidates: Mapping[int, int],
    others: Sequence[str] = OTHER_CHOICES,
) -> Mapping[str, CoefficientIntervals]:
    """Return the intervals of a panel's agreement; questions of one product are one unit.

    Args:
        campaign: it.
        compared: the image that candidates are compared with, by the id of what is asked about.
        n_candidates: how many images there were, likewise.
        others: the answers beside picking an image.
    """
    place = {subject: at for at, subject in enumerate(compared)}
    questions = campaign.questions.filter(kind="pair").values_list("pk", "subject")
    at = {pk: place[subject] for pk, subject in questions if subject in place}
    images = Image.objects.filter(pk__in=set(compared.values())).exclude(product_id="")
    product_of = {
        str(pk): f"{catalog} {product}"
        for pk, catalog, product in images.values_list("pk", "catalog_id", "product_id")
    }
    units = Units.of([str(pk) for pk in compared.values()], product_of).codes.tolist()
    return verdict_intervals(
        [
            JudgedAnswer(at[question], str(member), vote_of(answer))
            for question, member, answer in answers_by_judge(campaign)
            if question in at
        ],
        [n_candidates[subject] for subject in compared],
        [str(code) for code in units],
        others,
    )


def template_intervals(
    campaign: Campaign, results: Sequence[Result]
) -> Mapping[str, CoefficientIntervals]:
    """Return the intervals of agreement on templates."""
    templates = [one.template for one in results]
    return panel_intervals(
        campaign,
        {one.pk: one.reference_id for one in templates},
        {one.pk: one.n_candidates for one in templates},
    )


def verified_templates(campaign: Campaign) -> list[RetrievalTemplate]:
    """Return the templates that passed, for a release."""
    return [one.template for one in list_results(campaign) if one.passes]
