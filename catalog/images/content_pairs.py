"""Two pictures as one number: the same pair in any catalog, whichever of them is the query."""

from __future__ import annotations

from django.db.models import BigIntegerField, Func, Value
from django.db.models.functions import MD5, Collate, Concat, Greatest, Least, Left


class _AsNumber(Func):
    template = "(%(expressions)s)::bit(64)::bigint"
    output_field = BigIntegerField()


def content_pair(first: str, second: str) -> Func:
    """Return 64 bits of the MD5 of two pictures' SHA-256 in either order, for a query set.

    Args:
        first: the field that leads to one picture's SHA-256, as in `query__sha256`.
        second: the other's.
    """
    both = Collate(first, "C"), Collate(second, "C")
    digest = MD5(Concat(Least(*both), Greatest(*both)))
    return _AsNumber(Concat(Value("x"), Left(digest, 16)))
