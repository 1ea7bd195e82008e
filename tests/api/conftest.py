"""A judged world, people with tokens, and a client that speaks JSON."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from accounts.models import Role, Scope, User
from accounts.tokens.services import create_token, scopes_of
from evaluation.models import Result
from evaluation.results.work import evaluate_campaign
from jobs.services import run_here
from tests.evaluation.campaign.conftest import World, build_world, judge_world

API = "/api/v1"


@dataclass
class Caller:
    """Asks the API for a person."""

    person: User
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        reply = Client().get(f"{API}{path}", query, headers=self.headers)
        assert reply.status_code == status, (path, reply.status_code, reply.content[:500])
        return reply.json()

    def post(self, path: str, data: dict[str, object], status: int) -> Any:
        reply = Client().post(f"{API}{path}", data, headers=self.headers)
        assert reply.status_code == status, (path, reply.status_code, reply.content[:500])
        return reply.json()


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
            owner=person, name="test", scopes=scopes or scopes_of(person), days=1
        )
        return Caller(person, token)

    return make


@pytest.fixture
def admin(caller: Callable[..., Caller]) -> Caller:
    return caller(Role.ADMIN)


@pytest.fixture
def researcher(caller: Callable[..., Caller]) -> Caller:
    return caller(Role.RESEARCHER)


def evaluated_world() -> World:
    """Make a judged world with a result."""
    world = judge_world(build_world())
    run_here(
        task="test",
        subject=world.campaign.slug,
        title="test",
        arguments={},
        work=lambda progress: evaluate_campaign(world.campaign, progress, n_bootstraps=100),
    )
    return world


@pytest.fixture
def world(db: None) -> World:
    """A judged and evaluated world."""
    return evaluated_world()


@pytest.fixture
def result(world: World) -> Result:
    return Result.objects.get(campaign=world.campaign)
