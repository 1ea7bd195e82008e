"""Ask for the vectors of a text space's later pictures; `learning.runs` does the learning."""

from __future__ import annotations

from accounts.models import User
from jobs.models import Job
from jobs.services import enqueue
from learning.models import TextSpace
from pooling.pools.services import EMBED_TASK


def start_mapping(*, space: TextSpace, owner: User) -> Job:
    """Queue the making of vectors in the space for pictures that have none.

    Raises:
        JobConflictError: that is queued or running, or the owner may not have so many jobs.
    """
    catalog, spec = space.catalog, space.projection.spec
    return enqueue(
        task=EMBED_TASK,
        subject=f"catalog {catalog.pk} by {spec}",
        title=f"Embed {catalog} by {spec}",
        arguments={"catalog_id": catalog.pk, "spec": spec},
        owner=owner,
    )
