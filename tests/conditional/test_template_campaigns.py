"""Templates put to a panel by a campaign: what judges see and say, verdicts, gold and rulings."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from accounts.models import Role
from annotation.errors import CampaignError
from annotation.models import Gold, JudgementEvent
from annotation.picture_keys import open_place, seal_place
from annotation.queries.reviewing.adjudication import contested
from annotation.queries.reviewing.careless import flagged_judges
from annotation.queries.reviewing.quality import judge_qualities
from annotation.services import (
    adjudicate,
    change_settings,
    close_campaign,
    consensus_gold,
    gold_from_ruling,
    import_judgements,
    open_campaign,
    pause_campaign,
    reconcile,
)
from annotation.services.gold import GoldPair, add_gold
from conditional.campaigns.queries import compute_statistics, list_results, verified_templates
from conditional.campaigns.services import ask_panel
from conditional.stored_sets import delete_set
from conditional.template_sets.rows import exported_entries
from lookalike.conditional.verdicts import Outcome
from lookalike.core.errors import Refused
from tests.clients import Browser, answer_to, signed_in
from tests.conditional.cases import given, judges_of, key_of, question_of, say, subjects_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(template_set, people):
    return ask_panel(asked_set=template_set, name="Check", panel=people(3), n_questions=5, seed=11)


@pytest.fixture
def judges(campaign):
    return judges_of(campaign)


@pytest.fixture
def admin(people):
    return people(1, Role.ADMIN)[0]


def templates_of(campaign):
    return subjects_of(campaign)


def test_judges_see_shuffled_keys_that_tell_nothing_of_the_target(campaign, judges):
    templates = {str(question_of(campaign, one).uid): one for one in templates_of(campaign)}
    orders = set()
    for judge in judges:
        raw = judge.client.get(judge.url("next")).content.decode()
        page = judge.client.get(judge.url("judge")).content.decode()
        questions = json.loads(raw)["questions"]
        assert set(judge.uids(questions)) == set(templates)
        for question in questions:
            shown = {"uid", "position", "kind", "condition", "reference", "images"}
            assert set(question) == shown
            places = [open_place(campaign.uid, question["uid"], key) for key in question["images"]]
            assert set(places) == set(range(15))
            orders.add((judge.person.pk, tuple(places)))
        images = campaign.about.template_set.catalog.images.values_list("uid", flat=True)
        for text in (raw, page):
            assert not [image for image in images if str(image) in text]
            for word in ("target", "lacks", "secret-product", "photos/"):
                assert word not in text.replace("event.target", "")
    assert len({order for _, order in orders}) == 15  # no two judges and questions share one


def test_a_picture_opens_only_by_a_key_of_its_own_question(campaign, judges, people):
    first, second, *_ = templates_of(campaign)
    address = "annotation:choice_image"
    question = question_of(campaign, first).uid

    def opens(key, browser=judges[0]):
        url = reverse(address, kwargs={"campaign_uid": campaign.uid, "question": question,
                                       "key": key, "size": "thumb"})  # fmt: skip
        found = browser.client.get(url)
        return found.status_code != 404 or b"missing" in found.content

    [stranger] = people(1)
    for key in (key_of(campaign, second, 0), "x", key_of(campaign, first, 0)[:-1]):
        assert not opens(key)
    assert not opens(key_of(campaign, first, 0), Browser(campaign, stranger))


@pytest.mark.parametrize(
    ("what", "code"),
    [
        ("similar", "bad_value"),
        ("cant_tell", "bad_value"),
        ("pick:3", "bad_value"),
        ("passes", "bad_value"),
        ("skip", "reason_missing"),
    ],
)
def test_what_is_no_answer_to_a_template_is_refused_and_the_rest_taken(
    campaign, judges, what, code
):
    first, second, *_ = templates_of(campaign)
    wrong = given(campaign, first, what) | {"reason": ""}
    status, reply = judges[0].send(wrong, given(campaign, second, "none"))
    assert status == 200
    assert [one["code"] or one["status"] for one in reply["results"]] == [code, "saved"]


def test_a_key_of_another_question_or_of_the_reference_picks_nothing(campaign, judges):
    first, second, *_ = templates_of(campaign)
    for key in (key_of(campaign, second, 2), key_of(campaign, first, None), "", "pick:"):
        assert say(judges[0], first, f"pick:{key}")["code"] == "bad_value"
    assert not JudgementEvent.objects.exists()


def test_pairs_take_no_answers_of_templates(campaign, judges, people, template_set):
    from annotation.services import create_campaign

    one, other = template_set.catalog.images.all()[:2]
    of_pairs = create_campaign(
        name="P", slug="p", pairs=[(one.pk, other.pk)], panel=[judges[0].person]
    )
    judge = Browser(open_campaign(campaign=of_pairs), judges[0].person)
    [question] = judge.next()
    for what in ("none", "several", f"pick:{key_of(campaign, templates_of(campaign)[0], 1)}"):
        _, reply = judge.send(answer_to(question["uid"], what))
        assert reply["results"][0]["code"] == "bad_value"


def test_an_answer_is_stored_once_undone_and_given_again(campaign, judges):
    judge, template = judges[0], templates_of(campaign)[0]
    body = given(campaign, template, 4)
    assert [judge.send(body)[1]["results"][0]["status"] for _ in range(3)] == [
        "saved", "duplicate", "duplicate",
    ]  # fmt: skip
    [held] = judge.get("recent")["answers"]
    assert held["answer"] == f"pick:{seal_place(campaign.uid, held['question']['uid'], 4)}"
    say(judge, template, "withdrawn", undoes=body["uuid"])
    assert judge.get("next")["progress"] == {"n_done": 0, "n_total": 5}
    say(judge, template, "several")
    said = list(JudgementEvent.objects.order_by("pk").values_list("answer", flat=True))
    assert said == ["pick:4", "withdrawn", "several"]
    assert reconcile(campaign=campaign) == []


def test_what_no_majority_can_decide_waits_until_everybody_is_done_as_on_the_page_of_rulings(
    template_set, people
):
    campaign = ask_panel(asked_set=template_set, name="Four", panel=people(4), n_questions=1)
    judges, [split] = judges_of(campaign), templates_of(campaign)
    for judge, candidate in zip(judges[:3], (0, 1, 2), strict=True):
        say(judge, split, candidate)
    assert (list_results(campaign)[0].standing, contested(campaign).count()) == ("waiting", 0)
    say(judges[3], split, 3)
    assert (list_results(campaign)[0].standing, contested(campaign).count()) == ("adjudicate", 1)


def test_majorities_pass_and_fail_and_an_admin_rules_on_the_rest(campaign, judges, admin):
    passing, failing, split, skipped, _ = templates_of(campaign)
    target = len(passing.gallery)
    for judge, candidate in zip(judges, (0, 1, target), strict=True):
        say(judge, passing, target)
        say(judge, failing, "bad_condition")
        say(judge, split, candidate)
        say(judge, skipped, "skip", reason="bad_image")
    outcomes = {one.template.pk: one.verdict.outcome for one in list_results(campaign)}
    expected = [Outcome.PASSES, Outcome.FAILS, Outcome.ADJUDICATE, Outcome.ADJUDICATE]
    assert [outcomes[one.pk] for one in (passing, failing, split, skipped)] == expected
    assert [one.subject for one in contested(campaign)] != []
    assert {one.subject for one in contested(campaign)} == {split.pk, skipped.pk}

    def rule(template, answer):
        uid = question_of(campaign, template).uid
        adjudicate(campaign=campaign, question_uid=uid, answer=answer, reason="clear", by=admin)

    with pytest.raises(CampaignError, match="decides about this template itself"):
        rule(passing, "fails")
    with pytest.raises(CampaignError, match="“it fails” or “it passes”"):
        rule(split, "similar")
    rule(split, "passes")
    assert set(verified_templates(campaign)) == {passing, split}
    exported = exported_entries(campaign.about.template_set, [passing.pk])
    assert [one["condition"] for one in exported] == [passing.condition]
    figures = compute_statistics(list_results(campaign))
    assert (figures.total.n_decided, figures.total.n_unique, figures.n_verified) == (4, 1, 2)


def test_gold_from_rulings_and_earlier_panels_trains_and_checks_judges(
    campaign, judges, admin, template_set, people
):
    first, second, third, *_ = templates_of(campaign)
    for judge, candidate in zip(judges, (0, 1, 2), strict=True):
        say(judge, first, 14)
        say(judge, second, "several")
        say(judge, third, candidate)
    uid = question_of(campaign, third).uid
    adjudicate(campaign=campaign, question_uid=uid, answer="passes", reason="cut", by=admin)
    close_campaign(campaign=campaign, by=admin, reason="done")
    next_one = ask_panel(
        asked_set=template_set, name="Next", panel=people(1), n_questions=8, is_draft=True
    )
    known = consensus_gold(campaign, 10, 1, "Look at the cut.")
    assert {(one.subject, one.answer) for one in known} == {
        (first.pk, "pick:14"), (second.pk, "several"),
    }  # fmt: skip
    assert add_gold(campaign=next_one, purpose="gold", pairs=known) == 2
    assert consensus_gold(campaign, 10, 1, into=next_one) == []
    gold_from_ruling(campaign=campaign, question_uid=uid, target=next_one, purpose="training")
    assert Gold.objects.get(question__kind="training").answer == "pick:14"
    wrong = known[0]._replace(answer="pick:15")
    for bad in (wrong, known[0]._replace(subject=0), GoldPair(*known[0][:2], "similar")):
        with pytest.raises(CampaignError, match=r"is no answer about|Gold of"):
            add_gold(campaign=next_one, purpose="gold", pairs=[bad])
    with pytest.raises(CampaignError, match="only pairs can be mirrored"):
        change_settings(campaign=next_one, by=admin, mirror_percent=10)
    change_settings(campaign=next_one, by=admin, repeat_percent=25)
    [judge] = judges_of(open_campaign(campaign=next_one, by=admin))
    [training] = [one for one in judge.next() if one["kind"] == "training"]
    _, reply = judge.send(answer_to(training["uid"], "none", mode="choice"))
    feedback = reply["results"][0]["feedback"]
    assert feedback == {"expected": f"pick:{feedback['expected'][5:]}", "why": "cut"}
    assert feedback["expected"][5:] in training["images"]
    while questions := judge.next():
        assert {one["kind"] for one in questions} == {"pair"}
        judge.send(*(answer_to(one["uid"], "none", mode="choice") for one in questions))
    [quality] = judge_qualities(next_one)
    assert (quality.with_gold.n, quality.with_gold.n_hits) == (2, 0)
    assert (quality.with_self.n, quality.with_self.n_hits) == (2, 2)
    assert flagged_judges(next_one) is not None
    assert reconcile(campaign=next_one) == []


def test_k_of_n_lends_templates_and_stops_early_where_it_is_settled(template_set, people):
    draft = ask_panel(
        asked_set=template_set, name="Lent", panel=people(3), n_questions=4, is_draft=True
    )
    change_settings(campaign=draft, by=None, serving="k_of_n", k=3, closes_settled=True)
    campaign = open_campaign(campaign=draft)
    for judge in judges_of(campaign)[:2]:
        judge.judge("none", n=4)
    assert campaign.questions.filter(is_settled=True, n_counted=2).count() == 4
    assert judges_of(campaign)[2].next() == []
    assert {one.verdict.outcome for one in list_results(campaign)} == {Outcome.FAILS}
    assert reconcile(campaign=campaign) == []


def test_a_paused_or_closed_campaign_takes_nothing(campaign, judges, admin):
    template = templates_of(campaign)[0]
    pause_campaign(campaign=campaign, by=admin, reason="lunch")
    assert say(judges[0], template, "none")["code"] == "paused"
    close_campaign(campaign=campaign, by=admin, reason="done")
    assert say(judges[0], template, "none")["code"] == "closed"
    assert judges[0].next() == []


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
def test_what_cannot_be_opened_is_refused(campaign, template_set, people, changes, field):
    wanted = {"asked_set": template_set, "name": "Other", "panel": people(1), **changes}
    with pytest.raises(Refused) as caught:
        ask_panel(**wanted)
    assert caught.value.field == field


def test_only_annotators_judge_and_a_set_that_is_judged_is_kept(campaign, template_set, people):
    with pytest.raises(Refused, match="only annotators are kept blind"):
        ask_panel(asked_set=template_set, name="X", panel=people(1, Role.ADMIN))
    with pytest.raises(Refused, match="was put to a panel"):
        delete_set(row=template_set)
    with pytest.raises(CampaignError, match="import pairs alone"):
        import_judgements(campaign=campaign, rows=[])


def test_admins_see_every_page_of_it_and_judges_none(campaign, judges, admin, people):
    template = templates_of(campaign)[0]
    for judge, candidate in zip(judges, (0, 1, 14), strict=True):
        say(judge, template, candidate)
    slug = campaign.slug
    pages = [
        *(reverse(f"annotation:{name}", args=[slug]) for name in (
            "campaign", "panel", "edit_guidelines", "gold", "answers_given", "quality",
            "adjudication", "settings")),
        reverse("annotation:pair", args=[slug, question_of(campaign, template).uid]),
        reverse("conditional:results", args=[slug]),
        reverse("conditional:set", args=[campaign.about.template_set.slug]),
    ]  # fmt: skip
    texts = {page: signed_in(admin).get(page) for page in pages}
    assert {reply.status_code for reply in texts.values()} == {200}
    for page in pages:
        assert signed_in(judges[0].person).get(page).status_code == 403
    ruling = texts[reverse("annotation:adjudication", args=[slug])].content.decode()
    assert "It passes" in ruling
    assert "1 × The target" in ruling
    [reader] = people(1, Role.RESEARCHER)
    assert signed_in(reader).get(reverse("conditional:results", args=[slug])).status_code == 200
