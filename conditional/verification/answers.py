"""Read what a browser posts about templates or triplets; refuse what is no answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from annotation.answering.submissions import DEVICES, RejectedError, read_each, read_time, read_uuid
from lookalike.conditional.triplet_majority import CANT_TELL
from lookalike.conditional.verdicts import OTHER_CHOICES, PICK

WITHDRAWN = "withdrawn"
ABOUT_TEMPLATES = frozenset({PICK, *OTHER_CHOICES, WITHDRAWN})
ABOUT_TRIPLETS = frozenset({PICK, CANT_TELL, WITHDRAWN})
CHOICES = ABOUT_TEMPLATES | ABOUT_TRIPLETS
MAX_PLACE = 1000


@dataclass(frozen=True)
class PostedAnswer:
    """One answer; `place` counts in the order in which this judge saw the candidates."""

    uuid: UUID
    question: UUID
    choice: str
    place: int | None
    device: str
    shown_at: datetime
    decided_at: datetime


Batch = list[tuple[UUID, PostedAnswer | RejectedError]]


def read_answers(body: object) -> Batch:
    """Return each answer by its UUID, as read or with the reason why it cannot be taken.

    Raises:
        MalformedError: the body is not {"answers": [...]} of objects with a UUID each.
    """
    return read_each(body, _answer)


def _answer(raw: Mapping[str, Any]) -> PostedAnswer:
    key, question = read_uuid(raw, "uuid"), read_uuid(raw, "question")
    choice, place = raw.get("choice"), raw.get("place")
    if not isinstance(choice, str) or choice not in CHOICES:
        raise RejectedError("bad_value", f"“choice” is none of: {', '.join(sorted(CHOICES))}.")
    if choice == PICK and not (type(place) is int and 0 <= place < MAX_PLACE):
        raise RejectedError("bad_value", "“place” is not the number of an image.")
    if choice != PICK and place is not None:
        raise RejectedError("bad_value", f"“{choice}” takes no “place”.")
    device = raw.get("device")
    if not isinstance(device, str) or device not in DEVICES:
        raise RejectedError("bad_value", f"“device” is none of: {', '.join(sorted(DEVICES))}.")
    shown_at, decided_at = read_time(raw, "shown_at"), read_time(raw, "decided_at")
    if decided_at < shown_at:
        raise RejectedError("bad_time", "“decided_at” lies before “shown_at”.")
    return PostedAnswer(key, question, choice, place, device, shown_at, decided_at)
