"""Freeze releases and count their downloads: the writers of this app."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from accounts.models import User
from annotation.models import Campaign
from annotation.services import hide_labels
from audit.actions import Action
from audit.services import record
from jobs.models import Job
from jobs.services import JobError, JobProgress, enqueue
from lookalike.core.progress import Steps
from lookalike.release.diff import difference, difference_text
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.manifest import make_entry, read_manifest
from releases.blindness.images import note_images
from releases.blindness.pairs import note_release
from releases.freeze.freeze import build
from releases.freeze.requests import FreezeRequest, parse_version
from releases.models import Download, Release, Visibility
from releases.site.board import prepare_board
from releases.site.queries import FREEZE_TASK, earlier_versions
from releases.storage import building_folder, files_folder, final_folder, left_building

N_STEPS = 14  # roughly what `build` tells, before one for each model


def freeze_job(request: FreezeRequest) -> dict[str, Any]:
    """Return what names a freeze: the same for a worker and for a command."""
    return {
        "task": FREEZE_TASK,
        "subject": f"release:{request.slug}:{request.version}",
        "title": f"Freeze {request.title} {request.version}",
        "arguments": request.as_json(),
    }


def request_freeze(*, request: FreezeRequest, owner: User | None) -> Job:
    """Queue a freeze.

    Raises:
        ReleaseError: the version exists, or a campaign does not.
        JobConflictError: the same version is being frozen.
    """
    check_request(request)
    return enqueue(**freeze_job(request), owner=owner)


def check_request(request: FreezeRequest) -> None:
    """Check what can be known before a worker begins.

    Raises:
        ReleaseError: the version exists, or a campaign does not.
    """
    major, minor, patch = parse_version(request.version)
    if Release.objects.filter(slug=request.slug, major=major, minor=minor, patch=patch).exists():
        raise ReleaseError(
            f"{request.slug} {request.version} exists, and a release is never changed. Choose a "
            "higher version."
        )
    known = set(
        Campaign.objects.of_pairs()
        .filter(slug__in=request.campaigns)
        .values_list("slug", flat=True)
    )
    missing = [slug for slug in request.campaigns if slug not in known]
    if missing:
        raise ReleaseError(f"There is no campaign “{missing[0]}”.")


def freeze(request: FreezeRequest, progress: JobProgress) -> dict[str, Any]:
    """Build a release, move it into place and list it; may be cut short and called again.

    Raises:
        JobError: it cannot be frozen; the message says why.
        JobLostError: the job was cancelled; nothing is left behind.
    """
    steps = Steps(progress, N_STEPS)
    folder = building_folder(request, progress.job)
    for dead in left_building(request, progress.job):
        shutil.rmtree(dead, ignore_errors=True)
    try:
        check_request(request)
        build(request, folder, steps)
        progress.check()
        release = _publish(request, folder, progress.job.owner)
    except ReleaseError as problem:
        raise JobError(str(problem)) from problem
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    prepare_board(release)
    steps.end("Frozen")
    return {"release": release.slug, "version": release.version, "seal": release.seal}


def _publish(request: FreezeRequest, folder: Path, owner: User | None) -> Release:
    """Move a whole folder into place and list it, in that order."""
    row = _row(request, folder, owner)
    target = final_folder(request.slug, request.version)
    try:
        with transaction.atomic():
            row.save()
            campaigns = Campaign.objects.filter(slug__in=request.campaigns)
            row.campaigns.set(campaigns)
            record(owner, Action.RELEASE_FROZEN, row, seal=row.seal, visibility=row.visibility)
            if row.has_hidden_labels:
                hide_labels(campaigns=campaigns)
            files = Folder(folder / "files")
            note_release(release=row, hidden=_hidden_queries(files))
            note_images(row, files.sha256_of.values())
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(target, ignore_errors=True)  # of a freeze that died before its row
            folder.rename(target)
    except IntegrityError:
        raise ReleaseError(f"{request.slug} {request.version} exists already.") from None
    return row


def _hidden_queries(files: Folder) -> list[str]:
    """Return the SHA-256 of the queries whose labels a release keeps back."""
    splits = files.rows("queries", "query_id", "split")
    return [files.sha256_of[query] for query, split in splits if split == "hidden"]


def _row(request: FreezeRequest, folder: Path, owner: User | None) -> Release:
    files = Folder(folder / "files")
    archive = make_entry(folder / f"{request.root}.zip")
    major, minor, patch = parse_version(request.version)
    before = earlier_versions(request.slug, (major, minor, patch))
    return Release(
        slug=request.slug,
        title=request.title,
        major=major,
        minor=minor,
        patch=patch,
        visibility=Visibility.PUBLIC if request.is_public else Visibility.MEMBERS,
        description=request.description,
        info=files.info,
        statistics=files.json("statistics.json"),
        entrants=[{**model, "card": {}} for model in files.models],
        results=files.json("results.json"),
        hidden_results=Folder(folder / "hidden").json("results.json")
        if files.info["hidden_percent"]
        else {},
        changes=_changes(before[0], files) if before else {},
        seal=read_manifest(files.path).seal,
        archive_sha256=archive.sha256,
        archive_bytes=archive.n_bytes,
        created_by=owner,
    )


def _changes(before: Release, files: Folder) -> dict[str, Any]:
    """Return what is new against an earlier version, as text and as counts."""
    change = difference(Folder(files_folder(before)), files)
    kept = change.as_json()
    flipped = kept.pop("flipped")
    return {"text": difference_text(change), "n_flipped": len(flipped), **kept}


@transaction.atomic
def set_visibility(*, release: Release, is_public: bool) -> None:
    """Show a release to everybody, or to members alone."""
    before = release.visibility
    release.visibility = Visibility.PUBLIC if is_public else Visibility.MEMBERS
    release.save(update_fields=["visibility"])
    action = Action.RELEASE_SHOWN if is_public else Action.RELEASE_HIDDEN
    record(None, action, release, before=before, after=release.visibility)


def count_download(*, release: Release, path: str) -> None:
    """Count one download of a file, or of the archive for the empty path."""
    day = timezone.localdate()
    Download.objects.get_or_create(release=release, path=path[:300], day=day)
    Download.objects.filter(release=release, path=path[:300], day=day).update(n=F("n") + 1)
