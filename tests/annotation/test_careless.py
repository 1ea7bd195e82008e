"""Flags stand on the quality page, and nowhere that a judge can reach."""

import pytest
from django.urls import reverse

from accounts.models import Role
from annotation.models import JudgementEvent
from annotation.queries.reviewing.careless import flagged_judges
from annotation.services import exclude_answers, import_judgements
from annotation.services.settings import pause_judge
from evaluation.without_judge.comparison import (
    _places,
    _ranked,
    label_changes,
    rank_without_judge,
    request_ranking,
)
from jobs.models import Job
from jobs.services import run_here
from tests.clients import Browser, answer_to, signed_in
from tests.worlds import build_world, judge_world, rows_of

pytestmark = pytest.mark.django_db


def test_a_judge_who_does_not_look_is_flagged_even_if_all_is_excluded(campaign_of, people):
    campaign = campaign_of(1, 30, 2)
    [admin] = people(1, Role.ADMIN)
    import_judgements(campaign=campaign, rows=rows_of(campaign, ".s .d " * 15))
    judge = Browser(campaign, campaign.panel.get(number=1).annotator)
    while asked := judge.next(20):
        judge.send(*(answer_to(q["uid"], "different", visible_ms=90, at=n)
                     for n, q in enumerate(asked)))  # fmt: skip
    [flagged] = flagged_judges(campaign)
    assert flagged.member.number == 1
    assert [flag.name for flag in flagged.flags] == ["pace", "unseen", "one_sided"]
    assert "30 of 30 votes in less" in flagged.flags[0].evidence
    assert "others 50 % on the same pairs" in flagged.flags[2].evidence
    events = JudgementEvent.objects.filter(member=flagged.member, mode="pair")
    exclude_answers(campaign=campaign, events=list(events.values_list("uuid", flat=True)),
                    reason="did not look", by=admin)  # fmt: skip
    [again] = flagged_judges(campaign)
    assert [flag.name for flag in again.flags] == ["pace", "unseen", "one_sided"]
    page = signed_in(admin).get(reverse("annotation:quality", args=[campaign.slug]))
    assert "Answered before the pictures could be seen" in page.content.decode()
    overview = signed_in(admin).get(reverse("attention"))
    [line] = [line for line in overview.context["attention"] if line.kind == "Careless work?"]
    assert flagged.member.annotator.username in line.text
    known = {"seen": overview.context["attention_digest"]}
    assert signed_in(admin).get(reverse("attention"), known).status_code == 204
    pause_judge(member=flagged.member, by=admin, reason="look again")
    lines = signed_in(admin).get(reverse("attention"), known).context["attention"]
    assert "Careless work?" not in [line.kind for line in lines]


def test_only_the_judge_whose_page_it_is_can_be_noted(campaign_of, people):
    campaign = campaign_of(1, 1, 2)
    judge = Browser(campaign, campaign.panel.get(number=1).annotator)
    assert judge.client.post(judge.url("stops"), {}).status_code == 200
    stranger = Browser(campaign, people(1)[0])
    assert stranger.client.post(stranger.url("stops"), {}).status_code == 404
    assert list(campaign.panel.order_by("number").values_list("n_stops", flat=True)) == [1, 0]


def test_labels_and_ranking_without_a_judge_change_nothing(people):
    world = judge_world(build_world())  # the third always disagrees with the other two
    admin = people(1, Role.ADMIN)[0]
    first, _, third = world.campaign.panel.order_by("number")
    n = world.campaign.n_questions
    changes = label_changes(third)
    assert (changes.n_labels, changes.n_to_similar, changes.n_to_different) == (n, 0, 0)
    changes = label_changes(first)  # ties are different then
    assert changes.n_to_different > 0
    assert (changes.n_to_similar, changes.n_lost) == (0, 0)
    job = request_ranking(member=first, by=admin)
    found = run_here(task="t", subject="s", title="t", arguments=job.arguments,
                     work=rank_without_judge).result  # fmt: skip
    assert {row["place"] for row in found["measures"]["P@5"]} <= {1, 2, 3}
    assert all(row["value_without"] is None for row in found["measures"]["P@5"])
    address = reverse("evaluation:without", args=[world.campaign.slug, 1])
    assert "would become different" in signed_in(admin).get(address).content.decode()
    Job.objects.filter(pk=job.pk).update(state="succeeded", result=found)
    page = signed_in(admin).get(address)
    assert {row["place_without"] for _, rows in page.context["rankings"] for row in rows} == {"–"}
    assert ">None" not in page.content.decode()


def test_no_model_moves_by_a_rounding_error():
    assert _ranked({"a": 0.1 + 0.2, "b": 0.3, "c": 0.1}) == {"a": 1, "b": 1, "c": 3}


def test_a_model_without_a_value_has_no_place():
    now, then = {"a": None, "b": 0.5}, {"a": 0.2, "b": None}
    [first, last] = _places(now, then)
    assert (first["name"], first["place"], first["place_without"]) == ("b", 1, None)
    assert (last["name"], last["place"], last["place_without"]) == ("a", None, 1)
