"""Read what a browser posts about its answers, and refuse what cannot be an answer.

Pure. The annotator is never read from the body: it is whoever is signed in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from annotation.models.choices import PICK
from annotation.task_kinds import ALWAYS

OpenPick = Callable[[str, str], str | None]
OpenName = Callable[[str], UUID | None]
ANSWERS = frozenset({"similar", "different", "cant_tell", *ALWAYS})
REASONS = frozenset({"bad_image", "not_comparable", "unsure", "policy"})
MODES = frozenset({"pair", "sheet", "choice"})
DEVICES = frozenset({"keyboard", "mouse", "touch"})
MAX_BATCH = 200
MAX_MS = 24 * 3600 * 1000


class MalformedError(Exception):
    """The body is not a list of answers; nothing of it was taken."""


class RejectedError(Exception):
    """One answer cannot be taken; the others of its batch may be."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Submission:
    """One answer as a browser sends it; times are the browser's own."""

    uuid: UUID
    question: UUID
    answer: str
    reason: str
    mode: str
    device: str
    guideline_version: int
    shown_at: datetime
    decided_at: datetime
    visible_ms: int
    load_ms: int
    undoes: UUID | None


@dataclass(frozen=True)
class Taken:
    """Which answers a campaign takes.

    Attributes:
        answers: words.
        open_pick: given a question's name and the key of a picture, returns the answer that picks
            it, None if it is not the question's; None where nothing is picked.
        open_name: given a question's name, returns its uid; None if it names none.
    """

    answers: frozenset[str] = ANSWERS
    open_pick: OpenPick | None = None
    open_name: OpenName | None = None


ABOUT_PAIRS = Taken()


def read_batch(
    body: object, taken: Taken = ABOUT_PAIRS
) -> list[tuple[UUID, Submission | RejectedError]]:
    """Return each answer by its UUID, as read or with the reason why it cannot be taken.

    Args:
        body: the parsed JSON.
        taken: by the campaign.

    Raises:
        MalformedError: the body is not {"answers": [...]} of 1 to `MAX_BATCH` objects, each
            with a UUID to reply to.
    """
    answers = body.get("answers") if isinstance(body, dict) else None
    if not isinstance(answers, list):
        raise MalformedError("The body must be an object with a list “answers”.")
    if not 1 <= len(answers) <= MAX_BATCH:
        raise MalformedError(f"Send 1 to {MAX_BATCH} answers at once, not {len(answers)}.")
    batch: list[tuple[UUID, Submission | RejectedError]] = []
    for number, raw in enumerate(answers, start=1):
        if not isinstance(raw, dict):
            raise MalformedError(f"Answer {number} is not an object.")
        try:
            key = read_uuid(raw, "uuid")
        except RejectedError:
            raise MalformedError(f"Answer {number} has no valid “uuid”.") from None
        try:
            batch.append((key, read_submission(raw, taken)))
        except RejectedError as problem:
            batch.append((key, problem))
    return batch


def read_submission(raw: Mapping[str, Any], taken: Taken = ABOUT_PAIRS) -> Submission:
    """Return one answer.

    Raises:
        RejectedError: a field is missing, of the wrong type, outside its list or negative, or
            the fields do not fit together; the message names the field.
    """
    answer = _picked(raw, taken) or _one_of(raw, "answer", taken.answers)
    reason = _one_of(raw, "reason", REASONS | {""}, default="")
    if answer == "skip" and not reason:
        raise RejectedError("reason_missing", _("Say why the question is skipped."))
    if reason and answer not in {"skip", "cant_tell"}:
        raise RejectedError("reason_unwanted", f"“{answer}” takes no reason.")
    undoes = None if raw.get("undoes") is None else read_uuid(raw, "undoes")
    if (undoes is None) == (answer == "withdrawn"):
        raise RejectedError("undo_mismatch", "“withdrawn” and “undoes” belong together.")
    shown_at, decided_at = read_time(raw, "shown_at"), read_time(raw, "decided_at")
    if decided_at < shown_at:
        raise RejectedError("bad_time", "“decided_at” lies before “shown_at”.")
    return Submission(
        uuid=read_uuid(raw, "uuid"),
        question=read_question(raw, taken.open_name),
        answer=answer,
        reason=reason,
        mode=_one_of(raw, "mode", MODES),
        device=_one_of(raw, "device", DEVICES),
        guideline_version=_whole(raw, "guideline_version", 1, 2**31 - 1),
        shown_at=shown_at,
        decided_at=decided_at,
        visible_ms=_whole(raw, "visible_ms", 0, MAX_MS),
        load_ms=_whole(raw, "load_ms", 0, MAX_MS),
        undoes=undoes,
    )


def _picked(raw: Mapping[str, Any], taken: Taken) -> str | None:
    """Return the answer that picks a picture, which the browser knows by a key; None for others."""
    answer = raw.get("answer")
    if taken.open_pick is None or not (isinstance(answer, str) and answer.startswith(PICK)):
        return None
    picked = taken.open_pick(str(raw.get("question")), answer.removeprefix(PICK))
    if picked is None:
        raise RejectedError("bad_value", "“answer” picks none of the question's images.")
    return picked


def read_uuid(raw: Mapping[str, Any], name: str) -> UUID:
    """Return a UUID by its name in what a browser sent; RejectedError where it is none."""
    value = raw.get(name)
    if isinstance(value, str) and len(value) == 36:
        try:
            return UUID(value)
        except ValueError:
            pass
    raise RejectedError("bad_value", f"“{name}” is not a UUID.")


def read_question(raw: Mapping[str, Any], open_name: OpenName | None) -> UUID:
    """Return the uid of the question that a browser names; RejectedError where it is none."""
    name = raw.get("question")
    if open_name is None or not isinstance(name, str):
        return read_uuid(raw, "question")
    uid = open_name(name)
    if uid is None:
        raise RejectedError("not_served", _("This question was not given to you."))
    return uid


def _one_of(
    raw: Mapping[str, Any], name: str, allowed: frozenset[str], default: str | None = None
) -> str:
    value = raw.get(name, default)
    if not isinstance(value, str) or value not in allowed:
        raise RejectedError("bad_value", f"“{name}” is none of: {', '.join(sorted(allowed))}.")
    return value


def _whole(raw: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = raw.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise RejectedError("bad_value", f"“{name}” is not a whole number from {low} to {high}.")
    return value


def read_time(raw: Mapping[str, Any], name: str) -> datetime:
    """Return a moment in UTC by its name in what a browser sent.

    Raises:
        RejectedError: it is no time with a zone, or none that a clock of today could show.
    """
    value = raw.get(name)
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
        # PostgreSQL knows fewer offsets than Python
        in_utc = None if moment is None or moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        in_utc = None
    if in_utc is None or not 2000 <= in_utc.year <= 2200:
        raise RejectedError("bad_value", f"“{name}” is not an ISO 8601 time with a zone.")
    return in_utc
