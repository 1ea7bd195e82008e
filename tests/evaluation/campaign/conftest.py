"""A judged campaign without pictures: images, vectors of two models, a pool, three judges."""

from __future__ import annotations

import pytest

from accounts.models import Role, User
from tests.kept import kept
from tests.worlds import World, build_world, judge_world

kept_world = kept(build_world)
kept_judged_world = kept(lambda: judge_world(build_world()))


@pytest.fixture
def open_world(db: None) -> World:
    """A world in which nothing is judged yet."""
    return kept_world()


@pytest.fixture
def judged_world(db: None) -> World:
    """A world with every pair judged."""
    return kept_judged_world()


@pytest.fixture
def researcher(db: None) -> User:
    """Somebody who reads results."""
    return User.objects.create_user("reader", role=Role.RESEARCHER)
