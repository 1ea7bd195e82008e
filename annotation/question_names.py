"""What a question is called in front of a judge: a name that nobody else has for it.

A pair that is asked again is two questions. If each had one name for all, judges who compare what
their browsers are sent could tell which pairs come again. So a name is the question's uid, sealed
with the site's secret and the judge's account (AES-SIV, RFC 5297).
"""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from django.conf import settings
from django.utils.crypto import salted_hmac


def seal_question(annotator_id: int, uid: uuid.UUID) -> str:
    """Return a question's name for a judge: 43 characters of letters, digits, - and _."""
    sealed = _cipher(settings.SECRET_KEY).encrypt(uid.bytes, [annotator_id.to_bytes(8)])
    return urlsafe_b64encode(sealed).decode().rstrip("=")


def open_question(annotator_id: int, name: str) -> uuid.UUID | None:
    """Return the uid of the question that a judge calls so; None if it is no name of theirs.

    The uid itself is taken, too: pages that were open while the site was upgraded know no other.
    """
    try:
        if len(name) == 36:
            return uuid.UUID(name)
        opened = _cipher(settings.SECRET_KEY).decrypt(
            urlsafe_b64decode(f"{name}="), [annotator_id.to_bytes(8)]
        )
        return uuid.UUID(bytes=opened)
    except (ValueError, InvalidTag):
        return None


@lru_cache(maxsize=2)
def _cipher(secret: str) -> AESSIV:
    salt = "annotation.question_names"
    return AESSIV(salted_hmac(salt, "key", secret=secret, algorithm="sha512").digest())
