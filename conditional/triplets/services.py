"""Take triplets of others over the images of a catalog, and count how people answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import ProtectedError

from accounts.models import User
from catalog.models import Catalog
from conditional.errors import DefectsError, in_their_words
from conditional.image_names import images_by_name
from conditional.models import Triplet as Row
from conditional.models import TripletSet
from conditional.stored_sets import digest_of, save_named, stored_by, unused_slug
from jobs.services import JobProgress
from lookalike.conditional.formats.tables import read_scale
from lookalike.conditional.formats.triplet_files import TripletSet as ReadSet
from lookalike.conditional.formats.triplet_files import (
    read_integer_triplets,
    read_names,
    read_triplets,
)
from lookalike.conditional.triplet_scores import Agreement, human_ceiling, human_figures
from lookalike.conditional.triplets import TripletTable, questions_of
from lookalike.conditional.types import Defect, Triplet
from lookalike.conditional.validate import kept_places
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError

IMPORT_TASK = "conditional.import_triplets"
MIN_VOTES = 3
BATCH = 5000


@dataclass(frozen=True)
class TripletFiles:
    """Where triplets come from.

    Attributes:
        paths: one CSV file, or integer files.
        names: for integer files: the list that the integers are positions of.
        where: {column: value}, only those rows of a CSV file.
        scale: a CSV file image,value with a known order.
        called: {path: what the file is called}, for files that lie under other names.
    """

    paths: Sequence[Path]
    names: Path | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    scale: Path | None = None
    called: Mapping[Path, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The files' names."""
        return ", ".join(self.called.get(path, path.name) for path in self.paths)

    def digest(self) -> str:
        """Return the SHA-256 of the files' bytes, one after the other."""
        return digest_of(self.paths)

    def asked(self) -> dict[str, Any]:
        """Return what a job's row says of the files, so that the very same can be known again.

        Raises:
            OSError: a file cannot be read.
        """
        beside = [path for path in (self.names, self.scale) if path is not None]
        return {
            "paths": [str(path.resolve()) for path in [*self.paths, *beside]],
            "sha256": digest_of([*self.paths, *beside]),
            "where": dict(self.where),
        }

    def read(self) -> ReadSet:
        """Return the triplets.

        Raises:
            InputError: a file cannot be used at all.
            OSError: a file cannot be opened.
        """
        if all(path.suffix.lower() == ".csv" for path in self.paths) and len(self.paths) == 1:
            return read_triplets(self.paths[0], where=self.where)
        names = read_names(self.names) if self.names else None
        return read_integer_triplets(self.paths, names, self.called)


def import_triplet_set(
    *,
    catalog: Catalog,
    name: str,
    files: TripletFiles,
    keep_good: bool,
    owner: User | None,
    progress: JobProgress,
) -> dict[str, Any]:
    """Read triplets, check every row against the catalog, and store what is sound as a set.

    A job that was cut short after storing finds the set that it stored.

    Returns:
        What the job's row and the command say: slug, figures about people, and the defects.

    Raises:
        DefectsError: rows are defective and `keep_good` is off, or no row is sound.
        Refused: a file cannot be read, an image has no value, or the name is taken.
    """
    if stored := stored_by(TripletSet, name, progress.job):
        return _result(stored)
    slug = free_triplet_slug(name)
    progress.start(0, None, f"Reading {files.title}")
    try:
        found, digest = files.read(), files.digest()
        scale = read_scale(files.scale) if files.scale else None
    except (InputError, OSError) as problem:
        raise Refused("file", in_their_words(problem, files.called)) from problem
    id_of = images_by_name(catalog)
    good, swapped, defects = _sound(found, id_of)
    n_entries = len(found.triplets) + len(found.malformed)
    if not good or (defects and not keep_good):
        raise DefectsError(n_entries, defects, files.title)
    figures = people_figures(good, swapped, scale)
    triplet_set = TripletSet(
        slug=slug,
        name=name[:200],
        catalog=catalog,
        file_name=files.title[:300],
        file_sha256=digest,
        report={
            "n_entries": n_entries,
            "n_left_out": n_entries - len(good),
            "job": str(progress.job.uid),
        },
        defects=[asdict(defect) for defect in defects],
        scale={
            str(id_of[image]): value for image, value in (scale or {}).items() if image in id_of
        },
        figures=figures,
        owner=owner,
    )
    progress.start(0, len(good), "Storing triplets")
    store_triplets(triplet_set, good, swapped, id_of)
    progress.update(len(good), len(good), "Stored")
    return _result(triplet_set)


def _result(triplet_set: TripletSet) -> dict[str, Any]:
    counts = {name: triplet_set.report[name] for name in ("n_entries", "n_left_out")}
    defects = triplet_set.defects
    return {"set": triplet_set.slug, **counts, **triplet_set.figures, "defects": defects}


def free_triplet_slug(name: str) -> str:
    """Return the slug of a new set's name.

    Raises:
        Refused: nothing is left of the name, or there is such a set.
    """
    return unused_slug(TripletSet, name)


def people_figures(
    triplets: Sequence[Triplet], swapped: Sequence[bool], scale: Mapping[str, float] | None
) -> dict[str, Any]:
    """Return how people answered: votes, majorities, ceiling, and accuracy on a known scale.

    Raises:
        Refused: the scale lacks an image.
    """
    table = TripletTable.of(triplets, swapped)
    questions = questions_of(table)
    figures: dict[str, Any] = {
        "n_triplets": len(table),
        "n_questions": len(questions),
        "n_images": len(table.images),
        "n_workers": len({one.worker for one in triplets} - {""}),
        "n_human_ties": int((questions.majority == 0).sum()),
        "n_often": int((questions.n_votes >= MIN_VOTES).sum()),
        "ceiling": known(human_ceiling(questions)),
        "ceiling_often": known(human_ceiling(questions, MIN_VOTES)),
        "conditions": {
            name: int((table.conditions == code).sum())
            for code, name in enumerate(table.condition_names)
        },
    }
    if scale is not None:
        missing = [image for image in table.images if image not in scale]
        if missing:
            raise Refused("scale", f"no value for {len(missing):,} images (first: {missing[0]!r}).")
        values = np.array([scale[image] for image in table.images])
        every, often = human_figures(table, values), human_figures(table, values, MIN_VOTES)
        figures["scale"] = {
            "all_votes": figures_of(every.single),
            "single_votes": figures_of(often.single),
            "majority": figures_of(often.majority),
            "n_questions": often.n_questions,
        }
    return figures


def _sound(
    found: ReadSet, id_of: Mapping[str, int]
) -> tuple[list[Triplet], list[bool], list[Defect]]:
    """Part the rows into those over images of the catalog, and what is wrong with the others."""
    places = kept_places(len(found.triplets), found.malformed)
    good: list[Triplet] = []
    swapped: list[bool] = []
    defects = list(found.malformed)
    for place, one, is_swapped in zip(places, found.triplets, found.swapped, strict=True):
        unknown = [image for image in one[:3] if image not in id_of]
        if unknown:
            defects.append(Defect(place, "unknown_image", f"no image {unknown[0]!r}"))
        elif len({id_of[image] for image in one[:3]}) < 3:
            defects.append(Defect(place, "same_image", "two names are one image here"))
        else:
            good.append(one)
            swapped.append(is_swapped)
    return good, swapped, sorted(defects)


@transaction.atomic
def store_triplets(
    triplet_set: TripletSet,
    triplets: Sequence[Triplet],
    swapped: Sequence[bool],
    id_of: Mapping[str, int],
) -> None:
    """Save a set with its answers, all or nothing.

    Raises:
        Refused: another set took the slug meanwhile.
    """
    save_named(triplet_set)
    rows = (
        Row(
            triplet_set=triplet_set,
            position=position,
            anchor_id=id_of[one.anchor],
            closer_id=id_of[one.closer],
            farther_id=id_of[one.farther],
            condition=one.condition[:200],
            worker=one.worker[:200],
            is_swapped=is_swapped,
        )
        for position, (one, is_swapped) in enumerate(zip(triplets, swapped, strict=True))
    )
    Row.objects.bulk_create(rows, batch_size=BATCH)


def figures_of(found: Agreement) -> dict[str, Any]:
    """Return an agreement as it is stored."""
    return {
        "accuracy": known(found.accuracy),
        "without_ties": known(found.decided),
        "n": found.n,
        "n_ties": found.n_ties,
    }


def known(value: float) -> float | None:
    """Return a figure, or None where it is undefined."""
    return None if isnan(value) else float(value)


@transaction.atomic
def delete_triplet_set(*, triplet_set: TripletSet) -> None:
    """Delete a set that nobody was asked about, with its answers and scores.

    Raises:
        Refused: a panel judges it, or a receiver of Django's `pre_delete` protects it.
    """
    TripletSet.objects.select_for_update().get(pk=triplet_set.pk)
    if triplet_set.verifications.exists():
        raise Refused("set", f"“{triplet_set}” was put to a panel; it is kept.")
    try:
        triplet_set.delete()
    except ProtectedError as problem:
        raise Refused("set", problem.args[0]) from problem
