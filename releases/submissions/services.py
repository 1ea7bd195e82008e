"""Take, score, publish and delete submissions: the writers of submissions."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db import IntegrityError, transaction
from django.utils import timezone

from accounts.models import User
from audit.actions import Action
from audit.services import record
from evaluation.runs.disk_quota import check_disk_quota
from evaluation.runs.upload_files import drop_run_file, keep_run_file, kept_path
from jobs.services import JobError, JobProgress, cancel_job, enqueue
from lookalike.io.errors import InputError, message_with_names
from lookalike.metrics.match import Missing
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.rounds import IN_PART
from lookalike.release.submitted import Judged
from releases.models import Release, Submission
from releases.site.queries import DAILY_QUOTA, SCORE_TASK, is_reader, quota
from releases.storage import files_folder, hidden_folder
from releases.submissions.submission_scoring import file_problem, score_submission


class QuotaError(ReleaseError):
    """Too many submissions in a day, or too soon after the last one."""


def submit(
    *,
    release: Release,
    owner: User,
    name: str,
    file: UploadedFile[bytes],
    description: str = "",
    missing: Missing = "error",
    lower_is_better: bool = False,
) -> Submission:
    """Keep an upload and queue its scoring.

    Args:
        release: what it is scored on.
        owner: who sees it until it is published.
        name: as the leaderboard shall show it.
        file: scores or embeddings.
        description: how it was made.
        missing: "error" refuses it without a score for every pair put to the judges; "worst"
            lets missing ones count as the worst.
        lower_is_better: its scores are distances.

    Raises:
        QuotaError: the daily quota is used up, or the last submission is not a minute ago.
        ReleaseError: the name stands on the leaderboard, or the person may not submit.
        InputError: the file is too large or of a kind that cannot be used, or the owner keeps
            too much already.
    """
    if not is_reader(owner):
        raise ReleaseError("Only researchers and admins submit runs.")
    if "judged" in release.results:
        raise ReleaseError(f"No run can be submitted: {IN_PART}.")
    if name in {model["name"] for model in release.entrants}:
        raise ReleaseError(f"“{name}” is on the leaderboard already. Choose another name.")
    if problem := file_problem(str(file.name)):
        raise InputError(problem)
    kept = keep_run_file(file)
    try:
        with transaction.atomic():
            User.objects.select_for_update().get(pk=owner.pk)  # two at once count as two
            _check_quota(release, owner)
            check_disk_quota(owner, file.size or 0)
            submission = Submission.objects.create(
                release=release, owner=owner, name=name, description=description
            )
            submission.job = enqueue(
                task=SCORE_TASK,
                subject=f"submission:{submission.uid}",
                title=f"Score “{name}” on {release}",
                arguments={
                    "submission": str(submission.uid),
                    "release": release.pk,
                    "file": kept,
                    "file_name": str(file.name),
                    "missing": missing,
                    "lower_is_better": lower_is_better,
                },
                owner=owner,
            )
            submission.save(update_fields=["job"])
    except BaseException:
        drop_run_file(kept)
        raise
    return submission


def _check_quota(release: Release, owner: User) -> None:
    left = quota(owner, release)
    if left.n_left == 0:
        raise QuotaError(
            f"You have submitted {DAILY_QUOTA} runs to {release} within a day. Try again tomorrow."
        )
    if left.wait:
        raise QuotaError(f"Wait {left.wait} more seconds before the next one.")


def score(progress: JobProgress) -> dict[str, Any]:
    """Do what a job of `submit` says; twice is once.

    Raises:
        JobError: what is wrong with the upload, as its giver knows it.
    """
    arguments = progress.job.arguments
    submission = (
        Submission.objects.select_related("release").filter(uid=arguments["submission"]).first()
    )
    if submission is None:
        raise JobError("The submission was deleted.")
    if submission.scored_at is not None:
        return {"submission": str(submission.uid), "results": submission.results}
    path = kept_path(arguments["file"])
    if not path.exists():
        raise JobError(
            f"The upload of {arguments['file_name']} is no longer kept. Submit it again."
        )
    release = submission.release
    hidden = hidden_folder(release) if release.info["hidden_percent"] else None
    judged = Judged(Folder(files_folder(release)))
    try:
        progress.update(0, 2, "Reading the file")
        missing = arguments.get("missing", "worst")  # what those queued by an older version meant
        lower_is_better = bool(arguments.get("lower_is_better"))
        run = judged.read(path, submission.name, lower_is_better=lower_is_better)
        scored = judged.pairs_scored(run, missing, path)
        progress.update(1, 2, "Computing measures")
        scores = score_submission(judged, hidden, run)
    except InputError as problem:
        raise JobError(message_with_names(problem, {path: arguments["file_name"]})) from problem
    progress.check()
    Submission.objects.filter(pk=submission.pk).update(
        coverage={"n_pairs": scored.n_pairs, "n_scored": scored.n_scored},
        results=scores.results,
        by_query=scores.by_query,
        hidden_results=scores.hidden_results,
        scored_at=timezone.now(),
    )
    drop_run_file(arguments["file"])
    progress.update(2, 2, "Scored")
    return {"submission": str(submission.uid), "results": scores.results}


def publish(*, submission: Submission, is_published: bool) -> None:
    """Show a scored submission on the leaderboard to all who see the release, or no longer.

    Raises:
        ReleaseError: it has no score yet, or another one of that name is published.
    """
    if is_published and submission.scored_at is None:
        raise ReleaseError(f"“{submission.name}” has no score yet.")
    try:
        with transaction.atomic():
            submission.is_published = is_published
            submission.save(update_fields=["is_published"])
            action = Action.SUBMISSION_PUBLISHED if is_published else Action.SUBMISSION_WITHDRAWN
            record(None, action, submission, release=submission.release)
    except IntegrityError:
        raise ReleaseError(
            f"Another submission of the name “{submission.name}” is on the leaderboard."
        ) from None


@transaction.atomic
def delete(*, submission: Submission) -> None:
    """Delete a submission and what was uploaded for it; the day's quota stays used."""
    job = submission.job
    if job is not None:
        cancel_job(job=job)
        transaction.on_commit(partial(drop_run_file, job.arguments.get("file", "")))
    record(None, Action.SUBMISSION_DELETED, submission, release=submission.release)
    submission.delete()
