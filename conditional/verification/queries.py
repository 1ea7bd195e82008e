"""Reads of verifications: judges' queues and answers, and what becomes of templates."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from catalog.models import Image
from conditional.models import (
    Choice,
    PanelQuestion,
    RetrievalTemplate,
    TemplateRuling,
    Verification,
    VerificationState,
    Verifier,
    VerifierAnswer,
)
from lookalike.agreement.coefficients import Agreement
from lookalike.conditional.crops import Dilation
from lookalike.conditional.verdicts import (
    Outcome,
    Share,
    Verdict,
    Vote,
    count_verdicts,
    decide,
    gallery_order,
    question_order,
    verdict_agreement,
)


class NotVerifierError(Exception):
    """There is no such verification for this person."""


def find_verifier(verification_uid: uuid.UUID, annotator_id: int) -> Verifier:
    """Return a person's seat on a panel.

    Raises:
        NotVerifierError: no such verification, or the person is not on its panel.
    """
    seats = Verifier.objects.select_related(
        "verification", "verification__template_set", "verification__triplet_set"
    )
    verifier = seats.filter(verification__uid=verification_uid, annotator_id=annotator_id).first()
    if verifier is None:
        raise NotVerifierError
    return verifier


def current_answers(verification: Verification) -> QuerySet[VerifierAnswer]:
    """Return the answers that count: the last of each judge and question, unless taken back."""
    field = f"{verification.answered_field}_id"
    given = VerifierAnswer.objects.filter(verifier__verification=verification)
    last = given.order_by("verifier_id", field, "-id").distinct("verifier_id", field)
    return VerifierAnswer.objects.filter(pk__in=last.values("pk")).exclude(choice=Choice.WITHDRAWN)


def votes_by_question(verification: Verification) -> dict[int, list[Vote]]:
    """Return the votes that count by the id of what they answer, in no order of people."""
    votes: dict[int, list[Vote]] = {}
    for answer in current_answers(verification):
        votes.setdefault(answer.question_id, []).append(Vote(answer.choice, answer.picked))
    return {pk: sorted(given, key=str) for pk, given in votes.items()}


def answered_by(verifier: Verifier) -> set[int]:
    """Return the ids of the questions that a judge has answered."""
    field = f"{verifier.verification.answered_field}_id"
    last = verifier.answers.order_by(field, "-id").distinct(field).values_list(field, "choice")
    return {question for question, choice in last if choice != Choice.WITHDRAWN}


@dataclass(frozen=True)
class VerifierProgress:
    """How far a judge has come."""

    n_done: int
    n_total: int

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to answer."""
        return self.n_done >= self.n_total

    @property
    def percent(self) -> int:
        """The share done, in whole percent."""
        return 100 * self.n_done // self.n_total if self.n_total else 0


def read_progress(verifier: Verifier) -> VerifierProgress:
    """Return how far a judge has come."""
    return VerifierProgress(len(answered_by(verifier)), verifier.verification.questions.count())


@dataclass(frozen=True)
class Queue:
    """A verification as a judge's home page lists it."""

    verification: Verification
    progress: VerifierProgress


def list_queues(annotator_id: int) -> list[Queue]:
    """Return the verifications that a person judges, newest first."""
    seats = Verifier.objects.filter(annotator_id=annotator_id).select_related("verification")
    return [Queue(seat.verification, read_progress(seat)) for seat in seats.order_by("-id")]


def next_questions(
    verifier: Verifier, n: int, *, but: Sequence[uuid.UUID] = ()
) -> list[PanelQuestion]:
    """Return the next questions that a judge has not answered, in the judge's own order.

    Args:
        n: how many at most.
        but: uids that the browser has already.
    """
    verification = verifier.verification
    if verification.state != VerificationState.OPEN:
        return []
    done = answered_by(verifier)
    known = verification.questions.order_by("position").values_list("position", "pk", "uid")
    pk_of = {position: (pk, uid) for position, pk, uid in known}
    order = question_order(verification.seed, verifier.number, list(pk_of))
    skipped = set(but)
    wanted = [
        pk for pk, uid in map(pk_of.__getitem__, order) if pk not in done and uid not in skipped
    ][:n]
    questions = verification.questions.in_bulk(wanted)
    return [questions[pk] for pk in wanted]


def seen_order(verifier: Verifier, question: PanelQuestion) -> list[int]:
    """Return the question's candidates in the order in which this judge sees them."""
    seed, number = verifier.verification.seed, verifier.number
    return gallery_order(seed, number, question.position, question.n_candidates)


def picture_for(
    verifier: Verifier, question_uid: uuid.UUID, slot: str
) -> tuple[Image, list[float] | None, Dilation] | None:
    """Return the picture in a slot of a judge's own question; None if none is.

    With its box, None for all of it, and how boxes are cut out.

    Args:
        slot: "reference", or the number of an image as this judge sees them.
    """
    question = verifier.verification.questions.filter(uid=question_uid).first()
    if question is None:
        return None
    if slot == "reference":
        image = Image.objects.get(pk=question.compared_id)
        return image, question.box_of(None), question.crops
    if not (slot.isascii() and slot.isdigit() and int(slot) < question.n_candidates):
        return None
    place = seen_order(verifier, question)[int(slot)]
    image = Image.objects.get(pk=question.candidates[place])
    return image, question.box_of(place), question.crops


@dataclass(frozen=True)
class Result:
    """What became of a template.

    Attributes:
        template: its row.
        votes: as given, without names, in no order of people.
        verdict: of the panel alone.
        ruling: what an admin ruled, if the panel had no majority.
    """

    template: RetrievalTemplate
    votes: list[Vote]
    verdict: Verdict
    ruling: TemplateRuling | None

    @property
    def passes(self) -> bool | None:
        """Whether it is verified: by the panel, else by the ruling; None if neither says."""
        if self.verdict.outcome in (Outcome.PASSES, Outcome.FAILS):
            return self.verdict.outcome == Outcome.PASSES
        return None if self.ruling is None else self.ruling.passes


def list_results(verification: Verification) -> list[Result]:
    """Return what became of every template of a verification of templates, by position."""
    n_panel = verification.panel.count()
    votes = votes_by_question(verification)
    rulings = {ruling.template_id: ruling for ruling in verification.rulings.order_by("id")}
    results = []
    for template in verification.templates.order_by("position"):
        given = votes.get(template.pk, [])
        verdict = decide(given, n_panel, len(template.gallery))
        ruling = rulings.get(template.pk) if verdict.outcome == Outcome.ADJUDICATE else None
        results.append(Result(template, given, verdict, ruling))
    return results


@dataclass(frozen=True)
class Statistics:
    """The figures of a verification.

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


def compute_statistics(results: Sequence[Result]) -> Statistics:
    """Count results."""
    of_condition: dict[str, list[Verdict]] = {}
    for one in results:
        of_condition.setdefault(one.template.condition, []).append(one.verdict)
    by_condition = [(name, count_verdicts(found)) for name, found in of_condition.items()]
    return Statistics(
        total=count_verdicts(one.verdict for one in results),
        by_condition=sorted(by_condition, key=lambda pair: (-pair[1].n, pair[0])),
        agreement=verdict_agreement(
            [one.votes for one in results], [one.template.n_candidates for one in results]
        ),
        n_verified=sum(one.passes is True for one in results),
    )


def verified_templates(verification: Verification) -> list[RetrievalTemplate]:
    """Return the templates that passed, for a release."""
    return [one.template for one in list_results(verification) if one.passes]


def panel_progress(verification: Verification) -> list[tuple[str, VerifierProgress]]:
    """Return how far each judge has come, by user name; for admins."""
    n_total = verification.questions.count()
    n_done = Counter(answer.verifier_id for answer in current_answers(verification))
    return [
        (seat.annotator.get_username(), VerifierProgress(n_done[seat.pk], n_total))
        for seat in verification.panel.select_related("annotator")
    ]
