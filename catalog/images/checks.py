"""What `manage.py check` says about the storage of pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning
from django.core.files.base import ContentFile
from django.core.files.storage import storages

PROBE = "check/written-by-manage-py-check"
REFUSED = (
    "AccessDenied",
    "Forbidden",
    "InvalidAccessKeyId",
    "SignatureDoesNotMatch",
    "credentials",
)


def check_storage(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Report variables that contradict each other, and a bucket that cannot be written to."""
    variables: Mapping[str, str] = settings.OBJECT_STORAGE
    problems = [*_contradictions(variables)]
    if problems or "S3_BUCKET" not in variables:
        return problems
    return _refusals(variables)


def _contradictions(variables: Mapping[str, str]) -> Iterator[CheckMessage]:
    if variables and "S3_BUCKET" not in variables:
        yield Error(
            f"{', '.join(sorted(variables))} set, but S3_BUCKET is not.",
            hint="Set S3_BUCKET to keep pictures there, or unset the others for the local disk.",
            id="catalog.E001",
        )
    pair = ("S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY")
    if sum(name in variables for name in pair) == 1:
        given, missing = sorted(pair, key=lambda name: name not in variables)
        yield Error(
            f"{given} is set, but {missing} is not.",
            hint="Set both, or neither to use the machine's own AWS credentials.",
            id="catalog.E002",
        )
    endpoint = variables.get("S3_ENDPOINT_URL")
    if endpoint is not None:
        parts = urlsplit(endpoint)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            yield Error(
                f"S3_ENDPOINT_URL is {endpoint!r}, which is no web address.",
                hint="Write it as https://host or http://host:port, without the bucket.",
                id="catalog.E003",
            )


def _refusals(variables: Mapping[str, str]) -> list[CheckMessage]:
    """Write and delete a small object."""
    storage = storages["default"]
    where = f"the bucket {variables['S3_BUCKET']!r}"
    try:
        storage.delete(storage.save(PROBE, ContentFile(b"x")))
    except OSError as problem:
        reason = str(problem.strerror)
        if "NoSuchBucket" in reason:
            hint = "Create it, or correct S3_BUCKET, S3_ENDPOINT_URL or S3_REGION."
            return [Error(f"There is no {where[4:]}.", hint=hint, id="catalog.E004")]
        if any(word in reason for word in REFUSED):
            hint = "Give keys that may get, put, list and delete objects of this bucket."
            return [Error(f"May not write to {where}. {reason}", hint=hint, id="catalog.E005")]
        hint = "Is the server up, and are S3_ENDPOINT_URL and S3_REGION right?"
        return [Warning(f"Cannot write to {where}. {reason}", hint=hint, id="catalog.W006")]
    return []
