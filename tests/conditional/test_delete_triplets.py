"""Triplets that no panel judges and no release holds are deleted; others are kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from accounts.models import Role, User
from catalog.models import Catalog
from conditional.campaigns.services import ask_panel
from conditional.models import Triplet, TripletSet
from releases.models import Release

pytestmark = pytest.mark.django_db
DELETE = "/templates/triplets/small/delete"


@pytest.fixture
def small(catalog: Catalog, tmp_path: Any) -> TripletSet:
    path = tmp_path / "t.csv"
    path.write_text("anchor,closer,farther\n0,1,2\n3,4,5\n")
    call_command("import_triplets", "Small", path, "--catalog", "shop", "--json")
    return TripletSet.objects.get()


@pytest.fixture
def client_of(people: Callable[..., list[User]]) -> Callable[[Role], Client]:
    def make(role: Role) -> Client:
        client = Client()
        client.force_login(people(1, role)[0])
        return client

    return make


def test_a_set_is_deleted_with_its_answers_after_a_question(
    client_of: Callable[[Role], Client], small: TripletSet
) -> None:
    admin = client_of(Role.ADMIN)
    page = admin.get("/templates/triplets/small/").text
    assert 'data-confirm="Delete the triplets “Small”' in page
    assert "is deleted" in admin.post(DELETE, follow=True).text
    assert not TripletSet.objects.exists()
    assert not Triplet.objects.exists()


def test_a_set_that_was_put_to_a_panel_is_kept(
    client_of: Callable[[Role], Client],
    small: TripletSet,
    people: Callable[..., list[User]],
) -> None:
    ask_panel(asked_set=small, name="Check", panel=people(2))
    admin = client_of(Role.ADMIN)
    assert DELETE not in admin.get("/templates/triplets/small/").text
    assert "was put to a panel" in admin.post(DELETE, follow=True).text
    assert TripletSet.objects.exists()


def test_a_set_that_a_release_holds_is_kept(
    client_of: Callable[[Role], Client], small: TripletSet
) -> None:
    Release.objects.create(
        slug="bench",
        major=1,
        minor=0,
        patch=0,
        archive_bytes=1,
        info={"triplet_sets": [{"slug": "small", "n": 2}]},
    )
    assert "is held by" in client_of(Role.ADMIN).post(DELETE, follow=True).text
    assert TripletSet.objects.exists()
    Release.objects.update(info={"triplet_sets": [{"slug": "smaller"}]})
    client_of(Role.ADMIN).post(DELETE)
    assert not TripletSet.objects.exists()


def test_only_admins_delete(client_of: Callable[[Role], Client], small: TripletSet) -> None:
    researcher = client_of(Role.RESEARCHER)
    assert researcher.post(DELETE).status_code == 403
    assert DELETE not in researcher.get("/templates/triplets/small/").text
    assert client_of(Role.ADMIN).get(DELETE).status_code == 405
