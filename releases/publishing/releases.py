"""Find a release by what a command line says."""

from __future__ import annotations

from lookalike.release.errors import ReleaseError
from releases.freeze.requests import parse_version
from releases.models import Release


def find_release(slug: str, version: str) -> Release:
    """Return a version of a benchmark.

    Raises:
        ReleaseError: there is none.
    """
    major, minor, patch = parse_version(version)
    found = Release.objects.filter(slug=slug, major=major, minor=minor, patch=patch).first()
    if found is None:
        raise ReleaseError(f"There is no release {slug} {version}.")
    return found
