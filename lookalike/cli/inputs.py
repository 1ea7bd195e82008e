"""What a command reads: files, plain or compressed, pipes and `-` for stdin, and their options."""

from __future__ import annotations

import argparse
import gzip
import sys
import tempfile
import zlib
from contextlib import ExitStack
from math import inf
from pathlib import Path
from typing import IO, Any, cast

from lookalike.core.unpacking import MAX_RATIO, SMALL

BLOCK = 2**20
PROPOSALS = "CSV or parquet: query,candidate,model,rank"
VOTES = "CSV or parquet: query,candidate,annotator,value; or a release's judgements"


def file_option(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup,
    name: str,
    text: str,
    **options: Any,
) -> None:
    """Add an option that names a file to read; `text` is its help, `options` are argparse's."""
    parser.add_argument(name, type="input", metavar="FILE", help=text, **options)


class Inputs(ExitStack):
    """Gives every input as a file that can be read twice; use it in a `with` statement.

    Readers look into a file before they read it, which a pipe does not allow, and none of them
    unpacks. So pipes and `.gz` files are copied to a temporary folder.
    """

    def __init__(self) -> None:
        super().__init__()
        self._copies: dict[str, Path] = {}
        self._folder = ""

    def path(self, name: str) -> Path:
        """Return where the content of an input can be read: the type of argparse's options.

        Args:
            name: a path, or "-" for stdin. A path that ends in .gz is unpacked.

        Raises:
            OSError: it cannot be opened, or is a .gz file that is not gzip, damaged, or swells.
        """
        path = Path(name)
        if name not in self._copies:
            if name == "-":
                self._copies[name] = self._copy(sys.stdin.buffer, "stdin")
            elif path.suffix == ".gz":
                self._copies[name] = self._unpacked(path)
            elif path.is_fifo():
                with path.open("rb") as pipe:
                    self._copies[name] = self._copy(pipe, path.name)
        return self._copies.get(name, path)

    def shown(self, text: str) -> str:
        """Return a text with the names that the user gave in place of those of copies."""
        for name, copy in self._copies.items():
            text = text.replace(str(copy), "stdin" if name == "-" else name)
        return text

    def _unpacked(self, path: Path) -> Path:
        try:
            with gzip.open(path) as packed:
                at_most = max(SMALL, MAX_RATIO * path.stat().st_size)
                copy = self._copy(cast(IO[bytes], packed), path.stem, at_most)
        except (gzip.BadGzipFile, EOFError, zlib.error) as problem:
            raise OSError(f"{path} is not readable as gzip: {problem}") from problem
        if copy.stat().st_size > at_most:
            raise OSError(f"{path} unpacks to more than {MAX_RATIO} times its size")
        return copy

    def _copy(self, source: IO[bytes], name: str, at_most: float = inf) -> Path:
        """Copy until the source ends, or is longer than it may be."""
        if not self._folder:
            self._folder = self.enter_context(tempfile.TemporaryDirectory(prefix="lookalike-"))
        folder = Path(self._folder) / str(len(self._copies))
        folder.mkdir()
        with (folder / name).open("wb") as target:
            while target.tell() <= at_most and (block := source.read(BLOCK)):
                target.write(block)
        return folder / name
