"""Text spaces and notions made in this process, as a worker makes them."""

from __future__ import annotations

from functools import partial
from typing import Any

from catalog.models import Catalog, EmbeddingSet
from catalog.vectors.projections import store_projection, write_layers
from jobs.job_task import serve
from jobs.models import Job
from jobs.services import run_here
from learning.models import Notion, TextSpace, TrainingRun
from learning.notions.recipes import NotionRecipe
from learning.notions.services import notion_job
from learning.text_spaces.recipes import SpaceRecipe
from learning.text_spaces.services import create_run, space_job
from lookalike.learning.projection import Layers

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


def stored_space(catalog: Catalog, parent: EmbeddingSet) -> TextSpace:
    """Store a text space of vectors that are there, and a notion in it, without learning."""
    run = TrainingRun.objects.create(catalog=catalog, slug="shop", name="Shop", recipe={})
    layers = Layers(parent.dim, (), {"method": "as it is"})
    one, other = (
        store_projection(
            slug="shop", head=head, name=name, layers=layers, parent=parent, seen_image_ids=[]
        )
        for head, name in (("", "Shop"), ("colour", "Colour"))
    )
    space = TextSpace.objects.create(
        run=run, projection=one, encoder_spec="x", encoder_fingerprint="x",
        texts_sha256=write_layers(layers),
    )  # fmt: skip
    Notion.objects.create(space=space, projection=other, prompts=["a", "b"], recipe={})
    return space
