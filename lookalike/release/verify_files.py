"""Check the files of a release against its manifest: all there, unchanged, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lookalike.client.desktop_junk import is_junk
from lookalike.release.format.archive import JUNK, OUTSIDE
from lookalike.release.format.layout import MANIFEST, SIGNATURE
from lookalike.release.format.manifest import Entry, Manifest, count_rows, file_digest, paths_in


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        path: the file, as the manifest names it.
        reason: what is wrong with it.
        is_extra: it is no file of the release, and hurts none of them.
    """

    path: str
    reason: str
    is_extra: bool = False

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def against_manifest(
    folder: Path, manifest: Manifest, strays: Iterable[tuple[str, str]] = ()
) -> Iterator[Finding]:
    """Yield every file that is missing, changed or not of the release; junk of systems is none.

    Args:
        folder: of the release.
        manifest: of the same release.
        strays: entries of its zip, and what is wrong with them.
    """
    reasons = {path: reason for path, reason in strays if reason != JUNK}
    for path, reason in reasons.items():
        yield Finding(path, reason, is_extra=reason.startswith(OUTSIDE))
    held = set(paths_in(folder)) - {MANIFEST, SIGNATURE}
    for path in sorted(held - manifest.files.keys() - reasons.keys()):
        if not is_junk(path):
            yield Finding(path, "is an extra file: the manifest does not list it", is_extra=True)
    for path, expected in sorted(manifest.files.items()):
        if path in reasons:
            continue
        if path not in held:
            yield Finding(path, "is missing")
        elif (folder / path).is_symlink():
            yield Finding(path, "is a link, not a file")
        elif reason := _differs(folder / path, expected):
            yield Finding(path, reason)


def junk_of(
    folder: Path, manifest: Manifest, strays: Iterable[tuple[str, str]] = ()
) -> tuple[str, ...]:
    """Return the files that systems have left in a release; arguments as `against_manifest`."""
    held = {path for path in paths_in(folder) if is_junk(path)} - manifest.files.keys()
    return tuple(sorted(held | {path for path, reason in strays if reason == JUNK}))


def _differs(path: Path, expected: Entry) -> str:
    """Compare a file with its entry; nothing of it is read as a table before its hash fits."""
    try:
        sha256, n_bytes, n_lines = file_digest(path)
    except OSError as problem:
        return f"cannot be read: {problem}"
    if sha256 != expected.sha256:
        return "was changed: its SHA-256 is not that of the manifest"
    try:
        n_rows = count_rows(path, n_lines)
    except (pa.ArrowException, OSError) as problem:
        return f"is not readable as parquet: {problem}"
    if (n_bytes, n_rows) != (expected.n_bytes, expected.n_rows):
        return "has another number of bytes or rows than the manifest says"
    return ""
