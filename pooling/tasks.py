"""Doors for Celery. The services load torch, so they are found by name when a task runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celery import shared_task
from django.utils.module_loading import import_string

from jobs.services import JobProgress, run_job
from pooling.pools.settle import settle_after, settle_left


@shared_task(name="pooling.tasks.embed")
def embed(job_uid: str) -> None:
    """Embed one catalog by one backbone."""
    _run(job_uid, "pooling.embedding.embed.embed_as_asked")


@shared_task(name="pooling.tasks.help_embed")
def help_embed(job_uid: str) -> None:
    """Take part in an embedding that another worker is at."""
    _run(job_uid, "pooling.embedding.embed.help_embed")


@shared_task(name="pooling.tasks.run_source")
def run_source(job_uid: str) -> None:
    """Let one source of a pool propose; the last one opens what is new to its campaigns."""
    try:
        _run(job_uid, "pooling.sources.fill.run_source")
    finally:
        settle_after(job_uid)


@shared_task(name="pooling.settle")  # not routed to the devices: it needs none
def settle() -> int:
    """Settle the pools whose last worker was killed before it could."""
    return settle_left()


@shared_task(name="pooling.probe")  # not routed to the devices: it needs none
def probe(job_uid: str) -> None:
    """Let the models that have vectors answer some queries of a pool to come."""
    _run(job_uid, "pooling.probe.services.probe")


def _run(job_uid: str, service: str) -> None:
    """Do a job by a service that takes the job's arguments and its progress."""

    def work(progress: JobProgress) -> dict[str, Any]:
        do: Callable[..., dict[str, Any]] = import_string(service)
        return do(progress=progress, **progress.job.arguments)

    run_job(job_uid, work)
