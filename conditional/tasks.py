"""Celery tasks: build, suggest and import sets; score models on them."""

from __future__ import annotations

from typing import Any

from conditional.alignment.services import ALIGN_TASK
from conditional.template_sets.annotation_files import build_file_set
from conditional.template_sets.recall_services import SCORE_TASK
from conditional.template_sets.services import BUILD_TASK, build_set
from conditional.triplets.suggest import SUGGEST_TASK, suggest_set
from conditional.uploads.files import TEMPLATES_TASK, TRIPLETS_TASK
from conditional.uploads.services import import_uploads
from jobs.job_task import job_task, serve
from jobs.queues import DEVICE
from jobs.services import JobProgress

import_templates = job_task(TEMPLATES_TASK)(import_uploads)
import_triplets = job_task(TRIPLETS_TASK)(import_uploads)
suggest = job_task(SUGGEST_TASK)(suggest_set)


@job_task(BUILD_TASK)
def build(progress: JobProgress) -> dict[str, Any]:
    """Build the set that a job asks for: of a file where it names one, else of attributes."""
    do = build_file_set if "file" in progress.job.arguments else build_set
    return do(progress)


@job_task(ALIGN_TASK)
def align(progress: JobProgress) -> dict[str, Any]:
    """Match the conditions of a triplet set with the embedding sets that a job names."""
    return serve("conditional.alignment.services.align_set", progress)


@job_task(SCORE_TASK, queue=DEVICE)
def score(progress: JobProgress) -> dict[str, Any]:
    """Score a model on the set that a job names."""
    return serve("conditional.template_sets.recall.score_model", progress)
