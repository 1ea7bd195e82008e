"""A campaign asked in phases: the phase is all that an order tells, in both ways of serving."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from annotation.errors import CampaignError
from annotation.models import AskingOrder, QuestionKind, QueueEntry, Serving
from annotation.services import add_members, add_questions, create_campaign, open_campaign
from tests.clients import Browser

pytestmark = pytest.mark.django_db

N_QUERIES, N_CANDIDATES = 40, 24


@pytest.fixture
def in_phases(pairs, people):
    """A campaign of four phases that follow the rank, and the rank of each pair."""

    def make(**rules):
        given = pairs(N_QUERIES, N_CANDIDATES)
        rank_of = {pair: place % N_CANDIDATES for place, pair in enumerate(given)}
        phases = [rank_of[pair] // 6 for pair in given]
        panel = rules.pop("panel", None) or people(3)
        campaign = create_campaign(
            name="p", slug="p", pairs=given, phases=phases, panel=panel, seed=5, **rules
        )
        return campaign, rank_of

    return make


def queue_of(member):
    entries = member.queue.order_by("place")
    return list(entries.values_list("question__query_id", "question__candidate_id"))


def test_each_judge_gets_the_phases_in_turn_and_each_query_whole_in_each(in_phases):
    campaign, rank_of = in_phases()
    assert campaign.asking_order == AskingOrder.PHASES
    open_campaign(campaign=campaign)
    orders = [queue_of(member) for member in campaign.panel.all()]
    for order in orders:
        assert sorted(order) == sorted(rank_of)
        phases = [rank_of[pair] // 6 for pair in order]
        assert phases == sorted(phases)
        blocks = [(phase, pair[0]) for phase, pair in zip(phases, order, strict=True)]
        assert sum(a != b for a, b in pairwise(blocks)) == 4 * N_QUERIES - 1
    assert len({tuple(order) for order in orders}) == 3


def test_inside_a_phase_nothing_follows_the_rank_and_ids_do_not_follow_the_phase(in_phases):
    campaign, rank_of = in_phases()
    open_campaign(campaign=campaign)
    for member in campaign.panel.all():
        ranks = np.array([rank_of[pair] % 6 for pair in queue_of(member)])
        place_in_block = np.tile(np.arange(6), 4 * N_QUERIES)
        assert abs(np.corrcoef(ranks, place_in_block)[0, 1]) < 0.1
    for key in ("id", "uid"):
        phases = list(campaign.questions.order_by(key).values_list("phase", flat=True))
        assert abs(np.corrcoef(phases, np.arange(len(phases)))[0, 1]) < 6 / len(phases) ** 0.5


def test_what_a_judge_is_sent_has_the_same_keys_and_no_phase(in_phases, campaign_of, people):
    [judge] = people(1)
    campaign, _ = in_phases(panel=[judge])
    open_campaign(campaign=campaign)
    plain = campaign_of(2, 3, panel=[judge])
    sent = [Browser(one, judge).next(1)[0] for one in (campaign, plain)]
    assert sent[0].keys() == sent[1].keys()
    assert not [key for key in sent[0] if "phase" in key or "order" in key]
    assert sent[0]["position"] == sent[1]["position"] == 1


def test_when_k_of_n_judge_pairs_are_lent_by_phase(in_phases, people):
    [judge] = people(1)
    campaign, rank_of = in_phases(panel=[judge], serving=Serving.K_OF_N, k=1)
    open_campaign(campaign=campaign)
    pair_of = {str(q.uid): (q.query_id, q.candidate_id) for q in campaign.questions.all()}
    browser = Browser(campaign, judge)
    lent: list[tuple[int, int]] = []
    while len(lent) < 300:
        lent += [pair_of[uid] for uid in browser.judge(n=12)]
    phases = [rank_of[pair] // 6 for pair in lent]
    assert phases == sorted(phases)
    assert set(phases) == {0, 1}
    assert abs(np.corrcoef([rank_of[p] % 6 for p in lent[:240]], np.arange(240) % 6)[0, 1]) < 0.2


def test_repeats_are_asked_in_another_phase_than_their_pairs(in_phases):
    campaign, _ = in_phases()
    campaign.repeat_percent, campaign.mirror_percent = 10, 5
    campaign.save()
    open_campaign(campaign=campaign)
    n_pairs = N_QUERIES * N_CANDIDATES
    for member in campaign.panel.all():
        entries = QueueEntry.objects.filter(member=member).order_by("place")
        place = dict(entries.values_list("question", "place"))
        repeats = campaign.questions.filter(kind=QuestionKind.REPEAT, entries__member=member)
        assert repeats.count() == n_pairs // 10
        apart = [abs(place[q.pk] - place[q.original_id]) > 20 for q in repeats]
        assert np.mean(apart) > 0.9


def test_pairs_of_a_top_up_stand_anywhere_for_who_is_there_and_for_who_joins(
    in_phases, pairs, people
):
    campaign, rank_of = in_phases()
    open_campaign(campaign=campaign)
    query = next(iter(rank_of))[0]
    fresh = [pair for _ in range(10) for pair in pairs(1, 8)]
    fresh += [(query, candidate) for _, candidate in pairs(1, 8)]
    add_questions(campaign=campaign, pairs=fresh)
    [late] = add_members(campaign=campaign, annotators=people(1))
    for member in campaign.panel.all():
        order = queue_of(member)
        assert sorted(order) == sorted([*rank_of, *fresh])
        places = [place for place, pair in enumerate(order) if pair in set(fresh)]
        assert 0.25 < np.mean(places) / len(order) < 0.75
    new = campaign.questions.filter(query_id__in=[query for query, _ in fresh[:80]])
    assert set(new.values_list("phase", flat=True)) == {0, 1, 2, 3}
    assert late.number == 4


@pytest.mark.parametrize("phases", [[0], [0, -1], [0, 16]])
def test_phases_that_do_not_fit_the_pairs_are_refused(pairs, people, phases):
    with pytest.raises(CampaignError, match="2 pairs need as many phases, each from 0 to 15"):
        create_campaign(name="p", slug="p", pairs=pairs(1, 2), phases=phases, panel=people(1))


def test_a_shuffled_campaign_has_one_phase_and_takes_no_other(campaign_of, pairs):
    campaign = campaign_of(2, 3)
    assert campaign.asking_order == AskingOrder.SHUFFLED
    assert set(campaign.questions.values_list("phase", flat=True)) == {0}
    with pytest.raises(CampaignError, match="shuffled"):
        add_questions(campaign=campaign, pairs=pairs(1, 2), phases=[0, 1])
