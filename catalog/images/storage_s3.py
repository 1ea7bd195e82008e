"""Blobs in an S3-compatible object storage. Loaded only where the settings name a bucket."""

from __future__ import annotations

import errno
import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.core.files.base import File
from storages.backends.s3 import S3Storage

_GONE = {"404", "NoSuchKey"}


class ObjectStorageError(OSError):
    """The object storage did not answer, or refused; the same work may succeed later."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EIO, f"The object storage failed: {reason}")


def client_config() -> Config:
    """Return how requests are made: bounded in time, tried again, and without the checksums
    that only newer servers know."""
    return Config(
        signature_version="s3v4",
        connect_timeout=5,
        read_timeout=60,
        retries={"max_attempts": 4, "mode": "standard"},
        max_pool_connections=32,
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


class S3Blobs(S3Storage):
    """One object for each blob; read and written whole, private, never listed to anybody."""

    def get_default_settings(self) -> dict[str, Any]:
        return {
            **super().get_default_settings(),
            "client_config": client_config(),
            "default_acl": None,
            "file_overwrite": True,
        }

    def _open(self, name: str, mode: str = "rb") -> File[bytes]:
        with _told(name):
            found = self.bucket.Object(self._normalize_name(name)).get()
            return File(io.BytesIO(found["Body"].read()), name)

    def _save(self, name: str, content: File[bytes]) -> str:
        with _told(name):
            return str(super()._save(name, content))

    def exists(self, name: str) -> bool:
        with _told(name):
            return bool(super().exists(name))

    def delete(self, name: str) -> None:
        with _told(name):
            super().delete(name)

    def listdir(self, path: str) -> tuple[list[str], list[str]]:
        with _told(path):
            folders, files = super().listdir(path)
            return list(folders), list(files)


@contextmanager
def _told(name: str) -> Iterator[None]:
    """Let failures of the library come as errors of the operating system."""
    try:
        yield
    except ClientError as problem:
        if problem.response.get("Error", {}).get("Code") in _GONE:
            raise FileNotFoundError(errno.ENOENT, "No such object", name) from problem
        raise ObjectStorageError(str(problem)) from problem
    except BotoCoreError as problem:
        raise ObjectStorageError(str(problem)) from problem
