"""The demo, made by its own main job and frozen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.conf import settings

from accounts.models import Role, User
from annotation.models import Campaign
from annotation.services import close_campaign
from demo import main_job
from demo.drawing.catalog import render_catalog
from releases.freeze.requests import FreezeRequest
from releases.models import Release
from releases.storage import releases_folder
from tests.worlds import freeze_now

DESCRIPTORS = ("descriptor:hog-shape", "descriptor:colour-histogram", "descriptor:lbp-texture")


def make_demo_release(monkeypatch: pytest.MonkeyPatch, n_products: int | None) -> Release:
    """Return a release of the demo.

    Args:
        monkeypatch: makes the demo smaller.
        n_products: of a small demo, without networks, of two small pictures each; None: the whole.
    """
    shutil.rmtree(releases_folder(), ignore_errors=True)
    pictures = Path(settings.DATA_DIR) / "demo"
    shutil.rmtree(pictures, ignore_errors=True)
    if n_products is not None:
        render_catalog(pictures / "catalog", n_products=n_products, views_per_product=2, size=96)
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
