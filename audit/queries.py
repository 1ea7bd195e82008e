"""What the page, the download and the API read of the audit log."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet

from audit.models import Entry
from lookalike.io.csv_text import protected

COLUMNS = ("time", "actor", "action", "subject kind", "subject id", "subject", "details",
           "address", "request")  # fmt: skip


@dataclass(frozen=True)
class EntryFilter:
    """Which entries are wanted; what is empty does not narrow them."""

    actor: str = ""
    action: str = ""
    kind: str = ""
    subject: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def entries(self) -> QuerySet[Entry]:
        """Return the entries, newest first."""
        wanted = Q()
        if self.actor:
            wanted &= Q(actor_name=self.actor)
        if self.action:
            wanted &= Q(action=self.action)
        if self.kind:
            wanted &= Q(subject_kind=self.kind)
        if self.subject:
            wanted &= Q(subject_label__icontains=self.subject) | Q(subject_id=self.subject)
        if self.since:
            wanted &= Q(at__gte=self.since)
        if self.until:
            wanted &= Q(at__lt=self.until)
        return Entry.objects.filter(wanted).order_by("-id")


class _Line:
    """Hands each line that `csv` writes to whoever sends it on."""

    def write(self, line: str) -> str:
        return line


def csv_lines(entries: QuerySet[Entry]) -> Iterator[str]:
    """Yield a CSV file line by line; no cell is taken for a formula."""
    writer = csv.writer(_Line())
    yield writer.writerow(COLUMNS)
    for entry in entries.iterator(chunk_size=1000):
        details = "; ".join(f"{name}: {value}" for name, value in entry.detail_texts)
        texts = (entry.actor_name, entry.action, entry.subject_kind, entry.subject_id,
                 entry.subject_label, details)  # fmt: skip
        yield writer.writerow(
            [
                entry.at.isoformat(),
                *map(protected, texts),
                entry.address or "",
                entry.request_id,
            ]
        )
