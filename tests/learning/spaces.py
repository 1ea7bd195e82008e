"""Text spaces and notions made in this process, as a worker makes them."""

from __future__ import annotations

from functools import partial
from typing import Any

from catalog.models import Catalog
from jobs.job_task import serve
from jobs.models import Job
from jobs.services import run_here
from learning.models import Notion, TextSpace, TrainingRun
from learning.notions.recipes import NotionRecipe
from learning.notions.services import notion_job
from learning.text_spaces.recipes import SpaceRecipe
from learning.text_spaces.services import create_run, space_job

PARENT = "descriptor:colour-histogram"
RECIPE = SpaceRecipe(
    parent=PARENT, columns=("colour",), captions={"colour": "a {} thing"}, epochs=60
)


def work_on(run: TrainingRun, **options: Any) -> Job:
    """Do a run's job."""
    work = partial(serve, "learning.text_spaces.learn.learn_text_space")
    return run_here(**space_job(run), work=work, **options)


def learned_space(catalog: Catalog, recipe: SpaceRecipe = RECIPE) -> TextSpace:
    """Learn the text space of a catalog."""
    run = create_run(catalog=catalog, name=catalog.slug, recipe=recipe, created_by=None)
    work_on(run)
    return TextSpace.objects.get(run=run)


def learned_notion(space: TextSpace, name: str, recipe: NotionRecipe) -> Notion:
    """Say a notion in a space."""
    job = notion_job(space=space, name=name, recipe=recipe)
    run_here(**job, work=partial(serve, "learning.notions.fit.learn_notion"))
    return Notion.objects.get(space=space, projection__head=job["arguments"]["slug"])
