"""Which jobs a person may see."""

from __future__ import annotations

import uuid

from django.db.models import QuerySet
from django.http import Http404

from accounts.models import User
from jobs.models import Job


def jobs_of(person: User) -> QuerySet[Job]:
    """Return all jobs for an admin, a person's own for everybody else."""
    jobs = Job.objects.select_related("owner")
    return jobs if person.is_admin else jobs.filter(owner=person)


def job_of(person: User, uid: uuid.UUID) -> Job:
    """Return one job.

    Raises:
        Http404: there is none, or it is somebody else's: both look alike.
    """
    job = jobs_of(person).filter(uid=uid).first()
    if job is None:
        raise Http404
    return job
