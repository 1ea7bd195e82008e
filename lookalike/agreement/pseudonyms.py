"""Names under which judges appear in what leaves the site. Pure."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterable


def pseudonyms(annotators: Iterable[int], secret: bytes) -> dict[int, str]:
    """Return a name for each judge that nobody without the secret can trace back.

    Judges are ordered by a keyed hash, so neither the order of accounts nor that of the panel
    shows, and another secret gives another order.

    Args:
        annotators: ids of accounts.
        secret: of what they appear in; not stored in it.
    """
    keyed = sorted(
        {(hmac.new(secret, str(pk).encode(), hashlib.sha256).digest(), pk) for pk in annotators}
    )
    width = max(2, len(str(len(keyed))))
    return {pk: f"a{number:0{width}d}" for number, (_, pk) in enumerate(keyed, 1)}
