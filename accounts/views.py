"""The front door, the own profile, and the people an admin looks after."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import translation
from django.views.decorators.http import require_POST, require_safe

from accounts import languages, queries, services
from accounts.access import admin_required, signed_in
from accounts.forms import DetailsForm, InvitationForm, ProfileForm, RoleForm
from accounts.models import Role, User
from accounts.sign_in.addresses import site_address
from audit.actions import Action
from audit.services import record
from lookalike.core.errors import Refused

HOME_PAGES = {
    Role.ANNOTATOR: "annotation:home",
    Role.ADMIN: "overview",
    Role.RESEARCHER: "evaluation:home",
}
LINK_KEY = "password_link"  # in the session of the admin: shown on the next page, then gone


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Send a person to the page of their role."""
    return redirect(HOME_PAGES[Role(signed_in(request).role)])


@login_required
def profile(request: HttpRequest) -> HttpResponse:
    """Show and change the own name; lead to password and second factor."""
    user = signed_in(request)
    form = ProfileForm(request.POST or None, instance=user)
    if request.method == "POST" and form.is_valid():
        with transaction.atomic():
            form.save()
            record(request, Action.PERSON_CHANGED, user, changed=form.changed_data)
        response = redirect("accounts:profile")
        if user.language:
            languages.keep(response, user.language)
        else:
            languages.forget(request, response)
        with translation.override(user.language or translation.get_language_from_request(request)):
            messages.success(request, translation.gettext("Saved."))
        return response
    kinds = set(Authenticator.objects.filter(user=user).values_list("type", flat=True))
    has_totp = Authenticator.Type.TOTP in kinds
    return render(request, "accounts/profile.html", {"form": form, "has_totp": has_totp})


@admin_required
@require_safe
def people(request: HttpRequest) -> HttpResponse:
    """List everybody with an account."""
    asked = {name: request.GET.get(name, "")[:100] for name in ("words", "role", "shown")}
    asked["shown"] = asked["shown"] if asked["shown"] in queries.SHOWN else "active"
    found = queries.people_matching(**asked)
    context = {
        "page": Paginator(found, 50).get_page(request.GET.get("page")),
        "counts": [(Role(role), n) for role, n in queries.people_per_role().items()],
        "roles": Role.choices,
        "asked": asked,
    }
    return render(request, "accounts/people.html", context)


@admin_required
def invite(request: HttpRequest) -> HttpResponse:
    """Make an account, and show its link once."""
    actor = signed_in(request)
    form = InvitationForm(request.POST or None, actor=actor)
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        sends_mail, role = asked.pop("sends_mail"), Role(asked.pop("role"))
        person = services.invite_person(actor=actor, role=role, **asked)
        _give_link(request, person, sends_mail=sends_mail)
        return redirect("accounts:person", person.pk)
    return render(request, "accounts/invite.html", {"form": form})


@admin_required
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Show one person, what was done to the account, and what can be done."""
    actor = signed_in(request)
    shown = get_object_or_404(User, pk=pk)
    may_change = services.may_change(actor=actor, person=shown)
    form = DetailsForm(request.POST or None, instance=get_object_or_404(User, pk=pk))
    if request.method == "POST":
        if not may_change:
            raise PermissionDenied
        if form.is_valid():
            services.change_details(actor=actor, person=shown, **form.cleaned_data)
            messages.success(request, "Saved.")
            return redirect("accounts:person", pk)
    context = {
        "person": shown,
        "may_change": may_change,
        "form": form,
        "role_form": RoleForm(actor=actor, initial={"role": shown.role}),
        "history": queries.read_history(shown)[:50],
        "link": _fetch_link(request, shown),
    }
    return render(request, "accounts/person.html", context)


@admin_required
@require_POST
def role(request: HttpRequest, pk: int) -> HttpResponse:
    """Change a person's role."""
    actor, chosen = signed_in(request), get_object_or_404(User, pk=pk)
    form = RoleForm(request.POST, actor=actor)
    if not form.is_valid():
        raise PermissionDenied
    services.change_role(actor=actor, person=chosen, role=Role(form.cleaned_data["role"]))
    messages.success(request, f"{chosen.username} is now {form.cleaned_data['role']}.")
    return redirect("accounts:person", pk)


@admin_required
@require_POST
def active(request: HttpRequest, pk: int) -> HttpResponse:
    """Deactivate a person, or let them in again."""
    chosen = get_object_or_404(User, pk=pk)
    is_active = request.POST.get("is_active") == "1"
    services.set_active(actor=signed_in(request), person=chosen, is_active=is_active)
    messages.success(
        request, f"{chosen.username} is {'active again' if is_active else 'deactivated'}."
    )
    return redirect("accounts:person", pk)


@admin_required
@require_POST
def link(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a new link to choose a password, and show it once."""
    chosen = get_object_or_404(User, pk=pk)
    _give_link(request, chosen, sends_mail=request.POST.get("sends_mail") == "1")
    return redirect("accounts:person", pk)


def _give_link(request: HttpRequest, person: User, *, sends_mail: bool) -> None:
    site = site_address(request)
    try:
        url = services.password_link(actor=signed_in(request), person=person, site=site)
        request.session[LINK_KEY] = [person.pk, url]
        if sends_mail:
            services.mail_password_link(person=person, link=url)
            messages.success(request, f"The link was sent to {person.email}.")
    except Refused as problem:
        messages.error(request, str(problem))


def _fetch_link(request: HttpRequest, person: User) -> str:
    pk, url = request.session.get(LINK_KEY, [None, ""])
    if pk != person.pk:
        return ""
    del request.session[LINK_KEY]
    return str(url)
