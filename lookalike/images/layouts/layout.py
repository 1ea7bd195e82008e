"""What a reader of a published data set gives, and the tools that all of them share."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

from lookalike.images.paths import UnsafePathError, clean_path
from lookalike.images.problems import Problem
from lookalike.images.sources import Source, UnreadableFileError
from lookalike.io.errors import FormatError, InputError

MAX_LINE = 2**16
MAX_JSON = 256 * 2**20
SPLIT = "split"


@dataclass(frozen=True)
class LayoutImage:
    """One image of a data set.

    Attributes:
        path: as the source names it.
        product_id: "" where the data set knows classes, not products.
        attributes: name to text; `split` and `box` ([left, top, width, height]) among them where
            the data set says them.
        line: of the list that names it; 0 where no list does.
    """

    path: str
    product_id: str
    attributes: Mapping[str, str]
    line: int


@dataclass(frozen=True)
class Layout:
    """The images of a data set that are there.

    Attributes:
        title: of the data set.
        images: those that are listed and there, by path.
        counts: of what is listed: images, products, classes, and images of each split.
        problems: what is absent, and where the counts are not those published.
    """

    title: str
    images: Mapping[str, LayoutImage]
    counts: Mapping[str, int]
    problems: Sequence[Problem] = ()


@dataclass
class Listing:
    """What the lists of a data set say, before anybody looks for the pictures.

    Attributes:
        title: of the data set.
        list_name: the list that names the images, for messages.
        published: counts as its authors give them, named as in `Layout`.
        entries: product, attributes and line by the path that the lists use.
        problems: of the lists.
    """

    title: str
    list_name: str
    published: Mapping[str, int]
    entries: dict[str, tuple[str, dict[str, str], int]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add(self, path: str, product_id: str, attributes: Mapping[str, str], line: int) -> None:
        """Note an image.

        Raises:
            FormatError: its path leads out of the folder, or stands in a line before.
        """
        try:
            path = clean_path(path)
        except UnsafePathError as problem:
            raise FormatError(self.list_name, line, f"{path!r}: {problem}") from None
        if path in self.entries:
            reason = f"{path!r} stands in line {self.entries[path][2]}, too"
            raise FormatError(self.list_name, line, reason)
        known = {name: text for name, text in attributes.items() if text}
        self.entries[path] = (product_id, known, line)

    def note(self, path: str, attributes: Mapping[str, str], place: str, line: int) -> None:
        """Add what another list says of an image.

        Raises:
            FormatError: no image of that path is listed.
        """
        entry = self.entries.get(path)
        if entry is None:
            raise FormatError(place, line, f"{path!r} is not in {self.list_name}")
        entry[1].update({name: text for name, text in attributes.items() if text})

    def found_in(self, source: Source) -> Layout:
        """Return the listed images that a source holds, wherever in it their folder is.

        Raises:
            InputError: it holds none.
        """
        root = _root(self.entries, source.paths)
        if root is None:
            first = next(iter(self.entries), "")
            raise InputError(
                f"{source.name}: none of the {len(self.entries):,} images of {self.list_name} is "
                f"there, such as {first}. Unpack the pictures of {self.title} beside its lists"
            )
        present = set(source.paths)
        images = {
            root + path: LayoutImage(root + path, product, attributes, line)
            for path, (product, attributes, line) in self.entries.items()
            if root + path in present
        }
        counts = self._counts()
        problems = [*self.problems, *self._absent(images, root), *self._other_counts(counts)]
        return Layout(self.title, images, counts, problems)

    def _counts(self) -> dict[str, int]:
        entries = self.entries.values()
        products = {product for product, _, _ in entries if product}
        classes = {attributes["class"] for _, attributes, _ in entries if "class" in attributes}
        splits = Counter(attributes[SPLIT] for _, attributes, _ in entries if SPLIT in attributes)
        counts = {"images": len(entries), "products": len(products), "classes": len(classes)}
        return {name: n for name, n in counts.items() if n} | dict(sorted(splits.items()))

    def _absent(self, images: Collection[str], root: str) -> Iterator[Problem]:
        n = len(self.entries) - len(images)
        if n:
            path, (_, _, line) = next(
                (path, entry) for path, entry in self.entries.items() if root + path not in images
            )
            place = f" (line {line})" if line else ""
            reason = f"{n:,} of {len(self.entries):,} listed images are not there, such as {path}"
            yield Problem(self.list_name, f"{reason}{place}.")

    def _other_counts(self, counts: Mapping[str, int]) -> Iterator[Problem]:
        other = [
            f"{name} {counts.get(name, 0):,} (published {n:,})"
            for name, n in self.published.items()
            if counts.get(name, 0) != n
        ]
        if other:
            yield Problem(
                self.list_name, f"A subset or another version of {self.title}: {', '.join(other)}."
            )


def _root(listed: Collection[str], paths: Iterable[str]) -> str | None:
    """Return the folder, with its slash, from which the lists name the pictures."""
    for path in paths:
        parts = path.split("/")
        for depth in range(len(parts)):
            if "/".join(parts[depth:]) in listed:
                return "".join(f"{part}/" for part in parts[:depth])
    return None


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
