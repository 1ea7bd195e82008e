"""What admins do to campaigns: each view takes one form, calls one service, and goes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from uuid import UUID

from django.contrib import messages
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from accounts.access import admin_required, signed_in
from annotation.errors import CampaignError
from annotation.forms import GuidelinesForm, SettingsForm
from annotation.gold_csv import read_gold
from annotation.gold_forms import (
    GoldFileForm,
    GoldFromCampaignForm,
    GoldFromRulingForm,
    PlaceForm,
    RulingForm,
)
from annotation.markdown import diff
from annotation.models import Campaign, Gold, PanelMember
from annotation.queries.opening import opening_digest
from annotation.queries.references import catalog_names
from annotation.services import (
    add_gold,
    adjudicate,
    admit,
    change_settings,
    close_campaign,
    consensus_gold,
    gold_from_ruling,
    open_campaign,
    pause_campaign,
    pause_judge,
    publish_guidelines,
    remove_gold,
    resume_judge,
    set_member_active,
    withdraw_ruling,
)
from annotation.services.guidelines import known_pictures, picture_problems
from annotation.services.sensitivity import start_comparison
from annotation.views.campaigns import (
    admin_html,
    campaign_named,
    gold_context,
    guidelines_context,
    page_frame,
    posted_from,
)
from jobs.services import JobConflictError
from lookalike.io.numbered_rows import TableError

MOVES: dict[str, tuple[Callable[..., Campaign], str]] = {
    "open": (open_campaign, "opened"),
    "pause": (pause_campaign, "paused"),
    "close": (close_campaign, "closed"),
}
MAX_FILE = 5 * 2**20
RULED = (
    "The ruling is kept. "
    '<button class="button button-small" type="submit" form="{}">Take back</button>'
)


@contextmanager
def telling(request: HttpRequest, told: str) -> Iterator[None]:
    """Tell the admin that something is done, or why not."""
    try:
        yield
    except (CampaignError, TableError, JobConflictError) as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, told)


def is_sound(request: HttpRequest, form: Form) -> bool:
    """Check a form that has no page of its own, and tell what is wrong with it."""
    for errors in form.errors.values():
        for error in errors:
            messages.error(request, str(error))
    return form.is_valid()


def _to_case(request: HttpRequest, slug: str, part: str = "") -> HttpResponse:
    """Go back to the same place among the contested pairs, and to a part of the page."""
    query = PlaceForm(request.POST).query()
    address = reverse("annotation:adjudication", args=[slug])
    return redirect(f"{address}{'?' if query else ''}{query}{part}")


@require_POST
@admin_required
def move(request: HttpRequest, slug: str, verb: str) -> HttpResponse:
    """Open, pause or close a campaign, with the reason."""
    if verb not in MOVES:
        raise Http404
    service, told = MOVES[verb]
    campaign = campaign_named(slug)
    given = {"by": signed_in(request), "reason": request.POST.get("reason", "")}
    if seen := request.POST.get("seen"):
        given["seen"] = seen, opening_digest
    try:
        service(campaign=campaign, **given)
    except CampaignError as problem:
        messages.error(request, str(problem))
        return redirect("annotation:opening", slug)  # leads on where it is no draft
    messages.success(request, f"“{campaign}” is {told}.")
    return redirect("annotation:campaign", slug)


@posted_from("settings")
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    """Change the rules."""
    campaign = campaign_named(slug)
    given = request.POST.copy()
    form = SettingsForm(given, instance=campaign)
    if form.is_valid():
        try:
            change_settings(
                campaign=campaign, by=signed_in(request), seen=form.seen, **form.changes
            )
        except CampaignError as problem:
            form.add_error(None, str(problem))
            form.see_again(campaign_named(slug))
        else:
            messages.success(request, "The settings are saved.")
            return redirect("annotation:settings", slug)
    context = {**page_frame(campaign_named(slug), "settings"), "form": form}
    return render(request, "annotation/campaign_settings.html", context, status=422)


@require_POST
@admin_required
def member(request: HttpRequest, slug: str, number: int, verb: str) -> HttpResponse:
    """Remove a judge, restore them, let them skip the training, or pause them."""
    panel_member = get_object_or_404(PanelMember, campaign__slug=slug, number=number)
    done = {
        "remove": "is off the panel",
        "restore": "is back",
        "admit": "may judge now",
        "pause": "is paused",
        "resume": "may go on",
    }
    if verb not in done:
        raise Http404
    with telling(request, f"{panel_member.annotator} {done[verb]}."):
        if verb == "admit":
            admit(member=panel_member)
        elif verb == "pause":
            reason = request.POST.get("reason", "")
            pause_judge(member=panel_member, reason=reason, by=signed_in(request))
        elif verb == "resume":
            resume_judge(member=panel_member, by=signed_in(request))
        else:
            set_member_active(member=panel_member, is_active=verb == "restore")
    return redirect("annotation:panel", slug)


@require_POST
@admin_required
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """Return guidelines as judges will see them."""
    campaign = campaign_named(slug)
    form = GuidelinesForm(request.POST)
    html, problem = "", ""
    if form.is_valid():
        text = form.cleaned_data["text"]
        pictures, problems = known_pictures(campaign, text)
        html = admin_html(text, pictures)
        problem = picture_problems(problems) if problems else ""
    context = {"html": html, "form": form, "problem": problem}
    return render(request, "annotation/_preview.html", context)


@posted_from("edit_guidelines")
def guidelines(request: HttpRequest, slug: str) -> HttpResponse:
    """Put guidelines in force."""
    campaign, by = campaign_named(slug), signed_in(request)
    form = GuidelinesForm(request.POST)
    if form.is_valid():
        try:
            publish_guidelines(
                campaign=campaign, text=form.cleaned_data["text"], by=by,
                seen=request.POST.get("seen", ""), language=form.cleaned_data["language"],
                translations=form.translations,
            )  # fmt: skip
        except CampaignError as problem:
            form.add_error(None, str(problem))
        else:
            messages.success(request, "The guidelines are in force.")
            return redirect("annotation:edit_guidelines", slug)
    campaign, text = campaign_named(slug), form["text"].value() or ""
    context = {
        **page_frame(campaign, "edit_guidelines"),
        **guidelines_context(campaign),
        "form": form,
        "html": admin_html(text, known_pictures(campaign, text)[0]),
    }
    context["changes"] = diff(context["guideline"].text, text)
    return render(request, "annotation/campaign_guidelines.html", context, status=422)


@posted_from("gold")
def gold_from_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Add pairs with known answers from a CSV file, all or none."""
    campaign = campaign_named(slug)
    form = GoldFileForm(request.POST, request.FILES, campaign=campaign)
    if form.is_valid():
        file, purpose = form.cleaned_data["file"], form.cleaned_data["purpose"]
        try:
            if file.size > MAX_FILE:
                raise CampaignError("The file is larger than 5 MB.")
            names, scale = catalog_names(campaign), campaign.kind.scale
            pairs = read_gold(file.name, file.read(), names, scale)
            add_gold(campaign=campaign, purpose=purpose, pairs=pairs)
        except (CampaignError, TableError) as problem:
            form.add_error("file", str(problem))
        else:
            messages.success(request, "The pairs are added.")
            return redirect("annotation:gold", slug)
    context = {**page_frame(campaign, "gold"), **gold_context(request, campaign), "file_form": form}
    return render(request, "annotation/campaign_gold.html", context, status=422)


@require_POST
@admin_required
def gold_from_campaign(request: HttpRequest, slug: str) -> HttpResponse:
    """Add pairs that an earlier panel agreed on."""
    campaign = campaign_named(slug)
    form = GoldFromCampaignForm(request.POST, campaign=campaign)
    if is_sound(request, form):
        source, purpose = form.cleaned_data["source"], form.cleaned_data["purpose"]
        pairs = consensus_gold(
            source, form.cleaned_data["n"], campaign.seed, form.cleaned_data["why"], into=campaign
        )
        with telling(request, f"{len(pairs)} pairs of “{source}” are added."):
            if not pairs:
                raise CampaignError(
                    "That panel has no other pair on which two or more judges all agree."
                )
            add_gold(campaign=campaign, purpose=purpose, pairs=pairs, source=Gold.Source.CONSENSUS)
    return redirect("annotation:gold", slug)


@require_POST
@admin_required
def drop_gold(request: HttpRequest, slug: str, uid: UUID) -> HttpResponse:
    """Take a question with a known answer away."""
    campaign = campaign_named(slug)
    with telling(request, "The pair is removed."):
        remove_gold(campaign=campaign, question_uid=uid)
    return redirect("annotation:gold", slug)


@require_POST
@admin_required
def rule(request: HttpRequest, slug: str) -> HttpResponse:
    """Rule on a contested pair."""
    campaign, by = campaign_named(slug), signed_in(request)
    form, part = RulingForm(request.POST), ""
    if is_sound(request, form):
        question_uid = form.cleaned_data.pop("question")
        with telling(request, format_html(RULED, "take-back")):
            adjudicate(campaign=campaign, question_uid=question_uid, by=by, **form.cleaned_data)
            part = "#ruling"  # the next pair is in sight at once
    return _to_case(request, slug, part)


@require_POST
@admin_required
def withdraw(request: HttpRequest, slug: str, uid: UUID) -> HttpResponse:
    """Take a ruling back."""
    campaign = campaign_named(slug)
    with telling(request, "The votes decide again."):
        withdraw_ruling(campaign=campaign, question_uid=uid)
    return _to_case(request, slug, "#ruling" if "is_last" in request.POST else "")


@require_POST
@admin_required
def ruling_to_gold(request: HttpRequest, slug: str, uid: UUID) -> HttpResponse:
    """Make gold of a ruling."""
    campaign = campaign_named(slug)
    form = GoldFromRulingForm(request.POST, campaign=campaign)
    if is_sound(request, form):
        target, purpose = form.target
        with telling(request, f"The pair is gold of “{target}” now."):
            gold_from_ruling(campaign=campaign, question_uid=uid, target=target, purpose=purpose)
    return _to_case(request, slug)


@require_POST
@admin_required
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Start the comparison with models of the judges."""
    campaign, by = campaign_named(slug), signed_in(request)
    with telling(request, "The comparison runs in the background."):
        start_comparison(campaign=campaign, by=by)
    return redirect("annotation:agreement", slug)
