"""The audit log as a page with filters, and as a file."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from accounts.access import admin_required
from audit.actions import Action
from audit.queries import EntryFilter, csv_lines
from audit.services import record

A_PAGE = 50
MAX_ID = 2**63 - 1


class FilterForm(forms.Form):
    """Which entries are wanted, and from where on."""

    actor = forms.CharField(required=False, max_length=150, label="Who", help_text="User name.")
    action = forms.ChoiceField(required=False, label="What")
    subject = forms.CharField(
        required=False, max_length=200, label="To what", help_text="Part of its name, or its id."
    )
    since = forms.DateField(required=False, widget=forms.DateInput({"type": "date"}), label="From")
    until = forms.DateField(required=False, widget=forms.DateInput({"type": "date"}), label="To")
    before = forms.IntegerField(required=False, min_value=1, max_value=MAX_ID)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        actions = sorted((action.value, action.words) for action in Action)
        self.fields["action"].choices = [("", "Anything"), *actions]  # type: ignore[attr-defined]

    @property
    def wanted(self) -> EntryFilter:
        """What of a form that may be wrong can be used."""
        found = getattr(self, "cleaned_data", {})
        last = found.get("until")
        return EntryFilter(
            actor=found.get("actor", ""),
            action=found.get("action", ""),
            subject=found.get("subject", ""),
            since=_begin(found.get("since")),
            until=_begin(last + timedelta(days=1)) if last and last < date.max else None,
        )

    @property
    def query(self) -> dict[str, str]:
        """What was asked for, but for the place, as an address holds it."""
        asked = {name: self.data.get(name, "") for name in self.fields if name != "before"}
        return {name: value for name, value in asked.items() if value}


def _begin(day: date | None) -> datetime | None:
    return timezone.make_aware(datetime.combine(day, time.min)) if day else None


@require_safe
@admin_required
def audit_page(request: HttpRequest) -> HttpResponse:
    """Show who did what, newest first."""
    form = FilterForm(request.GET)
    is_sound = form.is_valid()
    entries = form.wanted.entries()
    if is_sound and form.cleaned_data["before"]:
        entries = entries.filter(pk__lt=form.cleaned_data["before"])
    ahead = list(entries[: A_PAGE + 1]) if is_sound else []
    shown = ahead[:A_PAGE]
    context = {
        "form": form,
        "entries": shown,
        "is_filtered": bool(form.query),
        "is_first": not request.GET.get("before"),
        "query": form.query,
        "query_string": urlencode(form.query),
        "next": shown[-1].pk if len(ahead) > A_PAGE else None,
    }
    return render(request, "audit/log.html", context, status=200 if is_sound else 422)


@require_safe
@admin_required
def audit_file(request: HttpRequest) -> HttpResponseBase:
    """Return the entries that the filters leave as CSV."""
    form = FilterForm(request.GET)
    if not form.is_valid():
        return redirect(f"{reverse('audit')}?{urlencode(form.query)}")
    lines = csv_lines(form.wanted.entries())
    record(request, Action.EXPORTED, what="audit log", format="csv", **form.query)
    return StreamingHttpResponse(
        lines,
        headers={
            "Content-Type": "text/csv; charset=utf-8",
            "Content-Disposition": 'attachment; filename="audit-log.csv"',
        },
    )
