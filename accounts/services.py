"""The only writers of people: invite, change, deactivate. Every change is in the audit log."""

from __future__ import annotations

from allauth.account.forms import default_token_generator
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from django.core.exceptions import PermissionDenied
from django.core.mail import send_mail
from django.db import transaction
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation

from accounts.languages import language_of
from accounts.models import Role, User
from audit.actions import Action
from audit.services import record
from lookalike.core.errors import Refused


def may_change(*, actor: User, person: User) -> bool:
    """Tell whether `actor` may change `person`: nobody themself, and admins only by superusers."""
    if not actor.is_active or not actor.is_admin or actor.pk == person.pk:
        return False
    return actor.is_superuser or not (person.is_admin or person.is_superuser)


@transaction.atomic
def invite_person(
    *,
    actor: User,
    username: str,
    email: str,
    first_name: str,
    last_name: str,
    role: Role,
    language: str = "",
) -> User:
    """Make an account without a password; `password_link` lets its owner choose one.

    Raises:
        PermissionDenied: the actor is no admin, or makes an admin without being a superuser.
    """
    _require_role_right(actor, role)
    person = User(
        username=username,
        email=email,
        first_name=first_name,
        last_name=last_name,
        language=language,
        role=role,
        is_staff=role == Role.ADMIN,
    )
    person.set_unusable_password()
    person.save()
    record(actor, Action.PERSON_INVITED, person, role=role)
    return person


@transaction.atomic
def change_role(*, actor: User, person: User, role: Role) -> None:
    """Give a person another role; only superusers make or unmake admins.

    Raises:
        PermissionDenied: the actor may not change this person, or not to this role.
    """
    _require_role_right(actor, role)
    person = _locked(actor, person)
    if person.role == role:
        return
    before = person.get_role_display()
    person.role = role
    person.is_staff = person.is_superuser or role == Role.ADMIN
    person.save(update_fields=["role", "is_staff"])
    record(actor, Action.ROLE_CHANGED, person, before=before.lower(), after=role)


@transaction.atomic
def follow_groups(*, person: User, role: Role, source: str) -> None:
    """Give a person the role of their group at the institution; superusers keep theirs."""
    person = User.objects.select_for_update().get(pk=person.pk)
    if person.is_superuser or person.role == role:
        return
    before = person.get_role_display().lower()
    person.role, person.is_staff = role, role == Role.ADMIN
    person.save(update_fields=["role", "is_staff"])
    record(person, Action.ROLE_CHANGED, person, before=before, after=role, by=source)


@transaction.atomic
def set_active(*, actor: User, person: User, is_active: bool) -> None:
    """Open or close an account; a closed one is signed out at once, and its answers stay.

    Raises:
        PermissionDenied: the actor may not change this person.
    """
    person = _locked(actor, person)
    if person.is_active == is_active:
        return
    person.is_active = is_active
    person.save(update_fields=["is_active"])
    record(actor, Action.ACCOUNT_OPENED if is_active else Action.ACCOUNT_CLOSED, person)


@transaction.atomic
def change_details(
    *, actor: User, person: User, first_name: str, last_name: str, email: str, language: str = ""
) -> None:
    """Correct a name or an address; links sent to the old address stop working.

    Raises:
        PermissionDenied: the actor may not change this person.
    """
    person = _locked(actor, person)
    if person.email != email:
        EmailAddress.objects.filter(user=person).delete()
    changed = [
        name
        for name, before, value in (
            ("first name", person.first_name, first_name),
            ("last name", person.last_name, last_name),
            ("email", person.email, email),
            ("language", person.language, language),
        )
        if before != value
    ]
    person.first_name, person.last_name, person.email = first_name, last_name, email
    person.language = language
    person.save(update_fields=["first_name", "last_name", "email", "language"])
    if changed:
        record(actor, Action.PERSON_CHANGED, person, changed=changed)


@transaction.atomic
def password_link(*, actor: User, person: User, site: str) -> str:
    """Return a link with which a person chooses a password, once, within three days.

    Args:
        actor: the admin who asks.
        person: whose password it is.
        site: scheme and host, such as https://judge.example.org.

    Raises:
        PermissionDenied: the actor may not change this person.
        Refused: the account is closed.
    """
    if not may_change(actor=actor, person=person):
        raise PermissionDenied
    if not person.is_active:
        raise Refused("", f"{person.username} is deactivated; reactivate the account first.")
    key = default_token_generator.make_token(person)
    path = reverse(
        "account_reset_password_from_key",
        kwargs={"uidb36": user_pk_to_url_str(person), "key": key},
    )
    record(actor, Action.PASSWORD_LINK_MADE, person)
    return site.rstrip("/") + path


def mail_password_link(*, person: User, link: str) -> None:
    """Send a person their link to choose a password.

    Raises:
        Refused: no address is known, or the mail server refused.
    """
    if not person.email:
        raise Refused("", f"{person.username} has no email address; hand over the link yourself.")
    with translation.override(language_of(person)):
        subject = translation.gettext("Your Lookalike account")
        text = render_to_string(
            "accounts/email/password_link.txt", {"person": person, "link": link}
        )
    try:
        send_mail(subject, text, None, [person.email])
    except OSError as problem:
        raise Refused(
            "", f"No mail could be sent to {person.email} ({problem}); hand over the link yourself."
        ) from problem


def _require_role_right(actor: User, role: Role) -> None:
    if not actor.is_admin or (role == Role.ADMIN and not actor.is_superuser):
        raise PermissionDenied


def _locked(actor: User, person: User) -> User:
    """Read the person again under a lock, so that the right to change is not out of date."""
    fresh = User.objects.select_for_update().get(pk=person.pk)
    if not may_change(actor=actor, person=fresh):
        raise PermissionDenied
    return fresh
