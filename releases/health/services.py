"""Compare the versions of a benchmark, each with the one before."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from accounts.models import User
from jobs.models import Job
from jobs.queries import latest_found
from jobs.services import JobError, JobProgress, enqueue
from lookalike.core.dataclass_json import as_json
from lookalike.io.errors import InputError
from lookalike.release.health import VersionHealth, versions_health
from lookalike.release.opened import open_release
from releases.models import Release
from releases.storage import files_folder

HEALTH_TASK = "releases.tasks.health"
MEASURE = "AP'"
K = 5


@dataclass(frozen=True)
class HealthLine:
    """A version in a line of the table; NaN or None where nothing is known.

    Attributes:
        version: its number.
        n_queries, n_labels: of it.
        n_tied, n_models: of the models that the board begins with, how many are tied at the top.
        told_apart: share of their pairs.
        hole, hole_of_new: mean share of the first `K` of models from outside that nobody judged.
        n_shared, changed: labels that the version before had, too, and the share that changed.
        tau: between the orders of both versions.
    """

    version: str
    n_queries: int
    n_labels: int
    n_tied: int | None
    n_models: int
    told_apart: float
    hole: float
    hole_of_new: float
    n_shared: int | None
    changed: float
    tau: float

    @classmethod
    def of(cls, version: str, one: VersionHealth) -> HealthLine:
        """Return the line of a version."""
        top, drift = one.top, one.drift
        return cls(
            version=version,
            n_queries=one.n_queries,
            n_labels=one.n_labels,
            n_tied=top.n_tied if top else None,
            n_models=top.n_models if top else 0,
            told_apart=top.power if top else math.nan,
            hole=one.mean_hole(),
            hole_of_new=one.mean_hole(of_new=True),
            n_shared=drift.n_shared if drift else None,
            changed=drift.share if drift else math.nan,
            tau=drift.tau if drift else math.nan,
        )


@dataclass(frozen=True)
class Health:
    """What was found."""

    lines: list[HealthLine]


def health_subject(slug: str) -> str:
    """Return what the job is about."""
    return f"health:{slug}"


def request_health(*, slug: str, owner: User) -> Job:
    """Queue the comparison of a benchmark's versions.

    Raises:
        JobConflictError: it is under way, or the person has too many jobs waiting.
    """
    return enqueue(
        task=HEALTH_TASK,
        subject=health_subject(slug),
        title=f"Health of “{slug}” over its versions",
        arguments={"slug": slug},
        owner=owner,
    )


def compare_versions(progress: JobProgress) -> dict[str, Any]:
    """Do the job: read every version, the oldest first.

    Raises:
        JobError: one cannot be read, or is no version of the others.
    """
    slug = progress.job.arguments["slug"]
    versions = list(Release.objects.filter(slug=slug).order_by("major", "minor", "patch"))
    if not versions:
        raise JobError("The benchmark was deleted.")
    progress.note(f"Reading {len(versions)} versions")
    try:
        with ExitStack() as stack:
            opened = [stack.enter_context(open_release(files_folder(one))) for one in versions]
            found = versions_health(opened, MEASURE, K)
    except (InputError, OSError) as problem:
        raise JobError(f"{problem}") from problem
    lines = [HealthLine.of(row.version, one) for row, one in zip(versions, found, strict=True)]
    return dict(as_json(Health(lines)))


def latest_health(slug: str) -> Health | None:
    """Return the newest comparison that ended well."""
    return latest_found(HEALTH_TASK, health_subject(slug), Health)
