"""Data sets of Hugging Face on disk: pictures in columns of parquet or Arrow files.

Parquet as the Hub lays it out (`data/train-00000-of-00002.parquet`), Arrow as
`datasets.Dataset.save_to_disk` writes it (`train/data-00000-of-00001.arrow`).
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa

from lookalike.client.desktop_junk import is_junk
from lookalike.images.decode import MAX_BYTES
from lookalike.images.formats import ENDINGS, sniffed_format
from lookalike.images.layouts.hugging_face_tables import HuggingFaceTable, bytes_and_path
from lookalike.images.layouts.layout import SPLIT, Layout, LayoutImage
from lookalike.images.problems import Problem
from lookalike.images.source import MAX_FILES, ONLY_ZIPS, Source, SourceError, UnreadableFileError
from lookalike.io.errors import InputError

PRODUCT = "product_id"
_SPLIT = re.compile(r"(?:^|/)(train|test|validation|val|dev)(?=[-_./]|$)")


class HuggingFaceSource(Source):
    """The pictures in the tables of a folder, each under the name of its table and row."""

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__(name)
        if not folder.is_dir():
            raise SourceError("A Hugging Face data set is read from a folder, not from a zip.")
        self._root = folder.resolve()
        self.tables = [HuggingFaceTable(self._root, path) for path in self._files()]
        self.images: dict[str, LayoutImage] = {}
        self._places: dict[str, tuple[int, int, str, int]] = {}
        self._files_of: dict[tuple[int, int, str, int], Path] = {}
        self._lock = threading.Lock()
        self._group = lru_cache(maxsize=2)(self._read_group)
        try:
            for at in range(len(self.tables)):
                self._list(at)
        except (pa.ArrowException, OSError) as problem:
            raise SourceError(f"{name}: not readable as parquet or Arrow: {problem}") from problem
        if not self._places:
            first = f" {self.problems[0].file}: {self.problems[0].reason}" if self.problems else ""
            raise SourceError(
                f"{name} holds no parquet or Arrow file with a column of pictures.{first}"
            )
        self.paths = sorted(self._places)

    def read(self, path: str) -> bytes:
        """Return the bytes of a picture."""
        place = self._places[path]
        at, group, column, row = place
        try:
            if place in self._files_of:
                return self._read_file(place)
            with self._lock:
                content, _ = bytes_and_path(self._group(at, group)[column][row])
        except (pa.ArrowException, OSError) as problem:
            raise UnreadableFileError(f"It cannot be read: {problem}.") from problem
        if content is None:
            raise UnreadableFileError("It holds no bytes.")
        return bytes(content.slice(0, min(MAX_BYTES + 1, len(content))).to_pybytes())

    def _read_file(self, place: tuple[int, int, str, int]) -> bytes:
        with self._files_of[place].open("rb") as file:
            return file.read(MAX_BYTES + 1)

    def _beside(self, place: tuple[int, int, str, int], file: str) -> str:
        """Note the file that a cell names in place of bytes; return why there is none."""
        if not file:
            return " and names no file"
        for folder in (self._root, self.tables[place[0]].path.parent):
            path = (folder / file.replace("\\", "/")).resolve()
            if path.is_relative_to(self._root) and path.is_file():
                self._files_of[place] = path
                return ""
        return f", and there is no file {file} in the folder"

    def opened(self, path: str) -> AbstractContextManager[IO[bytes]]:
        """Open nothing: there are no other files."""
        raise UnreadableFileError(f"There is no file {path}.")

    def close(self) -> None:
        """Let go of what was read last."""
        self._group.cache_clear()

    def _head(self, path: str) -> bytes:
        return self.read(path)[:64]

    def _files(self) -> Iterator[Path]:
        found = sorted([*self._root.rglob("*.parquet"), *self._root.rglob("*.arrow")])
        for path in found:
            relative = path.relative_to(self._root).as_posix()
            if is_junk(relative) or path.name.startswith("cache-"):
                self.n_junk += 1
            elif not path.resolve().is_relative_to(self._root):
                self._refuse(relative, "It is a link that leads out of the folder.")
            else:
                yield path

    def _list(self, at: int) -> None:
        """Note the pictures of a table, and what its other columns say of them."""
        table = self.tables[at]
        if not table.image_columns:
            self._refuse(table.name, "It has no column of pictures (structs of bytes and path).")
            return
        number = 0
        self._note_left_out(table)
        for group in range(table.n_groups):
            rows = table.group(group)
            read = {name: table.texts(name, rows[name]) for name in table.text_columns}
            texts = {name: column for name, column in read.items() if column is not None}
            for name in read.keys() - texts.keys():
                self._note(table.name, f"Its column “{name}” holds no text and was left out.")
            for row in range(rows.num_rows):
                number += 1
                known = {name: column[row] for name, column in texts.items() if column[row]}
                for column in table.image_columns:
                    self._add((at, group, column, row), rows[column][row], known, number)

    def _note(self, name: str, reason: str) -> None:
        note = Problem(name, reason)
        if note not in self.notes:
            self.notes.append(note)

    def _note_left_out(self, table: HuggingFaceTable) -> None:
        unread = [name for name in table.schema.names if name not in table.columns]
        if unread:
            self._note(table.name, f"Columns that were left out: {', '.join(unread)}.")

    def _add(
        self, place: tuple[int, int, str, int], cell: Any, known: Mapping[str, str], number: int
    ) -> None:
        table, column = self.tables[place[0]], place[2]
        content, file = bytes_and_path(cell)
        mark = f"-{column}" if len(table.image_columns) > 1 else ""
        stem = f"{PurePosixPath(table.name).with_suffix('')}/{number:08d}{mark}"
        if content is None:
            reason = self._beside(place, file)
            if reason:
                self._refuse(
                    f"{table.name} row {number}", f"It holds no bytes in “{column}”{reason}."
                )
                return
            head = self._read_file(place)[:64]
        else:
            head = content.slice(0, min(64, len(content))).to_pybytes()
        if len(self._places) >= MAX_FILES:
            raise SourceError(f"{self.name} holds more than {MAX_FILES:,} pictures.")
        kind = sniffed_format(head)
        path = stem + (ENDINGS[kind][0] if kind in ENDINGS else "")
        split = _SPLIT.search(table.name)
        attributes = {name: text for name, text in known.items() if name != PRODUCT}
        if split:
            attributes.setdefault(
                SPLIT, {"validation": "val", "dev": "val"}.get(split[1], split[1])
            )
        if file:
            attributes.setdefault("file", str(file))
        if mark:
            attributes.setdefault("column", column)
        self._places[path] = place
        self.images[path] = LayoutImage(path, known.get(PRODUCT, ""), attributes, number)

    def _read_group(self, at: int, group: int) -> pa.Table:
        table = self.tables[at]
        return table.group(group, table.image_columns)


def open_hugging_face(path: Path, name: str | None = None, names_encoding: str = "") -> Source:
    """Open a data set's folder.

    Raises:
        SourceError: no folder, no column of pictures, or a file that cannot be read; an encoding
            of names, which only zips need.
    """
    if names_encoding:
        raise SourceError(ONLY_ZIPS)
    return HuggingFaceSource(path, name or path.name)


def read_hugging_face(source: Source) -> Layout:
    """Return the pictures of a data set: `product_id`, columns of one value, split, file.

    Raises:
        InputError: the source was not opened by `open_hugging_face`.
    """
    if not isinstance(source, HuggingFaceSource):
        raise InputError(f"{source.name}: a Hugging Face data set is a folder of tables")
    return Layout("the Hugging Face data set", source.images, {"images": len(source.images)})
