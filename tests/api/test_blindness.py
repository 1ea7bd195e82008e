"""The API from a judge's side: whatever a judge holds, every route is shut, and tells nothing."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from accounts.models import AccessToken, Scope, User
from accounts.tokens.secret import new_token, token_digest
from api.root import api
from evaluation.models import Result
from tests.releases.conditional_world import add_templates, add_triplets
from tests.worlds import SPECS, World

NOTHING = "00000000-0000-4000-8000-000000000000"


def token_of(person: User) -> str:
    """A token with every scope, which no page and no service would make for a judge."""
    token, prefix = new_token()
    AccessToken.objects.create(
        owner=person,
        name="forced",
        prefix=prefix,
        digest=token_digest(token),
        scopes=Scope.values,
        expires_at=timezone.now() + timedelta(days=1),
    )
    return token


def addresses(world: World, result: Result) -> Iterator[tuple[str, str]]:
    """Every method and address of the document, with things that exist and one that does not."""
    slugs = [world.catalog.slug, world.pool.slug, world.campaign.slug, "none"]
    slugs += ["focus-set", "focus", "triplets"]
    uids = [str(world.images[0].uid), str(result.uid), NOTHING]
    values = {"slug": slugs, "uid": uids, "size": ["thumb", "original"]}
    values |= {"number": ["1", "99"], "version": ["1.0.0"], "path": ["MANIFEST.json"]}
    for path, operations in api.get_openapi_schema()["paths"].items():
        names = [name for name in values if f"{{{name}}}" in path]
        assert path.count("{") == len(names), f"{path} has a part that this crawl does not fill"
        for chosen in itertools.product(*(values[name] for name in names)):
            for method in operations:
                yield method, path.format(**dict(zip(names, chosen, strict=True)))


@pytest.mark.parametrize("way", ["session", "token"])
def test_every_route_is_shut_for_a_judge_and_tells_nothing(world, result, way):
    add_templates(world)  # this judge verifies them, too
    add_triplets(world)
    judge = world.judges[0]
    client = Client()
    headers = {}
    if way == "session":
        client.force_login(judge, backend="django.contrib.auth.backends.ModelBackend")
    else:
        headers = {"Authorization": f"Bearer {token_of(judge)}"}
    answers = set()
    for method, address in addresses(world, result):
        data = {"file": SimpleUploadedFile("a.csv", b"x"), "name": "a"} if method == "post" else {}
        reply = getattr(client, method)(address, data, headers=headers)
        assert reply.status_code in {401, 403}, (method, address, reply.status_code)
        answers.add(reply.content)
        for word in (
            *SPECS,
            world.pool.slug,
            world.catalog.slug,
            world.campaign.slug,
            judge.username,
            "Focus",
            "Worker-77",
        ):
            assert word not in reply.content.decode(), address
    assert len(answers) <= 2, "what exists and what does not look alike"


def test_the_document_itself_names_nothing_of_the_site(world, client):
    told = client.get("/api/v1/openapi.json").content.decode()
    for word in (*SPECS, world.pool.slug, world.catalog.slug, world.campaign.slug):
        assert word not in told
