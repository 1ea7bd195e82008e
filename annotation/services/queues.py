"""Write down who is asked what, and in which order.

When everyone judges every pair, the whole queue of each judge is drawn once, so that serving
is an index scan without locks. When k of n judge, only training and qualification are written
ahead; pairs are claimed as judges come for them (`annotation.services.lent_pairs`).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable

import numpy as np
from django.db import connection
from django.db.models import F

from annotation.bulk import copy_rows, refresh_statistics
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
    judge_order,
    mixed_in,
    sampled_mirrors,
    sampled_repeats,
    shuffled_by_query,
)
from lookalike.core.arrays import Ints

ENTRY_COLUMNS = ("member_id", "question_id", "position", "place", "stage", "state")
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
        questions, queries, phases = pairs.T
        order = judge_order(questions, queries, phases, _controls(campaign), rng)
        stages.append((Stage.JUDGING, order))
    n_total = _append(member, stages)
    first = next((stage for stage, asked in stages if asked.size), Stage.JUDGING)
    PanelMember.objects.filter(pk=member.pk).update(
        n_total=n_total, last_place=n_total, stage=first
    )


def mix_in_questions(*, campaign: Campaign, first_position: int) -> None:
    """Put the pairs from `first_position` on among those that each judge has still to answer.

    Nothing tells them from the others: what waits keeps its order and gets new places with them,
    behind all places that a judge's browser has seen. Who had finished has work again. Phases
    do not count here: a new pair stands anywhere among its query's.
    """
    if campaign.serving == Serving.K_OF_N:
        _mix_shared_order(campaign, first_position)
        return
    added = _questions(campaign, QuestionKind.PAIR, first_position)
    for member in campaign.panel.select_for_update():
        rng = np.random.default_rng([campaign.seed, member.number, first_position])
        waiting = _waiting(member)
        order = mixed_in(waiting[:, 2], added[:, 1], rng)
        places = member.last_place + 1 + np.argsort(order)
        _move(waiting[:, 0], places[: len(waiting)])
        rows = [
            (member.pk, question, place, place, Stage.JUDGING.value, EntryState.OPEN.value)
            for question, place in zip(
                added[:, 0].tolist(), places[len(waiting) :].tolist(), strict=True
            )
        ]
        copy_rows(QueueEntry, ENTRY_COLUMNS, rows)
        PanelMember.objects.filter(pk=member.pk).update(
            n_total=F("n_total") + len(added), last_place=F("last_place") + len(order)
        )


def _waiting(member: PanelMember) -> Ints:
    """Return (n, 3): entry, question and query id of what a judge is still to judge, in order."""
    entries = QueueEntry.objects.filter(member=member, stage=Stage.JUDGING, state=EntryState.OPEN)
    rows = entries.order_by("place", "id").values_list("id", "question_id", "question__query_id")
    return np.array(list(rows), dtype=np.int64).reshape(-1, 3)


def _move(entry_ids: Ints, places: Ints) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "update annotation_queueentry e set place = moved.place "
            "from unnest(%s::bigint[], %s::bigint[]) as moved(id, place) where e.id = moved.id",
            [entry_ids.tolist(), places.tolist()],
        )


def _mix_shared_order(campaign: Campaign, first_position: int) -> None:
    """Draw new positions for the pairs that no judge has come to yet, new ones among them."""
    panel = list(campaign.panel.select_for_update())  # a claim holds its judge's row
    begin = min(first_position, max((member.claimed_to for member in panel), default=0))
    pairs = campaign.questions.filter(kind=QuestionKind.PAIR, position__gte=begin)
    rows = list(pairs.order_by("position", "id").values_list("id", "query_id", "position"))
    table = np.array(rows, dtype=np.int64).reshape(-1, 3)
    is_new = table[:, 2] >= first_position
    rng = np.random.default_rng([campaign.seed, first_position])
    order = mixed_in(table[~is_new, 1], table[is_new, 1], rng)
    with connection.cursor() as cursor:
        cursor.execute(
            "update annotation_question q set position = moved.position "
            "from unnest(%s::bigint[], %s::bigint[]) as moved(id, position) where q.id = moved.id",
            [table[order, 0].tolist(), (begin + np.arange(len(order))).tolist()],
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
    copy_rows(QueueEntry, ENTRY_COLUMNS, rows)
    return len(rows)


def _questions(campaign: Campaign, kind: QuestionKind, first_position: int = 0) -> Ints:
    """Return (n, 3): question id, query id and phase, by id."""
    rows = campaign.questions.filter(kind=kind, position__gte=first_position)
    questions = list(rows.order_by("id").values_list("id", "query_id", "phase"))
    return np.array(questions, dtype=np.int64).reshape(-1, 3)


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
