"""The part of a template set's page that shows what models score on it, and asks for more."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.text import slugify
from django.views.decorators.http import require_POST

from accounts.access import admin_required, signed_in
from catalog.models import Projection
from catalog.queries import usable_embedding_sets
from conditional.models import TemplateSet
from conditional.template_sets.queries import list_conditions
from conditional.template_sets.recall_services import (
    COMPOSER,
    NOTIONS,
    SCORE_TASK,
    has_boxes,
    job_subject,
    request_score,
)
from jobs.models import OPEN_STATES, Job, JobState
from lookalike.core.errors import Refused

KNOWN_CLIPS = ("open_clip:ViT-B-32-quickgelu/openai", "open_clip:RN50x4-quickgelu/openai")


def scores_context(template_set: TemplateSet) -> dict[str, Any]:
    """Return what conditional/_scores.html shows."""
    jobs = Job.objects.filter(task=SCORE_TASK, subject__startswith=job_subject(template_set))
    last = jobs.first()
    whole = usable_embedding_sets(template_set.catalog).values_list("spec", flat=True)
    stored = [] if has_boxes(template_set) else list(dict.fromkeys(whole))
    scores = list(template_set.scores.all())
    return {
        "scores": scores,
        "has_ties": any(one.figures["n_ties"] for one in scores),
        "score_jobs": jobs.filter(state__in=OPEN_STATES),
        "failed_score": last if last and last.state == JobState.FAILED else None,
        "known_models": [
            *stored,
            *_spaces(template_set, stored),
            *_combiners(stored),
            *KNOWN_CLIPS,
        ],
    }


def _spaces(template_set: TemplateSet, stored: list[str]) -> list[str]:
    """Return the text spaces over stored vectors with a notion called like a condition."""
    heads = {slugify(condition) for condition, _ in list_conditions(template_set)} - {""}
    found = Projection.objects.filter(head__in=heads, parent_spec__in=stored).order_by("slug")
    return [f"{NOTIONS}{slug}" for slug in found.values_list("slug", flat=True).distinct()]


def _combiners(stored: list[str]) -> list[str]:
    found = Projection.objects.filter(card__has_key="combiner", parent_spec__in=stored)
    return [f"{COMPOSER}{slug}" for slug in found.order_by("slug").values_list("slug", flat=True)]


@admin_required
@require_POST
def score(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue the scoring of a model on a set."""
    template_set = get_object_or_404(TemplateSet, slug=slug)
    try:
        request_score(
            template_set=template_set, model=request.POST.get("model", ""), owner=signed_in(request)
        )
    except Refused as problem:
        messages.error(request, problem.message)
    return redirect("conditional:set", slug)
