"""Celery tasks: learn text spaces and embeddings, fit notions. Torch loads in workers alone."""

from __future__ import annotations

import logging
import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_process_init
from django.conf import settings
from django.db import DatabaseError, connection

from jobs.job_task import job_task, serve
from jobs.queues import DEVICE
from jobs.services import JobError, JobProgress
from learning import live
from learning.models import Family
from learning.notions.services import NOTION_TASK, PICTURES_TASK
from learning.runs.families import LEARN, TASKS
from lookalike.core.errors import Refused

log = logging.getLogger(__name__)


@job_task(TASKS[Family.SPACE], queue=DEVICE)
def learn_text_space(progress: JobProgress) -> dict[str, Any]:
    """Learn a text space from a catalog's attributes."""
    return serve(LEARN, progress)


@job_task(TASKS[Family.EMBEDDING], queue=DEVICE)
def learn_embedding(progress: JobProgress) -> dict[str, Any]:
    """Learn an embedding from a catalog's classes or products."""
    return serve(LEARN, progress)


@job_task(TASKS[Family.COMBINER], queue=DEVICE)
def learn_combiner(progress: JobProgress) -> dict[str, Any]:
    """Learn a Combiner in a text space from a catalog's attributes."""
    return serve(LEARN, progress)


@job_task(NOTION_TASK)
def learn_notion(progress: JobProgress) -> dict[str, Any]:
    """Fit a notion to its prompts."""
    return serve("learning.notions.fit.learn_notion", progress)


@job_task(PICTURES_TASK, queue=DEVICE)
def draw_notion(progress: JobProgress) -> dict[str, Any]:
    """Draw the pictures of a notion."""
    return serve("learning.notions.pictures.draw_notion", progress)


@shared_task(name=live.TASK)
def answer(space_id: int, question: dict[str, Any]) -> None:
    """Read a text, or fit a notion that is still being written."""
    live.answer(space_id, question)


@worker_process_init.connect
def prepare(**_: Any) -> None:
    """Let a light worker's process load what previews take while it waits for its first task."""
    if not settings.WORKER_NAME:
        threading.Thread(target=_get_ready, daemon=True, name="getting ready").start()


def _get_ready() -> None:
    try:
        live.get_ready()
    except (DatabaseError, JobError, Refused, OSError) as problem:
        log.warning("The first preview of a notion will be slow: %s", problem)
    finally:
        connection.close()
