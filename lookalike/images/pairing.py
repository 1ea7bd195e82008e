"""Bring the rows of the metadata and the files of a source together."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

from lookalike.images.metadata import Metadata, Row
from lookalike.images.problems import Problem


@dataclass
class Pairing:
    """Which row describes which file.

    Attributes:
        metadata: name of the metadata file; None if there is none, and no row is missed.
        rows: path of a file to its row.
        problems: rows without a file.
        takes_others: files without a row are wanted, too.
    """

    metadata: str | None = None
    rows: dict[str, Row] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    takes_others: bool = True


def pair(metadata: Metadata | None, paths: Collection[str], refused: Collection[str]) -> Pairing:
    """Pair rows and files by path.

    Where the files lie in one common folder that no row names (as when a folder was zipped as
    a whole), that folder is left out of the comparison.

    Args:
        metadata: None when none was given.
        paths: the source's pictures.
        refused: files that are there but were refused; their rows are not reported again.
    """
    if metadata is None:
        return Pairing()
    pairing = Pairing(metadata.name, takes_others=not metadata.names_all)
    common = _common_folder(metadata, paths)
    rows = {common + path: row for path, row in metadata.rows.items()}
    present = {*paths, *refused}
    folded = {path.casefold(): path for path in paths}
    for path, row in rows.items():
        if path not in present:
            reason = f"{metadata.name} row {row.number}: there is no such file"
            similar = folded.get(path.casefold())
            hint = f", but one called {similar} (mind capital letters)." if similar else "."
            pairing.problems.append(Problem(row.path, reason + hint))
    pairing.rows = {path: rows[path] for path in paths if path in rows}
    return pairing


def _common_folder(metadata: Metadata, paths: Collection[str]) -> str:
    """Return `folder/` if all files lie in it and rows match only without it, else nothing."""
    tops = {path.partition("/")[0] for path in paths}
    if len(tops) != 1 or any("/" not in path for path in paths):
        return ""
    if any(path in metadata.rows for path in paths):
        return ""
    top = tops.pop() + "/"
    return top if any(path.removeprefix(top) in metadata.rows for path in paths) else ""
