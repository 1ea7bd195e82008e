"""A judged campaign, frozen. Freezing has its own connection, so nothing is rolled back."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from django.core.cache import cache

from accounts.models import Role, User
from releases.models import Release
from releases.storage import files_folder, releases_folder
from tests.kept import kept
from tests.worlds import (
    World,
    build_world,
    close_world,
    freeze_now,
    judge_world,
    request_for,
)

kept_release = kept(lambda world: freeze_now(request_for(world, is_public=True)), releases_folder)
kept_world = kept(lambda: close_world(judge_world(build_world())))


@pytest.fixture(autouse=True)
def fresh_limits() -> None:
    """Requests of another test count for nothing."""
    cache.clear()


@pytest.fixture
def world(transactional_db: None) -> World:
    """A judged, evaluated and closed campaign, and no release yet."""
    shutil.rmtree(releases_folder(), ignore_errors=True)
    return kept_world()


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the eight queries of the world be hidden; the rule itself has tests of its own."""
    monkeypatch.setattr("releases.freeze.hidden_labels.MIN_HIDDEN", 1)


@pytest.fixture
def release(world: World) -> Release:
    """Version 1.0.0, public."""
    return kept_release(world)


@pytest.fixture
def folder(release: Release) -> Path:
    """The files of version 1.0.0."""
    return files_folder(release)


@pytest.fixture
def researcher(transactional_db: None) -> User:
    """Somebody who submits runs."""
    return User.objects.create_user("rhea", role=Role.RESEARCHER)
