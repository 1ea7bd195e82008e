"""Take template files of others over the images of a catalog, and give them back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from accounts.models import User
from catalog.models import Catalog
from conditional.errors import DefectsError, in_their_words
from conditional.image_names import images_by_name
from conditional.models import TemplateSet
from conditional.stored_sets import digest_of, stored_by
from conditional.template_sets.crops import crop_file
from conditional.template_sets.rows import template_of
from conditional.template_sets.services import free_slug, store_set
from jobs.services import JobProgress
from lookalike.conditional.builders.catalog_rows import SOURCE as CATALOG
from lookalike.conditional.crops import Dilation
from lookalike.conditional.formats.cirr import SOURCE as CIRR
from lookalike.conditional.formats.cirr import cirr_entries, read_cirr, read_cirr_split
from lookalike.conditional.formats.genecis import SOURCE as GENECIS
from lookalike.conditional.formats.genecis import genecis_entries, read_genecis
from lookalike.conditional.formats.sets import TemplateSet as ReadSet
from lookalike.conditional.types import Defect, RetrievalTemplate, Task
from lookalike.conditional.validate import counts_of, defects_of
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError

IMPORT_TASK = "conditional.import_templates"
FORMATS = (GENECIS, CIRR)


def import_set(
    *,
    catalog: Catalog,
    name: str,
    path: Path,
    file_format: str,
    task: Task | None,
    keep_good: bool,
    owner: User | None,
    progress: JobProgress,
    file_name: str = "",
    split: Path | None = None,
    crops: Dilation = "paper",
) -> dict[str, Any]:
    """Read a file, check every entry against the catalog, and store what is sound as a set.

    A job that was cut short after storing goes on with the set that it stored.

    Args:
        file_format: one of FORMATS.
        task: of a GeneCIS file whose name does not state it.
        keep_good: leave defective entries out; without it one of them stops the import.
        file_name: what the file is called, if it does not lie under that name.
        crops: how boxes are cut out, as `crop_box`.
        split: of CIRR: the list of images that entries without image set look among.

    Returns:
        What the job's row and the command say: slug, figures and the defects.

    Raises:
        DefectsError: entries are defective and `keep_good` is off.
        Refused: the file cannot be read, no entry is sound, or the name is taken.
    """
    if stored := stored_by(TemplateSet, name, progress.job):
        return _finished(stored, progress)
    slug = free_slug(name)
    title = file_name or path.name
    progress.start(0, None, f"Reading {title}")
    found, digest = _read(path, title, file_format, task)
    id_of = images_by_name(catalog)
    among = _split(split, id_of, keep_good)
    defects = _defects(found, catalog, id_of, among.names)
    if defects and not keep_good:
        raise DefectsError(found.n_entries, defects, title)
    bad = {defect.index for defect in defects}
    good = [one for one in found.templates if one.provenance.index not in bad]
    if not good:
        raise DefectsError(found.n_entries, defects, title)
    report = {"n_entries": found.n_entries, "n_left_out": len(bad), "counts": counts_of(defects)}
    if among.names is not None:
        report |= {"n_split": len(among.pks), "n_split_unknown": among.n_unknown}
    progress.start(0, len(good), "Storing templates")
    template_set = TemplateSet(
        slug=slug,
        name=name[:200],
        catalog=catalog,
        task=good[0].task.value,
        source=file_format,
        report=report | {"job": str(progress.job.uid)},
        defects=[asdict(defect) for defect in defects],
        file_name=title[:300],
        file_sha256=digest,
        split=among.pks,
        recipe={"crops": crops},
        owner=owner,
    )
    store_set(template_set, good, id_of)
    return _finished(template_set, progress)


def _finished(template_set: TemplateSet, progress: JobProgress) -> dict[str, Any]:
    """Make the pictures of a stored set; return what the job's row says."""
    n_crops = make_crops(template_set, progress)
    return {
        "set": template_set.slug,
        "task": template_set.task,
        "templates": template_set.templates.count(),
        "crops": n_crops,
        **{name: template_set.report[name] for name in ("n_entries", "n_left_out", "counts")},
        "defects": template_set.defects,
    }


def exported_entries(
    template_set: TemplateSet, only: Collection[int] | None = None
) -> list[dict[str, object]]:
    """Return a set as the entries of the format it came from (GeneCIS for a built one).

    Images keep the names that their file gave them; those of built sets are named by uid.

    Args:
        only: ids of the templates to write; None for all.
    """
    task, source = Task(template_set.task), template_set.source
    names = None
    if source == CATALOG:
        uids = template_set.catalog.images.values_list("pk", "uid")
        names = {pk: str(uid) for pk, uid in uids.iterator(chunk_size=5000)}
    rows = template_set.templates.order_by("position")
    wanted = None if only is None else frozenset(only)
    chosen = (row for row in rows if wanted is None or row.pk in wanted)
    templates = [template_of(row, task, source, names) for row in chosen]
    if not templates:
        return []
    return cirr_entries(templates) if task is Task.COMPOSED else genecis_entries(templates)


def _read(path: Path, title: str, file_format: str, task: Task | None) -> tuple[ReadSet, str]:
    try:
        digest = digest_of([path])
        if file_format == CIRR:
            return read_cirr(path), digest
        return read_genecis(path, task), digest
    except (InputError, OSError) as problem:
        called = {} if title == path.name else {path: title}
        raise Refused("file", in_their_words(problem, called)) from problem


@dataclass(frozen=True)
class _Split:
    """The images of a split: by name and by row, and how many the catalog lacks."""

    names: frozenset[str] | None = None
    pks: list[int] = field(default_factory=list)
    n_unknown: int = 0


def _split(path: Path | None, id_of: Mapping[str, int], keep_good: bool) -> _Split:
    """Return the images that a split lists, of which the catalog should have every one."""
    if path is None:
        return _Split()
    try:
        names = frozenset(read_cirr_split(path))
    except (InputError, OSError) as problem:
        raise Refused("split", str(problem)) from problem
    unknown = sorted(names - id_of.keys())
    if unknown and not keep_good:
        raise Refused(
            "split",
            f"the catalog lacks {len(unknown):,} of the split's {len(names):,} images (first: "
            f"{unknown[0]!r}). “Keep the good entries” (--keep-good) looks among the others.",
        )
    pks = sorted({id_of[name] for name in names if name in id_of})
    return _Split(names, pks, len(unknown))


def _defects(
    found: ReadSet, catalog: Catalog, id_of: Mapping[str, int], split: Collection[str] | None
) -> list[Defect]:
    """Return every defect: of form, of images that the catalog lacks, of boxes outside."""
    size_of = {
        pk: (width, height)
        for pk, width, height in catalog.images.values_list("pk", "width", "height")
    }
    named = {view.image for one in found.templates for _, view in one.views()}
    sizes = {name: size_of[id_of[name]] for name in named if name in id_of}
    defects = [
        *found.malformed,
        *defects_of(found.templates, known_images=id_of.keys(), sizes=sizes, split=split),
        *_two_names(found.templates, id_of),
    ]
    return sorted(defects, key=lambda defect: defect.index)


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


def make_crops(template_set: TemplateSet, progress: JobProgress) -> int:
    """Make the pictures of all boxes, so that no page waits for them."""
    rows = [row for row in template_set.templates.order_by("position") if row.boxes]
    images = template_set.catalog.images.in_bulk(
        {pk for row in rows for pk in (row.reference_id, *row.candidates)}
    )
    progress.start(0, len(rows), "Cutting out what the templates show")
    n_crops = 0
    for n_done, row in enumerate(rows, start=1):
        for place in (None, *range(row.n_candidates)):
            box = row.box_of(place)
            pk = row.reference_id if place is None else row.candidates[place]
            if box is not None:
                for size in ("thumb", "view"):
                    crop_file(images[pk], box, size, template_set.crops)
                n_crops += 1
        progress.update(n_done, len(rows), "Cutting out what the templates show")
    return n_crops
