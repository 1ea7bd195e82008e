"""What of a pool's history is still to be written down; a pool at rest has nothing left.

Reads what it is given, of the rows of one pool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pooling.models import Pool, PoolChange, PoolSource, PoolState, SourceState


def is_at_work(pool: Pool) -> bool:
    """Whether the figures of a pool will change without anybody's doing.

    Its sources may all be done: figures and new questions come after the last proposals.
    """
    sources = list(pool.sources.all())
    if pool.state == PoolState.FILLING or any(has_open_job(source) for source in sources):
        return True
    return pool.has_ended and bool(unsettled_changes(list(pool.changes.all()), sources))


def has_unstarted(sources: Sequence[PoolSource]) -> bool:
    """Whether a source waits for somebody to start it."""
    return any(source.job is None and source.state == SourceState.QUEUED for source in sources)


def has_open_job(source: PoolSource) -> bool:
    """Whether a worker is at a source, or will be."""
    return source.job is not None and source.job.is_open


def unsettled_changes(
    changes: Sequence[PoolChange], sources: Sequence[PoolSource]
) -> list[PoolChange]:
    """Return the changes that were never written down, or brought something since."""
    return [
        change
        for change in changes
        if change.settled_at is None or due_specs(change, changes, sources)
    ]


def due_specs(
    change: PoolChange, changes: Sequence[PoolChange], sources: Sequence[PoolSource]
) -> list[str]:
    """Return the sources that have done what a change asked of them and are not counted in it.

    A source that went deeper later, by another change, did not do it for this one.
    """
    by_spec = {source.spec: source for source in sources}
    counted = set(counted_specs(change, sources))
    return [
        step["spec"]
        for step in change.steps
        if step["spec"] not in counted
        and _is_reached(step, by_spec.get(step["spec"]))
        and not _is_overtaken(step, change, changes)
    ]


def counted_specs(change: PoolChange, sources: Sequence[PoolSource]) -> list[str]:
    """Return the sources whose proposals a change's figures hold."""
    if change.settled_at is None:
        return []
    if "counted" in change.outcome:
        return list(change.outcome["counted"])
    # written before they were named: those that had ended by then
    named = {row["spec"] for row in change.outcome.get("by_source", [])}
    ended = {s.spec for s in sources if s.done_at is not None and s.done_at <= change.settled_at}
    return [step["spec"] for step in change.steps if step["spec"] in named | ended]


def _is_reached(step: dict[str, Any], source: PoolSource | None) -> bool:
    return (
        source is not None
        and source.done_at is not None
        and source.k >= step["k"]
        and not step.get("withdrawn", False)
    )


def _is_overtaken(step: dict[str, Any], change: PoolChange, changes: Sequence[PoolChange]) -> bool:
    """Whether a later change asked the same source for a depth before this one was reached."""
    return any(
        other["spec"] == step["spec"] and other["k_before"] < step["k"]
        for later in changes
        if later.number > change.number
        for other in later.steps
    )
