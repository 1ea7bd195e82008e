"""What a site tells about releases and submissions, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from lookalike.client.schemas import Job


@dataclass(frozen=True)
class ReleaseFile:
    path: str
    name: str
    sha256: str
    n_bytes: int
    n_rows: int | None
    url: str


@dataclass(frozen=True)
class Release:
    uid: str
    slug: str
    version: str
    title: str
    description: str
    visibility: str
    why_not_shown: str
    seal: str
    has_hidden_labels: bool
    archive: ReleaseFile
    created_at: datetime


@dataclass(frozen=True)
class Signature:
    state: str
    key: str
    reason: str


@dataclass(frozen=True)
class ReleaseWhole(Release):
    signature: Signature
    doi: str
    info: dict[str, Any]
    statistics: dict[str, Any]
    files: list[ReleaseFile]


@dataclass(frozen=True)
class Negative:
    query: str
    candidate: str


@dataclass(frozen=True)
class Submission:
    uid: str
    release: str
    version: str
    name: str
    is_published: bool
    job: Job | None
    scored_at: datetime | None
    coverage: dict[str, int]
    results: dict[str, Any]
    hidden_results: dict[str, Any]
