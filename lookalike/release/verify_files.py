"""Check the files of a release against its manifest: all there, unchanged, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from lookalike.release.format.layout import MANIFEST, SIGNATURE
from lookalike.release.format.manifest import Entry, Manifest, count_rows, file_digest, paths_in


@dataclass(frozen=True)
class Finding:
    """Something that is not as it should be.

    Attributes:
        path: the file, as the manifest names it.
        reason: what is wrong with it.
    """

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def against_manifest(
    folder: Path, manifest: Manifest, strays: Iterable[tuple[str, str]] = ()
) -> Iterator[Finding]:
    """Yield every file that is missing, changed or not of the release.

    Args:
        folder: of the release.
        manifest: of the same release.
        strays: entries of its zip, and what is wrong with them.
    """
    reasons = dict(strays)
    yield from (Finding(*stray) for stray in reasons.items())
    held = set(paths_in(folder)) - {MANIFEST, SIGNATURE}
    for path in sorted(held - manifest.files.keys() - reasons.keys()):
        yield Finding(path, "is not in the manifest")
    for path, expected in sorted(manifest.files.items()):
        if path in reasons:
            continue
        if path not in held:
            yield Finding(path, "is missing")
        elif (folder / path).is_symlink():
            yield Finding(path, "is a link, not a file")
        elif reason := _differs(folder / path, expected):
            yield Finding(path, reason)


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
