"""Graded pairs through the one engine: settings, gold, checks, consensus, rulings, imports."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import Role
from annotation.errors import CampaignError
from annotation.models import Campaign, JudgementEvent, PanelMember
from annotation.queries.labels import label_of, labels
from annotation.queries.opening import opening_summary
from annotation.queries.reviewing.adjudication import contested
from annotation.queries.reviewing.careless import flagged_judges
from annotation.queries.reviewing.quality import judge_qualities
from annotation.services import (
    add_gold,
    adjudicate,
    change_settings,
    close_campaign,
    gold_from_ruling,
    open_campaign,
)
from annotation.services.gold import GoldPair, consensus_gold
from lookalike.agreement.grades import Scale
from tests.clients import Browser, answer_to, uid_of

pytestmark = pytest.mark.django_db
SCALE = Scale(("Different", "A little", "Alike", "The same"), 2)


@pytest.fixture
def graded(campaign_of: Callable[..., Campaign]) -> Callable[..., Campaign]:
    return lambda *shape, **rules: campaign_of(*shape, scale=SCALE, **rules)


def browsers(campaign: Campaign) -> list[Browser]:
    members = campaign.panel.select_related("annotator").order_by("number")
    return [Browser(campaign, member.annotator) for member in members]


def gold_of(pair: tuple[int, int], answer: str, why: str = "") -> GoldPair:
    return GoldPair(pair[0], pair[1], answer, why)


def grades_of(campaign: Campaign) -> list[int]:
    found = labels(campaign).grades
    assert found is not None
    return list(found.tolist())


def judge_one(campaign: Campaign, grades: str) -> None:
    """Let each judge give the one pair a grade."""
    for browser, grade in zip(browsers(campaign), grades, strict=True):
        assert browser.judge(SCALE.answer(int(grade)))


def test_an_answer_that_is_no_grade_is_refused_and_a_grade_where_there_are_none_too(
    graded, campaign_of
):
    for campaign, wrong in ((graded(1, 1, 1), "similar"), (campaign_of(1, 1, 1), "similar:2")):
        [browser] = browsers(campaign)
        for answer in (wrong, "similar:1", "similar:4", "different:2", "pick:1"):
            [question] = browser.next()
            status, reply = browser.send(answer_to(question["uid"], answer))
            assert status == 422
            assert reply["results"][0]["code"] == "bad_value"
    assert JudgementEvent.objects.count() == 0


@pytest.mark.parametrize(
    ("grades", "tie_rule", "label"),
    [
        ("123", "negative", "similar:2"),
        ("003", "negative", "different:0"),
        ("12", "negative", "different:1"),
        ("12", "undecided", ""),
        ("23", "undecided", "similar:2"),
        ("0033", "undecided", ""),
    ],
)
def test_the_consensus_is_the_lower_median(graded, grades, tie_rule, label):
    campaign = graded(1, 1, len(grades), tie_rule=tie_rule)
    judge_one(campaign, grades)
    assert label_of(campaign, campaign.questions.get()) == label
    [outcome] = labels(campaign)
    assert outcome.label == (label.startswith("similar") if label else None)


def test_pairs_close_early_only_when_no_grade_can_change(graded):
    campaign = graded(1, 1, 3, is_open=False)
    change_settings(campaign=campaign, by=None, closes_settled=True)
    campaign = open_campaign(campaign=campaign)
    first, second, third = browsers(campaign)
    first.judge("similar:2")
    second.judge("similar:3")  # similar for sure, but which grade?
    assert third.next()
    other = graded(1, 1, 3, is_open=False)
    change_settings(campaign=other, by=None, closes_settled=True)
    other = open_campaign(campaign=other)
    first, second, third = browsers(other)
    first.judge("similar:2")
    second.judge("similar:2")
    assert not third.next()


def test_the_scale_is_fixed_once_the_campaign_is_open_and_while_there_is_gold(graded, pairs):
    with pytest.raises(CampaignError, match="cannot be changed once"):
        change_settings(campaign=graded(1, 1, 1), by=None, similar_from=1)
    draft = graded(1, 1, 1, is_open=False)
    for wrong in ({"similar_from": 4}, {"grades": "one"}, {"grades": "a\na"}):
        with pytest.raises(CampaignError, match="Grades: "):
            change_settings(campaign=draft, by=None, **wrong)
    assert change_settings(campaign=draft, by=None, similar_from=3).kind.scale == Scale(
        SCALE.words, 3
    )
    [pair] = pairs(1, 1)
    with pytest.raises(CampaignError, match="it takes Different or A little or Alike"):
        add_gold(campaign=draft, purpose="gold", pairs=[gold_of(pair, "similar")])
    add_gold(campaign=draft, purpose="gold", pairs=[gold_of(pair, "similar:3")])
    with pytest.raises(CampaignError, match="1 pairs have a known answer"):
        change_settings(campaign=draft, by=None, similar_from=2)


def test_the_summary_of_an_opening_names_the_grades_as_fixed(graded):
    lines = {one.name: one for one in opening_summary(graded(1, 1, 1, is_open=False))}
    assert lines["Grades"].value == "Different, A little, Alike, The same"
    assert lines["Similar from"].value == "Alike"
    assert lines["Grades"].is_fixed
    assert lines["Similar from"].is_fixed


def test_checks_and_repeats_are_met_by_the_next_grade_on_the_same_side(graded, pairs):
    draft = graded(1, 1, 1, is_open=False)
    gold = [gold_of(pair, "similar:3") for pair in pairs(1, 4)]
    add_gold(campaign=draft, purpose="gold", pairs=gold)
    campaign = open_campaign(campaign=draft)
    [browser] = browsers(campaign)
    given = iter(["similar:3", "similar:2", "different:1", "different:0"])
    asked = {str(q.uid): q.kind for q in campaign.questions.all()}
    for question in browser.next(10):
        is_gold = asked[uid_of(campaign, question["uid"])] == "gold"
        browser.send(answer_to(question["uid"], next(given) if is_gold else "similar:2"))
    [judge] = judge_qualities(campaign)
    assert (judge.with_gold.n_hits, judge.with_gold.n) == (2, 4)
    assert dict(judge.said) == {"Alike": 1}
    assert flagged_judges(campaign) is not None


def test_training_says_that_the_next_grade_is_near_enough(graded, pairs):
    draft = graded(1, 1, 1, is_open=False)
    [pair] = pairs(1, 1)
    add_gold(campaign=draft, purpose="training", pairs=[gold_of(pair, "similar:3", "Same cut.")])
    [browser] = browsers(open_campaign(campaign=draft))
    [question] = browser.next()
    _, reply = browser.send(answer_to(question["uid"], "similar:2"))
    assert reply["results"][0]["feedback"] == {"expected": "similar:3", "why": "Same cut."}


def test_a_qualification_round_is_passed_by_near_grades(graded, pairs):
    draft = graded(1, 1, 2, is_open=False)
    gold = [gold_of(pair, "similar:3") for pair in pairs(1, 3)]
    add_gold(campaign=draft, purpose="qualification", pairs=gold)
    campaign = open_campaign(campaign=draft)
    for browser, answer in zip(browsers(campaign), ("similar:2", "different:1"), strict=True):
        for question in browser.next(10):
            browser.send(answer_to(question["uid"], answer))
    stages = PanelMember.objects.filter(campaign=campaign).order_by("number")
    assert [member.stage for member in stages] == ["judging", "not_qualified"]


def test_pairs_of_different_grades_are_ruled_on_by_grade_and_become_gold_of_like_campaigns(
    graded, campaign_of, people
):
    campaign = graded(1, 1, 3)
    judge_one(campaign, "233")
    question = campaign.questions.get()
    assert contested(campaign).count() == 1
    [chief] = people(1, Role.ADMIN)
    with pytest.raises(CampaignError, match="A ruling is “different” or “a little”"):
        adjudicate(
            campaign=campaign, question_uid=question.uid, answer="similar", reason="x", by=chief
        )
    adjudicate(
        campaign=campaign, question_uid=question.uid, answer="different:1", reason="x", by=chief
    )
    table = labels(campaign)
    assert (grades_of(campaign), table.is_similar.tolist()) == ([1], [False])
    plain = campaign_of(1, 1, 1, is_open=False)
    with pytest.raises(CampaignError, match="has other grades"):
        gold_from_ruling(
            campaign=campaign, question_uid=question.uid, target=plain, purpose="example"
        )
    like = graded(1, 1, 1, is_open=False)
    gold_from_ruling(campaign=campaign, question_uid=question.uid, target=like, purpose="example")
    assert like.questions.get(kind="example").gold.answer == "different:1"


def test_a_disagreement_about_a_grade_becomes_gold_of_a_grade_from_its_page(graded, people, client):
    campaign = graded(1, 1, 3)
    judge_one(campaign, "233")
    question = campaign.questions.get()
    target = graded(1, 1, 1, is_open=False)
    client.force_login(people(1, Role.ADMIN)[0])
    page = client.get(f"/campaigns/{campaign.slug}/pairs/{question.uid}/").content.decode()
    for answer, word in SCALE.answers.items():
        assert f'<option value="{answer}"' in page
        assert f">{word}</option>" in page
    made = client.post(
        f"/campaigns/{campaign.slug}/pairs/{question.uid}/gold",
        {"answer": "similar", "use": f"{target.slug}:example", "why": "So"},
        follow=True,
    )
    assert "is no answer about a pair" in made.content.decode()
    assert not target.questions.filter(kind="example").exists()
    client.post(
        f"/campaigns/{campaign.slug}/pairs/{question.uid}/gold",
        {"answer": "similar:3", "use": f"{target.slug}:example", "why": "So"},
    )
    assert target.questions.get(kind="example").gold.answer == "similar:3"


def test_gold_of_an_earlier_panel_is_what_all_gave_the_same_grade(graded):
    campaign = graded(1, 2, 2)
    first, second = browsers(campaign)
    pair_of = {}
    for browser, grades in ((first, "33"), (second, "32")):
        questions = sorted(browser.next(10), key=lambda q: uid_of(campaign, q["uid"]))
        for question, grade in zip(questions, grades, strict=True):
            pair_of[question["uid"]] = grade
            browser.send(answer_to(question["uid"], SCALE.answer(int(grade))))
    close_campaign(campaign=campaign, by=None, reason="Done")
    [gold] = consensus_gold(campaign, 5, 0)
    assert gold.answer == "similar:3"


def test_files_of_gold_and_of_judgements_hold_grades(graded, people, tmp_path, images):
    campaign = graded(1, 2, 1)
    judge = campaign.panel.get().annotator.username
    asked = campaign.questions.order_by("pk").select_related("query", "candidate")
    rows = [f"{q.query.sha256},{q.candidate.sha256},{judge}" for q in asked]
    file = tmp_path / "judgements.csv"
    header = "query,candidate,annotator,answer\n"
    file.write_text(header + f"{rows[0]},3\n{rows[1]},4\n")
    with pytest.raises(CommandError, match="row 3: the answer “4” is none of: different:0"):
        call_command("import_judgements", campaign.slug, file)
    file.write_text(header + f"{rows[0]},3\n{rows[1]},cant_tell\n")
    call_command("import_judgements", campaign.slug, file)
    assert grades_of(campaign) == [3]


def test_the_settings_form_takes_and_refuses_a_scale(graded, campaign_of, people):
    client = Client()
    client.force_login(people(1, Role.ADMIN)[0])
    draft = campaign_of(1, 1, 1, is_open=False)
    address = f"/campaigns/{draft.slug}/settings/save"
    given = {
        "name": "x", "tie_rule": "negative", "serving": "everyone", "k": 1, "lease_minutes": 30,
        "repeat_percent": 0, "mirror_percent": 0, "pass_percent": 80, "seed": 0,
    }  # fmt: skip
    reply = client.post(address, given | {"grades": "Only one", "similar_from": 1})
    assert reply.status_code == 422
    assert "a scale has 2 to 5 grades, not 1" in reply.content.decode()
    words = " No \r\n\r\nYes\r\nVery"
    assert client.post(address, given | {"grades": words, "similar_from": 1}).status_code == 302
    draft.refresh_from_db()
    assert draft.kind.scale == Scale(("No", "Yes", "Very"), 1)
    assert client.post(address, given | {"grades": ""}).status_code == 302
    draft.refresh_from_db()
    assert draft.kind.scale is None


def test_answers_are_found_by_their_grade(graded, people):
    campaign = graded(1, 1, 3)
    judge_one(campaign, "233")
    client = Client()
    client.force_login(people(1, Role.ADMIN)[0])
    for answer, n in (("similar:3", 2), ("similar:2", 1), ("different:0", 0)):
        page = client.get(f"/campaigns/{campaign.slug}/answers/", {"answer": answer})
        assert (page.context["problems"], len(page.context["rows"])) == ([], n)
