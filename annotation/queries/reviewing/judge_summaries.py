"""What each judge's answers come to: read once, and kept while nothing changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.models import Campaign, Mode, PanelMember, QuestionKind
from annotation.queries.answer_codes import agrees
from annotation.queries.kept import kept_of_each
from annotation.queries.prepared import rows_of
from annotation.queries.reviewing.answer_table import UNKNOWN, AnswerTable, read_answer_table
from annotation.queries.reviewing.picked_places import PickedPlaces, picked_places
from lookalike.agreement.careless import Answers, Flag, careless_flags
from lookalike.agreement.judge_statistics import (
    Pace,
    SequenceEffect,
    Share,
    pace,
    sequence_effect,
    share_by_part,
)
from lookalike.agreement.leading_answers import shares_with_others

MOST_ANSWERS = 500_000  # of several campaigns that are read at once
NONE = Share(0, 0)
GOLD = f"""
select e.member_id, q.kind, count(*) filter (where {agrees("j.answer", "g.answer")}), count(*)
from annotation_gold g
join annotation_question q on q.id = g.question_id
join annotation_queueentry e on e.question_id = q.id
join annotation_judgement j on j.question_id = q.id and j.member_id = e.member_id
where q.campaign_id = any(%s::bigint[]) and j.is_counted
group by 1, 2
"""  # noqa: S608  (constants)
SELF = f"""
select j.member_id, q.kind, count(*) filter (where {agrees("j.answer", "o.answer")}), count(*)
from annotation_judgement j
join annotation_question q on q.id = j.question_id
join annotation_judgement o on o.question_id = q.original_id and o.member_id = j.member_id
where q.campaign_id = any(%s::bigint[]) and q.kind in ('repeat', 'mirror')
  and j.is_counted and not o.is_excluded and o.answer not in ('cant_tell', 'skip')
group by 1, 2
"""  # noqa: S608  (constants)
CHECKS = f"""
select j.member_id, 'checks',
       count(*) filter (where {agrees("j.answer", "coalesce(g.answer, o.answer)")}), count(*)
from annotation_judgement j
join annotation_question q on q.id = j.question_id
left join annotation_gold g on g.question_id = q.id
left join annotation_judgement o on o.question_id = q.original_id and o.member_id = j.member_id
     and o.answer not in ('cant_tell', 'skip')
where q.campaign_id = any(%s::bigint[]) and q.kind in ('gold', 'repeat')
  and j.answer not in ('cant_tell', 'skip')
  and coalesce(g.answer, o.answer) is not null
group by 1
"""  # noqa: S608  (constants)


@dataclass(frozen=True)
class JudgeFigures:
    """What one judge's answers come to; shares of nothing are empty, not zero.

    Attributes:
        answers: how many of each answer to pairs; those that count, of similar and different.
        with_others: votes that are the majority of the other judges'.
        with_gold: silent gold answered as known.
        qualification: the same for the qualification round.
        with_self: repeated pairs answered as before.
        with_mirror: mirrored pairs answered as the pair was.
        pace: of answers given here.
        sequence: whether answers lean on the last one; from pair mode alone, since in a sheet
            the judge chooses the order.
        by_part: share of similar in successive fifths of the work done here.
    """

    answers: dict[str, int]
    with_others: Share
    with_gold: Share
    qualification: Share
    with_self: Share
    with_mirror: Share
    pace: Pace
    sequence: SequenceEffect
    by_part: list[Share]


@dataclass(frozen=True)
class JudgeSummary:
    """One judge's figures, and the signs of careless work in all that they answered.

    The signs look at excluded answers too, so that an exclusion hides none.
    """

    figures: JudgeFigures
    flags: list[Flag]


def judge_summaries(campaign: Campaign) -> dict[int, JudgeSummary]:
    """Return what each judge's answers come to, by the id of the panel member."""
    return summaries_by_campaign([campaign])[campaign.pk]


def summaries_by_campaign(campaigns: Iterable[Campaign]) -> dict[int, dict[int, JudgeSummary]]:
    """Return the same of several campaigns, by their ids."""
    by_id = {campaign.pk: campaign for campaign in campaigns}
    return kept_of_each(by_id, "judges", lambda ids: _summaries([by_id[pk] for pk in ids]))


def _summaries(campaigns: Sequence[Campaign]) -> dict[int, dict[int, JudgeSummary]]:
    """Read the answers of many campaigns by few statements, not too many at a time."""
    panels: dict[int, list[PanelMember]] = {campaign.pk: [] for campaign in campaigns}
    for member in PanelMember.objects.filter(campaign__in=panels).order_by("campaign", "number"):
        panels[member.campaign_id].append(member)
    shares = _shares(list(panels)) if panels else {}
    found = {}
    for some in _batches(campaigns, panels):
        judges = [member.pk for campaign in some for member in panels[campaign.pk]]
        table = read_answer_table(some, judges)
        for campaign in some:
            panel = panels[campaign.pk]
            own = table
            if len(some) > 1:
                own = table[np.isin(table.member, [member.pk for member in panel])]
            found[campaign.pk] = _summaries_of(campaign, panel, own, shares)
    return found


def _batches(
    campaigns: Sequence[Campaign], panels: Mapping[int, Sequence[PanelMember]]
) -> Iterator[list[Campaign]]:
    """Yield campaigns together whose answers fit into memory."""
    batch: list[Campaign] = []
    n_answers = 0
    for campaign in campaigns:
        n = sum(member.n_done for member in panels[campaign.pk])
        if batch and n_answers + n > MOST_ANSWERS:
            yield batch
            batch, n_answers = [], 0
        batch.append(campaign)
        n_answers += n
    if batch:
        yield batch


def _summaries_of(
    campaign: Campaign,
    panel: Sequence[PanelMember],
    table: AnswerTable,
    shares: Mapping[tuple[int, str], Share],
) -> dict[int, JudgeSummary]:
    pairs = table[table.of_kind(QuestionKind.PAIR)]
    with_others = _with_others(pairs)
    others = _others_similar(pairs)
    picked = picked_places(campaign, panel, table)
    summaries = {}
    for member in panel:
        mine, on_pairs = table.of_judge(member.pk), pairs.of_judge(member.pk)
        by_kind = {kind: share for (pk, kind), share in shares.items() if pk == member.pk}
        at_work, sequence, by_part = _timeline(on_pairs)
        figures = JudgeFigures(
            answers=_answers(on_pairs),
            with_others=with_others.get(member.pk, NONE),
            with_gold=by_kind.get("gold", NONE),
            qualification=by_kind.get("qualification", NONE),
            with_self=by_kind.get("repeat", NONE),
            with_mirror=by_kind.get("mirror", NONE),
            pace=at_work,
            sequence=sequence,
            by_part=by_part,
        )
        usual = {"others": others.get(member.pk, NONE), "checks": by_kind.get("checks", NONE)}
        flags = _flags(member, mine, on_pairs, picked, **usual)
        summaries[member.pk] = JudgeSummary(figures, flags)
    return summaries


def _shares(campaign_ids: list[int]) -> dict[tuple[int, str], Share]:
    """Return how controls were answered, by member id and kind; controls are few."""
    rows = [row for statement in (GOLD, SELF, CHECKS) for row in rows_of(statement, campaign_ids)]
    return {(member_id, kind): Share(n_hits, n) for member_id, kind, n_hits, n in rows}


def _answers(pairs: AnswerTable) -> dict[str, int]:
    """Return how often each answer was given to pairs, those excluded and surplus votes apart."""
    said = pairs.answer[pairs.is_counted | ~pairs.is_final & ~pairs.is_excluded]
    numbers, n = np.unique(said, return_counts=True)
    return {pairs.code(number): count for number, count in zip(numbers.tolist(), n.tolist(),
                                                               strict=True)}  # fmt: skip


def _with_others(pairs: AnswerTable) -> dict[int, Share]:
    """Compare each judge's counted votes with what most of the others said, by member id."""
    counted = pairs.is_counted
    columns = (pairs.question, pairs.member, pairs.side)
    return shares_with_others(*(column[counted] for column in columns))


def _others_similar(pairs: AnswerTable) -> dict[int, Share]:
    """Return how often the others said similar to the pairs that a judge answered, by member id."""
    _, question = np.unique(pairs.question, return_inverse=True)
    counted, similar = pairs.is_counted, pairs.is_counted & pairs.is_similar
    n_votes, n_similar = np.bincount(question, counted), np.bincount(question, similar)
    chosen = pairs.is_similar_or_different & (n_votes[question] > 0)
    votes, hits = n_votes[question] - counted, n_similar[question] - similar
    members, judge = np.unique(pairs.member[chosen], return_inverse=True)
    n, n_hits = np.bincount(judge, votes[chosen]), np.bincount(judge, hits[chosen])
    return {pk: Share(int(hit), int(of)) for pk, hit, of in zip(members.tolist(), n_hits, n,
                                                                strict=True)}  # fmt: skip


def _timeline(pairs: AnswerTable) -> tuple[Pace, SequenceEffect, list[Share]]:
    here = pairs[~pairs.in_mode(Mode.IMPORT) & ~pairs.is_excluded]
    votes = here[here.is_similar_or_different]
    in_order = votes[votes.in_mode(Mode.PAIR)]
    effect = sequence_effect(in_order.is_similar, in_order.query)
    return pace(here.visible_ms, here.load_ms), effect, share_by_part(votes.is_similar)


def _flags(
    member: PanelMember,
    mine: AnswerTable,
    pairs: AnswerTable,
    picked: PickedPlaces,
    *,
    others: Share,
    checks: Share,
) -> list[Flag]:
    kinds = (QuestionKind.PAIR, QuestionKind.GOLD, QuestionKind.REPEAT, QuestionKind.MIRROR)
    is_timed = ~mine.in_mode(Mode.IMPORT) & (mine.shown_us != UNKNOWN)
    timed = mine[is_timed & mine.of_kind(*kinds)]
    in_sheet = timed.in_mode(Mode.SHEET)
    on_pair = timed[timed.is_final & ~in_sheet]
    return careless_flags(
        Answers(
            timed.visible_ms,
            in_sheet,
            timed.shown_us // 1000,
            timed.is_final,
            picked.n_pictures,
            picked.of(member.pk),
        ),
        n_similar=int(pairs.is_similar.sum()),
        n_different=int((pairs.is_similar_or_different & ~pairs.is_similar).sum()),
        others=others,
        checks=checks,
        sequence=sequence_effect(on_pair.is_similar, on_pair.query),
        n_stops=member.n_stops,
    )
