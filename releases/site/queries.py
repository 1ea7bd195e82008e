"""Releases, their files and their leaderboards, read for pages and for the API."""

from __future__ import annotations

import hashlib
import logging
import math
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet, Sum
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone

from accounts.models import Role, User
from annotation.models import Campaign, CampaignState
from conditional.models import TripletSet
from jobs.models import Job, JobState
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import MANIFEST, SIGNATURE, TABLES
from lookalike.release.format.manifest import Entry, Manifest, make_entry, parse_manifest
from lookalike.release.format.tables import rows_of
from releases.blindness.images import WithheldError, campaigns_asking, with_campaigns_asking
from releases.freeze.requests import parse_version
from releases.models import Release, Submission, Visibility
from releases.site.integrity import DamagedFileError, check_whole
from releases.storage import archive_path, files_folder

FREEZE_TASK = "releases.tasks.freeze"
SCORE_TASK = "releases.tasks.score"
IMPORT_TASK = "releases.tasks.import_back"
DAILY_QUOTA = 5
PAUSE = timedelta(minutes=1)
logger = logging.getLogger(__name__)

Person = User | AnonymousUser


def is_reader(person: Person) -> bool:
    """Whether a person sees what members see: researchers and admins."""
    return isinstance(person, User) and person.role in {Role.ADMIN, Role.RESEARCHER}


def visible_releases(person: Person) -> QuerySet[Release]:
    """Return the releases that a person may know of, newest version of each benchmark first.

    The content of one may be withheld all the same: see `open_release`.
    """
    releases = with_campaigns_asking(Release.objects.all())
    return releases if is_reader(person) else releases.filter(visibility=Visibility.PUBLIC)


def is_withheld(release: Release, person: Person) -> bool:
    """Whether a release is withheld from a person, since judges see its images."""
    return not is_reader(person) and bool(campaigns_asking(release))


def release_or_404(person: Person, slug: str, version: str = "") -> Release:
    """Return a version of a benchmark that a person may know of; the newest without a version.

    Raises:
        Http404: there is none, or the person may not see it: both look alike.
    """
    releases = visible_releases(person).filter(slug=slug)
    if version:
        try:
            major, minor, patch = parse_version(version)
        except ReleaseError:
            raise Http404 from None
        releases = releases.filter(major=major, minor=minor, patch=patch)
    release = releases.order_by("-major", "-minor", "-patch").first()
    if release is None:
        raise Http404
    return release


def open_release(person: Person, slug: str, version: str = "") -> Release:
    """Return a version of a benchmark whose content a person may see.

    Raises:
        Http404: there is none, or the person may not know of it.
        WithheldError: judges see its images, and the person is no reader.
    """
    release = release_or_404(person, slug, version)
    if is_withheld(release, person):
        raise WithheldError(release)
    return release


def list_versions(person: Person, slug: str) -> list[Release]:
    """Return the versions of a benchmark that a person may see, newest first."""
    return list(visible_releases(person).filter(slug=slug).order_by("-major", "-minor", "-patch"))


def newest_releases(person: Person) -> list[Release]:
    """Return the newest version of each benchmark that a person may see, newest first."""
    newest: dict[str, Release] = {}
    for release in visible_releases(person).order_by("slug", "-major", "-minor", "-patch"):
        newest.setdefault(release.slug, release)
    return sorted(newest.values(), key=lambda release: release.created_at, reverse=True)


def earlier_versions(slug: str, version: tuple[int, int, int]) -> list[Release]:
    """Return the versions below one, highest first."""
    releases = Release.objects.filter(slug=slug).order_by("-major", "-minor", "-patch")
    return [
        release for release in releases if (release.major, release.minor, release.patch) < version
    ]


@dataclass(frozen=True)
class FileLine:
    """A file to download.

    Attributes:
        release: whose.
        path: in the release; empty for the archive.
        name: what it is called on disk.
        sha256: of its bytes.
        n_bytes: its size.
        n_rows: rows or lines, None for other files.
    """

    release: Release
    path: str
    name: str
    sha256: str
    n_bytes: int
    n_rows: int | None = None

    @classmethod
    def of(cls, release: Release, path: str, entry: Entry) -> FileLine:
        """Return a file of the manifest."""
        return cls(release, path, Path(path).name, entry.sha256, entry.n_bytes, entry.n_rows)


def manifest_of_release(release: Release) -> Manifest:
    """Return the manifest.

    Raises:
        DamagedFileError: The file is missing, cut or changed on the disk.
    """
    try:
        return parse_manifest((files_folder(release) / MANIFEST).read_bytes(), MANIFEST)
    except (ReleaseError, OSError) as problem:
        logger.error("The manifest of %s cannot be read: %s.", release, problem)
        raise DamagedFileError(f"{MANIFEST} of {release} is damaged on the server.") from problem


def archive_line(release: Release) -> FileLine:
    """Return the archive as a file to download."""
    name = archive_path(release).name
    return FileLine(release, "", name, release.archive_sha256, release.archive_bytes)


def file_lines(release: Release) -> Iterator[FileLine]:
    """Yield the files of a release, without its images, which come in the archive.

    Raises:
        DamagedFileError: The manifest is damaged.
    """
    for path, entry in manifest_of_release(release).files.items():
        if not path.startswith("images/"):
            yield FileLine.of(release, path, entry)


def line_or_404(release: Release, path: str) -> FileLine:
    """Return one file of a release.

    Raises:
        Http404: there is none of that path.
        DamagedFileError: The manifest is damaged.
    """
    if path == MANIFEST:
        file = files_folder(release) / MANIFEST
        size = file.stat().st_size if file.exists() else 0
        return FileLine(release, MANIFEST, MANIFEST, _manifest_sha256(release), size)
    entry = manifest_of_release(release).files.get(path)
    signature = files_folder(release) / SIGNATURE
    if path == SIGNATURE and signature.exists():
        entry = make_entry(signature)
    if entry is None:
        raise Http404
    return FileLine.of(release, path, entry)


def _manifest_sha256(release: Release) -> str:
    """Return the hash of the manifest's file as it was frozen.

    Its seal is of all else that it says, so it is none of the file; where it does not fit, it is
    what no file has.
    """
    with suppress(DamagedFileError):
        manifest = manifest_of_release(release)
        if manifest.seal == release.seal:
            return hashlib.sha256(manifest.text().encode()).hexdigest()
    return release.seal


class Negative(NamedTuple):
    """A random negative; images by their ids in the release."""

    query: str
    candidate: str


def frozen_negatives(release: Release, start: int, n: int) -> list[Negative]:
    """Return at most `n` random negatives of a release, from the row `start` of their file.

    Raises:
        Http404: the release has none.
        DamagedFileError: the file is not what was frozen.
    """
    line = line_or_404(release, TABLES["negatives"].path)
    folder = Folder(files_folder(release))
    check_whole(folder.path / line.path, line.sha256)
    rows = folder.table("negatives").slice(start, n)
    return [Negative(*row) for row in rows_of(rows, "query_id", "image_id")]


def n_downloads(release: Release) -> int:
    """Return how often the archive and single files were fetched."""
    return int(release.downloads.aggregate(n=Sum("n"))["n"] or 0)


def visible_submissions(release: Release, person: Person) -> QuerySet[Submission]:
    """Return what was submitted to a release: what is published, and one's own."""
    submissions = Submission.objects.filter(release=release).select_related("job", "owner")
    if isinstance(person, User):
        return submissions.filter(Q(is_published=True) | Q(owner=person))
    return submissions.filter(is_published=True)


def submission_or_404(person: Person, uid: uuid.UUID) -> Submission:
    """Return a submission that is published or one's own, of a release that one may see.

    Raises:
        Http404: there is none, or it is somebody else's: both look alike.
    """
    releases = visible_releases(person).prefetch_related(None)
    submissions = Submission.objects.filter(uid=uid, release__in=releases)
    own = Q(owner=person) if isinstance(person, User) else Q(pk=None)
    visible = submissions.filter(Q(is_published=True) | own)
    return get_object_or_404(visible.select_related("release", "job"))


@dataclass(frozen=True)
class Quota:
    """What a person may still submit.

    Attributes:
        n_left: submissions to this release until a day after the oldest of the last day; what was
            refused while it was read, before any score, does not count.
        wait: seconds until the next one, 0 for now.
    """

    n_left: int
    wait: int


def quota(person: User, release: Release) -> Quota:
    """Return how many submissions a person has left for a release today."""
    now = timezone.now()
    jobs = Job.objects.filter(task=SCORE_TASK, owner=person)  # these stay when one is deleted
    recent = jobs.filter(arguments__release=release.pk, created_at__gt=now - timedelta(days=1))
    last = jobs.order_by("-created_at").values_list("created_at", flat=True).first()
    wait = 0 if last is None else max(0, math.ceil((last + PAUSE - now).total_seconds()))
    counted = recent.exclude(state=JobState.FAILED, is_refused=True, n_done=0)
    return Quota(max(0, DAILY_QUOTA - counted.count()), wait)


def freeze_jobs() -> QuerySet[Job]:
    """Return the freezes that are queued, running or failed, newest first."""
    return Job.objects.filter(task=FREEZE_TASK).exclude(state="succeeded").order_by("-id")


def import_jobs() -> QuerySet[Job]:
    """Return all imports, newest first."""
    return Job.objects.filter(task=IMPORT_TASK).order_by("-id")


def releasable_template_campaigns() -> QuerySet[Campaign]:
    """Return the campaigns about templates that nobody judges any more, newest first."""
    closed = Campaign.objects.filter(state=CampaignState.CLOSED)
    return closed.filter(about__template_set__isnull=False).order_by("-pk")


def releasable_triplets() -> QuerySet[TripletSet]:
    """Return the sets of triplets with answers, newest first."""
    return TripletSet.objects.filter(triplets__isnull=False).distinct().order_by("-pk")
