"""How much of the site's disk one person's runs take, and how much they may."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.template.defaultfilters import filesizeformat, pluralize
from django.utils import timezone

from accounts.models import User
from catalog.importing.uploads import KEPT_SECONDS
from evaluation.models import Run
from evaluation.runs.stored_runs import run_path
from evaluation.runs.upload_files import kept_path
from jobs.models import Job
from lookalike.io.errors import InputError


class DiskUse(NamedTuple):
    """What one person keeps: runs, and uploads that wait for their check or have failed it."""

    n_runs: int
    n_uploads: int
    n_bytes: int


def disk_quota(person: User) -> int | None:
    """Return how many bytes a person may keep; None for admins, or where there is no limit."""
    return settings.DISK_QUOTA_MIB * 2**20 or None if not person.is_admin else None


def disk_use(person: User) -> DiskUse:
    """Return what a person keeps now; runs of the same scores are one file."""
    stored = set(Run.objects.filter(owner=person).values_list("sha256", flat=True))
    since = timezone.now() - timedelta(seconds=KEPT_SECONDS)
    jobs = Job.objects.filter(owner=person, created_at__gt=since, arguments__has_key="file")
    names = {job.get(key) for job in jobs.values_list("arguments", flat=True)
             for key in ("file", "ids_file")}  # fmt: skip
    runs = [path.stat().st_size for path in map(run_path, stored) if path.exists()]
    uploads = [path.stat().st_size for name in names if name and (path := kept_path(name)).exists()]
    return DiskUse(len(runs), len(uploads), sum(runs) + sum(uploads))


def check_disk_quota(person: User, n_bytes: int) -> None:
    """Let a person keep so many bytes more, in the transaction that stores whose they are.

    Raises:
        InputError: that is more than one person may keep; the message says what to do.
    """
    most = disk_quota(person)
    if most is None:
        return
    User.objects.select_for_update(no_key=True).get(pk=person.pk)  # two at once count as two
    use = disk_use(person)
    if use.n_bytes + n_bytes > most:
        raise InputError(
            f"Your {use.n_runs} run{pluralize(use.n_runs)} and {use.n_uploads} "
            f"upload{pluralize(use.n_uploads)} take {filesizeformat(use.n_bytes)} of the "
            f"{filesizeformat(most)} that one person may keep here; this has "
            f"{filesizeformat(n_bytes)}. Delete runs that you no longer need, or ask an admin; "
            "uploads that could not be read go after a day."
        )
