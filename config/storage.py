"""Where pictures are kept, read from the environment: the data folder or an object storage."""

from __future__ import annotations

from collections.abc import Mapping

from config import env

OPTION_OF = {
    "S3_BUCKET": "bucket_name",
    "S3_ENDPOINT_URL": "endpoint_url",
    "S3_REGION": "region_name",
    "S3_ACCESS_KEY_ID": "access_key",
    "S3_SECRET_ACCESS_KEY": "secret_key",
    "S3_PREFIX": "location",
}


def given() -> dict[str, str]:
    """Return the object storage's variables that are set; `catalog.images.checks` judges them."""
    found = {name: env.optional(name) for name in OPTION_OF}
    return {name: value for name, value in found.items() if value is not None}


def blobs(variables: Mapping[str, str]) -> dict[str, object]:
    """Return Django's entry for the default storage."""
    if "S3_BUCKET" not in variables:
        return {"BACKEND": "catalog.images.storage.LocalBlobs"}
    options = {OPTION_OF[name]: value for name, value in variables.items()}
    return {"BACKEND": "catalog.images.storage_s3.S3Blobs", "OPTIONS": options}
