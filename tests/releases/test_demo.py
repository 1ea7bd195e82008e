"""A release of the demo: whoever computes its numbers comes to those of its board."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from accounts.models import Role, User
from annotation.models import Campaign
from annotation.services import close_campaign
from demo import main_job
from demo.drawing.catalog import render_catalog
from releases.freeze.requests import FreezeRequest
from releases.models import Release
from releases.publishing.zenodo import metadata_of
from releases.storage import releases_folder
from tests.releases.every_way import check_every_way
from tests.worlds import freeze_now

DESCRIPTORS = ("descriptor:hog-shape", "descriptor:colour-histogram", "descriptor:lbp-texture")


WHOLE = pytest.param("whole", marks=[pytest.mark.daily, pytest.mark.timeout(30 * 60)])


@pytest.fixture(params=["small", WHOLE])
def demo(
    request: pytest.FixtureRequest, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> Release:
    """The demo by its own main job, frozen; the small one has fewer pictures and no networks."""
    shutil.rmtree(releases_folder(), ignore_errors=True)
    pictures = Path(settings.DATA_DIR) / "demo"
    shutil.rmtree(pictures, ignore_errors=True)
    if request.param == "small":
        render_catalog(pictures / "catalog", n_products=24, views_per_product=2, size=96)
        monkeypatch.setattr(main_job, "MODELS", DESCRIPTORS)
        monkeypatch.setattr(main_job, "N_QUERIES", 30)
    judge = User.objects.create_user("judge", role=Role.ANNOTATOR)
    made = main_job.MainJob(say=lambda _: None, on_progress=lambda *_: None).run([judge])
    shutil.rmtree(pictures)
    campaign = Campaign.objects.get(slug=made["simulated_campaign"])
    close_campaign(campaign=campaign, by=None, reason="All pairs are judged.")
    asked = FreezeRequest(
        slug="demo",
        title="Demo",
        version="1.0.0",
        campaigns=(campaign.slug,),
        date="2026-11-21",
        with_images=True,
    )
    return freeze_now(asked)


def test_command_python_page_api_hand_and_ir_measures_agree_on_the_demo_and_call_it_simulated(
    demo: Release, client: Client, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    specs = (main_job.MODELS[0], main_job.MODELS[-1])
    check_every_way(demo, specs, client=client, capsys=capsys, cache=tmp_path / "cache")
    assert "judgements are simulated" in metadata_of(demo)["description"]
    sent = client.get("/releases/demo/1.0.0/leaderboard.md")
    assert "demo-1.0.0-simulated-leaderboard.md" in sent["Content-Disposition"]
    assert "judgements are simulated" in sent.content.decode()
