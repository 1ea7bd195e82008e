"""Read what a browser posts about comments. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from annotation.answering.submissions import (
    MAX_BATCH,
    MalformedError,
    OpenName,
    RejectedError,
    read_question,
    read_time,
    read_uuid,
)
from annotation.models import MAX_COMMENT


@dataclass(frozen=True)
class SentComment:
    """A comment as a browser sends it; one that `withdraws` another takes that one back."""

    uuid: UUID
    question: UUID
    text: str
    made_at: datetime
    withdraws: UUID | None


def read_comments(
    body: object, open_name: OpenName | None = None
) -> list[tuple[UUID, SentComment | RejectedError]]:
    """Return each comment by its UUID, as read or with the reason why it cannot be taken.

    Args:
        body: the parsed JSON.
        open_name: as in `Taken`.

    Raises:
        MalformedError: the body is not {"comments": [...]} of 1 to `MAX_BATCH` objects, each
            with a UUID to reply to.
    """
    given = body.get("comments") if isinstance(body, dict) else None
    if not isinstance(given, list) or not 1 <= len(given) <= MAX_BATCH:
        raise MalformedError(f"Send an object with a list “comments” of 1 to {MAX_BATCH}.")
    batch: list[tuple[UUID, SentComment | RejectedError]] = []
    for number, raw in enumerate(given, start=1):
        try:
            key = read_uuid(raw if isinstance(raw, dict) else {}, "uuid")
        except RejectedError:
            raise MalformedError(f"Comment {number} has no valid “uuid”.") from None
        try:
            batch.append((key, _read(raw, open_name)))
        except RejectedError as problem:
            batch.append((key, problem))
    return batch


def _read(raw: Mapping[str, Any], open_name: OpenName | None) -> SentComment:
    text = raw.get("comment")
    if not isinstance(text, str) or not _can_be_stored(text):
        raise RejectedError("bad_value", "“comment” is not a text.")
    text = text.strip()
    if len(text) > MAX_COMMENT:
        raise RejectedError(
            "too_long",
            _("A comment has at most {most} characters; this one has {n}.").format(
                most=f"{MAX_COMMENT:,}", n=f"{len(text):,}"
            ),
        )
    withdraws = None if raw.get("withdraws") is None else read_uuid(raw, "withdraws")
    return SentComment(
        uuid=read_uuid(raw, "uuid"),
        question=read_question(raw, open_name),
        text=text,
        made_at=read_time(raw, "made_at"),
        withdraws=withdraws,
    )


def _can_be_stored(text: str) -> bool:
    """Whether PostgreSQL takes it: no NUL, no half of a surrogate pair."""
    return "\x00" not in text and not any("\ud800" <= char <= "\udfff" for char in text)
