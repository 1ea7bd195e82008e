"""Templates of others: read, checked against the images of a catalog, stored."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from catalog.models import Catalog
from conditional.errors import DefectsError
from conditional.image_names import ImagesByName
from conditional.models import TemplateSet
from conditional.stored_sets import Draft, make_set
from conditional.template_sets.crops import make_crops
from conditional.template_sets.rows import template_rows
from conditional.template_sets.services import built_figures
from conditional.uploads.files import Kind, SetFiles
from jobs.services import JobProgress
from lookalike.conditional.formats.cirr import read_cirr, read_cirr_split
from lookalike.conditional.formats.genecis import read_genecis
from lookalike.conditional.types import Defect, RetrievalTemplate
from lookalike.conditional.validate import count_defects, find_defects
from lookalike.core.errors import Refused


def import_templates(files: SetFiles, progress: JobProgress) -> dict[str, Any]:
    """Read a file, check every entry against the catalog, and store what is sound as a set.

    Returns:
        As `made_of_file`.

    Raises:
        DefectsError: entries are defective and are not to be left out, or none is sound.
        Refused: a file cannot be read, or the name is taken.
    """

    def draft(catalog: Catalog) -> Draft[TemplateSet]:
        [path] = files.paths
        with files.reading():
            provenance = files.provenance
            is_cirr = files.kind == Kind.CIRR
            entries = read_cirr(path) if is_cirr else read_genecis(path, files.task)
        id_of = ImagesByName(catalog)
        among = _split_names(files, id_of)
        defects = sorted(
            [
                *entries.malformed,
                *defects_over(entries.templates, catalog, id_of, among),
                *_two_names(entries.templates, id_of),
            ],
            key=lambda defect: defect.index,
        )
        bad = {defect.index for defect in defects}
        good = [one for one in entries.templates if one.provenance.index not in bad]
        if not good or (defects and not files.keep_good):
            raise DefectsError(entries.n_entries, defects, files.title)
        report: dict[str, Any] = {
            "n_entries": entries.n_entries, "n_left_out": len(bad), "counts": count_defects(defects)
        }  # fmt: skip
        split = sorted({id_of[name] for name in among or () if name in id_of})
        if among is not None:
            n_unknown = len(among - id_of.keys())
            report |= {"n_split": len(split), "n_split_unknown": n_unknown}
        row = TemplateSet(
            task=good[0].task.value,
            source=files.kind.value,
            report=report,
            defects=[asdict(defect) for defect in defects],
            split=split,
            recipe={"crops": files.crops},
            **provenance,
        )
        return row, template_rows(row, good, id_of)

    return made_of_file(make_set(TemplateSet, progress, f"Reading {files.title}", draft), progress)


def made_of_file(template_set: TemplateSet, progress: JobProgress) -> dict[str, Any]:
    """Make the pictures of a set that came of a file.

    Returns:
        What the job's row and the command say: slug, figures and the defects.
    """
    n_crops = make_crops(template_set, progress)
    defects = template_set.defects
    return {**built_figures(template_set), "crops": n_crops, "defects": defects}


def defects_over(
    templates: Sequence[RetrievalTemplate],
    catalog: Catalog,
    id_of: Mapping[str, int],
    split: Collection[str] | None = None,
) -> list[Defect]:
    """Return the defects of templates over a catalog's images, boxes outside of one among them.

    Args:
        id_of: {image as the templates name it: id of its row}.
        split: names of the images that templates without a gallery look among.
    """
    rows = catalog.images.values_list("pk", "width", "height")
    size_of = {pk: (width, height) for pk, width, height in rows}
    named = {view.image for one in templates for _, view in one.views()}
    sizes = {name: size_of[id_of[name]] for name in named if name in id_of}
    return find_defects(templates, known_images=id_of.keys(), sizes=sizes, split=split)


def _split_names(files: SetFiles, id_of: Mapping[str, int]) -> frozenset[str] | None:
    """Return the images that a split lists, of which the catalog should have every one."""
    if files.split is None:
        return None
    with files.reading("split"):
        names = frozenset(read_cirr_split(files.split))
    unknown = sorted(names - id_of.keys())
    if unknown and not files.keep_good:
        raise Refused(
            "split",
            f"the catalog lacks {len(unknown):,} of the split's {len(names):,} images (first: "
            f"{unknown[0]!r}). “Keep the good entries” (--keep-good) looks among the others.",
        )
    return names


def _two_names(templates: Sequence[RetrievalTemplate], id_of: Mapping[str, int]) -> list[Defect]:
    """Return the templates in which two names stand for one image of the catalog."""
    defects = []
    for one in templates:
        first: dict[int, tuple[str, str]] = {}
        for role, view in one.views():
            pk = id_of.get(view.image)
            if pk is None:
                continue
            earlier, name = first.setdefault(pk, (role, view.image))
            if name != view.image:
                reason = f"{role} {view.image!r} and {earlier} {name!r} are one image here"
                defects.append(Defect(one.provenance.index, "same_image", reason))
    return defects
