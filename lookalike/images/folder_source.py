"""The pictures in a folder."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from lookalike.client.desktop_junk import is_junk
from lookalike.images.formats import HEAD_BYTES
from lookalike.images.paths import UnsafePathError, clean_path
from lookalike.images.pixels import MAX_BYTES
from lookalike.images.source import MAX_FILES, Source, SourceError, UnreadableFileError


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
                self.n_junk += sum(len(files) for _, _, files in os.walk(path))
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
                return handle.read(MAX_BYTES + 1)
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
