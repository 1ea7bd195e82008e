"""Signs of careless work among templates and triplets, and what they come to without a judge."""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.urls import reverse

from accounts.models import Role
from annotation.queries.reviewing.careless import flagged_judges
from conditional.campaigns.services import ask_panel
from conditional.models import TripletQuestion, TripletSet
from evaluation.without_judge.choices import ChoiceChanges, choice_changes
from tests.clients import answer_to, signed_in
from tests.conditional.cases import built_set, judges_of, make_catalog, say, subjects_of

pytestmark = pytest.mark.django_db


def triplets(n):
    catalog = make_catalog(n=n + 2)
    anchor, *images = catalog.images.order_by("pk")
    asked = TripletSet.objects.create(slug="t", name="T", catalog=catalog)
    TripletQuestion.objects.bulk_create(
        TripletQuestion(triplet_set=asked, position=at, anchor=anchor, first=one, second=other)
        for at, (one, other) in enumerate(pairwise(images))
    )
    return asked


def pick(judge, place_of, **changes):
    """Pick in each question the picture that stands at a place, as the page shows them."""
    n = 0
    while asked := judge.next(20):
        answers = []
        for question in asked:
            picked = question["images"][place_of(n)]
            answers.append(
                answer_to(question["uid"], f"pick:{picked}", mode="choice", at=n, **changes)
            )
            n += 1
        judge.send(*answers)


def test_who_always_picks_the_left_picture_too_soon_is_flagged_and_who_looks_is_not(people):
    campaign = ask_panel(asked_set=triplets(24), name="Which", panel=people(2), seed=4)
    careless, careful = judges_of(campaign)
    pick(careless, lambda n: 0, visible_ms=560)  # two pictures could be seen in that
    pick(careful, lambda n: n * n // 3 % 2, visible_ms=900)
    [flagged] = flagged_judges(campaign)
    assert flagged.member.annotator == careless.person
    assert [flag.name for flag in flagged.flags] == ["pace", "one_place"]
    assert "0.575 s" in flagged.flags[0].threshold
    assert "24 of the latest 24 picks at place 1" in flagged.flags[1].evidence
    page = signed_in(people(1, Role.ADMIN)[0])
    text = page.get(reverse("annotation:quality", args=[campaign.slug])).content.decode()
    assert "One place" in text
    address = reverse("evaluation:without", args=[campaign.slug, flagged.member.number])
    assert address in text
    answers = reverse("annotation:answers_given", args=[campaign.slug])
    rows = page.get(answers, {"answer": "pick:0"}).context["rows"]
    assert 0 < len(rows) < 48
    assert {row.answer for row in rows} == {"pick:0"}
    shown = page.get(address).content.decode()
    assert "would have no label" in shown
    assert "Rank the models" not in shown
    assert page.post(address).status_code == 404


def test_a_gallery_takes_longer_to_look_at_than_a_pair(people):
    asked = built_set(make_catalog(), n_templates=24)
    campaign = ask_panel(asked_set=asked, name="Which", panel=people(1), seed=4)
    [judge] = judges_of(campaign)
    pick(judge, lambda n: n % 7, visible_ms=800)
    [flagged] = flagged_judges(campaign)
    assert [flag.name for flag in flagged.flags] == ["pace"]


def test_answers_without_a_judge_are_those_of_the_others(people):
    campaign = ask_panel(asked_set=triplets(4), name="Which", panel=people(3), seed=4)
    seats = judges_of(campaign)
    for question, places in zip(subjects_of(campaign), ("110", "001", "100", "111"), strict=True):
        for judge, place in zip(seats, places, strict=True):
            say(judge, question, int(place))
    first, second, _ = campaign.panel.order_by("number")
    assert choice_changes(first) == ChoiceChanges(n_labels=4, n_other=0, n_lost=2)
    assert choice_changes(second) == ChoiceChanges(n_labels=4, n_other=0, n_lost=3)
