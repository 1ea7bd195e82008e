"""Files that people upload as sources: kept by content hash, checked before they are kept."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from catalog.importing.uploads import check_room
from lookalike.core.errors import Refused
from lookalike.io.errors import FormatError, InputError

MAX_BYTES = 4 * 2**30
CHUNK = 2**20
HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True)
class Upload:
    """A file that was checked and kept, as a source names it.

    Attributes:
        spec: of the source.
        file_name: as it was given; never a path here.
        sha256: of the file.
        ids_sha256: of the list of ids that came with a .npy, "" without one.
    """

    spec: str
    file_name: str
    sha256: str
    ids_sha256: str = ""


@dataclass(frozen=True)
class Arriving:
    """A file on its way in: its given name, and its content piece by piece."""

    name: str
    chunks: Iterable[bytes]

    @classmethod
    def from_disk(cls, path: Path) -> Arriving:
        """Read a file that somebody names on a command line.

        Raises:
            InputError: it cannot be opened.
        """
        try:
            path.open("rb").close()
        except OSError as problem:
            raise InputError(f"{path}: cannot be read: {problem.strerror}") from problem
        return cls(path.name, _pieces(path))


def _pieces(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while piece := file.read(CHUNK):
            yield piece


def upload_path(sha256: str) -> Path:
    """Return where the upload of that content lies (or would lie).

    Raises:
        ValueError: not a SHA-256 in hexadecimal.
    """
    if len(sha256) != 64 or not set(sha256) <= HEX:
        raise ValueError(f"No such upload: {sha256!r}.")
    return Path(settings.DATA_DIR) / "sources" / sha256[:2] / sha256


def keep_checked(
    spec: str,
    file: Arriving,
    ids: Arriving | None,
    check: Callable[[Path, Path | None], object],
) -> Upload:
    """Keep a file, with its list of ids if it has one, if it passes a check.

    The same content again is found where it lies.

    Args:
        spec: of the source that it becomes.
        file: what was uploaded.
        ids: one id a line, for a .npy.
        check: reads the two files where they lie; raises InputError.

    Raises:
        InputError: too large, or what `check` says, with the names that were given.
        OSError: the disk is full.
    """
    with _landed(file) as (path, sha256):
        if ids is None:
            _checked(check, {path: file.name}, path, None)
            _settle(path, sha256)
            return Upload(spec, file.name[:255], sha256)
        with _landed(ids) as (ids_path, ids_sha256):
            _checked(check, {path: file.name, ids_path: ids.name}, path, ids_path)
            _settle(ids_path, ids_sha256)
        _settle(path, sha256)
        return Upload(spec, file.name[:255], sha256, ids_sha256)


def _checked(
    check: Callable[[Path, Path | None], object],
    names: dict[Path, str],
    path: Path,
    ids_path: Path | None,
) -> None:
    """Run a check whose errors name files as people know them."""
    try:
        check(path, ids_path)
    except FormatError as problem:
        name = names.get(Path(problem.file), problem.file)
        raise FormatError(name, problem.line, problem.reason, unit=problem.unit) from problem


@contextmanager
def _landed(file: Arriving) -> Iterator[tuple[Path, str]]:
    """Write a file beside the others under a passing name; it goes unless it was settled."""
    folder = Path(settings.DATA_DIR) / "sources"
    folder.mkdir(parents=True, exist_ok=True)
    try:
        check_room(0)
    except Refused as problem:
        raise InputError(f"{file.name}: {problem}") from problem
    handle, name = tempfile.mkstemp(dir=folder, prefix=".arriving-")
    path, digest, n_bytes = Path(name), hashlib.sha256(), 0
    try:
        with os.fdopen(handle, "wb") as target:
            for piece in file.chunks:
                n_bytes += len(piece)
                if n_bytes > MAX_BYTES:
                    raise InputError(f"{file.name}: larger than {MAX_BYTES // 2**30} GB")
                digest.update(piece)
                target.write(piece)
            target.flush()
            os.fsync(target.fileno())
        yield path, digest.hexdigest()
    finally:
        with suppress(FileNotFoundError):
            path.unlink()


def _settle(path: Path, sha256: str) -> None:
    kept = upload_path(sha256)
    kept.parent.mkdir(parents=True, exist_ok=True)
    path.replace(kept)


def whole_upload(sha256: str, file_name: str) -> Path:
    """Return where an upload lies, once its content has been checked.

    Raises:
        InputError: it is gone or was changed on disk.
    """
    path = upload_path(sha256)
    digest = hashlib.sha256()
    try:
        for piece in _pieces(path):
            digest.update(piece)
    except FileNotFoundError:
        raise InputError(f"{file_name}: its copy {path} is gone; upload it again") from None
    if digest.hexdigest() != sha256:
        raise InputError(f"{file_name}: its copy {path} was changed; upload it again")
    return path
