"""Where releases lie on disk. A folder that is in place is whole."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings

from jobs.models import Job
from releases.freeze.requests import FreezeRequest
from releases.models import Release


def releases_folder() -> Path:
    """Return the folder of all releases."""
    return Path(settings.DATA_DIR) / "releases"


def building_folder(request: FreezeRequest, job: Job) -> Path:
    """Return where one attempt at a release lies while it is made; never listed, never served."""
    return releases_folder() / ".building" / f"{request.root}.{job.uid}.{job.n_attempts}"


def left_building(request: FreezeRequest, job: Job) -> list[Path]:
    """Return the folders of a job's earlier attempts, which died or lost the job."""
    folders = (releases_folder() / ".building").glob(f"{request.root}.{job.uid}.*")
    return [path for path in folders if int(path.name.rpartition(".")[2]) < job.n_attempts]


def final_folder(slug: str, version: str) -> Path:
    """Return where a release lies: files/, hidden/ and the archive beside each other."""
    return releases_folder() / slug / version


def files_folder(release: Release) -> Path:
    """Return the folder of a release's files."""
    return final_folder(release.slug, release.version) / "files"


def hidden_folder(release: Release) -> Path:
    """Return the folder of the labels that are kept back; it is never served."""
    return final_folder(release.slug, release.version) / "hidden"


def archive_path(release: Release) -> Path:
    """Return the archive."""
    return final_folder(release.slug, release.version) / f"{release.slug}-{release.version}.zip"
