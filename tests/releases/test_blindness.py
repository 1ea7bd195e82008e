"""A release waits while anybody judges its pairs; what one release hides, none shows."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from django.core.cache import cache
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import get_resolver, reverse
from django.urls.exceptions import NoReverseMatch

from accounts.models import Role, User
from accounts.tokens.services import allowed_scopes, create_token
from annotation.models import Campaign
from annotation.services import (
    close_campaign,
    create_campaign,
    open_campaign,
    pause_campaign,
)
from catalog.models import Catalog, Image
from jobs.services import JobError
from pooling.pools.yields import compute_yields
from releases.blindness.images import campaigns_asking
from releases.models import AskedRelease, Release, ReleasedPair, Submission
from releases.site.pictures import covers
from releases.site.queries import file_lines
from tests.clients import signed_in
from tests.routes import routes
from tests.worlds import World, freeze_now, request_for

TITLE = "Small benchmark"


def copies_of(world: World, n_pairs: int) -> list[tuple[int, int]]:
    """Pairs of a release in another catalog: the same bytes under other ids, other way round."""
    catalog = Catalog.objects.create(slug="copy", name="Copy")
    copy_of = {
        image.pk: Image.objects.create(
            catalog=catalog, sha256=image.sha256, width=8, height=8, image_format="PNG",
            n_bytes=1, perceptual_hash=image.perceptual_hash,
        ).pk
        for image in world.images
    }  # fmt: skip
    asked = world.campaign.questions.filter(kind="pair").values_list("query_id", "candidate_id")
    chosen = {frozenset(pair): pair for pair in asked}  # a pool may ask a pair both ways
    return [(copy_of[c], copy_of[q]) for q, c in list(chosen.values())[:n_pairs]]


def campaign_about(pairs: list[tuple[int, int]], judge: User, slug: str = "again") -> Campaign:
    made = create_campaign(name=f"Second {slug}", slug=slug, pairs=pairs, panel=[judge])
    return open_campaign(campaign=made)


def addresses(world: World, release: Release) -> list[str]:
    """Every address of the site about this release, its campaign, pool, pictures and files."""
    submission = Submission.objects.get(release=release)
    values: dict[str, list[Any]] = {
        "slug": [release.slug, world.campaign.slug, world.pool.slug, world.catalog.slug],
        "version": [release.version],
        "path": ["MANIFEST.json", *[line.path for line in file_lines(release)][:4]],
        "sha256": covers(release)[:1] or [world.images[0].sha256],
        "uid": [submission.uid, release.uid, world.campaign.uid],
        "name": ["csv"],
    }
    found = []
    for name, parts in routes(get_resolver()):
        if name.startswith(("account_", "mfa_", "admin:")):
            continue
        kinds: dict[str, list[Any]] = {
            "IntConverter": [1],
            "StringConverter": ["view"],
            "SlugConverter": ["x"],
            "PathConverter": ["x"],
        }
        choices = [
            values.get(part) or kinds.get(type(converter).__name__) or values["uid"]
            for part, converter in parts.items()
        ]
        for chosen in itertools.product(*choices):
            try:
                found.append(reverse(name, kwargs=dict(zip(parts, chosen, strict=True))))
            except NoReverseMatch:
                continue
    return found


def replies(found: list[str], browser: Client) -> dict[str, tuple[bool, bytes]]:
    """What a browser gets at each address: whether it is turned away, and all bytes."""
    seen = {}
    cache.clear()  # of how much has been asked: who is limited sees nothing
    for address in found:
        reply = browser.get(address)
        body = b"".join(reply.streaming_content) if reply.streaming else reply.content  # type: ignore[attr-defined]
        headers = "\n".join(f"{name}: {value}" for name, value in reply.items())
        is_elsewhere = reply.get("Location", "").startswith("/accounts/login")
        is_shut = reply.status_code >= 400 or is_elsewhere
        seen[address] = (is_shut, headers.encode() + body)
    return seen


def shown_at(found: list[str], release: Release, browser: Client) -> set[str]:
    """The addresses at which the content of a release can be seen."""
    marks = [
        b"A submitted run",
        b"views of/",
        *(sha256[:16].encode() for sha256 in covers(release)),
    ]
    about = f"/{release.slug}/"
    return {
        address
        for address, (is_shut, content) in replies(found, browser).items()
        if any(mark in content for mark in marks) or (about in address and not is_shut)
    }


def test_no_route_shows_the_content_of_a_release_while_judges_see_its_images(
    world: World, researcher: User
) -> None:
    release = freeze_now(request_for(world, is_public=True))
    Submission.objects.create(
        release=release, owner=researcher, name="A submitted run", is_published=True
    )
    found = addresses(world, release)
    before = shown_at(found, release, Client())
    base = f"/releases/{release.slug}/"
    cited = {base, f"{base}1.0.0/", f"{base}1.0.0/CITATION.cff"}
    assert {*cited, f"{base}1.0.0/archive.zip"} <= before <= set(found)
    assert {f"/api/v1{base}1.0.0", f"/api/v1{base}1.0.0/archive",
            f"/api/v1{base}1.0.0/negatives"} <= before  # fmt: skip
    assert len(before) >= 12
    judge = User.objects.create_user("newcomer", role=Role.ANNOTATOR)
    elsewhere = campaign_about(copies_of(world, 7), judge, "elsewhere")
    assert [one.campaign for one in campaigns_asking(release)] == [elsewhere]
    assert shown_at(found, release, Client()) == cited
    assert shown_at(found, release, signed_in(judge)) == cited
    close_campaign(campaign=elsewhere, by=None, reason="Done.")
    asked = world.campaign.questions.filter(kind="pair").values_list("query_id", "candidate_id")
    second = campaign_about(list(asked)[:7], judge)
    assert [one.campaign for one in campaigns_asking(release)] == [second]
    reader = signed_in(researcher)
    page = reader.get(f"{base}1.0.0/")
    assert page.context["asked_by"][0].campaign == second
    told_by_api = reader.get(f"/api/v1{base}1.0.0").json()
    assert told_by_api["visibility"] == "public"
    assert "“Second again”" in told_by_api["why_not_shown"]
    assert reader.get("/api/v1/releases").json()["items"][0] == {
        name: told_by_api[name] for name in reader.get("/api/v1/releases").json()["items"][0]
    }
    chief = signed_in(User.objects.create_user("chief", role=Role.ADMIN))
    told = chief.post(f"{base}1.0.0/visibility/", {"show": "public"}, follow=True)
    assert "“Second again”" in told.content.decode()
    pause_campaign(campaign=second, by=None, reason="Lunch.")
    assert Client().get(f"{base}1.0.0/archive.zip").status_code == 403
    close_campaign(campaign=second, by=None, reason="Done.")
    assert shown_at(found, release, Client()) == before
    assert campaigns_asking(release) == []
    assert Client().get(f"/api/v1{base}1.0.0").json()["why_not_shown"] == ""
    chief.post(f"{base}1.0.0/visibility/", {"show": "members"})
    assert "for members" in reader.get(f"/api/v1{base}1.0.0").json()["why_not_shown"]


def test_labels_that_a_release_shows_cannot_be_hidden_under_any_name(world: World) -> None:
    freeze_now(request_for(world))
    for slug in ("small", "other"):
        request = request_for(world, "1.1.0", slug=slug, hidden_percent=50)
        with pytest.raises(JobError, match=r"“Small benchmark 1\.0\.0” \(\d+ pairs\)") as refused:
            freeze_now(request)
        assert "short name" not in str(refused.value)
    assert not Release.objects.filter(minor=1).exists()
    assert not Campaign.objects.get(pk=world.campaign.pk).labels_hidden


def test_what_one_release_hides_no_other_shows(world: World, researcher: User) -> None:
    hidden = freeze_now(request_for(world, hidden_percent=50))
    other = freeze_now(request_for(world, slug="other"))
    assert other.has_hidden_labels
    kept = set(hidden.pairs.filter(hides_label=True).values_list("pair", flat=True))
    assert kept
    assert not other.pairs.filter(pair__in=kept, shows_label=True).exists()


def test_a_campaign_over_hidden_pairs_hides_its_labels_too(world: World, researcher: User) -> None:
    judge = User.objects.create_user("newcomer", role=Role.ANNOTATOR)
    pairs = copies_of(world, 30)
    running = campaign_about(pairs, judge, "running")
    freeze_now(request_for(world, hidden_percent=50))
    assert Campaign.objects.get(pk=running.pk).labels_hidden
    later = campaign_about(pairs, judge, "later")
    assert later.labels_hidden
    assert Campaign.objects.get(pk=later.pk).labels_hidden


def noted() -> tuple[set[Any], set[Any], set[Any]]:
    """What is noted of the pairs of releases, of who asks them and of whose labels are hidden."""
    return (
        set(ReleasedPair.objects.values_list("release", "pair", "shows_label", "hides_label")),
        set(AskedRelease.objects.values_list("release", "campaign")),
        set(Campaign.objects.filter(labels_hidden=True).values_list("pk")),
    )


def test_an_upgrade_notes_the_same_of_the_releases_there_are(world: World) -> None:
    judge = User.objects.create_user("newcomer", role=Role.ANNOTATOR)
    campaign_about(copies_of(world, 30), judge)
    release = freeze_now(request_for(world, hidden_percent=50))
    before = noted()
    assert all(before)
    Campaign.objects.exclude(releases=release).update(labels_hidden=False)
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")  # no table is changed while one is due
    call_command("migrate", "releases", "0001", verbosity=0)
    call_command("migrate", "releases", verbosity=0)
    assert noted() == before


def test_researchers_see_no_sum_of_labels_that_are_hidden(world: World, researcher: User) -> None:
    chief = User.objects.create_user("chief", role=Role.ADMIN)
    people = [(researcher, False), (chief, True)]
    freeze_now(request_for(world, hidden_percent=50))
    pool, slug = world.pool, world.campaign.slug
    told = {}
    for person, is_admin in people:
        assert (compute_yields(pool, 5.0, person) is not None) == is_admin
        browser = signed_in(person)
        told[is_admin] = (
            'id="yields"' in browser.get(f"/pools/{pool.slug}/figures/").content.decode()
        )
        _, token = create_token(owner=person, name="x", scopes=allowed_scopes(person), days=1)
        reply = Client().get(
            f"/api/v1/campaigns/{slug}/agreement", headers={"Authorization": f"Bearer {token}"}
        )
        assert reply.status_code == (200 if is_admin else 404)
    assert told == {True: True, False: False}
