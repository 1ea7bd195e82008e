"""A judged campaign, frozen. Freezing has its own connection, so nothing is rolled back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from accounts.models import Role, User
from annotation.services.campaigns import close_campaign
from evaluation.results.assessment import assess
from evaluation.results.services import store_result
from jobs.services import run_here
from lookalike.core.progress import SILENT
from releases.freeze.freeze import build
from releases.freeze.requests import FreezeRequest
from releases.models import Release
from releases.services import freeze, freeze_job
from releases.site.queries import find_release_of
from releases.storage import files_of, releases_folder
from tests.evaluation.campaign.conftest import World, build_world, judge_world


def request_for(world: World, version: str = "1.0.0", **changes: object) -> FreezeRequest:
    """Ask for a release of a world's campaign."""
    given: dict[str, object] = {
        "slug": "small",
        "title": "Small benchmark",
        "campaigns": (world.campaign.slug,),
        "date": "2026-11-21",
        "authors": ("The curators",),
        "description": "Thirty images, judged by three.",
        **changes,
    }
    return FreezeRequest(version=version, **given)  # type: ignore[arg-type]


def freeze_now(request: FreezeRequest) -> Release:
    """Freeze as the command does."""
    run_here(**freeze_job(request), work=lambda progress: freeze(request, progress))
    release = find_release_of(request)
    assert release is not None
    return release


def build_now(request: FreezeRequest, target: Path) -> Path:
    """Build without listing."""
    build(request, target, SILENT)
    return target / "files"


@pytest.fixture
def world(transactional_db: None) -> World:
    """A judged, evaluated and closed campaign, and no release yet."""
    shutil.rmtree(releases_folder(), ignore_errors=True)
    return close_world(judge_world(build_world()))


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the eight queries of the world be hidden; the rule itself has tests of its own."""
    monkeypatch.setattr("releases.freeze.holdout.MIN_HIDDEN", 1)


def close_world(made: World) -> World:
    """Evaluate and close a judged campaign."""
    found = assess(made.campaign, n_bootstraps=20)
    store_result(campaign=made.campaign, assessment=found, job=None)
    close_campaign(campaign=made.campaign, by=None, reason="All pairs are judged.")
    return made


@pytest.fixture
def release(world: World) -> Release:
    """Version 1.0.0, public."""
    return freeze_now(request_for(world, is_public=True))


@pytest.fixture
def folder(release: Release) -> Path:
    """The files of version 1.0.0."""
    return files_of(release)


@pytest.fixture
def researcher(transactional_db: None) -> User:
    """Somebody who submits runs."""
    return User.objects.create_user("rhea", role=Role.RESEARCHER)
