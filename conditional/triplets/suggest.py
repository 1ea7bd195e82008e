"""Suggest triplets from a pool or from embedding sets, and store them as a set of questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from accounts.models import User
from catalog.models import Catalog, EmbeddingSet
from catalog.queries import usable_embedding_sets
from conditional.models import TripletQuestion, TripletSet, TripletSource
from conditional.stored_sets import Draft, make_set, report_of, request_set
from conditional.triplets.suggestion_candidates import (
    list_models,
    sampled_images,
    sampled_queries,
    scored_by_embeddings,
    scored_of_pool,
    speaking_sources,
)
from jobs.models import Job
from jobs.services import JobProgress
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
        Refused: as `unused_slug`, `sound_recipe` and `chosen_models`.
        JobConflictError: a set of that name is being made.
    """
    recipe = sound_recipe(recipe)
    chosen_models(catalog, recipe)
    arguments = {"catalog": catalog.pk, "name": name, "recipe": recipe.as_json()}
    return request_set(
        TripletSet, task=SUGGEST_TASK, verb="Suggest", arguments=arguments, owner=owner
    )


def suggest_set(progress: JobProgress) -> dict[str, Any]:
    """Find the triplets that models disagree about and store them as a set of questions.

    Returns:
        What the job's row and the command say: slug and figures.

    Raises:
        Refused: as `make_set`, `sound_recipe` and `find_triplets`.
    """

    def draft(catalog: Catalog) -> Draft[TripletSet]:
        recipe = sound_recipe(SuggestRecipe.of_json(progress.job.arguments["recipe"]))
        models, suggested = find_triplets(catalog, recipe, progress)
        conditions = recipe.conditions or ("",)
        row = TripletSet(
            source=TripletSource.SUGGESTED,
            seed=recipe.seed,
            recipe=recipe.as_json() | {"models": models},
            report=asdict(suggested.report) | {"n_triplets": len(suggested.triplets)},
            figures={"n_questions": len(suggested.triplets) * len(conditions)},
        )
        return row, make_questions(row, suggested, models, conditions)

    return _figures(make_set(TripletSet, progress, "Comparing what models score", draft))


def _figures(triplet_set: TripletSet) -> dict[str, Any]:
    """Return what the job's row and the command say of a suggested set."""
    return {
        "set": triplet_set.slug,
        "n_questions": triplet_set.n_questions,
        "models": triplet_set.recipe["models"],
        **report_of(triplet_set),
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
    suggested = suggest_triplets(scored, recipe.limits, recipe.seed)
    if not suggested.triplets:
        raise Refused(
            "source",
            f"models disagree about none of {suggested.report.n_compared:,} pairs of "
            f"{suggested.report.n_anchors:,} anchors as much as asked for.",
        )
    return list(list_models(chosen)), suggested


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
    embedding_sets = list(complete.filter(spec__in=recipe.models) if recipe.models else complete)
    missing = sorted(set(recipe.models) - {one.spec for one in embedding_sets})
    if missing:
        raise Refused("source", f"“{catalog}” has no complete vectors of {missing[0]!r}.")
    if len(embedding_sets) < 2:
        raise Refused("source", f"“{catalog}” has vectors of fewer than two models.")
    return embedding_sets


def preview_of_suggestion(
    catalog: Catalog, recipe: SuggestRecipe, n: int
) -> tuple[list[TripletQuestion], Suggested]:
    """Return the first triplets from a small sample of anchors, as rows that are not stored.

    Raises:
        Refused: as `find_triplets`.
    """
    recipe = sound_recipe(recipe)
    few = replace(recipe, n_anchors=min(PREVIEW_ANCHORS, recipe.n_anchors))
    models, suggested = find_triplets(catalog, few, SILENT)
    first = replace(suggested, triplets=suggested.triplets[:n])
    unsaved = TripletSet(catalog=catalog)
    return make_questions(unsaved, first, models, recipe.conditions[:1] or ("",)), suggested


def make_questions(
    triplet_set: TripletSet, suggested: Suggested, models: Sequence[str], conditions: Sequence[str]
) -> list[TripletQuestion]:
    """Return unsaved rows: every triplet once under each condition."""
    rows: list[TripletQuestion] = []
    for one in suggested.triplets:
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
