"""Which releases may leave the site."""

from __future__ import annotations

from lookalike.release.errors import ReleaseError
from lookalike.release.verify_files import against_manifest
from releases.models import Release, Visibility
from releases.site.integrity import DamagedFileError
from releases.site.queries import campaigns_asking, manifest_of_release
from releases.storage import files_folder


def check_publishable(release: Release) -> None:
    """Return if everybody may have a release, and every file of it is what was frozen.

    Raises:
        ReleaseError: it is for members alone, judges are asked its pairs, or it is damaged.
    """
    if release.visibility != Visibility.PUBLIC:
        raise ReleaseError(f"{release} is for members alone; show it to everybody first.")
    if asking := campaigns_asking(release):
        raise ReleaseError(f"{asking[0]}: its judges would read the votes of others.")
    try:
        manifest = manifest_of_release(release)
    except DamagedFileError as problem:
        raise ReleaseError(str(problem)) from problem
    for finding in against_manifest(files_folder(release), manifest):
        raise ReleaseError(f"{release} is damaged: {finding}")
