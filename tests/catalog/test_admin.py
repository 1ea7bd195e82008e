"""The back office shows catalogs, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from accounts.models import User
from catalog.models import Catalog, Image, NearDuplicate
from jobs.models import Job
from tests.pictures import encoded, jpeg, picture

pytestmark = pytest.mark.django_db


def test_an_admin_looks_and_a_researcher_does_not(
    admin: User, researcher: User, import_files: Callable[..., Job]
):
    one = picture(1, (200, 160))
    import_files({"a.jpg": encoded(one), "b.png": encoded(one, "PNG"), "c.jpg": jpeg(3)})
    admin.is_staff = True
    admin.save()
    client, other = Client(), Client()
    client.force_login(admin)
    other.force_login(researcher)
    image, pair = Image.objects.earliest("id"), NearDuplicate.objects.get()
    for path in (
        "catalog/",
        "image/",
        f"image/?q={image.uid}",
        "image/?q=not-a-uid",
        "nearduplicate/",
        "embeddingset/",
        f"catalog/{Catalog.objects.get().pk}/change/",
        f"image/{image.pk}/change/",
        f"nearduplicate/{pair.pk}/change/",
    ):
        page = client.get(f"/admin/catalog/{path}")
        assert page.status_code == 200, path
        assert 'name="_save"' not in page.text
        assert other.get(f"/admin/catalog/{path}").status_code == 302, path
    assert "a.jpg" in client.get(f"/admin/catalog/image/{image.pk}/change/").text
    assert client.post(f"/admin/catalog/image/{image.pk}/delete/").status_code == 403
    assert client.get("/admin/catalog/image/add/").status_code == 403
