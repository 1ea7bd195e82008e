"""Celery tasks: embed catalogs, fill pools, settle them. Most load torch, but only in workers."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from jobs.job_task import job_task, serve
from jobs.models import Job
from jobs.queues import DEVICE
from jobs.services import JobProgress
from pooling.embedding.recruit import HELP_TASK
from pooling.pools.services import EMBED_TASK, FILL_TASK
from pooling.pools.settle import settle_after, settle_left
from pooling.probe.services import PROBE_TASK


@job_task(EMBED_TASK, queue=DEVICE)
def embed(progress: JobProgress) -> dict[str, Any]:
    """Embed one catalog by one backbone."""
    return serve("pooling.embedding.embed.embed_as_asked", progress)


@job_task(HELP_TASK, queue=DEVICE)
def help_embed(progress: JobProgress) -> dict[str, Any]:
    """Take part in an embedding that another worker does."""
    return serve("pooling.embedding.embed.help_embed", progress)


def _settle(job: Job) -> None:
    settle_after(str(job.uid))


@job_task(FILL_TASK, queue=DEVICE, after=_settle)
def run_source(progress: JobProgress) -> dict[str, Any]:
    """Let one source of a pool propose; the last one opens what is new to its campaigns."""
    return serve("pooling.sources.fill.run_source", progress)


@shared_task(name="pooling.settle")
def settle() -> int:
    """Settle the pools whose last worker was killed before it could."""
    return settle_left()


@job_task(PROBE_TASK)
def probe(progress: JobProgress) -> dict[str, Any]:
    """Let the models that have vectors answer some queries of a pool to come."""
    return serve("pooling.probe.services.probe", progress)
