"""Parts of long lists by key: as fast at the end as at the start, and steady while rows come."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, TypeVar

from django.db.models import Model, QuerySet
from ninja import Field, Schema
from pydantic import StringConstraints

from api.errors import ApiError, Detail

MAX_KEY = 2**63 - 1
Row = TypeVar("Row", bound=Model)
Out = TypeVar("Out")
Text = Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")]  # no database takes a NUL


class PageQuery(Schema):
    """Which part of a list is wanted."""

    after: Annotated[str, StringConstraints(max_length=100)] = Field(
        "", description="`next` of the part before; empty for the first."
    )
    limit: int = Field(50, ge=1, le=500, description="At most so many.")


class Page(Schema, Generic[Out]):
    """A part of a list."""

    items: list[Out]
    next: str | None = Field(description="Give it as `after` for the next part; null at the end.")


def make_cursor(keys: Sequence[int]) -> str:
    """Return the place of a row as text that means nothing to anybody else."""
    text = ".".join(map(str, keys))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def keys_in(cursor: str, n: int) -> tuple[int, ...]:
    """Return the keys of a cursor.

    Raises:
        ApiError: 422, it is none of ours or belongs to another list.
    """
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode("ascii")
        keys = tuple(int(part) for part in text.split("."))
    except (binascii.Error, ValueError):
        keys = ()
    if len(keys) != n or not all(0 <= key <= MAX_KEY for key in keys):
        raise ApiError(
            422,
            "invalid_cursor",
            "This place is none of this list.",
            details=[Detail(where="query.after", message="Give the `next` of the part before.")],
        )
    return keys


@dataclass(frozen=True)
class Part(Generic[Out]):
    """What a `Page` is made of: some rows of a list, and the cursor of what follows them."""

    items: list[Out]
    next: str | None


def read_part(rows: QuerySet[Row], asked: PageQuery, *, newest_first: bool = False) -> Part[Row]:
    """Return the part of `rows` that is asked for, by primary key.

    Raises:
        ApiError: 422, the cursor is wrong.
    """
    if asked.after:
        [key] = keys_in(asked.after, 1)
        rows = rows.filter(pk__lt=key) if newest_first else rows.filter(pk__gt=key)
    ahead = list(rows.order_by("-pk" if newest_first else "pk")[: asked.limit + 1])
    shown = ahead[: asked.limit]
    return Part(shown, make_cursor([shown[-1].pk]) if len(ahead) > asked.limit else None)
