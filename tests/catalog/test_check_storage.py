"""manage.py check_storage names what is cut, changed or missing; previews are made again."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.test import Client
from PIL import Image as Pillow

from accounts.models import User
from catalog.images.blobs import blob_path
from catalog.models import Catalog, EmbeddingSet, EmbeddingShard, Image
from catalog.vectors.embeddings import shard_path, write_shard
from jobs.models import Job
from tests.pictures import jpeg

pytestmark = pytest.mark.django_db
Importer = Callable[..., Job]
FILES = {f"{i}.jpg": jpeg(i, (300, 200)) for i in range(4)}


def report(*options: str) -> tuple[int, dict[str, Any]]:
    """What the command prints, and its exit status."""
    out = io.StringIO()
    try:
        call_command("check_storage", "--json", *options, stdout=out)
    except SystemExit as end:
        return int(end.code or 0), json.loads(out.getvalue())
    return 0, json.loads(out.getvalue())


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def test_a_sound_storage_is_counted_and_nothing_is_named(import_files: Importer):
    import_files(FILES)
    assert report() == (0, {"checked": {"original": 4, "view": 4, "thumb": 4}, "damages": []})
    out = io.StringIO()
    call_command("check_storage", stdout=out)
    assert out.getvalue().splitlines()[1].split() == ["original", "4", "0"]


def test_each_kind_of_damage_is_named_and_previews_are_made_again(import_files: Importer):
    import_files(FILES)
    one, two, three, four = Image.objects.order_by("sha256").values_list("sha256", flat=True)
    flip(blob_path(one, "original"))
    cut(blob_path(two, "original"))
    blob_path(three, "original").unlink()
    cut(blob_path(four, "view"))
    blob_path(four, "thumb").write_bytes(b"RIFF....WEBP and then nothing")
    blob_path(two, "thumb").unlink()
    catalog = Catalog.objects.get()
    vectors = EmbeddingSet.objects.create(catalog=catalog, spec="x", fingerprint="f", dim=3)
    sha256 = write_shard(np.ones((1, 3), np.float32))
    EmbeddingShard.objects.create(
        embedding_set=vectors, position=0, sha256=sha256, image_ids=[1], dtype="float32"
    )
    flip(shard_path(sha256))
    status, found = report()
    named = {(d["kind"], Path(d["name"]).stem): d["reason"] for d in found["damages"]}
    assert status == 1
    assert named == {
        ("original", one): "changed",
        ("original", two): "cut",
        ("original", three): "missing",
        ("view", four): "not decodable",
        ("thumb", four): "not decodable",
        ("thumb", two): "missing",
        ("embeddings", sha256): "changed",
    }
    status, repaired = report("--repair")
    assert status == 1  # originals and vectors cannot be made again
    again = {(d["kind"], Path(d["name"]).stem) for d in repaired["damages"] if d["repaired"]}
    assert again == {("view", four), ("thumb", four)}  # not of originals that are damaged, too
    _, left = report()
    assert len(left["damages"]) == len(named) - 2


@pytest.mark.parametrize("size", ["thumb", "view"])
@pytest.mark.parametrize("harm", [cut, Path.unlink, lambda path: path.write_bytes(b"x" * 900)])
def test_a_damaged_preview_is_never_shown(
    size: str, harm: Callable[[Path], object], import_files: Importer, researcher: User
):
    import_files({"a.jpg": jpeg(9, (300, 200))})
    image = Image.objects.get()
    path = blob_path(image.sha256, size)
    sound = path.read_bytes()
    harm(path)
    client = Client()
    client.force_login(researcher)
    answer = client.get(f"/images/{image.uid}/{size}")
    assert answer.status_code == 200
    assert answer.content == sound == path.read_bytes()
    Pillow.open(io.BytesIO(answer.content)).load()
    harm(path)
    flip(blob_path(image.sha256, "original"))  # nothing sound is left to make it of
    assert client.get(f"/images/{image.uid}/{size}").status_code == 404
