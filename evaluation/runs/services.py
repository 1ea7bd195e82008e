"""Take in an uploaded run: keep its files, queue its check. For the page and for the API."""

from __future__ import annotations

from typing import Any

from accounts.models import User
from annotation.models import Campaign
from evaluation.results.services import request_run
from evaluation.runs.upload_files import drop_run_file, keep_run_file
from jobs.models import Job
from jobs.services import JobConflictError
from lookalike.io.errors import InputError


def take_in_run(*, campaign: Campaign, owner: User, given: dict[str, Any]) -> Job:
    """Keep the files of a valid `RunForm` and queue their check; on failure nothing is kept.

    Args:
        campaign: what the run is scored on.
        owner: who may delete it later.
        given: the form's cleaned data.

    Raises:
        InputError: a file is too large.
        JobConflictError: a run of that name is being checked.
        OSError: the disk does not take it.
    """
    kept: list[str] = []
    try:
        for file in (given["file"], given["ids_file"]):
            kept.append(keep_run_file(file) if file else "")
        return request_run(
            campaign=campaign,
            owner=owner,
            file=kept[0],
            ids_file=kept[1],
            details={
                "name": given["name"],
                "family": given["family"],
                "description": given["description"],
                "missing": given["missing"],
                "file_name": str(given["file"].name),
                "ids_file_name": str(given["ids_file"].name) if given["ids_file"] else "",
            },
        )
    except (InputError, JobConflictError, OSError):
        for name in kept:
            drop_run_file(name)
        raise
