"""Change a finished pool: add sources or go deeper, and put the new pairs to its panels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from accounts.models import User
from annotation.models import CampaignState
from annotation.services import add_questions
from pooling.differences import Difference, changes_of, difference
from pooling.eds import Proposals
from pooling.errors import PoolError
from pooling.models import Pool, PoolChange, PoolSource, PoolState
from pooling.pool_requests import check_depth, check_specs
from pooling.queries import judged_pairs, pool_pairs, stored_proposals
from pooling.services import new_source, start_source
from pooling.uploads import Upload


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
        PoolError: the pool is being filled or was never, nothing is asked for, or a source
            cannot be added or go so deep.
    """
    with transaction.atomic():
        pool = Pool.objects.select_for_update().get(pk=pool.pk)
        sources = {source.spec: source for source in pool.sources.select_related("job")}
        check_top_up(pool, sources, wanted)
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
        number = (pool.changes.aggregate(last=Max("number"))["last"] or 0) + 1
        return PoolChange.objects.create(pool=pool, number=number, steps=steps, made_by=made_by)


def check_top_up(pool: Pool, sources: Mapping[str, PoolSource], wanted: TopUp) -> None:
    """Raise PoolError naming the first thing that cannot be."""
    if pool.state == PoolState.FILLING:
        raise PoolError("pool", f"“{pool}” is still being filled; wait for it or cancel the rest.")
    if not pool.has_ended:
        raise PoolError(
            "pool", f"no model of “{pool}” has proposed anything; try them again first."
        )
    if not wanted.all_specs and not wanted.deeper:
        raise PoolError("models", "name a new model, upload one, or ask a model to go deeper.")
    n_images = pool.catalog.images.count()
    n_candidates = n_images if pool.query_catalog else n_images - 1
    for spec in wanted.all_specs:
        if spec in sources:
            raise PoolError("models", f"{spec} is in the pool already; let it go deeper instead.")
        check_depth("models", wanted.depths.get(spec, pool.k), n_candidates, spec)
    if wanted.all_specs:
        check_specs(wanted.all_specs)
    for spec, k in wanted.deeper.items():
        if spec not in sources:
            raise PoolError("deeper", f"{spec} is no model of this pool.")
        if sources[spec].done_at is None:
            raise PoolError("deeper", f"{spec} has proposed nothing yet; try it again first.")
        if k <= sources[spec].k:
            raise PoolError("deeper", f"{spec} has gone to {sources[spec].k} already, {k} is less.")
        check_depth("deeper", k, n_candidates, spec)


def start_change(*, change: PoolChange, owner: User | None) -> None:
    """Queue every source that a change concerns.

    Raises:
        JobConflictError: one of them is queued or running.
    """
    specs = [step["spec"] for step in change.steps]
    for source in change.pool.sources.filter(spec__in=specs).order_by("position"):
        start_source(source=source, owner=owner)


def settle_pool(*, pool: Pool) -> int:
    """Once no source is at work: write down what was found, and open the new pairs.

    May be called at any time and any number of times; returns how many questions were opened.
    A campaign that is closed takes no pairs; call it again once it was opened again.
    """
    with transaction.atomic():
        locked = Pool.objects.select_for_update().get(pk=pool.pk)
        if not locked.has_ended:
            return 0
        changes = list(locked.changes.all())
        sources, proposals = stored_proposals(locked)
        unsettled = [change for change in changes if _is_unsettled(change, sources)]
        for change in unsettled:
            _write_outcome(change, changes, sources, proposals)
        opened = open_new_pairs(pool=locked)
        if opened and changes:
            _add_opened(unsettled[-1] if unsettled else changes[-1], opened)
    return sum(opened.values())


def open_new_pairs(*, pool: Pool) -> dict[str, int]:
    """Put the pairs that a pool's campaigns do not ask yet to their panels.

    Returns:
        How many were new, by the slug of each campaign that got any.
    """
    pairs = pool_pairs(pool)
    opened = {}
    for link in pool.campaign_links.select_related("campaign").order_by("id"):
        if link.campaign.state != CampaignState.CLOSED:
            n_opened = add_questions(campaign=link.campaign, pairs=pairs)
            if n_opened:
                opened[link.campaign.slug] = n_opened
    return opened


def _is_unsettled(change: PoolChange, sources: Sequence[PoolSource]) -> bool:
    """Whether a source that a change concerns has ended since it was last written down."""
    specs = {step["spec"] for step in change.steps}
    return change.settled_at is None or any(
        source.spec in specs and source.done_at and source.done_at > change.settled_at
        for source in sources
    )


def _write_outcome(
    change: PoolChange,
    changes: Sequence[PoolChange],
    sources: Sequence[PoolSource],
    proposals: Proposals,
) -> None:
    made = _difference(change, changes, sources, proposals)
    change.settled_at = timezone.now()
    change.n_proposals = made.n_proposals
    change.n_pairs_before = made.n_pairs_before
    change.n_new_pairs = made.n_new
    opened = change.outcome.get("opened", {})
    change.outcome = {
        **made.as_dict(),
        "by_source": [
            {"spec": sources[row["model"]].spec, **row} for row in made.as_dict()["by_source"]
        ],
        "opened": opened,
    }
    change.save()


def _difference(
    change: PoolChange,
    changes: Sequence[PoolChange],
    sources: Sequence[PoolSource],
    proposals: Proposals,
) -> Difference:
    model_of = {source.spec: model for model, source in enumerate(sources)}
    steps = [
        (model_of[step["spec"]], int(step["k_before"]), int(step["k"]), each.number)
        for each in changes
        for step in each.steps
        if step["spec"] in model_of
    ]
    asked = np.array(
        list(change.pool.queries.order_by("position").values_list("image_id", flat=True)), np.int64
    )
    judged = judged_pairs(change.pool)
    pairs = zip(asked[proposals.query].tolist(), proposals.candidate.tolist(), strict=True)
    is_judged = np.fromiter((pair in judged for pair in pairs), bool, len(proposals))
    belongs_to = changes_of(proposals.model, proposals.rank, steps)
    return difference(proposals, belongs_to, change.number, is_judged)


def _add_opened(change: PoolChange, opened: Mapping[str, int]) -> None:
    total = Counter(change.outcome.get("opened", {})) + Counter(opened)
    change.n_opened += sum(opened.values())
    change.outcome = {**change.outcome, "opened": dict(total)}
    change.save(update_fields=["n_opened", "outcome"])


def settle_after(job_uid: str) -> None:
    """Settle the pool whose source a job was at, if there is one."""
    pool = Pool.objects.filter(sources__job__uid=job_uid).first()
    if pool is not None:
        settle_pool(pool=pool)
