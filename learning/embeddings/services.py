"""Ask for embeddings, and delete them.

No torch here. The work itself is in `learning.embeddings.learn`.
"""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.text import slugify

from accounts.models import User
from audit.actions import Action
from audit.services import record
from catalog.models import Catalog, Projection
from catalog.vectors.projections import delete_projection
from jobs.models import Job
from jobs.services import enqueue
from learning.models import TrainingRun
from learning.text_spaces.services import refuse_if_pooled
from learning.unused_files import remove_unused_files
from lookalike.backbones.spec import SpecError, parse_spec
from lookalike.core.dataclass_json import as_json
from lookalike.core.errors import Refused
from lookalike.learning.embeddings.recipe import PRODUCT, EmbeddingRecipe

EMBEDDING_TASK = "learning.learn_embedding"


def start_embedding(
    *, catalog: Catalog, name: str, parent: str, recipe: EmbeddingRecipe, owner: User
) -> Job:
    """Queue the learning of an embedding.

    Raises:
        Refused: as `embedding_job`.
        JobConflictError: it is being learned, or the owner may not have so many jobs.
    """
    job = embedding_job(catalog=catalog, name=name, parent=parent, recipe=recipe)
    return enqueue(**job, owner=owner)


def embedding_job(
    *, catalog: Catalog, name: str, parent: str, recipe: EmbeddingRecipe
) -> dict[str, Any]:
    """Return what names an embedding's job: the same for a worker and for a command.

    Args:
        catalog: whose images it learns from.
        name: of the model.
        parent: spec of the backbone whose vectors it maps.
        recipe: what it learns, and how.

    Raises:
        Refused: a name without letters or that another model has, a spec that names no
            backbone, or a column that no image has.
    """
    slug = slugify(name)[:80]
    if not slug:
        raise Refused("name", "give a name with at least one letter or digit.")
    try:
        parse_spec(parent)
    except SpecError as problem:
        raise Refused("model", str(problem)) from problem
    for column in recipe.columns:
        has = ~Q(product_id="") if column == PRODUCT else Q(attributes__has_key=column)
        if not catalog.images.filter(has).exists():
            raise Refused("columns", f"no image of “{catalog}” has {column!r}.")
    made = Projection.objects.filter(slug=slug, head="").first()
    if TrainingRun.objects.filter(slug=slug).exists() or (
        made is not None and not is_as_asked(made, parent, as_json(recipe))
    ):
        raise Refused("name", f"there is another learned model “{slug}”; choose another name.")
    return {
        "task": EMBEDDING_TASK,
        "subject": f"embedding {slug}",
        "title": f"Learn the embedding “{name}”"[:200],
        "arguments": {
            "catalog_id": catalog.pk, "slug": slug, "name": name[:200], "parent": parent,
            "recipe": as_json(recipe),
        },
    }  # fmt: skip


def is_as_asked(projection: Projection, parent: str, recipe: dict[str, Any]) -> bool:
    """Return whether a learned model is one of a parent and a recipe."""
    return projection.parent_spec == parent and projection.card.get("recipe") == recipe


def delete_embedding(*, projection: Projection) -> None:
    """Delete a learned embedding with the vectors that it has made.

    Raises:
        Refused: a pool uses it, or it is that of a text space or notion.
    """
    if "recipe" not in projection.card:
        raise Refused("name", f"{projection.spec} is a text space or notion.")
    with transaction.atomic():
        refuse_if_pooled(projection)
        record(None, Action.EMBEDDING_DELETED, projection, spec=projection.spec)
        delete_projection(projection=projection)
    remove_unused_files()
