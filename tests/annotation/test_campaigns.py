import re
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from accounts.models import Role
from annotation.errors import CampaignError
from annotation.models import CampaignState, EntryState, QuestionKind, QueueEntry
from annotation.services import (
    add_members,
    add_questions,
    close_campaign,
    create_campaign,
    open_campaign,
    pause_campaign,
)

pytestmark = pytest.mark.django_db


def test_every_judge_gets_every_pair_once_in_an_order_of_their_own(campaign_of):
    campaign = campaign_of(10, 8)
    orders = []
    for member in campaign.panel.all():
        entries = list(member.queue.order_by("place").values_list("question_id", "position"))
        assert sorted(q for q, _ in entries) == sorted(
            campaign.questions.values_list("pk", flat=True)
        )
        assert [position for _, position in entries] == list(range(1, 81))
        assert (member.n_total, member.n_done, member.last_place) == (80, 0, 80)
        orders.append([q for q, _ in entries])
    assert orders[0] != orders[1] != orders[2]


def test_the_questions_of_one_query_follow_each_other(campaign_of):
    campaign = campaign_of(10, 8)
    for member in campaign.panel.all():
        queries = list(member.queue.order_by("place").values_list("question__query_id", flat=True))
        assert sum(a != b for a, b in pairwise(queries)) == 9


def test_ids_do_not_follow_the_order_of_the_pool(pairs, people):
    given = pairs(40, 25)
    campaign = create_campaign(name="Blind", slug="blind", pairs=given, panel=people(1), seed=3)
    rank = {pair: index for index, pair in enumerate(given)}
    by_id = campaign.questions.order_by("id").values_list("query_id", "candidate_id")
    ranks = [rank[pair] for pair in by_id]
    assert abs(np.corrcoef(ranks, np.arange(1000))[0, 1]) < 0.5
    within = [rank % 25 for rank in ranks]
    assert abs(np.corrcoef(within, np.tile(np.arange(25), 40))[0, 1]) < 0.1


def test_the_same_seed_draws_the_same_orders(pairs, people):
    given, panel = pairs(6, 5), people(2)
    seen = []
    for slug in ("one", "two"):
        campaign = create_campaign(name=slug, slug=slug, pairs=given, panel=panel, seed=7)
        open_campaign(campaign=campaign)
        seen.append(
            list(
                QueueEntry.objects.filter(member__campaign=campaign)
                .order_by("member__number", "place")
                .values_list("question__query_id", "question__candidate_id")
            )
        )
    assert seen[0] == seen[1]


def test_a_draft_has_no_queue_and_a_late_judge_gets_one(campaign_of, people):
    campaign = campaign_of(2, 3, is_open=False)
    assert not QueueEntry.objects.filter(member__campaign=campaign).exists()
    campaign = open_campaign(campaign=campaign)
    [late] = add_members(campaign=campaign, annotators=people(1))
    assert late.queue.filter(state=EntryState.OPEN).count() == 6
    assert late.number == 4


def test_a_panel_with_a_simulated_judge_marks_the_campaign(campaign_of, people):
    campaign = campaign_of()
    assert not campaign.is_simulated
    add_members(campaign=campaign, annotators=people(1, simulated=True))
    campaign.refresh_from_db()
    assert campaign.is_simulated


def test_repeats_and_mirrored_pairs_are_drawn_for_each_judge_at_the_first_opening(images, people):
    ids = [image.pk for image in images(30)]
    given = [(ids[i], ids[(i + step) % 30]) for i in range(30) for step in range(1, 9)]
    campaign = create_campaign(name="r", slug="r", pairs=given, panel=people(3))
    campaign.repeat_percent, campaign.mirror_percent = 10, 5
    campaign.save()
    campaign = open_campaign(campaign=campaign)
    drawn = []
    for member in campaign.panel.all():
        again = campaign.questions.filter(entries__member=member, original__isnull=False)
        kinds = Counter(again.values_list("kind", flat=True))
        assert kinds[QuestionKind.REPEAT] == 24
        assert kinds[QuestionKind.MIRROR] == 12
        assert member.n_total == 240 + kinds.total()
        asked = list(member.queue.order_by("place").values_list("question__query_id", flat=True))
        assert sum(a != b for a, b in pairwise(asked)) == 2 * 30 - 1
        drawn.append(set(again.values_list("pk", flat=True)))
    assert drawn[0] != drawn[1] != drawn[2]
    for mirror in campaign.questions.filter(kind=QuestionKind.MIRROR).select_related("original"):
        assert mirror.original is not None
        assert (mirror.query_id, mirror.candidate_id) == (
            mirror.original.candidate_id,
            mirror.original.query_id,
        )
    assert campaign.n_questions == 240


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slug": "Not a slug"}, "try “not-a-slug”"),
        ({"slug": "taken"}, "already"),
        ({"panel": []}, "at least one judge"),
        ({"pairs": []}, "at least one pair"),
        ({"serving": "k_of_n", "k": 3}, "k = 3 judges cannot be had from a panel of 2"),
        ({"serving": "k_of_n", "k": 0}, "k = 0"),
        ({"tie_rule": "coin"}, "Unknown rule"),
    ],
)
def test_a_campaign_that_cannot_work_is_refused_with_the_reason(change, message, pairs, people):
    good = {"name": "x", "slug": "x", "pairs": pairs(1, 2), "panel": people(2)}
    create_campaign(**{**good, "slug": "taken"})
    with pytest.raises(CampaignError, match=re.escape(message)):
        create_campaign(**{**good, **change})


def test_pairs_that_cannot_be_asked_are_refused(campaign_of, pairs):
    campaign = campaign_of()
    [first, second] = pairs(1, 2)
    with pytest.raises(CampaignError, match="given twice"):
        add_questions(campaign=campaign, pairs=[first, second, first])
    with pytest.raises(CampaignError, match="with itself"):
        add_questions(campaign=campaign, pairs=[(first[0], first[0])])
    with pytest.raises(CampaignError, match=r"Unknown images: \[999999999\]"):
        add_questions(campaign=campaign, pairs=[(first[0], 999999999)])
    close_campaign(campaign=campaign, by=None, reason="done")
    with pytest.raises(CampaignError, match="closed"):
        add_questions(campaign=campaign, pairs=[first])


@pytest.mark.parametrize("role", [Role.ADMIN, Role.RESEARCHER])
def test_only_annotators_may_be_on_a_panel(role, campaign_of, people):
    with pytest.raises(CampaignError, match="only annotators may judge"):
        add_members(campaign=campaign_of(), annotators=people(1, role))


def test_state_changes_need_a_reason_and_are_kept(campaign_of, people):
    campaign, [admin] = campaign_of(), people(1, Role.ADMIN)
    with pytest.raises(CampaignError, match="Say why"):
        pause_campaign(campaign=campaign, by=admin, reason="  ")
    pause_campaign(campaign=campaign, by=admin, reason="Guidelines unclear")
    with pytest.raises(CampaignError, match="cannot become paused"):
        pause_campaign(campaign=campaign, by=admin, reason="again")
    open_campaign(campaign=campaign, by=admin, reason="Clear now")
    close_campaign(campaign=campaign, by=admin, reason="Enough")
    log = list(campaign.state_changes.values_list("before", "after", "reason"))
    assert log[::-1] == [
        (CampaignState.DRAFT, CampaignState.OPEN, ""),
        (CampaignState.OPEN, CampaignState.PAUSED, "Guidelines unclear"),
        (CampaignState.PAUSED, CampaignState.OPEN, "Clear now"),
        (CampaignState.OPEN, CampaignState.CLOSED, "Enough"),
    ]


def test_reopening_draws_no_second_queue(campaign_of):
    campaign = campaign_of(2, 2)
    pause_campaign(campaign=campaign, by=None, reason="lunch")
    open_campaign(campaign=campaign, by=None, reason="fed")
    assert QueueEntry.objects.filter(member__campaign=campaign).count() == 12
