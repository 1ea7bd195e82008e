"""Fifty clients at once, an unreliable network, and a server that dies: nothing lost, no k + 1."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.db.models import Count

from accounts.models import User
from annotation.models import Campaign, Judgement, JudgementEvent, Question, QueueEntry
from annotation.picture_keys import open_place
from annotation.queries.choices import panel_votes
from annotation.services import change_settings, open_campaign, reap_leases, reconcile
from conditional.campaigns.services import ask_panel
from conditional.models import TemplateSet, TripletQuestion, TripletSet
from lookalike.agreement.grades import Scale
from tests.clients import HttpJudge, answer_to, session_of, uid_of
from tests.conditional.cases import built_set, make_catalog
from tests.waiting import PATIENCE_SECONDS
from tests.webserver import WebServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.faults]

N_CANDIDATES, N_JUDGES, N_TABS, K = 50, 40, 50, 3
SCALE = Scale(("No", "A little", "Yes", "Very"), 2)
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def server(django_db_setup: None) -> Iterator[WebServer]:
    """One for all, which each race kills and starts again."""
    server = WebServer()
    server.start()
    yield server
    server.close()


class WorkLeft:
    """Whether a vote is wanted or a pair is lent, so that one may come; asked once for all tabs."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.until = 0.0
        self.is_left = True

    def wait(self) -> bool:
        """Return whether there is work, after a little while."""
        time.sleep(0.3)
        with self.lock:
            if time.monotonic() > self.until:
                lent = QueueEntry.objects.filter(state="open", lease_until__isnull=False)
                self.is_left = Question.objects.filter(n_free__gt=0).exists() or lent.exists()
                self.until = time.monotonic() + 0.2
            return self.is_left


class Tab(threading.Thread):
    """A browser tab that judges until nobody has work, whatever happens to its requests."""

    def __init__(
        self, number: int, judge: HttpJudge, campaign: uuid.UUID, votes: list[str], work: WorkLeft
    ) -> None:
        super().__init__(daemon=True)
        self.random = random.Random(number)
        self.judge = judge
        self.path = f"/judge/{campaign}"
        self.votes = votes
        self.work = work
        self.acknowledged: dict[str, dict[str, Any]] = {}
        self.rejected: list[str] = []
        self.failure = ""
        self.n_answers = self.n_retries = 0

    def run(self) -> None:
        try:
            while self.judge_some() or self.work.wait():
                pass
        except AssertionError as problem:
            self.failure = str(problem) or repr(problem)
        finally:
            self.judge.close()
            connection.close()

    def judge_some(self) -> bool:
        n = self.random.choice([4, 12, 24])
        _, served = self.insist("GET", f"{self.path}/next?n={n}")
        questions = served["questions"]
        if self.random.random() < 0.05:
            return bool(questions)  # the tab was closed: these leases are abandoned
        if questions:
            self.submit([self.answer(question) for question in questions])
        return bool(questions)

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        self.n_answers += 1
        of_kind = [*self.random.sample(self.votes, 2), "cant_tell"]
        if images := question.get("images"):
            other = "cant_tell" if len(images) == 2 else "several"
            of_kind = [f"pick:{images[0]}", f"pick:{images[-1]}", other]
        what = self.random.choices([*of_kind, "skip", "later"], [60, 30, 4, 3, 3])[0]
        at = self.random.random() * 1e6
        return answer_to(question["uid"], what, at=at)

    def submit(self, answers: list[dict[str, Any]]) -> None:
        """Send a batch until it is acknowledged, perhaps twice; then take one back, perhaps."""
        body = {"answers": answers}
        if self.random.random() < 0.1:
            try:
                self.judge.post_and_hang_up(f"{self.path}/answers", body)
            except OSError:
                self.n_retries += 1
        for _ in range(self.random.choice([1, 1, 1, 2])):
            status, reply = self.insist("POST", f"{self.path}/answers", body)
            assert status in {200, 422}, (status, reply)
            self.note(answers, reply)
        if self.random.random() < 0.1:
            undone = self.random.choice(answers)
            at = datetime.fromisoformat(undone["decided_at"]) + timedelta(seconds=1)
            seconds = (at - START).total_seconds()
            taken_back = answer_to(
                undone["question"], "withdrawn", at=seconds, undoes=undone["uuid"]
            )
            _, reply = self.insist("POST", f"{self.path}/answers", {"answers": [taken_back]})
            self.note([taken_back], reply)

    def note(self, answers: list[dict[str, Any]], reply: Any) -> None:
        sent = {answer["uuid"]: answer for answer in answers}
        for result in reply["results"]:
            if result["status"] == "rejected":
                self.rejected.append(result["code"])
            else:
                self.acknowledged[result["uuid"]] = sent[result["uuid"]]

    def insist(self, verb: str, path: str, body: object = None) -> tuple[int, Any]:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                if verb == "GET":
                    status, reply = self.judge.get(path)
                else:
                    status, reply = self.judge.post(path, body)
            except OSError:
                status = 503
            if status < 500:
                return status, reply
            self.n_retries += 1
            assert time.monotonic() < deadline, "the server does not come back"
            time.sleep(0.05 + self.random.random() / 5)


def make_leases_stale(tabs: list[Tab], server: WebServer, n_pairs: int) -> None:
    """While the tabs work: let random leases run out, and kill the server once, in the middle."""
    chance = random.Random(1)
    is_killed = False
    while any(tab.is_alive() for tab in tabs):
        with connection.cursor() as cursor:
            cursor.execute(
                "update annotation_queueentry set lease_until = now() - interval '1 second' "
                "where (member_id, question_id) in (select member_id, question_id "
                "from annotation_queueentry where state = 'open' and lease_until is not null "
                "order by random() limit %s for update skip locked)",
                [chance.randrange(100)],
            )
        reap_leases()
        if not is_killed and Judgement.objects.count() > n_pairs:
            server.kill()
            is_killed = True
            server.start()
        time.sleep(0.2)
    assert is_killed


def expected_answers() -> dict[tuple[int, int], str]:
    """What the events say, told another way: the last one wins, a withdrawal empties."""
    latest = {
        (event.question_id, event.member_id): event.answer
        for event in JudgementEvent.objects.order_by("id")
    }
    return {key: answer for key, answer in latest.items() if answer not in {"later", "withdrawn"}}


def answer_sent(campaign: Campaign, body: dict[str, Any]) -> str:
    """What an answer means: the page names a picture by its key, the site by its place."""
    if not body["answer"].startswith("pick:"):
        return str(body["answer"])
    key = body["answer"].removeprefix("pick:")
    return f"pick:{open_place(campaign.uid, body['question'], key)}"


def choices_of(kind: str, n: int, panel: list[User]) -> Campaign:
    """A campaign that lends so many templates or triplets to a panel."""
    catalog = make_catalog(n=max(120, n + 2))
    asked: TemplateSet | TripletSet
    if kind == "template":
        asked = built_set(catalog, n_templates=n)
    else:
        anchor, *images = catalog.images.order_by("pk")[: n + 2]
        asked = TripletSet.objects.create(slug="t", name="T", catalog=catalog)
        TripletQuestion.objects.bulk_create(
            TripletQuestion(triplet_set=asked, position=at, anchor=anchor, first=one, second=other)
            for at, (one, other) in enumerate(pairwise(images))
        )
    draft = ask_panel(asked_set=asked, name="Choices", panel=panel, is_draft=True)
    change_settings(campaign=draft, by=None, serving="k_of_n", k=K, repeat_percent=5)
    return open_campaign(campaign=draft)


@pytest.mark.parametrize(
    "asked",
    [
        ("pair", 300, 5),
        ("graded", 100, 5),
        ("template", 60, 5),
        ("triplet", 100, 5),
        pytest.param(("pair", 1250, 0), marks=pytest.mark.daily),
        pytest.param(("pair", 5000, 0), marks=pytest.mark.daily),
        pytest.param(("graded", 5000, 5), marks=pytest.mark.daily),
        pytest.param(("pair", 5000, 5), marks=pytest.mark.daily),
        pytest.param(("template", 200, 5), marks=pytest.mark.daily),
        pytest.param(("triplet", 3000, 5), marks=pytest.mark.daily),
    ],
    ids=lambda asked: "-".join(map(str, asked)),
)
def test_nothing_is_lost_and_no_question_has_more_than_k_votes(campaign_of, people, server, asked):
    kind, n_questions, percent = asked
    scale = SCALE if kind == "graded" else None
    if kind in {"pair", "graded"}:
        n_queries = n_questions // N_CANDIDATES
        rules = {"serving": "k_of_n", "k": K, "is_open": False, "scale": scale}
        draft = campaign_of(n_queries, N_CANDIDATES, N_JUDGES, **rules)
        change_settings(campaign=draft, by=None, repeat_percent=percent)
        campaign = open_campaign(campaign=draft)
    else:
        campaign = choices_of(kind, n_questions, people(N_JUDGES))
    sessions = [session_of(member.annotator) for member in campaign.panel.all()]
    words = list(scale.answers) if scale else ["similar", "different"]
    work = WorkLeft()
    tabs = [
        Tab(number, HttpJudge(server.port, sessions[number % N_JUDGES]), campaign.uid, words, work)
        for number in range(N_TABS)
    ]
    for tab in tabs:
        tab.start()
    make_leases_stale(tabs, server, n_questions)
    assert [tab.failure for tab in tabs if tab.failure] == []

    acknowledged = {key: answer for tab in tabs for key, answer in tab.acknowledged.items()}
    stored = {str(event.uuid): event for event in JudgementEvent.objects.select_related("question")}
    assert set(acknowledged) == set(stored)
    for key, answer in acknowledged.items():
        assert stored[key].answer == answer_sent(campaign, answer)
        assert str(stored[key].question.uid) == uid_of(campaign, answer["question"])

    judgements = {(j.question_id, j.member_id): j.answer for j in Judgement.objects.all()}
    assert judgements == expected_answers()

    votes = panel_votes(campaign).order_by().values_list("question").annotate(n=Count("pk"))
    assert [n for _, n in votes] == [K] * n_questions
    assert reconcile(campaign=campaign) == []
    assert not Question.objects.filter(n_free__gt=0).exists()
    assert not QueueEntry.objects.filter(state="open", lease_until__isnull=False).exists()
    assert {code for tab in tabs for code in tab.rejected} <= {"not_current"}
    assert sum(tab.n_retries for tab in tabs) >= N_TABS / 2  # the server was gone for many of them
