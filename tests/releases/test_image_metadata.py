"""Images leave in a release without EXIF, and the release states the hash of what it holds."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import numpy as np
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from PIL import Image as Pillow
from PIL import ImageOps

from catalog.images.blobs import blob_name
from jobs.services import JobError
from lookalike.release.format.folder import Folder
from lookalike.release.verify import verify
from releases.storage import files_folder
from tests.releases.pictures import give_pictures
from tests.worlds import World, freeze_now, request_for

GPS = 0x8825


def give_photo(world: World, kind: str = "JPEG") -> bytes:
    """Let the first image be a sideways photo that says where and with what it was taken."""
    give_pictures(world)
    exif = Pillow.Exif()
    exif[0x0112], exif[0x010F] = 6, "Secret-Camera"
    exif.get_ifd(GPS)[1] = "N"
    exif.get_ifd(GPS)[2] = (48.0, 8.0, 14.77)
    out = io.BytesIO()
    pixels = np.random.default_rng(2).integers(0, 256, (8, 12, 3), np.uint8)
    Pillow.fromarray(pixels).save(out, kind, exif=exif)
    content, image = out.getvalue(), world.images[0]
    image.sha256, image.n_bytes = hashlib.sha256(content).hexdigest(), len(content)
    image.image_format = kind
    image.save()
    default_storage.save(blob_name(image.sha256, "original"), ContentFile(content))
    return content


def released_photo(world: World, folder: Path) -> bytes:
    [path] = (folder / "images").glob(f"{world.images[0].sha256}.*")
    return path.read_bytes()


def upright(content: bytes) -> np.ndarray:
    with Pillow.open(io.BytesIO(content)) as opened:
        return np.asarray(ImageOps.exif_transpose(opened))


def test_a_release_holds_no_exif_and_the_hash_of_what_it_holds(world: World) -> None:
    content = give_photo(world)
    folder = files_folder(freeze_now(request_for(world, with_images=True)))
    released = released_photo(world, folder)
    assert b"Secret-Camera" not in released
    with Pillow.open(io.BytesIO(released)) as opened:
        assert not opened.getexif().get_ifd(GPS)
    np.testing.assert_array_equal(upright(released), upright(content))
    [row] = Folder(folder).table("image_files").to_pylist()
    assert row["sha256"] == hashlib.sha256(released).hexdigest()
    assert world.images[0].sha256.startswith(row["image_id"])
    assert Folder(folder).info["licence"]["image_metadata"] == "removed"
    assert verify(folder).findings == ()
    corpus = (folder / "mteb/corpus.parquet").read_bytes()
    assert b"Secret-Camera" not in corpus


def test_a_curator_may_keep_metadata(world: World) -> None:
    content = give_photo(world)
    request = request_for(world, with_images=True, with_metadata=True)
    folder = files_folder(freeze_now(request))
    assert released_photo(world, folder) == content
    assert Folder(folder).info["licence"]["image_metadata"] == "kept"
    assert verify(folder).findings == ()


def test_a_photo_that_cannot_be_stripped_is_refused_by_name(world: World) -> None:
    give_photo(world, "AVIF")
    with pytest.raises(JobError, match=r"views of/0\.png has metadata"):
        freeze_now(request_for(world, with_images=True))
