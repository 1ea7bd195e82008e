"""The job that checks an uploaded run, the same for a worker and a command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from accounts.models import User
from annotation.models import Campaign
from evaluation.runs.services import add_run, name_problem
from evaluation.runs.targets import Target
from evaluation.runs.upload_checks import read_arrival
from evaluation.runs.upload_files import drop_run_file, kept_path
from jobs.services import JobError, JobProgress
from lookalike.io.errors import InputError, message_with_names
from lookalike.metrics.match import Missing


@dataclass(frozen=True)
class ArrivingRun:
    """A run to be checked, and the names its giver knows its files by."""

    name: str
    path: Path
    file_name: str
    ids_path: Path | None = None
    ids_file_name: str = ""
    family: str = ""
    description: str = ""
    missing: Missing = "error"
    lower_is_better: bool = False

    @property
    def file_names(self) -> dict[Path, str]:
        """What its giver calls the file that lies at each path."""
        names = {self.path: self.file_name}
        return names if self.ids_path is None else names | {self.ids_path: self.ids_file_name}


def check_and_add_run(
    campaign: Campaign, owner: User | None, arriving: ArrivingRun, progress: JobProgress
) -> dict[str, Any]:
    """Check a run, store it, ask for an evaluation, and return the job's result.

    Raises:
        JobError: what is wrong with it, naming file and line as its giver knows them.
    """
    progress.update(0, 2, "Reading the file")
    try:
        target = Target.of(campaign)
        problem = name_problem(campaign, arriving.name)
        if problem:
            raise InputError(problem)
        progress.update(1, 2, "Checking names and scores")
        scores, coverage = read_arrival(
            target,
            arriving.name,
            arriving.path,
            ids_path=arriving.ids_path,
            missing=arriving.missing,
            lower_is_better=arriving.lower_is_better,
        )
        progress.check()
        run = add_run(
            campaign=campaign,
            owner=owner,
            scores=scores,
            coverage=coverage,
            family=arriving.family,
            description=arriving.description,
            missing=arriving.missing,
        )
    except InputError as problem:
        raise JobError(message_with_names(problem, arriving.file_names)) from problem
    progress.update(2, 2, "Checked")
    return {"run": str(run.uid), "campaign": campaign.slug, "name": run.name, **run.coverage}


def check_upload(progress: JobProgress) -> dict[str, Any]:
    """Do the job that `request_run` queued; the uploaded files go once the run is stored."""
    arguments = progress.job.arguments
    outcome = check_and_add_run(
        Campaign.objects.get(pk=arguments["campaign"]),
        User.objects.filter(pk=arguments["owner"]).first(),
        ArrivingRun(
            name=arguments["name"],
            path=_still_there(arguments["file"], arguments["file_name"]),
            file_name=arguments["file_name"],
            ids_path=_still_there(arguments["ids_file"], arguments["ids_file_name"])
            if arguments["ids_file"]
            else None,
            ids_file_name=arguments["ids_file_name"],
            family=arguments["family"],
            description=arguments["description"],
            missing=arguments["missing"],
            lower_is_better=arguments.get("lower_is_better", False),
        ),
        progress,
    )
    drop_run_file(arguments["file"])
    drop_run_file(arguments["ids_file"])
    return outcome


def _still_there(kept: str, name: str) -> Path:
    path = kept_path(kept)
    if not path.exists():
        raise JobError(f"The upload of {name} is no longer kept. Upload it again.")
    return path
