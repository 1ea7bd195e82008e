"""Do training runs. Only tasks and commands import this: it loads torch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from catalog.models import Projection
from jobs.services import JobError, JobProgress
from learning.combiners.learn import learn_combiner
from learning.embeddings.learn import learn_embedding
from learning.material import Material, material_of
from learning.models import Family, TrainingRun
from learning.runs.checkpoints import drop_checkpoints
from learning.runs.families import recipe_of
from learning.runs.work import RunWork
from learning.text_spaces.learn import learn_text_space
from learning.text_vectors import full_memory_named
from pooling.embedding.embed import embed_by

Learn = Callable[[RunWork, Material], None]
LEARN: dict[str, Learn] = {
    Family.SPACE: learn_text_space,
    Family.EMBEDDING: learn_embedding,
    Family.COMBINER: learn_combiner,
}


@full_memory_named()
def learn_run(*, run_id: int, progress: JobProgress) -> dict[str, Any]:
    """Learn what a run asks for, or go on with it, and store it; may run twice.

    Raises:
        JobError: the run was deleted, or its catalog cannot be embedded.
        Refused: there is nothing to learn from.
        JobLostError: the job was cancelled or taken over.
    """
    run = TrainingRun.objects.select_related("catalog").filter(pk=run_id).first()
    if run is None:
        raise JobError("What was to be learned was deleted.")
    TrainingRun.objects.filter(pk=run_id).update(job=progress.job)
    if run.finished_at is None:
        (parent,) = embed_by(recipe_of(run).parent, [run.catalog], progress)
        material = material_of(parent)
        LEARN[run.family](RunWork.of(run, material, progress), material)
        drop_checkpoints(run)
        run.refresh_from_db()
    embed_by(run.spec, [run.catalog], progress)
    model = Projection.objects.get(slug=run.slug, head="")
    models = [one.spec for one in run.projections]
    return {
        "model": run.spec, "models": models, "dim": model.dim, "card": model.card, **run.figures,
    }  # fmt: skip
