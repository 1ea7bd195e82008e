"""Celery tasks: learn text spaces, fit notions. They load torch, but only in workers."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from jobs.job_task import job_task, serve
from jobs.queues import DEVICE
from jobs.services import JobProgress
from learning import live
from learning.notions.services import NOTION_TASK, PICTURES_TASK
from learning.text_spaces.services import SPACE_TASK


@job_task(SPACE_TASK, queue=DEVICE)
def learn_text_space(progress: JobProgress) -> dict[str, Any]:
    """Learn a text space from a catalog's attributes."""
    return serve("learning.text_spaces.learn.learn_text_space", progress)


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
