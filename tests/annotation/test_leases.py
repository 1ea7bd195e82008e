import threading
from datetime import timedelta
from itertools import pairwise

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.errors import CampaignError
from annotation.models import EntryState, Judgement, Question, QuestionKind, QueueEntry
from annotation.queries.judges import find_judge
from annotation.queries.labels import labels
from annotation.services import (
    add_gold,
    change_settings,
    close_campaign,
    create_campaign,
    open_campaign,
    pause_campaign,
    reap_leases,
    reconcile,
)
from annotation.services.gold import GoldPair
from annotation.services.serving.leases import MAX_HELD
from tests.annotation.locks import wait_for_a_lock
from tests.clients import Browser, answer_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def leased(campaign_of):
    """Two of four judges each judge a pair."""

    def make(n_queries=2, n_candidates=3, n_judges=4, k=2, is_open=True, **rules):
        campaign = campaign_of(
            n_queries, n_candidates, n_judges, serving="k_of_n", k=k, is_open=False
        )
        for name, value in rules.items():
            setattr(campaign, name, value)
        campaign.save()
        if is_open:
            campaign = open_campaign(campaign=campaign)
        return campaign, [Browser(campaign, m.annotator) for m in campaign.panel.all()]

    return make


def expire(*browsers):
    QueueEntry.objects.filter(member__annotator__in=[b.person for b in browsers]).filter(
        lease_until__isnull=False
    ).update(lease_until=timezone.now() - timedelta(seconds=1))


def uids(questions):
    return [question["uid"] for question in questions]


def counters_are_true(campaign):
    assert not campaign.questions.exclude(kind="pair").filter(n_counted__gt=0).exists()
    for question in campaign.questions.filter(kind="pair"):
        votes = question.judgements.filter(answer__in=["similar", "different"], is_surplus=False)
        held = question.entries.filter(state=EntryState.OPEN, lease_until__isnull=False)
        assert question.n_counted == votes.count() <= campaign.k
        wanted = max(0, campaign.k - question.n_counted - held.count())
        assert question.n_free == (0 if question.is_settled else wanted)
    return True


def changes_of_questions():
    """Return how many rows this transaction has changed, and how many of them in no index."""
    with connection.cursor() as cursor:
        cursor.execute("""
            select pg_stat_get_xact_tuples_updated(oid), pg_stat_get_xact_tuples_hot_updated(oid)
            from pg_class where relname = 'annotation_question'
        """)
        return cursor.fetchone()


def test_each_pair_is_lent_to_k_judges_at_most(leased):
    campaign, judges = leased()
    served = [judge.uids(judge.next()) for judge in judges]
    assert [len(s) for s in served] == [6, 6, 0, 0]
    assert set(served[0]) == set(served[1])
    assert counters_are_true(campaign)


def test_judges_of_the_same_pairs_are_asked_them_in_orders_of_their_own(leased):
    campaign, [first, second, *_] = leased(2, 10)
    query_of = {str(uid): query for uid, query in campaign.questions.values_list("uid", "query")}
    orders = [first.uids(first.next()), second.uids(second.next())]
    assert set(orders[0]) == set(orders[1]) == set(query_of)
    queries = [[query_of[uid] for uid in order] for order in orders]
    assert queries[0] == queries[1] == sorted(queries[0], key=queries[0].index)
    assert sum(one == other for one, other in zip(*orders, strict=True)) < 10  # 2 by chance


def test_a_pair_that_is_lent_stays_where_it_is_in_all_indexes_until_its_last_vote_is(leased):
    _, [first, second, *_] = leased(k=2)
    n_changed, n_in_place = changes_of_questions()
    first.next()
    assert changes_of_questions() == (n_changed + 6, n_in_place + 6)
    second.next()  # now they leave the index of those that are free
    assert changes_of_questions() == (n_changed + 12, n_in_place + 6)


def test_each_batch_has_two_visits_of_each_query_where_pairs_are_asked_again(leased):
    campaign, [judge, *_] = leased(12, 10, repeat_percent=5)
    asked = list(campaign.questions.order_by("position").values_list("query_id", flat=True)[:120])
    assert sum(a != b for a, b in pairwise(asked)) == 11
    judge.next()
    entries = QueueEntry.objects.filter(member__annotator=judge.person).order_by("place")
    lent = list(entries.values_list("question__query_id", flat=True))
    visits = [query for query, other in pairwise([*lent, 0]) if query != other]
    assert len(lent) == 50 + 2  # five queries, and controls
    assert visits[:5] == visits[5:]
    assert len(visits) == 10


def test_a_second_tab_gets_the_same_pairs(leased):
    _, [judge, *_] = leased()
    assert judge.next() == judge.next()


def test_judges_that_come_one_by_one_share_the_work(leased):
    campaign, judges = leased(4, 5)
    for _ in range(30):
        for judge in judges:
            judge.judge("similar", 2)
    table = labels(campaign)
    assert table.n_similar.tolist() == [2] * 20
    assert not Judgement.objects.filter(is_surplus=True).exists()
    assert set(campaign.questions.values_list("n_counted", "n_free")) == {(2, 0)}


def test_an_abandoned_lease_returns_and_the_late_answer_is_kept_as_surplus(leased):
    campaign, [slow, second, third, _] = leased(1, 1)
    [question] = slow.next()
    second.judge()
    assert third.next() == []
    expire(slow)
    assert reap_leases() == 1
    assert third.uids(third.next()) == slow.uids([question])
    third.judge()
    status, reply = slow.send(answer_to(question["uid"], "different"))
    assert (status, reply["results"][0]["status"]) == (200, "saved")
    late = Judgement.objects.get(member__annotator=slow.person)
    assert (late.answer, late.is_surplus) == ("different", True)
    assert [row[2:4] for row in labels(campaign)] == [(2, 0)]
    assert counters_are_true(campaign)


def test_the_last_vote_of_a_pair_that_another_holds_leaves_them_no_checks_alone(leased, images):
    campaign, judges = leased(1, 1, n_judges=3, is_open=False)
    query, candidate = images(2)
    gold = GoldPair(query.pk, candidate.pk, "similar")
    add_gold(campaign=campaign, purpose="gold", pairs=[gold])
    open_campaign(campaign=campaign)
    slow, second, third = judges
    pair = str(campaign.questions.get(kind="pair").uid)
    [mine] = [one for one in slow.next() if slow.uids([one]) == [pair]]
    expire(slow)
    reap_leases()
    assert [len(judge.next()) for judge in (second, third)] == [2, 2]
    slow.send(answer_to(mine["uid"]))  # late, while both hold it
    [last] = [one for one in second.next() if second.uids([one]) == [pair]]
    second.send(answer_to(last["uid"]))
    assert third.next() == []
    assert counters_are_true(campaign)


def test_a_late_answer_counts_while_there_is_room(leased):
    campaign, [slow, *_] = leased(1, 1)
    [question] = slow.next()
    expire(slow)
    reap_leases()
    assert counters_are_true(campaign)
    slow.send(answer_to(question["uid"]))
    assert not Judgement.objects.get().is_surplus
    assert counters_are_true(campaign)


def test_a_judge_who_comes_back_gets_the_expired_pairs_again(leased):
    campaign, [judge, *_] = leased()
    before = uids(judge.next())
    expire(judge)
    reap_leases()
    assert QueueEntry.objects.filter(state=EntryState.EXPIRED).count() == 6
    assert sorted(uids(judge.next())) == sorted(before)
    assert campaign.panel.get(annotator=judge.person).n_total == 6
    assert counters_are_true(campaign)


def test_claiming_finds_expired_leases_without_waiting_for_the_reaper(leased):
    _, [first, second, third, _] = leased(1, 2)
    first.next()
    second.next()
    expire(first)
    assert len(third.next()) == 2


def test_a_judge_at_work_keeps_the_leases(leased):
    _, [judge, *_] = leased()
    judge.next()
    expire(judge)
    judge.next()
    assert reap_leases() == 0


def test_an_answer_that_does_not_vote_makes_room_for_another_judge(leased):
    campaign, [first, second, third, _] = leased(1, 1)
    first.judge("cant_tell")
    second.judge("similar")
    assert counters_are_true(campaign)
    assert len(third.next()) == 1
    third.judge("similar")
    assert campaign.questions.get().n_counted == 2


def test_taking_a_vote_back_lets_the_earliest_surplus_count(leased):
    campaign, [a, b, c, d] = leased(1, 1, k=1)
    [question] = a.next()
    for late in (b, c, d):
        expire(a, b, c, d)
        reap_leases()
        assert late.next()
    first = answer_to(question["uid"], at=1)
    a.send(first)
    [uid] = a.uids([question])
    b.send(answer_to(uid, "different", at=2))
    c.send(answer_to(uid, "similar", at=3))
    assert [j.is_surplus for j in Judgement.objects.order_by("event_id")] == [False, True, True]
    a.send(answer_to(question["uid"], "withdrawn", at=4, undoes=first["uuid"]))
    assert [j.is_surplus for j in Judgement.objects.order_by("event_id")] == [False, True]
    assert counters_are_true(campaign)


def test_changing_a_counted_vote_keeps_it_counted(leased):
    campaign, [a, b, *_] = leased(1, 1)
    [question] = a.next()
    b.judge()
    a.send(answer_to(question["uid"], at=1))
    a.send(answer_to(question["uid"], "different", at=2))
    assert [row[2:4] for row in labels(campaign)] == [(1, 1)]
    assert counters_are_true(campaign)


def test_nothing_is_lent_beyond_the_limit(leased):
    _, [judge, *_] = leased(20, 10)
    assert len(judge.next(200)) == 20
    for _ in range(10):
        assert judge.next(200, after=10**9) == []
    assert QueueEntry.objects.count() == MAX_HELD


def entries_read():
    """Return how many entries of queues this transaction has read by an index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "select idx_tup_fetch from pg_stat_xact_user_tables"
            " where relname = 'annotation_queueentry'"
        )
        [(n,)] = cursor.fetchall()
        return n


def test_what_a_judge_has_had_is_not_read_again_for_the_next_pairs(leased):
    campaign, [judge, other, *_] = leased(n_queries=20, n_candidates=40)
    other.next(n=20)
    with connection.cursor() as cursor:
        cursor.execute("analyze")  # the statistics know of no pair that the judge has been lent
    member = campaign.panel.get(annotator=judge.person)
    had = campaign.questions.filter(kind="pair", position__lt=500)
    QueueEntry.objects.bulk_create(
        QueueEntry(member=member, question=one, position=number, place=number, state="done")
        for number, one in enumerate(had)
    )
    campaign.panel.filter(pk=member.pk).update(claimed_to=500, last_place=500, n_total=500)
    before = entries_read()
    assert len(judge.next(n=20)) == 20
    assert entries_read() - before < 200


def test_a_paused_campaign_lends_nothing(leased):
    campaign, [judge, *_] = leased()
    pause_campaign(campaign=campaign, by=None, reason="lunch")
    assert judge.next() == []
    assert not QueueEntry.objects.exists()


def test_a_foreign_lease_gives_no_right_to_answer(leased):
    _, [a, b, *_] = leased(1, 1)
    [question] = a.next()
    for name in (question["uid"], *a.uids([question])):
        assert b.send(answer_to(name))[1]["results"][0]["code"] == "not_served"


def test_settled_pairs_are_not_asked_again(leased):
    campaign, [a, b, c, _] = leased(1, 1, k=3, closes_settled=True)
    for judge in (a, b, c):
        judge.next()
    a.judge("different")
    assert not campaign.questions.get().is_settled
    b.judge("different")  # 2 of 3: no third vote can change it
    assert campaign.questions.get().is_settled
    assert c.next() == []
    assert counters_are_true(campaign)


def test_a_settled_pair_comes_back_when_a_vote_is_withdrawn(campaign_of):
    campaign = campaign_of(1, 1, 3, is_open=False)
    campaign.closes_settled = True
    campaign.save()
    campaign = open_campaign(campaign=campaign)
    a, b, c = (Browser(campaign, m.annotator) for m in campaign.panel.all())
    [question] = a.next()
    sent = answer_to(question["uid"], at=1)
    a.send(sent)
    b.judge()
    assert c.next() == []
    assert c.get("next")["progress"] == {"n_done": 0, "n_total": 0}
    a.send(answer_to(question["uid"], "withdrawn", at=2, undoes=sent["uuid"]))
    assert a.next() == [question]
    assert c.uids(c.next()) == a.uids([question])


@pytest.fixture
def round_campaign(images, people):
    """30 images, each asked with the eight after it, so that candidates are queries, too."""
    ids = [image.pk for image in images(30)]
    given = [(ids[i], ids[(i + step) % 30]) for i in range(30) for step in range(1, 9)]
    campaign = create_campaign(
        name="r", slug="r", pairs=given, panel=people(1), serving="k_of_n", k=1
    )
    campaign = change_settings(campaign=campaign, by=None, mirror_percent=10, repeat_percent=10)
    gold = [GoldPair(ids[i], ids[i - 1], "similar") for i in range(10)]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    campaign = open_campaign(campaign=campaign)
    return campaign, Browser(campaign, campaign.panel.get().annotator)


def test_gold_repeats_and_mirrored_pairs_come_along_with_claims(round_campaign):
    campaign, judge = round_campaign
    while judge.judge("similar", 10):
        pass
    entries = list(
        QueueEntry.objects.filter(member__annotator=judge.person)
        .order_by("position")
        .values_list("question__kind", "question__query_id")
    )
    kinds = [kind for kind, _ in entries]
    assert kinds.count(QuestionKind.PAIR) == 240
    assert kinds.count(QuestionKind.GOLD) == 10
    assert 15 <= kinds.count(QuestionKind.MIRROR) <= 24
    assert 44 <= kinds.count(QuestionKind.REPEAT) + kinds.count(QuestionKind.MIRROR) <= 48
    assert max(place for place, kind in enumerate(kinds) if kind == QuestionKind.GOLD) > 100
    among = [
        query in {before[1], after[1]}
        for before, (kind, query), after in zip(entries, entries[1:], entries[2:], strict=False)
        if kind != QuestionKind.PAIR
    ]
    assert sum(among) > 0.6 * len(among)
    assert counters_are_true(campaign)


def test_repeats_make_up_for_gold_so_that_each_batch_has_as_many_controls(leased):
    """Or the length of a batch would tell how many controls are in it."""
    campaign, [judge, *_] = leased(12, 10, is_open=False, repeat_percent=12)
    ids = list(
        campaign.questions.order_by("query_id").values_list("query_id", flat=True).distinct()
    )
    gold = [GoldPair(ids[i], ids[i - by], "similar") for i in range(6) for by in (1, 2)]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    open_campaign(campaign=campaign)
    judge.next()
    entries = QueueEntry.objects.filter(member__annotator=judge.person)
    assert entries.count() == 50 + 11  # five queries; 10 % of the pairs are gold
    while entries.count() == 61:
        judge.judge("similar", 10)
    assert entries.count() == 2 * 61


def test_every_judge_meets_all_gold_though_its_query_is_never_theirs(leased, pairs):
    campaign, judges = leased(20, 10, k=1, is_open=False)
    gold = [GoldPair(query, candidate, "similar") for query, candidate in pairs(10, 1)]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    open_campaign(campaign=campaign)
    while sum(len(judge.judge("similar", 5)) for judge in judges):
        pass
    for judge in judges:
        asked = QueueEntry.objects.filter(member__annotator=judge.person)
        assert asked.filter(question__kind=QuestionKind.GOLD).count() == 10


def test_no_pair_is_mirrored_that_is_asked_both_ways(pairs, people):
    given = pairs(5, 10)
    both = [*given, *((candidate, query) for query, candidate in given)]
    campaign = create_campaign(
        name="b", slug="b", pairs=both, panel=people(1), serving="k_of_n", k=1
    )
    campaign = change_settings(campaign=campaign, by=None, mirror_percent=10, repeat_percent=10)
    campaign = open_campaign(campaign=campaign)
    judge = Browser(campaign, campaign.panel.get().annotator)
    while judge.judge("similar", 10):
        pass
    assert campaign.questions.filter(kind="repeat").count() >= 3
    assert not campaign.questions.filter(kind="mirror").exists()


def test_a_repeat_asks_the_same_pair_again_after_a_while_and_once(round_campaign):
    _campaign, judge = round_campaign
    while judge.judge("similar", 10):
        pass
    entries = QueueEntry.objects.filter(member__annotator=judge.person).select_related("question")
    place = {entry.question_id: entry.place for entry in entries}
    again = [entry.question for entry in entries if entry.question.original_id]
    assert len(again) >= 10
    gaps = []
    for control in again:
        original = control.original
        assert original is not None
        gap = place[control.pk] - place[original.pk]
        assert control.kind == QuestionKind.MIRROR or abs(gap) > 15
        gaps.append(gap)
        asked = (control.query_id, control.candidate_id)
        pair = (original.query_id, original.candidate_id)
        assert asked == (pair if control.kind == QuestionKind.REPEAT else pair[::-1])
    assert len({(one.kind, one.original_id) for one in again}) == len(again)
    assert 0.2 < sum(gap > 0 for gap in gaps) / len(gaps) < 0.8  # either may be the control


def test_controls_go_with_the_pairs_that_they_were_lent_with(round_campaign):
    """Who stays away and comes back is not left with what checks them, and gets it all again."""
    campaign, judge = round_campaign
    judge.judge("similar", 3)
    expire(judge)
    reap_leases()
    entries = QueueEntry.objects.filter(member__annotator=judge.person)
    assert not entries.filter(state=EntryState.OPEN).exists()
    assert entries.filter(state=EntryState.EXPIRED).exclude(question__kind="pair").exists()
    assert not Question.objects.exclude(kind="pair").filter(n_free__gt=0).exists()
    while judge.judge("similar", 10):
        pass
    assert not entries.exclude(state=EntryState.DONE).filter(question__kind="pair").exists()
    assert reconcile(campaign=campaign) == []
    assert counters_are_true(campaign)


def test_nobody_can_have_more_than_a_batch_by_looking_ahead(leased):
    """Small batches would hold other shares of controls."""
    _, [judge, *_] = leased(40, 10, k=1, repeat_percent=5)
    judge.next()
    n_lent = QueueEntry.objects.count()
    for _ in range(5):
        assert judge.next(200, after=10**9) == []
    assert QueueEntry.objects.count() == n_lent


def test_controls_are_counted_by_the_database(leased):
    """The rows that a claim brings into Python do not grow with what the judge has answered."""
    campaign, [judge, *_] = leased(20, 10, k=1, repeat_percent=2, mirror_percent=2)
    member = campaign.panel.get(annotator=judge.person)
    while member.n_total < 150:
        judge.judge("similar", 12)
        member.refresh_from_db()
    with CaptureQueriesContext(connection) as log:
        judge.next(12)
    assert not [q["sql"] for q in log if "annotation_queueentry" in q["sql"].split("WHERE")[0]
                and q["sql"].startswith("SELECT")]  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_judges_who_draw_the_same_repeats_at_once_do_not_block_each_other(leased):
    campaign, judges = leased(4, 30, n_judges=6, k=6, repeat_percent=50, mirror_percent=50)
    problems = []

    def judge(browser):
        try:
            while browser.judge("similar", 12):
                pass
        except Exception as problem:
            problems.append(repr(problem))
        finally:
            connection.close()

    tabs = [threading.Thread(target=judge, args=(browser,)) for browser in judges]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert problems == []
    assert reconcile(campaign=campaign) == []


@pytest.mark.parametrize("minutes", [0, -1])
def test_a_pair_is_lent_for_a_minute_at_least(minutes, leased):
    campaign, _ = leased()
    with pytest.raises(CampaignError, match="at least one minute"):
        change_settings(campaign=campaign, by=None, lease_minutes=minutes)


@pytest.mark.django_db(transaction=True)
def test_a_claim_that_makes_controls_and_a_closing_do_not_block_each_other(leased):
    campaign, [judge, *_] = leased()
    pair = campaign.questions.all()[0]

    def close():
        close_campaign(campaign=campaign, by=None, reason="Enough")
        connection.close()

    closing = threading.Thread(target=close)
    with transaction.atomic():  # as a claim does: the judge's row, then controls
        find_judge(campaign.uid, judge.person.pk, locked=True)
        closing.start()
        wait_for_a_lock()
        Question.objects.create(
            campaign=campaign, query=pair.query, candidate=pair.candidate, kind="repeat",
            original=pair, position=0,
        )  # fmt: skip
    closing.join()
    campaign.refresh_from_db()
    assert campaign.state == "closed"
    assert campaign.questions.filter(kind="repeat").exists()
