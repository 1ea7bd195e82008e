"""Catalogs are filled through the API by admins: pictures, a table, or a table alone."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import Role, Scope
from catalog.models import Catalog, Image
from catalog.services import create_catalog
from catalog.tasks import import_catalog
from jobs.models import Job
from tests.pictures import jpeg

PATH = "/catalogs/shoes/imports"


@pytest.fixture(autouse=True)
def shoes(db: None, settings, tmp_path) -> Catalog:
    settings.DATA_DIR = tmp_path / "data"
    return create_catalog(slug="shoes", name="Shoes")


def pictures() -> SimpleUploadedFile:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("a.jpg", jpeg(1))
        archive.writestr("b.jpg", jpeg(2))
    return SimpleUploadedFile("photos.zip", content.getvalue())


def table(content: str) -> SimpleUploadedFile:
    return SimpleUploadedFile("m.csv", content.encode())


def work() -> None:
    import_catalog(str(Job.objects.latest("pk").uid))


def products() -> dict[str, str]:
    return dict(Image.objects.values_list("source_files__path", "product_id"))


def test_pictures_and_a_table_go_in_and_a_table_alone_corrects(admin):
    assert admin.get("/catalogs/shoes/import-report") == {"job": None, "report": {}}
    sheet = table("Datei;Artikel\na.jpg;P1\nb.jpg;P2\n")
    told = admin.post(PATH, {"upload": pictures(), "metadata": sheet}, 202)
    assert told["state"] == "queued"
    work()
    assert products() == {"a.jpg": "P1", "b.jpg": "P2"}
    report = admin.get("/catalogs/shoes/import-report")["report"]
    assert (report["images"], report["table"]["used"]) == (2, 2)
    admin.post(PATH, {"metadata": table("file,sku\nb.jpg,P1\n")}, 202)
    work()
    assert products() == {"a.jpg": "P1", "b.jpg": "P1"}


def test_columns_and_values_that_need_a_person_are_refused_with_what_to_say(admin):
    sheet = "x,y\na.jpg,7\nb.jpg,007\n"
    told = admin.post(PATH, {"upload": pictures(), "metadata": table(sheet)}, 422)
    assert told["code"] == "invalid_import"
    assert "--product-column" in told["details"][0]["message"]
    said = {"path_column": "x", "product_column": "y"}
    told = admin.post(PATH, {**said, "upload": pictures(), "metadata": table(sheet)}, 422)
    assert "accept_findings" in told["details"][0]["message"]
    assert not Job.objects.exists()
    sent = {**said, "accept_findings": "true", "upload": pictures(), "metadata": table(sheet)}
    admin.post(PATH, sent, 202)
    work()
    assert products() == {"a.jpg": "7", "b.jpg": "007"}


@pytest.mark.parametrize(
    ("sent", "where"),
    [
        ({}, "form.upload"),
        ({"upload": table("no zip")}, "form.upload"),
        ({"layout": "none such"}, "form.layout"),
        ({"where": "no equals sign"}, "form.where"),
        ({"names_encoding": "klingon"}, "form.names_encoding"),
    ],
)
def test_a_wrong_field_is_named(admin, sent, where):
    told = admin.post(
        PATH, sent if not sent or "upload" in sent else {"upload": pictures(), **sent}, 422
    )
    assert where in {detail["where"] for detail in told["details"]}


def test_only_admins_with_the_scope_fill_catalogs(caller):
    assert caller(Role.RESEARCHER).post(PATH, {"upload": pictures()}, 403)["code"] == "forbidden"
    reader = caller(Role.ADMIN, Scope.READ)
    assert reader.post(PATH, {"upload": pictures()}, 403)["code"] == "missing_scope"


def test_a_second_import_waits_for_the_first(admin):
    admin.post(PATH, {"upload": pictures()}, 202)
    assert admin.post(PATH, {"upload": pictures()}, 409)["code"] == "conflict"
