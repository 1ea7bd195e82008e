"""An old site's verifications become campaigns: nothing said, undone or ruled is lost."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from accounts.models import Role, User
from annotation.models import Campaign, JudgementEvent
from annotation.services import create_campaign, reconcile
from conditional.campaigns.queries import list_results
from conditional.models import TripletQuestion, TripletSet
from conditional.triplets.queries import triplet_results
from lookalike.conditional.triplet_majority import Standing
from lookalike.conditional.verdicts import Outcome
from tests.conditional.cases import built_set, judges_of, make_catalog, say

pytestmark = pytest.mark.django_db(transaction=True)
BEFORE = "0002_set_campaigns"
MOMENT = datetime(2026, 5, 1, 9, tzinfo=UTC)
# what three judges did with each of five templates, in turn; t is the target, w takes it back
SAID = ["t t t", "1 1 n", "1 t b", "t ntwt n", "t twn ."]
RULED = {2: [(False, "odd"), (True, "plain")]}


def migrate_back() -> Any:
    before = [("conditional", BEFORE)]
    MigrationExecutor(connection).migrate(before)
    return MigrationExecutor(connection).loader.project_state(before).apps


def migrate() -> None:
    call_command(
        "migrate", verbosity=0
    )  # of other apps, too: what needs this one went back as well


@pytest.fixture
def old_apps() -> Iterator[Any]:
    yield migrate_back()
    migrate()


class OldSite:
    """Writes what the old engine wrote."""

    def __init__(self, apps: Any, people: list[User]) -> None:
        self.models = {
            name: apps.get_model("conditional", name)
            for name in ("Verification", "Verifier", "VerifierAnswer", "TemplateRuling")
        }
        self.people = people
        self.n = 0

    def verification(self, slug: str, **about: Any) -> Any:
        owner = self.people[0].pk
        made = self.models["Verification"].objects.create(
            slug=slug, name=slug.title(), seed=5, guidelines="Look.", owner_id=owner, **about
        )
        self.seats = [
            self.models["Verifier"].objects.create(
                verification=made, annotator_id=person.pk, number=number
            )
            for number, person in enumerate(self.people)
        ]
        return made

    def say(self, seat: int, choice: str, picked: int | None = None, **about: int) -> uuid.UUID:
        self.n += 1
        at = MOMENT + timedelta(minutes=self.n)
        made = self.models["VerifierAnswer"].objects.create(
            uuid=uuid.uuid4(), verifier=self.seats[seat], choice=choice, picked=picked,
            device="keyboard", shown_at=at, decided_at=at + timedelta(seconds=4),
            received_at=at + timedelta(seconds=5), **about,
        )  # fmt: skip
        return uuid.UUID(str(made.uuid))


@pytest.fixture
def site(old_apps, people) -> OldSite:
    return OldSite(old_apps, people(3))


def test_templates_keep_every_answer_undo_ruling_and_verdict(site, people):
    template_set = built_set(make_catalog(), n_templates=5)
    templates = list(template_set.templates.order_by("position"))
    [taken] = people(1)
    one, other = template_set.catalog.images.all()[:2]
    create_campaign(name="Check", slug="check", pairs=[(one.pk, other.pk)], panel=[taken])
    old = site.verification("check", template_set_id=template_set.pk)
    old.templates.set([one.pk for one in templates])
    words = {"n": "none", "b": "bad_condition", "w": "withdrawn"}
    sent: list[tuple[uuid.UUID, str]] = []
    for template, row in zip(templates, SAID, strict=True):
        for seat, letters in enumerate(row.split()):
            for letter in letters.replace(".", ""):
                picked = {"t": len(template.gallery), "1": 1}.get(letter)
                choice = words.get(letter, "pick")
                key = site.say(seat, choice, picked, template_id=template.pk)
                sent.append((key, choice if picked is None else f"pick:{picked}"))
    [admin] = people(1, Role.ADMIN)
    for place, rulings in RULED.items():
        for passes, note in rulings:
            site.models["TemplateRuling"].objects.create(
                verification=old, template_id=templates[place].pk, passes=passes, note=note,
                by_id=admin.pk,
            )  # fmt: skip
    migrate()

    campaign = Campaign.objects.get(uid=old.uid)
    assert (campaign.slug, campaign.task_kind) == (f"check-{str(old.uid)[:8]}", "template")
    assert (campaign.state, campaign.seed, campaign.n_questions) == ("open", 5, 5)
    assert campaign.guidelines.get().text == "Look."
    assert campaign.about.template_set == template_set
    events = JudgementEvent.objects.filter(member__campaign=campaign).order_by("pk")
    assert list(events.values_list("uuid", "answer")) == sent
    undone = events.get(answer="withdrawn", member__number=2, question__subject=templates[3].pk)
    assert str(undone.undoes) in {str(key) for key, _ in sent}
    first = events.select_related("member", "question")[0]
    assert (first.member.annotator, first.question.subject) == (site.people[0], templates[0].pk)
    assert (first.visible_ms, first.device, first.mode) == (4000, "keyboard", "choice")
    results = {one.template.pk: one for one in list_results(campaign)}
    outcomes = [results[one.pk].verdict.outcome for one in templates]
    assert outcomes == [
        Outcome.PASSES, Outcome.FAILS, Outcome.ADJUDICATE, Outcome.PASSES, Outcome.WAITING
    ]  # fmt: skip
    assert [results[one.pk].passes for one in templates] == [True, False, True, True, None]
    ruling = results[templates[2].pk].ruling
    assert ruling is not None
    assert (ruling.reason, ruling.decided_by) == ("plain", admin)
    assert "fails. odd" in campaign.state_changes.get().reason
    assert reconcile(campaign=campaign) == []
    assert [(m.n_done, m.n_total) for m in campaign.panel.all()] == [(5, 5), (5, 5), (4, 5)]
    third = judges_of(campaign)[2]  # and goes on where the judge was
    assert len(third.next()) == 1
    assert say(third, templates[4], "several")["status"] == "saved"


def test_triplets_keep_their_answers_and_a_closed_one_stays_closed(site):
    catalog = make_catalog(n=6)
    images = list(catalog.images.order_by("pk"))
    triplet_set = TripletSet.objects.create(slug="t", name="T", catalog=catalog)
    rows = [
        TripletQuestion.objects.create(
            triplet_set=triplet_set, position=at, anchor=images[0], first=images[1],
            second=images[at + 2],
        )
        for at in range(3)
    ]  # fmt: skip
    old = site.verification("which", triplet_set_id=triplet_set.pk, state="closed")
    old.triplets.set([one.pk for one in rows])
    for seat, (first, second) in enumerate([(0, 1), (0, None), (1, 0)]):
        site.say(seat, "pick", first, triplet_id=rows[0].pk)
        choice = "cant_tell" if second is None else "pick"
        site.say(seat, choice, second, triplet_id=rows[1].pk)
    migrate()
    campaign = Campaign.objects.get(slug="which")
    assert (campaign.state, campaign.task_kind, campaign.uid) == ("closed", "triplet", old.uid)
    outcomes = [one.outcome for one in triplet_results(campaign)]
    assert [one.standing for one in outcomes] == [
        Standing.DECIDED, Standing.UNDECIDED, Standing.UNDECIDED
    ]  # fmt: skip
    assert (outcomes[0].place, outcomes[1].n_cant_tell, outcomes[2].n_votes) == (0, 1, 0)
    assert reconcile(campaign=campaign) == []
