"""Verifying templates: answers taken once, verdicts, rulings, and what a judge can reach."""

from __future__ import annotations

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from annotation.answering.submissions import MalformedError
from conditional.models import Choice, VerifierAnswer
from conditional.template_sets.rows import exported_entries
from conditional.template_sets.services import delete_set
from conditional.verification.answers import read_answers
from conditional.verification.queries import (
    NotVerifierError,
    compute_statistics,
    find_verifier,
    list_results,
    next_questions,
    picture_for,
    read_progress,
    seen_order,
    verified_templates,
)
from conditional.verification.services import (
    open_verification,
    rule_template,
    set_state,
)
from lookalike.conditional.verdicts import Outcome
from lookalike.core.errors import Refused
from tests.conditional.cases import answer, record

pytestmark = pytest.mark.django_db


def pick(verifier, template, candidate):
    """Pick a candidate, wherever this judge sees it."""
    place = seen_order(verifier, template).index(candidate)
    return record(verifier, answer(template, place=place))


@pytest.fixture
def verification(template_set, people):
    return open_verification(
        asked_set=template_set, name="Check", panel=people(3), n_questions=5, seed=11
    )


@pytest.fixture
def judges(verification):
    found = verification.panel.order_by("number")
    return [find_verifier(verification.uid, seat.annotator_id) for seat in found]


def test_a_sample_is_asked_of_everybody_in_an_order_of_their_own(verification, judges):
    orders = [[row.pk for row in next_questions(judge, 10)] for judge in judges]
    assert all(len(order) == 5 for order in orders)
    assert len({frozenset(order) for order in orders}) == 1
    assert len({tuple(order) for order in orders}) > 1
    assert verification.templates.count() == 5


def test_an_answer_is_stored_once_however_often_it_is_sent(judges):
    judge = judges[0]
    [template] = next_questions(judge, 1)
    given = answer(template, place=4)
    assert [record(judge, given, given), record(judge, given)] == [
        ["saved", "duplicate"], ["duplicate"]
    ]  # fmt: skip
    stored = VerifierAnswer.objects.get()
    assert stored.picked == seen_order(judge, template)[4]
    assert read_progress(judge).n_done == 1
    assert template not in next_questions(judge, 10)


@pytest.mark.django_db(transaction=True)
def test_an_answer_that_arrives_twice_at_once_is_stored_once(judges):
    judge = judges[0]
    [template] = next_questions(judge, 1)
    given = answer(template, place=4)
    barrier = Barrier(2)

    def send(_):
        barrier.wait()
        try:
            return record(judge, given)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(send, range(2)))
    assert sorted(results) == [["duplicate"], ["saved"]]
    assert VerifierAnswer.objects.count() == 1


def test_what_is_taken_back_is_asked_again_and_both_are_kept(judges):
    judge = judges[0]
    [template] = next_questions(judge, 1)
    record(judge, answer(template, "none"))
    record(judge, answer(template, "withdrawn"))
    assert read_progress(judge).n_done == 0
    assert template in next_questions(judge, 10)
    assert not any(one.votes for one in list_results(judge.verification))
    record(judge, answer(template, "several"))
    choices = list(VerifierAnswer.objects.values_list("choice", flat=True))
    assert choices == [Choice.NONE, Choice.WITHDRAWN, Choice.SEVERAL]


def test_answers_are_append_only(judges):
    [template] = next_questions(judges[0], 1)
    record(judges[0], answer(template, "none"))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        VerifierAnswer.objects.update(choice=Choice.SEVERAL)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"choice": "maybe"}, "bad_value"),
        ({"place": 15}, "bad_value"),
        ({"place": True}, "bad_value"),
        ({"place": -1}, "bad_value"),
        ({"choice": "none"}, "bad_value"),
        ({"device": "mind"}, "bad_value"),
        ({"question": "x"}, "bad_value"),
        ({"question": str(uuid.uuid4())}, "not_served"),
        ({"decided_at": "2026-03-01T09:59:59Z"}, "bad_time"),
        ({"shown_at": "yesterday"}, "bad_value"),
    ],
)
def test_what_is_no_answer_is_refused_and_the_rest_is_taken(judges, changes, code):
    first, second = next_questions(judges[0], 2)
    results = record(judges[0], {**answer(first), **changes}, answer(second, "none"))
    assert [getattr(results[0], "code", ""), results[1]] == [code, "saved"]
    assert VerifierAnswer.objects.count() == 1


def test_a_uuid_of_somebody_else_is_refused(judges):
    [template] = next_questions(judges[0], 1)
    given = answer(template, "none")
    record(judges[0], given)
    [result] = record(judges[1], given)
    assert result.code == "uuid_taken"


@pytest.mark.parametrize("body", [None, [], {}, {"answers": []}, {"answers": [1]}])
def test_a_body_without_answers_is_malformed(body):
    with pytest.raises(MalformedError):
        read_answers(body)


def test_a_closed_verification_takes_no_answers(verification, judges):
    [template] = next_questions(judges[0], 1)
    set_state(verification=verification, is_open=False)
    [result] = record(judges[0], answer(template, "none"))
    assert result.code == "closed"
    closed = find_verifier(verification.uid, judges[0].annotator_id)
    assert next_questions(closed, 5) == []


def test_majorities_pass_and_fail_and_the_rest_is_adjudicated(verification, judges, people):
    passing, failing, split, *_ = verification.templates.order_by("position")
    target = len(passing.gallery)
    for judge in judges:
        pick(judge, passing, target)
        record(judge, answer(failing, "bad_condition"))
    for judge, candidate in zip(judges, (0, 1, target), strict=True):
        pick(judge, split, candidate)
    outcomes = {one.template.pk: one for one in list_results(verification)}
    assert outcomes[passing.pk].verdict.outcome == Outcome.PASSES
    assert outcomes[failing.pk].verdict.outcome == Outcome.FAILS
    assert outcomes[split.pk].verdict.outcome == Outcome.ADJUDICATE
    assert verified_templates(verification) == [passing]
    [admin] = people(1, Role.ADMIN)
    with pytest.raises(Refused, match="the panel decides"):
        rule_template(
            verification=verification, template_uid=passing.uid, passes=False, note="", by=admin
        )
    rule_template(
        verification=verification, template_uid=split.uid, passes=True, note="clear", by=admin
    )
    verified = verified_templates(verification)
    assert set(verified) == {passing, split}
    exported = exported_entries(verification.template_set, [one.pk for one in verified])
    assert [one["condition"] for one in exported] == [one.condition for one in verified]
    figures = compute_statistics(list_results(verification))
    assert (figures.total.n_decided, figures.total.n_unique, figures.n_verified) == (3, 1, 2)
    assert sum(share.n for _, share in figures.by_condition) == 5


def test_judges_agree_wherever_their_galleries_put_the_target(verification, judges):
    for template in verification.templates.all():
        for judge in judges:
            pick(judge, template, len(template.gallery))
    figures = compute_statistics(list_results(verification))
    assert (figures.agreement.percent, figures.total.pass_share) == (1.0, 1.0)
    assert len(verified_templates(verification)) == 5


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"panel": []}, "panel"),
        ({"name": "…"}, "name"),
        ({"name": "check"}, "name"),
        ({"n_questions": 31}, "n_questions"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_opened_is_refused(verification, template_set, people, changes, field):
    given = {"asked_set": template_set, "name": "Other", "panel": people(1), **changes}
    with pytest.raises(Refused) as caught:
        open_verification(**given)
    assert caught.value.field == field


def test_only_annotators_judge_and_a_set_under_verification_is_kept(
    verification, template_set, people
):
    with pytest.raises(Refused, match="only annotators are kept blind"):
        open_verification(asked_set=template_set, name="X", panel=people(1, Role.ADMIN))
    with pytest.raises(Refused, match="is under verification"):
        delete_set(template_set=template_set)


def test_pictures_stand_where_the_judge_sees_them(verification, judges):
    template = verification.templates.first()
    order = seen_order(judges[0], template)
    third, reference = (picture_for(judges[0], template.uid, slot) for slot in ("3", "reference"))
    assert third is not None
    assert reference is not None
    assert (third[0].pk, third[1]) == (template.candidates[order[3]], None)
    assert reference[0].pk == template.reference_id
    for slot in ("15", "-1", "x", "¹"):
        assert picture_for(judges[0], template.uid, slot) is None
    assert picture_for(judges[0], uuid.uuid4(), "0") is None


def test_no_two_judges_and_templates_share_an_order(verification, judges):
    orders = {
        (judge.number, row.pk): seen_order(judge, row)
        for judge in judges
        for row in verification.templates.all()
    }
    assert len({tuple(order) for order in orders.values()}) == 15
    assert len({order.index(14) for order in orders.values()}) > 3


# ---- what the browser gets ----


@pytest.fixture
def client_of():
    def make(person):
        client = Client()
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


def test_no_byte_for_the_judge_tells_the_target(verification, judges, client_of):
    client = client_of(judges[0].annotator)
    body = client.get(reverse("conditional:next", args=[verification.uid])).content.decode()
    page = client.get(reverse("conditional:judge", args=[verification.uid])).content.decode()
    questions = json.loads(body)["questions"]
    assert len(questions) == 5
    for question in questions:
        assert set(question) == {"uid", "condition", "reference", "images"}
        tails = [address["url"].split("/")[-2] for address in question["images"]]
        assert tails == [str(place) for place in range(15)]
    uids = {str(uid) for uid in verification.template_set.catalog.images.values_list("uid", flat=1)}
    for text in (body, page):
        assert not [uid for uid in uids if uid in text]
        for word in ("answer_index", "target", "lacks", "kind", "secret-product", "photos/"):
            assert word not in text.replace("event.target", "")


def test_a_judge_answers_over_http_and_a_stranger_finds_nothing(
    verification, judges, client_of, people
):
    url = reverse("conditional:answers", args=[verification.uid])
    [template] = next_questions(judges[0], 1)
    given = {"answers": [answer(template, place=2)]}
    client = client_of(judges[0].annotator)
    for status in ("saved", "duplicate"):
        reply = client.post(url, given, content_type="application/json")
        assert (reply.status_code, reply.json()["results"][0]["status"]) == (200, status)
    assert reply.json()["progress"] == {"n_done": 1, "n_total": 5}
    assert client.post(url, {"x": 1}, content_type="application/json").status_code == 400
    assert client.post(url, {"x": 1}).status_code == 415
    [stranger] = people(1)
    assert client_of(stranger).post(url, given, content_type="application/json").status_code == 404
    for name in ("judge", "next"):
        page = client_of(stranger).get(reverse(f"conditional:{name}", args=[verification.uid]))
        assert page.status_code == 404
    with pytest.raises(NotVerifierError):
        find_verifier(verification.uid, stranger.pk)


@pytest.mark.parametrize(
    "name", ["conditional:sets", "conditional:set", "conditional:verification", "conditional:new"]
)
def test_annotators_see_no_page_that_knows_the_target(
    verification, template_set, judges, client_of, name
):
    slug = {"conditional:set": template_set.slug, "conditional:verification": verification.slug}
    url = reverse(name, args=[slug[name]] if name in slug else [])
    assert client_of(judges[0].annotator).get(url).status_code == 403
