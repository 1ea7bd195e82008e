"""What a picture is called in front of judges: a key that means something in one campaign alone.

A name that is the same everywhere, or follows from the file, would let a judge find the picture
in another campaign or in a public release. So an address holds the image's id, sealed with the
site's secret and the campaign (AES-SIV, RFC 5297): the same picture has one key in a campaign, so
that browsers keep it, and another in the next; a key that was not made here opens nothing.
"""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.utils.crypto import salted_hmac


def seal_picture(campaign_uid: uuid.UUID, image_id: int) -> str:
    """Return an image's key in a campaign: 32 characters of letters, digits, - and _."""
    sealed = _cipher(settings.SECRET_KEY).encrypt(image_id.to_bytes(8), [campaign_uid.bytes])
    return urlsafe_b64encode(sealed).decode()


def open_picture(campaign_uid: uuid.UUID, key: str) -> int | None:
    """Return the image's id; None for a key that was not made for this campaign."""
    try:
        sealed = urlsafe_b64decode(key)
        opened = _cipher(settings.SECRET_KEY).decrypt(sealed, [campaign_uid.bytes])
    except (ValueError, InvalidTag):
        return None
    return int.from_bytes(opened) if urlsafe_b64encode(sealed).decode() == key else None


@lru_cache(maxsize=2)
def _cipher(secret: str) -> AESSIV:
    salt = "annotation.picture_keys"
    return AESSIV(salted_hmac(salt, "key", secret=secret, algorithm="sha512").digest())
