"""The short way of the common answer says and stores what the long way would."""

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.answering.submissions import read_submission
from annotation.models import Judgement, JudgementEvent, PanelMember, Question, QueueEntry
from annotation.queries.next_questions import next_questions
from annotation.services import answers as long_way
from annotation.services import close_campaign, open_campaign, reap_leases, reconcile
from annotation.services.serving.first_answers import record_first_answer
from tests.annotation.locks import wait_for_a_lock
from tests.clients import Browser, answer_to


def stored(campaign, name_of=None):
    """Everything an answer leaves behind, without ids and the time of arrival."""
    names = name_of or {}
    events = JudgementEvent.objects.filter(member__campaign=campaign).values_list(
        "uuid", "undoes", "answer", "reason", "mode", "device", "guideline_version", "shown_at",
        "decided_at", "visible_ms", "load_ms",
    )  # fmt: skip
    judgements = Judgement.objects.filter(member__campaign=campaign)
    entries = QueueEntry.objects.filter(member__campaign=campaign).order_by("position")
    return [
        sorted((names.get(key, key), names.get(undoes), *rest) for key, undoes, *rest in events),
        sorted(
            (names.get(key, key), *rest)
            for key, *rest in judgements.values_list("event__uuid", "answer", "is_surplus")
        ),
        [
            (names.get(key, key), *rest)
            for key, *rest in entries.values_list("last_uuid", "place", "state", "decided_at")
        ],
        [until is None for until in entries.values_list("lease_until", flat=True)],
        list(
            Question.objects.filter(campaign=campaign)
            .order_by("position")
            .values_list("n_counted", "n_free", "is_settled")
        ),
        list(PanelMember.objects.filter(campaign=campaign).values_list("n_done", "last_place")),
    ]


def script_of(judge):
    """Answers of every kind, given, changed, taken back, put off and sent twice."""
    asked = [question["uid"] for question in judge.next()]
    sent = [
        answer_to(asked[0], "similar", at=1),
        answer_to(asked[1], "skip", at=2, mode="sheet", device="touch"),
        answer_to(asked[2], "later", at=3),
        answer_to(asked[0], "different", at=5),
        answer_to(asked[0], "similar", at=4),
        answer_to(asked[3], "cant_tell", at=6, reason="unsure"),
        answer_to(asked[4], "different", at=7),
        answer_to(asked[2], "similar", at=8),
    ]
    sent.append(answer_to(asked[1], "withdrawn", at=9, undoes=sent[1]["uuid"]))
    sent.append(answer_to(asked[1], "similar", at=11))
    return [*sent, sent[0], answer_to(str(uuid.uuid4()))]


@pytest.mark.django_db
@pytest.mark.parametrize("rules", [{}, {"serving": "k_of_n", "k": 1}])
def test_one_by_one_is_the_same_as_all_at_once_and_as_the_long_way(rules, campaign_of, monkeypatch):
    results, facts = [], []
    for way in ("short", "long", "batch"):
        campaign = campaign_of(1, 6, 1, **rules)
        judge = Browser(campaign, campaign.panel.get().annotator)
        sent = script_of(judge)
        for answer, name in zip(sent, "abcdefghijak", strict=True):
            answer["uuid"] = str(uuid.uuid5(campaign.uid, name))
        sent[8]["undoes"] = sent[1]["uuid"]
        if way == "long":
            monkeypatch.setattr(long_way, "record_first_answer", lambda **_: None)
        batches = [sent] if way == "batch" else [[answer] for answer in sent]
        replies = [judge.send(*batch)[1]["results"] for batch in batches]
        monkeypatch.undo()
        name_of = {uuid.UUID(answer["uuid"]): place for place, answer in enumerate(sent)}
        results.append([(r["status"], r["code"]) for reply in replies for r in reply])
        facts.append(stored(campaign, name_of))
        assert reconcile(campaign=campaign) == []
    assert results[0] == results[1] == results[2]
    assert [status for status, _ in results[0]] == ["saved"] * 10 + ["duplicate", "rejected"]
    assert facts[0] == facts[1] == facts[2]


@pytest.fixture
def ready(campaign_of):
    campaign = campaign_of(1, 4, 1)
    member = campaign.panel.get()
    return campaign, member, [str(e.question.uid) for e in member.queue.order_by("place")]


def short(campaign, member, answer, **wanted):
    return record_first_answer(
        campaign_uid=campaign.uid,
        annotator_id=member.annotator_id,
        given=read_submission(answer),
        **wanted,
    )


@pytest.mark.django_db
def test_a_first_answer_goes_the_short_way(ready):
    campaign, member, asked = ready
    taken = short(campaign, member, answer_to(asked[0]))
    assert (taken.judge.member_id, taken.n_done, taken.asked) == (member.pk, 1, [])
    assert Judgement.objects.count() == 1


@pytest.mark.django_db
def test_it_brings_the_next_questions_as_a_look_afterwards_would(campaign_of):
    campaign = campaign_of(1, 30, 1)
    member = campaign.panel.get()
    entries = list(member.queue.order_by("place").select_related("question"))
    moved = entries[3]  # put off until behind all others
    QueueEntry.objects.filter(pk=moved.pk).update(place=entries[-1].place + 1)
    for at, after, n in [(0, 0, 3), (1, entries[4].place, 20), (2, entries[-1].place, 5)]:
        taken = short(campaign, member, answer_to(str(entries[at].question.uid)), after=after, n=n)
        assert taken.asked == next_questions(taken.judge, after=after, n=n)
    assert len(short(campaign, member, answer_to(str(entries[5].question.uid)), n=20).asked) == 20


@pytest.mark.django_db
def test_one_who_must_read_new_guidelines_is_asked_nothing_with_the_receipt(ready):
    campaign, member, asked = ready
    type(campaign).objects.filter(pk=campaign.pk).update(guideline_version=2)
    judge = Browser(campaign, member.annotator)
    _, reply = judge.send(answer_to(asked[0]), next={"after": 0, "n": 2})
    assert reply["results"][0]["status"] == "saved"
    assert (reply["must_read"], reply["questions"]) == (True, [])


@pytest.fixture
def lent(campaign_of):
    """Two of three judges are wanted; all three have the one pair, the third by an old lease."""
    campaign = campaign_of(1, 1, 3, serving="k_of_n", k=2)
    judges = [Browser(campaign, member.annotator) for member in campaign.panel.order_by("number")]
    for judge in reversed(judges):
        assert judge.next()
        QueueEntry.objects.filter(member__number=3).update(
            lease_until=timezone.now() - timedelta(seconds=1)
        )
        reap_leases()
    QueueEntry.objects.filter(member__number=3).update(state="open", lease_until=timezone.now())
    return campaign, list(campaign.panel.order_by("number")), str(campaign.questions.get().uid)


@pytest.mark.django_db
def test_votes_for_a_lent_pair_go_the_short_way_until_there_are_k(lent):
    campaign, [first, second, third], uid = lent
    counters = Question.objects.values_list("n_counted", "n_free", "is_settled")
    assert short(campaign, first, answer_to(uid, "skip", reason="unsure")) is None
    assert short(campaign, first, answer_to(uid, "similar")) is not None
    assert counters.get() == (1, 0, False)
    assert short(campaign, second, answer_to(uid, "different")) is None  # a third holds it
    third.queue.update(state="expired", lease_until=None)
    assert short(campaign, second, answer_to(uid, "different")) is not None
    assert counters.get() == (2, 0, True)
    third.queue.update(state="open", lease_until=timezone.now())
    assert short(campaign, third, answer_to(uid, "similar")) is None
    third.queue.update(state="expired", lease_until=None)
    assert reconcile(campaign=campaign) == []


@pytest.mark.django_db
def test_a_control_of_a_lending_campaign_goes_the_short_way_and_counts_nothing(ready):
    campaign, member, asked = ready
    type(campaign).objects.filter(pk=campaign.pk).update(serving="k_of_n")
    Question.objects.filter(uid=asked[0]).update(kind="repeat")
    assert short(campaign, member, answer_to(asked[0])) is not None
    assert set(Question.objects.values_list("n_counted", "is_settled")) == {(0, False)}


@pytest.mark.django_db(transaction=True)
def test_judges_who_answer_the_same_pairs_at_once_never_pass_k(campaign_of):
    campaign = campaign_of(1, 20, 6, serving="k_of_n", k=3)
    members = list(campaign.panel.all())
    for member in members[:3]:
        Browser(campaign, member.annotator).next(20)
    late = timezone.now() + timedelta(hours=1)
    for member in members[3:]:  # leases beyond what is wanted, as after an expiry
        for place, question in enumerate(campaign.questions.all(), start=1):
            QueueEntry.objects.create(
                member=member, question=question, position=place, place=place, lease_until=late
            )
    asked = [str(uid) for uid in campaign.questions.order_by("pk").values_list("uid", flat=True)]
    statuses = []

    def judge(person):
        tab = Browser(campaign, person)
        for uid in asked:
            statuses.append(tab.send(answer_to(uid, "similar"))[1]["results"][0]["status"])
        connection.close()

    tabs = [threading.Thread(target=judge, args=(member.annotator,)) for member in members]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert statuses == ["saved"] * 120
    assert Judgement.objects.filter(is_surplus=False).count() == 60
    counters = Question.objects.values_list("n_counted", "n_free", "is_settled")
    assert set(counters) == {(3, 0, True)}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    ["paused", "closed", "inactive", "not lent", "closes_settled", "training", "old guidelines",
     "later", "answered", "settled", "foreign", "uuid of another"],
)  # fmt: skip
def test_anything_else_does_not_and_leaves_nothing(change, ready, campaign_of):
    campaign, member, asked = ready
    answer = answer_to(asked[0], at=1)
    if change in {"paused", "closed"}:
        type(campaign).objects.filter(pk=campaign.pk).update(state=change)
    elif change == "inactive":
        PanelMember.objects.update(is_active=False)
    elif change == "not lent":
        type(campaign).objects.filter(pk=campaign.pk).update(serving="k_of_n")
    elif change == "closes_settled":
        type(campaign).objects.filter(pk=campaign.pk).update(closes_settled=True)
    elif change == "training":
        PanelMember.objects.update(stage=change)
    elif change == "old guidelines":
        answer["guideline_version"] = 2
    elif change == "later":
        answer["answer"] = "later"
    elif change == "answered":
        short(campaign, member, answer_to(asked[0]))
    elif change == "settled":
        QueueEntry.objects.update(state="settled")
    elif change == "foreign":
        answer["question"] = str(campaign_of(1, 1).questions.get().uid)
    elif change == "uuid of another":
        short(campaign, member, answer_to(asked[1]))
        answer["uuid"] = str(JudgementEvent.objects.get().uuid)
    before = stored(campaign)
    assert short(campaign, member, answer) is None
    assert stored(campaign) == before


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_same", [True, False])
def test_two_tabs_that_answer_at_once_are_both_kept(is_same, campaign_of):
    campaign = campaign_of(1, 20, 1)
    person = campaign.panel.get().annotator
    asked = [question["uid"] for question in Browser(campaign, person).next(20)]
    first = [answer_to(uid, "similar", at=place) for place, uid in enumerate(asked)]
    second = first if is_same else [answer_to(uid, "different", at=99) for uid in asked]
    statuses: list[str] = []

    def judge(answers):
        tab = Browser(campaign, person)
        for answer in answers:
            statuses.append(tab.send(answer)[1]["results"][0]["status"])
        connection.close()

    tabs = [threading.Thread(target=judge, args=(answers,)) for answers in (first, second)]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    n = 20 if is_same else 40
    assert JudgementEvent.objects.count() == n
    assert sorted(statuses) == ["duplicate"] * (40 - n) + ["saved"] * n
    latest = dict(JudgementEvent.objects.order_by("id").values_list("question", "answer"))
    assert dict(Judgement.objects.values_list("question", "answer")) == latest
    assert campaign.panel.get().n_done == 20
    assert reconcile(campaign=campaign) == []


@pytest.mark.django_db
def test_a_campaign_opened_later_is_found_by_the_same_plan(campaign_of):
    """Prepared statements outlive the tables' first statistics."""
    for _ in range(8):
        draft = campaign_of(2, 3, 1, is_open=False)
        campaign = open_campaign(campaign=draft)
        judge = Browser(campaign, campaign.panel.get().annotator)
        for _ in range(6):
            judge.judge("similar")
        assert judge.next() == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("rules", [{}, {"serving": "k_of_n", "k": 1}])
@pytest.mark.parametrize("n_at_once", [1, 2])
def test_an_answer_that_waits_while_the_campaign_is_closed_is_refused(
    n_at_once, rules, campaign_of
):
    campaign = campaign_of(1, 4, 1, **rules)
    judge = Browser(campaign, campaign.panel.get().annotator)
    asked = [question["uid"] for question in judge.next()][:n_at_once]
    replies = []

    def answer():
        replies.append(judge.send(*(answer_to(uid) for uid in asked)))
        connection.close()

    tab = threading.Thread(target=answer)
    with transaction.atomic():
        close_campaign(campaign=campaign, by=None, reason="Enough")
        tab.start()
        wait_for_a_lock()
    tab.join()
    [(status, reply)] = replies
    assert status == 409
    assert {result["code"] for result in reply["results"]} == {"closed"}
    assert not JudgementEvent.objects.exists()
