"""Which images of a catalog a release speaks of, told by SHA-256."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from catalog.models import Catalog
from lookalike.release.errors import ReleaseError
from lookalike.release.format.folder import Folder
from lookalike.release.format.layout import list_tables

N_NAMED = 20  # of what is missing
Columns = dict[str, tuple[str, ...]]
ASKING: Columns = {"queries": ("query_id",), "pairs": ("query_id",)}
ASKED: Columns = {
    "pairs": ("image_id",),
    "pool": ("image_id",),
    "templates": ("reference_id",),
    "template_candidates": ("image_id",),
    "triplets": ("anchor_id", "closer_id", "farther_id"),
}

Ids = dict[str, int]


@dataclass(frozen=True)
class ImageIds:
    """Where the images of a release stand in the catalogs that hold them.

    Attributes:
        queries: database id of each query by its name in the release.
        candidates: likewise; the same where one catalog holds both.
    """

    queries: Ids
    candidates: Ids

    @classmethod
    def of(cls, folder: Folder, catalog: Catalog, query_catalog: Catalog | None) -> ImageIds:
        """Find the images of all that a release asks about.

        Raises:
            ReleaseError: a catalog lacks some; the message lists them by path, a line each.
        """
        candidates = _image_ids(folder, catalog)
        queries = _image_ids(folder, query_catalog) if query_catalog else candidates
        missing = _named(folder, ASKING) - queries.keys()
        missing |= _named(folder, ASKED) - candidates.keys()
        if missing:
            paths = sorted(folder.path_of[name] for name in missing)
            raise ReleaseError(
                listed(
                    f"{len(missing):,} of {len(folder.image_ids):,} images of the release are not "
                    "in the catalog by SHA-256. Import them into the catalog first:",
                    paths,
                )
            )
        return cls(queries, candidates)

    def pair(self, row: dict[str, Any]) -> tuple[int, int]:
        """Return the database ids of both images of a row about a pair."""
        return self.queries[row["query_id"]], self.candidates[row["image_id"]]


def listed(what: str, names: list[str]) -> str:
    """Return an error that lists what it is about, a line each, and how many more there are."""
    lines = [what, *names[:N_NAMED]]
    if len(names) > N_NAMED:
        lines.append(f"and {len(names) - N_NAMED:,} more")
    return "\n".join(lines)


def _named(folder: Folder, columns: Columns) -> set[str]:
    """Return the images that stand in some columns, of the tables that a release has."""
    held = {table.name for table in list_tables(folder.info)}
    return {
        image
        for table, names in columns.items()
        if table in held
        for name in names
        for (image,) in folder.rows(table, name)
    }


def _image_ids(folder: Folder, catalog: Catalog) -> Ids:
    """Return the database id of each image of a release that a catalog holds, by its name."""
    pk_of = dict(catalog.images.values_list("sha256", "pk"))
    return {name: pk_of[sha256] for name, sha256 in folder.sha256_of.items() if sha256 in pk_of}
