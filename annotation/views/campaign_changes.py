"""What admins do to campaigns: each view takes one form, calls one service, and goes back."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from accounts.access import admin_required, signed_in
from annotation.errors import CampaignError
from annotation.forms import (
    GoldFileForm,
    GoldFromCampaignForm,
    GuidelinesForm,
    MembersForm,
    PlaceForm,
    RulingForm,
    SettingsForm,
)
from annotation.gold_files import read_gold
from annotation.markdown import to_html
from annotation.models import Campaign, Gold, PanelMember
from annotation.queries.references import catalog_names
from annotation.services import (
    add_gold,
    add_members,
    adjudicate,
    admit,
    change_settings,
    close_campaign,
    consensus_gold,
    open_campaign,
    pause_campaign,
    publish_guidelines,
    remove_gold,
    set_member_active,
    withdraw_ruling,
)
from annotation.services.sensitivity import start_comparison
from annotation.views.campaigns import campaign_named, frame_of
from jobs.services import JobConflictError
from lookalike.io.numbered_rows import TableError

MOVES: dict[str, Callable[..., Campaign]] = {
    "open": open_campaign,
    "pause": pause_campaign,
    "close": close_campaign,
}
MAX_FILE = 5 * 2**20


def _done(
    request: HttpRequest, page: str, slug: str, work: Callable[[], object], told: str
) -> HttpResponse:
    """Do something, say how it went, and go back to a page of the campaign."""
    _tell(request, work, told)
    return redirect(f"annotation:{page}", slug)


def _tell(request: HttpRequest, work: Callable[[], object], told: str) -> None:
    try:
        work()
    except (CampaignError, TableError, JobConflictError) as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, told)


def _to_case(request: HttpRequest, slug: str) -> HttpResponse:
    """Go back to the same place among the contested pairs."""
    query = PlaceForm(request.POST).query()
    address = reverse("annotation:adjudication", args=[slug])
    return redirect(f"{address}?{query}" if query else address)


def _refused(request: HttpRequest, page: str, slug: str, form: object) -> HttpResponse:
    """Say what is wrong with a form that needs no page of its own."""
    _say_errors(request, form)
    return redirect(f"annotation:{page}", slug)


def _say_errors(request: HttpRequest, form: object) -> None:
    for errors in getattr(form, "errors", {}).values():
        for error in errors:
            messages.error(request, error)


@require_POST
@admin_required
def move(request: HttpRequest, slug: str, verb: str) -> HttpResponse:
    """Open, pause or close a campaign, with the reason."""
    if verb not in MOVES:
        raise Http404
    campaign, by = campaign_named(slug), signed_in(request)
    reason = request.POST.get("reason", "")
    told = {"open": "opened", "pause": "paused", "close": "closed"}[verb]
    return _done(
        request,
        "campaign",
        slug,
        lambda: MOVES[verb](campaign=campaign, by=by, reason=reason),
        f"“{campaign}” is {told}.",
    )


@require_POST
@admin_required
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Change the rules."""
    campaign = campaign_named(slug)
    form = SettingsForm(request.POST, instance=campaign)
    if form.is_valid():
        try:
            change_settings(campaign=campaign, by=signed_in(request), **form.cleaned_data)
        except CampaignError as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "The settings are saved.")
            return redirect("annotation:settings", slug)
    context = {**frame_of(campaign_named(slug), "settings"), "form": form}
    return render(request, "annotation/campaign_settings.html", context, status=422)


@require_POST
@admin_required
def add_to_panel(request: HttpRequest, slug: str) -> HttpResponse:
    """Put annotators on the panel."""
    campaign = campaign_named(slug)
    form = MembersForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _refused(request, "panel", slug, form)
    people = list(form.cleaned_data["annotators"])
    return _done(
        request,
        "panel",
        slug,
        lambda: add_members(campaign=campaign, annotators=people),
        f"{len(people)} on the panel now.",
    )


@require_POST
@admin_required
def member(request: HttpRequest, slug: str, number: int, verb: str) -> HttpResponse:
    """Take a judge off the panel, put them back, or admit them in spite of the round."""
    panel_member = get_object_or_404(PanelMember, campaign__slug=slug, number=number)
    work = {
        "remove": lambda: set_member_active(member=panel_member, is_active=False),
        "restore": lambda: set_member_active(member=panel_member, is_active=True),
        "admit": lambda: admit(member=panel_member),
    }.get(verb)
    if work is None:
        raise Http404
    told = {"remove": "is off the panel", "restore": "is back", "admit": "may judge now"}[verb]
    return _done(request, "panel", slug, work, f"{panel_member.annotator} {told}.")


@require_POST
@admin_required
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Return guidelines as judges will see them."""
    campaign_named(slug)
    form = GuidelinesForm(request.POST)
    html = to_html(form.cleaned_data["text"]) if form.is_valid() else ""
    return render(request, "annotation/_preview.html", {"html": html, "form": form})


@require_POST
@admin_required
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    """Put guidelines in force."""
    campaign = campaign_named(slug)
    form = GuidelinesForm(request.POST)
    if not form.is_valid():
        return _refused(request, "edit_guidelines", slug, form)
    return _done(
        request,
        "edit_guidelines",
        slug,
        lambda: publish_guidelines(
            campaign=campaign, text=form.cleaned_data["text"], by=signed_in(request)
        ),
        "The guidelines are in force.",
    )


@require_POST
@admin_required
def gold_from_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Add pairs with known answers from a CSV file, all or none."""
    campaign = campaign_named(slug)
    form = GoldFileForm(request.POST, request.FILES, campaign=campaign)
    if not form.is_valid():
        return _refused(request, "gold", slug, form)
    file = form.cleaned_data["file"]
    if file.size > MAX_FILE:
        messages.error(request, "The file is larger than 5 MB.")
        return redirect("annotation:gold", slug)
    return _done(
        request,
        "gold",
        slug,
        lambda: add_gold(
            campaign=campaign,
            purpose=form.cleaned_data["purpose"],
            pairs=read_gold(file.name, file.read(), catalog_names(campaign)),
        ),
        "The pairs are added.",
    )


@require_POST
@admin_required
def gold_from_campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Add pairs that an earlier panel agreed on."""
    campaign = campaign_named(slug)
    form = GoldFromCampaignForm(request.POST, campaign=campaign)
    if not form.is_valid():
        return _refused(request, "gold", slug, form)
    fields = form.cleaned_data
    pairs = consensus_gold(fields["source"], fields["n"], campaign.seed, fields["why"])
    if not pairs:
        messages.error(request, "That panel has no pair on which two or more judges all agree.")
        return redirect("annotation:gold", slug)
    return _done(
        request,
        "gold",
        slug,
        lambda: add_gold(
            campaign=campaign,
            purpose=fields["purpose"],
            pairs=pairs,
            source=Gold.Source.CONSENSUS,
        ),
        f"{len(pairs)} pairs of “{fields['source']}” are added.",
    )


@require_POST
@admin_required
def drop_gold(request: HttpRequest, slug: str, uid: UUID) -> HttpResponse:
    """Take a question with a known answer away."""
    campaign = campaign_named(slug)
    return _done(
        request,
        "gold",
        slug,
        lambda: remove_gold(campaign=campaign, question_uid=uid),
        "The pair is removed.",
    )


@require_POST
@admin_required
def rule(request: HttpRequest, slug: str) -> HttpResponse:
    """Rule on a contested pair."""
    campaign, by = campaign_named(slug), signed_in(request)
    form = RulingForm(request.POST)
    if form.is_valid():
        question_uid = form.cleaned_data.pop("question")
        arguments = {"campaign": campaign, "question_uid": question_uid, **form.cleaned_data}
        _tell(request, lambda: adjudicate(by=by, **arguments), "The ruling is kept.")
    else:
        _say_errors(request, form)
    return _to_case(request, slug)


@require_POST
@admin_required
def withdraw(request: HttpRequest, slug: str, uid: UUID) -> HttpResponse:
    """Take a ruling back."""
    campaign = campaign_named(slug)
    _tell(
        request,
        lambda: withdraw_ruling(campaign=campaign, question_uid=uid),
        "The votes decide again.",
    )
    return _to_case(request, slug)


@require_POST
@admin_required
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Start the comparison with models of the judges."""
    campaign, by = campaign_named(slug), signed_in(request)
    return _done(
        request,
        "agreement",
        slug,
        lambda: start_comparison(campaign=campaign, by=by),
        "The comparison runs in the background.",
    )
