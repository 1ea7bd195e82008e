"""Ask for the scores of models on a set of templates, and keep them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

import numpy as np
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from accounts.models import User
from catalog.models import EmbeddingSet, Projection
from catalog.vectors.projections import find_projection, seen_among
from conditional.models import TemplateScore as Row
from conditional.models import TemplateSet
from conditional.template_sets.queries import list_conditions
from jobs.models import Job
from jobs.services import enqueue
from lookalike.backbones.spec import Source, SpecError, parse_spec
from lookalike.conditional.template_scores import (
    CUTOFFS,
    Baseline,
    Ties,
    baseline_queries,
    candidate_scores,
    score_templates,
)
from lookalike.conditional.types import Task
from lookalike.core.arrays import Float32s, Floats
from lookalike.core.errors import Refused
from lookalike.learning.conditions.composer import Composer

NOTIONS = "notions:"  # before the name of a text space: the notions said in it
COMPOSER = "composer:"  # before the name of a Combiner
SCORE_TASK = "conditional.tasks.score"
BASELINES: tuple[tuple[Baseline, bool], ...] = (
    *(("image", False), ("text", False)),
    *(("image_text", False), ("image_text", True)),
)


def request_score(*, template_set: TemplateSet, model: str, owner: User | None) -> Job:
    """Queue the scoring of a model.

    Args:
        model: an open_clip model (image, text, and both), the spec of an embedding set of the
            set's catalog (image only), notions:SPACE (image, by the notion that is called as
            the condition), or composer:NAME (both, by a Combiner, and what it has to beat).

    Raises:
        Refused: as `known_model`, or as `named_notions`.
        JobConflictError: it is being scored.
    """
    name = known_model(template_set, model)
    if name.startswith(NOTIONS):
        named_notions(template_set, name)
    return enqueue(
        task=SCORE_TASK,
        subject=f"{job_subject(template_set)}{name}"[:200],
        title=f"Score {name} on “{template_set.name[:100]}”",
        arguments={"template_set_id": template_set.pk, "model": name},
        owner=owner,
    )


def job_subject(template_set: TemplateSet) -> str:
    """Return how the subjects of the jobs begin that score models on a set."""
    return f"template set {template_set.slug} by "


def known_model(template_set: TemplateSet, text: str) -> str:
    """Return the canonical text of a model that a set can be scored by.

    Raises:
        Refused: it names neither an open_clip model nor an embedding set of the
            catalog, or the templates show parts of images, of which sets have no vectors.
    """
    text = text.strip()
    try:
        spec = parse_spec(text)
    except SpecError:
        spec = None
    if spec is not None and spec.source == Source.OPEN_CLIP:
        return str(spec)
    parent = _parent_spec(text)
    if parent and find_vectors(template_set, parent) is None:
        raise Refused(
            "model",
            f"“{text}” compares images by {parent}, of which “{template_set.catalog}” has no "
            "complete embedding set; embed it first.",
        )
    if not parent and find_vectors(template_set, text) is None:
        raise Refused(
            "model",
            f"“{text}” is neither an open_clip model (open_clip:ARCH/WEIGHTS) nor an "
            f"embedding set of “{template_set.catalog}”.",
        )
    if has_boxes(template_set):
        raise Refused(
            "model", "the templates show parts of images; embedding sets hold whole ones only."
        )
    return text


def has_boxes(template_set: TemplateSet) -> bool:
    """Whether templates of a set show parts of images, of which no vectors are kept."""
    return template_set.templates.exclude(boxes={}).exists()


def learned_name(model: str) -> str:
    """Return the learned model that answers as notions or as a Combiner; empty for others."""
    kind, _, name = model.partition(":")
    return name if f"{kind}:" in (NOTIONS, COMPOSER) else ""


def _parent_spec(text: str) -> str:
    name = learned_name(text)
    if not name:
        return ""
    found = find_projection(name)
    if text.startswith(COMPOSER) and "combiner" not in found.card:
        raise Refused("model", f"{found.spec} is no Combiner, so it composes nothing.")
    return found.parent_spec


def named_notions(template_set: TemplateSet, model: str) -> dict[str, Projection]:
    """Return for each condition of a set the notion that is called like it.

    Raises:
        Refused: none is.
    """
    slug = model.removeprefix(NOTIONS)
    notions = {one.head: one for one in Projection.objects.filter(slug=slug).exclude(head="")}
    conditions = [condition for condition, _ in list_conditions(template_set)]
    found = {
        condition: notions[slugify(condition)]
        for condition in conditions
        if slugify(condition) in notions
    }
    if not found:
        there_is = f"there is {', '.join(sorted(notions)[:12])}" if notions else "there is none"
        asked = ", ".join(conditions[:6])
        raise Refused(
            "model",
            f"no notion of “{slug}” is called like a condition of the set ({asked}); {there_is}.",
        )
    return found


def find_vectors(template_set: TemplateSet, spec: str) -> EmbeddingSet | None:
    """Return the newest complete embedding set of a set's catalog by a spec."""
    complete = EmbeddingSet.objects.filter(catalog=template_set.catalog_id, is_complete=True)
    return complete.filter(spec=spec).order_by("-pk").first()


def store_scores(
    *,
    template_set: TemplateSet,
    model: str,
    views: Floats,
    rows: Sequence[Sequence[int]],
    texts: Floats | None,
) -> list[Row]:
    """Score the baselines that features allow and keep them; again replaces them.

    Args:
        model: what to call it.
        views: shape (n_views, d), features of all pictures that occur.
        rows: for each template rows of `views`: reference, distractors, target.
        texts: shape (n_templates, d), features of the conditions; None for image only.

    Raises:
        ValueError: a feature of length 0, or not finite.
    """
    candidates = [np.array(row[1:], np.int64) for row in rows]
    references = views[[row[0] for row in rows]]
    baselines = BASELINES if texts is not None else BASELINES[:1]
    kept = []
    with transaction.atomic():
        for baseline, is_normalised in baselines:
            queries = baseline_queries(
                references,
                references if texts is None else texts,
                baseline,
                normalised=is_normalised,
            )
            scores = candidate_scores(queries, views, candidates)
            kept.append(_store_row(template_set, model, scores, baseline, is_normalised))
    return kept


def store_composed(
    *,
    template_set: TemplateSet,
    model: str,
    views: Float32s,
    rows: Sequence[Sequence[int]],
    conditions: Sequence[str],
    composer: Composer,
    baseline: str = "notion",
) -> Row:
    """Score what compares images under a condition, and keep it; again replaces it.

    Args:
        model: what to call it.
        views: shape (n_views, d), vectors of all pictures that occur.
        rows: for each template rows of `views`: reference, distractors, target.
        conditions: of the templates.
        composer: scores candidates.
        baseline: what to call how it is asked.

    Raises:
        Refused: as `Composer.scores`.
    """
    scores = [
        composer.scores(views[row[0]], views[list(row[1:])], condition)
        for row, condition in zip(rows, conditions, strict=True)
    ]
    return _store_row(template_set, model, scores, baseline, is_normalised=False)


def _store_row(
    template_set: TemplateSet, model: str, scores: Sequence[Floats], baseline: str,
    is_normalised: bool,
) -> Row:  # fmt: skip
    row, _ = Row.objects.update_or_create(
        template_set=template_set,
        model=model,
        baseline=baseline,
        is_normalised=is_normalised,
        defaults={
            "figures": {
                **compute_figures(Task(template_set.task), scores),
                "n_seen": count_seen(template_set, model),
            },
            "scored_at": timezone.now(),
        },
    )
    return row


def count_seen(template_set: TemplateSet, model: str) -> int:
    """Return of how many templates a model has learned what reference or target show."""
    images = list(template_set.templates.values_list("reference__sha256", "target__sha256"))
    spec = f"learned:{name}" if (name := learned_name(model)) else model
    seen = seen_among(spec, {sha for pair in images for sha in pair})
    return sum(not seen.isdisjoint(pair) for pair in images)


def compute_figures(task: Task, scores: Sequence[Floats]) -> Mapping[str, Any]:
    """Return what is kept of scores whose last candidate is the target.

    Returns:
        recall {ties: {k: Recall@k}}, chance {k}, n_templates and n_ties; keys as JSON has them.
    """
    answers = [row.size - 1 for row in scores]
    tasks = [task] * len(scores)
    scores_by_ties = {
        ties: score_templates(tasks, scores, answers, ties=ties) for ties in get_args(Ties)
    }
    expected = scores_by_ties["expected"]
    return {
        "recall": {
            ties: {str(k): one.by_task[task][k] for k in CUTOFFS}
            for ties, one in scores_by_ties.items()
        },
        "chance": {str(k): expected.chance[task][k] for k in CUTOFFS},
        "n_templates": expected.n_templates[task],
        "n_ties": expected.n_ties[task],
    }
