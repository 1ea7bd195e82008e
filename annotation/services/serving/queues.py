"""Write down who is asked what, and in which order.

When everyone judges every pair, the whole queue of each judge is drawn once, so that serving
is an index scan without locks. When k of n judge, only training and qualification are written
ahead; pairs are claimed as judges come for them (`annotation.services.serving.leases`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

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
from annotation.order.ordering import mixed_in, shuffled_by_query
from annotation.order.shared_order import shared_order
from annotation.order.visits import AskedPairs, judge_order, n_asked_again
from annotation.services.controls import asked_questions
from lookalike.core.arrays import Ints

ENTRY_COLUMNS = ("member_id", "question_id", "position", "place", "stage", "state")
APPEND = """
insert into annotation_queueentry (member_id, question_id, position, place, stage, state)
select %s, question, %s + number, %s + number, %s, 'open'
from unnest(%s::bigint[]) with ordinality as asked(question, number)
order by number
"""
TEACHING = {
    Stage.TRAINING: QuestionKind.TRAINING,
    Stage.QUALIFICATION: QuestionKind.QUALIFICATION,
}


def prepare_questions(*, campaign: Campaign) -> None:
    """Draw every judge's queue, or the order that they share (at the first opening)."""
    if campaign.serving == Serving.K_OF_N:
        _draw_shared_order(campaign)
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
        stages.append((Stage.JUDGING, _judging_order(campaign, rng)))
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
        _mix_in(member, _waiting(member), added, rng)


def mix_in_gold(*, campaign: Campaign, question_ids: list[int]) -> None:
    """Put new silent checks among what each judge has still to answer.

    Who has nothing left is not asked: a check alone shows itself. Nor is who has still to answer
    the same pair for the panel. Where k of n judge, checks come with the claims.
    """
    if campaign.serving == Serving.K_OF_N:
        return
    asked = _questions(campaign, QuestionKind.GOLD)
    asked = asked[np.isin(asked[:, 0], question_ids)]
    rows = campaign.questions.filter(kind=QuestionKind.PAIR).values_list(
        "query_id", "candidate_id", "subject", "id"
    )
    wanted = dict(campaign.questions.filter(pk__in=question_ids).values_list("id", "subject"))
    pair_of = {tuple(key): pk for *key, pk in rows.filter(query_id__in=asked[:, 1].tolist())}
    twins = np.array([pair_of.get((q, c, wanted[pk]), 0) for pk, q, c, _ in asked.tolist()])
    for member in campaign.panel.select_for_update():
        waiting = _waiting(member)
        added = asked[~np.isin(twins, waiting[:, 0])]
        if len(waiting) and len(added):
            rng = np.random.default_rng([campaign.seed, member.number, *sorted(question_ids)])
            _mix_in(member, waiting, added, rng)


def _mix_in(member: PanelMember, waiting: Ints, added: Ints, rng: np.random.Generator) -> None:
    """Put questions among those that wait for a judge, whose row is held."""
    campaign = member.campaign
    order = mixed_in(_blocks(campaign, waiting[:, 1]), _blocks(campaign, added[:, 1]), rng)
    places = member.last_place + 1 + np.argsort(order)
    _move(member, waiting[:, 0], places[: len(waiting)])
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
    """Return (n, 2): question and query id of what a judge is still to judge, in order."""
    entries = QueueEntry.objects.filter(member=member, stage=Stage.JUDGING, state=EntryState.OPEN)
    rows = entries.order_by("place", "question_id").values_list("question_id", "question__query_id")
    return np.array(list(rows), dtype=np.int64).reshape(-1, 2)


def _move(member: PanelMember, question_ids: Ints, places: Ints) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "update annotation_queueentry e set place = moved.place "
            "from unnest(%s::bigint[], %s::bigint[]) as moved(question_id, place) "
            "where e.member_id = %s and e.question_id = moved.question_id",
            [question_ids.tolist(), places.tolist(), member.pk],
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
    _set_positions(table[order, 0], begin + np.arange(len(order)))


def _draw_shared_order(campaign: Campaign) -> None:
    """Draw the shared order anew where claims come with controls."""
    if not (campaign.asks_again or campaign.questions.filter(kind=QuestionKind.GOLD).exists()):
        return
    pairs = AskedPairs(*_questions(campaign, QuestionKind.PAIR).T)
    rng = np.random.default_rng([campaign.seed, 0])
    order = shared_order(pairs, rng, mirror_percent=campaign.mirror_percent)
    _set_positions(pairs.question_ids[order], np.arange(order.size))


def _set_positions(question_ids: Ints, positions: Ints) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "update annotation_question q set position = moved.position "
            "from unnest(%s::bigint[], %s::bigint[]) as moved(id, position) where q.id = moved.id",
            [question_ids.tolist(), positions.tolist()],
        )


def _append(member: PanelMember, stages: Iterable[tuple[Stage, Ints]]) -> int:
    """Write entries behind the judge's last place; return how many."""
    n_written = 0
    with connection.cursor() as cursor:
        for stage, asked in stages:
            last = member.last_place + n_written
            cursor.execute(APPEND, [member.pk, last, last, stage.value, asked.tolist()])
            n_written += asked.size
    return n_written


def _questions(campaign: Campaign, kind: QuestionKind, first_position: int = 0) -> Ints:
    """Return (n, 4): question, query and candidate id, and phase, by id."""
    rows = campaign.questions.filter(kind=kind, position__gte=first_position)
    questions = list(rows.order_by("id").values_list("id", "query_id", "candidate_id", "phase"))
    return np.array(questions, dtype=np.int64).reshape(-1, 4)


def _blocks(campaign: Campaign, query_ids: Ints) -> Ints:
    """Return in which block each question is asked: that of its query, or one for all choices."""
    return np.zeros_like(query_ids) if campaign.kind.is_choice else query_ids


def _judging_order(campaign: Campaign, rng: np.random.Generator) -> Ints:
    """Draw what one judge is asked of pairs, with gold and the pairs that are asked again."""
    pairs = AskedPairs(*_questions(campaign, QuestionKind.PAIR).T)
    n_pairs = pairs.question_ids.size
    gold = _questions(campaign, QuestionKind.GOLD)[:, :2]
    order = judge_order(
        replace(pairs, query_ids=_blocks(campaign, pairs.query_ids)),
        np.stack([gold[:, 0], _blocks(campaign, gold[:, 1])], axis=1),
        rng,
        n_repeats=n_asked_again(n_pairs, campaign.repeat_percent),
        n_mirrors=n_asked_again(n_pairs, campaign.mirror_percent),
    )
    return asked_questions(campaign=campaign, pairs=pairs, order=order)
