"""Write down who is asked what, and in which order.

When everyone judges every pair, the whole queue of each judge is drawn once, so that serving
is an index scan without locks. When k of n judge, only training and qualification are written
ahead; pairs are claimed as judges come for them (`annotation.services.leases`).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable

import numpy as np
from django.db.models import F

from annotation.models import (
    Campaign,
    EntryState,
    PanelMember,
    Question,
    QuestionKind,
    QueueEntry,
    Serving,
    Stage,
)
from annotation.ordering import (
    Controls,
    Ints,
    judge_order,
    sampled_mirrors,
    sampled_repeats,
    shuffled_by_query,
)
from annotation.services.bulk import copy_rows, refresh_statistics

SILENT = (QuestionKind.GOLD, QuestionKind.REPEAT, QuestionKind.MIRROR)
TEACHING = {
    Stage.TRAINING: QuestionKind.TRAINING,
    Stage.QUALIFICATION: QuestionKind.QUALIFICATION,
}


def prepare_questions(*, campaign: Campaign) -> None:
    """Draw the repeats and mirrored pairs, then every judge's queue (at the first opening)."""
    if campaign.serving == Serving.EVERYONE:
        _draw_controls(campaign)
    for member in campaign.panel.all():
        prepare_member(member=member)
    refresh_statistics(Question, QueueEntry)


def prepare_member(*, member: PanelMember) -> None:
    """Write one judge's queue: training, qualification, then the pairs with their controls."""
    campaign = member.campaign
    rng = np.random.default_rng([campaign.seed, member.number])
    stages: list[tuple[Stage, Ints]] = []
    for stage, kind in TEACHING.items():
        asked = _questions(campaign, kind)
        stages.append((stage, asked[shuffled_by_query(asked[:, 1], rng), 0]))
    if campaign.serving == Serving.EVERYONE:
        pairs = _questions(campaign, QuestionKind.PAIR)
        order = judge_order(pairs[:, 0], pairs[:, 1], _controls(campaign), rng)
        stages.append((Stage.JUDGING, order))
    n_total = _append(member, stages)
    first = next((stage for stage, asked in stages if asked.size), Stage.JUDGING)
    PanelMember.objects.filter(pk=member.pk).update(
        n_total=n_total, last_place=n_total, stage=first
    )


def append_questions(*, campaign: Campaign, first_position: int) -> None:
    """Put the pairs from `first_position` on at the end of every judge's queue."""
    if campaign.serving == Serving.K_OF_N:
        return  # they are claimed like the others
    added = _questions(campaign, QuestionKind.PAIR, first_position)
    for member in campaign.panel.select_for_update():
        rng = np.random.default_rng([campaign.seed, member.number, first_position])
        order = added[shuffled_by_query(added[:, 1], rng), 0]
        n_added = _append(member, [(Stage.JUDGING, order)])
        PanelMember.objects.filter(pk=member.pk).update(
            n_total=F("n_total") + n_added, last_place=F("last_place") + n_added
        )


def _append(member: PanelMember, stages: Iterable[tuple[Stage, Ints]]) -> int:
    """Write entries behind the judge's last place; return how many."""
    numbered = enumerate(
        ((stage, int(question)) for stage, asked in stages for question in asked),
        start=member.last_place + 1,
    )
    rows = [
        (member.pk, question, place, place, stage.value, EntryState.OPEN.value)
        for place, (stage, question) in numbered
    ]
    columns = ("member_id", "question_id", "position", "place", "stage", "state")
    copy_rows(QueueEntry, columns, rows)
    return len(rows)


def _questions(campaign: Campaign, kind: QuestionKind, first_position: int = 0) -> Ints:
    """Return (n, 2): question id and query id, by id."""
    rows = campaign.questions.filter(kind=kind, position__gte=first_position)
    found = list(rows.order_by("id").values_list("id", "query_id"))
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def _controls(campaign: Campaign) -> Controls:
    rows = campaign.questions.filter(kind__in=SILENT).order_by("id")
    table = np.array(
        [(q, query, original or 0) for q, query, original in
         rows.values_list("id", "query_id", "original_id")],
        dtype=np.int64,
    ).reshape(-1, 3)  # fmt: skip
    return Controls(table[:, 0], table[:, 1], table[:, 2])


def _draw_controls(campaign: Campaign) -> None:
    """Choose which pairs are asked twice, and which once more the other way round."""
    pairs = list(
        campaign.questions.filter(kind=QuestionKind.PAIR)
        .order_by("id")
        .values_list("id", "query_id", "candidate_id")
    )
    query_ids = np.array([query for _, query, _ in pairs], dtype=np.int64)
    rng = np.random.default_rng([campaign.seed, 0])
    repeated = sampled_repeats(query_ids, campaign.repeat_percent, rng)
    mirrored = sampled_mirrors(len(pairs), campaign.mirror_percent, rng)
    both_ways = {(query, candidate) for _, query, candidate in pairs}
    rows = []
    for index in repeated:
        original, query, candidate = pairs[index]
        rows.append((QuestionKind.REPEAT, query, candidate, original))
    for index in mirrored:
        original, query, candidate = pairs[index]
        if (candidate, query) not in both_ways:  # the pool asks it both ways already
            rows.append((QuestionKind.MIRROR, candidate, query, original))
    Question.objects.bulk_create(
        [
            Question(uid=uuid.uuid4(), campaign=campaign, query_id=query, kind=kind, position=0,
                     candidate_id=candidate, original_id=original)
            for kind, query, candidate, original in rows
        ],
        batch_size=2000,
    )  # fmt: skip
