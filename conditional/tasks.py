"""The door through which Celery builds sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from celery import shared_task
from django.utils.module_loading import import_string

from catalog.models import Catalog
from conditional.alignment.services import ALIGN_TASK, align_set
from conditional.template_sets.annotation_files import Annotations, build_file_set
from conditional.template_sets.recall_services import SCORE_TASK
from conditional.template_sets.services import BUILD_TASK, build_set
from conditional.triplets.services import IMPORT_TASK as TRIPLETS_TASK
from conditional.triplets.suggest import SUGGEST_TASK, suggest_set
from conditional.uploads.services import import_uploads
from conditional.uploads.template_files import IMPORT_TASK as TEMPLATES_TASK
from jobs.models import Job
from jobs.services import JobProgress, run_job
from lookalike.conditional.recipes import Recipe
from lookalike.conditional.suggestions import SuggestRecipe


@shared_task(name=BUILD_TASK)
def build(job_uid: str) -> None:
    """Build the set that a job asks for: of a file where it names one, else of attributes."""
    given = Job.objects.get(uid=job_uid).arguments
    make: Callable[..., dict[str, Any]] = build_set
    if "file" in given:
        annotations = Annotations.of_json(given["file"])
        make = partial(build_file_set, annotations=annotations, keep_good=given["keep_good"])
    _make(job_uid, make, Recipe.of_json)


@shared_task(name=SUGGEST_TASK)
def suggest(job_uid: str) -> None:
    """Suggest the triplets that a job asks for."""
    _make(job_uid, suggest_set, SuggestRecipe.of_json)


def _make(
    job_uid: str, make: Callable[..., dict[str, Any]], recipe_of: Callable[[Any], object]
) -> None:
    """Make a set by the recipe of a job."""
    job = Job.objects.select_related("owner").get(uid=job_uid)
    given = job.arguments
    run_job(
        job.uid,
        lambda progress: make(
            catalog=Catalog.objects.get(pk=given["catalog"]),
            name=given["name"],
            recipe=recipe_of(given["recipe"]),
            owner=job.owner,
            progress=progress,
        ),
    )


@shared_task(name=TEMPLATES_TASK)
def import_templates(job_uid: str) -> None:
    """Import the templates that a job has kept."""
    run_job(job_uid, import_uploads)


@shared_task(name=TRIPLETS_TASK)
def import_triplets(job_uid: str) -> None:
    """Import the triplets that a job has kept."""
    run_job(job_uid, import_uploads)


@shared_task(name=ALIGN_TASK)
def align(job_uid: str) -> None:
    """Match the conditions of a triplet set with the embedding sets that a job names."""
    run_job(job_uid, lambda progress: align_set(progress=progress, **progress.job.arguments))


@shared_task(name=SCORE_TASK)
def score(job_uid: str) -> None:
    """Score a model on the set that a job names. It may load torch, so it is found by name."""

    def work(progress: JobProgress) -> dict[str, Any]:
        found: dict[str, Any] = import_string("conditional.template_sets.recall.score_model")(
            progress=progress, **progress.job.arguments
        )
        return found

    run_job(job_uid, work)
