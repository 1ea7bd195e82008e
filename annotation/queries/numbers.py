"""How much is done of campaigns: the one query behind every page and route that says it.

*Answers* are what judges answered and have not taken back, to questions of every kind. *Votes* are
the answers to pairs that count (`Judgement.is_counted`). What is done of a campaign is said in
answers where everyone judges every pair, and in votes where k of n judge.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, Count, QuerySet, Sum, When

from annotation.models import (
    Campaign,
    CampaignState,
    EntryState,
    PanelMember,
    Question,
    QuestionKind,
    QueueEntry,
    Serving,
    Stage,
)
from annotation.queries.kept import kept_of_each
from annotation.queries.prepared import rows_of

# Controls are few: to take them off is faster than to look at the question of every vote.
VOTES = """
select m.campaign_id, m.id,
    a.n_counted - (select count(*) from annotation_question q join annotation_judgement j
                   on j.question_id = q.id and j.member_id = m.id and j.is_counted
                   where q.campaign_id = m.campaign_id and q.kind <> 'pair'),
    a.n_excluded,
    (select v.received_at from annotation_judgementevent v
     where v.member_id = m.id order by v.id desc limit 1)
from annotation_panelmember m cross join lateral (
    select count(*) filter (where j.is_counted) as n_counted,
           count(*) filter (where j.is_excluded) as n_excluded
    from annotation_judgement j where j.member_id = m.id
) a
where m.campaign_id = any(%s)
"""


@dataclass(frozen=True)
class JudgeNumbers:
    """How far one judge has come.

    Attributes:
        member: the judge.
        n_answers: answers that stand.
        n_total: answers wanted; where k of n judge, as many as were lent so far.
        n_votes: answers that count for labels.
        n_excluded: answers that an admin has excluded.
        last_answer: when the last came.
    """

    member: PanelMember
    n_answers: int
    n_total: int
    n_votes: int
    n_excluded: int
    last_answer: datetime | None

    @property
    def stage(self) -> str:
        """Where the judge is, in words."""
        campaign = self.member.campaign
        if not self.member.is_active:
            return "–"
        if campaign.state == CampaignState.DRAFT:
            return "Not begun"
        is_judging = self.member.stage == Stage.JUDGING and campaign.serving == Serving.EVERYONE
        if is_judging and 0 < self.n_total <= self.n_answers:
            return "Done"
        return self.member.get_stage_display()


@dataclass(frozen=True)
class CampaignNumbers:
    """How far a campaign is; `n_done` of `n_total` are `unit`, answers or votes."""

    campaign: Campaign
    judges: list[JudgeNumbers]
    n_total: int

    @property
    def n_judges(self) -> int:
        """Judges on the panel."""
        return sum(judge.member.is_active for judge in self.judges)

    @property
    def n_answers(self) -> int:
        """Answers that stand."""
        return sum(judge.n_answers for judge in self.judges)

    @property
    def n_votes(self) -> int:
        """Answers that count for labels."""
        return sum(judge.n_votes for judge in self.judges)

    @property
    def n_excluded(self) -> int:
        """Answers that an admin has excluded."""
        return sum(judge.n_excluded for judge in self.judges)

    @property
    def unit(self) -> str:
        """What is counted as done."""
        return "votes" if self.campaign.serving == Serving.K_OF_N else "answers"

    @property
    def n_done(self) -> int:
        """Answers or votes, whichever are wanted."""
        return self.n_votes if self.unit == "votes" else self.n_answers

    @property
    def share_done(self) -> float:
        """The part done, 0..1."""
        return min(1.0, self.n_done / self.n_total) if self.n_total else 0.0


@dataclass(frozen=True)
class Counts:
    """What was counted of one campaign, by the id of the panel member.

    Attributes:
        votes: how many count, how many an admin has excluded, and when the last answer came.
        n_settled: questions that nobody needs to answer any more.
        n_wanted: votes wanted where k of n judge.
    """

    votes: dict[int, tuple[int, int, datetime | None]]
    n_settled: dict[int, int]
    n_wanted: int


def campaign_numbers(campaigns: Iterable[Campaign]) -> list[CampaignNumbers]:
    """Return how far campaigns are, in their order.

    Where everyone judges every pair, answers of all kinds are wanted but those to settled pairs,
    and none any more from judges who are not at work. Where k of n judge, votes are.
    """
    listed = list(campaigns)
    ids = [campaign.pk for campaign in listed]
    members = PanelMember.objects.filter(campaign__in=ids).select_related("annotator", "campaign")
    counts = kept_of_each(ids, "numbers", _counts)
    judges: dict[int, list[JudgeNumbers]] = {pk: [] for pk in ids}
    for member in members.order_by("campaign", "number"):
        counted = counts[member.campaign_id]
        n_total = member.n_total - counted.n_settled.get(member.pk, 0)
        votes = counted.votes.get(member.pk, (0, 0, None))
        judges[member.campaign_id].append(JudgeNumbers(member, member.n_done, n_total, *votes))
    return [
        CampaignNumbers(
            campaign,
            judges[campaign.pk],
            counts[campaign.pk].n_wanted
            if campaign.serving == Serving.K_OF_N
            else _answers_wanted(campaign, judges[campaign.pk]),
        )
        for campaign in listed
    ]


def _counts(campaign_ids: list[int]) -> dict[int, Counts]:
    settled = QueueEntry.objects.filter(
        member__campaign__in=campaign_ids, member__campaign__closes_settled=True,
        state=EntryState.SETTLED,
    )  # fmt: skip
    n_settled = settled.order_by().values_list("member__campaign", "member").annotate(Count("pk"))
    lent = Campaign.objects.filter(pk__in=campaign_ids, serving=Serving.K_OF_N)
    wanted = _votes_wanted(list(lent.values_list("pk", flat=True)))
    counts = {pk: Counts({}, {}, wanted.get(pk, 0)) for pk in campaign_ids}
    for campaign_id, member_id, *rest in rows_of(VOTES, campaign_ids):
        n_votes, n_excluded, last = rest
        counts[campaign_id].votes[member_id] = (n_votes, n_excluded, last)
    for campaign_id, member_id, n in n_settled:
        counts[campaign_id].n_settled[member_id] = n
    return counts


def numbers_of(campaign: Campaign) -> CampaignNumbers:
    """Return how far one campaign is."""
    return campaign_numbers([campaign])[0]


def _answers_wanted(campaign: Campaign, judges: Iterable[JudgeNumbers]) -> int:
    """Return the answers wanted where everyone judges every pair; none of a draft."""
    if campaign.state == CampaignState.DRAFT:
        return 0
    return sum(judge.n_total if is_at_work(judge.member) else judge.n_answers for judge in judges)


def _votes_wanted(campaign_ids: list[int]) -> dict[int, int]:
    """Return the votes wanted, by campaign, where k of n judge."""
    pairs = Question.objects.filter(campaign__in=campaign_ids, kind=QuestionKind.PAIR)
    wanted = Sum(Case(When(is_settled=True, then="n_counted"), default="campaign__k"))
    return dict(pairs.order_by().values_list("campaign").annotate(n=wanted))


def is_at_work(member: PanelMember) -> bool:
    """Whether answers are to be expected of a judge."""
    return member.is_active and member.stage != Stage.NOT_QUALIFIED


def members_at_work(campaign: Campaign) -> QuerySet[PanelMember]:
    """Return the judges who are waited for: those at work whom no admin has paused."""
    at_work = campaign.panel.filter(is_active=True, is_paused=False)
    return at_work.exclude(stage=Stage.NOT_QUALIFIED)
