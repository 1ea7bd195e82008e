"""The files of a folder, an archive or a list, none of which is trusted.

A source lists its picture files under clean relative paths and reads one at a time. Nothing is
ever unpacked to the disk under a name from the source.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from pathlib import PurePosixPath
from typing import IO, Self

from lookalike.images.formats import PICTURE_ENDINGS, sniffed_format
from lookalike.images.paths import shown
from lookalike.images.problems import Problem

MAX_FILES = 500_000
ONLY_ZIPS = "Only the names of a zip have an encoding of their own; leave it out for a folder."
ARCHIVES = (b"PK\x03\x04", b"Rar!\x1a", b"7z\xbc\xaf\x27\x1c", b"\x1f\x8b", b"\xfd7zXZ", b"BZh")
OFFICE_ENDINGS = frozenset(
    {".xlsx", ".xlsm", ".ods", ".docx", ".odt", ".pptx", ".odp", ".numbers", ".pages", ".npz"}
)


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
        notes: remarks on the source, such as a guessed encoding of its names.
        others: files that are no pictures, such as a metadata file.
        n_junk: files and folders that systems leave behind, which are left out.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.paths: list[str] = []
        self.problems: list[Problem] = []
        self.notes: list[Problem] = []
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
        """Close the files."""

    def _refuse(self, path: str, reason: str) -> None:
        self.problems.append(Problem(shown(path), reason))

    def _sort_out(self, found: list[str]) -> None:
        """Separate pictures from other files, by name and, failing that, by the first bytes."""
        for path in sorted(found):
            ending = PurePosixPath(path).suffix.lower()
            if ending in PICTURE_ENDINGS:
                self.paths.append(path)
                continue
            head = self._head(path)
            if sniffed_format(head) not in {None, "SVG"}:
                self.paths.append(path)
            elif head.startswith(ARCHIVES) and ending not in OFFICE_ENDINGS:
                self._refuse(
                    path, "An archive inside is not opened. Unpack it, and pack its pictures."
                )
            else:
                self.others.append(path)
