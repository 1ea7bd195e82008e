"""Celery tasks: build, suggest and import sets; score models on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from catalog.models import Catalog
from conditional.alignment.services import ALIGN_TASK
from conditional.template_sets.annotation_files import Annotations, build_file_set
from conditional.template_sets.recall_services import SCORE_TASK
from conditional.template_sets.services import BUILD_TASK, build_set
from conditional.triplets.services import IMPORT_TASK as TRIPLETS_TASK
from conditional.triplets.suggest import SUGGEST_TASK, suggest_set
from conditional.uploads.services import import_uploads
from conditional.uploads.template_files import IMPORT_TASK as TEMPLATES_TASK
from jobs.job_task import job_task, serve
from jobs.queues import DEVICE
from jobs.services import JobProgress
from lookalike.conditional.recipes import Recipe
from lookalike.conditional.suggestions import SuggestRecipe

import_templates = job_task(TEMPLATES_TASK)(import_uploads)
import_triplets = job_task(TRIPLETS_TASK)(import_uploads)


@job_task(BUILD_TASK)
def build(progress: JobProgress) -> dict[str, Any]:
    """Build the set that a job asks for: of a file where it names one, else of attributes."""
    arguments = progress.job.arguments
    make: Callable[..., dict[str, Any]] = build_set
    if "file" in arguments:
        annotations = Annotations.of_json(arguments["file"])
        make = partial(build_file_set, annotations=annotations, keep_good=arguments["keep_good"])
    return _make(progress, make, Recipe.of_json)


@job_task(SUGGEST_TASK)
def suggest(progress: JobProgress) -> dict[str, Any]:
    """Suggest the triplets that a job asks for."""
    return _make(progress, suggest_set, SuggestRecipe.of_json)


def _make(
    progress: JobProgress, make: Callable[..., dict[str, Any]], recipe_of: Callable[[Any], object]
) -> dict[str, Any]:
    """Make a set by the recipe of a job."""
    arguments = progress.job.arguments
    return make(
        catalog=Catalog.objects.get(pk=arguments["catalog"]),
        name=arguments["name"],
        recipe=recipe_of(arguments["recipe"]),
        owner=progress.job.owner,
        progress=progress,
    )


@job_task(ALIGN_TASK)
def align(progress: JobProgress) -> dict[str, Any]:
    """Match the conditions of a triplet set with the embedding sets that a job names."""
    return serve("conditional.alignment.services.align_set", progress)


@job_task(SCORE_TASK, queue=DEVICE)
def score(progress: JobProgress) -> dict[str, Any]:
    """Score a model on the set that a job names."""
    return serve("conditional.template_sets.recall.score_model", progress)
