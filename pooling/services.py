"""Make pools, start, cancel and retry their sources, and open them to a panel.

No torch here: pages call these. The work itself is in `services_fill` and `services_embed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db import transaction
from django.utils.text import slugify

from accounts.models import User
from catalog.models import Catalog
from jobs.models import Job
from jobs.services import cancel_job, enqueue
from pooling.backbones.errors import SpecError
from pooling.backbones.spec import parse_spec
from pooling.errors import PoolError
from pooling.models import OPEN_SOURCE_STATES, Pool, PoolQuery, PoolSource, SourceState
from pooling.queries import image_ids_by_name, images_matching
from pooling.query_rule import QueryRule, draw, missing

FILL_TASK = "pooling.tasks.run_source"
EMBED_TASK = "pooling.tasks.embed"
RESERVED_SLUGS = {"new"}
MAX_NAMED = 5  # of several bad names, a message shows these


@dataclass(frozen=True)
class PoolRequest:
    """What a pool shall be; everything that fixes its proposals."""

    name: str
    catalog: Catalog
    specs: Sequence[str]
    k: int
    rule: QueryRule
    query_catalog: Catalog | None = None
    seed: int = 0
    exclude_same_product: bool = True

    @property
    def slug(self) -> str:
        return slugify(self.name)[:80]

    @property
    def asking(self) -> Catalog:
        """The catalog that the queries come from."""
        return self.query_catalog or self.catalog


def create_pool(*, request: PoolRequest, created_by: User | None) -> Pool:
    """Store a pool with its queries and its sources; nothing is started yet.

    Raises:
        PoolError: a field is wrong, a listed query is unknown, or no query is left.
    """
    check_request(request)
    if Pool.objects.filter(slug=request.slug).exists():
        raise PoolError("name", f"there is a pool “{request.slug}” already; choose another name.")
    image_ids = choose_queries(request)
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
            created_by=created_by,
        )
        PoolQuery.objects.bulk_create(
            PoolQuery(pool=pool, image_id=pk, position=position)
            for position, pk in enumerate(image_ids)
        )
        PoolSource.objects.bulk_create(
            PoolSource(pool=pool, position=position, spec=spec, k=request.k)
            for position, spec in enumerate(request.specs)
        )
    return pool


def pool_as_requested(*, request: PoolRequest, created_by: User | None) -> Pool:
    """Return the pool of that name if it is what is requested, or create it.

    Raises:
        PoolError: as `create_pool`, or the pool of that name was made differently.
    """
    pool = Pool.objects.filter(slug=request.slug).first()
    if pool is None:
        return create_pool(request=request, created_by=created_by)
    differing = _differences(pool, request)
    if differing:
        raise PoolError(
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
        "models": (
            ", ".join(pool.sources.values_list("spec", flat=True)),
            ", ".join(request.specs),
        ),
    }
    listed = [
        f"{name} {is_} and not {wanted}" for name, (is_, wanted) in asked.items() if is_ != wanted
    ]
    if not listed and pool.rule != request.rule:
        listed = ["other queries in its list"]
    return listed


def check_request(request: PoolRequest) -> None:
    """Raise PoolError naming the first field that cannot be right."""
    if not request.slug:
        raise PoolError("name", "give a name with at least one letter or digit.")
    if request.slug in RESERVED_SLUGS:
        raise PoolError("name", "that word is part of an address here; choose another.")
    if request.query_catalog == request.catalog:
        raise PoolError("query catalog", "leave it empty to ask from the same catalog.")
    n_images = request.catalog.images.count()
    n_others = n_images if request.query_catalog else n_images - 1
    if not 1 <= request.k <= n_others:
        raise PoolError("k", f"{request.k} is not possible: {n_images} images {_allow(n_others)}.")
    check_specs(request.specs)


def _allow(most: int) -> str:
    return f"allow 1 to {most}" if most > 0 else "are too few"


def check_specs(specs: Sequence[str]) -> None:
    """Raise PoolError if there is no model, one is named twice, or one does not read."""
    if not specs:
        raise PoolError("models", "name at least one model.")
    for position, spec in enumerate(specs):
        if spec in specs[:position]:
            raise PoolError("models", f"{spec} is named twice.")
        try:
            parse_spec(spec)
        except SpecError as problem:
            raise PoolError("models", str(problem)) from problem


def choose_queries(request: PoolRequest) -> list[int]:
    """Return the image ids of the queries, in the order of asking.

    Raises:
        PoolError: listed names are unknown or mean the same image, nothing matches the
            filters, or fewer match than were asked for.
    """
    rule = request.rule
    if rule.names:
        return _listed_queries(request)
    matching = list(images_matching(request.asking, rule.filters).values_list("pk", flat=True))
    if not matching:
        raise PoolError("queries", f"no image of “{request.asking}” is left: {rule.describe()}.")
    n = len(matching) if rule.n is None else rule.n
    if n > len(matching):
        raise PoolError(
            "queries", f"{n} were asked for, but only {len(matching)} images can be queries."
        )
    drawn = draw(len(matching), n, np.random.default_rng(request.seed))
    return [matching[index] for index in drawn]


def _listed_queries(request: PoolRequest) -> list[int]:
    rule, catalog = request.rule, request.asking
    found = image_ids_by_name(catalog, rule.names)
    unknown = missing(rule.names, found)
    if unknown:
        more = f" and {len(unknown) - MAX_NAMED} more" if len(unknown) > MAX_NAMED else ""
        raise PoolError(
            "queries",
            f"“{catalog}” has no image {', '.join(unknown[:MAX_NAMED])}{more}; "
            "name images by path, uid or SHA-256.",
        )
    kept = set(images_matching(catalog, rule.filters).values_list("pk", flat=True))
    name_of: dict[int, str] = {}
    for name in rule.names:
        pk = found[name]
        if pk in name_of:
            raise PoolError("queries", f"{name} and {name_of[pk]} are the same image.")
        if pk in kept:
            name_of[pk] = name
    if not name_of:
        raise PoolError("queries", f"no image is left: {rule.describe()}.")
    return list(name_of)


def start_pool(*, pool: Pool, owner: User | None) -> int:
    """Queue every source that is neither done nor open; return how many."""
    n_started = 0
    for source in pool.sources.select_related("job"):
        if source.state == SourceState.DONE or (source.job is not None and source.job.is_open):
            continue
        start_source(source=source, owner=owner)
        n_started += 1
    return n_started


def start_source(*, source: PoolSource, owner: User | None) -> Job:
    """Queue one source of a pool.

    Raises:
        JobConflictError: it is queued or running.
        PoolError: it is done; its proposals are facts.
    """
    if source.done_at is not None:
        raise PoolError("models", f"{source.spec} has proposed already.")
    with transaction.atomic():
        job = enqueue(
            task=FILL_TASK,
            subject=source_subject(source),
            title=f"{source.spec} for {source.pool}",
            arguments={"source_id": source.pk},
            owner=owner,
        )
        PoolSource.objects.filter(pk=source.pk).update(job=job)
    return job


def source_subject(source: PoolSource) -> str:
    """Return what a source's jobs are about."""
    return f"pool source {source.pk}"


def cancel_pool(*, pool: Pool) -> int:
    """Cancel every source that is queued or running; return how many."""
    open_sources = [
        source
        for source in pool.sources.select_related("job")
        if source.state in OPEN_SOURCE_STATES and source.job is not None
    ]
    return sum(cancel_job(job=source.job) for source in open_sources if source.job is not None)


def delete_pool(*, pool: Pool) -> None:
    """Remove a pool that no campaign judges, with its proposals; embeddings stay.

    Raises:
        PoolError: a campaign judges it, or it is being filled.
    """
    if pool.campaign_links.exists():
        raise PoolError("pool", "a campaign judges it; its proposals are kept as evidence.")
    if any(source.job is not None and source.job.is_open for source in pool.sources.all()):
        raise PoolError("pool", "it is being filled; cancel that first.")
    pool.delete()
