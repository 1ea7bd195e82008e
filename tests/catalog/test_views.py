"""Catalog pages: for admins and researchers only, changes for admins only, bad input told."""

from __future__ import annotations

import io
import os
import shutil
import time
import uuid
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import transaction
from django.test import Client
from django.utils.module_loading import import_string

from accounts.models import User
from audit.models import Entry
from catalog.importing import uploads
from catalog.models import Catalog, EmbeddingSet, EmbeddingShard, Image, SourceFile
from catalog.services import create_catalog, delete_catalog
from catalog.tasks import drop_uploads, import_catalog
from catalog.vectors.embeddings import shard_path, write_shard
from jobs.models import Job, JobState
from pooling.models import Pool
from tests.pictures import jpeg, picture, png, write_folder
from tests.published_sets import write_published_set

pytestmark = pytest.mark.django_db
Importer = Callable[..., Job]
XSS = "<script>alert(1)</script>"


def client_of(user: User | None) -> Client:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client


@pytest.fixture
def shoes(import_files: Importer) -> Catalog:
    files = {
        "a.jpg": jpeg(1, (300, 200)),
        "b.png": png(2),
        "copy.jpg": jpeg(1, (300, 200)),
        "close.png": _png_of(1, (300, 200)),
        "bad.jpg": b"",
    }
    sheet = (
        "path,product_id,color,odd\n"
        f"a.jpg,P/1,red,{XSS}\nb.png,P/1,blue,\nclose.png,Q&2,red,\n=gone.jpg,Z,red,\n"
    )
    import_files(files, sheet)
    return Catalog.objects.get(slug="shoes")


def _png_of(seed: int, size: tuple[int, int]) -> bytes:
    buffer = io.BytesIO()
    picture(seed, size).save(buffer, "PNG")
    return buffer.getvalue()


@pytest.fixture
def embedded(shoes: Catalog) -> EmbeddingSet:
    embedding_set = EmbeddingSet.objects.create(
        catalog=shoes, spec="descriptor:x", fingerprint="f", dim=2, is_complete=True
    )
    ids = list(shoes.images.order_by("id").values_list("id", flat=True))
    vectors = np.array([[1, 0], [1, 1], [0, 1]], np.float32)
    EmbeddingShard.objects.create(
        embedding_set=embedding_set,
        position=0,
        image_ids=ids,
        sha256=write_shard(vectors),
        dtype="float32",
    )
    return embedding_set


def pages_of(catalog: Catalog, embedding_set: EmbeddingSet) -> Iterator[tuple[str, bool]]:
    """Every address, and whether it is for admins only."""
    image = catalog.images.earliest("id")
    base = f"/catalogs/{catalog.slug}/"
    for path in ("", "report/", "report.csv", "duplicates/", "duplicates/?kind=exact"):
        yield base + path, False
    yield base + "product/?id=P/1", False
    yield base + f"images/{image.uid}/", False
    yield base + f"images/{image.uid}/neighbours/{embedding_set.pk}/", False
    for size in ("thumb", "view", "original"):
        yield f"/images/{image.uid}/{size}", False
    yield "/catalogs/", False
    for path in (base + "import/", base + "delete/", "/catalogs/new/"):
        yield path, True


@pytest.mark.django_db(transaction=True)  # closing an answer ends a request, as in a server
def test_each_page_opens_for_those_it_is_for(
    shoes: Catalog, embedded: EmbeddingSet, admin: User, researcher: User, annotator: User
):
    for url, for_admins in pages_of(shoes, embedded):
        page = client_of(admin).get(url)
        assert page.status_code == 200, url
        page.close()
        page = client_of(researcher).get(url)
        assert page.status_code == (403 if for_admins else 200), url
        page.close()
        assert client_of(annotator).get(url).status_code == 403, url
        stranger = client_of(None).get(url)
        assert stranger.status_code == 302, url
        assert "/accounts/login/" in stranger["Location"]


def test_what_changes_nothing_takes_no_post(
    shoes: Catalog, embedded: EmbeddingSet, admin: User, researcher: User
):
    for url, for_admins in pages_of(shoes, embedded):
        if for_admins:
            assert client_of(researcher).post(url).status_code == 403, url
            strict = Client(enforce_csrf_checks=True)
            strict.force_login(admin)
            assert strict.post(url).status_code == 403, url
        else:
            assert client_of(admin).post(url).status_code == 405, url


def test_what_does_not_exist_is_404(shoes: Catalog, embedded: EmbeddingSet, admin: User):
    client = client_of(admin)
    image = shoes.images.earliest("id")
    other = create_catalog(slug="other", name="Other")
    nobody = uuid.uuid4()
    for url in (
        "/catalogs/nope/",
        "/catalogs/nope/report/",
        f"/catalogs/shoes/images/{nobody}/",
        f"/catalogs/other/images/{image.uid}/",  # of another catalog
        f"/catalogs/other/images/{image.uid}/neighbours/{embedded.pk}/",
        f"/catalogs/shoes/images/{image.uid}/neighbours/{embedded.pk + 1}/",
        "/catalogs/shoes/product/",
        "/catalogs/shoes/product/?id=nope",
        "/catalogs/shoes/product/?id=%00",
        f"/images/{nobody}/thumb",
        f"/images/{image.uid}/huge",
        f"/images/{image.uid}/..%2f..%2fsecret-key",
        f"/images/{image.pk}/thumb",
        "/images/..%2f..%2fetc%2fpasswd/thumb",
    ):
        assert client.get(url).status_code == 404, url
    assert other.images.count() == 0


@pytest.mark.parametrize(
    "query",
    [
        "a.color__startswith=r",
        "a.catalog__slug=shoes",
        "catalog__created_at__gt=1",
        "order_by=id;drop",
        "a.color=%00",
        "q=%00",
        "q=%25_%27",
        "after=1&before=x",
        f"after={uuid.UUID(int=0)}",
        "a.=x&a.a.a=1",
        "page=-1",
    ],
)
def test_odd_addresses_of_a_catalog_do_no_harm(shoes: Catalog, admin: User, query: str):
    assert client_of(admin).get(f"/catalogs/shoes/?{query}").status_code == 200
    assert client_of(admin).get(f"/catalogs/shoes/duplicates/?{query}").status_code == 200


def test_filters_narrow_the_grid_and_unknown_ones_are_told(shoes: Catalog, researcher: User):
    client = client_of(researcher)
    everything = client.get("/catalogs/shoes/").content.decode()
    assert "1–3 of 3" in everything
    red = client.get("/catalogs/shoes/?a.color=red").content.decode()
    assert "1–2 of 2" in red
    assert "Drop the condition color: red" in red
    found = client.get("/catalogs/shoes/?q=q%26").content.decode()
    assert "1–1 of 1" in found
    nothing = client.get("/catalogs/shoes/?a.color=gold").content.decode()
    assert "Nothing matches" in nothing
    unknown = client.get("/catalogs/shoes/?a.size=XL").content.decode()
    assert "no attribute “size”" in unknown
    assert "1–3 of 3" in unknown


def test_texts_of_others_are_escaped_everywhere(
    shoes: Catalog, embedded: EmbeddingSet, admin: User
):
    Catalog.objects.update(name=XSS, description=XSS)
    Image.objects.update(product_id=XSS, attributes={XSS: XSS, "color": XSS})
    SourceFile.objects.filter(path="a.jpg").update(path=XSS)
    urls = [url for url, _ in pages_of(shoes, embedded) if "csv" not in url]
    product = "/catalogs/shoes/product/?id=" + XSS.replace("/", "%2f")
    for url in [product, *urls]:
        if not url.startswith("/images/") and "?id=P" not in url:
            assert XSS not in client_of(admin).get(url).content.decode(), url
    page = client_of(admin).get("/catalogs/shoes/", {"q": XSS, f"a.{XSS}": XSS}).content.decode()
    assert XSS not in page


def test_an_image_tells_what_is_known(shoes: Catalog, embedded: EmbeddingSet, researcher: User):
    image = Image.objects.get(source_files__path="a.jpg")
    page = client_of(researcher).get(f"/catalogs/shoes/images/{image.uid}/").content.decode()
    for words in ("P/1", "?id=P%2F1", "copy.jpg", image.sha256, "a.color=red", "Looks alike"):
        assert words in page
    near = client_of(researcher).get(
        f"/catalogs/shoes/images/{image.uid}/neighbours/{embedded.pk}/"
    )
    assert "0.707" in near.content.decode()
    shard_path(EmbeddingShard.objects.get().sha256).unlink()
    for merged in shard_path("x" * 64).parents[1].glob("merged/*"):
        merged.unlink()
    broken = client_of(researcher).get(
        f"/catalogs/shoes/images/{image.uid}/neighbours/{embedded.pk}/"
    )
    assert "are missing" in broken.content.decode()


def test_the_report_and_its_download(shoes: Catalog, researcher: User):
    page = client_of(researcher).get("/catalogs/shoes/report/").content.decode()
    assert 'Import report <span class="count">2</span>' in page
    for words in ("bad.jpg", "0 bytes", "=gone.jpg", "no such file"):
        assert words in page
    sheet = client_of(researcher).get("/catalogs/shoes/report.csv")
    assert sheet["Content-Disposition"] == 'attachment; filename="import-report.csv"'
    lines = sheet.content.decode().splitlines()
    assert lines[0] == "kind,file,reason"
    assert any(line.startswith("refused,'=gone.jpg,") for line in lines)  # no formula
    assert any(line.startswith("hard to compare,b.png,") for line in lines)
    assert len(lines) == 4
    assert Entry.objects.get(action="exported").details["what"] == "import report"
    create_catalog(slug="empty", name="Empty")
    assert "No import has ended" in client_of(researcher).get("/catalogs/empty/report/").text


def test_duplicates_stand_side_by_side(shoes: Catalog, researcher: User):
    near = client_of(researcher).get("/catalogs/shoes/duplicates/").text
    assert "different products" in near
    exact = client_of(researcher).get("/catalogs/shoes/duplicates/?kind=exact").text
    assert "a.jpg" in exact
    assert "copy.jpg" in exact
    assert "b.png" not in exact


def test_the_empty_list_offers_the_import_to_admins_only(admin: User, researcher: User):
    assert "/catalogs/new/" in client_of(admin).get("/catalogs/").text
    page = client_of(researcher).get("/catalogs/").text
    assert "No catalog yet" in page
    assert "/catalogs/new/" not in page


# ---- new catalogs ----
def zip_bytes(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def upload(files: dict[str, bytes] | bytes, name: str = "photos.zip") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, zip_bytes(files) if isinstance(files, dict) else files)


def sheet(text: str | bytes = "path,product_id\na.jpg,P\n") -> SimpleUploadedFile:
    return SimpleUploadedFile("meta.csv", text.encode() if isinstance(text, str) else text)


def test_a_zip_and_metadata_become_a_catalog(admin: User, data_dir: Path):
    client = client_of(admin)
    form = {"name": "Été 26", "upload": upload({"a.jpg": jpeg()}), "metadata": sheet()}
    answer = client.post("/catalogs/new/", form)
    assert answer["Location"] == "/catalogs/ete-26/"
    job = Job.objects.get()
    assert (job.state, job.owner) == (JobState.QUEUED, admin)
    assert "photos.zip" in job.title
    assert "Waiting for a worker" in client.get("/catalogs/ete-26/").text
    kept = list((data_dir / "uploads").iterdir())
    assert len(kept) == 2
    assert not [path for path in kept if "photos" in path.name or "meta.csv" in path.name]
    for _ in range(2):  # delivered twice
        import_catalog(str(job.uid))
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert Image.objects.get().product_id == "P"
    assert list((data_dir / "uploads").iterdir()) == []


def test_the_script_of_the_form_is_told_where_to_go(admin: User):
    form = {"name": "Shoes", "upload": upload({"a.jpg": jpeg()})}
    answer = client_of(admin).post("/catalogs/new/", form, headers={"HX-Request": "true"})
    assert answer["HX-Redirect"] == "/catalogs/shoes/"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": ""}, "This field is required"),
        ({"upload": None}, "Choose a zip file"),
        ({"upload": upload(b"no zip")}, "photos.zip is not a zip file"),
        ({"metadata": sheet(b"\x1f\x8b\x08")}, "a gzip archive"),
        ({"metadata": sheet("path,product_id,x,x\n")}, "two columns named"),
        ({"names_encoding": "klingon"}, "no encoding that is known"),
        ({"slug": "taken"}, "There is a catalog “taken” already"),
        ({"slug": "new"}, "the address of a page"),
        ({"slug": "a b"}, "Enter a valid “slug”"),
        ({"name": "!!!"}, "Give a short name"),
        ({"slug": "s" * 81}, "at most 80 characters"),
    ],
)
def test_a_wrong_form_is_shown_again_with_the_reason(
    changes: dict[str, Any], words: str, admin: User, data_dir: Path
):
    create_catalog(slug="taken", name="Taken")
    form: dict[str, Any] = {"name": "Fresh", "upload": upload({"a.jpg": jpeg()}), **changes}
    answer = client_of(admin).post(
        "/catalogs/new/", {key: value for key, value in form.items() if value is not None}
    )
    assert answer.status_code == 200
    assert words in answer.text.replace("&#x27;", "'")
    assert Catalog.objects.count() == 1
    assert Job.objects.count() == 0
    assert not (data_dir / "uploads").exists()


def test_an_upload_over_the_limit_is_refused_and_not_kept(
    admin: User, data_dir: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(uploads, "MAX_BYTES", 100)
    form = {"name": "Fresh", "upload": upload({"a.jpg": jpeg()})}
    assert "larger than" in client_of(admin).post("/catalogs/new/", form).text
    assert Catalog.objects.count() == 0
    assert list((data_dir / "uploads").iterdir()) == []


def test_a_large_form_of_somebody_who_may_not_upload_is_not_read(
    admin: User, researcher: User, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("catalog.importing.upload_handlers.SMALL", 100)
    form = {"login": "x", "file": upload({"a.jpg": jpeg()})}
    for user, url in ((None, "/accounts/login/"), (researcher, "/catalogs/new/")):
        client = Client(enforce_csrf_checks=True)  # the check reads the form before the view
        if user is not None:
            client.force_login(user)
        client.cookies["csrftoken"] = "a" * 32
        assert client.post(url, form).status_code == 400
    assert client_of(admin).post("/catalogs/new/", form).status_code == 200


def test_nobody_fills_the_queue(admin: User):
    client = client_of(admin)
    for number in range(3):
        form = {"name": f"Number {number}", "upload": upload({"a.jpg": jpeg()})}
        assert client.post("/catalogs/new/", form).status_code == 302
    form = {"name": "Number 4", "upload": upload({"a.jpg": jpeg()})}
    assert "You have 3 imports" in client.post("/catalogs/new/", form).text
    assert Catalog.objects.count() == 3


def test_a_second_import_into_a_catalog_waits_for_the_first(shoes: Catalog, admin: User):
    client = client_of(admin)
    form = {"upload": upload({"x.jpg": jpeg(50)})}
    assert client.post("/catalogs/shoes/import/", form)["Location"] == "/catalogs/shoes/"
    again = {"upload": upload({"y.jpg": jpeg(51)})}
    assert "already queued or running" in client.post("/catalogs/shoes/import/", again).text
    import_catalog(str(Job.objects.get(state=JobState.QUEUED).uid))
    assert shoes.images.count() == 4


def test_an_import_that_refuses_everything_says_so(admin: User):
    client = client_of(admin)
    client.post("/catalogs/new/", {"name": "Bad", "upload": upload({"a.jpg": b""})})
    import_catalog(str(Job.objects.get().uid))
    assert "Nothing was imported" in client.get("/catalogs/bad/report/").text
    assert "No image yet" in client.get("/catalogs/bad/").text


def test_a_failed_import_is_shown_with_its_reason(admin: User, data_dir: Path):
    client = client_of(admin)
    client.post("/catalogs/new/", {"name": "Gone", "upload": upload({"a.jpg": jpeg()})})
    for path in (data_dir / "uploads").iterdir():
        path.unlink()
    import_catalog(str(Job.objects.get().uid))
    page = client.get("/catalogs/gone/").text
    assert "The upload photos.zip is gone. Upload it again." in page
    assert "Try again" in page


def test_researchers_see_no_panel_that_they_could_not_poll(
    shoes: Catalog, admin: User, researcher: User
):
    client_of(admin).post("/catalogs/shoes/import/", {"upload": upload({"x.jpg": jpeg(5)})})
    page = client_of(researcher).get("/catalogs/shoes/").text
    assert "is under way" in page
    assert "hx-get" not in page


# ---- folders of the server ----
@pytest.fixture
def offered(settings: Any, tmp_path: Path) -> Path:
    root = write_folder(tmp_path / "offered", {"autumn/new/a.jpg": jpeg(1), "b.jpg": jpeg(2)})
    write_folder(tmp_path / "secret", {"s.jpg": jpeg(3)})
    (root / "out").symlink_to(tmp_path / "secret")
    settings.IMPORT_FOLDERS = [root]
    return root


def test_an_offered_folder_is_imported(offered: Path, admin: User):
    form = {"name": "Autumn", "folder": str(offered / "autumn"), "inside": "new"}
    assert client_of(admin).post("/catalogs/new/", form).status_code == 302
    import_catalog(str(Job.objects.get().uid))
    assert SourceFile.objects.get().path == "a.jpg"


@pytest.mark.parametrize("inside", ["..", "../secret", "autumn/../../secret", "/etc", "out", "no"])
def test_what_lies_outside_the_offered_folders_does_not_exist(
    inside: str, offered: Path, admin: User
):
    form = {"name": "Secret", "folder": str(offered), "inside": inside}
    page = client_of(admin).post("/catalogs/new/", form).text
    assert "There is no such folder on the server." in page
    assert Job.objects.count() == 0


def test_a_folder_that_is_not_offered_is_no_choice(offered: Path, admin: User, tmp_path: Path):
    for folder in (tmp_path / "secret", "/etc", ""):
        form = {"name": "Secret", "folder": str(folder)}
        assert client_of(admin).post("/catalogs/new/", form).status_code == 200
    both = {"name": "x", "folder": str(offered), "upload": upload({"a.jpg": jpeg()})}
    assert "not both" in client_of(admin).post("/catalogs/new/", both).text
    assert Job.objects.count() == 0


def test_a_folder_swapped_for_a_link_before_the_job_runs_is_refused(
    offered: Path, admin: User, tmp_path: Path
):
    form = {"name": "Autumn", "folder": str(offered / "autumn")}
    client_of(admin).post("/catalogs/new/", form)
    (offered / "autumn").rename(tmp_path / "away")
    (offered / "autumn").symlink_to(tmp_path / "secret")
    import_catalog(str(Job.objects.get().uid))
    assert "no such folder" in Job.objects.get().error
    assert Image.objects.count() == 0


def test_without_offered_folders_the_form_has_no_such_field(settings: Any, admin: User):
    settings.IMPORT_FOLDERS = []
    page = client_of(admin).get("/catalogs/new/").text
    assert 'name="folder"' not in page


# ---- deleting ----
def test_a_catalog_is_deleted_when_its_short_name_is_typed(
    shoes: Catalog, embedded: EmbeddingSet, admin: User, data_dir: Path, import_files: Importer
):
    import_files({"a.jpg": jpeg(1, (300, 200))}, slug="other", folder="another")
    client = client_of(admin)
    assert "That is not “shoes”" in client.post("/catalogs/shoes/delete/", {"slug": "Shoes"}).text
    assert Catalog.objects.count() == 2
    answer = client.post("/catalogs/shoes/delete/", {"slug": "shoes"}, follow=True)
    assert "is deleted" in answer.text
    assert Catalog.objects.get().slug == "other"
    assert EmbeddingSet.objects.count() == 0
    kept = {path.name[:64] for path in (data_dir / "blobs").rglob("*") if path.is_file()}
    assert kept == set(
        Image.objects.values_list("sha256", flat=True)
    )  # shared with the other catalog


def test_a_catalog_that_people_work_with_is_not_deleted(shoes: Catalog, admin: User):
    pool = Pool.objects.create(slug="p", name="P", catalog=shoes, k=1)
    pool.queries.create(image=shoes.images.earliest("id"), position=0)
    client = client_of(admin)
    assert "1 pool" in client.get("/catalogs/shoes/delete/").text
    client.post("/catalogs/shoes/delete/", {"slug": "shoes"})
    assert Catalog.objects.count() == 1
    assert shoes.images.count() == 3


def test_deleting_cancels_an_import_and_drops_its_upload(
    shoes: Catalog, admin: User, data_dir: Path, django_capture_on_commit_callbacks: Any
):
    client = client_of(admin)
    client.post("/catalogs/shoes/import/", {"upload": upload({"x.jpg": jpeg(5)})})
    with django_capture_on_commit_callbacks(execute=True):
        client.post("/catalogs/shoes/delete/", {"slug": "shoes"})
    assert Job.objects.latest("id").state == JobState.CANCELLED
    assert list((data_dir / "uploads").iterdir()) == []


def test_a_deletion_that_fails_keeps_the_upload(
    shoes: Catalog, admin: User, data_dir: Path, django_capture_on_commit_callbacks: Any
):
    client_of(admin).post("/catalogs/shoes/import/", {"upload": upload({"x.jpg": jpeg(5)})})
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        delete_catalog(catalog=shoes)
        transaction.set_rollback(True)
    assert Job.objects.latest("id").state == JobState.QUEUED
    assert len(list((data_dir / "uploads").iterdir())) == 1


def test_uploads_of_one_person_are_limited_and_the_page_says_so(admin: User, settings: Any):
    settings.UPLOADS_AN_HOUR = 2
    cache.clear()  # counts outlive a run
    client = client_of(admin)
    for number in range(2):
        form = {"name": f"Number {number}", "upload": upload({"a.jpg": jpeg()})}
        assert client.post("/catalogs/new/", form).status_code == 302
    refused = client.post("/catalogs/new/", {"name": "Three", "upload": upload({"a.jpg": jpeg()})})
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 2 * 3600
    assert "At most 2 uploads an hour" in refused.text
    assert Catalog.objects.count() == 2
    assert client.post("/catalogs/new/", {"name": "None"}).status_code == 200  # without a file


def test_uploads_stop_before_the_disk_is_full(admin: User, data_dir: Path, settings: Any):
    settings.LEAST_FREE_MIB = 10**9
    form = {"name": "Fresh", "upload": upload({"a.jpg": jpeg()})}
    page = client_of(admin).post("/catalogs/new/", form)
    assert "disk is nearly full" in page.text
    assert Catalog.objects.count() == 0
    assert not list((data_dir / "uploads").glob("*"))


def test_a_large_upload_arrives_on_the_disk_that_has_room_for_it(
    admin: User, data_dir: Path, settings: Any
):
    """Where /tmp is memory, as in containers, twenty gigabytes there would end the site."""
    handlers = [import_string(name)() for name in settings.FILE_UPLOAD_HANDLERS]
    [handler] = [one for one in handlers if isinstance(one, TemporaryFileUploadHandler)]
    handler.new_file("upload", "a.zip", "application/zip", 5)
    assert Path(handler.file.temporary_file_path()).parent == data_dir / "uploads"
    handler.file.close()
    settings.LEAST_FREE_MIB = 10**9
    large = SimpleUploadedFile("a.zip", bytes(3 * 2**20))
    refused = client_of(admin).post("/catalogs/new/", {"name": "Large", "upload": large})
    assert refused.status_code == 400  # before anything of it is read
    assert "disk is nearly full" in refused.text


def test_failed_uploads_are_gone_after_a_day(data_dir: Path):
    folder = data_dir / "uploads"
    folder.mkdir(parents=True)
    old, young, on_its_way = folder / "a.zip", folder / "b.zip", folder / "tmp0a1b2c"
    for path, hours in ((old, 25), (young, 23), (on_its_way, 25)):
        path.touch()
        then = time.time() - 3600 * hours
        os.utime(path, (then, then))
    assert drop_uploads() == 2
    assert [path.name for path in folder.iterdir()] == ["b.zip"]


def test_an_upload_that_goes_meanwhile_keeps_no_old_one_from_going(data_dir: Path):
    folder = data_dir / "uploads"
    folder.mkdir(parents=True)
    gone = folder / "gone.zip"
    gone.symlink_to(folder / "nothing")  # listed, and not there once it is looked at
    for name in "abc":
        (folder / f"{name}.zip").touch()
        os.utime(folder / f"{name}.zip", (0, 0))
    assert drop_uploads() == 3
    assert list(folder.iterdir()) == [gone]


# ---- published data sets ----
def test_a_published_data_set_is_imported_from_the_page(admin: User, tmp_path: Path):
    folder = write_published_set("sop", tmp_path / "set")
    packed = shutil.make_archive(str(tmp_path / "sop"), "zip", folder)
    form = {"name": "Products", "layout": "sop", "where": "split=test",
            "upload": SimpleUploadedFile("sop.zip", Path(packed).read_bytes())}  # fmt: skip
    assert client_of(admin).post("/catalogs/new/", form).status_code == 302
    import_catalog(str(Job.objects.get().uid))
    image = Image.objects.get()
    assert (image.product_id, image.attributes) == ("11319", {"split": "test", "category": "sofa"})


def test_metadata_inside_the_zip_says_which_images_are_wanted(admin: User):
    rows = b"path,product_id,split\na.jpg,1,test\nb.jpg,2,x"
    files = {"a.jpg": jpeg(), "b.jpg": jpeg(9), "metadata.csv": rows}
    form = {"name": "Part", "where": "split=test", "upload": upload(files)}
    assert client_of(admin).post("/catalogs/new/", form).status_code == 302
    import_catalog(str(Job.objects.get().uid))
    assert Image.objects.get().attributes == {"split": "test"}


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"where": "split", "layout": "sop"}, "Write attribute=value, such as split=test."),
        ({"layout": "imagenet"}, "Select a valid choice."),
    ],
)
def test_a_part_of_nothing_known_is_refused(given: dict[str, str], reason: str, admin: User):
    form = {"name": "Part", "upload": upload({"a.jpg": jpeg()}), **given}
    assert reason in client_of(admin).post("/catalogs/new/", form).text
    assert not Catalog.objects.exists()
