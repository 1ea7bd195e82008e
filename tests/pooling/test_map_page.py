"""The page of a catalog's map: for readers, drawn for admins, of this catalog alone."""

from __future__ import annotations

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Role, User
from catalog.maps.services import MAP_TASK, draw_map, map_subject
from catalog.models import CatalogMap, EmbeddingSet, EmbeddingShard
from jobs.models import Job
from jobs.services import run_here
from tests.catalogs import add_images, catalog_of, embedding_set_of, pool_over
from tests.clients import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def embedded() -> EmbeddingSet:
    catalog = catalog_of(["a", "b", "c"])
    made: EmbeddingSet = embedding_set_of(catalog, np.eye(3, dtype=np.float32))
    return made


def person(role: Role) -> User:
    return User.objects.create_user(role.value, password="x", role=role)


def drawn(embedded: EmbeddingSet) -> CatalogMap:
    run_here(
        task=MAP_TASK, subject=map_subject(embedded), title="Map", arguments={},
        work=lambda progress: draw_map(set_id=embedded.pk, progress=progress),
    )  # fmt: skip
    return CatalogMap.objects.get()


def test_an_admin_has_a_map_drawn_once(embedded: EmbeddingSet):
    admin = signed_in(person(Role.ADMIN))
    address = reverse("pooling:draw_map", args=["eggs", embedded.pk])
    page = reverse("pooling:map", args=["eggs"])
    assert "Draw the map" in admin.get(page).content.decode()
    for _ in range(2):
        shown = admin.post(address, follow=True).content.decode()
        assert "Waiting for a worker" in shown
    assert "already queued or running" in shown
    assert Job.objects.filter(task=MAP_TASK).count() == 1
    Job.objects.update(state="failed", error="The disk is full.")
    assert "The disk is full." in admin.get(page).content.decode()
    reader = signed_in(person(Role.RESEARCHER)).get(page).content.decode()
    assert "An admin can have it drawn." in reader
    EmbeddingSet.objects.update(is_complete=False)
    assert admin.post(address).status_code == 404
    assert "No embeddings yet" in admin.get(page).content.decode()


def test_readers_look_and_judges_do_not(embedded: EmbeddingSet):
    made, other = drawn(embedded), catalog_of(["d"], slug="other")
    pool = pool_over(embedded.catalog, [{0: {1: 0.9}}, {0: {2: 0.7}}])
    elsewhere = pool_over(other, [{0: {0: 0.1}}, {0: {0: 0.2}}], slug="elsewhere")
    files = [
        reverse("pooling:map_points", args=["eggs", made.pk]),
        reverse("pooling:map_pairs", args=["eggs", made.pk, pool.slug]),
    ]
    page = reverse("pooling:map", args=["eggs"]) + "?pool=mine"
    reader, judge = (signed_in(person(role)) for role in (Role.RESEARCHER, Role.ANNOTATOR))
    shown = reader.get(page).content.decode()
    assert f'data-map="{made.pk}"' in shown
    assert files[1] in shown
    assert "on this map;" not in shown
    add_images(embedded.catalog, ["late"])
    with CaptureQueriesContext(connection) as asked:
        shown = reader.get(page).content.decode()
    assert "3 of 4 images are on this map; the others had no vector" in shown
    assert not any('"points"' in one["sql"] for one in asked)
    assert [len(reader.get(file).content) for file in files] == [60, 32]
    for address in [page, *files]:
        assert judge.get(address).status_code in {403, 404}
    draw = reverse("pooling:draw_map", args=["eggs", embedded.pk])
    assert {one.post(draw).status_code for one in (reader, judge)} <= {403, 404}
    assert not Job.objects.filter(state="queued").exists()
    for name, args in [
        ("map_points", ["other", made.pk]), ("map_points", ["eggs", made.pk + 1]),
        ("map_pairs", ["eggs", made.pk, elsewhere.slug]), ("map_pairs", ["eggs", made.pk, "none"]),
    ]:  # fmt: skip
        assert reader.get(reverse(f"pooling:{name}", args=args)).status_code == 404
    EmbeddingShard.objects.update(sha256="0" * 64)
    assert "have changed since the map was drawn" in reader.get(page).content.decode()


def test_the_catalog_s_page_takes_areas_and_nearness(embedded: EmbeddingSet):
    made, reader = drawn(embedded), signed_in(person(Role.RESEARCHER))
    page, image = reverse("catalog:catalog", args=["eggs"]), embedded.catalog.images.all()[0]
    shown = reader.get(page, {"map": str(made.pk), "area": "0,0,1,1"}).content.decode()
    assert "selected on the map" in shown
    shown = reader.get(page, {"like": str(image.uid), "by": str(embedded.pk)}).content.decode()
    assert "1–2 of 2" in shown
    assert "Nearest to this image first" in shown
    shown = reader.get(page, {"map": str(made.pk + 1), "area": "0,0,1,1"}).content.decode()
    assert "was drawn again" in shown
