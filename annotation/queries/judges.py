"""Who is at work in which campaign; the row can be locked."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from django.utils.translation import gettext as _

from annotation.answering.submissions import RejectedError
from annotation.models import Campaign, CampaignState, Serving
from annotation.queries.prepared import prepared_cursor
from annotation.task_kinds import TaskKind, task_kind


class FixedRules(NamedTuple):
    """What never changes once a campaign's queues are drawn."""

    serving: str
    task_kind: str
    grades: str
    similar_from: int

    @property
    def kind(self) -> TaskKind:
        """The kind of task."""
        return task_kind(self.task_kind, self.grades, self.similar_from)


class NotOnPanelError(Exception):
    """The campaign does not exist for this person; views answer 404."""


@dataclass(frozen=True)
class CountingRules:
    """When a campaign's questions have enough votes."""

    campaign_id: int
    serving: str
    k: int
    tie_rule: str
    closes_settled: bool
    task_kind: str
    grades: str
    similar_from: int

    @property
    def kind(self) -> TaskKind:
        """The kind of task."""
        return task_kind(self.task_kind, self.grades, self.similar_from)

    @property
    def is_leased(self) -> bool:
        """Whether pairs are lent to judges for a while, not given."""
        return self.serving == Serving.K_OF_N

    @property
    def counts_votes(self) -> bool:
        """Whether questions keep a count, so that their rows must be locked."""
        return self.is_leased or self.closes_settled


def counting_rules(campaign: Campaign) -> CountingRules:
    """Return a campaign's rules."""
    return CountingRules(
        campaign.pk, campaign.serving, campaign.k, campaign.tie_rule, campaign.closes_settled,
        campaign.task_kind, campaign.grades, campaign.similar_from,
    )  # fmt: skip


@dataclass(frozen=True)
class Judge(CountingRules):
    """One judge of one campaign, with what the campaign says now.

    `n_asked` is how many questions the judge is to answer: those of the queue or, where k of n
    judge, a fair share of the votes wanted, since nobody knows yet who will give them, with the
    controls that belong to such a share.
    """

    member_id: int
    annotator_id: int
    state: str
    guideline_version: int
    lease_minutes: int
    seed: int
    number: int
    campaign_uid: uuid.UUID
    stage: str
    n_asked: int
    n_done: int
    last_place: int
    claimed_to: int
    is_paused: bool
    read_version: int
    n_replies: int

    @property
    def must_read(self) -> bool:
        """Whether the guidelines changed since the judge last read them; nothing is asked then.

        The first version is shown too, but whoever comes without a browser need not read it.
        """
        return self.guideline_version > max(self.read_version, 1)

    @property
    def state_shown(self) -> str:
        """The state of the campaign as it is for this judge."""
        is_stopped = self.is_paused and self.state == CampaignState.OPEN
        return CampaignState.PAUSED if is_stopped else self.state

    @property
    def refusal(self) -> RejectedError | None:
        """Why nothing new is taken now; None while the campaign is open for this judge."""
        if self.state_shown == CampaignState.OPEN:
            return None
        if self.state == CampaignState.OPEN:
            return RejectedError("paused", _("Your judging is paused; send it again later."))
        if self.state == CampaignState.PAUSED:
            return RejectedError("paused", _("The campaign is paused; send it again later."))
        return RejectedError("closed", _("The campaign is closed."))


# Of queues, what they hold; of pairs that are lent, a fair share and the controls that come along.
N_ASKED = {
    Serving.EVERYONE: "m.n_total",
    Serving.K_OF_N: """(
        select ceil(c.n_questions * c.k::numeric / greatest(count(*), 1)
                    * (100 + c.repeat_percent + c.mirror_percent) / 100.0)::int
        from annotation_panelmember p
        where p.campaign_id = c.id and p.is_active and p.stage <> 'not_qualified'
    ) + (
        select count(*)::int from annotation_question g
        where g.campaign_id = c.id and g.kind in ('training', 'qualification', 'gold')
    )""",
}
EITHER_WAY = f"""case when c.serving = 'everyone' then {N_ASKED[Serving.EVERYONE]}
    else {N_ASKED[Serving.K_OF_N]} end"""


def judge_columns(n_asked: str = EITHER_WAY) -> str:
    """Return the columns of a `Judge`, of a member `m` and a campaign `c`.

    Args:
        n_asked: SQL, one of `N_ASKED` where the serving is known: what is not asked need not be
            prepared at each key press.
    """
    return f"""
    c.id as campaign_id, c.serving, c.k, c.tie_rule, c.closes_settled, c.task_kind,
    c.grades, c.similar_from,
    m.id as member_id, m.annotator_id, c.state, c.guideline_version, c.lease_minutes, c.seed,
    m.number, c.uid, m.stage, {n_asked} as n_asked, m.n_done, m.last_place, m.claimed_to,
    m.is_paused, m.read_version, m.n_replies
"""


JUDGE = f"""
select {judge_columns()}
from annotation_panelmember m join annotation_campaign c on c.id = m.campaign_id
where c.uid = %s and m.annotator_id = %s and m.is_active and c.state <> 'draft'
"""  # noqa: S608  (the columns are constants)
LOCK = """
select m.id from annotation_panelmember m join annotation_campaign c on c.id = m.campaign_id
where c.uid = %s and m.annotator_id = %s and m.is_active for no key update of m
"""


@lru_cache(maxsize=256)
def fixed_rules(campaign_uid: uuid.UUID) -> FixedRules:
    """Return what never changes in a campaign.

    Raises:
        NotOnPanelError: there is no such campaign, or it is a draft.
    """
    campaigns = Campaign.objects.exclude(state=CampaignState.DRAFT).filter(uid=campaign_uid)
    for row in campaigns.values_list(*FixedRules._fields):
        return FixedRules(*row)
    raise NotOnPanelError


def find_judge(campaign_uid: uuid.UUID, annotator_id: int, *, locked: bool = False) -> Judge:
    """Return the judge, and hold the row until the transaction ends if `locked`.

    The row is held before the campaign is looked at: who waits here while the campaign is closed
    finds it closed.

    Raises:
        NotOnPanelError: no such campaign, it is a draft, or the person is not on its panel.
    """
    with prepared_cursor() as cursor:
        if locked:
            cursor.execute(LOCK, [campaign_uid, annotator_id])
        cursor.execute(JUDGE, [campaign_uid, annotator_id])
        row = cursor.fetchone()
    if row is None:
        raise NotOnPanelError
    return Judge(*row)
