"""A table that nobody can read alone is shown first; metadata alone corrects what is here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from accounts.models import User
from catalog.models import Catalog, Image
from catalog.tasks import import_catalog
from jobs.models import Job, JobState
from jobs.services import JobError
from tests.pictures import jpeg, write_folder

pytestmark = pytest.mark.django_db
Importer = Callable[..., Job]
FILES = {"x/a.jpg": jpeg(1), "x/b.jpg": jpeg(2), "y/c.jpg": jpeg(3)}
SHEET = "path,product_id,colour\nx/a.jpg,P1,red\nx/b.jpg,P2,blue\ny/c.jpg,P3,red\n"


@pytest.fixture
def client(admin: User) -> Client:
    client = Client()
    client.force_login(admin)
    return client


@pytest.fixture
def shoes(import_files: Importer) -> Catalog:
    import_files(FILES, SHEET)
    return Catalog.objects.get(slug="shoes")


def table(content: str, name: str = "m.csv") -> dict[str, Any]:
    return {"metadata": SimpleUploadedFile(name, content.encode())}


def work() -> dict[str, Any]:
    job = Job.objects.latest("pk")
    import_catalog(str(job.uid))
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED, job.error
    return dict(job.result)


def products() -> dict[str, str]:
    return dict(Image.objects.values_list("source_files__path", "product_id"))


def test_metadata_alone_correct_a_table_without_the_pictures(client: Client, shoes: Catalog):
    sent = client.post("/catalogs/shoes/import/", table("file;sku;farbe\nb.jpg;P1;grün\n"))
    assert sent["Location"] == "/catalogs/shoes/"
    result = work()
    assert (result["images"], result["updated"], result["broken"]) == (1, 1, [])
    assert products() == {"x/a.jpg": "P1", "x/b.jpg": "P1", "y/c.jpg": "P3"}
    assert Image.objects.get(source_files__path="x/b.jpg").attributes == {"farbe": "grün"}
    assert "m.csv" in client.get("/catalogs/shoes/report/").text


def test_rows_of_no_image_are_named_and_the_others_used(client: Client, shoes: Catalog):
    client.post("/catalogs/shoes/import/", table("path,product_id\nb.jpg,P9\ngone.jpg,P8\n"))
    result = work()
    assert [entry["file"] for entry in result["broken"]] == ["gone.jpg"]
    assert products()["x/b.jpg"] == "P9"


def test_an_empty_catalog_still_needs_pictures(client: Client):
    from catalog.services import create_catalog

    create_catalog(slug="shoes", name="Shoes")
    answer = client.post("/catalogs/shoes/import/", table(SHEET))
    assert "Choose a zip file" in answer.text


def test_a_person_says_what_the_columns_are(client: Client, shoes: Catalog):
    unknown = "first,second,third\nb.jpg,P7,x\nc.jpg,P8,y\n"
    sent = client.post("/catalogs/shoes/import/", table(unknown))
    assert sent["Location"] == "/catalogs/shoes/import/check/"
    assert Job.objects.filter(state=JobState.QUEUED).count() == 0
    page = client.get("/catalogs/shoes/import/check/").text
    for words in ("first", "second", "third", "b.jpg", "P8", "separated by commas"):
        assert words in page
    wrong = {"column_0": "attribute", "column_1": "product", "column_2": "attribute"}
    assert "which one column names the file" in client.post(sent["Location"], wrong).text
    chosen = {"column_0": "file", "column_1": "product", "column_2": "left out"}
    assert client.post(sent["Location"], chosen)["Location"] == "/catalogs/shoes/"
    assert work()["table"]["columns"] == [
        ["first", "file"],
        ["second", "product"],
        ["third", "ignored, as asked"],
    ]
    assert products() == {"x/a.jpg": "P1", "x/b.jpg": "P7", "y/c.jpg": "P8"}
    assert Image.objects.get(source_files__path="x/b.jpg").attributes == {}
    assert client.get(sent["Location"])["Location"] == "/catalogs/shoes/import/"


def test_a_table_is_shown_first_where_somebody_asks(client: Client, shoes: Catalog):
    sent = client.post("/catalogs/shoes/import/", {**table(SHEET), "check_columns": "on"})
    assert sent["Location"] == "/catalogs/shoes/import/check/"
    page = client.get(sent["Location"]).text
    assert "merge or split" not in page


MERGED = "path,product_id\nx/a.jpg,7\nx/b.jpg,007\n"


def test_values_that_merge_products_need_a_yes_on_the_page(client: Client, shoes: Catalog):
    sent = client.post("/catalogs/shoes/import/", table(MERGED))
    assert sent["Location"] == "/catalogs/shoes/import/check/"
    page = client.get(sent["Location"]).text
    assert "007" in page
    columns = {"column_0": "file", "column_1": "product"}
    assert "Correct the table" in client.post(sent["Location"], columns).text
    assert products()["x/a.jpg"] == "P1"
    accepted = client.post(sent["Location"], {**columns, "accept_findings": "on"})
    assert accepted["Location"] == "/catalogs/shoes/"
    work()
    assert (products()["x/a.jpg"], products()["x/b.jpg"]) == ("7", "007")
    at_once = client.post("/catalogs/shoes/import/", {**table(MERGED), "accept_findings": "on"})
    assert at_once["Location"] == "/catalogs/shoes/"


def test_values_that_merge_products_need_a_yes_of_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    folder = write_folder(tmp_path / "p", FILES)
    (tmp_path / "m.csv").write_text(MERGED)
    command = ["import_catalog", "shoes", str(folder), "--metadata", str(tmp_path / "m.csv")]
    with pytest.raises(CommandError, match="--accept-findings"):
        call_command(*command)
    assert not Catalog.objects.exists()
    call_command(*command, "--accept-findings")
    assert products()["x/b.jpg"] == "007"
    (tmp_path / "n.csv").write_text("a,b\nb.jpg,P5\n")
    alone = ["import_catalog", "shoes", "--metadata", str(tmp_path / "n.csv"), "--json"]
    with pytest.raises(CommandError, match="--path-column"):
        call_command(*alone)
    capsys.readouterr()
    call_command(*alone, "--path-column", "a", "--product-column", "b")
    assert json.loads(capsys.readouterr().out)["updated"] == 1
    assert products()["x/b.jpg"] == "P5"


def test_values_that_merge_products_inside_the_folder_need_a_yes(import_files: Importer):
    with pytest.raises(JobError, match="accept_findings"):
        import_files({**FILES, "metadata.csv": MERGED.encode()})
    assert not Image.objects.exists()


def test_tables_inside_a_folder_are_read_in_any_form(import_files: Importer):
    lines = b'{"file_name": "x/a.jpg", "sku": "P4"}\n'
    result = import_files({**FILES, "metadata.jsonl": lines}).result
    assert result["metadata"] == "metadata.jsonl"
    assert products()["x/a.jpg"] == "P4"
    broken = import_files({**FILES, "metadata.xlsx": b"PK\x03\x04 cut"}, slug="other", folder="o")
    assert broken.result["metadata"] == ""
    assert [entry["file"] for entry in broken.result["warnings"]] == ["metadata.xlsx"]
