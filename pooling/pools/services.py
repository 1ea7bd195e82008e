"""Make pools, start, cancel and retry their sources, and open them to a panel.

No torch here: pages call these. The work itself is in `pooling.sources.fill`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from accounts.models import User
from audit.actions import Action
from audit.services import record
from jobs.models import OPEN_STATES, Job, JobState
from jobs.services import JobConflictError, cancel_job, enqueue
from lookalike.core.errors import Refused
from pooling.models import (
    OPEN_SOURCE_STATES,
    Pool,
    PoolChange,
    PoolQuery,
    PoolSource,
    SourceState,
)
from pooling.new_pool.requests import (
    PoolRequest,
    check_candidates,
    check_request,
    choose_queries,
    pool_name,
)
from pooling.pools.unsettled import has_open_job
from pooling.sources.upload_files import Upload

FILL_TASK = "pooling.tasks.run_source"
EMBED_TASK = "pooling.tasks.embed"


def create_pool(*, request: PoolRequest, created_by: User | None) -> Pool:
    """Store a pool with its queries and its sources; nothing is started yet.

    Raises:
        Refused: a field is wrong, a listed query is unknown, or no query is left.
    """
    check_request(request)
    if Pool.objects.filter(slug=request.slug).exists():
        free = pool_name(request.name).free
        raise Refused("name", f"there is a pool “{request.slug}” already; “{free}” is free.")
    image_ids = choose_queries(request)
    check_candidates(request, image_ids)
    with transaction.atomic():
        pool = Pool.objects.create(
            slug=request.slug,
            name=request.name[:200],
            catalog=request.catalog,
            query_catalog=request.query_catalog,
            k=request.k,
            seed=request.seed,
            query_rule=request.rule.as_json(),
            exclude_same_product=request.exclude_same_product,
            shared_product_ids=request.shared_product_ids,
            candidate_rule=request.candidates.as_json(),
            index=request.index,
            created_by=created_by,
        )
        PoolQuery.objects.bulk_create(
            PoolQuery(pool=pool, image_id=pk, position=position)
            for position, pk in enumerate(image_ids)
        )
        PoolSource.objects.bulk_create(
            new_source(pool, position, spec, request.depth_of(spec), request.uploads)
            for position, spec in enumerate(request.all_specs)
        )
        PoolChange.objects.create(
            pool=pool,
            number=1,
            steps=_steps(request),
            made_by=created_by,
        )
        record(created_by, Action.POOL_MADE, pool, slug=pool.slug, models=request.all_specs)
    return pool


def _steps(request: PoolRequest) -> list[dict[str, Any]]:
    return [
        {"spec": spec, "k_before": 0, "k": request.depth_of(spec)} for spec in request.all_specs
    ]


def _described(steps: Sequence[Mapping[str, Any]], k: int) -> list[str]:
    """Return the sources of a step in words, with the depths that are their own."""
    return [step["spec"] + (f" k={step['k']}" if step["k"] != k else "") for step in steps]


def new_source(
    pool: Pool, position: int, spec: str, k: int, uploads: Sequence[Upload]
) -> PoolSource:
    """Return a source, not stored yet, with the file that it is made of if it is an upload."""
    source = PoolSource(pool=pool, position=position, spec=spec, k=k)
    for upload in uploads:
        if upload.spec == spec:
            source.file_name, source.file_sha256 = upload.file_name, upload.sha256
            source.ids_sha256 = upload.ids_sha256
    return source


def pool_as_requested(*, request: PoolRequest, created_by: User | None) -> Pool:
    """Return the pool of that name if it is what is requested, or create it.

    Raises:
        Refused: as `create_pool`, or the pool of that name was made differently.
    """
    pool = Pool.objects.filter(slug=request.slug).first()
    if pool is None:
        return create_pool(request=request, created_by=created_by)
    differing = _differences(pool, request)
    if differing:
        raise Refused(
            "name",
            f"there is a pool “{pool.slug}” already, with {'; '.join(differing)}. "
            "Choose another name, or repeat its settings to go on with it.",
        )
    return pool


def _differences(pool: Pool, request: PoolRequest) -> list[str]:
    """Return in words what a pool has otherwise than requested."""
    asked = {
        "catalog": (pool.catalog.slug, request.catalog.slug),
        "query catalog": (pool.asking.slug, request.asking.slug),
        "k": (pool.k, request.k),
        "seed": (pool.seed, request.seed),
        "queries": (pool.rule.describe(), request.rule.describe()),
        "same product left out": (pool.exclude_same_product, request.exclude_same_product),
        "shared product ids": (pool.shared_product_ids, request.shared_product_ids),
        "candidates": (
            pool.candidates.describe() or "all",
            request.candidates.describe() or "all",
        ),
        "index": (pool.index, request.index),
        "models": (
            ", ".join(_described(pool.changes.get(number=1).steps, pool.k)),
            ", ".join(_described(_steps(request), request.k)),
        ),
    }
    listed = [
        f"{name} {is_} and not {wanted}" for name, (is_, wanted) in asked.items() if is_ != wanted
    ]
    if not listed and pool.rule != request.rule:
        listed = ["other queries in its list"]
    return listed


def start_pool(*, pool: Pool, owner: User | None) -> int:
    """Queue every source that is neither done nor open; return how many.

    Raises:
        JobConflictError: the owner may not have so many jobs, or somebody else was faster.
            Nothing is queued then.
    """
    left = [
        source
        for source in pool.sources.select_related("job")
        if source.state != SourceState.DONE and not has_open_job(source)
    ]
    return start_sources(sources=left, owner=owner)


def start_sources(*, sources: Sequence[PoolSource], owner: User | None) -> int:
    """Queue all these sources or none; return how many.

    Raises:
        JobConflictError: as `start_pool`.
    """
    with transaction.atomic():
        if owner is not None:
            _require_room(owner, len(sources))
        for source in sources:
            start_source(source=source, owner=owner)
    return len(sources)


def _require_room(owner: User, n_wanted: int) -> None:
    n_open = Job.objects.filter(owner=owner, state__in=OPEN_STATES).count()
    most = settings.MAX_OPEN_JOBS
    if n_open + n_wanted > most:
        few = f"You have {n_open} jobs waiting or running and one person may have {most}"
        raise JobConflictError(
            f"{few}, so {n_wanted} models cannot be queued now. Start them one by one, or let "
            "some jobs end, or cancel them, and start them together."
        )


def start_source(*, source: PoolSource, owner: User | None) -> Job:
    """Queue one source of a pool.

    Raises:
        JobConflictError: it is queued or running.
        Refused: it is done; its proposals are facts.
    """
    if source.done_at is not None and source.wanted_k is None:
        raise Refused("models", f"{source.spec} has proposed already.")
    with transaction.atomic():
        job = enqueue(**source_job(source), owner=owner)
        PoolSource.objects.filter(pk=source.pk).update(job=job)
    return job


def source_job(source: PoolSource) -> dict[str, Any]:
    """Return what names a source's job: the same for a worker and for a command."""
    return {
        "task": FILL_TASK,
        "subject": f"pool source {source.pk}",
        "title": f"{source.spec} for {source.pool}",
        "arguments": {"source_id": source.pk},
    }


def cancel_pool(*, pool: Pool) -> int:
    """Cancel every source that is not started, queued or running; return how many."""
    with transaction.atomic():
        sources = pool.sources.select_related("job", "pool")
        return sum(
            cancel_source(source=source) for source in sources if source.state in OPEN_SOURCE_STATES
        )


@transaction.atomic
def cancel_source(*, source: PoolSource) -> bool:
    """Cancel one source; it can be tried again. False if it had ended already."""
    if source.job is not None:
        return cancel_job(job=source.job)
    job = Job.objects.create(
        **source_job(source), state=JobState.CANCELLED, finished_at=timezone.now()
    )
    record(None, Action.JOB_CANCELLED, job, task=job.task)
    return bool(PoolSource.objects.filter(pk=source.pk, job=None).update(job=job))


def delete_pool(*, pool: Pool) -> None:
    """Remove a pool that no campaign judges, with its proposals; embeddings stay.

    Raises:
        Refused: a campaign judges it, or it is being filled.
    """
    if pool.campaign_links.exists():
        raise Refused("pool", "a campaign judges it; its proposals are kept as evidence.")
    if any(has_open_job(source) for source in pool.sources.all()):
        raise Refused("pool", "it is being filled; cancel that first.")
    with transaction.atomic():
        record(None, Action.POOL_DELETED, pool, slug=pool.slug)
        pool.delete()
