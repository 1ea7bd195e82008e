"""The pages on which admins look at campaigns; what changes them is in `campaign_changes`."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from accounts.access import admin_required
from annotation.forms import (
    GoldFileForm,
    GoldFromCampaignForm,
    GuidelinesForm,
    MembersForm,
    ReasonForm,
    RulingForm,
    SettingsForm,
)
from annotation.markdown import to_html
from annotation.models import Campaign, Gold, QuestionKind
from annotation.queries.adjudication import contested, next_case, rulings
from annotation.queries.campaigns import (
    agreement_report,
    campaign_rows,
    gold_counts,
    tabs_of,
)
from annotation.queries.guidelines import guideline_in_force
from annotation.queries.quality import judge_qualities, progress_by_judge
from annotation.services.sensitivity import TASK, subject_of
from jobs.models import Job

A_PAGE = 30


def frame_of(campaign: Campaign, current: str) -> dict[str, object]:
    """Return what every page of a campaign shows."""
    return {"campaign": campaign, "tabs": tabs_of(campaign, current)}


def campaign_named(slug: str) -> Campaign:
    """Return a campaign, or answer 404."""
    return get_object_or_404(Campaign, slug=slug)


@require_safe
@admin_required
def campaigns(request: HttpRequest) -> HttpResponse:
    """List the campaigns."""
    page = Paginator(Campaign.objects.order_by("-pk"), A_PAGE).get_page(request.GET.get("page"))
    rows = campaign_rows(Campaign.objects.filter(pk__in=[campaign.pk for campaign in page]))
    return render(request, "annotation/campaigns.html", {"page": page, "rows": rows})


@require_safe
@admin_required
def campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how far a campaign is, and let it be opened, paused and closed."""
    found = campaign_named(slug)
    context = {
        **frame_of(found, "campaign"),
        "row": campaign_rows(Campaign.objects.filter(pk=found.pk))[0],
        "judges": progress_by_judge(found),
        "changes": found.state_changes.select_related("changed_by")[:A_PAGE],
        "reason_form": ReasonForm(),
        "counts": gold_counts(found),
        "n_contested": contested(found).count(),
    }
    return render(request, "annotation/campaign.html", context)


@require_safe
@admin_required
def panel(request: HttpRequest, slug: str) -> HttpResponse:
    """Show who judges, and who could."""
    found = campaign_named(slug)
    context = {
        **frame_of(found, "panel"),
        "members": found.panel.select_related("annotator"),
        "form": MembersForm(campaign=found),
    }
    return render(request, "annotation/campaign_panel.html", context)


@require_safe
@admin_required
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the guidelines in force in an editor, with a preview, and all earlier versions."""
    found = campaign_named(slug)
    current = guideline_in_force(found.pk)
    examples = Gold.objects.filter(
        question__campaign=found, question__kind=QuestionKind.EXAMPLE
    ).select_related("question__query", "question__candidate")
    context = {
        **frame_of(found, "edit_guidelines"),
        "guideline": current,
        "form": GuidelinesForm(initial={"text": current.text}),
        "html": to_html(current.text),
        "versions": found.guidelines.select_related("author").order_by("-version"),
        "examples": examples.order_by("pk"),
    }
    return render(request, "annotation/campaign_guidelines.html", context)


@require_safe
@admin_required
def gold(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the questions with known answers, and let more be added."""
    found = campaign_named(slug)
    known = Gold.objects.filter(question__campaign=found).select_related(
        "question__query", "question__candidate"
    )
    page = Paginator(known.order_by("question__kind", "pk"), A_PAGE).get_page(
        request.GET.get("page")
    )
    context = {
        **frame_of(found, "gold"),
        "counts": gold_counts(found),
        "page": page,
        "file_form": GoldFileForm(campaign=found),
        "campaign_form": GoldFromCampaignForm(campaign=found, auto_id="from_campaign_%s"),
    }
    return render(request, "annotation/campaign_gold.html", context)


@require_safe
@admin_required
def quality(request: HttpRequest, slug: str) -> HttpResponse:
    """Show each judge's agreement with others, gold and self, pace and drift."""
    found = campaign_named(slug)
    context = {**frame_of(found, "quality"), "judges": judge_qualities(found)}
    return render(request, "annotation/campaign_quality.html", context)


@require_safe
@admin_required
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Show how much the panel agrees, always with the prevalence."""
    found = campaign_named(slug)
    context = {
        **frame_of(found, "agreement"),
        "report": agreement_report(found),
        "job": Job.objects.filter(task=TASK, subject=subject_of(found)).first(),
    }
    return render(request, "annotation/campaign_agreement.html", context)


@require_safe
@admin_required
def adjudication(request: HttpRequest, slug: str) -> HttpResponse:
    """Show one contested pair after the other, without anybody's name, and the rulings made."""
    found = campaign_named(slug)
    only_undecided = request.GET.get("only") == "undecided"
    raw = request.GET.get("skip", "0")
    n_contested = contested(found, only_undecided=only_undecided).count()
    skipped = min(int(raw), max(0, n_contested - 1)) if raw.isdecimal() and len(raw) < 9 else 0
    case = next_case(found, only_undecided=only_undecided, skipped=skipped)
    made = rulings(found).select_related("question__query", "question__candidate", "decided_by")
    page = Paginator(made, A_PAGE).get_page(request.GET.get("page"))
    context = {
        **frame_of(found, "adjudication"),
        "n_contested": n_contested,
        "only_undecided": only_undecided,
        "number": skipped + 1,
        "skipped": skipped,
        "case": case,
        "form": RulingForm(initial={"question": case.question.uid}) if case else None,
        "page": page,
    }
    return render(request, "annotation/campaign_adjudication.html", context)


@require_safe
@admin_required
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a campaign's rules."""
    found = campaign_named(slug)
    context = {**frame_of(found, "settings"), "form": SettingsForm(instance=found)}
    return render(request, "annotation/campaign_settings.html", context)
