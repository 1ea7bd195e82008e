"""Bring the rows of the metadata and the files of a source together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from lookalike.images.metadata import Metadata, Row
from lookalike.images.problems import Problem
from lookalike.io.image_names import AmbiguousImageError, ImageNames, UnknownImageError


@dataclass
class Pairing:
    """Which row describes which file.

    Attributes:
        metadata: name of the metadata file; None if there is none, and no row is missed.
        rows: path of a file to its row.
        problems: rows without a file.
        takes_others: files without a row are wanted, too.
        n_by_name: rows that name their file in another way than by its path.
    """

    metadata: str | None = None
    rows: dict[str, Row] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    takes_others: bool = True
    n_by_name: int = 0


def pair(metadata: Metadata | None, paths: Collection[str], refused: Collection[str]) -> Pairing:
    """Pair rows and files.

    A row means the file with its path. Where the files lie in one common folder that no row
    names (as when a folder was zipped as a whole), that folder is left out of the comparison.
    Other rows find their file as `lookalike.io.image_names.ImageNames` states: by a bare file
    name that is unique, an absolute path, an address.

    Args:
        metadata: None when none was given.
        paths: the source's pictures.
        refused: files that are there but were refused; their rows are not reported again.
    """
    if metadata is None:
        return Pairing()
    pairing = Pairing(metadata.name, takes_others=not metadata.names_all)
    common = _common_folder(metadata, paths)
    present = {*paths, *refused}
    names = ImageNames([(path, path) for path in present], title="the pictures")
    folded = {path.casefold(): path for path in paths}
    rows: dict[str, Row] = {}
    others = []
    for path, row in metadata.rows.items():
        if common + path in present:
            rows[common + path] = row
        else:
            others.append(row)
    for row in others:
        try:
            found = names.find(row.path)
        except AmbiguousImageError as problem:
            _leave_out(pairing, row, f"{problem}.")
        except UnknownImageError:
            similar = folded.get((common + row.path).casefold())
            hint = f", but one called {similar} (mind capital letters)" if similar else ""
            _leave_out(pairing, row, f"there is no such file{hint}.")
        else:
            first = rows.setdefault(found, row)
            if first is row:
                pairing.n_by_name += 1
            else:
                reason = f"it means {found}, which row {first.number} describes"
                _leave_out(pairing, row, f"{reason}.")
    pairing.rows = {path: rows[path] for path in paths if path in rows}
    return pairing


def _leave_out(pairing: Pairing, row: Row, reason: str) -> None:
    where = f"{pairing.metadata} row {row.number}"
    pairing.problems.append(Problem(row.path, f"{where}: {reason}"))


def _common_folder(metadata: Metadata, paths: Collection[str]) -> str:
    """Return `folder/` if all files lie in it and rows match only without it, else nothing."""
    tops = {path.partition("/")[0] for path in paths}
    if len(tops) != 1 or any("/" not in path for path in paths):
        return ""
    if any(path in metadata.rows for path in paths):
        return ""
    top = tops.pop() + "/"
    return top if any(path.removeprefix(top) in metadata.rows for path in paths) else ""
