"""A campaign that asks what is similar in one notion: kept in labels, unread by judges."""

from __future__ import annotations

import json

import pytest
from django.urls import reverse

from accounts.models import Role, User
from accounts.tokens.services import allowed_scopes, create_token
from annotation.errors import CampaignError
from annotation.forms import SettingsForm
from annotation.gold_forms import GoldFromCampaignForm
from annotation.models import Campaign
from annotation.notions import asked_notion
from annotation.services.settings import change_settings
from catalog.models import EmbeddingSet
from catalog.vectors.projections import store_projection
from evaluation.exports import export_pieces
from jobs.services import JobError
from lookalike.core.errors import Refused
from lookalike.learning.projection import Layers
from lookalike.release.verify import verify
from pooling.campaign.services import open_pool_campaign
from releases.importing.release import import_any
from releases.storage import archive_path, files_folder
from tests.clients import Caller, signed_in
from tests.releases.two_campaigns import add_campaign, freeze_both
from tests.worlds import SPECS, World, freeze_now, request_for

PROMPTS = ["a red thing", "a blue thing"]
SPEC = "learned:shop#colour"


@pytest.fixture
def asked(world: World) -> World:
    """The world, whose campaign asks about colour."""
    layers = Layers(6, (), {"method": "test", "prompts": PROMPTS})
    parent = EmbeddingSet.objects.get(spec=SPECS[0])
    store_projection(
        slug="shop", head="colour", name="Colour", layers=layers, parent=parent, seen_image_ids=[]
    )
    notion = asked_notion("", SPEC)
    Campaign.objects.filter(pk=world.campaign.pk).update(
        notion=notion.name, notion_model=notion.model, notion_prompts="\n".join(notion.prompts)
    )
    world.campaign.refresh_from_db()
    return world


def test_a_release_keeps_the_notion_and_an_import_brings_it_back(asked: World) -> None:
    assert asked.campaign.notion == "colour"
    release = freeze_now(request_for(asked, is_public=True))
    told = json.loads((files_folder(release) / "release.json").read_text())
    assert told["campaigns"][0]["notion"] == {
        "name": "colour", "model": SPEC, "prompts": PROMPTS,
    }  # fmt: skip
    sheet = (files_folder(release) / "datasheet.md").read_text()
    assert "asked what is similar in colour" in sheet
    assert "a red thing; a blue thing" in sheet
    assert verify(archive_path(release)).is_right
    page = (
        signed_in(asked.judges[0])
        .get(reverse("releases:release", args=[release.slug, release.version]))
        .content.decode()
    )
    assert "Labels say what is similar in <strong>colour</strong>" in page
    reader = User.objects.create_user("reader", role=Role.RESEARCHER)
    _, token = create_token(owner=reader, name="t", scopes=allowed_scopes(reader), days=1)
    said = Caller(reader, token).get(f"/campaigns/{asked.campaign.slug}")
    assert (said["notion"], said["notion_model"]) == ("colour", SPEC)
    assert said["notion_prompts"] == PROMPTS
    import_any(source=archive_path(release), slug="again", catalog=asked.catalog)
    again = Campaign.objects.get(slug="again")
    assert again.asked_notion == asked.campaign.asked_notion
    lines = b"".join(export_pieces(asked.campaign, "csv")).decode().splitlines()
    assert lines[0].endswith(",judges,notion")
    assert all(line.endswith(",colour") for line in lines[1:])


def test_a_campaign_without_a_notion_is_frozen_as_before(world: World) -> None:
    told = json.loads((files_folder(freeze_now(request_for(world))) / "release.json").read_text())
    assert not any("notion" in name for name in told["campaigns"][0])


def test_labels_of_two_notions_are_in_no_release_together(asked: World) -> None:
    add_campaign(asked)
    with pytest.raises(JobError, match="what is similar as a whole and in colour; release"):
        freeze_both(asked)


def test_a_judge_reads_the_notion_and_nothing_of_its_model(asked: World) -> None:
    judge = signed_in(asked.judges[0])
    Campaign.objects.filter(pk=asked.campaign.pk).update(state="open")
    home = judge.get(reverse("annotation:home")).content.decode()
    page = judge.get(reverse("annotation:judge", args=[asked.campaign.uid])).content.decode()
    assert "similar in colour" in home
    assert "Similar in <strong>colour</strong>?" in page
    for name in ("next", "recent", "guidelines"):
        page += judge.get(reverse(f"annotation:{name}", args=[asked.campaign.uid])).content.decode()
    assert "learned:" not in home + page
    assert "a red thing" not in home + page


def test_the_notion_is_fixed_once_judges_answer_and_gold_comes_from_its_own(asked: World) -> None:
    form = SettingsForm(instance=asked.campaign)
    assert form.fields["notion"].disabled
    with pytest.raises(CampaignError, match="Similar in what: cannot be changed"):
        change_settings(campaign=asked.campaign, by=None, notion="cut")
    other = add_campaign(asked)
    source = GoldFromCampaignForm(campaign=other).fields["source"]
    assert asked.campaign not in source.queryset  # type: ignore[attr-defined]


def test_a_notion_that_is_none_is_refused(asked: World) -> None:
    with pytest.raises(Refused, match="there is learned:shop#colour") as caught:
        asked_notion("cut", "learned:shop#cut")
    assert caught.value.field == "notion_model"
    with pytest.raises(Refused, match="no notion is called"):
        asked_notion("cut", SPECS[0])
    with pytest.raises(CampaignError, match="81 characters; at most 80"):
        asked_notion("c" * 81)
    assert asked_notion("in  the\ncut").name == "in the cut"


def test_the_form_begins_with_the_notion_that_made_the_pool(asked: World) -> None:
    admin = signed_in(User.objects.create_user("ada", role=Role.ADMIN))
    address = reverse("pooling:new_campaign", args=[asked.pool.slug])
    assert "notion" not in admin.get(address).context["form"].initial
    asked.pool.sources.filter(position=0).update(spec=SPEC)
    form = admin.get(address).context["form"]
    assert form.initial["notion"] == "colour"
    given = {"name": "By colour", "panel": [judge.pk for judge in asked.judges], "seed": 0,
             "tie_rule": "negative", "asking_order": "shuffled", "notion": "colour",
             "notion_model": SPEC}  # fmt: skip
    assert admin.post(address, given).status_code == 302
    made = Campaign.objects.get(slug="by-colour")
    assert made.asked_notion == ("colour", SPEC, tuple(PROMPTS))
    wrong = admin.post(address, {**given, "name": "C", "notion_model": "learned:shop#cut"})
    assert "Select a valid choice" in wrong.content.decode()
    shown = admin.get(reverse("annotation:campaign", args=["by-colour"])).content.decode()
    assert "similar in colour" in shown
    with pytest.raises(Refused, match="no notion is called"):
        open_pool_campaign(
            pool=asked.pool, name="D", panel=asked.judges, notion_model="learned:shop#cut"
        )
