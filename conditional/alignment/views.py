"""The page that matches the conditions of triplets with embedding sets (WS-CSL)."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, reader_required, signed_in
from audit.actions import Action
from audit.services import record
from catalog.models import EmbeddingSet
from catalog.queries import usable_embedding_sets
from conditional.alignment.services import (
    ALIGN_TASK,
    accuracy_matrix,
    job_subject,
    request_alignment,
)
from conditional.models import TripletAlignment, TripletSet
from conditional.template_sets.forms import AlignmentForm
from jobs.queries import unfinished_job
from lookalike.conditional.criterion import MIN_QUESTIONS
from lookalike.conditional.formats.tables import matrix_csv
from lookalike.core.errors import Refused

PARTS = ("validation", "test")


@require_safe
@reader_required
def alignment(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a result, the newest by default, and the form that asks for another."""
    triplet_set = get_object_or_404(TripletSet.objects.select_related("catalog"), slug=slug)
    return _page(request, triplet_set, AlignmentForm(embedding_sets=_newest(triplet_set)))


@admin_required
@require_POST
def align(request: HttpRequest, slug: str) -> HttpResponse:
    """Queue the matching."""
    triplet_set = get_object_or_404(TripletSet.objects.select_related("catalog"), slug=slug)
    form = AlignmentForm(request.POST, embedding_sets=_newest(triplet_set))
    if form.is_valid():
        try:
            request_alignment(
                triplet_set=triplet_set, owner=signed_in(request), **form.cleaned_data
            )
        except Refused as problem:
            messages.error(request, problem.message)
        return redirect("conditional:alignment", slug)
    return _page(request, triplet_set, form)


@require_safe
@reader_required
def matrix(request: HttpRequest, slug: str, uid: uuid.UUID, part: str) -> HttpResponse:
    """Give the accuracies of one part as a CSV file, as `lookalike conditional alignment` reads."""
    alignment = get_object_or_404(TripletAlignment, uid=uid, triplet_set__slug=slug)
    if part not in PARTS:
        raise Http404
    content = matrix_csv(accuracy_matrix(alignment.result, part))
    record(request, Action.EXPORTED, alignment.triplet_set, what=f"alignment {part}", format="csv")
    response = HttpResponse(content, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}-{part}.csv"'
    return response


def _newest(triplet_set: TripletSet) -> list[EmbeddingSet]:
    """Return the complete embedding sets of a set's catalog, the newest of each spec."""
    return list({one.spec: one for one in usable_embedding_sets(triplet_set.catalog)}.values())


def _page(request: HttpRequest, found: TripletSet, form: AlignmentForm) -> HttpResponse:
    results = list(found.alignments.all())
    asked = request.GET.get("result", "")
    shown = next((one for one in results if str(one.uid) == asked), None)
    shown = shown or (results[0] if results else None)
    context: dict[str, Any] = {
        "set": found,
        "form": form,
        "n_conditions": len(found.figures.get("conditions", {})),
        "n_embeddings": len(form.fields["embedding_sets"].choices),  # type: ignore[attr-defined]
        "results": results,
        "shown": shown,
        "rows": table_rows(shown.result) if shown else [],
        "job": unfinished_job(ALIGN_TASK, job_subject(found)),
        "min_questions": MIN_QUESTIONS,
    }
    return render(request, "conditional/alignment.html", context)


def table_rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a row for each embedding, with a cell for each condition."""
    scored, plan = result["test"], result["plan"]
    n_conditions = len(result["conditions"])
    return [
        {
            "name": name,
            "cells": [
                {
                    "accuracy": scored["accuracy"][row][column],
                    "ties": scored["ties"][row][column],
                    "share": plan[row][column] * n_conditions,
                    "is_greedy": result["greedy_choice"][row] == column,
                }
                for row in range(n_conditions)
            ],
        }
        for column, name in enumerate(result["embeddings"])
    ]
