"""Put templates or triplets to a panel, take its answers, and rule about templates."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np
from django.db import connection, transaction

from accounts.models import User
from annotation.answering.submissions import RejectedError
from audit.actions import Action
from audit.services import record
from conditional.models import (
    PanelQuestion,
    TemplateRuling,
    TemplateSet,
    TripletSet,
    Verification,
    VerificationState,
    Verifier,
    VerifierAnswer,
)
from conditional.stored_sets import make_slug, save_named
from conditional.triplets.judged import ensure_questions
from conditional.verification.answers import ABOUT_TEMPLATES, ABOUT_TRIPLETS, Batch, PostedAnswer
from conditional.verification.queries import find_verifier, list_results, seen_order
from lookalike.conditional.verdicts import PICK, Outcome
from lookalike.core.errors import Refused
from pooling.campaign.services import check_panel


@transaction.atomic
def open_verification(
    *,
    asked_set: TemplateSet | TripletSet,
    name: str,
    panel: Sequence[User],
    n_questions: int | None = None,
    seed: int = 0,
    guidelines: str = "",
    owner: User | None = None,
) -> Verification:
    """Ask a panel about a set's templates or triplets, or about a random sample of them.

    Args:
        n_questions: how many to draw; None for all.
        seed: of the sample and of every judge's orders; at least 0.
        guidelines: markdown that judges can read beside the questions.

    Raises:
        Refused: the name is taken or has no letter, nobody or somebody who may not
            judge is on the panel, or the number of questions is out of range.
    """
    check_panel(panel)
    if isinstance(asked_set, TemplateSet) and asked_set.templates.filter(gallery=[]).exists():
        raise Refused(
            "set", "its templates look among all images of a split, too many for a person to judge."
        )
    slug = make_slug(name)
    if seed < 0:
        raise Refused("seed", "the seed is a whole number from 0.")
    verification = Verification(
        slug=slug, name=name[:200], seed=seed, guidelines=guidelines, owner=owner
    )
    if isinstance(asked_set, TripletSet):
        ensure_questions(triplet_set=asked_set)
        verification.triplet_set = asked_set
    else:
        verification.template_set = asked_set
    chosen = _sample(asked_set, verification.noun, n_questions, seed)
    save_named(verification)
    asked = verification.triplets if verification.is_of_triplets else verification.templates
    asked.add(*chosen)
    Verifier.objects.bulk_create(
        Verifier(verification=verification, annotator=person, number=number)
        for number, person in enumerate(panel)
    )
    names = [person.get_username() for person in panel]
    record(owner, Action.VERIFICATION_OPENED, verification, set=asked_set, judges=names)
    return verification


def _sample(asked_set: TemplateSet | TripletSet, noun: str, n: int | None, seed: int) -> list[int]:
    """Draw the ids of so many questions of a set."""
    rows = asked_set.questions if isinstance(asked_set, TripletSet) else asked_set.templates
    known = list(rows.order_by("position").values_list("pk", flat=True))
    n_asked = len(known) if n is None else n
    if not 1 <= n_asked <= len(known):
        raise Refused("n_questions", f"draw 1 to {len(known):,} {noun}.")
    chosen: list[int] = np.random.default_rng([seed, 2]).permutation(known)[:n_asked].tolist()
    return chosen


@transaction.atomic
def set_state(*, verification: Verification, is_open: bool) -> None:
    """Close a verification, or open it again."""
    state = VerificationState.OPEN if is_open else VerificationState.CLOSED
    Verification.objects.filter(pk=verification.pk).update(state=state)
    action = Action.VERIFICATION_OPENED if is_open else Action.VERIFICATION_CLOSED
    record(None, action, verification, before=verification.state)


@transaction.atomic
def record_verdicts(
    *, verification_uid: uuid.UUID, annotator_id: int, batch: Batch
) -> list[str | RejectedError]:
    """Store a judge's answers; return "saved", "duplicate" or the refusal for each.

    A judge's submissions are taken one after the other (the seat is locked), so a repeated
    request changes nothing.

    Raises:
        NotVerifierError: no such verification, or the person is not on its panel.
    """
    found = find_verifier(verification_uid, annotator_id)
    seat = Verifier.objects.select_for_update(of=("self",)).select_related("verification")
    verifier = seat.get(pk=found.pk)
    is_open = _holds_open(verifier.verification)
    uids = [given.question for _, given in batch if isinstance(given, PostedAnswer)]
    questions = {row.uid: row for row in verifier.verification.questions.filter(uid__in=uids)}
    keys = [key for key, _ in batch]
    holders = dict(VerifierAnswer.objects.filter(uuid__in=keys).values_list("uuid", "verifier_id"))
    results: list[str | RejectedError] = []
    fresh: dict[uuid.UUID, VerifierAnswer] = {}
    for key, given in batch:
        if key in fresh or holders.get(key) == verifier.pk:
            results.append("duplicate")
            continue
        try:
            fresh[key] = _answer(verifier, questions, holders, given, is_open=is_open)
        except RejectedError as refusal:
            results.append(refusal)
        else:
            results.append("saved")
    VerifierAnswer.objects.bulk_create(fresh.values())
    return results


def _holds_open(verification: Verification) -> bool:
    """Say whether answers are taken; whoever closes it meanwhile waits for this transaction."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select state from conditional_verification where id = %s for share", [verification.pk]
        )
        [state] = cursor.fetchone()
    return bool(state == VerificationState.OPEN)


def _answer(
    verifier: Verifier,
    questions: dict[uuid.UUID, PanelQuestion],
    holders: dict[uuid.UUID, int],
    given: PostedAnswer | RejectedError,
    *,
    is_open: bool,
) -> VerifierAnswer:
    """Return an unsaved answer; raise RejectedError where it cannot be taken."""
    if isinstance(given, RejectedError):
        raise given
    if given.uuid in holders:
        raise RejectedError("uuid_taken", "This “uuid” belongs to another answer.")
    verification = verifier.verification
    if not is_open:
        raise RejectedError("closed", "An admin has closed this campaign.")
    question = questions.get(given.question)
    if question is None:
        raise RejectedError("not_served", "This campaign has no such question.")
    allowed = ABOUT_TRIPLETS if verification.is_of_triplets else ABOUT_TEMPLATES
    if given.choice not in allowed:
        listed = ", ".join(sorted(allowed))
        raise RejectedError("bad_value", f"Here “choice” is one of: {listed}.")
    picked = None
    if given.choice == PICK:
        order = seen_order(verifier, question)
        if given.place is None or given.place >= len(order):
            raise RejectedError("bad_value", f"There are {len(order)} images to choose from.")
        picked = order[given.place]
    return VerifierAnswer(
        uuid=given.uuid,
        verifier=verifier,
        **{f"{verification.answered_field}_id": question.pk},
        choice=given.choice,
        picked=picked,
        device=given.device,
        shown_at=given.shown_at,
        decided_at=given.decided_at,
    )


@transaction.atomic
def rule_template(
    *, verification: Verification, template_uid: uuid.UUID, passes: bool, note: str, by: User
) -> TemplateRuling:
    """Decide about a template on which the panel has no majority.

    Raises:
        Refused: the panel has decided, or still answers, or there is no such template.
    """
    Verification.objects.select_for_update().get(pk=verification.pk)
    found = {one.template.uid: one for one in list_results(verification)}
    result = found.get(template_uid)
    if result is None:
        raise Refused("template", "this verification has no such template.")
    if result.verdict.outcome != Outcome.ADJUDICATE:
        raise Refused("template", "the panel decides about this template itself.")
    record(by, Action.RULING_MADE, verification, template=template_uid, passes=passes)
    return TemplateRuling.objects.create(
        verification=verification, template=result.template, passes=passes, note=note, by=by
    )
