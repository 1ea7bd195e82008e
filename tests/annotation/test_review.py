"""Every answer can be found, read, excluded, asked again and counted again."""

import uuid

import pytest
from django.urls import reverse
from django.utils import timezone

from accounts.models import Role
from annotation.models import Comment, Judgement
from annotation.queries.labels import label_of, labels
from annotation.queries.reviewing.review import AnswerFilter, list_answers
from annotation.services import add_gold, import_judgements, open_campaign
from annotation.services.gold import GoldPair
from tests.clients import Browser, answer_to, signed_in
from tests.worlds import rows_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(people):
    return signed_in(people(1, Role.ADMIN)[0])


@pytest.fixture
def judged(campaign_of, pairs):
    """Three judges; the second has also answered a silent check, wrongly."""
    campaign = campaign_of(1, 4, 3, is_open=False)
    gold = [GoldPair(query, candidate, "similar") for query, candidate in pairs(1, 1)]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    campaign = open_campaign(campaign=campaign)
    import_judgements(campaign=campaign, rows=rows_of(campaign, "ssd sss dsd kcs"))
    second = Browser(campaign, campaign.panel.get(number=2).annotator)
    [check] = second.next()
    second.send(answer_to(check["uid"], "different", visible_ms=120))
    return campaign


def shown(campaign, **wanted):
    rows, _ = list_answers(campaign, AnswerFilter(**wanted))
    return sorted((row.number, row.answer) for row in rows)


def test_answers_are_found_by_judge_answer_disagreement_check_stage_and_time(judged):
    assert len(shown(judged)) == 13
    assert shown(judged, judge=3) == [
        (3, "different"), (3, "different"), (3, "similar"), (3, "similar")
    ]  # fmt: skip
    assert shown(judged, answer="skip") == [(1, "skip")]
    assert shown(judged, shows="disagrees") == [(2, "similar"), (3, "different")]
    assert shown(judged, shows="missed") == [(2, "different")]
    assert shown(judged, kind="gold") == [(2, "different")]
    assert shown(judged, seconds=0.5) == [(2, "different")]
    assert shown(judged, stage="judging") == shown(judged)
    assert shown(judged, stage="training") == []


def test_parts_hold_every_answer_once(judged):
    seen, before = [], None
    while True:
        rows, before = list_answers(judged, AnswerFilter(), before=before, n=4)
        seen += [row.id for row in rows]
        if before is None:
            break
    assert seen == sorted(seen, reverse=True)
    assert len(set(seen)) == len(seen) == 13


def change(browser, campaign, do, *events, **more):
    address = reverse("annotation:change_answers", args=[campaign.slug])
    return browser.post(address, {"answers": events, "do": do, **more}, follow=True)


def test_an_admin_excludes_and_undoes_by_page(judged, browser):
    address = reverse("annotation:answers_given", args=[judged.slug])
    page = browser.get(address, {"judge": 3, "shows": "disagrees"}).content.decode()
    held = Judgement.objects.get(member__number=3, member__campaign=judged, answer="different",
                                 question=judged.questions.order_by("candidate_id")[0])  # fmt: skip
    assert str(held.event.uuid) in page
    assert "against" in page
    assert "Say why" in change(browser, judged, "exclude", held.event.uuid).content.decode()
    reply = change(browser, judged, "exclude", held.event.uuid, reason="Held a key",
                   pair=held.question.uid)  # fmt: skip
    assert reply.redirect_chain[0][0].startswith(
        reverse("annotation:pair", args=[judged.slug, held.question.uid])
    )
    text = reply.content.decode()
    assert "Held a key" in text
    assert "1 answer excluded from counting." in text
    assert shown(judged, shows="excluded") == [(3, "different")]
    assert next(row.n_different for row in labels(judged)) == 0
    assert label_of(judged, held.question) == "similar"
    assert "counted again" in change(browser, judged, "count", held.event.uuid).content.decode()
    assert shown(judged, shows="excluded") == []


def test_a_pairs_page_holds_what_judges_asked_about_it_and_the_replies(judged, browser):
    question = judged.questions.order_by("pk")[0]
    address = reverse("annotation:pair", args=[judged.slug, question.uid])
    assert "What judges asked" not in browser.get(address).content.decode()
    Comment.objects.create(
        uuid=uuid.uuid4(), question=question, member=judged.panel.all()[0],
        text="Is it <b>one</b>?", guideline_version=1, made_at=timezone.now(),
        reply="It is two.", replied_at=timezone.now(),
    )  # fmt: skip
    text = browser.get(address).content.decode()
    assert "Is it &lt;b&gt;one&lt;/b&gt;?" in text
    assert "It is two." in text


def test_bad_addresses_and_forms_are_refused_by_name(judged, browser):
    address = reverse("annotation:answers_given", args=[judged.slug])
    for query in ({"judge": "99"}, {"seconds": "nan"}, {"since": "x"}, {"before": "-1"},
                  {"answer": "robert'); drop"}, {"until": "9999-12-31"}):  # fmt: skip
        assert browser.get(address, query).status_code == 200
    assert "Tick answers first" in change(browser, judged, "exclude").content.decode()
    for event in (str(uuid.uuid4()), "no uuid"):
        reply = change(browser, judged, "exclude", event, reason="x")
        assert reply.status_code == 200
        assert Judgement.objects.filter(is_excluded=True).count() == 0
    missing = reverse("annotation:pair", args=[judged.slug, uuid.uuid4()])
    assert browser.get(missing).status_code == 404


def test_nobody_but_admins_sees_answers(judged, people):
    member = judged.panel.get(number=1)
    for person in (member.annotator, people(1, Role.RESEARCHER)[0]):
        client = signed_in(person)
        for name, more in (("answers_given", []), ("pair", [judged.questions.all()[0].uid])):
            address = reverse(f"annotation:{name}", args=[judged.slug, *more])
            assert client.get(address).status_code == 403
        assert change(client, judged, "exclude").status_code == 403
