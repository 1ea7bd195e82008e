"""Fit notions. Only tasks and commands import this: it loads torch."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from audit.actions import Action
from audit.services import record
from catalog.vectors.projections import read_layers, store_projection
from jobs.services import JobError, JobProgress
from learning.models import Notion, TextSpace
from learning.notions.recipes import NotionRecipe
from learning.text_vectors import full_memory_named, read_texts
from lookalike.core.dataclass_json import as_json, from_json
from lookalike.core.errors import Refused
from lookalike.learning.notions.closed_forms import prompt_span
from lookalike.learning.notions.indirect import fit_indirect
from lookalike.learning.projection import Layers


def fit_notion(space: TextSpace, recipe: NotionRecipe) -> Layers:
    """Return the map from a space's vectors to a notion's, linear, without a bias.

    Raises:
        Refused: prompts that cannot be used.
        JobError: as `read_texts`.
    """
    prompts = recipe.prompts
    texts = read_texts(space, prompts.texts)
    if recipe.method == "span":
        fitted = prompt_span(texts, recipe.dim)
    else:
        fitted = fit_indirect(texts, recipe.dim, seed=recipe.seed).projection
    card = {
        **fitted.card, "encoder": space.encoder_fingerprint,
        "prompts": list(prompts.texts), "prompts_sha256": prompts.sha256,
    }  # fmt: skip
    return Layers(fitted.n_in, fitted.layers, card, fitted.slope)


@full_memory_named()
def learn_notion(
    *, space_id: int, slug: str, name: str, recipe: dict[str, Any], progress: JobProgress
) -> dict[str, Any]:
    """Fit a notion and store it as a model; may run twice.

    Raises:
        JobError: the text space was deleted, or as `fit_notion`.
        Refused: prompts that cannot be used, or there is another notion of that name.
        JobLostError: the job was cancelled or taken over.
    """
    space = TextSpace.objects.select_related("projection").filter(pk=space_id).first()
    if space is None:
        raise JobError("The text space was deleted.")
    wanted = from_json(NotionRecipe, recipe)
    found = Notion.objects.filter(space=space, projection__head=slug).first()
    if found is not None and found.recipe != recipe:
        raise Refused("name", f"there is another notion “{found}” in “{space}”.")
    if found is None:
        progress.start(0, None, f"Fitting “{name}”")
        layers = read_layers(space.projection.sha256).followed_by(fit_notion(space, wanted))
        with transaction.atomic():
            progress.hold()
            projection = store_projection(
                slug=space.slug, head=slug, name=name, layers=layers, parent=space.projection,
                seen_image_ids=space.projection.seen_image_ids,
            )  # fmt: skip
            found = Notion.objects.create(
                space=space, projection=projection, prompts=list(wanted.prompts.texts),
                recipe=as_json(wanted), created_by=progress.job.owner,
            )  # fmt: skip
            record(None, Action.NOTION_MADE, found, spec=found.spec)
    return {"model": found.spec, "dim": found.projection.dim, "card": found.projection.card}
