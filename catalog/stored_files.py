"""What the catalogs have on disk, for `manage.py check_storage`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from io import FileIO

from catalog.images.blobs import (
    PREVIEWS,
    blob_name,
    has_blobs,
    is_sound_preview,
    make_previews,
    open_blob,
    read_blob,
)
from catalog.images.remote_originals import Places, read_remote, remote_places
from catalog.models import EmbeddingShard, Image, Projection
from catalog.vectors.embeddings import shard_path
from catalog.vectors.projections import layers_path
from lookalike.core.stored_files import StoredFile, damage


def stored_files() -> Iterator[StoredFile]:
    """Yield originals, their previews, shards of embeddings, and learned maps."""
    images = Image.objects.order_by("sha256").values_list("sha256", "n_bytes").distinct()
    elsewhere = remote_places(images.values_list("sha256", flat=True))
    for sha256, n_bytes in images.iterator():
        opened = partial(open_blob, sha256, "original")
        name = blob_name(sha256, "original")
        if sha256 in elsewhere and not has_blobs(sha256, ["original"]):
            check = partial(_remote_damage, sha256, elsewhere[sha256])
            yield StoredFile("remote original", elsewhere[sha256][0][0], check)
        else:
            yield StoredFile("original", name, partial(damage, opened, sha256, n_bytes))
        for size in PREVIEWS:
            check = partial(_preview_damage, sha256, size)
            repair = partial(make_previews, sha256)
            yield StoredFile(size, blob_name(sha256, size), check, repair)
    shards = EmbeddingShard.objects.order_by("sha256").values_list("sha256", flat=True).distinct()
    for sha256 in shards.iterator():
        path = shard_path(sha256)
        yield StoredFile("embeddings", path.name, partial(damage, partial(FileIO, path), sha256))
    for sha256 in Projection.objects.order_by("sha256").values_list("sha256", flat=True).distinct():
        yield layers_file(sha256)


def _remote_damage(sha256: str, places: Places) -> str:
    try:
        read_remote(sha256, places)
    except OSError as problem:
        return str(problem)
    return ""


def layers_file(sha256: str) -> StoredFile:
    """Return the file of a learned map."""
    path = layers_path(sha256)
    return StoredFile("projections", path.name, partial(damage, partial(FileIO, path), sha256))


def _preview_damage(sha256: str, size: str) -> str:
    try:
        return "" if is_sound_preview(read_blob(sha256, size)) else "not decodable"
    except FileNotFoundError:
        return "missing"
    except OSError as problem:
        return f"unreadable: {problem.strerror or problem}"
