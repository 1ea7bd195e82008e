"""Triplets put to a panel: mirrored sides, answers taken once, outcomes, export, kept answers."""

from __future__ import annotations

import csv
import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from conditional.models import TripletSet, Verification, VerifierAnswer
from conditional.triplets.judged import ensure_questions, judged_triplets, keep_answers
from conditional.triplets.queries import triplet_results, triplet_statistics
from conditional.verification.queries import (
    find_verifier,
    next_questions,
    read_progress,
    seen_order,
)
from conditional.verification.services import open_verification, set_state
from lookalike.conditional.triplet_majority import Standing
from lookalike.core.errors import Refused
from tests.catalogs import catalog_of, embedding_set_of
from tests.conditional.cases import answer, record
from tests.pooling.run_command import printed

pytestmark = pytest.mark.django_db
# a: b is closer than c (2 of 3 answers); b: c than d; the second once more under a condition
ANSWERS = ["abc", "abc", "acb", "bcd", "bcd colour", "cda", "cdb", "dab"]


@pytest.fixture
def triplet_set(db, tmp_path, settings):
    settings.DATA_DIR = tmp_path / "data"
    path = tmp_path / "t.csv"
    rows = [[*names[:3], names[4:], "w"] for names in ANSWERS]
    path.write_text(
        "anchor,closer,farther,condition,worker\n" + "".join(",".join(row) + "\n" for row in rows)
    )
    catalog_of("abcd")
    printed("import_triplets", "Small", path, "--catalog", "eggs")
    return TripletSet.objects.get(slug="small")


@pytest.fixture
def campaign(triplet_set, people):
    return open_verification(asked_set=triplet_set, name="Which one", panel=people(3), seed=4)


@pytest.fixture
def judges(campaign):
    found = campaign.panel.order_by("number")
    return [find_verifier(campaign.uid, seat.annotator_id) for seat in found]


@pytest.fixture
def client_of():
    def make(person):
        client = Client()
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


def pick(judge, question, candidate):
    """Say that a candidate is closer, on whichever side this judge sees it."""
    return record(judge, answer(question, place=seen_order(judge, question).index(candidate)))


def vote_all(judges, texts):
    """Give votes: for each question one letter a judge: 1, 2, ? or . for none."""
    questions = judges[0].verification.triplets.order_by("position")
    for question, text in zip(questions, texts, strict=True):
        for judge, one in zip(judges, text, strict=True):
            if one == "?":
                record(judge, answer(question, "cant_tell"))
            elif one != ".":
                pick(judge, question, int(one) - 1)


def test_the_questions_behind_answers_are_asked_once_each(triplet_set, campaign):
    asked = {
        (one.anchor_id, one.first_id, one.second_id, one.condition)
        for one in campaign.triplets.all()
    }
    expected = {
        (row.anchor_id, *sorted((row.closer_id, row.farther_id)), row.condition)
        for row in triplet_set.triplets.all()
    }
    assert asked == expected
    assert campaign.triplets.count() == len(expected) == triplet_set.n_questions == 6
    ensure_questions(triplet_set=triplet_set)
    assert triplet_set.questions.count() == 6


def test_a_set_says_how_many_questions_it_will_ask_before_they_are_stored(triplet_set):
    assert triplet_set.n_questions == 6
    assert not triplet_set.questions.exists()


def test_a_stored_question_does_not_tell_which_candidate_was_closer(campaign):
    assert all(one.first_id < one.second_id for one in campaign.triplets.all())


def test_sides_are_mirrored_at_random_for_each_judge_and_question(people, tmp_path):
    names = [f"n{number:02d}" for number in range(40)]
    path = tmp_path / "many.csv"
    path.write_text(
        "anchor,closer,farther\n"
        + "".join(f"{names[i]},{names[i + 1]},{names[i + 2]}\n" for i in range(38))
    )
    catalog_of(names, "many")
    printed("import_triplets", "Many", path, "--catalog", "many")
    found = open_verification(
        asked_set=TripletSet.objects.get(), name="Many", panel=people(6), seed=9
    )
    seats = [find_verifier(found.uid, seat.annotator_id) for seat in found.panel.all()]
    sides = np.array(
        [
            [seen_order(seat, one)[0] for one in found.triplets.order_by("position")]
            for seat in seats
        ]
    )
    assert 0.4 < sides.mean() < 0.6
    assert len({tuple(row) for row in sides.tolist()}) == 6
    correlations = np.corrcoef(sides)[np.triu_indices(6, 1)]
    assert np.abs(correlations).max() < 0.5
    again = [seen_order(seats[2], one)[0] for one in found.triplets.order_by("position")]
    assert again == sides[2].tolist()


def test_answers_are_about_candidates_and_not_about_sides(judges):
    [question] = next_questions(judges[0], 1)
    for judge in judges:
        pick(judge, question, 1)
    places = [seen_order(judge, question).index(1) for judge in judges]
    assert set(VerifierAnswer.objects.values_list("picked", flat=True)) == {1}
    assert all(place in {0, 1} for place in places)


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"choice": "none", "place": None}, "bad_value"),
        ({"choice": "several", "place": None}, "bad_value"),
        ({"choice": "cant_tell"}, "bad_value"),
        ({"place": 2}, "bad_value"),
        ({"place": None}, "bad_value"),
        ({"question": str(uuid.uuid4())}, "not_served"),
    ],
)
def test_what_is_no_answer_to_a_triplet_is_refused(judges, changes, code):
    first, second = next_questions(judges[0], 2)
    results = record(judges[0], {**answer(first), **changes}, answer(second, "cant_tell"))
    assert [getattr(results[0], "code", ""), results[1]] == [code, "saved"]
    assert VerifierAnswer.objects.count() == 1


def test_a_triplet_outside_the_sample_was_not_served(triplet_set, people):
    few = open_verification(asked_set=triplet_set, name="Few", panel=people(1), n_questions=2)
    judge = find_verifier(few.uid, few.panel.get().annotator_id)
    asked = set(few.triplets.values_list("pk", flat=True))
    other = triplet_set.questions.exclude(pk__in=asked).first()
    [result] = record(judge, answer(other))
    assert result.code == "not_served"


def test_templates_and_triplets_take_no_answers_of_each_other(judges, template_set, people):
    check = open_verification(asked_set=template_set, name="Check", panel=people(1))
    verifier = find_verifier(check.uid, check.panel.get().annotator_id)
    [template], [triplet] = next_questions(verifier, 1), next_questions(judges[0], 1)
    for seat, question, choice, code in (
        (verifier, template, "cant_tell", "bad_value"),
        (verifier, triplet, "none", "not_served"),
        (judges[0], template, "cant_tell", "not_served"),
    ):
        [result] = record(seat, answer(question, choice))
        assert result.code == code


@pytest.mark.django_db(transaction=True)
def test_an_answer_from_four_tabs_at_once_is_stored_once(judges):
    [question] = next_questions(judges[0], 1)
    body = answer(question, place=1)
    barrier = Barrier(4)

    def send(_):
        barrier.wait()
        try:
            return record(judges[0], body)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(send, range(4)))
    assert sorted(results) == [["duplicate"]] * 3 + [["saved"]]
    assert VerifierAnswer.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_closing_waits_for_answers_that_are_being_stored(campaign, judges):
    first, second = next_questions(judges[0], 2)
    is_stored, has_closed = Event(), Event()

    def store():
        try:
            with transaction.atomic():
                results = record(judges[0], answer(first, "cant_tell"))
                is_stored.set()
                return results, has_closed.wait(0.6)
        finally:
            connection.close()

    def close():
        is_stored.wait(10)
        try:
            set_state(verification=campaign, is_open=False)
            has_closed.set()
            return VerifierAnswer.objects.count()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        stored, closed = pool.submit(store), pool.submit(close)
        assert stored.result() == (["saved"], False)
        assert closed.result() == 1
    [late] = record(judges[0], answer(second, "cant_tell"))
    assert late.code == "closed"


def test_majorities_decide_ties_do_not_and_each_condition_has_its_figures(campaign, judges):
    vote_all(judges, ["112", "12?", "2..", "222", "???", "1?."])
    standings = [one.outcome.standing for one in triplet_results(campaign)]
    assert standings == [
        Standing.DECIDED, Standing.UNDECIDED, Standing.WAITING,
        Standing.DECIDED, Standing.UNDECIDED, Standing.WAITING,
    ]  # fmt: skip
    figures = triplet_statistics(triplet_results(campaign))
    assert (figures.total.tally.n_decided, figures.total.tally.n_cant_tell) == (2, 5)
    assert figures.total.tally.ceiling == pytest.approx(8 / 10)
    assert [name for name, _ in figures.by_condition] == ["", "colour"]
    assert [group.tally.n for _, group in figures.by_condition] == [5, 1]


def test_kept_answers_have_a_majority_and_a_ceiling_and_are_scored(campaign, judges):
    vote_all(judges, ["112", "12?", "222", "222", "???", "111"])
    with pytest.raises(Refused, match="close it first"):
        keep_answers(verification=campaign, name="Kept", owner=None)
    set_state(verification=campaign, is_open=False)
    campaign.refresh_from_db()
    kept = keep_answers(verification=campaign, name="Kept", owner=None)
    figures = triplet_statistics(triplet_results(campaign)).total.tally
    assert kept.figures["ceiling"] == pytest.approx(figures.ceiling)
    assert (kept.figures["n_triplets"], kept.figures["n_questions"]) == (14, 5)
    assert (kept.figures["n_workers"], kept.figures["n_human_ties"]) == (3, 1)
    assert kept.recipe["campaign"] == campaign.slug
    assert kept.recipe["n_cant_tell"] == 4
    vectors = np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32)
    embedding_set_of(kept.catalog, vectors)
    [score] = printed("score_triplets", "kept")["scores"]
    assert score["majority"]["n"] == 4
    assert score["ceiling"] == pytest.approx(figures.ceiling)
    with pytest.raises(Refused, match="already"):
        keep_answers(verification=campaign, name="Kept", owner=None)


def test_nothing_is_kept_of_a_campaign_without_a_side(campaign, judges):
    vote_all(judges, ["???", "...", "...", "...", "...", "..."])
    set_state(verification=campaign, is_open=False)
    campaign.refresh_from_db()
    with pytest.raises(Refused, match="nobody has named a side"):
        keep_answers(verification=campaign, name="Kept", owner=None)


def test_the_export_comes_back_as_the_same_answers_under_pseudonyms(
    campaign, judges, client_of, people, tmp_path
):
    vote_all(judges, ["112", "12?", "222", "222", "???", "111"])
    [reader] = people(1, Role.RESEARCHER)
    reply = client_of(reader).get(reverse("conditional:csv", args=[campaign.slug]))
    text = reply.content.decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert list(rows[0]) == ["anchor", "closer", "farther", "condition", "worker"]
    assert {row["worker"] for row in rows} == {"a01", "a02", "a03"}
    for judge in judges:
        assert judge.annotator.username not in text
    (tmp_path / "back.csv").write_text(text)
    result = printed("import_triplets", "Back", tmp_path / "back.csv", "--catalog", "eggs")
    assert (result["n_triplets"], result["n_left_out"]) == (14, 0)
    back = TripletSet.objects.get(slug="back").triplets.order_by("position")
    assert [
        (str(one.anchor_id), str(one.closer_id), str(one.farther_id), one.condition, one.worker)
        for one in back
    ] == [tuple(one) for one in judged_triplets(campaign)]


# ---- what the browser gets ----


def test_no_byte_for_the_judge_tells_what_others_or_the_file_said(campaign, judges, client_of):
    client = client_of(judges[0].annotator)
    body = client.get(reverse("conditional:next", args=[campaign.uid])).content.decode()
    page = client.get(reverse("conditional:judge", args=[campaign.uid])).content.decode()
    questions = json.loads(body)["questions"]
    assert len(questions) == 6
    for question in questions:
        assert set(question) == {"uid", "condition", "reference", "images"}
        tails = [address["url"].split("/")[-2] for address in question["images"]]
        assert tails == ["0", "1"]
    uids = {str(uid) for uid in campaign.triplet_set.catalog.images.values_list("uid", flat=True)}
    for text in (body, page):
        assert not [uid for uid in uids if uid in text]
        for word in ("closer", "farther", "margin", "disagree", "facts", "worker", "kind"):
            assert word not in text


def test_what_a_judge_gets_does_not_depend_on_what_is_hidden(campaign, judges, client_of):
    client = client_of(judges[0].annotator)
    address = reverse("conditional:next", args=[campaign.uid])
    before = client.get(address).content
    vote_all(judges[1:], ["11", "22", "1?", "2.", "??", "12"])
    for row in campaign.triplet_set.triplets.all():
        row.closer_id, row.farther_id = row.farther_id, row.closer_id
        row.save()
    campaign.triplets.update(facts={"disagreement": 0.9, "margins": {"secretmodel": 1.0}})
    assert client.get(address).content == before


def test_a_judge_answers_over_http_and_a_stranger_finds_nothing(
    campaign, judges, client_of, people
):
    url = reverse("conditional:answers", args=[campaign.uid])
    [question] = next_questions(judges[0], 1)
    given = {"answers": [answer(question, place=1)]}
    client = client_of(judges[0].annotator)
    for status in ("saved", "duplicate"):
        reply = client.post(url, given, content_type="application/json")
        assert (reply.status_code, reply.json()["results"][0]["status"]) == (200, status)
    assert reply.json()["progress"] == {"n_done": 1, "n_total": 6}
    [stranger] = people(1)
    assert client_of(stranger).post(url, given, content_type="application/json").status_code == 404
    wrong = {"answers": [answer(question, "bad_condition")]}
    assert client.post(url, wrong, content_type="application/json").status_code == 422
    set_state(verification=campaign, is_open=False)
    late = client.post(
        url, {"answers": [answer(question, "cant_tell")]}, content_type="application/json"
    )
    assert (late.status_code, late.json()["results"][0]["code"]) == (422, "closed")
    assert VerifierAnswer.objects.count() == 1
    assert read_progress(judges[0]).n_done == 1


@pytest.mark.parametrize("name", ["triplets", "verification", "csv", "new_triplet_campaign"])
def test_annotators_see_no_page_that_knows_more(triplet_set, campaign, judges, client_of, name):
    slug = triplet_set.slug if "triplet" in name else campaign.slug
    url = reverse(f"conditional:{name}", args=[slug])
    assert client_of(judges[0].annotator).get(url).status_code == 403


def test_an_admin_opens_looks_closes_and_keeps(triplet_set, client_of, people):
    [admin], [reader] = people(1, Role.ADMIN), people(1, Role.RESEARCHER)
    client = client_of(admin)
    url = reverse("conditional:new_triplet_campaign", args=[triplet_set.slug])
    assert "6 triplets are in the set" in client.get(url).content.decode()
    panel = people(2)
    given = {"name": "Mine", "panel": [one.pk for one in panel], "seed": "0", "guidelines": "# Be"}
    refused = client.post(url, {**given, "n_questions": "7"})
    assert "draw 1 to 6 triplets" in refused.content.decode()
    assert client_of(reader).post(url, given).status_code == 403
    assert client.post(url, given).status_code == 302
    mine = Verification.objects.get()
    seats = [find_verifier(mine.uid, one.pk) for one in panel]
    vote_all(seats, ["11", "12", "..", "1.", "??", "22"])
    for person, is_named in ((admin, True), (reader, False)):
        page = client_of(person).get(reverse("conditional:verification", args=["mine"]))
        assert page.status_code == 200
        assert (panel[0].username in page.content.decode()) == is_named
    judged = client_of(panel[0]).get(reverse("conditional:judge", args=[mine.uid]))
    assert "<h2>Be</h2>" in judged.content.decode()
    for outcome, n in (("decided", 2), ("undecided", 2), ("waiting", 2)):
        shown = client.get(
            reverse("conditional:verification", args=["mine"]), {"outcome": outcome}
        ).content.decode()
        assert shown.count("<article") == n, outcome
    keep = reverse("conditional:keep", args=["mine"])
    assert client_of(reader).post(keep, {"name": "K"}).status_code == 403
    assert "close it first" in client.post(keep, {"name": "K"}, follow=True).content.decode()
    client.post(reverse("conditional:move", args=["mine", "close"]))
    kept = client.post(keep, {"name": "K"}, follow=True).content.decode()
    assert "The answers are kept as" in kept
    assert "Can’t tell" in kept
    home = client_of(panel[0]).get(reverse("annotation:home")).content.decode()
    assert "of 6 triplets" in home
