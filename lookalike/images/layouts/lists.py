"""The lists of a published data set: found by name, read line by line, refused by line."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

from lookalike.images.sources import Source, UnreadableFileError
from lookalike.io.errors import FormatError, InputError

MAX_LINE = 2**16
MAX_JSON = 256 * 2**20


class Lists:
    """The files of a source that are no pictures."""

    def __init__(self, source: Source, title: str) -> None:
        self.source = source
        self.title = title

    def find(self, name: str) -> str:
        """Return the path of a list.

        Raises:
            InputError: it is absent, was refused, or there are two.
        """
        found = self.find_any(name)
        if found is None:
            refused = next((p for p in self.source.problems if _is_named(p.file, name)), None)
            reason = f" ({refused.reason})" if refused else ""
            raise InputError(
                f"{self.source.name}: {self.title} has a file {name}, which is not there{reason}"
            )
        return found

    def find_any(self, name: str) -> str | None:
        """Return the path of a list that may be absent; see `find`."""
        found = [path for path in self.source.others if _is_named(path, name)]
        if len(found) > 1:
            raise InputError(
                f"{self.source.name}: {name} is there as {found[0]} and as {found[1]}; import the "
                "folder of one data set"
            )
        return found[0] if found else None

    def rows(self, path: str, n_columns: int) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and columns, at white space; the last column takes what is left.

        Raises:
            FormatError: a line of fewer columns, that is no UTF-8, or endless.
        """
        for line, text in self._lines(path):
            columns = text.split(maxsplit=n_columns - 1)
            if not columns:
                continue
            if len(columns) < n_columns:
                reason = f"{len(columns)} columns where {n_columns} belong"
                raise FormatError(path, line, reason)
            yield line, [column.strip() for column in columns]

    def counted_rows(
        self, path: str, n_columns: int, split: Callable[[str], list[str]] | None = None
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the rows of a list of DeepFashion: their number, the names of columns, the rows.

        Args:
            path: of the list.
            n_columns: of a row.
            split: of a row that is not parted at white space.

        Raises:
            FormatError: as `rows`, or another number of rows than the first line states.
        """
        lines = self._lines(path)
        _, stated = next(lines, (1, ""))
        if not stated.strip().isdecimal():
            raise FormatError(path, 1, "the first line is not the number of rows")
        next(lines, None)
        n_rows = 0
        for line, text in lines:
            columns = split(text) if split else text.split(maxsplit=n_columns - 1)
            if not columns:
                continue
            if len(columns) != n_columns:
                reason = f"{len(columns)} columns where {n_columns} belong"
                raise FormatError(path, line, reason)
            n_rows += 1
            yield line, [column.strip() for column in columns]
        if n_rows != int(stated):
            reason = f"it holds {n_rows:,} rows where its first line states {int(stated):,}"
            raise FormatError(path, None, f"{reason}; it was cut")

    def json(self, path: str) -> Any:
        """Return the content of a JSON file.

        Raises:
            FormatError: too large, not UTF-8 or not JSON.
        """
        try:
            return json.loads(self.content(path, MAX_JSON))
        except json.JSONDecodeError as problem:
            raise FormatError(path, problem.lineno, f"not JSON: {problem.msg}") from problem
        except (ValueError, RecursionError) as problem:
            raise FormatError(path, None, f"not JSON: {problem}") from problem

    def content(self, path: str, at_most: int) -> bytes:
        """Return the bytes of a file.

        Raises:
            FormatError: more than that, or unreadable.
        """
        try:
            with self.source.opened(path) as file:
                content = file.read(at_most + 1)
        except UnreadableFileError as problem:
            raise FormatError(path, None, str(problem)) from problem
        if len(content) > at_most:
            raise FormatError(path, None, f"at most {at_most:,} bytes of it are read")
        return content

    def _lines(self, path: str) -> Iterator[tuple[int, str]]:
        try:
            with self.source.opened(path) as file:
                line = 0
                while content := file.readline(MAX_LINE + 1):
                    line += 1
                    if len(content) > MAX_LINE:
                        reason = f"the line has more than {MAX_LINE:,} bytes"
                        raise FormatError(path, line, reason)
                    yield line, content.decode("utf-8-sig" if line == 1 else "utf-8")
        except UnicodeDecodeError as problem:
            raise FormatError(path, line, "the line is not UTF-8") from problem
        except UnreadableFileError as problem:
            raise FormatError(path, None, str(problem)) from problem


def _is_named(path: str, name: str) -> bool:
    return path == name or path.endswith(f"/{name}")


def whole(path: str, line: int, text: str) -> int:
    """Return a whole number of a list.

    Raises:
        FormatError: it is none.
    """
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        raise FormatError(path, line, f"{text!r} is no number") from None


def box(path: str, line: int, corners: Sequence[str]) -> str:
    """Return left, top, right and bottom as the text [left, top, width, height]."""
    left, top, right, bottom = (whole(path, line, corner) for corner in corners)
    return f"[{left}, {top}, {right - left}, {bottom - top}]"


def folder_names(path: str) -> list[str]:
    """Return the folders of a path without the leading img."""
    return [part for part in PurePosixPath(path).parts[:-1] if part != "img"]
