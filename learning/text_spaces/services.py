"""Ask for text spaces, and delete them.

No torch here: pages call these. The work itself is in `learning.text_spaces.learn`.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.utils.text import slugify

from accounts.models import User
from audit.actions import Action
from audit.services import record
from catalog.models import Catalog, Projection
from catalog.vectors.projections import delete_projection
from jobs.models import Job
from jobs.services import cancel_job, enqueue
from learning.models import TextSpace, TrainingRun
from learning.text_spaces.checkpoints import drop_checkpoints
from learning.text_spaces.recipes import SpaceRecipe, check_recipe
from learning.unused_files import remove_unused_files
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused
from pooling.models import PoolSource
from pooling.pools.services import EMBED_TASK

SPACE_TASK = "learning.learn_text_space"
RESERVED_SLUGS = {"new"}


def create_run(
    *, catalog: Catalog, name: str, recipe: SpaceRecipe, created_by: User | None
) -> TrainingRun:
    """Store what shall be learned; nothing is started yet.

    Raises:
        Refused: the name is taken, or as `check_recipe`.
    """
    slug = slugify(name)[:80]
    if not slug or slug in RESERVED_SLUGS:
        raise Refused("name", "give a name with letters or digits that is no address of a page.")
    if TrainingRun.objects.filter(slug=slug).exists() or _is_projection(slug):
        raise Refused("name", f"there is a text space “{slug}” already; choose another name.")
    check_recipe(catalog, recipe)
    return TrainingRun.objects.create(
        catalog=catalog, slug=slug, name=name[:200], recipe=as_json(recipe), created_by=created_by
    )


def _is_projection(slug: str) -> bool:
    return Projection.objects.filter(slug=slug).exists()


def start_text_space(
    *, catalog: Catalog, name: str, recipe: SpaceRecipe, owner: User
) -> TrainingRun:
    """Store what shall be learned, and queue it.

    Raises:
        Refused: as `create_run`.
        JobConflictError: the owner may not have so many jobs.
    """
    with transaction.atomic():
        run = create_run(catalog=catalog, name=name, recipe=recipe, created_by=owner)
        run.job = enqueue(**space_job(run), owner=owner)
        run.save(update_fields=["job"])
    return run


def run_as_asked(*, catalog: Catalog, name: str, recipe: SpaceRecipe) -> TrainingRun:
    """Return the run of that name if it is what is asked, or create it.

    Raises:
        Refused: as `create_run`, or the run of that name is another.
    """
    run = TrainingRun.objects.filter(slug=slugify(name)[:80], catalog=catalog).first()
    if run is not None and run.recipe == as_json(recipe):
        return run
    return create_run(catalog=catalog, name=name, recipe=recipe, created_by=None)


def space_job(run: TrainingRun) -> dict[str, Any]:
    """Return what names a run's job: the same for a worker and for a command."""
    return {
        "task": SPACE_TASK,
        "subject": f"training run {run.pk}",
        "title": f"Learn the text space “{run.name}”"[:200],
        "arguments": {"run_id": run.pk},
    }


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


def delete_run(*, run: TrainingRun) -> None:
    """Delete a text space with its vectors, or what was learned towards one.

    Raises:
        Refused: notions are said in it, or a pool uses it.
    """
    with transaction.atomic():
        TrainingRun.objects.select_for_update().get(pk=run.pk)
        for job in Job.objects.filter(task=SPACE_TASK, subject=space_job(run)["subject"]):
            cancel_job(job=job)
        space = TextSpace.objects.filter(run=run).select_related("projection").first()
        if space is not None:
            n_notions = space.notions.count()
            if n_notions:
                these = (
                    "1 notion is said in it; delete it"
                    if n_notions == 1
                    else f"{n_notions:,} notions are said in it; delete them"
                )
                raise Refused("space", f"{these} first.")
            refuse_if_pooled(space.projection)
        record(None, Action.TEXT_SPACE_DELETED, run, slug=run.slug)
        run.delete()
        if space is not None:
            delete_projection(projection=space.projection)
    drop_checkpoints(run)
    remove_unused_files()


def refuse_if_pooled(projection: Projection) -> None:
    """Raise Refused if a pool's proposals are a learned model's: they are kept as evidence."""
    source = PoolSource.objects.filter(spec=projection.spec).select_related("pool").first()
    if source is not None:
        raise Refused("model", f"the pool “{source.pool}” uses {projection.spec}.")
