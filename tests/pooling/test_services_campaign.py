"""Opening a filled pool to a panel."""

from __future__ import annotations

import pytest
from django.utils import timezone

from accounts.models import Role, User
from annotation.models import AskingOrder, Campaign, CampaignState, Question, TieRule
from catalog.models import Image
from jobs.models import Job, JobState
from lookalike.core.errors import Refused
from pooling.campaign.services import open_pool_campaign, panel_by_name
from pooling.models import PoolCampaign, Proposal
from pooling.pools.services import start_source

pytestmark = pytest.mark.django_db


@pytest.fixture
def filled(pool_of):
    """A pool whose sources all propose, by hand: five distinct pairs."""
    pool = pool_of()
    queries = [row.image for row in pool.queries.select_related("image")]
    others = list(
        Image.objects.filter(catalog=pool.catalog).exclude(pk__in=[row.pk for row in queries])
    )
    proposed = [(0, 0), (0, 1), (1, 2), (2, 3), (2, 4)]
    for number, source in enumerate(pool.sources.all()):
        Proposal.objects.bulk_create(
            Proposal(
                pool=pool,
                source=source,
                query=queries[query],
                candidate=others[other],
                rank=number_of,
                score=0.5,
            )
            for number_of, (query, other) in enumerate(proposed[number:])
        )
        source.done_at = timezone.now()
        source.save()
    return pool


def test_every_distinct_pair_is_asked_once_and_the_campaign_is_open(filled, annotators, admin):
    campaign = open_pool_campaign(pool=filled, name="Round one", panel=annotators, owner=admin)
    assert campaign.slug == "round-one"
    assert campaign.state == CampaignState.OPEN
    asked = set(Question.objects.values_list("query_id", "candidate_id"))
    assert asked == set(Proposal.objects.values_list("query_id", "candidate_id"))
    assert Question.objects.count() == 5
    assert PoolCampaign.objects.get().pool == filled


def test_the_tie_rule_and_the_guidelines_go_with_it(filled, annotators):
    campaign = open_pool_campaign(
        pool=filled,
        name="c",
        panel=annotators,
        tie_rule=TieRule.UNDECIDED,
        guidelines="Look at the **shape**.",
    )
    assert campaign.tie_rule == TieRule.UNDECIDED
    assert campaign.guidelines.get().text == "Look at the **shape**."


def test_likely_pairs_come_first_and_the_campaign_knows_only_their_phases(filled, annotators):
    campaign = open_pool_campaign(
        pool=filled, name="c", panel=annotators, asking_order=AskingOrder.PHASES
    )
    assert campaign.asking_order == AskingOrder.PHASES
    first, second = filled.sources.all()
    best = dict(first.proposals.values_list("query_id", "candidate_id"))
    assert len(best) == 3
    rows = list(
        campaign.questions.values_list("query_id", "candidate_id", "phase").order_by("phase")
    )
    both = set(first.proposals.values_list("query_id", "candidate_id")) & set(
        second.proposals.values_list("query_id", "candidate_id")
    )
    ranks: dict[tuple[int, int], float] = {}
    for pair in Proposal.objects.all():
        weight = 0.2 * 0.8**pair.rank
        key = (pair.query_id, pair.candidate_id)
        ranks[key] = ranks.get(key, 0) + weight
    for query in best:
        mine = [(phase, -ranks[query, candidate]) for q, candidate, phase in rows if q == query]
        assert mine == sorted(mine)
        assert mine[0][0] == 0
        assert [phase for phase, _ in mine] == ([0, 2] if len(mine) == 2 else [0])
    assert both


def test_a_pool_drawn_by_chance_has_no_likely_pairs(filled, annotators):
    for number, source in enumerate(filled.sources.all()):
        source.spec = f"random:{number}"
        source.save()
    with pytest.raises(Refused, match="drawn by chance") as caught:
        open_pool_campaign(pool=filled, name="c", panel=annotators, asking_order=AskingOrder.PHASES)
    assert caught.value.field == "asking_order"
    assert not Campaign.objects.exists()


def test_proposals_of_a_source_that_is_not_done_are_not_asked(filled, annotators):
    sources = list(filled.sources.all())
    kept = set(sources[-1].proposals.values_list("query_id", "candidate_id"))
    filled.sources.exclude(pk=sources[-1].pk).update(done_at=None)
    for source in filled.sources.filter(done_at=None):
        start_source(source=source, owner=None)
    Job.objects.update(state=JobState.FAILED)
    open_pool_campaign(pool=filled, name="c", panel=annotators)
    assert set(Question.objects.values_list("query_id", "candidate_id")) == kept


def test_a_pool_that_is_being_filled_is_not_opened(filled, annotators):
    filled.sources.update(done_at=None)
    with pytest.raises(Refused, match="still being filled") as caught:
        open_pool_campaign(pool=filled, name="c", panel=annotators)
    assert caught.value.field == "pool"


def test_a_pool_without_proposals_is_not_opened(pool_of, annotators):
    pool = pool_of()
    pool.sources.update(done_at=timezone.now())
    with pytest.raises(Refused, match="no pairs"):
        open_pool_campaign(pool=pool, name="c", panel=annotators)


def test_nobody_on_the_panel_is_refused(filled):
    with pytest.raises(Refused, match="at least one judge") as caught:
        open_pool_campaign(pool=filled, name="c", panel=[])
    assert caught.value.field == "panel"


@pytest.mark.parametrize("role", [Role.ADMIN, Role.RESEARCHER])
def test_somebody_who_may_see_the_pool_cannot_judge_it(filled, annotators, role):
    insider = User.objects.create_user("ivo", role=role)
    with pytest.raises(Refused, match=r"ivo is .*, not annotator"):
        open_pool_campaign(pool=filled, name="c", panel=[*annotators, insider])
    assert not Campaign.objects.exists()


def test_a_judge_named_twice_or_deactivated_is_refused_by_name(filled, annotators):
    with pytest.raises(Refused, match="twice"):
        open_pool_campaign(pool=filled, name="c", panel=[annotators[0], annotators[0]])
    annotators[1].is_active = False
    with pytest.raises(Refused, match="ben"):
        open_pool_campaign(pool=filled, name="c", panel=annotators)


def test_a_name_that_is_taken_or_says_nothing_is_refused(filled, annotators):
    open_pool_campaign(pool=filled, name="Round one", panel=annotators)
    with pytest.raises(Refused, match="already") as caught:
        open_pool_campaign(pool=filled, name="round One", panel=annotators)
    assert caught.value.field == "name"
    with pytest.raises(Refused, match="letter"):
        open_pool_campaign(pool=filled, name="!", panel=annotators)


def test_people_of_a_panel_are_found_in_order_and_strangers_are_all_named(annotators):
    assert panel_by_name(["cleo", "anna"]) == [annotators[2], annotators[0]]
    with pytest.raises(Refused, match="nina, otto"):
        panel_by_name(["anna", "nina", "otto"])
