"""The pictures in a zip file."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from lookalike.client.desktop_junk import is_junk
from lookalike.core.unpacking import DAMAGES
from lookalike.images.formats import HEAD_BYTES, PICTURE_ENDINGS, other_file, sniffed_format
from lookalike.images.paths import UnsafePathError, clean_path
from lookalike.images.pixels import MAX_BYTES
from lookalike.images.problems import Problem
from lookalike.images.source import MAX_FILES, Source, SourceError, UnreadableFileError
from lookalike.images.zip_names import ZipNames
from lookalike.io.errors import InputError

MAX_UNPACKED = 200 * 2**30
MAX_RATIO = 100  # of unpacked to packed size; pictures are packed already
RATIO_MATTERS_FROM = 2**20  # bytes


class ZipSource(Source):
    """The pictures in a zip file, read straight from it."""

    def __init__(self, path: Path, name: str, names_encoding: str = "") -> None:
        super().__init__(name)
        try:
            self._zip = zipfile.ZipFile(path)
        except (*DAMAGES, OSError) as problem:
            raise SourceError(_no_zip(path, name, problem)) from problem
        self._members: dict[str, zipfile.ZipInfo] = {}
        try:
            self._list_members(names_encoding)
        except SourceError:
            self._zip.close()
            raise

    def _list_members(self, names_encoding: str) -> None:
        members = self._zip.infolist()
        if len(members) > MAX_FILES:
            raise SourceError(f"{self.name} holds more than {MAX_FILES:,} files.")
        n_bytes = sum(member.file_size for member in members)
        if n_bytes > MAX_UNPACKED:
            raise SourceError(
                f"{self.name} would unpack to {n_bytes / 2**30:,.0f} GB; "
                f"at most {MAX_UNPACKED / 2**30:,.0f} GB are accepted. Split it."
            )
        names = ZipNames.of(members, names_encoding)
        for member in members:
            if not member.is_dir():
                self._list(member, names.name_of(member))
        if names.note:
            self.notes.append(Problem(self.name, names.note))
        self._sort_out(list(self._members))

    def _list(self, member: zipfile.ZipInfo, name: str) -> None:
        if is_junk(name):
            self.n_junk += 1
            return None
        try:
            path = clean_path(name)
        except UnsafePathError as problem:
            return self._refuse(name, f"Refused: {problem}.")
        reason = _reason_to_refuse(member)
        if reason is None and path in self._members:
            reason = "The zip holds another file of this name; the first one is used."
        if reason is not None:
            return self._refuse(path, reason)
        self._members[path] = member
        return None

    def read(self, path: str) -> bytes:
        """Return the unpacked bytes of a member; its checksum is checked."""
        try:
            with self._zip.open(self._members[path]) as handle:
                return handle.read(MAX_BYTES + 1)
        except NotImplementedError as problem:
            raise UnreadableFileError(f"It cannot be unpacked: {problem}.") from problem
        except (*DAMAGES, OSError, MemoryError) as problem:  # it may state a window of 4 GB
            reason = str(problem) or "it wants too much memory"
            raise UnreadableFileError(f"Damaged in the zip file: {reason}.") from problem

    @contextmanager
    def opened(self, path: str) -> Iterator[IO[bytes]]:
        """Open a member; see `Source`."""
        try:
            with self._zip.open(self._members[path]) as handle:
                yield handle
        except UnicodeError:
            raise
        except (*DAMAGES, OSError, MemoryError) as problem:
            if isinstance(problem, InputError):
                raise
            reason = str(problem) or "it wants too much memory"
            raise UnreadableFileError(f"Damaged in the zip file: {reason}.") from problem

    def _head(self, path: str) -> bytes:
        try:
            with self._zip.open(self._members[path]) as handle:
                return handle.read(HEAD_BYTES)
        except (*DAMAGES, OSError, MemoryError):
            return b""

    def close(self) -> None:
        """Close the zip file."""
        self._zip.close()


def _no_zip(path: Path, name: str, problem: Exception) -> str:
    """Return why a file is no zip, with what it is where that can be told."""
    try:
        with path.open("rb") as file:
            head = file.read(512)
    except OSError:
        head = b""
    if head.startswith(b"PK\x03\x04"):
        return f"{name} is a zip file that is damaged or cut short ({problem}). Copy it again."
    what = other_file(head)
    if head[257:262] == b"ustar":
        what = "a tar archive"
    if (found := sniffed_format(head)) is not None:
        what = f"a single {found} picture"
    if what is not None:
        return (
            f"{name} is not a readable zip file but {what}. Give a folder of pictures, or pack "
            "them as a zip."
        )
    return f"{name} is not a readable zip file: {problem}. Give a folder or a zip."


def _reason_to_refuse(member: zipfile.ZipInfo) -> str | None:
    mode = member.external_attr >> 16
    if stat.S_ISLNK(mode):
        return "Refused: it is a link."
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
        return "Refused: it is not a file (a pipe, socket or device)."
    if member.flag_bits & 0x1:
        return "It is encrypted. Pack it without a password."
    large = member.file_size > RATIO_MATTERS_FROM
    if large and member.file_size > MAX_RATIO * max(1, member.compress_size):
        return (
            f"Refused: it would unpack to more than {MAX_RATIO} times its size, as no picture does."
        )
    if member.file_size > MAX_BYTES and _is_picture_name(member.filename):
        return f"It unpacks to more than {MAX_BYTES // 2**20} MB. Save it smaller."
    return None


def _is_picture_name(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in PICTURE_ENDINGS
