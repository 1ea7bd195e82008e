"""The files of pictures, named by the SHA-256 of the original's bytes.

They lie in Django's default storage: the data folder, or an object storage. No name from outside
ever becomes a path here.
"""

from __future__ import annotations

import hashlib
import io
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import connection

from catalog.images.remote_originals import read_remote, remote_places
from catalog.models import Image
from lookalike.core.atomic_files import write_atomically
from lookalike.images.decode import Picture, PictureError, is_preview, read_picture

SIZES = ("thumb", "view", "original")
PREVIEWS = ("thumb", "view")
MAX_KNOWN = 100_000  # previews that a process remembers to have decoded
_sound: set[bytes] = set()
_IN_USE = 0x10_0CA1E  # PostgreSQL advisory lock: held shared by imports, alone by the clean-up


def blob_name(sha256: str, size: str) -> str:
    """Return the name of one size of a picture in the storage.

    Raises:
        ValueError: not a SHA-256 in hexadecimal, or not one of SIZES.
    """
    is_hash = len(sha256) == 64 and not set(sha256) - set("0123456789abcdef")
    if not is_hash or size not in SIZES:
        raise ValueError(f"No such file: {size} of {sha256!r}.")
    ending = "" if size == "original" else ".webp"
    return f"{size}/{sha256[:2]}/{sha256}{ending}"


def blob_path(sha256: str, size: str) -> Path:
    """Return where one size of a picture lies on this machine's disk (or would lie).

    Raises:
        ValueError: as `blob_name`.
    """
    return Path(settings.DATA_DIR) / "blobs" / blob_name(sha256, size)


def has_blobs(sha256: str, sizes: Sequence[str] = SIZES) -> bool:
    """Whether sizes of a picture, by default the original and its previews, are all stored."""
    return all(default_storage.exists(blob_name(sha256, size)) for size in sizes)


def open_stored(sha256: str, size: str) -> BinaryIO:
    """Return one size of a picture that is stored here; asks no database.

    Raises:
        FileNotFoundError: it is not stored.
        OSError: the disk or the object storage failed.
        ValueError: as `blob_name`.
    """
    return cast(BinaryIO, default_storage.open(blob_name(sha256, size), "rb"))


def open_blob(sha256: str, size: str) -> BinaryIO:
    """Return one size of a picture, open for reading; the original may have stayed elsewhere.

    Raises:
        FileNotFoundError: it is not stored; an original that stayed elsewhere is gone or changed.
        OSError: the disk, the object storage or the host of the original failed.
        ValueError: as `blob_name`.
    """
    try:
        return open_stored(sha256, size)
    except FileNotFoundError:
        places = remote_places([sha256]).get(sha256) if size == "original" else None
        if places is None:
            raise
    return io.BytesIO(read_remote(sha256, places))


def read_blob(sha256: str, size: str) -> bytes:
    """Return the bytes of one size of a picture; raises as `open_blob`."""
    with open_blob(sha256, size) as file:
        return file.read()


class DamagedBlobError(FileNotFoundError):
    """A picture is stored, but is not what it was: as good as missing."""


def read_preview(sha256: str, size: str) -> bytes:
    """Return the bytes of a preview that can be shown; a damaged one is made from its original.

    A process decodes each content once, so a flipped bit that leaves a picture is not noticed.

    Raises:
        FileNotFoundError: neither it nor its original is there, or both are damaged.
        OSError: as `open_blob`.
    """
    with suppress(FileNotFoundError):
        content = read_blob(sha256, size)
        if is_sound_preview(content):
            return content
    make_previews(sha256)
    return read_blob(sha256, size)


def is_sound_preview(content: bytes) -> bool:
    """Whether bytes are a preview as `store_blobs` writes them."""
    digest = hashlib.blake2b(content, digest_size=16).digest()
    if digest not in _sound:
        if not is_preview(content):
            return False
        if len(_sound) >= MAX_KNOWN:
            _sound.clear()
        _sound.add(digest)
    return True


def make_previews(sha256: str) -> None:
    """Make the previews of a stored original again, over what lies there.

    Raises:
        DamagedBlobError: the original is not what it was.
        OSError: as `open_blob`.
    """
    content = read_blob(sha256, "original")
    if hashlib.sha256(content).hexdigest() != sha256:
        raise DamagedBlobError(f"The original {sha256} was changed.")
    try:
        picture = read_picture(content)
    except PictureError as problem:
        raise DamagedBlobError(str(problem)) from problem
    for size, data in (("view", picture.view), ("thumb", picture.thumb)):
        default_storage.save(blob_name(sha256, size), ContentFile(data))


def original_on_disk(sha256: str) -> Path:
    """Return a file of this machine with the original's bytes, for code that needs a path.

    From elsewhere it is fetched once and kept under `fetched`; it may be deleted at any time.

    Raises:
        OSError: as `open_blob`.
    """
    path = blob_path(sha256, "original")
    if not path.exists():
        path = _fetched() / sha256[:2] / sha256
    if not path.exists():
        content = read_blob(sha256, "original")
        write_atomically(path, lambda file: file.write(content))
    return path


def _fetched() -> Path:
    return Path(settings.DATA_DIR) / "fetched"


def store_blobs(
    sha256: str, content: bytes, picture: Picture, sizes: Sequence[str] = SIZES
) -> None:
    """Store the original and its previews, each whole or not at all; twice is once."""
    data = {"original": content, "view": picture.view, "thumb": picture.thumb}
    for size in sizes:
        name = blob_name(sha256, size)
        if not default_storage.exists(name):
            default_storage.save(name, ContentFile(data[size]))


@contextmanager
def blobs_in_use() -> Iterator[None]:
    """Keep the clean-up away while files are written whose rows are yet to come."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_lock_shared(%s)", [_IN_USE])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_unlock_shared(%s)", [_IN_USE])


def remove_unused_blobs() -> int:
    """Delete the files of pictures that are in no catalog; how many pictures that were.

    What was fetched from elsewhere for a plug-in goes, too. While an import runs nothing is
    deleted; the next call finds the leftovers.
    """
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_lock(%s)", [_IN_USE])
        if not cursor.fetchone()[0]:
            return 0
    try:
        return _remove_unused()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_unlock(%s)", [_IN_USE])


def _remove_unused() -> int:
    shutil.rmtree(_fetched(), ignore_errors=True)
    used = set(Image.objects.values_list("sha256", flat=True).iterator())
    unused = set()
    for name in _stored_names():
        sha256 = PurePosixPath(name).name.partition(".")[0]
        if sha256 not in used:  # also what a killed writer left behind
            unused.add(sha256)
            default_storage.delete(name)
    return len(unused - {""})


def _stored_names() -> Iterator[str]:
    for size in SIZES:
        with suppress(FileNotFoundError):  # nothing was ever stored
            for folder in default_storage.listdir(size)[0]:
                _, names = default_storage.listdir(f"{size}/{folder}")
                yield from (f"{size}/{folder}/{name}" for name in names)
