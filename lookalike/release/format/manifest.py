"""The list of a release's files with hash, size and rows, sealed by a hash of its own."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow.parquet as pq

from lookalike.release.errors import ReleaseError
from lookalike.release.format.layout import MANIFEST, READABLE, SCHEMA_VERSION, SIGNATURE

_BLOCK = 2**20
HEADER_LINES = {".csv": 1, ".jsonl": 0, ".txt": 0}


@dataclass(frozen=True)
class Entry:
    """One file.

    Attributes:
        sha256: of its bytes.
        n_bytes: its size.
        n_rows: rows of a table or lines of a list, None for other files.
    """

    sha256: str
    n_bytes: int
    n_rows: int | None


@dataclass(frozen=True)
class Manifest:
    """What a release is: its name, its version and its files by path."""

    release: str
    version: str
    files: Mapping[str, Entry]
    schema_version: int = SCHEMA_VERSION

    @property
    def seal(self) -> str:
        """SHA-256 over everything else in the manifest: it names the release's content."""
        return hashlib.sha256(_text(self._body()).encode()).hexdigest()

    def text(self) -> str:
        """Return the manifest as it stands in its file."""
        return _text({**self._body(), "seal": self.seal})

    def _body(self) -> dict[str, Any]:
        return {
            "schema_version": self.schema_version,
            "release": self.release,
            "version": self.version,
            "files": {path: asdict(entry) for path, entry in sorted(self.files.items())},
        }


def _text(content: object) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def make_manifest(
    folder: Path, release: str, version: str, schema_version: int = SCHEMA_VERSION
) -> Manifest:
    """Hash every file of a folder, the manifest itself and its signature left out."""
    files = {path: make_entry(folder / path) for path in sorted(paths_in(folder))}
    for path in (MANIFEST, SIGNATURE):
        files.pop(path, None)
    return Manifest(release, version, files, schema_version)


def paths_in(folder: Path) -> Iterator[str]:
    """Yield the relative path of every file."""
    for path in folder.rglob("*"):
        if path.is_file() or path.is_symlink():
            yield path.relative_to(folder).as_posix()


def make_entry(path: Path) -> Entry:
    """Hash and count one file."""
    sha256, n_bytes, n_lines = file_digest(path)
    return Entry(sha256, n_bytes, count_rows(path, n_lines))


def file_digest(path: Path) -> tuple[str, int, int]:
    """Return SHA-256, bytes and line breaks of a file, whatever it holds."""
    digest = hashlib.sha256()
    n_lines = n_bytes = 0
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            n_bytes += len(block)
            n_lines += block.count(b"\n")
    return digest.hexdigest(), n_bytes, n_lines


def count_rows(path: Path, n_lines: int) -> int | None:
    """Return the rows of a table or the lines of a list, None for other files.

    Args:
        n_lines: line breaks in the file.
    """
    if path.suffix == ".parquet":
        return int(pq.read_metadata(path).num_rows)
    if path.name == "LICENSE.txt" or path.suffix not in HEADER_LINES:
        return None
    return n_lines - HEADER_LINES[path.suffix]


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a release folder.

    Raises:
        ReleaseError: none, of another schema version, or changed.
    """
    try:
        content = (folder / MANIFEST).read_bytes()
    except FileNotFoundError:
        raise ReleaseError(
            f"{folder} holds no {MANIFEST}: it is no release, or is incomplete"
        ) from None
    return parse_manifest(content, MANIFEST)


def parse_manifest(content: bytes, where: str) -> Manifest:
    """Read a manifest.

    Raises:
        ReleaseError: not a manifest, of another schema version, naming unsafe paths, or changed
            since it was written: every byte of it counts.
    """
    try:
        parsed = json.loads(content)
        version = parsed["schema_version"]
        if version not in READABLE:
            raise ReleaseError(
                f"{where} is of schema version {version}; this program reads "
                f"{' and '.join(map(str, READABLE))}. "
                "Use the version of Lookalike that wrote it, or a newer one."
            )
        files = {str(path): Entry(**entry) for path, entry in parsed["files"].items()}
        manifest = Manifest(str(parsed["release"]), str(parsed["version"]), files, version)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as problem:
        if isinstance(problem, ReleaseError):
            raise
        raise ReleaseError(f"{where} is no manifest of a release: {problem!r}") from problem
    for path in files:
        if not is_safe(path):
            raise ReleaseError(f"{where} names a path outside the release: {path!r}")
    if manifest.text().encode() != content:
        raise ReleaseError(f"{where} was changed after it was written: its seal does not fit")
    return manifest


def is_safe(path: str) -> bool:
    """Whether a relative path stays in the folder that it is joined to."""
    parts = PurePosixPath(path).parts
    plain = bool(parts) and "\\" not in path and "\0" not in path and ":" not in parts[0]
    return plain and not PurePosixPath(path).is_absolute() and ".." not in parts
