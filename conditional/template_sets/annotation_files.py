"""Build sets of templates from annotation files of others over a catalog's images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from catalog.models import Catalog
from conditional.errors import DefectsError
from conditional.image_names import ImagesByName
from conditional.models import TemplateSet
from conditional.stored_sets import Draft, files_digest, make_set
from conditional.template_sets.rows import template_rows
from conditional.template_sets.services import drawn_set
from conditional.uploads.templates import defects_over, made_of_file
from jobs.services import JobProgress
from lookalike.conditional.builders.attribute_table import AttributeTable
from lookalike.conditional.builders.attributes import AttributeTypeError
from lookalike.conditional.builders.objects import SceneRuleError, SceneTable
from lookalike.conditional.builders.turns import Built
from lookalike.conditional.formats.panoptic import read_panoptic
from lookalike.conditional.formats.vaw import SOURCE as VAW
from lookalike.conditional.formats.vaw import read_attribute_types, read_vaw
from lookalike.conditional.recipes import ATTRIBUTE_TASKS, OBJECT_TASKS, Recipe
from lookalike.conditional.types import Defect, Instance, Scene
from lookalike.conditional.validate import count_defects, kept_places
from lookalike.core.errors import Refused
from lookalike.io.errors import InputError

PANOPTIC = "coco_panoptic"
Entry = TypeVar("Entry", Scene, Instance)
_USED_AS = {"contradiction": "taken as unlabelled", "duplicate": "both are used"}


@dataclass(frozen=True)
class Annotations:
    """What the object or attribute builders read.

    Attributes:
        paths: VAW files with `types`, or one COCO panoptic JSON without.
        types: attribute_types.json.
        sha256: of the bytes of all, where they were read before; other bytes are refused.
    """

    paths: tuple[Path, ...]
    types: Path | None = None
    sha256: str = ""

    @property
    def source(self) -> str:
        """What the provenance says."""
        return PANOPTIC if self.types is None else VAW

    @property
    def title(self) -> str:
        """The files' names."""
        return ", ".join(path.name for path in self.paths)

    def digest(self) -> str:
        """Return the SHA-256 of the bytes of the files.

        Raises:
            OSError: a file cannot be read.
        """
        return files_digest([*self.paths, *([self.types] if self.types else [])])

    def as_json(self) -> dict[str, Any]:
        """Return what a job's row keeps of them, as `of_json` reads it.

        Raises:
            OSError: a file cannot be read.
        """
        types = "" if self.types is None else str(self.types.resolve())
        paths = [str(path.resolve()) for path in self.paths]
        return {"paths": paths, "types": types, "sha256": self.digest()}

    @classmethod
    def of_json(cls, stored: Mapping[str, Any]) -> Annotations:
        """Return the files that a job's row names; rows of earlier versions name one `path`."""
        types = Path(stored["types"]) if stored["types"] else None
        paths = stored["paths"] if "paths" in stored else [stored["path"]]
        return cls(tuple(map(Path, paths)), types, stored["sha256"])


def build_file_set(progress: JobProgress) -> dict[str, Any]:
    """Draw templates from what a file says of a catalog's images, and store them as a set.

    Of the job's recipe its task, limits and seed count; its columns do not. With `keep_good`,
    malformed entries and images that the catalog does not have are left out.

    Returns:
        As `made_of_file`.

    Raises:
        DefectsError: entries cannot be used and `keep_good` is off.
        Refused: the task does not suit the file, which cannot be read or has changed, or nothing
            fits.
    """
    arguments = progress.job.arguments
    annotations = Annotations.of_json(arguments["file"])
    recipe = Recipe.of_json(arguments["recipe"])

    def draft(catalog: Catalog) -> Draft[TemplateSet]:
        wanted = OBJECT_TASKS if annotations.types is None else ATTRIBUTE_TASKS
        if recipe.task not in wanted:
            raise Refused("task", f"from such a file: {', '.join(wanted)}.")
        id_of = ImagesByName(catalog)
        try:
            if annotations.digest() != annotations.sha256:
                raise Refused("file", "it has changed since this was asked for; ask again.")
            digest = files_digest(annotations.paths)
            drawn = _drawn(annotations, recipe, id_of, arguments["keep_good"])
        except (InputError, OSError) as problem:
            raise Refused("file", str(problem)) from problem
        except AttributeTypeError as problem:
            raise Refused("types", f"{problem}.") from problem
        except SceneRuleError as problem:
            raise Refused(problem.rule, f"{problem}.") from problem
        except ValueError as problem:
            raise Refused("file", f"{problem}.") from problem
        built = drawn.built
        unsound = {defect.index for defect in defects_over(built.templates, catalog, id_of)}
        templates = [one for one in built.templates if one.provenance.index not in unsound]
        if not templates:
            reasons = ", ".join(f"{n:,} × {why}" for why, n in built.report.rejected.items())
            raise Refused("file", f"no template came of it: {reasons or 'nothing to try'}.")
        row = drawn_set(
            recipe,
            annotations.source,
            asdict(built.report) | drawn.counts() | {"n_unsound": len(unsound), "left_out": {}},
            defects=[asdict(defect) for defect in drawn.defects],
            file_name=annotations.title[:300],
            file_sha256=digest,
        )
        return row, template_rows(row, templates, id_of)

    note = f"Reading {annotations.title} and drawing templates"
    return made_of_file(make_set(TemplateSet, progress, note, draft), progress)


@dataclass(frozen=True)
class _Drawn:
    """What a file gave: how many entries, which cannot be used or only in part, and templates."""

    n_entries: int
    left_out: list[Defect]
    doubtful: list[Defect]
    built: Built

    @property
    def defects(self) -> list[Defect]:
        """What is wrong with entries, in their order."""
        return sorted([*self.left_out, *self.doubtful])

    def counts(self) -> dict[str, Any]:
        """Return what the set's report says of the entries."""
        n_left_out = len({defect.index for defect in self.left_out})
        return {
            "n_entries": self.n_entries,
            "n_left_out": n_left_out,
            "counts": count_defects(self.defects),
            "n_doubtful": len({defect.index for defect in self.doubtful}),
            "n_images": self.n_entries - n_left_out,
        }


def _drawn(
    annotations: Annotations, recipe: Recipe, id_of: ImagesByName, keep_good: bool
) -> _Drawn:
    if annotations.types is None:
        found = read_panoptic(annotations.paths[0])
        scenes, defects = _known(found.scenes, found.malformed, (), id_of, keep_good)
        scene_table = SceneTable.of(scenes, recipe.scene_rules)
        scene_table.check()
        build = OBJECT_TASKS[recipe.task]
        built = build(scene_table, recipe.limits, recipe.seed, source=PANOPTIC)
        return _Drawn(len(found.scenes) + len(found.malformed), defects, [], built)
    facts = read_vaw(*annotations.paths)
    instances, defects = _known(facts.instances, facts.malformed, facts.doubtful, id_of, keep_good)
    table = AttributeTable.of(instances, read_attribute_types(annotations.types))
    built = ATTRIBUTE_TASKS[recipe.task](
        table, recipe.limits, recipe.seed, source=VAW, types=recipe.types or None
    )
    left_out = {defect.index for defect in defects}
    doubtful = [
        replace(one, reason=f"{one.reason} ({_USED_AS[one.code]})")
        for one in facts.doubtful
        if one.index not in left_out
    ]
    return _Drawn(len(facts.instances) + len(facts.malformed), defects, doubtful, built)


def _known(
    entries: Sequence[Entry],
    malformed: Sequence[Defect],
    doubtful: Sequence[Defect],
    id_of: ImagesByName,
    keep_good: bool,
) -> tuple[list[Entry], list[Defect]]:
    """Return the readable entries whose image the catalog has, and what is wrong with others."""
    places = kept_places(len(entries), malformed)
    unknown: list[Defect] = [
        Defect(place, "unknown_image", id_of.why_not(one.image))
        for place, one in zip(places, entries, strict=True)
        if one.image not in id_of
    ]
    defects: list[Defect] = [*malformed, *unknown]
    if (defects or doubtful) and not keep_good:
        raise DefectsError(len(entries) + len(malformed), sorted([*defects, *doubtful]))
    return [one for one in entries if one.image in id_of], defects
