"""The queue of each task: the one that `job_task` names beside it."""

from __future__ import annotations

from functools import cache

from celery import Task, current_app

LIGHT, DEVICE = "light", "device"  # what any worker does, and what wants a GPU where there is one


class JobTask(Task):  # type: ignore[type-arg]  # Celery takes no type arguments
    """A Celery task that does jobs, and the queue that they go to."""

    job_queue = LIGHT


def queue_of(task: str) -> str:
    """Return the Celery queue of a task; LIGHT for one that no app declares."""
    _import_tasks()
    declared = current_app.tasks.get(task)
    return declared.job_queue if isinstance(declared, JobTask) else LIGHT


@cache
def _import_tasks() -> None:
    """Import every app's tasks, which a web process does without until it sends the first."""
    current_app.loader.import_default_modules()
