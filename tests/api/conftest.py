"""A judged world, people with tokens, and a client that speaks JSON."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest
from django.core.cache import cache

from accounts.models import Role, Scope, User
from accounts.tokens.services import allowed_scopes, create_token
from evaluation.models import Result
from tests.clients import Caller
from tests.kept import kept
from tests.worlds import World, evaluated_world

kept_world = kept(evaluated_world)


@pytest.fixture(autouse=True)
def fresh_limits() -> Iterator[None]:
    """Requests of another test count for nothing."""
    cache.clear()
    yield
    cache.clear()


@pytest.fixture
def caller(db: None) -> Callable[..., Caller]:
    """Make a person with a token for everything that their role may, or for `scopes`."""

    def make(role: Role, *scopes: Scope) -> Caller:
        person = User.objects.create_user(f"{role}-{uuid.uuid4().hex[:8]}", role=role)
        _, token = create_token(
            owner=person, name="test", scopes=scopes or allowed_scopes(person), days=1
        )
        return Caller(person, token)

    return make


@pytest.fixture
def admin(caller: Callable[..., Caller]) -> Caller:
    return caller(Role.ADMIN)


@pytest.fixture
def researcher(caller: Callable[..., Caller]) -> Caller:
    return caller(Role.RESEARCHER)


@pytest.fixture
def world(db: None) -> World:
    """A judged and evaluated world."""
    return kept_world()


@pytest.fixture
def result(world: World) -> Result:
    return Result.objects.get(campaign=world.campaign)
