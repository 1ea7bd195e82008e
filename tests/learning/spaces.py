"""Text spaces and notions made in this process, as a worker makes them."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.utils import timezone

from catalog.models import Catalog, EmbeddingSet
from catalog.vectors.projections import store_projection, write_layers
from conditional.models import RetrievalTemplate, TemplateSet
from jobs.job_task import serve
from jobs.models import Job
from jobs.services import run_here
from learning.embeddings.recipes import CatalogEmbedding
from learning.models import Notion, TextSpace, TrainingRun
from learning.notions.recipes import NotionRecipe
from learning.notions.services import notion_job
from learning.runs.families import LEARN
from learning.runs.services import create_run, run_job
from learning.text_spaces.recipes import SpaceRecipe
from lookalike.conditional.types import DistractorKind
from lookalike.learning.projection import Layers

PARENT = "descriptor:colour-histogram"
RECIPE = SpaceRecipe(
    parent=PARENT, columns=("colour",), captions={"colour": "a {} thing"}, epochs=60
)


def work_on(run: TrainingRun, **options: Any) -> Job:
    """Do a run's job."""
    return run_here(**run_job(run), work=partial(serve, LEARN), **options)


def learned_space(catalog: Catalog, recipe: SpaceRecipe = RECIPE) -> TextSpace:
    """Learn the text space of a catalog."""
    run = create_run(catalog=catalog, name=catalog.slug, recipe=recipe, created_by=None)
    work_on(run)
    return TextSpace.objects.get(run=run)


def stored_embedding(catalog: Catalog, parent: EmbeddingSet) -> TrainingRun:
    """Store an embedding of vectors that are there, and its run, without learning."""
    recipe = CatalogEmbedding(("colour",), parent=parent.spec, dim=0, hidden=0)
    run = create_run(catalog=catalog, name="Own", recipe=recipe, created_by=None)
    layers = Layers(parent.dim, (), {"method": "as it is"})
    store_projection(slug="own", name="Own", layers=layers, parent=parent, seen_image_ids=[])
    TrainingRun.objects.filter(pk=run.pk).update(
        curve=[[0, 0.9], [1, 0.5], [2, 0.4]], finished_at=timezone.now(),
        figures={"n_seen": 20, "n_held_out": 10, "found": {"colour": [0.5, 0.75]}},
    )  # fmt: skip
    run.refresh_from_db()
    return run


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


def colour_templates(catalog: Catalog, n: int = 12) -> TemplateSet:
    """Store templates that ask for a reference in another colour, by its name alone."""
    made = TemplateSet.objects.create(
        slug="change", name="Change", catalog=catalog, task="change_attribute", source="catalog"
    )
    images = list(catalog.images.order_by("pk"))
    for position in range(n):
        reference, target = images[position], images[position + 31]
        gallery = [one.pk for one in images[position + 40 : position + 50]
                   if one.attributes["colour"] != target.attributes["colour"]]  # fmt: skip
        RetrievalTemplate.objects.create(
            template_set=made, position=position, condition=target.attributes["colour"],
            reference=reference, target=target, gallery=gallery,
            kinds=[DistractorKind.UNKNOWN] * len(gallery),
        )  # fmt: skip
    return made
