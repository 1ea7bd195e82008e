"""What an access token looks like, and what is kept of it. No database.

A token is `lkl_`, eight characters by which its owner recognises it, `_`, and 256 random bits.
Kept are the recognisable part and the SHA-256 of the whole. A slow hash would add nothing: it
protects secrets that can be guessed, and 256 random bits cannot.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
from typing import NamedTuple

MARK = "lkl"
ALPHABET = string.ascii_lowercase + string.digits
SHAPE = re.compile(rf"{MARK}_([a-z0-9]{{8}})_[A-Za-z0-9_-]{{43}}")


class NewToken(NamedTuple):
    """A token as its owner gets it, and the part that is kept to recognise it."""

    token: str
    prefix: str


def new_token() -> NewToken:
    """Return a token that nobody has."""
    prefix = "".join(secrets.choice(ALPHABET) for _ in range(8))
    return NewToken(f"{MARK}_{prefix}_{secrets.token_urlsafe(32)}", prefix)


def read_prefix(token: str) -> str | None:
    """Return the part by which a token is recognised; None for what is no token at all."""
    found = SHAPE.fullmatch(token)
    return found[1] if found else None


def token_digest(token: str) -> str:
    """Return the SHA-256 under which a token is kept, hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()
