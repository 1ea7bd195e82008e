"""Ask for training runs, and delete them with what was learned.

No torch here: pages call these. The work itself is in `learning.runs.learn`.
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
from learning.models import Family, TextSpace, TrainingRun
from learning.models_in_use import refuse_if_pooled
from learning.runs.checkpoints import drop_checkpoints
from learning.runs.families import TASKS, recipe_of
from learning.runs.recipes import Recipe
from learning.unused_files import remove_unused_files
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused

RESERVED_SLUGS = {"new", "learned", "compare", "combiner"}
DELETED: dict[str, Action] = {
    Family.SPACE: Action.TEXT_SPACE_DELETED,
    Family.EMBEDDING: Action.EMBEDDING_DELETED,
    Family.COMBINER: Action.COMBINER_DELETED,
}


def create_run(
    *, catalog: Catalog, name: str, recipe: Recipe, created_by: User | None
) -> TrainingRun:
    """Store what shall be learned; nothing is started yet.

    Raises:
        Refused: a name without letters or that is taken, or as `Recipe.check`.
    """
    slug = slugify(name)[:80]
    if not slug:
        raise Refused("name", "give a name with at least one letter or digit.")
    if slug in RESERVED_SLUGS:
        raise Refused("name", "that word is part of an address here; choose another.")
    same = {"slug": slug}
    if TrainingRun.objects.filter(**same).exists() or Projection.objects.filter(**same).exists():
        raise Refused("name", f"there is another learned model “{slug}”; choose another name.")
    recipe.check(catalog)
    return TrainingRun.objects.create(
        family=recipe.family, catalog=catalog, slug=slug, name=name[:200], recipe=as_json(recipe),
        created_by=created_by,
    )  # fmt: skip


def start_run(*, catalog: Catalog, name: str, recipe: Recipe, owner: User) -> TrainingRun:
    """Store what shall be learned, and queue it.

    Raises:
        Refused: as `create_run`.
        JobConflictError: the owner may not have so many jobs.
    """
    with transaction.atomic():
        run = create_run(catalog=catalog, name=name, recipe=recipe, created_by=owner)
        run.job = enqueue(**run_job(run), owner=owner)
        run.save(update_fields=["job"])
    return run


def run_as_asked(*, catalog: Catalog, name: str, recipe: Recipe) -> TrainingRun:
    """Return the run of that name if it is what is asked, or create it.

    Raises:
        Refused: as `create_run`, or the run of that name is another.
    """
    run = TrainingRun.objects.filter(slug=slugify(name)[:80], catalog=catalog).first()
    if run is not None and run.family == recipe.family and recipe_of(run) == recipe:
        return run
    return create_run(catalog=catalog, name=name, recipe=recipe, created_by=None)


def run_job(run: TrainingRun) -> dict[str, Any]:
    """Return what names a run's job: the same for a worker and for a command."""
    return {
        "task": TASKS[run.family],
        "subject": f"training run {run.pk}",
        "title": f"Learn the {run.family_name} “{run.name}”",
        "arguments": {"run_id": run.pk},
    }


def delete_run(*, run: TrainingRun) -> None:
    """Delete what was learned with its vectors, or what was learned towards it.

    Raises:
        Refused: notions are said in it, or a pool uses it.
    """
    with transaction.atomic():
        TrainingRun.objects.select_for_update().get(pk=run.pk)
        for job in Job.objects.filter(task=TASKS[run.family], subject=run_job(run)["subject"]):
            cancel_job(job=job)
        space = TextSpace.objects.filter(run=run).first()
        if space is not None:
            _refuse_if_said_in(space)
        projections = list(run.projections)
        for projection in projections:
            refuse_if_pooled(projection)
        record(None, DELETED[run.family], run, slug=run.slug)
        run.delete()
        for projection in projections:
            delete_projection(projection=projection)
    drop_checkpoints(run)
    remove_unused_files()


def _refuse_if_said_in(space: TextSpace) -> None:
    n_notions = space.notions.count()
    if n_notions:
        these = (
            "1 notion is said in it; delete it"
            if n_notions == 1
            else f"{n_notions:,} notions are said in it; delete them"
        )
        raise Refused("space", f"{these} first.")
