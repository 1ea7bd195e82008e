"""The page that plans a campaign before anybody judges, for admins."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from accounts.access import admin_required, signed_in
from accounts.form_refusals import add_refusal
from accounts.models import User
from annotation.models import Campaign
from catalog.charts import Axis, Chart
from evaluation.models import PlannedCampaign
from evaluation.plan.forms import PlanForm
from evaluation.plan.pool_forms import PlannedPoolForm, as_the_pilot
from evaluation.plan.pool_services import make_planned_pool
from evaluation.plan.services import PLAN_TASK, Plan, PlanLine, request_plan
from evaluation.results.leaderboard import HEADINGS
from jobs.models import Job
from jobs.queries import visible_job
from jobs.services import JobConflictError
from lookalike.core.dataclass_json import from_json
from lookalike.core.errors import Refused
from lookalike.planning.designs import Goals
from pooling.models import Pool
from pooling.pools.queries import pool_of
from pooling.pools.services import start_pool

NEEDED = ("pilot", "designs", "measure", "costs", "wish", "world")


@dataclass(frozen=True)
class PlanRow:
    """A line of the tables.

    Attributes:
        line: of the plan.
        width, between, bias: as the tables show them.
        number: its place in the plan.
    """

    line: PlanLine
    width: str
    between: str
    bias: str
    number: int

    @classmethod
    def of(cls, number: int, line: PlanLine) -> PlanRow:
        """Return the row of a line of a plan."""
        between = f"{_shown(line.width_from)}–{_shown(line.width_to)}"
        return cls(
            line,
            _shown(line.width),
            "" if math.isnan(line.width_to) else between,
            _shown(line.bias),
            number,
        )


def _shown(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def plan(request: HttpRequest) -> HttpResponse:
    """Ask for a plan."""
    form = PlanForm(request.POST or None, initial=request.GET.dict())
    if request.method == "POST" and form.is_valid():
        asked = {name: form.cleaned_data[name] for name in NEEDED}
        try:
            job = request_plan(**asked, owner=signed_in(request))
        except JobConflictError as problem:
            messages.error(request, str(problem))
        else:
            return redirect("evaluation:planned", job.uid)
    return render(request, "evaluation/plan.html", {"form": form})


@require_safe
@admin_required
def planned(request: HttpRequest, uid: uuid.UUID) -> HttpResponse:
    """Show how far a plan is, or what it found."""
    job = visible_job(signed_in(request), uid)
    if job.task != PLAN_TASK:
        raise Http404
    context: dict[str, object] = {"job": job, "again": _asked_again(job)}
    if job.state == "succeeded":
        found = from_json(Plan, job.result)
        pilot = Campaign.objects.filter(pk=job.arguments["pilot"]).first()
        goals = Goals(**job.arguments["wish"])
        measure = HEADINGS.get(job.arguments["measure"], job.arguments["measure"])
        rows = [PlanRow.of(number, line) for number, line in enumerate(found.lines)]
        best = [row for row in rows if row.line.is_best]
        context |= {
            "plan": found,
            "pilot": pilot,
            "measure": measure,
            "hourly": job.arguments["costs"]["hourly"],
            "pools_made": PlannedCampaign.objects.filter(plan=uid).select_related(
                "pool", "campaign"
            ),
            "goals": goals,
            "has_goals": goals.width is not None or goals.order is not None,
            "answer": next((row for row in rows if row.line.design == found.cheapest), None),
            "tables": [("Worth their hours", True, best), ("All designs", False, rows)],
            "chart": _curve([row.line for row in best], measure),
        }
    return render(request, "evaluation/planned.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@admin_required
def make_planned(request: HttpRequest, uid: uuid.UUID, number: int) -> HttpResponse:
    """Make the pool of a design, whose campaign follows; as the pilot's where that is asked."""
    job = visible_job(signed_in(request), uid)
    lines = from_json(Plan, job.result).lines if job.task == PLAN_TASK and job.result else []
    if number >= len(lines):
        raise Http404
    design = lines[number].design
    pilot = Campaign.objects.filter(pk=job.arguments["pilot"]).first()
    pool = pool_of(pilot) if pilot else None
    initial = as_the_pilot(pilot, pool, design) if pilot and pool else {}
    given = initial if initial and "as_pilot" in request.POST else request.POST
    form = PlannedPoolForm(given or None, initial=initial, design=design)
    if request.method == "POST" and form.is_valid():
        made = _made(form, job, signed_in(request))
        if made is not None:
            _start(request, made)
            return redirect("pooling:pool", made.slug)
    context = {"form": form, "job": job, "design": design, "pilot": pilot}
    return render(request, "evaluation/make_planned.html", context)


def _made(form: PlannedPoolForm, job: Job, owner: User) -> Pool | None:
    """Return the new pool, or None after the form was told what is wrong."""
    try:
        return make_planned_pool(plan=job, design=form.design, owner=owner, **form.cleaned_data)
    except Refused as problem:
        add_refusal(form, problem)
        return None


def _start(request: HttpRequest, pool: Pool) -> None:
    try:
        start_pool(pool=pool, owner=signed_in(request))
    except Refused as problem:
        messages.error(request, f"The pool is made and waits to be started: {problem}")
    else:
        messages.success(request, "Once the pool is filled, its campaign is there as a draft.")


def _curve(best: list[PlanLine], measure: str) -> Chart:
    return Chart(
        key="curve",
        kind="lines",
        title="What hours buy",
        about="Each dot is a design that no cheaper one matches. The further down, the less any "
        f"model’s {measure} may be off: half of its 95 % interval, and what wrong labels add.",
        x=Axis("hours of all judges"),
        y=Axis("± off at most"),
        columns=(("x", "Hours"), ("y", "± off at most"), ("label", "Design")),
        rows=[
            {
                "x": one.hours,
                "y": one.off,
                "label": f"{one.design.n_queries} queries, k = {one.design.depth}, "
                f"{one.design.n_judges} judges, {one.design.share:.0%}",
            }
            for one in best
        ],
        dots=True,
    )


def _asked_again(job: Job) -> str:
    """Return the query of the form as it was filled in, for another try."""
    asked = job.arguments
    designs = asked["designs"]

    def listed(name: str, times: int = 1) -> str:
        return ", ".join(f"{n * times:g}" for n in sorted({design[name] for design in designs}))

    world = asked["world"]
    fields = {
        "pilot": asked["pilot"] or "",
        "queries": listed("n_queries"),
        "depths": listed("depth"),
        "judges": listed("n_judges"),
        "shares": listed("share", 100),
        "measure": asked["measure"],
        "width": asked["wish"]["width"] or "",
        "order": f"{asked['wish']['order'] * 100:g}" if asked["wish"]["order"] else "",
        "seconds": asked["costs"]["seconds"],
        "hourly": asked["costs"]["hourly"] or "",
        "closeness": "close" if world["best"] > 0.5 else "distant",
        "n_models": world["n_models"],
        **{key: f"{world[key] * 100:g}" for key in ("positives", "misses", "false_alarms")},
    }
    return urlencode(fields)
