"""Compare every counter that pages use with a recount of the rows, and repair on request."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction

from annotation.models import Campaign, PanelMember, QuestionKind
from annotation.queries.judges import counting_rules
from annotation.queries.prepared import rows_of
from annotation.services.counted_votes import count_votes, counted_votes, lock_panel, lock_questions

MEMBERS = """
select m.id, m.n_total, m.n_done, m.last_place, count(e.member_id),
       count(e.member_id) filter (where e.state = 'done'), coalesce(max(e.place), 0)
from annotation_panelmember m
left join annotation_queueentry e on e.member_id = m.id
where m.campaign_id = %s group by m.id order by m.number
"""
QUESTIONS = """
select q.id, q.uid::text, q.n_counted, q.n_free, q.is_settled::int, coalesce(l.n, 0)
from annotation_question q
left join (select e.question_id, count(*) as n from annotation_queueentry e
           join annotation_question q on q.id = e.question_id
           where q.campaign_id = %s and e.state = 'open' and e.lease_until is not null
           group by 1) l on l.question_id = q.id
where q.campaign_id = %s and q.kind = 'pair' order by q.id
"""
OVERFULL = """
select q.uid::text, count(*) from annotation_judgement j
join annotation_question q on q.id = j.question_id
where q.campaign_id = %s and q.kind = 'pair' and j.is_counted
group by q.uid having count(*) > %s
"""
UNMATCHED = """
select m.number, q.uid::text from annotation_judgement j
join annotation_question q on q.id = j.question_id
join annotation_panelmember m on m.id = j.member_id
left join annotation_queueentry e on e.question_id = j.question_id and e.member_id = j.member_id
left join annotation_judgementevent v on v.id = j.event_id
where q.campaign_id = %s and (
    e.member_id is null or e.state <> 'done' and not j.is_excluded or e.last_uuid <> v.uuid
    or v.answer <> j.answer
    or j.is_excluded <> exists (select from annotation_exclusion x
                                where x.event_id = v.id and x.ended_at is null)
)
"""
DONE_WITHOUT = """
select m.number, q.uid::text from annotation_queueentry e
join annotation_panelmember m on m.id = e.member_id
join annotation_question q on q.id = e.question_id
left join annotation_judgement j on j.question_id = e.question_id and j.member_id = e.member_id
where m.campaign_id = %s and e.state = 'done' and j.event_id is null
"""


@dataclass(frozen=True)
class Difference:
    """A counter that does not say what the rows say."""

    campaign: str
    where: str
    counter: str
    stored: int
    counted: int


@transaction.atomic
def reconcile(*, campaign: Campaign, repairs: bool = False) -> list[Difference]:
    """Return every difference between the counters of a campaign and its rows.

    The campaign's judges wait while it is counted, so that nothing moves meanwhile.

    Args:
        campaign: which.
        repairs: also set the counters to what was counted. Judgements are never changed.
    """
    rules = counting_rules(campaign)
    lock_panel(campaign.pk)
    drifts = _campaign(campaign, repairs) + _members(campaign, repairs) + _states(campaign)
    if rules.counts_votes:
        drifts += _questions(campaign, repairs)
    if rules.is_leased:
        drifts += [
            Difference(campaign.slug, f"question {uid}", "counted votes beyond k", n, rules.k)
            for uid, n in rows_of(OVERFULL, campaign.pk, rules.k)
        ]
    return drifts


def _campaign(campaign: Campaign, repairs: bool) -> list[Difference]:
    n_questions = campaign.questions.filter(kind=QuestionKind.PAIR).count()
    if repairs:  # written even if it is right, so that what is kept of the campaign is counted anew
        Campaign.objects.filter(pk=campaign.pk).update(n_questions=n_questions)
    if n_questions == campaign.n_questions:
        return []
    return [Difference(campaign.slug, "campaign", "n_questions", campaign.n_questions, n_questions)]


def _members(campaign: Campaign, repairs: bool) -> list[Difference]:
    differences = []
    names = dict(campaign.panel.values_list("pk", "annotator__username"))
    for pk, n_total, n_done, last_place, all_, done, end in rows_of(MEMBERS, campaign.pk):
        stored = {"n_total": n_total, "n_done": n_done, "last_place": last_place}
        counted = {"n_total": all_, "n_done": done, "last_place": end}
        differences += _differences(campaign, f"judge {names[pk]}", stored, counted)
        if repairs and stored != counted:
            PanelMember.objects.filter(pk=pk).update(**counted)
    return differences


def _differences(
    campaign: Campaign, where: str, stored: dict[str, int], counted: dict[str, int]
) -> list[Difference]:
    return [
        Difference(campaign.slug, where, counter, stored[counter], counted[counter])
        for counter in stored
        if stored[counter] != counted[counter]
    ]


def _states(campaign: Campaign) -> list[Difference]:
    """Find judgements that do not fit the queue or the last event; they need a person."""
    unmatched = rows_of(UNMATCHED, campaign.pk)
    without = rows_of(DONE_WITHOUT, campaign.pk)
    return [
        Difference(campaign.slug, f"judge {number}, question {uid}", what, 1, 0)
        for rows, what in (
            (unmatched, "judgement that its last event does not make"),
            (without, "answered question without a judgement"),
        )
        for number, uid in rows
    ]


def _questions(campaign: Campaign, repairs: bool) -> list[Difference]:
    rules = counting_rules(campaign)
    pairs = campaign.questions.filter(kind=QuestionKind.PAIR).order_by("pk")
    ids = list(pairs.values_list("pk", flat=True))
    lock_questions(ids)
    counts = counted_votes(rules, ids)
    differences, wrong = [], []
    rows = rows_of(QUESTIONS, campaign.pk, campaign.pk)
    for pk, uid, n_counted, n_free, settled, lent in rows:
        n_votes, is_settled = counts[pk]
        free = max(0, rules.k - n_votes - lent) if rules.is_leased and not is_settled else 0
        stored = {"n_counted": n_counted, "n_free": n_free, "is_settled": settled}
        counted = {"n_counted": n_votes, "n_free": free, "is_settled": int(is_settled)}
        differences += _differences(campaign, f"question {uid}", stored, counted)
        if stored != counted:
            wrong.append(pk)
    if repairs:
        count_votes(rules, wrong)
    return differences
