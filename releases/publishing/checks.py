"""Which releases may leave the site."""

from __future__ import annotations

from lookalike.release.errors import ReleaseError
from lookalike.release.verify_files import against_manifest
from releases.blindness.images import campaigns_asking, in_words
from releases.models import Release, Visibility
from releases.site.integrity import DamagedFileError
from releases.site.queries import manifest_of_release
from releases.storage import files_folder


def check_publishable(release: Release) -> None:
    """Return if everybody may have a release, and every file of it is what was frozen.

    Raises:
        ReleaseError: it is for members alone, judges see its images, or it is damaged.
    """
    if release.visibility != Visibility.PUBLIC:
        raise ReleaseError(f"{release} is for members alone; show it to everybody first.")
    if asking := campaigns_asking(release):
        raise ReleaseError(f"{release} is withheld while {in_words(asking)}.")
    try:
        manifest = manifest_of_release(release)
    except DamagedFileError as problem:
        raise ReleaseError(str(problem)) from problem
    for finding in against_manifest(files_folder(release), manifest):
        raise ReleaseError(f"{release} is damaged: {finding}")
