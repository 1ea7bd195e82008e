"""The own sessions: list, end one, end all."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import override
from django.views.decorators.http import require_POST, require_safe

from accounts.access import signed_in
from accounts.sessions import services
from accounts.sessions.devices import device_name
from audit.actions import Action
from audit.services import record


@require_safe
@login_required
def sessions(request: HttpRequest) -> HttpResponse:
    """List where the person is signed in."""
    living = services.list_sessions(signed_in(request))
    shown = [(session, device_name(session.user_agent)) for session in living]
    return render(request, "accounts/sessions.html", {"sessions": shown})


@require_POST
@login_required
def end(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of the own sessions; somebody else's looks as if there were none."""
    person = signed_in(request)
    session = get_object_or_404(UserSession, user=person, pk=pk)
    with override("en"):  # the log has one language
        record(request, Action.SESSION_ENDED, person, device=device_name(session.user_agent))
    if session.is_current():
        get_adapter(request).logout(request)
    else:
        messages.success(
            request, _("%(device)s is signed out.") % {"device": device_name(session.user_agent)}
        )
    session.end()
    return redirect("accounts:sessions")


@require_POST
@login_required
def end_all(request: HttpRequest) -> HttpResponse:
    """End all own sessions, this one too."""
    person = signed_in(request)
    record(request, Action.SESSION_ENDED, person, device="all")
    get_adapter(request).logout(request)
    services.end_sessions(person=person)
    return redirect("account_login")
