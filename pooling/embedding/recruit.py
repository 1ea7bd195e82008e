"""Let other workers take part in one model's embedding, each on a queue of its own."""

from __future__ import annotations

from catalog.models import EmbeddingSet
from jobs.models import OPEN_STATES, Job, JobState
from jobs.services import JobConflictError, cancel_job, enqueue
from jobs.work.heartbeat import live_workers

HELP_TASK = "pooling.tasks.help_embed"


def ask_for_help(*, embedding_set: EmbeddingSet, job: Job) -> int:
    """Ask other living workers to embed shards of the set as well; return how many were asked.

    Only workers of the same kind of device are asked, so that all vectors of a set come from
    the same arithmetic. A command, which is no worker, asks nobody.
    """
    asking = job.held_by
    if asking is None:
        return 0
    n_spare = embedding_set.planned_shards.count() - 1  # the worker that asks takes one itself
    others = live_workers(asking.device).exclude(pk=asking.pk)
    n_asked = 0
    for worker in others[: max(n_spare, 0)]:
        try:
            enqueue(
                task=HELP_TASK,
                subject=f"{_subject(embedding_set)}{worker}",
                title=f"{embedding_set.spec}: help by {worker}",
                arguments={"embedding_set_id": embedding_set.pk},
                owner=None,
                queue=worker.queue,
            )
        except JobConflictError:
            continue  # it has been asked already
        n_asked += 1
    return n_asked


def end_help(*, embedding_set: EmbeddingSet, in_the_middle: bool = False) -> None:
    """Call the helpers off; harmless when none was asked.

    Args:
        in_the_middle: those at work too. In the end they find nothing left and stop themselves.
    """
    asked = Job.objects.filter(task=HELP_TASK, subject__startswith=_subject(embedding_set))
    for job in asked.filter(state__in=OPEN_STATES if in_the_middle else [JobState.QUEUED]):
        cancel_job(job=job)


def _subject(embedding_set: EmbeddingSet) -> str:
    return f"embedding set {embedding_set.pk} by "
