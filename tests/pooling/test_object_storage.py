"""Pictures in an object storage: a real S3 protocol server in a process of its own."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.checks import run_checks
from django.test import Client
from PIL import Image as Pillow

from accounts.models import Role, User
from catalog.images.blobs import (
    SIZES,
    blob_name,
    original_on_disk,
    read_blob,
    remove_unused_blobs,
)
from catalog.images.storage_s3 import ObjectStorageError
from catalog.importing.origins import Origin
from catalog.services import create_catalog, delete_catalog, import_job, import_work
from catalog.vectors.embeddings import load_vectors
from config import storage
from jobs.services import JobProgress, run_here
from lookalike.backbones.loading import load_backbone
from pooling.embedding.embed import embed_catalog
from tests.object_storage import BUCKET, KEYS, client, object_storage
from tests.pictures import jpeg, write_folder

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with object_storage() as url:
        yield url


@pytest.fixture
def data_dir(settings, tmp_path: Path) -> Path:
    settings.DATA_DIR = tmp_path / "data"
    return tmp_path / "data"


@pytest.fixture
def use(settings, data_dir):
    """Keep pictures where these variables say, as the settings read them."""

    def go(variables: dict[str, str]) -> None:
        settings.OBJECT_STORAGE = variables
        settings.STORAGES = {**settings.STORAGES, "default": storage.blobs(variables)}

    return go


@pytest.fixture
def on_s3(server: str, use) -> Iterator[str]:
    use({"S3_BUCKET": BUCKET, "S3_ENDPOINT_URL": server, "S3_PREFIX": "lookalike", **KEYS})
    yield server
    for found in client(server).list_objects_v2(Bucket=BUCKET).get("Contents", []):
        client(server).delete_object(Bucket=BUCKET, Key=found["Key"])


def _keys(server: str) -> set[str]:
    found = client(server).list_objects_v2(Bucket=BUCKET).get("Contents", [])
    return {one["Key"] for one in found}


def _imported(folder: Path, n: int):
    files = {f"shoes/secret-{seed}.jpg": jpeg(seed, (90, 60)) for seed in range(n)}
    origin = Origin(
        path=str(write_folder(folder, files)), source_name="photos", is_restricted=False
    )
    catalog = create_catalog(slug="shoes", name="Shoes")
    job = run_here(**import_job(catalog, origin), work=import_work)
    assert job.state == "succeeded", job.error
    return catalog


def _embedded(catalog):
    backbone = load_backbone("descriptor:colour-histogram")
    found = {}

    def work(progress: JobProgress) -> dict[str, str]:
        found["set"] = embed_catalog(catalog=catalog, backbone=backbone, progress=progress)
        return {}

    subject = f"embed {catalog.pk}"
    job = run_here(task="t", subject=subject, title="t", arguments={}, work=work)
    assert job.state == "succeeded", job.error
    return load_vectors(found["set"])


def test_a_catalog_is_imported_embedded_and_shown_from_the_object_storage(
    on_s3: str, data_dir: Path, tmp_path: Path
):
    catalog = _imported(tmp_path / "photos", 5)
    names = {
        f"lookalike/{blob_name(image.sha256, size)}"
        for image in catalog.images.all()
        for size in SIZES
    }
    assert _keys(on_s3) == names
    assert not (data_dir / "blobs").exists()  # nothing of a picture on this machine's disk

    ids, vectors = _embedded(catalog)
    assert len(ids) == 5
    assert np.isfinite(vectors).all()

    image = catalog.images.first()
    url = f"/images/{image.uid}/"
    stranger, reader = Client(), Client()
    stranger.force_login(User.objects.create_user("anna", role=Role.ANNOTATOR))
    assert stranger.get(f"{url}thumb").status_code == 403
    reader.force_login(User.objects.create_user("rosa", role=Role.RESEARCHER))
    for size in SIZES:
        answer = reader.get(f"{url}{size}")
        content = b"".join(answer) if answer.streaming else answer.content
        assert content == read_blob(image.sha256, size)
        assert int(answer["Content-Length"]) == len(content)
        assert answer["Cache-Control"] == "private, max-age=31536000, immutable"
        assert "secret" not in str(answer.headers)
        assert Pillow.open(io.BytesIO(content)).size[0] <= 90
    again = reader.get(f"{url}{size}", headers={"if-none-match": answer["ETag"]})
    assert again.status_code == 304


def test_the_vectors_are_those_of_the_local_disk(on_s3: str, use, tmp_path: Path):
    catalog = _imported(tmp_path / "photos", 4)
    _, there = _embedded(catalog)
    delete_catalog(catalog=catalog)
    use({})
    _, here = _embedded(_imported(tmp_path / "again", 4))
    assert there.tobytes() == here.tobytes()


def test_pictures_in_no_catalog_are_removed_from_the_storage(on_s3: str, tmp_path: Path):
    catalog = _imported(tmp_path / "photos", 3)
    catalog.images.first().delete()
    assert remove_unused_blobs() == 1
    assert len(_keys(on_s3)) == 2 * len(SIZES)


def test_a_model_that_needs_a_path_gets_a_file_fetched_once_that_goes_with_its_catalog(
    on_s3: str, data_dir: Path, tmp_path: Path
):
    catalog = _imported(tmp_path / "photos", 1)
    image = catalog.images.get()
    path = original_on_disk(image.sha256)
    assert path.is_relative_to(data_dir)
    assert path.read_bytes() == read_blob(image.sha256, "original")
    client(on_s3).delete_object(
        Bucket=BUCKET, Key=f"lookalike/{blob_name(image.sha256, 'original')}"
    )
    assert original_on_disk(image.sha256).exists()
    delete_catalog(catalog=catalog)
    assert not [kept for kept in data_dir.rglob("*") if kept.is_file()]


@pytest.mark.parametrize("has_keys", [True, False])
def test_a_manifest_of_objects_is_imported_and_embedded_where_they_are(
    has_keys: bool, server: str, settings: Any, tmp_path: Path
):
    for seed in range(3):
        client(server).put_object(Bucket=BUCKET, Key=f"far/a b {seed}.jpg", Body=jpeg(seed))
    if not has_keys:
        anybody = {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject"}
        statement = [{**anybody, "Resource": f"arn:aws:s3:::{BUCKET}/*"}]
        client(server).put_bucket_policy(Bucket=BUCKET, Policy=json.dumps({"Statement": statement}))
    settings.REMOTE_S3_BUCKETS, settings.REMOTE_S3_ENDPOINT_URL = [BUCKET], server
    settings.REMOTE_S3_ACCESS_KEY_ID = "test" if has_keys else ""
    settings.REMOTE_S3_SECRET_ACCESS_KEY = "test" if has_keys else ""
    sheet = tmp_path / "m.csv"
    lines = [f"s3://{BUCKET}/far/a%20b%20{seed}.jpg" for seed in (0, 1, 2, 7)]
    sheet.write_text("\n".join(["url", *lines, "s3://other/x.jpg"]))
    origin = Origin(path=str(sheet), source_name="m", is_manifest=True, is_restricted=False)
    catalog = create_catalog(slug="far", name="Far")
    job = run_here(**import_job(catalog, origin), work=import_work)
    assert job.result["images"] == 3, job.error
    reasons = sorted(entry["reason"] for entry in job.result["broken"])
    assert [reason.partition(":")[0] for reason in reasons] == ["m row 5", "m row 6 was left out"]
    assert "Signature" not in str(reasons)
    ids, vectors = _embedded(catalog)
    assert len(ids) == 3
    assert np.isfinite(vectors).all()
    kept = (settings.DATA_DIR / "blobs").rglob("original/*/*")
    assert not [path for path in kept if path.is_file()]


def test_a_missing_object_is_a_missing_file(on_s3: str):
    with pytest.raises(FileNotFoundError):
        read_blob("0" * 64, "thumb")


def test_a_server_that_is_down_is_an_error_that_may_pass(use, settings):
    use({"S3_BUCKET": BUCKET, "S3_ENDPOINT_URL": "http://127.0.0.1:9", **KEYS})
    with pytest.raises(ObjectStorageError, match="failed") as caught:
        read_blob("0" * 64, "thumb")
    assert not isinstance(caught.value, FileNotFoundError)
    (found,) = run_checks(tags=["storage"])
    assert found.id == "catalog.W006"
    assert "up" in str(found.hint)


def test_a_good_storage_passes_the_check_and_leaves_nothing_behind(on_s3: str):
    assert run_checks(tags=["storage"]) == []
    assert _keys(on_s3) == set()


def test_no_storage_is_named_and_none_is_checked(use):
    use({})
    assert run_checks(tags=["storage"]) == []


@pytest.mark.parametrize(
    ("variables", "code", "said"),
    [
        ({"S3_REGION": "eu-west-1"}, "catalog.E001", "S3_BUCKET is not"),
        ({"S3_BUCKET": "b", "S3_ACCESS_KEY_ID": "a"}, "catalog.E002", "S3_SECRET_ACCESS_KEY"),
        ({"S3_BUCKET": "b", "S3_SECRET_ACCESS_KEY": "a"}, "catalog.E002", "S3_ACCESS_KEY_ID"),
        ({"S3_BUCKET": "b", "S3_ENDPOINT_URL": "minio:9000"}, "catalog.E003", "minio:9000"),
    ],
)
def test_variables_that_contradict_each_other_are_named(settings, variables, code, said):
    settings.OBJECT_STORAGE = variables
    (found,) = run_checks(tags=["storage"])
    assert found.id == code
    assert said in found.msg
    assert found.hint


def test_a_bucket_that_is_not_there_is_named(server: str, use):
    use({"S3_BUCKET": "nowhere", "S3_ENDPOINT_URL": server, **KEYS})
    (found,) = run_checks(tags=["storage"])
    assert found.id == "catalog.E004"
    assert "nowhere" in found.msg
    assert "S3_BUCKET" in str(found.hint)


def test_keys_that_are_not_there_are_named(server: str, use, monkeypatch, tmp_path: Path):
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    use({"S3_BUCKET": BUCKET, "S3_ENDPOINT_URL": server, "S3_REGION": "us-east-1"})
    (found,) = run_checks(tags=["storage"])
    assert found.id == "catalog.E005"
    assert "keys" in str(found.hint)


def test_the_settings_are_read_from_the_environment(monkeypatch):
    monkeypatch.setenv("S3_BUCKET", " shop ")
    monkeypatch.setenv("S3_ENDPOINT_URL", "https://minio.example.org")
    monkeypatch.setenv("S3_REGION", "")
    given = storage.given()
    assert given == {"S3_BUCKET": "shop", "S3_ENDPOINT_URL": "https://minio.example.org"}
    assert storage.blobs(given) == {
        "BACKEND": "catalog.images.storage_s3.S3Blobs",
        "OPTIONS": {"bucket_name": "shop", "endpoint_url": "https://minio.example.org"},
    }
