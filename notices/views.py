"""The page of notices: what came, how they leave the site, and what became of each delivery."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from accounts.access import admin_required, signed_in
from accounts.models import User
from lookalike.core.errors import Refused
from notices import services
from notices.models import Channel, ChannelKind, Delivery, Notice

N_NOTICES = 50
N_DELIVERIES = 30
SECRET_KEY = "webhook_secret"  # noqa: S105 - in the session: shown on the next page, then gone


class WebhookForm(forms.Form):
    """An address that takes notices."""

    url = forms.CharField(
        max_length=500,
        label="Address",
        widget=forms.URLInput(attrs={"placeholder": "https://example.org/hook"}),
        help_text="Takes a POST with a JSON body, signed; answers 2xx within 5 seconds.",
    )
    only_urgent = forms.BooleanField(required=False, label="Only what is urgent")


class MailForm(forms.Form):
    """Whether notices are mailed to the admin who asks."""

    choice = forms.ChoiceField(
        choices=[("none", "Nothing"), ("urgent", "Only what is urgent"), ("all", "All notices")],
        label="Mail me",
    )


@require_safe
@admin_required
def notices(request: HttpRequest) -> HttpResponse:
    """Show the notices and their channels; those shown count as seen."""
    person = signed_in(request)
    response = render(request, "notices/notices.html", _context(request, person))
    newest = Notice.objects.values_list("pk", flat=True).first()
    if newest is not None:
        services.mark_seen(person=person, last_id=newest)
    return response


def _context(request: HttpRequest, person: User, form: WebhookForm | None = None) -> dict[str, Any]:
    mine = Channel.objects.filter(kind=ChannelKind.MAIL, owner=person).first()
    choice = "none" if mine is None else "urgent" if mine.only_urgent else "all"
    return {
        "notices": Notice.objects.all()[:N_NOTICES],
        "n_unseen": services.n_unseen(person),
        "webhooks": Channel.objects.filter(kind=ChannelKind.WEBHOOK).select_related("owner"),
        "deliveries": Delivery.objects.select_related("notice", "channel__owner")[:N_DELIVERIES],
        "mail_form": MailForm(initial={"choice": choice}),
        "form": form or WebhookForm(),
        "secret": request.session.pop(SECRET_KEY, ""),
    }


@require_POST
@admin_required
def mail(request: HttpRequest) -> HttpResponse:
    """Choose what is mailed."""
    form = MailForm(request.POST)
    if form.is_valid():
        services.choose_mail(person=signed_in(request), choice=form.cleaned_data["choice"])
        messages.success(request, "Saved.")
    return redirect("notices:notices")


@require_POST
@admin_required
def add_webhook(request: HttpRequest) -> HttpResponse:
    """Add an address, and show its secret once."""
    person, form = signed_in(request), WebhookForm(request.POST)
    if form.is_valid():
        try:
            channel = services.add_webhook(by=person, **form.cleaned_data)
        except Refused as problem:
            form.add_error("url", problem.message)
        else:
            request.session[SECRET_KEY] = channel.secret
            return redirect("notices:notices")
    return render(request, "notices/notices.html", _context(request, person, form))


@require_POST
@admin_required
def remove_webhook(request: HttpRequest, pk: int) -> HttpResponse:
    """Send nothing more to an address."""
    channel = get_object_or_404(Channel, pk=pk, kind=ChannelKind.WEBHOOK)
    services.remove_webhook(channel=channel, by=signed_in(request))
    messages.success(request, "Removed.")
    return redirect("notices:notices")
