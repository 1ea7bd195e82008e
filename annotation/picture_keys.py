"""What a picture is called in front of judges: a key that means something in one campaign alone.

A name that is the same everywhere, or follows from the file, would let a judge find the picture
in another campaign or in a public release. So an address holds the image's id, sealed with the
site's secret and the campaign (AES-SIV, RFC 5297): the same picture has one key in a campaign, so
that browsers keep it, and another in the next; a key that was not made here opens nothing.
Where images are picked, a key stands for a place of one question, by the name that the judge has
for it: none tells which is the target.
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
    return _seal(image_id, campaign_uid.bytes)


def open_picture(campaign_uid: uuid.UUID, key: str) -> int | None:
    """Return the image's id; None for a key that was not made for this campaign."""
    return _open(key, campaign_uid.bytes)


def seal_place(campaign_uid: uuid.UUID, question: str, place: int | None) -> str:
    """Return the key of the image at a place of a question, or of the compared one for None."""
    return _seal(0 if place is None else place + 1, campaign_uid.bytes, question.encode())


def open_place(campaign_uid: uuid.UUID, question: str, key: str) -> int | None:
    """Return a place, -1 for the compared image; None for a key that was not made for it."""
    number = _open(key, campaign_uid.bytes, question.encode())
    return None if number is None else number - 1


def _seal(number: int, *about: bytes) -> str:
    sealed = _cipher(settings.SECRET_KEY).encrypt(number.to_bytes(8), list(about))
    return urlsafe_b64encode(sealed).decode()


def _open(key: str, *about: bytes) -> int | None:
    try:
        sealed = urlsafe_b64decode(key)
        opened = _cipher(settings.SECRET_KEY).decrypt(sealed, list(about))
    except (ValueError, InvalidTag):
        return None
    return int.from_bytes(opened) if urlsafe_b64encode(sealed).decode() == key else None


@lru_cache(maxsize=2)
def _cipher(secret: str) -> AESSIV:
    salt = "annotation.picture_keys"
    return AESSIV(salted_hmac(salt, "key", secret=secret, algorithm="sha512").digest())
