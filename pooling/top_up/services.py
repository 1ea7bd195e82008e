"""Change a finished pool: add sources or let its sources go deeper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.db import transaction
from django.db.models import Max

from accounts.models import User
from audit.actions import Action
from audit.services import record
from lookalike.core.errors import Refused
from pooling.models import Pool, PoolChange, PoolSource, PoolState
from pooling.new_pool.requests import check_depth, check_specs
from pooling.pools.services import new_source, start_sources
from pooling.pools.settle import settle_pool
from pooling.pools.unsettled import has_open_job
from pooling.sources.upload_files import Upload


@dataclass(frozen=True)
class TopUp:
    """What shall come to a pool.

    Attributes:
        specs: new sources that need no file.
        uploads: new sources that are files.
        depths: the depth of each new source; the pool's where none is given.
        deeper: sources that the pool has, and the greater depth that they shall reach.
    """

    specs: Sequence[str] = ()
    uploads: Sequence[Upload] = ()
    depths: Mapping[str, int] = field(default_factory=dict)
    deeper: Mapping[str, int] = field(default_factory=dict)

    @property
    def all_specs(self) -> list[str]:
        """The specs of the new sources."""
        return [*self.specs, *(upload.spec for upload in self.uploads)]


def top_up_pool(*, pool: Pool, wanted: TopUp, made_by: User | None) -> PoolChange:
    """Write down what shall come to a pool; nothing is started yet.

    What was proposed and judged stays. Once every source concerned has ended, `settle_pool`
    puts the new pairs to the panels.

    Raises:
        Refused: the pool is being filled or was never, nothing is asked for, or a source
            cannot be added or go so deep.
    """
    with transaction.atomic():
        pool = Pool.objects.select_for_update().get(pk=pool.pk)
        sources = {source.spec: source for source in pool.sources.select_related("job")}
        check_top_up(pool, sources, wanted)
        settle_pool(pool=pool)  # what came before is not of this change
        steps = [
            {"spec": spec, "k_before": sources[spec].k, "k": k} for spec, k in wanted.deeper.items()
        ]
        first = pool.sources.aggregate(last=Max("position"))["last"] + 1
        for position, spec in enumerate(wanted.all_specs, start=first):
            k = wanted.depths.get(spec, pool.k)
            new_source(pool, position, spec, k, wanted.uploads).save()
            steps.append({"spec": spec, "k_before": 0, "k": k})
        for spec, k in wanted.deeper.items():
            PoolSource.objects.filter(pk=sources[spec].pk).update(wanted_k=k, job=None)
        record(made_by, Action.POOL_TOPPED_UP, pool, steps=steps)
        number = (pool.changes.aggregate(last=Max("number"))["last"] or 0) + 1
        return PoolChange.objects.create(pool=pool, number=number, steps=steps, made_by=made_by)


def check_top_up(pool: Pool, sources: Mapping[str, PoolSource], wanted: TopUp) -> None:
    """Raise Refused naming the first thing that cannot be."""
    if pool.state == PoolState.FILLING:
        raise Refused("pool", f"“{pool}” is still being filled; wait for it or cancel the rest.")
    if not pool.has_ended:
        raise Refused("pool", f"no model of “{pool}” has proposed anything; try them again first.")
    if not wanted.all_specs and not wanted.deeper:
        raise Refused("models", "name a new model, upload one, or ask a model to go deeper.")
    n_images = pool.catalog.images.count()
    n_candidates = n_images if pool.query_catalog else n_images - 1
    for spec in wanted.all_specs:
        if spec in sources:
            raise Refused("models", f"{spec} is in the pool already; let it go deeper instead.")
        check_depth("models", wanted.depths.get(spec, pool.k), n_candidates, spec)
    if wanted.all_specs:
        check_specs(wanted.all_specs)
    for spec, k in wanted.deeper.items():
        if spec not in sources:
            raise Refused("deeper", f"{spec} is no model of this pool.")
        if sources[spec].done_at is None:
            raise Refused("deeper", f"{spec} has proposed nothing yet; try it again first.")
        if k <= sources[spec].k:
            raise Refused("deeper", f"{spec} has gone to {sources[spec].k} already, {k} is less.")
        check_depth("deeper", k, n_candidates, spec)


def withdraw_depth(*, source: PoolSource) -> None:
    """Give up a greater depth that a source did not reach; what it proposed stays.

    Raises:
        Refused: no greater depth is asked of it, or it is on its way there.
    """
    with transaction.atomic():
        pool = Pool.objects.select_for_update().get(pk=source.pool_id)
        source = pool.sources.select_related("job").get(pk=source.pk)
        if source.wanted_k is None:
            raise Refused("deeper", f"no greater depth is asked of {source.spec}.")
        if has_open_job(source):
            raise Refused("deeper", f"{source.spec} is on its way; stop it first.")
        for change in pool.changes.all():
            for step in change.steps:
                if step["spec"] == source.spec and step["k"] > source.k:
                    step["withdrawn"] = True
            change.save(update_fields=["steps"])
        PoolSource.objects.filter(pk=source.pk).update(wanted_k=None)
        record(None, Action.POOL_DEPTH_WITHDRAWN, pool, model=source.spec, k=source.k)
        settle_pool(pool=pool)


def start_change(*, change: PoolChange, owner: User | None) -> None:
    """Queue every source that a change concerns.

    Raises:
        JobConflictError: one of them is queued or running, or the owner may not have so many
            jobs. Nothing is queued then.
    """
    specs = [step["spec"] for step in change.steps]
    sources = change.pool.sources.filter(spec__in=specs).order_by("position")
    start_sources(sources=list(sources), owner=owner)
