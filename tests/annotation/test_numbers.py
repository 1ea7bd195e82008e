"""The numbers of overview, campaigns, progress, quality and API are one and the same, and right.

Histories are drawn by chance: answers, changes, answers taken back and put off, exclusions, pairs
asked again, what undoes them, and judges who go and come. The recount below reads nothing but
events and exclusions.
"""

import random
import re
from collections import Counter
from contextlib import suppress

import pytest
from django.urls import reverse

from accounts.models import Role, Scope
from accounts.tokens.services import create_token
from annotation.errors import CampaignError
from annotation.models import Exclusion, JudgementEvent
from annotation.queries.labels import labels, votes
from annotation.queries.numbers import numbers_of
from annotation.queries.reviewing.quality import judge_qualities
from annotation.services import (
    add_gold,
    count_again,
    exclude_answers,
    open_campaign,
    reconcile,
    set_member_active,
)
from annotation.services.gold import GoldPair
from tests.clients import Browser, Caller, answer_to, signed_in

pytestmark = pytest.mark.django_db
ACTS = 36


def live(campaign, chance, admin):
    """Do something to the campaign, by chance."""
    member = chance.choice(list(campaign.panel.all()))
    browser = Browser(campaign, member.annotator)
    act = chance.choices(
        ["answer", "change", "withdraw", "exclude", "again", "count", "leave"],
        [8, 2, 2, 3, 2, 3, 1],
    )[0]
    if act == "leave":
        with suppress(CampaignError):  # too few judges would be left
            set_member_active(member=member, is_active=not member.is_active)
    elif act == "count":
        held = Exclusion.objects.filter(ended_at__isnull=True)
        events = list(held.values_list("event__uuid", flat=True))
        if events:
            with suppress(CampaignError):  # the judge has answered again
                count_again(campaign=campaign, events=[chance.choice(events)], by=admin)
    elif act in {"exclude", "again"}:
        given = list(member.judgements.values_list("event__uuid", flat=True))
        if given:
            exclude_answers(campaign=campaign, events=[chance.choice(given)], reason="x", by=admin,
                            asks_again=act == "again")  # fmt: skip
    elif member.is_active:
        recent = [one for one in browser.get("recent", n=200)["answers"] if one["is_current"]]
        if act == "answer":
            for question in browser.next(chance.randint(1, 4)):
                what = chance.choice(["similar", "different", "different", "cant_tell", "later"])
                browser.send(answer_to(question["uid"], what))
        elif recent:
            last = chance.choice(recent)
            undoes = last["uuid"] if act == "withdraw" else None
            what = "withdrawn" if undoes else chance.choice(["similar", "different"])
            browser.send(answer_to(last["question"]["uid"], what, undoes=undoes))


def recounted(campaign):
    """(answers, excluded) of each judge by number, from events and exclusions alone."""
    holds = {}
    events = JudgementEvent.objects.filter(member__campaign=campaign).order_by("pk")
    for event in events.select_related("member"):
        holds[event.member.number, event.question_id] = event
    out = dict(Exclusion.objects.filter(ended_at__isnull=True).values_list("event", "asks_again"))
    final = {"similar", "different", "cant_tell", "skip"}
    standing = [(number, e) for (number, _), e in holds.items() if e.answer in final]
    answers = Counter(number for number, event in standing if not out.get(event.pk, False))
    excluded = Counter(number for number, event in standing if event.pk in out)
    return answers, excluded


def figures(html):
    """The numbers of a page, in their order."""
    text = re.sub(r"<[^>]+>", " ", html)
    return [int(n.replace(",", "")) for n in re.findall(r"\d[\d,]*", text)]


def cells(html, region):
    """The rows of a table, each as the numbers of its cells."""
    table = html.split(f'aria-label="{region}"')[1].split("</table>")[0]
    return [
        [figures(cell) for cell in re.findall(r"<td.*?</td>", row, re.DOTALL)]
        for row in table.split("<tr>")[2:]
    ]


@pytest.mark.parametrize("seed", range(4))
def test_every_page_and_route_says_the_same_and_the_truth(seed, campaign_of, pairs, people):
    chance = random.Random(seed)
    rules = [{}, {"serving": "k_of_n", "k": 2}][seed % 2]
    campaign = campaign_of(2, 4, 3, is_open=False, **rules)
    gold = [GoldPair(query, candidate, "similar") for query, candidate in pairs(1, 2)]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    campaign = open_campaign(campaign=campaign)
    [admin] = people(1, Role.ADMIN)
    for _ in range(ACTS):
        live(campaign, chance, admin)
    assert reconcile(campaign=campaign) == []

    numbers = numbers_of(campaign)
    answers, excluded = recounted(campaign)
    cast = Counter(votes(campaign).annotator_ids.tolist())
    by_judge = [
        (answers[one.member.number], cast[one.member.annotator_id], excluded[one.member.number])
        for one in numbers.judges
    ]
    assert [(j.n_answers, j.n_votes, j.n_excluded) for j in numbers.judges] == by_judge
    table = labels(campaign)
    assert int((table.n_similar + table.n_different).sum()) == numbers.n_votes
    if rules:
        assert all(row.n_similar + row.n_different <= 2 for row in table)
    qualities = judge_qualities(campaign)
    assert [q.answers.get("similar", 0) + q.answers.get("different", 0) for q in qualities] == [
        n_votes for _, n_votes, _ in by_judge
    ]

    browser = signed_in(admin)
    done = [numbers.n_done, numbers.n_total]
    overview = browser.get(reverse("overview")).content.decode()
    said = f"{numbers.n_done} of {numbers.n_total} {numbers.unit}"
    assert said in overview
    listed = browser.get(reverse("annotation:campaigns")).content.decode()
    assert said in listed
    assert cells(listed, "Campaigns")[0][3:5] == [[numbers.n_answers], [numbers.n_votes]]
    progress = browser.get(reverse("annotation:campaign", args=[campaign.slug])).content.decode()
    tiles = figures(progress.split('class="tiles"')[1].split("</dl>")[0])
    wanted = [numbers.n_answers, numbers.n_votes, numbers.n_excluded, numbers.n_total]
    assert tiles[: 3 + bool(numbers.n_excluded)] == [n for n in wanted if n or n is not wanted[2]]
    rows = cells(progress, "Progress of each judge")
    assert [(row[0][0], *row[1]) for row in rows] == [each[:2] for each in by_judge]
    quality = browser.get(reverse("annotation:quality", args=[campaign.slug])).content.decode()
    rows = cells(quality, "Agreement of each judge")
    assert [(*row[0], *row[1]) for row in rows] == [each[:2] for each in by_judge]
    assert [row[2][0] + row[3][0] for row in rows] == [each[1] for each in by_judge]

    _, token = create_token(owner=admin, name="t", scopes=[Scope.READ], days=1)
    told = Caller(admin, token).get(f"/campaigns/{campaign.slug}/progress")
    assert [told["n_done"], told["n_wanted"]] == done
    assert (told["n_answers"], told["n_votes"], told["n_excluded"]) == (
        numbers.n_answers, numbers.n_votes, numbers.n_excluded
    )  # fmt: skip
    assert [(j["n_done"], j["n_votes"], j["n_excluded"]) for j in told["judges"]] == by_judge
