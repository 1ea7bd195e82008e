"""What pages and the API say of a release's signature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from django.conf import settings

from lookalike.release.errors import ReleaseError
from lookalike.release.format.layout import MANIFEST, SIGNATURE
from lookalike.release.signature import PublicKey, read_public_key, why_not_signed
from releases.models import Release
from releases.storage import files_folder


@dataclass(frozen=True)
class Signature:
    """The check of a release's signature with the key that the site signs with today.

    Attributes:
        state: absent; valid; invalid; or unchecked, where the site has no public key.
        key: the public key, as minisign writes it; empty where there is none.
        reason: why it is invalid.
    """

    state: Literal["absent", "valid", "invalid", "unchecked"]
    key: str = ""
    reason: str = ""


def public_key() -> PublicKey | None:
    """Return the institution's public key, which lies beside the secret one as NAME.pub."""
    if not settings.SIGNING_KEY:
        return None
    try:
        return read_public_key(settings.SIGNING_KEY.with_suffix(".pub"))
    except ReleaseError:
        return None


def signature_of(release: Release) -> Signature:
    """Check the signature of a release."""
    folder = files_folder(release)
    try:
        signature = (folder / SIGNATURE).read_bytes()
    except FileNotFoundError:
        return Signature("absent")
    key = public_key()
    if key is None:
        return Signature("unchecked")
    reason = why_not_signed((folder / MANIFEST).read_bytes(), signature, key)
    return Signature("invalid" if reason else "valid", str(key), reason)
