"""Pictures are served with fixed types, without names, once."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import pytest
from django.http import Http404
from django.test import Client, RequestFactory
from PIL import Image as Pillow

from accounts.models import Role, User
from audit.models import Entry
from catalog.images.blobs import blob_path
from catalog.images.serving import image_response
from catalog.models import Image
from jobs.models import Job
from tests.pictures import encoded, jpeg, picture, png

pytestmark = pytest.mark.django_db
Importer = Callable[..., Job]


@pytest.fixture
def client(researcher: User) -> Client:
    client = Client()
    client.force_login(researcher)
    return client


FILES = {
    "secret name.jpg": jpeg(1, (2000, 1000)),
    "b.png": png(2),
    "c.webp": encoded(picture(3), "WEBP"),
}


@pytest.mark.parametrize("path", FILES)
@pytest.mark.parametrize("size", ["thumb", "view", "original"])
def test_type_bytes_and_headers(path: str, size: str, client: Client, import_files: Importer):
    import_files(FILES)
    image = Image.objects.get(source_files__path=path)
    response = client.get(f"/images/{image.uid}/{size}")
    content = b"".join(response) if response.streaming else response.content
    expected = f"image/{image.image_format.lower()}" if size == "original" else "image/webp"
    assert response["Content-Type"] == expected
    assert content == blob_path(image.sha256, size).read_bytes()
    if size == "original":
        assert content == FILES[path]
    else:
        assert Pillow.open(io.BytesIO(content)).format == "WEBP"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Cache-Control"] == "private, max-age=31536000, immutable"
    assert response["Content-Security-Policy"] == (
        "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    )
    assert "Content-Disposition" not in response
    names = " ".join(f"{key}: {value}" for key, value in response.items())
    assert "secret" not in names
    assert int(response["Content-Length"]) == len(content)


def test_a_browser_that_has_it_gets_nothing_again(client: Client, import_files: Importer):
    import_files(FILES)
    url = f"/images/{Image.objects.earliest('id').uid}/thumb"
    etag = client.get(url)["ETag"]
    again = client.get(url, headers={"If-None-Match": etag})
    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == etag
    assert client.get(url, headers={"If-None-Match": '"other"'}).status_code == 200
    assert client.get(url.replace("thumb", "view"))["ETag"] != etag
    head = client.head(url)
    assert (head.status_code, head.content) == (200, b"")


def test_the_answer_itself_forbids_guessing_its_type(rf: RequestFactory, import_files: Importer):
    import_files({"a.jpg": jpeg(1)})
    response = image_response(rf.get("/"), Image.objects.get(), "view")
    assert response["X-Content-Type-Options"] == "nosniff"  # whatever middleware there is
    with pytest.raises(Http404):
        image_response(rf.get("/"), Image.objects.get(), "huge")


def test_a_missing_file_is_404_and_logged(
    client: Client, import_files: Importer, caplog: pytest.LogCaptureFixture
):
    import_files(FILES)
    image = Image.objects.earliest("id")
    for size in ("original", "thumb"):  # a preview alone would be made again
        blob_path(image.sha256, size).unlink()
        assert client.get(f"/images/{image.uid}/{size}").status_code == 404
    assert "import the catalog again" in caplog.text


@pytest.mark.parametrize(
    ("sha256", "size"),
    [
        ("../../etc/passwd", "original"),
        ("a" * 63 + "/", "view"),
        ("A" * 64, "view"),
        ("a" * 64, "../x"),
        ("", "view"),
    ],
)
def test_only_hashes_become_paths(sha256: str, size: str, data_dir: Path):
    with pytest.raises(ValueError, match="No such file"):
        blob_path(sha256, size)
    assert blob_path("a" * 64, "view").is_relative_to(data_dir)


def test_a_damaged_original_is_refused(client: Client, import_files: Importer) -> None:
    import_files({"a.png": png(2)})
    image = Image.objects.get()
    path = blob_path(image.sha256, "original")
    whole = path.read_bytes()
    path.write_bytes(whole[:-20] + bytes(20))
    try:
        assert client.get(f"/images/{image.uid}/original").status_code == 404
        assert client.get(f"/api/v1/images/{image.uid}/original").status_code == 404
    finally:
        path.write_bytes(whole)


def test_an_original_has_its_exif_for_admins_alone_and_is_on_the_record(
    client: Client, import_files: Importer
) -> None:
    exif = Pillow.Exif()
    exif[0x010F] = "Secret-Camera"
    import_files({"a.jpg": encoded(picture(4), "JPEG", exif=exif)})
    image = Image.objects.get()
    chief = Client()
    chief.force_login(User.objects.create_user("chief", role=Role.ADMIN))
    url = f"/images/{image.uid}/original"
    shown, whole = client.get(url), chief.get(url)
    contents = [one.getvalue() for one in (shown, whole)]
    assert [b"Secret-Camera" in one for one in contents] == [False, True]
    pixels = [Pillow.open(io.BytesIO(one)).tobytes() for one in contents]
    assert pixels[0] == pixels[1]
    assert shown["ETag"] != whole["ETag"]
    entries = Entry.objects.filter(action="downloaded", details__what="original")
    assert entries.count() == 2
    assert client.get(f"/images/{image.uid}/view").status_code == 200
    assert entries.count() == 2
