"""What runs end in, by family: a recipe and a task of each. No torch here."""

from __future__ import annotations

from learning.combiners.recipes import CatalogCombiner
from learning.embeddings.recipes import CatalogEmbedding
from learning.models import Family, TrainingRun
from learning.runs.recipes import Recipe
from learning.text_spaces.recipes import SpaceRecipe
from lookalike.core.dataclass_json import from_json

RECIPES: dict[str, type[Recipe]] = {
    Family.SPACE: SpaceRecipe,
    Family.EMBEDDING: CatalogEmbedding,
    Family.COMBINER: CatalogCombiner,
}
TASKS: dict[str, str] = {
    Family.SPACE: "learning.learn_text_space",
    Family.EMBEDDING: "learning.learn_embedding",
    Family.COMBINER: "learning.learn_combiner",
}

LEARN = "learning.runs.learn.learn_run"  # does the jobs of all of them; loads torch


def recipe_of(run: TrainingRun) -> Recipe:
    """Return how a run learns."""
    return from_json(RECIPES[run.family], run.recipe)
