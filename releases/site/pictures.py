"""Pictures on the pages of releases: only of releases that give their images away."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lookalike.release.format.folder import Folder
from releases.models import Release
from releases.storage import files_folder

N_COVERS = 5
N_CANDIDATES = 6


@dataclass(frozen=True)
class Example:
    """A query and labelled candidates, each by SHA-256; the label is 1 for similar."""

    query: str
    candidates: list[tuple[str, int]]


def covers(release: Release) -> list[str]:
    """Return the SHA-256 of a few images; none where the licence keeps them out."""
    return _covers(files_folder(release)) if release.info["licence"]["with_images"] else []


def shown_pair(release: Release) -> Example | None:
    """Return a query with similar and different images; None where pictures are kept out."""
    return _example(files_folder(release)) if release.info["licence"]["with_images"] else None


def has_picture(release: Release, sha256: str) -> bool:
    """Whether an image is part of a release."""
    if not release.info["licence"]["with_images"] or len(sha256) != 64 or not sha256.isalnum():
        return False
    return any((files_folder(release) / "images").glob(f"{sha256}.*"))


@lru_cache(maxsize=256)  # a release never changes
def _covers(files: Path) -> list[str]:
    return list(Folder(files).sha256_of.values())[:N_COVERS]


@lru_cache(maxsize=256)
def _example(files: Path) -> Example | None:
    folder = Folder(files)
    sha256 = folder.sha256_of
    by_query = folder.qrels().by_query()
    mixed = [query for query, labels in by_query.items() if len(set(labels.values())) == 2]
    if not mixed:
        return None
    ranked = sorted(by_query[mixed[0]].items(), key=lambda pair: (-pair[1], pair[0]))
    similar = [pair for pair in ranked if pair[1] == 1][: N_CANDIDATES // 2]
    different = [pair for pair in ranked if pair[1] == 0][: N_CANDIDATES - len(similar)]
    shown = [(sha256[image], label) for image, label in (*similar, *different)]
    return Example(sha256[mixed[0]], shown)
