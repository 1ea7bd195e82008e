"""The content of a public release is withheld, however judges come to see one of its images."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable

import numpy as np
import pyarrow.parquet as pq
import pytest
from django.db import connection
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign, QuestionKind
from annotation.services import (
    add_gold,
    add_questions,
    close_campaign,
    create_campaign,
    import_judgements,
    open_campaign,
)
from annotation.services.gold import GoldPair, remove_gold
from annotation.task_kinds import _KINDS
from catalog.models import Catalog, Image
from conditional.campaigns.services import ask_panel
from conditional.models import RetrievalTemplate, TemplateSet, TripletQuestion, TripletSet
from releases.blindness.images import campaigns_asking
from releases.models import AskedRelease, Release
from tests.clients import signed_in
from tests.releases.conditional_world import add_templates, add_triplets, freeze_sets
from tests.worlds import World, freeze_now, request_for

BASE = "/releases/small/1.0.0/"
API = f"/api/v1{BASE.rstrip('/')}"
CONTENT = [
    *(f"{BASE}{path}" for path in (
        "archive.zip", "datasheet/", "leaderboard.csv", "files/data/images.parquet",
        "files/data/labels.parquet", "files/data/template_candidates.parquet",
        "files/data/triplets.parquet", "files/MANIFEST.json",
    )),
    *(f"{API}{path}" for path in (
        "", "/negatives", "/archive", "/files/data/images.parquet", "/files/data/pairs.parquet",
    )),
]  # fmt: skip
Ask = Callable[[World, User], Campaign]


def give_hashes(world: World) -> None:
    """Give every image a perceptual hash of its own: 64 random bits."""
    bits = np.random.default_rng(1).integers(0, 2**63, len(world.images))
    for image, value in zip(world.images, bits.tolist(), strict=True):
        image.perceptual_hash = f"{value:016x}"
    Image.objects.bulk_update(world.images, ["perceptual_hash"])


def strangers(judge: User, n: int = 6) -> Campaign:
    """An open campaign over images that no release names."""
    catalog = Catalog.objects.create(slug="strangers", name="Strangers")
    images = Image.objects.bulk_create(
        Image(
            catalog=catalog, sha256=hashlib.sha256(f"stranger {row}".encode()).hexdigest(),
            width=8, height=8, image_format="PNG", n_bytes=1, perceptual_hash=f"{row:016x}",
        )
        for row in range(n)
    )  # fmt: skip
    pairs = [(images[0].pk, one.pk) for one in images[1:]]
    made = create_campaign(name="Strangers", slug="strangers", pairs=pairs, panel=[judge])
    return open_campaign(campaign=made)


def ask_pairs(world: World, judge: User) -> Campaign:
    """Ask a pair that the release has no label of, since nobody proposed it."""
    known = set(world.pool.proposals.values_list("query_id", "candidate_id"))
    known |= {(candidate, query) for query, candidate in known}
    ids = [image.pk for image in world.images]
    pair = next((q, c) for q in ids for c in ids if q != c and (q, c) not in known)
    made = create_campaign(name="Other pairs", slug="others", pairs=[pair], panel=[judge])
    return open_campaign(campaign=made)


def ask_templates(world: World, judge: User) -> Campaign:
    return ask_panel(
        asked_set=TemplateSet.objects.get(), name="Verified again", panel=[judge], seed=2
    )


def ask_triplets(world: World, judge: User) -> Campaign:
    return ask_panel(asked_set=TripletSet.objects.get(), name="Closer", panel=[judge], seed=2)


def ask_a_gallery(world: World, judge: User) -> Campaign:
    """Ask a template of which the release names nothing but an image of the gallery."""
    campaign = strangers(judge)
    close_campaign(campaign=campaign, by=None, reason="Only its images are needed.")
    a, b, c, *_ = Image.objects.filter(catalog__slug="strangers")
    asked = TemplateSet.objects.create(
        slug="mixed", name="Mixed", catalog=a.catalog, task="focus_attribute", source="catalog"
    )
    RetrievalTemplate.objects.create(
        template_set=asked, position=0, condition="colour", reference=a, target=b,
        gallery=[c.pk, world.images[3].pk], kinds=["unknown"] * 2,
    )  # fmt: skip
    return ask_panel(asked_set=asked, name="Mixed", panel=[judge])


def ask_gold(world: World, judge: User) -> Campaign:
    campaign = strangers(judge)
    a, b, *_ = world.images
    add_gold(campaign=campaign, purpose="gold", pairs=[GoldPair(a.pk, b.pk, "similar")])
    return campaign


def ask_a_top_up(world: World, judge: User) -> Campaign:
    campaign = strangers(judge)
    add_questions(campaign=campaign, pairs=[(world.images[0].pk, world.images[9].pk)])
    return campaign


def ask_by_import(world: World, judge: User) -> Campaign:
    """Take over a campaign with judgements made elsewhere, which stays open."""
    pair = (world.images[2].pk, world.images[7].pk)
    made = create_campaign(name="Taken over", slug="taken", pairs=[pair], panel=[judge])
    open_campaign(campaign=made)
    import_judgements(campaign=made, rows=[(*pair, judge.pk, "similar")])
    return made


def ask_by_hand(world: World, judge: User) -> Campaign:
    """Open a draft in the database, past every service."""
    pair = (world.images[2].pk, world.images[7].pk)
    made = create_campaign(name="By hand", slug="by-hand", pairs=[pair], panel=[judge])
    Campaign.objects.filter(pk=made.pk).update(state="open")
    return made


def ask_by_sql(world: World, judge: User) -> Campaign:
    """Write a question past every service."""
    campaign = strangers(judge)
    with connection.cursor() as cursor:
        cursor.execute(
            "insert into annotation_question (uid, campaign_id, query_id, candidate_id, kind, "
            "position, phase, n_counted, n_free, is_settled) "
            "values (gen_random_uuid(), %s, %s, %s, 'pair', 99, 0, 0, 0, false)",
            [campaign.pk, world.images[0].pk, world.images[1].pk],
        )
    return campaign


WAYS: list[Ask] = [
    ask_pairs, ask_templates, ask_triplets, ask_a_gallery, ask_gold, ask_a_top_up, ask_by_import,
    ask_by_hand, ask_by_sql,
]  # fmt: skip


def on_screen(campaign: Campaign) -> set[int]:
    """The images that judges of a campaign see, as the kinds of task tell it."""
    asked = campaign.questions.exclude(kind=QuestionKind.EXAMPLE)
    subjects = campaign.kind.subjects(set(asked.values_list("subject", flat=True)))
    ids = {pk for pair in asked.values_list("query_id", "candidate_id") for pk in pair}
    for subject in subjects.values():
        ids |= {subject.compared_id, *subject.candidates}
    return ids


def matched(campaign: Campaign, browser: Client) -> int:
    """Count the pictures on the screen that an attacker finds by pHash in public tables."""
    seen = Image.objects.filter(pk__in=on_screen(campaign))
    hashes = set(seen.values_list("perceptual_hash", flat=True))
    found: set[str] = set()
    for address in (f"{BASE}files/data/images.parquet", f"{API}/files/data/images.parquet"):
        reply = browser.get(address)
        if reply.status_code == 200:
            table = pq.read_table(io.BytesIO(reply.getvalue()))
            found |= hashes & set(table["perceptual_hash"].to_pylist())
    return len(found)


@pytest.fixture
def released(world: World) -> World:
    """A public release of pairs, templates and triplets."""
    give_hashes(world)
    add_templates(world)
    add_triplets(world)
    freeze_sets(world, is_public=True)
    return world


@pytest.mark.parametrize("ask", WAYS)
def test_a_release_is_withheld_however_judges_come_to_see_its_images(
    released: World, ask: Ask
) -> None:
    judge = User.objects.create_user("newcomer", role=Role.ANNOTATOR)
    assert {Client().get(address).status_code for address in CONTENT} == {200}
    campaign = ask(released, judge)
    attackers = [Client(), signed_in(judge)]
    for browser in attackers:
        assert matched(campaign, browser) == 0
        assert not any(browser.get(address).status_code == 200 for address in CONTENT)
        assert browser.get(BASE).status_code == 200  # who cites it finds it
        assert browser.get("/releases/").status_code == 200
        assert b"views of/" not in browser.get(BASE).content
    assert {Client().get(address).status_code for address in CONTENT} == {403}
    assert Client().get(API).json()["code"] == "withheld"
    [listed] = Client().get("/api/v1/releases").json()["items"]
    assert listed["why_not_shown"]
    assert campaign.name not in listed["why_not_shown"]
    close_campaign(campaign=Campaign.objects.get(pk=campaign.pk), by=None, reason="Done.")
    assert matched(campaign, Client()) > 0
    assert {Client().get(address).status_code for address in CONTENT} == {200}


def test_a_release_that_names_no_image_on_a_screen_stays(released: World) -> None:
    judge = User.objects.create_user("newcomer", role=Role.ANNOTATOR)
    campaign = strangers(judge)
    [release] = Release.objects.all()
    assert campaigns_asking(release) == []
    a, b, *_ = released.images
    example = [GoldPair(a.pk, b.pk, "similar", "As an example.")]
    add_gold(campaign=campaign, purpose="example", pairs=example)
    assert campaigns_asking(release) == []
    assert Client().get(f"{BASE}archive.zip").status_code == 200


def test_gold_that_is_removed_withholds_nothing(released: World) -> None:
    judge = User.objects.create_user("newcomer", role=Role.ANNOTATOR)
    campaign = create_campaign(
        name="Draft", slug="draft", pairs=strangers(judge).questions.values_list(
            "query_id", "candidate_id"
        ), panel=[judge],
    )  # fmt: skip
    a, b, *_ = released.images
    add_gold(campaign=campaign, purpose="gold", pairs=[GoldPair(a.pk, b.pk, "similar")])
    asking = AskedRelease.objects.filter(campaign=campaign)
    assert asking.exists()
    [gold] = campaign.questions.filter(kind="gold")
    remove_gold(campaign=campaign, question_uid=gold.uid)
    assert not asking.exists()


def test_a_release_frozen_while_judges_see_its_images_is_withheld_from_the_start(
    world: World,
) -> None:
    judge = User.objects.create_user("newcomer", role=Role.ANNOTATOR)
    campaign = ask_pairs(world, judge)
    release = freeze_now(request_for(world, is_public=True))
    assert [one.campaign for one in campaigns_asking(release)] == [campaign]
    assert Client().get(f"{BASE}archive.zip").status_code == 403


def test_the_database_knows_the_pictures_of_every_kind_of_task(released: World) -> None:
    """A new kind of task must be added to the triggers."""
    judge = User.objects.create_user("newcomer", role=Role.ANNOTATOR)
    assert TripletQuestion.objects.exists() or ask_triplets(released, judge)
    assert set(_KINDS) == {"pair", "template", "triplet"}
    for campaign in Campaign.objects.all():
        for image in Image.objects.filter(pk__in=on_screen(campaign)):
            other = Release.objects.create(
                slug=f"one-{campaign.pk}-{image.pk}", title="One", major=1, minor=0, patch=0,
                seal="", archive_sha256="", archive_bytes=0,
            )  # fmt: skip
            other.images.create(sha256=image.sha256)
            assert other.asked_by.filter(campaign=campaign).exists(), (campaign, image.pk)
