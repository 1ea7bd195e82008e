"""Pages of sets, campaigns and triplets: admins and researchers see them, and what fails."""

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import Role
from annotation.models import Campaign
from conditional.campaigns.services import ask_panel
from conditional.models import TemplateSet, TripletSet
from conditional.template_sets.queries import catalog_rows
from conditional.template_sets.services import BUILD_TASK
from jobs.models import Job

pytestmark = pytest.mark.django_db
BUILD = {
    "name": "New set",
    "task": "change_attribute",
    "same": "kind",
    "ask": "colour",
    "filters": "",
    "n_templates": "20",
    "per_condition": "50",
    "per_reference": "5",
    "seed": "3",
}


@pytest.fixture
def client_of(people):
    def make(role):
        client = Client()
        [person] = people(1, role)
        client.force_login(person, backend="django.contrib.auth.backends.ModelBackend")
        return client

    return make


@pytest.fixture
def admin(client_of):
    return client_of(Role.ADMIN)


@pytest.fixture
def campaign(template_set, people):
    return ask_panel(asked_set=template_set, name="Check", panel=people(2))


@pytest.mark.parametrize("role", [Role.ADMIN, Role.RESEARCHER])
def test_readers_see_sets_with_their_pictures_and_campaigns(client_of, campaign, role):
    client = client_of(role)
    slug = campaign.about.template_set.slug
    assert b"Other colours" in client.get(reverse("conditional:sets")).content
    page = client.get(reverse("conditional:set", args=[slug]), {"page": 2}).content.decode()
    assert page.count("<article") == 10
    assert "lacks the condition" in page
    red = client.get(reverse("conditional:set", args=[slug]), {"condition": "red"})
    assert "“red”" in red.content.decode()
    assert "“blue”" not in red.content.decode()
    seen = client.get(reverse("conditional:results", args=["check"]))
    assert seen.status_code == 200
    names = [seat.annotator.username for seat in campaign.panel.select_related("annotator")]
    assert not any(name in seen.content.decode() for name in names)


def test_researchers_change_nothing(client_of, campaign):
    client = client_of(Role.RESEARCHER)
    slug = campaign.about.template_set.slug
    assert client.get(reverse("conditional:new")).status_code == 403
    for name, arguments in (
        ("new", []),
        ("preview", []),
        ("delete", [slug]),
        ("new_template_campaign", [slug]),
        ("keep", ["check"]),
    ):
        assert client.post(reverse(f"conditional:{name}", args=arguments)).status_code == 403, name


def test_a_build_is_previewed_and_queued(admin, catalog):
    given = {**BUILD, "catalog": catalog.pk}
    preview = admin.post(reverse("conditional:preview"), given).content.decode()
    assert preview.count("<article") == 4
    names = preview.partition("</p>")[0]
    assert ('id="attributes" hx-swap-oob' in names, "colour, kind, view" in names) == (True, True)
    assert not TemplateSet.objects.exists()
    assert admin.get(reverse("conditional:new")).status_code == 200
    assert admin.post(reverse("conditional:new"), given).status_code == 302
    assert Job.objects.get(task=BUILD_TASK).arguments["name"] == "New set"
    again = admin.post(reverse("conditional:new"), given)
    assert again.status_code == 200
    assert "errorlist" in again.content.decode()


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"ask": "size"}, "ask", "No image has an attribute 'size'"),
        ({"same": "kind\nsize"}, "same", "No image has an attribute 'size'"),
        ({"filters": "view=side"}, "catalog", "fits the filters"),
        ({"types": "size"}, "types", "no attribute type 'size'; known: colour"),
    ],
)
def test_a_recipe_that_no_image_answers_is_refused_at_its_field(
    admin, catalog, changes, field, words
):
    given = {**BUILD, "catalog": catalog.pk, **changes}
    form = admin.post(reverse("conditional:new"), given).context["form"]
    assert words in form.errors[field][0]
    assert not Job.objects.filter(task=BUILD_TASK).exists()
    preview = admin.post(reverse("conditional:preview"), given).content.decode()
    assert words in preview.replace("&#x27;", "'")
    assert "A preview tries" not in preview, "that is said where nothing was found"


def test_the_page_asks_for_scenes_and_types_as_the_command_does(admin, catalog):
    given = {
        **BUILD, "catalog": catalog.pk, "task": "focus_object", "ask": "kind\ncolour\nview",
    }  # fmt: skip
    preview = admin.post(reverse("conditional:preview"), given).content.decode()
    assert "no image has 8 categories, the most is 3" in preview.lower()
    fewer = given | {"min_categories": 3, "min_shared": 2, "types": "colour"}
    assert "<article" in admin.post(reverse("conditional:preview"), fewer).content.decode()
    assert admin.post(reverse("conditional:new"), fewer).status_code == 302
    recipe = Job.objects.get(task=BUILD_TASK).arguments["recipe"]
    assert (recipe["min_categories"], recipe["min_shared"]) == (3, 2)
    assert recipe["types"] == ["colour"]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ask": "size"}, "No image has an attribute"),
        ({"filters": "view"}, "once the form is filled"),
        ({"catalog": ""}, "Choose a catalog and attributes"),
        ({"n_templates": "0"}, "once the form is filled"),
    ],
)
def test_the_preview_says_what_is_wrong_or_waits(admin, catalog, changes, words):
    given = {**BUILD, "catalog": catalog.pk, **changes}
    reply = admin.post(reverse("conditional:preview"), given).content.decode()
    assert words in reply
    assert "<article" not in reply


def test_the_preview_of_a_large_catalog_looks_at_a_part_of_it_and_says_so(
    admin, catalog, monkeypatch
):
    monkeypatch.setattr("conditional.template_sets.services.PREVIEW_IMAGES", 100)
    given = {**BUILD, "catalog": catalog.pk}
    first = admin.post(reverse("conditional:preview"), given).content.decode()
    assert first.count("<article") == 4
    assert "Drawn from 100 of the catalog’s 120 images" in first
    assert admin.post(reverse("conditional:preview"), given).content.decode() == first
    monkeypatch.setattr("conditional.template_sets.services.PREVIEW_IMAGES", 9)
    none = admin.post(reverse("conditional:preview"), given).content.decode()
    assert "references of 9 of 120 images; the set tries all." in none
    monkeypatch.setattr("conditional.template_sets.services.PREVIEW_IMAGES", 120)
    assert "The first 4 of what this draws" in (
        admin.post(reverse("conditional:preview"), given).content.decode()
    )


def test_a_preview_that_finds_nothing_gives_up(admin, catalog, monkeypatch):
    monkeypatch.setattr("conditional.template_sets.services.PREVIEW_TRIES", 7)
    given = {**BUILD, "catalog": catalog.pk, "filters": "kind=bag"}  # no other kind: no template
    reply = admin.post(reverse("conditional:preview"), given).content.decode()
    assert "7 × too few images" in reply
    assert "A preview tries up to 7 references; the set tries all." in reply


def test_the_part_of_a_catalog_is_the_same_each_time_and_keeps_to_filters(catalog):
    few = catalog_rows(catalog, {"kind": ["bag"]}, 25)
    assert len(few) == 25
    assert {row.attributes["kind"] for row in few} == {"bag"}
    assert few == catalog_rows(catalog, {"kind": ["bag"]}, 25)
    assert [int(row.image) for row in few] == sorted(int(row.image) for row in few)
    assert len(catalog_rows(catalog, None, 500)) == 120


def test_a_campaign_is_drafted_and_its_set_kept(admin, template_set, people):
    url = reverse("conditional:new_template_campaign", args=[template_set.slug])
    assert admin.get(url).status_code == 200
    panel = [person.pk for person in people(3)]
    given = {"name": "Mine", "panel": panel, "n_questions": "4", "seed": "0", "is_draft": "on"}
    assert admin.post(url, {**given, "n_questions": "99"}).status_code == 200
    assert admin.post(url, given).status_code == 302
    mine = Campaign.objects.get()
    assert (mine.state, mine.n_questions, mine.panel.count()) == ("draft", 4, 3)
    admin.post(reverse("conditional:delete", args=[template_set.slug]))
    assert TemplateSet.objects.exists()


def test_a_set_is_exported_whole_or_as_far_as_it_passed(client_of, campaign):
    client = client_of(Role.RESEARCHER)
    url = reverse("conditional:export", args=[campaign.about.template_set.slug])
    reply = client.get(url)
    assert reply["Content-Disposition"] == 'attachment; filename="change_attribute.json"'
    entries = reply.json()
    assert len(entries) == 30
    uids = {
        str(uid) for uid in campaign.about.template_set.catalog.images.values_list("uid", flat=1)
    }
    assert {entries[0]["target"]["image_id"], entries[0]["reference"]["image_id"]} <= uids
    assert len(entries[0]["gallery"]) == 14
    assert client.get(url, {"campaign": "check"}).json() == []
    assert client.get(url, {"campaign": "other"}).status_code == 404


def test_a_set_that_nobody_judges_is_deleted(admin, template_set):
    assert admin.get(reverse("conditional:delete", args=[template_set.slug])).status_code == 405
    admin.post(reverse("conditional:delete", args=[template_set.slug]))
    assert not TemplateSet.objects.exists()


def test_triplets_are_shown_with_what_people_said(admin, catalog):
    first, second, third = catalog.images.all()[:3]
    figures = {"n_triplets": 1, "n_questions": 1, "ceiling": 1.0, "n_human_ties": 0}
    found = TripletSet.objects.create(
        slug="t", name="Some triplets", catalog=catalog, figures=figures
    )
    found.triplets.create(position=0, anchor=first, closer=second, farther=third)
    page = admin.get(reverse("conditional:triplets", args=["t"])).content.decode()
    assert "Some triplets" in page
    assert page.count("<figcaption>") == 3
    assert "Some triplets" in admin.get(reverse("conditional:sets")).content.decode()


def test_a_judge_finds_the_campaign_at_home(campaign):
    client = Client()
    judge = campaign.panel.select_related("annotator").first().annotator
    client.force_login(judge, backend="django.contrib.auth.backends.ModelBackend")
    home = client.get(reverse("annotation:home")).content.decode()
    assert "0 of 30 answered" in home
    assert reverse("annotation:judge", args=[campaign.uid]) in home
