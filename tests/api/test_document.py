"""The OpenAPI document holds: schemathesis asks what it allows, and what it does not.

Each route is asked with what the document generates, and again with things that exist, so that
the answers are real ones. No answer is a server error, and every answer is one of the document's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, seed, settings
from schemathesis import checks

from api.limits import Limit
from config.wsgi import application
from evaluation.models import Result
from tests.clients import Caller
from tests.kept import kept
from tests.releases.conditional_world import add_templates, add_triplets
from tests.worlds import World, evaluated_world

SCHEMA = schemathesis.openapi.from_wsgi("/api/v1/openapi.json", application)
# A cursor that nobody gave out is refused though any text may be one; and what is put into a
# refused address below makes a good one of it.
NOT_ASKED = [
    checks.positive_data_acceptance,
    checks.negative_data_rejection,
    checks.missing_required_header,
]
SETS = {"/template-sets/": "focus-set", "/triplet-sets/": "triplets"}
PLENTY = Limit("requests", 10**9, 60)


@pytest.fixture(autouse=True)
def no_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of requests in a minute are what this test is about."""
    monkeypatch.setattr("api.access.REQUESTS", PLENTY)
    monkeypatch.setattr("api.routes.runs.UPLOADS", PLENTY)


@pytest.fixture(autouse=True)
def one_connection(world: World) -> Iterator[None]:
    """Keep requests in the test's transaction, as Django's own test client does.

    That connects the signals again after each request of its own, so the world must
    be there before.
    """
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@kept
def world_with_sets() -> World:
    world = evaluated_world()
    add_templates(world)
    add_triplets(world)
    return world


@pytest.fixture
def world(db: None) -> World:
    """A judged world, templates that a panel verified, and triplets with answers."""
    return world_with_sets()


def existing(path: str, world: World, result_uid: str) -> dict[str, str]:
    """What exists for the parts of an address."""
    slugs = {"/pools/": world.pool.slug, "/catalogs/": world.catalog.slug, **SETS}
    return {
        "slug": next((slugs[part] for part in slugs if part in path), world.campaign.slug),
        "uid": str(world.images[0].uid) if "/images/" in path else result_uid,
        "size": "thumb",
        "number": "1",
        "version": "1.0.0",
        "path": "MANIFEST.json",
    }


@SCHEMA.parametrize()
@seed(20261121)
@settings(
    max_examples=4,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)
def test_every_answer_is_one_of_the_document_and_none_a_server_error(
    case: schemathesis.Case[Any], world: World, result: Result, admin: Caller
) -> None:
    case.call_and_validate(headers=admin.headers, excluded_checks=NOT_ASKED)
    if case.path_parameters:
        names = existing(case.path, world, str(result.uid))
        case.path_parameters = {name: names[name] for name in case.path_parameters}
        case.call_and_validate(headers=admin.headers, excluded_checks=NOT_ASKED)
