"""Originals that stay where a manifest says: read when needed, checked by their hash, not kept."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from functools import cache
from typing import Any

from django.conf import settings

from catalog.models import SourceFile
from lookalike.images.decode import MAX_BYTES
from lookalike.images.remote import Remote, RemoteError

MAX_PLACES = 3  # of one content, asked in turn
EXPIRES = 300  # seconds that a signature holds
Places = list[tuple[str, str]]  # path in the catalog, address


class RemoteOriginalError(OSError):
    """The host of an original did not answer; the same work may succeed later."""


class LostOriginalError(FileNotFoundError):
    """An original is gone or changed where it was."""


def remote() -> Remote:
    """Return where the settings let pictures be read from."""
    return Remote(
        hosts=tuple(settings.REMOTE_HOSTS),
        private_hosts=tuple(settings.REMOTE_PRIVATE_HOSTS),
        buckets=tuple(settings.REMOTE_S3_BUCKETS),
        sign=_signed if settings.REMOTE_S3_BUCKETS else None,
    )


def is_open() -> bool:
    """Whether the settings name any place from which pictures may be read."""
    places = (settings.REMOTE_HOSTS, settings.REMOTE_PRIVATE_HOSTS, settings.REMOTE_S3_BUCKETS)
    return any(places)


def remote_places(sha256s: Collection[str]) -> dict[str, Places]:
    """Return where the originals of some contents stay; those of which nobody says are left out."""
    rows = SourceFile.objects.filter(image__sha256__in=sha256s).exclude(url="").order_by("path")
    found: dict[str, Places] = {}
    for sha256, path, url in rows.values_list("image__sha256", "path", "url"):
        found.setdefault(sha256, []).append((path, url))
    return found


def read_remote(sha256: str, places: Places) -> bytes:
    """Return an original from the first place that has it; needs no database.

    Raises:
        LostOriginalError: it is gone, changed, or no longer allowed at all places.
        RemoteOriginalError: a place may have it, but did not answer.
    """
    reasons, is_passing = [], False
    source = remote()
    for path, url in places[:MAX_PLACES]:
        try:
            content = source.read(url, MAX_BYTES)
        except RemoteError as problem:
            reasons.append(f"{path}: {problem}")
            is_passing |= problem.is_passing
            continue
        if hashlib.sha256(content).hexdigest() == sha256:
            return content
        reasons.append(f"{path}: its bytes are not those that were imported")
    reason = "; ".join(reasons)
    if is_passing:
        raise RemoteOriginalError(f"the original did not come: {reason}")
    raise LostOriginalError(f"the original is lost: {reason}")


def _signed(bucket: str, key: str) -> str:
    options = {
        "endpoint_url": settings.REMOTE_S3_ENDPOINT_URL,
        "region_name": settings.REMOTE_S3_REGION,
        "aws_access_key_id": settings.REMOTE_S3_ACCESS_KEY_ID,
        "aws_secret_access_key": settings.REMOTE_S3_SECRET_ACCESS_KEY,
    }
    client = _s3_client(tuple((name, value) for name, value in options.items() if value))
    address: str = client.generate_presigned_url(
        "get_object", Params={"Bucket": bucket, "Key": key}, ExpiresIn=EXPIRES
    )
    return address


@cache
def _s3_client(options: tuple[tuple[str, str], ...]) -> Any:
    """Return a client that signs, and never asks anything itself."""
    import botocore  # noqa: PLC0415 - only sites that name a bucket need it
    from botocore.config import Config  # noqa: PLC0415
    from botocore.session import get_session  # noqa: PLC0415

    has_keys = "aws_access_key_id" in dict(options)
    config = Config(signature_version="s3v4" if has_keys else botocore.UNSIGNED)
    return get_session().create_client("s3", config=config, **dict(options))
