"""Suggest triplets from a pool or from embedding sets, and store them as a set of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from django.db import transaction

from accounts.models import User
from catalog.models import Catalog, EmbeddingSet
from catalog.queries import usable_embedding_sets
from conditional.models import TripletQuestion, TripletSet, TripletSource
from conditional.stored_sets import save_named, stored_by
from conditional.triplets.scored import (
    models_of,
    sampled_images,
    sampled_queries,
    scored_by_embeddings,
    scored_of_pool,
    speaking_sources,
)
from conditional.triplets.services import BATCH, free_triplet_slug
from jobs.models import Job
from jobs.services import JobProgress, enqueue
from lookalike.conditional.builders.disagreements import Suggested, suggest_triplets
from lookalike.conditional.suggestions import SuggestRecipe
from lookalike.core.errors import Refused
from lookalike.core.progress import SILENT, Progress
from pooling.models import Pool

SUGGEST_TASK = "conditional.tasks.suggest"
PREVIEW_ANCHORS = 30


def request_suggestion(
    *, catalog: Catalog, name: str, recipe: SuggestRecipe, owner: User | None
) -> Job:
    """Queue the suggesting of triplets.

    Raises:
        Refused: as `free_triplet_slug`, `sound_recipe` and `chosen_models`.
        JobConflictError: a set of that name is being made.
    """
    slug = free_triplet_slug(name)
    recipe = sound_recipe(recipe)
    chosen_models(catalog, recipe)
    return enqueue(
        task=SUGGEST_TASK,
        subject=f"triplet set {slug}",
        title=f"Suggest “{name[:150]}”",
        arguments={"catalog": catalog.pk, "name": name, "recipe": recipe.as_json()},
        owner=owner,
    )


def suggest_set(
    *, catalog: Catalog, name: str, recipe: SuggestRecipe, owner: User | None, progress: JobProgress
) -> dict[str, Any]:
    """Find the triplets that models disagree about and store them as a set of questions.

    A job that was cut short after storing finds the set that it stored.

    Returns:
        What the job's row and the command say: slug and figures.

    Raises:
        Refused: as `free_triplet_slug`, `sound_recipe` and `find_triplets`.
    """
    if stored := stored_by(TripletSet, name, progress.job):
        return _figures(stored)
    slug = free_triplet_slug(name)
    recipe = sound_recipe(recipe)
    progress.start(0, None, "Comparing what models score", is_long=True)
    models, found = find_triplets(catalog, recipe, progress)
    conditions = recipe.conditions or ("",)
    n_questions = len(found.triplets) * len(conditions)
    report = asdict(found.report) | {
        "n_triplets": len(found.triplets), "job": str(progress.job.uid)
    }  # fmt: skip
    triplet_set = TripletSet(
        slug=slug,
        name=name[:200],
        catalog=catalog,
        source=TripletSource.SUGGESTED,
        seed=recipe.seed,
        recipe=recipe.as_json() | {"models": models},
        report=report,
        figures={"n_questions": n_questions},
        owner=owner,
    )
    _store(triplet_set, questions_of(triplet_set, found, models, conditions))
    return _figures(triplet_set)


def _figures(triplet_set: TripletSet) -> dict[str, Any]:
    """Return what the job's row and the command say of a suggested set."""
    report = {name: value for name, value in triplet_set.report.items() if name != "job"}
    return {
        "set": triplet_set.slug,
        "n_questions": triplet_set.n_questions,
        "models": triplet_set.recipe["models"],
        **report,
    }


def sound_recipe(recipe: SuggestRecipe) -> SuggestRecipe:
    """Return a recipe as `SuggestRecipe.checked` does.

    Raises:
        Refused: it makes no sense.
    """
    try:
        return recipe.checked()
    except ValueError as problem:
        raise Refused("recipe", f"{problem}.") from problem


def find_triplets(
    catalog: Catalog, recipe: SuggestRecipe, progress: Progress
) -> tuple[list[str], Suggested]:
    """Return the models that were asked, and the triplets that they disagree about.

    Args:
        progress: told how many anchors are done.

    Raises:
        Refused: as `chosen_models`, vectors are missing or damaged, or models disagree
            about nothing.
    """
    chosen = chosen_models(catalog, recipe)
    if recipe.pool:
        pool = Pool.objects.get(slug=recipe.pool)
        anchors = sampled_queries(pool, recipe.n_anchors, recipe.seed)
        scored = scored_of_pool(pool, speaking_sources(pool), anchors, progress)
    else:
        sets = [one for one in chosen if isinstance(one, EmbeddingSet)]
        anchors = sampled_images(catalog, recipe.n_anchors, recipe.seed)
        scored = scored_by_embeddings(sets, anchors, recipe.k, progress)
    found = suggest_triplets(scored, recipe.limits, recipe.seed)
    if not found.triplets:
        raise Refused(
            "source",
            f"models disagree about none of {found.report.n_compared:,} pairs of "
            f"{found.report.n_anchors:,} anchors as much as asked for.",
        )
    return list(models_of(chosen)), found


def chosen_models(catalog: Catalog, recipe: SuggestRecipe) -> Sequence[Any]:
    """Return the pool's sources, or the embedding sets, that are to be compared.

    Raises:
        Refused: there is no such pool or embedding set, the pool is not filled or of
            another catalog, or there are fewer than two models.
    """
    if recipe.pool:
        pool = Pool.objects.filter(slug=recipe.pool, catalog=catalog).first()
        if pool is None:
            raise Refused("source", f"“{catalog}” has no pool “{recipe.pool}”.")
        return speaking_sources(pool)
    complete = usable_embedding_sets(catalog)
    found = list(complete.filter(spec__in=recipe.models) if recipe.models else complete)
    missing = sorted(set(recipe.models) - {one.spec for one in found})
    if missing:
        raise Refused("source", f"“{catalog}” has no complete vectors of {missing[0]!r}.")
    if len(found) < 2:
        raise Refused("source", f"“{catalog}” has vectors of fewer than two models.")
    return found


def preview_of_suggestion(
    catalog: Catalog, recipe: SuggestRecipe, n: int
) -> tuple[list[TripletQuestion], Suggested]:
    """Return the first triplets from a small sample of anchors, as rows that are not stored.

    Raises:
        Refused: as `find_triplets`.
    """
    recipe = sound_recipe(recipe)
    few = replace(recipe, n_anchors=min(PREVIEW_ANCHORS, recipe.n_anchors))
    models, found = find_triplets(catalog, few, SILENT)
    first = replace(found, triplets=found.triplets[:n])
    unsaved = TripletSet(catalog=catalog)
    return questions_of(unsaved, first, models, recipe.conditions[:1] or ("",)), found


def questions_of(
    triplet_set: TripletSet, found: Suggested, models: Sequence[str], conditions: Sequence[str]
) -> list[TripletQuestion]:
    """Return unsaved rows: every triplet once under each condition."""
    rows: list[TripletQuestion] = []
    for one in found.triplets:
        margins = {
            spec: round(value, 4) for spec, value in zip(models, one.margins, strict=True) if value
        }
        facts = {"disagreement": round(one.disagreement, 4), "margins": margins}
        for condition in conditions:
            rows.append(
                TripletQuestion(
                    triplet_set=triplet_set,
                    position=len(rows),
                    condition=condition,
                    anchor_id=one.anchor,
                    first_id=one.first,
                    second_id=one.second,
                    facts=facts,
                )
            )
    return rows


@transaction.atomic
def _store(triplet_set: TripletSet, rows: Sequence[TripletQuestion]) -> None:
    save_named(triplet_set)
    for row in rows:
        row.triplet_set = triplet_set
    TripletQuestion.objects.bulk_create(rows, batch_size=BATCH)
