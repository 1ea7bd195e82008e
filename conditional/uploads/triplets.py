"""Triplets of others: read, checked against the images of a catalog, stored."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from catalog.models import Catalog
from conditional.errors import DefectsError
from conditional.image_names import ImagesByName
from conditional.models import TripletSet
from conditional.stored_sets import Draft, make_set
from conditional.triplets.services import people_figures, triplet_rows
from conditional.uploads.files import Kind, SetFiles
from jobs.services import JobProgress
from lookalike.conditional.formats.tables import read_scale
from lookalike.conditional.formats.triplet_files import (
    TripletEntries,
    read_integer_triplets,
    read_names,
    read_triplets,
)
from lookalike.conditional.types import Defect, Triplet
from lookalike.conditional.validate import kept_places


def import_triplets(files: SetFiles, progress: JobProgress) -> dict[str, Any]:
    """Read triplets, check every row against the catalog, and store what is sound as a set.

    Returns:
        What the job's row and the command say: slug, figures about people, and the defects.

    Raises:
        DefectsError: rows are defective and are not to be left out, or none is sound.
        Refused: a file cannot be read, an image has no value, or the name is taken.
    """

    def draft(catalog: Catalog) -> Draft[TripletSet]:
        with files.reading():
            entries, provenance = _read(files), files.provenance
            scale = read_scale(files.scale) if files.scale else None
        id_of = ImagesByName(catalog)
        good, swapped, defects = _sound(entries, id_of)
        n_entries = len(entries.triplets) + len(entries.malformed)
        if not good or (defects and not files.keep_good):
            raise DefectsError(n_entries, defects, files.title)
        row = TripletSet(
            report={"n_entries": n_entries, "n_left_out": n_entries - len(good)},
            defects=[asdict(defect) for defect in defects],
            scale={
                str(id_of[image]): value for image, value in (scale or {}).items() if image in id_of
            },
            figures=people_figures(good, swapped, scale),
            **provenance,
        )
        return row, triplet_rows(row, good, swapped, id_of)

    return _figures(make_set(TripletSet, progress, f"Reading {files.title}", draft))


def _figures(triplet_set: TripletSet) -> dict[str, Any]:
    counts = {name: triplet_set.report[name] for name in ("n_entries", "n_left_out")}
    defects = triplet_set.defects
    return {"set": triplet_set.slug, **counts, **triplet_set.figures, "defects": defects}


def _read(files: SetFiles) -> TripletEntries:
    """Return the triplets of one CSV file, or of integer files.

    Raises:
        InputError: a file cannot be used at all.
        OSError: a file cannot be opened.
    """
    if files.kind == Kind.TRIPLETS:
        return read_triplets(files.paths[0], where=files.where)
    names = read_names(files.names) if files.names else None
    return read_integer_triplets(files.paths, names, files.called)


def _sound(
    entries: TripletEntries, id_of: ImagesByName
) -> tuple[list[Triplet], list[bool], list[Defect]]:
    """Part the rows into those over images of the catalog, and what is wrong with the others."""
    places = kept_places(len(entries.triplets), entries.malformed)
    good: list[Triplet] = []
    swapped: list[bool] = []
    defects = list(entries.malformed)
    for place, one, is_swapped in zip(places, entries.triplets, entries.swapped, strict=True):
        unknown = [image for image in one[:3] if image not in id_of]
        if unknown:
            defects.append(Defect(place, "unknown_image", id_of.why_not(unknown[0])))
        elif len({id_of[image] for image in one[:3]}) < 3:
            defects.append(Defect(place, "same_image", "two names are one image here"))
        else:
            good.append(one)
            swapped.append(is_swapped)
    return good, swapped, sorted(defects)
