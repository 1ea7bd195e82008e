"""Pages of one model and of two models against each other."""

from __future__ import annotations

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from annotation.models import Campaign
from evaluation.access import of_campaign
from evaluation.model_pages.content import (
    count_differences,
    curves,
    difference_chart,
    distribution,
    extremes,
    find_model,
    generator_row,
    largest_differences,
    measures_by_query,
    paired_test,
    values_of,
)
from evaluation.model_pages.query_rows import pair_rows
from evaluation.results.details import load_details
from evaluation.results.leaderboard import (
    BADGES,
    HEADINGS,
    comparison,
    default_column,
    model_key,
)
from evaluation.results.stored import StoredResult
from evaluation.results.views import latest_or_404
from lookalike.bias.measurements import EQUAL_OUTSIDER
from lookalike.core.dataclass_json import as_json
from lookalike.io.errors import InputError
from lookalike.metrics.leaderboard import NOBODY

MOST_UNIQUE = 24


@require_GET
@of_campaign
def model(request: HttpRequest, campaign: Campaign, key: str) -> HttpResponse:
    """One model: its measures, curves, best and worst queries, and what only it found."""
    result = StoredResult(latest_or_404(campaign))
    if result.summary.rounds:
        return _in_rounds(request, campaign, result)
    scores = find_model(result, key)
    if scores is None:
        raise Http404
    name = scores.name
    measures = measures_by_query(result)
    measure = _chosen(request, result, measures)
    context: dict[str, Any] = {
        "campaign": campaign,
        "result": result.row,
        "model": scores,
        "badge_class": BADGES.get(scores.badge, ""),
        "row": result.model_row(name),
        "generator": as_json(generator_row(result, name)),
        "lines": [(HEADINGS.get(name, name), value) for name, value in scores.measures.items()],
        "measures": measures,
        "measure": measure,
        "names": [name],
    }
    if measure:
        context["title"] = HEADINGS.get(measure, measure)
        context["distribution"] = distribution(values_of(result, measure, name), context["title"])
    context |= _pictures(result, name, measure)
    return render(request, "evaluation/model.html", context)


def _in_rounds(request: HttpRequest, campaign: Campaign, result: StoredResult) -> HttpResponse:
    """Say that values of single queries wait until all is judged."""
    context = {"campaign": campaign, "result": result.row, "rounds": result.summary.rounds}
    return render(request, "evaluation/in_rounds.html", context)


def _pictures(result: StoredResult, name: str, measure: str) -> dict[str, Any]:
    """Return what needs the stored scores, or the reason why it cannot be shown."""
    try:
        details = load_details(result.row.details_sha256)
        shown: dict[str, Any] = {"curves": curves(details, name)}
        if measure:
            rows = extremes(details, name, values_of(result, measure, name))
            shown["worst"], shown["best"] = rows
        unique = details.unique_positives(name)
        shown |= {"unique": pair_rows(details, unique[:MOST_UNIQUE]), "n_unique": unique.size}
    except InputError as problem:
        return {"problem": str(problem)}
    return shown


@require_GET
@of_campaign
def compare(request: HttpRequest, campaign: Campaign) -> HttpResponse:
    """Two models, chosen by ?a= and ?b=: per-query differences with pictures."""
    result = StoredResult(latest_or_404(campaign))
    if result.summary.rounds:
        return _in_rounds(request, campaign, result)
    names = [model.name for model in result.summary.models]
    by_key = {model_key(name): name for name in names}
    measures = measures_by_query(result)
    measure = _chosen(request, result, measures)
    context: dict[str, Any] = {
        "campaign": campaign,
        "result": result.row,
        "models": [(name, key) for key, name in by_key.items()],
        "measures": measures,
        "measure": measure,
    }
    if len(names) > 1 and measure:
        keys = list(by_key)
        a_key, b_key = request.GET.get("a", keys[0]), request.GET.get("b", keys[1])
        if a_key not in by_key or b_key not in by_key:
            raise Http404
        context |= {"a_key": a_key, "b_key": b_key, "a_name": by_key[a_key],
                    "b_name": by_key[b_key], "title": HEADINGS.get(measure, measure)}  # fmt: skip
        if a_key != b_key:
            context |= _versus(result, measure, by_key[a_key], by_key[b_key])
    return render(request, "evaluation/compare.html", context)


def _versus(result: StoredResult, measure: str, first: str, second: str) -> dict[str, Any]:
    values = [values_of(result, measure, name) for name in (first, second)]
    differences = values[0] - values[1]
    test = paired_test(result, measure, first, second)
    shown: dict[str, Any] = {
        "names": [first, second],
        "counts": count_differences(differences),
        "test": test and {**as_json(test), "sample": test.sample},
        "chart": difference_chart(first, second, differences, HEADINGS.get(measure, measure)),
        "warning": _warning(result, measure, first, second),
    }
    try:
        details = load_details(result.row.details_sha256)
        shown["won"], shown["lost"] = largest_differences(details, [first, second], values)
    except InputError as problem:
        shown["problem"] = str(problem)
    return shown


def _warning(result: StoredResult, measure: str, first: str, second: str) -> str:
    """Return what forbids a plain comparison of two models by a measure, "" where nothing does."""
    badges = {model.name: model.badge for model in result.summary.models}
    sides = {name: comparison(result, name, measure) for name in (first, second)}
    groups = {whom for whom, _ in sides.values()}
    if len(groups) == 1 and NOBODY not in groups:
        return ""
    why = [
        f"{name} ({badges[name]}) is to be compared with {whom}: {reason}."
        for name, (whom, reason) in sides.items()
    ]
    title = HEADINGS.get(measure, measure)
    fair = measure != EQUAL_OUTSIDER and EQUAL_OUTSIDER in result.by_query.values
    if fair and not _warning(result, EQUAL_OUTSIDER, first, second):
        why.append(f"By {HEADINGS[EQUAL_OUTSIDER]} they may.")
    return " ".join([f"By {title} these two may not be compared.", *why])


def _chosen(request: HttpRequest, result: StoredResult, measures: list[tuple[str, str]]) -> str:
    """Return the measure asked for, else that of the board, else the first, "" if there is none."""
    names = [name for name, _ in measures]
    wanted = (request.GET.get("measure", ""), default_column(result))
    return next((name for name in wanted if name in names), next(iter(names), ""))
