"""What needs an admin's attention; each app says its own in an `attention` of its own."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Urgency(IntEnum):
    """How soon; what is more urgent comes first."""

    NOW = 0
    SOON = 1
    HINT = 2


@dataclass(frozen=True)
class Attention:
    """One line of the overview: what is the matter, and the next step.

    Attributes:
        kind: the matter in one or two words.
        title: which catalog, pool, campaign or job.
        text: what was found; what it means.
        url: where the matter is looked at.
        urgency: its place in the list.
        buttons: (label, address that takes a POST), done at once from the line.
        instead_of: (kind, url) of the line of an earlier app that says less of the same.
    """

    kind: str
    title: str
    text: str
    url: str
    urgency: Urgency = Urgency.SOON
    buttons: tuple[tuple[str, str], ...] = ()
    instead_of: tuple[str, str] | None = None
