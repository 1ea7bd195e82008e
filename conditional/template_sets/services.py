"""Build sets of templates from a catalog and store them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from accounts.models import User
from catalog.models import Catalog
from conditional.models import RetrievalTemplate as Row
from conditional.models import TemplateSet
from conditional.stored_sets import Draft, make_set, report_of, request_set
from conditional.template_sets.queries import attributes_of, catalog_rows, images_that_fit
from conditional.template_sets.rows import template_rows
from jobs.models import Job
from jobs.services import JobProgress
from lookalike.conditional.builders.attributes import AttributeTypeError, chosen_types
from lookalike.conditional.builders.catalog_rows import SOURCE
from lookalike.conditional.builders.objects import SceneRuleError
from lookalike.conditional.column_spec import parse_columns
from lookalike.conditional.recipes import ATTRIBUTE_TASKS, Cooked, Recipe, cook
from lookalike.conditional.validate import find_defects
from lookalike.core.errors import Refused

BUILD_TASK = "conditional.tasks.build"
# as many as are read and drawn from well within a second
PREVIEW_IMAGES = 2000
PREVIEW_TRIES = 3000


class NoTemplateError(Refused):
    """A recipe makes sense, and no template came of it."""


def draw_templates(catalog: Catalog, recipe: Recipe, at_most: int | None = None) -> Cooked:
    """Draw the templates of a recipe, each image named by its row id; nothing is stored.

    Args:
        at_most: look at so many images only; None for all.

    Raises:
        Refused: no image fits, the columns make no sense, or no template came of it.
    """
    rows = catalog_rows(catalog, recipe.filters, at_most)
    _check_columns(recipe, catalog, len(rows), {name for row in rows for name in row.attributes})
    try:
        cooked = cook(recipe, rows)
    except AttributeTypeError as problem:
        raise Refused("types", f"{problem}.") from problem
    except SceneRuleError as problem:
        raise Refused(problem.rule, f"{problem}.") from problem
    except ValueError as problem:
        raise Refused("ask", f"{problem}.") from problem
    if not cooked.built.templates:
        reasons = ", ".join(f"{n:,} × {why}" for why, n in cooked.built.report.rejected.items())
        raise NoTemplateError("ask", f"no template came of it: {reasons or 'nothing to try'}.")
    return cooked


def _check_columns(recipe: Recipe, catalog: Catalog, n_images: int, named: set[str]) -> None:
    """Refuse a recipe that no image fits, or whose columns none of them has."""
    if not n_images:
        raise Refused("catalog", f"no image of “{catalog}” fits the filters.")
    for field, texts in (("same", recipe.same), ("ask", recipe.ask)):
        for text in texts:
            name = text.split()[0] if text.split() else ""
            if not any(text.strip() == known or text.startswith(f"{known} ") for known in named):
                shown = ", ".join(sorted(named)[:20]) or "none"
                raise Refused(field, f"no image has an attribute {name!r}; there are: {shown}.")


def _check_types(recipe: Recipe) -> None:
    """Refuse attribute types that are none of the columns asked for."""
    if not recipe.types or recipe.task not in ATTRIBUTE_TASKS:
        return
    try:
        columns = parse_columns(recipe.ask)
        chosen_types(recipe.types, [column.text or column.name for column in columns])
    except AttributeTypeError as problem:
        raise Refused("types", f"{problem}.") from problem
    except ValueError as problem:
        raise Refused("ask", f"{problem}.") from problem


def build_set(progress: JobProgress) -> dict[str, Any]:
    """Draw the templates of the recipe that a job names, check them, and store them as a set.

    Returns:
        What the job's row and the command say: slug, figures and why references were rejected.

    Raises:
        Refused: as `make_set` and `draw_templates`.
    """
    recipe = Recipe.of_json(progress.job.arguments["recipe"])

    def draft(catalog: Catalog) -> Draft[TemplateSet]:
        cooked = draw_templates(catalog, recipe)
        templates = cooked.built.templates
        if defects := find_defects(templates):
            raise Refused("ask", f"template {defects[0].index}: {defects[0].reason}.")
        report = asdict(cooked.built.report) | {
            "n_images": cooked.n_used, "left_out": dict(cooked.left_out)
        }  # fmt: skip
        row = drawn_set(recipe, SOURCE, report)
        return row, template_rows(row, templates)

    return built_figures(
        make_set(TemplateSet, progress, "Reading attributes and drawing templates", draft)
    )


def drawn_set(
    recipe: Recipe, source: str, report: dict[str, Any], **provenance: Any
) -> TemplateSet:
    """Return the unsaved row of a set that was drawn by a recipe."""
    return TemplateSet(
        task=recipe.task.value,
        source=source,
        seed=recipe.seed,
        recipe=recipe.as_json(),
        report=report,
        **provenance,
    )


def built_figures(template_set: TemplateSet) -> dict[str, Any]:
    """Return what the job's row and the command say of a set."""
    return {
        "set": template_set.slug,
        "task": template_set.task,
        "templates": template_set.templates.count(),
        **report_of(template_set),
    }


def request_build(*, catalog: Catalog, name: str, recipe: Recipe, owner: User) -> Job:
    """Queue the building of a set.

    Raises:
        Refused: as `unused_slug`; no image fits the filters or has an attribute; or a type that
            is not asked for.
        JobConflictError: a set of that name is being built.
    """
    images = images_that_fit(catalog, recipe.filters)
    _check_columns(recipe, catalog, images.count(), attributes_of(images))
    _check_types(recipe)
    arguments = {"catalog": catalog.pk, "name": name, "recipe": recipe.as_json()}
    return request_set(TemplateSet, task=BUILD_TASK, verb="Build", arguments=arguments, owner=owner)


@dataclass(frozen=True)
class Preview:
    """The first templates of a recipe.

    Attributes:
        rows: not stored.
        cooked: how they came about.
        n_images: of the catalog.
        is_sample: whether the catalog has more images than a preview looks at, so that the set
            that is saved will hold other templates.
        gave_up: whether it had tried enough before it found as many as asked for.
    """

    rows: list[Row]
    cooked: Cooked
    n_images: int
    is_sample: bool
    gave_up: bool


def make_preview(catalog: Catalog, recipe: Recipe, n: int) -> Preview:
    """Return the first templates that a recipe gives.

    Of a large catalog only `PREVIEW_IMAGES` are looked at, and only `PREVIEW_TRIES` references
    are tried, so that it takes no longer than that of a small one.

    Raises:
        Refused: as `draw_templates`; where nothing came of it, the message says what was tried.
    """
    n_images = catalog.images.count()
    is_sample = n_images > PREVIEW_IMAGES
    few = replace(recipe, n_templates=min(n, recipe.n_templates), n_tries=PREVIEW_TRIES)
    try:
        cooked = draw_templates(catalog, few, PREVIEW_IMAGES if is_sample else None)
    except NoTemplateError as problem:
        looked = f" of {PREVIEW_IMAGES:,} of {n_images:,} images" if is_sample else ""
        note = f"A preview tries up to {PREVIEW_TRIES:,} references{looked}; the set tries all."
        raise NoTemplateError(problem.field, f"{problem.message} {note}") from problem
    gave_up = cooked.built.report.n_tried >= PREVIEW_TRIES
    unsaved = TemplateSet(catalog=catalog, task=recipe.task.value, source=SOURCE)
    rows = template_rows(unsaved, cooked.built.templates)
    return Preview(rows, cooked, n_images, is_sample, gave_up)
