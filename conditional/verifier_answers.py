"""Read what a browser posts about templates, and refuse what cannot be an answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from annotation.submissions import DEVICES, MAX_BATCH, MalformedError, RejectedError
from conditional.verdicts import OTHER_CHOICES, PICK

WITHDRAWN = "withdrawn"
CHOICES = frozenset({PICK, *OTHER_CHOICES, WITHDRAWN})
MAX_PLACE = 1000


@dataclass(frozen=True)
class GivenAnswer:
    """One answer; `place` counts in the order in which this judge saw the gallery."""

    uuid: UUID
    template: UUID
    choice: str
    place: int | None
    device: str
    shown_at: datetime
    decided_at: datetime


Batch = list[tuple[UUID, GivenAnswer | RejectedError]]


def read_answers(body: object) -> Batch:
    """Return each answer by its UUID, as read or with the reason why it cannot be taken.

    Raises:
        MalformedError: the body is not {"answers": [...]} of objects with a UUID each.
    """
    answers = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(answers, list) or not 1 <= len(answers) <= MAX_BATCH:
        raise MalformedError(f"Send an object with a list “answers” of 1 to {MAX_BATCH}.")
    batch: Batch = []
    for number, raw in enumerate(answers, start=1):
        key = _uuid(raw.get("uuid")) if isinstance(raw, dict) else None
        if key is None:
            raise MalformedError(f"Answer {number} has no valid “uuid”.")
        try:
            batch.append((key, _answer(key, raw)))
        except RejectedError as problem:
            batch.append((key, problem))
    return batch


def _answer(key: UUID, raw: Mapping[str, Any]) -> GivenAnswer:
    template, choice, place = _uuid(raw.get("template")), raw.get("choice"), raw.get("place")
    if template is None:
        raise RejectedError("bad_value", "“template” is not a UUID.")
    if not isinstance(choice, str) or choice not in CHOICES:
        raise RejectedError("bad_value", f"“choice” is none of: {', '.join(sorted(CHOICES))}.")
    if choice == PICK and not (type(place) is int and 0 <= place < MAX_PLACE):
        raise RejectedError("bad_value", "“place” is not the number of an image.")
    if choice != PICK and place is not None:
        raise RejectedError("bad_value", f"“{choice}” takes no “place”.")
    device = raw.get("device")
    if not isinstance(device, str) or device not in DEVICES:
        raise RejectedError("bad_value", f"“device” is none of: {', '.join(sorted(DEVICES))}.")
    shown_at, decided_at = _time(raw, "shown_at"), _time(raw, "decided_at")
    if decided_at < shown_at:
        raise RejectedError("bad_time", "“decided_at” lies before “shown_at”.")
    return GivenAnswer(key, template, choice, place, device, shown_at, decided_at)


def _uuid(value: object) -> UUID | None:
    try:
        return UUID(value) if isinstance(value, str) and len(value) == 36 else None
    except ValueError:
        return None


def _time(raw: Mapping[str, Any], name: str) -> datetime:
    value = raw.get(name)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or not 2000 <= moment.year <= 2200:
        raise RejectedError("bad_value", f"“{name}” is not an ISO 8601 time with a zone.")
    return moment
