"""The pages on which admins look at campaigns; what changes them is in `campaign_changes`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import get_text_list
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, signed_in
from annotation.answering.keys import DEFAULT_KEYS
from annotation.forms import GuidelinesForm, MembersForm, ReasonForm, SettingsForm
from annotation.gold_forms import (
    REASONS,
    GoldFileForm,
    GoldFromCampaignForm,
    GoldFromRulingForm,
    RulingForm,
)
from annotation.markdown import diff, to_html
from annotation.models import Campaign, CampaignState, Gold, Question
from annotation.queries.campaigns import agreement_report, campaign_tabs, gold_counts
from annotation.queries.guidelines import guideline_in_force, worked_examples
from annotation.queries.numbers import campaign_numbers, numbers_of
from annotation.queries.opening import opening_digest, opening_summary, opening_warnings
from annotation.queries.reviewing.adjudication import contested_ids, next_case, rulings
from annotation.queries.reviewing.careless import flagged_judges
from annotation.queries.reviewing.disagreement import contested_groups
from annotation.queries.reviewing.quality import judge_qualities, signs_looked_for
from annotation.services.guidelines import text_digest
from annotation.services.sensitivity import MODEL_NAMES, TASK, job_subject
from catalog.models import Image
from jobs.queries import latest_job
from lookalike.agreement.careless import LEAST

A_PAGE = 30
Context = dict[str, object]
Page = Callable[..., HttpResponseBase]


def page_frame(campaign: Campaign, current: str) -> dict[str, object]:
    """Return what every page of a campaign shows."""
    return {"campaign": campaign, "tabs": campaign_tabs(campaign, current)}


def campaign_named(slug: str) -> Campaign:
    """Return a campaign, or answer 404."""
    return get_object_or_404(Campaign, slug=slug)


def campaign_page(tab: str, template: str) -> Callable[[Callable[..., Context]], Page]:
    """Make one of a campaign's pages of what it shows beside the frame."""

    def decorate(shown: Callable[..., Context]) -> Page:
        @require_safe
        @admin_required
        @wraps(shown)
        def page(request: HttpRequest, slug: str) -> HttpResponse:
            campaign = campaign_named(slug)
            context = {**page_frame(campaign, tab), **shown(request, campaign)}
            return render(request, f"annotation/{template}.html", context)

        return page

    return decorate


def posted_from(page: str) -> Callable[[Page], Page]:
    """Take only what a page's form sends; lead whoever visits the address to that page."""

    def decorate(view: Page) -> Page:
        @admin_required
        @wraps(view)
        def posted(request: HttpRequest, slug: str) -> HttpResponseBase:
            if request.method in ("GET", "HEAD"):
                return redirect(f"annotation:{page}", slug)
            return require_POST(view)(request, slug)

        return posted

    return decorate


@require_safe
@admin_required
def campaigns(request: HttpRequest) -> HttpResponse:
    """List the campaigns."""
    page = Paginator(Campaign.objects.order_by("-pk"), A_PAGE).get_page(request.GET.get("page"))
    rows = campaign_numbers(page)
    return render(request, "annotation/campaigns.html", {"page": page, "rows": rows})


@campaign_page("campaign", "campaign")
def campaign(request: HttpRequest, campaign: Campaign) -> Context:
    """Show how far a campaign is, and let it be opened, paused and closed."""
    return {
        "row": numbers_of(campaign),
        "changes": campaign.state_changes.select_related("changed_by")[:A_PAGE],
        "reason_form": ReasonForm(),
        "counts": gold_counts(campaign),
        "n_contested": len(contested_ids(campaign)),
    }


@require_safe
@admin_required
def opening(request: HttpRequest, slug: str) -> HttpResponse:
    """Show all that a draft's opening fixes, to be confirmed."""
    campaign = campaign_named(slug)
    if campaign.state != CampaignState.DRAFT:
        return redirect("annotation:campaign", slug)
    guideline = guideline_in_force(campaign.pk)
    context = {
        **page_frame(campaign, "campaign"),
        "summary": opening_summary(campaign),
        "warnings": opening_warnings(campaign),
        "digest": opening_digest(campaign),
        "panel": campaign.panel.filter(is_active=True).select_related("annotator"),
        "html": admin_html(guideline.text, guideline.pictures),
    }
    return render(request, "annotation/campaign_opening.html", context)


@campaign_page("panel", "campaign_panel")
def panel(request: HttpRequest, campaign: Campaign) -> Context:
    """Show who judges, and who could."""
    return {
        "members": campaign.panel.select_related("annotator"),
        "form": MembersForm(campaign=campaign),
    }


@campaign_page("edit_guidelines", "campaign_guidelines")
def guidelines(request: HttpRequest, campaign: Campaign) -> Context:
    """Show the guidelines in force in an editor, with a preview, and all earlier versions."""
    return guidelines_context(campaign)


def guidelines_context(campaign: Campaign) -> dict[str, Any]:
    """Return what the page of the guidelines shows."""
    current = guideline_in_force(campaign.pk)
    return {
        "guideline": current,
        "form": GuidelinesForm(
            initial={
                "text": current.text,
                "language": current.language,
                **{f"text_{code}": text for code, text in current.translations.items()},
            }
        ),
        "seen": text_digest(current.text, current.translations),
        "html": admin_html(current.text, current.pictures),
        "versions": _with_changes(campaign),
        "readers": campaign.panel.filter(is_active=True).select_related("annotator"),
        "examples": _described(campaign, list(worked_examples(campaign.pk))),
    }


@campaign_page("gold", "campaign_gold")
def gold(request: HttpRequest, campaign: Campaign) -> Context:
    """Show the questions with known answers, and let more be added."""
    return gold_context(request, campaign)


def gold_context(request: HttpRequest, campaign: Campaign) -> Context:
    """Return what the page of the gold shows."""
    known = Gold.objects.filter(question__campaign=campaign).select_related(
        "question__query", "question__candidate"
    )
    page = Paginator(known.order_by("question__kind", "pk"), A_PAGE).get_page(
        request.GET.get("page")
    )
    _described(campaign, page)
    return {
        "counts": gold_counts(campaign),
        "page": page,
        "file_form": GoldFileForm(campaign=campaign),
        "campaign_form": GoldFromCampaignForm(campaign=campaign, auto_id="from_campaign_%s"),
    }


@campaign_page("quality", "campaign_quality")
def quality(request: HttpRequest, campaign: Campaign) -> Context:
    """Show each judge's agreement with others, gold and self, pace and drift."""
    judges = judge_qualities(campaign)
    return {
        "judges": judges,
        "flagged": flagged_judges(campaign),
        "signs": get_text_list(signs_looked_for(judges), "or"),
        "least": LEAST,
    }


@campaign_page("agreement", "campaign_agreement")
def agreement(request: HttpRequest, campaign: Campaign) -> Context:
    """Show how much the panel agrees, always with the prevalence."""
    job = latest_job(TASK, job_subject(campaign))
    models = job.result.get("models", []) if job else []
    return {
        "report": agreement_report(campaign),
        "job": job,
        "models": [{**row, "model": MODEL_NAMES[row["model"]]} for row in models],
    }


@campaign_page("adjudication", "campaign_adjudication")
def adjudication(request: HttpRequest, campaign: Campaign) -> Context:
    """Show one contested pair after the other, without anybody's name, and the rulings made."""
    only_undecided = request.GET.get("only") == "undecided"
    raw = request.GET.get("skip", "0")
    n_contested = len(contested_ids(campaign, only_undecided=only_undecided))
    skipped = min(int(raw), max(0, n_contested - 1)) if raw.isdecimal() and len(raw) < 9 else 0
    case = next_case(campaign, only_undecided=only_undecided, skipped=skipped)
    made = rulings(campaign).select_related("question__query", "question__candidate", "decided_by")
    page = Paginator(made, A_PAGE).get_page(request.GET.get("page"))
    kind = campaign.kind
    has_groups = "groups" in request.GET and not kind.is_choice
    _described(campaign, page)
    return {
        "kind": kind,
        "rulings": kind.rulings(case.subject) if case else {},
        "card": kind.card(case.subject, case.votes) if case else "",
        "n_contested": n_contested,
        "only_undecided": only_undecided,
        "groups": contested_groups(campaign) if has_groups else None,
        "number": skipped + 1,
        "skipped": skipped,
        "case": case,
        "form": _ruling_form(campaign, case.question) if case else None,
        "gold_form": GoldFromRulingForm(campaign=campaign, auto_id=False),
        "own_last": made.filter(decided_by=signed_in(request)).first(),
        "keys": DEFAULT_KEYS,
        "page": page,
    }


def _ruling_form(campaign: Campaign, question: Question) -> RulingForm:
    """Return the form with a reason chosen that can be true."""
    is_guided = bool(guideline_in_force(campaign.pk).text.strip())
    return RulingForm(initial={"question": question.uid, "preset": REASONS[0 if is_guided else 1]})


def _with_changes(campaign: Campaign) -> list[Any]:
    """Return all versions of the guidelines, the newest first, each with what it changed."""
    versions: list[Any] = list(campaign.guidelines.select_related("author").order_by("-version"))
    for version, before in itertools.zip_longest(versions, versions[1:]):
        version.changes = diff(before.text, version.text) if before else []
    return versions


def admin_html(text: str, pictures: Mapping[str, int]) -> str:
    """Return guidelines as judges see them, with the pictures where admins find them."""
    uids = dict(Image.objects.filter(pk__in=pictures.values()).values_list("pk", "uid"))

    def address_of(name: str) -> str:
        uid = uids.get(pictures.get(name, 0))
        return reverse("catalog:picture", args=[uid, "view"]) if uid else ""

    return to_html(text, address_of)


def _described(campaign: Campaign, known: Iterable[Any]) -> Iterable[Any]:
    """Put into gold or rulings what pages show: the answer in words, the question of a choice."""
    kind = campaign.kind
    subjects = kind.subjects({one.question.subject for one in known})
    for one in known:
        subject = subjects.get(one.question.subject)
        one.words = kind.words(one.answer, subject)
        one.card = kind.card(subject, {kind.gold_of_ruling(one.answer, subject): 1})
    return known


@campaign_page("settings", "campaign_settings")
def settings(request: HttpRequest, campaign: Campaign) -> Context:
    """Show a campaign's rules."""
    return {"form": SettingsForm(instance=campaign)}
