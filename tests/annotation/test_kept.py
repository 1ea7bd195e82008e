"""What is kept of a campaign is what a look at all of its answers says, after every change."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import Role, User
from annotation.models import Campaign, QuestionKind
from annotation.queries.campaigns import agreement_report
from annotation.queries.kept import kept
from annotation.queries.labels import labels
from annotation.queries.numbers import numbers_of
from annotation.queries.reviewing.adjudication import (
    contested,
    contested_by_campaign,
    contested_ids,
)
from annotation.queries.reviewing.judge_summaries import judge_summaries, summaries_by_campaign
from annotation.services import (
    add_gold,
    adjudicate,
    close_campaign,
    count_again,
    exclude_answers,
    import_judgements,
    open_campaign,
    pause_judge,
    withdraw_ruling,
)
from annotation.services.gold import GoldPair
from annotation.services.reconciling import reconcile
from annotation.services.settings import change_settings
from lookalike.agreement.grades import Scale
from tests.annotation.scans import scan
from tests.clients import Browser, answer_to
from tests.worlds import rows_of

Make = Callable[..., Campaign]


def everything(campaign: Campaign) -> list[str]:
    """All that is kept, in words, since what is not known is a NaN."""
    summaries = {
        pk: ({**vars(one.figures), "answers": sorted(map(list, one.figures.answers.items()))},
             one.flags)
        for pk, one in judge_summaries(campaign).items()
    }  # fmt: skip
    kept_now = (
        summaries,
        [contested_ids(campaign, only_undecided=only) for only in (False, True)],
        agreement_report(campaign),
        numbers_of(campaign),
        kept(campaign, "labels", lambda: [row.label for row in labels(campaign)]),
    )
    return [repr(one) for one in kept_now]


def counted(campaign: Campaign) -> list[str]:
    """The same, counted anew."""
    with transaction.atomic():
        found = everything(campaign)
    found[0] = repr(scan(campaign))
    found[1] = repr([[question.pk for question in contested(campaign, only_undecided=only)]
                     for only in (False, True)])  # fmt: skip
    return found


def check(campaign: Campaign) -> list[str]:
    """Compare what is kept, first and again, with what is counted; return it."""
    campaign.refresh_from_db()
    first = everything(campaign)
    assert first == everything(campaign) == counted(campaign)
    return first


def answer_at_random(campaign: Campaign, rng: random.Random, n: int = 15) -> None:
    """Let every judge answer some questions in any way."""
    words = [*campaign.kind.answers, "skip"]
    for member in campaign.panel.select_related("annotator"):
        judge = Browser(campaign, member.annotator)
        for at, question in enumerate(judge.next(n)):
            judge.send(
                answer_to(
                    question["uid"], rng.choice(words), at=at, visible_ms=rng.randrange(90, 70_000),
                    mode=rng.choice(["pair", "pair", "sheet"]), load_ms=rng.randrange(200),
                )
            )  # fmt: skip


@pytest.fixture
def judged(campaign_of: Make, pairs: Callable[..., Any], transactional_db: None) -> Campaign:
    """A campaign with gold and repeats, answered at random by four."""
    campaign = campaign_of(3, 6, 4, is_open=False)
    change_settings(campaign=campaign, by=None, repeat_percent=30)
    gold = [GoldPair(one, other, "similar", "") for one, other in pairs(1, 6)]
    add_gold(campaign=campaign, purpose="gold", pairs=gold)
    campaign = open_campaign(campaign=campaign)
    answer_at_random(campaign, random.Random(0))
    return campaign


def events_of(campaign: Campaign, n: int) -> list[Any]:
    votes = campaign.questions.filter(kind=QuestionKind.PAIR, judgements__is_counted=True)
    return list(votes.order_by("pk").values_list("judgements__event__uuid", flat=True)[:n])


def test_every_change_of_what_was_said_is_told_at_once(
    judged: Campaign, people: Callable[..., list[User]]
) -> None:
    [admin] = people(1, Role.ADMIN)
    judge = Browser(judged, judged.panel.get(number=2).annotator)
    pair = judged.questions.filter(kind=QuestionKind.PAIR).order_by("pk")[0]
    events = events_of(judged, 3)
    done = judge.get("recent")["answers"][0]
    other = "different" if done["answer"] == "similar" else "similar"
    ruling: dict[str, Any] = {"campaign": judged, "question_uid": pair.uid}
    acts: dict[str, Callable[[], Any]] = {
        "an answer": lambda: judge.judge("similar"),
        "another answer to the same": lambda: judge.send(
            answer_to(done["question"]["uid"], other, at=90)
        ),
        "excluded": lambda: exclude_answers(
            campaign=judged, events=events, reason="no look", by=admin
        ),
        "counted again": lambda: count_again(campaign=judged, events=events[:2], by=admin),
        "asked again": lambda: exclude_answers(
            campaign=judged, events=events[:1], reason="look", by=admin, asks_again=True
        ),
        "ruled": lambda: adjudicate(**ruling, answer="similar", reason="seam", by=admin),
        "ruled otherwise": lambda: adjudicate(**ruling, answer="different", reason="so", by=admin),
        "not ruled": lambda: withdraw_ruling(**ruling),
        "a judge waits": lambda: pause_judge(
            member=judged.panel.get(number=3), by=admin, reason="look"
        ),
        "closed": lambda: close_campaign(campaign=judged, by=admin, reason="enough"),
    }
    before = check(judged)
    for name, act in acts.items():
        act()
        after = check(judged)
        assert name in {"not ruled", "a judge waits"} or after != before, name
        before = after


def test_imported_answers_and_repaired_counters_are_told_at_once(
    campaign_of: Make, transactional_db: None
) -> None:
    campaign = campaign_of(2, 4, 3)
    before = check(campaign)
    rows = rows_of(campaign, "sss ssd sdd ddd scc skk ... ss.")
    import_judgements(campaign=campaign, rows=rows[:9])
    half = check(campaign)
    import_judgements(campaign=campaign, rows=rows)
    assert before != half != check(campaign)
    state = repr(judge_summaries(campaign))
    campaign.panel.update(n_done=0)
    reconcile(campaign=campaign, repairs=True)
    assert repr(judge_summaries(campaign)) == state
    check(campaign)


@pytest.mark.parametrize("seed", range(3))
def test_figures_of_judges_are_those_of_a_look_at_every_answer(
    campaign_of: Make, transactional_db: None, seed: int
) -> None:
    rng = random.Random(seed)
    plain = campaign_of(4, 7, 5)
    graded = campaign_of(3, 5, 4, scale=Scale(("No", "Hardly", "Nearly", "Yes"), 2))
    lent = campaign_of(3, 6, 4, is_open=False)
    change_settings(campaign=lent, by=None, serving="k_of_n", k=2)
    lent = open_campaign(campaign=lent)
    for campaign in (plain, graded, lent):
        answer_at_random(campaign, rng, 20)
        exclude_answers(
            campaign=campaign, events=rng.sample(events_of(campaign, 20), 5), reason="x", by=None
        )
        check(campaign)


def test_what_is_kept_is_counted_once(judged: Campaign) -> None:
    counts = iter(range(9))
    cache.clear()
    assert [kept(judged, "test", lambda: next(counts)) for _ in range(3)] == [0, 0, 0]
    assert kept(judged, "another", lambda: next(counts)) == 1
    Browser(judged, judged.panel.get(number=1).annotator).judge("similar")
    assert [kept(judged, "test", lambda: next(counts)) for _ in range(2)] == [2, 2]


def test_what_a_transaction_sees_alone_is_not_kept(judged: Campaign) -> None:
    cache.clear()
    with transaction.atomic():
        assert kept(judged, "test", lambda: "within") == "within"
        assert connection.in_atomic_block
    assert kept(judged, "test", lambda: "outside") == "outside"


def test_without_a_cache_all_is_counted(judged: Campaign, settings: Any) -> None:
    settings.CACHES = {
        **settings.CACHES,
        "default": {**settings.CACHES["default"], "LOCATION": "unix:///nowhere.sock"},
    }
    counts = iter(range(9))
    assert [kept(judged, "test", lambda: next(counts)) for _ in range(2)] == [0, 1]


@pytest.mark.django_db
def test_several_campaigns_are_read_by_as_many_statements_as_one(campaign_of: Make) -> None:
    campaigns = [campaign_of(1, 2, 2) for _ in range(3)]
    for campaign in campaigns:
        answer_at_random(campaign, random.Random(campaign.pk))
    n_statements, found = [], []
    for some in (campaigns[:1], campaigns):
        with CaptureQueriesContext(connection) as statements:
            found.append((summaries_by_campaign(some), contested_by_campaign(some)))
        n_statements.append(len(statements))
    assert n_statements[0] == n_statements[1]
    pk = campaigns[0].pk
    assert repr([of[pk] for of in found[0]]) == repr([of[pk] for of in found[1]])
