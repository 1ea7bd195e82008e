"""Where pictures come from: a folder or a zip file, neither of which is trusted.

A source lists its picture files under clean relative paths and reads one at a time. Nothing is
ever unpacked to the disk under a name from the source.
"""

from __future__ import annotations

import os
import stat
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, Self

from lookalike.core.unpacking import DAMAGES
from lookalike.images import decode
from lookalike.images.formats import HEAD_BYTES, PICTURE_ENDINGS, sniffed_format
from lookalike.images.paths import UnsafePathError, clean_path, shown
from lookalike.images.problems import Problem
from lookalike.io.errors import InputError

MAX_FILES = 500_000
MAX_UNPACKED = 200 * 2**30
MAX_RATIO = 100  # of unpacked to packed size; pictures are packed already
RATIO_MATTERS_FROM = 2**20  # bytes
ARCHIVES = (b"PK\x03\x04", b"Rar!\x1a", b"7z\xbc\xaf\x27\x1c", b"\x1f\x8b", b"\xfd7zXZ", b"BZh")
JUNK_NAMES = {"thumbs.db", "desktop.ini", "__macosx"}


class SourceError(Exception):
    """The folder or zip cannot be used at all; the message says why and what to do."""


class UnreadableFileError(Exception):
    """One file of the source cannot be read; the message says why."""


class Source(ABC):
    """The picture files of a folder or zip.

    Attributes:
        name: what people call it.
        paths: clean relative paths of the files that may be pictures, sorted.
        problems: files refused by their place, name or kind.
        others: files that are no pictures, such as a metadata file.
        n_junk: files that systems leave behind (`.DS_Store`, `__MACOSX`), passed over.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.paths: list[str] = []
        self.problems: list[Problem] = []
        self.others: list[str] = []
        self.n_junk = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def read(self, path: str) -> bytes:
        """Return the bytes of one of `paths`; threads may call this at the same time.

        Raises:
            UnreadableFileError: damaged, vanished, or not what its listing said.
        """

    @abstractmethod
    def opened(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """Open one of `others` to be read once, of any length.

        Raises:
            UnreadableFileError: damaged or vanished, also while it is read.
        """

    @abstractmethod
    def _head(self, path: str) -> bytes:
        """Return the first bytes, or none when they cannot be read."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the files."""

    def _refuse(self, path: str, reason: str) -> None:
        self.problems.append(Problem(shown(path), reason))

    def _sort_out(self, found: list[str]) -> None:
        """Tell pictures from other files, by name and, failing that, by the first bytes."""
        for path in sorted(found):
            if PurePosixPath(path).suffix.lower() in PICTURE_ENDINGS:
                self.paths.append(path)
                continue
            head = self._head(path)
            if sniffed_format(head) not in {None, "SVG"}:
                self.paths.append(path)  # a picture under a wrong name; reading it says so
            elif head.startswith(ARCHIVES):
                self._refuse(
                    path, "An archive inside is not opened. Unpack it, and pack its pictures."
                )
            else:
                self.others.append(path)


def is_junk(path: str) -> bool:
    """Whether a file is left behind by an operating system or hidden, not put there by a person."""
    parts = PurePosixPath(path).parts
    return any(part.startswith(".") or part.lower() in JUNK_NAMES for part in parts)


def open_source(path: Path, name: str | None = None) -> Source:
    """Open a folder or a zip file.

    Raises:
        SourceError: it does not exist, is neither, is damaged, or goes over a limit.
    """
    label = name or path.name
    if path.is_dir():
        return FolderSource(path, label)
    if path.is_file():
        return ZipSource(path, label)
    raise SourceError(f"There is no folder or zip file {path}.")


class FolderSource(Source):
    """The pictures in a folder and its sub-folders; links may not lead out of it."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(name)
        self._root = folder.resolve()
        self._files: dict[str, Path] = {}
        problems: list[OSError] = []
        n_seen = 0
        for place, folders, files in os.walk(self._root, onerror=problems.append):
            here = Path(place)
            self._pass_by_folders(here, folders)
            for file in files:
                n_seen += 1
                if n_seen > MAX_FILES:
                    raise SourceError(f"{name} holds more than {MAX_FILES:,} files.")
                self._list(here / file)
        for problem in problems:
            self._refuse(str(problem.filename), f"The folder cannot be read: {problem.strerror}.")
        self._sort_out(list(self._files))

    def include_neighbour(self, name: str) -> None:
        """Add one file next to the folder to `others`, unless the folder has one of that name.

        Some archives unpack a list next to the folder of their data set. Links are not followed.
        """
        path = self._root.parent / name
        if any(PurePosixPath(other).name == name for other in self.others):
            return
        if path.is_file() and not path.is_symlink():
            self._files[name] = path
            self.others.append(name)

    def _pass_by_folders(self, here: Path, folders: list[str]) -> None:
        for folder in [*folders]:
            path = here / folder
            relative = path.relative_to(self._root).as_posix()
            if is_junk(relative):
                folders.remove(folder)
                self.n_junk += 1
            elif path.is_symlink():
                folders.remove(folder)
                self._refuse(relative, "It is a link to a folder; links are not followed.")

    def _list(self, path: Path) -> None:
        relative = path.relative_to(self._root).as_posix()
        if is_junk(relative):
            self.n_junk += 1
            return
        try:
            cleaned = clean_path(relative)
            reason = self._reason_to_refuse(path)
        except UnsafePathError as problem:
            reason = f"Its name cannot be used: {problem}."
        except OSError as problem:
            reason = f"It cannot be read: {problem.strerror}."
        if reason is None and cleaned in self._files:
            reason = f"Another file is called {cleaned}, too. Rename one."
        if reason is not None:
            self._refuse(relative, reason)
        else:
            self._files[cleaned] = path

    def _reason_to_refuse(self, path: Path) -> str | None:
        if not path.resolve(strict=True).is_relative_to(self._root):
            return "It is a link that leads out of the folder."
        if not stat.S_ISREG(path.stat().st_mode):
            return "It is not a file (a pipe, socket or device)."
        return None

    def read(self, path: str) -> bytes:
        """Return the bytes of a file, checking again that it lies in the folder."""
        file = self._files[path]
        try:
            if not file.resolve(strict=True).is_relative_to(self._root):
                raise UnreadableFileError("It is a link that leads out of the folder.")
            with file.open("rb") as handle:
                return handle.read(decode.MAX_BYTES + 1)
        except OSError as problem:
            raise UnreadableFileError(f"It cannot be read: {problem.strerror}.") from problem

    @contextmanager
    def opened(self, path: str) -> Iterator[IO[bytes]]:
        """Open a file of the folder; see `Source`."""
        try:
            with self._files[path].open("rb") as handle:
                yield handle
        except OSError as problem:
            raise UnreadableFileError(f"It cannot be read: {problem.strerror}.") from problem

    def close(self) -> None:
        """Do nothing: a folder is not held open."""

    def _head(self, path: str) -> bytes:
        try:
            with self._files[path].open("rb") as handle:
                return handle.read(HEAD_BYTES)
        except OSError:
            return b""


class ZipSource(Source):
    """The pictures in a zip file, read straight from it."""

    def __init__(self, path: Path, name: str) -> None:
        super().__init__(name)
        try:
            self._zip = zipfile.ZipFile(path)
        except (*DAMAGES, OSError) as problem:
            raise SourceError(f"{name} is not a readable zip file: {problem}.") from problem
        self._members: dict[str, zipfile.ZipInfo] = {}
        try:
            self._list_members()
        except SourceError:
            self._zip.close()
            raise

    def _list_members(self) -> None:
        members = self._zip.infolist()
        if len(members) > MAX_FILES:
            raise SourceError(f"{self.name} holds more than {MAX_FILES:,} files.")
        n_bytes = sum(member.file_size for member in members)
        if n_bytes > MAX_UNPACKED:
            raise SourceError(
                f"{self.name} would unpack to {n_bytes / 2**30:,.0f} GB; "
                f"at most {MAX_UNPACKED / 2**30:,.0f} GB are accepted. Split it."
            )
        for member in members:
            if not member.is_dir():
                self._list(member)
        self._sort_out(list(self._members))

    def _list(self, member: zipfile.ZipInfo) -> None:
        name = _name_of(member)
        try:
            path = clean_path(name)
        except UnsafePathError as problem:
            return self._refuse(name, f"Refused: {problem}.")
        if is_junk(path):
            self.n_junk += 1
            return None
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
                return handle.read(decode.MAX_BYTES + 1)
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


def _name_of(member: zipfile.ZipInfo) -> str:
    """Return a member's name; some programs write UTF-8 without saying so, macOS among them."""
    says_utf_8 = member.flag_bits & 0x800
    if says_utf_8:
        return member.orig_filename
    try:
        return member.orig_filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return member.orig_filename


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
    if member.file_size > decode.MAX_BYTES and _is_picture_name(member.filename):
        return f"It unpacks to more than {decode.MAX_BYTES // 2**20} MB. Save it smaller."
    return None


def _is_picture_name(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in PICTURE_ENDINGS
