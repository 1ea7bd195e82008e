"""Put templates to a panel, take its answers, and rule where it has no majority."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from accounts.models import User
from annotation.submissions import RejectedError
from conditional.errors import ConditionalError
from conditional.models import (
    RetrievalTemplate,
    TemplateRuling,
    TemplateSet,
    Verification,
    VerificationState,
    Verifier,
    VerifierAnswer,
)
from conditional.queries_verify import find_verifier, results_of, seen_order
from conditional.verdicts import PICK, Outcome
from conditional.verifier_answers import Batch, GivenAnswer
from pooling.errors import PoolError
from pooling.services_campaign import check_panel


@transaction.atomic
def open_verification(
    *,
    template_set: TemplateSet,
    name: str,
    panel: Sequence[User],
    n_templates: int | None = None,
    seed: int = 0,
    owner: User | None = None,
) -> Verification:
    """Ask a panel about a set's templates, or about a random sample of them.

    Args:
        n_templates: how many to draw; None for all.
        seed: of the sample and of every judge's orders; at least 0.

    Raises:
        ConditionalError: the name is taken or has no letter, nobody or somebody who may not
            judge is on the panel, or the number of templates is out of range.
    """
    try:
        check_panel(panel)
    except PoolError as problem:
        raise ConditionalError("panel", problem.message) from problem
    slug = slugify(name)[:80].strip("-")
    if not slug:
        raise ConditionalError("name", "give a name with at least one letter or digit.")
    known = list(template_set.templates.order_by("position").values_list("pk", flat=True))
    n_asked = len(known) if n_templates is None else n_templates
    if not 1 <= n_asked <= len(known):
        raise ConditionalError("n_templates", f"draw 1 to {len(known):,} templates.")
    if seed < 0:
        raise ConditionalError("seed", "the seed is a whole number from 0.")
    try:
        with transaction.atomic():
            verification = Verification.objects.create(
                slug=slug, name=name[:200], template_set=template_set, seed=seed, owner=owner
            )
    except IntegrityError:
        raise ConditionalError(
            "name", f"there is a verification “{slug}” already; choose another name."
        ) from None
    chosen = np.random.default_rng([seed, 2]).permutation(known)[:n_asked].tolist()
    verification.templates.add(*chosen)
    Verifier.objects.bulk_create(
        Verifier(verification=verification, annotator=person, number=number)
        for number, person in enumerate(panel)
    )
    return verification


def set_state(*, verification: Verification, is_open: bool) -> None:
    """Close a verification, or open it again."""
    state = VerificationState.OPEN if is_open else VerificationState.CLOSED
    Verification.objects.filter(pk=verification.pk).update(state=state)


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
    uids = [given.template for _, given in batch if isinstance(given, GivenAnswer)]
    templates = {row.uid: row for row in verifier.verification.templates.filter(uid__in=uids)}
    keys = [key for key, _ in batch]
    holders = dict(VerifierAnswer.objects.filter(uuid__in=keys).values_list("uuid", "verifier_id"))
    results: list[str | RejectedError] = []
    fresh: dict[uuid.UUID, VerifierAnswer] = {}
    for key, given in batch:
        if key in fresh or holders.get(key) == verifier.pk:
            results.append("duplicate")
            continue
        taken = _answer(verifier, templates, holders, given)
        if isinstance(taken, VerifierAnswer):
            fresh[key] = taken
        results.append(taken if isinstance(taken, RejectedError) else "saved")
    VerifierAnswer.objects.bulk_create(fresh.values())
    return results


def _answer(
    verifier: Verifier,
    templates: dict[uuid.UUID, RetrievalTemplate],
    holders: dict[uuid.UUID, int],
    given: GivenAnswer | RejectedError,
) -> VerifierAnswer | RejectedError:
    if isinstance(given, RejectedError):
        return given
    if given.uuid in holders:
        return RejectedError("uuid_taken", "This “uuid” belongs to another answer.")
    if not verifier.verification.is_open:
        return RejectedError("closed", "An admin has closed this campaign.")
    template = templates.get(given.template)
    if template is None:
        return RejectedError("not_served", "This campaign has no such question.")
    picked = None
    if given.choice == PICK:
        order = seen_order(verifier, template)
        if given.place is None or given.place >= len(order):
            return RejectedError("bad_value", f"There are {len(order)} images to choose from.")
        picked = order[given.place]
    return VerifierAnswer(
        uuid=given.uuid,
        verifier=verifier,
        template=template,
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
        ConditionalError: the panel has decided, or still answers, or there is no such template.
    """
    Verification.objects.select_for_update().get(pk=verification.pk)
    found = {one.template.uid: one for one in results_of(verification)}
    result = found.get(template_uid)
    if result is None:
        raise ConditionalError("template", "this verification has no such template.")
    if result.verdict.outcome != Outcome.ADJUDICATE:
        raise ConditionalError("template", "the panel decides about this template itself.")
    return TemplateRuling.objects.create(
        verification=verification, template=result.template, passes=passes, note=note, by=by
    )
