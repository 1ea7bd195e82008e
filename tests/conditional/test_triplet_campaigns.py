"""Triplets put to a panel: mirrored sides, answers taken once, outcomes, export, kept answers."""

from __future__ import annotations

import csv
import json
import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from django.db import connection, transaction
from django.urls import reverse

from accounts.models import Role
from annotation.errors import CampaignError
from annotation.models import Campaign, JudgementEvent
from annotation.picture_keys import open_place
from annotation.services import adjudicate, change_settings, close_campaign
from conditional.campaigns.services import ask_panel
from conditional.models import TripletSet
from conditional.triplets.judged import ensure_questions, judged_triplets, keep_answers
from conditional.triplets.queries import triplet_results, triplet_statistics
from lookalike.conditional.triplet_majority import Standing
from lookalike.core.errors import Refused
from tests.catalogs import catalog_of, embedding_set_of
from tests.clients import Browser, signed_in
from tests.conditional.cases import given, judges_of, question_of, say, subjects_of
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
    return ask_panel(asked_set=triplet_set, name="Which one", panel=people(3), seed=4)


@pytest.fixture
def judges(campaign):
    return judges_of(campaign)


def asked(campaign):
    return subjects_of(campaign)


def closed(campaign):
    return close_campaign(campaign=campaign, by=None, reason="done")


def vote_all(judges, texts):
    """Give votes: for each question one letter a judge: 1, 2, ? or . for none."""
    for question, text in zip(asked(judges[0].campaign), texts, strict=True):
        for judge, one in zip(judges, text, strict=True):
            if one != ".":
                what = "cant_tell" if one == "?" else int(one) - 1
                assert say(judge, question, what)["status"] == "saved"


def sides_of(judge):
    """Which candidate stands on the left of each question, by its uid."""
    uid = judge.campaign.uid
    return {
        judge.uids([one])[0]: open_place(uid, one["uid"], one["images"][0])
        for one in judge.next(200)
    }


def test_the_questions_behind_answers_are_asked_once_each(triplet_set, campaign):
    known = {(one.anchor_id, *one.candidates, one.condition) for one in asked(campaign)}
    expected = {
        (row.anchor_id, *sorted((row.closer_id, row.farther_id)), row.condition)
        for row in triplet_set.triplets.all()
    }
    assert known == expected
    assert campaign.n_questions == len(expected) == triplet_set.n_questions == 6
    ensure_questions(triplet_set=triplet_set)
    assert triplet_set.questions.count() == 6
    assert all(one.first_id < one.second_id for one in asked(campaign))  # tells nothing


def test_a_set_says_how_many_questions_it_will_ask_before_they_are_stored(triplet_set):
    assert triplet_set.n_questions == 6
    assert not triplet_set.questions.exists()


def test_sides_are_mirrored_at_random_for_each_judge_and_question(people, tmp_path):
    names = [f"n{number:02d}" for number in range(22)]
    path = tmp_path / "many.csv"
    path.write_text(
        "anchor,closer,farther\n"
        + "".join(f"{names[i]},{names[i + 1]},{names[i + 2]}\n" for i in range(20))
    )
    catalog_of(names, "many")
    printed("import_triplets", "Many", path, "--catalog", "many")
    found = ask_panel(asked_set=TripletSet.objects.get(), name="Many", panel=people(6), seed=9)
    browsers = judges_of(found)
    by_question = [sides_of(browser) for browser in browsers]
    sides = np.array([[row[uid] for uid in sorted(row)] for row in by_question])
    assert sides.shape == (6, 20)
    assert 0.3 < sides.mean() < 0.7
    assert len({tuple(row) for row in sides.tolist()}) == 6
    assert np.abs(np.corrcoef(sides)[np.triu_indices(6, 1)]).max() < 0.8
    assert sides_of(browsers[2]) == by_question[2]


@pytest.mark.parametrize("what", ["none", "several", "bad_condition", "similar", "pick:0", "pick:"])
def test_what_is_no_answer_to_a_triplet_is_refused(campaign, judges, what):
    first, second, *_ = asked(campaign)
    status, reply = judges[0].send(
        given(campaign, first, what), given(campaign, second, "cant_tell")
    )
    assert [one["code"] or one["status"] for one in reply["results"]] == ["bad_value", "saved"]
    assert (status, JudgementEvent.objects.count()) == (200, 1)


def test_a_triplet_of_another_campaign_was_not_served(campaign, judges, triplet_set, people):
    few = ask_panel(asked_set=triplet_set, name="Few", panel=people(1), n_questions=2)
    [judge] = judges_of(few)
    _, reply = judge.send(given(campaign, asked(campaign)[0], "cant_tell"))
    assert reply["results"][0]["code"] == "not_served"


@pytest.mark.django_db(transaction=True)
def test_an_answer_from_four_tabs_at_once_is_stored_once(campaign, judges):
    body = given(campaign, asked(campaign)[0], 1)
    barrier = Barrier(4)

    def send(_):
        tab = Browser(campaign, judges[0].person)
        barrier.wait()
        try:
            return tab.send(body)[1]["results"][0]["status"]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(send, range(4)))
    assert sorted(results) == ["duplicate"] * 3 + ["saved"]
    assert JudgementEvent.objects.get().answer == "pick:1"


@pytest.mark.django_db(transaction=True)
def test_closing_waits_for_answers_that_are_being_stored(campaign, judges):
    first, second, *_ = asked(campaign)
    is_stored, has_closed = Event(), Event()

    def store():
        try:
            with transaction.atomic():
                result = say(judges[0], first, "cant_tell")
                is_stored.set()
                return result["status"], has_closed.wait(0.6)
        finally:
            connection.close()

    def close():
        is_stored.wait(10)
        try:
            closed(campaign)
            has_closed.set()
            return JudgementEvent.objects.count()
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        stored, at_closing = pool.submit(store), pool.submit(close)
        assert stored.result() == ("saved", False)
        assert at_closing.result() == 1
    assert say(judges[0], second, "cant_tell")["code"] == "closed"


def test_majorities_decide_ties_do_not_and_each_condition_has_its_figures(campaign, judges, people):
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
    tied = asked(campaign)[1]
    uid, [admin] = question_of(campaign, tied).uid, people(1, Role.ADMIN)
    adjudicate(campaign=campaign, question_uid=uid, answer="pick:1", reason="cut", by=admin)
    assert triplet_results(campaign)[1].outcome.place == 1


def test_kept_answers_have_a_majority_and_a_ceiling_and_are_scored(campaign, judges):
    vote_all(judges, ["112", "12?", "222", "222", "???", "111"])
    with pytest.raises(Refused, match="close it first"):
        keep_answers(campaign=campaign, name="Kept", owner=None)
    campaign = closed(campaign)
    kept = keep_answers(campaign=campaign, name="Kept", owner=None)
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
        keep_answers(campaign=campaign, name="Kept", owner=None)


def test_nothing_is_kept_of_a_campaign_without_a_side(campaign, judges):
    vote_all(judges, ["???", "...", "...", "...", "...", "..."])
    campaign = closed(campaign)
    with pytest.raises(Refused, match="nobody has named a side"):
        keep_answers(campaign=campaign, name="Kept", owner=None)


def test_the_export_comes_back_as_the_same_answers_under_pseudonyms(
    campaign, judges, people, tmp_path
):
    vote_all(judges, ["112", "12?", "222", "222", "???", "111"])
    [reader] = people(1, Role.RESEARCHER)
    reply = signed_in(reader).get(reverse("conditional:csv", args=[campaign.slug]))
    text = reply.content.decode()
    rows = list(csv.DictReader(text.splitlines()))
    assert list(rows[0]) == ["anchor", "closer", "farther", "condition", "worker"]
    assert {row["worker"] for row in rows} == {"a01", "a02", "a03"}
    for judge in judges:
        assert judge.person.username not in text
    (tmp_path / "back.csv").write_text(text)
    result = printed("import_triplets", "Back", tmp_path / "back.csv", "--catalog", "eggs")
    assert (result["n_triplets"], result["n_left_out"]) == (14, 0)
    back = TripletSet.objects.get(slug="back").triplets.order_by("position")
    assert [
        (str(one.anchor_id), str(one.closer_id), str(one.farther_id), one.condition, one.worker)
        for one in back
    ] == [tuple(one) for one in judged_triplets(campaign)]


# ---- what the browser gets ----


def test_no_byte_for_the_judge_tells_what_others_or_the_file_said(campaign, judges):
    judge = judges[0]
    body = judge.client.get(judge.url("next")).content.decode()
    page = judge.client.get(judge.url("judge")).content.decode()
    assert len(json.loads(body)["questions"]) == 6
    uids = campaign.about.triplet_set.catalog.images.values_list("uid", flat=True)
    for text in (body, page):
        assert not [uid for uid in uids if str(uid) in text]
        for word in ("closer", "farther", "margin", "disagree", "facts", "worker"):
            assert word not in text


def test_what_a_judge_gets_does_not_depend_on_what_is_hidden(campaign, judges):
    judge, triplet_set = judges[0], campaign.about.triplet_set
    before = judge.client.get(judge.url("next")).content
    vote_all(judges[1:], ["11", "22", "1?", "2.", "??", "12"])
    for row in triplet_set.triplets.all():
        row.closer_id, row.farther_id = row.farther_id, row.closer_id
        row.save()
    triplet_set.questions.update(facts={"disagreement": 0.9, "margins": {"secretmodel": 1.0}})
    assert judge.client.get(judge.url("next")).content == before


@pytest.mark.parametrize("name", ["triplets", "results", "csv", "new_triplet_campaign"])
def test_annotators_see_no_page_that_knows_more(triplet_set, campaign, judges, name):
    slug = triplet_set.slug if "triplet" in name else campaign.slug
    url = reverse(f"conditional:{name}", args=[slug])
    assert judges[0].client.get(url).status_code == 403


def test_forms_and_history_say_triplets_not_pairs(triplet_set, people):
    [admin] = people(1, Role.ADMIN)
    client = signed_in(admin)
    url = reverse("conditional:new_triplet_campaign", args=[triplet_set.slug])
    client.post(url, {"name": "Mine", "panel": [one.pk for one in people(2)], "seed": "0"})
    settings = reverse("annotation:settings", args=["mine"])
    for page in (url, settings):
        shown = client.get(page).content.decode()
        main = shown[shown.index("<main") : shown.index("</main>")]
        assert "Everyone judges every triplet" in main
        assert "Votes for each triplet (k)" in main
        assert re.search(r"<label[^>]*>\s*Name", main)
        assert re.findall(r"\b[Pp]airs?\b|different”", main) == []
    campaign = Campaign.objects.get()
    change_settings(campaign=campaign, by=admin, seen={}, serving="k_of_n", k=2)
    told = campaign.state_changes.latest("pk").reason
    assert "Votes for each triplet (k): 3 → 2" in told
    assert "Everyone judges every triplet → " in told
    with pytest.raises(CampaignError, match=r"^A triplet is reserved for at least one minute"):
        change_settings(campaign=campaign, by=admin, lease_minutes=0)
    with pytest.raises(CampaignError) as refused:
        change_settings(campaign=campaign, by=admin, repeat_percent=51, pass_percent=120)
    assert str(refused.value) == (
        "At most half of the triplets can be asked again. A pass mark of 120 % cannot be reached."
    )


def test_an_admin_opens_looks_closes_and_keeps(triplet_set, people):
    [admin], [reader] = people(1, Role.ADMIN), people(1, Role.RESEARCHER)
    client = signed_in(admin)
    url = reverse("conditional:new_triplet_campaign", args=[triplet_set.slug])
    assert "6 triplets are in the set" in client.get(url).content.decode()
    panel = people(2)
    wanted = {"name": "Mine", "panel": [one.pk for one in panel], "seed": "0", "guidelines": "# Be"}
    refused = client.post(url, {**wanted, "n_questions": "7"})
    assert "Draw 1 to 6 triplets" in refused.content.decode()
    assert signed_in(reader).post(url, wanted).status_code == 403
    assert client.post(url, wanted).status_code == 302
    assert Campaign.objects.get().state == "draft"
    client.post(reverse("annotation:move", args=["mine", "open"]))
    seats = judges_of(Campaign.objects.get())
    vote_all(seats, ["11", "12", "..", "1.", "??", "22"])
    page = reverse("conditional:results", args=["mine"])
    for person in (admin, reader):
        shown = signed_in(person).get(page)
        assert shown.status_code == 200
        assert panel[0].username not in shown.content.decode()
    assert "<h2>Be</h2>" in seats[0].client.get(seats[0].url("judge")).content.decode()
    for outcome, n in (("decided", 2), ("undecided", 2), ("waiting", 2)):
        listed = client.get(page, {"outcome": outcome}).content.decode()
        assert listed.count("<article") == n, outcome
    keep = reverse("conditional:keep", args=["mine"])
    assert signed_in(reader).post(keep, {"name": "K"}).status_code == 403
    assert "close it first" in client.post(keep, {"name": "K"}, follow=True).content.decode()
    client.post(reverse("annotation:move", args=["mine", "close"]), {"reason": "done"})
    kept = client.post(keep, {"name": "K"}, follow=True).content.decode()
    assert "The answers are kept as" in kept
    assert "Can’t tell" in kept
    home = seats[0].client.get(reverse("annotation:home")).content.decode()
    assert "of 6 answered" in home
