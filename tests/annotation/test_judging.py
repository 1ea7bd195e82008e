import json
import uuid
from datetime import datetime
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from annotation.answering.pace import Pace
from annotation.models import (
    Guideline,
    Judgement,
    JudgementEvent,
    PanelMember,
    Preference,
    QueueEntry,
)
from annotation.picture_keys import seal_picture
from annotation.services import close_campaign, pause_campaign
from tests.clients import Browser, answer_to

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(campaign_of):
    return campaign_of(3, 4, 2)


@pytest.fixture
def judge(campaign):
    return Browser(campaign, campaign.panel.first().annotator)


@pytest.fixture
def other(campaign):
    return Browser(campaign, campaign.panel.last().annotator)


def facts() -> list[object]:
    return [
        list(JudgementEvent.objects.order_by("id").values_list("uuid", "answer")),
        list(Judgement.objects.order_by("event_id").values_list("question", "member", "answer")),
        list(QueueEntry.objects.order_by("pk").values_list("place", "state", "last_uuid")),
        list(PanelMember.objects.order_by("id").values_list("n_done", "n_total", "last_place")),
    ]


# ---- serving ----
def test_questions_come_in_the_stored_order_with_random_ids_only(campaign, judge):
    reply = judge.get("next", n=24)
    assert reply["state"] == "open"
    assert reply["guideline_version"] == 1
    assert reply["progress"] == {"n_done": 0, "n_total": 12}
    stored = PanelMember.objects.get(annotator=judge.person).queue.order_by("position")
    assert judge.uids(reply["questions"]) == [str(e.question.uid) for e in stored]
    first = reply["questions"][0]
    assert set(first) == {"uid", "position", "kind", "query", "candidate"}
    assert set(first["query"]) == {"url", "thumb_url", "width", "height"}
    assert (first["kind"], first["query"]["width"], first["query"]["height"]) == ("pair", 40, 60)


def test_the_cursor_serves_what_lies_behind_it(judge):
    everything = judge.next()
    assert judge.next(n=3) == everything[:3]
    assert judge.next(n=5, after=everything[2]["position"]) == everything[3:8]


def test_an_answered_question_is_not_served_again(judge):
    before = judge.next()
    status, reply = judge.send(answer_to(before[0]["uid"]), answer_to(before[1]["uid"], "skip"))
    assert status == 200
    assert [r["status"] for r in reply["results"]] == ["saved", "saved"]
    assert reply["progress"] == {"n_done": 2, "n_total": 12}
    assert judge.next() == before[2:]
    assert judge.get("next")["progress"] == reply["progress"]


def test_later_comes_again_at_the_end(judge):
    before = judge.next()
    judge.send(answer_to(before[0]["uid"], "later"))
    after = judge.next()
    assert [q["uid"] for q in after] == [q["uid"] for q in [*before[1:], before[0]]]
    assert judge.get("next")["progress"]["n_done"] == 0


def test_the_reply_brings_the_next_questions_when_asked(judge):
    before = judge.next()
    _, reply = judge.send(
        answer_to(before[0]["uid"]), next={"after": before[2]["position"], "n": 2}
    )
    assert reply["questions"] == before[3:5]
    assert reply["progress"]["n_done"] == 1


@pytest.mark.parametrize("query", ["n=0", "n=201", "after=-1", "n=x", "after=1e3", "n=" + "9" * 30])
def test_a_cursor_that_is_no_number_is_a_bad_request(judge, query):
    assert judge.client.get(f"{judge.url('next')}?{query}").status_code == 400


# ---- saving ----
def test_every_fact_about_an_answer_is_kept(judge):
    [question] = judge.next(1)
    sent = answer_to(
        question["uid"], "skip", reason="not_comparable", mode="sheet", device="touch",
        visible_ms=1234, load_ms=56,
    )  # fmt: skip
    judge.send(sent)
    event = JudgementEvent.objects.get(uuid=sent["uuid"])
    assert (event.answer, event.reason, event.mode, event.device) == (
        "skip", "not_comparable", "sheet", "touch",
    )  # fmt: skip
    assert (event.visible_ms, event.load_ms, event.guideline_version) == (1234, 56, 1)
    assert event.shown_at is not None
    assert event.shown_at.isoformat() == sent["shown_at"]
    assert event.member.annotator == judge.person


def test_the_same_answer_sent_twice_is_saved_once(judge):
    [question] = judge.next(1)
    sent = answer_to(question["uid"])
    assert judge.send(sent)[1]["results"][0]["status"] == "saved"
    before = facts()
    status, reply = judge.send(sent, sent)
    assert status == 200
    assert [r["status"] for r in reply["results"]] == ["duplicate", "duplicate"]
    assert reply["progress"]["n_done"] == 1
    assert facts() == before


def test_a_changed_answer_replaces_the_judgement_and_keeps_both_events(judge):
    [question] = judge.next(1)
    judge.send(answer_to(question["uid"], "similar", at=1))
    judge.send(answer_to(question["uid"], "different", at=2))
    assert Judgement.objects.get().answer == "different"
    assert JudgementEvent.objects.count() == 2
    assert judge.get("next")["progress"]["n_done"] == 1


def test_taking_back_leaves_no_judgement_and_serves_the_question_again(judge):
    [question] = judge.next(1)
    sent = answer_to(question["uid"], at=1)
    judge.send(sent)
    status, reply = judge.send(answer_to(question["uid"], "withdrawn", at=2, undoes=sent["uuid"]))
    assert (status, reply["progress"]["n_done"]) == (200, 0)
    assert not Judgement.objects.exists()
    assert judge.next(1) == [question]


def test_recent_answers_are_the_judges_own_newest_first(judge, other):
    other.judge("different", 3)
    uids = judge.judge("similar", 3)
    answers = judge.get("recent", n=2)["answers"]
    assert judge.uids(a["question"] for a in answers) == uids[:0:-1]
    assert [a["answer"] for a in answers] == ["similar", "similar"]
    taken_back = answer_to(uids[-1], "withdrawn", at=9, undoes=answers[0]["uuid"])
    judge.send(taken_back)
    assert [a["is_current"] for a in judge.get("recent", n=2)["answers"]] == [False, True]


def test_answers_that_were_taken_back_hide_no_earlier_ones_from_undo(judge):
    uids = judge.judge("similar", 6)
    for held in judge.get("recent", n=4)["answers"]:
        judge.send(answer_to(held["question"]["uid"], "withdrawn", at=9, undoes=held["uuid"]))
    held = judge.get("recent", n=4, held="yes")["answers"]
    assert judge.uids(one["question"] for one in held) == uids[1::-1]
    assert all(one["is_current"] for one in held)


# ---- refusing ----
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"answer": "maybe"}, "bad_value"),
        ({"visible_ms": -1}, "bad_value"),
        ({"question": str(uuid.uuid4())}, "not_served"),
        ({"guideline_version": 2}, "bad_value"),
        ({"decided_at": "2025-01-01T00:00:00Z"}, "bad_time"),
        ({"answer": "withdrawn", "undoes": str(uuid.uuid4())}, "not_current"),
    ],
)
def test_an_answer_that_cannot_be_is_a_422_and_changes_nothing(judge, changes, code):
    [question] = judge.next(1)
    before = facts()
    status, reply = judge.send(answer_to(question["uid"]) | changes)
    assert status == 422
    assert reply["results"][0]["status"] == "rejected"
    assert reply["results"][0]["code"] == code
    assert reply["results"][0]["message"]
    assert facts() == before


def test_a_good_answer_beside_a_bad_one_is_saved(judge):
    first, second = judge.next(2)
    status, reply = judge.send(answer_to(first["uid"], "maybe"), answer_to(second["uid"]))
    assert status == 200
    assert [r["status"] for r in reply["results"]] == ["rejected", "saved"]


@pytest.mark.parametrize(
    "offset", ["+00:00:00.000001", "+23:59:59.5", "+15:59:59", "-16:30", "+23:00"]
)
def test_a_time_in_any_zone_is_taken_in_utc(judge, offset):
    [question] = judge.next(1)
    moment = "2026-01-02T00:00:00" + offset
    sent = answer_to(question["uid"], shown_at=moment, decided_at=moment)
    assert judge.send(sent)[1]["results"][0]["status"] == "saved"
    assert JudgementEvent.objects.get().decided_at == datetime.fromisoformat(moment)


@pytest.mark.parametrize(
    "moment",
    ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-01-01T00:00:00",
     "2026-01-01T00:00:00+24:00", "1999-12-31T23:59:59+00:00", "today", 1, None],
)  # fmt: skip
def test_a_time_that_cannot_be_is_refused_for_its_answer_alone(judge, moment):
    first, second = judge.next(2)
    bad = answer_to(first["uid"], shown_at=moment, decided_at=moment)
    status, reply = judge.send(bad, answer_to(second["uid"]))
    assert status == 200
    assert [r["code"] for r in reply["results"]] == ["bad_value", ""]
    assert judge.send(bad)[0] == 422


def test_an_answer_after_a_taking_back_holds_by_a_slow_clock_too(judge):
    [question] = judge.next(1)
    sent = answer_to(question["uid"], at=1000)
    judge.send(sent)
    judge.send(answer_to(question["uid"], "withdrawn", at=100, undoes=sent["uuid"]))
    _, reply = judge.send(answer_to(question["uid"], "different", at=110))
    assert reply["progress"]["n_done"] == 1
    assert Judgement.objects.get().answer == "different"


def test_a_question_of_another_campaign_is_not_taken(judge, campaign_of):
    foreign = campaign_of(1, 1, panel=[judge.person]).questions.get()
    before = facts()
    status, reply = judge.send(answer_to(foreign.uid))
    assert (status, reply["results"][0]["code"]) == (422, "not_served")
    assert facts() == before


def test_a_forged_annotator_is_ignored_the_session_decides(judge, other):
    [question] = judge.next(1)
    judge.send(answer_to(question["uid"], annotator=other.person.pk, member=1, user="x"))
    assert Judgement.objects.get().member.annotator == judge.person


def test_nobody_takes_back_the_answer_of_another(judge, other):
    [uid] = other.judge()
    theirs = JudgementEvent.objects.get().uuid
    before = facts()
    status, _ = judge.send(answer_to(uid, "withdrawn", at=5, undoes=str(theirs)))
    assert status == 422
    assert facts() == before


def test_the_uuid_of_another_is_refused_without_saying_whose(judge, other):
    [uid] = other.judge()
    theirs = JudgementEvent.objects.get().uuid
    _, reply = judge.send(answer_to(uid, uuid=str(theirs)))
    assert reply["results"][0]["code"] == "uuid_reused"
    assert other.person.username not in json.dumps(reply)


@pytest.mark.parametrize(("stop", "code"), [(pause_campaign, "paused"), (close_campaign, "closed")])
def test_a_campaign_that_is_not_open_takes_nothing_but_knows_what_it_has(
    judge, campaign, stop, code
):
    [question] = judge.next(1)
    sent = answer_to(question["uid"])
    judge.send(sent)
    stop(campaign=campaign, by=None, reason="test")
    before = facts()
    status, reply = judge.send(answer_to(question["uid"], "different", at=9))
    assert (status, reply["results"][0]["code"]) == (409, code)
    assert judge.send(sent)[1]["results"][0]["status"] == "duplicate"
    assert facts() == before
    served = judge.get("next")
    assert (served["questions"], served["state"]) == ([], code)


@pytest.mark.parametrize(
    "body",
    [b" ", b"{", b"[]", b'{"answers": 1}', b'{"answers": [{}]}', b"\xff\xfe", b"[" * 5000,
     b'{"answers": [{"uuid": 1}]}', b"9" * 5000],
)  # fmt: skip
def test_a_malformed_body_is_a_400(judge, body):
    reply = judge.client.post(judge.url("answers"), body, content_type="application/json")
    assert reply.status_code == 400
    assert "error" in reply.json()


@pytest.mark.parametrize(
    "wanted", [1, {}, {"after": 0}, {"after": 0, "n": True}, {"after": -1, "n": 1}]
)
def test_a_malformed_wish_for_the_next_is_a_400_and_saves_nothing(judge, wanted):
    [question] = judge.next(1)
    assert judge.send(answer_to(question["uid"]), next=wanted)[0] == 400
    assert not JudgementEvent.objects.exists()


def test_answers_need_json_and_the_csrf_token(judge):
    url = judge.url("answers")
    assert judge.client.post(url, {"answers": "[]"}).status_code == 415
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(judge.person)
    body = json.dumps({"answers": [answer_to(judge.next(1)[0]["uid"])]})
    assert strict.post(url, body, content_type="application/json").status_code == 403
    assert not JudgementEvent.objects.exists()


# ---- who may ----
JUDGE_PAGES = ["next", "recent", "guidelines"]


@pytest.mark.parametrize("name", JUDGE_PAGES)
def test_a_campaign_of_others_does_not_exist(name, campaign, people):
    stranger = Browser(campaign, people(1)[0])
    assert stranger.client.get(stranger.url(name)).status_code == 404


def test_a_stranger_cannot_answer(campaign, people):
    stranger = Browser(campaign, people(1)[0])
    question = campaign.questions.first().uid
    assert stranger.send(answer_to(question)) == (404, {})
    assert not JudgementEvent.objects.exists()


@pytest.mark.parametrize("name", JUDGE_PAGES)
@pytest.mark.parametrize("role", [Role.ADMIN, Role.RESEARCHER])
def test_admins_and_researchers_do_not_judge(name, role, campaign, people):
    person = Browser(campaign, people(1, role)[0])
    assert person.client.get(person.url(name)).status_code == 403


@pytest.mark.parametrize("name", [*JUDGE_PAGES, "judge"])
def test_strangers_are_asked_to_sign_in(name, judge):
    reply = Client().get(judge.url(name))
    assert reply.status_code == 302
    assert reply["Location"].startswith(reverse("account_login"))


def test_a_draft_is_not_there_yet(campaign_of, people):
    panel = people(1)
    draft = campaign_of(1, 1, panel=panel, is_open=False)
    judge = Browser(draft, panel[0])
    assert judge.client.get(judge.url("next")).status_code == 404


def test_someone_taken_off_the_panel_is_out(judge):
    PanelMember.objects.filter(annotator=judge.person).update(is_active=False)
    assert judge.client.get(judge.url("next")).status_code == 404


def test_replies_for_judges_are_never_cached(judge):
    for name in JUDGE_PAGES:
        assert "no-store" in judge.client.get(judge.url(name))["Cache-Control"]


# ---- guidelines and preferences ----
def test_guidelines_come_sanitised_with_their_version(judge, campaign):
    Guideline.objects.filter(campaign=campaign).update(
        text="# Rules\n\n<script>alert(1)</script> [x](javascript:alert(1)) **bold**"
    )
    reply = judge.get("guidelines")
    assert reply["version"] == 1
    assert "<h2>Rules</h2>" in reply["html"]
    assert "<strong>bold</strong>" in reply["html"]
    assert "<script" not in reply["html"]
    assert "href" not in reply["html"]


def preferences(judge: Browser, body: object) -> tuple[int, dict[str, Any]]:
    reply = judge.client.post(
        reverse("annotation:preferences"), json.dumps(body), content_type="application/json"
    )
    return reply.status_code, reply.json()


def test_keys_are_remapped_from_a_fixed_list(judge, other):
    status, reply = preferences(judge, {"keys": {"similar": "k"}, "mode": "sheet"})
    assert status == 200
    assert reply["keys"]["similar"] == "k"
    assert reply["keys"]["different"] == "f"
    assert Preference.objects.get().annotator == judge.person
    assert Preference.objects.get().keys == {"similar": "k"}


@pytest.mark.parametrize(
    "body",
    [
        {"keys": {"similar": "<script>"}},
        {"keys": {"similar": "F12"}},
        {"keys": {"explode": "x"}},
        {"keys": {"similar": "f"}},
        {"keys": {"similar": 1}},
        {"keys": []},
        {"keys": {}, "mode": "import"},
        {"keys": {}, "mode": ["pair"]},
        [],
    ],
)
def test_keys_that_are_not_on_the_list_are_refused(judge, body):
    assert preferences(judge, body)[0] == 400
    assert not Preference.objects.exists()


def test_nobody_sets_the_preferences_of_another(judge, other):
    preferences(judge, {"keys": {"similar": "k"}, "annotator": other.person.pk, "user": 1})
    assert Preference.objects.get().annotator == judge.person


def test_a_judge_sees_at_most_the_next_twenty(campaign_of):
    campaign = campaign_of(6, 10, 1)
    judge = Browser(campaign, campaign.panel.get().annotator)
    first = judge.next(200)
    assert len(first) == 20
    for place in (first[0], first[12], first[-1]):
        rest = first[first.index(place) + 1 :]
        assert judge.next(200, after=place["position"]) == rest
        _, reply = judge.send(
            answer_to(first[0]["uid"], "later"), next={"after": place["position"], "n": 200}
        )
        assert len(reply["questions"]) <= 20
        first = judge.next(200)
    assert judge.next(200, after=first[-1]["position"]) == []


# ---- images ----
def test_images_of_other_questions_do_not_exist(judge, campaign_of):
    foreign = campaign_of(1, 1).questions.select_related("query").get()
    uid = judge.campaign.uid
    own = judge.campaign.questions.all()[0].query
    known = seal_picture(uid, foreign.query_id)
    elsewhere = seal_picture(foreign.campaign.uid, own.pk)
    for key in (known, elsewhere, seal_picture(uid, 0), known[:-1], own.uid, own.pk, "x"):
        url = reverse("annotation:image", args=[uid, key, "view"])
        assert judge.client.get(url).status_code == 404, key


def test_one_judge_saves_a_bounded_number_of_answers_a_minute(
    judge: Browser, settings, monkeypatch
) -> None:
    settings.ANSWERS_A_MINUTE = 2
    monkeypatch.setattr("annotation.views.judging.pace", Pace())
    monkeypatch.setattr("annotation.answering.pace.MAX_BATCH", 2)
    asked = [question["uid"] for question in judge.next(3)]
    assert judge.send(*map(answer_to, asked[:2]))[0] == 200
    late = answer_to(asked[2])
    assert judge.send(late)[0] == 429
    settings.ANSWERS_A_MINUTE = 0
    assert judge.send(late)[0] == 200  # nothing of it was stored before


def test_a_bucket_fills_again_and_each_judge_has_one(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr("annotation.answering.pace.time.monotonic", lambda: now[0])
    pace = Pace()
    assert pace.take(1, 200, a_minute=240) == 0
    assert pace.take(1, 200, a_minute=240) == 40
    assert pace.take(2, 200, a_minute=240) == 0
    now[0] = 40.0
    assert pace.take(1, 200, a_minute=240) == 0
    assert pace.take(1, 200, a_minute=0) == 0
