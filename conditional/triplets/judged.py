"""Triplets as questions for a panel, and the panel's answers as a set of their own."""

from __future__ import annotations

import csv
import hashlib
import hmac
import io

from django.conf import settings
from django.db import connection, transaction

from accounts.models import User
from annotation.models import Campaign, CampaignState
from annotation.queries.choices import panel_votes, standing_answers
from annotation.task_kinds import pick_place
from audit.actions import Action
from audit.services import record
from conditional.models import TripletQuestion, TripletSet, TripletSource
from conditional.stored_sets import store, unused_slug
from conditional.triplets.services import people_figures, triplet_rows
from lookalike.agreement.pseudonyms import pseudonyms
from lookalike.conditional.triplet_majority import CANT_TELL
from lookalike.conditional.types import Triplet
from lookalike.core.errors import Refused
from lookalike.io.csv_text import protected

QUESTIONS_OF_ANSWERS = """
insert into conditional_tripletquestion
    (triplet_set_id, uid, position, condition, anchor_id, first_id, second_id, facts)
select %(set)s, gen_random_uuid(),
    row_number() over (order by condition collate "C", anchor_id, low, high) - 1,
    condition, anchor_id, low, high, '{}'::jsonb
from (
    select distinct condition, anchor_id,
        least(closer_id, farther_id) as low, greatest(closer_id, farther_id) as high
    from conditional_triplet where triplet_set_id = %(set)s
) as questions
"""


@transaction.atomic
def ensure_questions(*, triplet_set: TripletSet) -> None:
    """Store the questions behind a set's answers, unless they are stored already."""
    TripletSet.objects.select_for_update().get(pk=triplet_set.pk)
    if not triplet_set.questions.exists():
        with connection.cursor() as cursor:
            cursor.execute(QUESTIONS_OF_ANSWERS, {"set": triplet_set.pk})


def judged_triplets(campaign: Campaign) -> list[Triplet]:
    """Return the answers that name a side; images by row id, judges by pseudonym.

    Ordered by question and pseudonym, so that the order tells nothing about who came when.
    """
    people = campaign.panel.values_list("annotator_id", flat=True)
    names = pseudonyms(people, _secret(campaign))
    rows = []
    answers = panel_votes(campaign).values_list("question__subject", "member__annotator", "answer")
    questions = TripletQuestion.objects.in_bulk({subject for subject, *_ in answers})
    for subject, person, answer in answers:
        question, place, worker = questions[subject], pick_place(answer), names[person]
        closer, farther = (question.candidates[one] for one in ((0, 1) if place == 0 else (1, 0)))
        one = Triplet(
            str(question.anchor_id), str(closer), str(farther), question.condition, worker
        )
        rows.append((question.position, worker, one))
    return [one for *_, one in sorted(rows)]


def triplets_csv(campaign: Campaign) -> str:
    """Return the answers as `anchor,closer,farther,condition,worker`; images by uid."""
    asked = TripletSet.objects.get(campaigns__campaign=campaign)
    uids = asked.catalog.images.values_list("pk", "uid")
    name_of = {str(pk): str(uid) for pk, uid in uids.iterator(chunk_size=5000)}
    file = io.StringIO()
    table = csv.writer(file, lineterminator="\n")
    table.writerow(Triplet._fields)
    table.writerows(
        [*(name_of[pk] for pk in one[:3]), protected(one.condition), one.worker]
        for one in judged_triplets(campaign)
    )
    return file.getvalue()


def keep_answers(*, campaign: Campaign, name: str, owner: User | None) -> TripletSet:
    """Store the answers of a closed campaign as a set of triplets, which embeddings are scored on.

    Raises:
        Refused: the campaign is open or has no answer, or the name is taken.
    """
    asked = campaign.about.triplet_set
    if asked is None:
        raise Refused("campaign", f"“{campaign}” asks about templates.")
    if campaign.state != CampaignState.CLOSED:
        raise Refused("campaign", "close it first: the answers are kept as they stand.")
    slug = unused_slug(TripletSet, name)
    triplets = judged_triplets(campaign)
    if not triplets:
        raise Refused("campaign", "nobody has named a side yet.")
    swapped = [False] * len(triplets)
    named = {image for one in triplets for image in one[:3]}
    is_scaled = named <= asked.scale.keys()
    figures = people_figures(triplets, swapped, asked.scale if is_scaled and asked.scale else None)
    kept = TripletSet(
        slug=slug,
        name=name[:200],
        catalog=asked.catalog,
        source=TripletSource.CAMPAIGN,
        recipe={
            "campaign": campaign.slug,
            "triplets": asked.slug,
            "n_judges": campaign.panel.count(),
            "n_cant_tell": sum(one.count(CANT_TELL) for one in standing_answers(campaign).values()),
        },
        scale=asked.scale if is_scaled else {},
        figures=figures,
        owner=owner,
    )
    with transaction.atomic():
        store(kept, triplet_rows(kept, triplets, swapped))
        record(owner, Action.SET_MADE, kept, campaign=campaign)
    return kept


def _secret(campaign: Campaign) -> bytes:
    """Return the key of this campaign's pseudonyms: always the same, stored nowhere."""
    name = f"pseudonyms of the campaign {campaign.uid}"
    return hmac.new(settings.SECRET_KEY.encode(), name.encode(), hashlib.sha256).digest()
